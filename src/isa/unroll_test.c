/* Tests of unrolled loops: the bodies, their registers, and that they compute the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/internal.h"

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"                              \
    ".reg .b32 %r<32>;\n.reg .f32 %f<32>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n"

static struct ptx_module *module;
static struct ptx_function *function;

static void unroll(const char *body) {
    static char text[4096];
    struct ptx_messages messages = {0};
    int length = snprintf(text, sizeof text, "%s%sret;\n}\n", HEAD, body);
    module = ptx_parse("test", text, (size_t)length, &messages);
    if (!module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    function = ptx_find_function(module, "k");
    isa_unroll(isa_find_target("sm_90"), function, module->arena);
}

static unsigned count(enum ptx_opcode opcode) {
    unsigned n = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        n += function->instruction[i].opcode == opcode;
    return n;
}

/* ---- A small interpreter ----------------------------------------------------------------------------------------- */

/* Of the loops below, those that end within 2^31 steps end within 1000. */
enum { MOST_STEPS = 1 << 12 };

static uint64_t value_of(const struct ptx_operand *operand, const uint64_t *reg) {
    return operand->kind == PTX_OPERAND_INTEGER ? operand->value : reg[operand->register_id];
}

static bool compare(const struct ptx_instruction *insn, uint64_t a, uint64_t b) {
    int64_t x, y;
    if (ptx_type_bits(insn->type[0]) == 32 && ptx_type_kind(insn->type[0]) == PTX_KIND_S) {
        x = (int32_t)a, y = (int32_t)b;
    } else if (ptx_type_bits(insn->type[0]) == 32) {
        x = (uint32_t)a, y = (uint32_t)b;
    } else {
        x = (int64_t)a, y = (int64_t)b;
    }
    return ptx_has(insn, PTX_MOD_NE)   ? x != y
           : ptx_has(insn, PTX_MOD_LT) ? x < y
           : ptx_has(insn, PTX_MOD_LE) ? x <= y
           : ptx_has(insn, PTX_MOD_GT) ? x > y
           : ptx_has(insn, PTX_MOD_GE) ? x >= y
                                       : x == y;
}

/* Executes integers; a load's value is its address. Returns %r1, with the steps in `n_steps`. */
static uint32_t run(uint32_t start, uint32_t bound, unsigned *n_steps) {
    uint64_t *reg = calloc(function->n_registers + 1, sizeof *reg);
    assert_non_null(reg);
    unsigned steps = 0;
    for (uint32_t r = 0; r < function->n_registers; r++)
        reg[r] = strcmp(function->reg[r].name, "%r2") == 0   ? start
                 : strcmp(function->reg[r].name, "%r3") == 0 ? bound
                                                             : 0;
    for (uint32_t pc = 0; pc < function->n_instructions && steps < MOST_STEPS; steps++) {
        const struct ptx_instruction *insn = &function->instruction[pc++];
        if (insn->guard != PTX_NO_INDEX && (reg[insn->guard] != 0) == insn->guard_negated)
            continue;
        uint64_t a = insn->n_operands > 1 ? value_of(&insn->operand[1], reg) : 0;
        uint64_t b = insn->n_operands > 2 ? value_of(&insn->operand[2], reg) : 0, result = 0;
        bool is_signed = insn->n_types && ptx_type_kind(insn->type[0]) == PTX_KIND_S;
        bool is_less = is_signed ? (int32_t)a < (int32_t)b : (uint32_t)a < (uint32_t)b;
        switch (insn->opcode) {
        case PTX_OP_BRA:
            pc = insn->operand[0].target;
            continue;
        case PTX_OP_SETP:
            reg[insn->operand[0].register_id] = compare(insn, a, b);
            continue;
        case PTX_OP_LD:
            result = reg[insn->operand[1].register_id] + (uint64_t)insn->operand[1].offset;
            break;
        case PTX_OP_ADD:
            result = a + b;
            break;
        case PTX_OP_SUB:
            result = a - b;
            break;
        case PTX_OP_MUL:
            result = a * b;
            break;
        case PTX_OP_MAX:
            result = is_less ? b : a;
            break;
        case PTX_OP_MIN:
            result = is_less ? a : b;
            break;
        case PTX_OP_MOV:
            result = a;
            break;
        case PTX_OP_OR:
            result = a | b;
            break;
        case PTX_OP_AND:
            result = a & b;
            break;
        case PTX_OP_NOT: /* of predicates */
            result = !a;
            break;
        case PTX_OP_RET:
            pc = function->n_instructions;
            continue;
        default:
            fail_msg("%.*s is not known here", (int)insn->text_length, insn->text);
        }
        if (insn->opcode != PTX_OP_LD && ptx_type_bits(insn->type[0]) == 32)
            result = (uint32_t)result;
        reg[insn->operand[0].register_id] = result;
    }
    uint32_t answer = 0;
    for (uint32_t r = 0; r < function->n_registers && !answer; r++)
        if (strcmp(function->reg[r].name, "%r1") == 0)
            answer = (uint32_t)reg[r];
    *n_steps = steps;
    free(reg);
    return answer;
}

