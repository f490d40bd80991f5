/* Tests of the writers: the table, the JSON object and the CSV, byte by byte where readers depend on it. */
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

static struct report_kernel launches[] = {
    {.name = "first",
     .grid = {4, 1, 1},
     .block = {64, 1, 1},
     .n_launches = 1,
     .counters = {.warp_instructions = 1000000,
                  .thread_instructions = 16000000,
                  .branches = 40,
                  .divergent_branches = 10,
                  .memory_instructions = 7,
                  .barriers = 2,
                  .blocks = 4,
                  .threads = 256}},
    {.name = "say \"hi\", all",
     .grid = {1, 2, 3},
     .block = {8, 1, 1},
     .n_launches = 1,
     .counters = {.warp_instructions = 1,
                  .thread_instructions = 8,
                  .branches = 0,
                  .divergent_branches = 0,
                  .memory_instructions = 0,
                  .barriers = 0,
                  .blocks = 6,
                  .threads = 48}},
};

static struct report_run sample(void) {
    struct report_run run = {.program = "bfs", .size = "small", .is_checked = true, .has_results = true};
    run.launch = launches;
    run.n_launches = 2;
    run.total = (struct report_kernel){.name = "total",
                                       .grid = {0},
                                       .block = {0},
                                       .n_launches = 2,
                                       .counters = {.warp_instructions = 1000001,
                                                    .thread_instructions = 16000008,
                                                    .branches = 40,
                                                    .divergent_branches = 10,
                                                    .memory_instructions = 7,
                                                    .barriers = 2,
                                                    .blocks = 10,
                                                    .threads = 304}};
    run.host_seconds = 0.75;
    return run;
}

/* Returns the text that a writer wrote; the caller frees it. */
static char *written(bool (*write)(FILE *file, const struct report_run *run), const struct report_run *run) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    assert_true(write(file, run));
    fclose(file);
    return text;
}

static bool write_table(FILE *file, const struct report_run *run) {
    struct base_arena arena = {0};
    report_print_run(file, run, false, &arena);
    base_arena_free(&arena);
    return true;
}

static void the_table_is_aligned_and_ends_with_a_total(void **state) {
    (void)state;
    struct report_run run = sample();
    char *text = written(write_table, &run);
    static const char expected[] = "kernel         launches  blocks  threads  warp instr.  thread instr.  active lanes "
                                   " branches  divergent  memory instr.\n"
                                   "first                 1       4      256    1,000,000     16,000,000         16.00 "
                                   "       40     25.0 %              7\n"
                                   "say \"hi\", all         1       6       48            1              8          "
                                   "8.00         0          -              0\n"
                                   "total                 2      10      304    1,000,001     16,000,008         16.00 "
                                   "       40     25.0 %              7\n"
                                   "host: 0.750 s in kernels, 1.3 M warp instructions/s\n";
    assert_string_equal(text, expected);
    free(text);
}

static void a_long_name_loses_its_namespaces_first(void **state) {
    (void)state;
    struct report_run run = sample();
    struct report_kernel renamed[2] = {launches[0], launches[1]};
    run.launch = renamed;
    renamed[0].name = "library::v300::detail::radix_sort::Onesweep<library::v300::Policy, int>";
    renamed[1].name = "short::name";
    char *text = written(write_table, &run);
    assert_non_null(strstr(text, "\nOnesweep<library::v300::Policy, int>  "));
    assert_non_null(strstr(text, "\nshort::name "));
    free(text);
}

static void a_run_without_launches_is_reported(void **state) {
    (void)state;
    struct report_run run = {.program = "bfs"};
    char *text = written(write_table, &run);
    assert_string_equal(text, "no kernel was launched\n");
    free(text);
}

static json_t *json_of(const struct report_run *run) {
    char *text = written(report_write_json, run);
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    free(text);
    return object;
}

