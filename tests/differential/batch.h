/* Runs programs through the CUDA driver API, many per module: compiling a module costs far more than running it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The exit status when a program fails or hangs: the process cannot continue, but another one can. */
enum { BATCH_FAILED = 4 };

struct batch_options {
    uint64_t seed;
    bool is_traced;
    int optimization; /* of a real driver's compiler, 0 to 4; -1: the default */
};

/* Receives the result of one program. trace: LAYOUT_THREADS times LAYOUT_TRACE_ENTRIES entries, or NULL. */
typedef void batch_result_fn(void *user, uint64_t number, const unsigned char *memory, const uint64_t *trace);

/* Starts the driver; ends the program with one line when that fails. */
void batch_start(void);
/* Runs programs first ... first + count - 1, in order. A module that does not load, a program that fails or one that
 * hangs ends the process with a message and status BATCH_FAILED, or by SIGALRM. */
void batch_run(const struct batch_options *options, uint64_t first, unsigned count, batch_result_fn *result,
               void *user);
