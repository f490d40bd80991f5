/* odgs with local=tbc: the full rows of a block run on one SM under thread block compaction (compact.h). When a path is
 * compacted, the threads that do not fill a warp leave for the pool. They do not return to the block's stack: from then
 * on they are threads of plain odgs. They leave only where no thread of the block can still reach a barrier or a
 * warp-wide instruction. Until then the block runs as under tbc. A block keeps as many slots as its threads may need,
 * and the pool uses the others. Ours: Malits 2012, section 3.8, only names the variant. */
#include "base/memory.h"
#include "divergence/odgs/departure.h"
#include "divergence/odgs/internal.h"

/* The compacted warp leaves its block for the pool. Until the latency is over, its slot is not free. */
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

void divergence_odgs_start_tbc(struct divergence_odgs_sm *model) {
    divergence_compact_start(&model->compact, &model->setup);
    model->compact.short_length = model->chip->options.short_length;
    model->compact.leave = leave_block;
    model->compact.user = model;
}

void divergence_odgs_find_where_to_leave(struct divergence_odgs_chip *chip) {
    uint32_t n_insns = chip->program->n_insns;
    chip->may_leave = base_grow(chip->may_leave, n_insns, sizeof *chip->may_leave);
    divergence_find_sync_free(chip->program, chip->may_leave);
    for (uint32_t pc = 0; pc < n_insns; pc++)
        chip->may_leave[pc] &= chip->may_regroup[pc];
    for (uint32_t i = 0; i < chip->n_sms; i++)
        chip->model[i]->compact.may_leave = chip->may_leave;
}

void divergence_odgs_admit_tbc(struct divergence_odgs_sm *model, struct divergence_block *block, uint64_t cycle) {
    struct divergence_odgs_chip *chip = model->chip;
    const struct divergence_odgs_block *state = block->state;
    uint32_t first_pc = chip->program->function[0].first_pc, local[EXEC_MAX_ROWS] = {0};
    for (uint32_t i = 0; i < block->cta->n_rows; i++) {
        struct exec_row *row = &block->cta->row[i];
        bool is_full = (uint32_t)__builtin_popcount(row->threads) == chip->warp_size;
        if (is_full || !chip->may_leave[first_pc])
            local[i] = row->threads;
        else
            divergence_odgs_add_row(chip, row, row->threads, first_pc, DIVERGENCE_ODGS_NOWHERE, &chip->fresh);
    }
    divergence_compact_admit(&model->compact, state->compact, block, local, cycle);
}

bool divergence_odgs_pull_tbc(const struct divergence_odgs_sm *model, uint32_t n_free, uint64_t cycle) {
    const struct divergence_odgs_chip *chip = model->chip;
    return chip->options.local == DIVERGENCE_ODGS_LOCAL_TBC && !chip->full.first && n_free >= chip->block_rows &&
           model->setup.host->chip->pull_block(model->setup.sm, cycle);
}
