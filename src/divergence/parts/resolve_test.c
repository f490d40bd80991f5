/* Tests of every kind of control instruction, with guards and partial masks: for one row, for two rows, and for threads
 * of both rows in one warp. Rows have four lanes. */
#include "divergence/parts/resolve.h"

#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_stack;

enum { UNTOUCHED = 12345 };

/* Rows of four threads at instruction 0; the model is needed only to make them. */
static struct fixture *open_rows(const char *text, uint32_t n_rows) {
    struct fixture *f =
        fixture_open(&divergence_stack, "stack", text, &(struct fixture_shape){.block = 4 * n_rows, .warp_size = 4});
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    fixture_start(f);
    return f;
}

static struct fixture *open_row(const char *text) { return open_rows(text, 1); }

static struct exec_cta *cta_of(struct fixture *f) { return f->sm[0].block[0].block.cta; }

static struct exec_row *row_of(struct fixture *f) { return &cta_of(f)->row[0]; }

/* Executes all instructions before pc for all lanes; the range must not contain a control instruction. */
static void execute_to(struct fixture *f, uint32_t pc) {
    for (uint32_t r = 0; r < cta_of(f)->n_rows; r++)
        for (uint32_t i = 0; i < pc; i++)
            exec_row_insn(&f->sm[0].cx, &cta_of(f)->row[r], &f->program->code[i], 0xf);
}

struct outcome {
    struct divergence_outcome resolved;
    uint32_t next[EXEC_LANES], waits;
};

/* One row: lanes in `mask` execute the instruction at pc. */
static struct outcome control(struct fixture *f, uint32_t pc, uint32_t mask) {
    struct outcome outcome;
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++)
        outcome.next[lane] = UNTOUCHED;
    uint32_t taken = divergence_guard(row_of(f), &f->program->code[pc], mask);
    outcome.resolved = divergence_resolve_lanes(&f->sm[0].cx, pc, row_of(f), mask, taken, outcome.next);
    outcome.waits = divergence_has_to_wait(&outcome.resolved) ? taken : 0;
    return outcome;
}

#define EXPECT(outcome, effect_, is_divergent_, target_)                                                               \
    do {                                                                                                               \
        assert_int_equal((outcome).effect, effect_);                                                                   \
        assert_int_equal((outcome).is_divergent, is_divergent_);                                                       \
        assert_int_equal((outcome).target, target_);                                                                   \
    } while (0)
#define EXPECT_NEXT(outcome, ...) assert_memory_equal((outcome).next, ((const uint32_t[4]){__VA_ARGS__}), 16)

static void a_branch_sends_each_lane_its_way(void **state) {
    (void)state;
    struct fixture *f =
        open_row(PROGRAM_HEAD PROGRAM_BEGIN "setp.lt.u32 %p1, %r0, 2; @%p1 bra T; mov.u32 %r4, 1; T: mov.u32 %r4, "
                                            "2;\n" PROGRAM_END);
    uint32_t pc = fixture_pc_of(f, PTX_OP_BRA, 0), target = f->program->code[pc].target;
    assert_int_equal(target, pc + 2);
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    EXPECT_NEXT(outcome, target, target, pc + 1, pc + 1);
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, true, target);
    outcome = control(f, pc, 0x6); /* lanes outside the group do not change */
    EXPECT_NEXT(outcome, UNTOUCHED, target, pc + 1, UNTOUCHED);
    outcome = control(f, pc, 0x3); /* all take it */
    EXPECT_NEXT(outcome, target, target, UNTOUCHED, UNTOUCHED);
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, false, target);
    outcome = control(f, pc, 0xc); /* none takes it */
    EXPECT_NEXT(outcome, UNTOUCHED, UNTOUCHED, pc + 1, pc + 1);
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, false, pc + 1);
    fixture_close(f);
}

