/* tbc: thread block compaction (Fung and Aamodt 2011, as compared against by Narasiman 2014, 5.2.1). One post-dominator
 * stack for the whole block (wide.h). The threads of its top entry run in warps of their own, each of which has its own
 * pc; they meet wherever the stack may change. When the last one has come, the threads of the new top are compacted,
 * lane by lane, the lowest rows first, into as few warps as possible.
 *
 * Meeting places are branches that may diverge, calls, returns, and the reconvergence pc of the entry. All warps of an
 * entry come to the same ones in the same order: branches at which they do not meet are jumps, and those that the
 * analysis calls uniform (ptx/uniformity.c: the whole block goes the same way, whenever each warp gets there; loads do
 * not count as uniform, so that no other warp can change the outcome in between).
 *
 * Where the papers are silent:
 * - A branch at which all go the same way leaves the warps as they are; only to be re-formed must they have no results
 *   under way. The others go on when the last one's branch has left the pipeline.
 * - The original arrangement, threads in the warps of their rows, is that of entries that no divergent branch has made.
 *   Inner joins get theirs back because packing the same threads gives the same warps.
 * - Threads that end leave holes; they are filled when the warps are formed anew.
 * - Warp-wide instructions act on rows: warps that share one meet there, and it acts on the row's threads in the entry.
 *   cond_acc is refused: it is a memory access of a whole row.
 * - When all warps of an entry wait, some at a barrier, the other side of the branch runs (pdom.h); threads that spin
 * on what others of the block will write let those go on after a while, as in `stack`. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/control.h"
#include "divergence/count.h"
#include "divergence/squad.h"
#include "divergence/wide.h"

struct warp {
    struct divergence_group group;
    struct divergence_squad squad; /* its pc is the group's while it runs */
};

/* What the warps of an entry of the stack were doing when it gave way to another. */
struct shelf {
    struct divergence_squad *squad;
    uint32_t n_squads;
    uint32_t meeting_pc, taken[EXEC_MAX_ROWS];
    bool is_at_join, is_used;
};

struct block {
    struct divergence_wide_stack stack;
    struct divergence_wide_watch watch;
    struct divergence_block *place;
    struct warp *warp; /* n_rows; those with threads are in slots */
    uint32_t n_rows;
    uint32_t n_warps;              /* with threads */
    uint32_t n_come;               /* of these, at the meeting place */
    uint32_t n_barred;             /* of these, at a barrier */
    uint32_t n_draining;           /* warps still to drain before new ones are formed; 0: it is not to be */
    bool is_packed;                /* the warps are not the rows */
    bool has_split_rows;           /* threads of one row are in several warps */
    bool is_at_join;               /* the meeting place is where the entry's path ends */
    uint32_t meeting_pc;           /* the instruction, or the reconvergence pc */
    uint32_t taken[EXEC_MAX_ROWS]; /* threads there whose guard is true */
    uint64_t resolved;             /* not before this cycle do the new warps run */
    struct shelf *shelf;           /* the label of an entry is 1 + its place here */
    uint32_t n_shelves;
};

struct model {
    struct divergence_setup setup;
    uint32_t branch_cycles; /* until a branch's outcome is known */
};

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    const struct config_machine *machine = setup->machine;
    model->setup = *setup;
    switch (machine->pipeline) {
    case CONFIG_PIPELINE_BARREL:
        model->branch_cycles = machine->pipeline_stages;
        break;
    case CONFIG_PIPELINE_SCOREBOARD:
        model->branch_cycles = machine->branch_cycles;
        break;
    case CONFIG_PIPELINE_SWITCH_ON_ACCESS:
        model->branch_cycles = 1;
        break;
    }
    return model;
}

static void *new_block(void *user, const struct exec_cta *cta) {
    (void)user;
    struct block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->warp = base_allocate(cta->n_rows, sizeof *block->warp);
    for (uint32_t i = 0; i < cta->n_rows; i++)
        block->warp[i].group.slot = DIVERGENCE_NO_SLOT;
    return block;
}

static void free_block(void *user, void *state) {
    (void)user;
    struct block *block = state;
    divergence_wide_free(&block->stack);
    for (uint32_t i = 0; i < block->n_shelves; i++)
        free(block->shelf[i].squad);
    free(block->shelf);
    free(block->warp);
    free(block);
}

