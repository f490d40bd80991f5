__global__ void all(int *i, unsigned long long *l, double *d, float *f) {
    int v = i[threadIdx.x], p;
    unsigned m = __activemask();
    i[32 + threadIdx.x] = __shfl_sync(m, v, 3) + __shfl_up_sync(m, v, 1, 8) + __shfl_down_sync(m, v, 2, 16) +
                          __shfl_xor_sync(m, v, 1) + __all_sync(m, v) + __any_sync(m, v) + __ballot_sync(m, v > 2) +
                          __match_any_sync(m, v) + __match_all_sync(m, l[threadIdx.x], &p) + p;
    d[threadIdx.x] = __shfl_xor_sync(m, d[threadIdx.x], 16);
    l[threadIdx.x] = __shfl_sync(m, l[threadIdx.x], 0);
    __syncwarp(m);
#if __CUDA_ARCH__ >= 800
    i[64 + threadIdx.x] = __reduce_add_sync(m, v) + __reduce_min_sync(m, v) + __reduce_max_sync(m, (unsigned)v) +
                          __reduce_and_sync(m, v) + __reduce_or_sync(m, v) + __reduce_xor_sync(m, v);
#endif
    f[threadIdx.x] = __shfl_down_sync(m, f[threadIdx.x], 1);
}
