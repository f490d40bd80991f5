/* Slots of the SMs under the oracle scheduler: which warp takes a free one, and where the threads of a warp that leaves
 * its slot go. See odgs.c. */
#include "divergence/odgs/internal.h"

/* Slots of the SM that are free for warps of the pool. */
static uint32_t free_slots(const struct divergence_odgs_sm *model) {
    uint32_t n = model->setup.host->free_slots(model->setup.sm), kept = model->compact.n_kept + model->n_held;
    return n > kept ? n - kept : 0;
}

/* Returns the next warp in the paper's order; NULL: there is none. With local=tbc new blocks are not for the pool. */
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
            break; /* otherwise admit() has queued its warps, or left threads in the pool */
    }
    uint32_t pc = divergence_global_pool_lowest(&chip->pool);
    if (pc == EXEC_NO_PC)
        return NULL;
    return divergence_odgs_take_waiting(chip, pc);
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
        divergence_odgs_note_here(model, warp);
    warp->on = model;
    setup->host->place(setup->sm, &warp->group, cycle);
}

/* A slot becomes free in its SM's own tick, which asks to refill it before another SM has its turn, and only place()
 * takes it: so only that SM's slots are counted anew. The compactor takes slots by itself, so that all are. */
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

/* Fills free slots, always of the SM that has most of them. */
static void refill_slots(struct divergence_odgs_sm *model, uint64_t cycle) {
    struct divergence_odgs_chip *chip = model->chip;
    count_free_slots(chip, model);
    for (;;) {
        uint32_t emptiest = find_emptiest(chip);
        if (!chip->n_free[emptiest])
            return;
        if (divergence_odgs_pull_tbc(chip->model[emptiest], chip->n_free[emptiest], cycle)) {
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

/* The threads of a warp go to the pool, each at its next pc; the warp ends. */
static void release(struct divergence_odgs_chip *chip, struct divergence_odgs_warp *warp) {
    divergence_odgs_add_threads(chip, warp, warp->lanes);
    warp->lanes = 0;
    warp->stack.depth = 0;
    warp->group.status = DIVERGENCE_ENDED;
}

void divergence_odgs_leave(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint64_t cycle) {
    struct divergence_odgs_chip *chip = model->chip;
    if (chip->options.local == DIVERGENCE_ODGS_LOCAL_DWF)
        divergence_odgs_join_here(model, warp, cycle);
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