/* The group is its squad. */
static void show(const struct block *block, struct warp *warp) {
    struct divergence_group *group = &warp->group;
    const struct divergence_squad *squad = &warp->squad;
    bool is_row = divergence_squad_piece(squad, squad->mask) == squad->mask;
    group->pc = squad->pc;
    group->meet = divergence_wide_top(&block->stack)->reconvergence;
    group->row = is_row ? divergence_squad_row(squad, block->stack.row, squad->mask) : NULL;
    group->mask = squad->mask;
    group->n_threads = (uint32_t)__builtin_popcount(squad->mask);
    group->ready_cycle = block->resolved;
    group->status = squad->at_barrier || squad->has_come ? DIVERGENCE_WAITS : DIVERGENCE_RUNS;
}

/* --- forming warps --- */

static struct shelf *free_shelf(struct block *block) {
    uint32_t i = 0;
    while (i < block->n_shelves && block->shelf[i].is_used)
        i++;
    if (i == block->n_shelves) {
        block->shelf = realloc(block->shelf, ++block->n_shelves * sizeof *block->shelf);
        if (!block->shelf)
            abort();
        block->shelf[i] = (struct shelf){.squad = base_allocate(block->n_rows, sizeof(struct divergence_squad))};
    }
    return &block->shelf[i];
}

/* Entries that a divergent branch made, and calls from them, are packed. */
static bool is_packed_entry(const struct divergence_wide_stack *stack) {
    for (uint32_t i = stack->depth; i-- > 0;) {
        if (stack->entry[i].is_path)
            return true;
        if (!stack->entry[i].is_call)
            return false;
    }
    return false;
}

/* Takes the squads of the top entry from its shelf. */
static uint32_t unshelve(struct block *block, struct divergence_squad *squad) {
    struct divergence_wide_entry *top = divergence_wide_top(&block->stack);
    struct shelf *shelf = &block->shelf[top->label - 1];
    memcpy(squad, shelf->squad, shelf->n_squads * sizeof *squad);
    memcpy(block->taken, shelf->taken, sizeof shelf->taken);
    block->meeting_pc = shelf->meeting_pc;
    block->is_at_join = shelf->is_at_join;
    if (shelf->is_at_join && shelf->meeting_pc != top->reconvergence) /* that join has been given up */
        for (uint32_t i = 0; i < shelf->n_squads; i++)
            squad[i].has_come = false;
    shelf->is_used = false;
    top->label = 0;
    return shelf->n_squads;
}

/* All warps have drained: new ones for the top entry. `self` is the one whose hook is running. */
static void form(struct model *model, struct block *block, struct warp *self, uint64_t cycle) {
    const struct divergence_host *host = model->setup.host;
    const struct divergence_wide_entry *top = divergence_wide_top(&block->stack);
    struct divergence_squad squad[EXEC_MAX_ROWS];
    memset(block->taken, 0, sizeof block->taken);
    block->is_packed = is_packed_entry(&block->stack);
    block->n_warps = top->label ? unshelve(block, squad)
                                : divergence_squad_muster(squad, top->mask, block->n_rows, top->pc, block->is_packed);
    block->has_split_rows = divergence_squad_splits_rows(squad, block->n_warps, top->mask);
    block->n_come = block->n_barred = 0;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct warp *warp = &block->warp[i];
        if (i >= block->n_warps) {
            warp->squad.mask = 0;
            warp->group.status = DIVERGENCE_ENDED;
            if (warp != self)
                host->evict(model->setup.sm, &warp->group, cycle);
            continue;
        }
        warp->squad = squad[i];
        block->n_come += squad[i].has_come;
        block->n_barred += squad[i].at_barrier != 0;
        show(block, warp);
    }
    for (uint32_t i = 0; i < block->n_warps; i++) {
        struct divergence_group *group = &block->warp[i].group;
        if (group->slot != DIVERGENCE_NO_SLOT) {
            if (&block->warp[i] != self)
                host->wake(model->setup.sm, group, cycle);
            continue;
        }
        group->warp_id = DIVERGENCE_NO_WARP;
        group->passed = self->group.passed;
        bool is_placed = host->place(model->setup.sm, group, cycle);
        assert(is_placed); /* a block has a slot for each of its rows, and there are no more warps */
        (void)is_placed;
    }
}

