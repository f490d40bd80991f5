/* What a device says about itself, and what kernels pay for host memory, printf, malloc and the global timer.
 *
 * Built with `nvcc -O2 -arch=sm_90 -o device bench/hardware/device.cu`, run without arguments. It prints one line per
 * measurement: name, parameter, value, unit. Every time is the least of several repetitions, by events or by the clock
 * of an SM. The values are the source of the `link` and `calls` options of machines/h200.yaml, and
 * the attributes of its `device` options. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

enum { REPEATS = 5, MOST_BLOCKS = 2112 };

static FILE *out; /* the kernels' own text goes to standard output, which is closed */

static void check(cudaError_t status, const char *what, int line) {
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "device.cu:%d: %s: %s\n", line, what, cudaGetErrorString(status));
    exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

static void print(const char *name, double parameter, double value, const char *unit) {
    fprintf(out, "%s,%.0f,%.3f,%s\n", name, parameter, value, unit);
    fflush(out);
}

static cudaStream_t a, b;

template <class Work> static double least_us(Work work, int repeats = REPEATS) {
    static cudaEvent_t begin, end;
    double best = 1e30;
    if (!begin) {
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
    }
    for (int i = 0; i < repeats; i++) {
        float ms;
        CHECK(cudaEventRecord(begin, a));
        work();
        CHECK(cudaEventRecord(end, a));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        best = ms * 1e3 < best ? ms * 1e3 : best;
    }
    return best;
}

/* --- the device's description --- */

static void attributes() {
    for (int i = 1; i <= 160; i++) {
        int value = 0;
        if (cudaDeviceGetAttribute(&value, (cudaDeviceAttr)i, 0) == cudaSuccess)
            fprintf(out, "attribute,%d,%d,\n", i, value);
    }
    cudaGetLastError();
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    fprintf(out, "property_name,0,0,%s\n", p.name);
#define PROPERTY(field) fprintf(out, "property_" #field ",0,%lld,\n", (long long)p.field)
    PROPERTY(totalGlobalMem);
    PROPERTY(sharedMemPerBlock);
    PROPERTY(regsPerBlock);
    PROPERTY(warpSize);
    PROPERTY(memPitch);
    PROPERTY(maxThreadsPerBlock);
    PROPERTY(maxThreadsDim[0]);
    PROPERTY(maxThreadsDim[1]);
    PROPERTY(maxThreadsDim[2]);
    PROPERTY(maxGridSize[0]);
    PROPERTY(maxGridSize[1]);
    PROPERTY(maxGridSize[2]);
    PROPERTY(totalConstMem);
    PROPERTY(major);
    PROPERTY(minor);
    PROPERTY(textureAlignment);
    PROPERTY(texturePitchAlignment);
    PROPERTY(multiProcessorCount);
    PROPERTY(integrated);
    PROPERTY(canMapHostMemory);
    PROPERTY(maxTexture1D);
    PROPERTY(maxTexture1DMipmap);
    PROPERTY(maxTexture2D[0]);
    PROPERTY(maxTexture2D[1]);
    PROPERTY(maxTexture2DLinear[0]);
    PROPERTY(maxTexture2DLinear[1]);
    PROPERTY(maxTexture2DLinear[2]);
    PROPERTY(maxTexture3D[0]);
    PROPERTY(maxSurface1D);
    PROPERTY(maxSurface2D[0]);
    PROPERTY(surfaceAlignment);
    PROPERTY(concurrentKernels);
    PROPERTY(ECCEnabled);
    PROPERTY(pciBusID);
    PROPERTY(asyncEngineCount);
    PROPERTY(unifiedAddressing);
    PROPERTY(memoryBusWidth);
    PROPERTY(l2CacheSize);
    PROPERTY(persistingL2CacheMaxSize);
    PROPERTY(maxThreadsPerMultiProcessor);
    PROPERTY(streamPrioritiesSupported);
    PROPERTY(globalL1CacheSupported);
    PROPERTY(localL1CacheSupported);
    PROPERTY(sharedMemPerMultiprocessor);
    PROPERTY(regsPerMultiprocessor);
    PROPERTY(managedMemory);
    PROPERTY(isMultiGpuBoard);
    PROPERTY(hostNativeAtomicSupported);
    PROPERTY(pageableMemoryAccess);
    PROPERTY(concurrentManagedAccess);
    PROPERTY(computePreemptionSupported);
    PROPERTY(canUseHostPointerForRegisteredMem);
    PROPERTY(cooperativeLaunch);
    PROPERTY(sharedMemPerBlockOptin);
    PROPERTY(pageableMemoryAccessUsesHostPageTables);
    PROPERTY(directManagedMemAccessFromHost);
    PROPERTY(maxBlocksPerMultiProcessor);
    PROPERTY(accessPolicyMaxWindowSize);
    PROPERTY(reservedSharedMemPerBlock);
    PROPERTY(hostRegisterSupported);
    PROPERTY(sparseCudaArraySupported);
    PROPERTY(hostRegisterReadOnlySupported);
    PROPERTY(timelineSemaphoreInteropSupported);
    PROPERTY(memoryPoolsSupported);
    PROPERTY(gpuDirectRDMASupported);
    PROPERTY(memoryPoolSupportedHandleTypes);
    PROPERTY(deferredMappingCudaArraySupported);
    PROPERTY(ipcEventSupported);
    PROPERTY(clusterLaunch);
    PROPERTY(unifiedFunctionPointers);
    int least, greatest;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    print("stream_priority_least", 0, least, "");
    print("stream_priority_greatest", 0, greatest, "");
    for (int i = 0; i <= 5; i++) {
        size_t value = 0;
        if (cudaDeviceGetLimit(&value, (cudaLimit)i) == cudaSuccess)
            print("limit", i, (double)value, "");
    }
}

