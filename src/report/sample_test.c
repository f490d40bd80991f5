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

/* Draws sections as the driver does; work: the instructions. Other numbers of strata have other draws. */
static void draw_another(struct program *program, uint32_t draws, unsigned first_stratum) {
    static const char other[MOST];
    struct gpu_draw *all = gpu_draw_new(draws, 0, NULL, NULL);
    for (unsigned i = 0; i < first_stratum; i++)
        gpu_draw_add(all, &other[i], &(struct gpu_section){.work = 1}, false);
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

static void draw(struct program *program, uint32_t draws) { draw_another(program, draws, 0); }

static double error_of(const struct program *program) {
    return fabs((double)program->run.total.counters.cycles - program->sum);
}
static double halfwidth(const struct program *program) { return program->run.estimate->halfwidth[STATS_AT_cycles]; }

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
        draw_another(program, 2, k);
        assert_true(halfwidth(program) > 0.01 * program->sum);
        n_covered += error_of(program) <= halfwidth(program);
        free_program(program);
    }
    assert_in_range(n_covered, PROGRAMS * 93 / 100, PROGRAMS);
}

/* The ratio of cycles and instructions changes in time, evenly or at once, more than launches vary by chance. */
static struct program *drifting_program(bool is_even) {
    static const char step[] = "step";
    struct program *program = new_program();
    double change = 0.1 + 0.4 * rand() / RAND_MAX, when = 300.0 * rand() / RAND_MAX;
    for (unsigned i = 0; i < 300; i++) {
        double noise = 0.97 + 0.06 * rand() / RAND_MAX;
        double drift = is_even ? change * i / 300 : i > when ? change : 0;
        add(program, step, 5000, noise * (1 + drift) * 1e5);
    }
    return program;
}

static void the_interval_mostly_contains_the_sum_if_cycles_drift(void **state) {
    (void)state;
    enum { PROGRAMS = 300 };
    static const unsigned least[] = {80, 88}; /* percent; a change after the last timed section is not seen */
    for (unsigned is_even = 0; is_even < 2; is_even++) {
        unsigned n_covered = 0;
        srand(11);
        for (unsigned k = 0; k < PROGRAMS; k++) {
            struct program *program = drifting_program(is_even);
            draw_another(program, 2, k);
            n_covered += error_of(program) <= halfwidth(program);
            free_program(program);
        }
        assert_in_range(n_covered, PROGRAMS * least[is_even] / 100, PROGRAMS);
    }
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

/* Every other launch takes 1 % longer. If the copies that timed them took one of two numbers of cycles, two have been
 * measured, however often. */
static void repeated_cycles_count_once(void **state) {
    (void)state;
    static const char step[] = "step";
    struct program *twice = new_program(), *often = new_program();
    for (unsigned i = 0; i < 300; i++) {
        add(twice, step, 5000, i / 3 % 2 ? 100000 : 101000);
        add(often, step, 5000, (i / 3 % 2 ? 100000 : 101000) + i);
    }
    draw(twice, 2);
    draw(often, 2);
    assert_int_equal(twice->run.estimate->n_timed, often->run.estimate->n_timed);
    assert_true(halfwidth(twice) > 4 * halfwidth(often));
    free_program(twice);
    free_program(often);
}

/* Windows take 1.4 times the cycles without blocks before the section, and 1.1 times with half of them. The change from
 * one to the next falls from 0.3 to 0.1, so 0.1 / 3 + 0.1 / 9... = 0.05 is left. */
static void windows_that_begin_too_late_make_the_interval_wider(void **state) {
    (void)state;
    static const char step[] = "step";
    struct program *program = new_program();
    for (unsigned i = 0; i < 200; i++)
        add(program, step, 5000, 1000);
    draw(program, 2);
    assert_true(halfwidth(program) < 1);
    for (unsigned i = 0; i < 200; i++) {
        program->section[i].kind = REPORT_SECTION_MIDDLE;
        program->section[i].early_cycles[0] = 1400;
        program->section[i].early_cycles[1] = 1100;
    }
    assert_true(report_sample_estimate(&program->run, 1, &program->arena));
    assert_true(halfwidth(program) > 0.045 * program->sum && halfwidth(program) < 0.055 * program->sum);
    free_program(program);
}

/* In every launch the timed run fetched ten lines fewer than the functional one, and each may cost two cycles. */
static void lines_that_the_order_decides_make_the_interval_wider(void **state) {
    (void)state;
    static const char step[] = "step";
    struct program *program = new_program();
    for (unsigned i = 0; i < 200; i++) {
        add(program, step, 5000, 1000);
        program->section[i].line_cycles = 2;
        program->section[i].missed_lines = 50;
        program->section[i].touched_lines = 100;
        program->timed[i].l2_misses = 45;
        program->timed[i].l2_merges = 5;
    }
    draw(program, 2);
    assert_true(fabs(halfwidth(program) - 0.02 * program->sum) < 1e-6 * program->sum);
    assert_true(fabs(program->run.estimate->doubt - 0.02) < 1e-6);
    for (unsigned i = 0; i < 200; i++) /* only five lines were in the L2 */
        program->section[i].touched_lines = 55;
    assert_true(report_sample_estimate(&program->run, 1, &program->arena));
    assert_true(fabs(halfwidth(program) - 0.01 * program->sum) < 1e-6 * program->sum);
    for (unsigned i = 0; i < 200; i++)
        program->section[i].has_true_caches = true;
    assert_true(report_sample_estimate(&program->run, 1, &program->arena));
    assert_true(halfwidth(program) < 1);
    free_program(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_estimated_apart),
        cmocka_unit_test(a_constant_part_is_found),
        cmocka_unit_test(the_interval_contains_the_sum),
        cmocka_unit_test(the_interval_mostly_contains_the_sum_if_cycles_drift),
        cmocka_unit_test(a_larger_sample_reaches_the_wanted_error),
        cmocka_unit_test(a_kernel_of_which_nothing_was_timed_is_noticed),
        cmocka_unit_test(a_stratum_of_which_nothing_was_timed_makes_the_interval_wide),
        cmocka_unit_test(the_difference_of_two_runs_can_be_exact),
        cmocka_unit_test(repeated_cycles_count_once),
        cmocka_unit_test(windows_that_begin_too_late_make_the_interval_wider),
        cmocka_unit_test(lines_that_the_order_decides_make_the_interval_wider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