static void start_draining(const struct model *model, struct block *block, const struct warp *self, uint64_t cycle) {
    block->n_draining = block->n_warps;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct warp *warp = &block->warp[i];
        bool is_last_to_end = warp == self && warp->group.status != DIVERGENCE_ENDED;
        if (!warp->squad.mask && !is_last_to_end)
            continue;
        warp->group.status = DIVERGENCE_DRAINS;
        if (warp != self)
            model->setup.host->wake(model->setup.sm, &warp->group, cycle);
    }
}

/* --- meeting --- */

/* The stack has changed. Where the same threads go on in the same warps, they do so at once. */
static void follow_top(const struct model *model, struct block *block, const struct warp *self, uint64_t cycle) {
    const struct divergence_wide_entry *top = divergence_wide_top(&block->stack);
    uint32_t running[EXEC_MAX_ROWS] = {0};
    for (uint32_t i = 0; i < block->n_rows; i++)
        divergence_squad_add(&block->warp[i].squad, block->warp[i].squad.mask, running);
    block->n_come = 0;
    bool stays = !top->label && is_packed_entry(&block->stack) == block->is_packed &&
                 divergence_wide_is_equal(running, top->mask, block->n_rows);
    if (!stays) {
        start_draining(model, block, self, cycle);
        return;
    }
    memset(block->taken, 0, sizeof block->taken);
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct warp *warp = &block->warp[i];
        if (!warp->squad.mask)
            continue;
        warp->squad.pc = top->pc;
        warp->squad.has_come = false;
        show(block, warp);
        if (warp != self)
            model->setup.host->wake(model->setup.sm, &warp->group, cycle);
    }
}

/* Everybody is at the warp-wide instruction: each row executes it, and all go on behind it. */
static void execute_rows(const struct model *model, struct block *block, uint32_t pc) {
    struct exec_context *cx = model->setup.cx;
    for (uint32_t i = 0; i < block->n_rows && !cx->fault.kind; i++)
        if (block->taken[i])
            exec_row_insn(cx, &block->stack.row[i], &cx->grid->program->code[pc], block->taken[i]);
    divergence_wide_top(&block->stack)->pc = pc + 1;
    divergence_wide_pop_finished(&block->stack);
}

/* All warps have come. */
static void resolve(struct model *model, struct block *block, const struct warp *self, uint64_t cycle) {
    struct divergence_wide_stack *stack = &block->stack;
    struct divergence_wide_entry *top = divergence_wide_top(stack);
    struct divergence_counters *counters = model->setup.counters;
    uint32_t pc = block->meeting_pc, depth = stack->depth;
    const struct exec_insn *insn = &model->setup.cx->grid->program->code[pc];
    block->resolved = cycle + model->branch_cycles;
    top->is_waiting = false;
    if (block->is_at_join) {
        block->resolved = 0; /* nobody decides anything: they can go on when they have drained */
        top->pc = pc;
        divergence_wide_pop_finished(stack);
    } else if (exec_acts_on_row(insn->kind)) {
        execute_rows(model, block, pc);
    } else {
        divergence_wide_control(stack, model->setup.cx, pc, block->taken);
        if (divergence_wide_spins(&block->watch, stack, pc))
            divergence_wide_break_join(stack);
    }
    counters->reconvergences += stack->depth < depth && insn->kind != EXEC_KIND_RETURN;
    follow_top(model, block, self, cycle);
}

/* Nobody of the top entry can go on, and some wait at a barrier: the other side of the branch runs, if it can. */
static void give_way(const struct model *model, struct block *block, const struct warp *self, uint64_t cycle) {
    struct divergence_wide_entry *top = divergence_wide_top(&block->stack);
    struct shelf *shelf = free_shelf(block);
    top->is_waiting = true;
    top->label = (uint32_t)(shelf - block->shelf) + 1;
    if (!divergence_wide_yield(&block->stack)) {
        divergence_wide_top(&block->stack)->label = 0;
        return;
    }
    shelf->is_used = true;
    shelf->meeting_pc = block->meeting_pc;
    shelf->is_at_join = block->is_at_join;
    memcpy(shelf->taken, block->taken, sizeof shelf->taken);
    shelf->n_squads = 0;
    for (uint32_t i = 0; i < block->n_rows; i++)
        if (block->warp[i].squad.mask)
            shelf->squad[shelf->n_squads++] = block->warp[i].squad;
    block->resolved = 0;
    start_draining(model, block, self, cycle);
}

