#include <cub/cub.cuh>
__global__ void histogram(const unsigned char *in, unsigned *out) {
    using H = cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ H::TempStorage t;
    __shared__ unsigned bins[256];
    unsigned char v[4];
    for (int i = 0; i < 4; i++)
        v[i] = in[threadIdx.x * 4 + i];
    H(t).Histogram(v, bins);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 128)
        out[i] = bins[i];
}
