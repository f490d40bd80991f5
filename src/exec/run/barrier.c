/* Barrier bookkeeping: which threads have arrived, whether the barrier is complete, and the result of bar.red. The
 * engines make threads wait. */
#include "exec/exec.h"

bool exec_barrier_arrive(struct exec_barrier *barrier, uint32_t row, uint32_t mask, uint32_t predicate,
                         uint32_t expected) {
    if (barrier->is_open && barrier->expected != expected)
        return false;
    barrier->is_open = true;
    barrier->expected = expected;
    barrier->arrived[row] |= mask;
    barrier->n_arrived += (uint32_t)__builtin_popcount(mask);
    barrier->n_true += (uint32_t)__builtin_popcount(mask & predicate);
    return true;
}

bool exec_barrier_is_complete(const struct exec_barrier *barrier, const uint32_t *live, uint32_t n_rows,
                              uint32_t warp_size) {
    if (!barrier->is_open)
        return false;
    uint32_t n_threads = 0;
    for (uint32_t row = 0; row < n_rows; row++) {
        bool is_whole = (barrier->arrived[row] | ~live[row]) == ~0u;
        if (barrier->expected == 0 && !is_whole)
            return false;
        if (barrier->arrived[row])
            n_threads += is_whole ? warp_size : (uint32_t)__builtin_popcount(barrier->arrived[row]);
    }
    return n_threads >= barrier->expected;
}

uint32_t exec_barrier_result(const struct exec_barrier *barrier, enum exec_barrier_mode mode) {
    switch (mode) {
    case EXEC_BARRIER_POPC:
        return barrier->n_true;
    case EXEC_BARRIER_AND:
        return barrier->n_true == barrier->n_arrived;
    default:
        return barrier->n_true != 0;
    }
}

void exec_barrier_reset(struct exec_barrier *barrier) { *barrier = (struct exec_barrier){.is_open = false}; }
