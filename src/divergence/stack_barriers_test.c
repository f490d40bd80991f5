/* The model `stack` with points=barriers: lanes that leave a loop leave every join in it. */
#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_stack;

/* Lanes 1, 2 and 3 go through the if of a loop of three trips; lane 3 leaves the loop there in the first, lane 2 in the
 * second. */
#define LEAVES_IN_A_LOOP                                                                                               \
    PROGRAM_HEAD PROGRAM_BEGIN                                                                                         \
        "mov.u32 %r4, 0; mov.u32 %r7, 0; setp.eq.u32 %p1, %r0, 0;\n"                                                   \
        "LOOP: add.u32 %r7, %r7, 1; @%p1 bra SKIP;\n"                                                                  \
        "sub.u32 %r6, 4, %r7; setp.eq.u32 %p2, %r0, %r6; @%p2 bra OUT; mul.lo.u32 %r4, %r4, 3;\n"                      \
        "SKIP: xor.b32 %r4, %r4, 1; setp.lt.u32 %p3, %r7, 3; @%p3 bra LOOP;\n"                                         \
        "OUT: add.u32 %r4, %r4, 5;\n" PROGRAM_END

static uint32_t pc_of(const struct fixture *f, enum ptx_opcode opcode, unsigned which) {
    for (uint32_t pc = 0;; pc++)
        if (f->program->code[pc].opcode == opcode && which-- == 0)
            return pc;
}

static void expect_at(struct fixture *f, uint32_t pc, uint32_t mask) {
    do
        fixture_step(&f->sm[0], 0);
    while (f->sm[0].slot[0].group->pc != pc);
    assert_int_equal(f->sm[0].slot[0].group->mask, mask);
}

static void lanes_meet_after_an_if_from_which_others_leave_the_loop(void **state) {
    (void)state;
    struct fixture *f = fixture_open(&divergence_stack, "stack:points=barriers", LEAVES_IN_A_LOOP,
                                     &(struct fixture_shape){.block = 4, .warp_size = 4});
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    fixture_start(f);
    uint32_t skip = pc_of(f, PTX_OP_XOR, 0), out = skip + 3;
    expect_at(f, skip, 0x7);
    expect_at(f, skip, 0x3);
    expect_at(f, skip, 0x1); /* lane 1 leaves in the third trip */
    expect_at(f, out, 0xf);
    fixture_run(f);
    static const uint32_t expected[] = {6, 7, 6, 5};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], expected[i]);
    fixture_close(f);
}

static void every_program_computes_the_same(void **state) {
    (void)state;
    programs_check_all(&divergence_stack, "stack:points=barriers", true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_meet_after_an_if_from_which_others_leave_the_loop),
        cmocka_unit_test(every_program_computes_the_same),
    };
    return cmocka_run_group_tests_name("divergence/stack_barriers", tests, NULL, NULL);
}
