/* Replaces a program and its driver: writes the results of one launch itself, with cycles that depend on the scheduler
 * alone (lrr 1000, gto 500, all others 2000). An argument WHAT:SCHEDULER makes it misbehave under that scheduler:
 * `slow` ends last, `wrong` fails its check, `error` prints a message and fails, `hang` sleeps for long, `limit`
 * reports the limit of cycles, `signal` is ended by SIGKILL, `reads` adds the bytes of standard input to the cycles. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

/* Returns whether there is an argument WHAT:SCHEDULER. */
static int is_asked(int argc, char **argv, const char *what, const char *scheduler) {
    size_t length = strlen(what);
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], what, length) == 0 && argv[i][length] == ':' &&
            strcmp(argv[i] + length + 1, scheduler) == 0)
            return 1;
    return 0;
}

static int write_results(json_int_t cycles, int at_limit) {
    json_t *launch =
        json_pack("{s:s, s:[i,i,i], s:[i,i,i], s:I, s:i, s:i, s:I, s:I, s:i, s:i, s:I, s:i, s:i, s:i}", "name", "k",
                  "grid", 2, 1, 1, "block", 32, 1, 1, "cycles", cycles, "warp_instructions", 100, "thread_instructions",
                  1600, "sm_cycles", 3 * cycles, "active_cycles", cycles, "l1_accesses", 10, "l1_misses", 4,
                  "stall_memory", 2 * cycles, "row_hits", 3, "row_conflicts", 1, "bus_busy_cycles", 60);
    json_t *errors = json_array();
    if (at_limit)
        json_array_append_new(errors, json_pack("{s:s, s:s, s:s}", "error", "CUDA_ERROR_LAUNCH_TIMEOUT", "message",
                                                "too long", "limit", "max-cycles"));
    json_t *results = json_pack("{s:[o], s:o, s:{s:f}}", "kernels", launch, "errors", errors, "host", "seconds", 0.5);
    int failed = json_dump_file(results, getenv("HEDDLE_RESULTS"), 0);
    json_decref(results);
    return failed;
}

static json_int_t input_bytes(void) {
    json_int_t count = 0;
    while (getchar() != EOF)
        count++;
    return count;
}

int main(int argc, char **argv) {
    json_t *config = json_loads(getenv("HEDDLE_CONFIG"), 0, NULL);
    const char *scheduler = json_string_value(json_object_get(config, "scheduler"));
    const char *machine = json_string_value(json_object_get(config, "machine"));
    if (!scheduler || !machine || !strstr(machine, "\nsm:\n"))
        return 1;
    if (is_asked(argc, argv, "slow", scheduler))
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    if (is_asked(argc, argv, "hang", scheduler))
        sleep(100);
    if (is_asked(argc, argv, "error", scheduler)) {
        fputs("no such data\nand more\n", stderr);
        return 1;
    }
    if (is_asked(argc, argv, "signal", scheduler))
        raise(SIGKILL);
    json_int_t cycles = strcmp(scheduler, "lrr") == 0 ? 1000 : strcmp(scheduler, "gto") == 0 ? 500 : 2000;
    if (is_asked(argc, argv, "reads", scheduler))
        cycles += input_bytes();
    int at_limit = is_asked(argc, argv, "limit", scheduler);
    if (write_results(cycles, at_limit))
        return 1;
    puts("hidden output");
    int is_wrong = is_asked(argc, argv, "wrong", scheduler);
    json_decref(config);
    return is_wrong ? 3 : at_limit;
}
