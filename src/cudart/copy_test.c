/* Tests of allocations and copies of every shape. */
#include "cudart/fixture.h"

static void kinds_of_copies_are_checked(void **state) {
    (void)state;
    int value = 3, back = 0;
    void *memory, *other;
    assert_ok(cudaMalloc(&memory, sizeof value));
    assert_ok(cudaMalloc(&other, sizeof value));
    assert_ok(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyDefault));
    assert_ok(cudaMemcpy(other, memory, sizeof value, cudaMemcpyDeviceToDevice));
    assert_ok(cudaMemcpy(&back, other, sizeof value, cudaMemcpyDefault));
    assert_int_equal(back, 3);
    assert_error(cudaErrorInvalidMemcpyDirection, cudaMemcpy(&back, other, 4, (enum cudaMemcpyKind)5));
    assert_error(cudaErrorInvalidValue, cudaMemcpy(memory, &value, 4096, cudaMemcpyHostToDevice));
    assert_error(cudaErrorInvalidValue, cudaMemcpy(&value, &back, 4, cudaMemcpyHostToDevice));
}

static void nothing_is_allocated_for_no_bytes(void **state) {
    (void)state;
    void *memory = &memory;
    assert_ok(cudaMalloc(&memory, 0));
    assert_null(memory);
    assert_ok(cudaFree(NULL));
    assert_ok(cudaFreeHost(NULL));
    assert_error(cudaErrorMemoryAllocation, cudaMalloc(&memory, (size_t)1 << 60));
    assert_error(cudaErrorInvalidValue, cudaFree(&memory));
}

static void lines_with_a_pitch_are_copied(void **state) {
    (void)state;
    unsigned char lines[3][5], back[3][5], *byte = (unsigned char *)lines;
    void *memory;
    size_t pitch;
    for (unsigned i = 0; i < sizeof lines; i++)
        byte[i] = (unsigned char)(i + 1);
    assert_ok(cudaMallocPitch(&memory, &pitch, 5, 3));
    assert_true(pitch >= 5 && pitch % 256 == 0);
    assert_ok(cudaMemset2D(memory, pitch, 0xee, 5, 3));
    assert_ok(cudaMemcpy2D(memory, pitch, lines, 5, 5, 2, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpy2D(back, 5, memory, pitch, 5, 3, cudaMemcpyDeviceToHost));
    assert_memory_equal(back, lines, 10);
    assert_int_equal(back[2][4], 0xee);
    assert_error(cudaErrorInvalidPitchValue, cudaMemcpy2D(memory, 4, lines, 5, 5, 2, cudaMemcpyHostToDevice));
}

static void boxes_are_copied(void **state) {
    (void)state;
    enum { X = 4, Y = 3, Z = 2 };
    unsigned char box[Z][Y][X], back[Z][Y][X], *byte = (unsigned char *)box;
    struct cudaPitchedPtr memory;
    struct cudaExtent extent = {X, Y, Z};
    for (unsigned i = 0; i < sizeof box; i++)
        byte[i] = (unsigned char)(3 * i);
    assert_ok(cudaMalloc3D(&memory, extent));
    assert_int_equal(memory.ysize, Y);
    assert_ok(cudaMemset3D(memory, 1, extent));
    struct cudaMemcpy3DParms in = {
        .srcPtr = {box, X, X, Y}, .dstPtr = memory, .extent = extent, .kind = cudaMemcpyHostToDevice};
    struct cudaMemcpy3DParms out = {
        .srcPtr = memory, .dstPtr = {back, X, X, Y}, .extent = extent, .kind = cudaMemcpyDeviceToHost};
    assert_ok(cudaMemcpy3D(&in));
    assert_ok(cudaMemcpy3D(&out));
    assert_memory_equal(back, box, sizeof box);
    out.srcPtr.ptr = NULL;
    assert_error(cudaErrorInvalidValue, cudaMemcpy3D(&out));
}

static void arrays_are_copied_by_elements_and_by_lines(void **state) {
    (void)state;
    enum { X = 3, Y = 2 };
    const struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    float texels[Y][X] = {{1, 2, 3}, {4, 5, 6}}, back[Y][X] = {0};
    struct cudaChannelFormatDesc kept;
    struct cudaExtent extent;
    cudaArray_t array, other;
    assert_ok(cudaMallocArray(&array, &format, X, Y, 0));
    assert_ok(cudaMallocArray(&other, &format, X, Y, 0));
    assert_ok(cudaArrayGetInfo(&kept, &extent, NULL, array));
    assert_memory_equal(&kept, &format, sizeof format);
    assert_int_equal(extent.width, X);
    assert_ok(cudaMemcpyToArray(array, 0, 0, texels, sizeof texels, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpyArrayToArray(other, 0, 0, array, 0, 0, sizeof texels, cudaMemcpyDeviceToDevice));
    assert_ok(cudaMemcpy2DFromArray(back, sizeof back[0], other, 0, 0, sizeof back[0], Y, cudaMemcpyDeviceToHost));
    assert_memory_equal(back, texels, sizeof texels);
    float column[Y] = {0};
    struct cudaMemcpy3DParms out = {.srcArray = array,
                                    .srcPos = {1, 0, 0},
                                    .dstPtr = {column, sizeof(float), sizeof(float), Y},
                                    .extent = {1, Y, 1},
                                    .kind = cudaMemcpyDeviceToHost};
    assert_ok(cudaMemcpy3D(&out));
    assert_true(column[0] == 2 && column[1] == 5);
    assert_ok(cudaFreeArray(array));
    assert_error(cudaErrorInvalidResourceHandle, cudaFreeArray(array));
}

static void uneven_channels_are_no_format(void **state) {
    (void)state;
    const struct cudaChannelFormatDesc formats[] = {
        {32, 16, 0, 0, cudaChannelFormatKindFloat},
        {0, 8, 0, 0, cudaChannelFormatKindUnsigned},
        {24, 0, 0, 0, cudaChannelFormatKindSigned},
        {8, 8, 8, 8, cudaChannelFormatKindFloat},
    };
    cudaArray_t array;
    for (unsigned i = 0; i < sizeof formats / sizeof formats[0]; i++)
        assert_error(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&array, &formats[i], 4, 4, 0));
}

static void pointers_are_described(void **state) {
    (void)state;
    struct cudaPointerAttributes about;
    void *device, *host, *both;
    assert_ok(cudaMalloc(&device, 64));
    assert_ok(cudaMallocHost(&host, 64));
    assert_ok(cudaMallocManaged(&both, 64, cudaMemAttachGlobal));
    assert_ok(cudaPointerGetAttributes(&about, (char *)device + 8));
    assert_int_equal(about.type, cudaMemoryTypeDevice);
    assert_ptr_equal(about.devicePointer, (char *)device + 8);
    assert_ok(cudaPointerGetAttributes(&about, host));
    assert_int_equal(about.type, cudaMemoryTypeHost);
    assert_ptr_equal(about.hostPointer, host);
    assert_ok(cudaPointerGetAttributes(&about, both));
    assert_int_equal(about.type, cudaMemoryTypeManaged);
    assert_ok(cudaPointerGetAttributes(&about, &about));
    assert_int_equal(about.type, cudaMemoryTypeUnregistered);
    assert_int_equal(about.device, -2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        runtime_test(kinds_of_copies_are_checked),
        runtime_test(nothing_is_allocated_for_no_bytes),
        runtime_test(lines_with_a_pitch_are_copied),
        runtime_test(boxes_are_copied),
        runtime_test(arrays_are_copied_by_elements_and_by_lines),
        runtime_test(uneven_channels_are_no_format),
        runtime_test(pointers_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
