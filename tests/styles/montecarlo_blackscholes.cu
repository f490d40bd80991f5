__device__ unsigned lcg(unsigned &s) { return s = s * 1664525u + 1013904223u; }
__global__ void option(float *o, float s0, float k, float r, float v, float t, int n) {
    unsigned st = threadIdx.x;
    float sum = 0;
    for (int i = 0; i < n; i++) {
        float u = lcg(st) * 2.3e-10f + 1e-9f, w = lcg(st) * 2.3e-10f, g = sqrtf(-2 * logf(u)) * cospif(2 * w),
              s = s0 * expf((r - v * v / 2) * t + v * sqrtf(t) * g);
        sum += fmaxf(s - k, 0);
    }
    o[threadIdx.x] = expf(-r * t) * sum / n;
}
__global__ void closed(float *c, const float *s, const float *x, const float *t) {
    int i = threadIdx.x;
    float d = (logf(s[i] / x[i]) + .1f * t[i]) / (.3f * sqrtf(t[i]));
    c[i] = s[i] * normcdff(d) - x[i] * expf(-.02f * t[i]) * normcdff(d - .3f);
}
