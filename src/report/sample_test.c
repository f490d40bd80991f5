/* Estimates from samples of sections, for populations of known sums. The driver's own draw chooses the sections. */
#include "report/sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/draw.h"

enum { MOST = 600 };

/* A program whose launches are one section each, and the cycles that they would take. */
struct program {
    struct base_arena arena;
    struct report_run run;
    struct report_kernel launch[MOST];
    struct report_section section[MOST];
    struct stats_counters timed[MOST];
    double sum;
};

static void add(struct program *program, const char *kernel, uint64_t instructions, double cycles) {
    unsigned i = program->run.n_launches++;
    program->launch[i] = (struct report_kernel){.name = kernel, .n_launches = 1, .n_untimed = 1};
    program->section[i] =
        (struct report_section){.launch = i, .n_blocks = 1, .counted = {.warp_instructions = instructions}};
    program->timed[i] = (struct stats_counters){.cycles = (uint64_t)cycles, .warp_instructions = instructions};
    program->sum += floor(cycles);
}

static struct program *new_program(void) {
    struct program *program = calloc(1, sizeof *program);
    program->run.launch = program->launch;
    program->run.section = program->section;
    return program;
}

static void free_program(struct program *program) {
    base_arena_free(&program->arena);
    free(program);
}

/* Draws sections as the driver does; work: the instructions. */
static void draw(struct program *program, uint32_t draws) {
    struct gpu_draw *all = gpu_draw_new(draws);
    program->run.n_sections = program->run.n_launches;
    for (unsigned i = 0; i < program->run.n_sections; i++) {
        struct report_section *section = &program->section[i];
        struct gpu_section drawn = {.kind = GPU_SECTION_WHOLE, .work = (double)section->counted.warp_instructions};
        section->timed = gpu_draw_add(all, program->launch[i].name, &drawn, true) ? &program->timed[i] : NULL;
        section->stratum = drawn.stratum;
        section->segment = drawn.segment;
        section->work = drawn.work;
    }
    gpu_draw_free(all);
    assert_true(report_sample_estimate(&program->run, 1, &program->arena));
}

static double error_of(const struct program *program) {
    return fabs((double)program->run.total.counters.cycles - program->sum);
}
/* Without the allowance. */
static double halfwidth(const struct program *program) {
    return program->run.estimate->halfwidth[STATS_AT_cycles] -
           report_sample_allowance * (double)program->run.total.counters.cycles;
}

/* Half of the work is that of another kernel, whose launches take ten times as long. */
static void kernels_are_estimated_apart(void **state) {
    (void)state;
    static const char slow[] = "slow", fast[] = "fast";
    struct program *program = new_program();
    for (unsigned i = 0; i < 300; i++)
        add(program, i % 2 ? slow : fast, 5000, i % 2 ? 1000 : 100);
    draw(program, 2);
    assert_true(error_of(program) <= 1);
    assert_true(halfwidth(program) < 1);
    assert_int_equal(program->run.total.counters.warp_instructions, 300 * 5000);
    assert_int_equal(program->run.estimate->n_sections, 300);
    assert_in_range(program->run.estimate->n_timed, 20, 30);
    assert_false(program->launch[0].is_estimated);
    free_program(program);
}

/* cycles = 400 + instructions / 10: neither a ratio nor a mean would do. */
static void a_constant_part_is_found(void **state) {
    (void)state;
    static const char step[] = "step";
    struct program *program = new_program();
    for (unsigned i = 0; i < 200; i++)
        add(program, step, 1000 + 100 * i, 400 + 100 + 10 * i);
    draw(program, 2);
    assert_true(error_of(program) < 0.002 * program->sum);
    free_program(program);
}

/* Launches deviate by up to 30 % for reasons that no counter shows. In 19 of 20 programs the interval should contain
 * the sum. */
static struct program *noisy_program(void) {
    static const char a[] = "a", b[] = "b";
    struct program *program = new_program();
    for (unsigned i = 0; i < 300; i++) {
        double noise = 0.7 + 0.6 * rand() / RAND_MAX;
        uint64_t instructions = 1000 + (uint64_t)(rand() % 20000);
        add(program, i % 3 ? a : b, instructions, noise * (double)(200 + instructions / (i % 3 ? 4 : 10)));
    }
    return program;
}

