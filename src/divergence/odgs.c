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
 * post-dominator stack of its own. local=dwf is the hierarchical variant: the parts of a diverged warp first join
 * incomplete warps of their SM at the same pc, and only what does not fill a warp leaves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "divergence/count.h"
#include "divergence/pdom.h"
#include "divergence/pool.h"
#include "divergence/shared_free.h"
#include "divergence/sync.h"
#include "divergence/threads.h"

enum shared { SHARED_OFF, SHARED_AFTER_LAST, SHARED_ON };
enum local { LOCAL_NONE, LOCAL_DWF };

struct options {
    uint32_t latency, shared, short_length, local;
};

static const struct config_parameter parameters[] = {
    {"latency", CONFIG_PARAMETER_UINT, offsetof(struct options, latency), 0, 0, 1000000, NULL,
     "cycles for which a diverged warp keeps its slot and its threads cannot be regrouped"},
    {"shared", CONFIG_PARAMETER_CHOICE, offsetof(struct options, shared), SHARED_OFF, 0, 0, "off|after-last|on",
     "kernels with shared memory: never regroup, after the last access, always"},
    {"short", CONFIG_PARAMETER_UINT, offsetof(struct options, short_length), 0, 0, 100000, NULL,
     "branches whose paths are at most so many instructions long stay on the warp's own stack"},
    {"local", CONFIG_PARAMETER_CHOICE, offsetof(struct options, local), LOCAL_NONE, 0, 0, "none|dwf",
     "dwf: diverged threads first fill up incomplete warps of their own SM"},
    {.name = NULL},
};

struct model;

struct warp {
    struct divergence_group group;
    struct divergence_thread thread[EXEC_LANES];
    struct divergence_stack stack; /* of lanes; the group is its top */
    uint32_t next_pc[EXEC_LANES];  /* of a warp that leaves */
    uint32_t lanes;                /* that hold a live thread of this warp */
    uint64_t due;                  /* latency: in the pool from then on */
    struct warp *next;             /* in a list */
    struct model *on;              /* the SM it is on, NULL: none */
    bool is_used;
};

struct queue {
    struct warp *first, **last;
};

/* What all SMs share. */
struct chip {
    struct options options;
    uint32_t warp_size, n_sms;
    struct model **model; /* per SM */
    struct divergence_pool pool;
    struct queue full, fresh; /* full warps from the pool; new ones of the grid */
    struct warp **warp;       /* all there are */
    uint32_t n_warps;
    struct warp *unused;
    const struct exec_program *program;
    uint8_t *may_regroup; /* per pc */
    bool regroups;        /* somewhere */
};

struct model {
    struct divergence_setup setup;
    struct chip *chip;
    struct queue leaving; /* diverged, in their slots until due */
    struct queue ended;   /* to be used again when they have left their slots */
};

enum { NOWHERE = UINT16_MAX }; /* the SM of a thread that has not run yet */

/* --- lists --- */

static void queue_start(struct queue *queue) {
    queue->first = NULL;
    queue->last = &queue->first;
}

static void queue_push(struct queue *queue, struct warp *warp) {
    warp->next = NULL;
    *queue->last = warp;
    queue->last = &warp->next;
}

static struct warp *queue_pop(struct queue *queue) {
    struct warp *warp = queue->first;
    if (warp && !(queue->first = warp->next))
        queue->last = &queue->first;
    return warp;
}

static struct warp *new_warp(struct chip *chip) {
    struct warp *warp = chip->unused;
    if (warp) {
        chip->unused = warp->next;
    } else {
        warp = base_allocate(1, sizeof *warp);
        chip->warp = realloc(chip->warp, (chip->n_warps + 1) * sizeof(struct warp *));
        if (!chip->warp)
            abort();
        chip->warp[chip->n_warps++] = warp;
    }
    struct divergence_stack stack = warp->stack;
    *warp = (struct warp){.is_used = true, .stack = stack};
    warp->group.slot = DIVERGENCE_NO_SLOT;
    warp->group.warp_id = DIVERGENCE_NO_WARP;
    return warp;
}

static void give_back(struct chip *chip, struct warp *warp) {
    warp->is_used = false;
    warp->next = chip->unused;
    chip->unused = warp;
}

