/* Every counter of a part of the GPU arrives in the sum under its own name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats/counters.h"

/* Each counter of each part has a different number, and the sum contains no other. */
static void sums_take_every_counter_of_every_part(void **state) {
    (void)state;
    struct stats_counters sum = {0};
    struct stats_sm sm;
    struct stats_divergence divergence;
    struct stats_mem mem, shared;
#define STATS_SM(name, when, meaning) sm.name = 1000 + STATS_AT_##name;
#include "stats/counters.def"
#define STATS_DIVERGENCE(name, when, meaning) divergence.name = 1000 + STATS_AT_##name;
#include "stats/counters.def"
#define STATS_MEM(name, when, meaning) mem.name = 1000 + STATS_AT_##name;
#include "stats/counters.def"
    shared = mem;
    stats_merge_mem(&mem, &shared);
    stats_add_sm(&sum, &sm);
    stats_add_sm(&sum, &sm);
    stats_add_divergence(&sum, &divergence);
    stats_add_divergence(&sum, &divergence);
    stats_add_mem(&sum, &mem);
#define STATS_GPU(name, when, meaning) sum.name = 2 * (1000 + STATS_AT_##name);
#include "stats/counters.def"
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        if (sum.value[i] != 2 * (1000 + i))
            fail_msg("%s is not summed", stats_list[i].name);
}

static void launches_add_up_and_can_be_taken_out_again(void **state) {
    (void)state;
    struct stats_counters sum = {0}, launch;
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        launch.value[i] = 7 + i;
    stats_add(&sum, &launch);
    stats_add(&sum, &launch);
    stats_subtract(&sum, &launch);
    assert_memory_equal(&sum, &launch, sizeof sum);
}

static void a_counter_has_a_value_where_it_means_something(void **state) {
    (void)state;
    const struct stats_counter *always = &stats_list[STATS_AT_blocks], *timed = &stats_list[STATS_AT_cycles],
                               *energy = &stats_list[STATS_AT_energy_nj];
    struct stats_counters counters = {0};
    assert_false(stats_exists(energy, true, &counters));
    assert_true(stats_exists(timed, true, &counters));
    counters.energy_nj = 1;
    assert_true(stats_exists(energy, true, &counters));
    assert_false(stats_exists(energy, false, &counters));
    assert_false(stats_exists(timed, false, &counters));
    assert_true(stats_exists(always, false, &counters));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_take_every_counter_of_every_part),
        cmocka_unit_test(launches_add_up_and_can_be_taken_out_again),
        cmocka_unit_test(a_counter_has_a_value_where_it_means_something),
    };
    return cmocka_run_group_tests_name("stats/counters", tests, NULL, NULL);
}