/* A warp has stopped or ended: does everybody stand still now? */
static void settle(struct model *model, struct block *block, const struct warp *self, uint64_t cycle) {
    if (!block->n_warps || block->n_draining || block->n_come + block->n_barred < block->n_warps)
        return;
    if (!block->n_barred)
        resolve(model, block, self, cycle);
    else
        give_way(model, block, self, cycle);
}

/* The warp has come to where all meet: the instruction at pc, with a true guard in the lanes `taken`, or the end of the
 * entry's path. */
static void come(struct block *block, struct warp *warp, uint32_t pc, uint32_t taken, bool is_at_join) {
    assert(!block->n_come || block->meeting_pc == pc); /* all warps of an entry take the same way */
    block->meeting_pc = pc;
    block->is_at_join = is_at_join;
    block->n_come++;
    divergence_squad_add(&warp->squad, taken, block->taken);
    warp->squad.has_come = true;
    warp->group.status = DIVERGENCE_WAITS;
}

static void go_to(struct block *block, struct warp *warp, uint32_t pc) {
    warp->squad.pc = warp->group.pc = pc;
    warp->group.status = DIVERGENCE_RUNS;
    if (pc == warp->group.meet)
        come(block, warp, pc, 0, true);
}

/* --- barriers --- */

static bool release_squad(const struct model *model, struct block *block, struct divergence_squad *squad,
                          uint32_t number) {
    return divergence_squad_release(squad, block->stack.row, model->setup.cx, &block->place->cta->barrier[number],
                                    number);
}

/* Squads on a shelf may run again: so may their entry. */
static void release_shelf(const struct model *model, struct block *block, struct divergence_wide_entry *entry,
                          uint32_t number) {
    struct shelf *shelf = &block->shelf[entry->label - 1];
    for (uint32_t i = 0; i < shelf->n_squads; i++)
        if (release_squad(model, block, &shelf->squad[i], number)) {
            shelf->squad[i].pc++;
            entry->is_waiting = false;
            if (shelf->squad[i].pc == entry->reconvergence) {
                shelf->squad[i].has_come = true;
                shelf->meeting_pc = entry->reconvergence;
                shelf->is_at_join = true;
            }
        }
}

static void release(struct model *model, struct block *block, const struct warp *self, uint32_t number,
                    uint64_t cycle) {
    for (uint32_t i = 0; i < block->stack.depth; i++)
        if (block->stack.entry[i].label)
            release_shelf(model, block, &block->stack.entry[i], number);
    for (uint32_t i = 0; i < block->n_rows && !block->n_draining; i++) {
        struct warp *warp = &block->warp[i];
        if (!warp->squad.mask || !release_squad(model, block, &warp->squad, number))
            continue;
        divergence_wide_top(&block->stack)->is_waiting = false;
        block->n_barred--;
        go_to(block, warp, warp->squad.pc + 1);
        if (warp != self)
            model->setup.host->wake(model->setup.sm, &warp->group, cycle);
    }
    exec_barrier_reset(&block->place->cta->barrier[number]);
}

static void reach_barrier(struct model *model, struct block *block, struct warp *warp, uint32_t pc, uint32_t mask,
                          uint64_t cycle) {
    struct exec_context *cx = model->setup.cx;
    bool waits = cx->grid->program->code[pc].reconvergence != EXEC_BARRIER_ARRIVE;
    model->setup.counters->barriers++;
    warp->squad.pc = pc;
    warp->group.status = waits ? DIVERGENCE_WAITS : DIVERGENCE_RUNS;
    for (uint32_t left = mask, piece; left && !cx->fault.kind; left &= ~piece) {
        piece = divergence_squad_piece(&warp->squad, left);
        if (waits) {
            block->n_barred += !warp->squad.at_barrier;
            warp->squad.at_barrier |= piece;
        }
        const struct exec_row *row = divergence_squad_row(&warp->squad, block->stack.row, piece);
        int complete = divergence_barrier_arrive(cx, block->place->cta, row, pc, piece);
        if (complete != DIVERGENCE_NO_BARRIER)
            release(model, block, warp, (uint32_t)complete, cycle);
    }
    if (!waits)
        go_to(block, warp, pc + 1);
}

