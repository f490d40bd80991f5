/* Slots of the SMs under the oracle scheduler: which warp gets a free one, and where the threads of one that leaves go.
 * See odgs.c. */
#include "divergence/odgs/internal.h"

/* Slots of the SM that are free for the pool's warps. */
static uint32_t free_slots(const struct divergence_odgs_sm *model) {
    uint32_t n = model->setup.host->free_slots(model->setup.sm), kept = model->compact.n_kept + model->n_held;
    return n > kept ? n - kept : 0;
}

/* local=tbc: starts a block on that SM, when no full warp waits and there is a slot for each of the block's rows. */
static bool start_local(const struct divergence_odgs_sm *model, uint64_t cycle) {
    const struct divergence_odgs_chip *chip = model->chip;
    return chip->options.local == DIVERGENCE_ODGS_LOCAL_TBC && !chip->full.first &&
           free_slots(model) >= chip->block_rows && model->setup.host->chip->pull_block(model->setup.sm, cycle);
}

/* The next warp in the paper's order; NULL: there is none. With local=tbc new blocks are not for the pool. */
static struct divergence_odgs_warp *next_warp(struct divergence_odgs_sm *model, uint64_t cycle) {
    struct divergence_odgs_chip *chip = model->chip;
    const struct divergence_setup *setup = &model->setup;
    for (;;) {
        struct divergence_odgs_warp *warp = divergence_odgs_queue_pop(&chip->full);
        if (!warp)
            warp = divergence_odgs_queue_pop(&chip->fresh);
        if (warp)
            return warp;
        if (chip->options.local == DIVERGENCE_ODGS_LOCAL_TBC || !setup->host->chip->pull_block(setup->sm, cycle))
            break; /* else admit() has queued its warps, or left threads in the pool */
    }
    uint32_t pc = divergence_global_pool_lowest(&chip->pool);
    if (pc == EXEC_NO_PC)
        return NULL;
    return divergence_odgs_take_waiting(chip, pc);
}

static bool is_here(const struct divergence_odgs_sm *model, const struct divergence_odgs_warp *warp) {
    return warp->is_used && warp->on == model && warp->group.slot != DIVERGENCE_NO_SLOT;
}

/* The warp, which is in no slot yet, gets one here; those that have left are forgotten. */
static void note_here(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->n_here; i++)
        if (is_here(model, model->here[i]))
            model->here[n++] = model->here[i];
    model->here[n++] = warp;
    model->n_here = n;
}

static void place(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint64_t cycle) {
    const struct divergence_setup *setup = &model->setup;
    for (uint32_t left = warp->lanes; left; left &= left - 1) {
        uint16_t *sm = &warp->sm[__builtin_ctz(left)];
        if (*sm != setup->sm_index && *sm != DIVERGENCE_ODGS_NOWHERE) {
            setup->counters->migrations++;
            setup->counters->migration_bytes += 4ull * model->chip->program->registers_per_thread + 4;
        }
        *sm = (uint16_t)setup->sm_index;
    }
    if (model->chip->options.local == DIVERGENCE_ODGS_LOCAL_DWF)
        note_here(model, warp);
    warp->on = model;
    setup->host->place(setup->sm, &warp->group, cycle);
}

/* A slot becomes free in its SM's own tick, which asks to refill it before another SM has its turn, and is taken by
 * place(): so only that SM's are counted anew. The compactor takes slots by itself. */
static void count_free_slots(struct divergence_odgs_chip *chip, const struct divergence_odgs_sm *model) {
    bool counts_all = !chip->has_counted || chip->options.local == DIVERGENCE_ODGS_LOCAL_TBC;
    for (uint32_t i = 0; counts_all && i < chip->n_sms; i++)
        chip->n_free[i] = free_slots(chip->model[i]);
    chip->n_free[model->setup.sm_index] = free_slots(model);
    chip->has_counted = true;
}

static uint32_t find_emptiest(const struct divergence_odgs_chip *chip) {
    uint32_t emptiest = 0;
    for (uint32_t i = 1; i < chip->n_sms; i++)
        emptiest = chip->n_free[i] > chip->n_free[emptiest] ? i : emptiest;
    return emptiest;
}

