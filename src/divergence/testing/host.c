/* The fixture: the functions of an SM that a model calls. Groups are in slots, and loads that wait belong to them. */
#include "divergence/testing/internal.h"

struct fixture_slot *fixture_slot_of(struct fixture_sm *sm, const struct divergence_group *group) {
    assert_true(group->slot >= 0 && group->slot < (int)sm->f->n_slots);
    struct fixture_slot *slot = &sm->slot[group->slot];
    assert_ptr_equal(slot->group, group);
    return slot;
}

void fixture_note(struct fixture_slot *slot) {
    slot->pc = slot->group->pc;
    slot->mask = slot->group->mask;
    slot->status = slot->group->status;
}

static bool fixture_place(void *handle, struct divergence_group *group, uint64_t cycle) {
    struct fixture_sm *sm = handle;
    (void)cycle;
    assert_int_equal(group->slot, DIVERGENCE_NO_SLOT);
    for (uint32_t s = 0; s < sm->f->n_slots; s++)
        if (!sm->slot[s].group) {
            sm->slot[s] = (struct fixture_slot){.group = group, .access = sm->access[s]};
            group->slot = (int)s;
            sm->n_used = s < sm->n_used ? sm->n_used : s + 1;
            if (group->warp_id == DIVERGENCE_NO_WARP)
                group->warp_id = s;
            fixture_note(&sm->slot[s]);
            return true;
        }
    return false;
}

static void fixture_wake(void *handle, struct divergence_group *group, uint64_t cycle) {
    (void)cycle;
    fixture_note(fixture_slot_of(handle, group));
}

void fixture_vacate(struct fixture_slot *slot) {
    slot->group->slot = DIVERGENCE_NO_SLOT;
    slot->group = NULL;
}

static void fixture_evict(void *handle, struct divergence_group *group, uint64_t cycle) {
    (void)cycle;
    if (group->slot == DIVERGENCE_NO_SLOT)
        return;
    struct fixture_slot *slot = fixture_slot_of(handle, group);
    assert_true(slot->n_accesses == 0 || ((struct fixture_sm *)handle)->f->ops->tracks_lanes);
    fixture_vacate(slot);
}

static bool fixture_is_in_flight(void *handle, const struct divergence_group *group, uint64_t cycle) {
    (void)cycle;
    return group->slot != DIVERGENCE_NO_SLOT && fixture_slot_of(handle, group)->n_accesses > 0;
}

static bool fixture_split(void *handle, struct divergence_group *from, struct divergence_group *to, uint64_t cycle) {
    struct fixture_sm *sm = handle;
    struct fixture_slot *source = fixture_slot_of(sm, from);
    const struct fixture_access *ended = sm->reported ? sm->reported : &source->access[0];
    assert_true(source->n_accesses > 0 && (sm->reported || source->n_accesses == 1));
    if (!fixture_place(sm, to, cycle))
        return false;
    struct fixture_slot *target = fixture_slot_of(sm, to);
    for (uint32_t i = 0; i < source->n_accesses; i++) {
        struct fixture_access *access = &source->access[i];
        if (access->tag == ended->tag && access->pc == ended->pc)
            access->lanes &= from->mask;
        else
            target->access[target->n_accesses++] = *access;
    }
    fixture_note(source);
    return true;
}

static uint32_t fixture_arrived(void *handle, const struct divergence_group *group) {
    struct fixture_sm *sm = handle;
    const struct fixture_slot *slot = fixture_slot_of(sm, group);
    uint32_t missing = 0;
    if (slot->n_accesses != 1)
        return 0;
    for (uint32_t left = slot->access[0].lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        missing |= (uint32_t)(slot->access[0].arrives[lane] > sm->f->cycle) << lane;
    }
    return ~missing;
}

static uint64_t fixture_answered_from(void *handle, const struct divergence_group *group) {
    const struct fixture_sm *sm = handle;
    return fixture_slot_of(handle, group)->n_accesses == 1 ? sm->f->cycle + 1 : 0;
}

static uint32_t fixture_hit(void *handle, const struct divergence_group *group) {
    const struct fixture_slot *slot = fixture_slot_of(handle, group);
    return slot->n_accesses == 1 ? ~slot->access[0].missed : 0;
}

bool fixture_is_control(const struct fixture *f, const struct exec_insn *insn) {
    return insn->kind > EXEC_KIND_WARP || (f->ops->splits_rows && insn->kind == EXEC_KIND_WARP) ||
           (f->ops->splits_rows && !f->ops->gathers_rows && insn->kind == EXEC_KIND_WARP_MEMORY);
}

bool fixture_awaits(const struct fixture_sm *sm, const struct exec_row *row, uint32_t mask) {
    for (uint32_t s = 0; s < sm->n_used; s++)
        for (uint32_t i = 0; sm->slot[s].group && i < sm->slot[s].n_accesses; i++) {
            const struct fixture_access *access = &sm->slot[s].access[i];
            for (uint32_t left = access->row == row ? access->lanes & mask : 0; left; left &= left - 1)
                if (access->arrives[__builtin_ctz(left)] > sm->f->cycle)
                    return true;
        }
    return false;
}