/* --- warps --- */

/* The group is what the top of the warp's stack says. */
static void show_top(struct warp *warp) {
    struct divergence_group *group = &warp->group;
    if (!warp->stack.depth) {
        group->status = DIVERGENCE_ENDED;
        return;
    }
    const struct divergence_entry *top = divergence_stack_top(&warp->stack);
    group->status = DIVERGENCE_RUNS;
    group->pc = top->pc;
    group->meet = top->reconvergence;
    group->mask = top->mask;
    group->n_threads = (uint32_t)__builtin_popcount(top->mask);
}

/* The threads [0, n) of warp->thread, all at pc. Threads of one row in their own lanes run in place. */
static void form(struct warp *warp, uint32_t pc, uint32_t n) {
    struct exec_row *row = warp->thread[0].row;
    uint32_t own = 0;
    for (uint32_t i = 0; i < n; i++)
        own |= warp->thread[i].row == row ? 1u << warp->thread[i].lane : 0;
    bool is_row = (uint32_t)__builtin_popcount(own) == n;
    if (is_row) {
        struct divergence_thread old[EXEC_LANES];
        memcpy(old, warp->thread, n * sizeof *old);
        for (uint32_t i = 0; i < n; i++)
            warp->thread[old[i].lane] = old[i];
    }
    warp->lanes = is_row ? own : n == EXEC_LANES ? ~0u : (1u << n) - 1;
    warp->group.row = is_row ? row : NULL;
    warp->group.home = divergence_block_of(row);
    divergence_stack_start(&warp->stack, pc, warp->lanes);
    show_top(warp);
}

static void add_thread(struct chip *chip, uint32_t pc, struct divergence_thread thread) {
    divergence_pool_add(&chip->pool, pc, thread);
    if (chip->pool.at[pc].count < chip->warp_size)
        return;
    struct warp *warp = new_warp(chip);
    form(warp, pc, divergence_pool_take(&chip->pool, pc, warp->thread, chip->warp_size));
    queue_push(&chip->full, warp);
}

/* A row's lanes at pc, which are nowhere else now: a full row is a warp of its own. */
static void add_row(struct chip *chip, struct exec_row *row, uint32_t mask, uint32_t pc, uint16_t sm,
                    struct queue *queue) {
    bool is_full = (uint32_t)__builtin_popcount(mask) == chip->warp_size;
    bool must_stay = !chip->may_regroup[pc];
    struct warp *warp = is_full || must_stay ? new_warp(chip) : NULL;
    uint32_t n = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        struct divergence_thread thread = {row, (uint8_t)__builtin_ctz(left), sm};
        if (warp)
            warp->thread[n++] = thread;
        else
            add_thread(chip, pc, thread);
    }
    if (!warp)
        return;
    form(warp, pc, n);
    queue_push(queue, warp);
}

/* --- where regrouping is allowed --- */

/* The longer way from a branch to where its paths meet, by the layout of the code. */
static bool is_short(const struct chip *chip, uint32_t pc) {
    const struct exec_insn *insn = &chip->program->code[pc];
    uint32_t meet = insn->reconvergence;
    bool is_loop = insn->kind == EXEC_KIND_BRANCH && insn->target <= pc;
    return !is_loop && meet != EXEC_NO_PC && meet > pc && meet - pc - 1 <= chip->options.short_length;
}

/* --- the chip and its SMs --- */

static void *new_chip(const void *options, const struct config_machine *machine) {
    struct chip *chip = base_allocate(1, sizeof *chip);
    chip->options = *(const struct options *)options;
    chip->warp_size = machine->warp_size;
    chip->n_sms = machine->n_sms;
    chip->model = base_allocate(machine->n_sms, sizeof(struct model *));
    return chip;
}

static void free_chip(void *user) {
    struct chip *chip = user;
    for (uint32_t i = 0; i < chip->n_warps; i++) {
        divergence_stack_free(&chip->warp[i]->stack);
        free(chip->warp[i]);
    }
    divergence_pool_free(&chip->pool);
    free(chip->warp);
    free(chip->model);
    free(chip->may_regroup);
    free(chip);
}