/* Runs the loop as it is and unrolled, for several starts and bounds; returns the loads of the bodies. */
static unsigned same_as_before(const char *body) {
    static const uint32_t numbers[] = {0, 1,   2,          3,          4,          5,          7,          8,
                                       9, 100, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0, 0xffffffff};
    enum { N = sizeof numbers / sizeof *numbers };
    static uint32_t before[N][N];
    static bool ends[N][N];
    char kept[4096];
    unsigned steps, n_loads;
    snprintf(kept, sizeof kept, "%s", body);
    char *loop = strstr(kept, "LOOP:\n") + strlen("LOOP:\n");
    char rest[4096];
    snprintf(rest, sizeof rest, "%s", loop);
    snprintf(loop, sizeof kept - (size_t)(loop - kept), ".pragma \"nounroll\";\n%s", rest);
    unroll(kept);
    for (unsigned i = 0; i < N; i++)
        for (unsigned k = 0; k < N; k++) {
            before[i][k] = run(numbers[i], numbers[k], &steps);
            ends[i][k] = steps < MOST_STEPS;
        }
    ptx_module_free(module);
    unroll(body);
    n_loads = count(PTX_OP_LD);
    for (unsigned i = 0; i < N; i++)
        for (unsigned k = 0; k < N; k++) {
            uint32_t now = run(numbers[i], numbers[k], &steps);
            assert_int_equal(steps < MOST_STEPS, ends[i][k]);
            if (ends[i][k] && now != before[i][k])
                fail_msg("%sfrom %x to %x: %x, expected %x", body, numbers[i], numbers[k], now, before[i][k]);
        }
    ptx_module_free(module);
    return n_loads;
}

#define LOOP(step, comparison)                                                                                         \
    "mov.u64 %rd0, 0;\nmov.u32 %r1, 0;\nLOOP:\nld.global.u32 %r4, [%rd0];\nmul.lo.u32 %r5, %r4, %r2;\n"                \
    "add.u32 %r1, %r1, %r5;\nadd.s64 %rd0, %rd0, 4;\n" step "\n" comparison "\n@%p1 bra LOOP;\n"

static void unrolled_loops_compute_the_same(void **state) {
    (void)state;
    assert_int_equal(same_as_before(LOOP("add.s32 %r2, %r2, 1;", "setp.lt.s32 %p1, %r2, %r3;")), 7);
    assert_int_equal(same_as_before(LOOP("add.s32 %r2, %r2, 1;", "setp.ne.s32 %p1, %r2, %r3;")), 7);
    assert_int_equal(same_as_before(LOOP("add.s32 %r2, %r2, 3;", "setp.le.s32 %p1, %r2, %r3;")), 7);
    assert_int_equal(same_as_before(LOOP("add.s32 %r2, %r2, 3;", "setp.lt.u32 %p1, %r2, %r3;")), 7);
    assert_int_equal(same_as_before(LOOP("add.s32 %r2, %r2, -1;", "setp.ne.s32 %p1, %r2, 0;")), 7);
    assert_int_equal(same_as_before(LOOP("add.s32 %r2, %r2, -2;", "setp.gt.s32 %p1, %r2, %r3;")), 7);
    assert_int_equal(same_as_before(LOOP("add.s32 %r2, %r2, -2;", "setp.ge.u32 %p1, %r2, %r3;")), 7);
    assert_int_equal(same_as_before(LOOP("add.s32 %r2, %r2, 1;", "setp.ne.s32 %p1, %r2, 0;")), 7);
    assert_int_equal(same_as_before(LOOP("add.s32 %r2, %r2, -4;", "setp.ne.s32 %p1, %r2, -1;")), 7);
    assert_int_equal(
        same_as_before(LOOP("add.s32 %r2, %r2, 1;", "setp.lt.s32 %p1, %r2, %r3;") "add.u32 %r1, %r1, %r5;\n"), 7);
}

