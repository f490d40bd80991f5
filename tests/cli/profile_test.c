/* The optional profile of a run's threads and branches: the table, the JSON, the pictures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "command.h"

/* Reads the first bytes of a file in the scratch folder; returns their number. */
static size_t first_bytes(const char *name, char *bytes, size_t size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", scratch(), name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("there is no %s", path);
    size_t n = fread(bytes, 1, size, file);
    fclose(file);
    return n;
}

static void expect_no_file(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", scratch(), name);
    assert_int_equal(access(path, F_OK), -1);
}

/* ray draws 32 x 32 pixels, a thread for each, in a grid of two dimensions. */
static void a_grid_of_two_dimensions_is_drawn_in_two_dimensions(void **state) {
    (void)state;
    static const char expected[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x20\0\0\0\x20\x08"; /* 32 x 32, 8 bits */
    char bytes[64];
    struct outcome outcome = heddle("run ray --size small --thread-map %s/ray", scratch());
    expect_status(&outcome, 0);
    expect_text(outcome.out, "ray-path.png: 32 x 32, white is ");
    expect_text(outcome.out, "ray-divergence.png: 32 x 32, white is ");
    assert_true(first_bytes("ray-path.png", bytes, sizeof bytes) == sizeof bytes);
    assert_memory_equal(bytes, expected, sizeof expected - 1);
    assert_true(first_bytes("ray-divergence.png", bytes, sizeof bytes) == sizeof bytes);
    assert_memory_equal(bytes, expected, sizeof expected - 1);
    outcome_free(&outcome);
}

static void several_kernels_have_pictures_of_their_own(void **state) {
    (void)state;
    char bytes[16];
    struct outcome outcome = heddle("run mergesort --size small --functional -q --thread-map %s/sort.pgm", scratch());
    expect_status(&outcome, 0);
    first_bytes("sort-sort_tiles-path.pgm", bytes, sizeof bytes);
    assert_memory_equal(bytes, "P5\n", 3);
    first_bytes("sort-merge_runs-divergence.pgm", bytes, sizeof bytes);
    assert_memory_equal(bytes, "P5\n", 3);
    expect_no_file("sort-path.pgm");
    expect_no_file("sort.pgm-path.png");
    outcome_free(&outcome);
}

/* The sums over the branches are those of the launch. */
static void expect_sums(const char *words) {
    struct outcome outcome = heddle("run bfs --size small --branches --json - %s", words);
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    const json_t *branches = json_object_get(object, "branches"), *total = json_object_get(object, "total");
    json_int_t executed = 0, diverged = 0;
    assert_true(json_array_size(branches) > 0);
    for (size_t i = 0; i < json_array_size(branches); i++) {
        const json_t *branch = json_array_get(branches, i);
        assert_true(json_integer_value(json_object_get(branch, "line")) > 0);
        executed += json_integer_value(json_object_get(branch, "executed"));
        diverged += json_integer_value(json_object_get(branch, "diverged"));
    }
    assert_true(diverged > 0);
    assert_int_equal(executed, json_integer_value(json_object_get(total, "branches")));
    assert_int_equal(diverged, json_integer_value(json_object_get(total, "divergent_branches")));
    json_decref(object);
    outcome_free(&outcome);
}

static void branches_add_up_to_the_totals(void **state) {
    (void)state;
    expect_sums("--functional");
    struct outcome list = heddle("list divergence --names");
    expect_status(&list, 0);
    char *rest, *name = strtok_r(list.out, "\n", &rest);
    for (; name; name = strtok_r(NULL, "\n", &rest)) {
        char words[80];
        snprintf(words, sizeof words, "--divergence %s", name);
        expect_sums(words);
    }
    outcome_free(&list);
}

static void the_table_of_branches_names_lines(void **state) {
    (void)state;
    struct outcome outcome = heddle("run bfs --size small --functional --branches");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "PTX line  executed  diverged");
    outcome_free(&outcome);
    outcome = heddle("run bfs --size small --functional --json -");
    assert_null(strstr(outcome.out, "\"branches\": ["));
    outcome_free(&outcome);
}

static void a_missing_folder_is_reported_before_the_run(void **state) {
    (void)state;
    struct outcome outcome = heddle("run bfs --size small --thread-map %s/none/map", scratch());
    expect_status(&outcome, 1);
    expect_line(&outcome, "cannot write pictures into");
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_of_two_dimensions_is_drawn_in_two_dimensions),
        cmocka_unit_test(several_kernels_have_pictures_of_their_own),
        cmocka_unit_test(branches_add_up_to_the_totals),
        cmocka_unit_test(the_table_of_branches_names_lines),
        cmocka_unit_test(a_missing_folder_is_reported_before_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
