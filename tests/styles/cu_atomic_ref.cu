#include <cuda/atomic>
__global__ void refs(int *a, long long *l, float *f) {
    cuda::atomic_ref<int, cuda::thread_scope_system> r(*a);
    r.fetch_xor(3);
    r++;
    cuda::atomic_ref<long long, cuda::thread_scope_device> q(*l);
    q.fetch_min(4);
    cuda::atomic_ref<float, cuda::thread_scope_device> g(*f);
    g.fetch_add(2.0f);
    g.fetch_min(1.0f);
    while (r.load(cuda::std::memory_order_acquire) == 0) {
        r.wait(0);
    }
    r.notify_all();
}
