/* odgs: the oracle dynamic global scheduler (Malits 2012, sections 3.5 to 3.8). A warp that diverges leaves its SM for
 * a pool that all SMs share; threads with equal pc, from anywhere on the chip and whatever their lane, are put together
 * to full warps. A free slot takes, in this order, a full warp from the pool, a new warp of the grid, an incomplete
 * warp with the lowest pc. Threads at a barrier leave their slot too; they come back as the rows that they are.
 *
 * latency=N: for N cycles a warp that diverged keeps its slot and its threads are not in the pool (fig. 13).
 * Blocks are not bound to an SM's limit of blocks, only slots and registers count: a block is "a logical entity" here.
 *
 * Ours where the paper is silent: new warps that are not full (blocks of one thread in NN) go to the pool at once, and
 * new blocks are fetched until a full warp has come together. Regrouping is off while shared memory may still be
 * accessed (shared=off: in the whole kernel; after-last: until no shared access can be reached any more); there, and at
 * branches whose paths are at most `short` instructions long (the selective variant of section 3.8), a warp runs on a
 * post-dominator stack of its own.
 *
 * The hierarchical variants (section 3.8 names them and no more): with local=dwf the parts of a diverged warp first
 * join incomplete warps of their SM at the same pc, and only what does not fill a warp leaves. With local=tbc the full
 * rows of a block run on one SM under thread block compaction (compact.h). Of each path that is compacted, the threads
 * that do not fill a warp leave for the pool, and do not come back to the block's stack: from there on they are threads
 * as those of plain odgs. They leave only where no thread of the block can come to a barrier or a warp-wide instruction
 * any more; before that, a block is as under tbc. A block keeps as many slots as its threads may need, the pool has the
 * others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/odgs/departure.h"
#include "divergence/odgs/internal.h"
#include "divergence/parts/count.h"
#include "divergence/parts/threads.h"

static const struct config_plugin_option option_table[] = {
    {"latency", CONFIG_PLUGIN_UINT, offsetof(struct divergence_odgs_options, latency), 0, 0, 1000000, NULL,
     "cycles for which a diverged warp keeps its slot and its threads cannot be regrouped"},
    {"shared", CONFIG_PLUGIN_CHOICE, offsetof(struct divergence_odgs_options, shared), DIVERGENCE_ODGS_SHARED_OFF, 0, 0,
     "off|after-last|on", "kernels with shared memory: never regroup, after the last access, always"},
    {"short", CONFIG_PLUGIN_UINT, offsetof(struct divergence_odgs_options, short_length), 0, 0, 100000, NULL,
     "branches whose paths are at most so many instructions long stay on the warp's own stack"},
    {"local", CONFIG_PLUGIN_CHOICE, offsetof(struct divergence_odgs_options, local), DIVERGENCE_ODGS_LOCAL_NONE, 0, 0,
     "none|dwf|tbc", "who regroups threads inside an SM first: dwf fills up its incomplete warps, tbc compacts blocks"},
    {.name = NULL},
};

static struct divergence_sync *sync_of(const struct divergence_block *block) {
    return ((const struct divergence_odgs_block *)block->state)->sync;
}

/* Whether the compactor runs the group (local=tbc). */
static bool is_local(const struct divergence_odgs_chip *chip, const struct divergence_group *group) {
    if (chip->options.local != DIVERGENCE_ODGS_LOCAL_TBC)
        return false;
    const struct divergence_odgs_block *block = group->home->state;
    return divergence_compact_owns(block->compact, group);
}

/* --- where regrouping is allowed --- */

/* The longer way from a branch to where its paths meet, by the layout of the code. */
static bool is_short(const struct divergence_odgs_chip *chip, uint32_t pc) {
    const struct exec_insn *insn = &chip->program->code[pc];
    uint32_t reconvergence = insn->reconvergence;
    bool is_loop = insn->kind == EXEC_KIND_BRANCH && insn->target <= pc;
    return !is_loop && reconvergence != EXEC_NO_PC && reconvergence > pc &&
           reconvergence - pc - 1 <= chip->options.short_length;
}

/* --- the chip and its SMs --- */

