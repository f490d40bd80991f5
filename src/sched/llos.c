/* LLOS: warps that stalled before a load form the guiding queue and go first. All other warps fill the gaps. Each queue
 * is round robin.
 *
 * Source: Liu et al. 2023, 2.1, on Do et al. 2020: a warp is guiding when its next instruction is a load and the
 * scoreboard says that it is not ready.
 *
 * Left open by the paper:
 * - How long a warp guides. It cannot issue while the scoreboard stalls it. until=load, the default: it guides until
 *   that load has issued. until=signal: it guides while it is stalled, which is the literal reading of the sentence.
 *   Then no guiding warp ever issues, the guiding queue has no purpose, and LLOS is loose round robin.
 * - The load may issue together with another warp's (dws:merge=dwf), without a call to issued(), so pick() checks
 *   whether the next instruction is still a load.
 * - The meaning of "the polling method" for queues that are rebuilt in every cycle. polling=turn, the default: each
 *   queue has its own turn, which continues after the warp that issued last. polling=first: every cycle begins with the
 *   first warp of the queue, so that the order of slots decides. */
#include "sched/internal.h"

enum { UNTIL_LOAD, UNTIL_SIGNAL };
enum { POLLING_TURN, POLLING_FIRST };

struct options {
    uint32_t until, polling;
};

static const struct config_plugin_option option_table[] = {
    {"until", CONFIG_PLUGIN_CHOICE, offsetof(struct options, until), UNTIL_LOAD, 0, 0, "load|signal",
     "a warp guides until its load has issued, or while the scoreboard stalls it"},
    {"polling", CONFIG_PLUGIN_CHOICE, offsetof(struct options, polling), POLLING_TURN, 0, 0, "turn|first",
     "a cycle begins after the warp that issued last, or with the first of the queue"},
    {0},
};

struct llos {
    struct options options;
    struct sched_set guiding;
    uint32_t turn_guiding, turn_filling; /* the slot after the last issued from each queue */
};

static void start(void *state, const void *given, uint32_t n_slots) {
    (void)n_slots;
    ((struct llos *)state)->options = *(const struct options *)given;
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    sched_remove(&((struct llos *)state)->guiding, slot);
}

static void stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long) {
    (void)is_long;
    if (sched_has(view->next_load, slot) && !sched_has(view->pending, slot))
        sched_add(&((struct llos *)state)->guiding, slot);
}

static void wake(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct llos *llos = state;
    if (llos->options.until == UNTIL_SIGNAL)
        sched_remove(&llos->guiding, slot);
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    struct llos *llos = state;
    llos->guiding = sched_and(&llos->guiding, view->next_load);
    struct sched_set guiding = sched_and(candidates, &llos->guiding);
    if (!sched_is_empty(&guiding))
        return sched_next(&guiding, llos->turn_guiding);
    return sched_next(candidates, llos->turn_filling);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    (void)view;
    struct llos *llos = state;
    if (llos->options.polling == POLLING_FIRST)
        ; /* turns stay at the first slot */
    else if (sched_has(&llos->guiding, slot))
        llos->turn_guiding = slot + 1;
    else
        llos->turn_filling = slot + 1;
    sched_remove(&llos->guiding, slot);
}

const struct sched_ops sched_llos = {
    .name = "llos",
    .help = "warps that stalled before a load first, then the others, round robin each",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct llos),
    .start = start,
    .arrive = sched_no_slot,
    .leave = leave,
    .stall = stall,
    .wake = wake,
    .pick = pick,
    .issued = issued,
};
