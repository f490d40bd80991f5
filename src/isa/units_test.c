/* Tests of units: on the targets with a compiler, and for instructions other than arithmetic. */
#include "isa/fixture.h"

static struct fixture choose(const char *body) {
    struct fixture f = fixture_new(body);
    isa_choose_units(&f.code);
    return f;
}

static void expect_unit(const struct isa_insn *insn, enum isa_unit unit, enum isa_latency latency, unsigned passes) {
    assert_int_equal(insn->unit, unit);
    assert_int_equal(insn->latency, latency);
    assert_int_equal(insn->passes, passes);
}

static void rounded_roots_and_divisions_have_a_slow_path(void **state) {
    (void)state;
    struct fixture f = choose("div.rn.f32 %f1, %f2, %f3;\nsqrt.rn.f32 %f4, %f1;\nrcp.rn.f32 %f2, %f1;\n"
                              "div.rn.f64 %d1, %d2, %d3;\nrcp.rn.f64 %d1, %d2;\nsqrt.rn.f64 %d1, %d2;\n"
                              "div.full.f32 %f2, %f1, %f3;\ndiv.approx.f32 %f2, %f1, %f3;\nrcp.approx.f32 %f2, %f1;\n"
                              "sqrt.approx.f32 %f2, %f1;\ndiv.s32 %r2, %r1, %r0;\nadd.f64 %d1, %d2, %d3;\n");
    for (unsigned k = 0; k < 12; k++)
        assert_int_equal(fixture_at(&f, k)->has_slow_path, k < 6);
    fixture_free(&f);
}

static void half_precision_has_its_own_latency(void **state) {
    (void)state;
    struct fixture f = choose("fma.rn.f16x2 %r1, %r2, %r3, %r1;\nadd.rn.f32 %f1, %f1, %f2;\nadd.u32 %r1, %r1, %r2;\n");
    static const enum isa_latency latencies[] = {ISA_LATENCY_FP16, ISA_LATENCY_FP32, ISA_LATENCY_ALU};
    for (unsigned k = 0; k < 3; k++)
        assert_int_equal(fixture_at(&f, k)->latency, latencies[k]);
    fixture_free(&f);
}

static void special_functions_and_double_precision_have_their_units(void **state) {
    (void)state;
    struct fixture f = choose("ex2.approx.f32 %f1, %f2;\ndiv.s32 %r2, %r1, %r0;\nsqrt.rn.f32 %f3, %f1;\n"
                              "add.f64 %d1, %d2, %d3;\nmov.f64 %d2, %d1;\nadd.f32 %f4, %f1, %f2;\n");
    expect_unit(fixture_at(&f, 0), ISA_UNIT_SFU, ISA_LATENCY_SFU, 1);
    expect_unit(fixture_at(&f, 1), ISA_UNIT_SFU, ISA_LATENCY_SFU, 1); /* its length is its cost */
    expect_unit(fixture_at(&f, 2), ISA_UNIT_SFU, ISA_LATENCY_SFU, 1);
    expect_unit(fixture_at(&f, 3), ISA_UNIT_FP64, ISA_LATENCY_FP64, 1);
    expect_unit(fixture_at(&f, 4), ISA_UNIT_ALU, ISA_LATENCY_FP32, 1);
    expect_unit(fixture_at(&f, 5), ISA_UNIT_ALU, ISA_LATENCY_FP32, 1);
    static const enum isa_work works[] = {ISA_WORK_SPECIAL, ISA_WORK_SPECIAL, ISA_WORK_SPECIAL,
                                          ISA_WORK_FLOAT,   ISA_WORK_INTEGER, ISA_WORK_FLOAT};
    for (unsigned k = 0; k < 6; k++) {
        assert_int_equal(fixture_at(&f, k)->work, works[k]);
        assert_int_equal(fixture_at(&f, k)->has_slow_path, k == 2);
        assert_false(fixture_at(&f, k)->is_exception);
    }
    fixture_free(&f);
}

static void long_products_take_two_passes(void **state) {
    (void)state;
    struct fixture f = choose("mul.wide.s32 %rd1, %r1, %r0;\nmul.hi.u32 %r2, %r1, %r0;\nmul.lo.u32 %r3, %r1, %r0;\n"
                              "setp.hi.u32 %p1, %r1, %r0;\n");
    expect_unit(fixture_at(&f, 0), ISA_UNIT_ALU, ISA_LATENCY_ALU, 2);
    expect_unit(fixture_at(&f, 1), ISA_UNIT_ALU, ISA_LATENCY_ALU, 2);
    expect_unit(fixture_at(&f, 2), ISA_UNIT_ALU, ISA_LATENCY_ALU, 1);
    expect_unit(fixture_at(&f, 3), ISA_UNIT_MULTIPLY, ISA_LATENCY_ALU, 1); /* higher, not the upper half */
    for (unsigned k = 0; k < 4; k++)
        assert_int_equal(fixture_at(&f, k)->lanes, ISA_UNIT_MULTIPLY);
    fixture_free(&f);
}

