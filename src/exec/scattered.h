/* Threads of any rows that execute together, at most one in each lane: what divergence models form that are not bound
 * to rows. exec.h runs their instructions. */
#pragma once

#include "exec/exec.h"

enum { EXEC_PACK_STEP = 8 };

/* Those in some lanes, one behind the other: thread t comes from lane from[t], lives in lane home[t] of its row, and
 * its 32-bit registers begin at registers[t]. Entries from n on repeat the first, up to a multiple of EXEC_PACK_STEP:
 * loops over whole steps end where the host expects it, and what they compute twice is the same. */
struct exec_pack {
    uint32_t mask; /* the lanes */
    uint32_t n;
    unsigned char *registers[EXEC_LANES];
    uint8_t from[EXEC_LANES], home[EXEC_LANES];
};

struct exec_threads {
    struct exec_row *row[EXEC_LANES];
    unsigned char *registers[EXEC_LANES]; /* as in a pack */
    uint8_t lane[EXEC_LANES];             /* of each thread in its row */
    struct exec_pack pack;                /* of the lanes for which it was made last; mask 0: of none */
};

static inline void exec_threads_put(struct exec_threads *threads, uint32_t at, struct exec_row *row, uint32_t lane) {
    threads->row[at] = row;
    threads->registers[at] = row->base[EXEC_BASE_REGISTERS] + 4 * lane;
    threads->lane[at] = (uint8_t)lane;
    threads->pack.mask = 0;
}

static inline void exec_threads_copy(struct exec_threads *threads, uint32_t at, const struct exec_threads *from,
                                     uint32_t i) {
    threads->row[at] = from->row[i];
    threads->registers[at] = from->registers[i];
    threads->lane[at] = from->lane[i];
    threads->pack.mask = 0;
}

/* Has a pack of these lanes at hand, for instructions that they will execute together. */
void exec_threads_pack(struct exec_threads *threads, uint32_t mask);
/* Lanes of `mask` for which the instruction's guard holds. */
uint32_t exec_threads_guard(const struct exec_threads *threads, const struct exec_insn *insn, uint32_t mask);

/* These execute next. */
static inline void exec_use_threads(struct exec_context *cx, const struct exec_threads *threads) {
    cx->threads = threads;
    cx->row = NULL;
}
/* Who executes in a lane: the row, and the lane there. */
static inline struct exec_row *exec_row_at(const struct exec_context *cx, unsigned lane) {
    return cx->row ? cx->row : cx->threads->row[lane];
}
static inline unsigned exec_lane_at(const struct exec_context *cx, unsigned lane) {
    return cx->row ? lane : cx->threads->lane[lane];
}
