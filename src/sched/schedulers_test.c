/* Properties of every scheduler in schedulers.def, on a small random machine: blocks of warps that compute, wait for
 * short and long results and at barriers, finish, and make room for new blocks. */
#include "sched/fixture.h"

enum { N_SLOTS = 24, BLOCK = 4, N_BLOCKS = N_SLOTS / BLOCK, INSTRUCTIONS = 40, MOST_CYCLES = 200000 };

/* Tested besides every scheduler with its default options. */
static const char *const variants[] = {
    "two-level:group=4",
    "two-level:group=4,switch=stall",
    "two-level:group=4,switch=stall,inner=gto,outer=gto",
    "two-level:group=1,timeout=5",
    "two-level:group=1,timeout=5,switch=stall,outer=gto",
    "lpi:queue=pass",
    "two-level-active:active=1",
    "two-level-active:active=2",
    "two-level-opt:active=3",
    "progress:ties=gto",
    "progress:among=block",
    "progress:among=block,ties=gto",
    "adaptive:window=20,phase=5",
    "adaptive:window=1,phase=1,change=0,of=lrr+gto+two-level+two-level-stall+two-level-gto+llos+lfws+progress",
};
enum { N_VARIANTS = sizeof variants / sizeof variants[0] };

struct machine {
    struct bench first, second; /* the second, if there is one, sees the same and must pick the same */
    bool has_second, has_marks; /* has_marks: with long operations and progress instructions */
    uint64_t seed, age;
    uint32_t blocks_left, instructions_left[N_SLOTS];
    uint64_t wakes_at[N_SLOTS];
    struct sched_set at_barrier;
    uint64_t picks; /* a digest of all picks */
};

static uint32_t random_below(struct machine *machine, uint32_t limit) {
    machine->seed = machine->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(machine->seed >> 33) % limit;
}

/* Calls a hook of the first scheduler and of the second, if there is one. */
#define TELL(machine, hook, ...)                                                                                       \
    do {                                                                                                               \
        (machine)->first.ops->hook((machine)->first.state, &(machine)->first.view, __VA_ARGS__);                       \
        if ((machine)->has_second)                                                                                     \
            (machine)->second.ops->hook((machine)->second.state, &(machine)->first.view, __VA_ARGS__);                 \
    } while (0)

static void update_next(struct machine *machine, uint32_t slot) {
    bool is_long = machine->has_marks && random_below(machine, 3) == 0;
    sched_put(&machine->first.next_long, slot, is_long);
    sched_put(&machine->first.next_load, slot, is_long && random_below(machine, 2));
    /* A step, or sometimes a jump, in a program of 16 instructions with a merge point. */
    struct sched_slot *seen = &machine->first.slot[slot];
    seen->pc = (random_below(machine, 4) ? seen->pc + 1 : random_below(machine, 16)) % 16;
    seen->passed += seen->pc == 11;
    if (machine->has_marks && random_below(machine, 6) == 0)
        seen->progress += random_below(machine, 3);
}

static void add_block(struct machine *machine, uint32_t block) {
    for (uint32_t slot = block * BLOCK; slot < (block + 1) * BLOCK; slot++) {
        machine->first.slot[slot] = (struct sched_slot){.age = machine->age++, .warp_id = slot, .block = block};
        machine->instructions_left[slot] = 1 + random_below(machine, INSTRUCTIONS);
        sched_add(&machine->first.occupied, slot);
        sched_add(&machine->first.ready, slot);
        update_next(machine, slot);
        TELL(machine, arrive, slot);
    }
    machine->blocks_left--;
}

static void wake(struct machine *machine, uint32_t slot) {
    sched_add(&machine->first.ready, slot);
    sched_remove(&machine->first.waits_long, slot);
    sched_remove(&machine->first.pending, slot);
    sched_remove(&machine->at_barrier, slot);
    TELL(machine, wake, slot);
}

/* Opens the barriers that all warps of a block have reached, and adds new blocks where all have left. */
static void serve_blocks(struct machine *machine) {
    for (uint32_t block = 0; block < N_BLOCKS; block++) {
        struct sched_set slots = bench_set(((1ull << BLOCK) - 1) << block * BLOCK);
        struct sched_set live = sched_and(&slots, &machine->first.occupied);
        struct sched_set missing = sched_and_not(&live, &machine->at_barrier);
        if (sched_is_empty(&live) && machine->blocks_left)
            add_block(machine, block);
        else if (sched_is_empty(&missing))
            for (uint32_t slot = block * BLOCK; slot < (block + 1) * BLOCK; slot++)
                if (sched_has(&live, slot))
                    wake(machine, slot);
    }
}

