/* Paths that make no progress but spin on what other threads of their warp will write: since compute capability 7.0
 * those get their turn, and a stack must give it to them (pdom.h: break_join). A path is taken to spin that has
 * stayed in a short piece of code for long; a warp that has spun is likely to again (a lock goes from lane to lane),
 * and is not waited for as long. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    DIVERGENCE_SPIN_AFTER = 20000, /* control instructions in diverged state, in so many instructions of code */
    DIVERGENCE_SPIN_AGAIN = 200,   /* the same, of a warp that has spun */
    DIVERGENCE_SPIN_LOOP = 64,
};

struct divergence_watch {
    uint32_t n_diverged;            /* control instructions since all threads last ran together, */
    uint32_t lowest_pc, highest_pc; /* and the code they were in */
    bool has_spun;
};

/* To be asked at each control instruction, at pc: whether the running path, which does not wait at a barrier, spins. */
static inline bool divergence_spins(struct divergence_watch *watch, bool is_diverged, bool is_waiting, uint32_t pc) {
    if (!is_diverged || watch->n_diverged == 0) {
        watch->n_diverged = is_diverged;
        watch->lowest_pc = watch->highest_pc = pc;
        return false;
    }
    watch->lowest_pc = pc < watch->lowest_pc ? pc : watch->lowest_pc;
    watch->highest_pc = pc > watch->highest_pc ? pc : watch->highest_pc;
    uint32_t most = watch->has_spun ? DIVERGENCE_SPIN_AGAIN : DIVERGENCE_SPIN_AFTER;
    bool is_short = watch->highest_pc - watch->lowest_pc <= DIVERGENCE_SPIN_LOOP;
    bool spins = is_short && ++watch->n_diverged > most && !is_waiting;
    if (!is_short || spins)
        watch->n_diverged = 0;
    watch->has_spun |= spins;
    return spins;
}
