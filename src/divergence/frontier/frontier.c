/* Warps whose lanes have a pc each. See frontier.h.
 *
 * Contexts are compared at control instructions, and where a hot context reaches the pc of another (notify_pc). While
 * two contexts of a warp run, both pcs move, so they are compared after every instruction. */
#include "divergence/frontier/frontier.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/parts/count.h"
#include "divergence/parts/resolve.h"

struct context {
    uint32_t pc, mask;
    bool is_behind;
};

void divergence_frontier_init(struct divergence_frontier *frontier, const struct divergence_setup *setup) {
    frontier->setup = *setup;
    frontier->n_hot = 1;
}

void divergence_frontier_release(struct divergence_frontier *frontier) { free(frontier->diverges); }

void divergence_frontier_begin_grid(void *user) {
    struct divergence_frontier *frontier = user;
    const struct divergence_setup *setup = &frontier->setup;
    const struct exec_program *program = setup->cx->grid->program;
    uint32_t n_warps = setup->machine->sm.threads / setup->machine->sm.warp_size;
    frontier->n_spare = setup->n_slots > n_warps ? setup->n_slots - n_warps : 0;
    if (!frontier->constrains || program == frontier->program)
        return;
    free(frontier->diverges);
    frontier->diverges = base_allocate(program->n_insns, sizeof *frontier->diverges);
    frontier->program = program;
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        frontier->diverges[pc] = EXEC_NO_PC;
    for (uint32_t pc = program->n_insns; pc-- > 0;) {
        const struct exec_insn *insn = &program->code[pc];
        bool is_branch = insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_BRANCH_INDEXED;
        if (is_branch && insn->reconvergence < program->n_insns)
            frontier->diverges[insn->reconvergence] = pc;
    }
}

void *divergence_frontier_new_block(void *user, const struct exec_cta *cta) {
    (void)user;
    struct divergence_frontier_block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->warp = base_allocate(cta->n_rows, sizeof *block->warp);
    block->sync = divergence_sync_new(cta->n_rows);
    for (uint32_t i = 0; i < cta->n_rows; i++)
        for (uint32_t g = 0; g < DIVERGENCE_FRONTIER_HOT; g++)
            block->warp[i].group[g].slot = DIVERGENCE_NO_SLOT;
    return block;
}

void divergence_frontier_free_block(void *user, void *state) {
    (void)user;
    struct divergence_frontier_block *block = state;
    divergence_sync_free(block->sync);
    free(block->warp);
    free(block);
}

/* --- contexts --- */

static void set_pcs(struct divergence_frontier_warp *warp, uint32_t mask, uint32_t pc) {
    for (uint32_t left = mask; left; left &= left - 1)
        warp->pc[__builtin_ctz(left)] = pc;
}

/* Sets the pcs of all lanes to those of their groups, except for the lanes of one group (NULL: none). */
static void update_pcs(struct divergence_frontier_warp *warp, const struct divergence_group *except) {
    for (uint32_t g = 0; g < DIVERGENCE_FRONTIER_HOT; g++)
        if (warp->is_hot[g] && &warp->group[g] != except)
            set_pcs(warp, warp->group[g].mask, warp->group[g].pc);
}

static bool is_before(const struct context *a, const struct context *b) {
    return a->is_behind != b->is_behind ? b->is_behind : a->pc < b->pc;
}

/* Finds the lanes with the lowest pc, and the second lowest pc (EXEC_NO_PC: there is none). Most warps need no more. */
static struct context find_lowest(const struct divergence_frontier_warp *warp, uint32_t running, uint32_t *second) {
    struct context lowest = {.pc = EXEC_NO_PC};
    *second = EXEC_NO_PC;
    for (uint32_t left = running; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), pc = warp->pc[lane];
        if (pc < lowest.pc) {
            *second = lowest.pc;
            lowest = (struct context){.pc = pc};
        } else if (pc > lowest.pc && pc < *second) {
            *second = pc;
        }
        lowest.mask |= (uint32_t)(pc == lowest.pc) << lane;
    }
    return lowest;
}

