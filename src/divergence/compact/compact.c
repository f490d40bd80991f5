/* Thread block compaction. See compact.h.
 *
 * A block has one post-dominator stack. The threads of its top entry run in warps, each with its own pc, and the warps
 * meet wherever the stack may change. When the last one has arrived, the threads of the new top entry are compacted,
 * lane by lane, the lowest rows first, into as few warps as possible.
 *
 * Warps meet at branches that may diverge, calls, returns, and the reconvergence pc of the entry. All warps of an entry
 * reach the same meeting places in the same order. They do not meet at jumps, nor at branches that the analysis calls
 * uniform (ptx/analysis/uniformity.c): there the whole block goes the same way, no matter when each warp arrives. Loads
 * do not count as uniform, so no other warp can change the outcome in between. With meets_if_uniform warps meet at
 * uniform branches too: in Narasiman 2014, 5.2, the warps of a block synchronise "at every branch instruction".
 *
 * Threads that leave the block for the pool (odgs) are removed from its stack like those that end. They leave only when
 * no thread of the block can still reach a barrier or a warp-wide instruction, so no thread ever waits for them.
 * After the first departure there is no original arrangement to restore, and the block keeps only as many slots as its
 * threads fill.
 *
 * Where the papers are silent:
 * - A branch at which all threads go the same way leaves the warps as they are. Warps drain only to be re-formed. All
 *   continue when the branch of the last warp has left the pipeline.
 * - In the original arrangement threads are in the warps of their rows. Entries that were not made by a divergent
 *   branch have this arrangement. Inner joins restore their arrangement, because packing the same threads results in
 *   the same warps.
 * - Threads that end leave holes, which are filled when new warps are formed.
 * - Warp-wide instructions act on rows. Warps that contain threads of one row meet there, and the instruction acts on
 *   the row's threads in the entry. cond_acc is refused, because it is a memory access of a whole row.
 * - When all warps of an entry wait, some at a barrier, the other side of the branch runs (pdom.h). Threads may spin on
 *   a value that others of the block will write. After a while they let the others continue, as in `stack`. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/compact/internal.h"
#include "divergence/parts/barrier.h"
#include "divergence/parts/control.h"
#include "divergence/parts/count.h"

void divergence_compact_start(struct divergence_compact *compact, const struct divergence_setup *setup) {
    const struct config_machine *machine = setup->machine;
    *compact = (struct divergence_compact){.setup = *setup};
    switch (machine->sm.pipeline) {
    case CONFIG_PIPELINE_BARREL:
        compact->branch_cycles = machine->sm.stages;
        break;
    case CONFIG_PIPELINE_SCOREBOARD:
        compact->branch_cycles = machine->sm.branch_cycles;
        break;
    case CONFIG_PIPELINE_SWITCH_ON_ACCESS:
        compact->branch_cycles = 1;
        break;
    }
}

struct divergence_compact_block *divergence_compact_new_block(const struct exec_cta *cta) {
    struct divergence_compact_block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->warp = base_allocate(cta->n_rows, sizeof *block->warp);
    for (uint32_t i = 0; i < cta->n_rows; i++) {
        block->warp[i].group.slot = DIVERGENCE_NO_SLOT;
        block->warp[i].group.kind = DIVERGENCE_COMPACT_GROUP;
        block->warp[i].block = block;
    }
    return block;
}

void divergence_compact_free_block(struct divergence_compact_block *block) {
    divergence_stack_free(&block->stack);
    for (uint32_t i = 0; i < block->n_saved; i++)
        free(block->saved[i].compacted);
    free(block->saved);
    free(block->warp);
    free(block);
}

/* --- meeting --- */

/* The stack has changed. If the same threads continue in the same warps, they do so at once. */
static void follow_top(const struct divergence_compact *compact, struct divergence_compact_block *block,
                       const struct divergence_compact_warp *self, uint64_t cycle) {
    const struct divergence_entry *top = divergence_stack_top(&block->stack);
    uint32_t running[EXEC_MAX_ROWS] = {0};
    for (uint32_t i = 0; i < block->n_rows; i++)
        divergence_compacted_add(&block->warp[i].compacted, block->warp[i].compacted.mask, running);
    block->n_come = 0;
    bool stays = !top->label && divergence_compact_is_packed(block) == block->is_packed &&
                 divergence_masks_are_equal(running, top->mask, block->n_rows);
    if (!stays) {
        divergence_compact_drain(compact, block, self, cycle);
        return;
    }
    memset(block->taken, 0, sizeof block->taken);
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct divergence_compact_warp *warp = &block->warp[i];
        if (!warp->compacted.mask)
            continue;
        warp->compacted.pc = top->pc;
        warp->compacted.has_come = false;
        divergence_compact_show(block, warp);
        if (warp != self)
            compact->setup.host->wake(compact->setup.sm, &warp->group, cycle);
    }
}

