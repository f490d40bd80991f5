/* Tests of advice about managed memory, and of the queries about it. */
#include "cuda/fixture.h"

static const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, host = {CU_MEM_LOCATION_TYPE_HOST, 0};
enum { PAGE = 4096, BYTES = 4 * PAGE };

static CUdeviceptr new_memory(void) {
    int is_managed = 0;
    CUdeviceptr address;
    assert_cuda(cuDeviceGetAttribute(&is_managed, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0));
    if (!is_managed)
        skip();
    assert_cuda(cuMemAllocManaged(&address, BYTES, CU_MEM_ATTACH_GLOBAL));
    return address;
}

static int get(CUmem_range_attribute attribute, CUdeviceptr address, size_t bytes) {
    int value = 99;
    assert_cuda(cuMemRangeGetAttribute(&value, sizeof value, attribute, address, bytes));
    return value;
}

static void memory_without_advice_has_no_location(void **state) {
    (void)state;
    CUdeviceptr address = new_memory();
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, BYTES), 0);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, BYTES), CU_DEVICE_INVALID);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, address, BYTES), CU_DEVICE_INVALID);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, BYTES), CU_DEVICE_INVALID);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, address, BYTES), CU_MEM_LOCATION_TYPE_INVALID);
    assert_cuda(cuMemFree(address));
}

static void advice_is_kept_until_it_is_taken_back(void **state) {
    (void)state;
    CUdeviceptr address = new_memory();
    assert_cuda(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    assert_cuda(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    assert_cuda(cuMemPrefetchAsync(address, BYTES, device, 0, NULL));
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, BYTES), 1);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, BYTES), CU_DEVICE_CPU);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, address, BYTES), CU_MEM_LOCATION_TYPE_HOST);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, BYTES), 0);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, address, BYTES),
                     CU_MEM_LOCATION_TYPE_DEVICE);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, address, BYTES), 0);
    assert_cuda(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device));
    assert_cuda(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, device));
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, BYTES), 0);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, address, BYTES), CU_DEVICE_INVALID);
    assert_cuda(cuMemFree(address));
}

static void advice_holds_for_pages(void **state) {
    (void)state;
    CUdeviceptr address = new_memory();
    assert_cuda(cuMemAdvise(address + PAGE + 100, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, device)); /* pages 1 and 2 */
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address + PAGE, 2 * PAGE), 1);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address + PAGE - 1, 2), 0);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, BYTES), 0);
    assert_cuda(cuMemPrefetchAsync(address, PAGE, host, 0, NULL));
    assert_cuda(cuMemPrefetchAsync(address + PAGE, PAGE, device, 0, NULL));
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, PAGE), CU_DEVICE_CPU);
    assert_int_equal(get(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, address, 2 * PAGE), CU_DEVICE_INVALID);
    assert_cuda(cuMemFree(address));
}

static void several_attributes_come_at_once(void **state) {
    (void)state;
    CUdeviceptr address = new_memory();
    int is_read_mostly = 9, accessors[3] = {9, 9, 9};
    void *data[] = {&is_read_mostly, accessors};
    size_t bytes[] = {sizeof is_read_mostly, sizeof accessors};
    CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};
    assert_cuda(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
    assert_cuda(cuMemAdvise(address, BYTES, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
    assert_cuda(cuMemRangeGetAttributes(data, bytes, attributes, 2, address, BYTES));
    assert_int_equal(is_read_mostly, 0);
    assert_int_equal(accessors[0], 0);
    assert_int_equal(accessors[1], CU_DEVICE_CPU);
    assert_int_equal(accessors[2], CU_DEVICE_INVALID);
    assert_cuda(cuMemFree(address));
}

static void what_cannot_be_advised_is_refused(void **state) {
    (void)state;
    const CUmemLocation other = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
    CUdeviceptr address = new_memory(), plain;
    char byte;
    int value;
    assert_cuda(cuMemAlloc(&plain, 64));
    assert_int_equal(cuMemAdvise(plain, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, device), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAdvise(address, BYTES + 1, CU_MEM_ADVISE_SET_READ_MOSTLY, device), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAdvise(address, 64, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, other), CUDA_ERROR_INVALID_DEVICE);
    assert_cuda(cuMemAdvise(address, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, other)); /* its location does not matter */
    assert_int_equal(cuMemRangeGetAttribute(&byte, 1, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, address, 64),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemRangeGetAttribute(&value, 4, (CUmem_range_attribute)99, address, 64),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, plain, 64),
                     CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuMemFree(plain));
    assert_cuda(cuMemFree(address));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(memory_without_advice_has_no_location),
        context_test(advice_is_kept_until_it_is_taken_back),
        context_test(advice_holds_for_pages),
        context_test(several_attributes_come_at_once),
        context_test(what_cannot_be_advised_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
