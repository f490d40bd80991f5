/* What control instructions do to single threads: every kind, with guards and partial masks. Rows have four lanes. */
#include "divergence/parts/threads.h"

#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_stack;

enum { UNTOUCHED = 12345 };

/* One row of four threads at instruction 0; the model is needed only to make it. */
static struct fixture *open_row(const char *text) {
    struct fixture *f =
        fixture_open(&divergence_stack, "stack", text, &(struct fixture_shape){.block = 4, .warp_size = 4});
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    fixture_start(f);
    return f;
}

static struct exec_row *row_of(struct fixture *f) { return &f->sm[0].block[0].block.cta->row[0]; }

static uint32_t pc_of(const struct fixture *f, enum ptx_opcode opcode, unsigned which) {
    for (uint32_t pc = 0;; pc++)
        if (f->program->code[pc].opcode == opcode && which-- == 0)
            return pc;
}

/* Executes all instructions before pc for all four lanes; the range must not contain a control instruction. */
static void execute_to(struct fixture *f, uint32_t pc) {
    for (uint32_t i = 0; i < pc; i++)
        exec_row_insn(&f->sm[0].cx, row_of(f), &f->program->code[i], 0xf);
}

struct outcome {
    uint32_t next[EXEC_LANES], waits;
};

static struct outcome control(struct fixture *f, uint32_t pc, uint32_t mask) {
    struct outcome outcome;
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++)
        outcome.next[lane] = UNTOUCHED;
    divergence_next_pcs(&f->sm[0].cx, row_of(f), pc, mask, outcome.next, &outcome.waits);
    return outcome;
}

#define EXPECT_NEXT(outcome, ...) assert_memory_equal((outcome).next, ((const uint32_t[4]){__VA_ARGS__}), 16)

static void a_branch_sends_each_lane_its_way(void **state) {
    (void)state;
    struct fixture *f =
        open_row(PROGRAM_HEAD PROGRAM_BEGIN "setp.lt.u32 %p1, %r0, 2; @%p1 bra T; mov.u32 %r4, 1; T: mov.u32 %r4, "
                                            "2;\n" PROGRAM_END);
    uint32_t pc = pc_of(f, PTX_OP_BRA, 0), target = f->program->code[pc].target;
    assert_int_equal(target, pc + 2);
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    EXPECT_NEXT(outcome, target, target, pc + 1, pc + 1);
    assert_int_equal(outcome.waits, 0);
    outcome = control(f, pc, 0x6); /* lanes outside the group do not change */
    EXPECT_NEXT(outcome, UNTOUCHED, target, pc + 1, UNTOUCHED);
    fixture_close(f);
}

static void an_indexed_branch_takes_the_tables_word_or_falls_through(void **state) {
    (void)state;
    struct fixture *f =
        open_row(PROGRAM_HEAD PROGRAM_BEGIN "T: .branchtargets A, B, A; setp.ne.u32 %p1, %r0, 1; @%p1 brx.idx %r0, T;\n"
                                            "mov.u32 %r4, 1; A: mov.u32 %r4, 2; B: mov.u32 %r4, 3;\n" PROGRAM_END);
    uint32_t pc = pc_of(f, PTX_OP_BRX, 0);
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    /* Lane 1 has a false guard; lane 3 is past the table. */
    EXPECT_NEXT(outcome, pc + 2, pc + 1, pc + 2, pc + 1);
    fixture_close(f);
}

#define FUNCTION ".func f() { .reg .b32 %a; mov.u32 %a, 1; ret; }\n"

static void a_call_and_a_return_come_back_behind_the_call(void **state) {
    (void)state;
    struct fixture *f = open_row(PROGRAM_HEAD FUNCTION PROGRAM_BEGIN
                                 "setp.ge.u32 %p1, %r0, 1; @%p1 call f; mov.u32 %r4, 1;\n" PROGRAM_END);
    uint32_t pc = pc_of(f, PTX_OP_CALL, 0), entry = f->program->function[1].first_pc;
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    EXPECT_NEXT(outcome, pc + 1, entry, entry, entry);
    uint32_t back = entry;
    while (f->program->code[back].kind != EXEC_KIND_RETURN)
        back++;
    outcome = control(f, back, 0xe);
    EXPECT_NEXT(outcome, UNTOUCHED, pc + 1, pc + 1, pc + 1);
    fixture_close(f);
}