/* An address: the product goes into the sum, which then takes as long as the product. A sum of sums is no product. */
static void sums_execute_where_their_contents_do(void **state) {
    (void)state;
    struct fixture f = fixture_new("mul.wide.s32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\nst.global.u32 [%rd2], %r1;\n"
                                   "mul.lo.s32 %r2, %r1, %r0;\nadd.s32 %r3, %r2, %r1;\nst.global.u32 [%rd0], %r3;\n"
                                   "add.s32 %r4, %r1, %r0;\nadd.s32 %r5, %r4, %r1;\nst.global.u32 [%rd0+4], %r5;\n"
                                   "xor.b64 %rd3, %rd2, %rd0;\nst.global.u64 [%rd0+8], %rd3;\n");
    isa_fold(&f.code);
    isa_choose_units(&f.code);
    expect_unit(fixture_at(&f, 1), ISA_UNIT_ALU, ISA_LATENCY_ALU, 2);
    expect_unit(fixture_at(&f, 4), ISA_UNIT_ALU, ISA_LATENCY_ALU, 1);
    expect_unit(fixture_at(&f, 7), ISA_UNIT_MULTIPLY, ISA_LATENCY_ALU, 1);
    expect_unit(fixture_at(&f, 9), ISA_UNIT_MULTIPLY, ISA_LATENCY_ALU, 2);
    for (unsigned k = 1; k <= 7; k += 3)
        assert_false(fixture_at(&f, k)->is_either);
    fixture_free(&f);
}

static void some_instructions_take_another_way(void **state) {
    (void)state;
    struct fixture f = choose("ld.const.f32 %f1, [table];\nmul.wide.u32 %rd1, %r1, 4;\nld.const.f32 %f2, [%rd1];\n"
                              "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nbar.sync 0;\nbar.warp.sync -1;\n");
    static const bool is_exception[] = {true, false, false /* lanes read different words */, true, true, false};
    for (unsigned k = 0; k < 6; k++)
        assert_int_equal(fixture_at(&f, k)->is_exception, is_exception[k]);
    expect_unit(fixture_at(&f, 0), ISA_UNIT_ALU, ISA_LATENCY_ALU, 1);
    expect_unit(fixture_at(&f, 3), ISA_UNIT_LDST, ISA_LATENCY_SHARED, 1);
    expect_unit(fixture_at(&f, 4), ISA_UNIT_ARRIVE, ISA_LATENCY_ALU, 1);
    fixture_free(&f);
}

static void atomics_differ(void **state) {
    (void)state;
    struct fixture f = choose("red.global.add.u32 [%rd0], 1;\nred.global.add.f32 [%rd0], %f1;\n"
                              "red.shared.add.u32 [%r1], 1;\nred.shared.add.u32 [%r1], 2;\n"
                              "atom.shared.add.u32 %r2, [%r1], 1;\natom.shared.add.u32 %r3, [%r1], 1;\n"
                              "red.shared.add.f32 [%r1], %f1;\natom.shared.add.u64 %rd1, [s], 1;\n"
                              "atom.shared.cas.b64 %rd1, [%r1], %rd2, %rd3;\nst.global.u32 [%rd0], %r2;\n");
    static const enum isa_atomic kinds[] = {
        ISA_ATOMIC_JOINED,   ISA_ATOMIC_SUM,     ISA_ATOMIC_COUNTING, ISA_ATOMIC_PLAIN, ISA_ATOMIC_PLAIN,
        ISA_ATOMIC_COUNTING, ISA_ATOMIC_RETRIED, ISA_ATOMIC_RETRIED,  ISA_ATOMIC_SWAP}; /* %r2 is read, %r3 is not */
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        assert_int_equal(fixture_at(&f, k)->atomic, kinds[k]);
    fixture_free(&f);
}

static void fences_for_the_device_are_marked(void **state) {
    (void)state;
    struct fixture f = choose("membar.cta;\nmembar.gl;\nfence.acq_rel.cta;\nfence.sc.sys;\n");
    for (unsigned k = 0; k < 4; k++)
        assert_int_equal(fixture_at(&f, k)->is_device_fence, k % 2);
    fixture_free(&f);
}

/* As many as Nsight Compute counts (docs/hardware.md, Counters): ptxas 13.0 makes I2F, MUFU and F2I of a division of
 * integers, MUFU and FCHK of one of floating-point numbers. */