/* --- host memory --- */

template <class T> __global__ void read_each(const T *data, size_t n, unsigned stride, unsigned *sum) {
    unsigned own = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        own += *(const unsigned char *)&data[i * stride] + ((const unsigned char *)&data[i * stride])[sizeof(T) - 1];
    if (own == 0x12345678)
        *sum = own;
}
template <class T> __global__ void write_each(T *data, size_t n, unsigned stride) {
    T value;
    memset(&value, 1, sizeof value);
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        data[i * stride] = value;
}
__global__ void copy_each(uint4 *to, const uint4 *from, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}
/* Each lane follows its own chain. */
template <bool is_volatile> __global__ void follow(const unsigned *next, int n, unsigned lane_words, uint64_t *cycles) {
    unsigned at = threadIdx.x * lane_words;
    uint64_t start = clock64();
    for (int i = 0; i < n; i++)
        at = is_volatile ? *(const volatile unsigned *)&next[at] : next[at];
    uint64_t end = clock64();
    if (threadIdx.x == 0)
        *cycles = end - start + (at == ~0u);
}
/* All blocks read the same bytes again and again, past the L1. */
__global__ void read_again(const unsigned *data, unsigned n, int times, unsigned *sum) {
    unsigned own = 0;
    for (int k = 0; k < times; k++)
        for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
            own += __ldcg(&data[i]);
    if (own == 0x12345678)
        *sum = own;
}
__global__ void atomic_chain(unsigned *word, int n, uint64_t *cycles) {
    uint64_t start = clock64();
    unsigned sum = 0;
    for (int i = 0; i < n; i++)
        sum = atomicAdd_system(word + (sum & 1), 2);
    *cycles = clock64() - start + (sum == 1);
}
__global__ void atomic_many(unsigned *word, int n, unsigned stride) {
    for (int i = 0; i < n; i++)
        atomicAdd_system(word + (blockIdx.x * blockDim.x + threadIdx.x) * stride, 1);
}
__global__ void store_fence(volatile unsigned *word, int n, uint64_t *cycles) {
    uint64_t start = clock64();
    for (int i = 0; i < n; i++) {
        *word = i;
        __threadfence_system();
    }
    *cycles = clock64() - start;
}
__global__ void spin(uint64_t cycles) {
    uint64_t start = clock64();
    while ((uint64_t)clock64() - start < cycles)
        ;
}

