/* Tests of barriers and warp-wide instructions for threads that run apart: which lanes wait, which are released, and
 * the results. */
#include "divergence/parts/sync.h"

#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_stack;

struct place {
    struct fixture *f; /* only makes the block */
    struct divergence_sync *sync;
    struct exec_cta *cta;
    struct exec_context *cx;
};

static struct place open_block(const char *text, uint32_t threads) {
    struct fixture *f = fixture_open(&divergence_stack, "stack", text, &(struct fixture_shape){.block = threads});
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    fixture_start(f);
    struct exec_cta *cta = f->sm[0].block[0].block.cta;
    struct place place = {f, divergence_sync_new(cta->n_rows), cta, &f->sm[0].cx};
    divergence_sync_start(place.sync);
    return place;
}

static void close_block(struct place *place) {
    divergence_sync_free(place->sync);
    fixture_close(place->f);
}

static uint32_t pc_of(const struct place *place, enum ptx_opcode opcode, unsigned which) {
    for (uint32_t pc = 0;; pc++)
        if (place->f->program->code[pc].opcode == opcode && which-- == 0)
            return pc;
}

/* Executes [from, to) for all lanes of a row; the range must not contain a control instruction. */
static void execute(struct place *place, uint32_t row, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        exec_row_insn(place->cx, &place->cta->row[row], &place->f->program->code[i], ~0u);
}

static bool arrive(struct place *place, uint32_t row, uint32_t pc, uint32_t mask) {
    return divergence_sync_arrive(place->sync, place->cx, &place->cta->row[row], pc, mask);
}

/* The next of the row's released lanes are these, and continue there. */
static void expect_taken(struct place *place, uint32_t row, uint32_t mask, uint32_t next_pc) {
    uint32_t pc = 0;
    assert_int_equal(divergence_sync_take(place->sync, row, &pc), mask);
    if (mask)
        assert_int_equal(pc, next_pc);
}

static void end_threads(struct place *place, uint32_t row, uint32_t mask) {
    place->cta->row[row].live &= ~mask;
    place->cta->n_live_rows -= !place->cta->row[row].live;
}

static const uint32_t *lanes_of(const struct place *place, uint32_t row, struct exec_operand operand) {
    return (const uint32_t *)(place->cta->row[row].base[operand.base] + operand.offset);
}

/* --- barriers --- */

static const char barrier_text[] = PROGRAM_HEAD PROGRAM_BEGIN "bar.sync 0; bar.sync 1; mov.u32 %r4, 1;\n" PROGRAM_END;

static void the_last_part_of_the_last_row_completes_a_barrier(void **state) {
    (void)state;
    struct place place = open_block(barrier_text, 64);
    uint32_t pc = pc_of(&place, PTX_OP_BAR, 0);
    assert_false(arrive(&place, 1, pc, 0x0000ffff));
    assert_false(arrive(&place, 0, pc, ~0u));
    assert_int_equal(place.sync->waiting[0], ~0u);
    assert_int_equal(place.sync->waiting[1], 0xffff);
    expect_taken(&place, 0, 0, 0);
    assert_true(arrive(&place, 1, pc, 0xffff0000));
    expect_taken(&place, 0, ~0u, pc + 1);
    expect_taken(&place, 1, ~0u, pc + 1);
    expect_taken(&place, 1, 0, 0);
    assert_int_equal(place.sync->waiting[0] | place.sync->waiting[1], 0);
    close_block(&place);
}

static void barriers_of_different_numbers_are_apart(void **state) {
    (void)state;
    struct place place =
        open_block(PROGRAM_HEAD PROGRAM_BEGIN "bar.sync 1, 64; bar.sync 2, 32; mov.u32 %r4, 1;\n" PROGRAM_END, 64);
    uint32_t first = pc_of(&place, PTX_OP_BAR, 0), second = first + 1;
    assert_false(arrive(&place, 0, first, ~0u));
    assert_true(arrive(&place, 1, second, ~0u)); /* 32 threads complete it */
    expect_taken(&place, 1, ~0u, second + 1);
    expect_taken(&place, 0, 0, 0);
    assert_int_equal(place.sync->waiting[0], ~0u);
    assert_true(arrive(&place, 1, first, ~0u));
    expect_taken(&place, 0, ~0u, first + 1);
    close_block(&place);
}

