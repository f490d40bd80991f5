/* Copies: every direction, boxes, and copies that do not fit. */
#include "cuda/fixture.h"

static void bytes_go_there_and_back(void **state) {
    (void)state;
    CUdeviceptr a, b;
    char back[16] = {0};
    assert_cuda(cuMemAlloc(&a, 16));
    assert_cuda(cuMemAlloc(&b, 16));
    assert_cuda(cuMemcpyHtoD(a, "fifteen letters", 16));
    assert_cuda(cuMemcpyDtoD(b + 8, a, 8));
    assert_cuda(cuMemcpyDtoDAsync(b, a + 8, 8, CU_STREAM_PER_THREAD));
    assert_cuda(cuMemcpyDtoH(back, b, 16));
    assert_memory_equal(back, "letters\0fifteen ", 16);
    assert_cuda(cuMemcpyDtoD(a + 1, a, 15)); /* overlapping */
    assert_cuda(cuMemcpyDtoH(back, a, 16));
    assert_memory_equal(back, "ffifteen letters", 16);
}

static void copies_beyond_an_allocation_are_refused(void **state) {
    (void)state;
    CUdeviceptr a;
    char host[32] = {0};
    assert_cuda(cuMemAlloc(&a, 16));
    assert_int_equal(cuMemcpyHtoD(a, host, 17), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoD(a + 1, host, 16), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH(host, a + 16, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH(NULL, a, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoDAsync(a, host, 1, (CUstream)(void *)host), CUDA_ERROR_INVALID_HANDLE);
    assert_cuda(cuMemcpyHtoD(a, host, 16));
    assert_cuda(cuMemcpyHtoD(a, NULL, 0));
    assert_cuda(cuMemFree(a));
    assert_int_equal(cuMemcpyHtoD(a, host, 1), CUDA_ERROR_INVALID_VALUE);
}

static void the_generic_copy_finds_out_by_itself(void **state) {
    (void)state;
    int is_unified;
    assert_cuda(cuDeviceGetAttribute(&is_unified, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 0));
    if (!is_unified)
        skip();
    CUdeviceptr a;
    unsigned from = 99, to = 0;
    assert_cuda(cuMemAlloc(&a, 4));
    assert_cuda(cuMemcpy(a, (uintptr_t)&from, 4));
    assert_cuda(cuMemcpyAsync((uintptr_t)&to, a, 4, NULL));
    assert_int_equal(to, 99);
    assert_int_equal(cuMemcpy(a, (uintptr_t)&from, 5), CUDA_ERROR_INVALID_VALUE);
}

/* A 4 x 3 window out of lines of 8 bytes into lines with a pitch, and back through an array. */
static void boxes_keep_their_shape(void **state) {
    (void)state;
    char picture[4][8], back[3][4];
    for (int i = 0; i < 32; i++)
        picture[i / 8][i % 8] = (char)i;
    CUdeviceptr device;
    size_t pitch;
    CUarray array;
    assert_cuda(cuMemAllocPitch(&device, &pitch, 8, 4, 4));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = picture,
                          .srcPitch = 8,
                          .srcXInBytes = 2,
                          .srcY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = device,
                          .dstPitch = pitch,
                          .dstXInBytes = 1,
                          .dstY = 1,
                          .WidthInBytes = 4,
                          .Height = 3};
    assert_cuda(cuMemcpy2D(&copy));
    const CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 4, .Height = 3, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    assert_cuda(cuArrayCreate(&array, &shape));
    copy = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = device,
                           .srcPitch = pitch,
                           .srcXInBytes = 1,
                           .srcY = 1,
                           .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = array,
                           .WidthInBytes = 4,
                           .Height = 3};
    assert_cuda(cuMemcpy2DUnaligned(&copy));
    copy = (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = array,
                           .dstMemoryType = CU_MEMORYTYPE_HOST,
                           .dstHost = back,
                           .dstPitch = 4,
                           .WidthInBytes = 4,
                           .Height = 3};
    assert_cuda(cuMemcpy2DAsync(&copy, NULL));
    for (int y = 0; y < 3; y++)
        assert_memory_equal(back[y], &picture[y + 1][2], 4);
    copy.WidthInBytes = 5;
    copy.dstPitch = 5;
    assert_int_equal(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE); /* wider than the array */
    copy.WidthInBytes = 4;
    copy.dstPitch = 3;
    assert_int_equal(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE); /* lines would overlap */
    copy.dstPitch = 4;
    copy.Height = 4;
    assert_int_equal(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuArrayDestroy(array));
    copy.Height = 3;
    assert_int_equal(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
}

static void slices_are_apart_by_height_times_pitch(void **state) {
    (void)state;
    char volume[2][3][4], back[2][2][2];
    for (int i = 0; i < 24; i++)
        volume[i / 12][i / 4 % 3][i % 4] = (char)i;
    CUdeviceptr device;
    assert_cuda(cuMemAlloc(&device, sizeof(volume)));
    assert_cuda(cuMemcpyHtoD(device, volume, sizeof(volume)));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device,
                          .srcPitch = 4,
                          .srcHeight = 3,
                          .srcXInBytes = 1,
                          .srcY = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = back,
                          .dstPitch = 2,
                          .dstHeight = 2,
                          .WidthInBytes = 2,
                          .Height = 2,
                          .Depth = 2};
    assert_cuda(cuMemcpy3D(&copy));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 2; y++)
            assert_memory_equal(back[z][y], &volume[z][y + 1][1], 2);
    copy.srcZ = 1;
    assert_int_equal(cuMemcpy3D(&copy), CUDA_ERROR_INVALID_VALUE);
    copy.srcZ = SIZE_MAX / 2;
    assert_int_equal(cuMemcpy3D(&copy), CUDA_ERROR_INVALID_VALUE);
}

static void arrays_of_one_line_copy_by_offset(void **state) {
    (void)state;
    CUarray array;
    CUdeviceptr device;
    unsigned values[4] = {1, 2, 3, 4}, back[2] = {0};
    const CUDA_ARRAY_DESCRIPTOR shape = {.Width = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    CUDA_ARRAY_DESCRIPTOR told;
    assert_cuda(cuArrayCreate(&array, &shape));
    assert_cuda(cuArrayGetDescriptor(&told, array));
    assert_int_equal(told.Width, 4);
    assert_cuda(cuMemAlloc(&device, 16));
    assert_cuda(cuMemcpyHtoA(array, 0, values, 16));
    assert_cuda(cuMemcpyAtoD(device, array, 4, 8));
    assert_cuda(cuMemcpyDtoA(array, 0, device, 8));
    assert_cuda(cuMemcpyAtoH(back, array, 0, 8));
    assert_int_equal(back[0], 2);
    assert_int_equal(back[1], 3);
    assert_int_equal(cuMemcpyAtoH(back, array, 12, 8), CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(bytes_go_there_and_back),
        context_test(copies_beyond_an_allocation_are_refused),
        context_test(the_generic_copy_finds_out_by_itself),
        context_test(boxes_keep_their_shape),
        context_test(slices_are_apart_by_height_times_pitch),
        context_test(arrays_of_one_line_copy_by_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
