/* Relations between models and schedulers that hold by construction, on random programs: when two of them do the same,
 * every statistic is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "divergence/divergence.h"
#include "run.h"

enum { SEED = 20, N_PROGRAMS = 40 };

static struct machines machines;

static struct target target_of(const char *machine, const char *scheduler, const char *divergence) {
    struct target target = {.machine = machines_find(&machines, machine)};
    assert_non_null(target.machine);
    snprintf(target.scheduler, sizeof target.scheduler, "%s", scheduler);
    snprintf(target.divergence, sizeof target.divergence, "%s", divergence);
    return target;
}

typedef void make_fn(struct program *program, uint64_t seed, uint64_t number);

/* Returns false when the program is too long or cannot run on the target. */
static bool run_on(make_fn *make, uint64_t number, const struct target *target, struct stats_counters *counters) {
    struct program program;
    struct text text = {0};
    struct outcome functional, outcome = {.is_refused = true};
    make(&program, SEED, number);
    program_emit(&program, &text);
    run_program(&program, &text, &(struct target){.machine = NULL}, 0, &functional);
    if (functional.counters.warp_instructions <= MOST_INSTRUCTIONS)
        run_program(&program, &text, target, 0, &outcome);
    if (!outcome.is_refused && *outcome.error)
        fail_msg("program %u: %s", (unsigned)number, outcome.error);
    *counters = outcome.counters;
    bool has_run = !outcome.is_refused;
    outcome_free(&functional);
    outcome_free(&outcome);
    text_free(&text);
    program_free(&program);
    return has_run;
}

static void expect_same(make_fn *make, uint64_t number, const struct target *one, const struct target *other,
                        unsigned *n_compared) {
    struct stats_counters a, b;
    if (!run_on(make, number, one, &a) || !run_on(make, number, other, &b))
        return;
    ++*n_compared;
    const char *machine = one->machine->name;
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        if (a.value[i] != b.value[i])
            fail_msg("program %u of seed %u on %s: %s is %llu with %s %s and %llu with %s %s", (unsigned)number, SEED,
                     machine, stats_list[i].name, (unsigned long long)a.value[i], one->scheduler, one->divergence,
                     (unsigned long long)b.value[i], other->scheduler, other->divergence);
}

static const char *const wide_machines[] = {"gtx480", "narasiman2011", "malits2012"};
enum { N_WIDE = sizeof wide_machines / sizeof wide_machines[0] };

static void a_large_warp_of_one_row_is_a_warp_with_a_stack(void **state) {
    (void)state;
    unsigned n_compared = 0;
    for (uint64_t i = 0; i < N_PROGRAMS; i++) {
        struct target stack = target_of(wide_machines[i % N_WIDE], i & 1 ? "gto" : "lrr", "stack");
        struct target lwm = target_of(wide_machines[i % N_WIDE], i & 1 ? "gto" : "lrr", "lwm:size=32");
        expect_same(program_make, i, &stack, &lwm, &n_compared);
    }
    assert_true(n_compared > N_PROGRAMS / 2);
}

static void two_levels_with_one_group_are_loose_round_robin(void **state) {
    (void)state;
    unsigned n_compared = 0;
    for (uint64_t i = 0; i < N_PROGRAMS; i++) {
        const struct config_machine *machine = &machines.machine[i % machines.count];
        struct target lrr = target_of(machine->name, "lrr", "stack");
        struct target two_level = target_of(machine->name, "two-level:group=128", "stack");
        expect_same(program_make, i, &lrr, &two_level, &n_compared);
    }
    assert_true(n_compared > N_PROGRAMS / 2);
}

/* SMs that run ahead of others do the same as in step with them. */
static void running_ahead_changes_no_statistic(void **state) {
    (void)state;
    size_t n_models;
    const struct divergence_ops *const *models = divergence_list(&n_models);
    for (unsigned m = 0; m < machines.count; m++) {
        unsigned n_compared = 0;
        for (uint64_t i = 0; i < 4 * N_PROGRAMS; i++) {
            const char *model = models[i / 2 % n_models]->name;
            struct target ahead = target_of(machines.machine[m].name, i & 1 ? "gto" : "lrr",
                                            strcmp(model, "dws") == 0 ? "dws:revive" : model); /* which asks for more */
            struct target in_step = ahead;
            in_step.keeps_step = true;
            expect_same(program_make, i, &ahead, &in_step, &n_compared);
        }
        assert_true(n_compared > N_PROGRAMS);
    }
}

/* With one SM; with several, the global scheduler spreads the warps of a block over them. */
static void on_a_single_path_the_global_scheduler_is_a_stack(void **state) {
    (void)state;
    unsigned n_compared = 0;
    for (uint64_t i = 0; i < N_PROGRAMS; i++) {
        struct target stack = target_of("narasiman2011", i & 1 ? "gto" : "lrr", "stack");
        struct target odgs = target_of("narasiman2011", i & 1 ? "gto" : "lrr", "odgs");
        expect_same(program_make_single_path, i, &stack, &odgs, &n_compared);
    }
    assert_true(n_compared > N_PROGRAMS / 2);
}

