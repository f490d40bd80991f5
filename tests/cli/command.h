/* Starts `heddle` from a test. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <jansson.h>

/* The result of a command. */
struct outcome {
    int status; /* the exit status, or 128 + the signal that ended it */
    char *out, *err;
};

/* Runs the command that HEDDLE_COMMAND names, with the words of a shell's command line. `outcome_free` frees the
 * result.
 */
__attribute__((format(printf, 1, 2))) struct outcome heddle(const char *format, ...);
void outcome_free(struct outcome *outcome);

/* Fails the test unless the status matches, and shows the command's output. */
void expect_status(const struct outcome *outcome, int status);
/* Fails the test unless the text occurs in `where`. */
void expect_text(const char *where, const char *text);
/* The same for a message: one line on standard error and nothing else. */
void expect_line(const struct outcome *outcome, const char *text);

/* Fails the test unless the command ends with this status and writes only one line, which has the text. */
void expect_refusal(int status, const char *words, const char *text);

/* Waits until the file is there; fails the test after a minute. */
void wait_for_file(const char *path);

/* Returns standard output as JSON. */
json_t *json_output(const struct outcome *outcome);

/* Returns the folder of the programs in programs/. */
const char *programs(void);

/* Returns a folder for files of this test; creates it once. */
const char *scratch(void);
void scratch_remove(void);
