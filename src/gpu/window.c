/* Measures sections of a launch without the rest of the launch.
 *
 * The time of a section is the time between two points of the launch: the machine has executed as many thread
 * instructions as the blocks before the section have, and as many as those with the section have. Blocks of two
 * sections overlap on the machine, but these points do not, so the sections of a launch add up to the launch. Thread
 * instructions are the same under every model, and the functional run has counted them for every block.
 *
 * A window starts on an empty machine, some blocks before the section, so that the machine is full and its L1 caches
 * are warm when the section begins. While it runs, it marks all counters again and again. Between two marks counters
 * are interpolated. */
#include "gpu/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/engine.h"

enum { MOST_MARKS = 1024, FIRST_EVERY = 64 };

/* The mark holds the counters since the window's start. */
static void take_mark(struct gpu_run *run, uint64_t cycle) {
    struct gpu_window *window = run->window;
    struct gpu_timed *timed = run->timed;
    struct stats_counters *mark = &window->mark[window->n_marks++];
    for (uint32_t i = 0; i < timed->machine.sm.count; i++) {
        if (cycle > run->first_cycle)
            sm_catch_up(timed->sm[i], cycle - 1);
        sm_add_work(timed->sm[i]);
    }
    *mark = (struct stats_counters){0};
    gpu_collect(timed, mark);
    mark->cycles = cycle;
    if (mark > window->mark)
        stats_subtract(mark, window->mark);
}

void gpu_window_begin(struct gpu_run *run) {
    struct gpu_window *window = run->window;
    window->mark = base_allocate(MOST_MARKS, sizeof *window->mark);
    window->every = FIRST_EVERY;
    window->next = run->first_cycle + window->every;
    take_mark(run, run->first_cycle);
}

/* Keeps every other mark. */
static void thin_out(struct gpu_window *window) {
    uint32_t n = 1;
    for (uint32_t i = 2; i < window->n_marks; i += 2)
        window->mark[n++] = window->mark[i];
    window->n_marks = n;
    window->every *= 2;
}

/* Returns the thread instructions after which the last section ends; UINT64_MAX: when the launch does. */
static uint64_t end_of(const struct gpu_window *window) {
    uint64_t end = 0;
    for (uint32_t i = 0; i < window->n_measures; i++) {
        const struct gpu_measure *measure = &window->measure[i];
        uint64_t own =
            measure->kind == GPU_SECTION_LAST ? UINT64_MAX : measure->warm + measure->counted.thread_instructions;
        end = own > end ? own : end;
    }
    return end;
}

bool gpu_window_has_ended(struct gpu_run *run, uint64_t cycle) {
    struct gpu_window *window = run->window;
    if (cycle < window->next)
        return false;
    if (window->n_marks == MOST_MARKS)
        thin_out(window);
    take_mark(run, cycle);
    window->next = cycle + window->every;
    return window->mark[window->n_marks - 1].thread_instructions >= end_of(window);
}

/* Returns counter number `at` when the window had executed this many thread instructions. */
static double value_at(const struct gpu_window *window, unsigned at, double instructions) {
    uint32_t high = 1;
    while (high + 1 < window->n_marks && (double)window->mark[high].thread_instructions < instructions)
        high++;
    if (high >= window->n_marks)
        return 0;
    const struct stats_counters zero = {0}, *a = high == 1 ? &zero : &window->mark[high - 1], *b = &window->mark[high];
    double from = (double)a->thread_instructions, to = (double)b->thread_instructions;
    double part = to > from ? (instructions - from) / (to - from) : 1;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return (double)a->value[at] + part * ((double)b->value[at] - (double)a->value[at]);
}

/* Computes one section's counters. The launch of a last section has ended, with the counters `all`. */
static void measure_section(const struct gpu_window *window, struct gpu_measure *measure,
                            const struct stats_counters *all) {
    bool is_first = measure->kind == GPU_SECTION_FIRST, is_last = measure->kind == GPU_SECTION_LAST && all;
    double length = (double)measure->counted.thread_instructions;
    double first = (double)measure->warm, last = first + length, end = last;
    if (is_last) {
        end = last = (double)all->thread_instructions;
        first = last > length ? last - length : 0;
    } else if (window->n_marks > 1) { /* threads may spin less than in the functional run */
        end = (double)window->mark[window->n_marks - 1].thread_instructions;
        end = end < last ? end : last;
    }
    double scale = end > first ? (last - first) / (end - first) : 1;
    struct stats_counters *measured = &measure->measured;
    for (unsigned at = 0; at < STATS_N_COUNTERS; at++) {
        double from = is_first ? 0 : value_at(window, at, first);
        double to = is_last ? (double)all->value[at] : value_at(window, at, end);
        measured->value[at] = to > from ? (uint64_t)((to - from) * scale + 0.5) : 0;
    }
    for (unsigned i = 0; i < 2; i++) {
        double early = i * first / 2, cycles = value_at(window, STATS_AT_cycles, early + end - first);
        cycles -= early > 0 ? value_at(window, STATS_AT_cycles, early) : 0;
        measure->early_cycles[i] = cycles > 0 ? (uint64_t)(cycles * scale + 0.5) : 0;
    }
    measured->blocks = measure->counted.blocks;
    measured->threads = measure->counted.threads;
    measured->empty_unused = 0;
    measured->empty_start = is_last ? 0 : measured->stall_empty;
    measured->empty_tail = is_last ? measured->stall_empty : 0;
}

void gpu_window_measure(const struct gpu_run *run, const struct stats_counters *all) {
    const struct gpu_timed *timed = run->timed;
    bool is_exact = strcmp(timed->divergence->name, "stack") == 0; /* executes what the functional engine does */
    for (uint32_t i = 0; i < run->window->n_measures; i++) {
        struct gpu_measure *measure = &run->window->measure[i];
        measure_section(run->window, measure, all);
        for (unsigned at = 0; at < STATS_N_COUNTERS; at++)
            if (is_exact && stats_list[at].when == STATS_ALWAYS)
                measure->measured.value[at] = measure->counted.value[at];
        gpu_count_energy(&timed->machine.energy, &measure->measured);
    }
}
