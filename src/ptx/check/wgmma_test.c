/* Tests of the checks of wgmma. The expectations match the vendor's assembler, release 13.0. */
#include "ptx/fixture.h"
#include "ptx/matrix.h"

#define R4 "{%r0, %r1, %r2, %r3}"
#define R2 "{%r0, %r1}"
#define F4 "{%f0, %f1, %f2, %f3}"
#define NAME "wgmma.mma_async.sync.aligned"

static void well_formed_instructions_pass(void **state) {
    (void)state;
    static const char *const bodies[] = {
        NAME ".m64n8k16.f32.f16.f16 " F4 ", %rd1, %rd2, %p1, 1, -1, 0, 1;",
        NAME ".m64n8k16.f32.bf16.bf16 " F4 ", " R4 ", %rd2, !%p1, 1, 1, 1;",
        NAME ".m64n8k16.f16.f16.f16 " R2 ", " R4 ", %rd2, 0, 1, 1, 1;",
        NAME ".m64n8k8.f32.tf32.tf32 " F4 ", %rd1, %rd2, 1, 1, 1;",
        NAME ".m64n8k32.f16.e4m3.e5m2 " R2 ", %rd1, %rd2, %p1, -1, -1;",
        NAME ".m64n8k32.satfinite.s32.u8.s8 " R4 ", " R4 ", %rd2, %p1;",
        NAME ".m64n8k256.s32.b1.b1.and.popc " R4 ", %rd1, %rd2, %p1;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " F4 ", %rd1, %rd2, %r1, 1, %p1, 1, 1, 0, 0;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 " R4 ", " R4 ", %rd2, %r1, 0, %p1;",
        "wgmma.fence.sync.aligned;",
        "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 7;",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct ptx_module *module = fixture_body(bodies[i]);
        assert_true(ptx_instruction_is_supported(fixture_instruction(module, 0)));
        ptx_module_free(module);
    }
}

static void shapes_and_types_that_do_not_exist_are_refused(void **state) {
    (void)state;
    static const char *const suffixes[] = {
        ".m64n8k8.f32.f16.f16",    ".m64n12k16.f32.f16.f16", ".m64n264k16.f32.f16.f16", ".m16n8k16.f32.f16.f16",
        ".m64n8k16.f16.bf16.bf16", ".m64n8k16.f32.f16.bf16", ".m64n40k32.s32.s8.s8",    ".m64n8k32.f32.s8.s8",
        ".m64n8k32.f32.e4m3.f16",  ".m64n8k64.s32.s4.s4",
    };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char body[160], message[200];
        snprintf(body, sizeof body, NAME "%s %s, %%rd1, %%rd2, %%p1, 1, 1, 0, 0;", suffixes[i], F4);
        snprintf(message, sizeof message, NAME "%s does not exist: no multiplication has this shape and these types",
                 suffixes[i]);
        fixture_rejects(body, 1, message);
    }
}

static void wrong_operands_are_refused_with_the_reason(void **state) {
    (void)state;
    fixture_rejects(NAME ".m64n8k16.f32.f16.f16 " F4 ", %rd1, %rd2, %p1, 1, 1, 0;", 1,
                    NAME ".m64n8k16.f32.f16.f16 needs 8 operands, got 7");
    fixture_rejects(NAME ".m64n8k16.f32.f16.f16 " F4 ", " R4 ", %rd2, %p1, 1, 1, 0, 0;", 1,
                    NAME ".m64n8k16.f32.f16.f16 needs 7 operands, got 8");
    fixture_rejects(NAME ".m64n8k16.f32.f16.f16 " F4 ", %rd1, %rd2, %p1, 2, 1, 0, 0;", 1,
                    NAME ".m64n8k16.f32.f16.f16 needs -1 or 1 as operand 5");
    fixture_rejects(NAME ".m64n8k16.f32.f16.f16 " F4 ", %rd1, %rd2, 2, 1, 1, 0, 0;", 1,
                    NAME ".m64n8k16.f32.f16.f16 needs 0 or 1 as operand 4");
    fixture_rejects(NAME ".m64n16k16.f32.f16.f16 " F4 ", %rd1, %rd2, %p1, 1, 1, 0, 0;", 52,
                    NAME ".m64n16k16.f32.f16.f16 needs 8 registers here, got 4");
    fixture_rejects("wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 " R4 ", %rd1, %rd2, %r1, 1, %p1;", 1,
                    "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 needs a selector that is a constant and small "
                    "enough for its shape");
    fixture_rejects("wgmma.wait_group.sync.aligned 8;", 1,
                    "wgmma.wait_group.sync.aligned needs a number of groups from 0 to 7");
    fixture_rejects("wgmma.sync.aligned;", 1,
                    "wgmma.sync.aligned does not exist: wgmma needs .mma_async, .fence, .commit_group or .wait_group");
    fixture_rejects("mma.fence.sync.aligned;", 1, "mma.fence.sync.aligned does not exist: only wgmma is asynchronous");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_instructions_pass),
        cmocka_unit_test(shapes_and_types_that_do_not_exist_are_refused),
        cmocka_unit_test(wrong_operands_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
