// Gravity between all pairs of bodies, positions in tiles of shared memory.
#include "../check.cuh"

const int TILE = 64;

__host__ __device__ inline void pull(float3 &a, float4 me, float4 other) {
    float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    float square = x * x + y * y + z * z + 0.01f, inverse = 1 / sqrtf(square);
    float s = other.w * inverse * inverse * inverse;
    a.x += x * s;
    a.y += y * s;
    a.z += z * s;
}

__global__ void forces(const float4 *bodies, float3 *out, int n) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 me = bodies[i];
    float3 a = make_float3(0, 0, 0);
    for (int t = 0; t < n; t += TILE) {
        tile[threadIdx.x] = bodies[t + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < TILE; j++)
            pull(a, me, tile[j]);
        __syncthreads();
    }
    out[i] = a;
}

int main() {
    const int n = 256;
    Random random(8);
    std::vector<float4> bodies(n);
    for (float4 &b : bodies)
        b = make_float4(random.uniform(), random.uniform(), random.uniform(), random.uniform());
    Device<float4> d(bodies);
    Device<float3> out(n);
    forces<<<n / TILE, TILE>>>(d, out, n);
    std::vector<float3> got = out.get();
    for (int i = 0; i < n; i++) {
        float3 a = make_float3(0, 0, 0);
        for (int j = 0; j < n; j++)
            pull(a, bodies[i], bodies[j]);
        EXPECT(fabs(got[i].x - a.x) < 1e-3 * (1 + fabs(a.x)) && fabs(got[i].z - a.z) < 1e-3 * (1 + fabs(a.z)));
    }
    return 0;
}
