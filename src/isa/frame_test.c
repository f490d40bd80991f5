/* Tests of the instructions around a function's own: calls, arguments, and registers that functions save. */
#include "isa/fixture.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

/* Calls itself, and needs two words after that; lanes may part. */
#define AGAIN                                                                                                          \
    ".func (.param .b32 out) again(.param .b32 p, .param .b32 q);\n"                                                   \
    ".func (.param .b32 out) again(.param .b32 p, .param .b32 q) {\n"                                                  \
    ".reg .b32 %r<9>; .reg .pred %p<2>;\nld.param.b32 %r1, [p];\nld.param.b32 %r2, [q];\nmov.b32 %r5, %r1;\n"          \
    "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra END;\nadd.u32 %r3, %r2, -1;\nmul.lo.u32 %r4, %r1, %r1;\n"                      \
    "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r1;\nst.param.b32 [b], %r3;\n"                  \
    "call (c), again, (a, b);\nld.param.b32 %r6, [c];\n}\nadd.u32 %r5, %r6, %r4;\nadd.u32 %r5, %r5, %r1;\n"            \
    "END:\nst.param.b32 [out], %r5;\nret;\n}\n"

static unsigned count(const struct ptx_function *function, enum ptx_opcode opcode) {
    unsigned n = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        n += function->instruction[i].opcode == opcode && function->instruction[i].space == PTX_SPACE_LOCAL;
    return n;
}

/* Two words, the return address, and the convergence barrier. */
static void a_function_that_calls_itself_saves_registers(void **state) {
    (void)state;
    struct fixture f = fixture_of(&isa_sm_90, HEAD AGAIN, "again");
    uint32_t before = f.function->n_instructions;
    isa_save_registers(&isa_sm_90, f.function, f.module->arena);
    assert_int_equal(count(f.function, PTX_OP_ST), 5);
    assert_int_equal(count(f.function, PTX_OP_LD), 5);
    assert_int_equal(f.function->n_instructions, before + 10);
    assert_int_equal(f.function->variable[f.function->n_variables - 1]->size, 20);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(f.function->instruction[i].opcode, PTX_OP_ST);
        assert_int_equal(f.function->instruction[before + 4 + i].opcode, PTX_OP_LD);
    }
    assert_int_equal(f.function->instruction[before + 9].opcode, PTX_OP_RET);
    fixture_free(&f);
}

/* The branch to the end loads what the beginning stored. */
static void every_way_out_loads_the_registers(void **state) {
    (void)state;
    struct fixture f = fixture_of(&isa_sm_90, HEAD AGAIN, "again");
    isa_save_registers(&isa_sm_90, f.function, f.module->arena);
    for (uint32_t i = 0; i < f.function->n_instructions; i++)
        if (isa_has_target(&f.function->instruction[i]))
            assert_int_equal(f.function->instruction[i].operand[0].target, f.function->n_instructions - 7);
    fixture_free(&f);
}

static void a_function_that_is_compiled_with_its_callers_saves_nothing(void **state) {
    (void)state;
    struct fixture f = fixture_of(&isa_sm_90,
                                  HEAD ".func g();\n.func f(.param .b32 x) {\n.reg .b32 %r<4>;\n"
                                       "ld.param.u32 %r1, [x];\ncall g, ();\nst.global.u32 [0], %r1;\nret;\n}\n",
                                  "f");
    isa_save_registers(&isa_sm_90, f.function, f.module->arena);
    assert_int_equal(f.function->n_variables, 0);
    isa_pass_arguments(&f.code);
    isa_add_prologue(&f.code);
    assert_true(f.code.insn[0].is_argument);
    assert_int_equal(f.code.insn[0].parts, 0);
    assert_int_equal(f.code.insn[1].parts, 4 * ISA_PARTS);
    assert_int_equal(f.code.insn[3].parts, ISA_PARTS);
    fixture_free(&f);
}

