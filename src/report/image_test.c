/* Tests of pictures: the position of each thread, and valid PNG and PGM files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"

static struct report_profile shape(uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz) {
    return (struct report_profile){
        .grid = {gx, gy, gz}, .block = {bx, by, bz}, .n_threads = (uint64_t)gx * gy * gz * bx * by * bz};
}

static void a_two_dimensional_grid_keeps_its_layout(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct report_profile profile = shape(2, 2, 1, 2, 1, 1);
    const uint32_t value[] = {0, 1, 2, 3, 4, 5, 6, 10}; /* block (1,0) has 2 and 3 */
    static const uint8_t expected[] = {0, 25, 51, 76, 102, 127, 153, 255};
    uint32_t most;
    struct report_image image = report_thread_image(&profile, value, &most, &arena);
    assert_int_equal(most, 10);
    assert_int_equal(image.width, 4);
    assert_int_equal(image.height, 2);
    assert_memory_equal(image.pixel, expected, sizeof expected);
    base_arena_free(&arena);
}

static void rows_and_layers_are_below_each_other(void **state) {
    (void)state;
    struct base_arena arena = {0};
    struct report_profile profile = shape(2, 1, 2, 1, 2, 1);
    const uint32_t value[] = {1, 2, 3, 4, 5, 6, 7, 255}; /* by blocks: x then z; in a block: y */
    static const uint8_t expected[] = {1, 3, 2, 4, 5, 7, 6, 255};
    uint32_t most;
    struct report_image image = report_thread_image(&profile, value, &most, &arena);
    assert_int_equal(image.width, 2);
    assert_int_equal(image.height, 4);
    assert_memory_equal(image.pixel, expected, sizeof expected);
    base_arena_free(&arena);
}

static void a_one_dimensional_launch_is_drawn_in_rows(void **state) {
    (void)state;
    struct base_arena arena = {0};
    static uint32_t value[3000];
    struct report_profile profile = shape(30, 1, 1, 100, 1, 1);
    uint32_t most;
    value[64] = value[2999] = 7;
    struct report_image image = report_thread_image(&profile, value, &most, &arena);
    assert_int_equal(image.width, 64);
    assert_int_equal(image.height, 47);
    assert_int_equal(image.pixel[64], 255);
    assert_int_equal(image.pixel[46 * 64 + 55], 255); /* the last line is not full */
    profile = shape(1, 1, 1, 5, 1, 1);
    image = report_thread_image(&profile, value, &most, &arena);
    assert_int_equal(image.width, 5);
    assert_int_equal(image.pixel[0], 0); /* all are 0: black */
    base_arena_free(&arena);
}

static size_t written(bool (*write)(FILE *, const struct report_image *), const struct report_image *image,
                      char **data) {
    size_t size = 0;
    FILE *file = open_memstream(data, &size);
    assert_true(write(file, image));
    fclose(file);
    return size;
}

/* The bytes were generated independently, with the checksums (CRC-32, Adler-32) of zlib. */
static void a_png_has_correct_checksums(void **state) {
    (void)state;
    static uint8_t pixel[] = {0, 255, 7, 9};
    static const uint8_t expected[] = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49,
                                       0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x08, 0x00,
                                       0x00, 0x00, 0x00, 0x57, 0xdd, 0x52, 0xf8, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44,
                                       0x41, 0x54, 0x78, 0x01, 0x00, 0x03, 0x00, 0xfc, 0xff, 0x00, 0x00, 0xff, 0x9d,
                                       0x0f, 0x40, 0xe0, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x01, 0x03,
                                       0x00, 0xfc, 0xff, 0x00, 0x07, 0x09, 0x04, 0x19, 0x01, 0x10, 0x96, 0x5e, 0x86,
                                       0x4d, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
    struct report_image image = {2, 2, pixel};
    char *data;
    assert_int_equal(written(report_write_png, &image, &data), sizeof expected);
    assert_memory_equal(data, expected, sizeof expected);
    free(data);
}

static void a_pgm_has_a_header_and_its_pixels(void **state) {
    (void)state;
    static uint8_t pixel[] = {0, 255, 7, 9, 1, 2};
    struct report_image image = {3, 2, pixel};
    char *data;
    size_t size = written(report_write_pgm, &image, &data);
    assert_int_equal(size, 11 + 6);
    assert_memory_equal(data, "P5\n3 2\n255\n\x00\xff\x07\x09\x01\x02", size);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_two_dimensional_grid_keeps_its_layout),
        cmocka_unit_test(rows_and_layers_are_below_each_other),
        cmocka_unit_test(a_one_dimensional_launch_is_drawn_in_rows),
        cmocka_unit_test(a_png_has_correct_checksums),
        cmocka_unit_test(a_pgm_has_a_header_and_its_pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