static void the_interval_contains_the_sum(void **state) {
    (void)state;
    enum { PROGRAMS = 300 };
    unsigned n_covered = 0;
    srand(7);
    for (unsigned k = 0; k < PROGRAMS; k++) {
        struct program *program = noisy_program();
        draw(program, 2);
        assert_true(halfwidth(program) > 0.01 * program->sum);
        n_covered += error_of(program) <= halfwidth(program);
        free_program(program);
    }
    assert_in_range(n_covered, PROGRAMS * 93 / 100, PROGRAMS);
}

static void a_larger_sample_reaches_the_wanted_error(void **state) {
    (void)state;
    srand(3);
    struct program *program = noisy_program();
    draw(program, 2);
    double before = halfwidth(program), growth = report_sample_growth(&program->run, before / 3 / program->sum);
    assert_true(growth > 8 && growth < 10);
    assert_true(report_sample_growth(&program->run, 0.5) < 1);
    draw(program, (uint32_t)ceil(2 * growth));
    assert_true(halfwidth(program) < before / 2);
    draw(program, 1000);
    assert_true(error_of(program) == 0);
    assert_true(fabs(halfwidth(program)) < 1e-6);
    free_program(program);
}

static void a_kernel_of_which_nothing_was_timed_is_noticed(void **state) {
    (void)state;
    static const char step[] = "step", other[] = "other";
    struct program *program = new_program();
    for (unsigned i = 0; i < 40; i++)
        add(program, i < 39 ? step : other, 1000, 100);
    draw(program, 2);
    program->section[39].timed = NULL;
    assert_false(report_sample_estimate(&program->run, 1, &program->arena));
    free_program(program);
}

/* Nothing of the large launches was timed: those of the other strata stand for them, with an interval that says so. */
static void a_stratum_of_which_nothing_was_timed_makes_the_interval_wide(void **state) {
    (void)state;
    static const char step[] = "step";
    struct program *program = new_program();
    for (unsigned i = 0; i < 120; i++)
        add(program, step, i % 3 == 2 ? 9000 : i % 3 ? 3000 : 1000, i % 3 == 2 ? 2000 : i % 3 ? 400 : 100);
    draw(program, 2);
    double before = halfwidth(program);
    for (unsigned i = 2; i < 120; i += 3)
        program->section[i].timed = NULL;
    assert_true(report_sample_estimate(&program->run, 1, &program->arena));
    assert_true(before < 1);
    assert_true(halfwidth(program) > 0.02 * program->sum);
    free_program(program);
}

/* The second run takes twice the cycles of the first in every launch: the ratio is exact although each sum is not. */
static void the_difference_of_two_runs_can_be_exact(void **state) {
    (void)state;
    srand(5);
    struct program *program = noisy_program(), *twice = new_program();
    draw(program, 2);
    for (unsigned i = 0; i < program->run.n_launches; i++)
        add(twice, program->launch[i].name, program->section[i].counted.warp_instructions,
            2 * (double)program->timed[i].cycles);
    draw(twice, 2);
    assert_true(halfwidth(program) > 0.005 * program->sum);
    double paired = report_sample_difference(&program->run, &twice->run, &program->arena);
    assert_true(paired < 1e-4);
    for (unsigned i = 0; i < twice->run.n_launches; i++)
        twice->timed[i].cycles += i % 2 ? 200 : 0;
    draw(twice, 2);
    assert_true(report_sample_difference(&program->run, &twice->run, &program->arena) > 1e-3);
    draw(twice, 4); /* another sample: each has its own interval */
    double apart = report_sample_difference(&program->run, &twice->run, &program->arena);
    assert_true(apart > halfwidth(program) / (double)program->run.total.counters.cycles);
    free_program(program);
    free_program(twice);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_estimated_apart),
        cmocka_unit_test(a_constant_part_is_found),
        cmocka_unit_test(the_interval_contains_the_sum),
        cmocka_unit_test(a_larger_sample_reaches_the_wanted_error),
        cmocka_unit_test(a_kernel_of_which_nothing_was_timed_is_noticed),
        cmocka_unit_test(a_stratum_of_which_nothing_was_timed_makes_the_interval_wide),
        cmocka_unit_test(the_difference_of_two_runs_can_be_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
