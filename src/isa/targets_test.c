/* Tests that the list of targets is complete, and that each target has an answer for every instruction. */
#include "isa/fixture.h"

#include "config/config.h"
#include "ptx/matrix.h"

static void every_choice_of_the_option_is_a_target(void **state) {
    (void)state;
    size_t count;
    const struct isa_target *const *target = isa_targets(&count);
    struct config_machine machine;
    config_defaults(&machine);
    assert_string_equal(isa_target_name(isa_target_of(&machine)), "ptx");
    for (size_t i = 0; i < count; i++) {
        char setting[64], error[CONFIG_ERROR_BYTES];
        snprintf(setting, sizeof setting, "lowering.target=%s", isa_target_name(target[i]));
        assert_true(config_set(&machine, setting, error, sizeof error));
        assert_ptr_equal(isa_target_of(&machine), target[i]);
        assert_ptr_equal(isa_find_target(isa_target_name(target[i])), target[i]);
    }
    assert_null(isa_find_target("sm_52"));
}

static const char *const opcode_names[] = {
#define PTX_OPCODE(id, name, family) name,
#include "ptx/opcodes.def"
#undef PTX_OPCODE
};

/* An instruction of each opcode, on constants of one type. */
static void lower_every_opcode(const struct isa_target *target, enum ptx_type type) {
    enum { N = sizeof opcode_names / sizeof *opcode_names, MOST_COST = 100 };
    struct ptx_operand operand[5];
    struct ptx_matrix matrix = {0}; /* only matrix instructions look at it */
    struct ptx_instruction instruction[N];
    for (unsigned k = 0; k < 5; k++)
        operand[k] = (struct ptx_operand){
            .kind = PTX_OPERAND_INTEGER, .register_id = PTX_NO_INDEX, .pair_id = PTX_NO_INDEX, .value = 3};
    for (unsigned op = 0; op < N; op++)
        instruction[op] = (struct ptx_instruction){.opcode = (enum ptx_opcode)op,
                                                   .guard = PTX_NO_INDEX,
                                                   .operand = operand,
                                                   .n_operands = 5,
                                                   .n_types = 1,
                                                   .type = {type},
                                                   .matrix = &matrix};
    struct ptx_function function = {.instruction = instruction, .n_instructions = N};
    static uint32_t block_of[N];
    struct ptx_block block = {.count = N, .dominator = PTX_NO_BLOCK};
    struct ptx_analysis analysis = {.function = &function, .block = &block, .n_blocks = 1, .block_of = block_of};
    struct isa_code code = isa_code_new(target, &analysis);
    isa_choose_units(&code);
    for (unsigned op = 0; op < N; op++)
        if (code.insn[op].parts > MOST_COST * ISA_PARTS || !code.insn[op].passes ||
            code.insn[op].unit > ISA_UNIT_ARRIVE || code.insn[op].lanes > ISA_UNIT_ARRIVE ||
            (!isa_is_compiled(target) && code.insn[op].parts != ISA_PARTS))
            fail_msg("%s has no answer for %s", isa_target_name(target), opcode_names[op]);
    isa_code_free(&code);
}

static void every_target_knows_every_opcode(void **state) {
    (void)state;
    size_t count;
    const struct isa_target *const *target = isa_targets(&count);
    for (size_t i = 0; i < count; i++) {
        lower_every_opcode(target[i], PTX_U32);
        lower_every_opcode(target[i], PTX_S64);
        lower_every_opcode(target[i], PTX_F32);
        lower_every_opcode(target[i], PTX_F64);
    }
}

/* The tables of sm/timing_test.c and of the guide, in short. */
static void targets_divide_arithmetic_among_their_units(void **state) {
    (void)state;
    enum { A = ISA_UNIT_ALU, M = ISA_UNIT_MULTIPLY, S = ISA_UNIT_SFU };
    static const char body[] = "mul.lo.s32 %r2, %r1, %r0;\nadd.f32 %f1, %f2, %f3;\nadd.s32 %r3, %r1, %r0;\n"
                               "and.b32 %r4, %r1, %r0;\nshl.b32 %r5, %r1, 3;\ncvt.rn.f32.s32 %f4, %r1;\n"
                               "cvt.rzi.s32.f32 %r6, %f4;\npopc.b32 %r7, %r1;\nsetp.lt.f32 %p1, %f1, %f2;\n";
    static const struct {
        const struct isa_target *target;
        uint8_t unit[9], lanes[9];
    } expected[] = {
        {&isa_ptx, {M, A, A, A, M, M, M, M, A}, {M, A, A, A, M, M, M, M, A}},
        {&isa_sm_80, {M, M, A, A, A, S, S, S, A}, {M, M, A, A, A, S, S, S, A}},
        {&isa_sm_89, {A, A, A, M, M, S, S, S, M}, {M, A, M, M, M, S, S, S, M}},
        {&isa_sm_90, {A, A, A, M, M, M, S, S, M}, {M, A, M, M, M, M, S, S, M}},
    };
    for (unsigned t = 0; t < sizeof expected / sizeof *expected; t++) {
        static char text[4096];
        snprintf(text, sizeof text, "%s%sret;\n}\n", FIXTURE_HEAD, body);
        struct fixture f = fixture_of(expected[t].target, text, "k");
        isa_choose_units(&f.code);
        for (unsigned k = 0; k < 9; k++) {
            assert_int_equal(fixture_at(&f, k)->unit, expected[t].unit[k]);
            assert_int_equal(fixture_at(&f, k)->lanes, expected[t].lanes[k]);
            assert_int_equal(fixture_at(&f, k)->is_either, k == 2 && t >= 2); /* a sum of integers */
        }
        fixture_free(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_choice_of_the_option_is_a_target),
        cmocka_unit_test(every_target_knows_every_opcode),
        cmocka_unit_test(targets_divide_arithmetic_among_their_units),
    };
    return cmocka_run_group_tests_name("isa/targets", tests, NULL, NULL);
}
