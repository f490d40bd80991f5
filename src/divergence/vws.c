/* vws: variable warp sizing. The threads of a row are several small warps, of 4 threads by default, each with a
 * post-dominator stack of its own. They execute ganged together, as one warp with one fetch, while they are at one pc.
 * A gang splits where its small warps diverge. Each small warp executes in a slice of the lanes, its own, and slices
 * that one gang leaves free take instructions of others in the same cycle.
 *
 * Source: Rogers, Johnson, O'Connor and Keckler, "A Variable Warp Size Architecture", ISCA 2015. Only the abstract and
 * notes of readers could be read: a small base warp size under control and memory divergence, warps ganged in the
 * scheduler otherwise, slices with a front end each, a unit that forms gangs. The names of the variants, inelastic
 * (regang=off) and elastic (regang=on), are the paper's, their details ours:
 * - A gang splits by pc: small warps that go on at the same pc stay together (divide=pc), or each is on its own then
 *   (divide=all).
 * - misses=on: where some small warps have the data of a load and others do not, the gang splits too.
 * - regang=on: gangs of a row that come to the same pc, and do not wait for data, are one again, in any cycle.
 * - The group that the scheduler picks is joined by the ready groups of this scheduler whose slices are free, the
 * lowest slot first. One of them accesses memory at most. Each slice has its lanes of every unit.
 * - A gang without a slot queues for one. One that waits for other threads gives its slot up if another queues. One
 * that spins goes to the end of the queue.
 * - Results are tracked for each lane (sm/boards.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/parts/control.h"
#include "divergence/parts/count.h"
#include "divergence/parts/joint.h"
#include "divergence/parts/sync.h"

enum { OFF, ON };
enum { DIVIDE_PC, DIVIDE_ALL };
enum { MOST_SLICES = EXEC_LANES, MOST_BLOCKS = CONFIG_MAX_WARPS };

struct options {
    uint32_t slice, regang, divide, misses;
};

static const struct config_plugin_option option_table[] = {
    {"slice", CONFIG_PLUGIN_UINT, offsetof(struct options, slice), 4, 1, 32, NULL, "threads of a small warp"},
    {"regang", CONFIG_PLUGIN_CHOICE, offsetof(struct options, regang), ON, 0, 0, "off|on",
     "gangs that have split stay apart, or are one again where their pcs meet"},
    {"divide", CONFIG_PLUGIN_CHOICE, offsetof(struct options, divide), DIVIDE_PC, 0, 0, "pc|all",
     "a gang that splits does so by pc, or into its small warps"},
    {"misses", CONFIG_PLUGIN_CHOICE, offsetof(struct options, misses), ON, 0, 0, "off|on",
     "small warps that have the data of a load leave the others behind"},
    {0},
};

static const struct config_preset presets[] = {
    {"inelastic", "regang=off", "gangs that have split stay apart (I-VWS)"},
    {"elastic", "regang=on", "they gang again (E-VWS), and the default"},
    {0},
};

struct gang {
    struct divergence_group group; /* first */
    uint32_t slices;               /* its small warps, a bit for each; 0: not in use */
    bool is_queued;                /* for a slot */
    struct divergence_watch watch;
};

struct slice {
    struct divergence_stack stack;
    struct divergence_watch watch;
};

/* A row: its small warps, and the gangs that they are in. */
struct row {
    struct slice *slice;
    struct gang *gang; /* as many as slices */
};

struct block {
    struct row *row;
    struct divergence_sync *sync;
    uint32_t n_rows;
    bool is_live;
};

struct model {
    struct divergence_setup setup;
    struct options options;
    uint32_t n_slices; /* of a row */
    struct block *block[MOST_BLOCKS];
    uint32_t n_blocks;
    struct gang **queue; /* those without a slot that can run, the first one first */
    uint32_t queue_length, queue_capacity;
    struct divergence_joint issue; /* the gangs of this cycle, so far */
};

