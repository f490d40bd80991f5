/* Detects paths that spin on a value that other threads of their warp will write. Since compute capability 7.0 those
 * other threads make progress, so a stack must run them (pdom.h: break_join). A path counts as spinning if it has
 * stayed in a short stretch of code for long. A warp that has spun is likely to spin again, since a lock goes from lane
 * to lane. The limit is lower for it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    DIVERGENCE_SPIN_AFTER = 20000, /* control instructions while diverged, all within a short stretch of code */
    DIVERGENCE_SPIN_AGAIN = 200,   /* the same for a warp that has spun */
    DIVERGENCE_SPIN_LOOP = 64,     /* length of that code in instructions, at most */
};

struct divergence_watch {
    uint32_t n_diverged;            /* control instructions since all threads last ran together */
    uint32_t lowest_pc, highest_pc; /* the range of code they were in */
    bool has_spun;
};

/* Called at each control instruction, at pc. Returns true if the running path spins; a path that waits at a barrier
 * does not. */
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
