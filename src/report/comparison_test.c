/* Tests of comparisons: speed-ups, and how they are written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/report.h"

static const struct report_target
    lrr = {.machine = "gtx480", .scheduler = "lrr", .divergence = "stack", .lanes = 32, .channels = 6},
    gto = {.machine = "gtx480", .scheduler = "gto", .divergence = "stack", .lanes = 32, .channels = 6};

static struct report_run run_of(const char *program, const struct report_target *target, uint64_t cycles) {
    struct report_run run = {.program = program, .size = "small", .target = target, .has_results = true};
    run.total.counters = (struct stats_counters){.cycles = cycles,
                                                 .warp_instructions = 100,
                                                 .thread_instructions = 1600,
                                                 .sm_cycles = 4 * cycles,
                                                 .active_cycles = cycles,
                                                 .stall_memory = 2 * cycles,
                                                 .stall_empty = cycles};
    run.host_seconds = 0.25;
    return run;
}

/* Two programs on two targets; the second target is 2 and 8 times as fast. */
struct fixture {
    struct report_run run[4];
    struct report_entry entry[4];
    struct report_comparison comparison;
};

static struct fixture *make_fixture(void) {
    static struct fixture fixture;
    fixture = (struct fixture){
        .run = {run_of("bfs", &lrr, 1000), run_of("bfs", &gto, 500), run_of("sort", &lrr, 8000),
                run_of("sort", &gto, 1000)},
        .comparison = {.entry = fixture.entry, .n_entries = 4, .n_programs = 2, .n_targets = 2},
    };
    for (unsigned i = 0; i < 4; i++)
        fixture.entry[i] =
            (struct report_entry){.run = &fixture.run[i], .baseline = &fixture.run[i / 2 * 2], .target_number = i % 2};
    return &fixture;
}

static void speed_ups_are_against_the_first_run_of_a_program(void **state) {
    (void)state;
    struct fixture *fixture = make_fixture();
    static const double expected[] = {1, 2, 1, 8};
    for (unsigned i = 0; i < 4; i++)
        assert_true(report_speedup(&fixture->entry[i]) == expected[i]);
    assert_true(report_mean_speedup(&fixture->comparison, 0) == 1);
    assert_true(fabs(report_mean_speedup(&fixture->comparison, 1) - 4) < 1e-12);
}

static void a_run_that_failed_has_no_speed_up(void **state) {
    (void)state;
    struct fixture *fixture = make_fixture();
    fixture->run[3].is_wrong = true;
    fixture->run[3].error = "the check failed";
    assert_true(isnan(report_speedup(&fixture->entry[3])));
    assert_true(isnan(report_mean_speedup(&fixture->comparison, 1)));
    assert_string_equal(report_outcome(&fixture->run[3]), "check failed");
    fixture->run[0].stopped = "max-cycles";
    assert_true(isnan(report_speedup(&fixture->entry[1])));
    assert_string_equal(report_outcome(&fixture->run[0]), "max-cycles");
    fixture->entry[2].baseline = NULL;
    assert_true(isnan(report_speedup(&fixture->entry[2])));
    fixture->run[1].error = "it broke";
    assert_string_equal(report_outcome(&fixture->run[1]), "error");
    assert_string_equal(report_outcome(&fixture->run[2]), "done");
}

static char *table_text(const struct report_comparison *comparison, struct report_style style) {
    char *text = NULL;
    size_t length = 0;
    struct base_arena arena = {0};
    FILE *file = open_memstream(&text, &length);
    report_print_comparison(file, comparison, style, &arena);
    fclose(file);
    base_arena_free(&arena);
    return text;
}

static void the_table_has_bars_and_means(void **state) {
    (void)state;
    struct fixture *fixture = make_fixture();
    char *text = table_text(&fixture->comparison, (struct report_style){.bar_width = 8});
    assert_string_equal(text,
                        "size small, on gtx480, divergence stack\n"
                        "program         scheduler  cycles   IPC    SIMD  active  memory   empty  speed-up\n"
                        "bfs             lrr         1,000  1.60  50.0 %  25.0 %  50.0 %  25.0 %     1.000  #\n"
                        "bfs             gto           500  3.20  50.0 %  25.0 %  50.0 %  25.0 %     2.000  ##\n"
                        "sort            lrr         8,000  0.20  50.0 %  25.0 %  50.0 %  25.0 %     1.000  #\n"
                        "sort            gto         1,000  1.60  50.0 %  25.0 %  50.0 %  25.0 %     8.000  ########\n"
                        "geometric mean  lrr                                                         1.000  #\n"
                        "geometric mean  gto                                                         4.000  ####\n");
    free(text);
}