/* Sorts the lanes that run into contexts, the primary first. Returns their number. */
static uint32_t find_contexts(struct divergence_frontier_warp *warp, uint32_t running,
                              struct context context[EXEC_LANES]) {
    uint32_t n = 0;
    warp->behind &= running;
    if (warp->behind == running)
        warp->behind = 0;
    for (uint32_t left = running; left;) {
        struct context found = {.pc = warp->pc[__builtin_ctz(left)]};
        for (uint32_t rest = left; rest; rest &= rest - 1)
            found.mask |= (uint32_t)(warp->pc[__builtin_ctz(rest)] == found.pc) << __builtin_ctz(rest);
        left &= ~found.mask;
        found.is_behind = !(found.mask & ~warp->behind);
        if (!found.is_behind)
            warp->behind &= ~found.mask; /* they have met others that have not spun */
        uint32_t at = n++;
        for (; at > 0 && is_before(&found, &context[at - 1]); at--)
            context[at] = context[at - 1];
        context[at] = found;
    }
    return n;
}

/* Returns whether a context waits for the primary: they meet at the context's pc, and the primary has not reached it
 * yet. */
static bool is_constrained(const struct divergence_frontier *frontier, const struct context *context,
                           const struct context *primary) {
    uint32_t from = frontier->constrains ? frontier->diverges[context->pc] : EXEC_NO_PC;
    return from != EXEC_NO_PC && primary->pc > from && primary->pc < context->pc;
}

/* Returns the place in context[] of the one that runs beside the primary, or 0. */
static uint32_t find_second(struct divergence_frontier *frontier, struct divergence_frontier_warp *warp,
                            const struct context *context, uint32_t n, uint64_t cycle) {
    uint32_t at = 1;
    if (frontier->n_hot < 2)
        return 0;
    while (at < n && is_constrained(frontier, &context[at], &context[0]))
        at++;
    if (at >= n)
        return 0;
    if (!warp->has_slot && frontier->n_spare) {
        struct divergence_group *group = &warp->group[1];
        *group = warp->group[0];
        group->slot = DIVERGENCE_NO_SLOT;
        group->status = DIVERGENCE_WAITS;
        warp->has_slot = frontier->setup.host->place(frontier->setup.sm, group, cycle);
        frontier->n_spare -= warp->has_slot;
    }
    return warp->has_slot ? at : 0;
}

/* Returns the pc at which a context that runs alone has to be compared with the others. */
static uint32_t next_pc(const struct context *context, uint32_t n, uint32_t pc) {
    uint32_t next = EXEC_NO_PC;
    for (uint32_t i = 0; i < n; i++)
        if (context[i].pc > pc && context[i].pc < next)
            next = context[i].pc;
    return next;
}

static bool runs(const struct divergence_frontier_warp *warp, uint32_t g, const struct context *context) {
    const struct divergence_group *group = &warp->group[g];
    return warp->is_hot[g] && group->pc == context->pc && group->mask == context->mask;
}

/* Changes a group, and tells the SM unless its hook runs. */
static void show(struct divergence_frontier *frontier, struct divergence_frontier_warp *warp, uint32_t g,
                 const struct context *context, uint32_t notify_pc, const struct divergence_group *self,
                 uint64_t cycle) {
    struct divergence_group *group = &warp->group[g];
    bool changes = context ? !runs(warp, g, context) : warp->is_hot[g];
    warp->is_hot[g] = context != NULL;
    group->status = context ? DIVERGENCE_RUNS : DIVERGENCE_WAITS;
    group->notify_pc = notify_pc;
    if (context) {
        group->pc = context->pc;
        group->mask = context->mask;
    }
    if ((changes || frontier->n_hot == 1) && group != self)
        frontier->setup.host->wake(frontier->setup.sm, group, cycle);
}

/* The warp has ended: its second group gives its slot back. */
static void end(struct divergence_frontier *frontier, struct divergence_frontier_warp *warp,
                const struct divergence_group *self, uint64_t cycle) {
    for (uint32_t g = 0; g < DIVERGENCE_FRONTIER_HOT; g++) {
        struct divergence_group *group = &warp->group[g];
        warp->is_hot[g] = false;
        group->status = DIVERGENCE_ENDED;
        if (group != self)
            frontier->setup.host->evict(frontier->setup.sm, group, cycle);
    }
    frontier->n_spare += warp->has_slot;
    warp->has_slot = false;
}