static unsigned char *host, *mapped, *device, *device2;
static uint64_t *cycles;
static unsigned *sum;
static const size_t BYTES = 64u << 20;

template <class T> static void widths() {
    for (unsigned blocks : {1u, 132u, 1056u}) {
        size_t bytes = blocks == 1 ? BYTES / 64 : BYTES / 4;
        char name[64];
        snprintf(name, sizeof name, "host_read_%zu_bytes", sizeof(T));
        print(name, blocks, bytes / least_us([=] {
                                read_each<T><<<blocks, 256, 0, a>>>((T *)mapped, bytes / sizeof(T), 1, sum);
                            }) / 1e3,
              "GB/s");
        snprintf(name, sizeof name, "host_write_%zu_bytes", sizeof(T));
        print(name, blocks,
              bytes / least_us([=] { write_each<T><<<blocks, 256, 0, a>>>((T *)mapped, bytes / sizeof(T), 1); }) / 1e3,
              "GB/s");
    }
}

static void host_memory() {
    widths<unsigned char>();
    widths<unsigned short>();
    widths<unsigned>();
    widths<uint2>();
    widths<uint4>();
    for (unsigned words : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 1024u}) { /* millions of accesses of 4 bytes per second */
        size_t n = BYTES / 4 / words < 1u << 20 ? BYTES / 4 / words : 1u << 20;
        print("host_read_stride_words", words,
              n / least_us([=] { read_each<unsigned><<<1056, 256, 0, a>>>((unsigned *)mapped, n, words, sum); }),
              "M/s");
        print("host_write_stride_words", words,
              n / least_us([=] { write_each<unsigned><<<1056, 256, 0, a>>>((unsigned *)mapped, n, words); }), "M/s");
        print("host_read_stride_words_one_sm", words,
              (n / 16) /
                  least_us([=] { read_each<unsigned><<<1, 1024, 0, a>>>((unsigned *)mapped, n / 16, words, sum); }),
              "M/s");
    }
    for (size_t words : {8ul, 32ul, 1024ul, 16384ul, 65536ul}) { /* a chain with this stride, in 256 steps */
        unsigned *chain = (unsigned *)host;
        int steps = (int)(BYTES / 4 / words) < 256 ? (int)(BYTES / 4 / words) : 256;
        for (int i = 0; i < steps; i++)
            chain[i * words] = (unsigned)((i + 1) % steps * words);
        for (int passes = 1; passes <= 2; passes++) {
            follow<true><<<1, 1, 0, a>>>((unsigned *)mapped, steps * passes, 0, cycles);
            CHECK(cudaDeviceSynchronize());
            print(passes == 1 ? "host_chase_volatile_once" : "host_chase_volatile_twice", (double)words * 4,
                  (double)*cycles / steps / passes, "cycles");
            follow<false><<<1, 1, 0, a>>>((unsigned *)mapped, steps * passes, 0, cycles);
            CHECK(cudaDeviceSynchronize());
            print(passes == 1 ? "host_chase_once" : "host_chase_twice", (double)words * 4,
                  (double)*cycles / steps / passes, "cycles");
        }
    }
    for (unsigned lanes : {1u, 2u, 4u, 8u, 16u, 32u, 128u, 512u, 1024u}) { /* each lane has its own chain of 16 steps */
        unsigned *chain = (unsigned *)host;
        const unsigned own = 16 * 64;
        for (unsigned lane = 0; lane < lanes; lane++)
            for (unsigned i = 0; i < 16; i++)
                chain[lane * own + i * 64] = lane * own + (i + 1) % 16 * 64;
        follow<true><<<1, lanes, 0, a>>>((unsigned *)mapped, 16, own, cycles);
        CHECK(cudaDeviceSynchronize());
        print("host_chase_lanes", lanes, (double)*cycles / 16, "cycles");
    }
    for (unsigned kib : {4u, 64u, 1024u})
        for (unsigned blocks : {1u, 132u})
            print(blocks == 1 ? "host_read_again_one_sm_KiB" : "host_read_again_all_sms_KiB", kib,
                  8.0 * blocks * kib * 1024 / least_us([=] {
                      read_again<<<blocks, 1024, 0, a>>>((unsigned *)mapped, kib * 256, 8, sum);
                  }) / 1e3,
                  "GB/s");
    memset(host, 0, 1 << 20);
    atomic_chain<<<1, 1, 0, a>>>((unsigned *)mapped, 64, cycles);
    CHECK(cudaDeviceSynchronize());
    print("host_atomic_chain", 64, *cycles / 64.0, "cycles");
    for (unsigned stride : {0u, 1u, 32u})
        for (unsigned blocks : {1u, 132u})
            print(blocks == 1 ? "host_atomics_one_warp_stride" : "host_atomics_132_warps_stride", stride,
                  16.0 * blocks * 32 /
                      least_us([=] { atomic_many<<<blocks, 32, 0, a>>>((unsigned *)mapped, 16, stride); }),
                  "M/s");
    store_fence<<<1, 1, 0, a>>>((unsigned *)mapped, 64, cycles);
    CHECK(cudaDeviceSynchronize());
    print("host_store_fence", 64, *cycles / 64.0, "cycles");
    const size_t half = BYTES / 2;
    print("host_to_host_copy_GBps", 132,
          half / least_us([=] {
              copy_each<<<528, 256, 0, a>>>((uint4 *)(mapped + half), (uint4 *)mapped, half / 16);
          }) / 1e3,
          "GB/s");
    print("host_to_device_copy_GBps", 132,
          half / least_us([=] { copy_each<<<528, 256, 0, a>>>((uint4 *)device, (uint4 *)mapped, half / 16); }) / 1e3,
          "GB/s");
    print("device_to_host_copy_GBps", 132,
          half / least_us([=] { copy_each<<<528, 256, 0, a>>>((uint4 *)mapped, (uint4 *)device, half / 16); }) / 1e3,
          "GB/s");
    cudaEvent_t other;
    CHECK(cudaEventCreateWithFlags(&other, cudaEventDisableTiming));
    print("host_read_beside_h2d_us", (double)half, least_us([=] {
              CHECK(cudaMemcpyAsync(device, host + half, half, cudaMemcpyHostToDevice, b));
              CHECK(cudaEventRecord(other, b));
              read_each<uint4><<<528, 256, 0, a>>>((uint4 *)mapped, half / 16, 1, sum);
              CHECK(cudaStreamWaitEvent(a, other, 0));
          }),
          "us");
    for (unsigned kib : {4u, 64u, 1024u, 16384u}) {
        const unsigned blocks = kib > 1024 ? 1024 : kib;
        auto work = [=] { read_each<unsigned><<<blocks, 256, 0, a>>>((unsigned *)mapped, kib * 256, 1, sum); };
        print("host_read_kernel_KiB", kib, least_us(work), "us");
    }
    print("empty_kernel", 1, least_us([=] { spin<<<1, 32, 0, a>>>(0); }), "us");
}