/* All threads are at the warp-wide instruction: each row executes it (bar.warp.sync does nothing but wait), and all
 * continue after it. */
static void execute_rows(const struct divergence_compact *compact, struct divergence_compact_block *block,
                         uint32_t pc) {
    struct exec_context *cx = compact->setup.cx;
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    for (uint32_t i = 0; i < block->n_rows && !cx->fault.kind; i++) {
        if (block->taken[i] && exec_acts_on_row(insn->kind))
            exec_row_insn(cx, &block->stack.row[i], insn, block->taken[i]);
        divergence_pass_row_sync(&block->stack.row[i], insn, block->taken[i]);
    }
    divergence_stack_top(&block->stack)->pc = pc + 1;
    divergence_stack_pop_finished(&block->stack);
}

/* All warps have come. */
static void resolve(const struct divergence_compact *compact, struct divergence_compact_block *block,
                    const struct divergence_compact_warp *self, uint64_t cycle) {
    struct divergence_stack *stack = &block->stack;
    struct divergence_entry *top = divergence_stack_top(stack);
    struct stats_divergence *counters = compact->setup.counters;
    uint32_t pc = block->sync_pc, depth = stack->depth;
    const struct exec_insn *insn = &compact->setup.cx->grid->program->code[pc];
    block->resolved = cycle + compact->branch_cycles;
    top->is_waiting = false;
    if (block->is_at_join) {
        block->resolved = 0; /* no branch to wait for: they continue when they have drained */
        top->pc = pc;
        divergence_stack_pop_finished(stack);
    } else if (divergence_is_row_sync(insn)) {
        execute_rows(compact, block, pc);
    } else {
        divergence_control(stack, compact->setup.cx, pc, block->taken);
        if (divergence_stack_spins(&block->watch, stack, pc))
            divergence_stack_break_join(stack);
    }
    counters->reconvergences += stack->depth < depth && insn->kind != EXEC_KIND_RETURN;
    follow_top(compact, block, self, cycle);
}

/* No warp of the top entry can continue, and some wait at a barrier: the other side of the branch runs, if it can. */
static void give_way(const struct divergence_compact *compact, struct divergence_compact_block *block,
                     const struct divergence_compact_warp *self, uint64_t cycle) {
    struct divergence_entry *top = divergence_stack_top(&block->stack);
    struct divergence_compact_saved *saved = divergence_compact_new_saved(block);
    top->is_waiting = true;
    top->label = (uint32_t)(saved - block->saved) + 1;
    if (!divergence_stack_yield(&block->stack)) {
        divergence_stack_top(&block->stack)->label = 0;
        return;
    }
    saved->is_used = true;
    saved->sync_pc = block->sync_pc;
    saved->is_at_join = block->is_at_join;
    memcpy(saved->taken, block->taken, sizeof saved->taken);
    saved->n_compacted = 0;
    for (uint32_t i = 0; i < block->n_rows; i++)
        if (block->warp[i].compacted.mask)
            saved->compacted[saved->n_compacted++] = block->warp[i].compacted;
    block->resolved = 0;
    divergence_compact_drain(compact, block, self, cycle);
}

/* A warp has stopped or ended: checks whether all warps of the block wait now. */
static void settle(const struct divergence_compact *compact, struct divergence_compact_block *block,
                   const struct divergence_compact_warp *self, uint64_t cycle) {
    if (!block->n_warps || block->n_draining || block->n_come + block->n_barred < block->n_warps)
        return;
    if (!block->n_barred)
        resolve(compact, block, self, cycle);
    else
        give_way(compact, block, self, cycle);
}

/* The warp has reached the place where all meet: the instruction at pc, with a true guard in the lanes `taken`, or the
 * end of the entry's path. */
static void come(struct divergence_compact_block *block, struct divergence_compact_warp *warp, uint32_t pc,
                 uint32_t taken, bool is_at_join) {
    assert(!block->n_come || block->sync_pc == pc); /* all warps of an entry go the same way */
    block->sync_pc = pc;
    block->is_at_join = is_at_join;
    block->n_come++;
    divergence_compacted_add(&warp->compacted, taken, block->taken);
    warp->compacted.has_come = true;
    warp->group.status = DIVERGENCE_WAITS;
}

