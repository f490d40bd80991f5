/* Starts `heddle` from a test: through a shell, with standard output and standard error each in a file. */
#define _GNU_SOURCE
#include "command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char scratch_path[32];

const char *scratch(void) {
    if (!scratch_path[0]) {
        strcpy(scratch_path, "/tmp/heddle-cli-XXXXXX");
        assert_non_null(mkdtemp(scratch_path));
    }
    return scratch_path;
}

void scratch_remove(void) {
    char line[64];
    snprintf(line, sizeof line, "rm -r %s", scratch_path);
    if (scratch_path[0])
        assert_int_equal(system(line), 0);
    scratch_path[0] = '\0';
}

const char *programs(void) {
    const char *folder = getenv("HEDDLE_PROGRAMS");
    assert_non_null(folder);
    return folder;
}

static char *read_file(const char *name) {
    char path[64], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", scratch(), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    ssize_t length = getdelim(&text, &size, '\0', file);
    fclose(file);
    if (length < 0) { /* an empty file */
        free(text);
        return strdup("");
    }
    return text;
}

struct outcome heddle(const char *format, ...) {
    char *words, *line;
    const char *command = getenv("HEDDLE_COMMAND");
    assert_non_null(command);
    va_list arguments;
    va_start(arguments, format);
    assert_true(vasprintf(&words, format, arguments) >= 0);
    va_end(arguments);
    assert_true(asprintf(&line, "%s >%s/out 2>%s/err %s", command, scratch(), scratch(), words) >= 0);
    int status = system(line);
    free(words);
    free(line);
    return (struct outcome){
        .status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
        .out = read_file("out"),
        .err = read_file("err"),
    };
}

void outcome_free(struct outcome *outcome) {
    free(outcome->out);
    free(outcome->err);
}

void expect_status(const struct outcome *outcome, int status) {
    if (outcome->status != status)
        print_error("exit status %d\n--- standard output\n%s\n--- standard error\n%s\n", outcome->status, outcome->out,
                    outcome->err);
    assert_int_equal(outcome->status, status);
}

void expect_text(const char *where, const char *text) {
    if (!strstr(where, text))
        fail_msg("'%s' is not in '%s'", text, where);
}

void expect_line(const struct outcome *outcome, const char *text) {
    expect_text(outcome->err, text);
    const char *end = strchr(outcome->err, '\n');
    assert_non_null(end);
    assert_string_equal(end, "\n");
}

void expect_refusal(int status, const char *words, const char *text) {
    struct outcome outcome = heddle("%s", words);
    expect_status(&outcome, status);
    assert_string_equal(outcome.out, "");
    expect_line(&outcome, text);
    outcome_free(&outcome);
}

void wait_for_file(const char *path) {
    for (int i = 0; i < 6000 && access(path, F_OK) != 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(access(path, F_OK), 0);
}

json_t *json_output(const struct outcome *outcome) {
    json_error_t error;
    json_t *value = json_loads(outcome->out, JSON_REJECT_DUPLICATES, &error);
    if (!value)
        fail_msg("standard output is not JSON: %s in\n%s", error.text, outcome->out);
    return value;
}