static void begin_cycle(struct machine *machine, uint64_t cycle) {
    machine->first.view.cycle = cycle;
    struct sched_set waiting = sched_and_not(&machine->first.occupied, &machine->first.ready);
    for (uint32_t slot = 0; slot < N_SLOTS; slot++)
        if (sched_has(&waiting, slot) && !sched_has(&machine->at_barrier, slot) && machine->wakes_at[slot] <= cycle)
            wake(machine, slot);
    serve_blocks(machine);
}

static void wait_for_something(struct machine *machine, uint32_t slot, uint64_t cycle) {
    uint32_t kind = random_below(machine, 20);
    if (kind < 10)
        return;
    bool is_long = kind < 14, is_barrier = kind == 19;
    machine->wakes_at[slot] = cycle + (is_long ? 20 + random_below(machine, 60) : 2 + random_below(machine, 8));
    sched_remove(&machine->first.ready, slot);
    sched_put(&machine->first.waits_long, slot, is_long);
    sched_put(&machine->first.pending, slot, is_barrier);
    sched_put(&machine->at_barrier, slot, is_barrier);
    TELL(machine, stall, slot, is_long);
}

static void issue(struct machine *machine, uint32_t slot, uint64_t cycle) {
    update_next(machine, slot);
    TELL(machine, issued, slot);
    if (--machine->instructions_left[slot] > 0) {
        wait_for_something(machine, slot, cycle);
        return;
    }
    sched_remove(&machine->first.occupied, slot);
    sched_remove(&machine->first.ready, slot);
    TELL(machine, leave, slot);
}

static void pick_and_issue(struct machine *machine, uint64_t cycle) {
    /* Sometimes a unit is busy. */
    struct sched_set busy = bench_set(random_below(machine, 4) == 0 ? machine->seed >> 20 : 0);
    struct sched_set candidates = sched_and_not(&machine->first.ready, &busy);
    if (sched_is_empty(&candidates))
        return;
    int slot = machine->first.ops->pick(machine->first.state, &machine->first.view, &candidates);
    if (machine->has_second)
        assert_int_equal(machine->second.ops->pick(machine->second.state, &machine->first.view, &candidates), slot);
    machine->picks = (machine->picks ^ (uint64_t)(slot + 2)) * 1099511628211u;
    if (slot == SCHED_NONE) {
        assert_true(machine->first.ops->is_strict);
        return;
    }
    assert_true(slot >= 0 && slot < N_SLOTS && sched_has(&candidates, (uint32_t)slot));
    issue(machine, (uint32_t)slot, cycle);
}

/* Runs until all blocks are done and returns a digest of the picks. `second` may be NULL. */
static uint64_t simulate(const char *first, const char *second, bool has_marks, uint32_t n_blocks, uint64_t seed) {
    static struct machine machine;
    machine = (struct machine){.seed = seed, .has_marks = has_marks, .blocks_left = n_blocks};
    bench_start(&machine.first, first, N_SLOTS);
    if (second)
        bench_start(&machine.second, second, N_SLOTS);
    machine.has_second = second != NULL;
    uint64_t cycle = 0;
    do {
        begin_cycle(&machine, cycle);
        pick_and_issue(&machine, cycle);
        if (++cycle == MOST_CYCLES)
            fail_msg("%s never ends", first);
    } while (machine.blocks_left || !sched_is_empty(&machine.first.occupied));
    bench_end(&machine.first);
    if (second)
        bench_end(&machine.second);
    return machine.picks;
}

/* simulate() checks the picks and that programs with barriers end. */
static void every_scheduler_picks_candidates_ends_and_is_deterministic(void **state) {
    (void)state;
    size_t count;
    const struct sched_ops *const *list = sched_list(&count);
    for (size_t i = 0; i < count + N_VARIANTS; i++) {
        const char *name = i < count ? list[i]->name : variants[i - count];
        for (uint64_t seed = 1; seed <= 5; seed++)
            assert_true(simulate(name, NULL, true, 30, seed) == simulate(name, NULL, true, 30, seed));
    }
}

static void schedulers_differ(void **state) {
    (void)state;
    size_t count;
    const struct sched_ops *const *list = sched_list(&count);
    uint64_t picks[64];
    assert_true(count <= 64);
    for (size_t i = 0; i < count; i++) {
        picks[i] = simulate(list[i]->name, NULL, true, 90, 1); /* long enough for a second candidate of adaptive */
        for (size_t j = 0; j < i; j++)
            if (picks[i] == picks[j])
                fail_msg("%s picks like %s", list[i]->name, list[j]->name);
    }
}

