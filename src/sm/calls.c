/* The time of printf, malloc and free in kernels (`calls`).
 *
 * On an H200 such a call takes ten thousand cycles and more, and the calls of different warps wait for each other,
 * wherever they run (bench/hardware: printf_*, malloc_*, free_*). So each function is a queue for the whole chip: a
 * call of a warp starts an interval after the call before it. SMs make these calls in turn, in the order (cycle, SM).
 * The values are computed when the call issues, and the warp then waits.
 *
 * Left out: the size of the text and of the memory, and that malloc and free of many warps help each other. */
#include "sm/calls.h"

#include <string.h>

uint64_t sm_calls_serve(struct sm_calls *calls, const struct config_calls *config, const struct exec_program *program,
                        const struct exec_insn *insn, uint32_t n_lanes, uint64_t cycle) {
    static const char *const name[SM_N_CALLS] = {"vprintf", "malloc", "free"};
    const struct config_call *cost[SM_N_CALLS] = {&config->print, &config->allocate, &config->release};
    const char *called = program->call_site[insn->call_site].insn->call->target.function->name;
    for (unsigned i = 0; i < SM_N_CALLS && n_lanes; i++) {
        if (strcmp(called, name[i]) != 0)
            continue;
        uint64_t start = calls->free[i] > cycle ? calls->free[i] : cycle;
        calls->free[i] = start + cost[i]->interval;
        return start + cost[i]->cycles + (uint64_t)cost[i]->lane_cycles * (n_lanes - 1);
    }
    return cycle;
}