static void *new_chip(const void *options, const struct config_machine *machine) {
    struct divergence_odgs_chip *chip = base_allocate(1, sizeof *chip);
    chip->options = *(const struct divergence_odgs_options *)options;
    chip->warp_size = machine->warp_size;
    chip->n_sms = machine->n_sms;
    chip->model = base_allocate(machine->n_sms, sizeof(struct divergence_odgs_sm *));
    chip->n_free = base_allocate(machine->n_sms, sizeof *chip->n_free);
    return chip;
}

static void free_chip(void *user) {
    struct divergence_odgs_chip *chip = user;
    for (uint32_t i = 0; i < chip->n_warps; i++) {
        divergence_stack_free(&chip->warp[i]->stack);
        free(chip->warp[i]->threads.registers);
        free(chip->warp[i]);
    }
    divergence_global_pool_free(&chip->pool);
    free(chip->warp);
    free(chip->model);
    free(chip->n_free);
    free(chip->may_regroup);
    free(chip->may_leave);
    free(chip);
}

/* local=tbc: the compacted warp leaves its block for the pool, after the latency; so long its slot is not free. */
static void leave_block(void *user, const struct divergence_compacted *compacted, uint64_t cycle) {
    struct divergence_odgs_sm *model = user;
    struct divergence_odgs_chip *chip = model->chip;
    const struct divergence_setup *setup = &model->setup;
    struct divergence_odgs_warp *warp = divergence_odgs_new_warp(chip);
    for (uint32_t left = compacted->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        exec_threads_put(&warp->threads, lane, compacted->threads.row[lane], compacted->threads.lane[lane]);
        warp->sm[lane] = (uint16_t)setup->sm_index;
        warp->next_pc[lane] = compacted->pc;
    }
    setup->counters->warp_splits++;
    if (!chip->options.latency) {
        divergence_odgs_add_threads(chip, warp, compacted->mask);
        divergence_odgs_give_back(chip, warp);
        setup->host->chip->call_at(setup->sm, cycle + 1);
        return;
    }
    warp->lanes = compacted->mask;
    warp->due = cycle + chip->options.latency;
    model->n_held++;
    divergence_odgs_queue_push(&model->leaving, warp);
    setup->host->chip->call_at(setup->sm, warp->due);
}

static void *new_model(const struct divergence_setup *setup) {
    struct divergence_odgs_sm *model = base_allocate(1, sizeof *model);
    model->setup = *setup;
    model->chip = setup->chip;
    model->chip->model[setup->sm_index] = model;
    divergence_odgs_queue_start(&model->leaving);
    divergence_odgs_queue_start(&model->ended);
    model->here = base_allocate(setup->n_slots, sizeof(struct divergence_odgs_warp *));
    divergence_compact_start(&model->compact, setup);
    model->compact.short_length = model->chip->options.short_length;
    model->compact.leave = leave_block;
    model->compact.user = model;
    return model;
}

/* local=tbc: where threads may leave their block. */
static void find_where_to_leave(struct divergence_odgs_chip *chip) {
    uint32_t n_insns = chip->program->n_insns;
    chip->may_leave = realloc(chip->may_leave, n_insns);
    if (!chip->may_leave)
        abort();
    divergence_find_sync_free(chip->program, chip->may_leave);
    for (uint32_t pc = 0; pc < n_insns; pc++)
        chip->may_leave[pc] &= chip->may_regroup[pc];
    for (uint32_t i = 0; i < chip->n_sms; i++)
        chip->model[i]->compact.may_leave = chip->may_leave;
}

static void free_model(void *user) {
    free(((struct divergence_odgs_sm *)user)->here);
    free(user);
}

static void begin_grid(void *user) {
    struct divergence_odgs_sm *model = user;
    struct divergence_odgs_chip *chip = model->chip;
    const struct exec_grid *grid = model->setup.cx->grid;
    divergence_odgs_queue_start(&model->leaving);
    divergence_odgs_queue_start(&model->ended);
    model->n_here = model->compact.n_kept = model->n_held = 0;
    if (model->setup.sm_index != 0)
        return;
    chip->program = grid->program;
    chip->cx = model->setup.cx;
    chip->has_counted = false;
    uint32_t block_threads = grid->block[0] * grid->block[1] * grid->block[2];
    chip->block_rows = (block_threads + chip->warp_size - 1) / chip->warp_size;
    divergence_global_pool_start(&chip->pool, grid->program->n_insns);
    divergence_odgs_queue_start(&chip->full);
    divergence_odgs_queue_start(&chip->fresh);
    chip->unused = NULL;
    for (uint32_t i = 0; i < chip->n_warps; i++)
        divergence_odgs_give_back(chip, chip->warp[i]);
    chip->may_regroup = realloc(chip->may_regroup, grid->program->n_insns);
    if (!chip->may_regroup)
        abort();
    chip->is_free = !grid->shared_bytes || chip->options.shared == DIVERGENCE_ODGS_SHARED_ON;
    memset(chip->may_regroup, chip->is_free, grid->program->n_insns);
    if (!chip->is_free && chip->options.shared == DIVERGENCE_ODGS_SHARED_AFTER_LAST)
        divergence_find_shared_free(grid->program, chip->may_regroup);
    if (chip->options.local == DIVERGENCE_ODGS_LOCAL_TBC)
        find_where_to_leave(chip);
}

