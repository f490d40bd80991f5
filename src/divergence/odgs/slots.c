/* The slots of all SMs under the oracle scheduler: which warp takes a free slot, and where the threads of a warp go
 * when it leaves its slot. See odgs.c. */
#include "divergence/odgs/internal.h"
#include "divergence/parts/threads.h"

/* Slots of the SM that are free for warps of the pool. */
static uint32_t free_slots(const struct divergence_odgs_sm *model) {
    uint32_t n = model->setup.host->free_slots(model->setup.sm), kept = model->compact.n_kept + model->n_held;
    return n > kept ? n - kept : 0;
}

/* Returns the next full or new warp; NULL: there is none. With local=tbc new blocks are not for the pool. */
static struct divergence_odgs_warp *next_whole(struct divergence_odgs_sm *model, uint64_t cycle) {
    struct divergence_odgs_chip *chip = model->chip;
    const struct divergence_setup *setup = &model->setup;
    for (;;) {
        struct divergence_odgs_warp *warp = divergence_odgs_queue_pop(&chip->full);
        if (!warp)
            warp = divergence_odgs_queue_pop(&chip->fresh);
        if (warp)
            return warp;
        if (chip->options.local == DIVERGENCE_ODGS_LOCAL_TBC || !setup->host->chip->pull_block(setup->sm, cycle))
            return NULL; /* otherwise admit() has queued its warps, or left threads in the pool */
    }
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void place(struct divergence_odgs_sm *model, struct divergence_odgs_warp *warp, uint64_t cycle) {
    const struct divergence_setup *setup = &model->setup;
    uint64_t first = 0; /* threads of a new block wait for its start */
    for (uint32_t left = warp->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint16_t *sm = &warp->sm[lane];
        if (*sm == DIVERGENCE_ODGS_NOWHERE)
            first = later(first, divergence_block_of(warp->threads.row[lane])->first_cycle);
        if (*sm != setup->sm_index && *sm != DIVERGENCE_ODGS_NOWHERE) {
            setup->counters->migrations++;
            setup->counters->migration_bytes += 4ull * model->chip->program->registers_per_thread + 4;
        }
        *sm = (uint16_t)setup->sm_index;
    }
    if (model->chip->options.local == DIVERGENCE_ODGS_LOCAL_DWF)
        divergence_odgs_note_here(model, warp);
    warp->on = model;
    if (first > cycle + 1)
        setup->host->chip->place_at(setup->sm, &warp->group, first, cycle);
    else
        setup->host->place(setup->sm, &warp->group, cycle);
}

/* A slot becomes free in its SM's own tick, which asks to refill it before another SM takes its turn, and only place()
 * takes it: so only that SM's slots are counted again. The compactor takes slots by itself, so then all SMs' slots are
 * counted. */
static void count_free_slots(struct divergence_odgs_chip *chip, const struct divergence_odgs_sm *model) {
    bool counts_all = !chip->has_counted || chip->options.local == DIVERGENCE_ODGS_LOCAL_TBC;
    for (uint32_t i = 0; counts_all && i < chip->n_sms; i++)
        chip->n_free[i] = free_slots(chip->model[i]);
    chip->n_free[model->setup.sm_index] = free_slots(model);
    for (uint32_t i = 0; !chip->has_counted && i < chip->n_sms; i++)
        chip->model[i]->n_slots = chip->n_free[i]; /* the grid begins: all are free */
    chip->has_counted = true;
}

/* Returns whether the SM has a free slot and runs fewer than `enough` warps. */
static bool has_room(const struct divergence_odgs_chip *chip, uint32_t sm, uint32_t enough) {
    const struct divergence_odgs_sm *model = chip->model[sm];
    return chip->n_free[sm] && model->n_slots - chip->n_free[sm] - model->n_leaving < enough;
}

/* Returns the SM with most free slots of those that run fewer than `enough` warps; n_sms: there is none. */
static uint32_t find_emptiest(const struct divergence_odgs_chip *chip, uint32_t enough) {
    uint32_t emptiest = chip->n_sms;
    for (uint32_t i = 0; i < chip->n_sms; i++)
        if (has_room(chip, i, enough) && (emptiest == chip->n_sms || chip->n_free[i] > chip->n_free[emptiest]))
            emptiest = i;
    return emptiest;
}

/* Fills free slots with full and new warps, always on the SM with the most free slots. */
static void place_whole(struct divergence_odgs_sm *model, uint64_t cycle) {
    struct divergence_odgs_chip *chip = model->chip;
    for (uint32_t emptiest; (emptiest = find_emptiest(chip, UINT32_MAX)) < chip->n_sms;) {
        if (divergence_odgs_pull_tbc(chip->model[emptiest], chip->n_free[emptiest], cycle)) {
            count_free_slots(chip, model);
            continue;
        }
        struct divergence_odgs_warp *warp = next_whole(model, cycle);
        if (!warp)
            return;
        place(chip->model[emptiest], warp, cycle);
        chip->n_free[emptiest]--;
    }
}

/* Gives SMs that have too few warps those that wait in the pool, the lowest pc first. */
static void place_incomplete(struct divergence_odgs_chip *chip, uint64_t cycle) {
    uint32_t pc, sm;
    while ((pc = divergence_global_pool_lowest(&chip->pool)) != EXEC_NO_PC &&
           (sm = find_emptiest(chip, chip->enough_warps)) < chip->n_sms) {
        place(chip->model[sm], divergence_odgs_take_waiting(chip, pc), cycle);
        chip->n_free[sm]--;
    }
}

/* The threads of a warp go to the pool, each at its next pc, and the warp ends. */
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
        if (warp->group.slot == DIVERGENCE_NO_SLOT)
            model->n_held--; /* its slot was the block's */
        else
            model->n_leaving--;
        divergence_odgs_leave(model, warp, cycle);
        model->setup.host->evict(model->setup.sm, &warp->group, cycle);
    }
    if (model->leaving.first)
        model->setup.host->chip->call_at(model->setup.sm, model->leaving.first->due);
    collect_ended(model);
    count_free_slots(model->chip, model);
    place_whole(model, cycle);
    place_incomplete(model->chip, cycle);
}