static void go_to(struct divergence_compact_block *block, struct divergence_compact_warp *warp, uint32_t pc) {
    warp->compacted.pc = warp->group.pc = pc;
    warp->group.status = DIVERGENCE_RUNS;
    if (pc == warp->group.notify_pc)
        come(block, warp, pc, 0, true);
}

/* --- barriers --- */

static bool release_warp(const struct divergence_compact *compact, struct divergence_compact_block *block,
                         struct divergence_compacted *compacted, uint32_t number) {
    return divergence_compacted_release(compacted, compact->setup.cx, &block->place->cta->barrier[number], number);
}

/* A barrier releases compacted warps of an entry that gave way: the entry may run again. */
static void release_saved(const struct divergence_compact *compact, struct divergence_compact_block *block,
                          struct divergence_entry *entry, uint32_t number) {
    struct divergence_compact_saved *saved = &block->saved[entry->label - 1];
    for (uint32_t i = 0; i < saved->n_compacted; i++)
        if (release_warp(compact, block, &saved->compacted[i], number)) {
            saved->compacted[i].pc++;
            entry->is_waiting = false;
            if (saved->compacted[i].pc == entry->reconvergence) {
                saved->compacted[i].has_come = true;
                saved->sync_pc = entry->reconvergence;
                saved->is_at_join = true;
            }
        }
}

static void release(struct divergence_compact *compact, struct divergence_compact_block *block,
                    const struct divergence_compact_warp *self, uint32_t number, uint64_t cycle) {
    for (uint32_t i = 0; i < block->stack.depth; i++)
        if (divergence_stack_at(&block->stack, i)->label)
            release_saved(compact, block, divergence_stack_at(&block->stack, i), number);
    for (uint32_t i = 0; i < block->n_rows && !block->n_draining; i++) {
        struct divergence_compact_warp *warp = &block->warp[i];
        if (!warp->compacted.mask || !release_warp(compact, block, &warp->compacted, number))
            continue;
        divergence_stack_top(&block->stack)->is_waiting = false;
        block->n_barred--;
        go_to(block, warp, warp->compacted.pc + 1);
        if (warp != self)
            compact->setup.host->wake(compact->setup.sm, &warp->group, cycle);
    }
    exec_cta_reset_barrier(block->place->cta, number);
}

static void reach_barrier(struct divergence_compact *compact, struct divergence_compact_block *block,
                          struct divergence_compact_warp *warp, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct exec_context *cx = compact->setup.cx;
    const struct exec_threads *threads = &warp->compacted.threads;
    uint32_t home, first = divergence_same_row(threads, mask, &home);
    bool waits = divergence_barrier_waits(cx, block->place->cta, threads->row[__builtin_ctz(first)], pc, home);
    compact->setup.counters->barriers++;
    warp->compacted.pc = pc;
    warp->group.status = waits ? DIVERGENCE_WAITS : DIVERGENCE_RUNS;
    for (uint32_t left = mask, same; left && !cx->fault.kind; left &= ~same) {
        same = divergence_same_row(threads, left, &home);
        if (waits) {
            block->n_barred += !warp->compacted.at_barrier;
            warp->compacted.at_barrier |= same;
        }
        struct exec_row *row = threads->row[__builtin_ctz(same)];
        int complete = divergence_barrier_arrive(cx, block->place->cta, row, pc, home);
        if (complete != DIVERGENCE_NO_BARRIER)
            release(compact, block, warp, (uint32_t)complete, cycle);
    }
    if (!waits)
        go_to(block, warp, pc + 1);
}

/* --- single warps --- */

static void end_threads(struct divergence_compact *compact, struct divergence_compact_block *block,
                        struct divergence_compact_warp *warp, uint32_t mask, uint64_t cycle) {
    struct exec_cta *cta = block->place->cta;
    uint32_t gone[EXEC_MAX_ROWS] = {0};
    divergence_compacted_add(&warp->compacted, mask, gone);
    for (uint32_t i = 0; i < block->stack.depth; i++)
        divergence_masks_remove(divergence_stack_at(&block->stack, i)->mask, gone, block->n_rows);
    warp->compacted.mask &= ~mask;
    if (warp->compacted.mask) {
        uint32_t pc = warp->group.pc + 1;
        warp->compacted.pc = pc;
        divergence_compact_show(block, warp);
        go_to(block, warp, pc);
    } else if (--block->n_warps) {
        warp->group.status = DIVERGENCE_ENDED;
    }
    for (uint64_t open = cta->open_barriers; open; open &= open - 1)
        if (divergence_barrier_is_complete(compact->setup.cx, cta, (uint32_t)__builtin_ctzll(open)))
            release(compact, block, warp, (uint32_t)__builtin_ctzll(open), cycle);
    if (block->n_warps)
        return;
    divergence_stack_pop_finished(&block->stack);
    if (block->stack.depth) { /* other entries of the stack have threads */
        block->resolved = cycle + compact->branch_cycles;
        block->n_warps = 1;
        divergence_compact_drain(compact, block, warp, cycle);
        return;
    }
    warp->group.status = DIVERGENCE_ENDED;
    if (!cta->n_live_rows) /* no thread has left, or those have ended too */
        compact->setup.host->block_ended(compact->setup.sm, block->place);
}

