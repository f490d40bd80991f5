/* The reader of fat binaries: their entries, the order of PTX, and that damaged ones are rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuda/modules/fatbin.h"

struct file {
    unsigned char *bytes;
    size_t length;
};

/* A copy that ends with the file, so that a sanitizer sees every read beyond it. */
static struct file read_file(const char *path) {
    struct file file = {malloc(1 << 16), 0};
    FILE *stream = fopen(path, "rb");
    if (!stream)
        fail_msg("cannot read %s", path);
    file.length = fread(file.bytes, 1, 1 << 16, stream);
    fclose(stream);
    file.bytes = realloc(file.bytes, file.length);
    return file;
}

static void put(unsigned char *at, uint64_t value, unsigned bytes) { memcpy(at, &value, bytes); }

static void every_compression_gives_the_same_text(void **state) {
    (void)state;
    static const char *const path[] = {"tests/fatbins/which_plain.fatbin", "tests/fatbins/which_lz4.fatbin",
                                       "tests/fatbins/which_zstd.fatbin"};
    struct file ptx = read_file("tests/fatbins/which.ptx");
    for (int i = 0; i < 3; i++) {
        struct file file = read_file(path[i]);
        struct cuda_fatbin fatbin;
        size_t length = 0;
        const char *problem = NULL;
        assert_null(cuda_fatbin_open(&fatbin, file.bytes, file.length, 80));
        assert_int_equal(fatbin.n_entries, 3);
        assert_int_equal(fatbin.n_ptx, 3);
        assert_int_equal(fatbin.bytes, file.length);
        char *text = cuda_fatbin_text(&fatbin.entry[0], &length, &problem);
        assert_non_null(text);
        assert_int_equal(length, ptx.length);
        assert_memory_equal(text, ptx.bytes, ptx.length);
        assert_int_equal(text[length], 0);
        free(text);
        cuda_fatbin_close(&fatbin);
        free(file.bytes);
    }
    free(ptx.bytes);
}

static void check_order(uint32_t architecture, uint32_t first, uint32_t second, uint32_t third) {
    struct file file = read_file("tests/fatbins/which_zstd.fatbin");
    struct cuda_fatbin fatbin;
    assert_null(cuda_fatbin_open(&fatbin, file.bytes, file.length, architecture));
    assert_int_equal(fatbin.entry[0].architecture, first);
    assert_int_equal(fatbin.entry[1].architecture, second);
    assert_int_equal(fatbin.entry[2].architecture, third);
    cuda_fatbin_close(&fatbin);
    free(file.bytes);
}

static void the_highest_architecture_that_fits_comes_first(void **state) {
    (void)state;
    check_order(80, 80, 75, 90);
    check_order(100, 90, 80, 75);
    check_order(75, 75, 80, 90);
    check_order(60, 75, 80, 90);
}

static void machine_code_comes_after_ptx(void **state) {
    (void)state;
    struct file file = read_file("tests/fatbins/which_plain.fatbin");
    struct cuda_fatbin fatbin;
    put(file.bytes + 16, CUDA_FATBIN_ELF, 2); /* the first entry, for 75 */
    assert_null(cuda_fatbin_open(&fatbin, file.bytes, file.length, 75));
    assert_int_equal(fatbin.n_entries, 3);
    assert_int_equal(fatbin.n_ptx, 2);
    assert_int_equal(fatbin.entry[0].architecture, 80);
    assert_int_equal(fatbin.entry[2].kind, CUDA_FATBIN_ELF);
    cuda_fatbin_close(&fatbin);
    free(file.bytes);
}

static void a_container_cut_anywhere_is_refused(void **state) {
    (void)state;
    struct file file = read_file("tests/fatbins/which_lz4.fatbin");
    for (size_t length = 1; length < file.length; length++) {
        unsigned char *cut = malloc(length);
        struct cuda_fatbin fatbin;
        memcpy(cut, file.bytes, length);
        assert_string_equal(cuda_fatbin_open(&fatbin, cut, length, 80), "is cut short");
        assert_null(fatbin.entry);
        free(cut);
    }
    free(file.bytes);
}