/* --- printf and malloc --- */

__global__ void print_text(int n, int every, uint64_t *time) {
    uint64_t start = clock64();
    for (int i = 0; i < n; i++)
        if (threadIdx.x % every == 0)
            printf("text\n");
    uint64_t end = clock64();
    if (threadIdx.x == 0)
        time[blockIdx.x] = end - start;
}
__global__ void print_number(int n, int every, uint64_t *time) {
    uint64_t start = clock64();
    for (int i = 0; i < n; i++)
        if (threadIdx.x % every == 0)
            printf("%d\n", i);
    uint64_t end = clock64();
    if (threadIdx.x == 0)
        time[blockIdx.x] = end - start;
}
__global__ void print_many(int n, int every, uint64_t *time) {
    uint64_t start = clock64();
    for (int i = 0; i < n; i++)
        if (threadIdx.x % every == 0)
            printf("%d %d %f %s %d %d %d %d\n", i, n, 1.0 * i, "words", i, i, i, i);
    uint64_t end = clock64();
    if (threadIdx.x == 0)
        time[blockIdx.x] = end - start;
}

typedef void (*printer)(int, int, uint64_t *);

static double most_cycles(const uint64_t *time, unsigned blocks) {
    double most = 0;
    for (unsigned i = 0; i < blocks; i++)
        most = (double)time[i] > most ? (double)time[i] : most;
    return most;
}

