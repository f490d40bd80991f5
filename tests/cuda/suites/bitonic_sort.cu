// Bitonic sort: small distances in shared memory, large ones in global memory.
#include <algorithm>

#include "../check.cuh"

__device__ inline void order(unsigned &a, unsigned &b, bool ascending) {
    if ((a > b) == ascending) {
        unsigned t = a;
        a = b;
        b = t;
    }
}

__global__ void merge_global(unsigned *data, int k, int j) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other > i)
        order(data[i], data[other], (i & k) == 0);
}

__global__ void merge_shared(unsigned *data, int k, int first_j) {
    __shared__ unsigned s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = data[i];
    for (int j = first_j; j; j /= 2) {
        __syncthreads();
        int other = threadIdx.x ^ j;
        if (other > threadIdx.x)
            order(s[threadIdx.x], s[other], (i & k) == 0);
    }
    __syncthreads();
    data[i] = s[threadIdx.x];
}

int main() {
    const int n = 2048;
    Random random(17);
    std::vector<unsigned> data(n);
    for (unsigned &x : data)
        x = random.next();
    Device<unsigned> d(data);
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j; j /= 2) {
            if (j >= 256) {
                merge_global<<<n / 256, 256>>>(d, k, j);
                continue;
            }
            merge_shared<<<n / 256, 256>>>(d, k, j);
            break;
        }
    std::sort(data.begin(), data.end());
    expect_equal(d.get(), data);
    return 0;
}
