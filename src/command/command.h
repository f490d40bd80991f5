/* A command of `heddle`: its exit status and its messages. Tables of options are in options.h. */
#pragma once

/* Exit status of the process. */
enum command_status {
    COMMAND_DONE = 0,
    COMMAND_ERROR = 1, /* of the user or the program */
    COMMAND_USAGE = 2,
    COMMAND_CHECK_FAILED =
        3,               /* the result differs from the CPU reference, or a user's program ended with this status */
    COMMAND_STOPPED = 4, /* by a limit or an interrupt */
};

/* Prints one line on standard error, `heddle: ...`, and returns `status`, so that a caller can `return
 * command_fail(...)`. */
__attribute__((format(printf, 2, 3))) int command_fail(enum command_status status, const char *format, ...);
