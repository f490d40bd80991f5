/* `heddle compare`: its rows, their order, and failing rows. Most tests run programs/timed.c, which reports what its
 * arguments say. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "command.h"

static json_t *runs_of(json_t *object) { return json_object_get(object, "runs"); }

static const char *text_of(json_t *object, size_t i, const char *key) {
    return json_string_value(json_object_get(json_array_get(runs_of(object), i), key));
}

static void rows_stand_in_the_order_asked_for_whatever_ends_first(void **state) {
    (void)state;
    struct outcome outcome = heddle("compare %s/timed -s lrr -s 'gto  srr' -j 3 --json - -- slow:lrr", programs());
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    json_t *object = json_output(&outcome);
    static const char *const names[] = {"lrr", "gto", "srr"};
    static const double speedups[] = {1, 2, 0.5};
    assert_int_equal(json_array_size(runs_of(object)), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(text_of(object, i, "scheduler"), names[i]);
        assert_true(json_real_value(json_object_get(json_array_get(runs_of(object), i), "speedup")) == speedups[i]);
    }
    json_decref(object);
    outcome_free(&outcome);
}

/* Checks the explanations in the JSON of a comparison. Returns how many there are. */
static size_t check_why(const char *words) {
    struct outcome outcome = heddle("compare %s --json -", words);
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome), *runs = json_object_get(object, "runs"), *run, *value;
    size_t i, n = 0;
    const char *name;
    json_array_foreach(runs, i, run) {
        json_t *why = json_object_get(run, "why");
        json_int_t sum = 0, launches = 0;
        if (!why)
            continue;
        json_object_foreach(json_object_get(why, "causes"), name, value) sum += json_integer_value(value);
        json_int_t difference =
            json_integer_value(json_object_get(why, "after")) - json_integer_value(json_object_get(why, "before"));
        assert_int_equal(sum, difference);
        assert_int_equal(json_integer_value(json_object_get(why, "after")),
                         json_integer_value(json_object_get(json_object_get(run, "total"), "cycles")));
        size_t k;
        json_array_foreach(json_object_get(why, "launches"), k, value) launches +=
            json_integer_value(json_object_get(value, "after")) - json_integer_value(json_object_get(value, "before"));
        assert_int_equal(launches, difference);
        n++;
    }
    json_decref(object);
    outcome_free(&outcome);
    return n;
}

static void a_difference_is_explained_by_causes_that_add_up(void **state) {
    (void)state;
    assert_int_equal(check_why("bfs reduction --size small -s 'lrr gto two-level'"), 4);
    assert_int_equal(check_why("divergent --size small -d 'stack dwf lwm tbc'"), 3);
    assert_int_equal(check_why("vecadd --size small -m 'gtx480 h200'"), 1);
}

/* Two schedulers are told apart by loads, two models by lanes. */
static void two_runs_are_explained_in_the_terminal(void **state) {
    (void)state;
    struct outcome outcome = heddle("compare bfs --size small -s 'lrr gto' --why");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "bfs: gto takes ");
    expect_text(outcome.out, "  cause  cycles");
    expect_text(outcome.out, "loads that were hidden (-) or exposed (+):\n  line ");
    outcome_free(&outcome);
    outcome = heddle("compare divergent --size small -d 'stack dwf' --why");
    expect_text(outcome.out, "lines that won (-) or lost (+) lanes:\n");
    outcome_free(&outcome);
    outcome = heddle("compare divergent --size small -d 'stack dwf tbc'");
    assert_null(strstr(outcome.out, "  cause"));
    outcome_free(&outcome);
}

/* Files of results give the table and the explanation of the runs themselves. */
static void results_are_compared_without_running(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct outcome run =
            heddle("run bfs --size small -s %s --lines --json %s/%u.json", i ? "gto" : "lrr", scratch(), i);
        expect_status(&run, 0);
        outcome_free(&run);
    }
    struct outcome live = heddle("compare bfs --size small -s 'lrr gto' --why"),
                   stored = heddle("compare %s/0.json %s/1.json", scratch(), scratch());
    expect_status(&stored, 0);
    assert_string_equal(stored.out, live.out);
    outcome_free(&live);
    outcome_free(&stored);
    stored = heddle("compare %s/0.json bfs", scratch());
    expect_status(&stored, 2);
    expect_line(&stored, "'bfs' is no file of results");
    outcome_free(&stored);
    stored = heddle("compare %s/0.json", scratch());
    expect_status(&stored, 2);
    expect_line(&stored, "compare needs at least two runs, and the results have 1");
    outcome_free(&stored);
    stored = heddle("compare %s/missing.json %s/0.json", scratch(), scratch());
    expect_status(&stored, 1);
    outcome_free(&stored);
    scratch_remove();
}

