/* Adaptive: tries several policies for a short time each, keeps the one that issued the most instructions, and tries
 * again when the program seems to enter another phase.
 *
 * Source: Narasiman 2014, 9.2.2, proposes only the goal: a policy that learns which policy suits an application, or its
 * phases, best. The mechanism is ours:
 * - Time is divided into windows of cycles. In a trial each candidate gets two: the first still shows the effects of
 *   the previous candidate, the second is measured in instructions per cycle. The best candidate gets the next `phase`
 *   windows. Among equal candidates the first in the list wins.
 * - A window whose rate differs from the candidate's rate in the trial by more than `change` percent ends the phase
 *   early.
 * - All candidates see every event all the time, so that each can take over at any moment, as if the others' picks had
 *   been its own.
 * - Each scheduler of an SM learns for itself and starts over at each launch. A launch shorter than a trial never
 *   leaves the trial.
 *
 * Candidates are policies that never leave an issue slot empty and do not rely on the picks being their own. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "sched/internal.h"

/* The words of `of`, and the scheduler of each. */
static const char words[] = "lrr|gto|two-level|two-level-stall|two-level-gto|llos|lfws|progress";
static const char *const schedulers[] = {
    "lrr", "gto", "two-level", "two-level:switch=stall", "two-level:inner=gto,outer=gto", "llos", "lfws", "progress",
};

enum {
    N_CANDIDATES = sizeof schedulers / sizeof schedulers[0],
    DEFAULT_OF = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 6, /* lrr+gto+two-level+lfws */
    ROOM_BYTES = 40 * 1024,                         /* for the states of all candidates */
    RATE_BITS = 16,                                 /* fraction bits of instructions per cycle */
};

struct options {
    uint32_t of, window, phase, change;
};

static const struct config_plugin_option option_table[] = {
    {"of", CONFIG_PLUGIN_SET, offsetof(struct options, of), DEFAULT_OF, 0, 0, words, "the candidates"},
    {"window", CONFIG_PLUGIN_UINT, offsetof(struct options, window), 2048, 1, UINT32_MAX, NULL,
     "cycles; a trial takes two windows for each candidate"},
    {"phase", CONFIG_PLUGIN_UINT, offsetof(struct options, phase), 256, 0, UINT32_MAX, NULL,
     "windows between trials, for the best candidate; 0: to the end"},
    {"change", CONFIG_PLUGIN_UINT, offsetof(struct options, change), 50, 0, UINT32_MAX, NULL,
     "percent by which a window's rate must differ to start another phase; 0: never"},
    {0},
};

struct candidate {
    const struct sched_ops *ops;
    void *state;
    bool sees_waits;
    uint64_t rate; /* in the last trial */
};

struct adaptive {
    struct options options;
    uint32_t n, now;          /* number of candidates; index of the one that picks */
    bool has_begun, is_trial; /* has_begun: the first window has started */
    uint32_t n_windows;       /* in a trial: of this candidate; otherwise since it ended */
    uint64_t window_began;    /* cycle */
    uint64_t n_issued;        /* in this window */
    struct candidate candidate[N_CANDIDATES];
    _Alignas(max_align_t) unsigned char room[ROOM_BYTES];
};

/* ---- The candidates ---------------------------------------------------------------------------------------------- */

/* Returns the i-th scheduler that `of` can name. Called only by start() and cost_bits(), so it may allocate. */
static const struct sched_ops *parse(uint32_t i, void **options) {
    const struct sched_ops *ops;
    char error[128];
    bool is_good = sched_parse(schedulers[i], &ops, options, error, sizeof error);
    assert(is_good);
    (void)is_good;
    return ops;
}

static void start(void *state, const void *options, uint32_t n_slots) {
    struct adaptive *adaptive = state;
    adaptive->options = *(const struct options *)options;
    adaptive->is_trial = true;
    size_t used = 0;
    for (uint32_t i = 0; i < N_CANDIDATES; i++) {
        if (!(adaptive->options.of >> i & 1))
            continue;
        void *its_options;
        const struct sched_ops *ops = parse(i, &its_options);
        assert(!ops->is_strict && used + ops->state_bytes <= ROOM_BYTES);
        adaptive->candidate[adaptive->n++] = (struct candidate){ops, adaptive->room + used, sched_sees_waits(ops), 0};
        ops->start(adaptive->room + used, its_options, n_slots);
        free(its_options);
        used += (ops->state_bytes + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
    }
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct adaptive *adaptive = state;
    for (struct candidate *one = adaptive->candidate; one < adaptive->candidate + adaptive->n; one++)
        one->ops->arrive(one->state, view, slot);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    struct adaptive *adaptive = state;
    for (struct candidate *one = adaptive->candidate; one < adaptive->candidate + adaptive->n; one++)
        one->ops->leave(one->state, view, slot);
}

static void stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long) {
    struct adaptive *adaptive = state;
    for (struct candidate *one = adaptive->candidate; one < adaptive->candidate + adaptive->n; one++)
        if (one->sees_waits)
            one->ops->stall(one->state, view, slot, is_long);
}

