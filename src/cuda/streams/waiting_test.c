/* Work that waits: kernels of several streams run at the same time, in the order that streams and events ask for. On a
 * machine whose cycle is a nanosecond, and without timing. */
#include <stdbool.h>
#include <sys/wait.h>

#include "cuda/fixture.h"

/* wait: until the word at p is not 0, then adds 6 to the word after it. set: stores 1 at p. twice: doubles the word at
 * p, after a while. bad: reads address 16. */
static const char ptx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry wait(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p];\nagain: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;\n"
    "ld.global.u32 %r2, [%d1+4]; add.u32 %r2, %r2, 6; st.global.u32 [%d1+4], %r2; ret;\n}\n"
    ".visible .entry set(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, 1; st.volatile.global.u32 [%d1], %r1; ret;\n}\n"
    ".visible .entry twice(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %d<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r1, 500;\n"
    "again: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;\n"
    "ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, %r2; st.global.u32 [%d1], %r2; ret;\n}\n"
    ".visible .entry bad(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %d<2>;\n"
    "mov.u64 %d1, 16; ld.global.u32 %r1, [%d1]; st.global.u32 [%d1], %r1; ret;\n}\n";

static CUfunction kernel_wait, kernel_set, kernel_twice, kernel_bad;
static CUmodule module;
static CUdeviceptr device;
static unsigned *pinned;
static CUstream a, b;
static bool is_timed;

static void begin_with(unsigned flags) {
    kernel_wait = load_kernel(ptx, "wait", &module);
    assert_cuda(cuModuleGetFunction(&kernel_set, module, "set"));
    assert_cuda(cuModuleGetFunction(&kernel_twice, module, "twice"));
    assert_cuda(cuModuleGetFunction(&kernel_bad, module, "bad"));
    assert_cuda(cuMemAlloc(&device, 64));
    assert_cuda(cuMemsetD32(device, 0, 16));
    assert_cuda(cuMemAllocHost((void **)&pinned, 64));
    memset(pinned, 0, 64);
    assert_cuda(cuStreamCreate(&a, flags));
    assert_cuda(cuStreamCreate(&b, flags));
}

static void begin(void) { begin_with(CU_STREAM_NON_BLOCKING); }

static void end(void) {
    assert_cuda(cuStreamDestroy(a));
    assert_cuda(cuStreamDestroy(b));
    assert_cuda(cuMemFree(device));
    assert_cuda(cuMemFreeHost(pinned));
    assert_cuda(cuModuleUnload(module));
}

static CUresult launch(CUfunction kernel, CUdeviceptr at, CUstream stream) {
    void *parameters[] = {&at};
    return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}

static unsigned read_word(unsigned i) {
    unsigned word;
    assert_cuda(cuMemcpyDtoH(&word, device + 4 * i, 4));
    return word;
}

static void a_kernel_may_wait_for_one_of_a_later_call(void **state) {
    (void)state;
    begin();
    assert_cuda(launch(kernel_wait, device, a));
    assert_cuda(launch(kernel_set, device, b));
    assert_cuda(cuStreamSynchronize(a));
    assert_int_equal(read_word(1), 6);
    end();
}

static void the_default_stream_may_wait_for_a_stream_that_does_not_block(void **state) {
    (void)state;
    begin();
    assert_cuda(launch(kernel_wait, device, NULL));
    assert_cuda(launch(kernel_set, device, b));
    assert_cuda(cuCtxSynchronize());
    assert_int_equal(read_word(1), 6);
    end();
}

/* Streams that block run beside each other, but not beside the default stream. */
static void the_default_stream_orders_streams_that_block(void **state) {
    (void)state;
    begin_with(CU_STREAM_DEFAULT);
    assert_cuda(cuMemsetD32(device, 3, 1));
    assert_cuda(launch(kernel_twice, device, a)); /* 6 */
    assert_cuda(cuMemcpyDtoDAsync(device + 8, device, 4, NULL));
    assert_cuda(launch(kernel_twice, device, b)); /* 12, after the copy */
    assert_cuda(cuMemcpyDtoDAsync(device + 12, device, 4, NULL));
    assert_int_equal(read_word(2), 6);
    assert_int_equal(read_word(3), 12);
    assert_cuda(cuMemsetD32(device, 0, 2));
    assert_cuda(launch(kernel_wait, device, a));
    assert_cuda(launch(kernel_set, device, b));
    assert_cuda(cuCtxSynchronize());
    assert_int_equal(read_word(1), 6);
    end();
}

