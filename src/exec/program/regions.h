/* Regions of a program: where the convergence barriers of a GPU bring the threads of a warp together
 * (ptx/analysis/meetings.c), by program counter, for divergence models. */
#pragma once

#include "exec/exec.h"

enum { EXEC_NO_LOOP = 0x7fffffff };

struct exec_loop {
    uint32_t parent;  /* the loop around it, or EXEC_NO_LOOP */
    uint32_t header;  /* first pc */
    uint32_t meeting; /* where threads that leave it meet; EXEC_NO_PC: nowhere in its function */
    bool awaits;      /* the loop may end because of a value that another thread writes */
};

struct exec_regions {
    struct exec_loop *loop; /* of all functions */
    uint32_t *loop_of;      /* per pc: its innermost loop, or EXEC_NO_LOOP */
    uint32_t *meeting; /* per branch: where its paths meet that stay in its loop; EXEC_NO_PC: not in its function */
    /* Per pc: the next memory access of a whole row that needs all its lanes, in the order of the code from this pc on,
     * or EXEC_NO_PC. NULL: the program contains none. */
    uint32_t *next_gathering;
};

struct exec_regions *exec_regions_new(const struct exec_program *program);

/* Returns whether `loop` is `around` or lies inside it. */
static inline bool exec_is_loop_inside(const struct exec_regions *regions, uint32_t loop, uint32_t around) {
    while (loop != EXEC_NO_LOOP && loop != around)
        loop = regions->loop[loop].parent;
    return loop == around;
}
