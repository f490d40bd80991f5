#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/transform_reduce.h>
struct square {
    __host__ __device__ float operator()(float a) const { return a * a; }
};
float run(thrust::device_vector<float> &v) {
    return thrust::transform_reduce(v.begin(), v.end(), square(), 0.0f, thrust::plus<float>());
}
