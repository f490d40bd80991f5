/* dual-path: both sides of the innermost divergent branch run (Rhu and Erez, "The dual-path execution model for
 * efficient GPU control flow", HPCA 2013). A warp has a stack, as under `stack`, but an entry holds two paths, left and
 * right, with a pc and a mask each, and one reconvergence pc. Both paths of the top entry may be scheduled. When one of
 * them diverges, an entry is pushed, and the paths below wait until it is popped. An entry is popped when both its
 * paths have reached its reconvergence pc. convergence/groups.c is the mechanism: a path is a group. The SM tracks the
 * results of each lane, which has the same effect as the paper's second set of pending bits and its shadow bits.
 *
 * Ours:
 * - A branch with a side that goes straight to the reconvergence pc of the entry pushes none, as under `stack`.
 * - An indexed branch may have more than two paths: two of them run, and another one when one has ended.
 * - Paths that wait at barriers of the block or for named lanes, and paths that spin, let others run (groups.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/convergence/groups.h"

static uint32_t n_slots(const void *options, const struct config_machine *machine, uint32_t n_warps,
                        uint32_t most_slots) {
    (void)options;
    (void)machine;
    return 2 * n_warps < most_slots ? 2 * n_warps : most_slots;
}

static void *new_model(const struct divergence_setup *setup) {
    struct divergence_groups *groups = base_allocate(1, sizeof *groups);
    divergence_groups_init(groups, setup, &(const struct divergence_groups_rules){.n_at_once = 2, .nests = true});
    return groups;
}

/* An entry has two pcs, two masks and the reconvergence pc. A register has a pending bit and a shadow bit for each
 * side. */
static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    enum { REGISTERS = 64 };
    uint32_t warps = machine->sm.threads / machine->sm.warp_size, lanes = machine->sm.warp_size;
    uint32_t entry = 3 * 32 + 2 * lanes;
    snprintf(formula, size,
             "warps x (lanes deep x (3 pcs of 32 bits + 2 masks of %u) + %u registers x 4 bits): %u x (%u x %u + %u)",
             lanes, REGISTERS, warps, lanes, entry, REGISTERS * 4);
    return (uint64_t)warps * ((uint64_t)lanes * entry + REGISTERS * 4);
}

const struct divergence_ops divergence_dual_path = {
    .name = "dual-path",
    .help = "a stack whose entries hold both sides of a branch; both sides on its top run",
    .splits_rows = true,
    .gathers_rows = true,
    .tracks_lanes = true,
    .n_slots = n_slots,
    .new_model = new_model,
    .free_model = divergence_groups_free,
    .begin_grid = divergence_groups_begin_grid,
    .new_block = divergence_groups_new_block,
    .free_block = divergence_groups_free_block,
    .admit = divergence_groups_admit,
    .control = divergence_groups_control,
    .reached = divergence_groups_reached,
    .refill = divergence_groups_refill,
    .visit = divergence_groups_visit,
    .cost_bits = cost_bits,
};
