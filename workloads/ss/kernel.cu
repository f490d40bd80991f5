// Similarity of the first documents with all: the cosine of the angle between their feature vectors. A document's
// features are consecutive, so the threads of a warp walk through 32 rows at once.
#include <heddle/device.h>

// The length of each vector.
extern "C" __global__ void lengths(const float *features, float *length, int n, int dimensions) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float *own = features + i * dimensions;
        float sum = 0.0f;
#pragma unroll 1
        for (int d = 0; d < dimensions; d++)
            sum += own[d] * own[d];
        length[i] = sqrtf(sum);
    }
}

// One pair per thread: neighbouring threads compare the same document with neighbouring ones.
extern "C" __global__ void similarity(const float *features, const float *length, float *score, int n_first, int n,
                                      int dimensions) {
#pragma unroll 1
    for (int pair = blockIdx.x * blockDim.x + threadIdx.x; pair < n_first * n; pair += gridDim.x * blockDim.x) {
        int i = pair / n, j = pair % n;
        const float *a = features + i * dimensions, *b = features + j * dimensions;
        float sum = 0.0f;
#pragma unroll 1
        for (int d = 0; d < dimensions; d++)
            sum += a[d] * b[d];
        score[pair] = sum / (length[i] * length[j]);
    }
}
