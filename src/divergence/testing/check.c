/* The fixture: checks the invariants after every step. */
#include "divergence/testing/internal.h"

static bool fixture_find_row(struct fixture_census *census, const struct exec_row *row) {
    const struct fixture *f = census->f;
    for (uint32_t i = 0; i < f->n_sms; i++)
        for (uint32_t b = 0; b < f->blocks_per_sm; b++)
            if (&f->sm[i].block[b].block.cta->block == row->block) {
                census->row = row;
                census->at = (size_t)(i * f->blocks_per_sm + b) * census->n_rows + row->index;
                return true;
            }
    return false;
}

static void fixture_count_thread(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane) {
    struct fixture_census *census = user;
    if (row != census->row && !fixture_find_row(census, row)) {
        census->is_stray = true;
        return;
    }
    census->again[census->at] |= census->named[census->at] & 1u << lane;
    census->named[census->at] |= 1u << lane;
    if (census->f->is_lane_aware)
        census->group_of[census->at * EXEC_LANES + lane] = group;
}

static void fixture_check_lanes(const struct fixture_census *census, size_t n_rows) {
    for (size_t i = 0; i < n_rows; i++)
        for (uint32_t left = census->named[i]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left);
            const struct divergence_group *group = census->group_of[i * EXEC_LANES + lane];
            for (size_t j = i + 1; group && j < n_rows; j++)
                if (census->named[j] >> lane & 1 && group == census->group_of[j * EXEC_LANES + lane])
                    fail_msg("lane %u has two threads in one group at pc %u", lane, group->pc);
        }
}

void fixture_check(struct fixture *f) {
    uint32_t rows_per_block = f->sm[0].block[0].block.cta->n_rows;
    size_t n_rows = (size_t)f->n_sms * f->blocks_per_sm * rows_per_block;
    struct fixture_census *census = &f->census; /* zeroed as far as it is used: this runs after every step */
    census->f = f;
    census->n_rows = rows_per_block;
    census->is_stray = false;
    census->row = NULL;
    memset(census->named, 0, n_rows * sizeof *census->named);
    memset(census->again, 0, n_rows * sizeof *census->again);
    for (uint32_t i = 0; i < f->n_sms; i++)
        for (uint32_t b = 0; b < f->blocks_per_sm; b++)
            if (f->sm[i].block[b].is_in_flight)
                f->ops->visit(f->sm[i].model, &f->sm[i].block[b].block, fixture_count_thread, census);
    assert_false(census->is_stray);
    for (size_t at = 0; at < n_rows; at++) {
        const struct fixture_block *entry =
            &f->sm[at / rows_per_block / f->blocks_per_sm].block[at / rows_per_block % f->blocks_per_sm];
        uint32_t row = (uint32_t)(at % rows_per_block),
                 live = entry->is_in_flight ? entry->block.cta->row[row].live : 0;
        uint32_t wrong = (census->named[at] ^ live) | census->again[at];
        if (wrong)
            fail_msg("thread %d of row %u, block %u is %s by visit()", __builtin_ctz(wrong), row,
                     entry->block.cta->block.index,
                     census->again[at] & wrong & -wrong   ? "named twice"
                     : census->named[at] & wrong & -wrong ? "not alive and named"
                                                          : "alive and not named");
    }
    if (f->is_lane_aware)
        fixture_check_lanes(census, n_rows);
}

/* Groups that have ended leave; all others are as their slots know them. `own` is the one whose hook ran. */
static void fixture_settle(struct fixture_sm *sm, const struct divergence_group *own) {
    for (bool again = true; again;) {
        again = false;
        for (uint32_t s = 0; s < sm->n_used; s++) {
            struct fixture_slot *slot = &sm->slot[s];
            if (!slot->group)
                continue;
            bool is_known = slot->status == slot->group->status &&
                            (slot->status != DIVERGENCE_RUNS ||
                             (slot->pc == slot->group->pc && (!slot->group->row || slot->mask == slot->group->mask)));
            if (!is_known && slot->group != own)
                fail_msg("the group in slot %u at pc %u has been changed and not woken", s, slot->group->pc);
            fixture_note(slot);
            if (slot->group->status == DIVERGENCE_RUNS && slot->group->row)
                assert_true(slot->mask && !(slot->mask & ~slot->group->row->live));
            if (slot->group->status != DIVERGENCE_ENDED)
                continue;
            fixture_vacate(slot);
            own = NULL;
            if (sm->f->ops->refill)
                sm->f->ops->refill(sm->model, sm->f->cycle);
            again = true;
        }
    }
}

void fixture_after(struct fixture_sm *sm, const struct divergence_group *own) {
    struct fixture *f = sm->f;
    if (sm->cx.fault.kind) {
        if (!f->expects_fault)
            fail_msg("fault %d in lane %u, address 0x%llx: %s", sm->cx.fault.kind, sm->cx.fault.lane,
                     (unsigned long long)sm->cx.fault.address, sm->cx.fault.detail);
        return;
    }
    for (uint32_t i = 0; i < f->n_sms; i++)
        fixture_settle(&f->sm[i], own);
    for (uint32_t i = 0; i < f->n_sms && !f->ops->chip; i++)
        while (fixture_free_slots(&f->sm[i]) >= f->sm[i].block[0].block.cta->n_rows &&
               fixture_pull_block(&f->sm[i], f->cycle)) {
        }
    if (!f->checks_nothing && ++f->n_changes % FIXTURE_CHECK_EVERY == 0)
        fixture_check(f);
}