bool fixture_can_step(const struct fixture_sm *sm, uint32_t s) {
    const struct fixture_slot *slot = &sm->slot[s];
    const struct divergence_group *group = slot->group;
    if (!group || group->status == DIVERGENCE_WAITS || group->status == DIVERGENCE_ENDED)
        return false;
    if (group->status == DIVERGENCE_DRAINS)
        return slot->n_accesses == 0;
    if (group->is_blocked || group->ready_cycle > sm->f->cycle)
        return false;
    if (slot->n_accesses && group->overlaps) {
        const struct exec_insn *insn = &sm->f->program->code[group->pc];
        return !fixture_is_control(sm->f, insn) || insn->kind == EXEC_KIND_BRANCH;
    }
    if (sm->f->ops->tracks_lanes && !sm->f->runs_ahead)
        return !fixture_awaits(sm, group->row, group->mask);
    return slot->n_accesses == 0 || sm->f->runs_ahead;
}

static bool fixture_others_wait(void *handle, const struct divergence_group *group) {
    struct fixture_sm *sm = handle;
    for (uint32_t s = 0; s < sm->n_used; s++)
        if (sm->slot[s].group != group && fixture_can_step(sm, s))
            return false;
    return true;
}

uint32_t fixture_free_slots(const void *handle) {
    const struct fixture_sm *sm = handle;
    uint32_t n = sm->f->n_slots - sm->n_used;
    for (uint32_t s = 0; s < sm->n_used; s++)
        n += !sm->slot[s].group;
    return n;
}

static uint64_t fixture_data_ready(void *handle, const struct divergence_group *group, uint32_t pc, uint32_t mask) {
    (void)pc;
    return fixture_awaits(handle, group->row, mask) ? UINT64_MAX : 0;
}

static void fixture_count_others(void *handle, const struct divergence_group *group, uint32_t *others,
                                 uint32_t *waiting) {
    const struct fixture_sm *sm = handle;
    *others = *waiting = 0;
    for (uint32_t s = 0; s < sm->n_used; s++) {
        bool is_other = sm->slot[s].group && sm->slot[s].group != group;
        *others += is_other;
        *waiting += is_other && sm->slot[s].group->status == DIVERGENCE_RUNS && sm->slot[s].is_stalled;
    }
}

static void fixture_activity(void *handle, uint64_t *active, uint64_t *waiting) {
    const struct fixture_sm *sm = handle;
    *active = sm->f->active_cycles;
    *waiting = sm->f->waiting_cycles;
}

static void fixture_call_at(void *handle, uint64_t cycle) {
    struct fixture_sm *sm = handle;
    sm->call_at = cycle < sm->call_at ? cycle : sm->call_at;
}

static void fixture_block_ended(void *handle, struct divergence_block *block) {
    struct fixture_sm *sm = handle;
    struct fixture_block *entry = (struct fixture_block *)block; /* its first member */
    for (uint32_t i = 0; i < block->cta->n_rows; i++)
        assert_int_equal(block->cta->row[i].live, 0);
    assert_true(entry->is_in_flight);
    entry->is_in_flight = false;
    sm->f->n_finished++;
}

static bool fixture_place_at(void *handle, struct divergence_group *group, uint64_t first, uint64_t cycle) {
    (void)first; /* blocks of an untimed device start at once */
    return fixture_place(handle, group, cycle);
}

bool fixture_pull_block(void *handle, uint64_t cycle) {
    struct fixture_sm *sm = handle;
    struct fixture *f = sm->f;
    for (uint32_t i = 0; i < f->blocks_per_sm && f->next_block < f->grid.shape.grid[0]; i++) {
        struct fixture_block *entry = &sm->block[i];
        if (entry->is_in_flight)
            continue;
        exec_cta_start(entry->block.cta, f->next_block++, sm->index);
        entry->is_in_flight = true;
        f->ops->admit(sm->model, &entry->block, cycle);
        return true;
    }
    return false;
}

static const struct divergence_split_host splits = {
    .split = fixture_split,
    .arrived = fixture_arrived,
    .hit = fixture_hit,
    .answered_from = fixture_answered_from,
    .others_wait = fixture_others_wait,
    .data_ready = fixture_data_ready,
    .count_others = fixture_count_others,
    .activity = fixture_activity,
};
static const struct divergence_chip_host chip = {
    .call_at = fixture_call_at, .pull_block = fixture_pull_block, .place_at = fixture_place_at};
const struct divergence_host fixture_host = {
    .place = fixture_place,
    .wake = fixture_wake,
    .evict = fixture_evict,
    .is_in_flight = fixture_is_in_flight,
    .free_slots = fixture_free_slots,
    .block_ended = fixture_block_ended,
    .splits = &splits,
    .chip = &chip,
};
