/* lwm: large warps (Narasiman et al. 2011, 3.1; Narasiman 2014, 4.2). A large warp is several rows of a block with one
 * pc and one post-dominator stack (pdom.h). An instruction goes through the pipeline in sub-warps (subwarps.h), one
 * after the other. The outcome of a branch is known, and the stack changes, after its last sub-warp.
 *
 * Where the papers are silent:
 * - A large warp never spans two blocks. The last one of a block has the rows that are left. A large warp of a single
 *   row runs as an ordinary warp.
 * - Warp-wide instructions act on rows: all active threads of a row go together.
 * - An instruction whose guard is false for all threads takes one empty sub-warp, as in an ordinary warp.
 * - refetch=first is a rule for pipelines without a scoreboard: bits for threads in flight (the paper's busy bits)
 *   replace it. On a machine with a scoreboard it is refused.
 * - A shared-memory access with bank conflicts holds its unit for as long as they last. The busy bits do not wait for
 *   the conflicts too.
 * - Threads of a large warp may spin on a value that others of it will write. After a while they let those continue, as
 *   in `stack`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/large_warp/in_flight.h"
#include "divergence/large_warp/subwarps.h"
#include "divergence/parts/control.h"
#include "divergence/parts/count.h"

enum { REFETCH_ALL, REFETCH_FIRST };
enum { OFF, ON };

struct options {
    uint32_t size, refetch, memopt, jumpopt, perfect_rf, scalar;
};

static const struct config_plugin_option option_table[] = {
    {"size", CONFIG_PLUGIN_CHOICE, offsetof(struct options, size), 3, 0, 0, "32|64|128|256|512",
     "threads of a large warp; a kernel's .pragma \"heddle warp_size N\" comes before it"},
    {"refetch", CONFIG_PLUGIN_CHOICE, offsetof(struct options, refetch), REFETCH_ALL, 0, 0, "all|first",
     "the next instruction when all sub-warps have completed, or the first one has"},
    {"memopt", CONFIG_PLUGIN_CHOICE, offsetof(struct options, memopt), ON, 0, 0, "off|on",
     "accesses to global memory go row by row, unpacked"},
    {"jumpopt", CONFIG_PLUGIN_CHOICE, offsetof(struct options, jumpopt), ON, 0, 0, "off|on",
     "an unconditional jump takes one sub-warp"},
    {"perfect_rf", CONFIG_PLUGIN_CHOICE, offsetof(struct options, perfect_rf), OFF, 0, 0, "off|on",
     "any threads go together, not only one of each lane"},
    {"scalar", CONFIG_PLUGIN_CHOICE, offsetof(struct options, scalar), OFF, 0, 0, "off|on",
     "an instruction with the same operands in all threads takes one sub-warp"},
    {0},
};

static const struct config_preset presets[] = {
    {"2011", "refetch=all", "as in the paper of 2011"},
    {"2014", "refetch=first", "as in the thesis of 2014"},
    {0},
};

struct large_warp {
    struct divergence_group group;
    struct divergence_stack *stack;
    struct divergence_watch watch;
    uint32_t number; /* in the block */
    bool has_begun;  /* subwarps is about the instruction at pc, */
    bool has_issued; /* and some of its sub-warps have issued */
    struct divergence_subwarps subwarps;
    struct divergence_in_flight in_flight; /* refetch=first */
};

struct block {
    struct large_warp *warp;
    struct divergence_stack *stack; /* of each large warp */
    uint32_t n_warps, most_warps;
};

struct model {
    struct divergence_setup setup;
    struct divergence_subwarp_rules rules;
    uint32_t size;
    bool refetches_first;
    uint32_t pipeline_cycles; /* from issue until an instruction has left the pipeline */
};

static uint32_t size_of(const struct options *options) { return 32u << options->size; }

static uint32_t size_wanted(uint32_t size, const struct exec_program *program) {
    return program->warp_size_wanted ? program->warp_size_wanted : size;
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    const struct options *options = setup->options;
    const struct config_machine *machine = setup->machine;
    model->setup = *setup;
    model->rules = (struct divergence_subwarp_rules){.memopt = options->memopt,
                                                     .jumpopt = options->jumpopt,
                                                     .perfect_rf = options->perfect_rf,
                                                     .scalar = options->scalar,
                                                     .n_lanes = machine->sm.warp_size};
    model->size = size_of(options);
    model->refetches_first = options->refetch == REFETCH_FIRST;
    model->pipeline_cycles = machine->sm.pipeline == CONFIG_PIPELINE_BARREL ? machine->sm.stages : 1;
    return model;
}