/* One warp on a machine. */
static void make_one_warp(struct program *program, uint64_t seed, uint64_t number) {
    program_make(program, seed, number);
    program->block[0] = 7 + (uint32_t)number % 10; /* at most 16: a warp everywhere */
    program->block[1] = program->block[2] = program->grid = 1;
}

/* Blocks of at most half a warp on a single path: all warps occupy the same lanes. */
static void make_one_path_in_the_same_lanes(struct program *program, uint64_t seed, uint64_t number) {
    program_make_single_path(program, seed, number);
    program->block[0] = 1 + (uint32_t)number % 8;
}

static void splits_that_find_no_other_warp_or_no_free_lane_issue_alone(void **state) {
    (void)state;
    static const struct {
        make_fn *make;
        const char *own, *merging;
    } laws[] = {{make_one_warp, "dws:aggress", "dws:aggress,merge=dwf,lanes=free"},
                {make_one_path_in_the_same_lanes, "dws:branch-only", "dws:branch-only,merge=dwf"}};
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        unsigned n_compared = 0;
        for (uint64_t i = 0; i < N_PROGRAMS; i++) {
            const char *machine = machines.machine[i % machines.count].name;
            struct target own = target_of(machine, i & 1 ? "gto" : "lrr", laws[k].own);
            struct target merging = target_of(machine, i & 1 ? "gto" : "lrr", laws[k].merging);
            expect_same(laws[k].make, i, &own, &merging, &n_compared);
        }
        assert_true(n_compared > N_PROGRAMS / 3);
    }
}

/* The same programs: with free lanes several splits fit into one instruction, so there are fewer instructions. */
static void splits_that_issue_together_are_one_instruction(void **state) {
    (void)state;
    unsigned n_shared = 0;
    for (uint64_t i = 0; i < N_PROGRAMS; i++) {
        const char *machine = machines.machine[i % machines.count].name;
        struct target own = target_of(machine, "lrr", "dws:branch-only");
        struct target merging = target_of(machine, "lrr", "dws:branch-only,merge=dwf,lanes=free");
        struct stats_counters a, b;
        if (!run_on(make_one_path_in_the_same_lanes, i, &own, &a) ||
            !run_on(make_one_path_in_the_same_lanes, i, &merging, &b))
            continue;
        assert_int_equal(b.warp_instructions + b.shared_issues, a.warp_instructions);
        assert_int_equal(b.thread_instructions, a.thread_instructions);
        assert_int_equal(b.memory_instructions, a.memory_instructions);
        assert_int_equal(b.branches, a.branches);
        n_shared += b.shared_issues > 0;
    }
    assert_true(n_shared > N_PROGRAMS / 4);
}

/* With one SM, as above. Warps wait for each other at branches that are uniform only at run time. */
static void on_a_single_path_blocks_below_the_global_scheduler_are_compacted_blocks(void **state) {
    (void)state;
    unsigned n_compared = 0;
    for (uint64_t i = 0; i < N_PROGRAMS; i++) {
        struct target tbc = target_of("narasiman2011", i & 1 ? "gto" : "lrr", "tbc");
        struct target odgs = target_of("narasiman2011", i & 1 ? "gto" : "lrr", "odgs:local=tbc");
        expect_same(program_make_single_path, i, &tbc, &odgs, &n_compared);
    }
    assert_true(n_compared > N_PROGRAMS / 2);
}

static void make_with_shared(struct program *program, uint64_t seed, uint64_t number) {
    program_make(program, seed, number);
    program->uses_shared = true;
}

/* No thread leaves its block in a kernel with shared memory. */
static void blocks_that_no_thread_may_leave_are_compacted_blocks(void **state) {
    (void)state;
    unsigned n_compared = 0;
    for (uint64_t i = 0; i < 2 * N_PROGRAMS; i++) {
        struct target tbc = target_of("narasiman2011", i & 1 ? "gto" : "lrr", "tbc");
        struct target odgs = target_of("narasiman2011", i & 1 ? "gto" : "lrr", "odgs:local=tbc");
        expect_same(make_with_shared, i, &tbc, &odgs, &n_compared);
    }
    assert_true(n_compared > N_PROGRAMS);
}

static int load(void **state) {
    (void)state;
    machines_load(&machines);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_warp_of_one_row_is_a_warp_with_a_stack),
        cmocka_unit_test(running_ahead_changes_no_statistic),
        cmocka_unit_test(two_levels_with_one_group_are_loose_round_robin),
        cmocka_unit_test(on_a_single_path_the_global_scheduler_is_a_stack),
        cmocka_unit_test(on_a_single_path_blocks_below_the_global_scheduler_are_compacted_blocks),
        cmocka_unit_test(blocks_that_no_thread_may_leave_are_compacted_blocks),
        cmocka_unit_test(splits_that_find_no_other_warp_or_no_free_lane_issue_alone),
        cmocka_unit_test(splits_that_issue_together_are_one_instruction),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