static const char *refuses(const void *given, const struct config_machine *machine, const struct exec_program *program,
                           char *text, size_t size) {
    const struct options *options = given;
    if (options->slice >= machine->sm.warp_size && options->slice > 1) {
        snprintf(text, size, "vws: with slice=%u a warp of %u threads is one small warp: that is the model stack",
                 options->slice, machine->sm.warp_size);
        return text;
    }
    return divergence_refuse_unsynced(program, "vws", text, size);
}

static uint32_t slices_of(const struct options *options, const struct config_machine *machine) {
    return (machine->sm.warp_size + options->slice - 1) / options->slice;
}

static uint32_t n_slots(const void *given, const struct config_machine *machine, uint32_t n_warps,
                        uint32_t most_slots) {
    uint32_t n = n_warps * slices_of(given, machine);
    return n < most_slots ? n : most_slots;
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    model->setup = *setup;
    model->options = *(const struct options *)setup->options;
    model->n_slices = slices_of(&model->options, setup->machine);
    return model;
}

static void free_model(void *user) {
    free(((struct model *)user)->queue);
    free(user);
}

static void begin_grid(void *user) { ((struct model *)user)->queue_length = 0; }

static void *new_block(void *user, const struct exec_cta *cta) {
    struct model *model = user;
    struct block *block = base_allocate(1, sizeof *block);
    block->n_rows = cta->n_rows;
    block->row = base_allocate(cta->n_rows, sizeof *block->row);
    block->sync = divergence_sync_new(cta->n_rows);
    for (uint32_t i = 0; i < cta->n_rows; i++) {
        block->row[i].slice = base_allocate(model->n_slices, sizeof(struct slice));
        block->row[i].gang = base_allocate(model->n_slices, sizeof(struct gang));
        for (uint32_t g = 0; g < model->n_slices; g++)
            block->row[i].gang[g].group.slot = DIVERGENCE_NO_SLOT;
    }
    model->block[model->n_blocks++] = block;
    return block;
}

static void free_block(void *user, void *state) {
    struct model *model = user;
    struct block *block = state;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        for (uint32_t s = 0; s < model->n_slices; s++)
            divergence_stack_free(&block->row[i].slice[s].stack);
        free(block->row[i].slice);
        free(block->row[i].gang);
    }
    for (uint32_t b = 0; b < model->n_blocks; b++)
        if (model->block[b] == block)
            model->block[b] = model->block[--model->n_blocks];
    divergence_sync_free(block->sync);
    free(block->row);
    free(block);
}

static struct row *row_of(const struct divergence_group *group) {
    return &((struct block *)group->home->state)->row[group->row->index];
}

static uint32_t lanes_of(const struct model *model, uint32_t slices) {
    uint32_t width = model->options.slice, one = width == 32 ? ~0u : (1u << width) - 1, lanes = 0;
    for (; slices; slices &= slices - 1)
        lanes |= one << ((uint32_t)__builtin_ctz(slices) * width);
    return lanes;
}

/* --- slots --- */

static void enqueue(struct model *model, struct gang *gang) {
    if (model->queue_length == model->queue_capacity) {
        model->queue_capacity = model->queue_capacity ? 2 * model->queue_capacity : 64;
        model->queue = base_grow(model->queue, model->queue_capacity, sizeof(struct gang *));
    }
    gang->is_queued = true;
    model->queue[model->queue_length++] = gang;
}

static void dequeue(struct model *model, struct gang *gang) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->queue_length; i++)
        if (model->queue[i] != gang)
            model->queue[n++] = model->queue[i];
    model->queue_length = n;
    gang->is_queued = false;
}

/* Takes a gang that waits for other threads out of its slot. Returns false if there is none. */
static bool free_slot(struct model *model, const struct gang *self, uint64_t cycle) {
    for (uint32_t b = 0; b < model->n_blocks; b++)
        for (uint32_t i = 0; model->block[b]->is_live && i < model->block[b]->n_rows; i++)
            for (uint32_t g = 0; g < model->n_slices; g++) {
                struct gang *gang = &model->block[b]->row[i].gang[g];
                if (gang == self || gang->group.slot == DIVERGENCE_NO_SLOT || gang->group.status != DIVERGENCE_WAITS)
                    continue;
                model->setup.host->evict(model->setup.sm, &gang->group, cycle);
                return true;
            }
    return false;
}

