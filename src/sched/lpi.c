/* LPI: active warps in the order of their ids, with one blocked warp, the nearest in id, in each gap between them, so
 * that a blocked warp gets its turn while others still compute.
 *
 * Source: Liu et al. 2023, 2.1, on Zhang et al. 2018.
 *
 * Left open by the paper:
 * - Blocked means pending or waiting for a long-latency result.
 * - The queue is traversed once, each warp issuing at most one instruction when it is reached; then it is rebuilt.
 *   Rebuilt every cycle, its blocked warps could never issue, and inserting them would change nothing.
 * - A gap takes one blocked warp. Those without a gap near their id go into the next free one, the rest to the end. A
 *   pass costs one step per warp, however many of them issue. */
#include <assert.h>
#include <string.h>

#include "sched/internal.h"

struct lpi {
    uint32_t n;                     /* warps */
    uint8_t by_id[SCHED_MAX_SLOTS]; /* their slots, in the order of their ids */
    uint32_t length, at;            /* of the queue; position of the traversal */
    uint8_t queue[SCHED_MAX_SLOTS];
};

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct lpi *lpi = state;
    uint32_t at = lpi->n++, id = view->slot[slot].warp_id;
    while (at > 0 && view->slot[lpi->by_id[at - 1]].warp_id > id) {
        lpi->by_id[at] = lpi->by_id[at - 1];
        at--;
    }
    lpi->by_id[at] = (uint8_t)slot;
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct lpi *lpi = state;
    uint8_t *at = memchr(lpi->by_id, (int)slot, lpi->n);
    assert(at);
    memmove(at, at + 1, (size_t)(lpi->by_id + lpi->n - (at + 1)));
    lpi->n--;
}

/* Walks the warps by ascending id; `due` holds the blocked ones so far without a gap. There is a gap after each active
 * warp that another active one follows. */
static void make_queue(struct lpi *lpi, const struct sched_view *view) {
    uint8_t due[SCHED_MAX_SLOTS];
    uint32_t n_due = 0, next_due = 0;
    bool is_gap = false; /* an active warp comes before */
    lpi->length = lpi->at = 0;
    for (uint32_t i = 0; i < lpi->n; i++) {
        uint8_t slot = lpi->by_id[i];
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
    .help = "passes over the warps by ascending id, with blocked ones spread among the active ones",
    .state_bytes = sizeof(struct lpi),
    .start = sched_no_start,
    .arrive = arrive,
    .leave = leave,
    .stall = sched_no_stall,
    .wake = sched_no_slot,
    .pick = pick,
    .issued = issued,
};
