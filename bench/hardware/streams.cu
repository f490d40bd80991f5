/* Times of a whole device: copies, launches, streams, and host memory that kernels read over the link.
 *
 * Built with `nvcc -O2 -arch=sm_90 -o streams bench/hardware/streams.cu`, run without arguments. It prints one line per
 * measurement: name, parameter, value, unit. Every time is the least of several repetitions, by events or by the card's
 * global timer. The values are the source of the `link` options of machines/h200.yaml. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

enum { REPEATS = 7, MOST_RECORDS = 4096 };

static void check(cudaError_t status, const char *what, int line) {
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "streams.cu:%d: %s: %s\n", line, what, cudaGetErrorString(status));
    exit(1);
}
#define CHECK(call) check(call, #call, __LINE__)

static void print(const char *name, double parameter, double value, const char *unit) {
    printf("%s,%.0f,%.3f,%s\n", name, parameter, value, unit);
    fflush(stdout);
}

/* --- kernels --- */

__device__ static uint64_t global_ns() {
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
__device__ static unsigned sm_id() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

/* When and where a block ran. */
struct record {
    uint64_t start_ns, end_ns, start_clock, end_clock;
    unsigned sm, kernel;
};

__global__ void empty() {}

/* Keeps its SM's slots for some cycles. */
__global__ void spin(uint64_t cycles, record *records, unsigned kernel) {
    uint64_t start_ns = global_ns(), start = clock64();
    while ((uint64_t)clock64() - start < cycles)
        ;
    if (threadIdx.x == 0 && records)
        records[blockIdx.x] = {start_ns, global_ns(), start, (uint64_t)clock64(), sm_id(), kernel};
}

__global__ void read_all(const uint4 *data, size_t n, unsigned *sum) {
    unsigned own = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint4 v = data[i];
        own += v.x + v.y + v.z + v.w;
    }
    if (own == 0x12345678)
        *sum = own;
}

__global__ void read_words(const unsigned *data, size_t n, unsigned *sum) {
    unsigned own = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        own += data[i];
    if (own == 0x12345678)
        *sum = own;
}

__global__ void write_all(uint4 *data, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        data[i] = make_uint4(1, 2, 3, 4);
}

__global__ void chase(const volatile unsigned *next, int n, uint64_t *cycles) {
    unsigned at = 0;
    uint64_t start = clock64();
    for (int i = 0; i < n; i++)
        at = next[at];
    *cycles = clock64() - start + (at == ~0u);
}

/* --- times --- */

struct events {
    cudaEvent_t begin, end;
    events() {
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
    }
};

/* Returns the least microseconds between two events around the work in a stream. */
template <class Work> static double least_us(cudaStream_t stream, Work work) {
    static events e;
    double best = 1e30;
    for (int i = 0; i < REPEATS; i++) {
        float ms;
        CHECK(cudaEventRecord(e.begin, stream));
        work();
        CHECK(cudaEventRecord(e.end, stream));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventElapsedTime(&ms, e.begin, e.end));
        best = ms * 1e3 < best ? ms * 1e3 : best;
    }
    return best;
}

/* Returns the least microseconds from a common start event to the end of the work of both streams. A kernel that spins
 * in front lets the host queue everything before it begins. */
template <class A, class B> static double least_us_of_two(cudaStream_t a, cudaStream_t b, A in_a, B in_b) {
    static events e;
    static cudaEvent_t end_b = events().end;
    double best = 1e30;
    for (int i = 0; i < REPEATS; i++) {
        float to_a, to_b;
        spin<<<1, 1, 0, a>>>(4000000, nullptr, 0);
        CHECK(cudaEventRecord(e.begin, a));
        CHECK(cudaStreamWaitEvent(b, e.begin, 0));
        in_a();
        in_b();
        CHECK(cudaEventRecord(e.end, a));
        CHECK(cudaEventRecord(end_b, b));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventElapsedTime(&to_a, e.begin, e.end));
        CHECK(cudaEventElapsedTime(&to_b, e.begin, end_b));
        double us = 1e3 * (to_a > to_b ? to_a : to_b);
        best = us < best ? us : best;
    }
    return best;
}

/* --- measurements --- */

static cudaStream_t a, b;
static unsigned char *host, *host2, *device, *device2;
static const size_t MOST = 256u << 20;

