#include <cub/cub.cuh>
struct plus {
    __device__ float operator()(float a, float b) const { return a + b; }
};
cudaError_t run(const float *a, const float *b, float *o, int n) {
    return cub::DeviceTransform::Transform(cuda::std::make_tuple(a, b), o, n, plus());
}
