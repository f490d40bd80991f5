/* The order of streams on the device's timeline, as events show it. The machine copies one byte per cycle, and a cycle
 * is a nanosecond, so a copy of N bytes takes N nanoseconds. */
#include "cuda/fixture.h"

enum { BYTES = 1 << 20, MILLISECOND = 1000000 };

static CUdeviceptr device;
static char *pinned, *other_pinned;

static void begin(void) {
    assert_cuda(cuCtxSynchronize()); /* the work of other tests has ended */
    assert_cuda(cuMemAlloc(&device, BYTES));
    assert_cuda(cuMemAllocHost((void **)&pinned, BYTES));
    assert_cuda(cuMemAllocHost((void **)&other_pinned, BYTES));
}

static CUevent mark(CUstream stream) {
    CUevent event;
    assert_cuda(cuEventCreate(&event, CU_EVENT_DEFAULT));
    assert_cuda(cuEventRecord(event, stream));
    return event;
}

/* Returns the nanoseconds between two events. */
static long between(CUevent first, CUevent second) {
    float ms;
    assert_cuda(cuEventElapsedTime(&ms, first, second));
    return (long)((double)ms * MILLISECOND + (ms < 0 ? -0.5 : 0.5));
}

static CUstream stream_with(unsigned flags) {
    CUstream stream;
    assert_cuda(cuStreamCreate(&stream, flags));
    return stream;
}

static void copies_of_two_directions_overlap(void **state) {
    (void)state;
    begin();
    CUstream a = stream_with(CU_STREAM_NON_BLOCKING), b = stream_with(CU_STREAM_NON_BLOCKING);
    CUevent start = mark(a);
    assert_cuda(cuMemcpyHtoDAsync(device, pinned, 1000, a));
    assert_cuda(cuMemcpyDtoHAsync(other_pinned, device, 3000, b));
    assert_int_equal(between(start, mark(a)), 1000);
    assert_int_equal(between(start, mark(b)), 3000);
    assert_cuda(cuMemcpyHtoDAsync(device, pinned, 500, b)); /* behind the other copies of its stream */
    assert_int_equal(between(start, mark(b)), 3500);
    assert_cuda(cuMemcpyHtoDAsync(device, pinned, 100, a)); /* and this one behind those of its engine */
    assert_int_equal(between(start, mark(a)), 3600);
}

static void the_default_stream_waits_for_streams_that_block(void **state) {
    (void)state;
    begin();
    CUstream blocking = stream_with(CU_STREAM_DEFAULT), free = stream_with(CU_STREAM_NON_BLOCKING);
    CUevent start = mark(NULL);
    assert_cuda(cuMemcpyDtoHAsync(other_pinned, device, 5000, free));
    assert_cuda(cuMemcpyHtoDAsync(device, pinned, 1000, blocking));
    assert_int_equal(between(start, mark(NULL)), 1000);
    assert_cuda(cuMemsetD8Async(device, 0, 2000, NULL)); /* its engine moves four bytes in a cycle */
    assert_int_equal(between(start, mark(NULL)), 1500);
    assert_int_equal(between(start, mark(blocking)), 1500);
    assert_int_equal(between(start, mark(free)), 5000);
}

static void a_stream_waits_for_an_event(void **state) {
    (void)state;
    begin();
    CUstream a = stream_with(CU_STREAM_NON_BLOCKING), b = stream_with(CU_STREAM_NON_BLOCKING);
    CUevent start = mark(a);
    assert_cuda(cuMemcpyHtoDAsync(device, pinned, 1000, a));
    assert_cuda(cuStreamWaitEvent(b, mark(a), 0));
    assert_cuda(cuMemcpyDtoHAsync(other_pinned, device, 200, b));
    assert_int_equal(between(start, mark(b)), 1200);
}

