/* The neighbours of machines and of experiments. */
#include "experiment/noise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct base_arena arena;

static void expect_changes(const struct config_machine *machine, const char *const *change) {
    for (unsigned i = 0; i < 4; i++)
        assert_string_equal(experiment_neighbour_change(machine, i + 1, &arena), change[i]);
}

static void neighbours_have_l1s_a_little_slower_or_faster(void **state) {
    (void)state;
    struct config_machine machine = {.l1.cache = {.is_present = true, .latency_cycles = 40},
                                     .crossbar.latency_cycles = 20};
    expect_changes(&machine, (const char *const[]){"l1.latency=38", "l1.latency=39", "l1.latency=41", "l1.latency=42"});
    machine.l1.cache.latency_cycles = 1;
    expect_changes(&machine, (const char *const[]){"l1.latency=2", "l1.latency=3", "l1.latency=4", "l1.latency=5"});
    machine.l1.cache.latency_cycles = 2;
    expect_changes(&machine, (const char *const[]){"l1.latency=1", "l1.latency=3", "l1.latency=4", "l1.latency=5"});
}

static void without_an_l1_the_crossbar_moves(void **state) {
    (void)state;
    struct config_machine machine = {.l1.cache.latency_cycles = 40, .crossbar.latency_cycles = 20};
    expect_changes(&machine, (const char *const[]){"crossbar.latency=18", "crossbar.latency=19", "crossbar.latency=21",
                                                   "crossbar.latency=22"});
    machine.memory.is_perfect = true; /* every access takes the latency of an L1 */
    expect_changes(&machine, (const char *const[]){"l1.latency=38", "l1.latency=39", "l1.latency=41", "l1.latency=42"});
}

static void seeds_are_added_where_an_experiment_has_no_variations(void **state) {
    (void)state;
    struct experiment_settings variation[3] = {{0}};
    struct experiment experiment = {.variation = variation, .n_variations = 1};
    const struct experiment *noisy = experiment_with_neighbours(&experiment, &arena);
    assert_int_equal(noisy->n_variations, 7);
    static const unsigned neighbour[] = {0, 1, 2, 3, 4, 0, 0}, seed[] = {0, 0, 0, 0, 0, 1, 2};
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(noisy->variation[i].neighbour, neighbour[i]);
        assert_int_equal(noisy->variation[i].seed, seed[i]);
    }
    experiment.n_variations = 3;
    assert_int_equal(experiment_with_neighbours(&experiment, &arena)->n_variations, 15);
    struct experiment_grid grid = {.experiment = &experiment};
    experiment.common.example = &(struct sched_example){0};
    assert_int_equal(experiment_plan_noise(&(struct experiment_plan){0}, &grid), 0);
    assert_null(grid.noise); /* it has no machine and no input */
}

static int tear_down(void **state) {
    (void)state;
    base_arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_have_l1s_a_little_slower_or_faster),
        cmocka_unit_test(without_an_l1_the_crossbar_moves),
        cmocka_unit_test(seeds_are_added_where_an_experiment_has_no_variations),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