static void *new_block(void *user, const struct exec_cta *cta) {
    const struct divergence_odgs_sm *model = user;
    struct divergence_odgs_block *block = base_allocate(1, sizeof *block);
    block->sync = divergence_sync_new(cta->n_rows);
    if (model->chip->options.local == DIVERGENCE_ODGS_LOCAL_TBC)
        block->compact = divergence_compact_new_block(cta);
    return block;
}

static void free_block(void *user, void *state) {
    (void)user;
    struct divergence_odgs_block *block = state;
    divergence_sync_free(block->sync);
    if (block->compact)
        divergence_compact_free_block(block->compact);
    free(block);
}

static void admit(void *user, struct divergence_block *block, uint64_t cycle) {
    struct divergence_odgs_sm *model = user;
    struct divergence_odgs_chip *chip = model->chip;
    struct divergence_odgs_block *state = block->state;
    uint32_t first_pc = chip->program->function[0].first_pc, local[EXEC_MAX_ROWS] = {0};
    divergence_sync_start(state->sync);
    for (uint32_t i = 0; i < block->cta->n_rows; i++) {
        struct exec_row *row = &block->cta->row[i];
        bool is_full = (uint32_t)__builtin_popcount(row->threads) == chip->warp_size;
        if (state->compact && (is_full || !chip->may_leave[first_pc]))
            local[i] = row->threads;
        else
            divergence_odgs_add_row(chip, row, row->threads, first_pc, DIVERGENCE_ODGS_NOWHERE,
                                    &chip->fresh); /* divergence_odgs_refill() places them */
    }
    if (state->compact)
        divergence_compact_admit(&model->compact, state->compact, block, local, cycle);
}

/* Every result of a diverged warp is there. */
static void resume(void *user, struct divergence_group *group, uint64_t cycle) {
    struct divergence_odgs_sm *model = user;
    if (is_local(model->chip, group)) {
        divergence_compact_resume(&model->compact, group, cycle);
        return;
    }
    struct divergence_odgs_warp *warp = (struct divergence_odgs_warp *)group;
    if (!model->chip->options.latency) {
        divergence_odgs_leave(model, warp, cycle);
        return;
    }
    warp->due = cycle + model->chip->options.latency;
    group->status = DIVERGENCE_WAITS;
    divergence_odgs_queue_push(&model->leaving, warp);
    model->setup.host->chip->call_at(model->setup.sm, warp->due);
}

static void refill(void *user, uint64_t cycle) { divergence_odgs_refill(user, cycle); }

/* --- instructions --- */

/* The threads of the group's top that live in the row of `lane`: as lanes of that row; *lanes as lanes of the warp. */
static uint32_t row_part(const struct divergence_odgs_warp *warp, uint32_t among, uint32_t lane, uint32_t *lanes) {
    uint32_t mask = 0;
    *lanes = 0;
    for (uint32_t left = among; left; left &= left - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(left);
        if (warp->threads.row[other] != warp->threads.row[lane])
            continue;
        mask |= 1u << warp->threads.lane[other];
        *lanes |= 1u << other;
    }
    return mask;
}

/* Threads that were set free: full rows are warps again, the others go to the pool. */
static void take_released(struct divergence_odgs_sm *model, struct divergence_block *block, uint64_t cycle) {
    struct divergence_sync *sync = sync_of(block);
    for (uint32_t i = 0; i < sync->n_rows; i++) {
        uint32_t pc, mask;
        while ((mask = divergence_sync_take(sync, i, &pc)))
            divergence_odgs_add_row(model->chip, &block->cta->row[i], mask, pc, (uint16_t)model->setup.sm_index,
                                    &model->chip->full);
    }
    model->setup.host->chip->call_at(model->setup.sm, cycle + 1); /* they may find free slots elsewhere */
}