/* The program continues at once after asynchronous copies of pinned memory only. */
static void the_program_waits(void **state) {
    (void)state;
    begin();
    static char pageable[1000];
    CUstream a = stream_with(CU_STREAM_NON_BLOCKING), b = stream_with(CU_STREAM_NON_BLOCKING);
    CUevent start = mark(a), end;
    assert_cuda(cuMemcpyHtoDAsync(device, pinned, 1000, a));
    assert_int_equal(between(start, mark(b)), 0);
    assert_cuda(cuMemcpyHtoDAsync(device, pageable, 1000, a));
    assert_int_equal(between(start, mark(b)), 2000);
    assert_cuda(cuMemcpyHtoD(device, pinned, 1000));
    assert_int_equal(between(start, mark(b)), 3000);
    assert_cuda(cuMemcpyHtoDAsync(device, pinned, 1000, a));
    assert_int_equal(between(start, mark(b)), 3000);
    assert_cuda(cuStreamSynchronize(a));
    assert_int_equal(between(start, mark(b)), 4000);
    assert_cuda(cuMemcpyHtoDAsync(device, pinned, 1000, a));
    end = mark(a);
    assert_cuda(cuEventSynchronize(end));
    assert_int_equal(between(start, mark(b)), 5000);
    assert_cuda(cuMemcpyHtoDAsync(device, pinned, 1000, a));
    assert_cuda(cuCtxSynchronize());
    assert_int_equal(between(start, mark(b)), 6000);
}

static void kernels_run_beside_copies(void **state) {
    (void)state;
    begin();
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    struct add_parameters p = {device, device, 0, 0, 1024};
    void *parameters[] = {&p.out, &p.a, &p.b, &p.scale, &p.n};
    CUstream a = stream_with(CU_STREAM_NON_BLOCKING), b = stream_with(CU_STREAM_NON_BLOCKING);
    CUevent start = mark(a);
    assert_cuda(cuMemcpyDtoHAsync(other_pinned, device, 100, b));
    assert_cuda(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, a, parameters, NULL));
    long kernel = between(start, mark(a));
    assert_true(kernel > 100);
    assert_int_equal(between(start, mark(b)), 100);
    assert_cuda(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, b, parameters, NULL)); /* one kernel after the other */
    assert_true(between(start, mark(b)) > kernel);
}

/* A copy to the host and one to the device, and a third that waits for both. */
static void branches_of_a_graph_overlap(void **state) {
    (void)state;
    begin();
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode first, second, third;
    CUcontext context;
    assert_cuda(cuCtxGetCurrent(&context));
    CUDA_MEMCPY3D to_host = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                             .srcDevice = device,
                             .dstMemoryType = CU_MEMORYTYPE_HOST,
                             .dstHost = other_pinned,
                             .WidthInBytes = 1000,
                             .Height = 1,
                             .Depth = 1};
    CUDA_MEMCPY3D to_device = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                               .srcHost = pinned,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                               .dstDevice = device,
                               .WidthInBytes = 700,
                               .Height = 1,
                               .Depth = 1};
    assert_cuda(cuGraphCreate(&graph, 0));
    assert_cuda(cuGraphAddMemcpyNode(&first, graph, NULL, 0, &to_host, context));
    assert_cuda(cuGraphAddMemcpyNode(&second, graph, NULL, 0, &to_device, context));
    CUgraphNode both[] = {first, second};
    assert_cuda(cuGraphAddMemcpyNode(&third, graph, both, 2, &to_device, context));
    assert_cuda(cuGraphInstantiate(&executable, graph, 0));
    CUevent start = mark(NULL);
    assert_cuda(cuGraphLaunch(executable, NULL));
    assert_int_equal(between(start, mark(NULL)), 1700);
}

static void the_device_reports_its_engines(void **state) {
    (void)state;
    int n = 0, overlaps = 0;
    assert_cuda(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 0));
    assert_cuda(cuDeviceGetAttribute(&overlaps, CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 0));
    assert_int_equal(n, 3);
    assert_int_equal(overlaps, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(copies_of_two_directions_overlap), context_test(the_default_stream_waits_for_streams_that_block),
        context_test(a_stream_waits_for_an_event),      context_test(the_program_waits),
        context_test(kernels_run_beside_copies),        context_test(branches_of_a_graph_overlap),
        context_test(the_device_reports_its_engines),
    };
    setenv("HEDDLE_CONFIG",
           "{\"machine\": \"clock: 1\\nlink:\\n  bytes_per_cycle: 1\\n  latency: 0\\n  local_bytes_per_cycle: 4\\n\"}",
           1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
