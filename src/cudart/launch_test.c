/* Tests of launches and their errors. */
#include <pthread.h>

#include "cudart/fixture.h"

static char unregistered; /* neither a function nor a variable of the program */

static void configurations_nest(void **state) {
    (void)state;
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    assert_int_equal(__cudaPushCallConfiguration((dim3){1, 2, 3}, (dim3){4, 5, 6}, 7, cudaStreamPerThread), 0);
    assert_int_equal(__cudaPushCallConfiguration((dim3){8, 1, 1}, (dim3){9, 1, 1}, 10, NULL), 0);
    assert_ok(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
    assert_int_equal(grid.x, 8);
    assert_int_equal(block.x, 9);
    assert_int_equal(shared_bytes, 10);
    assert_null(stream);
    assert_ok(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
    assert_int_equal(grid.z, 3);
    assert_int_equal(block.y, 5);
    assert_ptr_equal(stream, cudaStreamPerThread);
    assert_error(cudaErrorMissingConfiguration, __cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream));
}

static void grids_and_blocks_that_cannot_be_are_told(void **state) {
    (void)state;
    assert_error(cudaErrorInvalidConfiguration, launch(&nothing, 0, 32, NULL));
    assert_error(cudaErrorInvalidConfiguration, launch(&nothing, 1, 0, NULL));
    assert_error(cudaErrorInvalidConfiguration, launch(&nothing, 1, 1025, NULL));
    assert_error(cudaErrorInvalidConfiguration,
                 cudaLaunchKernel(&nothing, (dim3){1, 65536, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    assert_ok(launch(&nothing, 1, 1024, NULL));
}

static void too_much_shared_memory_is_an_invalid_value(void **state) {
    (void)state;
    assert_error(cudaErrorInvalidValue,
                 cudaLaunchKernel(&nothing, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 64 << 20, NULL));
}

static void the_last_error_is_kept_until_it_is_read(void **state) {
    (void)state;
    assert_int_equal(launch(&nothing, 0, 0, NULL), cudaErrorInvalidConfiguration);
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void *last_error_here(void *error) {
    *(cudaError_t *)error = cudaPeekAtLastError();
    return NULL;
}

static void each_thread_has_its_own_last_error(void **state) {
    (void)state;
    cudaError_t error = cudaErrorUnknown;
    pthread_t thread;
    assert_int_equal(launch(&nothing, 0, 0, NULL), cudaErrorInvalidConfiguration);
    assert_int_equal(pthread_create(&thread, NULL, last_error_here, &error), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(error, cudaSuccess);
}

/* As on a GPU: the launch itself succeeds, and every later call fails until the device is reset. */
static void a_fault_stays_until_the_device_is_reset(void **state) {
    (void)state;
    void *memory;
    assert_ok(launch(&wild, 1, 1, NULL));
    assert_ok(cudaGetLastError());
    assert_error(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    assert_error(cudaErrorIllegalAddress, cudaMalloc(&memory, 4));
    assert_error(cudaErrorIllegalAddress, launch(&nothing, 1, 1, NULL));
    assert_ok(cudaDeviceReset());
    assert_ok(cudaMalloc(&memory, 4));
    assert_ok(launch(&nothing, 1, 1, NULL));
}

static void attributes_and_occupancy_are_those_of_the_kernel(void **state) {
    (void)state;
    struct cudaFuncAttributes attributes;
    int blocks = 0;
    assert_ok(cudaFuncGetAttributes(&attributes, &scale));
    assert_int_equal(attributes.maxThreadsPerBlock, 1024);
    assert_int_equal(attributes.sharedSizeBytes, 0);
    assert_true(attributes.numRegs > 0);
    assert_ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &scale, 256, 0));
    assert_true(blocks > 0);
    assert_error(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, &unregistered));
}

static void append_one(void *text) { strcat(text, "1"); }

static void append_two(cudaStream_t stream, cudaError_t status, void *text) {
    assert_null(stream);
    assert_ok(status);
    strcat(text, "2");
}

static void host_functions_run_in_order(void **state) {
    (void)state;
    char text[8] = "";
    assert_ok(cudaLaunchHostFunc(NULL, append_one, text));
    assert_ok(cudaStreamAddCallback(NULL, append_two, text, 0));
    assert_ok(cudaLaunchHostFunc(NULL, append_one, text));
    assert_ok(cudaDeviceSynchronize());
    assert_string_equal(text, "121");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        runtime_test(configurations_nest),
        runtime_test(grids_and_blocks_that_cannot_be_are_told),
        runtime_test(too_much_shared_memory_is_an_invalid_value),
        runtime_test(the_last_error_is_kept_until_it_is_read),
        runtime_test(each_thread_has_its_own_last_error),
        runtime_test(a_fault_stays_until_the_device_is_reset),
        runtime_test(attributes_and_occupancy_are_those_of_the_kernel),
        runtime_test(host_functions_run_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
