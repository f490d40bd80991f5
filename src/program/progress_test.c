/* The progress line for runs that have ended, are running and are to come. */
#include "program/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N_JOBS = 5 };

struct fixture {
    struct base_arena arena;
    struct report_target target;
    struct program_job job[N_JOBS];
    struct program_jobs jobs;
};

static void add_ended(struct fixture *fixture, unsigned i, double started, double seconds) {
    fixture->job[i].started = started;
    fixture->job[i].seconds = seconds;
    fixture->job[i].has_ended = true;
    fixture->jobs.n_ended++;
}

/* Five runs, two at a time. */
static int set_up(void **state) {
    static struct fixture fixture;
    fixture = (struct fixture){.target = {.machine = "gtx480", .scheduler = "gto", .divergence = "stack"}};
    fixture.jobs = (struct program_jobs){.job = fixture.job, .count = N_JOBS, .at_once = 2};
    for (unsigned i = 0; i < N_JOBS; i++)
        fixture.job[i].run = (struct report_run){.program = "some/where/bfs", .target = &fixture.target};
    *state = &fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    base_arena_free(&fixture->arena);
    return 0;
}

static const char *line_at(struct fixture *fixture, double now, unsigned columns) {
    return program_progress_line(&fixture->jobs, now, columns, &fixture->arena);
}

static void before_the_first_has_ended_nobody_knows_how_long_it_takes(void **state) {
    struct fixture *fixture = *state;
    assert_string_equal(line_at(fixture, 100, 80), "heddle: 0 of 5 runs");
    fixture->job[0].started = 100;
    fixture->job[1].started = 101;
    assert_true(program_seconds_left(&fixture->jobs, 103) < 0);
    assert_string_equal(line_at(fixture, 103, 80),
                        "heddle: 0 of 5 runs; 2 running, longest: bfs, gtx480, gto, stack, 0:03");
}

/* The mean is 60 s. One has 40 s to go and two wait with 60 s each: 160 s of work for two at a time. */
static void the_time_left_is_that_of_several_at_a_time(void **state) {
    struct fixture *fixture = *state;
    add_ended(fixture, 0, 100, 50);
    add_ended(fixture, 1, 100, 70);
    fixture->job[2].started = 150;
    assert_true(program_seconds_left(&fixture->jobs, 170) == 80);
    fixture->job[2].run.target = NULL;
    assert_string_equal(line_at(fixture, 170, 80),
                        "heddle: 2 of 5 runs, about 1:20 left; 1 running, longest: bfs, 0:20");
}

static void a_run_above_the_mean_is_expected_to_end_at_once(void **state) {
    struct fixture *fixture = *state;
    for (unsigned i = 0; i < 4; i++)
        add_ended(fixture, i, 100, 10);
    fixture->job[4].started = 110;
    assert_true(program_seconds_left(&fixture->jobs, 115) == 5);
    assert_true(program_seconds_left(&fixture->jobs, 200) == 0);
    add_ended(fixture, 4, 110, 100);
    assert_string_equal(line_at(fixture, 210, 80), "heddle: 5 of 5 runs, about 0:00 left");
}

/* Runs that are known to take 40, 20, 20, 10 and 10 s; the first took twice as long: 120 s for two at a time. */
static void what_runs_are_expected_to_take_counts(void **state) {
    struct fixture *fixture = *state;
    static const double expected[N_JOBS] = {40, 20, 20, 10, 10};
    for (unsigned i = 0; i < N_JOBS; i++)
        fixture->job[i].expected_seconds = expected[i];
    assert_true(program_seconds_left(&fixture->jobs, 100) == 50);
    add_ended(fixture, 0, 100, 80);
    assert_true(program_seconds_left(&fixture->jobs, 180) == 60);
    fixture->job[1].expected_seconds = 100; /* the others wait for it */
    assert_true(program_seconds_left(&fixture->jobs, 180) == 200);
}

static void a_narrow_terminal_gets_the_beginning(void **state) {
    struct fixture *fixture = *state;
    fixture->job[0].started = 100;
    assert_string_equal(line_at(fixture, 103, 20), "heddle: 0 of 5 runs;");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(before_the_first_has_ended_nobody_knows_how_long_it_takes),
        TEST(the_time_left_is_that_of_several_at_a_time),
        TEST(a_run_above_the_mean_is_expected_to_end_at_once),
        TEST(what_runs_are_expected_to_take_counts),
        TEST(a_narrow_terminal_gets_the_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
