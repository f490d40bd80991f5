/* The registers that a thread needs at an instruction: in loops, with guards and with calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "exec/program/live.h"

static uint64_t no_symbols(void *user, const struct ptx_variable *variable) {
    (void)user, (void)variable;
    return 0;
}

struct linked {
    struct ptx_messages messages;
    struct ptx_module *module;
    struct exec_program *program;
};

static void open(struct linked *linked, const char *text) {
    *linked = (struct linked){.module = NULL};
    linked->module = ptx_parse("live.ptx", text, strlen(text), &linked->messages);
    if (!linked->module)
        fail_msg("%s", linked->messages.text);
    const struct ptx_function *kernel = linked->module->function[linked->module->n_functions - 1];
    linked->program = exec_link(linked->module, kernel, no_symbols, NULL, &linked->messages);
    if (!linked->program)
        fail_msg("%s", linked->messages.text);
}

static void close(struct linked *linked) {
    exec_program_free(linked->program);
    ptx_module_free(linked->module);
    ptx_messages_free(&linked->messages);
}

/* Expects this many predicates and registers of 32 and 64 bits at pc. */
static void expect(const struct linked *linked, uint32_t pc, uint32_t predicates, uint32_t words, uint32_t doubles) {
    const struct exec_live_at *at = &linked->program->live->at[pc];
    uint32_t n[3] = {at->end[PTX_WIDTH_PRED], (uint32_t)(at->end[PTX_WIDTH_32] - at->end[PTX_WIDTH_16]),
                     (uint32_t)(at->end[PTX_WIDTH_64] - at->end[PTX_WIDTH_32])};
    if (n[0] != predicates || n[1] != words || n[2] != doubles)
        fail_msg("pc %u: %u, %u, %u and not %u, %u, %u", pc, n[0], n[1], n[2], predicates, words, doubles);
}

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static const char loop_text[] = HEAD ".visible .entry loop(.param .u64 out)\n{\n"
                                     ".reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %d<2>;\n"
                                     "ld.param.u64 %d1, [out];\n"     /* 0 */
                                     "mov.u32 %r1, %tid.x;\n"         /* 1 */
                                     "mov.u32 %r2, 0;\n"              /* 2 */
                                     "LOOP: add.u32 %r2, %r2, %r1;\n" /* 3 */
                                     "setp.lt.u32 %p1, %r2, 100;\n"   /* 4 */
                                     "@%p1 bra LOOP;\n"               /* 5 */
                                     "mov.u32 %r3, 5;\n"              /* 6 */
                                     "@%p1 mov.u32 %r3, %r1;\n"       /* 7 */
                                     "st.global.u32 [%d1], %r3;\n"    /* 8 */
                                     "@%p1 exit;\n"                   /* 9 */
                                     "st.global.u32 [%d1+4], %r3;\n"  /* 10 */
                                     "ret;\n}\n";                     /* 11 */

static void registers_read_before_they_are_written_are_needed(void **state) {
    (void)state;
    struct linked linked;
    open(&linked, loop_text);
    expect(&linked, 1, 0, 0, 0);
    expect(&linked, 2, 0, 1, 0);
    expect(&linked, 3, 0, 2, 0); /* r1 and r2, round the loop */
    expect(&linked, 4, 0, 2, 0);
    expect(&linked, 5, 1, 2, 0);
    expect(&linked, 6, 1, 1, 0); /* r1 */
    expect(&linked, 7, 1, 2, 0); /* a write under a guard may leave r3 as it is */
    expect(&linked, 8, 1, 1, 0);
    expect(&linked, 9, 1, 1, 0);
    expect(&linked, 10, 0, 1, 0);
    expect(&linked, 11, 0, 0, 0);
    close(&linked);
}

