// Kernels that are templates over types, numbers and functors.
#include "../check.cuh"

template <class T> struct Square {
    __device__ T operator()(T x) const { return x * x; }
};

template <class T> struct AddTo {
    T what;
    __device__ T operator()(T x) const { return x + what; }
};

template <int UNROLL, class T, class F> __global__ void transform(T *data, int n, F f) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * UNROLL;
#pragma unroll
    for (int i = 0; i < UNROLL; i++)
        if (first + i < n)
            data[first + i] = f(data[first + i]);
}

template <int UNROLL, class T, class F> void test(F f, T (*on_cpu)(T)) {
    const int n = 1000;
    std::vector<T> in(n), expected(n);
    for (int i = 0; i < n; i++) {
        in[i] = static_cast<T>(i % 97);
        expected[i] = on_cpu(in[i]);
    }
    Device<T> data(in);
    transform<UNROLL><<<blocks_of(n, 64 * UNROLL), 64>>>(data.data, n, f);
    expect_equal(data.get(), expected);
}

namespace {
__global__ void in_a_namespace(int *out) { *out = 42; }
} // namespace

static __global__ void with_a_structure(int *out, int3 a) { *out += a.x * 100 + a.y * 10 + a.z; }

int main() {
    test<1, int>(Square<int>(), [](int x) { return x * x; });
    test<4, float>(Square<float>(), [](float x) { return x * x; });
    test<3, double>(AddTo<double>{0.5}, [](double x) { return x + 0.5; });
    test<2, unsigned char>(AddTo<unsigned char>{200}, [](unsigned char x) { return (unsigned char)(x + 200); });
    Device<int> out(1);
    in_a_namespace<<<1, 1>>>(out);
    with_a_structure<<<1, 1>>>(out, make_int3(1, 2, 3));
    expect_equal(out.get(), {42 + 123});
    return 0;
}
