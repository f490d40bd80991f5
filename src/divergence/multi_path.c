/* multi-path: all paths of a warp run (ElTantawy, Ma, O'Connor and Aamodt, "A scalable multi-path microarchitecture for
 * efficient GPU control flow", HPCA 2014). Two tables replace the stack. The warp-split table has an entry for each
 * path: pc, mask, reconvergence pc and the number of its reconvergence entry. The reconvergence table has an entry for
 * each place where paths will meet: pc, mask, pending mask (lanes that have not come yet) and the number of the entry
 * around it. A path that reaches its reconvergence pc leaves the split table, and its lanes the pending mask. When the
 * mask is empty, the lanes are one path again. convergence/paths.c contains the tables, convergence/groups.c the
 * groups. The SM tracks the results of each lane, so each path awaits its own.
 *
 * early=on is the paper's opportunistic early reconvergence, for code in which paths meet before their post-dominator.
 *
 * Ours:
 * - The split table has room for every path of a warp, but an SM has `slots` groups. The others queue.
 * - With early=on, pcs are compared when a path has executed a branch; only paths of one reconvergence entry meet.
 * - Paths that wait at barriers of the block or for named lanes, and paths that spin, let others run (groups.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/memory.h"
#include "divergence/convergence/groups.h"

enum { EARLY_OFF, EARLY_ON };

struct options {
    uint32_t early, slots;
};

static const struct config_plugin_option option_table[] = {
    {"early", CONFIG_PLUGIN_CHOICE, offsetof(struct options, early), EARLY_OFF, 0, 0, "off|on",
     "paths meet at post-dominators only, or also where a branch takes one to the pc of another"},
    {"slots", CONFIG_PLUGIN_UINT, offsetof(struct options, slots), 0, 0, CONFIG_MAX_SLOTS, NULL,
     "groups that the schedulers see at once; 0: 128; never fewer than the warps"},
    {0},
};

static const char *refuses(const void *given, const struct config_machine *machine, const struct exec_program *program,
                           char *text, size_t size) {
    (void)machine;
    const struct options *options = given;
    return options->early == EARLY_ON ? divergence_refuse_unsynced(program, "multi-path with early=on", text, size)
                                      : NULL;
}

static uint32_t n_slots(const void *given, const struct config_machine *machine, uint32_t n_warps,
                        uint32_t most_slots) {
    (void)machine;
    const struct options *options = given;
    uint32_t n = options->slots ? options->slots : most_slots;
    n = n < n_warps ? n_warps : n;
    return n < most_slots ? n : most_slots;
}

static void *new_model(const struct divergence_setup *setup) {
    struct divergence_groups *groups = base_allocate(1, sizeof *groups);
    const struct options *options = setup->options;
    divergence_groups_init(groups, setup,
                           &(const struct divergence_groups_rules){.meets_early = options->early == EARLY_ON});
    return groups;
}

/* Both tables have as many entries as a warp has lanes. The status of a split is valid and blocked. */
static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size, lanes = machine->sm.warp_size;
    uint32_t number = base_bits_for(lanes), split = 64 + lanes + number + 2, entry = 64 + 2 * lanes + number + 1;
    snprintf(formula, size,
             "warps x lanes x (split: 2 pcs + mask + entry number + status, %u; reconvergence entry: 2 pcs + 2 masks + "
             "entry number + valid, %u): %u x %u x %u",
             split, entry, warps, lanes, split + entry);
    return (uint64_t)warps * lanes * (split + entry);
}

const struct divergence_ops divergence_multi_path = {
    .name = "multi-path",
    .help = "a table of splits and a table of reconvergence points instead of a stack; all paths of a warp run",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .splits_rows = true,
    .gathers_rows = true,
    .tracks_lanes = true,
    .refuses = refuses,
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
