/* Machines on the command line: listed, shown, changed, and read again from the output. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

/* By name without its ending, as `heddle list` has them. */
static int compare_names(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t n = strlen(x) - strlen(".yaml"), m = strlen(y) - strlen(".yaml");
    int order = strncmp(x, y, n < m ? n : m);
    return order ? order : n < m ? -1 : n > m;
}

static glob_t machine_files(void) {
    glob_t files;
    assert_int_equal(glob("machines/*.yaml", 0, NULL, &files), 0);
    qsort(files.gl_pathv, files.gl_pathc, sizeof *files.gl_pathv, compare_names);
    return files;
}

static void the_machines_are_listed(void **state) {
    (void)state;
    struct outcome outcome = heddle("list machines");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "gtx480             15 x 1536      32    NVIDIA GeForce GTX 480, the default\n");
    outcome_free(&outcome);
    outcome = heddle("list machines --names");
    expect_status(&outcome, 0);
    const char *line = outcome.out; /* the files of the folder, in its order */
    glob_t files = machine_files();
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *name = files.gl_pathv[i] + strlen("machines/");
        size_t length = strcspn(line, "\n");
        if (length + strlen(".yaml") != strlen(name) || strncmp(line, name, length) != 0)
            fail_msg("'%.*s' is listed where %s was expected", (int)length, line, name);
        line += length + 1;
    }
    assert_string_equal(line, "");
    globfree(&files);
    outcome_free(&outcome);
}

static void a_list_of_machines_is_for_programs_too(void **state) {
    (void)state;
    struct outcome outcome = heddle("list machines --json");
    expect_status(&outcome, 0);
    json_t *array = json_output(&outcome), *first = json_array_get(array, 0);
    glob_t files = machine_files();
    assert_int_equal(json_array_size(array), files.gl_pathc);
    globfree(&files);
    assert_string_equal(json_string_value(json_object_get(first, "name")), "a100");
    assert_string_equal(json_string_value(json_object_get(json_object_get(first, "options"), "l1.size")), "192K");
    json_decref(array);
    outcome_free(&outcome);
}

static void options_are_listed_with_what_they_take(void **state) {
    (void)state;
    struct outcome outcome = heddle("list options");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "\ndram.policy ");
    expect_text(outcome.out, "a number of bytes from 32 to 64M, such as 512 or 16K");
    outcome_free(&outcome);
}

static void write_file(const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", scratch(), name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_shown_machine_can_be_read_again(void **state) {
    (void)state;
    struct outcome first = heddle("list machines meng2010 --set l1.size=64K --set sm.count=2 --set sm.count=8");
    expect_status(&first, 0);
    expect_text(first.out, "\n  size: 64K ");
    expect_text(first.out, "\n  count: 8 ");
    write_file("mine.yaml", first.out);
    struct outcome again = heddle("list machines %s/mine.yaml", scratch());
    expect_status(&again, 0);
    assert_string_equal(again.out, first.out);
    outcome_free(&first);
    outcome_free(&again);
}

/* One thread's cycles for a hundred rounds of ten loads, each of which needs the one before. */
static long cycles_of_rounds(const char *options) {
    long cycles[2];
    for (int i = 0; i < 2; i++) {
        struct outcome outcome = heddle("run %s/chain.ptx --grid 1 --block 1 --arg buf:u64[4] --arg u32:%d %s --json -",
                                        scratch(), 100 * (i + 1), options);
        expect_status(&outcome, 0);
        json_t *json = json_output(&outcome);
        cycles[i] = (long)json_integer_value(json_object_get(json_object_get(json, "total"), "cycles"));
        json_decref(json);
        outcome_free(&outcome);
    }
    return cycles[1] - cycles[0];
}

