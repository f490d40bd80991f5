/* DRAM policies: which queued request a channel starts next. A policy reads a const view and picks a request.
 * docs/dram.md describes Heddle's own, docs/plug-ins.md shows how to write one. */
#pragma once

#include "heddle/policy.h"

#define DRAM_NO_ROW UINT64_MAX
enum { DRAM_MAX_BANKS = 1024 }; /* per channel, as in config/options.def */

struct dram_request {
    uint64_t row, arrival; /* arrival: the cycle it entered the queue */
    uint32_t bytes;
    uint32_t entry; /* of the L2 bank `unit` */
    uint16_t unit, bank;
    bool is_write;
    bool holds_row; /* the program hints that another access to this row follows soon */
};

struct dram_bank {
    uint64_t row;          /* the open row, or DRAM_NO_ROW */
    uint64_t ready_hit;    /* first cycle in which accesses to the open row can start */
    uint64_t ready_switch; /* first cycle in which another row can be opened: all accesses to this one are done */
    uint64_t hold_until;   /* end of the hold that begins at ready_switch; 0: no hold */
};

struct dram_view {
    const struct dram_request *queue; /* oldest first, at least one */
    uint32_t n;
    const struct dram_bank *banks;
    uint64_t cycle;
    uint64_t full_queue_cycles; /* time to serve a full queue of row conflicts in one bank */
};

struct dram_policy {
    const char *name, *help;
    const struct config_plugin_option *option; /* ends with a NULL name; may be NULL */
    const struct config_preset *preset;        /* as option */
    size_t options_bytes;
    bool follows_hints; /* holds rows open for requests with holds_row */
    /* Returns the queue index of the request to start next. If that cannot start in this cycle (dram_start()), the
     * channel sleeps until it can or another request arrives, and asks again. A policy keeps no state: the options are
     * complete, and equal calls return equal places. */
    uint32_t (*pick)(const void *options, const struct dram_view *view);
};

static inline bool dram_is_row_hit(const struct dram_view *view, uint32_t place) {
    return view->banks[view->queue[place].bank].row == view->queue[place].row;
}

/* Returns whether the request has waited longer than a full queue takes in the worst case. */
static inline bool dram_is_starved(const struct dram_view *view, uint32_t place) {
    return view->cycle - view->queue[place].arrival > view->full_queue_cycles;
}

/* Returns the first cycle in which the bank lets this request start. All rules that keep a row open are here. A held
 * row admits hits at once and makes conflicts wait, except those that starve. */
static inline uint64_t dram_start(const struct dram_view *view, uint32_t place) {
    const struct dram_bank *bank = &view->banks[view->queue[place].bank];
    if (dram_is_row_hit(view, place))
        return bank->ready_hit;
    return bank->hold_until > bank->ready_switch && !dram_is_starved(view, place) ? bank->hold_until
                                                                                  : bank->ready_switch;
}

#define DRAM_LAYOUT                                                                                                    \
    (sizeof(struct dram_policy) << 32 | sizeof(struct dram_view) << 20 | sizeof(struct dram_request) << 10 |           \
     sizeof(struct dram_bank))
/* HEDDLE_DRAM_POLICY(mine): `const struct dram_policy mine` is the policy of this shared object. */
#define HEDDLE_DRAM_POLICY(policy) HEDDLE_PLUGIN_DEFINE(HEDDLE_PLUGIN_DRAM_POLICY, DRAM_LAYOUT, &(policy))
