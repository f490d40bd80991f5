/* The files and the colours of a command's output. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* True if `path` is `-`. */
bool command_is_stdout(const char *path);

/* Opens a file for writing. `-` is standard output, and NULL does nothing. Returns false after one line on standard
 * error. */
bool command_open_output(const char *path, FILE **file);
/* Opens the files of --json and --csv, which must differ. Returns COMMAND_DONE, or the exit status after one line. */
int command_open_outputs(const char *json_path, FILE **json, const char *csv_path, FILE **csv);
/* Closes the file, unless it is standard output. Returns false after one line on standard error if that fails or
 * !is_written. */
bool command_close_output(const char *path, FILE *file, bool is_written);

/* Returns the columns of the terminal behind the file, less the last, after which some terminals wrap, or 79 if the
 * file is not a terminal. */
unsigned command_columns(FILE *file);

/* The choices of --color. */
enum command_color { COMMAND_COLOR_AUTO, COMMAND_COLOR_ALWAYS, COMMAND_COLOR_NEVER };
#define COMMAND_COLOR_ROW(at)                                                                                          \
    { "--color", 0, COMMAND_CHOICE, "auto|always|never", "when to colour the table, default auto", (at), 0, 0 }
/* True if standard output is to be coloured. */
bool command_is_colored(unsigned color);
