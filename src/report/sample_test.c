/* Samples of launches and the estimates made from them, for populations of known sums. */
#include "report/sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 600 };

static const struct report_target target = {
    .machine = "gtx480",
    .scheduler = "lrr",
    .divergence = "stack",
    .lanes = 32,
    .channels = 1,
    .peaks = {.per_cycle = {[REPORT_ISSUE] = 15}, .sms = 15, .warps = 48, .line_bytes = 128}};

/* A program: a run that counts, and the cycles that its launches would take. */
struct program {
    struct base_arena arena;
    struct report_run counted, run;
    struct report_kernel counted_launch[MOST], launch[MOST];
    struct stats_counters untimed[MOST];
    double cycles[MOST], sum;
    struct report_sample sample;
};

static void add(struct program *program, const char *kernel, uint64_t instructions, double cycles) {
    unsigned i = program->counted.n_launches++;
    program->untimed[i] = (struct stats_counters){.threads = 256, .blocks = 1, .warp_instructions = instructions};
    program->counted_launch[i] =
        (struct report_kernel){.name = kernel, .n_launches = 1, .n_untimed = 1, .untimed = &program->untimed[i]};
    program->cycles[i] = floor(cycles);
    program->sum += program->cycles[i];
}

static struct program *new_program(void) {
    struct program *program = calloc(1, sizeof *program);
    program->counted.launch = program->counted_launch;
    program->run.launch = program->launch;
    return program;
}

static void free_program(struct program *program) {
    base_arena_free(&program->arena);
    free(program);
}

/* Runs the program again: the chosen launches have cycles. */
static void run(struct program *program) {
    program->run.n_launches = program->counted.n_launches;
    for (unsigned i = 0; i < program->run.n_launches; i++) {
        bool is_timed = program->sample.launch[i].is_chosen;
        program->launch[i] = program->counted_launch[i];
        program->launch[i].n_untimed = !is_timed;
        program->launch[i].counters =
            (struct stats_counters){.cycles = is_timed ? (uint64_t)program->cycles[i] : 0,
                                    .warp_instructions = is_timed ? program->untimed[i].warp_instructions : 0};
    }
}

static void draw_and_run(struct program *program) {
    program->sample = report_sample_new(&program->counted, &target, &program->arena);
    run(program);
}

static double halfwidth(const struct program *program) { return program->run.estimate->halfwidth[STATS_AT_cycles]; }

static unsigned count_chosen(const struct program *program) {
    unsigned n = 0;
    for (unsigned i = 0; i < program->sample.n_launches; i++)
        n += program->sample.launch[i].is_chosen;
    return n;
}

static void the_first_launch_and_large_ones_are_always_timed(void **state) {
    (void)state;
    struct program *program = new_program();
    for (unsigned i = 0; i < 200; i++)
        add(program, "step", i == 77 ? 1000000 : 1000, i == 77 ? 90000 : 100);
    draw_and_run(program);
    assert_true(program->sample.launch[0].is_chosen);
    assert_true(program->sample.launch[77].is_chosen);
    assert_in_range(count_chosen(program), 10, 18);
    for (unsigned i = 0; i < program->sample.n_strata; i++)
        assert_true(program->sample.n_chosen[i] >= 2 || program->sample.n_chosen[i] == program->sample.n_members[i]);
    free_program(program);
}

/* Half of the work is that of another kernel, whose launches take ten times as long. */
static void kernels_are_estimated_apart(void **state) {
    (void)state;
    struct program *program = new_program();
    for (unsigned i = 0; i < 300; i++)
        add(program, i % 2 ? "slow" : "fast", 5000, i % 2 ? 1000 : 100);
    draw_and_run(program);
    assert_true(report_sample_estimate(&program->sample, &program->counted, 2, &program->run, &program->arena));
    assert_true(fabs((double)program->run.total.counters.cycles - program->sum) <= 1);
    assert_true(halfwidth(program) < 1);
    assert_int_equal(program->run.total.counters.warp_instructions, 300 * 5000);
    assert_int_equal(program->run.estimate->n_launches, 300);
    assert_int_equal(program->run.estimate->n_timed, count_chosen(program));
    assert_true(program->launch[0].is_estimated == false);
    free_program(program);
}

/* cycles = 400 + instructions / 10: neither a ratio nor a mean would do. */
static void a_constant_part_is_found(void **state) {
    (void)state;
    struct program *program = new_program();
    for (unsigned i = 0; i < 200; i++)
        add(program, "step", 1000 + 100 * i, 400 + 100 + 10 * i);
    draw_and_run(program);
    assert_true(report_sample_estimate(&program->sample, &program->counted, 2, &program->run, &program->arena));
    assert_true(fabs((double)program->run.total.counters.cycles - program->sum) < 0.002 * program->sum);
    free_program(program);
}

