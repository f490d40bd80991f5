/* The wider view of a policy: events of the L1, holding accesses back, accounts, pressure, facts of the kernel, and the
 * number of blocks. Cycles are derived on paper: see fixture.h. */
#include "sm/fixture.h"

/* ---- A policy that records what it sees -------------------------------------------------------------------------- */

enum { MOST_EVENTS = 64 };

struct event {
    struct sched_l1_event l1;
    uint64_t cycle;
};

static struct {
    struct event event[MOST_EVENTS];
    uint32_t n_events;
    uint64_t issue_cycle[2][16]; /* by slot and pc: of the last time */
    struct sched_account account;
    struct sched_block block;
    uint32_t most_mshrs, n_mshrs;
    struct sched_kernel kernel;
    struct sched_insn insn[16];
    struct sched_loop loop;
    uint32_t most_resident;
} seen;

static void see_l1(void *state, const struct sched_view *view, const struct sched_l1_event *event) {
    (void)state;
    if (seen.n_events < MOST_EVENTS)
        seen.event[seen.n_events++] = (struct event){*event, view->cycle};
}

static int pick_first(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    (void)state;
    seen.most_mshrs = view->pressure->mshrs_used > seen.most_mshrs ? view->pressure->mshrs_used : seen.most_mshrs;
    seen.n_mshrs = view->pressure->n_mshrs;
    seen.most_resident = view->n_blocks > seen.most_resident ? view->n_blocks : seen.most_resident;
    return sched_first(candidates);
}

static void see_issue(void *state, const struct sched_view *view, uint32_t slot) {
    (void)state;
    if (slot < 2 && view->slot[slot].pc < 16)
        seen.issue_cycle[slot][view->slot[slot].pc] = view->cycle;
    seen.account = view->account[slot];
    seen.block = view->block[view->slot[slot].block];
    seen.kernel = *view->kernel;
    memcpy(seen.insn, view->kernel->insn,
           (view->kernel->n_insns < 16 ? view->kernel->n_insns : 16) * sizeof *seen.insn);
    seen.loop = view->kernel->loop[0];
}

static void hold_slot_1(void *state, const struct sched_view *view, struct sched_set *held) {
    (void)state;
    if (view->cycle < 100)
        sched_add(held, 1);
}

static uint32_t allow_one_block_at_first(void *state, const struct sched_view *view) {
    (void)state;
    return view->cycle < 50 ? 0 : 2; /* 0 counts as 1 */
}

static uint32_t aside_limit;

static uint32_t limit_aside(void *state, const struct sched_view *view) {
    (void)state, (void)view;
    return aside_limit;
}

#define RECORDER                                                                                                       \
    .name = "recorder", .help = "", .state_bytes = 1, .pick = pick_first, .issued = see_issue, .l1 = see_l1,           \
    .wants = SCHED_WANTS_ACCOUNTS | SCHED_WANTS_PRESSURE | SCHED_WANTS_KERNEL
static const struct sched_ops recorder = {RECORDER};
static const struct sched_ops holder = {RECORDER, .hold = hold_slot_1};
static const struct sched_ops patient = {RECORDER, .most_aside = limit_aside};
static const struct sched_ops limiter = {RECORDER, .blocks = allow_one_block_at_first};