static const char *text_at(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

static json_int_t number_at(const json_t *object, const char *key) {
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static void the_json_object_names_the_run(void **state) {
    (void)state;
    struct report_run run = sample();
    json_t *object = json_of(&run);
    assert_string_equal(text_at(object, "heddle"), HEDDLE_VERSION);
    assert_string_equal(text_at(object, "program"), "bfs");
    assert_string_equal(text_at(object, "size"), "small");
    assert_true(json_is_true(json_object_get(object, "functional")));
    assert_true(json_is_true(json_object_get(object, "checked")));
    assert_null(json_object_get(object, "stopped"));
    assert_null(json_object_get(object, "error"));
    assert_null(json_object_get(object, "machine"));
    json_decref(object);
}

static void the_json_object_has_the_reason_of_a_stopped_run(void **state) {
    (void)state;
    struct report_run run = sample();
    run.stopped = "timeout";
    run.error = "stopped after 1 s";
    run.size = NULL;
    json_t *object = json_of(&run);
    assert_string_equal(text_at(object, "stopped"), "timeout");
    assert_string_equal(text_at(object, "error"), "stopped after 1 s");
    assert_null(json_object_get(object, "size"));
    json_decref(object);
}

static void the_json_object_has_an_entry_for_each_launch_and_a_total(void **state) {
    (void)state;
    struct report_run run = sample();
    json_t *object = json_of(&run);
    const json_t *kernels = json_object_get(object, "kernels"), *second = json_array_get(kernels, 1);
    const json_t *total = json_object_get(object, "total"), *host = json_object_get(object, "host");
    assert_int_equal(json_array_size(kernels), 2);
    assert_string_equal(text_at(second, "name"), "say \"hi\", all");
    assert_int_equal(number_at(second, "launch"), 2);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(second, "grid"), 2)), 3);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(second, "block"), 0)), 8);
    assert_int_equal(number_at(second, "thread_instructions"), 8);
    assert_true(json_real_value(json_object_get(second, "simd_efficiency")) == 0.25);
    assert_true(json_real_value(json_object_get(second, "average_active_threads")) == 8);
    assert_int_equal(number_at(total, "launches"), 2);
    assert_int_equal(number_at(total, "warp_instructions"), 1000001);
    assert_int_equal(number_at(total, "divergent_branches"), 10);
    assert_int_equal(number_at(total, "memory_instructions"), 7);
    assert_true(json_real_value(json_object_get(host, "seconds")) == 0.75);
    json_decref(object);
}

static void csv_has_a_line_for_each_launch_and_quotes_names(void **state) {
    (void)state;
    struct report_run run = sample();
    char *text = written(report_write_csv, &run);
    assert_string_equal(
        text,
        "program,size,launch,kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z,blocks,threads,warp_instructions,"
        "thread_instructions,branches,divergent_branches,memory_instructions,long_instructions,long_thread_"
        "instructions,"
        "barriers,simd_efficiency,average_active_threads\n"
        "\"bfs\",small,1,\"first\",4,1,1,64,1,1,4,256,1000000,16000000,40,10,7,0,0,2,0.5,16\n"
        "\"bfs\",small,2,\"say \"\"hi\"\", all\",1,2,3,8,1,1,6,48,1,8,0,0,0,0,0,0,0.25,8\n");
    free(text);
}

/* ---- With time --------------------------------------------------------------------------------------------------- */

static const char *const changes[] = {"l1.size=32K", "sm.count=2"};
static const struct report_target target = {
    .machine = "gtx480",
    .scheduler = "gto",
    .divergence = "stack",
    .lanes = 32,
    .channels = 6,
    .peaks = {.per_cycle = {[REPORT_ISSUE] = 2000, [REPORT_DRAM] = 6}, .sms = 2},
};

/* One launch; the functional sample has two. */
static struct report_run timed_sample(struct report_kernel *launch) {
    struct report_run run = sample();
    *launch = launches[0];
    launch->counters.cycles = 1000;
    launch->counters.sm_cycles = 2000;
    launch->counters.active_cycles = 500;
    launch->counters.stall_memory = 1500;
    launch->counters.l1_accesses = 8;
    launch->counters.l1_misses = 2;
    launch->counters.row_hits = 9;
    launch->counters.row_conflicts = 1;
    launch->counters.bus_busy_cycles = 600;
    run.launch = launch;
    run.n_launches = 1;
    run.total = *launch;
    run.target = &target;
    return run;
}

static void a_timed_table_says_where_the_cycles_went(void **state) {
    (void)state;
    struct report_kernel launch;
    struct report_run run = timed_sample(&launch);
    char *text = written(write_table, &run);
    assert_string_equal(
        text,
        "gtx480; scheduler gto, divergence stack\n"
        "kernel  launches  cycles       IPC  warp instr.  active lanes  SIMD eff.  divergent  L1 misses  "
        "L2 misses  row hits\n"
        "first          1   1,000  16000.00    1,000,000         16.00     50.0 %     25.0 %     25.0 %          "
        "-    90.0 %\n"
        "where the cycles went: active 25.0 %, memory 75.0 %, dependency 0.0 %, barrier 0.0 %, fetch 0.0 %, "
        "structural 0.0 %, empty 0.0 %\n"
        "share of the peak: issue 50.0 %, DRAM 10.0 %\n"
        "limited by memory latency: SMs wait for memory in 75 % of their cycles, while DRAM is 10 % busy; 25 % of "
        "L1 accesses miss\n"
        "next: keep more loads in flight, with more warps or independent loads; compare schedulers; --lines shows "
        "the loads\n"
        "host: 0.750 s in kernels, 1333.3 thousand warp instructions/s\n");
    free(text);
}