static void seat(struct model *model, struct gang *gang, const struct gang *self, uint64_t cycle) {
    const struct divergence_host *host = model->setup.host;
    bool is_first = !model->queue_length; /* otherwise those in the queue come first */
    if (!is_first || (!host->place(model->setup.sm, &gang->group, cycle) &&
                      !(free_slot(model, self, cycle) && host->place(model->setup.sm, &gang->group, cycle))))
        enqueue(model, gang);
}

static void refill(void *user, uint64_t cycle) {
    struct model *model = user;
    uint32_t n = 0;
    while (n < model->queue_length && model->setup.host->place(model->setup.sm, &model->queue[n]->group, cycle))
        model->queue[n++]->is_queued = false;
    if (n == 0)
        return;
    memmove(model->queue, model->queue + n, (model->queue_length - n) * sizeof(struct gang *));
    model->queue_length -= n;
}

/* --- gangs --- */

/* Sets the pcs of the small warps to that of their gang. */
static void update(struct row *row, const struct gang *gang) {
    for (uint32_t left = gang->slices; left; left &= left - 1) {
        struct divergence_stack *stack = &row->slice[__builtin_ctz(left)].stack;
        if (stack->depth)
            divergence_stack_top(stack)->pc = gang->group.pc;
    }
}

static uint32_t pc_of(const struct row *row, uint32_t slice) {
    return divergence_stack_top(&row->slice[slice].stack)->pc;
}

/* Returns whether a small warp can run: if its path waits, another one may. A path that was released below the top may
 * have ended meanwhile. */
static bool can_run(struct divergence_stack *stack) {
    divergence_stack_pop_finished(stack);
    return stack->depth && (!divergence_stack_top(stack)->is_waiting || divergence_stack_yield(stack));
}

/* Removes the small warps that have ended from the gang. Returns those that wait for other threads. */
static uint32_t find_waiting(struct row *row, struct gang *gang) {
    uint32_t waiting = 0;
    for (uint32_t left = gang->slices; left; left &= left - 1) {
        struct divergence_stack *stack = &row->slice[__builtin_ctz(left)].stack;
        if (can_run(stack))
            continue;
        if (stack->depth)
            waiting |= left & -left;
        else
            gang->slices &= ~(left & -left);
    }
    return waiting;
}

static struct gang *new_gang(struct model *model, struct row *row, const struct gang *like, uint32_t slices) {
    struct gang *gang = row->gang;
    while (gang->slices || gang->group.slot != DIVERGENCE_NO_SLOT)
        gang++;
    *gang = (struct gang){.group = like->group, .slices = slices};
    gang->group.slot = DIVERGENCE_NO_SLOT;
    model->setup.counters->warp_splits++;
    return gang;
}

/* Sets the group to its small warps, which all run or all wait. */
static void show(const struct model *model, const struct row *row, struct gang *gang, bool waits) {
    struct divergence_group *group = &gang->group;
    bool is_alone = true;
    group->status = waits ? DIVERGENCE_WAITS : DIVERGENCE_RUNS;
    if (waits)
        return;
    group->pc = pc_of(row, (uint32_t)__builtin_ctz(gang->slices));
    group->mask = 0;
    group->notify_pc = EXEC_NO_PC;
    for (uint32_t left = gang->slices; left; left &= left - 1) {
        const struct divergence_entry *top = divergence_stack_top(&row->slice[__builtin_ctz(left)].stack);
        group->mask |= top->mask[0];
        if (top->reconvergence > group->pc && top->reconvergence < group->notify_pc)
            group->notify_pc = top->reconvergence;
    }
    for (uint32_t g = 0; g < model->n_slices; g++)
        is_alone &= &row->gang[g] == gang || !row->gang[g].slices;
    if (model->options.regang == ON && !is_alone)
        group->notify_pc = group->pc + 1; /* another gang may come to the same pc */
}

