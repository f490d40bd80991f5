/* The user's programs: their arguments, how they end, and how they are stopped. */
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

static void arguments_reach_the_program_in_order(void **state) {
    (void)state;
    struct outcome outcome = heddle("run --functional %s/ending driver 0 a -q -5 -- --json b", programs());
    expect_status(&outcome, 0);
    assert_string_equal(outcome.out, "[a][-5][--json][b]");
    outcome_free(&outcome);
}

static void a_program_in_the_current_folder_needs_no_slash(void **state) {
    (void)state;
    char link[64];
    snprintf(link, sizeof link, "%s/here", scratch());
    char target[512];
    snprintf(target, sizeof target, "%s/ending", programs());
    assert_int_equal(symlink(target, link), 0);
    char folder[4096];
    assert_non_null(getcwd(folder, sizeof folder));
    assert_int_equal(chdir(scratch()), 0);
    struct outcome outcome = heddle("run here 0 x --functional --quiet");
    assert_int_equal(chdir(folder), 0);
    expect_status(&outcome, 0);
    assert_string_equal(outcome.out, "[x]");
    outcome_free(&outcome);
}

/* Only bundled workloads mean a failed check by it. */
static void status_3_of_a_program_is_passed_on(void **state) {
    (void)state;
    struct outcome outcome = heddle("run %s/ending 3 --functional --json -", programs());
    expect_status(&outcome, 3);
    expect_line(&outcome, "ending ended with exit status 3");
    assert_null(strstr(outcome.err, "reference"));
    json_t *object = json_output(&outcome);
    assert_true(json_is_false(json_object_get(object, "checked")));
    assert_non_null(json_object_get(object, "error"));
    json_decref(object);
    outcome_free(&outcome);
}

/* A copy of the command in a tree of its own, in which the workload vecadd is a script. */
static void a_workload_that_fails_its_check_is_status_3(void **state) {
    (void)state;
    char words[4096];
    snprintf(words, sizeof words,
             "--version && cd %s && mkdir -p tree/bin tree/workloads && cp \"$HEDDLE_COMMAND\" tree/bin && "
             "build=$(dirname \"$(dirname \"$HEDDLE_COMMAND\")\") && ln -s \"$build/lib\" \"$build/machines\" tree && "
             "printf '#!/bin/sh\\nexit 3\\n' >tree/workloads/vecadd && chmod +x tree/workloads/vecadd && "
             "tree/bin/heddle compare vecadd -s lrr >out 2>err",
             scratch());
    struct outcome outcome = heddle("%s", words);
    expect_status(&outcome, 3);
    expect_text(outcome.out, " -  check failed\n");
    expect_text(outcome.err, "the check failed: the result differs from the reference\n");
    outcome_free(&outcome);
}

static void any_other_end_is_status_1_and_one_line(void **state) {
    (void)state;
    struct outcome outcome = heddle("run %s/ending driver 2 --functional", programs());
    expect_status(&outcome, 1);
    expect_line(&outcome, "ending ended with exit status 2");
    outcome_free(&outcome);
    outcome = heddle("run %s/ending driver signal --functional", programs());
    expect_status(&outcome, 1);
    expect_text(outcome.err, "ending was ended by SIGABRT (Aborted)");
    outcome_free(&outcome);
}

static void a_program_that_never_calls_the_driver_is_reported(void **state) {
    (void)state;
    struct outcome outcome = heddle("run /bin/true --functional");
    expect_status(&outcome, 0);
    expect_line(&outcome, "/bin/true never called the CUDA driver");
    outcome_free(&outcome);
}

/* Writes a file into the scratch folder and expects the run of it to fail with one line that has the text. */
static void file_is_refused(const char *name, const void *content, size_t n, mode_t mode, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", scratch(), name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, n, file), n);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
    struct outcome outcome = heddle("run %s --functional", path);
    expect_status(&outcome, 1);
    assert_string_equal(outcome.out, "");
    expect_line(&outcome, text);
    outcome_free(&outcome);
}

static void text_is_refused(const char *name, const char *content, mode_t mode, const char *text) {
    file_is_refused(name, content, strlen(content), mode, text);
}