static void *new_block(void *user, const struct exec_cta *cta) {
    const struct model *model = user;
    struct block *block = base_allocate(1, sizeof *block);
    block->most_warps = cta->n_rows;
    block->warp = base_allocate(cta->n_rows, sizeof *block->warp);
    block->stack = base_allocate(cta->n_rows, sizeof *block->stack);
    for (uint32_t i = 0; i < cta->n_rows; i++) {
        struct large_warp *warp = &block->warp[i];
        warp->stack = &block->stack[i];
        warp->number = i;
        warp->group.slot = DIVERGENCE_NO_SLOT;
        if (model->refetches_first)
            divergence_in_flight_new(&warp->in_flight, cta->n_rows);
    }
    return block;
}

static void free_block(void *user, void *state) {
    (void)user;
    struct block *block = state;
    for (uint32_t i = 0; i < block->most_warps; i++) {
        divergence_stack_free(&block->stack[i]);
        divergence_in_flight_free(&block->warp[i].in_flight);
    }
    free(block->stack);
    free(block->warp);
    free(block);
}

/* --- the instruction at pc --- */

static void begin(const struct model *model, struct large_warp *warp) {
    const struct exec_insn *insn = &model->setup.cx->grid->program->code[warp->group.pc];
    divergence_subwarps_begin(&warp->subwarps, &model->rules, insn, warp->stack->row, warp->stack->n_rows,
                              divergence_stack_top(warp->stack)->mask);
    warp->has_begun = true;
    warp->has_issued = false;
}

/* refetch=first: sets the cycle in which the next sub-warp can issue. */
static void look_ahead(struct large_warp *warp, uint64_t cycle) {
    uint64_t until = divergence_in_flight_until(&warp->in_flight, &warp->subwarps, !warp->has_issued, cycle);
    warp->group.is_blocked = until == UINT64_MAX;
    warp->group.ready_cycle = warp->group.is_blocked ? 0 : until;
}

/* pc has moved. */
static void go_on(const struct model *model, struct large_warp *warp, uint64_t cycle) {
    warp->has_begun = false;
    if (!warp->group.overlaps || warp->group.status != DIVERGENCE_RUNS)
        return;
    warp->group.notify_pc = warp->group.pc + 1; /* reached() is called after each instruction */
    begin(model, warp);
    look_ahead(warp, cycle);
}

/* Shows the SM the top of the stack, in the group. */
static void show_top(const struct model *model, struct large_warp *warp, uint64_t cycle) {
    struct divergence_stack *stack = warp->stack;
    struct divergence_group *group = &warp->group;
    if (!stack->depth) {
        group->status = DIVERGENCE_ENDED;
        return;
    }
    if (divergence_stack_top(stack)->is_waiting && !divergence_stack_yield(stack)) {
        group->status = DIVERGENCE_WAITS;
        return;
    }
    const struct divergence_entry *top = divergence_stack_top(stack);
    group->status = DIVERGENCE_RUNS;
    group->pc = top->pc;
    group->notify_pc = top->reconvergence;
    group->mask = top->mask[0];
    group->n_threads = divergence_masks_count(top->mask, stack->n_rows);
    go_on(model, warp, cycle);
}

static void admit(void *user, struct divergence_block *place, uint64_t cycle) {
    struct model *model = user;
    struct block *block = place->state;
    const struct exec_program *program = model->setup.cx->grid->program;
    uint32_t size = size_wanted(model->size, program);
    uint32_t warp_size = model->setup.machine->sm.warp_size, n_rows = place->cta->n_rows;
    uint32_t rows_each = size > warp_size ? size / warp_size : 1;
    block->n_warps = (n_rows + rows_each - 1) / rows_each;
    for (uint32_t i = 0; i < block->n_warps; i++) {
        struct large_warp *warp = &block->warp[i];
        struct exec_row *first = &place->cta->row[i * rows_each];
        uint32_t rows_left = n_rows - i * rows_each, rows = rows_left < rows_each ? rows_left : rows_each;
        divergence_stack_start(warp->stack, first, rows, program->function[0].first_pc);
        warp->watch = (struct divergence_watch){0};
        warp->group.row = rows == 1 ? first : NULL;
        warp->group.overlaps = rows > 1 && model->refetches_first;
        warp->group.is_blocked = false;
        warp->group.ready_cycle = 0;
        warp->group.home = place;
        warp->group.passed = 0;
        if (warp->group.overlaps)
            divergence_in_flight_start(&warp->in_flight, rows);
        show_top(model, warp, cycle);
        warp->group.warp_id = DIVERGENCE_NO_WARP;
        model->setup.host->place(model->setup.sm, &warp->group, cycle);
    }
}

