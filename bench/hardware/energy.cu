/* energy [SECONDS]: the energy of instructions and of bytes, from the GPU's own energy counter.
 *
 * Each benchmark repeats a kernel for the given time (1.2 s) on all SMs. A line is
 * name,parameter,launches,seconds,joules,MHz,count: what the kernel does `count` times in a launch is its fragment in
 * one warp, or, for memory, a warp's access of 128 bytes. ptxas makes one instruction of two of iadd. */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <unistd.h>

#include "nvml.h"

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t result = (call);                                                                                   \
        if (result != cudaSuccess) {                                                                                   \
            fprintf(stderr, "energy: %s: %s\n", #call, cudaGetErrorString(result));                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { THREADS = 512, PER_SM = 4, REPEATS = 32 };

/* Four chains in each thread; `lanes` of a warp take part. Fractions are random between 0.05 and 0.95, and the chains
 * keep them there: infinities would switch fewer wires. */
#define FRACTION ((i * 2654435761u >> 8) * (0.9 / 16777216) + 0.05)
#define ARITHMETIC(name, type, start, instruction)                                                                     \
    __global__ void name(unsigned *out, int rounds, int lanes) {                                                       \
        unsigned lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;                                   \
        type a = (type)(start), b = a, c = a, d = a, x = a;                                                            \
        if (lane < lanes)                                                                                              \
            for (int r = 0; r < rounds; r++) {                                                                         \
                _Pragma("unroll") for (int k = 0; k < REPEATS / 4; k++) {                                              \
                    instruction(a);                                                                                    \
                    instruction(b);                                                                                    \
                    instruction(c);                                                                                    \
                    instruction(d);                                                                                    \
                }                                                                                                      \
            }                                                                                                          \
        if ((float)a + (float)b + (float)c + (float)d == 12345.678f)                                                   \
            out[i] = 1;                                                                                                \
    }
#define FFMA(v) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v) : "f"(x), "f"(x))
#define FADD(v) asm volatile("sub.rn.f32 %0, %1, %0;" : "+f"(v) : "f"(x))
#define IADD(v) asm volatile("add.u32 %0, %0, %1;" : "+r"(v) : "r"(x))
#define IMAD(v) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(v) : "r"(x), "r"(x))
#define LOP(v) asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(v) : "r"(x), "r"(x))
#define SHF(v) asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(v) : "r"(x))
#define DFMA(v) asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(v) : "d"(x), "d"(x))
#define TANH(v) asm volatile("tanh.approx.f32 %0, %0;" : "+f"(v))
#define POPC(v) asm volatile("popc.b32 %0, %0;" : "+r"(v))
#define SHFL(v) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, -1;" : "+r"(v))
#define HFMA2(v) asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(v) : "r"(x), "r"(x))
ARITHMETIC(ffma, float, FRACTION, FFMA)
ARITHMETIC(fadd, float, FRACTION, FADD)
ARITHMETIC(iadd, unsigned, i * 2654435761u, IADD)
ARITHMETIC(imad, unsigned, i * 2654435761u, IMAD)
ARITHMETIC(logic, unsigned, i * 2654435761u, LOP)
ARITHMETIC(shift, unsigned, i * 2654435761u, SHF)
ARITHMETIC(dfma, double, FRACTION, DFMA)
ARITHMETIC(tanh_, float, FRACTION, TANH)
ARITHMETIC(popc, unsigned, i * 2654435761u, POPC)
ARITHMETIC(shfl, unsigned, i * 2654435761u, SHFL)
ARITHMETIC(hfma2, unsigned, i * 2654435761u & 0x3bff3bff, HFMA2)

/* Products of a warp's matrices with two accumulators in turn, and random elements below 1 of either sign. */
#define MATRIX(name, type, accumulator, shape, A, B)                                                                   \
    __global__ void name(unsigned *out, int rounds, int) {                                                             \
        unsigned a0 = (threadIdx.x + 1) * 2654435761u & 0xbbffbbff, a1 = a0 ^ 0x1234, a2 = a0 ^ 0x4321,                \
                 a3 = a0 ^ 0x2222, b0 = a1, b1 = a2;                                                                   \
        accumulator c[2][4] = {};                                                                                      \
        for (int r = 0; r < rounds; r++) {                                                                             \
            _Pragma("unroll") for (int k = 0; k < REPEATS; k++) asm volatile(                                          \
                "mma.sync.aligned." shape " {%0,%1,%2,%3}, " A ", " B ", {%0,%1,%2,%3};" : "+" type(c[k % 2][0]),      \
                "+" type(c[k % 2][1]), "+" type(c[k % 2][2]), "+" type(c[k % 2][3]) : "r"(a0), "r"(a1), "r"(a2),       \
                "r"(a3), "r"(b0), "r"(b1));                                                                            \
        }                                                                                                              \
        if ((float)c[0][0] + (float)c[1][1] + (float)c[0][2] + (float)c[1][3] == 12345.678f)                           \
            out[0] = 1;                                                                                                \
    }
#define FOUR "{%4,%5,%6,%7}"
#define TWO "{%8,%9}"
MATRIX(matrix, "f", float, "m16n8k16.row.col.f32.f16.f16.f32", FOUR, TWO)
MATRIX(matrix_bf16, "f", float, "m16n8k16.row.col.f32.bf16.bf16.f32", FOUR, TWO)
MATRIX(matrix_tf32, "f", float, "m16n8k8.row.col.f32.tf32.tf32.f32", FOUR, TWO)
MATRIX(matrix_s8, "r", int, "m16n8k32.row.col.s32.s8.s8.s32", FOUR, TWO)

__global__ void matrix_f64(unsigned *out, int rounds, int) {
    double a = threadIdx.x * 0.001 - 0.3, b = 0.7 - threadIdx.x * 0.002, c[4][2] = {};
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < REPEATS; k++)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                         : "+d"(c[k % 4][0]), "+d"(c[k % 4][1])
                         : "d"(a), "d"(b));
    }
    if (c[0][0] + c[1][1] + c[2][0] + c[3][1] == 12345.678)
        out[0] = 1;
}