static void threads_ended(struct divergence_odgs_sm *model, struct divergence_block *block, uint64_t cycle) {
    if (divergence_sync_after_exit(sync_of(block), model->setup.cx, block->cta))
        take_released(model, block, cycle);
    if (!block->cta->n_live_rows) {
        uint32_t home = block->cta->block.smid[0];
        const struct divergence_setup *setup = &model->chip->model[home]->setup;
        setup->host->block_ended(setup->sm, block);
    }
}

/* What became of the lanes of a warp at a control instruction. */
struct outcome {
    uint32_t next[EXEC_LANES];
    uint32_t ended, waiting;
};

/* A branch with a true guard in these lanes. */
static void branch(const struct exec_insn *insn, uint32_t pc, uint32_t lanes, uint32_t taken, struct outcome *outcome) {
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        outcome->next[lane] = taken >> lane & 1 ? insn->target : pc + 1;
    }
}

static void execute(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint32_t pc,
                    struct outcome *outcome, uint64_t cycle) {
    struct exec_context *cx = model->setup.cx;
    exec_threads_send_home(cx, &warp->threads, pc, warp->group.mask); /* rows execute these */
    for (uint32_t left = warp->group.mask; left && !cx->fault.kind;) {
        uint32_t lanes, waits, next[EXEC_LANES], first = (uint32_t)__builtin_ctz(left);
        uint32_t mask = row_part(warp, left, first, &lanes);
        struct exec_row *row = warp->threads.row[first];
        divergence_next_pcs(cx, row, pc, mask, next, &waits);
        bool has_ended = false;
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(rest), home = warp->threads.lane[lane];
            outcome->next[lane] = next[home];
            outcome->waiting |= (waits >> home & 1) << lane;
            outcome->ended |= (uint32_t)(next[home] == EXEC_NO_PC) << lane;
            has_ended |= next[home] == EXEC_NO_PC;
        }
        if (has_ended)
            threads_ended(model, divergence_block_of(row), cycle);
        left &= ~lanes;
    }
}

/* Lanes wait for others of their row or block: they leave the warp. A whole row that need not wait stays. */
static void synchronize(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint32_t pc,
                        struct outcome *outcome, uint64_t cycle) {
    for (uint32_t left = outcome->waiting; left && !model->setup.cx->fault.kind;) {
        uint32_t lanes, first = (uint32_t)__builtin_ctz(left);
        uint32_t mask = row_part(warp, left, first, &lanes);
        struct exec_row *row = warp->threads.row[first];
        struct divergence_block *block = divergence_block_of(row);
        struct divergence_sync *sync = sync_of(block);
        bool is_barrier = model->chip->program->code[pc].kind == EXEC_KIND_BARRIER;
        bool is_free = divergence_sync_arrive(sync, model->setup.cx, row, pc, mask);
        left &= ~lanes;
        if (is_free && !is_barrier && (sync->released[row->index] & mask) == mask) {
            sync->released[row->index] &= ~mask; /* goes on where it is */
            outcome->waiting &= ~lanes;
        }
        if (is_free)
            take_released(model, block, cycle);
    }
}

static void count_branch(struct divergence_odgs_sm *model, const struct divergence_odgs_warp *warp, uint32_t pc,
                         bool is_divergent) {
    const struct exec_insn *insn = &model->chip->program->code[pc];
    if (insn->kind != EXEC_KIND_BRANCH && insn->kind != EXEC_KIND_BRANCH_INDEXED)
        return;
    divergence_count_branch(&model->setup, pc, is_divergent);
    for (uint32_t left = is_divergent ? warp->group.mask : 0; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        divergence_count_split(&model->setup, warp->threads.row[lane], 1u << warp->threads.lane[lane]);
    }
}

static bool agree(const uint32_t next[EXEC_LANES], uint32_t lanes) {
    uint32_t first = next[__builtin_ctz(lanes)];
    for (uint32_t left = lanes; left; left &= left - 1)
        if (next[__builtin_ctz(left)] != first)
            return false;
    return true;
}