static void *new_model(const struct divergence_setup *setup) {
    struct model *model = base_allocate(1, sizeof *model);
    model->setup = *setup;
    model->chip = setup->chip;
    model->chip->model[setup->sm_index] = model;
    queue_start(&model->leaving);
    queue_start(&model->ended);
    return model;
}

static void begin_grid(void *user) {
    struct model *model = user;
    struct chip *chip = model->chip;
    const struct exec_grid *grid = model->setup.cx->grid;
    queue_start(&model->leaving);
    queue_start(&model->ended);
    if (model->setup.sm_index != 0)
        return;
    chip->program = grid->program;
    divergence_pool_start(&chip->pool, grid->program->n_insns);
    queue_start(&chip->full);
    queue_start(&chip->fresh);
    chip->unused = NULL;
    for (uint32_t i = 0; i < chip->n_warps; i++)
        give_back(chip, chip->warp[i]);
    chip->may_regroup = realloc(chip->may_regroup, grid->program->n_insns);
    if (!chip->may_regroup)
        abort();
    bool is_free = !grid->shared_bytes || chip->options.shared == SHARED_ON;
    memset(chip->may_regroup, is_free, grid->program->n_insns);
    if (!is_free && chip->options.shared == SHARED_AFTER_LAST)
        divergence_find_shared_free(grid->program, chip->may_regroup);
}

static void *new_block(void *user, const struct exec_cta *cta) {
    (void)user;
    return divergence_sync_new(cta->n_rows);
}

static void free_block(void *user, void *state) {
    (void)user;
    divergence_sync_free(state);
}

/* The next warp in the paper's order; NULL: there is none. */
static struct warp *next_warp(struct model *model, uint64_t cycle) {
    struct chip *chip = model->chip;
    const struct divergence_setup *setup = &model->setup;
    for (;;) {
        struct warp *warp = queue_pop(&chip->full);
        if (!warp)
            warp = queue_pop(&chip->fresh);
        if (warp)
            return warp;
        if (!setup->host->pull_block(setup->sm, cycle))
            break; /* else admit() has queued its warps, or left threads in the pool */
    }
    uint32_t pc = divergence_pool_lowest(&chip->pool);
    if (pc == EXEC_NO_PC)
        return NULL;
    struct warp *warp = new_warp(chip);
    form(warp, pc, divergence_pool_take(&chip->pool, pc, warp->thread, chip->warp_size));
    return warp;
}

static void place(struct model *model, struct warp *warp, uint64_t cycle) {
    const struct divergence_setup *setup = &model->setup;
    for (uint32_t left = warp->lanes; left; left &= left - 1) {
        struct divergence_thread *thread = &warp->thread[__builtin_ctz(left)];
        if (thread->sm != setup->sm_index && thread->sm != NOWHERE) {
            setup->counters->migrations++;
            setup->counters->migration_bytes += 4ull * model->chip->program->registers_per_thread + 4;
        }
        thread->sm = (uint16_t)setup->sm_index;
    }
    warp->on = model;
    setup->host->place(setup->sm, &warp->group, cycle);
}

/* Fills free slots, those of the SM that has most of them first. */
static void refill_slots(struct model *model, uint64_t cycle) {
    struct chip *chip = model->chip;
    for (;;) {
        struct model *emptiest = NULL;
        uint32_t most = 0;
        for (uint32_t i = 0; i < chip->n_sms; i++) {
            uint32_t n = chip->model[i]->setup.host->free_slots(chip->model[i]->setup.sm);
            if (n > most) {
                most = n;
                emptiest = chip->model[i];
            }
        }
        struct warp *warp = emptiest ? next_warp(model, cycle) : NULL;
        if (!warp)
            return;
        place(emptiest, warp, cycle);
    }
}

static void admit(void *user, struct divergence_block *block, uint64_t cycle) {
    struct model *model = user;
    struct chip *chip = model->chip;
    divergence_sync_start(block->state);
    for (uint32_t i = 0; i < block->cta->n_rows; i++)
        add_row(chip, &block->cta->row[i], block->cta->row[i].threads, chip->program->function[0].first_pc, NOWHERE,
                &chip->fresh);
    (void)cycle; /* refill() places them */
}