/* Fills free slots, those of the SM that has most of them first. */
static void refill_slots(struct divergence_odgs_sm *model, uint64_t cycle) {
    struct divergence_odgs_chip *chip = model->chip;
    count_free_slots(chip, model);
    for (;;) {
        uint32_t emptiest = find_emptiest(chip);
        if (!chip->n_free[emptiest])
            return;
        if (start_local(chip->model[emptiest], cycle)) {
            count_free_slots(chip, model);
            continue;
        }
        struct divergence_odgs_warp *warp = next_warp(model, cycle);
        if (!warp)
            return;
        place(chip->model[emptiest], warp, cycle);
        chip->n_free[emptiest]--;
    }
}

/* The threads of a warp go to the pool, each at its next pc; the warp is no more. */
static void release(struct divergence_odgs_chip *chip, struct divergence_odgs_warp *warp) {
    divergence_odgs_add_threads(chip, warp, warp->lanes);
    warp->lanes = 0;
    warp->stack.depth = 0;
    warp->group.status = DIVERGENCE_ENDED;
}

/* local=dwf: these threads of the warp, at pc, join a warp of this SM that waits for its turn there and has empty
 * lanes. */
static void join_local(struct divergence_odgs_sm *model, struct divergence_odgs_warp *from, uint32_t lanes, uint32_t pc,
                       uint64_t cycle) {
    uint32_t all_lanes = divergence_odgs_all_lanes(model->chip);
    const struct divergence_setup *setup = &model->setup;
    for (uint32_t i = 0; i < model->n_here && lanes; i++) {
        struct divergence_odgs_warp *to = model->here[i];
        bool is_open = to->group.pc == pc && to->lanes != all_lanes && to->group.status == DIVERGENCE_RUNS &&
                       to != from && is_here(model, to) && to->stack.depth == 1;
        if (!is_open || setup->host->is_under_way(setup->sm, &to->group, cycle))
            continue;
        uint32_t room = all_lanes & ~to->lanes;
        uint32_t came = divergence_odgs_take_threads(model->chip, to, room, from, lanes, pc);
        lanes &= ~came;
        from->lanes &= ~came;
        for (; came; came &= came - 1, room &= room - 1)
            to->lanes |= room & -room;
        setup->counters->merges++;
        to->group.row = NULL;
        divergence_stack_top(&to->stack)->pc = pc; /* the SM has moved the group on, not the stack */
        divergence_stack_top(&to->stack)->mask[0] = to->lanes;
        divergence_odgs_show_top(to);
        setup->host->wake(setup->sm, &to->group, cycle);
    }
}

void divergence_odgs_leave(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint64_t cycle) {
    struct divergence_odgs_chip *chip = model->chip;
    if (chip->options.local == DIVERGENCE_ODGS_LOCAL_DWF)
        for (uint32_t left = warp->lanes, there; left; left &= ~there) {
            uint32_t pc = warp->next_pc[__builtin_ctz(left)];
            there = divergence_odgs_lanes_at(warp, left, pc);
            join_local(model, warp, there, pc, cycle);
        }
    release(chip, warp);
    divergence_odgs_queue_push(&model->ended, warp);
}

/* Warps that have ended and left their slots can be used again. */
static void collect_ended(struct divergence_odgs_sm *model) {
    struct divergence_odgs_queue later;
    divergence_odgs_queue_start(&later);
    for (struct divergence_odgs_warp *warp; (warp = divergence_odgs_queue_pop(&model->ended));) {
        if (warp->group.slot == DIVERGENCE_NO_SLOT)
            divergence_odgs_give_back(model->chip, warp);
        else
            divergence_odgs_queue_push(&later, warp);
    }
    for (struct divergence_odgs_warp *warp; (warp = divergence_odgs_queue_pop(&later));)
        divergence_odgs_queue_push(&model->ended, warp);
}

void divergence_odgs_refill(struct divergence_odgs_sm *model, uint64_t cycle) {
    while (model->leaving.first && model->leaving.first->due <= cycle) {
        struct divergence_odgs_warp *warp = divergence_odgs_queue_pop(&model->leaving);
        model->n_held -= warp->group.slot == DIVERGENCE_NO_SLOT; /* its slot was the block's */
        divergence_odgs_leave(model, warp, cycle);
        model->setup.host->evict(model->setup.sm, &warp->group, cycle);
    }
    if (model->leaving.first)
        model->setup.host->chip->call_at(model->setup.sm, model->leaving.first->due);
    collect_ended(model);
    refill_slots(model, cycle);
}
