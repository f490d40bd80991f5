/* Timelines of runs, read back by the rules of the Trace Event Format and compared with the run's statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "command.h"

struct span {
    json_int_t process, thread;
    double first, end;
};

/* What a file holds. */
struct timeline {
    json_t *document;
    const json_t *events;
    struct span *span; /* of tracks, sorted by track and time; two are apart or, if they issue together, the same */
    size_t n_spans;
    size_t n_begins, n_ends, n_arrows, n_counters;
};

static const char *text(const json_t *event, const char *key) {
    const char *value = json_string_value(json_object_get(event, key));
    if (!value)
        fail_msg("an event has no text \"%s\"", key);
    return value;
}

static double number(const json_t *event, const char *key) {
    const json_t *value = json_object_get(event, key);
    if (!json_is_number(value) || json_number_value(value) < 0)
        fail_msg("an event of phase %s has no number \"%s\"", text(event, "ph"), key);
    return json_number_value(value);
}

static int compare_spans(const void *a, const void *b) {
    const struct span *left = a, *right = b;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    return left->first < right->first ? -1 : left->first > right->first;
}

/* Every event has what its phase needs. */
static void read_event(struct timeline *timeline, const json_t *event) {
    char phase = text(event, "ph")[0];
    text(event, "name");
    number(event, "pid");
    if (phase != 'M')
        number(event, "ts");
    if (strchr("Xsf", phase))
        number(event, "tid");
    if (strchr("besf", phase)) {
        text(event, "cat");
        number(event, "id");
    }
    switch (phase) {
    case 'X':
        timeline->span[timeline->n_spans++] = (struct span){
            json_integer_value(json_object_get(event, "pid")), json_integer_value(json_object_get(event, "tid")),
            number(event, "ts"), number(event, "ts") + number(event, "dur")};
        assert_true(number(event, "dur") > 0);
        break;
    case 'b':
        timeline->n_begins++;
        break;
    case 'e':
        timeline->n_ends++;
        break;
    case 's':
        timeline->n_arrows++;
        break;
    case 'f':
        assert_string_equal(text(event, "bp"), "e");
        break;
    case 'C':
        timeline->n_counters++;
        number(json_object_get(event, "args"), "value");
        break;
    case 'M':
        assert_true(json_is_object(json_object_get(event, "args")));
        break;
    default:
        fail_msg("phase %c", phase);
    }
}

static struct timeline read_timeline(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", scratch(), name);
    json_error_t error;
    struct timeline timeline = {.document = json_load_file(path, JSON_REJECT_DUPLICATES, &error)};
    if (!timeline.document)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    timeline.events = json_object_get(timeline.document, "traceEvents");
    assert_true(json_is_array(timeline.events));
    timeline.span = calloc(json_array_size(timeline.events) + 1, sizeof *timeline.span);
    size_t i;
    const json_t *event;
    json_array_foreach(timeline.events, i, event) read_event(&timeline, event);
    qsort(timeline.span, timeline.n_spans, sizeof *timeline.span, compare_spans);
    for (size_t k = 1; k < timeline.n_spans; k++) {
        const struct span *last = &timeline.span[k - 1], *span = &timeline.span[k];
        if (last->process == span->process && last->thread == span->thread && span->first < last->end &&
            (span->first != last->first || span->end != last->end))
            fail_msg("process %d, thread %d: spans overlap at %.0f", (int)span->process, (int)span->thread,
                     span->first);
    }
    assert_int_equal(timeline.n_begins, timeline.n_ends);
    return timeline;
}

static void timeline_free(struct timeline *timeline) {
    free(timeline->span);
    json_decref(timeline->document);
}

static bool is_stall(const char *name) { return strncmp(name, "stall: ", 7) == 0; }

/* The sums over the spans of slots. */
struct sums {
    json_int_t n_issued, n_lanes, n_accesses, n_launches, n_blocks;
    json_int_t block_sum; /* of their numbers */
    double memory, dependency, fetch, barrier, ready;
};

