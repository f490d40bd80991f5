/* What models and schedulers are to each other by construction, on random programs: where two of them do the same,
 * every statistic is the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "run.h"

enum { SEED = 20, N_PROGRAMS = 60 };

static struct machines machines;

static struct target target_of(const char *machine, const char *scheduler, const char *divergence) {
    struct target target = {.machine = machines_find(&machines, machine)};
    assert_non_null(target.machine);
    snprintf(target.scheduler, sizeof target.scheduler, "%s", scheduler);
    snprintf(target.divergence, sizeof target.divergence, "%s", divergence);
    return target;
}

typedef void make_fn(struct program *program, uint64_t seed, uint64_t number);

/* False when the program is too long or cannot run there. */
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
#define STATS_COUNTER(name, when, meaning)                                                                             \
    if (a.name != b.name)                                                                                              \
        fail_msg("program %u of seed %u on %s: %s is %llu with %s %s and %llu with %s %s", (unsigned)number, SEED,     \
                 machine, #name, (unsigned long long)a.name, one->scheduler, one->divergence,                          \
                 (unsigned long long)b.name, other->scheduler, other->divergence);
#include "stats/counters.def"
#undef STATS_COUNTER
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

static int load(void **state) {
    (void)state;
    machines_load(&machines);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_warp_of_one_row_is_a_warp_with_a_stack),
        cmocka_unit_test(two_levels_with_one_group_are_loose_round_robin),
        cmocka_unit_test(on_a_single_path_the_global_scheduler_is_a_stack),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