/* --- single warps --- */

static void end_threads(struct model *model, struct block *block, struct warp *warp, uint32_t mask, uint64_t cycle) {
    struct exec_cta *cta = block->place->cta;
    uint32_t gone[EXEC_MAX_ROWS] = {0};
    divergence_squad_add(&warp->squad, mask, gone);
    for (uint32_t i = 0; i < block->n_rows; i++) {
        bool was_live = block->stack.row[i].live;
        block->stack.row[i].live &= ~gone[i];
        cta->n_live_rows -= was_live && !block->stack.row[i].live;
    }
    for (uint32_t i = 0; i < block->stack.depth; i++)
        divergence_wide_remove(block->stack.entry[i].mask, gone, block->n_rows);
    warp->squad.mask &= ~mask;
    if (warp->squad.mask) {
        uint32_t pc = warp->group.pc + 1;
        warp->squad.pc = pc;
        show(block, warp);
        go_to(block, warp, pc);
    } else if (--block->n_warps) {
        warp->group.status = DIVERGENCE_ENDED;
    }
    for (uint32_t i = 0; i < EXEC_N_BARRIERS; i++)
        if (divergence_barrier_is_complete(model->setup.cx, cta, i))
            release(model, block, warp, i, cycle);
    if (block->n_warps)
        return;
    divergence_wide_pop_finished(&block->stack);
    if (block->stack.depth) { /* other entries of the stack have threads */
        block->resolved = cycle + model->branch_cycles;
        block->n_warps = 1;
        start_draining(model, block, warp, cycle);
        return;
    }
    warp->group.status = DIVERGENCE_ENDED;
    model->setup.host->block_ended(model->setup.sm, block->place);
}

static void branch(const struct model *model, struct block *block, struct warp *warp, uint32_t pc, uint32_t mask) {
    const struct exec_insn *insn = &model->setup.cx->grid->program->code[pc];
    bool is_jump = insn->kind == EXEC_KIND_BRANCH && (!insn->guard.offset || insn->flags & EXEC_FLAG_UNIFORM);
    bool is_divergent = !is_jump && divergence_squad_diverges(&warp->squad, block->stack.row, model->setup.cx, pc);
    divergence_count_branch(&model->setup, pc, is_divergent);
    if (is_jump) {
        assert(!mask || mask == warp->squad.mask);
        go_to(block, warp, mask ? insn->target : pc + 1);
        return;
    }
    if (is_divergent) {
        uint32_t parted[EXEC_MAX_ROWS] = {0};
        divergence_squad_add(&warp->squad, warp->squad.mask, parted);
        divergence_count_wide_split(&model->setup, block->stack.row, parted, block->n_rows);
    }
    come(block, warp, pc, mask, false);
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct model *model = user;
    struct warp *warp = (struct warp *)group;
    struct block *block = group->home->state;
    struct exec_context *cx = model->setup.cx;
    switch ((enum exec_kind)cx->grid->program->code[pc].kind) {
    case EXEC_KIND_BRANCH:
    case EXEC_KIND_BRANCH_INDEXED:
        branch(model, block, warp, pc, mask);
        break;
    case EXEC_KIND_CALL:
    case EXEC_KIND_CALL_INDIRECT:
    case EXEC_KIND_RETURN:
        come(block, warp, pc, mask, false);
        break;
    case EXEC_KIND_EXIT:
        if (mask)
            end_threads(model, block, warp, mask, cycle);
        else
            go_to(block, warp, pc + 1);
        break;
    case EXEC_KIND_BARRIER:
        if (mask)
            reach_barrier(model, block, warp, pc, mask, cycle);
        else
            go_to(block, warp, pc + 1);
        break;
    case EXEC_KIND_WARP:
        if (block->has_split_rows) {
            come(block, warp, pc, mask, false);
            break;
        }
        divergence_squad_execute(&warp->squad, block->stack.row, cx, pc, mask);
        go_to(block, warp, pc + 1);
        break;
    case EXEC_KIND_CALL_BUILTIN:
        divergence_squad_execute(&warp->squad, block->stack.row, cx, pc, mask);
        go_to(block, warp, pc + 1);
        break;
    case EXEC_KIND_TRAP:
        if (mask)
            exec_fault_set(cx, EXEC_FAULT_TRAP, (unsigned)__builtin_ctz(mask), 0, 0, "%s", "");
        go_to(block, warp, pc + 1);
        break;
    default:
        go_to(block, warp, pc + 1);
        break;
    }
    if (!cx->fault.kind)
        settle(model, block, warp, cycle);
}

