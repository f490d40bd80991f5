/* Turns the reports of SMs (sm/observer.h) into events of a timeline (stats/trace.h). In the trace format, a process is
 * an SM and a thread is one of its slots. The process after the last SM is the rest of the chip: launches, DRAM. On
 * machines with a link to the host another process follows. There a thread is a stream, with its kernels and copies.
 * Processes and threads are numbered from 1, because process 0 and thread 0 are idle on Linux, and readers may treat
 * them as idle. */
#include "gpu/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/sampler.h"
#include "stats/trace.h"

enum {
    COUNT_EVERY = 64,     /* cycles between two values of a counter */
    WINDOW_CYCLES = 4096, /* if not all cycles are shown: neighbouring ones that are */
    LEAST_ROOM = 8192,    /* bytes: with less, the file is thinned */
    MOST_WINDOWS = 1 << 20,
};

/* A counter is written when it has changed. */
struct counted {
    double value;
    bool is_written;
};

struct traced_sm {
    bool is_named;
    uint64_t slot_is_named[SCHED_MAX_SLOTS / 64 + 1];
    uint64_t n_instructions; /* at the last count */
    struct counted ipc, mshrs;
};

struct traced_stream {
    uint32_t number;
    uint64_t end; /* of the last work in its row */
};

/* A launch that runs. Several may run at the same time. */
struct traced_launch {
    const struct exec_grid *grid;
    uint32_t number, stream; /* number: from 1 */
    uint64_t first_cycle;
};

struct gpu_trace {
    struct gpu_trace_config config;
    struct sm_observer observer;
    struct stats_trace *file;
    uint32_t n_sms, n_channels;
    struct traced_launch *launch;
    uint32_t n_launches;
    uint64_t *row_end; /* of the last launch in each row of launches */
    uint32_t n_rows;
    struct sm *const *sm;
    const struct mem *mem;
    uint64_t shift; /* of the machine's cycles, to the launch's place on the device's timeline */
    uint64_t next_count;
    uint64_t n_numbers;  /* of accesses and arrows */
    uint64_t last_begun; /* the cycle in which the last span that was written begins */
    struct traced_sm *traced;
    struct counted *channel;
    struct counted traffic[GPU_N_TRAFFIC];
    uint64_t last_traffic[GPU_N_TRAFFIC];
    uint32_t every_sm;             /* shown are SMs first_sm + k * every_sm */
    uint32_t every_window;         /* one window in this many is shown */
    uint32_t said_sm, said_window; /* the same when the user was told */
    struct traced_stream *stream;
    uint32_t n_streams;
    bool is_chip_named, is_full_said, is_failure_said, cannot_thin;
};

static const char *const activity_names[SM_N_ACTIVITIES] = {
    [SM_ISSUES] = "issue",
#define STATS_LINE_STALL(word, heading) [SM_STALLS_##word] = "stall: " #word,
#include "stats/stalls.def"
};

/* ---- What is traced ---------------------------------------------------------------------------------------------- */

static uint64_t last_cycle(const struct gpu_trace *trace) {
    return trace->config.last_cycle ? trace->config.last_cycle : UINT64_MAX;
}

static bool has_sm(const struct gpu_trace *trace, uint32_t sm) {
    return !stats_trace_is_full(trace->file) && sm >= trace->config.first_sm && sm <= trace->config.last_sm &&
           (sm - trace->config.first_sm) % trace->every_sm == 0;
}

static bool has_window(const struct gpu_trace *trace, uint64_t cycle) {
    return cycle / WINDOW_CYCLES % trace->every_window == 0;
}

static bool has_cycle(const struct gpu_trace *trace, uint64_t cycle) {
    return cycle >= trace->config.first_cycle && cycle <= last_cycle(trace) && has_window(trace, cycle);
}

/* Launches and streams stay whatever is left out. */
static bool is_kept(void *user, const struct stats_event *event) {
    const struct gpu_trace *trace = user;
    bool is_of_sm = event->process <= trace->n_sms;
    if (is_of_sm && !has_sm(trace, event->process - 1))
        return false;
    return event->phase == 'M' || (!is_of_sm && event->phase != 'C') || has_window(trace, event->cycle);
}

/* Makes room for the next events when the file is nearly full: shows half as many SMs or, if only one is left, half as
 * many windows of cycles. Earlier events follow the same rule, so the file covers the run evenly. */
