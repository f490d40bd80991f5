/* What kernels of two streams do to each other when their blocks are on the SMs at once. Prints when the first and the
 * last block of each kernel started and the last one ended, in microseconds after the first of all, as
 * name,kernel,value,unit.
 *
 * sharing [MEGABYTES ITERATIONS MICROSECONDS]: what a kernel reads, the steps of its arithmetic, the time of its
 * waiting. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_));                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

struct record {
    uint64_t start_ns, end_ns;
};

__device__ inline uint64_t now() {
    uint64_t ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
}

__device__ inline void begin(record *records) {
    if (threadIdx.x == 0)
        records[blockIdx.x].start_ns = now();
    __syncthreads();
}

__device__ inline void end(record *records) {
    __syncthreads();
    if (threadIdx.x == 0)
        records[blockIdx.x].end_ns = now();
}

/* Reads memory from end to end, many lines at once. */
__global__ void read_memory(record *records, const uint4 *from, size_t n, uint4 *to) {
    begin(records);
    uint4 sum = {0, 0, 0, 0};
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, step = (size_t)gridDim.x * blockDim.x;
    for (; i + 3 * step < n; i += 4 * step) {
        uint4 a = __ldcg(from + i), b = __ldcg(from + i + step), c = __ldcg(from + i + 2 * step),
              d = __ldcg(from + i + 3 * step);
        sum.x ^= a.x ^ b.x ^ c.x ^ d.x;
        sum.y ^= a.y ^ b.y ^ c.y ^ d.y;
    }
    if (sum.x == 12345 && sum.y == 54321)
        *to = sum;
    end(records);
}

/* Eight chains of multiplications and additions in each thread. */
__global__ void compute(record *records, int steps, float *to) {
    begin(records);
    float x[8];
    for (int k = 0; k < 8; k++)
        x[k] = threadIdx.x + k;
    for (int i = 0; i < steps; i++)
        for (int k = 0; k < 8; k++)
            x[k] = x[k] * 1.0001f + 0.5f;
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += x[k];
    if (sum == 0)
        *to = sum;
    end(records);
}

/* Waits; blocks with odd numbers twice as long if they are uneven. */
__global__ void wait_for(record *records, uint64_t ns, bool is_uneven) {
    begin(records);
    uint64_t stop = now() + (is_uneven && blockIdx.x % 2 ? 2 * ns : ns);
    while (now() < stop)
        __nanosleep(200);
    end(records);
}

static const unsigned most = 132 * 64;
static record *records;               /* of the first kernel, then of the second */
static record host_records[2 * most]; /* a copy: managed memory would move while blocks start */

static void print(const char *name, int kernel, const char *what, uint64_t ns) {
    printf("%s_%s,%d,%.3f,us\n", name, what, kernel, (double)ns / 1000);
}

static void show(const char *name, unsigned first_blocks, unsigned second_blocks) {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host_records, records, sizeof host_records, cudaMemcpyDeviceToHost));
    uint64_t zero = UINT64_MAX;
    unsigned blocks[2] = {first_blocks, second_blocks};
    for (int k = 0; k < 2; k++)
        for (unsigned i = 0; i < blocks[k]; i++)
            zero = host_records[k * most + i].start_ns < zero ? host_records[k * most + i].start_ns : zero;
    for (int k = 0; k < 2; k++) {
        uint64_t first = UINT64_MAX, last = 0, end = 0;
        for (unsigned i = 0; i < blocks[k]; i++) {
            const record &r = host_records[k * most + i];
            first = r.start_ns < first ? r.start_ns : first;
            last = r.start_ns > last ? r.start_ns : last;
            end = r.end_ns > end ? r.end_ns : end;
        }
        if (!blocks[k])
            continue;
        print(name, k + 1, "first_start", first - zero);
        print(name, k + 1, "last_start", last - zero);
        print(name, k + 1, "end", end - zero);
    }
}

int main(int argc, char **argv) {
    size_t bytes = (argc > 1 ? strtoull(argv[1], nullptr, 0) : 256) << 20, n = bytes / sizeof(uint4);
    int steps = argc > 2 ? atoi(argv[2]) : 4000;
    uint64_t ns = (argc > 3 ? strtoull(argv[3], nullptr, 0) : 100) * 1000;
    int least, greatest, sms;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    cudaStream_t gate, a, b, high;
    CHECK(cudaStreamCreateWithPriority(&gate, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&a, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&b, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    uint4 *one, *two;
    CHECK(cudaMalloc(&one, bytes));
    CHECK(cudaMalloc(&two, bytes));
    CHECK(cudaMemset(one, 0, bytes));
    CHECK(cudaMemset(two, 0, bytes));
    CHECK(cudaMalloc(&records, 2 * most * sizeof(record)));
    record *gate_record;
    CHECK(cudaMalloc(&gate_record, sizeof(record)));
    record *first = records, *second = records + most;
    unsigned full = (unsigned)sms;
    puts("name,kernel,value,unit");
    for (int round = 0; round < (argc > 4 ? atoi(argv[4]) : 2); round++) { /* the first one warms up */
        printf("round,%d,0,\n", round);
        cudaEvent_t open;
        CHECK(cudaEventCreateWithFlags(&open, cudaEventDisableTiming));
#define OPEN()                                                                                                         \
    wait_for<<<1, 1, 0, gate>>>(gate_record, ns / 2, false);                                                           \
    CHECK(cudaEventRecord(open, gate));                                                                                \
    CHECK(cudaStreamWaitEvent(a, open, 0));                                                                            \
    CHECK(cudaStreamWaitEvent(b, open, 0))
        OPEN();
        read_memory<<<full, 512, 0, a>>>(first, one, n, two);
        show("read", full, 0);
        OPEN();
        read_memory<<<full, 512, 0, a>>>(first, one, n, two);
        read_memory<<<full, 512, 0, b>>>(second, two, n, one);
        show("read_read", full, full);
        OPEN();
        compute<<<full, 512, 0, a>>>(first, steps, (float *)two);
        show("compute", full, 0);
        OPEN();
        compute<<<full, 512, 0, a>>>(first, steps, (float *)two);
        compute<<<full, 512, 0, b>>>(second, steps, (float *)two);
        show("compute_compute", full, full);
        OPEN();
        read_memory<<<full, 512, 0, a>>>(first, one, n, two);
        compute<<<full, 512, 0, b>>>(second, steps, (float *)two);
        show("read_compute", full, full);
        /* The first kernel takes all places; half of its blocks end early. */
        OPEN();
        wait_for<<<4 * full, 512, 0, a>>>(first, ns, true);
        wait_for<<<full, 512, 0, b>>>(second, ns, false);
        show("leftover", 4 * full, full);
        /* And has half as many blocks left, which come before the second kernel's. */
        OPEN();
        wait_for<<<6 * full, 512, 0, a>>>(first, ns, true);
        wait_for<<<full, 512, 0, b>>>(second, ns, false);
        show("leftover_more", 6 * full, full);
        /* The second kernel comes when the first runs, and has a higher priority. */
        for (cudaStream_t other : {high, b}) {
            wait_for<<<1, 1, 0, other>>>(gate_record, ns / 2 + ns / 4, false);
            wait_for<<<1, 1, 0, a>>>(gate_record, ns / 2, false);
            wait_for<<<8 * full, 512, 0, a>>>(first, ns, false);
            wait_for<<<full, 512, 0, other>>>(second, ns, false);
            show(other == high ? "priority" : "no_priority", 8 * full, full);
        }
    }
    return 0;
}