/* All lanes have the same next pc, whatever their guard. */
static void a_branch_to_the_next_instruction_never_diverges(void **state) {
    (void)state;
    struct fixture *f =
        open_row(PROGRAM_HEAD PROGRAM_BEGIN "setp.lt.u32 %p1, %r0, 2; @%p1 bra T; T: mov.u32 %r4, 2;\n" PROGRAM_END);
    uint32_t pc = fixture_pc_of(f, PTX_OP_BRA, 0);
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    EXPECT_NEXT(outcome, pc + 1, pc + 1, pc + 1, pc + 1);
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, false, pc + 1);
    fixture_close(f);
}

static void an_indexed_branch_takes_the_tables_word_or_falls_through(void **state) {
    (void)state;
    struct fixture *f =
        open_row(PROGRAM_HEAD PROGRAM_BEGIN "T: .branchtargets A, B, A; setp.ne.u32 %p1, %r0, 1; @%p1 brx.idx %r0, T;\n"
                                            "mov.u32 %r4, 1; A: mov.u32 %r4, 2; B: mov.u32 %r4, 3;\n" PROGRAM_END);
    uint32_t pc = fixture_pc_of(f, PTX_OP_BRX, 0);
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    /* Lane 1 has a false guard; lane 3 is past the table. */
    EXPECT_NEXT(outcome, pc + 2, pc + 1, pc + 2, pc + 1);
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, true, EXEC_NO_PC);
    outcome = control(f, pc, 0x5); /* both go to A */
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, false, pc + 2);
    outcome = control(f, pc, 0x7); /* one target, and lane 1 falls through */
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, true, pc + 2);
    outcome = control(f, pc, 0xa); /* a false guard and a number past the table lead to the same instruction */
    EXPECT_NEXT(outcome, UNTOUCHED, pc + 1, UNTOUCHED, pc + 1);
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, false, pc + 1);
    outcome = control(f, pc, 0x2); /* no guard is true: still a branch */
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, false, pc + 1);
    fixture_close(f);
}

#define FUNCTION ".func f() { .reg .b32 %a; mov.u32 %a, 1; ret; }\n"

static void a_call_and_a_return_come_back_behind_the_call(void **state) {
    (void)state;
    struct fixture *f = open_row(PROGRAM_HEAD FUNCTION PROGRAM_BEGIN
                                 "setp.ge.u32 %p1, %r0, 1; @%p1 call f; mov.u32 %r4, 1;\n" PROGRAM_END);
    uint32_t pc = fixture_pc_of(f, PTX_OP_CALL, 0), entry = f->program->function[1].first_pc;
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    EXPECT_NEXT(outcome, pc + 1, entry, entry, entry);
    EXPECT(outcome.resolved, DIVERGENCE_CALLS, false, entry);
    uint32_t back = entry;
    while (f->program->code[back].kind != EXEC_KIND_RETURN)
        back++;
    outcome = control(f, back, 0xe);
    EXPECT_NEXT(outcome, UNTOUCHED, pc + 1, pc + 1, pc + 1);
    EXPECT(outcome.resolved, DIVERGENCE_RETURNS, false, EXEC_NO_PC);
    fixture_close(f);
}

static void an_indirect_call_sends_each_lane_to_its_function(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD FUNCTION ".func g() { ret; }\n" PROGRAM_BEGIN "P: .callprototype _ ();\n"
                              "mov.u64 %rd3, f; mov.u64 %rd4, g; setp.lt.u32 %p1, %r0, 3;\n"
                              "selp.b64 %rd3, %rd3, %rd4, %p1; call %rd3, P; mov.u32 %r4, 1;\n" PROGRAM_END;
    struct fixture *f = open_row(text);
    uint32_t pc = fixture_pc_of(f, PTX_OP_CALL, 0);
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    const struct exec_function *function = f->program->function;
    assert_string_equal(function[1].ptx->name, "f");
    EXPECT_NEXT(outcome, function[1].first_pc, function[1].first_pc, function[1].first_pc, function[2].first_pc);
    EXPECT(outcome.resolved, DIVERGENCE_CALLS, false, EXEC_NO_PC);
    fixture_close(f);
}

