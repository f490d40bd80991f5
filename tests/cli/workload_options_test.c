/* Options of single bundled workloads: their values, messages about wrong ones, and the picture that `--image` writes,
 * parsed according to the PNG specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static void own_options_reach_their_program(void **state) {
    (void)state;
    struct outcome outcome = heddle("run hotspot --functional -q -- --side 20 --iterations=3");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "hotspot: verified, 20 x 20 cells, 3 launches of 3 blocks of 256 threads");
    outcome_free(&outcome);
    outcome = heddle("run kmeans --functional -q -- --dimensions 20");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "kmeans: verified, 256 points in 20-D");
    outcome_free(&outcome);
}

/* The experiments of Narasiman and Liu run these forms; each agrees with its program's CPU reference. */
static void other_forms_of_a_kernel_compute_the_same(void **state) {
    (void)state;
    static const char *const cases[] = {
        "run hotspot --blocks 4 --threads-per-block 256 --functional -- --code columns",
        "run hotspot --blocks 1 --threads-per-block 64 --functional -- --code columns --iterations 1",
        "run needleman --threads-per-block 256 --functional -- --pairs matrix --length 300",
        "run kmeans --blocks 4 --functional -- --code predicated",
        "run reduction --blocks 4 --functional -- --type boolean",
        "run hotspot --functional -- --code tiles --side 50",
        "run saop --functional -- --numbers streams",
        "run viterbi --functional -- --bits 20000",
        "run sort --threads-per-block 256 --functional -- --small-buckets 256",
        "run histogram --blocks 4 --threads-per-block 256 -m narasiman2011 -- --bins private",
        "run svm_rows --functional -- --rejoin launch",
        "run fft_rows --functional -- --pitch 100",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome outcome = heddle("%s", cases[i]);
        expect_status(&outcome, 0);
        expect_text(outcome.out, ": verified, ");
        outcome_free(&outcome);
    }
    static const char *const wrong[] = {
        "hotspot --functional -q -- --code row",
        "hotspot --functional -q --threads-per-block 48 -- --code columns",
        "hotspot --functional -q -- --code tiles --iterations 3",
        "needleman --functional -q -- --pairs 1",
        "kmeans --functional -q -- --code x",
        "reduction --functional -q -- --type float",
        "histogram --functional -q -- --bins none",
        "saop --functional -q -- --numbers 3",
        "svm_rows --functional -q -- --rejoin never",
        "fft_rows --functional -q -- --pitch 63",
        "sort --functional -q -- --small-buckets 100",
        "saop --functional -q --blocks 1 --threads-per-block 2 -- --numbers streams",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct outcome outcome = heddle("run %s", wrong[i]);
        expect_status(&outcome, 2);
        outcome_free(&outcome);
    }
}

static double width(const char *rejoin) {
    struct outcome outcome = heddle("run kmeans_rows -m meng2010 -d dws:branch-only-stack --blocks 4 "
                                    "--threads-per-block 64 --json - -q -- --rejoin %s",
                                    rejoin);
    expect_status(&outcome, 0);
    json_t *run = json_output(&outcome);
    double value = json_number_value(json_object_get(json_object_get(run, "total"), "average_active_threads"));
    json_decref(run);
    outcome_free(&outcome);
    return value;
}

/* Meng 2010, 6.6: the end of a task is a synchronization point. Splits that join nowhere else are one again there. */
static void the_splits_of_a_warp_meet_at_the_end_of_a_task(void **state) {
    (void)state;
    assert_true(width("task") > 1.5 * width("launch"));
}

static void own_options_are_in_the_help(void **state) {
    (void)state;
    struct outcome outcome = heddle("run ray --functional -q -- --help");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "\n  --image FILE.png            write the picture\n");
    expect_text(outcome.out, "\n  --side N ");
    outcome_free(&outcome);
}

static void expect_usage_error(const char *arguments, const char *message) {
    struct outcome outcome = heddle("run ray --functional -q -- %s", arguments);
    expect_status(&outcome, 2);
    expect_line(&outcome, message);
    outcome_free(&outcome);
}

static void a_wrong_value_is_named_with_what_would_be_right(void **state) {
    (void)state;
    expect_usage_error("--side 5000", "ray: --side takes a number from 1 to 4096, not '5000'");
    expect_usage_error("--side x", "ray: --side takes a number from 1 to 4096, not 'x'");
    expect_usage_error("--image", "ray: --image needs a value");
}

static void a_misspelt_own_option_gets_the_right_one_suggested(void **state) {
    (void)state;
    expect_usage_error("--imag x.png", "ray: unknown option '--imag' (did you mean '--image'?)");
}

static void another_programs_option_is_unknown(void **state) {
    (void)state;
    expect_usage_error("--dimensions 20", "ray: unknown argument '--dimensions'; --help lists the options");
}