/* d1 above stays at home: it is in no list, and its instructions have the flag. */
static void registers_that_loops_do_not_use_stay_at_home(void **state) {
    (void)state;
    struct linked linked;
    open(&linked, loop_text);
    const struct exec_insn *code = linked.program->code;
    for (uint32_t pc = 0; pc < linked.program->n_insns; pc++) {
        bool touches = pc == 0 || pc == 8 || pc == 10;
        assert_int_equal(code[pc].flags & EXEC_FLAG_AT_HOME, touches ? EXEC_FLAG_AT_HOME : 0);
    }
    const uint8_t *is_at_home = linked.program->live->is_at_home;
    assert_true(is_at_home[code[0].operand[0].offset / 4]);
    uint32_t n = 0;
    for (uint32_t i = 0; i <= linked.program->register_bytes / 4; i++)
        n += is_at_home[i];
    assert_int_equal(n, 1);
    close(&linked);
}

static const char carry_text[] = HEAD ".visible .entry wide(.param .u64 out)\n{\n"
                                      ".reg .b32 %r<5>; .reg .b64 %d<2>;\n"
                                      "ld.param.u64 %d1, [out];\n"
                                      "mov.u32 %r1, %tid.x;\n"
                                      "add.cc.u32 %r2, %r1, %r1;\n"
                                      "addc.u32 %r3, %r1, 0;\n" /* 3 */
                                      "st.global.u32 [%d1], %r3;\n"
                                      "ret;\n}\n";

static void the_carry_is_a_predicate(void **state) {
    (void)state;
    struct linked linked;
    open(&linked, carry_text);
    expect(&linked, 2, 0, 1, 1);
    expect(&linked, 3, 1, 1, 1);
    expect(&linked, 4, 0, 1, 1);
    close(&linked);
}

static const char table_text[] = HEAD ".visible .entry table(.param .u64 out)\n{\n"
                                      ".reg .b32 %r<5>; .reg .b64 %d<2>;\n"
                                      "ld.param.u64 %d1, [out];\n"
                                      "mov.u32 %r1, %tid.x;\n"
                                      "mov.u32 %r2, 7;\n"
                                      "ts: .branchtargets A, B;\n"
                                      "brx.idx %r1, ts;\n" /* 3 */
                                      "A: st.global.u32 [%d1], %r2;\n"
                                      "B: ret;\n}\n";

static void a_branch_needs_its_index_and_the_registers_of_all_targets(void **state) {
    (void)state;
    struct linked linked;
    open(&linked, table_text);
    expect(&linked, 3, 0, 2, 1);
    expect(&linked, 4, 0, 1, 1);
    expect(&linked, 5, 0, 0, 0);
    close(&linked);
}

static const char call_text[] = HEAD ".func (.reg .u32 %o) twice(.reg .u32 %i)\n{\n"
                                     "add.u32 %o, %i, %i;\nret;\n}\n"
                                     ".visible .entry calls(.param .u64 out)\n{\n"
                                     ".reg .b32 %r<3>; .reg .b64 %d<2>;\n"
                                     "ld.param.u64 %d1, [out];\n"
                                     "mov.u32 %r1, %tid.x;\n"
                                     "call (%r2), twice, (%r1);\n"
                                     "st.global.u32 [%d1], %r2;\n"
                                     "ret;\n}\n";

static void programs_with_calls_need_all_registers(void **state) {
    (void)state;
    struct linked linked;
    open(&linked, call_text);
    const struct exec_live *live = linked.program->live;
    for (uint32_t pc = 0; pc < linked.program->n_insns; pc++) {
        assert_memory_equal(&live->at[pc], &live->at[0], sizeof live->at[0]);
        assert_true(live->at[pc].end[PTX_WIDTH_64] - live->at[pc].end[PTX_WIDTH_32] == 1);
        assert_true(live->at[pc].end[PTX_WIDTH_32] - live->at[pc].end[PTX_WIDTH_16] >= 3); /* of both functions */
    }
    close(&linked);
}

/* --- registers that are zero when a block starts --- */