static void copies() {
    for (size_t bytes = 4; bytes <= MOST; bytes *= 4) {
        print("copy_h2d_pinned", (double)bytes,
              least_us(a, [=] { CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, a)); }), "us");
        print("copy_d2h_pinned", (double)bytes,
              least_us(a, [=] { CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, a)); }), "us");
        print("copy_d2d", (double)bytes,
              least_us(a, [=] { CHECK(cudaMemcpyAsync(device2, device, bytes, cudaMemcpyDeviceToDevice, a)); }), "us");
        print("memset", (double)bytes, least_us(a, [=] { CHECK(cudaMemsetAsync(device, 0, bytes, a)); }), "us");
    }
    /* Several small copies in one stream: the time of each without the events'. */
    for (int n = 1; n <= 64; n *= 4)
        print("copies_h2d_4KiB", n,
              least_us(a,
                       [=] {
                           for (int i = 0; i < n; i++)
                               CHECK(cudaMemcpyAsync(device + 4096 * i, host, 4096, cudaMemcpyHostToDevice, a));
                       }),
              "us");
    std::vector<unsigned char> pageable(64u << 20, 1);
    print("copy_h2d_pageable", 64 << 20,
          least_us(
              a, [&] { CHECK(cudaMemcpyAsync(device, pageable.data(), pageable.size(), cudaMemcpyHostToDevice, a)); }),
          "us");
    const size_t half = 64u << 20;
    print("two_h2d", (double)half,
          least_us_of_two(
              a, b, [=] { CHECK(cudaMemcpyAsync(device, host, half, cudaMemcpyHostToDevice, a)); },
              [=] { CHECK(cudaMemcpyAsync(device2, host2, half, cudaMemcpyHostToDevice, b)); }),
          "us");
    print("h2d_and_d2h", (double)half,
          least_us_of_two(
              a, b, [=] { CHECK(cudaMemcpyAsync(device, host, half, cudaMemcpyHostToDevice, a)); },
              [=] { CHECK(cudaMemcpyAsync(host2, device2, half, cudaMemcpyDeviceToHost, b)); }),
          "us");
    print("two_d2h", (double)half,
          least_us_of_two(
              a, b, [=] { CHECK(cudaMemcpyAsync(host, device, half, cudaMemcpyDeviceToHost, a)); },
              [=] { CHECK(cudaMemcpyAsync(host2, device2, half, cudaMemcpyDeviceToHost, b)); }),
          "us");
}

static void launches() {
    print("events_with_nothing", 0, least_us(a, [] {}), "us");
    for (int n = 1; n <= 64; n *= 2)
        print("empty_kernels", n,
              least_us(a,
                       [=] {
                           spin<<<1, 1, 0, a>>>(200000, nullptr, 0); /* the host queues the others meanwhile */
                           for (int i = 0; i < n; i++)
                               empty<<<1, 32, 0, a>>>();
                       }),
              "us");
    print("one_spin_200000_cycles", 200000, least_us(a, [] { spin<<<1, 1, 0, a>>>(200000, nullptr, 0); }), "us");
}

/* A small copy between two kernels of a stream. */
static void copy_between() {
    double kernel = least_us(a, [=] { spin<<<1, 32, 0, a>>>(20000, nullptr, 0); });
    print("kernel_alone", 20000, kernel, "us");
    print("kernel_copy_kernel_4KiB", 20000,
          least_us(a,
                   [=] {
                       spin<<<1, 32, 0, a>>>(20000, nullptr, 0);
                       CHECK(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, a));
                       spin<<<1, 32, 0, a>>>(20000, nullptr, 0);
                   }),
          "us");
}

static void overlap() {
    const uint64_t cycles = 1000000;
    for (unsigned blocks : {1u, 66u, 132u, 132u * 8, 132u * 16, 132u * 32}) {
        double one = least_us_of_two(
            a, b, [=] { spin<<<blocks, 256, 0, a>>>(cycles, nullptr, 0); }, [] {});
        double two = least_us_of_two(
            a, b, [=] { spin<<<blocks, 256, 0, a>>>(cycles, nullptr, 0); },
            [=] { spin<<<blocks, 256, 0, b>>>(cycles, nullptr, 0); });
        print("one_kernel_blocks", blocks, one, "us");
        print("two_kernels_blocks", blocks, two, "us");
    }
    for (size_t bytes = 1u << 20; bytes <= MOST; bytes *= 16)
        print("kernel_and_h2d", (double)bytes,
              least_us_of_two(
                  a, b, [=] { spin<<<132, 256, 0, a>>>(cycles, nullptr, 0); },
                  [=] { CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, b)); }),
              "us");
    cudaStream_t many[128];
    for (cudaStream_t &stream : many)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int n = 1; n <= 128; n *= 2)
        print("kernels_in_streams", n,
              least_us_of_two(
                  a, b,
                  [&] {
                      cudaEvent_t start = events().end;
                      CHECK(cudaEventRecord(start, a));
                      for (int i = 0; i < n; i++) {
                          CHECK(cudaStreamWaitEvent(many[i], start, 0));
                          spin<<<1, 32, 0, many[i]>>>(cycles, nullptr, 0);
                          cudaEvent_t end = events().end;
                          CHECK(cudaEventRecord(end, many[i]));
                          CHECK(cudaStreamWaitEvent(a, end, 0));
                      }
                  },
                  [] {}),
              "us");
}

/* The order in which blocks of two kernels start when neither fits at once, and what a priority changes. Prints when
 * each kernel's first and last block started and ended, in microseconds after the first of all. */