static void machine_instructions_of_the_special_function_unit_are_counted(void **state) {
    (void)state;
    static const struct {
        const char *text;
        unsigned n;
    } rows[] = {{"sin.approx.f32 %f1, %f2;", 1},  {"sqrt.rn.f32 %f1, %f2;", 1},
                {"div.rn.f32 %f1, %f2, %f3;", 2}, {"div.approx.f32 %f1, %f2, %f3;", 1},
                {"div.u32 %r2, %r1, %r3;", 3},    {"rem.s32 %r2, %r1, %r3;", 3},
                {"div.u32 %r2, %r1, 10;", 0},     {"div.rn.f64 %d1, %d2, %d3;", 1},
                {"popc.b32 %r2, %r1;", 1},        {"popc.b64 %r2, %rd1;", 2},
                {"clz.b32 %r2, %r1;", 1},         {"brev.b32 %r2, %r1;", 1},
                {"cvt.rzi.s32.f32 %r2, %f1;", 1}, {"cvt.rn.f32.s32 %f1, %r1;", 0},
                {"cvt.f64.f32 %d1, %f1;", 1},     {"cvt.rn.f64.s32 %d1, %r1;", 1},
                {"cvt.rn.f16.f32 %h1, %f1;", 0},  {"cvt.f32.f16 %f1, %h1;", 0},
                {"cvt.f32.bf16 %f1, %h1;", 0},    {"cvt.rn.f16x2.f32 %r2, %f1, %f2;", 0},
                {"cvt.rn.f32.s16 %f1, %h1;", 1},  {"cvt.rn.f32.u16 %f1, %h1;", 0},
                {"cvt.rzi.s32.f16 %r2, %h1;", 1}, {"cvt.rn.f16.s32 %h1, %r1;", 1},
                {"cvt.rmi.f32.f32 %f1, %f2;", 1}, {"fma.rn.f32 %f1, %f2, %f3, %f1;", 0},
                {"add.f64 %d1, %d2, %d3;", 0},    {"shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;", 0}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fixture f = choose(rows[k].text);
        if (fixture_at(&f, 0)->n_special != rows[k].n)
            fail_msg("%s: %u, expected %u", rows[k].text, fixture_at(&f, 0)->n_special, rows[k].n);
        fixture_free(&f);
    }
}

static void functions_that_do_not_flush_scale_their_operand(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_scaled;
    } rows[] = {{"rsqrt.approx.f32 %f1, %f2;", true},    {"rsqrt.approx.ftz.f32 %f1, %f2;", false},
                {"ex2.approx.f32 %f1, %f2;", true},      {"lg2.approx.f32 %f1, %f2;", true},
                {"sqrt.approx.f32 %f1, %f2;", true},     {"sqrt.rn.f32 %f1, %f2;", false},
                {"div.approx.f32 %f1, %f2, %f3;", true}, {"sin.approx.f32 %f1, %f2;", false}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fixture f = choose(rows[k].text);
        assert_int_equal(fixture_at(&f, 0)->is_scaled, rows[k].is_scaled);
        fixture_free(&f);
    }
}

/* The size of a block is a constant, and the clock has an instruction of its own. */
static void special_registers_have_their_latency(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum isa_latency latency;
    } rows[] = {{"mov.u32 %r1, %tid.x;", ISA_LATENCY_SPECIAL},  {"mov.u32 %r1, %ctaid.y;", ISA_LATENCY_SPECIAL},
                {"mov.u32 %r1, %laneid;", ISA_LATENCY_SPECIAL}, {"mov.u32 %r1, %ntid.z;", ISA_LATENCY_ALU},
                {"mov.u32 %r1, %nctaid.x;", ISA_LATENCY_ALU},   {"mov.u32 %r1, %clock;", ISA_LATENCY_ALU},
                {"mov.u32 %r1, %r2;", ISA_LATENCY_ALU}};
    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fixture f = choose(rows[k].text);
        assert_int_equal(fixture_at(&f, 0)->latency, rows[k].latency);
        fixture_free(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounded_roots_and_divisions_have_a_slow_path),
        cmocka_unit_test(half_precision_has_its_own_latency),
        cmocka_unit_test(special_functions_and_double_precision_have_their_units),
        cmocka_unit_test(long_products_take_two_passes),
        cmocka_unit_test(sums_execute_where_their_contents_do),
        cmocka_unit_test(some_instructions_take_another_way),
        cmocka_unit_test(atomics_differ),
        cmocka_unit_test(fences_for_the_device_are_marked),
        cmocka_unit_test(machine_instructions_of_the_special_function_unit_are_counted),
        cmocka_unit_test(functions_that_do_not_flush_scale_their_operand),
        cmocka_unit_test(special_registers_have_their_latency),
    };
    return cmocka_run_group_tests_name("isa/units", tests, NULL, NULL);
}