/* The copies wait for the kernels before them, and those for the copies. */
static void copies_and_fills_keep_the_order_of_their_stream(void **state) {
    (void)state;
    begin();
    pinned[0] = 5;
    assert_cuda(launch(kernel_wait, device, a));
    assert_cuda(cuMemsetD32Async(device + 4, 8, 1, a));
    assert_cuda(launch(kernel_twice, device + 4, a));
    assert_cuda(cuMemcpyDtoHAsync(&pinned[1], device + 4, 4, a));
    assert_cuda(cuMemcpyHtoDAsync(device + 4, &pinned[0], 4, a));
    assert_cuda(launch(kernel_twice, device + 4, a));
    assert_int_equal(pinned[1], 0); /* it waits */
    assert_cuda(launch(kernel_set, device, b));
    assert_cuda(cuStreamSynchronize(a));
    assert_int_equal(pinned[1], 16);
    assert_int_equal(read_word(1), 10);
    end();
}

/* The program may use its memory when the call returns, unless it is pinned. */
static void a_copy_from_memory_that_is_not_pinned_is_done_at_once(void **state) {
    (void)state;
    begin();
    unsigned word = 1;
    assert_cuda(launch(kernel_twice, device, a));
    assert_cuda(cuMemcpyHtoDAsync(device, &word, 4, a));
    word = 2;
    assert_int_equal(read_word(0), 1);
    assert_cuda(launch(kernel_twice, device, a));
    assert_cuda(cuMemcpyDtoHAsync(&word, device, 4, a));
    assert_int_equal(word, 2);
    end();
}

static void a_wrong_copy_is_refused_at_once(void **state) {
    (void)state;
    begin();
    assert_cuda(launch(kernel_twice, device, a));
    assert_int_equal(cuMemcpyDtoHAsync(pinned, 16, 4, a), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD32Async(16, 1, 1, a), CUDA_ERROR_INVALID_VALUE);
    void *parameters[] = {&device};
    assert_int_not_equal(cuLaunchKernel(kernel_set, 1, 1, 1, 4096, 1, 1, 0, a, parameters, NULL), CUDA_SUCCESS);
    end();
}

/* b waits for the event, although the kernel before it is still waiting itself. */
static void a_stream_waits_for_an_event_that_has_not_happened(void **state) {
    (void)state;
    CUevent event;
    begin();
    assert_cuda(cuMemsetD32(device + 4, 1, 1));
    assert_cuda(cuEventCreate(&event, CU_EVENT_DEFAULT));
    assert_cuda(launch(kernel_wait, device, a));
    assert_cuda(cuEventRecord(event, a));
    assert_cuda(cuStreamWaitEvent(b, event, 0));
    assert_cuda(launch(kernel_twice, device + 4, b)); /* 7, then 14 */
    CUstream c;
    assert_cuda(cuStreamCreate(&c, CU_STREAM_NON_BLOCKING));
    assert_cuda(launch(kernel_set, device, c));
    assert_cuda(cuEventSynchronize(event));
    assert_int_equal(read_word(1), 14);
    assert_cuda(cuStreamDestroy(c));
    assert_cuda(cuEventDestroy(event));
    end();
}

static float between(CUevent first, CUevent second) {
    float ms;
    assert_cuda(cuEventElapsedTime(&ms, first, second));
    return ms;
}

/* Events show when kernels ended: twice beside another one takes as long as alone. */
static void events_of_waiting_work_have_its_times(void **state) {
    (void)state;
    CUevent event[5];
    begin();
    for (int i = 0; i < 5; i++)
        assert_cuda(cuEventCreate(&event[i], CU_EVENT_DEFAULT));
    assert_cuda(cuEventRecord(event[0], a));
    assert_cuda(launch(kernel_twice, device, a));
    assert_cuda(cuEventRecord(event[1], a));
    assert_cuda(cuCtxSynchronize());
    assert_cuda(cuEventRecord(event[2], a));
    assert_cuda(launch(kernel_twice, device, a));
    assert_cuda(launch(kernel_twice, device + 32, b));
    assert_cuda(cuEventRecord(event[3], a));
    assert_cuda(cuEventRecord(event[4], b));
    float one = between(event[0], event[1]), first = between(event[2], event[3]), second = between(event[2], event[4]);
    assert_true(one > 0 && first > 0 && second > 0);
    if (is_timed)
        assert_true(first < 1.1f * one && second < 1.1f * one);
    for (int i = 0; i < 5; i++)
        assert_cuda(cuEventDestroy(event[i]));
    end();
}