/* Lanes of a warp below the top of its stack: where they will go on. */
static void spread_stack(struct divergence_odgs_warp *warp, uint32_t top_lanes) {
    uint32_t above = top_lanes;
    for (uint32_t i = warp->stack.depth - 1; i-- > 0;) {
        const struct divergence_entry *entry = divergence_stack_at(&warp->stack, i);
        for (uint32_t left = entry->mask[0] & ~above & warp->lanes; left; left &= left - 1)
            warp->next_pc[__builtin_ctz(left)] = entry->pc;
        above |= entry->mask[0];
    }
}

/* One path for each distinct target, as the post-dominator stack has them. */
static void diverge_locally(struct divergence_odgs_warp *warp, const struct exec_insn *insn,
                            const uint32_t next[EXEC_LANES], uint32_t lanes) {
    struct divergence_stack *stack = &warp->stack;
    uint32_t reconvergence = insn->reconvergence, first = next[__builtin_ctz(lanes)], same = 0;
    for (uint32_t left = lanes; left; left &= left - 1)
        same |= (uint32_t)(next[__builtin_ctz(left)] == first) << __builtin_ctz(left);
    uint32_t rest = lanes & ~same, second = next[__builtin_ctz(rest)];
    if (agree(next, rest)) {
        divergence_stack_diverge(stack, reconvergence, first, &same, second);
    } else {
        divergence_stack_make_join(stack, reconvergence);
        for (uint32_t left = lanes; left;) {
            uint32_t target = next[__builtin_ctz(left)], part = 0;
            for (uint32_t others = left; others; others &= others - 1)
                part |= (uint32_t)(next[__builtin_ctz(others)] == target) << __builtin_ctz(others);
            if (target != reconvergence)
                divergence_stack_push_path(stack, target, reconvergence, &part);
            left &= ~part;
        }
    }
    divergence_stack_pop_finished(stack);
}

/* Whether the threads may part for good at this instruction; else the warp's own stack keeps them together. */
static bool may_leave(const struct divergence_odgs_chip *chip, const struct exec_insn *insn, uint32_t pc,
                      const uint32_t next[EXEC_LANES], uint32_t lanes) {
    if (insn->kind == EXEC_KIND_RETURN)
        return true; /* callers differ: there is no post-dominator */
    for (uint32_t left = chip->is_free ? 0 : lanes; left; left &= left - 1)
        if (!chip->may_regroup[next[__builtin_ctz(left)]])
            return false;
    return !(chip->options.short_length && is_short(chip, pc));
}

/* The running path is where it meets others. The stack's pc is only kept when it matters. */
static void end_path(struct divergence_odgs_warp *warp) {
    divergence_stack_top(&warp->stack)->pc = warp->group.pc;
    divergence_stack_pop_finished(&warp->stack);
    divergence_odgs_show_top(warp);
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct divergence_odgs_sm *model = user;
    if (is_local(model->chip, group)) {
        divergence_compact_control(&model->compact, group, pc, mask, cycle);
        return;
    }
    struct divergence_odgs_warp *warp = (struct divergence_odgs_warp *)group;
    const struct exec_insn *insn = &model->chip->program->code[pc];
    if (insn->kind == EXEC_KIND_BRANCH && (!mask || mask == group->mask)) { /* most branches: all go one way */
        divergence_count_branch(&model->setup, pc, false);
        group->pc = mask ? insn->target : pc + 1;
        if (group->pc == group->notify_pc)
            end_path(warp);
        return;
    }
    struct outcome outcome;
    outcome.ended = outcome.waiting = 0;
    if (insn->kind == EXEC_KIND_BRANCH)
        branch(insn, pc, group->mask, mask, &outcome);
    else
        execute(model, warp, pc, &outcome, cycle);
    model->setup.counters->barriers += insn->kind == EXEC_KIND_BARRIER;
    if (outcome.waiting)
        synchronize(model, warp, pc, &outcome, cycle);
    if (model->setup.cx->fault.kind)
        return;
    uint32_t gone = outcome.ended | outcome.waiting, lanes = group->mask & ~gone;
    if (gone) {
        warp->lanes &= ~gone;
        divergence_stack_top(&warp->stack)->pc = pc;
        divergence_stack_remove(&warp->stack, &gone, false);
    }
    if (!lanes) { /* the rest of the stack, if any, goes on */
        divergence_odgs_show_top(warp);
        if (group->status == DIVERGENCE_ENDED)
            divergence_odgs_queue_push(&model->ended, warp);
        return;
    }
    bool is_divergent = !agree(outcome.next, lanes);
    count_branch(model, warp, pc, is_divergent);
    struct divergence_entry *top = divergence_stack_top(&warp->stack);
    top->pc = outcome.next[__builtin_ctz(lanes)];
    if (!is_divergent) {
        divergence_stack_pop_finished(&warp->stack);
    } else if (!may_leave(model->chip, insn, pc, outcome.next, lanes)) {
        diverge_locally(warp, insn, outcome.next, lanes);
    } else {
        memcpy(warp->next_pc, outcome.next, sizeof warp->next_pc);
        spread_stack(warp, lanes);
        model->setup.counters->warp_splits++;
        group->status = DIVERGENCE_DRAINS;
        return;
    }
    divergence_odgs_show_top(warp);
}

