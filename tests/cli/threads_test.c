/* `--threads`: parallel runs produce the same bytes as sequential ones, and leave no processes or files. Most tests run
 * programs/timed.c, which reports what its arguments say. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "command.h"

static char *content_of(const char *path) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    return text;
}

/* The output of a comparison in all its forms. */
struct said {
    struct outcome outcome;
    char *json, *csv;
};

static struct said compare(const char *words, int n_threads) {
    char json[64], csv[64];
    snprintf(json, sizeof json, "%s/said.json", scratch());
    snprintf(csv, sizeof csv, "%s/said.csv", scratch());
    struct outcome outcome = heddle("compare --threads %d --json %s --csv %s %s", n_threads, json, csv, words);
    return (struct said){outcome, content_of(json), content_of(csv)};
}

static void said_free(struct said *said) {
    outcome_free(&said->outcome);
    free(said->json);
    free(said->csv);
}

/* Expects the same output with one and with four threads; returns that of four. */
static struct said expect_the_same(const char *words, int status) {
    struct said one = compare(words, 1), four = compare(words, 4);
    expect_status(&one.outcome, status);
    expect_status(&four.outcome, status);
    assert_string_equal(one.outcome.out, four.outcome.out);
    assert_string_equal(one.outcome.err, four.outcome.err);
    assert_string_equal(one.json, four.json);
    assert_string_equal(one.csv, four.csv);
    said_free(&one);
    return four;
}

static unsigned count(const char *text, const char *part) {
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

static void six_configurations_produce_the_same_bytes(void **state) {
    (void)state;
    struct said said = expect_the_same("bfs -s 'lrr gto' -d 'stack lwm mimd'", 0);
    assert_string_equal(said.outcome.err, "");
    expect_text(said.outcome.out, "\nchecked: all results agree with the CPU reference\n");
    assert_int_equal(count(said.csv, "\n"), 7);
    said_free(&said);
}

/* The first ends last; programs write to both outputs. */
static void failures_are_reported_once_each_and_in_order(void **state) {
    (void)state;
    char words[512];
    snprintf(words, sizeof words,
             "%s/timed -s 'lrr gto srr lfws lpi llos' -- slow:lrr error:lrr wrong:gto limit:srr signal:lfws slow:lpi",
             programs());
    struct said said = expect_the_same(words, 3);
    static const char *const lines[] = {
        "/timed with lrr on gtx480: ",
        "/timed with gto on gtx480: ",
        "/timed with srr on gtx480: stopped at the limit of cycles",
        "/timed with lfws on gtx480: ",
    };
    const char *at = said.outcome.err;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        expect_text(at, lines[i]);
        assert_int_equal(count(said.outcome.err, lines[i]), 1);
        at = strstr(at, lines[i]);
    }
    expect_text(said.outcome.err, "ended with exit status 1: no such data\n");
    expect_text(said.outcome.err, "was ended by SIGKILL (Killed)\n");
    assert_int_equal(count(said.outcome.err, "\n"), 4);
    assert_null(strstr(said.outcome.out, "hidden output"));
    said_free(&said);
}

static void a_limit_holds_for_each_run(void **state) {
    (void)state;
    struct said said = expect_the_same("bfs -s 'lrr gto srr lfws' --max-cycles 1000", 4);
    assert_int_equal(count(said.outcome.err, "stopped at the limit of cycles\n"), 4);
    said_free(&said);
    char words[256];
    snprintf(words, sizeof words, "%s/timed -s 'lrr gto srr' --timeout 4 -- hang:gto hang:lrr", programs());
    said = expect_the_same(words, 4);
    assert_int_equal(count(said.outcome.err, "stopped after 4 s\n"), 2);
    said_free(&said);
}

static void every_run_reads_the_same_input(void **state) {
    (void)state;
    char path[64], words[512];
    snprintf(path, sizeof path, "%s/input", scratch());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%-100000d", 1);
    fclose(file);
    snprintf(words, sizeof words, "%s/timed -s 'srr lfws lpi llos' <%s -- reads:srr reads:lfws reads:lpi reads:llos",
             programs(), path);
    struct said said = expect_the_same(words, 0);
    assert_int_equal(count(said.outcome.out, "  102,000  "), 4);
    said_free(&said);
    snprintf(words, sizeof words, "%s/timed -s 'srr lfws' </dev/zero -- reads:srr reads:lfws", programs());
    said = expect_the_same(words, 0);
    assert_int_equal(count(said.outcome.out, "  2,000  "), 2);
    said_free(&said);
}

static void expect_equal_output(const char *words, const char *text) {
    struct outcome one = heddle("%s --threads 1", words), four = heddle("%s --threads 4", words);
    expect_status(&one, 0);
    expect_status(&four, 0);
    expect_text(one.out, text);
    assert_string_equal(one.out, four.out);
    assert_string_equal(one.err, four.err);
    outcome_free(&one);
    outcome_free(&four);
}

static void other_commands_produce_the_same_bytes(void **state) {
    (void)state;
    expect_equal_output("characterize blackjack vecadd", "this device has none\n");
    expect_equal_output("characterize blackjack vecadd --json -", "\"outcome\": \"error\"");
    expect_equal_output("paper narasiman2014-fig8.1 --size small --csv -",
                        "\nnarasiman2014-fig8.1,cycles,small,cond_acc,");
}