static void a_call_of_what_is_no_function_is_a_fault_of_its_lane(void **state) {
    (void)state;
    struct fixture *f = open_row(PROGRAM_HEAD FUNCTION PROGRAM_BEGIN
                                 "P: .callprototype _ (); mov.u64 %rd3, f; setp.ne.u32 %p1, %r0, 2;\n"
                                 "selp.b64 %rd3, %rd3, 4, %p1; call %rd3, P; mov.u32 %r4, 1;\n" PROGRAM_END);
    uint32_t pc = fixture_pc_of(f, PTX_OP_CALL, 0);
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
    uint32_t pc = fixture_pc_of(f, PTX_OP_EXIT, 0), last = fixture_pc_of(f, PTX_OP_RET, 0);
    const struct exec_cta *cta = cta_of(f);
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    EXPECT_NEXT(outcome, pc + 1, EXEC_NO_PC, pc + 1, pc + 1);
    EXPECT(outcome.resolved, DIVERGENCE_ENDS, false, EXEC_NO_PC);
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
    uint32_t pc = fixture_pc_of(f, PTX_OP_BAR, 0);
    execute_to(f, pc);
    struct outcome outcome = control(f, pc, 0xf);
    EXPECT_NEXT(outcome, pc + 1, pc + 1, pc + 1, pc + 1);
    assert_int_equal(outcome.waits, 0xc);
    EXPECT(outcome.resolved, DIVERGENCE_MEETS_BLOCK, false, pc + 1);
    assert_int_equal(control(f, pc, 0x3).waits, 0);
    assert_int_equal(control(f, fixture_pc_of(f, PTX_OP_VOTE, 0), 0x7).waits, 0x3);
    outcome = control(f, fixture_pc_of(f, PTX_OP_BAR, 1), 0xf);
    assert_int_equal(outcome.waits, 0xf);
    assert_int_equal(outcome.resolved.effect, DIVERGENCE_MEETS_ROW);
    fixture_close(f);
}

static void what_does_nothing_moves_on_and_a_trap_is_a_fault(void **state) {
    (void)state;
    struct fixture *f = open_row(PROGRAM_HEAD PROGRAM_BEGIN
                                 "setp.gt.u32 %p1, %r0, 5; membar.gl; @%p1 trap; setp.gt.u32 %p1, %r0, 2; @%p1 "
                                 "trap;\n" PROGRAM_END);
    uint32_t fence = fixture_pc_of(f, PTX_OP_MEMBAR, 0), trap = fixture_pc_of(f, PTX_OP_TRAP, 0);
    execute_to(f, fence);
    struct outcome outcome = control(f, fence, 0x3);
    EXPECT_NEXT(outcome, fence + 1, fence + 1, UNTOUCHED, UNTOUCHED);
    EXPECT(outcome.resolved, DIVERGENCE_PASSES, false, fence + 1);
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
    uint32_t pc = fixture_pc_of(f, PTX_OP_SETP, 0);
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
    uint32_t pc = fixture_pc_of(f, PTX_OP_VOTE, 0);
    static const bool is_sync[] = {true, true, false, false, false};
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(divergence_is_row_sync(&f->program->code[pc + i]), is_sync[i]);
    fixture_close(f);
}

/* --- two rows: threads 0 to 3 and 4 to 7 --- */

struct wide {
    struct divergence_outcome resolved;
    uint32_t next[2][EXEC_LANES], taken[2];
};

static struct wide control_rows(struct fixture *f, uint32_t pc, uint32_t first, uint32_t second) {
    struct wide wide;
    const uint32_t active[2] = {first, second};
    for (uint32_t r = 0; r < 2; r++) {
        wide.taken[r] = divergence_guard(&cta_of(f)->row[r], &f->program->code[pc], active[r]);
        for (uint32_t lane = 0; lane < EXEC_LANES; lane++)
            wide.next[r][lane] = UNTOUCHED;
    }
    wide.resolved = divergence_resolve(&f->sm[0].cx, pc, cta_of(f)->row, 2, active, wide.taken, wide.next);
    return wide;
}

