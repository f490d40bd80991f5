/* Tests of the checks of matrix instructions. The expectations match the vendor's assembler, release 13.0. */
#include "ptx/fixture.h"
#include "ptx/matrix.h"

#define R4 "{%r0, %r1, %r2, %r3}"
#define R2 "{%r0, %r1}"
#define F4 "{%f0, %f1, %f2, %f3}"
#define R8 "{%r0, %r1, %r2, %r3, %r0, %r1, %r2, %r3}"
#define F8 "{%f0, %f1, %f2, %f3, %f0, %f1, %f2, %f3}"

static void well_formed_instructions_pass(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " F4 ", " R4 ", " R2 ", " F4 ";",
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 " R2 ", " R4 ", " R2 ", " R2 ";",
        "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16 " F8 ", " R2 ", " R2 ", " R4 ";",
        "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 " F4 ", " R2 ", {%r0}, {0f00000000, 0f00000000, %f1, %f2};",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz {%fd0, %fd1}, {%fd2}, {%fd3}, {%fd0, %fd1};",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc " R4 ", " R4 ", " R2 ", " R4 ";",
        "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32 " R4 ", " R4 ", " R2 ", " R4 ";",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " F4 ", " R4 ", " R4 ", " F4 ", %r5, 1;",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 " F8 ", " R8 ", " R8 ", " R4 ";",
        "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 " R2 ", {%r2}, {%r3}, " R2 ";",
        "wmma.load.a.sync.aligned.m16n16k16.row.f16 " R8 ", [%rd1], %r2;",
        "wmma.store.d.sync.aligned.col.m32n8k16.global.s32 [%rd1+64], " R8 ", 32;",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 " R4 ", [%r1];",
        "stmatrix.sync.aligned.m8n8.x1.b16 [%rd1], {%r0};",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct ptx_module *module = fixture_body(bodies[i]);
        assert_true(ptx_instruction_is_supported(fixture_instruction(module, 0)));
        ptx_module_free(module);
    }
}

static void wrong_instructions_are_refused_with_the_reason(void **state) {
    (void)state;
    fixture_rejects(
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " F4 ", " R4 ", " R2 ", " F4 ";", 1,
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 does not exist: no multiplication has this shape "
        "and these types");
    fixture_rejects("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 " F4 ", " R2 ", {%r0}, " R2 ";", 1,
                    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 does not exist: C and D have one type");
    fixture_rejects("mma.sync.aligned.m16n8k8.col.col.f32.f16.f16.f32 " F4 ", " R2 ", {%r0}, " F4 ";", 1,
                    "mma.sync.aligned.m16n8k8.col.col.f32.f16.f16.f32 needs .row.col");
    fixture_rejects("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 " F4 ", " R4 ", {%r0}, " F4 ";", 72,
                    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 needs 2 registers here, got 4");
    fixture_rejects("mma.sync.m16n8k8.row.col.f32.f16.f16.f32 " F4 ", " R2 ", {%r0}, " F4 ";", 1,
                    "mma.sync.m16n8k8.row.col.f32.f16.f16.f32 needs .sync.aligned");
    fixture_rejects("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%rd1];", 1,
                    "wmma.load.a.sync.aligned.col.m8n8k32.s4 does not exist: no multiplication has such a fragment");
    fixture_rejects("ldmatrix.sync.aligned.m8n8.x4.global.b16 " R4 ", [%rd1];", 1,
                    "ldmatrix.sync.aligned.m8n8.x4.global.b16 works on .shared only");
    fixture_rejects(
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " F4 ", " R4 ", " R4 ", " F4 ", %r5, 2;", 1,
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 needs a selector that is a constant and small "
        "enough for its shape");
}

static void fragments_have_as_many_registers_as_their_elements_need(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " F4 ", " R4 ", " R4 ", " F4 ", %r5, 1;");
    const struct ptx_instruction *sparse = fixture_instruction(module, 0);
    struct ptx_fragment a = ptx_matrix_fragment(sparse, PTX_MATRIX_A), b = ptx_matrix_fragment(sparse, PTX_MATRIX_B);
    assert_int_equal(a.columns, 16); /* half of k */
    assert_int_equal(a.n_registers, 4);
    assert_int_equal(b.rows, 32);
    assert_int_equal(b.n_registers, 4);
    ptx_module_free(module);
}

static void later_suffixes_are_unsupported_by_name(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32 " F4
                                             ", " R4 ", " R2 ", " F4 ";");
    assert_string_equal(fixture_instruction(module, 0)->unsupported, ".kind::f8f6f4");
    ptx_module_free(module);
    fixture_rejects("mma.sync.aligned.m16n8k8.row.cool.f32.f16.f16.f32 " F4 ", " R2 ", {%r0}, " F4 ";", 29,
                    "unknown suffix '.cool' of mma");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_instructions_pass),
        cmocka_unit_test(wrong_instructions_are_refused_with_the_reason),
        cmocka_unit_test(fragments_have_as_many_registers_as_their_elements_need),
        cmocka_unit_test(later_suffixes_are_unsupported_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