/* Lanes that skip the four bodies wait for the others before the two, and again before the last. */
static void what_remains_is_two_bodies_and_one(void **state) {
    (void)state;
    unroll(LOOP("add.s32 %r2, %r2, 1;", "setp.lt.s32 %p1, %r2, %r3;"));
    struct ptx_analysis *analysis = ptx_analyze_flow(function);
    struct isa_code code = isa_estimate(isa_find_target("sm_90"), analysis);
    uint32_t loads[8] = {0}, n_loads = 0, n_branches = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct ptx_instruction *insn = &function->instruction[i];
        if (insn->opcode == PTX_OP_BRA) {
            n_branches++;
            assert_false(code.insn[i].is_predicated);
            if (insn->operand[0].target > i && n_branches < 4) /* round four bodies, and round two */
                assert_int_equal(analysis->reconvergence[i], insn->operand[0].target);
        } else if (insn->opcode == PTX_OP_LD && n_loads < 8) {
            loads[n_loads++] = analysis->block_of[i];
        }
    }
    assert_int_equal(n_branches, 5);
    assert_int_equal(n_loads, 7);
    assert_true(loads[0] == loads[3] && loads[3] < loads[4] && loads[4] == loads[5] && loads[5] < loads[6]);
    isa_code_free(&code);
    ptx_analysis_free(analysis);
    ptx_module_free(module);
}

static void constant_loops_disappear(void **state) {
    (void)state;
    unroll("mov.u32 %r2, 0;\n" LOOP("add.s32 %r2, %r2, 1;", "setp.lt.s32 %p1, %r2, 10;"));
    assert_int_equal(count(PTX_OP_LD), 10);
    assert_int_equal(count(PTX_OP_BRA), 0);
    ptx_module_free(module);
}

/* A second condition ends each body. With iterations known at run time only, ptxas 13.0 leaves the loop. */
static void a_second_condition_leaves_between_bodies(void **state) {
    (void)state;
#define BOTH(bound)                                                                                                    \
    "mov.u32 %r7, 0;\nmov.u32 %r6, %r7;\n" LOOP("add.s32 %r6, %r6, 1;\nadd.u32 %r2, %r2, 1;",                          \
                                                "setp.lt.s32 %p2, %r6, " bound                                         \
                                                ";\nsetp.lt.u32 %p3, %r2, %r3;\nand.pred %p1, %p3, %p2;")
    assert_int_equal(same_as_before(BOTH("6")), 6);
    assert_int_equal(same_as_before(BOTH("%r5")), 1);
    assert_int_equal(same_as_before(BOTH("1000")), 1);                         /* nor is it unrolled in part */
    assert_int_equal(same_as_before(BOTH("6") "add.u32 %r1, %r1, %r6;\n"), 1); /* the counter is read after the loop */
}

static void loads_of_bodies_have_registers_and_offsets_of_their_own(void **state) {
    (void)state;
    unroll(LOOP("add.s32 %r2, %r2, 1;", "setp.lt.s32 %p1, %r2, %r3;"));
    uint32_t seen[8], n = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct ptx_instruction *insn = &function->instruction[i];
        if (insn->opcode != PTX_OP_LD)
            continue;
        assert_int_equal(insn->operand[1].offset, n < 4 ? 4 * n : n < 6 ? 4 * (n - 4) : 0);
        for (uint32_t k = 0; k < n; k++)
            assert_int_not_equal(seen[k], insn->operand[0].register_id);
        seen[n++] = insn->operand[0].register_id;
    }
    ptx_module_free(module);
}

/* Sums with %rd2, which does not change: of %rd0 before its step and after it, and of another such sum. */
#define LOOP_OF_ADDRESSES                                                                                              \
    "mov.u64 %rd0, 0;\nmov.u64 %rd2, 1000;\nmov.u32 %r1, 0;\nLOOP:\nadd.s64 %rd1, %rd0, %rd2;\n"                       \
    "ld.global.u32 %r4, [%rd1];\nadd.s64 %rd0, %rd0, 4;\nadd.s64 %rd3, %rd1, %rd2;\nadd.s64 %rd4, %rd2, %rd0;\n"       \
    "ld.global.u32 %r5, [%rd3+8];\nld.global.u32 %r6, [%rd4];\nmul.lo.u32 %r5, %r5, %r2;\nadd.u32 %r1, %r1, %r4;\n"    \
    "add.u32 %r1, %r1, %r5;\nmul.lo.u32 %r6, %r6, %r2;\nadd.u32 %r1, %r1, %r6;\nadd.s32 %r2, %r2, 1;\n"                \
    "setp.lt.s32 %p1, %r2, %r3;\n@%p1 bra LOOP;\n"

static void bodies_share_addresses_that_move_on(void **state) {
    (void)state;
    assert_int_equal(same_as_before(LOOP_OF_ADDRESSES), 21);
    unroll(LOOP_OF_ADDRESSES);
    unsigned n_wide = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        n_wide += function->instruction[i].opcode == PTX_OP_ADD && function->instruction[i].type[0] == PTX_S64;
    assert_int_equal(n_wide, 12); /* three sums and a step in both stages, and in the loop that remains */
    ptx_module_free(module);
    unroll(LOOP_OF_ADDRESSES "mov.u64 %rd5, %rd1;\n"); /* read after the loop */
    n_wide = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        n_wide += function->instruction[i].opcode == PTX_OP_ADD && function->instruction[i].type[0] == PTX_S64;
    assert_in_range(n_wide, 22, 36);
    ptx_module_free(module);
}

