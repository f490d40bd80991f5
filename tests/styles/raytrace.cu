struct ray {
    float3 o, d;
};
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ float hit(const ray &r, float4 s) {
    float3 oc = {r.o.x - s.x, r.o.y - s.y, r.o.z - s.z};
    float b = dot(oc, r.d), c = dot(oc, oc) - s.w * s.w, h = b * b - c;
    return h < 0 ? -1 : -b - sqrtf(h);
}
__global__ void render(uchar4 *img, const float4 *s, int n, int w) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    ray r = {{0, 0, 0}, {x * 1.f / w - .5f, y * 1.f / w - .5f, 1}};
    float best = 1e30f;
    int id = -1;
    for (int i = 0; i < n; i++) {
        float t = hit(r, s[i]);
        if (t > 0 && t < best) {
            best = t;
            id = i;
        }
    }
    img[y * w + x] = make_uchar4(id * 40, __float2uint_rz(fminf(best, 255)), 0, 255);
}
