#include <cuda/latch>
#include <cuda/semaphore>
__global__ void sem(cuda::counting_semaphore<cuda::thread_scope_device, 4> *s,
                    cuda::latch<cuda::thread_scope_device> *l, int *x) {
    s->acquire();
    atomicAdd(x, 1);
    s->release();
    l->arrive_and_wait();
    if (s->try_acquire())
        s->release();
}
