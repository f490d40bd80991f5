#include <curand_kernel.h>
__global__ void all(float *f, unsigned *u, double *d) {
    curandStateXORWOW_t x;
    curand_init(1, threadIdx.x, 0, &x);
    f[0] = curand_uniform(&x);
    f[1] = curand_normal(&x);
    curandStatePhilox4_32_10_t p;
    curand_init(2, threadIdx.x, 0, &p);
    float4 q = curand_uniform4(&p);
    f[2] = q.x + q.w;
    d[0] = curand_normal_double(&x);
    curandStateMRG32k3a_t m;
    curand_init(3, threadIdx.x, 0, &m);
    u[0] = curand(&p);
    u[1] = curand_poisson(&x, 4.0);
    f[3] = curand_log_normal(&m, 0.f, 1.f);
}
