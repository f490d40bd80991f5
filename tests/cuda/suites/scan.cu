// Work-efficient exclusive scan of many blocks: up-sweep, down-sweep, then the sums of blocks.
#include "../check.cuh"

const int BLOCK = 128;

__global__ void scan(const int *in, int *out, int *sums, int n) {
    __shared__ int s[2 * BLOCK];
    int t = threadIdx.x, base = blockIdx.x * 2 * BLOCK;
    for (int k = t; k < 2 * BLOCK; k += BLOCK)
        s[k] = base + k < n ? in[base + k] : 0;
    int offset = 1;
    for (int d = BLOCK; d; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0) {
        sums[blockIdx.x] = s[2 * BLOCK - 1];
        s[2 * BLOCK - 1] = 0;
    }
    for (int d = 1; d < 2 * BLOCK; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, old = s[a];
            s[a] = s[b];
            s[b] += old;
        }
    }
    __syncthreads();
    for (int k = t; k < 2 * BLOCK; k += BLOCK)
        if (base + k < n)
            out[base + k] = s[k];
}

__global__ void add(int *out, const int *sums, int n) {
    int i = blockIdx.x * 2 * BLOCK + threadIdx.x;
    for (int k = 0; k < 2; k++, i += BLOCK)
        if (i < n)
            out[i] += sums[blockIdx.x];
}

int main() {
    const int n = 10000, n_blocks = (n + 2 * BLOCK - 1) / (2 * BLOCK);
    std::vector<int> in(n), expected(n);
    for (int i = 0; i < n; i++)
        in[i] = i * 7919 % 100;
    for (int i = 1; i < n; i++)
        expected[i] = expected[i - 1] + in[i - 1];
    Device<int> din(in), out(n), sums(n_blocks), scanned(n_blocks), unused(1);
    scan<<<n_blocks, BLOCK>>>(din, out, sums, n);
    scan<<<1, BLOCK>>>(sums, scanned, unused, n_blocks);
    add<<<n_blocks, BLOCK>>>(out, scanned, n);
    expect_equal(out.get(), expected);
}