static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    struct divergence_odgs_sm *model = user;
    if (is_local(model->chip, group)) {
        divergence_compact_reached(&model->compact, group, cycle);
        return;
    }
    model->setup.counters->reconvergences++;
    end_path((struct divergence_odgs_warp *)group);
}

/* --- the rest --- */

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)machine;
    const struct divergence_odgs_options *own = options;
    if (own && own->local == DIVERGENCE_ODGS_LOCAL_TBC)
        return divergence_compact_refuses(program, "odgs", text, size);
    return divergence_refuse_unsynced(program, "odgs", text, size);
}

typedef void visit_fn(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane);

static void visit_threads(const struct exec_threads *threads, uint32_t lanes, const struct divergence_block *block,
                          const struct divergence_group *group, visit_fn *thread, void *visitor) {
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (divergence_block_of(threads->row[lane]) == block)
            thread(visitor, group, threads->row[lane], threads->lane[lane]);
    }
}

static void visit(const void *user, const struct divergence_block *block, visit_fn *thread, void *visitor) {
    const struct divergence_odgs_sm *model = user;
    const struct divergence_odgs_chip *chip = model->chip;
    const struct divergence_odgs_block *state = block->state;
    const struct divergence_sync *sync = state->sync;
    if (state->compact)
        divergence_compact_visit(state->compact, thread, visitor);
    for (uint32_t i = 0; i < chip->n_warps; i++) {
        const struct divergence_odgs_warp *warp = chip->warp[i];
        if (warp->is_used)
            visit_threads(&warp->threads, warp->lanes, block, &warp->group, thread, visitor);
    }
    for (uint32_t pc = 0; pc < chip->pool.n_pcs; pc++) {
        const struct divergence_odgs_warp *warp = chip->pool.at[pc];
        if (warp)
            visit_threads(&warp->threads, (1u << warp->n_waiting) - 1, block, NULL, thread, visitor);
    }
    for (uint32_t i = 0; i < sync->n_rows; i++)
        for (uint32_t left = sync->waiting[i]; left; left &= left - 1)
            thread(visitor, NULL, &block->cta->row[i], (uint32_t)__builtin_ctz(left));
}

/* An oracle: the paper counts what moves, not what is stored. */
static uint64_t cost_bits(const void *options, const struct config_machine *machine, char *formula, size_t size) {
    (void)options;
    uint64_t threads = machine->threads_per_sm;
    snprintf(formula, size, "an oracle; the pool's own state is a 32-bit pc for each thread: 32 x %u",
             machine->threads_per_sm);
    return 32 * threads;
}

const struct divergence_ops divergence_odgs = {
    .name = "odgs",
    .help = "a global pool: threads with equal pc, from any SM, are put together to full warps",
    .option = option_table,
    .options_bytes = sizeof(struct divergence_odgs_options),
    .splits_rows = true,
    .refuses = refuses,
    .chip = &(const struct divergence_chip_ops){.new_chip = new_chip, .free_chip = free_chip},
    .new_model = new_model,
    .free_model = free_model,
    .begin_grid = begin_grid,
    .new_block = new_block,
    .free_block = free_block,
    .admit = admit,
    .control = control,
    .reached = reached,
    .resume = resume,
    .refill = refill,
    .visit = visit,
    .cost_bits = cost_bits,
};
