/* Handles for other processes can be made, but not opened. */
#include "cuda/fixture.h"

static void a_handle_of_memory_cannot_be_opened_by_its_own_process(void **state) {
    (void)state;
    CUipcMemHandle handle, wrong = {{0}};
    CUdeviceptr memory, opened;
    assert_cuda(cuMemAlloc(&memory, 4096));
    assert_cuda(cuIpcGetMemHandle(&handle, memory));
    assert_int_equal(cuIpcGetMemHandle(&handle, 64), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                     CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuIpcOpenMemHandle(&opened, wrong, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuIpcCloseMemHandle(memory), CUDA_ERROR_INVALID_VALUE);
}

/* The number in the handle is changed instead of the process. */
static void a_handle_of_another_process_is_refused_by_name(void **state) {
    (void)state;
    CUipcMemHandle handle;
    CUdeviceptr memory, opened;
    char text[256];
    assert_cuda(cuMemAlloc(&memory, 4096));
    assert_cuda(cuIpcGetMemHandle(&handle, memory));
    handle.reserved[16] ^= 1;
    struct capture capture = capture_stderr();
    CUresult result = cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    read_stderr(&capture, text, sizeof(text));
    assert_int_equal(result, CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(text, "heddle: cuIpcOpenMemHandle: another process has another simulated GPU\n");
}

static void only_events_for_it_have_handles(void **state) {
    (void)state;
    CUevent own, shared, opened;
    CUipcEventHandle handle;
    assert_cuda(cuEventCreate(&own, CU_EVENT_DISABLE_TIMING));
    assert_int_equal(cuEventCreate(&shared, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE); /* they have no time */
    assert_cuda(cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    assert_int_equal(cuIpcGetEventHandle(&handle, own), CUDA_ERROR_INVALID_HANDLE);
    assert_cuda(cuIpcGetEventHandle(&handle, shared));
    assert_int_equal(cuIpcOpenEventHandle(&opened, handle), CUDA_ERROR_INVALID_CONTEXT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(a_handle_of_memory_cannot_be_opened_by_its_own_process),
        context_test(a_handle_of_another_process_is_refused_by_name),
        context_test(only_events_for_it_have_handles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