static void a_single_run_takes_the_option(void **state) {
    (void)state;
    struct outcome one = heddle("run vecadd --threads 1 --csv -"), four = heddle("run vecadd --threads 4 --csv -");
    expect_status(&one, 0);
    expect_status(&four, 0);
    assert_string_equal(one.out, four.out);
    outcome_free(&one);
    outcome_free(&four);
}

/* ---- What ends a kernel ------------------------------------------------------------------------------------------ */

#define KERNELS "run -q tests/cli/kernels.ptx --json - --kernel "

static const char *const threads[] = {"", "--threads 1", "--threads 3"}; /* the first: one for each processor */
enum { N_THREADS = sizeof threads / sizeof threads[0] };

/* Everything but the host's own time. */
static json_t *results_of(const char *text) {
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    json_object_del(object, "host");
    return object;
}

static void expect_diagnosis(const char *words, int status, const char *text) {
    struct outcome first = heddle("%s %s", words, threads[0]);
    json_t *results = results_of(first.out);
    expect_status(&first, status);
    expect_text(first.err, text);
    for (unsigned i = 1; i < N_THREADS; i++) {
        struct outcome outcome = heddle("%s %s", words, threads[i]);
        expect_status(&outcome, status);
        assert_string_equal(outcome.err, first.err);
        json_t *same = results_of(outcome.out);
        assert_true(json_equal(same, results));
        json_decref(same);
        outcome_free(&outcome);
    }
    json_decref(results);
    outcome_free(&first);
}

static void every_diagnosis_is_the_same(void **state) {
    (void)state;
    expect_diagnosis(KERNELS "spin --grid 20 --block 64 --set limits.watchdog=20000", 1,
                     "heddle: livelock in kernel 'spin' at cycle ");
    expect_diagnosis(KERNELS "meet --grid 3 --block 64", 1,
                     "heddle: memory: nothing is in flight\n"
                     "heddle: deadlock in kernel 'meet' at cycle ");
    expect_diagnosis(KERNELS "meet -d dwf --grid 20 --block 64", 1, "heddle: deadlock in kernel 'meet' at cycle ");
    expect_diagnosis(KERNELS "meet -m h200 --set sm.count=8 --grid 20 --block 64", 1,
                     "heddle: deadlock in kernel 'meet' at cycle ");
    expect_diagnosis(KERNELS "saxpy --grid 20 --arg f32:1 --arg buf:516 --arg buf:4096", 0,
                     "heddle: warning: stray access to ");
    expect_diagnosis(KERNELS "saxpy --memcheck --grid 20 --arg f32:1 --arg buf:516 --arg buf:4096", 1,
                     "in kernel 'saxpy', block (4,0,0), thread (1,0,0), tests/cli/kernels.ptx:22 (ld.global.f32)");
    expect_diagnosis(KERNELS "spin --grid 20 --max-cycles 5000", 4,
                     "heddle: cycle limit reached in kernel 'spin' after 5000 cycles, 0 of 20 blocks\n"
                     "heddle: stopped at the limit of cycles\n");
}

/* The cycle differs from run to run. */
static void a_time_limit_is_told_with_any_number(void **state) {
    (void)state;
    for (unsigned i = 0; i < N_THREADS; i++) {
        struct outcome outcome = heddle(KERNELS "spin --set limits.watchdog=0 --timeout 0.2 %s", threads[i]);
        expect_status(&outcome, 4);
        expect_text(outcome.err, "heddle: time limit reached in kernel 'spin' after ");
        expect_text(outcome.err, "\nheddle: stopped after 0.2 s\n");
        outcome_free(&outcome);
    }
}

/* ---- Interrupts -------------------------------------------------------------------------------------------------- */

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); }

/* A zombie, which no parent may be left to reap, counts as gone. */
static bool is_gone(pid_t pid) {
    char path[32], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file) {
        assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
        fclose(file);
    }
    return state == 'Z' || state == 'X';
}

static void expect_gone(const char *path) {
    int pid;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    for (int i = 0; i < 6000 && !is_gone(pid); i++)
        nap();
    assert_true(is_gone(pid));
}

/* Writes a script as the program: under lrr it ends; under gto and srr it starts a child process, writes the child's
 * number to a file, and waits for it; under the others it creates a file and hangs. */
static const char *make_script(const char *folder) {
    static char path[64];
    snprintf(path, sizeof path, "%s/script", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "#!/bin/sh\n"
            "case $HEDDLE_CONFIG in\n"
            "*'\"scheduler\":\"lrr\"'*) exec %s/timed ;;\n"
            "*'\"scheduler\":\"gto\"'*) name=gto ;;\n"
            "*'\"scheduler\":\"srr\"'*) name=srr ;;\n"
            "*) touch %s/others; exec sleep 100 ;;\n"
            "esac\n"
            "sleep 100 &\n"
            "echo $! >%s/new-$name\n"
            "mv %s/new-$name %s/pid-$name\n"
            "wait\n",
            programs(), folder, folder, folder, folder);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static pid_t start_compare(const char *script, const char *folder, const char *json) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char temporary[80];
        snprintf(temporary, sizeof temporary, "%s/private", folder);
        setenv("TMPDIR", temporary, 1);
        signal(SIGINT, SIG_DFL); /* a test may itself run in the background */
        execl(getenv("HEDDLE_COMMAND"), "heddle", "compare", script, "-q", "--threads", "3", "-s",
              "gto lrr srr lfws lpi", "--json", json, (char *)NULL);
        _exit(99);
    }
    return pid;
}

