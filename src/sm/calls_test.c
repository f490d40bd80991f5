/* When calls of printf, malloc and free are served. */
#include "sm/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct config_calls config = {
    .is_present = true, .print = {100, 3, 40}, .allocate = {50, 20, 10}, .release = {30, 0, 20}};

/* A program that calls functions of these names, one after the other. */
static uint64_t serve(struct sm_calls *calls, const char *name, uint32_t n_lanes, uint64_t cycle) {
    struct ptx_function function = {.name = name};
    struct ptx_call call = {.target = {.kind = PTX_OPERAND_FUNCTION, .function = &function}};
    const struct ptx_instruction source = {.call = &call};
    struct exec_call_site site = {.insn = &source};
    const struct exec_program program = {.call_site = &site, .n_call_sites = 1};
    const struct exec_insn insn = {.kind = EXEC_KIND_CALL_BUILTIN};
    return sm_calls_serve(calls, &config, &program, &insn, n_lanes, cycle);
}

static void a_call_takes_its_cycles_and_more_for_each_further_thread(void **state) {
    (void)state;
    struct sm_calls calls = {{0}};
    assert_int_equal(serve(&calls, "vprintf", 1, 1000), 1100);
    assert_int_equal(serve(&calls, "malloc", 32, 1000), 1000 + 50 + 31 * 20);
    assert_int_equal(serve(&calls, "free", 32, 1000), 1030);
}

static void calls_of_one_function_wait_for_each_other(void **state) {
    (void)state;
    struct sm_calls calls = {{0}};
    assert_int_equal(serve(&calls, "vprintf", 1, 1000), 1100);
    assert_int_equal(serve(&calls, "vprintf", 1, 1000), 1140);
    assert_int_equal(serve(&calls, "vprintf", 1, 1079), 1180);
    assert_int_equal(serve(&calls, "vprintf", 1, 1500), 1600);
    assert_int_equal(serve(&calls, "malloc", 1, 1500), 1550);
}

static void other_functions_and_calls_of_no_thread_take_no_time(void **state) {
    (void)state;
    struct sm_calls calls = {{0}};
    assert_int_equal(serve(&calls, "__assertfail", 1, 1000), 1000);
    assert_int_equal(serve(&calls, "free", 0, 1000), 1000);
    assert_int_equal(serve(&calls, "free", 1, 1000), 1030);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_takes_its_cycles_and_more_for_each_further_thread),
        cmocka_unit_test(calls_of_one_function_wait_for_each_other),
        cmocka_unit_test(other_functions_and_calls_of_no_thread_take_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