static void an_indirect_call_sends_each_lane_to_its_function(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD FUNCTION ".func g() { ret; }\n" PROGRAM_BEGIN "P: .callprototype _ ();\n"
                              "mov.u64 %rd3, f; mov.u64 %rd4, g; setp.lt.u32 %p1, %r0, 3;\n"
                              "selp.b64 %rd3, %rd3, %rd4, %p1; call %rd3, P; mov.u32 %r4, 1;\n" PROGRAM_END;
    struct fixture *f = open_row(text);
    uint32_t pc = pc_of(f, PTX_OP_CALL, 0);
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    const struct exec_function *function = f->program->function;
    assert_string_equal(function[1].ptx->name, "f");
    EXPECT_NEXT(outcome, function[1].first_pc, function[1].first_pc, function[1].first_pc, function[2].first_pc);
    fixture_close(f);
}

static void a_call_of_what_is_no_function_is_a_fault_of_its_lane(void **state) {
    (void)state;
    struct fixture *f = open_row(PROGRAM_HEAD FUNCTION PROGRAM_BEGIN
                                 "P: .callprototype _ (); mov.u64 %rd3, f; setp.ne.u32 %p1, %r0, 2;\n"
                                 "selp.b64 %rd3, %rd3, 4, %p1; call %rd3, P; mov.u32 %r4, 1;\n" PROGRAM_END);
    uint32_t pc = pc_of(f, PTX_OP_CALL, 0);
    execute_to(f, pc);
    control(f, pc, 0xf);
    assert_int_equal(f->sm[0].cx.fault.kind, EXEC_FAULT_BAD_CALL);
    assert_int_equal(f->sm[0].cx.fault.lane, 2);
    fixture_close(f);
}

static void an_exit_ends_its_threads_and_the_last_one_its_row(void **state) {
    (void)state;
    struct fixture *f =
        open_row(PROGRAM_HEAD PROGRAM_BEGIN "setp.eq.u32 %p1, %r0, 1; @%p1 exit; mov.u32 %r4, 1;\n" PROGRAM_END);
    uint32_t pc = pc_of(f, PTX_OP_EXIT, 0), last = pc_of(f, PTX_OP_RET, 0);
    struct exec_cta *cta = f->sm[0].block[0].block.cta;
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    EXPECT_NEXT(outcome, pc + 1, EXEC_NO_PC, pc + 1, pc + 1);
    assert_int_equal(row_of(f)->live, 0xd);
    assert_int_equal(cta->n_live_rows, 1);
    outcome = control(f, last, 0xd); /* the kernel's ret is an exit */
    EXPECT_NEXT(outcome, EXEC_NO_PC, UNTOUCHED, EXEC_NO_PC, EXEC_NO_PC);
    assert_int_equal(row_of(f)->live, 0);
    assert_int_equal(cta->n_live_rows, 0);
    fixture_close(f);
}

static void lanes_whose_guard_is_false_pass_a_barrier_and_the_others_wait(void **state) {
    (void)state;
    struct fixture *f =
        open_row(PROGRAM_HEAD PROGRAM_BEGIN "setp.gt.u32 %p1, %r0, 1; @%p1 bar.sync 0; mov.u32 %r4, 1; @!%p1 "
                                            "vote.sync.any.pred %p2, %p1, 3; bar.warp.sync 15;\n" PROGRAM_END);
    uint32_t pc = pc_of(f, PTX_OP_BAR, 0);
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    EXPECT_NEXT(outcome, pc + 1, pc + 1, pc + 1, pc + 1);
    assert_int_equal(outcome.waits, 0xc);
    assert_int_equal(control(f, pc, 0x3).waits, 0);
    assert_int_equal(control(f, pc_of(f, PTX_OP_VOTE, 0), 0x7).waits, 0x3);
    assert_int_equal(control(f, pc_of(f, PTX_OP_BAR, 1), 0xf).waits, 0xf);
    fixture_close(f);
}