/* Splits the gang by the next step of its small warps. Those that the gang keeps come first in its order. */
static void divide(struct model *model, struct row *row, struct gang *gang) {
    uint32_t waiting = find_waiting(row, gang), running = gang->slices & ~waiting, keeps = 0;
    if (!gang->slices)
        return;
    for (uint32_t left = running; left; left &= left - 1) {
        uint32_t first = (uint32_t)__builtin_ctz(running), slice = (uint32_t)__builtin_ctz(left);
        keeps |= (uint32_t)(pc_of(row, slice) == pc_of(row, first)) << slice;
    }
    keeps = running ? keeps : waiting;
    if (keeps != gang->slices && running && model->options.divide == DIVIDE_ALL)
        keeps &= -keeps;
    uint32_t others = gang->slices & ~keeps;
    gang->slices = keeps;
    for (uint32_t same; others; others &= ~same) {
        same = others & waiting ? others & waiting : others & -others;
        for (uint32_t left = others & waiting || model->options.divide == DIVIDE_ALL ? 0 : others; left;
             left &= left - 1)
            if (pc_of(row, (uint32_t)__builtin_ctz(left)) == pc_of(row, (uint32_t)__builtin_ctz(others)))
                same |= left & -left;
        new_gang(model, row, gang, same);
    }
}

static bool has_data(const struct model *model, const struct row *row, const struct gang *gang, uint64_t cycle) {
    uint32_t pc = pc_of(row, (uint32_t)__builtin_ctz(gang->slices)), mask = 0;
    for (uint32_t left = gang->slices; left; left &= left - 1)
        mask |= divergence_stack_top(&row->slice[__builtin_ctz(left)].stack)->mask[0];
    return model->setup.host->splits->data_ready(model->setup.sm, &gang->group, pc, mask) <= cycle + 1;
}

static bool waits(const struct row *row, const struct gang *gang) {
    return divergence_stack_top(&row->slice[__builtin_ctz(gang->slices)].stack)->is_waiting;
}

/* Gangs at one pc become one. `self`, whose hook runs, keeps its slot. */
static void regang(struct model *model, struct row *row, struct gang *self, uint64_t cycle) {
    for (uint32_t a = 0; a < model->n_slices; a++)
        for (uint32_t b = a + 1; b < model->n_slices && row->gang[a].slices; b++) {
            struct gang *to = &row->gang[a], *from = &row->gang[b];
            if (!from->slices || waits(row, from) || waits(row, to) ||
                pc_of(row, (uint32_t)__builtin_ctz(from->slices)) != pc_of(row, (uint32_t)__builtin_ctz(to->slices)) ||
                !has_data(model, row, from, cycle) || !has_data(model, row, to, cycle))
                continue;
            if (from == self || (to != self && to->group.slot == DIVERGENCE_NO_SLOT)) {
                struct gang *other = to;
                to = from;
                from = other;
            }
            to->slices |= from->slices;
            from->slices = 0;
            model->setup.counters->merges++;
        }
}

/* The gangs of a row take the states that their small warps have. The pcs of the small warps are up to date. */
static void settle(struct model *model, struct block *block, uint32_t index, struct gang *self, uint64_t cycle) {
    struct row *row = &block->row[index];
    const struct divergence_host *host = model->setup.host;
    uint32_t n = model->n_slices;
    for (uint32_t g = 0; g < n; g++)
        if (row->gang[g].slices)
            divide(model, row, &row->gang[g]);
    if (model->options.regang == ON)
        regang(model, row, self, cycle);
    for (uint32_t g = 0; g < n; g++) {
        struct gang *gang = &row->gang[g];
        struct divergence_group *group = &gang->group, before = *group;
        if (!gang->slices) {
            if (gang->is_queued)
                dequeue(model, gang);
            group->status = DIVERGENCE_ENDED;
            if (gang != self)
                host->evict(model->setup.sm, group, cycle);
            continue;
        }
        bool is_waiting = waits(row, gang);
        show(model, row, gang, is_waiting);
        if (gang == self) {
            if (is_waiting && model->queue_length)
                group->status = DIVERGENCE_ENDED; /* for its slot */
        } else if (group->slot == DIVERGENCE_NO_SLOT) {
            if (!is_waiting && !gang->is_queued)
                seat(model, gang, self, cycle);
        } else if (is_waiting && model->queue_length) {
            host->evict(model->setup.sm, group, cycle);
            refill(model, cycle);
        } else if (group->status != before.status ||
                   (!is_waiting && (group->pc != before.pc || group->mask != before.mask))) {
            host->wake(model->setup.sm, group, cycle);
        }
    }
}

