/* `heddle ptx` on small files: exit statuses, and the contents of the JSON. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

static const char loop_text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                ".const .b32 table[4];\n"
                                ".extern .shared .align 4 .b8 dynamic[];\n"
                                ".entry other() { ret; }\n"
                                ".entry looping(.param .u32 n, .param .u64 out)\n{\n" /* line 7 */
                                ".reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %d<2>;\n"
                                ".local .b32 scratch[2];\n"
                                "mov.u32 %r0, 0;\n" /* line 11 */
                                "ld.param.u32 %r1, [n];\n"
                                "AGAIN:\n"
                                "add.u32 %r0, %r0, 1;\n"
                                "setp.lt.u32 %p0, %r0, %r1;\n"
                                "@%p0 bra AGAIN;\n" /* line 16 */
                                "mov.u32 %r2, %tid.x;\n"
                                "setp.eq.u32 %p1, %r2, 0;\n"
                                "@%p1 bra END;\n" /* line 19 */
                                "st.shared.u32 [dynamic], %r0;\n"
                                "END:\n"
                                "ret;\n}\n"; /* line 22 */

/* Writes a temporary file; the caller unlinks it. */
static void write_temporary(char *path, const char *text) {
    strcpy(path, "/tmp/heddle-ptx-XXXXXX");
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_true(write(descriptor, text, strlen(text)) == (ssize_t)strlen(text));
    close(descriptor);
}

/* Runs `heddle ptx FILE WORDS...`, with its JSON if json is not NULL. Returns the exit status. */
static int run_ptx(const char *text, const char *word, const char *word_value, json_t **json) {
    char path[64], output[64];
    write_temporary(path, text);
    write_temporary(output, "");
    char *argv[] = {"ptx", path, "--json", output, (char *)word, (char *)word_value, NULL};
    int status = cli_ptx(word ? 6 : 4, argv);
    if (json)
        *json = json_load_file(output, 0, NULL);
    unlink(path);
    unlink(output);
    return status;
}

static long long number(json_t *object, const char *key) { return json_integer_value(json_object_get(object, key)); }

static void a_kernel_is_described_in_json(void **state) {
    (void)state;
    json_t *json;
    assert_int_equal(run_ptx(loop_text, "--kernel", "looping", &json), COMMAND_DONE);
    assert_non_null(json);
    assert_int_equal(number(json, "constant_bytes"), 16);
    json_t *functions = json_object_get(json, "functions");
    assert_int_equal(json_array_size(functions), 1);
    json_t *kernel = json_array_get(functions, 0);
    assert_string_equal(json_string_value(json_object_get(kernel, "name")), "looping");
    assert_int_equal(number(kernel, "registers"), 2);
    assert_int_equal(number(kernel, "local_bytes"), 8);
    assert_int_equal(number(kernel, "parameter_bytes"), 16);
    assert_true(json_is_true(json_object_get(kernel, "dynamic_shared")));
    assert_int_equal(number(json_array_get(json_object_get(kernel, "parameters"), 1), "offset"), 8);
    assert_int_equal(number(json_object_get(kernel, "classes"), "control"), 3);
    assert_int_equal(json_array_size(json_object_get(kernel, "blocks")), 5);
    json_t *loop = json_array_get(json_object_get(kernel, "loops"), 0);
    assert_int_equal(number(loop, "line"), 14);
    json_t *branches = json_object_get(kernel, "branches");
    assert_int_equal(json_array_size(branches), 2);
    assert_true(json_is_true(json_object_get(json_array_get(branches, 0), "uniform")));
    assert_int_equal(number(json_array_get(branches, 1), "line"), 19);
    assert_int_equal(number(json_array_get(branches, 1), "reconvergence_line"), 22);
    assert_true(json_is_false(json_object_get(json_array_get(branches, 1), "uniform")));
    json_decref(json);
}

static void every_kernel_is_described_unless_one_is_named(void **state) {
    (void)state;
    json_t *json;
    assert_int_equal(run_ptx(loop_text, NULL, NULL, &json), COMMAND_DONE);
    assert_int_equal(json_array_size(json_object_get(json, "functions")), 2);
    json_decref(json);
    assert_int_equal(run_ptx(loop_text, "--kernel", "loping", NULL), COMMAND_USAGE);
}

static void wrong_text_is_an_error(void **state) {
    (void)state;
    assert_int_equal(run_ptx(".version 7.0\n.target sm_70\n.entry k() { add.u32 1; }\n", NULL, NULL, NULL),
                     COMMAND_ERROR);
}

static void unsupported_instructions_are_counted_and_named(void **state) {
    (void)state;
    json_t *json;
    const char *text =
        ".version 7.8\n.target sm_90\n.address_size 64\n.entry k()\n{\ntcgen05.fence::before_thread_sync;\nret;\n}\n";
    assert_int_equal(run_ptx(text, NULL, NULL, &json), COMMAND_ERROR);
    assert_int_equal(number(json, "n_unsupported"), 1);
    assert_non_null(
        strstr(json_string_value(json_object_get(json, "unsupported")), "tcgen05.fence::before_thread_sync"));
    json_t *kernel = json_array_get(json_object_get(json, "functions"), 0);
    assert_true(json_is_null(json_object_get(kernel, "shared_bytes")));
    json_decref(json);
}

static void machine_instructions_are_those_of_a_target(void **state) {
    (void)state;
    assert_int_equal(run_ptx(loop_text, "--target", "sm_80", NULL), COMMAND_DONE);
    assert_int_equal(run_ptx(loop_text, "--target", "sm_89", NULL), COMMAND_DONE);
    assert_int_equal(run_ptx(loop_text, "--target", "sm_90", NULL), COMMAND_DONE);
    assert_int_equal(run_ptx(loop_text, "--target", "sm_52", NULL), COMMAND_USAGE);
}

static void the_command_wants_one_file(void **state) {
    (void)state;
    char *none[] = {"ptx", NULL}, *two[] = {"ptx", "a.ptx", "b.ptx", NULL};
    char *both[] = {"ptx", "a.ptx", "--json", "-", "--dot", "-", NULL};
    char *missing[] = {"ptx", "/nowhere/a.ptx", NULL};
    assert_int_equal(cli_ptx(1, none), COMMAND_USAGE);
    assert_int_equal(cli_ptx(3, two), COMMAND_USAGE);
    assert_int_equal(cli_ptx(6, both), COMMAND_USAGE);
    assert_int_equal(cli_ptx(2, missing), COMMAND_ERROR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_described_in_json),
        cmocka_unit_test(every_kernel_is_described_unless_one_is_named),
        cmocka_unit_test(wrong_text_is_an_error),
        cmocka_unit_test(unsupported_instructions_are_counted_and_named),
        cmocka_unit_test(machine_instructions_are_those_of_a_target),
        cmocka_unit_test(the_command_wants_one_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
