/* aware: adaptive warp reconvergence (ElTantawy and Aamodt, "MIMD synchronization on SIMT architectures", MICRO 2016).
 * Threads of a warp may wait for each other, with locks or flags, as on a MIMD machine. A warp has the two tables of
 * multi-path, but runs one path at a time. Its paths form a queue: a path runs until it diverges, arrives at its
 * reconvergence point or takes a branch. Then the next one runs. Lanes that wait at a reconvergence point while nothing
 * changes there for `timeout` cycles continue without the others. With delay=on the reconvergence points of loops that
 * await other threads are moved past the writes that those may wait for (convergence/delay.c), as the paper's compiler
 * does, so that few waits end by the time-out.
 *
 * Source: the abstract and the authors' implementation (README and class simt_tables), a version of GPGPU-Sim.
 *
 * Ours:
 * - The tables have room for all paths of a warp. The authors' spill entries to memory.
 * - A path that is released from a barrier of the block runs next. The authors keep its place in the queue.
 * - A return puts the caller at the head of the queue, as the authors do, but so do warp-wide instructions.
 * - delay.c is our own analysis of PTX. The authors name the points by hand, from a pass over LLVM's code. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/memory.h"
#include "divergence/convergence/delay.h"
#include "divergence/convergence/warps.h"

enum { DELAY_OFF, DELAY_ON };

struct options {
    uint32_t timeout, delay;
};

static const struct config_plugin_option option_table[] = {
    {"timeout", CONFIG_PLUGIN_UINT, offsetof(struct options, timeout), 100000, 1, UINT32_MAX, NULL,
     "cycles after which lanes at a reconvergence point where nothing changes continue without the others"},
    {"delay", CONFIG_PLUGIN_CHOICE, offsetof(struct options, delay), DELAY_ON, 0, 0, "off|on",
     "reconvergence points of loops that await other threads: at the post-dominator, or after the writes that follow"},
    {0},
};

struct model {
    struct divergence_converging base; /* first */
    struct options options;
    struct exec_regions *regions;
    uint64_t next_look;                         /* for waits that have been too long; UINT64_MAX: no lane waits */
    struct divergence_converging_block **block; /* all places */
    uint32_t n_blocks;
};

/* --- the queue --- */

/* Returns whether the running path gives its turn to the next one. */
static bool is_turn_over(uint32_t pc, const struct divergence_outcome *outcome) {
    return outcome->effect == DIVERGENCE_CALLS ||
           (outcome->effect == DIVERGENCE_BRANCHES && (outcome->is_divergent || outcome->target != pc + 1));
}

/* Looks for waits that are too long from the first possible cycle on. */
static void look_later(struct model *model, uint64_t cycle) {
    if (model->next_look != UINT64_MAX)
        return;
    model->next_look = cycle + model->options.timeout + 1;
    model->base.setup.host->chip->call_at(model->base.setup.sm, model->next_look);
}

static void next_turn(struct divergence_converging *base, struct divergence_converging_warp *warp, uint32_t pc,
                      const struct divergence_outcome *outcome, uint32_t n_new) {
    if (n_new && (!outcome || is_turn_over(pc, outcome))) /* lanes that have met go to the end, too */
        divergence_paths_send_back(&warp->paths, n_new);
    if (!divergence_paths_are_one(&warp->paths))
        look_later((struct model *)base, warp->paths.cycle);
}

/* --- time-outs --- */

/* Lets lanes of the warp that have waited too long continue. Returns the cycle in which the next ones will have, or
 * UINT64_MAX. */
