#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>
__global__ void things(cuda::std::complex<double> *c, int *o, float *m) {
    cuda::std::array<int, 4> a{1, 2, 3, 4};
    auto t = cuda::std::make_tuple(1, 2.0f, 3.0);
    c[0] = cuda::std::exp(c[1]) * cuda::std::sqrt(c[2]) / c[3];
    cuda::std::optional<int> q;
    if (o[0])
        q = 4;
    cuda::std::variant<int, float> v = 2.0f;
    if (o[1])
        v = 3;
    o[2] = a[o[3] & 3] + cuda::std::get<0>(t) + q.value_or(7) + (int)v.index() + cuda::std::popcount((unsigned)o[4]) +
           cuda::std::countl_zero((unsigned)o[5]);
    cuda::std::mdspan<float, cuda::std::extents<int, 8, 8>> s(m);
    s(threadIdx.x & 7, threadIdx.y & 7) *= 2;
}
