/* The files and the colours of a command's output. */
#include "command/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"

bool command_is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/* Opens the file before the run, so that an unwritable file does not waste one. */
bool command_open_output(const char *path, FILE **file) {
    if (!path)
        return true;
    *file = command_is_stdout(path) ? stdout : fopen(path, "we");
    if (!*file)
        command_fail(COMMAND_ERROR, "cannot write '%s': %s", path, strerror(errno));
    return *file != NULL;
}

static bool is_same_file(FILE *a, FILE *b) {
    struct stat about_a, about_b;
    return fstat(fileno(a), &about_a) == 0 && fstat(fileno(b), &about_b) == 0 && S_ISREG(about_a.st_mode) &&
           about_a.st_dev == about_b.st_dev && about_a.st_ino == about_b.st_ino;
}

int command_open_outputs(const char *json_path, FILE **json, const char *csv_path, FILE **csv) {
    bool is_same = json_path && csv_path && strcmp(json_path, csv_path) == 0;
    if (!is_same && (!command_open_output(json_path, json) || !command_open_output(csv_path, csv)))
        return COMMAND_ERROR;
    if (is_same || (json_path && csv_path && is_same_file(*json, *csv)))
        return command_fail(COMMAND_USAGE, "--json and --csv cannot both write to '%s'", json_path);
    return COMMAND_DONE;
}

bool command_close_output(const char *path, FILE *file, bool is_written) {
    if (file && file != stdout && fclose(file) != 0)
        is_written = false;
    if (!is_written && command_is_stdout(path))
        command_fail(COMMAND_ERROR, "cannot write to standard output: %s", strerror(errno));
    else if (!is_written)
        command_fail(COMMAND_ERROR, "cannot write '%s': %s", path, strerror(errno));
    return is_written;
}

bool command_is_colored(unsigned color) {
    const char *no_color = getenv("NO_COLOR");
    if (color != COMMAND_COLOR_AUTO)
        return color == COMMAND_COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}

unsigned command_columns(FILE *file) {
    enum { USUAL = 80 };
    struct winsize size;
    return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : USUAL - 1u;
}