static void a_picture_that_cannot_be_written_is_an_error(void **state) {
    (void)state;
    struct outcome outcome = heddle("run ray --functional -q -- --image %s/no/such/folder.png", scratch());
    expect_status(&outcome, 1);
    expect_text(outcome.err, "folder.png': No such file or directory");
    outcome_free(&outcome);
}

/* ---- PNG --------------------------------------------------------------------------------------------------------- */

enum { SIDE = 160, ROW = 3 * SIDE + 1, PIXELS = ROW * SIDE }; /* more than one stored block */

static uint32_t big_endian(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The remainder of the bytes, taken as a polynomial, highest power first in each byte's lowest bit. */
static uint32_t crc(const uint8_t *bytes, size_t n) {
    uint32_t remainder = 0xffffffff;
    for (size_t bit = 0; bit < 8 * n; bit++) {
        uint32_t differs = (remainder ^ (uint32_t)bytes[bit / 8] >> bit % 8) & 1;
        remainder = remainder >> 1 ^ (differs ? 0xedb88320 : 0);
    }
    return ~remainder;
}

/* Checks the chunk at `at` and returns the place after it. */
static const uint8_t *expect_chunk(const uint8_t *at, const char *type, const uint8_t **data, uint32_t *n) {
    *n = big_endian(at);
    *data = at + 8;
    assert_memory_equal(at + 4, type, 4);
    assert_int_equal(big_endian(at + 8 + *n), crc(at + 4, *n + 4));
    return at + 12 + *n;
}

/* Unpacks a zlib stream of stored blocks into `rows`. */
static void expect_stored(const uint8_t *at, uint32_t n, uint8_t *rows) {
    const uint8_t *end = at + n - 4;
    size_t n_rows_bytes = 0;
    assert_int_equal((at[0] << 8 | at[1]) % 31, 0);
    at += 2;
    for (bool is_last = false; !is_last;) {
        size_t length = at[1] | (size_t)at[2] << 8, complement = at[3] | (size_t)at[4] << 8;
        is_last = at[0] & 1;
        assert_int_equal(at[0] >> 1, 0);
        assert_int_equal(length ^ complement, 0xffff);
        assert_true(n_rows_bytes + length <= PIXELS);
        memcpy(rows + n_rows_bytes, at + 5, length);
        n_rows_bytes += length;
        at += 5 + length;
    }
    assert_int_equal(n_rows_bytes, PIXELS);
    assert_ptr_equal(at, end);
    uint64_t low = 1, high = 0; /* no modulus until the end: the sums stay below 2^64 */
    for (size_t i = 0; i < PIXELS; i++)
        high += low += rows[i];
    assert_int_equal(big_endian(end), high % 65521 << 16 | low % 65521);
}

static size_t read_file(const char *path, uint8_t *bytes, size_t most) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, most, file);
    fclose(file);
    return n;
}

static void the_picture_is_a_png_of_sky_and_floor(void **state) {
    (void)state;
    static uint8_t file[2 * PIXELS], rows[PIXELS];
    char path[256];
    snprintf(path, sizeof path, "%s/ray.png", scratch());
    struct outcome outcome = heddle("run ray --functional -q -- --side %d --image %s", SIDE, path);
    expect_status(&outcome, 0);
    outcome_free(&outcome);
    size_t n_bytes = read_file(path, file, sizeof file);
    const uint8_t *data, *at = file + 8;
    uint32_t n;
    assert_memory_equal(file, "\x89PNG\r\n\x1a\n", 8);
    at = expect_chunk(at, "IHDR", &data, &n);
    assert_int_equal(n, 13);
    assert_int_equal(big_endian(data), SIDE);
    assert_int_equal(big_endian(data + 4), SIDE);
    assert_memory_equal(data + 8, "\x08\x02\0\0\0", 5); /* 8 bits, true colour, no interlace */
    at = expect_chunk(at, "IDAT", &data, &n);
    expect_stored(data, n, rows);
    at = expect_chunk(at, "IEND", &data, &n);
    assert_int_equal(n, 0);
    assert_ptr_equal(at, file + n_bytes);
    for (size_t y = 0; y < SIDE; y++)
        assert_int_equal(rows[y * ROW], 0);              /* no filter */
    assert_true(rows[1] < rows[2] && rows[2] < rows[3]); /* blue above */
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_options_reach_their_program),
        cmocka_unit_test(other_forms_of_a_kernel_compute_the_same),
        cmocka_unit_test(the_splits_of_a_warp_meet_at_the_end_of_a_task),
        cmocka_unit_test(own_options_are_in_the_help),
        cmocka_unit_test(a_wrong_value_is_named_with_what_would_be_right),
        cmocka_unit_test(a_misspelt_own_option_gets_the_right_one_suggested),
        cmocka_unit_test(another_programs_option_is_unknown),
        cmocka_unit_test(a_picture_that_cannot_be_written_is_an_error),
        cmocka_unit_test(the_picture_is_a_png_of_sky_and_floor),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
