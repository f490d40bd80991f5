/* The cost of instructions, and the registers they wait for. */
#include "sm/timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<5>; .reg .f32 %f<4>; .reg .f64 %g<3>; .reg .b64 %d<3>; .reg .pred %q<2>; .shared .b32 s[32];\n"
    "ld.param.u64 %d1, [p];\n"             /* 0 */
    "ld.global.u32 %r1, [%d1];\n"          /* 1 */
    "@%q1 add.u32 %r2, %r1, %r1;\n"        /* 2 */
    "fma.rn.f32 %f1, %f2, %f2, %f3;\n"     /* 3 */
    "add.f64 %g1, %g2, %g2;\n"             /* 4 */
    "sin.approx.f32 %f1, %f2;\n"           /* 5 */
    "div.u32 %r3, %r1, %r2;\n"             /* 6 */
    "st.shared.u32 [s], %r3;\n"            /* 7 */
    "atom.global.add.u32 %r4, [%d1], 1;\n" /* 8 */
    "membar.gl;\n"                         /* 9 */
    "bar.sync 0;\n"                        /* 10 */
    "ret;\n}\n";

static const char extensions[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                                 ".reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %q<2>; .shared .b32 s[32];\n"
                                 "cond_acc.shared.b32 %r1, [s], %q1, %r2;\n"  /* 0 */
                                 "cond_acc.global.b8 %r1, [%d1], %q1, %r2;\n" /* 1 */
                                 "tree_traverse.u64 %d1, %d2, %q1, 128;\n"    /* 2 */
                                 "progress.u32 %r1;\n"                        /* 3 */
                                 "ld.global.heddle::row.u32 %r1, [%d1];\n"    /* 4 */
                                 "ld.global.u32 %r1, [%d1];\n"                /* 5 */
                                 "ret;\n}\n";

static const char multiplications[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b16 %h<3>; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .f64 %g<3>; .reg .b64 %d<3>; .reg .pred %q<2>;\n"
    "mul.lo.u32 %r1, %r2, %r3;\n"        /* 0 */
    "mad.wide.u32 %d1, %r2, %r3, %d2;\n" /* 1 */
    "shl.b32 %r1, %r2, 3;\n"             /* 2 */
    "bfe.u32 %r1, %r2, 3, 4;\n"          /* 3 */
    "popc.b32 %r1, %r2;\n"               /* 4 */
    "cvt.rn.f32.u32 %f1, %r1;\n"         /* 5 */
    "cvt.u32.u16 %r1, %h1;\n"            /* 6 */
    "mul.rn.f32 %f1, %f2, %f3;\n"        /* 7 */
    "cvt.u64.u32 %d1, %r1;\n"            /* 8 */
    "add.u32 %r1, %r2, %r3;\n"           /* 9 */
    "setp.hi.u32 %q1, %r2, %r3;\n"       /* 10: higher, not the upper half of a product */
    "cvt.f64.f32 %g1, %f1;\n"            /* 11 */
    "mov.f32 %f1, %f2;\n"                /* 12 */
    "ret;\n}\n";

static const char matrices[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<20>; .reg .f64 %g<20>; .reg .b64 %d<3>; .shared .b32 s[32];\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, "
    "{%r10, %r11, %r12, %r13};\n" /* 0 */
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, "
    "{%r10, %r11, %r12, %r13};\n"                                                             /* 1 */
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g0, %g1}, {%g2}, {%g3}, {%g4, %g5};\n" /* 2 */
    "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r0, %r1}, {%r2, %r3}, {%r4, %r5}, {%r6, %r7}, %r8, "
    "0;\n"                                                        /* 3 */
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [s];\n" /* 4 */
    "stmatrix.sync.aligned.m8n8.x2.b16 [%d1], {%r0, %r1};\n"      /* 5 */
    "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;\n"           /* 6 */
    "ret;\n}\n";

/* The loads before the barrier bypass the L1. */
static const char loads[] = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                            ".reg .b32 %r<5>; .reg .b64 %d<3>; .shared .align 16 .b32 s[32];\n"
                            "ld.global.cg.u32 %r1, [%d1];\n"
                            "ld.global.cv.u32 %r1, [%d1];\n"
                            "ld.volatile.global.u32 %r1, [%d1];\n"
                            "ld.relaxed.gpu.global.u32 %r1, [%d1];\n"
                            "ld.acquire.sys.u32 %r1, [%d1];\n"
                            "ld.global.lu.u32 %r1, [%d1];\n"
                            "ld.global.L1::no_allocate.u32 %r1, [%d1];\n"
                            "cp.async.cg.shared.global [s], [%d1], 16;\n"
                            "bar.sync 0;\n"
                            "ld.global.u32 %r1, [%d1];\n"
                            "ld.global.ca.u32 %r1, [%d1];\n"
                            "ld.global.cs.u32 %r1, [%d1];\n"
                            "ld.global.nc.L1::evict_first.u32 %r1, [%d1];\n"
                            "ld.relaxed.cta.global.u32 %r1, [%d1];\n"
                            "cp.async.ca.shared.global [s], [%d1], 4;\n"
                            "st.global.cg.u32 [%d1], %r1;\n"
                            "ret;\n}\n";

static uint64_t no_symbols(void *user, const struct ptx_variable *variable) {
    (void)user;
    (void)variable;
    return 0;
}

/* A kernel and its costs. */
struct costs {
    struct ptx_module *module;
    struct exec_program *exec;
    struct sm_program *program;
};

/* `more` ends with NULL. */
static struct costs costs_on(const char *const *more, const char *ptx) {
    static struct config_machine machine;
    char error[CONFIG_ERROR_BYTES];
    config_defaults(&machine);
    static const char *const settings[] = {
        "sm.alu_cycles=9", "sm.fp32_cycles=11", "sm.fp64_cycles=13",   "sm.sfu_cycles=17",   "sm.simd_width=32",
        "sm.sfu_width=8",  "sm.fp64_width=16",  "sm.register_banks=0", "sm.prefix_cycles=3", "sm.multiply_width=16",
        "matrix.rate=64",  "matrix.latency=20", "shared.latency=13",   "l1.bypass=true"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_true(config_set(&machine, settings[i], error, sizeof error));
    for (; *more; more++)
        assert_true(config_set(&machine, *more, error, sizeof error));
    struct ptx_messages messages = {0};
    struct costs costs;
    costs.module = ptx_parse("k.ptx", ptx, strlen(ptx), &messages);
    assert_non_null(costs.module);
    costs.exec = exec_link(costs.module, costs.module->function[0], no_symbols, NULL, &messages);
    assert_non_null(costs.exec);
    costs.program = sm_program_new(costs.exec, &machine);
    return costs;
}

static struct costs costs_of(const char *ptx) {
    static const char *const none[] = {NULL};
    return costs_on(none, ptx);
}

static void costs_free(struct costs *costs) {
    sm_program_free(costs->program);
    exec_program_free(costs->exec);
    ptx_module_free(costs->module);
}

struct cost {
    enum sm_unit unit;
    enum sm_access access;
    unsigned latency, occupancy, n_registers, n_destinations;
};

static void check_costs(const struct sm_program *program, const struct cost *expected, size_t n) {
    for (size_t pc = 0; pc < n; pc++) {
        const struct sm_timing *timing = &program->timing[pc];
        assert_int_equal(timing->unit, expected[pc].unit);
        assert_int_equal(timing->access, expected[pc].access);
        assert_int_equal(timing->latency_cycles, expected[pc].latency);
        assert_int_equal(timing->occupancy_cycles, expected[pc].occupancy);
        assert_int_equal(timing->n_registers, expected[pc].n_registers);
        assert_int_equal(timing->n_destinations, expected[pc].n_destinations);
    }
}

static void every_instruction_has_its_unit_latency_and_registers(void **state) {
    (void)state;
    struct costs costs = costs_of(text);
    const struct sm_timing *timing = costs.program->timing;
    static const struct cost expected[] = {
        {SM_UNIT_LDST, SM_ACCESS_CONSTANT, 9, 1, 1, 1},
        {SM_UNIT_LDST, SM_ACCESS_GLOBAL, 9, 1, 2, 1},
        {SM_UNIT_ALU, SM_ACCESS_NONE, 9, 1, 4, 1}, /* with its guard; a register that is read twice counts twice */
        {SM_UNIT_ALU, SM_ACCESS_NONE, 11, 1, 4, 1},
        {SM_UNIT_FP64, SM_ACCESS_NONE, 13, 2, 3, 1},
        {SM_UNIT_SFU, SM_ACCESS_NONE, 17, 4, 2, 1},
        {SM_UNIT_SFU, SM_ACCESS_NONE, 68, 16, 3, 1}, /* a sequence of four */
        {SM_UNIT_LDST, SM_ACCESS_SHARED, 9, 1, 1, 0},
        {SM_UNIT_LDST, SM_ACCESS_GLOBAL, 9, 1, 2, 1},
    };
    check_costs(costs.program, expected, sizeof expected / sizeof *expected);
    assert_true(timing[1].is_load && timing[7].is_store && timing[8].is_atomic);
    assert_true(timing[9].is_fence && timing[10].is_barrier && timing[11].is_control);
    costs_free(&costs);
}

/* The count is ready after the adders and an addition; the memory system times the stores that follow. */
static void extensions_cost_their_adders(void **state) {
    (void)state;
    struct costs costs = costs_of(extensions);
    const struct sm_timing *timing = costs.program->timing;
    static const struct cost expected[] = {
        {SM_UNIT_LDST, SM_ACCESS_SHARED, 9 + 3, 1, 3, 1}, {SM_UNIT_LDST, SM_ACCESS_GLOBAL, 9 + 3, 1, 4, 1},
        {SM_UNIT_ALU, SM_ACCESS_NONE, 9 + 3, 1, 3, 1},    {SM_UNIT_ALU, SM_ACCESS_NONE, 9, 1, 1, 0},
        {SM_UNIT_LDST, SM_ACCESS_GLOBAL, 9, 1, 2, 1},
    };
    check_costs(costs.program, expected, sizeof expected / sizeof *expected);
    assert_true(timing[0].is_store && timing[1].is_store && !timing[1].is_load && !timing[1].is_control);
    assert_true(timing[4].is_load && timing[4].holds_row && !timing[5].holds_row);
    costs_free(&costs);
}

static void multiplications_shifts_and_conversions_have_a_unit_of_their_own(void **state) {
    (void)state;
    struct costs costs = costs_of(multiplications);
    for (uint32_t pc = 0; pc <= 6; pc++) {
        assert_int_equal(costs.program->timing[pc].unit, SM_UNIT_MULTIPLY);
        assert_int_equal(costs.program->timing[pc].occupancy_cycles, 2); /* 16 lanes */
    }
    assert_int_equal(costs.program->timing[0].latency_cycles, 9);
    static const enum sm_unit others[] = {SM_UNIT_ALU, SM_UNIT_ALU,  SM_UNIT_ALU,
                                          SM_UNIT_ALU, SM_UNIT_FP64, SM_UNIT_ALU};
    for (uint32_t pc = 7; pc <= 12; pc++)
        assert_int_equal(costs.program->timing[pc].unit, others[pc - 7]);
    costs_free(&costs);
}

/* Products, single precision among them, beside all other arithmetic; on sm_89 and sm_90 single precision and sums have
 * all lanes. Conversions to single precision are special, but not on sm_90. */
static void targets_divide_arithmetic_among_their_units(void **state) {
    (void)state;
    enum { P = SM_UNIT_MULTIPLY, A = SM_UNIT_ALU, S = SM_UNIT_SFU };
    static const char *const names[] = {"lowering.target=sm_80", "lowering.target=sm_89", "lowering.target=sm_90"};
    static const uint8_t units[][11] = {
        {P, P, A, A, S, S, A, P, A, A, A},
        {A, A, P, P, S, S, P, A, A, P, P},
        {A, A, P, P, S, P, P, A, A, P, P}, /* here and above integers are multiplied beside single precision */
    };
    for (unsigned i = 0; i < 3; i++) {
        const char *const settings[] = {names[i], "sm.simd_width=16", NULL};
        struct costs costs = costs_on(settings, multiplications);
        for (uint32_t pc = 0; pc <= 10; pc++) {
            assert_int_equal(costs.program->timing[pc].unit, units[i][pc]);
            bool is_part = !costs.program->timing[pc].parts; /* of another instruction: takes no time */
            if (units[i][pc] != S && pc != 1)                /* a wide product takes twice as long */
                assert_int_equal(costs.program->timing[pc].occupancy_cycles, is_part ? 0 : 2);
        }
        costs_free(&costs);
    }
}

/* Two lanes in every cycle, or one in every second cycle, as a GeForce has them. */
static void a_unit_may_have_less_than_a_lane(void **state) {
    (void)state;
    static const char *const two[] = {"sm.fp64_width=2", NULL}, *const half[] = {"sm.fp64_width=0.5", NULL},
                             *const odd[] = {"sm.fp64_width=0.3", NULL};
    static const char *const *const widths[] = {two, half, odd};
    static const unsigned cycles[] = {16, 64, 107};
    for (unsigned i = 0; i < 3; i++) {
        struct costs costs = costs_on(widths[i], multiplications);
        assert_int_equal(costs.program->timing[11].occupancy_cycles, cycles[i]);
        costs_free(&costs);
    }
}

static void every_instruction_is_some_kind_of_work(void **state) {
    (void)state;
    static const enum sm_work expected[] = {SM_WORK_MEMORY, SM_WORK_MEMORY,  SM_WORK_INTEGER, SM_WORK_FLOAT,
                                            SM_WORK_FLOAT,  SM_WORK_SPECIAL, SM_WORK_SPECIAL, SM_WORK_MEMORY,
                                            SM_WORK_MEMORY, SM_WORK_CONTROL, SM_WORK_CONTROL, SM_WORK_CONTROL};
    struct costs costs = costs_of(text);
    for (size_t pc = 0; pc < sizeof expected / sizeof *expected; pc++)
        assert_int_equal(costs.program->timing[pc].work, expected[pc]);
    costs_free(&costs);
    costs = costs_of(multiplications);
    assert_int_equal(costs.program->timing[0].work, SM_WORK_INTEGER);
    assert_int_equal(costs.program->timing[5].work, SM_WORK_FLOAT);
    assert_int_equal(costs.program->timing[11].work, SM_WORK_FLOAT);
    assert_int_equal(costs.program->timing[12].work, SM_WORK_INTEGER); /* a move is not arithmetic */
    costs_free(&costs);
}

/* The rate is 64: 2048 products of f16 take 32 cycles, 4096 of s8 as many, 256 of f64 64, 1024 of a sparse A 16. */
static void products_of_matrices_occupy_their_unit(void **state) {
    (void)state;
    struct costs costs = costs_of(matrices);
    static const struct cost expected[] = {
        {SM_UNIT_MATRIX, SM_ACCESS_NONE, 20 + 31, 32, 14, 4},
        {SM_UNIT_MATRIX, SM_ACCESS_NONE, 20 + 31, 32, 14, 4},
        {SM_UNIT_MATRIX, SM_ACCESS_NONE, 20 + 63, 64, 6, 2},
        {SM_UNIT_MATRIX, SM_ACCESS_NONE, 20 + 15, 16, 9, 2},
        {SM_UNIT_LDST, SM_ACCESS_SHARED, 13, 1, 2, 2},
        {SM_UNIT_LDST, SM_ACCESS_SHARED, 13, 1, 3, 0},
        {SM_UNIT_ALU, SM_ACCESS_NONE, 9, 1, 2, 1},
    };
    check_costs(costs.program, expected, sizeof expected / sizeof *expected);
    assert_true(costs.program->timing[5].is_store);
    const uint32_t *reg = sm_registers(costs.program, &costs.program->timing[1]);
    for (unsigned i = 0; i < 14; i++) /* more than a record holds */
        assert_int_equal(reg[i], i);
    costs_free(&costs);
}

static void some_loads_pass_the_l1(void **state) {
    (void)state;
    struct costs costs = costs_of(loads);
    bool passes = true;
    for (uint32_t pc = 0; pc < costs.exec->n_insns; pc++) {
        passes &= !costs.program->timing[pc].is_barrier;
        assert_int_equal(costs.program->timing[pc].passes_l1, passes);
    }
    assert_false(passes);
    costs_free(&costs);
}

/* A constant whose place the text names is an operand; one at a place in a register is loaded. */
static void constants_may_be_operands(void **state) {
    (void)state;
    static const char ptx[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.const .b32 c[4];\n.visible .entry k()\n{\n"
        ".reg .b32 %r<4>; .reg .b64 %d<2>;\nmov.u64 %d1, c;\nld.const.u32 %r1, [c+4];\n"
        "ld.const.u32 %r2, [%d1];\nret;\n}\n";
    static const char *const settings[] = {"lowering.target=sm_90", "sm.constant_cycles=30", NULL};
    struct costs costs = costs_on(settings, ptx);
    assert_int_equal(costs.program->timing[1].latency_cycles, 1);
    assert_int_not_equal(costs.program->timing[2].latency_cycles, 1);
    costs_free(&costs);
}

static void special_registers_take_as_long_as_the_machine_says(void **state) {
    (void)state;
    static const char ptx[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n"
        ".reg .b32 %r<4>;\nadd.u32 %r3, %r2, 1;\nmov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, %r3;\nret;\n}\n";
    static const char *const slow[] = {"lowering.target=sm_90", "sm.special_cycles=20", NULL};
    static const char *const other[] = {"lowering.target=sm_90", NULL}, *const on_ptx[] = {"sm.special_cycles=20",
                                                                                           NULL};
    struct costs costs[] = {costs_on(slow, ptx), costs_on(other, ptx), costs_on(on_ptx, ptx)};
    assert_int_equal(costs[0].program->timing[1].latency_cycles, 20);
    assert_true(costs[1].program->timing[1].latency_cycles < 20);
    assert_true(costs[2].program->timing[1].latency_cycles < 20);
    for (unsigned k = 0; k < 3; k++)
        costs_free(&costs[k]);
}

/* The machine instructions that bring a constant into a register come before, beside the chain of results. */
static void results_do_not_wait_for_constants(void **state) {
    (void)state;
    static const char ptx[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .f64 %d<4>;\n"
        "add.f64 %d1, %d2, %d3;\nadd.f64 %d1, %d1, 0d3FE0000000000000;\nadd.f64 %d1, %d1, "
        "0d3FD999999999999A;\nret;\n}\n";
    static const char *const settings[] = {"lowering.target=sm_90", NULL};
    struct costs costs = costs_on(settings, ptx);
    assert_int_equal(costs.program->timing[2].parts, 3 * ISA_PARTS);
    assert_int_equal(costs.program->timing[2].latency_cycles, costs.program->timing[1].latency_cycles);
    costs_free(&costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instruction_has_its_unit_latency_and_registers),
        cmocka_unit_test(extensions_cost_their_adders),
        cmocka_unit_test(multiplications_shifts_and_conversions_have_a_unit_of_their_own),
        cmocka_unit_test(targets_divide_arithmetic_among_their_units),
        cmocka_unit_test(a_unit_may_have_less_than_a_lane),
        cmocka_unit_test(every_instruction_is_some_kind_of_work),
        cmocka_unit_test(products_of_matrices_occupy_their_unit),
        cmocka_unit_test(some_loads_pass_the_l1),
        cmocka_unit_test(constants_may_be_operands),
        cmocka_unit_test(special_registers_take_as_long_as_the_machine_says),
        cmocka_unit_test(results_do_not_wait_for_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