/* Launches deviate by up to 30 % for reasons that no counter shows. In 19 of 20 programs the interval should contain
 * the sum. */
static void the_interval_contains_the_sum(void **state) {
    (void)state;
    enum { PROGRAMS = 300 };
    unsigned n_covered = 0;
    srand(7);
    for (unsigned k = 0; k < PROGRAMS; k++) {
        struct program *program = new_program();
        for (unsigned i = 0; i < 300; i++) {
            double noise = 0.7 + 0.6 * rand() / RAND_MAX;
            uint64_t instructions = 1000 + (uint64_t)(rand() % 20000);
            add(program, i % 3 ? "a" : "b", instructions, noise * (double)(200 + instructions / (i % 3 ? 4 : 10)));
        }
        draw_and_run(program);
        assert_true(report_sample_estimate(&program->sample, &program->counted, 2, &program->run, &program->arena));
        double error = fabs((double)program->run.total.counters.cycles - program->sum);
        assert_true(halfwidth(program) > 0.01 * program->sum);
        n_covered += error <= halfwidth(program);
        free_program(program);
    }
    assert_in_range(n_covered, PROGRAMS * 91 / 100, PROGRAMS * 99 / 100);
}

static void a_larger_sample_reaches_the_wanted_error(void **state) {
    (void)state;
    struct program *program = new_program();
    srand(3);
    for (unsigned i = 0; i < 500; i++)
        add(program, "step", 1000 + (uint64_t)(rand() % 3000), 500 + rand() % 400);
    draw_and_run(program);
    unsigned n_first = count_chosen(program), n_passes = 0;
    while (report_sample_more(&program->sample, &program->run, 0.01, &program->arena)) {
        run(program);
        assert_true(++n_passes < 6);
    }
    assert_true(n_passes > 0);
    assert_true(count_chosen(program) > n_first);
    assert_true(count_chosen(program) < 400);
    assert_true(report_sample_estimate(&program->sample, &program->counted, 2, &program->run, &program->arena));
    assert_true(halfwidth(program) <= 0.011 * program->sum);
    free_program(program);
}

static void other_launches_are_noticed(void **state) {
    (void)state;
    struct program *program = new_program();
    for (unsigned i = 0; i < 40; i++)
        add(program, "step", 1000, 100);
    draw_and_run(program);
    program->launch[9].name = "other";
    assert_false(report_sample_estimate(&program->sample, &program->counted, 2, &program->run, &program->arena));
    run(program);
    program->run.n_launches--;
    assert_false(report_sample_estimate(&program->sample, &program->counted, 2, &program->run, &program->arena));
    free_program(program);
}

/* The second run takes twice the cycles of the first in every launch: the ratio is exact although each sum is not. */
static void the_difference_of_two_runs_can_be_exact(void **state) {
    (void)state;
    struct program *program = new_program();
    static struct report_kernel launch[MOST];
    srand(5);
    for (unsigned i = 0; i < 300; i++)
        add(program, "step", 1000 + (uint64_t)(rand() % 3000), 2 * (500 + rand() % 400));
    draw_and_run(program);
    struct report_run twice = program->run;
    twice.launch = launch;
    memcpy(launch, program->launch, sizeof launch);
    for (unsigned i = 0; i < 300; i++)
        launch[i].counters.cycles *= 2;
    assert_true(report_sample_estimate(&program->sample, &program->counted, 2, &program->run, &program->arena));
    assert_true(report_sample_estimate(&program->sample, &program->counted, 2, &twice, &program->arena));
    assert_true(halfwidth(program) > 0.005 * program->sum);
    assert_true(report_sample_difference(&program->sample, &program->run, &twice, &program->arena) < 1e-4);
    for (unsigned i = 0; i < 300; i++)
        launch[i].counters.cycles += i % 2 ? 200 : 0;
    assert_true(report_sample_difference(&program->sample, &program->run, &twice, &program->arena) > 1e-3);
    free_program(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_launch_and_large_ones_are_always_timed),
        cmocka_unit_test(kernels_are_estimated_apart),
        cmocka_unit_test(a_constant_part_is_found),
        cmocka_unit_test(the_interval_contains_the_sum),
        cmocka_unit_test(a_larger_sample_reaches_the_wanted_error),
        cmocka_unit_test(other_launches_are_noticed),
        cmocka_unit_test(the_difference_of_two_runs_can_be_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