#define EXPECT_ROWS(wide, ...)                                                                                         \
    do {                                                                                                               \
        const uint32_t expected_[2][4] = {__VA_ARGS__};                                                                \
        assert_memory_equal((wide).next[0], expected_[0], 16);                                                         \
        assert_memory_equal((wide).next[1], expected_[1], 16);                                                         \
    } while (0)

static void a_branch_of_two_rows_diverges_if_the_rows_do(void **state) {
    (void)state;
    struct fixture *f =
        open_rows(PROGRAM_HEAD PROGRAM_BEGIN
                  "setp.lt.u32 %p1, %r0, 4; @%p1 bra T; mov.u32 %r4, 1; T: mov.u32 %r4, 2;\n" PROGRAM_END,
                  2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_BRA, 0);
    execute_to(f, pc);
    struct wide wide = control_rows(f, pc, 0xf, 0xf);
    EXPECT(wide.resolved, DIVERGENCE_BRANCHES, true, pc + 2);
    assert_int_equal(wide.taken[0], 0xf);
    assert_int_equal(wide.taken[1], 0);
    EXPECT(control_rows(f, pc, 0x3, 0).resolved, DIVERGENCE_BRANCHES, false, pc + 2);
    EXPECT(control_rows(f, pc, 0, 0x8).resolved, DIVERGENCE_BRANCHES, false, pc + 1);
    fixture_close(f);
}

static void an_indexed_branch_of_two_rows_has_targets_in_both(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "T: .branchtargets A, B, A; shr.u32 %r4, %r0, 1; setp.ne.u32 %p1, %r0, 7;\n"
        "@%p1 brx.idx %r4, T; mov.u32 %r4, 1; A: mov.u32 %r4, 2; B: mov.u32 %r4, 3;\n" PROGRAM_END;
    struct fixture *f = open_rows(text, 2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_BRX, 0), a = pc + 2, b = pc + 3;
    execute_to(f, pc);
    struct wide wide = control_rows(f, pc, 0xf, 0xf); /* indices 0 0 1 1, 2 2 3 and a false guard */
    EXPECT(wide.resolved, DIVERGENCE_BRANCHES, true, EXEC_NO_PC);
    EXPECT_ROWS(wide, {a, a, b, b}, {a, a, pc + 1, UNTOUCHED});
    wide = control_rows(f, pc, 0x3, 0x3); /* both rows go to A */
    EXPECT(wide.resolved, DIVERGENCE_BRANCHES, false, a);
    wide = control_rows(f, pc, 0, 0xc); /* past the table, and a false guard */
    EXPECT(wide.resolved, DIVERGENCE_BRANCHES, false, pc + 1);
    fixture_close(f);
}

static void functions_are_entered_and_left_by_the_threads_of_two_rows(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD FUNCTION ".func g() { ret; }\n" PROGRAM_BEGIN "P: .callprototype _ ();\n"
                              "mov.u64 %rd3, f; mov.u64 %rd4, g; setp.lt.u32 %p1, %r0, 6;\n"
                              "selp.b64 %rd3, %rd3, %rd4, %p1; call %rd3, P; mov.u32 %r4, 1;\n" PROGRAM_END;
    struct fixture *f = open_rows(text, 2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_CALL, 0);
    execute_to(f, pc);
    struct wide wide = control_rows(f, pc, 0xe, 0xf);
    uint32_t to_f = f->program->function[1].first_pc, to_g = f->program->function[2].first_pc;
    EXPECT(wide.resolved, DIVERGENCE_CALLS, false, EXEC_NO_PC);
    EXPECT_ROWS(wide, {UNTOUCHED, to_f, to_f, to_f}, {to_f, to_f, to_g, to_g});
    uint32_t back = to_f;
    while (f->program->code[back].kind != EXEC_KIND_RETURN)
        back++;
    wide = control_rows(f, back, 0xe, 0x3);
    EXPECT(wide.resolved, DIVERGENCE_RETURNS, false, EXEC_NO_PC);
    EXPECT_ROWS(wide, {UNTOUCHED, pc + 1, pc + 1, pc + 1}, {pc + 1, pc + 1, UNTOUCHED, UNTOUCHED});
    fixture_close(f);
}

