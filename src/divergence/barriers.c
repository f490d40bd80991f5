/* barriers: convergence barriers, as NVIDIA's GPUs have had since Volta (compute capability 7.0). The lanes of a warp
 * have program counters of their own, but one path runs at a time. The compiler's instructions BSSY, BSYNC and BREAK
 * bring lanes together, and YIELD lets other paths run. convergence/paths.c is the mechanism, ptx/analysis/meetings.c
 * the compiler: it places the instructions. isa/branches.c contains their costs, and each path that waits executes its
 * BSYNC.
 *
 * Sources: the claims of US patent 10,067,768 (Diamos et al.), the abstract of Abaie Shoushtary et al. 2024 (arXiv
 * 2407.02944), and machine code of ptxas 13.0.
 *
 * Ours:
 * - A warp has as many barriers as its threads need. Hardware has 16 registers and saves them around calls.
 * - The path that the branch jumps to runs first; paths that leave a loop run after those that stay in it.
 * - A diverged warp executes YIELD at the end of each iteration of a loop that awaits other threads. Another path runs,
 *   if there is one. Otherwise the lanes that wait for the path at its nearest barrier continue without it.
 * - A path that spins in any other short loop yields after a while, as under stack (parts/spin.h).
 * - If no path can run because the others wait at a barrier of the block or for named lanes, the lanes that wait for
 * them at a convergence barrier continue without them. convergence/paths.h proves that a warp never waits for itself.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/convergence/warps.h"

static void *new_model(const struct divergence_setup *setup) {
    struct divergence_converging *model = base_allocate(1, sizeof *model);
    model->setup = *setup;
    return model;
}

const struct divergence_ops divergence_barriers = {
    .name = "barriers",
    .help =
        "convergence barriers: paths meet where a compiler puts them, within an iteration of a loop; paths that wait "
        "for others yield",
    .splits_rows = true,
    .gathers_rows = true,
    .shares_sms = true,
    .new_model = new_model,
    .free_model = free,
    .new_block = divergence_converging_new_block,
    .free_block = divergence_converging_free_block,
    .admit = divergence_converging_admit,
    .control = divergence_converging_control,
    .reached = divergence_converging_reached,
    .release = divergence_converging_release,
    .visit = divergence_converging_visit,
    .cost_bits = divergence_converging_cost_bits,
};