static void update_row(struct model *model, struct row *row) {
    for (uint32_t g = 0; g < model->n_slices; g++)
        if (row->gang[g].slices && row->gang[g].group.status == DIVERGENCE_RUNS)
            update(row, &row->gang[g]);
}

/* --- hooks --- */

static void admit(void *user, struct divergence_block *place, uint64_t cycle) {
    struct model *model = user;
    struct block *block = place->state;
    uint32_t first_pc = model->setup.cx->grid->program->function[0].first_pc;
    divergence_sync_start(block->sync);
    block->is_live = true;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct row *row = &block->row[i];
        struct exec_row *threads = &place->cta->row[i];
        uint32_t slices = 0;
        for (uint32_t s = 0; s < model->n_slices; s++) {
            struct slice *slice = &row->slice[s];
            uint32_t mask = threads->threads & lanes_of(model, 1u << s);
            divergence_stack_start(&slice->stack, threads, 1, first_pc);
            divergence_stack_top(&slice->stack)->mask[0] = mask;
            slice->stack.depth = mask != 0;
            slice->watch = (struct divergence_watch){.n_diverged = 0};
            slices |= (uint32_t)(mask != 0) << s;
        }
        struct gang *gang = &row->gang[0];
        for (uint32_t g = 0; g < model->n_slices; g++)
            row->gang[g] = (struct gang){.group = {.slot = DIVERGENCE_NO_SLOT}};
        gang->slices = slices;
        gang->group = (struct divergence_group){
            .row = threads, .home = place, .warp_id = DIVERGENCE_NO_WARP, .slot = DIVERGENCE_NO_SLOT};
        show(model, row, gang, false);
        seat(model, gang, NULL, cycle);
    }
}

/* The small warp `s` of the gang follows the control instruction at pc. */
static void follow(struct model *model, struct row *row, uint32_t s, uint32_t pc, uint32_t taken,
                   const struct divergence_outcome *outcome, uint32_t (*next)[EXEC_LANES]) {
    struct divergence_stack *stack = &row->slice[s].stack;
    const struct exec_insn *insn = &model->setup.cx->grid->program->code[pc];
    struct divergence_outcome own = *outcome;
    struct divergence_entry *top = divergence_stack_top(stack);
    if (insn->kind == EXEC_KIND_BRANCH)
        own = divergence_resolve_branch(insn, pc, 1, top->mask, &taken);
    else if (!taken)
        own = (struct divergence_outcome){.effect = DIVERGENCE_PASSES, .target = pc + 1};
    if (!divergence_has_to_wait(&own)) {
        divergence_stack_follow(stack, insn, pc, &own, &taken, next);
        return;
    }
    top->pc = pc + 1;
    top->is_waiting = true;
    top->wait_pc = pc;
    divergence_wait_mask(stack, top)[0] = taken;
}