static void wake(void *state, const struct sched_view *view, uint32_t slot) {
    struct adaptive *adaptive = state;
    for (struct candidate *one = adaptive->candidate; one < adaptive->candidate + adaptive->n; one++)
        if (one->sees_waits)
            one->ops->wake(one->state, view, slot);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    struct adaptive *adaptive = state;
    adaptive->n_issued++;
    for (struct candidate *one = adaptive->candidate; one < adaptive->candidate + adaptive->n; one++)
        one->ops->issued(one->state, view, slot);
}

/* ---- Learning ---------------------------------------------------------------------------------------------------- */

static uint32_t best(const struct adaptive *adaptive) {
    uint32_t found = 0;
    for (uint32_t i = 1; i < adaptive->n; i++)
        if (adaptive->candidate[i].rate > adaptive->candidate[found].rate)
            found = i;
    return found;
}

static void end_trial_window(struct adaptive *adaptive, uint64_t rate) {
    if (adaptive->n_windows < 2)
        return;
    adaptive->n_windows = 0;
    adaptive->candidate[adaptive->now].rate = rate;
    if (++adaptive->now < adaptive->n)
        return;
    adaptive->now = best(adaptive);
    adaptive->is_trial = false;
}

static bool is_another_phase(const struct adaptive *adaptive, uint64_t rate) {
    if (!adaptive->options.change)
        return false;
    uint64_t known = adaptive->candidate[adaptive->now].rate;
    uint64_t difference = rate > known ? rate - known : known - rate;
    return difference * 100 > known * adaptive->options.change;
}

static void end_phase_window(struct adaptive *adaptive, uint64_t rate) {
    bool is_over = adaptive->options.phase && adaptive->n_windows >= adaptive->options.phase;
    if (!is_over && !is_another_phase(adaptive, rate))
        return;
    adaptive->n_windows = 0;
    adaptive->now = 0;
    adaptive->is_trial = true;
}

static void end_window(struct adaptive *adaptive, uint64_t cycle) {
    uint64_t rate = (adaptive->n_issued << RATE_BITS) / (cycle - adaptive->window_began);
    adaptive->window_began = cycle;
    adaptive->n_issued = 0;
    adaptive->n_windows++;
    if (adaptive->is_trial)
        end_trial_window(adaptive, rate);
    else
        end_phase_window(adaptive, rate);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    struct adaptive *adaptive = state;
    if (!adaptive->has_begun) {
        adaptive->has_begun = true;
        adaptive->window_began = view->cycle;
    }
    if (view->cycle - adaptive->window_began >= adaptive->options.window)
        end_window(adaptive, view->cycle);
    const struct candidate *one = &adaptive->candidate[adaptive->now];
    return one->ops->pick(one->state, view, candidates);
}

/* No paper counts it: this is the state of the code above. */
static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    uint32_t of = ((const struct options *)options)->of, n = 0;
    uint64_t theirs = 0;
    for (uint32_t i = 0; i < N_CANDIDATES; i++) {
        if (!(of >> i & 1))
            continue;
        void *its_options;
        char its_formula[256];
        const struct sched_ops *ops = parse(i, &its_options);
        if (ops->cost_bits)
            theirs += ops->cost_bits(its_options, machine, its_formula, sizeof its_formula);
        free(its_options);
        n++;
    }
    snprintf(formula, size,
             "ours: %u candidates with %u bits together; and in each of %u schedulers counters of cycles, windows and "
             "instructions and a rate for each candidate, 32 bits each: %u x 32 x (3 + %u)",
             n, (unsigned)theirs, machine->sm.schedulers, machine->sm.schedulers, n);
    return theirs + (uint64_t)machine->sm.schedulers * 32 * (3 + n);
}

const struct sched_ops sched_adaptive = {
    .name = "adaptive",
    .help = "tries several schedulers in short windows and keeps the best one for a phase",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct adaptive),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = stall,
    .wake = wake,
    .pick = pick,
    .issued = issued,
    .cost_bits = cost_bits,
};