static void what_does_nothing_moves_on_and_a_trap_is_a_fault(void **state) {
    (void)state;
    struct fixture *f = open_row(PROGRAM_HEAD PROGRAM_BEGIN
                                 "setp.gt.u32 %p1, %r0, 5; membar.gl; @%p1 trap; setp.gt.u32 %p1, %r0, 2; @%p1 "
                                 "trap;\n" PROGRAM_END);
    uint32_t fence = pc_of(f, PTX_OP_MEMBAR, 0), trap = pc_of(f, PTX_OP_TRAP, 0);
    execute_to(f, fence);
    struct outcome outcome = control(f, fence, 0x3);
    EXPECT_NEXT(outcome, fence + 1, fence + 1, UNTOUCHED, UNTOUCHED);
    assert_int_equal(outcome.waits, 0);
    outcome = control(f, trap, 0xf); /* no lane's guard holds */
    EXPECT_NEXT(outcome, trap + 1, trap + 1, trap + 1, trap + 1);
    assert_int_equal(f->sm[0].cx.fault.kind, EXEC_FAULT_NONE);
    exec_row_insn(&f->sm[0].cx, row_of(f), &f->program->code[trap + 1], 0xf);
    control(f, trap + 2, 0xf);
    assert_int_equal(f->sm[0].cx.fault.kind, EXEC_FAULT_TRAP);
    assert_int_equal(f->sm[0].cx.fault.lane, 3);
    fixture_close(f);
}

static void guards_may_be_negated(void **state) {
    (void)state;
    struct fixture *f = open_row(PROGRAM_HEAD PROGRAM_BEGIN
                                 "setp.eq.u32 %p1, %r0, 0; @%p1 mov.u32 %r4, 1; @!%p1 mov.u32 %r4, 2; mov.u32 %r4, "
                                 "3;\n" PROGRAM_END);
    uint32_t pc = pc_of(f, PTX_OP_SETP, 0);
    execute_to(f, pc + 1);
    assert_int_equal(divergence_guard(row_of(f), &f->program->code[pc + 1], 0xf), 0x1);
    assert_int_equal(divergence_guard(row_of(f), &f->program->code[pc + 2], 0xf), 0xe);
    assert_int_equal(divergence_guard(row_of(f), &f->program->code[pc + 2], 0x3), 0x2);
    assert_int_equal(divergence_guard(row_of(f), &f->program->code[pc + 3], 0x5), 0x5);
    fixture_close(f);
}

static void instructions_that_need_the_lanes_of_their_row_are_known(void **state) {
    (void)state;
    struct fixture *f = open_row(PROGRAM_HEAD PROGRAM_BEGIN
                                 "setp.eq.u32 %p1, %r0, 0; vote.sync.any.pred %p2, %p1, 15; bar.warp.sync 15;\n"
                                 "bar.sync 0; membar.gl;\n" PROGRAM_END);
    uint32_t pc = pc_of(f, PTX_OP_VOTE, 0);
    static const bool is_sync[] = {true, true, false, false, false};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(divergence_is_row_sync(&f->program->code[pc + i]), is_sync[i]);
    fixture_close(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_branch_sends_each_lane_its_way),
        cmocka_unit_test(an_indexed_branch_takes_the_tables_word_or_falls_through),
        cmocka_unit_test(a_call_and_a_return_come_back_behind_the_call),
        cmocka_unit_test(an_indirect_call_sends_each_lane_to_its_function),
        cmocka_unit_test(a_call_of_what_is_no_function_is_a_fault_of_its_lane),
        cmocka_unit_test(an_exit_ends_its_threads_and_the_last_one_its_row),
        cmocka_unit_test(lanes_whose_guard_is_false_pass_a_barrier_and_the_others_wait),
        cmocka_unit_test(what_does_nothing_moves_on_and_a_trap_is_a_fault),
        cmocka_unit_test(guards_may_be_negated),
        cmocka_unit_test(instructions_that_need_the_lanes_of_their_row_are_known),
    };
    return cmocka_run_group_tests_name("divergence/threads", tests, NULL, NULL);
}
