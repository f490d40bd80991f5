/* The files and the colours of a command's output. */
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

bool cli_is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

/* Before the run: a file that cannot be written should not cost one. */
bool cli_open_output(const char *path, FILE **file) {
    if (!path)
        return true;
    *file = cli_is_stdout(path) ? stdout : fopen(path, "w");
    if (!*file)
        cli_fail(CLI_ERROR, "cannot write '%s': %s", path, strerror(errno));
    return *file != NULL;
}

bool cli_close_output(const char *path, FILE *file, bool is_written) {
    if (file && file != stdout && fclose(file) != 0)
        is_written = false;
    if (!is_written)
        cli_fail(CLI_ERROR, "cannot write '%s': %s", path, strerror(errno));
    return is_written;
}

bool cli_is_colored(unsigned color) {
    const char *no_color = getenv("NO_COLOR");
    if (color != CLI_COLOR_AUTO)
        return color == CLI_COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) && !(no_color && *no_color);
}