static void threads_of_two_rows_end(void **state) {
    (void)state;
    struct fixture *f =
        open_rows(PROGRAM_HEAD PROGRAM_BEGIN "setp.gt.u32 %p1, %r0, 2; @%p1 exit; mov.u32 %r4, 1;\n" PROGRAM_END, 2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_EXIT, 0);
    execute_to(f, pc);
    EXPECT(control_rows(f, pc, 0x7, 0).resolved, DIVERGENCE_PASSES, false, pc + 1);
    EXPECT(control_rows(f, pc, 0xf, 0x7).resolved, DIVERGENCE_ENDS, false, EXEC_NO_PC);
    assert_int_equal(cta_of(f)->row[0].live, 0x7);
    assert_int_equal(cta_of(f)->row[1].live, 0x8);
    assert_int_equal(cta_of(f)->n_live_rows, 2);
    control_rows(f, pc, 0, 0x8);
    assert_int_equal(cta_of(f)->n_live_rows, 1);
    fixture_close(f);
}

static void a_trap_of_the_second_row_names_its_lane(void **state) {
    (void)state;
    struct fixture *f =
        open_rows(PROGRAM_HEAD PROGRAM_BEGIN "setp.eq.u32 %p1, %r0, 6; @%p1 trap; mov.u32 %r4, 1;\n" PROGRAM_END, 2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_TRAP, 0);
    execute_to(f, pc);
    control_rows(f, pc, 0xf, 0xf);
    assert_int_equal(f->sm[0].cx.fault.kind, EXEC_FAULT_TRAP);
    assert_int_equal(f->sm[0].cx.fault.lane, 2);
    assert_ptr_equal(f->sm[0].cx.row, &cta_of(f)->row[1]);
    fixture_close(f);
}

static void two_rows_meet_at_barriers(void **state) {
    (void)state;
    struct fixture *f = open_rows(
        PROGRAM_HEAD PROGRAM_BEGIN "setp.gt.u32 %p1, %r0, 4; @%p1 bar.sync 0; mov.u32 %r4, 1;\n" PROGRAM_END, 2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_BAR, 0);
    execute_to(f, pc);
    EXPECT(control_rows(f, pc, 0xf, 0xf).resolved, DIVERGENCE_MEETS_BLOCK, false, pc + 1);
    EXPECT(control_rows(f, pc, 0xf, 0x1).resolved, DIVERGENCE_PASSES, false, pc + 1);
    fixture_close(f);
}

/* --- threads of both rows in one warp --- */

/* The warp of threads 5, 1, 0, 6, by lane: two of each row, not all in their own lanes. */
static struct exec_threads mixed_warp(struct fixture *f) {
    static const uint8_t thread[4] = {5, 1, 0, 6};
    struct exec_threads threads = {0};
    exec_threads_start(&threads);
    for (uint32_t lane = 0; lane < 4; lane++)
        exec_threads_put(&threads, lane, &cta_of(f)->row[thread[lane] / 4], thread[lane] % 4);
    return threads;
}

static struct outcome control_mixed(struct fixture *f, uint32_t pc, uint32_t mask) {
    struct exec_threads threads = mixed_warp(f);
    struct outcome outcome;
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++)
        outcome.next[lane] = UNTOUCHED;
    uint32_t taken = exec_threads_guard(&threads, &f->program->code[pc], mask);
    outcome.resolved = divergence_resolve_threads(&f->sm[0].cx, pc, &threads, mask, taken, outcome.next);
    outcome.waits = divergence_has_to_wait(&outcome.resolved) ? taken : 0;
    return outcome;
}

