#include <cuda/atomic>
struct alignas(16) pair {
    long long a, b;
    __host__ __device__ bool operator==(const pair &o) const { return a == o.a && b == o.b; }
};
__global__ void wide(cuda::atomic<pair, cuda::thread_scope_device> *p, pair *out) {
    pair e = p->load(), d{e.a + 1, e.b - 1};
    while (!p->compare_exchange_weak(e, d))
        d = pair{e.a + 1, e.b - 1};
    *out = p->exchange(pair{1, 2});
}
