// Shuffles, votes, matches and atomics of every kind.
#include "../check.cuh"

__global__ void warp_functions(unsigned *out) {
    unsigned lane = threadIdx.x, all = 0xffffffff;
    out[lane] = __shfl_xor_sync(all, lane, 5);
    out[32 + lane] = __shfl_up_sync(all, lane, 3, 8);
    out[64 + lane] = __ballot_sync(all, lane % 3 == 0);
    out[96 + lane] = __any_sync(all, lane == 31) * 2 + __all_sync(all, lane < 32);
    out[128 + lane] = __match_any_sync(all, lane / 4);
    out[160 + lane] = __shfl_sync(all, lane, 7, 16);
    out[192 + lane] = __popc(lane) + __clz(lane) * 100 + __ffs(lane) * 10000;
    if (lane < 10)
        out[224 + lane] = __activemask();
}

__global__ void atomics(int *ints, unsigned *unsigneds, float *floats, unsigned long long *longs) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&ints[0], 1);
    atomicSub(&ints[1], 2);
    atomicMax(&ints[2], static_cast<int>(i));
    atomicMin(&ints[3], -static_cast<int>(i));
    atomicAnd(&unsigneds[0], ~(1u << i % 32));
    atomicOr(&unsigneds[1], 1u << i % 7);
    atomicXor(&unsigneds[2], i);
    atomicInc(&unsigneds[3], 9);
    atomicAdd(&floats[0], 0.5f);
    atomicAdd(&longs[0], 1ull << 33);
    unsigned long long seen = longs[1], assumed;
    do {
        assumed = seen;
        seen = atomicCAS(&longs[1], assumed, assumed + i);
    } while (seen != assumed);
}

int main() {
    Device<unsigned> out(256);
    CUDA(cudaMemset(out, 0, 1024));
    warp_functions<<<1, 32>>>(out);
    std::vector<unsigned> got = out.get();
    unsigned thirds = 0;
    for (unsigned i = 0; i < 32; i += 3)
        thirds |= 1u << i;
    for (unsigned i = 0; i < 32; i++) {
        EXPECT(got[i] == (i ^ 5));
        EXPECT(got[32 + i] == (i % 8 < 3 ? i : i - 3));
        EXPECT(got[64 + i] == thirds);
        EXPECT(got[96 + i] == 3);
        EXPECT(got[128 + i] == 0xfu << (i / 4 * 4));
        EXPECT(got[160 + i] == i / 16 * 16 + 7);
        unsigned clz = i ? __builtin_clz(i) : 32;
        EXPECT(got[192 + i] == __builtin_popcount(i) + clz * 100 + __builtin_ffs(i) * 10000u);
    }
    for (unsigned i = 0; i < 10; i++)
        EXPECT(got[224 + i] == 0x3ff);

    const int n = 4 * 96;
    Device<int> ints(std::vector<int>{0, 0, -1, 1});
    Device<unsigned> unsigneds(std::vector<unsigned>{~0u, 0, 0, 0});
    Device<float> floats(std::vector<float>{0});
    Device<unsigned long long> longs(std::vector<unsigned long long>{0, 0});
    atomics<<<4, 96>>>(ints, unsigneds, floats, longs);
    expect_equal(ints.get(), {n, -2 * n, n - 1, -(n - 1)});
    expect_equal(unsigneds.get(), {0u, 0x7fu, 0u, n % 10u});
    expect_equal(floats.get(), {n * 0.5f});
    expect_equal(longs.get(), {(unsigned long long)n << 33, (unsigned long long)n * (n - 1) / 2});
    return 0;
}