static void meet(void *user, struct divergence_group *group, uint64_t cycle) {
    struct block *block = group->home->state;
    struct warp *warp = (struct warp *)group;
    go_to(block, warp, group->pc);
    settle(user, block, warp, cycle);
}

static void resume(void *user, struct divergence_group *group, uint64_t cycle) {
    struct block *block = group->home->state;
    group->status = DIVERGENCE_WAITS;
    assert(block->n_draining);
    if (--block->n_draining)
        return;
    form(user, block, (struct warp *)group, cycle);
    settle(user, block, (struct warp *)group, cycle);
}

/* --- the rest --- */

static void admit(void *user, struct divergence_block *place, uint64_t cycle) {
    struct model *model = user;
    struct block *block = place->state;
    uint32_t pc = model->setup.cx->grid->program->function[0].first_pc;
    divergence_wide_start(&block->stack, place->cta->row, block->n_rows, pc);
    block->place = place;
    block->watch = (struct divergence_wide_watch){0};
    block->n_draining = 0;
    block->resolved = 0;
    for (uint32_t i = 0; i < block->n_shelves; i++)
        block->shelf[i].is_used = false;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        block->warp[i].group.home = place;
        block->warp[i].group.passed = 0;
    }
    form(model, block, &block->warp[0], cycle);
}

static void bundle(void *user, struct divergence_group *group, struct divergence_bundle *out, uint64_t cycle) {
    (void)cycle;
    const struct model *model = user;
    const struct block *block = group->home->state;
    divergence_squad_bundle(&((struct warp *)group)->squad, block->stack.row, model->setup.cx, group->pc, out);
}

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options;
    (void)machine;
    for (uint32_t pc = 0; program && pc < program->n_insns; pc++) {
        char name[80];
        if (program->code[pc].kind != EXEC_KIND_WARP_MEMORY)
            continue;
        snprintf(text, size,
                 "tbc lets the lanes of a warp run apart, and '%s' (line %u) is a memory access of a whole warp: use "
                 "another model",
                 ptx_instruction_name(program->source[pc], name, sizeof name), program->source[pc]->at.line);
        return text;
    }
    return NULL;
}

static void visit(const void *user, const struct divergence_block *place,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *visitor) {
    (void)user;
    const struct block *block = place->state;
    uint32_t kept[EXEC_MAX_ROWS] = {0}, running[EXEC_MAX_ROWS] = {0};
    for (uint32_t i = 0; i < block->stack.depth; i++)
        for (uint32_t r = 0; r < block->n_rows; r++)
            kept[r] |= block->stack.entry[i].mask[r];
    for (uint32_t i = 0; i < block->n_rows && !block->n_draining; i++) {
        const struct warp *warp = &block->warp[i];
        divergence_squad_add(&warp->squad, warp->squad.mask, running);
        for (uint32_t left = warp->squad.mask; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            thread(visitor, &warp->group, &block->stack.row[warp->squad.row[lane]], lane);
        }
    }
    for (uint32_t r = 0; r < block->n_rows; r++)
        for (uint32_t left = kept[r] & ~running[r]; left; left &= left - 1)
            thread(visitor, NULL, &block->stack.row[r], (uint32_t)__builtin_ctz(left));
}

const struct divergence_ops divergence_tbc = {
    .name = "tbc",
    .help = "one stack for a block, whose warps meet at branches and are compacted when they diverge",
    .splits_rows = true,
    .refuses = refuses,
    .new_model = new_model,
    .free_model = free,
    .new_block = new_block,
    .free_block = free_block,
    .admit = admit,
    .bundle = bundle,
    .control = control,
    .meet = meet,
    .resume = resume,
    .visit = visit,
};
