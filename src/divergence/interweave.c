/* interweave: simultaneous branch and warp interweaving. In one cycle a row of lanes takes two instructions, a primary
 * and a secondary one, on disjoint lanes.
 * - Branch interweaving (SBI): the secondary instruction belongs to another path of the same warp.
 * - Warp interweaving (SWI): it belongs to another warp. Lanes are shuffled differently in each warp, so that warps
 *   that diverge in the same lanes fit together.
 *
 * Source: Brunie, Collange and Diamos, "Simultaneous Branch and Warp Interweaving for Sustained GPU Performance", ISCA
 * 2012 (HAL ensl-00649650). Only its abstract could be read: two instructions on disjoint lanes of one row of units,
 * from paths of a warp or from warps; a reconvergence technique that brings threads together without hindering parallel
 * branches; lane shuffling. The rest, by the names that others report, is our reading:
 * - Warps have no stack. Their contexts are sorted by pc (the thread frontier; frontier/). The two lowest are hot, the
 *   others cold.
 * - Reconvergence constraint: at the place R where the paths of a branch at D meet, a context waits while the primary
 *   is between D and R. Of several branches that meet at R, D is the first.
 * - The shuffles: identity, mirror-odd, mirror-half, xor, xor-rev.
 *
 * Ours:
 * - The scheduler picks the primary instruction, of any group. The secondary is the other path of that warp, if it is
 *   among the groups that the scheduler could pick. Otherwise it is the group with most lanes that fits, and of equal
 *   ones that in the lowest slot.
 * - One of the two instructions at most accesses memory. Two that need the same unit share it for one pass.
 * - Results are tracked for each lane (sm/boards.h), so contexts part and meet without waiting for their results.
 * - The paper's warps have 64 threads. Here a row is a warp of the machine, of up to 32.
 * - Contexts that spin take turns (frontier/frontier.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/frontier/frontier.h"
#include "divergence/parts/joint.h"
#include "divergence/parts/threads.h"

enum { OFF, ON };
enum { SHUFFLE_IDENTITY, SHUFFLE_MIRROR_ODD, SHUFFLE_MIRROR_HALF, SHUFFLE_XOR, SHUFFLE_XOR_REV };

struct options {
    uint32_t branches, warps, shuffle, constraints;
};

static const struct config_plugin_option option_table[] = {
    {"branches", CONFIG_PLUGIN_CHOICE, offsetof(struct options, branches), ON, 0, 0, "off|on",
     "two paths of a warp issue together"},
    {"warps", CONFIG_PLUGIN_CHOICE, offsetof(struct options, warps), ON, 0, 0, "off|on",
     "groups of two warps issue together"},
    {"shuffle", CONFIG_PLUGIN_CHOICE, offsetof(struct options, shuffle), SHUFFLE_XOR_REV, 0, 0,
     "identity|mirror-odd|mirror-half|xor|xor-rev", "the lanes in which the threads of a warp execute"},
    {"constraints", CONFIG_PLUGIN_CHOICE, offsetof(struct options, constraints), ON, 0, 0, "off|on",
     "a path waits where it meets the one with the lowest pc"},
    {0},
};

static const struct config_preset presets[] = {
    {"sbi", "branches=on,warps=off", "paths of one warp only"},
    {"swi", "branches=off,warps=on", "different warps only"},
    {"both", "branches=on,warps=on", "both, and the default"},
    {0},
};

struct model {
    struct divergence_frontier frontier; /* first */
    struct options options;
    struct divergence_joint issue; /* the groups of this cycle, so far */
    const struct exec_row *row;    /* of the picked one */
};

static const char *refuses(const void *given, const struct config_machine *machine, const struct exec_program *program,
                           char *text, size_t size) {
    const struct options *options = given;
    uint32_t width = machine->sm.warp_size;
    if (options->branches == OFF && options->warps == OFF)
        return "interweave with branches=off and warps=off issues one instruction at a time: that is the model "
               "multi-pc";
    if (options->warps == ON && options->shuffle >= SHUFFLE_XOR && width & (width - 1)) {
        snprintf(text, size, "interweave: the shuffles xor and xor-rev need warps of a power of two, not of %u threads",
                 width);
        return text;
    }
    return divergence_frontier_refuses(program, "interweave", text, size);
}

/* A second slot for each warp, as far as there are slots. */
static uint32_t n_slots(const void *given, const struct config_machine *machine, uint32_t n_warps,
                        uint32_t most_slots) {
    (void)machine;
    uint32_t n = ((const struct options *)given)->branches == ON ? 2 * n_warps : n_warps;
    return n < most_slots ? n : most_slots;
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    divergence_frontier_init(&model->frontier, setup);
    model->options = *(const struct options *)setup->options;
    model->frontier.n_hot = model->options.branches == ON ? 2 : 1;
    model->frontier.constrains = model->options.constraints == ON;
    model->frontier.turns = true;
    return model;
}

