// The generators on the device: a thread for each sequence, or for each few elements. random.h contains the
// mathematics.
#include "curand/kernels/random.h"

#define THREAD ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define N_THREADS ((uint64_t)gridDim.x * blockDim.x)

extern "C" __global__ void random_xorwow(struct random_job job) { random_fill_sequence(0, &job, (uint32_t)THREAD); }

extern "C" __global__ void random_mrg32k3a(struct random_job job) { random_fill_sequence(1, &job, (uint32_t)THREAD); }

extern "C" __global__ void random_philox4_32_10(struct random_job job) {
    for (uint64_t quad = job.position / 4 + THREAD; 4 * quad < job.position + job.n; quad += N_THREADS)
        random_fill_quad(&job, quad);
}

extern "C" __global__ void random_sobol32(struct random_job job) {
    for (uint64_t at = THREAD; at < job.n; at += N_THREADS)
        random_fill_point(0, &job, at);
}

extern "C" __global__ void random_sobol64(struct random_job job) {
    for (uint64_t at = THREAD; at < job.n; at += N_THREADS)
        random_fill_point(1, &job, at);
}