/* wgmma of m64n128k16: four warps multiply matrices in shared memory, in rows of 16 bytes without a swizzle. A warp
 * counts as a quarter of the product. */
#define C8(i)                                                                                                          \
    "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]),        \
        "+f"(c[i + 7])
__global__ void matrix_group(unsigned *out, int rounds, int) {
    __shared__ __align__(128) unsigned word[(64 + 128) * 16 / 2];
    float c[64] = {};
    for (unsigned i = threadIdx.x; i < sizeof word / 4; i += blockDim.x)
        word[i] = (i + 1) * 2654435761u & 0xbbffbbff;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(word);
    unsigned long layout = 128ul / 16 << 16 | 256ul / 16 << 32; /* bytes between cells along k, and along the rows */
    unsigned long a = layout | (at & 0x3ffff) >> 4, b = layout | (at + 64 * 32 & 0x3ffff) >> 4;
    for (int r = 0; r < rounds; r++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < REPEATS; k++)
            asm volatile(
                "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,"
                "%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,"
                "%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, 1, 1, 1, 0, 0;"
                : C8(0), C8(8), C8(16), C8(24), C8(32), C8(40), C8(48), C8(56)
                : "l"(a), "l"(b));
        asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    float sum = 0;
    for (int i = 0; i < 64; i++)
        sum += c[i];
    if (sum == 12345.678f)
        out[0] = 1;
}

__global__ void shared_load(unsigned *out, int rounds, int) {
    __shared__ unsigned word[THREADS];
    unsigned sum = 0;
    word[threadIdx.x] = threadIdx.x * 2654435761u;
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(&word[threadIdx.x]);
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < REPEATS; k++) {
            unsigned v;
            asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(at));
            sum ^= v;
        }
    }
    if (sum == 12345678)
        out[0] = 1;
}

__global__ void shared_store(unsigned *out, int rounds, int) {
    __shared__ unsigned word[THREADS];
    unsigned at = (unsigned)__cvta_generic_to_shared(&word[threadIdx.x]), v = threadIdx.x * 2654435761u;
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < REPEATS; k++)
            asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at), "r"(v + k));
    }
    __syncthreads();
    if (word[threadIdx.x ^ 1] == 12345678)
        out[0] = 1;
}

/* Warps read lines of 128 bytes, `words` of them in all. */
template <int operation> __global__ void lines(unsigned *data, int rounds, long words) {
    unsigned sum = 0;
    long n = (long)gridDim.x * blockDim.x, i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (operation == 0) /* an SM's own lines: L1 */
        i = threadIdx.x, n = blockDim.x;
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < REPEATS; k++) {
            unsigned v;
            if (operation == 0)
                asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(data + i));
            else if (operation == 1)
                asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(data + i));
            else
                asm volatile("st.global.u32 [%0], %1;" ::"l"(data + i), "r"((unsigned)(i * 2654435761u + r)));
            sum ^= v;
            i += n;
            if (i >= words)
                i -= words;
        }
    }
    if (sum == 12345678)
        data[0] = 1;
}

/* Warps read sectors of 32 bytes in lines at random: 32 in an access. */
__global__ void sectors(unsigned *data, int rounds, long words) {
    unsigned sum = 0, i = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int k = 0; k < REPEATS; k++) {
            unsigned v;
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(data + (i >> 5 & words - 1)));
            sum ^= v;
            i = i * 1664525u + 1013904223u;
        }
    }
    if (sum == 12345678)
        data[0] = 1;
}

/* Warps that only wait: what the SMs use when nothing happens. */
__global__ void wait(unsigned *out, int rounds, int) {
    for (int r = 0; r < rounds; r++)
        __nanosleep(1000000);
    if (rounds == -1)
        out[0] = 1;
}
__global__ void fill(unsigned *data, long words) {
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += (long)gridDim.x * blockDim.x)
        data[i] = (unsigned)i * 2654435761u;
}

