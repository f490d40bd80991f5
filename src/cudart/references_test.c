/* Tests of texture and surface references, as in programs of CUDA 11 and before: bound to memory of every kind, read by
 * kernels. Values are powers of two and their sums, so that filtered ones are exact. */
#include "cudart/fixture.h"
#include "cudart/references.h"

static struct textureReference words, picture, unregistered;
static struct surfaceReference plane;
static char fetch, look, paint;

static int register_references(void **state) {
    register_all(state);
    register_one(&fetch, "fetch");
    register_one(&look, "look");
    register_one(&paint, "paint");
    const struct textureReference plain = {
        .addressMode = {cudaAddressModeClamp, cudaAddressModeClamp, cudaAddressModeClamp}};
    words = picture = plain;
    __cudaRegisterTexture(binary, &words, NULL, "words", 1, 0, 0);
    __cudaRegisterTexture(binary, &picture, NULL, "picture", 2, 1, 0);
    __cudaRegisterSurface(binary, &plane, NULL, "plane", 2, 0);
    return 0;
}

#define reference_test(test) cmocka_unit_test_setup_teardown(test, register_references, unregister_all)

static const struct cudaChannelFormatDesc u32 = {32, 0, 0, 0, cudaChannelFormatKindUnsigned},
                                          u8 = {8, 0, 0, 0, cudaChannelFormatKindUnsigned},
                                          f32 = {32, 0, 0, 0, cudaChannelFormatKindFloat};

static void *copied(const void *from, size_t bytes) {
    void *memory;
    assert_ok(cudaMalloc(&memory, bytes));
    assert_ok(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice));
    return memory;
}

static void fetched(uint32_t *values, unsigned n) {
    void *out, *arguments[] = {&out};
    assert_ok(cudaMalloc(&out, n * sizeof *values));
    assert_ok(launch(&fetch, 1, n, arguments));
    assert_ok(cudaMemcpy(values, out, n * sizeof *values, cudaMemcpyDeviceToHost));
}

/* Four values from (x, y) on. */
static void expect_look(float x, float step, float y, float level, const float expected[4]) {
    float values[4];
    void *out, *arguments[] = {&out, &x, &step, &y, &level};
    assert_ok(cudaMalloc(&out, sizeof values));
    assert_ok(launch(&look, 1, 4, arguments));
    assert_ok(cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 4; i++)
        if (values[i] != expected[i])
            fail_msg("value %u is %g, not %g", i, (double)values[i], (double)expected[i]);
}

static void linear_memory_is_read_to_its_end(void **state) {
    (void)state;
    static const uint32_t numbers[] = {5, 6, 7, 8};
    uint32_t values[6];
    size_t offset = 99;
    void *memory = copied(numbers, sizeof numbers);
    assert_ok(cudaBindTexture(&offset, &words, memory, &u32, UINT32_MAX)); /* as C++ does without a size */
    assert_int_equal(offset, 0);
    fetched(values, 6);
    assert_memory_equal(values, numbers, sizeof numbers);
    assert_int_equal(values[4], 0);
}

/* As recorded on an H200. */
static void a_texture_begins_at_an_aligned_place(void **state) {
    (void)state;
    uint32_t numbers[256], values[4];
    size_t offset = 99, again = 99;
    for (uint32_t i = 0; i < 256; i++)
        numbers[i] = i;
    char *memory = copied(numbers, sizeof numbers);
    assert_ok(cudaBindTexture(&offset, &words, memory + 516, &u32, 8));
    assert_int_equal(offset, 4);
    assert_ok(cudaGetTextureAlignmentOffset(&again, &words));
    assert_int_equal(again, 4);
    fetched(values, 4);
    assert_int_equal(values[0], 128);
    assert_int_equal(values[2], 130);
    assert_int_equal(values[3], 0);
    assert_error(cudaErrorInvalidValue, cudaBindTexture(NULL, &words, memory + 4, &u32, 8));
    assert_ok(cudaBindTexture(NULL, &words, memory + 512, &u32, 8));
    assert_error(cudaErrorInvalidValue, cudaBindTexture2D(&offset, &words, memory + 256, &u32, 4, 1, 32));
}

/* A row of 0, 51, 102, 255 of 255: fractions. */
static void settings_count_when_the_texture_is_bound(void **state) {
    (void)state;
    static const unsigned char texels[2][4] = {{0, 51, 102, 255}, {255, 255, 255, 255}};
    cudaArray_t array;
    assert_ok(cudaMallocArray(&array, &u8, 4, 2, 0));
    assert_ok(cudaMemcpy2DToArray(array, 0, 0, texels, 4, 4, 2, cudaMemcpyHostToDevice));
    const float points[] = {0, 51 / 255.0f, 102 / 255.0f, 1};
    assert_ok(cudaBindTextureToArray(&picture, array, &u8));
    expect_look(0.5f, 1, 0.5f, 0, points);
    picture.normalized = 1;
    picture.addressMode[0] = cudaAddressModeWrap;
    expect_look(0.5f, 1, 0.5f, 0, points); /* not bound again yet */
    assert_ok(cudaBindTextureToArray(&picture, array, &u8));
    const float wrapped[] = {1, 0, 51 / 255.0f, 102 / 255.0f};
    expect_look(-0.125f, 0.25f, 0.25f, 0, wrapped);
    cudaFreeArray(array);
}

