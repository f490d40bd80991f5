/* Streams and events: handles, and time as the device counts it. */
#include "cuda/fixture.h"

static void streams_remember_what_they_were_made_with(void **state) {
    CUstream stream;
    int priority = 1, least, greatest;
    unsigned flags = 0;
    CUcontext context = NULL;
    unsigned long long id = 0, other = 0;
    assert_cuda(cuCtxGetStreamPriorityRange(&least, &greatest));
    assert_true(greatest <= least);
    assert_cuda(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest - 7));
    assert_cuda(cuStreamGetPriority(stream, &priority));
    assert_int_equal(priority, greatest);
    assert_cuda(cuStreamGetFlags(stream, &flags));
    assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
    assert_cuda(cuStreamGetCtx(stream, &context));
    assert_ptr_equal(context, *state);
    assert_cuda(cuStreamGetId(stream, &id));
    assert_cuda(cuStreamGetId(NULL, &other));
    assert_int_not_equal(id, other);
    assert_cuda(cuStreamQuery(stream));
    assert_cuda(cuStreamDestroy(stream));
    assert_int_equal(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuStreamCreate(&stream, 2), CUDA_ERROR_INVALID_VALUE);
}

static void time_passes_only_while_kernels_run(void **state) {
    (void)state;
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    CUdeviceptr memory;
    assert_cuda(cuMemAlloc(&memory, 4096));
    struct add_parameters p = {memory, memory, 0, 0, 1024};
    void *parameters[] = {&p.out, &p.a, &p.b, &p.scale, &p.n};
    CUevent before, idle, after;
    float milliseconds = -1, whole = 0;
    assert_cuda(cuEventCreate(&before, CU_EVENT_DEFAULT));
    assert_cuda(cuEventCreate(&idle, CU_EVENT_BLOCKING_SYNC));
    assert_cuda(cuEventCreate(&after, CU_EVENT_DEFAULT));
    assert_cuda(cuEventQuery(before)); /* an event that was never recorded counts as done */
    assert_int_equal(cuEventElapsedTime(&milliseconds, before, after), CUDA_ERROR_INVALID_HANDLE);
    assert_cuda(cuEventRecord(before, NULL));
    assert_cuda(cuEventRecord(idle, NULL));
    assert_cuda(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
    assert_cuda(cuEventRecordWithFlags(after, NULL, CU_EVENT_RECORD_DEFAULT));
    assert_cuda(cuEventSynchronize(after));
    assert_cuda(cuEventElapsedTime(&milliseconds, before, idle));
    assert_true(milliseconds == 0);
    assert_cuda(cuEventElapsedTime(&whole, before, after));
    assert_true(whole > 0);
    assert_cuda(cuEventElapsedTime(&milliseconds, after, before));
    assert_true(milliseconds == -whole);
    assert_cuda(cuStreamWaitEvent(NULL, after, 0));
    assert_cuda(cuEventDestroy(after));
    assert_int_equal(cuStreamWaitEvent(NULL, after, 0), CUDA_ERROR_INVALID_HANDLE);
}

static void events_without_timing_have_no_time(void **state) {
    (void)state;
    CUevent event;
    float milliseconds;
    assert_cuda(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    assert_cuda(cuEventRecord(event, CU_STREAM_LEGACY));
    assert_int_equal(cuEventElapsedTime(&milliseconds, event, event), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuEventCreate(&event, 64), CUDA_ERROR_INVALID_VALUE);
}

static void streams_keep_their_attributes(void **state) {
    (void)state;
    CUstream stream, other;
    CUstreamAttrValue value = {.priority = 0}, seen = {.priority = 0};
    value.accessPolicyWindow.num_bytes = 4096;
    assert_cuda(cuStreamCreate(&stream, 0));
    assert_cuda(cuStreamCreate(&other, 0));
    assert_cuda(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    assert_cuda(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &seen));
    assert_int_equal(seen.accessPolicyWindow.num_bytes, 0);
    assert_cuda(cuStreamCopyAttributes(other, stream));
    assert_cuda(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &seen));
    assert_int_equal(seen.accessPolicyWindow.num_bytes, 4096);
    assert_int_equal(cuStreamSetAttribute(stream, (CUstreamAttrID)99, &value), CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(streams_remember_what_they_were_made_with),
        context_test(time_passes_only_while_kernels_run),
        context_test(events_without_timing_have_no_time),
        context_test(streams_keep_their_attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
