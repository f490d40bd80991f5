// A time step of bodies that attract each other, one body per thread: the block loads all bodies into shared memory in
// tiles of its own size, and every thread adds the pull of the whole tile.
#include <heddle/device.h>

// x, y, z are the place and w the mass. A body does not pull itself, since its distance is zero; `softening` keeps the
// pull of very near bodies finite.
static __device__ __forceinline__ float3 add_pull(float3 sum, float4 body, float4 other, float softening) {
    float x = other.x - body.x, y = other.y - body.y, z = other.z - body.z;
    float inverse = rsqrtf(x * x + y * y + z * z + softening);
    float pull = other.w * inverse * inverse * inverse;
    return make_float3(sum.x + x * pull, sum.y + y * pull, sum.z + z * pull);
}

// Dynamic shared memory: a float4 for each thread.
extern "C" __global__ void nbody(const float4 *from, float4 *to, float4 *velocity, int n, float seconds,
                                 float softening) {
    extern __shared__ float4 tile[];
    int t = threadIdx.x;
#pragma unroll 1
    for (int first = blockIdx.x * blockDim.x; first < n; first += gridDim.x * blockDim.x) {
        int i = first + t;
        float4 body = from[min(i, n - 1)];
        float3 sum = make_float3(0.0f, 0.0f, 0.0f);
#pragma unroll 1
        for (int start = 0; start < n; start += blockDim.x) {
            int length = min((int)blockDim.x, n - start);
            if (t < length)
                tile[t] = from[start + t];
            __syncthreads();
#pragma unroll 1
            for (int k = 0; k < length; k++)
                sum = add_pull(sum, body, tile[k], softening);
            __syncthreads();
        }
        if (i < n) {
            float4 v = velocity[i];
            v = make_float4(v.x + sum.x * seconds, v.y + sum.y * seconds, v.z + sum.z * seconds, 0.0f);
            velocity[i] = v;
            to[i] = make_float4(body.x + v.x * seconds, body.y + v.y * seconds, body.z + v.z * seconds, body.w);
        }
    }
}