/* %r4 and %rd0 are read after the exit: they keep their names in all bodies. */
#define LOOP_WITH_EXIT(bound)                                                                                          \
    "mov.u64 %rd0, 0;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nLOOP:\nld.global.u32 %r4, [%rd0];\n"                          \
    "setp.eq.s32 %p2, %r4, 20;\n@%p2 bra OUT;\nadd.s64 %rd0, %rd0, 4;\nadd.s32 %r2, %r2, 1;\n"                         \
    "setp.lt.s32 %p1, %r2, " bound ";\n@%p1 bra LOOP;\nmov.u32 %r1, 7;\nret;\nOUT:\nadd.u32 %r1, %r4, 1;\n"

static void what_leaves_the_loop_early_finds_its_registers(void **state) {
    (void)state;
    unsigned steps;
    unroll(LOOP_WITH_EXIT("6"));
    assert_int_equal(count(PTX_OP_LD), 6);
    assert_int_equal(run(0, 0, &steps), 21);
    ptx_module_free(module);
    unroll(LOOP_WITH_EXIT("5"));
    assert_int_equal(count(PTX_OP_LD), 5);
    assert_int_equal(run(0, 0, &steps), 7);
    ptx_module_free(module);
    unroll(LOOP_WITH_EXIT("%r3")); /* known only at run time */
    assert_int_equal(count(PTX_OP_LD), 1);
    assert_int_equal(run(0, 100, &steps), 21);
    ptx_module_free(module);
}

static unsigned loads_of_loop(const char *body, const char *end) {
    static char text[1024];
    snprintf(text, sizeof text,
             "mov.u32 %%r2, %%tid.x;\nLOOP:\nld.global.u32 %%r4, [%%rd0];\n%s\n"
             "add.s32 %%r2, %%r2, 1;\nsetp.lt.s32 %%p1, %%r2, %s;\n@%%p1 bra LOOP;\n",
             body, end);
    unroll(text);
    unsigned n = count(PTX_OP_LD);
    ptx_module_free(module);
    return n;
}

/* The threads of a warp need different numbers of iterations. */
static void loops_with_effects_of_some_threads_stay(void **state) {
    (void)state;
    assert_int_equal(loads_of_loop("st.global.u32 [%rd0+64], %r4;", "%r3"), 7);
    assert_int_equal(loads_of_loop("setp.gt.s32 %p2, %r4, 3;\n@%p2 st.global.u32 [%rd0+64], %r4;", "%r3"), 1);
    assert_int_equal(
        loads_of_loop("setp.gt.s32 %p2, %r4, 3;\n@%p2 bra NEXT;\nst.global.u32 [%rd0+64], %r4;\nNEXT:", "%r3"), 1);
    assert_int_equal(loads_of_loop("red.global.add.u32 [%rd0+64], %r4;", "%r3"), 1);
    assert_int_equal(loads_of_loop("setp.gt.s32 %p2, %r4, 3;\n@%p2 bar.sync 0;", "%r3"), 1);
}

static void loops_that_call_functions_for_rare_operands_stay(void **state) {
    (void)state;
    assert_int_equal(loads_of_loop("mov.b32 %f1, %r4;\ndiv.approx.f32 %f2, %f1, %f1;", "%r3"), 7);
    assert_int_equal(loads_of_loop("mov.b32 %f1, %r4;\ndiv.rn.f32 %f2, %f1, %f1;", "%r3"), 1);
    assert_int_equal(loads_of_loop("mov.b32 %f1, %r4;\nsqrt.rn.f32 %f2, %f1;", "%r3"), 1);
}

static void the_pragma_keeps_a_loop(void **state) {
    (void)state;
    unroll("LOOP:\n.pragma \"nounroll\";\nld.global.u32 %r4, [%rd0];\nadd.u32 %r1, %r1, %r4;\nadd.s32 %r2, %r2, 1;\n"
           "setp.lt.s32 %p1, %r2, %r3;\n@%p1 bra LOOP;\n");
    assert_int_equal(count(PTX_OP_LD), 1);
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unrolled_loops_compute_the_same),
        cmocka_unit_test(what_remains_is_two_bodies_and_one),
        cmocka_unit_test(constant_loops_disappear),
        cmocka_unit_test(a_second_condition_leaves_between_bodies),
        cmocka_unit_test(loads_of_bodies_have_registers_and_offsets_of_their_own),
        cmocka_unit_test(bodies_share_addresses_that_move_on),
        cmocka_unit_test(what_leaves_the_loop_early_finds_its_registers),
        cmocka_unit_test(loops_with_effects_of_some_threads_stay),
        cmocka_unit_test(loops_that_call_functions_for_rare_operands_stay),
        cmocka_unit_test(the_pragma_keeps_a_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