static uint64_t run(const struct sched_ops *policy, const char *const *settings, const char *body, uint32_t blocks,
                    uint32_t threads) {
    memset(&seen, 0, sizeof seen);
    fixture_policy = policy;
    uint64_t cycles = fixture_run(settings, body, blocks, threads).cycles;
    fixture_policy = NULL;
    return cycles;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static const char *const two_lines[] = {
    "memory.perfect=false", "l1.present=true", "l1.size=256", "l1.line=128", "l1.ways=1", "l2.present=true", NULL};

/* The lines at 0 and 256 are in the same set of one way. */
static const char conflict[] = "ld.param.u64 %d1, [p];\n"
                               "ld.global.u32 %r1, [%d1];\nadd.u32 %r2, %r1, 1;\n"
                               "ld.global.u32 %r3, [%d1+256];\nadd.u32 %r4, %r3, 1;\n"
                               "ld.global.u32 %r5, [%d1];\nadd.u32 %r6, %r5, 1;\n"
                               "ld.global.u32 %r7, [%d1];\nadd.u32 %r8, %r7, 1;\nret;";

static void the_l1_reports_hits_misses_fills_and_evictions(void **state) {
    (void)state;
    static const struct {
        enum sched_l1_kind kind;
        uint32_t pc;
        uint64_t line;
    } expected[] = {
        {SCHED_L1_MISS, 1, 0},       {SCHED_L1_FILL, 1, 0},   {SCHED_L1_MISS, 3, 256},
        {SCHED_L1_EVICTION, 1, 0},   {SCHED_L1_FILL, 3, 256}, {SCHED_L1_MISS, 5, 0},
        {SCHED_L1_EVICTION, 3, 256}, {SCHED_L1_FILL, 5, 0},   {SCHED_L1_HIT, 7, 0},
    };
    run(&recorder, two_lines, conflict, 1, 32);
    assert_int_equal(seen.n_events, sizeof expected / sizeof expected[0]);
    for (uint32_t i = 0; i < seen.n_events; i++) {
        assert_int_equal(seen.event[i].l1.kind, expected[i].kind);
        assert_int_equal(seen.event[i].l1.pc, expected[i].pc);
        assert_int_equal(seen.event[i].l1.slot, 0);
        assert_int_equal(seen.event[i].l1.line, FIXTURE_MEMORY + expected[i].line);
        assert_int_equal(seen.event[i].l1.n_lines,
                         expected[i].kind == SCHED_L1_HIT || expected[i].kind == SCHED_L1_MISS);
        assert_true(i == 0 || seen.event[i].cycle >= seen.event[i - 1].cycle);
    }
    /* A load reaches the L1 in the cycle after its issue. */
    assert_int_equal(seen.event[0].cycle, seen.issue_cycle[0][1] + 1);
    assert_int_equal(seen.event[8].cycle, seen.issue_cycle[0][7] + 1);
}

/* Warp 0 brings line 0, warp 1 brings line 256 and evicts it. */
static void an_evicted_line_names_the_warp_that_brought_it(void **state) {
    (void)state;
    static const char body[] = "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nshr.u32 %r1, %r1, 5;\n"
                               "mul.wide.u32 %d2, %r1, 256;\nadd.u64 %d1, %d1, %d2;\n"
                               "ld.global.u32 %r2, [%d1];\nadd.u32 %r3, %r2, 1;\nret;";
    run(&recorder, two_lines, body, 1, 64);
    const struct event *last = NULL;
    for (uint32_t i = 0; i < seen.n_events; i++)
        if (seen.event[i].l1.kind == SCHED_L1_EVICTION)
            last = &seen.event[i];
    assert_non_null(last);
    assert_int_equal(last->l1.slot, last->l1.line == FIXTURE_MEMORY ? 0 : 1);
}

static void held_loads_wait_and_other_instructions_do_not(void **state) {
    (void)state;
    static const char body[] = "ld.param.u64 %d1, [p];\nadd.u32 %r1, %r2, 1;\nld.global.u32 %r3, [%d1];\nret;";
    run(&holder, NULL, body, 1, 64);
    assert_true(seen.issue_cycle[0][2] < 20);
    assert_true(seen.issue_cycle[1][1] < 20);
    assert_int_equal(seen.issue_cycle[1][2], 100);
}

/* It arrives in cycle 0. A dependent addition follows after 9 cycles: instructions in cycles 1, 2, 11 and 12. */
static void accounts_add_up(void **state) {
    (void)state;
    run(&recorder, NULL, "ld.param.u64 %d1, [p];\nadd.u32 %r1, %r2, 1;\nadd.u32 %r3, %r1, 1;\nret;", 1, 32);
    assert_int_equal(seen.issue_cycle[0][2], 11);
    assert_int_equal(seen.account.instructions, 4);
    assert_int_equal(seen.account.stall_cycles, 8);
    assert_int_equal(seen.account.memory_cycles, 0);
    assert_int_equal(seen.block.instructions, 4);
    assert_int_equal(seen.block.stall_cycles, 8);
}

/* Perfect memory: the request of cycle a + 1 is answered in a + 1 + 40, when the addition issues: 40 stall cycles. */
static void waits_for_a_load_are_memory_cycles(void **state) {
    (void)state;
    run(&recorder, NULL, "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nadd.u32 %r2, %r1, 1;\nret;", 1, 32);
    uint64_t stall = seen.issue_cycle[0][2] - seen.issue_cycle[0][1] - 1;
    assert_int_equal(stall, 40);
    assert_in_range(seen.account.memory_cycles, 1, stall);
    assert_in_range(seen.account.stall_cycles, stall, stall + 20);
}

static void pressure_counts_the_lines_in_flight(void **state) {
    (void)state;
    static const char *const few[] = {
        "memory.perfect=false", "l1.present=true", "l1.size=1024", "l1.line=128", "l1.ways=1", "l1.mshrs=5", NULL};
    static const char body[] = "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nld.global.u32 %r2, [%d1+128];\n"
                               "ld.global.u32 %r3, [%d1+256];\nmov.u32 %r4, 1;\nmov.u32 %r5, 1;\nmov.u32 %r6, 1;\n"
                               "mov.u32 %r7, 1;\nmov.u32 %r8, 1;\nret;";
    run(&recorder, few, body, 1, 32);
    assert_int_equal(seen.n_mshrs, 5);
    assert_int_equal(seen.most_mshrs, 3);
}

static void facts_of_the_kernel(void **state) {
    (void)state;
    static const char body[] = "ld.param.u64 %d1, [p];\nmov.u32 %r1, 0;\n"
                               "L: ld.global.u32 %r2, [%d1];\nld.param.u64 %d2, [p];\nadd.u32 %r1, %r1, 1;\n"
                               "setp.lt.u32 %p1, %r1, 3;\n@%p1 bra L;\nst.global.u32 [%d1], %r1;\nret;";
    static const uint32_t to_long[] = {2, 1, 0, 4, 3, 2, 1, 0, SCHED_NEVER_LONG};
    run(&recorder, two_lines, body, 1, 48);
    assert_int_equal(seen.kernel.n_loops, 1);
    assert_int_equal(seen.loop.head_pc, 2);
    assert_int_equal(seen.loop.n_loads, 1);
    assert_int_equal(seen.loop.depth, 1);
    assert_true(seen.loop.parent == SCHED_NO_LOOP);
    for (uint32_t pc = 0; pc < 9; pc++) {
        assert_int_equal(seen.insn[pc].to_long, to_long[pc]);
        assert_true(seen.insn[pc].loop == (pc >= 2 && pc < 7 ? 0 : SCHED_NO_LOOP));
        assert_int_equal(seen.insn[pc].is_long, to_long[pc] == 0);
    }
    assert_true(seen.insn[2].is_load && !seen.insn[7].is_load && seen.insn[7].is_store && seen.insn[6].is_branch);
    assert_int_equal(seen.insn[6].target, 2);
    assert_int_equal(seen.insn[6].taken_path, 5);
    assert_int_equal(seen.insn[6].other_path, 0);
    assert_int_equal(seen.insn[2].taken_path, 0);
    assert_int_equal(seen.kernel.l1_lines, 2);
    assert_int_equal(seen.kernel.l1_ways, 1);
    assert_int_equal(seen.kernel.l1_line_bytes, 128);
    assert_int_equal(seen.kernel.threads_per_block, 48);
    assert_int_equal(seen.kernel.sm, 0);
    assert_int_equal(seen.kernel.n_sms, 1);
    assert_int_equal(seen.kernel.n_blocks, 1);
}

/* The side that is not taken has three instructions with its jump, the other two. Without an else, one side is empty.
 */
static void facts_of_branches(void **state) {
    (void)state;
    static const char body[] = "setp.lt.u32 %p1, %r1, 3;\n@%p1 bra ELSE;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 2;\n"
                               "bra MEET;\nELSE: add.u32 %r1, %r1, 3;\nadd.u32 %r1, %r1, 4;\n"
                               "MEET: @%p1 bra END;\nadd.u32 %r1, %r1, 5;\nEND: ret;";
    static const struct { uint32_t pc, target, taken, other; } expected[] = {{1, 5, 2, 3}, {4, 0, 0, 0}, {7, 9, 0, 1}};
    run(&recorder, NULL, body, 1, 32);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct sched_insn *insn = &seen.insn[expected[i].pc];
        assert_true(insn->is_branch);
        assert_int_equal(insn->target, expected[i].target);
        assert_int_equal(insn->taken_path, expected[i].taken);
        assert_int_equal(insn->other_path, expected[i].other);
    }
}

