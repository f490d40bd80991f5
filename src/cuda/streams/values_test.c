/* Values that streams write and wait for: conditions, widths, batches, and waits that nobody fulfils. */
#include <stdbool.h>

#include "cuda/fixture.h"

static CUdeviceptr new_memory(void) {
    CUdeviceptr memory;
    assert_cuda(cuMemAlloc(&memory, 64));
    assert_cuda(cuMemsetD8(memory, 0xff, 64));
    return memory;
}

static uint64_t word(CUdeviceptr address) {
    uint64_t value;
    assert_cuda(cuMemcpyDtoH(&value, address, 8));
    return value;
}

static void values_of_both_widths_are_written(void **state) {
    (void)state;
    CUdeviceptr memory = new_memory();
    assert_cuda(cuStreamWriteValue32(NULL, memory + 4, 0x12345678, CU_STREAM_WRITE_VALUE_DEFAULT));
    assert_true(word(memory) == 0x12345678ffffffff);
    assert_cuda(cuStreamWriteValue64(NULL, memory, 0x1122334455667788, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    assert_true(word(memory) == 0x1122334455667788);
    assert_true(word(memory + 8) == UINT64_MAX);
    assert_int_equal(cuStreamWriteValue32(NULL, memory + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuStreamWriteValue64(NULL, memory + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuStreamWriteValue32(NULL, memory + 64, 1, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuStreamWriteValue32(NULL, memory, 1, 4), CUDA_ERROR_INVALID_VALUE);
    int can = 0;
    assert_cuda(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
    assert_int_equal(can, 1);
    assert_cuda(cuMemFree(memory));
}

/* Returns whether a stream that waits for this continues. */
static bool goes_on(CUdeviceptr memory, uint32_t found, uint32_t value, unsigned condition) {
    char text[256];
    struct capture capture = capture_stderr();
    assert_cuda(cuStreamWriteValue32(NULL, memory, found, 0));
    CUresult narrow = cuStreamWaitValue32(NULL, memory, value, condition);
    assert_cuda(cuStreamWriteValue64(NULL, memory, (uint64_t)found << 32, 0));
    CUresult wide = condition == CU_STREAM_WAIT_VALUE_NOR
                        ? narrow
                        : cuStreamWaitValue64(NULL, memory, (uint64_t)value << 32, condition);
    read_stderr(&capture, text, sizeof(text));
    assert_int_equal(narrow, wide);
    assert_true(narrow == CUDA_SUCCESS || narrow == CUDA_ERROR_NOT_SUPPORTED);
    return narrow == CUDA_SUCCESS;
}

static void a_stream_goes_on_if_the_condition_holds(void **state) {
    (void)state;
    CUdeviceptr memory = new_memory();
    assert_true(goes_on(memory, 5, 5, CU_STREAM_WAIT_VALUE_GEQ));
    assert_true(goes_on(memory, 2, UINT32_MAX, CU_STREAM_WAIT_VALUE_GEQ)); /* numbers wrap around */
    assert_false(goes_on(memory, 4, 5, CU_STREAM_WAIT_VALUE_GEQ));
    assert_true(goes_on(memory, 5, 5, CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH));
    assert_false(goes_on(memory, 6, 5, CU_STREAM_WAIT_VALUE_EQ));
    assert_true(goes_on(memory, 6, 4, CU_STREAM_WAIT_VALUE_AND));
    assert_false(goes_on(memory, 6, 8, CU_STREAM_WAIT_VALUE_AND));
    assert_true(goes_on(memory, 6, ~15u, CU_STREAM_WAIT_VALUE_NOR));
    assert_false(goes_on(memory, 6, ~6u, CU_STREAM_WAIT_VALUE_NOR));
    assert_int_equal(cuStreamWaitValue32(NULL, memory, 0, 4), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemFree(memory));
}

static void a_batch_runs_in_order(void **state) {
    (void)state;
    CUdeviceptr memory = new_memory();
    CUstreamBatchMemOpParams operations[] = {
        {.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, memory, {7}, 0, 0}},
        {.operation = CU_STREAM_MEM_OP_BARRIER},
        {.waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, memory, {7}, CU_STREAM_WAIT_VALUE_EQ, 0}},
        {.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_64, memory, {.value64 = 1}, 0, 0}},
        {.operation = (CUstreamBatchMemOpType)9},
    };
    assert_cuda(cuStreamBatchMemOp(NULL, 4, operations, 0));
    assert_true(word(memory) == 1);
    assert_int_equal(cuStreamBatchMemOp(NULL, 5, operations, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuStreamBatchMemOp(NULL, 0, operations, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuStreamBatchMemOp(NULL, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemFree(memory));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(values_of_both_widths_are_written),
        context_test(a_stream_goes_on_if_the_condition_holds),
        context_test(a_batch_runs_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