static void a_failed_run_shows_its_outcome(void **state) {
    (void)state;
    struct fixture *fixture = make_fixture();
    fixture->comparison.n_entries = 2;
    fixture->comparison.n_programs = 1;
    fixture->run[1].is_wrong = true;
    char *text = table_text(&fixture->comparison, (struct report_style){.bar_width = 4});
    assert_string_equal(text, "bfs, size small, on gtx480, divergence stack\n"
                              "scheduler  cycles   IPC    SIMD  active  memory   empty  speed-up\n"
                              "lrr         1,000  1.60  50.0 %  25.0 %  50.0 %  25.0 %     1.000  ####\n"
                              "gto           500  3.20  50.0 %  25.0 %  50.0 %  25.0 %         -  check failed\n");
    free(text);
}

static void every_stall_that_some_run_has_is_a_column(void **state) {
    (void)state;
    struct fixture *fixture = make_fixture();
    fixture->run[3].total.counters.stall_structural = 500;
    fixture->comparison.is_verbose = true;
    char *text = table_text(&fixture->comparison, (struct report_style){.bar_width = 4});
    assert_non_null(strstr(text, "active  memory  struct.   empty  host s  speed-up\n"));
    assert_non_null(strstr(text, "22.2 %  44.5 %   11.1 %  22.2 %    0.25     8.000  ####\n"));
    free(text);
}

static void bars_of_blocks_are_exact_to_an_eighth(void **state) {
    (void)state;
    struct fixture *fixture = make_fixture();
    fixture->comparison.n_entries = 2;
    fixture->comparison.n_programs = 1;
    fixture->run[1].total.counters.cycles = 1600; /* 0.625 of the first: five eighths */
    char *text = table_text(&fixture->comparison, (struct report_style){.bar_width = 1, .has_blocks = true});
    assert_non_null(strstr(text, "1.000  \u2588\n"));
    assert_non_null(strstr(text, "0.625  \u258b\n"));
    free(text);
}

static void the_json_object_has_every_run_and_the_means(void **state) {
    (void)state;
    struct fixture *fixture = make_fixture();
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    assert_true(report_write_comparison_json(file, &fixture->comparison));
    fclose(file);
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *runs = json_object_get(object, "runs"), *means = json_object_get(object, "geometric_means");
    assert_int_equal(json_array_size(runs), 4);
    const json_t *last = json_array_get(runs, 3);
    assert_string_equal(json_string_value(json_object_get(last, "program")), "sort");
    assert_string_equal(json_string_value(json_object_get(last, "scheduler")), "gto");
    assert_string_equal(json_string_value(json_object_get(last, "outcome")), "done");
    assert_true(json_real_value(json_object_get(last, "speedup")) == 8);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(last, "total"), "cycles")), 1000);
    assert_null(json_object_get(last, "host")); /* it differs from run to run */
    assert_int_equal(json_array_size(means), 2);
    json_decref(object);
    free(text);
}

static void csv_has_a_line_for_each_run(void **state) {
    (void)state;
    struct fixture *fixture = make_fixture();
    fixture->run[1].is_wrong = true;
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    assert_true(report_write_comparison_csv(file, &fixture->comparison));
    fclose(file);
    assert_non_null(strstr(text, "program,size,machine,scheduler,divergence,checked,outcome,launches,cycles,"));
    assert_non_null(
        strstr(text, ",bus_utilization,speedup\n\"bfs\",small,\"gtx480\",\"lrr\",\"stack\",false,done,0,1000,"));
    assert_non_null(strstr(text, "\n\"bfs\",small,\"gtx480\",\"gto\",\"stack\",false,check failed,0,500,"));
    assert_non_null(strstr(text, ",3000,,0,8\n")); /* idle cycles, no row accessed, an idle bus, the speed-up */
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speed_ups_are_against_the_first_run_of_a_program),
        cmocka_unit_test(a_run_that_failed_has_no_speed_up),
        cmocka_unit_test(the_table_has_bars_and_means),
        cmocka_unit_test(a_failed_run_shows_its_outcome),
        cmocka_unit_test(every_stall_that_some_run_has_is_a_column),
        cmocka_unit_test(bars_of_blocks_are_exact_to_an_eighth),
        cmocka_unit_test(the_json_object_has_every_run_and_the_means),
        cmocka_unit_test(csv_has_a_line_for_each_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