static void one_fetch_group_is_the_inner_policy(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        simulate("lrr", "two-level:group=128", true, 30, seed);
        simulate("lrr", "two-level:group=24,switch=stall", true, 30, seed);
        simulate("gto", "two-level:group=128,inner=gto", true, 30, seed);
    }
}

static void fetch_groups_as_large_as_blocks_are_sticky_round_robin(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        simulate("sticky-rr", "two-level:group=4", true, 30, seed);
}

static void an_active_set_of_all_warps_is_loose_round_robin(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++)
        simulate("lrr", "two-level-active:active=24", true, 30, seed);
}

static void without_long_operations_their_priority_changes_nothing(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        simulate("two-level-active", "two-level-opt", false, 30, seed);
        simulate("two-level-active:active=3", "two-level-opt:active=3", false, 30, seed);
        simulate("gto", "lfws", false, 30, seed);
        simulate("lrr", "llos", false, 30, seed);
    }
}

static void without_the_instruction_progress_is_the_policy_of_ties(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        simulate("lrr", "progress", false, 30, seed);
        simulate("gto", "progress:ties=gto", false, 30, seed);
    }
}

static void adaptive_with_one_candidate_is_that_candidate(void **state) {
    (void)state;
    static const char *const pair[][2] = {
        {"lrr", "adaptive:of=lrr,window=7"},
        {"gto", "adaptive:of=gto,window=7"},
        {"two-level", "adaptive:of=two-level,window=7"},
        {"two-level:switch=stall", "adaptive:of=two-level-stall,window=7"},
        {"two-level:inner=gto,outer=gto", "adaptive:of=two-level-gto,window=7"},
        {"llos", "adaptive:of=llos,window=7"},
        {"lfws", "adaptive:of=lfws,window=7"},
        {"progress", "adaptive:of=progress,window=7"},
    };
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            simulate(pair[i][0], pair[i][1], true, 30, seed);
}

/* Expects a slot that is always ready to issue after at most `most` issues, whatever the others do. */
static void expect_no_starvation(const char *scheduler, unsigned most) {
    static struct machine machine;
    machine = (struct machine){.seed = 7};
    for (uint32_t always = 0; always < N_SLOTS; always++) {
        bench_start_full(&machine.first, scheduler, N_SLOTS);
        unsigned waited = 0, longest = 0, n_issued = 0;
        for (int i = 0; i < 3000; i++) {
            uint64_t others = (uint64_t)random_below(&machine, 1u << 12) << 12 | random_below(&machine, 1u << 12);
            int slot = bench_issue(&machine.first, others | 1ull << always);
            if (slot == SCHED_NONE)
                continue;
            n_issued++;
            waited = slot == (int)always ? 0 : waited + 1;
            longest = waited > longest ? waited : longest;
        }
        assert_true(n_issued > 100 && longest < most);
        bench_end(&machine.first);
    }
}

static void no_warp_starves_under_a_fair_scheduler(void **state) {
    (void)state;
    expect_no_starvation("srr", N_SLOTS);
    expect_no_starvation("lrr", N_SLOTS);
    expect_no_starvation("two-level:group=24", N_SLOTS);
    expect_no_starvation("two-level:group=24,switch=stall", N_SLOTS);
    expect_no_starvation("two-level-active:active=24", N_SLOTS);
    expect_no_starvation("llos", N_SLOTS);
    expect_no_starvation("sticky-rr", N_SLOTS);          /* one block */
    expect_no_starvation("progress", N_SLOTS);           /* none makes any */
    expect_no_starvation("lpi:queue=pass", 2 * N_SLOTS); /* last in one pass, second in the next */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheduler_picks_candidates_ends_and_is_deterministic),
        cmocka_unit_test(schedulers_differ),
        cmocka_unit_test(one_fetch_group_is_the_inner_policy),
        cmocka_unit_test(fetch_groups_as_large_as_blocks_are_sticky_round_robin),
        cmocka_unit_test(an_active_set_of_all_warps_is_loose_round_robin),
        cmocka_unit_test(without_long_operations_their_priority_changes_nothing),
        cmocka_unit_test(without_the_instruction_progress_is_the_policy_of_ties),
        cmocka_unit_test(adaptive_with_one_candidate_is_that_candidate),
        cmocka_unit_test(no_warp_starves_under_a_fair_scheduler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
