__global__ void forces(const float4 *p, float3 *a, int n) {
    extern __shared__ float4 s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = p[i];
    float3 f = {0, 0, 0};
    for (int t = 0; t < n; t += blockDim.x) {
        s[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++) {
            float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z,
                  r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f), w = s[j].w * r * r * r;
            f.x += dx * w;
            f.y += dy * w;
            f.z += dz * w;
        }
        __syncthreads();
    }
    a[i] = f;
}