/* A leaf has 14 registers of its own. */
static void a_leaf_behind_a_pointer_saves_what_exceeds_its_registers(void **state) {
    (void)state;
    static char text[4096];
    for (unsigned n_values = 4; n_values <= 24; n_values += 20) {
        int n = snprintf(text, sizeof text,
                         HEAD ".func f(.param .b64 x);\n.global .u64 table = f;\n.func f(.param .b64 x) {\n"
                              ".reg .b32 %%r<32>; .reg .b64 %%d<2>;\nld.param.u64 %%d1, [x];\n");
        for (unsigned i = 0; i < n_values; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "ld.global.u32 %%r%u, [%%d1+%u];\n", i, 8 * i);
        for (unsigned i = 1; i < n_values; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "mul.lo.u32 %%r0, %%r0, %%r%u;\n", i);
        snprintf(text + n, sizeof text - (size_t)n, "st.global.u32 [%%d1], %%r0;\nret;\n}\n");
        struct fixture f = fixture_of(&isa_sm_90, text, "f");
        isa_save_registers(&isa_sm_90, f.function, f.module->arena);
        if (n_values == 4)
            assert_int_equal(count(f.function, PTX_OP_ST), 0);
        else
            assert_in_range(count(f.function, PTX_OP_ST), 10, 14);
        fixture_free(&f);
    }
}

/* Values that are needed later are copied; those that are new, or no longer needed, are where they should be. */
static void conventions_cost_copies(void **state) {
    (void)state;
    struct fixture f = fixture_of(&isa_sm_90, HEAD AGAIN, "again");
    static const unsigned expected[] = {1, 0}, passed[] = {1, 0, 3, 0};
    isa_pass_arguments(&f.code);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(f.code.insn[i].parts, expected[i] * ISA_PARTS);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(f.code.insn[7 + i].parts, passed[i] * ISA_PARTS);
    fixture_free(&f);
}

static void an_argument_whose_address_is_needed_is_in_memory(void **state) {
    (void)state;
    struct fixture f = fixture_of(&isa_sm_90,
                                  HEAD ".func f(.param .b32 x, .param .b32 y) {\n.reg .b32 %r<4>; .reg .b64 %d<2>;\n"
                                       "ld.param.u32 %r1, [x];\nld.param.u32 %r2, [y];\nmov.u64 %d1, x;\n"
                                       "ld.local.u32 %r3, [%d1];\nst.global.u32 [0], %r3;\nret;\n}\n",
                                  "f");
    isa_pass_arguments(&f.code);
    assert_false(f.code.insn[0].is_argument);
    assert_true(f.code.insn[1].is_argument);
    fixture_free(&f);
}

static void a_kernel_begins_with_its_stack_pointer(void **state) {
    (void)state;
    struct fixture f = fixture_new("st.shared.u32 [%r1], %r0;\n");
    isa_pass_arguments(&f.code);
    isa_add_prologue(&f.code);
    assert_int_equal(f.code.insn[0].parts, 2 * ISA_PARTS);
    assert_false(f.code.insn[0].is_argument);
    fixture_free(&f);
    f = fixture_new("st.global.u32 [%rd0], %r0;\n"); /* and a descriptor for global memory */
    isa_add_prologue(&f.code);
    assert_int_equal(f.code.insn[0].parts, 3 * ISA_PARTS);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_that_calls_itself_saves_registers),
        cmocka_unit_test(every_way_out_loads_the_registers),
        cmocka_unit_test(a_function_that_is_compiled_with_its_callers_saves_nothing),
        cmocka_unit_test(a_leaf_behind_a_pointer_saves_what_exceeds_its_registers),
        cmocka_unit_test(conventions_cost_copies),
        cmocka_unit_test(an_argument_whose_address_is_needed_is_in_memory),
        cmocka_unit_test(a_kernel_begins_with_its_stack_pointer),
    };
    return cmocka_run_group_tests_name("isa/frame", tests, NULL, NULL);
}
