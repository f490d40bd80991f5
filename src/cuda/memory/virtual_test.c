/* Virtual memory management: kernels and copies access mapped memory at its addresses, and nothing else. */
#include "cuda/fixture.h"

static const CUmemAllocationProp properties = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
};
static const CUmemAccessDesc everything = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static size_t piece(void) {
    size_t bytes = 0;
    assert_cuda(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    assert_true(bytes >= 4096);
    return bytes;
}

static void neighbouring_pieces_are_one_memory(void **state) {
    (void)state;
    size_t bytes = piece(), free_before, free_after, total;
    CUdeviceptr range;
    CUmemGenericAllocationHandle a, b;
    unsigned in[4] = {1, 2, 3, 4}, out[4] = {0};
    unsigned long long flags = 0;
    assert_cuda(cuMemGetInfo(&free_before, &total));
    assert_cuda(cuMemAddressReserve(&range, 4 * bytes, 0, 0, 0));
    assert_cuda(cuMemCreate(&a, bytes, &properties, 0));
    assert_cuda(cuMemCreate(&b, bytes, &properties, 0));
    assert_int_equal(cuMemcpyHtoD(range, in, sizeof in), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemMap(range + bytes, bytes, 0, b, 0));
    assert_int_equal(cuMemMap(range + bytes, bytes, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemMap(range, bytes, 0, a, 0));
    assert_cuda(cuMemSetAccess(range, 2 * bytes, &everything, 1));
    assert_cuda(cuMemGetAccess(&flags, &everything.location, range + bytes));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_cuda(cuMemcpyHtoD(range + bytes - 8, in, sizeof in)); /* across the border of the mappings */
    assert_cuda(cuMemcpyDtoH(out, range + bytes, 8));
    assert_int_equal(out[0], 3);
    assert_cuda(cuMemGetInfo(&free_after, &total));
    assert_int_equal(free_before - free_after, 2 * bytes);
    assert_int_equal(cuMemAddressFree(range, 4 * bytes), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemUnmap(range, bytes));
    assert_int_equal(cuMemcpyDtoH(out, range, 8), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemcpyDtoH(out, range + bytes, 8));
    assert_int_equal(out[1], 4);
    assert_cuda(cuMemUnmap(range + bytes, bytes));
    assert_cuda(cuMemRelease(a));
    assert_cuda(cuMemRelease(b));
    assert_int_equal(cuMemRelease(b), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemAddressFree(range, 4 * bytes));
    assert_cuda(cuMemGetInfo(&free_after, &total));
    assert_int_equal(free_before, free_after);
}

static void memory_mapped_twice_is_the_same_memory(void **state) {
    (void)state;
    size_t bytes = piece();
    CUdeviceptr first, second;
    CUmemGenericAllocationHandle handle, again;
    unsigned value = 7, seen = 0;
    assert_cuda(cuMemAddressReserve(&first, bytes, 0, 0, 0));
    assert_cuda(cuMemAddressReserve(&second, bytes, 0, 0, 0));
    assert_cuda(cuMemCreate(&handle, bytes, &properties, 0));
    assert_cuda(cuMemMap(first, bytes, 0, handle, 0));
    assert_cuda(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)first));
    assert_cuda(cuMemRelease(handle));
    assert_cuda(cuMemMap(second, bytes, 0, again, 0));
    assert_cuda(cuMemRelease(again)); /* the mappings keep it */
    assert_cuda(cuMemcpyHtoD(first + 64, &value, 4));
    assert_cuda(cuMemcpyDtoH(&seen, second + 64, 4));
    assert_int_equal(seen, 7);
    assert_cuda(cuMemUnmap(first, bytes));
    assert_cuda(cuMemcpyDtoH(&seen, second + 64, 4));
    assert_int_equal(seen, 7);
    assert_cuda(cuMemUnmap(second, bytes));
    assert_cuda(cuMemAddressFree(first, bytes));
    assert_cuda(cuMemAddressFree(second, bytes));
}

static void kernels_use_mapped_memory_and_fault_beside_it(void **state) {
    (void)state;
    size_t bytes = piece();
    CUdeviceptr range;
    CUmemGenericAllocationHandle handle;
    unsigned value = 0;
    char said[1024];
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    assert_cuda(cuMemAddressReserve(&range, 2 * bytes, 0, 0, 0));
    assert_cuda(cuMemCreate(&handle, bytes, &properties, 0));
    assert_cuda(cuMemMap(range, bytes, 0, handle, 0));
    assert_cuda(cuMemSetAccess(range, bytes, &everything, 1));
    struct add_parameters p = {range + 4096, range, 5, 6, 32};
    void *parameters[] = {&p.out, &p.a, &p.b, &p.scale, &p.n};
    assert_cuda(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    assert_cuda(cuMemcpyDtoH(&value, range + 4096, 4));
    assert_int_equal(value, 11);
    p.out = range + bytes;
    struct capture capture = capture_stderr();
    assert_cuda(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    read_stderr(&capture, said, sizeof(said));
    assert_cuda(cuMemUnmap(range, bytes));
    assert_cuda(cuMemRelease(handle));
    assert_cuda(cuMemAddressFree(range, 2 * bytes));
}

static void sizes_and_places_that_do_not_fit_are_refused(void **state) {
    (void)state;
    size_t bytes = piece();
    CUdeviceptr range;
    CUmemGenericAllocationHandle handle;
    assert_int_equal(cuMemAddressReserve(&range, bytes + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAddressReserve(&range, (size_t)1 << 60, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuMemCreate(&handle, bytes - 1, &properties, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemCreate(&handle, (size_t)1 << 60, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
    assert_cuda(cuMemAddressReserve(&range, bytes, 0, 0, 0));
    assert_cuda(cuMemCreate(&handle, 2 * bytes, &properties, 0));
    assert_int_equal(cuMemMap(range, 2 * bytes, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemMap(range, bytes, 2 * bytes, handle, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemSetAccess(range, bytes, &everything, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemUnmap(range, bytes), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemMap(range, bytes, bytes, handle, 0));
    assert_cuda(cuMemUnmap(range, bytes));
    assert_cuda(cuMemRelease(handle));
    assert_cuda(cuMemAddressFree(range, bytes));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(neighbouring_pieces_are_one_memory),
        context_test(memory_mapped_twice_is_the_same_memory),
        context_test(kernels_use_mapped_memory_and_fault_beside_it),
        context_test(sizes_and_places_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