static void bundle(void *user, struct divergence_group *group, struct divergence_bundle *out, uint64_t cycle) {
    const struct model *model = user;
    struct large_warp *warp = (struct large_warp *)group;
    uint32_t in_flight[EXEC_MAX_ROWS], packed[EXEC_MAX_ROWS];
    if (!warp->has_begun)
        begin(model, warp);
    if (group->overlaps)
        divergence_in_flight_mask(&warp->in_flight, cycle, in_flight);
    out->pc = group->pc;
    divergence_subwarps_next(&warp->subwarps, model->setup.cx, group->overlaps ? in_flight : NULL, out, packed);
    if (group->overlaps) {
        bool goes_to_memory = divergence_subwarps_access(&warp->subwarps, model->setup.cx, out);
        out->tag = divergence_in_flight_issue(&warp->in_flight, packed, !warp->has_issued, goes_to_memory,
                                              cycle + model->pipeline_cycles);
        warp->has_issued = true;
        if (!out->is_last)
            look_ahead(warp, cycle);
    } else if (out->is_last) {
        warp->has_begun = false;
    }
}

/* --- control flow --- */

/* This large warp has released others of the block. */
static void set_free(struct model *model, struct block *block, uint64_t which, const struct large_warp *self,
                     uint64_t cycle) {
    for (; which; which &= which - 1) {
        struct large_warp *warp = &block->warp[__builtin_ctzll(which)];
        if (warp == self || warp->group.status != DIVERGENCE_WAITS)
            continue;
        show_top(model, warp, cycle);
        model->setup.host->wake(model->setup.sm, &warp->group, cycle);
    }
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct model *model = user;
    struct large_warp *warp = (struct large_warp *)group;
    struct exec_context *cx = model->setup.cx;
    struct divergence_block *place = group->home;
    struct block *block = place->state;
    struct divergence_stack *stack = warp->stack;
    const uint32_t *takes = group->row ? &mask : warp->subwarps.takes;
    uint32_t depth = stack->depth, active[EXEC_MAX_ROWS];
    memcpy(active, divergence_stack_top(stack)->mask, stack->n_rows * sizeof *active);
    struct divergence_outcome outcome = divergence_control(stack, cx, pc, takes);
    bool is_branch = outcome.effect == DIVERGENCE_BRANCHES;
    if (is_branch)
        divergence_count_branch(&model->setup, pc, outcome.is_divergent);
    if (outcome.is_divergent)
        divergence_count_wide_split(&model->setup, stack->row, active, stack->n_rows);
    model->setup.counters->reconvergences += is_branch && stack->depth < depth;
    if (divergence_stack_spins(&warp->watch, stack, pc))
        divergence_stack_break_join(stack);
    if (outcome.effect == DIVERGENCE_MEETS_BLOCK) {
        model->setup.counters->barriers++;
        uint64_t freed = divergence_arrive(block->stack, block->n_warps, cx, place->cta, warp->number, pc, takes);
        set_free(model, block, freed, warp, cycle);
    }
    if (divergence_has_ended(&outcome)) {
        set_free(model, block, divergence_after_exit(block->stack, block->n_warps, cx, place->cta), warp, cycle);
        if (!place->cta->n_live_rows)
            model->setup.host->block_ended(model->setup.sm, place);
    }
    show_top(model, warp, cycle);
}

static void release(void *user, struct divergence_block *place, uint64_t cycle) {
    struct model *model = user;
    struct block *block = place->state;
    struct exec_context *cx = model->setup.cx;
    set_free(model, block, divergence_after_exit(block->stack, block->n_warps, cx, place->cta), NULL, cycle);
}