/* Returns the process whose tracks are streams, or 0. */
static json_int_t process_of_streams(const struct timeline *timeline) {
    size_t i;
    const json_t *event;
    json_array_foreach(timeline->events, i, event) if (strcmp(text(event, "name"), "process_name") == 0 &&
                                                       strcmp(text(json_object_get(event, "args"), "name"),
                                                              "streams") == 0) return (json_int_t)number(event, "pid");
    return 0;
}

static struct sums add_up(const struct timeline *timeline) {
    struct sums sums = {0};
    json_int_t streams = process_of_streams(timeline);
    size_t i;
    const json_t *event;
    json_array_foreach(timeline->events, i, event) {
        const char *name = text(event, "name");
        const json_t *args = json_object_get(event, "args");
        if (text(event, "ph")[0] == 'b') {
            bool is_block = strcmp(text(event, "cat"), "blocks") == 0;
            *(is_block ? &sums.n_blocks : &sums.n_accesses) += 1;
            sums.block_sum += json_integer_value(json_object_get(args, "block"));
        }
        if (text(event, "ph")[0] != 'X' || json_integer_value(json_object_get(event, "pid")) == streams)
            continue;
        if (json_object_get(args, "lanes")) {
            sums.n_issued++;
            sums.n_lanes += json_integer_value(json_object_get(args, "lanes"));
            assert_true(json_object_get(args, "cuda_line") && json_object_get(args, "block") &&
                        json_object_get(args, "warp"));
        } else if (!is_stall(name)) {
            sums.n_launches++;
        } else {
            double *sum = strcmp(name, "stall: ready") == 0        ? &sums.ready
                          : strcmp(name, "stall: memory") == 0     ? &sums.memory
                          : strcmp(name, "stall: dependency") == 0 ? &sums.dependency
                          : strcmp(name, "stall: fetch") == 0      ? &sums.fetch
                                                                   : &sums.barrier;
            *sum += number(event, "dur");
        }
    }
    return sums;
}

static json_int_t total(const json_t *run, const char *counter) {
    return json_integer_value(json_object_get(json_object_get(run, "total"), counter));
}

static double sum_lines(const json_t *run, const char *counter) {
    const json_t *listing, *line;
    size_t i, k;
    double all = 0;
    json_array_foreach(json_object_get(run, "lines"), i, listing)
        json_array_foreach(json_object_get(listing, "lines"), k, line) all +=
        json_number_value(json_object_get(line, counter));
    return all;
}

static void expect_whole_timeline(const char *words, json_int_t n_launches) {
    struct outcome outcome = heddle("run %s --size small --lines --json - --trace %s/whole.json", words, scratch());
    expect_status(&outcome, 0);
    json_t *run = json_output(&outcome);
    struct timeline timeline = read_timeline("whole.json");
    struct sums sums = add_up(&timeline);
    assert_int_equal(sums.n_issued, total(run, "warp_instructions"));
    assert_int_equal(sums.n_lanes, total(run, "thread_instructions"));
    assert_int_equal(sums.n_launches, n_launches);
    assert_true(sums.n_accesses > 0 && sums.n_accesses <= total(run, "long_instructions"));
    assert_int_equal(sums.n_blocks, total(run, "blocks"));
    json_int_t n = sums.n_blocks / n_launches; /* each launch has blocks 0 to n - 1 */
    if (strncmp(words, "bfs", 3) == 0)
        assert_int_equal(sums.block_sum, n_launches * n * (n - 1) / 2);
    assert_true(sums.memory == sum_lines(run, "stall_memory") && sums.memory > 0);
    assert_true(sums.dependency == sum_lines(run, "stall_dependency"));
    assert_true(sums.fetch == sum_lines(run, "stall_fetch"));
    assert_true(sums.ready == sum_lines(run, "stall_ready"));
    assert_true(sums.barrier == sum_lines(run, "stall_barrier"));
    assert_true(timeline.n_counters > 0);
    timeline_free(&timeline);
    json_decref(run);
    outcome_free(&outcome);
}