/* Chooses the hot contexts. The pcs of all lanes are up to date. `self` is the group whose hook runs, or NULL. */
static void choose(struct divergence_frontier *frontier, struct divergence_frontier_block *block,
                   struct divergence_frontier_warp *warp, const struct divergence_group *self, uint64_t cycle) {
    const struct exec_row *row = warp->group[0].row;
    struct context context[EXEC_LANES];
    if (!row->live) {
        end(frontier, warp, self, cycle);
        return;
    }
    uint32_t running = row->live & ~block->sync->waiting[row->index], next;
    struct context lowest = find_lowest(warp, running, &next);
    if (running && !warp->has_slot && (next == EXEC_NO_PC || (frontier->n_hot == 1 && !warp->behind))) {
        warp->behind = 0;
        show(frontier, warp, 0, &lowest, next, self, cycle);
        return;
    }
    uint32_t n = find_contexts(warp, running, context);
    uint32_t second = n > 1 ? find_second(frontier, warp, context, n, cycle) : 0;
    /* A context stays in its group. */
    uint32_t g =
        n && second ? runs(warp, 1, &context[0]) || runs(warp, 0, &context[second]) : n && runs(warp, 1, &context[0]);
    uint32_t notify = n ? next_pc(context, n, context[0].pc) : EXEC_NO_PC;
    show(frontier, warp, g, n ? &context[0] : NULL, second ? context[0].pc + 1 : notify, self, cycle);
    if (warp->has_slot)
        show(frontier, warp, !g, second ? &context[second] : NULL, second ? context[second].pc + 1 : EXEC_NO_PC, self,
             cycle);
}

/* Released lanes continue after the instruction that they waited at. `self` is the group whose hook runs. */
static void set_free(struct divergence_frontier *frontier, struct divergence_frontier_block *block,
                     const struct divergence_group *self, uint64_t cycle) {
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct divergence_frontier_warp *warp = &block->warp[i];
        uint32_t pc, mask = divergence_sync_take(block->sync, i, &pc);
        bool is_own = warp == divergence_frontier_warp_of(self);
        if (!mask)
            continue;
        if (!is_own)
            update_pcs(warp, NULL);
        for (; mask; mask = divergence_sync_take(block->sync, i, &pc))
            set_pcs(warp, mask, pc);
        if (!is_own)
            choose(frontier, block, warp, NULL, cycle);
    }
}

/* --- hooks --- */

void divergence_frontier_admit(void *user, struct divergence_block *place, uint64_t cycle) {
    struct divergence_frontier *frontier = user;
    struct divergence_frontier_block *block = place->state;
    uint32_t first_pc = frontier->setup.cx->grid->program->function[0].first_pc;
    divergence_sync_start(block->sync);
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct divergence_frontier_warp *warp = &block->warp[i];
        struct divergence_group *group = &warp->group[0];
        *group = (struct divergence_group){.pc = first_pc,
                                           .notify_pc = EXEC_NO_PC,
                                           .row = &place->cta->row[i],
                                           .mask = place->cta->row[i].threads,
                                           .home = place,
                                           .warp_id = DIVERGENCE_NO_WARP,
                                           .slot = DIVERGENCE_NO_SLOT,
                                           .status = DIVERGENCE_RUNS};
        warp->is_hot[0] = true;
        warp->is_hot[1] = warp->has_slot = false;
        warp->behind = 0;
        for (uint32_t g = 0; g < DIVERGENCE_FRONTIER_HOT; g++)
            warp->watch[g] = (struct divergence_watch){.n_diverged = 0};
        set_pcs(warp, group->mask, first_pc);
        frontier->setup.host->place(frontier->setup.sm, group, cycle);
    }
}

