__constant__ float table[256];
__device__ int counter = 5;
__device__ const char text[] = "words";
__managed__ int m;
extern __shared__ float dyn[];
__global__ void all(float *o, const __grid_constant__ float4 p, int k) {
    float l[32];
    for (int i = 0; i < 32; i++)
        l[i] = table[i + k];
    dyn[threadIdx.x] = l[k & 31] + p.x;
    __shared__ double s[16][17];
    s[k & 15][threadIdx.x & 15] = 1;
    __syncthreads();
    o[threadIdx.x] = dyn[threadIdx.x ^ 1] + s[threadIdx.x & 15][k & 15] + counter + text[k & 3] + m;
    const float4 *q = &p;
    o[100] = ((const float *)q)[k & 3];
}
