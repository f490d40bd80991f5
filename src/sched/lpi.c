/* LPI: queues the active warps in the order of their arrival. Each gap between them takes one blocked warp, the nearest
 * in that order, so that a blocked warp gets its turn while others still compute.
 *
 * Source: Liu et al. 2023, 2.1, on Zhang et al. 2018. LPI sorts by ids, which are the order of arrival (2.1, on GTO).
 *
 * Left open by the paper:
 * - When the queue is made. queue=pass, the default: the queue is traversed once, and each warp issues at most one
 *   instruction when it is reached. Then the queue is rebuilt. A warp that was blocked when the queue was made has its
 *   turn in the gap: the "interval execution between active and blocking warps" of 2.1 and 3.2. queue=cycle: the queue
 *   is rebuilt in every cycle, and its first warp that can issue does so. GPGPU-Sim 3.2.2, which the authors used
 *   (section 3), sorts the warps of its own schedulers in this way. With queue=cycle, blocked warps cannot issue, so
 *   their places decide nothing, and the method of 2.1 has no effect.
 * - Blocked means pending or waiting for a long-latency result.
 * - A gap takes one blocked warp. Blocked warps without a gap near them go into the next free gap, and the rest go to
 *   the end. A pass costs one step per warp, however many warps issue. */
#include <assert.h>
#include <string.h>

#include "sched/internal.h"

enum { QUEUE_PASS, QUEUE_CYCLE };

struct options {
    uint32_t queue;
};

static const struct config_plugin_option option_table[] = {
    {"queue", CONFIG_PLUGIN_CHOICE, offsetof(struct options, queue), QUEUE_PASS, 0, 0, "pass|cycle",
     "the queue is made when it has been traversed, or in every cycle"},
    {0},
};

struct lpi {
    struct options options;
    uint32_t n;                      /* warps */
    uint8_t by_age[SCHED_MAX_SLOTS]; /* their slots, in the order of their arrival */
    uint32_t length, at;             /* of the queue; position of the traversal */
    uint8_t queue[SCHED_MAX_SLOTS];
};

static void start(void *state, const void *given, uint32_t n_slots) {
    (void)n_slots;
    ((struct lpi *)state)->options = *(const struct options *)given;
}

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct lpi *lpi = state;
    uint32_t at = lpi->n++;
    uint64_t age = view->slot[slot].age;
    while (at > 0 && view->slot[lpi->by_age[at - 1]].age > age) {
        lpi->by_age[at] = lpi->by_age[at - 1];
        at--;
    }
    lpi->by_age[at] = (uint8_t)slot;
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct lpi *lpi = state;
    uint8_t *at = memchr(lpi->by_age, (int)slot, lpi->n);
    assert(at);
    memmove(at, at + 1, (size_t)(lpi->by_age + lpi->n - (at + 1)));
    lpi->n--;
}

/* Walks the warps by age; `due` holds the blocked ones so far without a gap. There is a gap after each active
 * warp that another active one follows. */
static void make_queue(struct lpi *lpi, const struct sched_view *view) {
    uint8_t due[SCHED_MAX_SLOTS];
    uint32_t n_due = 0, next_due = 0;
    bool is_gap = false; /* an active warp comes before */
    lpi->length = lpi->at = 0;
    for (uint32_t i = 0; i < lpi->n; i++) {
        uint8_t slot = lpi->by_age[i];
        if (sched_has(view->waits_long, slot) || sched_has(view->pending, slot)) {
            due[n_due++] = slot;
            continue;
        }
        if (is_gap && next_due < n_due)
            lpi->queue[lpi->length++] = due[next_due++];
        lpi->queue[lpi->length++] = slot;
        is_gap = true;
    }
    memcpy(&lpi->queue[lpi->length], &due[next_due], n_due - next_due);
    lpi->length += n_due - next_due;
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    struct lpi *lpi = state;
    if (lpi->options.queue == QUEUE_CYCLE)
        lpi->length = lpi->at = 0;
    for (bool is_new = false;; is_new = true) {
        for (; lpi->at < lpi->length; lpi->at++)
            if (sched_has(candidates, lpi->queue[lpi->at]))
                return lpi->queue[lpi->at];
        assert(!is_new); /* a new queue holds every warp that has arrived */
        make_queue(lpi, view);
    }
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view, (void)slot;
    ((struct lpi *)state)->at++;
}

const struct sched_ops sched_lpi = {
    .name = "lpi",
    .help = "warps by age, with blocked ones spread among the active ones",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct lpi),
    .start = start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
};
