/* Memory: allocations of each kind, pitches, pools, attributes of pointers, fills. */
#include "cuda/fixture.h"

static void an_allocation_can_be_found_and_freed_once(void **state) {
    (void)state;
    CUdeviceptr address = 0, base = 0;
    size_t bytes = 0, before, after, total;
    assert_cuda(cuMemGetInfo(&before, &total));
    assert_cuda(cuMemAlloc(&address, 1000));
    assert_int_equal(address % 256, 0);
    assert_cuda(cuMemGetAddressRange(&base, &bytes, address + 999));
    assert_int_equal(base, address);
    assert_int_equal(bytes, 1000);
    assert_int_equal(cuMemGetAddressRange(&base, &bytes, 8), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cuMemFree(address + 256), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemFree(address));
    assert_int_equal(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemFree(0));
    assert_cuda(cuMemGetInfo(&after, &total));
    assert_int_equal(before, after);
    assert_int_equal(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAlloc(NULL, 4), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAlloc(&address, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
}

static void a_pitch_holds_a_line(void **state) {
    (void)state;
    CUdeviceptr address;
    size_t pitch;
    assert_cuda(cuMemAllocPitch(&address, &pitch, 513, 3, 4));
    assert_int_equal(pitch, 1024);
    assert_cuda(cuMemsetD8(address, 0, 3 * pitch));
    assert_int_equal(cuMemsetD8(address, 0, 3 * pitch + 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAllocPitch(&address, &pitch, 513, 3, 5), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAllocPitch(&address, &pitch, SIZE_MAX / 2, 4, 4), CUDA_ERROR_OUT_OF_MEMORY);
}

static void host_memory_is_reachable_from_both_sides(void **state) {
    (void)state;
    unsigned *memory = NULL, flags = 0;
    CUdeviceptr address = 0;
    assert_cuda(cuMemHostAlloc((void **)&memory, 64, CU_MEMHOSTALLOC_PORTABLE));
    assert_cuda(cuMemHostGetDevicePointer(&address, memory + 2, 0));
    assert_cuda(cuMemHostGetFlags(&flags, memory));
    assert_int_equal(flags, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    memory[2] = 5;
    assert_cuda(cuMemsetD32(address + 4, 6, 1));
    assert_int_equal(memory[2], 5);
    assert_int_equal(memory[3], 6);
    assert_int_equal(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemFreeHost(memory));
    assert_int_equal(cuMemFreeHost(memory), CUDA_ERROR_INVALID_VALUE);
    int on_stack;
    assert_int_equal(cuMemHostGetDevicePointer(&address, &on_stack, 0), CUDA_ERROR_INVALID_VALUE);
}

static void managed_memory_has_one_pointer(void **state) {
    (void)state;
    int is_managed = 0;
    CUdeviceptr address;
    assert_cuda(cuDeviceGetAttribute(&is_managed, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0));
    if (!is_managed)
        skip();
    assert_cuda(cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL));
    *(volatile unsigned *)(uintptr_t)address = 41;
    unsigned value = 0;
    assert_cuda(cuMemcpyDtoH(&value, address, 4));
    assert_int_equal(value, 41);
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    assert_cuda(cuMemPrefetchAsync(address, 64, device, 0, NULL));
    assert_int_equal(cuMemPrefetchAsync(address, 65, device, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemAdvise(address, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    assert_int_equal(cuMemAllocManaged(&address, 64, 0), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemFree(address));
}

static void pointers_have_attributes(void **state) {
    CUdeviceptr address, start = 0;
    unsigned type = 0;
    CUcontext context = NULL;
    int ordinal = -1;
    assert_cuda(cuMemAlloc(&address, 100));
    assert_cuda(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 50));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    assert_int_equal(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_HOST_POINTER, address),
                     CUDA_ERROR_INVALID_VALUE);
    int local;
    assert_int_equal(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)&local),
                     CUDA_ERROR_INVALID_VALUE);
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *data[] = {&context, &start, &ordinal};
    assert_cuda(cuPointerGetAttributes(3, wanted, data, address + 50));
    assert_ptr_equal(context, *state);
    assert_int_equal(start, address);
    assert_int_equal(ordinal, 0);
    assert_cuda(cuPointerGetAttributes(3, wanted, data, (uintptr_t)&local));
    assert_null(context);
    assert_int_equal(ordinal, CU_DEVICE_INVALID);
}

static void pools_count_what_is_allocated_from_them(void **state) {
    (void)state;
    CUmemoryPool standard = NULL, pool = NULL, current = NULL;
    CUdeviceptr address;
    cuuint64_t used = 1, high = 1;
    assert_cuda(cuDeviceGetDefaultMemPool(&standard, 0));
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    assert_cuda(cuMemPoolCreate(&pool, &properties));
    assert_cuda(cuDeviceSetMemPool(0, pool));
    assert_cuda(cuDeviceGetMemPool(&current, 0));
    assert_ptr_equal(current, pool);
    assert_cuda(cuMemAllocAsync(&address, 500, NULL));
    assert_cuda(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, 500);
    assert_cuda(cuMemFreeAsync(address, NULL));
    assert_cuda(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_cuda(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high));
    assert_int_equal(used, 0);
    assert_int_equal(high, 500);
    assert_cuda(cuMemPoolDestroy(pool));
    assert_int_equal(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemPoolDestroy(standard), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuDeviceGetMemPool(&current, 0));
    assert_ptr_equal(current, standard);
}

static void fills_write_values_of_each_size(void **state) {
    (void)state;
    CUdeviceptr address;
    unsigned char bytes[32];
    assert_cuda(cuMemAlloc(&address, 32));
    assert_cuda(cuMemsetD8(address, 0x11, 32));
    assert_cuda(cuMemsetD16(address + 2, 0x2233, 2));
    assert_cuda(cuMemsetD32(address + 8, 0x44556677, 1));
    assert_cuda(cuMemsetD2D16(address + 16, 8, 0x8899, 1, 2));
    assert_cuda(cuMemcpyDtoH(bytes, address, 32));
    static const unsigned char expected[32] = {0x11, 0x11, 0x33, 0x22, 0x33, 0x22, 0x11, 0x11, 0x77, 0x66, 0x55,
                                               0x44, 0x11, 0x11, 0x11, 0x11, 0x99, 0x88, 0x11, 0x11, 0x11, 0x11,
                                               0x11, 0x11, 0x99, 0x88, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11};
    assert_memory_equal(bytes, expected, 32);
    assert_int_equal(cuMemsetD32(address + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD2D8(address, 4, 0, 5, 2), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemsetD2D8(address, SIZE_MAX / 2, 0, 5, 4), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemsetD8(address, 0, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(an_allocation_can_be_found_and_freed_once),
        context_test(a_pitch_holds_a_line),
        context_test(host_memory_is_reachable_from_both_sides),
        context_test(managed_memory_has_one_pointer),
        context_test(pointers_have_attributes),
        context_test(pools_count_what_is_allocated_from_them),
        context_test(fills_write_values_of_each_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