static void prints(uint64_t *time) {
    static const struct {
        const char *name;
        printer kernel;
    } kinds[] = {{"text", print_text}, {"number", print_number}, {"many", print_many}};
    for (auto kind : kinds) {
        char name[64];
        for (int lanes : {1, 2, 4, 8, 16, 32}) {
            double best = 1e30;
            for (int i = 0; i < 3; i++) {
                kind.kernel<<<1, 32, 0, a>>>(16, 32 / lanes, time);
                CHECK(cudaDeviceSynchronize());
                best = most_cycles(time, 1) < best ? most_cycles(time, 1) : best;
            }
            snprintf(name, sizeof name, "printf_%s_lanes", kind.name);
            print(name, lanes, best / 16, "cycles");
        }
        for (unsigned warps : {2u, 8u, 32u}) {
            double best = 1e30;
            for (int i = 0; i < 3; i++) {
                kind.kernel<<<1, warps * 32, 0, a>>>(4, 1, time);
                CHECK(cudaDeviceSynchronize());
                best = most_cycles(time, 1) < best ? most_cycles(time, 1) : best;
            }
            snprintf(name, sizeof name, "printf_%s_warps", kind.name);
            print(name, warps, best / 4, "cycles");
        }
        for (unsigned blocks : {2u, 8u, 33u, 132u, 528u}) {
            double best = 1e30, us = 1e30;
            for (int i = 0; i < 3; i++) {
                double now = least_us([=] { kind.kernel<<<blocks, 32, 0, a>>>(1, 1, time); }, 1);
                us = now < us ? now : us;
                best = most_cycles(time, blocks) < best ? most_cycles(time, blocks) : best;
            }
            snprintf(name, sizeof name, "printf_%s_blocks", kind.name);
            print(name, blocks, best, "cycles");
            snprintf(name, sizeof name, "printf_%s_blocks_kernel", kind.name);
            print(name, blocks, us, "us");
        }
    }
}

/* Each thread allocates n times, then frees. time: of malloc, then of free. */
__global__ void allocate(int n, unsigned bytes, int every, uint64_t *time, void **kept) {
    void *own[8];
    if (threadIdx.x % every)
        return;
    uint64_t start = clock64();
    for (int i = 0; i < n; i++)
        own[i] = malloc(bytes);
    uint64_t middle = clock64();
    for (int i = 0; i < n; i++)
        kept[blockIdx.x * blockDim.x + threadIdx.x] = own[i];
    uint64_t again = clock64();
    for (int i = 0; i < n; i++)
        free(own[i]);
    uint64_t end = clock64();
    if (threadIdx.x == 0) {
        time[blockIdx.x] = middle - start;
        time[MOST_BLOCKS + blockIdx.x] = end - again;
    }
}

