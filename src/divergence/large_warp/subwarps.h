/* Issues an instruction of a group of several rows in sub-warps. The SIMD lanes take one sub-warp at once (Narasiman
 * 2011, 3.1; 2014, 4.2). For all models with large warps. */
#pragma once

#include "divergence/divergence.h"
#include "exec/scattered.h"

struct divergence_subwarp_rules {
    bool memopt;     /* accesses to global memory go row by row, unpacked */
    bool jumpopt;    /* an unconditional jump is one sub-warp */
    bool perfect_rf; /* any threads may issue together, not only one of each column */
    bool scalar;     /* one sub-warp for an instruction whose operands are the same in all threads */
    uint32_t n_lanes;
};

enum divergence_subwarp_shape {
    DIVERGENCE_SUBWARP_PACKED,
    DIVERGENCE_SUBWARP_ROWS,   /* a row at a time */
    DIVERGENCE_SUBWARP_WHOLE,  /* a row at a time, all its threads together: warp-wide instructions */
    DIVERGENCE_SUBWARP_JUMP,   /* one sub-warp acts for all threads */
    DIVERGENCE_SUBWARP_SCALAR, /* the same, and all threads get its result */
};

/* One instruction, while its sub-warps issue. */
struct divergence_subwarps {
    enum divergence_subwarp_shape shape;
    const struct exec_insn *insn;
    struct exec_row *row; /* the group's rows, consecutive */
    uint32_t n_rows, n_lanes;
    bool is_free;                  /* packed whatever the columns */
    uint32_t takes[EXEC_MAX_ROWS]; /* threads whose guard is true */
    uint32_t left[EXEC_MAX_ROWS];  /* threads not yet in a sub-warp */
    struct exec_threads threads;   /* the last sub-warp, unless it is a part of a row */
};

/* The instruction `insn` begins for the threads `active`. Threads whose guard is false take no part, except where the
 * instruction may move a thread's pc: there all take part. */
void divergence_subwarps_begin(struct divergence_subwarps *subwarps, const struct divergence_subwarp_rules *rules,
                               const struct exec_insn *insn, struct exec_row *rows, uint32_t n_rows,
                               const uint32_t *active);
/* Forms the next sub-warp; threads in `in_flight` (may be NULL) stay. Fills in bundle->mask, row and is_last, and
 * cx->threads where row is NULL (control instructions: always). packed[] gets the threads that are in it, guard true or
 * not. At least one thread must not be in flight (WHOLE: one row, SCALAR: all threads), unless none is left at all. */
void divergence_subwarps_next(struct divergence_subwarps *subwarps, struct exec_context *cx, const uint32_t *in_flight,
                              struct divergence_bundle *bundle, uint32_t *packed);
/* Whether the bundle just formed goes through the L1; if so, complete() is called when that has ended. */
bool divergence_subwarps_access(const struct divergence_subwarps *subwarps, const struct exec_context *cx,
                                const struct divergence_bundle *bundle);