/* The threads of a warp go to the pool, each at its next pc; the warp is no more. */
static void release(struct chip *chip, struct warp *warp) {
    for (uint32_t left = warp->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        add_thread(chip, warp->next_pc[lane], warp->thread[lane]);
    }
    warp->lanes = 0;
    warp->stack.depth = 0;
    warp->group.status = DIVERGENCE_ENDED;
}

/* local=dwf: threads of the warp at pc join a warp of this SM that waits for its turn there and has empty lanes. */
static void join_local(struct model *model, struct warp *from, uint32_t pc, uint64_t cycle) {
    struct chip *chip = model->chip;
    const struct divergence_setup *setup = &model->setup;
    for (uint32_t i = 0; i < chip->n_warps; i++) {
        struct warp *to = chip->warp[i];
        bool is_open = to != from && to->is_used && to->on == model && to->group.slot != DIVERGENCE_NO_SLOT &&
                       to->group.status == DIVERGENCE_RUNS && to->group.pc == pc && to->stack.depth == 1;
        if (!is_open || setup->host->is_under_way(setup->sm, &to->group, cycle))
            continue;
        bool has_joined = false;
        for (uint32_t left = from->lanes; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left), n = (uint32_t)__builtin_popcount(to->lanes);
            if (from->next_pc[lane] != pc || n == chip->warp_size)
                continue;
            uint32_t place = (uint32_t)__builtin_ctz(~to->lanes);
            to->thread[place] = from->thread[lane];
            to->lanes |= 1u << place;
            from->lanes &= ~(1u << lane);
            has_joined = true;
        }
        if (!has_joined)
            continue;
        setup->counters->merges++;
        to->group.row = NULL;
        divergence_stack_top(&to->stack)->pc = pc; /* the SM has moved the group on, not the stack */
        divergence_stack_top(&to->stack)->mask = to->lanes;
        show_top(to);
        setup->host->wake(setup->sm, &to->group, cycle);
    }
}

static void leave(struct model *model, struct warp *warp, uint64_t cycle) {
    struct chip *chip = model->chip;
    if (chip->options.local == LOCAL_DWF)
        for (uint32_t left = warp->lanes; left; left &= left - 1)
            if (warp->lanes & left & -left)
                join_local(model, warp, warp->next_pc[__builtin_ctz(left)], cycle);
    release(chip, warp);
    queue_push(&model->ended, warp);
}

/* Every result of a diverged warp is there. */
static void resume(void *user, struct divergence_group *group, uint64_t cycle) {
    struct model *model = user;
    struct warp *warp = (struct warp *)group;
    if (!model->chip->options.latency) {
        leave(model, warp, cycle);
        return;
    }
    warp->due = cycle + model->chip->options.latency;
    group->status = DIVERGENCE_WAITS;
    queue_push(&model->leaving, warp);
    model->setup.host->call_at(model->setup.sm, warp->due);
}

/* Warps that have ended and left their slots can be used again. */
static void collect_ended(struct model *model) {
    struct queue later;
    queue_start(&later);
    for (struct warp *warp; (warp = queue_pop(&model->ended));) {
        if (warp->group.slot == DIVERGENCE_NO_SLOT)
            give_back(model->chip, warp);
        else
            queue_push(&later, warp);
    }
    for (struct warp *warp; (warp = queue_pop(&later));)
        queue_push(&model->ended, warp);
}

static void refill(void *user, uint64_t cycle) {
    struct model *model = user;
    while (model->leaving.first && model->leaving.first->due <= cycle) {
        struct warp *warp = queue_pop(&model->leaving);
        leave(model, warp, cycle);
        model->setup.host->evict(model->setup.sm, &warp->group, cycle);
    }
    if (model->leaving.first)
        model->setup.host->call_at(model->setup.sm, model->leaving.first->due);
    collect_ended(model);
    refill_slots(model, cycle);
}

/* --- instructions --- */

static void bundle(void *user, struct divergence_group *group, struct divergence_bundle *bundle, uint64_t cycle) {
    (void)cycle;
    struct model *model = user;
    struct warp *warp = (struct warp *)group;
    struct exec_context *cx = model->setup.cx;
    const struct exec_insn *insn = &model->chip->program->code[group->pc];
    for (uint32_t left = group->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        cx->row_of[lane] = warp->thread[lane].row;
        cx->lane_of[lane] = warp->thread[lane].lane;
        if (divergence_guard(warp->thread[lane].row, insn, 1u << warp->thread[lane].lane))
            bundle->mask |= 1u << lane;
    }
    bundle->is_last = true;
}