static void floats_are_filtered_between_texels(void **state) {
    (void)state;
    static const float lines[2][8] = {{0, 2, 4, 8}, {16, 16, 16, 16}}; /* the pitch is 32 bytes */
    void *memory = copied(lines, sizeof lines);
    size_t offset = 1;
    picture.filterMode = cudaFilterModeLinear;
    assert_ok(cudaBindTexture2D(&offset, &picture, memory, &f32, 4, 2, 32));
    assert_int_equal(offset, 0);
    const float between[] = {1, 3, 6, 8}, below[] = {8, 9, 10, 12};
    expect_look(1, 1, 0.5f, 0, between);
    expect_look(0.5f, 1, 1, 0, below);
}

static void mipmaps_have_levels(void **state) {
    (void)state;
    static const float fine[2][2] = {{1, 2}, {3, 4}}, coarse = 8;
    cudaMipmappedArray_t mipmap;
    cudaArray_t level;
    assert_ok(cudaMallocMipmappedArray(&mipmap, &f32, (struct cudaExtent){2, 2, 0}, 2, 0));
    assert_ok(cudaGetMipmappedArrayLevel(&level, mipmap, 0));
    assert_ok(cudaMemcpy2DToArray(level, 0, 0, fine, 8, 8, 2, cudaMemcpyHostToDevice));
    assert_ok(cudaGetMipmappedArrayLevel(&level, mipmap, 1));
    assert_ok(cudaMemcpy2DToArray(level, 0, 0, &coarse, 4, 4, 1, cudaMemcpyHostToDevice));
    picture.normalized = 1;
    picture.maxMipmapLevelClamp = 1;
    assert_ok(cudaBindTextureToMipmappedArray(&picture, mipmap, &f32));
    const float first[] = {3, 4, 4, 4}, second[] = {8, 8, 8, 8};
    expect_look(0.25f, 0.5f, 0.75f, 0, first);
    expect_look(0.25f, 0.5f, 0.75f, 1, second);
    assert_ok(cudaFreeMipmappedArray(mipmap));
}

static void surfaces_are_written(void **state) {
    (void)state;
    uint32_t lines[2][4] = {{9, 9, 9, 9}, {9, 9, 9, 9}};
    cudaArray_t array;
    const struct surfaceReference *found;
    assert_ok(cudaMallocArray(&array, &u32, 4, 2, cudaArraySurfaceLoadStore));
    assert_ok(cudaMemcpy2DToArray(array, 0, 0, lines, 16, 16, 2, cudaMemcpyHostToDevice));
    assert_ok(cudaGetSurfaceReference(&found, &plane));
    assert_ok(cudaBindSurfaceToArray(found, array, &u32));
    assert_ok(launch(&paint, 1, 4, NULL));
    assert_ok(cudaMemcpy2DFromArray(lines, 16, array, 0, 0, 16, 2, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(lines[0][i], 9);
        assert_int_equal(lines[1][i], i);
    }
    assert_ok(cudaFreeArray(array));
    assert_error(cudaErrorInvalidSurface, cudaGetSurfaceReference(&found, &words));
}

static void what_is_not_bound_or_not_registered_is_told(void **state) {
    (void)state;
    static const uint32_t number = 1;
    const struct cudaChannelFormatDesc strange = {24, 0, 0, 0, cudaChannelFormatKindUnsigned};
    const struct textureReference *found = NULL;
    size_t offset = 1;
    void *memory = copied(&number, sizeof number);
    assert_ok(cudaGetTextureReference(&found, &words));
    assert_ptr_equal(found, &words);
    assert_error(cudaErrorInvalidTexture, cudaGetTextureReference(&found, &unregistered));
    assert_error(cudaErrorInvalidTexture, cudaBindTexture(NULL, &unregistered, memory, &u32, 4));
    assert_error(cudaErrorInvalidChannelDescriptor, cudaBindTexture(NULL, &words, memory, &strange, 4));
    assert_error(cudaErrorInvalidValue, cudaBindTexture(NULL, &words, memory, NULL, 4));
    assert_error(cudaErrorInvalidTextureBinding, cudaGetTextureAlignmentOffset(&offset, &words));
    assert_ok(cudaBindTexture(NULL, &words, memory, &u32, 4));
    assert_ok(cudaGetTextureAlignmentOffset(&offset, &words));
    assert_int_equal(offset, 0);
    assert_ok(cudaUnbindTexture(&words));
    assert_error(cudaErrorInvalidTextureBinding, cudaGetTextureAlignmentOffset(&offset, &words));
}

static void a_reset_device_has_them_again(void **state) {
    (void)state;
    static const uint32_t numbers[] = {5, 6};
    uint32_t values[2];
    assert_ok(cudaBindTexture(NULL, &words, copied(numbers, 8), &u32, 8));
    assert_ok(cudaDeviceReset());
    assert_ok(cudaBindTexture(NULL, &words, copied(numbers, 8), &u32, 8));
    fetched(values, 2);
    assert_memory_equal(values, numbers, sizeof numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        reference_test(linear_memory_is_read_to_its_end),
        reference_test(a_texture_begins_at_an_aligned_place),
        reference_test(settings_count_when_the_texture_is_bound),
        reference_test(floats_are_filtered_between_texels),
        reference_test(mipmaps_have_levels),
        reference_test(surfaces_are_written),
        reference_test(what_is_not_bound_or_not_registered_is_told),
        reference_test(a_reset_device_has_them_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