/* On h200 some instructions issue together with the one before them. */
static void the_spans_are_the_instructions_and_the_stalls(void **state) {
    (void)state;
    expect_whole_timeline("bfs --launch ..4", 4);
    expect_whole_timeline("reduction -m h200", 2);
}

static void a_timeline_changes_no_statistic(void **state) {
    (void)state;
    struct outcome with = heddle("run bfs --size small -d dwf --trace-sms 1 --json - --trace %s/dwf.json", scratch());
    struct outcome without = heddle("run bfs --size small -d dwf --json -");
    expect_status(&with, 0);
    expect_status(&without, 0);
    json_t *left = json_output(&with), *right = json_output(&without);
    json_object_del(left, "host");
    json_object_del(right, "host");
    assert_true(json_equal(left, right));
    json_decref(left);
    json_decref(right);
    outcome_free(&with);
    outcome_free(&without);
}

/* Returns whether a span of the track holds the time. */
static bool is_inside(const struct timeline *timeline, const json_t *event) {
    json_int_t process = json_integer_value(json_object_get(event, "pid")),
               thread = json_integer_value(json_object_get(event, "tid"));
    double at = number(event, "ts");
    size_t low = 0, high = timeline->n_spans;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct span key = {process, thread, at, at};
        if (compare_spans(&timeline->span[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct span *span = low ? &timeline->span[low - 1] : NULL;
    return span && span->process == process && span->thread == thread && at >= span->first && at < span->end;
}

static void arrows_join_spans(void **state) {
    (void)state;
    static const char *const models[] = {"dws", "dwf", "tbc"};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        struct outcome outcome =
            heddle("run bfs --size small -q -d %s --trace-sms 1 --trace %s/arrows.json", models[m], scratch());
        expect_status(&outcome, 0);
        struct timeline timeline = read_timeline("arrows.json");
        assert_true(timeline.n_arrows > 0);
        size_t i;
        const json_t *event;
        json_array_foreach(timeline.events, i, event) {
            char phase = text(event, "ph")[0];
            if ((phase == 's' || phase == 'f') && !is_inside(&timeline, event))
                fail_msg("%s: a %s at %.1f is in no span", models[m], text(event, "name"), number(event, "ts"));
        }
        timeline_free(&timeline);
        outcome_free(&outcome);
    }
}

/* h200 has a link to the host: the copies of vecadd are in the row of its stream, and its kernel is there when the chip
 * runs it. */
static void streams_have_rows(void **state) {
    (void)state;
    enum { CHIP = 133, STREAMS = 134 }; /* processes 1 to 132 are the SMs */
    struct outcome outcome = heddle("run vecadd -m h200 --size small -q --trace-sms 0 --trace %s/rows.json", scratch());
    expect_status(&outcome, 0);
    struct timeline timeline = read_timeline("rows.json");
    double launched = -1, kernel = -2, end = 0;
    unsigned n_to_device = 0, n_to_host = 0;
    size_t i;
    const json_t *event;
    json_array_foreach(timeline.events, i, event) {
        json_int_t process = json_integer_value(json_object_get(event, "pid"));
        if (text(event, "ph")[0] != 'X' || process < CHIP)
            continue;
        if (process == CHIP) {
            launched = number(event, "ts");
            continue;
        }
        assert_int_equal(process, STREAMS);
        assert_true(number(event, "ts") >= end); /* one after the other */
        end = number(event, "ts") + number(event, "dur");
        if (strcmp(text(event, "name"), "copy to device") == 0)
            n_to_device++;
        else if (strcmp(text(event, "name"), "copy to host") == 0)
            n_to_host++;
        else
            kernel = number(event, "ts");
    }
    assert_true(n_to_device >= 2 && n_to_host == 1);
    assert_true(kernel == launched);
    timeline_free(&timeline);
    outcome_free(&outcome);
}

static void cycles_and_sms_bound_it(void **state) {
    (void)state;
    enum { CHIP = 16 }; /* processes 1 to 15 are the SMs of gtx480 */
    struct outcome outcome =
        heddle("run bfs --size small -q --trace-cycles 1000..2000 --trace-sms 3..4 --trace %s/part.json", scratch());
    expect_status(&outcome, 0);
    struct timeline timeline = read_timeline("part.json");
    assert_true(timeline.n_spans > 10);
    for (size_t i = 0; i < timeline.n_spans; i++) {
        assert_true(timeline.span[i].process == 4 || timeline.span[i].process == 5 || timeline.span[i].process == CHIP);
        assert_true(timeline.span[i].first >= 1000 && timeline.span[i].end <= 2001);
    }
    timeline_free(&timeline);
    outcome_free(&outcome);
}

/* The file does not end early: it shows fewer SMs, then fewer cycles, but all launches. */
static void its_size_bounds_it(void **state) {
    (void)state;
    enum { CHIP = 16 }; /* processes 1 to 15 are the SMs */
    char path[4096];
    struct stat about;
    struct outcome outcome = heddle("run bfs --size small -q --trace-size 1 --trace %s/small.json", scratch());
    expect_status(&outcome, 0);
    expect_text(outcome.err,
                "small.json' shows one in 16 SMs and, of every 16384 cycles, 4096, to stay within 1000000 ");
    snprintf(path, sizeof path, "%s/small.json", scratch());
    assert_int_equal(stat(path, &about), 0);
    assert_in_range(about.st_size, 400000, 1000000);
    struct timeline timeline = read_timeline("small.json");
    json_int_t last_sm = 0, n_launches = 0;
    double first = 1e9, last = 0;
    for (size_t i = 0; i < timeline.n_spans; i++) {
        const struct span *span = &timeline.span[i];
        if (span->process == CHIP) {
            n_launches++;
            continue;
        }
        last_sm = span->process > last_sm ? span->process : last_sm;
        first = span->first < first ? span->first : first;
        last = span->first > last ? span->first : last;
        assert_true((uint64_t)span->first / 4096 % 4 == 0);
    }
    assert_int_equal(last_sm, 1); /* process 1 is SM 0 */
    assert_int_equal(n_launches, 7);
    assert_true(first < 1000 &&
                last > 32768); /* of 43,744 cycles, in which the window that begins in 32768 is the last */
    timeline_free(&timeline);
    outcome_free(&outcome);
}

static void wrong_bounds_are_told(void **state) {
    (void)state;
    static const struct {
        const char *words, *message;
    } cases[] = {
        {"--trace-cycles 1..2", "--trace-cycles is about a timeline: --trace FILE"},
        {"--trace x.json --trace-cycles 2..1", "--trace-cycles 2..1: expected N, N.., ..M or N..M"},
        {"--trace x.json --trace-sms 15", "--trace-sms 15: gtx480 has SMs 0 to 14"},
        {"--trace -", "--trace needs a file"},
        {"--trace x.json --functional", "--trace applies to timed runs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct outcome outcome = heddle("run bfs --size small %s", cases[i].words);
        expect_status(&outcome, 2);
        expect_text(outcome.err, cases[i].message);
        outcome_free(&outcome);
    }
    struct outcome outcome = heddle("run bfs --size small --trace /nonexistent/x.json");
    expect_status(&outcome, 1);
    expect_line(&outcome, "cannot write '/nonexistent/x.json'");
    outcome_free(&outcome);
    outcome = heddle("run bfs --size small -q --trace /dev/full"); /* seven launches, and one line */
    expect_status(&outcome, 1);
    expect_line(&outcome, "cannot write '/dev/full': No space left on device");
    outcome_free(&outcome);
}

static int remove_files(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_spans_are_the_instructions_and_the_stalls),
        cmocka_unit_test(a_timeline_changes_no_statistic),
        cmocka_unit_test(arrows_join_spans),
        cmocka_unit_test(streams_have_rows),
        cmocka_unit_test(cycles_and_sms_bound_it),
        cmocka_unit_test(its_size_bounds_it),
        cmocka_unit_test(wrong_bounds_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
