/* Contexts: calls before cuInit and without a context, stacks, lifetimes, limits. */
#include "cuda/fixture.h"

#include <pthread.h>

/* Must run first: nothing has called cuInit yet. */
static void nothing_but_names_works_before_cuInit(void **state) {
    (void)state;
    int version = 0;
    CUdevice device;
    CUdeviceptr address;
    CUcontext context;
    assert_cuda(cuDriverGetVersion(&version));
    assert_int_equal(version, 13000);
    assert_int_equal(cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cuMemAlloc(&address, 4), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
    assert_int_equal(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuInit(0));
    assert_cuda(cuInit(0));
}

static void calls_without_a_context_are_refused(void **state) {
    (void)state;
    CUdeviceptr address;
    CUcontext context = (CUcontext)1;
    assert_cuda(cuCtxGetCurrent(&context));
    assert_null(context);
    assert_int_equal(cuMemAlloc(&address, 4), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuCtxPopCurrent(&context), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuCtxSetCurrent((CUcontext)&context), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuCtxDestroy(NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuCtxDestroy((CUcontext)&context), CUDA_ERROR_INVALID_CONTEXT);
}

static void contexts_are_a_stack(void **state) {
    (void)state;
    CUcontext first, second, popped;
    assert_cuda(cuCtxCreate(&first, NULL, CU_CTX_SCHED_SPIN, 0));
    assert_cuda(cuCtxCreate(&second, NULL, 0, 0));
    assert_ptr_not_equal(first, second);
    assert_cuda(cuCtxPopCurrent(&popped));
    assert_ptr_equal(popped, second);
    unsigned flags = 0;
    assert_cuda(cuCtxGetFlags(&flags));
    assert_int_equal(flags, CU_CTX_SCHED_SPIN);
    assert_cuda(cuCtxPushCurrent(second));
    assert_cuda(cuCtxDestroy(second));
    CUcontext current;
    assert_cuda(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, first);
    assert_cuda(cuCtxDestroy(first));
    assert_int_equal(cuCtxPushCurrent(first), CUDA_ERROR_INVALID_CONTEXT);
}

static void a_destroyed_context_takes_its_memory_and_handles_along(void **state) {
    (void)state;
    CUcontext context, other;
    CUdeviceptr address;
    CUstream stream;
    size_t before, after, total;
    assert_cuda(cuCtxCreate(&other, NULL, 0, 0));
    assert_cuda(cuMemGetInfo(&before, &total));
    assert_cuda(cuCtxCreate(&context, NULL, 0, 0));
    assert_cuda(cuMemAlloc(&address, 1 << 20));
    assert_cuda(cuStreamCreate(&stream, 0));
    assert_cuda(cuCtxDestroy(context));
    assert_cuda(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
    assert_int_equal(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_cuda(cuCtxDestroy(other));
}

static void the_primary_context_lives_while_it_is_retained(void **state) {
    (void)state;
    CUcontext first, second;
    unsigned flags;
    int active = 1;
    assert_cuda(cuDevicePrimaryCtxGetState(0, &flags, &active));
    assert_int_equal(active, 0);
    assert_cuda(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
    assert_cuda(cuDevicePrimaryCtxRetain(&first, 0));
    assert_cuda(cuDevicePrimaryCtxRetain(&second, 0));
    assert_ptr_equal(first, second);
    assert_int_equal(cuCtxDestroy(first), CUDA_ERROR_INVALID_CONTEXT);
    assert_cuda(cuCtxSetCurrent(first));
    assert_cuda(cuDevicePrimaryCtxRelease(0));
    assert_cuda(cuCtxSynchronize());
    assert_cuda(cuDevicePrimaryCtxGetState(0, &flags, &active));
    assert_int_equal(active, 1);
    assert_int_equal(flags, CU_CTX_SCHED_YIELD);
    assert_cuda(cuDevicePrimaryCtxRelease(0));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    assert_int_equal(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    assert_cuda(cuCtxSetCurrent(NULL));
    assert_int_equal(cuDevicePrimaryCtxRetain(&first, 1), CUDA_ERROR_INVALID_DEVICE);
}

static void *allocate_in_another_thread(void *context) {
    CUdeviceptr address;
    if (cuMemAlloc(&address, 16) != CUDA_ERROR_INVALID_CONTEXT || cuCtxSetCurrent(context) != CUDA_SUCCESS)
        return NULL;
    return cuMemAlloc(&address, 16) == CUDA_SUCCESS ? context : NULL;
}

static void each_thread_has_its_own_current_context(void **state) {
    pthread_t thread;
    void *answer = NULL;
    assert_int_equal(pthread_create(&thread, NULL, allocate_in_another_thread, *state), 0);
    assert_int_equal(pthread_join(thread, &answer), 0);
    assert_ptr_equal(answer, *state);
}

static void limits_can_be_set_and_read(void **state) {
    (void)state;
    size_t value = 0;
    assert_cuda(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
    assert_cuda(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    assert_int_equal(value, 4096);
    assert_cuda(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 1 << 20));
    assert_cuda(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    assert_int_equal(value, 1 << 20);
    assert_cuda(cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT));
    assert_int_equal(value, 2048);
    assert_cuda(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 5000));
    assert_cuda(cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT));
    assert_int_equal(value, 5000);
    assert_int_equal(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2), CUDA_ERROR_UNSUPPORTED_LIMIT);
    assert_int_equal(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_INVALID_VALUE);
}

static void the_device_describes_itself(void **state) {
    (void)state;
    int count = 0, major = 0, minor = -1, value = 0;
    char name[64], bus[16];
    CUdevice device = -1;
    CUdevprop properties;
    size_t bytes = 0;
    assert_cuda(cuDeviceGetCount(&count));
    assert_int_equal(count, 1);
    assert_int_equal(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
    assert_cuda(cuDeviceGetName(name, sizeof(name), 0));
    assert_string_equal(name, "Heddle simulated GPU");
    assert_cuda(cuDeviceGetName(name, 7, 0));
    assert_string_equal(name, "Heddle");
    assert_cuda(cuDeviceComputeCapability(&major, &minor, 0));
    assert_int_equal(10 * major + minor, 80);
    assert_cuda(cuDeviceGetProperties(&properties, 0));
    assert_cuda(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0));
    assert_int_equal(value, properties.maxThreadsPerBlock);
    assert_int_equal(value, 1024);
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++)
        if (i < CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1 ||
            i > CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1)
            assert_cuda(cuDeviceGetAttribute(&value, (CUdevice_attribute)i, 0));
    assert_int_equal(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuDeviceTotalMem(&bytes, 0));
    assert_true(bytes >= 1 << 20);
    assert_cuda(cuDeviceGetPCIBusId(bus, sizeof(bus), 0));
    assert_cuda(cuDeviceGetByPCIBusId(&device, bus));
    assert_int_equal(device, 0);
    assert_int_equal(cuDeviceGetByPCIBusId(&device, "0000:07:00.0"), CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(cuDeviceGetByPCIBusId(&device, "nowhere"), CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_but_names_works_before_cuInit),
        cmocka_unit_test(calls_without_a_context_are_refused),
        cmocka_unit_test(contexts_are_a_stack),
        cmocka_unit_test(a_destroyed_context_takes_its_memory_and_handles_along),
        cmocka_unit_test(the_primary_context_lives_while_it_is_retained),
        context_test(each_thread_has_its_own_current_context),
        context_test(limits_can_be_set_and_read),
        cmocka_unit_test(the_device_describes_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
