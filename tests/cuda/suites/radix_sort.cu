// Radix sort, one bit at a time, with a scan of each block and of the blocks' sums.
#include <algorithm>

#include "../check.cuh"

const int BLOCK = 256;

// Counts of zeros before each element of the block, and of the whole block.
__global__ void count(const unsigned *in, int *before, int *of_block, int bit) {
    __shared__ int s[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, zero = !(in[i] >> bit & 1);
    s[threadIdx.x] = zero;
    for (int step = 1; step < BLOCK; step *= 2) {
        __syncthreads();
        int add = threadIdx.x >= step ? s[threadIdx.x - step] : 0;
        __syncthreads();
        s[threadIdx.x] += add;
    }
    before[i] = s[threadIdx.x] - zero;
    if (threadIdx.x == BLOCK - 1)
        of_block[blockIdx.x] = s[threadIdx.x];
}

__global__ void place(const unsigned *in, unsigned *out, const int *before, const int *blocks, int n_blocks, int bit) {
    int i = blockIdx.x * BLOCK + threadIdx.x, zeros = before[i], all = 0;
    for (int b = 0; b < n_blocks; b++) {
        all += blocks[b];
        if (b < blockIdx.x)
            zeros += blocks[b];
    }
    out[in[i] >> bit & 1 ? all + i - zeros : zeros] = in[i];
}

int main() {
    const int n = 1024, n_blocks = n / BLOCK, n_bits = 24;
    Random random(18);
    std::vector<unsigned> data(n);
    for (unsigned &x : data)
        x = random.next();
    Device<unsigned> a(data), b(n);
    Device<int> before(n), blocks(n_blocks);
    for (int bit = 0; bit < n_bits; bit++) {
        unsigned *in = bit % 2 ? b : a, *out = bit % 2 ? a : b;
        count<<<n_blocks, BLOCK>>>(in, before, blocks, bit);
        place<<<n_blocks, BLOCK>>>(in, out, before, blocks, n_blocks, bit);
    }
    std::sort(data.begin(), data.end());
    expect_equal(a.get(), data);
    return 0;
}