/* The threads of the group's top that live in the row of `lane`: as lanes of that row; *lanes as lanes of the warp. */
static uint32_t row_part(const struct warp *warp, uint32_t among, uint32_t lane, uint32_t *lanes) {
    uint32_t mask = 0;
    *lanes = 0;
    for (uint32_t left = among; left; left &= left - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(left);
        if (warp->thread[other].row != warp->thread[lane].row)
            continue;
        mask |= 1u << warp->thread[other].lane;
        *lanes |= 1u << other;
    }
    return mask;
}

/* Threads that were set free: full rows are warps again, the others go to the pool. */
static void take_released(struct model *model, struct divergence_block *block, uint64_t cycle) {
    struct divergence_sync *sync = block->state;
    for (uint32_t i = 0; i < sync->n_rows; i++) {
        uint32_t pc, mask;
        while ((mask = divergence_sync_take(sync, i, &pc)))
            add_row(model->chip, &block->cta->row[i], mask, pc, (uint16_t)model->setup.sm_index, &model->chip->full);
    }
    model->setup.host->call_at(model->setup.sm, cycle + 1); /* they may find free slots elsewhere */
}

static void threads_ended(struct model *model, struct divergence_block *block, uint64_t cycle) {
    if (divergence_sync_after_exit(block->state, model->setup.cx, block->cta))
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

static void execute(struct model *model, struct warp *warp, uint32_t pc, struct outcome *outcome, uint64_t cycle) {
    struct exec_context *cx = model->setup.cx;
    for (uint32_t left = warp->group.mask; left && !cx->fault.kind;) {
        uint32_t lanes, waits, next[EXEC_LANES], first = (uint32_t)__builtin_ctz(left);
        uint32_t mask = row_part(warp, left, first, &lanes);
        struct exec_row *row = warp->thread[first].row;
        divergence_next_pcs(cx, row, pc, mask, next, &waits);
        bool has_ended = false;
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(rest), home = warp->thread[lane].lane;
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
static void synchronize(struct model *model, struct warp *warp, uint32_t pc, struct outcome *outcome, uint64_t cycle) {
    for (uint32_t left = outcome->waiting; left && !model->setup.cx->fault.kind;) {
        uint32_t lanes, first = (uint32_t)__builtin_ctz(left);
        uint32_t mask = row_part(warp, left, first, &lanes);
        struct exec_row *row = warp->thread[first].row;
        struct divergence_block *block = divergence_block_of(row);
        struct divergence_sync *sync = block->state;
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

static void count_branch(struct model *model, const struct warp *warp, uint32_t pc, bool is_divergent) {
    const struct exec_insn *insn = &model->chip->program->code[pc];
    if (insn->kind != EXEC_KIND_BRANCH && insn->kind != EXEC_KIND_BRANCH_INDEXED)
        return;
    divergence_count_branch(&model->setup, pc, is_divergent);
    for (uint32_t left = is_divergent ? warp->group.mask : 0; left; left &= left - 1) {
        const struct divergence_thread *thread = &warp->thread[__builtin_ctz(left)];
        divergence_count_split(&model->setup, thread->row, 1u << thread->lane);
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
static void spread_stack(struct warp *warp, uint32_t top_lanes) {
    uint32_t above = top_lanes;
    for (uint32_t i = warp->stack.depth - 1; i-- > 0;) {
        for (uint32_t left = warp->stack.entry[i].mask & ~above & warp->lanes; left; left &= left - 1)
            warp->next_pc[__builtin_ctz(left)] = warp->stack.entry[i].pc;
        above |= warp->stack.entry[i].mask;
    }
}

/* One path for each distinct target, as the post-dominator stack has them. */
static void diverge_locally(struct warp *warp, const struct exec_insn *insn, const uint32_t next[EXEC_LANES],
                            uint32_t lanes) {
    struct divergence_stack *stack = &warp->stack;
    uint32_t meet = insn->reconvergence, first = next[__builtin_ctz(lanes)], same = 0;
    for (uint32_t left = lanes; left; left &= left - 1)
        same |= (uint32_t)(next[__builtin_ctz(left)] == first) << __builtin_ctz(left);
    uint32_t rest = lanes & ~same, second = next[__builtin_ctz(rest)];
    if (agree(next, rest)) {
        divergence_stack_diverge(stack, meet, first, same, second);
    } else {
        divergence_stack_make_join(stack, meet);
        for (uint32_t left = lanes; left;) {
            uint32_t target = next[__builtin_ctz(left)], part = 0;
            for (uint32_t others = left; others; others &= others - 1)
                part |= (uint32_t)(next[__builtin_ctz(others)] == target) << __builtin_ctz(others);
            if (target != meet)
                divergence_stack_push_path(stack, target, meet, part);
            left &= ~part;
        }
    }
    divergence_stack_pop_finished(stack);
}

/* Whether the threads may part for good at this instruction; else the warp's own stack keeps them together. */
static bool may_leave(const struct chip *chip, const struct exec_insn *insn, uint32_t pc,
                      const uint32_t next[EXEC_LANES], uint32_t lanes) {
    if (insn->kind == EXEC_KIND_RETURN)
        return true; /* callers differ: there is no post-dominator */
    for (uint32_t left = lanes; left; left &= left - 1)
        if (!chip->may_regroup[next[__builtin_ctz(left)]])
            return false;
    return !(chip->options.short_length && is_short(chip, pc));
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    (void)mask;
    struct model *model = user;
    struct warp *warp = (struct warp *)group;
    const struct exec_insn *insn = &model->chip->program->code[pc];
    struct outcome outcome = {.ended = 0};
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
        divergence_stack_remove(&warp->stack, gone, false);
    }
    if (!lanes) { /* the rest of the stack, if any, goes on */
        show_top(warp);
        if (group->status == DIVERGENCE_ENDED)
            queue_push(&model->ended, warp);
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
    show_top(warp);
}

static void meet(void *user, struct divergence_group *group, uint64_t cycle) {
    (void)cycle;
    struct model *model = user;
    struct warp *warp = (struct warp *)group;
    divergence_stack_top(&warp->stack)->pc = group->pc;
    divergence_stack_pop_finished(&warp->stack);
    model->setup.counters->reconvergences++;
    show_top(warp);
}

/* --- the rest --- */

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options;
    (void)machine;
    return divergence_refuse_unsynced(program, "odgs", text, size);
}

typedef void visit_fn(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane);

static void visit(const void *user, const struct divergence_block *block, visit_fn *thread, void *visitor) {
    const struct model *model = user;
    const struct chip *chip = model->chip;
    const struct divergence_sync *sync = block->state;
    for (uint32_t i = 0; i < chip->n_warps; i++)
        for (uint32_t left = chip->warp[i]->is_used ? chip->warp[i]->lanes : 0; left; left &= left - 1) {
            const struct divergence_thread *t = &chip->warp[i]->thread[__builtin_ctz(left)];
            if (divergence_block_of(t->row) == block)
                thread(visitor, &chip->warp[i]->group, t->row, t->lane);
        }
    for (uint32_t pc = 0; pc < chip->pool.n_pcs; pc++)
        for (uint32_t i = 0; i < chip->pool.at[pc].count; i++)
            if (divergence_block_of(chip->pool.at[pc].thread[i].row) == block)
                thread(visitor, NULL, chip->pool.at[pc].thread[i].row, chip->pool.at[pc].thread[i].lane);
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
    .parameter = parameters,
    .options_bytes = sizeof(struct options),
    .splits_rows = true,
    .pulls_blocks = true,
    .refuses = refuses,
    .new_chip = new_chip,
    .free_chip = free_chip,
    .new_model = new_model,
    .free_model = free,
    .begin_grid = begin_grid,
    .new_block = new_block,
    .free_block = free_block,
    .admit = admit,
    .bundle = bundle,
    .control = control,
    .meet = meet,
    .resume = resume,
    .refill = refill,
    .visit = visit,
    .cost_bits = cost_bits,
};