/* wait and set are branches; then the word of wait is doubled, and copied. The second launch finds the flag set. */
static void branches_of_a_graph_run_at_the_same_time(void **state) {
    (void)state;
    CUgraph graph;
    CUgraphExec executable;
    CUgraphNode branch[2], doubled, copied;
    CUcontext context;
    begin();
    CUdeviceptr word = device + 4;
    void *parameters[] = {&device}, *of_doubled[] = {&word};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = kernel_wait,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = parameters};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device + 4,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = pinned,
                          .WidthInBytes = 4,
                          .Height = 1,
                          .Depth = 1};
    assert_cuda(cuCtxGetCurrent(&context));
    for (int has_copy = 0; has_copy < 2; has_copy++) {
        assert_cuda(cuMemsetD32(device, 0, 16));
        assert_cuda(cuGraphCreate(&graph, 0));
        kernel.func = kernel_wait;
        kernel.kernelParams = parameters;
        assert_cuda(cuGraphAddKernelNode(&branch[0], graph, NULL, 0, &kernel));
        kernel.func = kernel_set;
        assert_cuda(cuGraphAddKernelNode(&branch[1], graph, NULL, 0, &kernel));
        kernel.func = kernel_twice;
        kernel.kernelParams = of_doubled;
        assert_cuda(cuGraphAddKernelNode(&doubled, graph, branch, 2, &kernel));
        if (has_copy)
            assert_cuda(cuGraphAddMemcpyNode(&copied, graph, &doubled, 1, &copy, context));
        assert_cuda(cuGraphInstantiate(&executable, graph, 0));
        assert_cuda(cuGraphLaunch(executable, a));
        assert_cuda(cuGraphLaunch(executable, a));
        assert_cuda(cuStreamSynchronize(a));
        assert_int_equal(read_word(1), ((0 + 6) * 2 + 6) * 2);
        assert_int_equal(pinned[0], has_copy ? 36 : 0);
        assert_cuda(cuGraphExecDestroy(executable));
        assert_cuda(cuGraphDestroy(graph));
    }
    end();
}

static void a_fault_appears_when_the_program_waits(void **state) {
    (void)state;
    begin();
    assert_cuda(launch(kernel_twice, device, a));
    assert_cuda(launch(kernel_bad, device, b));
    assert_cuda(launch(kernel_twice, device, b));
    assert_int_equal(cuStreamSynchronize(a), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(launch(kernel_twice, device, a), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* A process has one device, so another process makes the tests without timing. */
int main(void) {
    int status = 0;
    pid_t child = fork();
    is_timed = child != 0;
    if (child && (waitpid(child, &status, 0) != child || status))
        return 1;
    setenv("HEDDLE_CONFIG",
           is_timed ? "{\"machine\": \"clock: 1\\nlink:\\n  present: true\\nlaunch:\\n  concurrent: 4\\n\"}"
                    : "{\"max_instructions\": 10000000}",
           1);
    const struct CMUnitTest tests[] = {
        context_test(a_kernel_may_wait_for_one_of_a_later_call),
        context_test(the_default_stream_may_wait_for_a_stream_that_does_not_block),
        context_test(the_default_stream_orders_streams_that_block),
        context_test(copies_and_fills_keep_the_order_of_their_stream),
        context_test(a_copy_from_memory_that_is_not_pinned_is_done_at_once),
        context_test(a_wrong_copy_is_refused_at_once),
        context_test(a_stream_waits_for_an_event_that_has_not_happened),
        context_test(events_of_waiting_work_have_its_times),
        context_test(branches_of_a_graph_run_at_the_same_time),
        context_test(a_fault_appears_when_the_program_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
