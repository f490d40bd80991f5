/* The choice of a level. */
#define _POSIX_C_SOURCE 200809L
#include "exec/exec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static exec_lanes_fn *select_add(void) {
    struct ptx_instruction insn = {.opcode = PTX_OP_ADD, .n_types = 1, .type = {PTX_F32}};
    struct exec_form form = {.insn = &insn, .n_dst = 1, .n_src = 2, .dst_bits = {32}, .src_bits = {32, 32}};
    return exec_level_table()->single(&form);
}

static void the_environment_overrides_the_hosts_best_level(void **state) {
    (void)state;
    unsetenv("HEDDLE_HOST_LEVEL");
    exec_lanes_fn *best = select_add();
    setenv("HEDDLE_HOST_LEVEL", "base", 1);
    exec_lanes_fn *base = select_add();
    assert_non_null(best);
    assert_non_null(base);
#if defined(__x86_64__) && !defined(EXEC_BASE_ONLY)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        assert_true(best != base);
#endif
    unsetenv("HEDDLE_HOST_LEVEL");
    assert_true(select_add() == best);
}

static void an_empty_override_is_none(void **state) {
    (void)state;
    unsetenv("HEDDLE_HOST_LEVEL");
    const struct exec_lanes_table *best = exec_level_table();
    setenv("HEDDLE_HOST_LEVEL", "", 1);
    assert_ptr_equal(exec_level_table(), best);
    unsetenv("HEDDLE_HOST_LEVEL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_overrides_the_hosts_best_level),
        cmocka_unit_test(an_empty_override_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