/* Returns whether a block clears this operand's register, all of it. */
static bool is_cleared(const struct linked *linked, uint32_t pc, unsigned operand) {
    static const uint32_t bytes[PTX_N_WIDTHS] = {4, 64, 128, 256};
    const struct exec_live *live = linked->program->live;
    struct exec_operand reg = linked->program->code[pc].operand[operand];
    for (uint32_t i = 0; i < live->n_cleared; i++)
        if (reg.offset >= live->cleared[i].offset &&
            reg.offset + bytes[reg.width] <= live->cleared[i].offset + live->cleared[i].n)
            return true;
    return false;
}

static const char unwritten_text[] = HEAD ".visible .entry unwritten(.param .u64 out)\n{\n"
                                          ".reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %d<3>;\n"
                                          "ld.param.u64 %d1, [out];\n"    /* 0 */
                                          "mov.u32 %r1, %tid.x;\n"        /* 1 */
                                          "setp.lt.u32 %p1, %r1, 7;\n"    /* 2 */
                                          "@%p1 mov.u32 %r2, 1;\n"        /* 3: r2 may stay as it was */
                                          "@%p2 add.u32 %r1, %r1, %r2;\n" /* 4: p2 is never written */
                                          "add.u64 %d2, %d1, 8;\n"        /* 5 */
                                          "st.global.u32 [%d2], %r1;\n"   /* 6 */
                                          "ret;\n}\n";

static void registers_that_a_thread_may_read_unwritten_are_cleared(void **state) {
    (void)state;
    struct linked linked;
    open(&linked, unwritten_text);
    assert_true(is_cleared(&linked, 3, 0));  /* r2 */
    assert_false(is_cleared(&linked, 0, 0)); /* d1, although it stays at home */
    assert_false(is_cleared(&linked, 1, 0)); /* r1 */
    assert_false(is_cleared(&linked, 2, 0)); /* p1 */
    assert_false(is_cleared(&linked, 5, 0)); /* d2 */
    struct exec_operand guard = linked.program->code[4].guard;
    linked.program->code[4].operand[0] = guard;
    assert_true(is_cleared(&linked, 4, 0)); /* p2 */
    close(&linked);
}

static const char shuffle_text[] = HEAD ".visible .entry shuffle(.param .u64 out)\n{\n"
                                        ".reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %d<2>;\n"
                                        "ld.param.u64 %d1, [out];\n"
                                        "mov.u32 %r1, %tid.x;\n"
                                        "setp.lt.u32 %p1, %r1, 7;\n"
                                        "@%p1 bra END;\n"
                                        "mov.u32 %r2, 5;\n"                                /* 4 */
                                        "shfl.sync.idx.b32 %r3, %r2, 0, 31, 0xffffffff;\n" /* 5: of a lane not here */
                                        "st.global.u32 [%d1], %r3;\n"
                                        "END: ret;\n}\n";

static void registers_that_other_lanes_may_read_are_cleared(void **state) {
    (void)state;
    struct linked linked;
    open(&linked, shuffle_text);
    assert_true(is_cleared(&linked, 4, 0));
    assert_false(is_cleared(&linked, 0, 0));
    close(&linked);
}

static void programs_with_calls_clear_all_registers(void **state) {
    (void)state;
    struct linked linked;
    open(&linked, call_text);
    assert_int_equal(linked.program->live->n_cleared, 1);
    assert_int_equal(linked.program->live->cleared[0].offset, 0);
    assert_int_equal(linked.program->live->cleared[0].n, linked.program->register_bytes);
    close(&linked);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_read_before_they_are_written_are_needed),
        cmocka_unit_test(registers_that_loops_do_not_use_stay_at_home),
        cmocka_unit_test(the_carry_is_a_predicate),
        cmocka_unit_test(a_branch_needs_its_index_and_the_registers_of_all_targets),
        cmocka_unit_test(programs_with_calls_need_all_registers),
        cmocka_unit_test(registers_that_a_thread_may_read_unwritten_are_cleared),
        cmocka_unit_test(registers_that_other_lanes_may_read_are_cleared),
        cmocka_unit_test(programs_with_calls_clear_all_registers),
    };
    return cmocka_run_group_tests_name("exec/live", tests, NULL, NULL);
}