/* Returns the cycle of the first event of this kind and line, by its offset. */
static uint64_t cycle_of(enum sched_l1_kind kind, uint64_t line) {
    for (uint32_t i = 0; i < seen.n_events; i++)
        if (seen.event[i].l1.kind == kind && seen.event[i].l1.line == FIXTURE_MEMORY + line)
            return seen.event[i].cycle;
    fail_msg("no event of line %llu", (unsigned long long)line);
    return 0;
}

/* The first load brings line 0. With one MSHR, the load of 256 takes it, and those of 512 and 768 are refused until its
 * line arrives, and then one of them until the other's does. The load of line 0 after them (pc 6) hits as soon as it
 * reaches the L1: when both have been accepted, when one has been and the other waits aside, or in the cycle after its
 * issue, when both wait aside. The refused loads take as long as before. */
static void loads_that_wait_aside_let_others_hit(void **state) {
    (void)state;
    static const char *const one_mshr[] = {"memory.perfect=false", "l1.size=1024",    "l1.line=128", "l1.ways=4",
                                           "l1.mshrs=1",           "l2.present=true", NULL};
    static const char body[] = "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nadd.u32 %r2, %r1, 1;\n"
                               "ld.global.u32 %r3, [%d1+256];\nld.global.u32 %r4, [%d1+512];\n"
                               "ld.global.u32 %r5, [%d1+768];\nld.global.u32 %r6, [%d1];\nadd.u32 %r7, %r6, 1;\n"
                               "add.u32 %r8, %r4, 1;\nadd.u32 %r9, %r5, 1;\nret;";
    uint64_t in_order = run(&recorder, one_mshr, body, 1, 32);
    for (aside_limit = 0; aside_limit < 4; aside_limit++) {
        assert_int_equal(run(&patient, one_mshr, body, 1, 32), in_order);
        uint64_t hit = cycle_of(SCHED_L1_HIT, 0), first = cycle_of(SCHED_L1_FILL, 256);
        uint64_t second = cycle_of(SCHED_L1_FILL, 512);
        assert_true(first < second && second < cycle_of(SCHED_L1_FILL, 768));
        if (aside_limit >= 2)
            assert_int_equal(hit, seen.issue_cycle[0][6] + 1);
        else
            assert_in_range(hit - (aside_limit ? first : second), 0, 2);
        assert_int_equal(seen.issue_cycle[0][7], hit + 40);
    }
}

/* Each block takes 4 x 9 cycles and more, so the second starts after cycle 36, and the third after 50, beside it. */
static void a_policy_limits_the_blocks_of_its_sm(void **state) {
    (void)state;
    static const char body[] =
        "add.u32 %r1, %r2, 1;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\n"
        "add.u32 %r1, %r1, 1;\nret;";
    uint64_t free = run(&recorder, NULL, body, 4, 32), limited = run(&limiter, NULL, body, 4, 32);
    assert_int_equal(seen.most_resident, 2);
    assert_true(limited > 2 * free);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_l1_reports_hits_misses_fills_and_evictions),
        cmocka_unit_test(an_evicted_line_names_the_warp_that_brought_it),
        cmocka_unit_test(held_loads_wait_and_other_instructions_do_not),
        cmocka_unit_test(accounts_add_up),
        cmocka_unit_test(waits_for_a_load_are_memory_cycles),
        cmocka_unit_test(pressure_counts_the_lines_in_flight),
        cmocka_unit_test(facts_of_the_kernel),
        cmocka_unit_test(facts_of_branches),
        cmocka_unit_test(loads_that_wait_aside_let_others_hit),
        cmocka_unit_test(a_policy_limits_the_blocks_of_its_sm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