static void free_model(void *user) {
    divergence_frontier_release(user);
    free(user);
}

/* --- lanes --- */

static uint32_t reverse(uint32_t mask, uint32_t width) {
    uint32_t reversed = 0;
    for (uint32_t i = 0; i < width; i++)
        reversed |= (mask >> i & 1) << (width - 1 - i);
    return reversed;
}

/* Returns the lanes in which the threads `mask` of warp number `warp` execute, of `n_warps` warps. */
static uint32_t shuffled(uint32_t shuffle, uint32_t mask, uint32_t warp, uint32_t n_warps, uint32_t width) {
    uint32_t by = warp & (width - 1), lanes = 0;
    switch (shuffle) {
    case SHUFFLE_MIRROR_ODD:
        return warp & 1 ? reverse(mask, width) : mask;
    case SHUFFLE_MIRROR_HALF:
        return 2 * warp >= n_warps ? reverse(mask, width) : mask;
    case SHUFFLE_XOR_REV:
        by = reverse(by, width) >> (width - (uint32_t)__builtin_ctz(width)); /* of the bits of a lane's number */
        break;
    case SHUFFLE_XOR:
        break;
    default:
        return mask;
    }
    for (uint32_t left = mask; left; left &= left - 1)
        lanes |= 1u << ((uint32_t)__builtin_ctz(left) ^ by);
    return lanes;
}

static uint32_t lanes_of(const struct model *model, const struct divergence_group *group) {
    const struct config_machine *machine = model->frontier.setup.machine;
    uint32_t warp = group->home->slot * divergence_cta(group->row)->n_rows + group->row->index;
    return shuffled(model->options.shuffle, group->mask, warp, machine->sm.threads / machine->sm.warp_size,
                    machine->sm.warp_size);
}

/* --- joint issue --- */

static bool leads(void *user, const struct divergence_group *group) {
    struct model *model = user;
    const struct divergence_setup *setup = &model->frontier.setup;
    model->issue = (struct divergence_joint){0};
    model->row = group->row;
    divergence_joint_add(&model->issue, setup, group, lanes_of(model, group));
    return (uint32_t)__builtin_popcount(group->mask) < setup->machine->sm.warp_size;
}

static bool fits(const struct model *model, const struct divergence_group *group) {
    if (group->row == model->row ? model->options.branches == OFF : model->options.warps == OFF)
        return false;
    return divergence_joint_fits(&model->issue, &model->frontier.setup, group, lanes_of(model, group));
}

static int next(void *user, struct divergence_group *const *ready, uint32_t n) {
    struct model *model = user;
    int best = -1;
    for (uint32_t i = 0; i < n && model->issue.n_groups < 2; i++) {
        if (!fits(model, ready[i]))
            continue;
        if (ready[i]->row == model->row) {
            best = (int)i;
            break;
        }
        if (best < 0 || __builtin_popcount(ready[i]->mask) > __builtin_popcount(ready[best]->mask))
            best = (int)i;
    }
    if (best < 0)
        return -1;
    divergence_joint_add(&model->issue, &model->frontier.setup, ready[best], lanes_of(model, ready[best]));
    return best;
}

/* Ours: two hot contexts for each warp, and as many cold ones as it has further lanes, each with a pc and a mask. For
 * the secondary instruction each lane knows the warp whose registers it reads. */
static uint64_t cost_bits(const void *given, const struct config_machine *machine, char *formula, size_t size) {
    const struct options *options = given;
    uint32_t lanes = machine->sm.warp_size, warps = machine->sm.threads / lanes, number = 0;
    while (options->warps == ON && warps > 1u << number)
        number++;
    uint32_t homes = machine->sm.schedulers * lanes * number;
    snprintf(formula, size,
             "warps x lanes contexts x (mask %u + pc 32): %u x %u x %u; schedulers x lanes x warp number: %u", lanes,
             warps, lanes, lanes + 32, homes);
    return (uint64_t)warps * lanes * (lanes + 32) + homes;
}

const struct divergence_ops divergence_interweave = {
    .name = "interweave",
    .help = "branch and warp interweaving: two paths of a warp, or two warps, issue together on disjoint lanes",
    .option = option_table,
    .preset = presets,
    .options_bytes = sizeof(struct options),
    .splits_rows = true,
    .tracks_lanes = true,
    .refuses = refuses,
    .n_slots = n_slots,
    .new_model = new_model,
    .free_model = free_model,
    .begin_grid = divergence_frontier_begin_grid,
    .new_block = divergence_frontier_new_block,
    .free_block = divergence_frontier_free_block,
    .admit = divergence_frontier_admit,
    .control = divergence_frontier_control,
    .reached = divergence_frontier_reached,
    .visit = divergence_frontier_visit,
    .joint = &(const struct divergence_joint_ops){.leads = leads, .next = next},
    .cost_bits = cost_bits,
};
