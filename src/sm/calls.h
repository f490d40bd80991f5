/* Functions of CUDA that kernels call: printf, malloc and free. The queue of each is one for the whole chip. */
#pragma once

#include "config/machine.h"
#include "exec/exec.h"

enum { SM_N_CALLS = 3 };

struct sm_calls {
    uint64_t free[SM_N_CALLS]; /* the first cycle in which another call may start */
};

/* A warp of n_lanes threads executes this instruction, a call. Returns the cycle in which it continues. */
uint64_t sm_calls_serve(struct sm_calls *calls, const struct config_calls *config, const struct exec_program *program,
                        const struct exec_insn *insn, uint32_t n_lanes, uint64_t cycle);