static uint64_t end_waits(struct model *model, struct divergence_converging_warp *warp, uint64_t cycle) {
    struct divergence_paths *paths = &warp->paths;
    uint64_t next = UINT64_MAX;
    bool has_changed = false;
    paths->cycle = cycle;
    for (uint32_t j = 0; j < paths->capacity; j++) {
        const struct divergence_join *join = &paths->join[j];
        if (!join->is_used || !join->arrived)
            continue;
        uint64_t end = join->since + model->options.timeout + 1;
        if (end <= cycle) {
            uint32_t n_before = paths->n_paths;
            divergence_paths_release_join(paths, j);
            divergence_paths_send_back(paths, paths->n_paths - n_before);
            model->base.setup.counters->reconvergence_timeouts++;
            has_changed = true;
        }
        end = end <= cycle ? cycle + model->options.timeout + 1 : end; /* they may wait again, elsewhere */
        next = end < next ? end : next;
    }
    if (has_changed)
        divergence_converging_added(&model->base, warp, cycle);
    return next;
}

static void refill(void *user, uint64_t cycle) {
    struct model *model = user;
    uint64_t next = UINT64_MAX;
    if (cycle < model->next_look)
        return;
    for (uint32_t b = 0; b < model->n_blocks; b++)
        for (uint32_t i = 0; i < model->block[b]->n_rows; i++) {
            uint64_t at = end_waits(model, &model->block[b]->warp[i], cycle);
            next = at < next ? at : next;
        }
    model->next_look = next;
    if (next != UINT64_MAX)
        model->base.setup.host->chip->call_at(model->base.setup.sm, next);
}

/* --- launches and blocks --- */

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options;
    (void)machine;
    return divergence_refuse_unsynced(program, "aware", text, size);
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    model->base.setup = *setup;
    model->base.next_turn = next_turn;
    model->options = *(const struct options *)setup->options;
    model->next_look = UINT64_MAX;
    return model;
}

static void free_model(void *user) {
    struct model *model = user;
    divergence_postdominators_free(model->regions);
    free(model->block);
    free(model);
}

static void begin_grid(void *user) {
    struct model *model = user;
    const struct exec_program *program = model->base.setup.cx->grid->program;
    divergence_postdominators_free(model->regions);
    model->regions = divergence_postdominators(program);
    if (model->options.delay == DELAY_ON)
        divergence_delay(model->regions, program);
    model->base.regions = model->regions;
    model->next_look = UINT64_MAX;
}

static void *new_block(void *user, const struct exec_cta *cta) {
    struct model *model = user;
    struct divergence_converging_block *block = divergence_converging_new_block(model, cta);
    model->block = base_grow(model->block, model->n_blocks + 1, sizeof(struct divergence_converging_block *));
    model->block[model->n_blocks++] = block;
    return block;
}

static void free_block(void *user, void *state) {
    struct model *model = user;
    uint32_t i = 0;
    while (model->block[i] != state)
        i++;
    model->block[i] = model->block[--model->n_blocks];
    divergence_converging_free_block(model, state);
}

/* The tables of multi-path, a queue of split numbers, and for each reconvergence entry the cycle of its last change. */
static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint32_t warps = machine->sm.threads / machine->sm.warp_size, lanes = machine->sm.warp_size;
    uint32_t number = base_bits_for(lanes), split = 64 + lanes + 2 * number + 2,
             entry = 64 + 2 * lanes + number + 1 + 32;
    snprintf(formula, size,
             "warps x lanes x (split: 2 pcs + mask + entry number + place in the queue + status, %u; reconvergence "
             "entry: 2 pcs + 2 masks + entry number + valid + cycle, %u): %u x %u x %u",
             split, entry, warps, lanes, split + entry);
    return (uint64_t)warps * lanes * (split + entry);
}

const struct divergence_ops divergence_aware = {
    .name = "aware",
    .help = "adaptive reconvergence: paths of a warp take turns, and lanes that wait too long at a reconvergence point "
            "continue, so that threads of a warp may wait for each other",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .splits_rows = true,
    .gathers_rows = true,
    .refuses = refuses,
    .new_model = new_model,
    .free_model = free_model,
    .begin_grid = begin_grid,
    .new_block = new_block,
    .free_block = free_block,
    .admit = divergence_converging_admit,
    .control = divergence_converging_control,
    .reached = divergence_converging_reached,
    .refill = refill,
    .visit = divergence_converging_visit,
    .cost_bits = cost_bits,
};
