__global__ void all(int *i, __int128 *w, float *f, unsigned long long *l) {
    i[1] = __nv_atomic_load_n(i, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(i, 3, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    i[2] = __nv_atomic_fetch_add(i, 4, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    int e = 3;
    i[3] = __nv_atomic_compare_exchange_n(i, &e, 4, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED,
                                          __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_max(l, 5ull, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    f[0] = __nv_atomic_fetch_add(f, 1.f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
#if __CUDA_ARCH__ >= 900
    __int128 v = 5, x;
    __nv_atomic_exchange(w, &v, &x, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    w[1] = x;
    __nv_atomic_compare_exchange(w, &v, &x, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_load(w + 2, &v, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store(w + 3, &v, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
#endif
}