static struct nvml nvml;
static double length = 1.2;

template <class Launch> static void measure(const char *name, const char *parameter, double count, Launch launch) {
    double start, end, from, to;
    long launches = 0;
    unsigned clock = 0;
    launch();
    CHECK(cudaDeviceSynchronize());
    double until = nvml_seconds() + 0.3; /* the card's power settles */
    while (nvml_seconds() < until) {
        launch();
        CHECK(cudaDeviceSynchronize());
    }
    launch();
    from = nvml_next(&nvml, &start);
    until = start + length;
    launches = 0;
    CHECK(cudaDeviceSynchronize());
    while (nvml_seconds() < until) { /* launches overlap with the wait for earlier ones */
        cudaEvent_t event;
        CHECK(cudaEventCreate(&event));
        for (int k = 0; k < 4; k++)
            launch();
        launches += 4;
        CHECK(cudaEventRecord(event));
        clock = nvml_clock(&nvml);
        CHECK(cudaEventSynchronize(event));
        CHECK(cudaEventDestroy(event));
    }
    to = nvml_next(&nvml, &end);
    printf("%s,%s,%ld,%.4f,%.3f,%u,%.0f\n", name, parameter, launches, end - start, to - from, clock, count);
    fflush(stdout);
}

int main(int argc, char **argv) {
    cudaDeviceProp properties;
    unsigned *data;
    size_t bytes = 4ul << 30;
    if (argc > 1)
        length = atof(argv[1]);
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaMalloc(&data, bytes));
    fill<<<1024, 256>>>(data, (long)(bytes / 4));
    CHECK(cudaDeviceSynchronize());
    nvml = nvml_open();
    if (nvml_joules(&nvml) == 0)
        fprintf(stderr, "energy: no energy counter\n");
    int sms = properties.multiProcessorCount, blocks = sms * PER_SM, rounds = 4096;
    printf("name,parameter,launches,seconds,joules,mhz,count\n");
    double start, end, from = nvml_next(&nvml, &start);
    usleep(2000000);
    double to = nvml_next(&nvml, &end);
    printf("idle,start,0,%.4f,%.3f,%u,0\n", end - start, to - from, nvml_clock(&nvml));
    measure("wait", "all_sms", 1, [&] { wait<<<blocks, THREADS>>>(data, 20, 0); });
    measure("wait", "one_sm", 1, [&] { wait<<<1, 32>>>(data, 20, 0); });
    double warps = (double)blocks * THREADS / 32, count = warps * rounds * REPEATS;
#define EACH(kernel) measure(#kernel, "32", count, [&] { kernel<<<blocks, THREADS>>>(data, rounds, 32); });
    EACH(ffma)
    measure("ffma", "16", count, [&] { ffma<<<blocks, THREADS>>>(data, rounds, 16); });
    measure("ffma", "1", count, [&] { ffma<<<blocks, THREADS>>>(data, rounds, 1); });
    measure("ffma", "one_warp_per_scheduler", count / 16, [&] { ffma<<<sms, 128>>>(data, rounds, 32); });
    EACH(fadd)
    EACH(iadd)
    EACH(imad)
    EACH(logic)
    EACH(shift)
    EACH(dfma)
    EACH(tanh_)
    EACH(popc)
    EACH(shfl)
    EACH(hfma2)
    EACH(matrix)
    EACH(matrix_bf16)
    EACH(matrix_tf32)
    EACH(matrix_s8)
    measure("matrix_f64", "32", count / 4, [&] { matrix_f64<<<blocks, THREADS>>>(data, rounds / 4, 32); });
    measure("matrix_group", "32", count / 8, [&] { matrix_group<<<sms * 8, 128>>>(data, rounds / 4, 32); });
    EACH(shared_load)
    EACH(shared_store)
    measure("read_l1", "64K", count / 4, [&] { lines<0><<<blocks, THREADS>>>(data, rounds / 4, 16384); });
    measure("read_l2", "16M", count / 16, [&] { lines<1><<<blocks, THREADS>>>(data, rounds / 16, 4 << 20); });
    measure("sectors_l2", "16M", count / 128, [&] { sectors<<<blocks, THREADS>>>(data, rounds / 128, 4 << 20); });
    measure("read_dram", "4G", count / 64,
            [&] { lines<1><<<blocks, THREADS>>>(data, rounds / 64, (long)(bytes / 4)); });
    measure("write_l2", "16M", count / 16, [&] { lines<2><<<blocks, THREADS>>>(data, rounds / 16, 4 << 20); });
    measure("write_dram", "4G", count / 64,
            [&] { lines<2><<<blocks, THREADS>>>(data, rounds / 64, (long)(bytes / 4)); });
    from = nvml_next(&nvml, &start);
    usleep(2000000);
    to = nvml_next(&nvml, &end);
    printf("idle,end,0,%.4f,%.3f,%u,0\n", end - start, to - from, nvml_clock(&nvml));
    CHECK(cudaFree(data));
    return 0;
}