static void mallocs(uint64_t *time, void **kept) {
    char name[64];
    auto measure = [&](const char *what, double parameter, unsigned blocks, unsigned threads, int n, unsigned bytes,
                       int every) {
        double of_malloc = 1e30, of_free = 1e30, us = 1e30;
        for (int i = 0; i < 4; i++) {
            double now = least_us([=] { allocate<<<blocks, threads, 0, a>>>(n, bytes, every, time, kept); }, 1);
            double m = most_cycles(time, blocks) / n, f = most_cycles(time + MOST_BLOCKS, blocks) / n;
            us = now < us ? now : us;
            of_malloc = m < of_malloc ? m : of_malloc;
            of_free = f < of_free ? f : of_free;
        }
        snprintf(name, sizeof name, "malloc_%s", what);
        print(name, parameter, of_malloc, "cycles");
        snprintf(name, sizeof name, "free_%s", what);
        print(name, parameter, of_free, "cycles");
        snprintf(name, sizeof name, "malloc_kernel_%s", what);
        print(name, parameter, us, "us");
    };
    for (unsigned bytes : {16u, 64u, 256u, 1024u, 4096u, 65536u})
        measure("bytes_one_thread", bytes, 1, 32, 8, bytes, 32);
    for (int lanes : {1, 2, 4, 8, 16, 32})
        measure("lanes", lanes, 1, 32, 4, 64, 32 / lanes);
    for (unsigned warps : {1u, 2u, 8u, 32u})
        measure("warps", warps, 1, warps * 32, 4, 64, 1);
    for (unsigned blocks : {1u, 8u, 33u, 132u, 528u, 1056u})
        measure("blocks_of_a_warp", blocks, blocks, 32, 1, 64, 1);
    for (unsigned blocks : {1u, 8u, 33u, 132u, 528u, 1056u})
        measure("blocks_of_a_thread", blocks, blocks, 32, 1, 64, 32);
    for (unsigned blocks : {1u, 33u, 132u})
        measure("blocks_of_256", blocks, blocks, 256, 1, 64, 1);
}

/* --- the global timer --- */

