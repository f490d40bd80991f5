#include <cuda/annotated_ptr>
__global__ void hints(cuda::annotated_ptr<int, cuda::access_property::streaming> a,
                      cuda::annotated_ptr<int, cuda::access_property::persisting> b, int *c, int n) {
    b[threadIdx.x] = a[threadIdx.x] + 1;
    cuda::access_property p(c, 4096, 8192, cuda::access_property::persisting(), cuda::access_property::streaming());
    cuda::annotated_ptr<int, cuda::access_property> d(c, p);
    d[threadIdx.x]++;
    cuda::apply_access_property(c, 128, cuda::access_property::persisting());
    cuda::discard_memory(c + 64, 128);
}