/* Lanes that no longer wait. `self` is the row whose hook runs, which is settled later. */
static void set_free(struct model *model, struct block *block, uint32_t self, uint64_t cycle) {
    for (uint32_t i = 0; i < block->n_rows; i++) {
        struct row *row = &block->row[i];
        uint32_t pc, released = 0;
        for (uint32_t mask; (mask = divergence_sync_take(block->sync, i, &pc));)
            released |= mask;
        if (!released)
            continue;
        if (i != self)
            update_row(model, row);
        for (uint32_t s = 0; s < model->n_slices; s++) {
            struct divergence_stack *stack = &row->slice[s].stack;
            for (uint32_t d = 0; d < stack->depth; d++) {
                struct divergence_entry *entry = divergence_stack_at(stack, d);
                uint32_t *mask = divergence_wait_mask(stack, entry);
                if (!entry->is_waiting || !(*mask & released))
                    continue;
                *mask &= ~released;
                entry->is_waiting = *mask != 0;
            }
            divergence_stack_pop_finished(stack);
        }
        if (i != self)
            settle(model, block, i, NULL, cycle);
    }
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct model *model = user;
    struct gang *gang = (struct gang *)group;
    struct block *block = group->home->state;
    struct row *row = row_of(group);
    struct exec_context *cx = model->setup.cx;
    struct divergence_block *place = group->home;
    uint32_t next[1][EXEC_LANES], active = group->mask, index = group->row->index;
    update_row(model, row);
    struct divergence_outcome outcome = divergence_resolve(cx, pc, group->row, 1, &active, &mask, next);
    if (cx->fault.kind)
        return;
    if (outcome.effect == DIVERGENCE_BRANCHES)
        divergence_count_branch(&model->setup, pc, outcome.is_divergent);
    if (outcome.is_divergent)
        divergence_count_split(&model->setup, group->row, active);
    for (uint32_t left = gang->slices; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(left), taken = mask & lanes_of(model, left & -left);
        struct slice *slice = &row->slice[s];
        uint32_t depth = slice->stack.depth;
        follow(model, row, s, pc, taken, &outcome, next);
        model->setup.counters->reconvergences += outcome.effect == DIVERGENCE_BRANCHES && slice->stack.depth < depth;
        if (slice->stack.depth && divergence_stack_spins(&slice->watch, &slice->stack, pc))
            divergence_stack_break_join(&slice->stack);
    }
    bool has_released = false;
    if (divergence_has_to_wait(&outcome)) {
        model->setup.counters->barriers += outcome.effect == DIVERGENCE_MEETS_BLOCK;
        has_released = divergence_sync_arrive(block->sync, cx, group->row, pc, mask);
    }
    if (divergence_has_ended(&outcome))
        has_released = divergence_sync_after_exit(block->sync, cx, place->cta);
    if (has_released)
        set_free(model, block, index, cycle);
    bool spins = divergence_spins(&gang->watch, active != group->row->live || model->queue_length, false, pc);
    settle(model, block, index, gang, cycle);
    if (spins && model->queue_length && group->status == DIVERGENCE_RUNS) {
        group->status = DIVERGENCE_ENDED; /* leaves its slot to the first of the queue */
        enqueue(model, gang);
    }
    if (divergence_has_ended(&outcome) && !place->cta->n_live_rows) {
        block->is_live = false;
        model->setup.host->block_ended(model->setup.sm, place);
    }
}

static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct gang *gang = (struct gang *)group;
    struct row *row = row_of(group);
    update_row(model, row);
    for (uint32_t left = gang->slices; left; left &= left - 1) {
        struct divergence_stack *stack = &row->slice[__builtin_ctz(left)].stack;
        uint32_t depth = stack->depth;
        divergence_stack_pop_finished(stack);
        model->setup.counters->reconvergences += stack->depth < depth;
    }
    settle(model, group->home->state, group->row->index, gang, cycle);
}

/* Some small warps of a gang have the data that the others wait for, or will have them earlier: the others stay
 * behind. */
static bool stalls(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct gang *gang = (struct gang *)group;
    struct row *row = row_of(group);
    uint64_t ready[MOST_SLICES], first = UINT64_MAX;
    uint32_t behind = 0;
    for (uint32_t left = gang->slices; left && model->options.misses == ON; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctz(left), mask = group->mask & lanes_of(model, left & -left);
        ready[s] = model->setup.host->splits->data_ready(model->setup.sm, group, group->pc, mask);
        ready[s] = ready[s] > cycle + 1 ? ready[s] : cycle + 1;
        first = ready[s] < first ? ready[s] : first;
    }
    if (first == UINT64_MAX)
        return false;
    for (uint32_t left = gang->slices; left; left &= left - 1)
        behind |= ready[__builtin_ctz(left)] > first ? left & -left : 0;
    if (!behind)
        return false;
    update(row, gang);
    struct gang *others = new_gang(model, row, gang, behind);
    gang->slices &= ~behind;
    show(model, row, gang, false);
    show(model, row, others, false);
    seat(model, others, gang, cycle);
    return true;
}