static void threads_of_a_mixed_warp_branch_by_their_own_guards(void **state) {
    (void)state;
    struct fixture *f =
        open_rows(PROGRAM_HEAD PROGRAM_BEGIN
                  "setp.lt.u32 %p1, %r0, 4; @%p1 bra T; mov.u32 %r4, 1; T: mov.u32 %r4, 2;\n" PROGRAM_END,
                  2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_BRA, 0);
    execute_to(f, pc);
    struct outcome outcome = control_mixed(f, pc, 0xf);
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, true, pc + 2);
    EXPECT_NEXT(outcome, pc + 1, pc + 2, pc + 2, pc + 1);
    outcome = control_mixed(f, pc, 0x9);
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, false, pc + 1);
    EXPECT_NEXT(outcome, pc + 1, UNTOUCHED, UNTOUCHED, pc + 1);
    fixture_close(f);
}

static void threads_of_a_mixed_warp_read_their_own_table_numbers(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "T: .branchtargets A, B, A; and.b32 %r4, %r0, 3; setp.ne.u32 %p1, %r0, 0;\n"
        "@%p1 brx.idx %r4, T; mov.u32 %r4, 1; A: mov.u32 %r4, 2; B: mov.u32 %r4, 3;\n" PROGRAM_END;
    struct fixture *f = open_rows(text, 2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_BRX, 0), a = pc + 2, b = pc + 3;
    execute_to(f, pc);
    struct outcome outcome = control_mixed(f, pc, 0xf); /* threads 5 1 0 6 have the numbers 1 1 - 2 */
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, true, EXEC_NO_PC);
    EXPECT_NEXT(outcome, b, b, pc + 1, a);
    outcome = control_mixed(f, pc, 0x3);
    EXPECT(outcome.resolved, DIVERGENCE_BRANCHES, false, b);
    fixture_close(f);
}

static void threads_of_a_mixed_warp_call_and_return(void **state) {
    (void)state;
    struct fixture *f = open_rows(
        PROGRAM_HEAD FUNCTION PROGRAM_BEGIN "setp.ne.u32 %p1, %r0, 1; @%p1 call f; mov.u32 %r4, 1;\n" PROGRAM_END, 2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_CALL, 0), entry = f->program->function[1].first_pc;
    execute_to(f, pc);
    struct outcome outcome = control_mixed(f, pc, 0xf);
    EXPECT(outcome.resolved, DIVERGENCE_CALLS, false, entry);
    EXPECT_NEXT(outcome, entry, pc + 1, entry, entry);
    uint32_t back = entry;
    while (f->program->code[back].kind != EXEC_KIND_RETURN)
        back++;
    outcome = control_mixed(f, back, 0xd);
    EXPECT(outcome.resolved, DIVERGENCE_RETURNS, false, EXEC_NO_PC);
    EXPECT_NEXT(outcome, pc + 1, UNTOUCHED, pc + 1, pc + 1);
    fixture_close(f);
}

static void threads_of_a_mixed_warp_end_in_their_rows(void **state) {
    (void)state;
    struct fixture *f =
        open_rows(PROGRAM_HEAD PROGRAM_BEGIN "setp.ne.u32 %p1, %r0, 0; @%p1 exit; mov.u32 %r4, 1;\n" PROGRAM_END, 2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_EXIT, 0);
    execute_to(f, pc);
    struct outcome outcome = control_mixed(f, pc, 0xf);
    EXPECT(outcome.resolved, DIVERGENCE_ENDS, false, EXEC_NO_PC);
    EXPECT_NEXT(outcome, EXEC_NO_PC, EXEC_NO_PC, pc + 1, EXEC_NO_PC);
    assert_int_equal(cta_of(f)->row[0].live, 0xd);
    assert_int_equal(cta_of(f)->row[1].live, 0x9);
    fixture_close(f);
}

