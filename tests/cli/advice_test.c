/* The advice after a run: for each rule of src/report/advice.def a kernel of advice.ptx that is known to be limited in
 * that way. Barriers have none: a barrier alone never keeps all warps of an SM waiting for most of its cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

struct rule {
    const char *kernel, *options, *limiter;
    int line; /* of the source, that the evidence must name; 0: none */
};

static const struct rule rules[] = {
    {"bandwidth", "--grid 60 --block 256 --arg buf:2000000 --arg u32:8", "DRAM bandwidth", 101},
    {"latency", "--grid 15 --block 64 --arg buf:2200000 --arg u32:32", "memory latency", 102},
    {"divergence", "--grid 30 --block 256 --arg buf:4 --arg u32:4", "divergence", 103},
    {"conflicts", "--grid 30 --block 256 --arg buf:4 --arg u32:32", "bank conflicts", 104},
    {"tail", "--grid 15 --block 64 --arg buf:4 --arg u32:2000", "tail", 0},
    {"work", "--grid 30 --block 512 --arg buf:4 --arg u32:32", "issue", 0},
    {"work", "--grid 1 --block 512 --arg buf:4 --arg u32:32", "few blocks", 0},
    {"work", "--grid 132 --block 64 --arg buf:4 --arg u32:1 -m h200", "launch start", 0},
    {"chain", "--grid 15 --block 128 --arg buf:4 --arg u32:32", "dependent instructions", 0},
    {"chain", "--grid 15 --block 32 --arg buf:4 --arg u32:32 --set sm.fetch_cycles=60", "instruction fetch", 0},
    {"sines", "--grid 30 --block 512 --arg buf:4 --arg u32:32", "special functions", 0},
    {"doubles", "--grid 30 --block 512 --arg buf:4 --arg u32:32", "double precision", 0},
    {"shared", "--grid 30 --block 512 --arg buf:4 --arg u32:64", "shared memory bandwidth", 0},
    {"strided", "--grid 15 --block 32 --arg buf:300000 --arg u32:64", "uncoalesced accesses", 106},
    {"strided", "--grid 60 --block 256 --arg buf:40000 --arg u32:1", "L1 bandwidth", 106},
    {"strided",
     "--grid 60 --block 256 --arg buf:300000 --arg u32:8 --set crossbar.bytes_per_cycle=2048 --set l2.banks=3",
     "L2 bandwidth", 106},
    {"reread", "--grid 30 --block 512 --arg buf:131072 --arg u32:64 --set crossbar.bytes_per_cycle=4",
     "crossbar bandwidth", 107},
    {"atomics", "--grid 15 --block 128 --arg buf:4 --arg u32:16", "atomics", 108},
    {"occupancy", "--grid 15 --block 64 --arg buf:2200000 --arg u32:32", "low occupancy", 109},
    {"products", "--grid 30 --block 512 --arg buf:4 --arg u32:32 --set sm.multiply_width=2", "a unit of the SM", 0},
};

static void each_rule_names_its_kernel(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *rule = &rules[i];
        char expected[80], line[40];
        struct outcome outcome = heddle("run tests/cli/advice.ptx --kernel %s %s", rule->kernel, rule->options);
        expect_status(&outcome, 0);
        snprintf(expected, sizeof expected, "limited by %s: ", rule->limiter);
        expect_text(outcome.out, expected);
        snprintf(line, sizeof line, "line %d of advice.cu", rule->line);
        if (rule->line)
            expect_text(outcome.out, line);
        outcome_free(&outcome);
    }
}

static void lines_with_as_many_conflicts_are_both_named(void **state) {
    (void)state;
    struct outcome outcome =
        heddle("run tests/cli/advice.ptx --kernel two_conflicts --grid 30 --block 256 --arg buf:4 --arg u32:32");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "; 100 % of the conflicts are at lines 110 and 111 of advice.cu");
    outcome_free(&outcome);
}

/* The line is the same in JSON, with several host threads, and with a listing. */
static void the_advice_does_not_depend_on_threads_or_observers(void **state) {
    (void)state;
    static const char *const options[] = {"--threads 1", "--threads 3", "--lines", "--sample 100"};
    char *first = NULL;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct outcome outcome = heddle("run bfs --size small --json - %s", options[i]);
        expect_status(&outcome, 0);
        json_t *run = json_output(&outcome);
        const json_t *limit = json_object_get(run, "limit");
        assert_true(json_integer_value(json_object_get(json_object_get(limit, "line"), "source_line")) > 0);
        char *text = json_dumps(limit, JSON_COMPACT);
        if (first)
            assert_string_equal(text, first);
        else
            first = strdup(text);
        free(text);
        json_decref(run);
        outcome_free(&outcome);
    }
    free(first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_names_its_kernel),
        cmocka_unit_test(lines_with_as_many_conflicts_are_both_named),
        cmocka_unit_test(the_advice_does_not_depend_on_threads_or_observers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