static void without_a_choice_every_scheduler_is_compared(void **state) {
    (void)state;
    struct outcome list = heddle("list schedulers --names"), outcome = heddle("compare %s/timed --csv -", programs());
    expect_status(&outcome, 0);
    unsigned n_lines = 0, n_names = 0;
    for (const char *at = outcome.out; (at = strchr(at, '\n')); at++)
        n_lines++;
    for (char *rest, *name = strtok_r(list.out, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest), n_names++) {
        char cell[64];
        snprintf(cell, sizeof cell, ",\"%s\",\"stack\",", name);
        expect_text(outcome.out, cell);
    }
    assert_int_equal(n_lines, n_names + 1);
    expect_text(outcome.out, ",speedup\n\"");
    const char *first = strchr(outcome.out, '\n');
    expect_text(strndupa(first, strcspn(first + 1, "\n")), ",\"gtx480\",\"lrr\","); /* the machine's own leads */
    outcome_free(&list);
    outcome_free(&outcome);
}

static void machines_are_compared_with_their_own_schedulers(void **state) {
    (void)state;
    struct outcome outcome =
        heddle("compare %s/timed -m 'gtx480 malits2012' -m narasiman2011 --set sm.count=2 --json -", programs());
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    assert_int_equal(json_array_size(runs_of(object)), 3);
    assert_string_equal(text_of(object, 0, "machine"), "gtx480");
    assert_string_equal(text_of(object, 1, "machine"), "malits2012");
    assert_string_equal(text_of(object, 2, "machine"), "narasiman2011");
    json_decref(object);
    outcome_free(&outcome);
}

static void several_programs_end_with_a_geometric_mean(void **state) {
    (void)state;
    struct outcome outcome = heddle("compare %s/timed %s/timed -s 'lrr gto'", programs(), programs());
    expect_status(&outcome, 0);
    expect_text(outcome.out, "\ngeometric mean ");
    expect_text(outcome.out, " 2.000  ");
    outcome_free(&outcome);
}

static void a_failed_run_is_shown_in_its_row(void **state) {
    (void)state;
    struct outcome outcome =
        heddle("compare %s/timed -s 'lrr gto srr lfws' -- wrong:gto error:srr limit:lfws", programs());
    expect_status(&outcome, 3);
    expect_text(outcome.out, " -  error\n");
    expect_text(outcome.out, " -  max-cycles\n");
    expect_text(outcome.err, "/timed ended with exit status 3\n");
    expect_text(outcome.err, "/timed ended with exit status 1: no such data\n");
    assert_null(strstr(outcome.err, "and more"));
    outcome_free(&outcome);
}

static void the_worst_end_decides_the_status(void **state) {
    (void)state;
    struct outcome outcome = heddle("compare %s/timed -q -s 'lrr gto srr' -- error:srr limit:gto", programs());
    expect_status(&outcome, 1);
    outcome_free(&outcome);
    outcome = heddle("compare %s/timed -q -s 'lrr gto' -- limit:gto", programs());
    expect_status(&outcome, 4);
    assert_string_equal(outcome.out, "");
    expect_line(&outcome, "/timed with gto on gtx480: stopped at the limit of cycles");
    outcome_free(&outcome);
}

static void a_run_that_hangs_is_stopped_alone(void **state) {
    (void)state;
    struct outcome outcome = heddle("compare %s/timed -s 'lrr gto srr' --timeout 4 -- hang:gto", programs());
    expect_status(&outcome, 4);
    expect_text(outcome.out, " -  timeout\n");
    expect_text(outcome.out, "\nsrr ");
    expect_text(outcome.out, " 0.500  ");
    outcome_free(&outcome);
}

static void failures_name_the_model_where_there_are_several(void **state) {
    (void)state;
    struct outcome outcome = heddle("compare %s/timed -q -s lrr -d 'stack lwm' -- limit:lrr", programs());
    expect_status(&outcome, 4);
    expect_text(outcome.err, "/timed with lrr and stack on gtx480: stopped at the limit of cycles\n");
    expect_text(outcome.err, "/timed with lrr and lwm on gtx480: stopped at the limit of cycles\n");
    outcome_free(&outcome);
}

