/* Registered memory: kernels and the program see each other's writes, and the program keeps its content. */
#include "cuda/fixture.h"

enum { N = 5000 };

static void a_kernel_writes_where_the_program_reads(void **state) {
    (void)state;
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    unsigned *memory = malloc(4 * N + 64), *numbers = memory + 3; /* not at the start of a page */
    CUdeviceptr address;
    unsigned flags = 0;
    for (unsigned i = 0; i < N; i++)
        numbers[i] = i;
    assert_cuda(cuMemHostRegister(numbers, 4 * N, CU_MEMHOSTREGISTER_DEVICEMAP));
    assert_int_equal(cuMemHostRegister(numbers, 4 * N, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    assert_cuda(cuMemHostGetDevicePointer(&address, numbers, 0));
    assert_cuda(cuMemHostGetFlags(&flags, numbers));
    assert_int_equal(cuMemFreeHost(numbers), CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(numbers[i], i);
    numbers[7] = 1000;
    struct add_parameters p = {address, address, 1, 2, N};
    void *parameters[] = {&p.out, &p.a, &p.b, &p.scale, &p.n};
    assert_cuda(cuLaunchKernel(add, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
    assert_int_equal(numbers[7], 1003);
    assert_int_equal(numbers[N - 1], N + 2);
    assert_cuda(cuMemHostUnregister(numbers));
    assert_int_equal(cuMemHostUnregister(numbers), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    assert_int_equal(cuMemHostGetDevicePointer(&address, numbers, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(numbers[7], 1003);
    assert_int_equal(numbers[N - 1], N + 2);
    free(memory);
}

static void the_end_of_a_context_gives_the_memory_back(void **state) {
    (void)state;
    CUcontext context;
    unsigned *memory = malloc(1 << 20);
    memory[5] = 55;
    assert_cuda(cuCtxCreate(&context, NULL, 0, 0));
    assert_cuda(cuMemHostRegister(memory, 1 << 20, 0));
    memory[6] = 66;
    assert_cuda(cuCtxDestroy(context));
    assert_int_equal(memory[5], 55);
    assert_int_equal(memory[6], 66);
    free(memory);
}

static void what_cannot_be_registered_is_refused(void **state) {
    (void)state;
    unsigned char on_stack[64];
    void *gone = (void *)((uintptr_t)1 << 62); /* no program has memory there */
    assert_int_equal(cuMemHostRegister(gone, 8192, 0), CUDA_ERROR_INVALID_VALUE);
    void *below = (void *)((uintptr_t)on_stack - 4096); /* with the frames of the call itself */
    assert_int_equal(cuMemHostRegister(below, 4096 + sizeof(on_stack), 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemHostRegister(NULL, 8192, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemHostRegister(gone, SIZE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemHostUnregister(NULL), CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(a_kernel_writes_where_the_program_reads),
        context_test(the_end_of_a_context_gives_the_memory_back),
        context_test(what_cannot_be_registered_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
