/* The functions of an SM that its divergence model calls (divergence.h, struct divergence_host) to place, wake, split
 * and evict groups. */
#include "sm/internal.h"

/* A group that changes now may issue from the next cycle on; before the schedulers have picked, from the current cycle
 * on. */
static uint64_t cycle_before(const struct sm *sm, uint64_t cycle) { return sm->turn.is_waking ? cycle - 1 : cycle; }

/* Accounts the cycles before this one. This cycle is accounted by its own tick, or by the SM when it wakes. */
static void settle(struct sm *sm, uint64_t cycle) {
    if (cycle)
        sm_catch_up(sm, cycle - 1);
}

/* Wakes the SM, which may be asleep, unless it is waking slots in the current cycle. */
static void ask_for_tick(const struct sm *sm, uint64_t cycle) {
    if (!sm->turn.is_waking)
        sm->dispatcher.wake(sm->dispatcher.user, sm->index, cycle + 1);
}

static uint32_t free_slots(const void *user) {
    const struct sm *sm = user;
    return sm->slots.n_usable - sm_slots_n_occupied(&sm->slots);
}

/* `from`: the slot of the group from which it was split; SM_NO_SLOT: none, or that of the running hook. */
static void occupy(struct sm *sm, uint32_t s, struct divergence_group *group, int from, uint64_t cycle) {
    uint64_t first = cycle + 1 > sm->blocks.start ? cycle + 1 : sm->blocks.start;
    if (sm_slots_n_occupied(&sm->slots) == 0)
        sm->empty_arrived = sm->counters.stall_empty;
    sm_slots_occupy(&sm->slots, s, group, first);
    sm->slots.slot[s].grid = (uint8_t)sm->grids.current;
    if (sm->lanes.ready)
        sm_lanes_clear(sm, s);
    if (sm->boards.board)
        sm_boards_arrive(sm, s);
    sm_schedulers_arrive(&sm->schedulers, s, &sm->slots.slot[s], cycle);
    if (sm->follower)
        sm_observe_arrival(sm, s, from);
}

static bool place(void *user, struct divergence_group *group, uint64_t cycle) {
    struct sm *sm = user;
    int s = sm->boards.board ? sm_boards_find_slot(sm, group->row) : sm_slots_find_free(&sm->slots, 0, 1);
    if (s == SM_NO_SLOT)
        return false;
    settle(sm, cycle);
    occupy(sm, (uint32_t)s, group, SM_NO_SLOT, cycle_before(sm, cycle));
    sm_prepare(sm, (uint32_t)s, cycle_before(sm, cycle));
    ask_for_tick(sm, cycle);
    return true;
}

static void wake(void *user, struct divergence_group *group, uint64_t cycle) {
    struct sm *sm = user;
    if (group->slot == DIVERGENCE_NO_SLOT)
        return;
    settle(sm, cycle);
    if (sm->follower)
        sm_observe_wake(sm, (uint32_t)group->slot);
    if (sm->lanes.ready)
        sm_lanes_changed(sm, (uint32_t)group->slot);
    if (sm->barrier_end && sm->slots.slot[group->slot].fetch_ready < sm->barrier_end)
        sm->slots.slot[group->slot].fetch_ready = sm->barrier_end;
    if (sm->blocks.start) { /* the barrier of a cluster releases the block */
        struct sm_slot *slot = &sm->slots.slot[group->slot];
        if (slot->fetch_ready != SM_NEVER && slot->fetch_ready < sm->blocks.start)
            slot->fetch_ready = sm->blocks.start;
        sm_prepare(sm, (uint32_t)group->slot, cycle);
        sm->dispatcher.wake(sm->dispatcher.user, sm->index, sm_wheel_next(&sm->wheel, cycle));
        return;
    }
    sm_prepare(sm, (uint32_t)group->slot, cycle_before(sm, cycle));
    ask_for_tick(sm, cycle);
}

void sm_finish_slot(struct sm *sm, uint32_t s) {
    sm_schedulers_leave(&sm->schedulers, s);
    if (sm->boards.board)
        sm_boards_leave(sm, s);
    sched_remove(&sm->fetch.refused, s);
    if (sm->slots.slot[s].waits_for_copies)
        sm_copies_forget(sm, s);
    sm_slots_release(&sm->slots, s);
    sm->has_freed_slot = true;
}

static void evict(void *user, struct divergence_group *group, uint64_t cycle) {
    struct sm *sm = user;
    if (group->slot == DIVERGENCE_NO_SLOT)
        return;
    settle(sm, cycle);
    bool has_freed_slot = sm->has_freed_slot;
    if (sm->follower)
        sm_observe_departure(sm, (uint32_t)group->slot, true);
    sm_finish_slot(sm, (uint32_t)group->slot);
    sm->has_freed_slot = has_freed_slot;
}

static bool is_in_flight(void *user, const struct divergence_group *group, uint64_t cycle) {
    const struct sm *sm = user;
    if (group->slot == DIVERGENCE_NO_SLOT)
        return false;
    const struct sm_slot *slot = &sm->slots.slot[group->slot];
    bool waits_for_all = !sm_has_scoreboard(sm);
    uint64_t next = cycle_before(sm, cycle) + 1;
    return slot->is_continued || slot->waits_for_copies || (waits_for_all ? slot->n_accesses : slot->n_loads) ||
           slot->fetch_ready > next || (!waits_for_all && slot->result_ready > next);
}