static void exit_threads(struct divergence_compact *compact, struct divergence_compact_block *block,
                         struct divergence_compact_warp *warp, uint32_t mask, uint64_t cycle) {
    end_threads(compact, block, warp, mask, cycle);
    divergence_compact_keep_slots(compact, block);
}

static void branch(const struct divergence_compact *compact, struct divergence_compact_block *block,
                   struct divergence_compact_warp *warp, uint32_t pc, uint32_t mask) {
    const struct exec_insn *insn = &compact->setup.cx->grid->program->code[pc];
    struct divergence_compacted *compacted = &warp->compacted;
    uint32_t next[EXEC_LANES];
    struct divergence_outcome outcome =
        insn->kind == EXEC_KIND_BRANCH /* next[] is not needed */
            ? divergence_resolve_branch(insn, pc, 1, &compacted->mask, &mask)
            : divergence_resolve_threads(compact->setup.cx, pc, &compacted->threads, compacted->mask, mask, next);
    bool is_free = insn->flags & EXEC_FLAG_UNIFORM && !compact->meets_if_uniform;
    bool is_jump = insn->kind == EXEC_KIND_BRANCH && (!insn->guard.offset || is_free);
    divergence_count_branch(&compact->setup, pc, outcome.is_divergent);
    if (is_jump) {
        assert(!outcome.is_divergent);
        go_to(block, warp, outcome.target);
        return;
    }
    if (outcome.is_divergent) {
        uint32_t parted[EXEC_MAX_ROWS] = {0};
        divergence_compacted_add(compacted, compacted->mask, parted);
        divergence_count_wide_split(&compact->setup, block->stack.row, parted, block->n_rows);
    }
    come(block, warp, pc, mask, false);
}

/* A warp-wide instruction: the threads of a row execute it together. */
static void act_on_rows(const struct divergence_compact *compact, struct divergence_compact_block *block,
                        struct divergence_compact_warp *warp, uint32_t pc, uint32_t mask) {
    if (block->has_split_rows) {
        come(block, warp, pc, mask, false);
        return;
    }
    divergence_compacted_execute(&warp->compacted, compact->setup.cx, pc, mask);
    go_to(block, warp, pc + 1);
}

/* An instruction that the warps of an entry need not meet at. */
static void execute_alone(struct divergence_compact *compact, struct divergence_compact_block *block,
                          struct divergence_compact_warp *warp, uint32_t pc, uint32_t mask, uint64_t cycle) {
    uint32_t next[EXEC_LANES];
    struct divergence_outcome outcome =
        divergence_resolve_threads(compact->setup.cx, pc, &warp->compacted.threads, warp->compacted.mask, mask, next);
    if (divergence_has_ended(&outcome))
        exit_threads(compact, block, warp, mask, cycle);
    else if (outcome.effect == DIVERGENCE_MEETS_BLOCK)
        reach_barrier(compact, block, warp, pc, mask, cycle);
    else
        go_to(block, warp, pc + 1);
    const struct exec_threads *threads = &warp->compacted.threads;
    for (uint32_t left = outcome.effect == DIVERGENCE_MEETS_ROW ? mask : 0, home; left;) {
        struct exec_row *row = threads->row[__builtin_ctz(left)];
        left &= ~divergence_same_row(threads, left, &home);
        divergence_pass_row_sync(row, &compact->setup.cx->grid->program->code[pc], home);
    }
}