/* Two runs hang while the one between them ends; the next one takes its place and hangs, which shows that it has ended,
 * and the last is never started. */
static void an_interrupt_ends_all_runs_and_keeps_finished_rows(void **state) {
    (void)state;
    char json[64], private[64], first[64], second[64], others[64];
    snprintf(json, sizeof json, "%s/kept.json", scratch());
    snprintf(private, sizeof private, "%s/private", scratch());
    snprintf(first, sizeof first, "%s/pid-gto", scratch());
    snprintf(second, sizeof second, "%s/pid-srr", scratch());
    snprintf(others, sizeof others, "%s/others", scratch());
    assert_int_equal(mkdir(private, 0700), 0);
    pid_t pid = start_compare(make_script(scratch()), scratch(), json);
    wait_for_file(first);
    wait_for_file(second);
    wait_for_file(others);
    assert_int_equal(kill(pid, SIGINT), 0);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 4);
    expect_gone(first);
    expect_gone(second);
    assert_int_equal(rmdir(private), 0); /* only an empty one can be removed */
    json_t *object = json_load_file(json, 0, NULL);
    assert_non_null(object);
    json_t *runs = json_object_get(object, "runs");
    assert_int_equal(json_array_size(runs), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(runs, 0), "scheduler")), "lrr");
    json_decref(object);
}

/* Ends a kernel that never ends by one signal to heddle alone. */
static void expect_stop(int number, const char *n_threads) {
    char json[64], running[64];
    snprintf(json, sizeof json, "%s/signal.json", scratch());
    snprintf(running, sizeof running, "%s/running", scratch());
    unlink(running);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char program[256];
        snprintf(program, sizeof program, "%s/stuck", programs());
        signal(number, SIG_DFL); /* a test may itself run in the background */
        execl(getenv("HEDDLE_COMMAND"), "heddle", "run", program, "-q", "--set", "limits.watchdog=0", "--json", json,
              "--threads", n_threads, "--", running, (char *)NULL);
        _exit(99);
    }
    wait_for_file(running);
    for (int i = 0; i < 30; i++) /* until the launch has begun */
        nap();
    assert_int_equal(kill(pid, number), 0);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 4);
    json_t *object = json_load_file(json, 0, NULL);
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "stopped")), "interrupt");
    const json_t *kernels = json_object_get(object, "kernels");
    assert_int_equal(json_array_size(kernels), 2);
    assert_true(json_integer_value(json_object_get(json_array_get(kernels, 1), "cycles")) > 0);
    json_decref(object);
}

static void a_signal_keeps_what_the_kernel_has_done_so_far(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        expect_stop(i ? SIGTERM : SIGINT, "1");
        expect_stop(i ? SIGTERM : SIGINT, "3");
    }
}

static void a_programs_children_end_with_it(void **state) {
    (void)state;
    char words[512], pid[64];
    snprintf(pid, sizeof pid, "%s/left", scratch());
    snprintf(words, sizeof words, "compare /bin/sh -q -s 'lrr gto' --threads 2 -- -c 'sleep 100 & echo $! >%s'", pid);
    struct outcome outcome = heddle("%s", words);
    outcome_free(&outcome);
    expect_gone(pid);
}

static void a_missing_folder_for_temporary_files_is_one_line(void **state) {
    (void)state;
    setenv("TMPDIR", "/nowhere", 1);
    struct outcome outcome = heddle("compare bfs vecadd --threads 4");
    unsetenv("TMPDIR");
    expect_status(&outcome, 1);
    assert_string_equal(outcome.out, "");
    expect_line(&outcome, "heddle: cannot make a folder in '/nowhere': No such file or directory");
    outcome_free(&outcome);
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(six_configurations_produce_the_same_bytes),
        cmocka_unit_test(failures_are_reported_once_each_and_in_order),
        cmocka_unit_test(a_limit_holds_for_each_run),
        cmocka_unit_test(every_run_reads_the_same_input),
        cmocka_unit_test(other_commands_produce_the_same_bytes),
        cmocka_unit_test(a_single_run_takes_the_option),
        cmocka_unit_test(every_diagnosis_is_the_same),
        cmocka_unit_test(a_time_limit_is_told_with_any_number),
        cmocka_unit_test(a_signal_keeps_what_the_kernel_has_done_so_far),
        cmocka_unit_test(an_interrupt_ends_all_runs_and_keeps_finished_rows),
        cmocka_unit_test(a_programs_children_end_with_it),
        cmocka_unit_test(a_missing_folder_for_temporary_files_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