static void a_program_that_never_calls_the_driver_is_reported_once(void **state) {
    (void)state;
    struct outcome outcome = heddle("compare /bin/true -s 'lrr gto'");
    expect_status(&outcome, 0);
    expect_line(&outcome, "heddle: /bin/true never called the CUDA driver");
    outcome_free(&outcome);
}

static void only_utf_8_gets_blocks(void **state) {
    (void)state;
    setenv("LC_ALL", "C", 1);
    struct outcome outcome = heddle("compare %s/timed -s 'lrr gto'", programs());
    expect_text(outcome.out, " 1.000  ######\n");
    outcome_free(&outcome);
    setenv("LC_ALL", "C.UTF-8", 1);
    outcome = heddle("compare %s/timed -s 'lrr srr'", programs());
    unsetenv("LC_ALL");
    expect_text(outcome.out, " 0.500  \u2588\u2588\u2588\u2588\u2588\u2588\n");
    outcome_free(&outcome);
}

static void a_workload_is_checked_and_two_comparisons_are_equal(void **state) {
    (void)state;
    char *text[2];
    for (int i = 0; i < 2; i++) {
        struct outcome outcome = heddle("compare bfs vecadd -s 'lrr gto two-level:group=4' -j %d", i + 1);
        expect_status(&outcome, 0);
        assert_string_equal(outcome.err, "");
        expect_text(outcome.out, "\nchecked: all results agree with the CPU reference\n");
        text[i] = strdup(outcome.out);
        outcome_free(&outcome);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
    struct outcome outcome = heddle("compare vecadd --no-check -s 'lrr gto'");
    expect_status(&outcome, 0);
    assert_null(strstr(outcome.out, "checked"));
    outcome_free(&outcome);
}

/* The first run ends and the second creates a file when it starts: with one job at a time the order is certain. */
static void an_interrupt_keeps_the_rows_that_are_finished(void **state) {
    (void)state;
    char json[64], running[64], script[64];
    snprintf(json, sizeof json, "%s/kept.json", scratch());
    snprintf(running, sizeof running, "%s/running", scratch());
    snprintf(script, sizeof script, "%s/program", scratch());
    FILE *file = fopen(script, "w");
    assert_non_null(file);
    fprintf(file,
            "#!/bin/sh\ncase $HEDDLE_CONFIG in *'\"scheduler\":\"gto\"'*) touch %s ;; esac\nexec %s/timed hang:gto\n",
            running, programs());
    fclose(file);
    assert_int_equal(chmod(script, 0755), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGINT, SIG_DFL); /* a test may itself run in the background */
        execl(getenv("HEDDLE_COMMAND"), "heddle", "compare", script, "-q", "-j", "1", "-s", "lrr gto srr", "--json",
              json, (char *)NULL);
        _exit(99);
    }
    wait_for_file(running);
    assert_int_equal(kill(pid, SIGINT), 0);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 4);
    json_t *object = json_load_file(json, 0, NULL);
    assert_non_null(object);
    assert_int_equal(json_array_size(runs_of(object)), 1);
    assert_string_equal(text_of(object, 0, "scheduler"), "lrr");
    json_decref(object);
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stand_in_the_order_asked_for_whatever_ends_first),
        cmocka_unit_test(a_difference_is_explained_by_causes_that_add_up),
        cmocka_unit_test(two_runs_are_explained_in_the_terminal),
        cmocka_unit_test(results_are_compared_without_running),
        cmocka_unit_test(without_a_choice_every_scheduler_is_compared),
        cmocka_unit_test(machines_are_compared_with_their_own_schedulers),
        cmocka_unit_test(several_programs_end_with_a_geometric_mean),
        cmocka_unit_test(a_failed_run_is_shown_in_its_row),
        cmocka_unit_test(the_worst_end_decides_the_status),
        cmocka_unit_test(a_run_that_hangs_is_stopped_alone),
        cmocka_unit_test(failures_name_the_model_where_there_are_several),
        cmocka_unit_test(a_program_that_never_calls_the_driver_is_reported_once),
        cmocka_unit_test(only_utf_8_gets_blocks),
        cmocka_unit_test(a_workload_is_checked_and_two_comparisons_are_equal),
        cmocka_unit_test(an_interrupt_keeps_the_rows_that_are_finished),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
