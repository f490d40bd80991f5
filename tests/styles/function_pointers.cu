typedef float (*op)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float mul(float a, float b) { return a * b; }
__device__ op table[2] = {add, mul};
__constant__ op fixed = add;
__global__ void all(float *f, int k) {
    f[0] = table[k](f[1], f[2]);
    f[3] = fixed(f[4], f[5]);
    auto l = [=](float x) { return x * k; };
    f[6] = l(f[7]);
}
template <class F> __global__ void apply(float *f, F g) { f[threadIdx.x] = g(f[threadIdx.x]); }
template __global__ void apply(float *, float (*)(float));
