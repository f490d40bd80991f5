/* multi-pc: one program counter for every thread, and one for the warp, which follows the lowest of them (Diamos et al.
 * 2011 and Intel's GPUs, as described in Narasiman 2014, 2.1.3.2). A thread executes only when its own pc equals the
 * warp's. Threads that are ahead in the code wait until the others arrive. Paths therefore meet at the first
 * instruction they have in common (the thread frontier), not only at the post-dominator.
 *
 * frontier/ is the mechanism, with one hot context. It compares pcs at control instructions, and where the warp's pc
 * reaches the next higher one. In between only the warp's own pc moves, so this is enough.
 *
 * Ours:
 * - Lanes that wait at a barrier, or at a warp-wide instruction for other lanes, do not count. The warp follows the
 *   lowest pc of the rest.
 * - Warp-wide instructions that name no lanes act on the lanes that execute together, as with a stack. cond_acc is
 *   refused, because it would access memory in parts.
 * - A lane that spins on a value that a lane further ahead in the code will write spins forever, as on the machines
 *   that this models. The SM's watchdog or the cycle limit ends it. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/frontier/frontier.h"

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options, (void)machine;
    return divergence_frontier_refuses(program, "multi-pc", text, size);
}

static void *new_model(const struct divergence_setup *setup) {
    struct divergence_frontier *model = base_allocate(1, sizeof *model);
    divergence_frontier_init(model, setup);
    return model;
}

static void free_model(void *model) {
    divergence_frontier_release(model);
    free(model);
}

static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size;
    snprintf(formula, size, "warps x (lanes + 1) x 32-bit pc: %u x %u x 32", warps, machine->sm.warp_size + 1);
    return (uint64_t)warps * (machine->sm.warp_size + 1) * 32;
}

const struct divergence_ops divergence_multi_pc = {
    .name = "multi-pc",
    .help = "a program counter for every thread; the warp follows the lowest, so that paths meet at the first "
            "common instruction",
    .splits_rows = true,
    .refuses = refuses,
    .shares_sms = true,
    .new_model = new_model,
    .free_model = free_model,
    .begin_grid = divergence_frontier_begin_grid,
    .new_block = divergence_frontier_new_block,
    .free_block = divergence_frontier_free_block,
    .admit = divergence_frontier_admit,
    .control = divergence_frontier_control,
    .reached = divergence_frontier_reached,
    .visit = divergence_frontier_visit,
    .cost_bits = cost_bits,
};
