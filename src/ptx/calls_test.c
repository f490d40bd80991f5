/* Tests of the functions that cannot be compiled together with their callers. */
#include "ptx/fixture.h"

static bool is_open(const struct ptx_module *module, const char *name) {
    return ptx_find_function(module, name)->is_open;
}

static void functions_that_run_several_times_at_once_are_open(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(
        ".func ping();\n.func once() { ret; }\n.func pong() { call ping, (); ret; }\n"
        ".func ping() { call pong, (); ret; }\n.func itself();\n.func itself() { call itself, (); ret; }\n"
        ".entry k() { call ping, (); call once, (); call itself, (); ret; }\n");
    assert_true(is_open(module, "ping"));
    assert_true(is_open(module, "pong"));
    assert_true(is_open(module, "itself"));
    assert_false(is_open(module, "once"));
    assert_false(is_open(module, "k"));
    ptx_module_free(module);
}

static void functions_behind_pointers_and_what_they_call_are_open(void **state) {
    (void)state;
    struct ptx_module *module = fixture_module(
        ".func deepest() { ret; }\n.func called() { call deepest, (); ret; }\n"
        ".func pointed() { call called, (); ret; }\n.func other() { ret; }\n.global .u64 table = pointed;\n"
        ".entry k() { call other, (); ret; }\n");
    assert_true(is_open(module, "pointed"));
    assert_true(is_open(module, "called"));
    assert_true(is_open(module, "deepest"));
    assert_false(is_open(module, "other"));
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_that_run_several_times_at_once_are_open),
        cmocka_unit_test(functions_behind_pointers_and_what_they_call_are_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