static void make_room(struct gpu_trace *trace) {
    uint32_t last_sm = trace->config.last_sm < trace->n_sms ? trace->config.last_sm : trace->n_sms - 1;
    while (stats_trace_room(trace->file) < LEAST_ROOM && trace->every_window < MOST_WINDOWS && !trace->cannot_thin) {
        if (trace->config.first_sm + trace->every_sm <= last_sm)
            trace->every_sm *= 2;
        else
            trace->every_window *= 2;
        trace->cannot_thin = !stats_trace_thin(trace->file, is_kept, trace);
    }
}

/* Cuts a span to the cycles that are traced. Returns false if nothing is left. */
static bool clip(const struct gpu_trace *trace, uint64_t *first, uint64_t *n_cycles) {
    uint64_t end = *first + *n_cycles;
    if (*first < trace->config.first_cycle)
        *first = trace->config.first_cycle;
    if (end > last_cycle(trace))
        end = last_cycle(trace) + 1;
    *n_cycles = end > *first ? end - *first : 0;
    return *n_cycles > 0;
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static uint32_t process_of(uint32_t sm) { return sm + 1; }

static void name_sm(struct gpu_trace *trace, uint32_t sm) {
    char name[24];
    if (trace->traced[sm].is_named)
        return;
    trace->traced[sm].is_named = true;
    snprintf(name, sizeof name, "SM %u", sm);
    stats_trace_name_process(trace->file, process_of(sm), name);
}

/* Returns the track of a slot. */
static struct stats_track track_of(struct gpu_trace *trace, uint32_t sm, uint32_t slot) {
    struct stats_track track = {process_of(sm), slot + 1};
    uint64_t *word = &trace->traced[sm].slot_is_named[slot / 64];
    char name[24];
    if (*word >> slot % 64 & 1)
        return track;
    *word |= 1ull << slot % 64;
    name_sm(trace, sm);
    snprintf(name, sizeof name, "slot %u", slot);
    stats_trace_name_thread(trace->file, track, name);
    return track;
}

static uint32_t chip(struct gpu_trace *trace) {
    if (!trace->is_chip_named) {
        trace->is_chip_named = true;
        stats_trace_name_process(trace->file, process_of(trace->n_sms), "chip");
    }
    return process_of(trace->n_sms);
}

static uint32_t line_at(const struct exec_program *program, uint32_t pc) {
    const struct ptx_instruction *insn = program->source[pc];
    return insn ? insn->at.line : 0;
}

static const char *name_at(const struct exec_program *program, uint32_t pc, char *buffer, size_t size) {
    const struct ptx_instruction *insn = program->source[pc];
    return insn ? ptx_instruction_name(insn, buffer, size) : "ret";
}

/* ---- What SMs report --------------------------------------------------------------------------------------------- */

static void on_span(void *user, const struct sm_span *span) {
    struct gpu_trace *trace = user;
    const struct exec_program *program = span->grid->program;
    uint64_t first = span->first_cycle + trace->shift, n_cycles = span->n_cycles;
    char buffer[96];
    make_room(trace);
    if (!has_sm(trace, span->sm) || !clip(trace, &first, &n_cycles) || !has_window(trace, first))
        return;
    bool issues = span->activity == SM_ISSUES;
    struct stats_argument arguments[6] = {{"line", line_at(program, span->pc)}};
    struct gpu_place place = gpu_place_at(program, span->pc);
    unsigned n = 1;
    if (place.file)
        arguments[n++] = (struct stats_argument){"cuda_line", place.line};
    if (span->block != SM_NO_BLOCK) {
        arguments[n++] = (struct stats_argument){"block", span->block};
        arguments[n++] = (struct stats_argument){"warp", span->warp};
    }
    if (issues)
        arguments[n++] = (struct stats_argument){"lanes", span->n_lanes};
    const char *name = issues ? name_at(program, span->pc, buffer, sizeof buffer) : activity_names[span->activity];
    stats_trace_span(trace->file, track_of(trace, span->sm, span->slot), name, first, n_cycles, arguments);
    if (!stats_trace_is_full(trace->file) && first > trace->last_begun)
        trace->last_begun = first;
}

static void on_access(void *user, const struct sm_access_span *access) {
    struct gpu_trace *trace = user;
    const struct exec_program *program = access->grid->program;
    uint64_t first = access->first_cycle + trace->shift, n_cycles = access->n_cycles;
    char buffer[96];
    make_room(trace);
    if (!has_sm(trace, access->sm) || !clip(trace, &first, &n_cycles) || !has_window(trace, first))
        return;
    struct gpu_place place = gpu_place_at(program, access->pc);
    const struct stats_argument arguments[] = {
        {"slot", access->slot},       {"line", line_at(program, access->pc)},        {"requests", access->n_requests},
        {"misses", access->n_misses}, {place.file ? "cuda_line" : NULL, place.line}, {NULL, 0}};
    name_sm(trace, access->sm);
    stats_trace_overlapping_span(trace->file, process_of(access->sm), ++trace->n_numbers, "memory",
                                 name_at(program, access->pc, buffer, sizeof buffer), first, n_cycles, arguments);
}

static struct traced_launch *launch_of(const struct gpu_trace *trace, const struct exec_grid *grid) {
    struct traced_launch *launch = trace->launch;
    while (launch->grid != grid)
        launch++;
    return launch;
}

static void on_block(void *user, const struct sm_block_span *block) {
    struct gpu_trace *trace = user;
    uint64_t first = block->first_cycle + trace->shift, n_cycles = block->n_cycles;
    char name[24];
    make_room(trace);
    if (!has_sm(trace, block->sm) || !clip(trace, &first, &n_cycles) || !has_window(trace, first))
        return;
    const struct stats_argument arguments[] = {
        {"block", block->block}, {"launch", launch_of(trace, block->grid)->number}, {NULL, 0}};
    snprintf(name, sizeof name, "block %u", block->block);
    name_sm(trace, block->sm);
    stats_trace_overlapping_span(trace->file, process_of(block->sm), ++trace->n_numbers, "blocks", name, first,
                                 n_cycles, arguments);
}

static void on_move(void *user, const struct sm_move *move) {
    struct gpu_trace *trace = user;
    uint64_t cycle = move->cycle + trace->shift;
    make_room(trace);
    if (!has_sm(trace, move->sm) || !has_cycle(trace, cycle))
        return;
    stats_trace_arrow(trace->file, ++trace->n_numbers, move->is_merge ? "merge" : "split",
                      track_of(trace, move->sm, move->from), track_of(trace, move->sm, move->to), cycle);
}

/* ---- Counters ---------------------------------------------------------------------------------------------------- */

static void count(struct gpu_trace *trace, struct counted *counted, uint32_t process, const char *name, double value,
                  uint64_t cycle) {
    if (counted->is_written && counted->value == value)
        return;
    *counted = (struct counted){value, true};
    stats_trace_counter(trace->file, process, name, cycle, value);
}

static void count_sm(struct gpu_trace *trace, uint32_t i, uint64_t cycle) {
    struct traced_sm *traced = &trace->traced[i];
    uint64_t n = sm_counters(trace->sm[i])->thread_instructions;
    name_sm(trace, i);
    count(trace, &traced->ipc, process_of(i), "IPC", (double)(n - traced->n_instructions) / COUNT_EVERY, cycle);
    traced->n_instructions = n;
    count(trace, &traced->mshrs, process_of(i), "MSHRs", mem_mshrs_used(trace->mem, i), cycle);
}

/* Counts the events of the L2, the crossbar and DRAM per cycle. */
static void count_traffic(struct gpu_trace *trace, uint64_t cycle) {
    static const char *const names[GPU_N_TRAFFIC] = {
        [GPU_TRAFFIC_l1_accesses] = "L1 accesses per cycle",       [GPU_TRAFFIC_l1_misses] = "L1 misses per cycle",
        [GPU_TRAFFIC_l2_accesses] = "L2 accesses per cycle",       [GPU_TRAFFIC_l2_misses] = "L2 misses per cycle",
        [GPU_TRAFFIC_crossbar_bytes] = "crossbar bytes per cycle", [GPU_TRAFFIC_dram_reads] = "DRAM reads per cycle",
        [GPU_TRAFFIC_dram_writes] = "DRAM writes per cycle"};
    uint64_t now[GPU_N_TRAFFIC];
    gpu_read_traffic(mem_counters(trace->mem), now);
    for (unsigned i = 0; i < GPU_N_TRAFFIC; i++) {
        count(trace, &trace->traffic[i], chip(trace), names[i], (double)(now[i] - trace->last_traffic[i]) / COUNT_EVERY,
              cycle);
        trace->last_traffic[i] = now[i];
    }
}

/* A value describes the cycles from here to the next count, except queues and MSHRs, which are read now. */
static void count_all(struct gpu_trace *trace, uint64_t cycle) {
    char name[40];
    make_room(trace);
    for (uint32_t i = trace->config.first_sm; i < trace->n_sms && i <= trace->config.last_sm; i++)
        if (has_sm(trace, i))
            count_sm(trace, i, cycle);
    count_traffic(trace, cycle);
    for (uint32_t i = 0; i < trace->n_channels; i++) {
        snprintf(name, sizeof name, "DRAM queue %u", i);
        count(trace, &trace->channel[i], chip(trace), name, mem_channel_waiting(trace->mem, i), cycle);
    }
}

void gpu_trace_advance(struct gpu_trace *trace, uint64_t cycle) {
    for (; cycle + trace->shift >= trace->next_count; trace->next_count += COUNT_EVERY)
        if (has_cycle(trace, trace->next_count))
            count_all(trace, trace->next_count - COUNT_EVERY + 1);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

void gpu_trace_begin(struct gpu_trace *trace, struct sm *const *sm, const struct mem *mem, uint64_t cycle) {
    const uint64_t *busy;
    uint32_t n_channels = mem_channel_busy(mem, &busy);
    gpu_read_traffic(mem_counters(mem), trace->last_traffic);
    trace->sm = sm;
    trace->mem = mem;
    trace->next_count = cycle + trace->shift + COUNT_EVERY;
    if (!trace->channel) {
        trace->n_channels = n_channels;
        trace->channel = base_allocate(n_channels, sizeof *trace->channel);
    }
    for (uint32_t i = 0; i < trace->n_sms; i++)
        trace->traced[i].n_instructions = sm_counters(sm[i])->thread_instructions;
}

void gpu_trace_begin_launch(struct gpu_trace *trace, uint32_t number, uint32_t stream, const struct exec_grid *grid,
                            uint64_t cycle) {
    trace->launch = base_grow(trace->launch, trace->n_launches + 1, sizeof *trace->launch);
    trace->launch[trace->n_launches++] = (struct traced_launch){grid, number, stream, cycle + trace->shift + 1};
}

/* Returns a row of the chip in which no launch lies after cycle `first`. Spans of one row do not overlap. */
static struct stats_track row_for(struct gpu_trace *trace, uint64_t first, uint64_t end) {
    struct stats_track track = {chip(trace), 1};
    char name[40] = "launches";
    uint32_t row = 0;
    while (row < trace->n_rows && trace->row_end[row] > first)
        row++;
    track.thread += row;
    if (row == trace->n_rows) {
        trace->row_end = base_grow(trace->row_end, ++trace->n_rows, sizeof *trace->row_end);
        if (row)
            snprintf(name, sizeof name, "launches beside others %u", row);
        stats_trace_name_thread(trace->file, track, name);
    }
    trace->row_end[row] = end;
    return track;
}

void gpu_trace_end_launch(struct gpu_trace *trace, const struct exec_grid *grid, uint64_t cycle) {
    struct traced_launch *launch = launch_of(trace, grid);
    uint64_t first = launch->first_cycle, n_cycles = cycle + trace->shift + 1 - first;
    const struct stats_argument arguments[] = {{"launch", launch->number}, {"stream", launch->stream}, {NULL, 0}};
    struct stats_track track = row_for(trace, first, first + n_cycles);
    make_room(trace);
    if (clip(trace, &first, &n_cycles))
        stats_trace_span(trace->file, track, grid->program->name, first, n_cycles, arguments);
    *launch = trace->launch[--trace->n_launches];
}

static void say_what_is_left_out(struct gpu_trace *trace) {
    if (trace->every_sm == trace->said_sm && trace->every_window == trace->said_window)
        return;
    fprintf(stderr, "heddle: '%s' shows one in %u SMs", trace->config.path, trace->every_sm);
    if (trace->every_window > 1)
        fprintf(stderr, " and, of every %" PRIu32 " cycles, %d", trace->every_window * WINDOW_CYCLES, WINDOW_CYCLES);
    fprintf(stderr, ", to stay within %" PRIu64 " bytes\n", trace->config.most_bytes);
    trace->said_sm = trace->every_sm;
    trace->said_window = trace->every_window;
}

void gpu_trace_end(struct gpu_trace *trace, uint64_t cycle) {
    gpu_trace_advance(trace, cycle);
    make_room(trace);
    if (!stats_trace_flush(trace->file) && !trace->is_failure_said) {
        fprintf(stderr, "heddle: cannot write '%s': %s\n", trace->config.path, strerror(errno));
        trace->is_failure_said = true;
    }
    say_what_is_left_out(trace);
    if (stats_trace_is_full(trace->file) && !trace->is_full_said)
        fprintf(stderr, "heddle: '%s' has reached its limit of %" PRIu64 " bytes and ends at cycle %" PRIu64 "\n",
                trace->config.path, trace->config.most_bytes, trace->last_begun);
    trace->is_full_said = stats_trace_is_full(trace->file);
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static struct stats_track streams(const struct gpu_trace *trace, uint32_t row) {
    return (struct stats_track){process_of(trace->n_sms + 1), row + 1};
}

static uint32_t row_of(struct gpu_trace *trace, uint32_t number) {
    char name[40];
    for (uint32_t i = 0; i < trace->n_streams; i++)
        if (trace->stream[i].number == number)
            return i;
    uint32_t row = trace->n_streams++;
    trace->stream = base_grow(trace->stream, trace->n_streams, sizeof *trace->stream);
    trace->stream[row] = (struct traced_stream){.number = number};
    if (row == 0)
        stats_trace_name_process(trace->file, streams(trace, row).process, "streams");
    snprintf(name, sizeof name, number ? "stream %u" : "default stream", number);
    stats_trace_name_thread(trace->file, streams(trace, row), name);
    return row;
}

void gpu_trace_shift(struct gpu_trace *trace, uint64_t cycles) { trace->shift = cycles; }

/* Branches of a graph run at the same time in one stream. The spans of such work may overlap. */
void gpu_trace_work(struct gpu_trace *trace, const struct gpu_work *work, const char *kernel) {
    static const char *const names[] = {[GPU_WORK_TO_DEVICE] = "copy to device",
                                        [GPU_WORK_TO_HOST] = "copy to host",
                                        [GPU_WORK_ON_DEVICE] = "copy",
                                        [GPU_WORK_FILL] = "fill"};
    uint64_t first = work->first + 1, n_cycles = work->n_cycles;
    bool is_kernel = work->kind == GPU_WORK_KERNEL;
    const struct stats_argument arguments[] = {{is_kernel ? "launch" : "bytes", is_kernel ? work->launch : work->bytes},
                                               {NULL, 0}};
    make_room(trace);
    if (!clip(trace, &first, &n_cycles))
        return;
    uint32_t row = row_of(trace, work->stream);
    struct stats_track track = streams(trace, row);
    const char *name = is_kernel ? kernel : names[work->kind];
    if (work->first >= trace->stream[row].end)
        stats_trace_span(trace->file, track, name, first, n_cycles, arguments);
    else
        stats_trace_overlapping_span(trace->file, track.process, ++trace->n_numbers, "graph", name, first, n_cycles,
                                     arguments);
    if (work->end > trace->stream[row].end)
        trace->stream[row].end = work->end;
    stats_trace_flush(trace->file);
}

/* ---- The life of a trace ----------------------------------------------------------------------------------------- */

struct gpu_trace *gpu_trace_new(const struct gpu_trace_config *config, uint32_t n_sms, char *error, size_t size) {
    struct stats_trace *file = stats_trace_open(config->path, config->most_bytes);
    if (!file) {
        snprintf(error, size, "cannot write '%.300s': %s", config->path, strerror(errno));
        return NULL;
    }
    struct gpu_trace *trace = base_allocate(1, sizeof *trace);
    trace->config = *config;
    trace->file = file;
    trace->n_sms = n_sms;
    trace->every_sm = trace->every_window = trace->said_sm = trace->said_window = 1;
    trace->observer = (struct sm_observer){on_block, on_span, on_access, on_move, trace};
    trace->traced = base_allocate(n_sms, sizeof *trace->traced);
    return trace;
}

void gpu_trace_free(struct gpu_trace *trace) {
    if (!trace)
        return;
    stats_trace_close(trace->file);
    free(trace->traced);
    free(trace->channel);
    free(trace->stream);
    free(trace->launch);
    free(trace->row_end);
    free(trace);
}

const struct sm_observer *gpu_trace_observer(const struct gpu_trace *trace) { return &trace->observer; }