static void the_end_of_threads_completes_a_barrier(void **state) {
    (void)state;
    struct place place = open_block(barrier_text, 64);
    uint32_t pc = pc_of(&place, PTX_OP_BAR, 0);
    assert_false(arrive(&place, 0, pc, 0x7fffffff));
    end_threads(&place, 0, 1u << 31);
    assert_false(divergence_sync_after_exit(place.sync, place.cx, place.cta)); /* the other row is missing */
    end_threads(&place, 1, ~0u);
    assert_true(divergence_sync_after_exit(place.sync, place.cx, place.cta));
    expect_taken(&place, 0, 0x7fffffff, pc + 1);
    assert_false(divergence_sync_after_exit(place.sync, place.cx, place.cta));
    close_block(&place);
}

static void who_only_arrives_does_not_wait(void **state) {
    (void)state;
    struct place place =
        open_block(PROGRAM_HEAD PROGRAM_BEGIN "bar.arrive 2, 64; bar.sync 2, 64; mov.u32 %r4, 1;\n" PROGRAM_END, 64);
    uint32_t arrives = pc_of(&place, PTX_OP_BAR, 0), waits = arrives + 1;
    assert_true(arrive(&place, 0, arrives, ~0u));
    expect_taken(&place, 0, ~0u, arrives + 1);
    assert_true(arrive(&place, 1, waits, ~0u));
    expect_taken(&place, 1, ~0u, waits + 1);
    close_block(&place);
}

static void a_reduction_over_the_block_gives_all_who_waited_its_result(void **state) {
    (void)state;
    struct place place = open_block(
        PROGRAM_HEAD PROGRAM_BEGIN "setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r4, 0, %p1;\n" PROGRAM_END, 64);
    uint32_t pc = pc_of(&place, PTX_OP_BAR, 0);
    execute(&place, 0, 0, pc);
    execute(&place, 1, 0, pc);
    assert_false(arrive(&place, 0, pc, ~0u));
    assert_false(arrive(&place, 1, pc, 0x0f));
    assert_true(arrive(&place, 1, pc, ~0xfu));
    struct exec_operand result = place.f->program->code[pc].operand[0];
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(lanes_of(&place, i / 32, result)[i % 32], 40);
    close_block(&place);
}

/* --- warp-wide instructions --- */

static const char warp_text[] =
    PROGRAM_HEAD PROGRAM_BEGIN "setp.lt.u32 %p1, %r0, 3; vote.sync.ballot.b32 %r4, %p1, 0xff;\n"
                               "shfl.sync.idx.b32 %r5, %r0, 2, 31, 0xff; bar.warp.sync 0xff;\n" PROGRAM_END;

static void lanes_wait_for_those_that_their_mask_names(void **state) {
    (void)state;
    struct place place = open_block(warp_text, 32);
    uint32_t pc = pc_of(&place, PTX_OP_VOTE, 0);
    execute(&place, 0, 0, pc);
    assert_false(arrive(&place, 0, pc, 0x05));
    assert_false(arrive(&place, 0, pc, 0x72));
    assert_true(arrive(&place, 0, pc, 0x88));
    assert_int_equal(lanes_of(&place, 0, place.f->program->code[pc].operand[0])[7], 0x7);
    assert_int_equal(lanes_of(&place, 0, place.f->program->code[pc].operand[0])[0], 0x7);
    expect_taken(&place, 0, 0xff, pc + 1);
    close_block(&place);
}

static void lanes_at_another_instruction_do_not_count(void **state) {
    (void)state;
    struct place place = open_block(warp_text, 32);
    uint32_t vote = pc_of(&place, PTX_OP_VOTE, 0), shuffle = vote + 1;
    execute(&place, 0, 0, vote);
    assert_false(arrive(&place, 0, vote, 0x0f));
    assert_false(arrive(&place, 0, shuffle, 0xf0));
    assert_int_equal(place.sync->waiting[0], 0xff);
    close_block(&place);
}

static void a_warp_barrier_waits_too_and_computes_nothing(void **state) {
    (void)state;
    struct place place = open_block(warp_text, 32);
    uint32_t pc = pc_of(&place, PTX_OP_BAR, 0);
    assert_false(arrive(&place, 0, pc, 0xfe));
    assert_true(arrive(&place, 0, pc, 0x01));
    expect_taken(&place, 0, 0xff, pc + 1);
    close_block(&place);
}