static void write_chain(const char *load) {
    char text[1536];
    int n = snprintf(text, sizeof text,
                     ".version 6.0\n.target sm_30\n.address_size 64\n"
                     ".visible .entry chain(.param .u64 buffer, .param .u32 rounds)\n{\n"
                     ".shared .align 8 .b64 word[4];\n.reg .u32 %%n;\n.reg .u64 %%r, %%s;\n.reg .pred %%p;\n"
                     "ld.param.u64 %%r, [buffer];\nld.param.u32 %%n, [rounds];\nst.global.u64 [%%r], %%r;\n"
                     "mov.u64 %%s, word;\nst.shared.u64 [%%s], %%s;\nLOOP:\n");
    for (int i = 0; i < 10; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s\n", load);
    snprintf(text + n, sizeof text - (size_t)n,
             "sub.u32 %%n, %%n, 1;\nsetp.ne.u32 %%p, %%n, 0;\n@%%p bra LOOP;\nret;\n}\n");
    write_file("chain.ptx", text);
}

/* From issue to use as in GPGPU-Sim 3.2.2: 4 cycles for a hit in the L1, 8 for shared memory. A round has nine of them
 * and the loop: from the last load to the subtraction 2, its result and that of the comparison 8 each, the branch 3. */
static void loads_on_liu2023_take_as_long_as_in_gpgpu_sim(void **state) {
    (void)state;
    enum { ROUNDS = 100, LOOP = 21 };
    write_chain("ld.global.u64 %r, [%r];");
    assert_int_equal(cycles_of_rounds("-m liu2023"), ROUNDS * (9 * 4 + LOOP));
    write_chain("ld.shared.u64 %s, [%s];");
    assert_int_equal(cycles_of_rounds("-m liu2023"), ROUNDS * (9 * 8 + LOOP));
}

/* The command fails with exactly this on standard error. */
static void refused(int status, const char *words, const char *message) {
    struct outcome outcome = heddle("%s", words);
    expect_status(&outcome, status);
    assert_string_equal(outcome.out, "");
    assert_string_equal(outcome.err, message);
    outcome_free(&outcome);
}

static void mistakes_name_the_key_and_what_is_right(void **state) {
    (void)state;
    refused(2, "list machines gtx48", "heddle: no machine 'gtx48'; did you mean 'gtx480'?\n");
    refused(1, "list machines no.yaml", "heddle: cannot open 'no.yaml': No such file or directory\n");
    refused(2, "list machines gtx480 --set l1.sise=1K",
            "heddle: --set: unknown key 'l1.sise'; did you mean 'l1.size'?\n");
    refused(2, "list machines gtx480 --set l1.size=big",
            "heddle: --set: l1.size is 'big', but takes a number of bytes from 32 to 64M, such as 512 or 16K\n");
    refused(1, "list machines gtx480 --set sm.simd_width=5",
            "heddle: machine gtx480: sm.simd_width is 5, but must divide sm.warp_size, 32\n");
    refused(2, "list machines --set l1.size=1K",
            "heddle: --set changes one machine: heddle list machines NAME --set l1.size=1K\n");
    refused(2, "list stats --set l1.size=1K",
            "heddle: --set is for machines: heddle list machines NAME --set l1.size=1K\n");
    refused(2, "list machines gtx480 meng2010", "heddle: list machines takes no 'meng2010'\n");
}

static void a_mistake_in_a_file_is_shown_with_its_line(void **state) {
    (void)state;
    write_file("bad.yaml", "extends: gtx480\nl1:\n  ways: many\n");
    struct outcome outcome = heddle("list machines %s/bad.yaml", scratch());
    expect_status(&outcome, 1);
    char message[256];
    snprintf(message, sizeof message,
             "%s/bad.yaml:3:9: error: l1.ways is 'many', but takes a whole number from 1 to 4096\n    ways: many\n"
             "          ^\n",
             scratch());
    assert_string_equal(outcome.err, message);
    outcome_free(&outcome);
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machines_are_listed),
        cmocka_unit_test(a_list_of_machines_is_for_programs_too),
        cmocka_unit_test(options_are_listed_with_what_they_take),
        cmocka_unit_test(a_shown_machine_can_be_read_again),
        cmocka_unit_test(loads_on_liu2023_take_as_long_as_in_gpgpu_sim),
        cmocka_unit_test(mistakes_name_the_key_and_what_is_right),
        cmocka_unit_test(a_mistake_in_a_file_is_shown_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
