/* The message of a command that fails. */
#include <stdarg.h>
#include <stdio.h>

#include "command/command.h"

int command_fail(enum command_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return (int)status;
}