static void threads_of_a_mixed_warp_wait_if_their_guard_is_true(void **state) {
    (void)state;
    struct fixture *f = open_rows(
        PROGRAM_HEAD PROGRAM_BEGIN "setp.lt.u32 %p1, %r0, 6; @%p1 bar.sync 0; bar.warp.sync 15;\n" PROGRAM_END, 2);
    uint32_t pc = fixture_pc_of(f, PTX_OP_BAR, 0);
    execute_to(f, pc);
    struct outcome outcome = control_mixed(f, pc, 0xf);
    EXPECT(outcome.resolved, DIVERGENCE_MEETS_BLOCK, false, pc + 1);
    EXPECT_NEXT(outcome, pc + 1, pc + 1, pc + 1, pc + 1);
    assert_int_equal(outcome.waits, 0x7);
    EXPECT(control_mixed(f, pc + 1, 0x9).resolved, DIVERGENCE_MEETS_ROW, false, pc + 2);
    fixture_close(f);
}

static void threads_of_a_mixed_warp_are_found_by_row_and_block(void **state) {
    (void)state;
    struct fixture *f = open_rows(PROGRAM_HEAD PROGRAM_BEGIN PROGRAM_END, 2);
    struct exec_threads threads = mixed_warp(f);
    uint32_t home;
    assert_int_equal(divergence_same_row(&threads, 0xf, &home), 0x9); /* threads 5 and 6 */
    assert_int_equal(home, 0x6);
    assert_int_equal(divergence_same_row(&threads, 0x6, &home), 0x6); /* threads 1 and 0 */
    assert_int_equal(home, 0x3);
    assert_int_equal(divergence_same_row(&threads, 0xc, &home), 0x4);
    assert_int_equal(divergence_same_block(&threads, 0xe), 0xe);
    fixture_close(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_branch_sends_each_lane_its_way),
        cmocka_unit_test(a_branch_to_the_next_instruction_never_diverges),
        cmocka_unit_test(an_indexed_branch_takes_the_tables_word_or_falls_through),
        cmocka_unit_test(a_call_and_a_return_come_back_behind_the_call),
        cmocka_unit_test(an_indirect_call_sends_each_lane_to_its_function),
        cmocka_unit_test(a_call_of_what_is_no_function_is_a_fault_of_its_lane),
        cmocka_unit_test(an_exit_ends_its_threads_and_the_last_one_its_row),
        cmocka_unit_test(lanes_whose_guard_is_false_pass_a_barrier_and_the_others_wait),
        cmocka_unit_test(what_does_nothing_moves_on_and_a_trap_is_a_fault),
        cmocka_unit_test(guards_may_be_negated),
        cmocka_unit_test(instructions_that_need_the_lanes_of_their_row_are_known),
        cmocka_unit_test(a_branch_of_two_rows_diverges_if_the_rows_do),
        cmocka_unit_test(an_indexed_branch_of_two_rows_has_targets_in_both),
        cmocka_unit_test(functions_are_entered_and_left_by_the_threads_of_two_rows),
        cmocka_unit_test(threads_of_two_rows_end),
        cmocka_unit_test(a_trap_of_the_second_row_names_its_lane),
        cmocka_unit_test(two_rows_meet_at_barriers),
        cmocka_unit_test(threads_of_a_mixed_warp_branch_by_their_own_guards),
        cmocka_unit_test(threads_of_a_mixed_warp_read_their_own_table_numbers),
        cmocka_unit_test(threads_of_a_mixed_warp_call_and_return),
        cmocka_unit_test(threads_of_a_mixed_warp_end_in_their_rows),
        cmocka_unit_test(threads_of_a_mixed_warp_wait_if_their_guard_is_true),
        cmocka_unit_test(threads_of_a_mixed_warp_are_found_by_row_and_block),
    };
    return cmocka_run_group_tests_name("divergence/resolve", tests, NULL, NULL);
}