static void the_json_object_of_a_timed_run_names_its_target(void **state) {
    (void)state;
    struct report_kernel launch;
    struct report_run run = timed_sample(&launch);
    struct report_target changed = target;
    changed.changes = changes;
    changed.n_changes = 2;
    run.target = &changed;
    json_t *object = json_of(&run);
    assert_null(json_object_get(object, "functional"));
    assert_string_equal(text_at(object, "machine"), "gtx480");
    assert_string_equal(text_at(object, "scheduler"), "gto");
    assert_string_equal(text_at(object, "divergence"), "stack");
    assert_string_equal(json_string_value(json_array_get(json_object_get(object, "set"), 1)), "sm.count=2");
    const json_t *total = json_object_get(object, "total");
    assert_int_equal(number_at(total, "cycles"), 1000);
    assert_int_equal(number_at(total, "idle_cycles"), 1500);
    assert_true(json_real_value(json_object_get(total, "ipc")) == 16000);
    assert_true(json_real_value(json_object_get(total, "row_hit_rate")) == 0.9);
    assert_true(json_real_value(json_object_get(total, "bus_utilization")) == 0.1);
    json_decref(object);
    launch.counters.row_hits = launch.counters.row_conflicts = 0;
    object = json_of(&run);
    const json_t *kernel = json_array_get(json_object_get(object, "kernels"), 0);
    assert_true(json_is_null(json_object_get(kernel, "row_hit_rate")));
    json_decref(object);
}

static void csv_of_a_timed_run_has_the_same_names(void **state) {
    (void)state;
    struct report_kernel launch;
    struct report_run run = timed_sample(&launch);
    char *text = written(report_write_csv, &run);
    static const char start[] = "program,size,machine,scheduler,divergence,launch,kernel,";
    assert_memory_equal(text, start, strlen(start));
    assert_non_null(strstr(text, ",stall_memory,"));
    assert_non_null(strstr(text, ",ipc,simd_efficiency,average_active_threads,idle_cycles,row_hit_rate,"
                                 "bus_utilization\n\"bfs\",small,\"gtx480\",\"gto\",\"stack\",1,\"first\",4,"));
    assert_non_null(strstr(text, ",16000,0.5,16,1500,0.9,0.1\n"));
    free(text);
}

static void energy_is_reported_if_the_machine_has_figures(void **state) {
    (void)state;
    struct report_kernel launch;
    struct report_run run = timed_sample(&launch);
    json_t *object = json_of(&run);
    assert_null(json_object_get(json_object_get(object, "total"), "energy_nj"));
    json_decref(object);
    char *text = written(report_write_csv, &run);
    assert_non_null(strstr(text, ",energy_nj,"));
    assert_non_null(strstr(text, ",600,,,,,,,,,,,,,,,16000,")); /* a column, but no value */
    free(text);
    launch.counters.energy_nj = 10000;
    launch.counters.energy_dram_nj = 7500;
    launch.counters.energy_leakage_nj = 2500;
    run.total = launch;
    object = json_of(&run);
    assert_int_equal(number_at(json_object_get(object, "total"), "energy_nj"), 10000);
    assert_int_equal(number_at(json_object_get(object, "total"), "energy_dram_nj"), 7500);
    assert_int_equal(number_at(json_object_get(object, "total"), "energy_clock_nj"), 0);
    json_decref(object);
    text = written(report_write_csv, &run);
    assert_non_null(strstr(text, ",600,10000,0,0,0,0,0,0,0,0,0,0,7500,0,2500,16000,"));
    free(text);
    text = written(write_table, &run);
    assert_non_null(strstr(text, "\nenergy: 10 uJ: DRAM 75.0 %, leakage 25.0 %\n"));
    free(text);
}

static void a_failed_write_is_reported(void **state) {
    (void)state;
    struct report_run run = sample();
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_false(report_write_json(full, &run));
    fclose(full);
    full = fopen("/dev/full", "w");
    assert_false(report_write_csv(full, &run));
    fclose(full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_aligned_and_ends_with_a_total),
        cmocka_unit_test(a_long_name_loses_its_namespaces_first),
        cmocka_unit_test(a_run_without_launches_is_reported),
        cmocka_unit_test(the_json_object_names_the_run),
        cmocka_unit_test(the_json_object_has_the_reason_of_a_stopped_run),
        cmocka_unit_test(the_json_object_has_an_entry_for_each_launch_and_a_total),
        cmocka_unit_test(csv_has_a_line_for_each_launch_and_quotes_names),
        cmocka_unit_test(a_timed_table_says_where_the_cycles_went),
        cmocka_unit_test(the_json_object_of_a_timed_run_names_its_target),
        cmocka_unit_test(csv_of_a_timed_run_has_the_same_names),
        cmocka_unit_test(energy_is_reported_if_the_machine_has_figures),
        cmocka_unit_test(a_failed_write_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
