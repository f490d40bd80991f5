// Inline PTX, clocks, and lambdas that kernels take (nvcc --extended-lambda).
#include "../check.cuh"

template <class F> __global__ void apply(int *out, F f) { out[threadIdx.x] = f(threadIdx.x); }

__global__ void assembly(unsigned *out) {
    unsigned lane, sum;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("add.u32 %0, %1, %2;" : "=r"(sum) : "r"(lane), "n"(100));
    long long start = clock64();
    out[threadIdx.x] = sum + __vadd4(0x01020304, 0x01010101);
    out[32 + threadIdx.x] = clock64() >= start;
}

int main() {
    int offset = 7;
    Device<int> out(32);
    apply<<<1, 32>>>(out, [=] __device__(int i) { return i * i + offset; });
    std::vector<int> expected(32);
    for (int i = 0; i < 32; i++)
        expected[i] = i * i + 7;
    expect_equal(out.get(), expected);
    Device<unsigned> words(64);
    assembly<<<1, 32>>>(words);
    std::vector<unsigned> got = words.get();
    for (unsigned i = 0; i < 32; i++)
        EXPECT(got[i] == i + 100 + 0x02030405 && got[32 + i] == 1);
}
