/* A DRAM policy decides which of the queued requests a channel starts next.
 *
 * One file per policy, one line in dram_policies.def. A policy reads a const view and names a request. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DRAM_NO_ROW UINT64_MAX
enum { DRAM_MAX_BANKS = 1024 }; /* of a channel; config/options.def */

struct dram_request {
    uint64_t row, arrival; /* arrival: the cycle it came into the queue */
    uint32_t bytes;
    uint32_t entry; /* of the L2 bank `unit` */
    uint16_t unit, bank;
    bool is_write;
    bool holds_row; /* the program says that another access to this row will follow soon */
};

struct dram_bank {
    uint64_t row;          /* the open one, or DRAM_NO_ROW */
    uint64_t ready_hit;    /* from this cycle on, accesses to the open row can start */
    uint64_t ready_switch; /* from this cycle on, another row can be opened: all accesses to this one are done */
    uint64_t hold_until;   /* until this cycle the row waits for another access, not before ready_switch; 0: no hold */
};

struct dram_view {
    const struct dram_request *queue; /* oldest first, n of them, at least one */
    uint32_t n;
    const struct dram_bank *banks;
    uint64_t cycle;
    uint64_t full_queue_cycles; /* what a full queue takes when every request is a row conflict in the same bank */
};

struct dram_policy {
    const char *name, *help;
    bool heeds_hints; /* rows are held open for requests that say so */
    /* The place in the queue of the request to start next. When it cannot start in this cycle (dram_start()), the
     * channel sleeps until it can or another request arrives, and asks again. */
    uint32_t (*pick)(const struct dram_view *view);
};

#define DRAM_POLICY(name, config) extern const struct dram_policy dram_##name;
#include "mem/dram_policies.def"
#undef DRAM_POLICY

static inline bool dram_is_row_hit(const struct dram_view *view, uint32_t place) {
    return view->banks[view->queue[place].bank].row == view->queue[place].row;
}

/* Longer in the queue than all of it takes in order, at worst. */
static inline bool dram_is_starved(const struct dram_view *view, uint32_t place) {
    return view->cycle - view->queue[place].arrival > view->full_queue_cycles;
}

/* The first cycle in which the bank lets this request start. Every rule that keeps a row open has its place here. A row
 * that is held lets hits in at once and makes conflicts wait, but not those that starve. */
static inline uint64_t dram_start(const struct dram_view *view, uint32_t place) {
    const struct dram_bank *bank = &view->banks[view->queue[place].bank];
    if (dram_is_row_hit(view, place))
        return bank->ready_hit;
    return bank->hold_until > bank->ready_switch && !dram_is_starved(view, place) ? bank->hold_until
                                                                                  : bank->ready_switch;
}