static void ended_lanes_are_not_waited_for(void **state) {
    (void)state;
    struct place place = open_block(warp_text, 32);
    uint32_t pc = pc_of(&place, PTX_OP_SHFL, 0);
    execute(&place, 0, 0, pc - 1);
    assert_false(arrive(&place, 0, pc, 0x7f));
    end_threads(&place, 0, 0x80);
    assert_true(divergence_sync_after_exit(place.sync, place.cx, place.cta));
    expect_taken(&place, 0, 0x7f, pc + 1);
    for (uint32_t lane = 0; lane < 7; lane++)
        assert_int_equal(lanes_of(&place, 0, place.f->program->code[pc].operand[0])[lane], 2);
    close_block(&place);
}

/* --- released lanes --- */

static void lanes_that_go_on_at_different_places_are_taken_one_place_at_a_time(void **state) {
    (void)state;
    struct place place = open_block(barrier_text, 32);
    uint32_t first = pc_of(&place, PTX_OP_BAR, 0);
    place.sync->released[0] = 0x3f;
    for (uint32_t lane = 0; lane < 6; lane++)
        place.sync->pc[0][lane] = lane % 2 ? first : first + 1;
    expect_taken(&place, 0, 0x15, first + 2);
    expect_taken(&place, 0, 0x2a, first + 1);
    expect_taken(&place, 0, 0, 0);
    close_block(&place);
}

static void a_new_block_finds_nobody_waiting(void **state) {
    (void)state;
    struct place place = open_block(barrier_text, 64);
    arrive(&place, 1, pc_of(&place, PTX_OP_BAR, 0), 0xf);
    place.sync->released[0] = 3;
    divergence_sync_start(place.sync);
    assert_int_equal(place.sync->waiting[1], 0);
    expect_taken(&place, 0, 0, 0);
    close_block(&place);
}

/* --- programs that are refused --- */

static void expect_refusal(const char *instruction, const char *name) {
    char source[2048], text[400], expected[400];
    snprintf(source, sizeof source, "%s%s%s\n%s", PROGRAM_HEAD, PROGRAM_BEGIN, instruction, PROGRAM_END);
    struct fixture *f = fixture_open(&divergence_stack, "stack", source, &(struct fixture_shape){.block = 32});
    const char *rule = divergence_refuse_unsynced(f->program, "odgs", text, sizeof text);
    if (name) {
        snprintf(
            expected, sizeof expected,
            "odgs lets the lanes of a warp run apart, and '%s' (line 8) does not name the lanes that it needs: use "
            "the form with .sync and a member mask, or another model",
            name);
        assert_non_null(rule);
        assert_string_equal(rule, expected);
    } else {
        assert_null(rule);
    }
    fixture_start(f);
    fixture_close(f);
}

static void warp_wide_instructions_without_named_lanes_are_refused(void **state) {
    (void)state;
    expect_refusal("activemask.b32 %r4;", "activemask.b32");
    expect_refusal("vote.sync.any.pred %p1, %p2, 15;", NULL);
    expect_refusal("shfl.sync.idx.b32 %r4, %r0, 0, 31, -1;", NULL);
    expect_refusal("bar.sync 0;", NULL);
    char text[8];
    assert_null(divergence_refuse_unsynced(NULL, "odgs", text, sizeof text)); /* before a program is loaded */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_part_of_the_last_row_completes_a_barrier),
        cmocka_unit_test(barriers_of_different_numbers_are_apart),
        cmocka_unit_test(the_end_of_threads_completes_a_barrier),
        cmocka_unit_test(who_only_arrives_does_not_wait),
        cmocka_unit_test(a_reduction_over_the_block_gives_all_who_waited_its_result),
        cmocka_unit_test(lanes_wait_for_those_that_their_mask_names),
        cmocka_unit_test(lanes_at_another_instruction_do_not_count),
        cmocka_unit_test(a_warp_barrier_waits_too_and_computes_nothing),
        cmocka_unit_test(ended_lanes_are_not_waited_for),
        cmocka_unit_test(lanes_that_go_on_at_different_places_are_taken_one_place_at_a_time),
        cmocka_unit_test(a_new_block_finds_nobody_waiting),
        cmocka_unit_test(warp_wide_instructions_without_named_lanes_are_refused),
    };
    return cmocka_run_group_tests_name("divergence/sync", tests, NULL, NULL);
}
