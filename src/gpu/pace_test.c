#include "gpu/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Returns the work that a host does in a second with n threads. */
typedef double host_fn(uint32_t n_threads, double at);

static double gains_from_all(uint32_t n_threads, double at) {
    (void)at;
    return 1e6 * n_threads;
}

static double gains_from_four(uint32_t n_threads, double at) {
    (void)at;
    return n_threads <= 4 ? 1e6 * n_threads : 16e6 / n_threads;
}

static double gains_from_none(uint32_t n_threads, double at) {
    (void)at;
    return 1e6 / n_threads;
}

static double is_busy_at_first(uint32_t n_threads, double at) {
    return at < 1 ? gains_from_none(n_threads, at) : gains_from_all(n_threads, at);
}

/* Runs for some seconds in rounds of a tenth of a millisecond. Returns the work done. */
static double run(struct gpu_pace *pace, host_fn *host, double seconds) {
    const double round = 0.0001;
    double sum = 0;
    for (double at = 0; at < seconds; at += round) {
        double work = host(gpu_pace_threads(pace), at) * round;
        sum += work;
        gpu_pace_add(pace, 1, work, round);
    }
    return sum;
}

static uint32_t best_of(const struct gpu_pace *pace) { return pace->level[pace->best]; }

static void the_fastest_number_is_found(void **state) {
    (void)state;
    static const struct {
        host_fn *host;
        uint32_t most, best;
    } cases[] = {{gains_from_all, 16, 16}, {gains_from_four, 16, 4}, {gains_from_none, 16, 1}, {gains_from_all, 1, 1},
                 {gains_from_all, 6, 6},   {gains_from_four, 6, 4},  {gains_from_none, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gpu_pace pace;
        gpu_pace_init(&pace, cases[i].most);
        assert_int_equal(gpu_pace_threads(&pace), cases[i].most);
        run(&pace, cases[i].host, 1);
        assert_int_equal(best_of(&pace), cases[i].best);
    }
}

static void it_changes_when_the_host_does(void **state) {
    (void)state;
    struct gpu_pace pace;
    gpu_pace_init(&pace, 16);
    run(&pace, is_busy_at_first, 1);
    assert_int_equal(best_of(&pace), 1);
    run(&pace, gains_from_all, 4);
    assert_int_equal(best_of(&pace), 16);
}

/* Comparisons cost time where other numbers are slower: half of the speed for 8 ms, then rests of 50 ms and more. */
static void comparisons_cost_little(void **state) {
    (void)state;
    struct gpu_pace pace;
    gpu_pace_init(&pace, 16);
    double seconds = 5, work = run(&pace, gains_from_all, seconds);
    assert_true(work > 0.97 * gains_from_all(16, 0) * seconds);
    assert_true(work < 0.999 * gains_from_all(16, 0) * seconds);
}

/* A number of threads that is no faster changes nothing, so that the state of SMs need not travel. */
static void equal_numbers_change_nothing(void **state) {
    (void)state;
    struct gpu_pace pace;
    gpu_pace_init(&pace, 8);
    for (int i = 0; i < 10000; i++)
        gpu_pace_add(&pace, 1, 100, 0.001);
    assert_int_equal(best_of(&pace), 8);
}

static void short_windows_are_added(void **state) {
    (void)state;
    struct gpu_pace pace;
    gpu_pace_init(&pace, 2);
    assert_false(gpu_pace_add(&pace, 3, 1, 1)); /* three rounds are too few */
    assert_true(gpu_pace_add(&pace, 1, 1, 0.0001));
    for (int i = 0; i < 19; i++) /* and 1.9 ms too little time */
        assert_false(gpu_pace_add(&pace, 1, 1, 0.0001));
    assert_true(gpu_pace_add(&pace, 1, 1, 0.000101));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_number_is_found), cmocka_unit_test(it_changes_when_the_host_does),
        cmocka_unit_test(comparisons_cost_little),     cmocka_unit_test(equal_numbers_change_nothing),
        cmocka_unit_test(short_windows_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