__device__ static uint64_t global_ns() {
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
__global__ void timer_steps(uint64_t *record) {
    for (int i = 0; i < 64; i++) {
        uint64_t before = global_ns(), now;
        while ((now = global_ns()) == before)
            ;
        record[2 * i] = now;
        record[2 * i + 1] = clock64();
    }
}
__global__ void timer_span(uint64_t span, uint64_t *record) {
    uint64_t ns = global_ns(), start = clock64(), now;
    while ((now = clock64()) - start < span)
        ;
    record[2 * blockIdx.x] = global_ns() - ns;
    record[2 * blockIdx.x + 1] = now - start;
}
__global__ void timer_cost(int n, uint64_t *record) {
    uint64_t start = clock64(), last = 0;
    for (int i = 0; i < n; i++)
        last += global_ns();
    record[0] = clock64() - start + (last == 1);
}

static void timers(uint64_t *record) {
    timer_steps<<<1, 1, 0, a>>>(record);
    CHECK(cudaDeviceSynchronize());
    for (int i = 1; i < 64; i += 7)
        print("globaltimer_step", i, (double)(record[2 * i] - record[2 * i - 2]), "ns");
    for (int i = 1; i < 64; i += 7)
        print("globaltimer_step_cycles", i, (double)(record[2 * i + 1] - record[2 * i - 1]), "cycles");
    timer_span<<<1, 1, 0, a>>>(20000000, record);
    CHECK(cudaDeviceSynchronize());
    print("globaltimer_ns_of_cycles", (double)record[1], (double)record[0], "ns");
    timer_cost<<<1, 1, 0, a>>>(64, record);
    CHECK(cudaDeviceSynchronize());
    print("globaltimer_cost", 64, record[0] / 64.0, "cycles");
}

/* --- kernels that run together --- */

struct place {
    uint64_t ns, end_ns;
    unsigned sm, kernel;
};
__global__ void where(uint64_t spin_cycles, place *places, unsigned kernel) {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    uint64_t ns = global_ns(), start = clock64();
    while ((uint64_t)clock64() - start < spin_cycles)
        ;
    if (threadIdx.x == 0)
        places[blockIdx.x] = {ns, global_ns(), sm, kernel};
}

/* How many SMs two kernels have in common when they run together, and when the second starts after the first. */
static void placement(place *places) {
    for (unsigned blocks : {33u, 66u, 132u, 264u, 528u}) {
        cudaEvent_t start;
        CHECK(cudaEventCreateWithFlags(&start, cudaEventDisableTiming));
        for (int i = 0; i < 2; i++) {
            spin<<<1, 1, 0, a>>>(2000000);
            CHECK(cudaEventRecord(start, a));
            CHECK(cudaStreamWaitEvent(b, start, 0));
            where<<<blocks, 256, 0, a>>>(600000, places, 1);
            where<<<blocks, 256, 0, b>>>(600000, places + blocks, 2);
            CHECK(cudaDeviceSynchronize());
        }
        unsigned on[2][132] = {{0}}, used[2] = {0}, both = 0, most = 0;
        uint64_t first[2] = {UINT64_MAX, UINT64_MAX};
        for (unsigned i = 0; i < 2 * blocks; i++) {
            unsigned k = i / blocks;
            on[k][places[i].sm % 132]++;
            first[k] = places[i].ns < first[k] ? places[i].ns : first[k];
        }
        for (int i = 0; i < 132; i++) {
            used[0] += on[0][i] > 0;
            used[1] += on[1][i] > 0;
            both += on[0][i] && on[1][i];
            most = on[0][i] + on[1][i] > most ? on[0][i] + on[1][i] : most;
        }
        print("together_sms_of_first", blocks, used[0], "SMs");
        print("together_sms_of_second", blocks, used[1], "SMs");
        print("together_sms_of_both", blocks, both, "SMs");
        print("together_most_blocks", blocks, most, "blocks");
        print("together_second_after_first", blocks, (double)(int64_t)(first[1] - first[0]), "ns");
    }
}

/* Kernels that read memory, alone and together. */
static void contention() {
    const size_t bytes = 512u << 20;
    for (unsigned blocks : {66u, 528u}) {
        double one = least_us([=] { read_each<uint4><<<blocks, 512, 0, a>>>((uint4 *)device, bytes / 16, 1, sum); });
        cudaEvent_t start, end;
        CHECK(cudaEventCreateWithFlags(&start, cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
        double two = least_us([=] {
            CHECK(cudaEventRecord(start, a));
            CHECK(cudaStreamWaitEvent(b, start, 0));
            read_each<uint4><<<blocks, 512, 0, a>>>((uint4 *)device, bytes / 16, 1, sum);
            read_each<uint4><<<blocks, 512, 0, b>>>((uint4 *)device2, bytes / 16, 1, sum);
            CHECK(cudaEventRecord(end, b));
            CHECK(cudaStreamWaitEvent(a, end, 0));
        });
        print("one_reader_of_512MiB", blocks, one, "us");
        print("two_readers_of_512MiB", blocks, two, "us");
    }
}

int main() {
    out = fdopen(dup(1), "w");
    if (!out || !freopen("/dev/null", "w", stdout))
        return 1;
    attributes();
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 512u << 20));
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 64u << 20));
    CHECK(cudaHostAlloc((void **)&host, BYTES, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&mapped, host, 0));
    CHECK(cudaMalloc((void **)&device, 512u << 20));
    CHECK(cudaMalloc((void **)&device2, 512u << 20));
    CHECK(cudaMalloc((void **)&sum, sizeof *sum));
    CHECK(cudaHostAlloc((void **)&cycles, sizeof *cycles, cudaHostAllocMapped));
    uint64_t *time;
    void **kept;
    place *places;
    CHECK(cudaHostAlloc((void **)&time, 2 * MOST_BLOCKS * sizeof *time, cudaHostAllocMapped));
    CHECK(cudaMalloc((void **)&kept, MOST_BLOCKS * 1024 * sizeof *kept));
    CHECK(cudaHostAlloc((void **)&places, 2 * MOST_BLOCKS * sizeof *places, cudaHostAllocMapped));
    memset(host, 0, BYTES);
    spin<<<132, 256, 0, a>>>(1000000000); /* the card's clocks go up */
    CHECK(cudaDeviceSynchronize());
    timers(time);
    placement(places);
    contention();
    host_memory();
    prints(time);
    mallocs(time, kept);
    return 0;
}
