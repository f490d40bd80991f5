#include <cuda/atomic>
__global__ void counters(cuda::atomic<int, cuda::thread_scope_device> *a,
                         cuda::atomic<unsigned long long, cuda::thread_scope_block> *b, cuda::atomic<float> *f,
                         int *out) {
    out[0] = a->fetch_add(1, cuda::memory_order_relaxed);
    out[1] = (int)b->exchange(5);
    int e = 3;
    out[2] = a->compare_exchange_strong(e, 7);
    out[3] = a->load(cuda::memory_order_acquire);
    a->store(9, cuda::memory_order_release);
    f->fetch_add(1.5f);
    a->fetch_max(12);
    a->fetch_and(6);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}
__global__ void small(cuda::atomic<short> *s, cuda::atomic<char> *c, cuda::atomic<double> *d, cuda::atomic<bool> *b) {
    s->fetch_add(1);
    c->fetch_or(3);
    d->fetch_sub(2.0);
    b->store(true);
    (void)s->exchange(4);
    d->fetch_max(4.0);
}