static void a_file_that_is_not_a_program_is_explained(void **state) {
    (void)state;
    static const char source[] = "int main(void) {}\n", nvcc[] = "is source code: build it with 'nvcc ";
    text_is_refused("x.cu", source, 0644, nvcc);
    text_is_refused("y.cu", source, 0755, nvcc);
    text_is_refused("z.cu", source, 0644, "/z.cu -o z', then 'heddle run ./z'; without nvcc, docs/cuda-programs.md");
    text_is_refused("x.c", source, 0644, "/x.c -L ");
    text_is_refused("y.c", source, 0644, "-lcuda -o y', then 'heddle run ./y'");
    text_is_refused("x.cpp", source, 0644, "build it with 'g++ -I ");
    text_is_refused("script", "#!/bin/sh\n", 0644, "/script' is not marked as executable: 'chmod +x ");
    text_is_refused("odd-script", "#!/nowhere/sh -e\n", 0755,
                    "is a script for '/nowhere/sh', which cannot be run here");
    text_is_refused("text", "no program\n", 0755, "is a text without a first line '#!...'");
    text_is_refused("plain-text", "no program\n", 0644, "is a text without a first line '#!...'");
    text_is_refused("nothing", "", 0755, "/nothing' is empty; expected is a bundled workload");
    file_is_refused("bytes", "\1\2\3\0", 4, 0755, "/bytes' is not an executable; expected is a bundled workload");
}

/* The head of an ELF file, with its type at 16 and its machine at 18. */
static void an_executable_for_another_computer_is_explained(void **state) {
    (void)state;
    unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 2, [18] = 183};
    file_is_refused("arm", elf, sizeof elf, 0755, "/arm' is an executable for AArch64, and this computer runs ");
    elf[18] = 190;
    file_is_refused("cubin", elf, sizeof elf, 0755, "/cubin' holds kernels for one GPU alone (a cubin)");
    elf[16] = 1;
    elf[18] = 62;
    file_is_refused("object", elf, sizeof elf, 0755, "/object' is an object file: link it");
}

static void a_script_runs(void **state) {
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "%s/script", scratch());
    text_is_refused("script", "#!/bin/sh\n", 0644, "chmod +x");
    assert_int_equal(chmod(path, 0755), 0);
    struct outcome outcome = heddle("run %s --functional -q", path);
    expect_status(&outcome, 0);
    outcome_free(&outcome);
}

static void a_program_that_sleeps_is_stopped_at_the_time_limit(void **state) {
    (void)state;
    struct outcome outcome = heddle("run %s/ending driver sleep --functional --timeout 0.1 --json -", programs());
    expect_status(&outcome, 4);
    expect_line(&outcome, "heddle: stopped after 0.1 s");
    json_t *object = json_output(&outcome);
    assert_string_equal(json_string_value(json_object_get(object, "stopped")), "timeout");
    json_decref(object);
    outcome_free(&outcome);
}

/* Starts heddle directly, so that only heddle gets the signal; the file shows that the program is running. */
static void an_interrupt_ends_the_run_with_partial_results(void **state) {
    (void)state;
    char json[64], running[64], line[128];
    snprintf(json, sizeof json, "%s/stopped.json", scratch());
    snprintf(running, sizeof running, "%s/running", scratch());
    snprintf(line, sizeof line, "touch %s; exec sleep 100", running);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGINT, SIG_DFL); /* a test may itself run in the background */
        execl(getenv("HEDDLE_COMMAND"), "heddle", "run", "/bin/sh", "--functional", "-q", "--json", json, "--", "-c",
              line, (char *)NULL);
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
    assert_string_equal(json_string_value(json_object_get(object, "stopped")), "interrupt");
    json_decref(object);
}

static void no_private_folder_is_left_behind(void **state) {
    (void)state;
    char folder[64], line[128];
    snprintf(folder, sizeof folder, "%s/private", scratch());
    snprintf(line, sizeof line, "mkdir %s", folder);
    assert_int_equal(system(line), 0);
    setenv("TMPDIR", folder, 1);
    struct outcome outcome = heddle("run vecadd --functional -q");
    expect_status(&outcome, 0);
    outcome_free(&outcome);
    outcome = heddle("run %s/ending driver signal --functional -q", programs());
    expect_status(&outcome, 1);
    outcome_free(&outcome);
    unsetenv("TMPDIR");
    assert_int_equal(rmdir(folder), 0); /* only an empty one can be removed */
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_reach_the_program_in_order),
        cmocka_unit_test(a_program_in_the_current_folder_needs_no_slash),
        cmocka_unit_test(status_3_of_a_program_is_passed_on),
        cmocka_unit_test(a_workload_that_fails_its_check_is_status_3),
        cmocka_unit_test(any_other_end_is_status_1_and_one_line),
        cmocka_unit_test(a_program_that_never_calls_the_driver_is_reported),
        cmocka_unit_test(a_file_that_is_not_a_program_is_explained),
        cmocka_unit_test(an_executable_for_another_computer_is_explained),
        cmocka_unit_test(a_script_runs),
        cmocka_unit_test(a_program_that_sleeps_is_stopped_at_the_time_limit),
        cmocka_unit_test(an_interrupt_ends_the_run_with_partial_results),
        cmocka_unit_test(no_private_folder_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