/* A warp-wide instruction that names no lanes acts on those that are here. */
static bool acts_at_once(const struct exec_program *program, uint32_t pc) {
    return exec_acts_on_row(program->code[pc].kind) &&
           !(program->source[pc] && ptx_has(program->source[pc], PTX_MOD_SYNC));
}

void divergence_frontier_control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask,
                                 uint64_t cycle) {
    struct divergence_frontier *frontier = user;
    struct divergence_frontier_block *block = group->home->state;
    struct divergence_frontier_warp *warp = divergence_frontier_warp_of(group);
    struct exec_context *cx = frontier->setup.cx;
    struct exec_row *row = group->row;
    uint32_t lanes = group->mask;
    update_pcs(warp, group); /* whose lanes get their next pcs here */
    struct divergence_outcome outcome = divergence_resolve_lanes(cx, pc, row, lanes, mask, warp->pc);
    if (outcome.effect == DIVERGENCE_BRANCHES)
        divergence_count_branch(&frontier->setup, pc, outcome.is_divergent);
    if (outcome.is_divergent)
        divergence_count_split(&frontier->setup, row, lanes);
    bool has_released = false;
    if (outcome.effect == DIVERGENCE_MEETS_ROW && acts_at_once(cx->grid->program, pc)) {
        exec_row_insn(cx, row, &cx->grid->program->code[pc], mask);
    } else if (divergence_has_to_wait(&outcome)) {
        frontier->setup.counters->barriers += outcome.effect == DIVERGENCE_MEETS_BLOCK;
        has_released = divergence_sync_arrive(block->sync, cx, row, pc, mask);
    }
    if (divergence_has_ended(&outcome))
        has_released = divergence_sync_after_exit(block->sync, cx, group->home->cta);
    struct divergence_watch *watch = &warp->watch[group - warp->group];
    if (frontier->turns && divergence_spins(watch, lanes != row->live, false, pc))
        warp->behind |= lanes & row->live;
    if (has_released)
        set_free(frontier, block, group, cycle);
    warp->is_hot[group - warp->group] = false;
    choose(frontier, block, warp, group, cycle);
    if (divergence_has_ended(&outcome) && !group->home->cta->n_live_rows)
        frontier->setup.host->block_ended(frontier->setup.sm, group->home);
}

void divergence_frontier_reached(void *user, struct divergence_group *group, uint64_t cycle) {
    struct divergence_frontier *frontier = user;
    struct divergence_frontier_block *block = group->home->state;
    struct divergence_frontier_warp *warp = divergence_frontier_warp_of(group);
    uint32_t others = group->row->live & ~block->sync->waiting[group->row->index] & ~group->mask;
    update_pcs(warp, NULL);
    for (uint32_t left = others; left; left &= left - 1)
        if (warp->pc[__builtin_ctz(left)] == group->pc) {
            frontier->setup.counters->reconvergences++;
            break;
        }
    choose(frontier, block, warp, group, cycle);
}

void divergence_frontier_visit(const void *user, const struct divergence_block *place,
                               void (*thread)(void *user, const struct divergence_group *group,
                                              const struct exec_row *row, uint32_t lane),
                               void *visitor) {
    (void)user;
    const struct divergence_frontier_block *block = place->state;
    for (uint32_t i = 0; i < block->n_rows; i++)
        for (uint32_t left = place->cta->row[i].live; left; left &= left - 1) {
            const struct divergence_frontier_warp *warp = &block->warp[i];
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            bool is_second = warp->is_hot[1] && warp->group[1].mask >> lane & 1;
            thread(visitor, &warp->group[is_second], &place->cta->row[i], lane);
        }
}

const char *divergence_frontier_refuses(const struct exec_program *program, const char *model, char *text,
                                        size_t size) {
    for (uint32_t pc = 0; program && pc < program->n_insns; pc++)
        if (exec_is_row_access(&program->code[pc])) {
            char name[80];
            snprintf(text, size,
                     "%s lets the lanes of a warp run apart, and '%s' (line %u) accesses memory for all of them at "
                     "once: use another model",
                     model, ptx_instruction_name(program->source[pc], name, sizeof name), program->source[pc]->at.line);
            return text;
        }
    return NULL;
}