/* Returns the group's only access in flight, or NULL if there are none or several. */
static const struct sm_request *only_access(const struct sm *sm, const struct divergence_group *group) {
    if (group->slot == DIVERGENCE_NO_SLOT || sm->slots.slot[group->slot].n_accesses != 1)
        return NULL;
    for (uint32_t i = 0; i < sm->ldst.n_touched; i++)
        if (sm->ldst.request[i].is_used && sm->ldst.request[i].slot == (uint32_t)group->slot &&
            sm->ldst.request[i].age == sm->slots.slot[group->slot].age)
            return &sm->ldst.request[i];
    return NULL;
}

static uint32_t arrived(void *user, const struct divergence_group *group) {
    const struct sm_request *request = only_access(user, group);
    return request ? ~sm_request_missing(request) : 0;
}

static uint32_t hit(void *user, const struct divergence_group *group) {
    const struct sm_request *request = only_access(user, group);
    return request && sm_request_is_answered(request) ? ~request->missed : 0;
}

static uint64_t answered_from(void *user, const struct divergence_group *group) {
    const struct sm *sm = user;
    const struct sm_request *request = only_access(sm, group);
    if (!request)
        return 0;
    const struct sm_slot *slot = &sm->slots.slot[group->slot];
    return sm_has_scoreboard(sm) && slot->result_ready > request->ready ? slot->result_ready : request->ready;
}

static bool split(void *user, struct divergence_group *from, struct divergence_group *to, uint64_t cycle) {
    struct sm *sm = user;
    const struct sm_request *request = only_access(sm, from);
    int s = sm_slots_find_free(&sm->slots, (uint32_t)from->slot % sm->schedulers.n, sm->schedulers.n);
    if (!request || s == SM_NO_SLOT)
        return false;
    const struct sm_slot *old = &sm->slots.slot[from->slot];
    struct sm_slot *slot = &sm->slots.slot[s];
    settle(sm, cycle);
    occupy(sm, (uint32_t)s, to, from->slot, cycle_before(sm, cycle));
    for (uint32_t i = 0; i < sm->slots.n_registers; i++) {
        bool is_in_flight = old->register_ready[i] == SM_NEVER;
        slot->register_ready[i] = is_in_flight ? request->ready : old->register_ready[i];
    }
    slot->fetch_line = old->fetch_line;
    slot->result_ready = old->result_ready > request->ready ? old->result_ready : request->ready;
    if (!sm_has_scoreboard(sm) && request->ready > slot->fetch_ready)
        slot->fetch_ready = request->ready;
    if (old->fetch_ready != SM_NEVER && old->fetch_ready > slot->fetch_ready)
        slot->fetch_ready = old->fetch_ready;
    sm_prepare(sm, (uint32_t)s, cycle_before(sm, cycle));
    sm_prepare(sm, (uint32_t)from->slot, cycle_before(sm, cycle));
    ask_for_tick(sm, cycle);
    return true;
}

static bool others_wait(void *user, const struct divergence_group *group) {
    const struct sm *sm = user;
    bool is_awake = group->slot != DIVERGENCE_NO_SLOT && sm_slot_is_awake(&sm->slots.slot[group->slot]);
    return sm_slots_n_awake(&sm->slots) == is_awake;
}

static uint64_t data_ready(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask) {
    const struct sm *sm = user;
    return sm_boards_data(sm, group, &sm->program->timing[pc], mask);
}

static void count_others(void *user, const struct divergence_group *group, uint32_t *others, uint32_t *waiting) {
    const struct sm *sm = user;
    *others = sm_slots_n_occupied(&sm->slots) - 1;
    *waiting = sm->slots.n_in_state[SM_SLOT_MEMORY] - (sm->slots.slot[group->slot].state == SM_SLOT_MEMORY);
}

static void activity(void *user, uint64_t *active, uint64_t *waiting) {
    const struct sm *sm = user;
    *active = sm->counters.active_cycles;
    *waiting = sm->counters.stall_memory;
}

static void call_at(void *user, uint64_t cycle) {
    struct sm *sm = user;
    if (cycle < sm->model_wake) {
        sm->model_wake = cycle;
        sm->slots.quiet_until = 0;
    }
    sm->dispatcher.wake(sm->dispatcher.user, sm->index, cycle);
}

static bool place_at(void *user, struct divergence_group *group, uint64_t first, uint64_t cycle) {
    struct sm *sm = user;
    uint64_t start = sm->blocks.start; /* of a block that starts now */
    sm->blocks.start = first;
    bool is_placed = place(user, group, cycle);
    sm->blocks.start = start;
    return is_placed;
}

static bool pull_block(void *user, uint64_t cycle) {
    struct sm *sm = user;
    return sm->dispatcher.pull_block(sm->dispatcher.user, sm->index, cycle);
}

static void block_ended(void *user, struct divergence_block *block) { sm_end_block(user, block); }

const struct divergence_host sm_divergence_host = {
    .place = place,
    .wake = wake,
    .evict = evict,
    .is_in_flight = is_in_flight,
    .free_slots = free_slots,
    .block_ended = block_ended,
    .splits = &(const struct divergence_split_host){.split = split,
                                                    .answered_from = answered_from,
                                                    .arrived = arrived,
                                                    .hit = hit,
                                                    .others_wait = others_wait,
                                                    .data_ready = data_ready,
                                                    .count_others = count_others,
                                                    .activity = activity},
    .chip = &(const struct divergence_chip_host){.call_at = call_at, .pull_block = pull_block, .place_at = place_at},
};