static void visit(const void *user, const struct divergence_block *place,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *visitor) {
    const struct model *model = user;
    const struct block *block = place->state;
    for (uint32_t i = 0; i < block->n_rows; i++)
        for (uint32_t g = 0; g < model->n_slices; g++) {
            const struct gang *gang = &block->row[i].gang[g];
            for (uint32_t slices = gang->slices; slices; slices &= slices - 1) {
                const struct divergence_stack *stack = &block->row[i].slice[__builtin_ctz(slices)].stack;
                uint32_t lanes = 0;
                for (uint32_t d = 0; d < stack->depth; d++)
                    lanes |= divergence_stack_at(stack, d)->mask[0];
                for (; lanes; lanes &= lanes - 1)
                    thread(visitor, gang->group.slot == DIVERGENCE_NO_SLOT ? NULL : &gang->group, &place->cta->row[i],
                           (uint32_t)__builtin_ctz(lanes));
            }
        }
}

/* --- joint issue --- */

/* A slice is taken even if some of its lanes are not active. */
static uint32_t lanes_of_group(const struct model *model, const struct divergence_group *group) {
    return lanes_of(model, ((const struct gang *)group)->slices);
}

static bool leads(void *user, const struct divergence_group *group) {
    struct model *model = user;
    model->issue = (struct divergence_joint){0};
    divergence_joint_add(&model->issue, &model->setup, group, lanes_of_group(model, group));
    return model->issue.lanes != lanes_of(model, model->n_slices == 32 ? ~0u : (1u << model->n_slices) - 1);
}

static int next(void *user, struct divergence_group *const *ready, uint32_t n) {
    struct model *model = user;
    for (uint32_t i = 0; i < n; i++)
        if (divergence_joint_fits(&model->issue, &model->setup, ready[i], ready[i]->mask)) {
            divergence_joint_add(&model->issue, &model->setup, ready[i], lanes_of_group(model, ready[i]));
            return (int)i;
        }
    return -1;
}

/* Ours: a stack for each small warp, as deep as it is wide, and for each the gang that it is in. */
static uint64_t cost_bits(const void *given, const struct config_machine *machine, char *formula, size_t size) {
    const struct options *options = given;
    uint32_t slices = slices_of(options, machine), warps = machine->sm.threads / machine->sm.warp_size * slices;
    uint32_t number = 0;
    while (slices > 1u << number)
        number++;
    uint32_t each = options->slice * (64 + options->slice) + number;
    snprintf(formula, size,
             "small warps x (%u deep x (32-bit pc + 32-bit reconvergence pc + mask %u) + gang %u): %u x %u",
             options->slice, options->slice, number, warps, each);
    return (uint64_t)warps * each;
}

const struct divergence_ops divergence_vws = {
    .name = "vws",
    .help = "variable warp sizing: small warps are ganged together while they agree, and issue side by side otherwise",
    .option = option_table,
    .preset = presets,
    .options_bytes = sizeof(struct options),
    .splits_rows = true,
    .tracks_lanes = true,
    .refuses = refuses,
    .n_slots = n_slots,
    .new_model = new_model,
    .free_model = free_model,
    .begin_grid = begin_grid,
    .new_block = new_block,
    .free_block = free_block,
    .admit = admit,
    .control = control,
    .reached = reached,
    .refill = refill,
    .memory = &(const struct divergence_memory_ops){.stalls = stalls, .serves_hits = true},
    .visit = visit,
    .joint = &(const struct divergence_joint_ops){.leads = leads, .next = next},
    .cost_bits = cost_bits,
    .area = "5 % of an SM (Rogers 2015, abstract)",
};