static void dispatch(record *records, const char *name, int priority_of_second) {
    int least, greatest;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t first, second;
    CHECK(cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, priority_of_second ? greatest : least));
    const unsigned blocks = 132 * 8 * 2; /* two waves of eight blocks of 256 threads on an SM */
    for (int i = 0; i < 2; i++) {
        spin<<<blocks / 2, 256, 0, first>>>(300000, nullptr, 0);
        spin<<<blocks / 2, 256, 0, second>>>(300000, nullptr, 0);
        CHECK(cudaDeviceSynchronize());
    }
    cudaEvent_t start = events().end;
    spin<<<1, 1, 0, a>>>(400000, nullptr, 0);
    CHECK(cudaEventRecord(start, a));
    CHECK(cudaStreamWaitEvent(first, start, 0));
    CHECK(cudaStreamWaitEvent(second, start, 0));
    spin<<<blocks, 256, 0, first>>>(300000, records, 1);
    spin<<<1056, 256, 0, second>>>(300000, records + blocks, 2);
    CHECK(cudaDeviceSynchronize());
    uint64_t zero = UINT64_MAX, last_start[3] = {0}, first_start[3] = {0, UINT64_MAX, UINT64_MAX}, end[3] = {0};
    for (unsigned k = 0; k < blocks + 1056; k++) {
        const record &r = records[k];
        zero = r.start_ns < zero ? r.start_ns : zero;
        first_start[r.kernel] = r.start_ns < first_start[r.kernel] ? r.start_ns : first_start[r.kernel];
        last_start[r.kernel] = r.start_ns > last_start[r.kernel] ? r.start_ns : last_start[r.kernel];
        end[r.kernel] = r.end_ns > end[r.kernel] ? r.end_ns : end[r.kernel];
    }
    for (int k = 1; k <= 2; k++) {
        char text[80];
        snprintf(text, sizeof text, "%s_kernel%d_first_start", name, k);
        print(text, blocks, (double)(first_start[k] - zero) * 1e-3, "us");
        snprintf(text, sizeof text, "%s_kernel%d_last_start", name, k);
        print(text, blocks, (double)(last_start[k] - zero) * 1e-3, "us");
        snprintf(text, sizeof text, "%s_kernel%d_end", name, k);
        print(text, blocks, (double)(end[k] - zero) * 1e-3, "us");
    }
}

static void zero_copy() {
    unsigned *sum;
    CHECK(cudaMalloc(&sum, sizeof *sum));
    const size_t bytes = 64u << 20;
    void *mapped;
    CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
    for (unsigned blocks : {1u, 4u, 16u, 33u, 66u, 132u, 1056u}) {
        size_t part = blocks < 16 ? bytes / 16 : bytes;
        print("zero_copy_read16_GBps", blocks,
              (double)part / least_us(a, [=] { read_all<<<blocks, 256, 0, a>>>((uint4 *)mapped, part / 16, sum); }) /
                  1e3,
              "GB/s");
        print("zero_copy_read4_GBps", blocks,
              (double)part /
                  least_us(a, [=] { read_words<<<blocks, 256, 0, a>>>((unsigned *)mapped, part / 4, sum); }) / 1e3,
              "GB/s");
        print("zero_copy_write_GBps", blocks,
              (double)part / least_us(a, [=] { write_all<<<blocks, 256, 0, a>>>((uint4 *)mapped, part / 16); }) / 1e3,
              "GB/s");
    }
    for (size_t small : {4096ul, 65536ul, 1048576ul})
        print("zero_copy_read16_small", (double)small,
              least_us(a, [=] { read_all<<<132, 256, 0, a>>>((uint4 *)mapped, small / 16, sum); }), "us");
    /* A second pass over a little host memory shows whether the L2 keeps it. */
    unsigned *words = (unsigned *)host;
    const int steps = 256;
    for (int i = 0; i < steps; i++)
        words[i * 1024] = (unsigned)(i + 1 == steps ? 0 : (i + 1) * 1024);
    uint64_t *cycles;
    CHECK(cudaMallocManaged(&cycles, sizeof *cycles));
    for (int n : {steps, 2 * steps}) {
        chase<<<1, 1, 0, a>>>((unsigned *)mapped, n, cycles);
        CHECK(cudaDeviceSynchronize());
        print("zero_copy_chase", n, (double)*cycles / n, "cycles");
    }
}

int main() {
    cudaDeviceProp properties;
    int clock_khz = 0;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0);
    print("device_sms", 0, properties.multiProcessorCount, properties.name);
    print("device_clock", 0, clock_khz * 1e-3, "MHz");
    print("device_copy_engines", 0, properties.asyncEngineCount, "engines");
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaHostAlloc((void **)&host, MOST, cudaHostAllocMapped));
    CHECK(cudaHostAlloc((void **)&host2, MOST, cudaHostAllocMapped));
    CHECK(cudaMalloc((void **)&device, MOST));
    CHECK(cudaMalloc((void **)&device2, MOST));
    record *records;
    CHECK(cudaHostAlloc((void **)&records, MOST_RECORDS * sizeof *records, cudaHostAllocMapped));
    spin<<<132, 256, 0, a>>>(100000000, nullptr, 0); /* the card's clocks go up */
    CHECK(cudaDeviceSynchronize());
    copies();
    launches();
    copy_between();
    overlap();
    dispatch(records, "dispatch_equal", 0);
    dispatch(records, "dispatch_priority", 1);
    zero_copy();
    return 0;
}
