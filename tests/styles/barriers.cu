__global__ void all(int *i) {
    int v = i[threadIdx.x];
    __syncthreads();
    v += __syncthreads_count(v > 1);
    v += __syncthreads_and(v);
    v += __syncthreads_or(v == 3);
    __threadfence_block();
    __threadfence();
    __threadfence_system();
    asm volatile("bar.sync 1, 64;");
    asm volatile("barrier.sync.aligned 2, 64;");
    asm volatile("bar.arrive 3, 64;" ::: "memory");
    i[threadIdx.x] = v;
}
