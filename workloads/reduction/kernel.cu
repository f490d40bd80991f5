// Sums of a vector, one per block: each thread adds the elements of a grid-stride walk, then the block adds its
// threads' sums in a shared-memory tree that halves the active threads at every step.
#include <heddle/device.h>

enum { THREADS = 256 };

template <class element> static __device__ __forceinline__ void reduce_block(const element *in, int *out, int n) {
    __shared__ int s[THREADS];
    int t = threadIdx.x, sum = 0;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    s[t] = sum;
    __syncthreads();
#pragma unroll 1
    for (int w = THREADS / 2; w > 0; w >>= 1) {
        if (t < w)
            s[t] += s[t + w];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

extern "C" __global__ void reduce(const int *in, int *out, int n) { reduce_block(in, out, n); }

extern "C" __global__ void reduce_bool(const unsigned char *in, int *out, int n) { reduce_block(in, out, n); }

// The booleans again, in a loop over a pointer: five instructions for each, as few as PTX allows.
extern "C" __global__ void reduce_bytes(const unsigned char *in, int *out, int n) {
    __shared__ int s[THREADS];
    int t = threadIdx.x, sum = 0;
    unsigned step = gridDim.x * blockDim.x;
    const unsigned char *end = in + n;
#pragma unroll 1
    for (const unsigned char *at = in + blockIdx.x * blockDim.x + t; at < end; at += step)
        sum += *at;
    s[t] = sum;
    __syncthreads();
#pragma unroll 1
    for (int w = THREADS / 2; w > 0; w >>= 1) {
        if (t < w)
            s[t] += s[t + w];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}
