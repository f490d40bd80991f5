/* A failed assertion of Heddle: the line, the file for the command that started the process, the signal. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/defect.h"

/* Lets an assertion fail in another process. Returns its standard error. */
static const char *fail_apart(const char *results) {
    static char text[4096];
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct base_arena arena = {0};
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        signal(SIGABRT, SIG_DFL);
        setenv("HEDDLE_RESULTS", results, 1);
        dup2(ends[1], STDERR_FILENO);
        base_arena_alloc(&arena, 1, 3);
        _exit(0);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    return text;
}

static void it_is_one_line_that_says_what_to_report(void **state) {
    (void)state;
    const char *text = fail_apart("");
    assert_ptr_equal(strstr(text, "heddle: a defect of Heddle: src/base/arena.c:"), text);
    assert_non_null(strstr(text, "base_arena_alloc")); /* some compilers add its parameters */
    assert_non_null(strstr(text, ": Assertion 'alignment != 0 && "));
    assert_non_null(strstr(text, " failed; please report it with this: heddle " HEDDLE_VERSION ", command: "));
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void a_started_process_leaves_it_to_the_command(void **state) {
    (void)state;
    char results[] = "/tmp/heddle-defect-XXXXXX", path[64], text[256] = "";
    assert_true(close(mkstemp(results)) == 0);
    assert_string_equal(fail_apart(results), "");
    snprintf(path, sizeof path, "%s" BASE_DEFECT_ENDING, results);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_ptr_equal(strstr(text, "src/base/arena.c:"), text);
    unlink(path);
    unlink(results);
}

static void a_file_that_cannot_be_written_does_not_hide_it(void **state) {
    (void)state;
    assert_non_null(strstr(fail_apart("/nowhere/results.json"), "heddle: a defect of Heddle: "));
}

static void a_line_has_all_its_parts(void **state) {
    (void)state;
    char line[BASE_DEFECT_BYTES];
    base_defect_line(line, sizeof line, "f.c:1: g: Assertion 'h' failed", " or of mine.so", "bfs on gtx480, ",
                     "--threads 1 is the way round it");
    assert_ptr_equal(strstr(line, "a defect of Heddle or of mine.so: f.c:1: g: Assertion 'h' failed; please report it "
                                  "with this: heddle " HEDDLE_VERSION ", bfs on gtx480, command: "),
                     line);
    assert_string_equal(line + strlen(line) - 33, "; --threads 1 is the way round it");
    char small[40]; /* it is cut */
    base_defect_line(small, sizeof small, "f.c:1: g: Assertion 'h' failed", "", "", "");
    assert_int_equal(strlen(small), sizeof small - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_one_line_that_says_what_to_report),
        cmocka_unit_test(a_started_process_leaves_it_to_the_command),
        cmocka_unit_test(a_file_that_cannot_be_written_does_not_hide_it),
        cmocka_unit_test(a_line_has_all_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
