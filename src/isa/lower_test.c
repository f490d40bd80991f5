/* All passes together: a loop over loads, rewritten and lowered. */
#include "isa/fixture.h"

/* The sum of p[i] for i < q. */
static const char body[] = "mov.u32 %r2, 0;\nmov.f32 %f1, 0f00000000;\nLOOP:\nmul.wide.u32 %rd1, %r2, 4;\n"
                           "add.s64 %rd2, %rd0, %rd1;\nld.global.f32 %f2, [%rd2];\nadd.f32 %f1, %f1, %f2;\n"
                           "add.s32 %r2, %r2, 1;\nsetp.lt.s32 %p1, %r2, %r0;\n@%p1 bra LOOP;\n"
                           "st.global.f32 [%rd0], %f1;\n";

static unsigned count(const struct ptx_function *function, enum ptx_opcode opcode) {
    unsigned n = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        n += function->instruction[i].opcode == opcode;
    return n;
}

static void ptx_stays_as_it_is(void **state) {
    (void)state;
    struct fixture f = fixture_new(body);
    uint32_t n = f.function->n_instructions;
    isa_rewrite(&isa_ptx, f.function, f.module->arena);
    assert_int_equal(f.function->n_instructions, n);
    struct isa_insn *insn = isa_lower(&isa_ptx, f.analysis);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(insn[i].parts, ISA_PARTS);
        assert_false(insn[i].is_predicated);
        assert_false(insn[i].is_exception);
        assert_false(insn[i].is_either);
    }
    free(insn);
    fixture_free(&f);
}

/* Four bodies, two and the remainder; the loads of the bodies come first and wait together. */
static void a_loop_is_unrolled_and_scheduled(void **state) {
    (void)state;
    struct fixture f = fixture_new(body);
    isa_rewrite(&isa_sm_90, f.function, f.module->arena);
    assert_int_equal(count(f.function, PTX_OP_LD) - 2 /* parameters */, 4 + 2 + 1);
    struct ptx_analysis *analysis = ptx_analyze(f.function);
    struct isa_insn *insn = isa_lower(&isa_sm_90, analysis);
    unsigned n_loads = 0;
    for (uint32_t i = 0; i < f.function->n_instructions && n_loads < 4; i++) {
        const struct ptx_instruction *source = &f.function->instruction[i];
        n_loads += source->opcode == PTX_OP_LD && source->space == PTX_SPACE_GLOBAL;
        assert_false(n_loads && source->opcode == PTX_OP_ADD && source->type[0] == PTX_F32);
        if (source->opcode == PTX_OP_LD && source->space == PTX_SPACE_GLOBAL)
            assert_int_equal(insn[i].parts, ISA_PARTS);
    }
    assert_int_equal(n_loads, 4);
    free(insn);
    ptx_analysis_free(analysis);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptx_stays_as_it_is),
        cmocka_unit_test(a_loop_is_unrolled_and_scheduled),
    };
    return cmocka_run_group_tests_name("isa/lower", tests, NULL, NULL);
}
