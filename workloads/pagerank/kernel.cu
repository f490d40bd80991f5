// One iteration of PageRank, one page per thread. `share`: what each page gives to each of those it links to. `gather`:
// a page adds up the shares of the pages that link to it.
#include <heddle/device.h>

extern "C" __global__ void share(const float *rank, const int *n_links, float *shares, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        shares[i] = n_links[i] ? rank[i] / n_links[i] : 0.0f;
}

extern "C" __global__ void gather(const int *row, const int *col, const float *shares, float *rank, float damping,
                                  int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int end = row[i + 1];
        float sum = 0.0f;
#pragma unroll 1
        for (int e = row[i]; e < end; e++)
            sum += shares[col[e]];
        rank[i] = (1.0f - damping) + damping * sum;
    }
}