static void numbers_out_of_bounds_are_refused(void **state) {
    (void)state;
    static const struct {
        unsigned at, bytes;
        uint64_t value;
        const char *problem;
    } damage[] = {
        {4, 2, 2, "is not a fat binary of a known version"},
        {6, 2, 8, "is not a fat binary of a known version"},
        {8, 8, UINT64_MAX, "says it is larger than a fat binary can be"},
        {8, 8, 1 << 20, "is cut short"},
        {20, 4, 0, "is corrupt"},              /* an entry without a header */
        {20, 4, UINT32_MAX, "is corrupt"},     /* one longer than the container */
        {24, 8, UINT64_MAX - 8, "is corrupt"}, /* a payload that wraps around */
        {32, 4, 1 << 20, "is corrupt"},        /* more compressed bytes than payload */
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        struct file file = read_file("tests/fatbins/which_zstd.fatbin");
        struct cuda_fatbin fatbin;
        put(file.bytes + damage[i].at, damage[i].value, damage[i].bytes);
        const char *problem = cuda_fatbin_open(&fatbin, file.bytes, file.length, 80);
        if (!problem)
            fail_msg("damage %zu is not noticed", i);
        assert_string_equal(problem, damage[i].problem);
        free(file.bytes);
    }
}

/* Reads entry 0 of a container whose text is claimed to have text_bytes bytes. */
static const char *text_problem(const char *path, uint64_t text_bytes, int flip) {
    struct file file = read_file(path);
    struct cuda_fatbin fatbin;
    size_t length;
    const char *problem = NULL;
    assert_null(cuda_fatbin_open(&fatbin, file.bytes, file.length, 75));
    struct cuda_fatbin_entry entry = fatbin.entry[0];
    assert_int_equal(entry.architecture, 75);
    if (text_bytes)
        entry.text_bytes = text_bytes;
    if (flip >= 0)
        file.bytes[entry.payload - file.bytes + flip] ^= 0xff;
    char *text = cuda_fatbin_text(&entry, &length, &problem);
    assert_null(text);
    cuda_fatbin_close(&fatbin);
    free(file.bytes);
    return problem;
}

static void text_that_is_not_what_it_says_is_refused(void **state) {
    (void)state;
    static const char lz4[] = "tests/fatbins/which_lz4.fatbin", zstd[] = "tests/fatbins/which_zstd.fatbin";
    static const char damaged[] = "holds PTX that cannot be decompressed",
                      huge[] = "says it holds more PTX than a fat binary can";
    assert_string_equal(text_problem(lz4, 1ull << 40, -1), huge);
    assert_string_equal(text_problem(zstd, 1ull << 40, -1), huge);
    assert_string_equal(text_problem(lz4, 1 << 27, -1), damaged);
    assert_string_equal(text_problem(zstd, 1 << 27, -1), damaged);
    assert_string_equal(text_problem(lz4, 1000, -1), damaged);
    assert_string_equal(text_problem(zstd, 1000, -1), damaged);
    assert_string_equal(text_problem(lz4, 100, -1), damaged);
    assert_string_equal(text_problem(zstd, 100, -1), damaged);
    assert_string_equal(text_problem(zstd, 0, 0), damaged);
}

static void an_image_in_memory_is_as_long_as_it_says(void **state) {
    (void)state;
    struct file file = read_file("tests/fatbins/scale.fatbin");
    struct cuda_fatbin fatbin;
    assert_true(cuda_fatbin_starts(file.bytes));
    assert_false(cuda_fatbin_starts("P"));
    assert_null(cuda_fatbin_open(&fatbin, file.bytes, CUDA_FATBIN_UNKNOWN_LENGTH, 80));
    assert_int_equal(fatbin.n_ptx, 1);
    cuda_fatbin_close(&fatbin);
    free(file.bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_compression_gives_the_same_text),
        cmocka_unit_test(the_highest_architecture_that_fits_comes_first),
        cmocka_unit_test(machine_code_comes_after_ptx),
        cmocka_unit_test(a_container_cut_anywhere_is_refused),
        cmocka_unit_test(numbers_out_of_bounds_are_refused),
        cmocka_unit_test(text_that_is_not_what_it_says_is_refused),
        cmocka_unit_test(an_image_in_memory_is_as_long_as_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