static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct large_warp *warp = (struct large_warp *)group;
    struct divergence_entry *top = divergence_stack_top(warp->stack);
    top->pc = group->pc;
    if (group->pc != top->reconvergence) {
        go_on(model, warp, cycle);
        return;
    }
    divergence_stack_pop_finished(warp->stack);
    model->setup.counters->reconvergences++;
    show_top(model, warp, cycle);
}

/* --- memory, with refetch=first --- */

static void answered(void *user, struct divergence_group *group, const struct divergence_access *access,
                     uint64_t cycle) {
    (void)user;
    (void)cycle;
    if (group->overlaps)
        divergence_in_flight_ready(&((struct large_warp *)group)->in_flight, access->tag, access->ready);
}

static void complete(void *user, struct divergence_group *group, uint32_t tag, uint64_t cycle) {
    (void)user;
    struct large_warp *warp = (struct large_warp *)group;
    if (!group->overlaps)
        return;
    divergence_in_flight_complete(&warp->in_flight, tag, cycle);
    if (warp->has_begun)
        look_ahead(warp, cycle);
}

/* --- the rest --- */

static const char *refuses(const void *user, const struct config_machine *machine, const struct exec_program *program,
                           char *text, size_t size) {
    const struct options *options = user;
    (void)program;
    if (options->refetch == REFETCH_FIRST && machine->sm.pipeline == CONFIG_PIPELINE_SCOREBOARD) {
        snprintf(
            text, size,
            "lwm: refetch=first is for pipelines without a scoreboard (barrel, switch-on-access), and machine '%s' "
            "has one: use refetch=all",
            machine->name);
        return text;
    }
    return NULL;
}

static const char *remarks(const void *user, const struct exec_program *program, uint32_t n_threads, char *text,
                           size_t size) {
    uint32_t wanted = size_wanted(size_of(user), program);
    if (n_threads >= wanted)
        return NULL;
    snprintf(text, size, "lwm: large warps of %u threads are not reached, its blocks have %u", wanted, n_threads);
    return text;
}

static void visit(const void *user, const struct divergence_block *place,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *visitor) {
    (void)user;
    const struct block *block = place->state;
    for (uint32_t i = 0; i < block->n_warps; i++) {
        const struct divergence_stack *stack = &block->stack[i];
        for (uint32_t r = 0; r < stack->n_rows; r++) {
            uint32_t kept = 0;
            for (uint32_t d = 0; d < stack->depth; d++)
                kept |= divergence_stack_at(stack, d)->mask[r];
            for (uint32_t left = kept; left; left &= left - 1)
                thread(visitor, &block->warp[i].group, &stack->row[r], (uint32_t)__builtin_ctz(left));
        }
    }
}

/* What the papers add to a core with stacks: Narasiman 2011, 3.3; 2014, 4.5. */
static uint64_t cost_bits(const void *user, const struct config_machine *machine, char *formula, size_t size) {
    const struct options *options = user;
    uint64_t bits = 3ull * size_of(options);
    if (options->refetch == REFETCH_ALL) {
        snprintf(formula, size, "copy of the mask + two masks for branches: 3 x %u", size_of(options));
        return bits;
    }
    snprintf(formula, size, "copy of the mask + two masks for branches + a busy bit for each thread: 3 x %u + %u",
             size_of(options), machine->sm.threads);
    return bits + machine->sm.threads;
}

const struct divergence_ops divergence_lwm = {
    .name = "lwm",
    .help = "large warps of several rows, packed into sub-warps at issue",
    .option = option_table,
    .preset = presets,
    .options_bytes = sizeof(struct options),
    .shares_sms = true,
    .refuses = refuses,
    .remarks = remarks,
    .new_model = new_model,
    .free_model = free,
    .new_block = new_block,
    .free_block = free_block,
    .admit = admit,
    .bundle = bundle,
    .control = control,
    .reached = reached,
    .release = release,
    .memory = &(const struct divergence_memory_ops){.answered = answered, .complete = complete},
    .visit = visit,
    .cost_bits = cost_bits,
    .area = "register file +11 to 18.7 %, chip +1.5 to 3 % (Narasiman 2011, 3.3, from others)",
};