void divergence_compact_control(struct divergence_compact *compact, struct divergence_group *group, uint32_t pc,
                                uint32_t mask, uint64_t cycle) {
    struct divergence_compact_warp *warp = (struct divergence_compact_warp *)group;
    struct divergence_compact_block *block = warp->block;
    struct exec_context *cx = compact->setup.cx;
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    switch ((enum exec_kind)insn->kind) {
    case EXEC_KIND_BRANCH:
    case EXEC_KIND_BRANCH_INDEXED:
        branch(compact, block, warp, pc, mask);
        break;
    case EXEC_KIND_CALL:
    case EXEC_KIND_CALL_INDIRECT:
    case EXEC_KIND_RETURN:
        come(block, warp, pc, mask, false);
        break;
    case EXEC_KIND_WARP:
    case EXEC_KIND_WARP_MEMORY:
        act_on_rows(compact, block, warp, pc, mask);
        break;
    default:
        if (block->has_split_rows && divergence_is_row_sync(insn))
            come(block, warp, pc, mask, false);
        else
            execute_alone(compact, block, warp, pc, mask, cycle);
        break;
    }
    if (!cx->fault.kind)
        settle(compact, block, warp, cycle);
}

void divergence_compact_reached(struct divergence_compact *compact, struct divergence_group *group, uint64_t cycle) {
    struct divergence_compact_warp *warp = (struct divergence_compact_warp *)group;
    go_to(warp->block, warp, group->pc);
    settle(compact, warp->block, warp, cycle);
}

void divergence_compact_resume(struct divergence_compact *compact, struct divergence_group *group, uint64_t cycle) {
    struct divergence_compact_warp *warp = (struct divergence_compact_warp *)group;
    struct divergence_compact_block *block = warp->block;
    group->status = DIVERGENCE_WAITS;
    assert(block->n_draining);
    if (--block->n_draining)
        return;
    divergence_compact_form(compact, block, warp, cycle);
    settle(compact, block, warp, cycle);
}

/* --- the rest --- */

void divergence_compact_admit(struct divergence_compact *compact, struct divergence_compact_block *block,
                              struct divergence_block *place, const uint32_t *threads, uint64_t cycle) {
    uint32_t pc = compact->setup.cx->grid->program->function[0].first_pc;
    divergence_stack_start(&block->stack, place->cta->row, block->n_rows, pc);
    memcpy(divergence_stack_top(&block->stack)->mask, threads, block->n_rows * sizeof *threads);
    divergence_stack_pop_finished(&block->stack);
    block->place = place;
    block->watch = (struct divergence_watch){0};
    block->n_draining = 0;
    block->resolved = 0;
    block->has_left = false;
    block->n_kept = 0;
    block->n_local_rows = 0;
    for (uint32_t i = 0; i < block->n_saved; i++)
        block->saved[i].is_used = false;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        block->n_local_rows += threads[i] != 0;
        block->warp[i].group.home = place;
        block->warp[i].group.passed = 0;
    }
    divergence_compact_form(compact, block, &block->warp[0], cycle);
}

const char *divergence_compact_refuses(const struct exec_program *program, const char *model, char *text, size_t size) {
    for (uint32_t pc = 0; program && pc < program->n_insns; pc++) {
        char name[80];
        if (!exec_is_row_access(&program->code[pc]))
            continue;
        snprintf(text, size,
                 "%s lets the lanes of a warp run apart, and '%s' (line %u) is a memory access of a whole warp: use "
                 "another model",
                 model, ptx_instruction_name(program->source[pc], name, sizeof name), program->source[pc]->at.line);
        return text;
    }
    return NULL;
}

void divergence_compact_visit(const struct divergence_compact_block *block,
                              void (*thread)(void *user, const struct divergence_group *group,
                                             const struct exec_row *row, uint32_t lane),
                              void *user) {
    uint32_t kept[EXEC_MAX_ROWS] = {0}, running[EXEC_MAX_ROWS] = {0};
    for (uint32_t i = 0; i < block->stack.depth; i++)
        for (uint32_t r = 0; r < block->n_rows; r++)
            kept[r] |= divergence_stack_at(&block->stack, i)->mask[r];
    for (uint32_t i = 0; i < block->n_rows && !block->n_draining; i++) {
        const struct divergence_compact_warp *warp = &block->warp[i];
        divergence_compacted_add(&warp->compacted, warp->compacted.mask, running);
        for (uint32_t left = warp->compacted.mask; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            thread(user, &warp->group, &block->stack.row[warp->compacted.row[lane]],
                   warp->compacted.threads.lane[lane]);
        }
    }
    for (uint32_t r = 0; r < block->n_rows; r++)
        for (uint32_t left = kept[r] & ~running[r]; left; left &= left - 1)
            thread(user, NULL, &block->stack.row[r], (uint32_t)__builtin_ctz(left));
}
