/* Issue for models that send several instructions (mimd, interweave, vws) or several groups (dws:merge=dwf) into the
 * lanes in one cycle: struct divergence_joint_ops. The scoreboards of single lanes are in lanes.c. */
#include "sm/internal.h"

static bool is_held(const struct sm *sm, uint32_t s) { return sm->wide && sched_has(&sm->wide->held, s); }

/* Issues the groups that join the picked one, as parts of its instruction. The policy does not learn about them. A part
 * may change or end the groups after it. */
static uint32_t issue_followers(struct sm *sm, uint32_t scheduler, uint32_t pc, uint64_t cycle) {
    uint32_t lanes = 0;
    for (uint32_t word = 0; word < sm->slots.n_words; word++)
        for (uint64_t left = sm->slots.ready.word[word] & sm->schedulers.slots[scheduler].word[word]; left;
             left &= left - 1) {
            uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
            const struct sm_slot *slot = &sm->slots.slot[s];
            if (slot->state != SM_SLOT_READY || slot->group->pc != pc || !slot->group->row || is_held(sm, s) ||
                !sm->divergence->joint->follows(sm->model, slot->group))
                continue;
            lanes += sm_issue_row(sm, scheduler, s, cycle);
            if (sm_has_fault(sm))
                return lanes;
            sm_prepare(sm, s, cycle);
        }
    return lanes;
}

/* Returns the slot of a group that issues with others, with an instruction of its own, or SM_NO_SLOT. `units`: those
 * that took an instruction of this scheduler when the cycle began. */
static int find_next(const struct sm *sm, uint32_t scheduler, uint32_t units) {
    struct divergence_group *ready[SCHED_MAX_SLOTS];
    uint32_t n = 0;
    for (uint32_t word = 0; word < sm->slots.n_words; word++)
        for (uint64_t left = sm->slots.ready.word[word] & sm->schedulers.slots[scheduler].word[word]; left;
             left &= left - 1) {
            uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
            const struct sm_slot *slot = &sm->slots.slot[s];
            bool has_room = slot->unit != SM_UNIT_LDST || sm_ldst_has_room(&sm->ldst);
            if (units >> slot->unit & 1 && has_room && slot->group->row && !is_held(sm, s))
                ready[n++] = slot->group;
        }
    int at = n ? sm->divergence->joint->next(sm->model, ready, n) : -1;
    return at < 0 ? SM_NO_SLOT : ready[at]->slot;
}

/* Issues the groups that fill the lanes that the picked one leaves free. The longest of their instructions occupies the
 * scheduler. */
static uint32_t issue_others(struct sm *sm, uint32_t scheduler, uint32_t units, uint64_t cycle) {
    uint64_t *busy_until = &sm->schedulers.busy_until[scheduler];
    uint64_t busy = *busy_until;
    bool is_over = sm->turn.is_over;
    uint32_t lanes = 0;
    for (int s; !sm_has_fault(sm) && (s = find_next(sm, scheduler, units)) != SM_NO_SLOT;) {
        lanes += sm_issue_row(sm, scheduler, (uint32_t)s, cycle);
        is_over |= sm->turn.is_over;
        busy = *busy_until > busy ? *busy_until : busy;
        if (!sm_has_fault(sm))
            sm_prepare(sm, (uint32_t)s, cycle);
    }
    sm->turn.is_over = is_over;
    *busy_until = busy;
    return lanes;
}

static void issue_together(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    const struct divergence_group *group = sm->slots.slot[s].group;
    uint32_t pc = group->pc, units = sm_units_free(&sm->units, scheduler, cycle);
    bool leads = group->row && sm->divergence->joint->leads && sm->divergence->joint->leads(sm->model, group);
    uint32_t lanes = sm_issue_picked(sm, scheduler, s, cycle);
    if (leads && !sm_has_fault(sm))
        lanes += sm->divergence->joint->next ? issue_others(sm, scheduler, units, cycle)
                                             : issue_followers(sm, scheduler, pc, cycle);
    sm_count_issue(sm, lanes);
}

/* With a scoreboard for each lane: issues the ready lanes of the picked group, and fills the remaining lanes from the
 * other ready groups. The policy learns only about the picked one. */
static void issue_lanes(struct sm *sm, uint32_t scheduler, uint32_t picked, uint64_t cycle) {
    uint32_t units = sm_units_free(&sm->units, scheduler, cycle), left = ~0u, lanes = 0;
    struct sched_set groups = sched_and(&sm->slots.ready, &sm->schedulers.slots[scheduler]);
    if (sm->wide)
        groups = sched_and_not(&groups, &sm->wide->held);
    for (int s = (int)picked; s != SCHED_NONE && left; s = sched_first(&groups)) {
        bool is_last;
        uint32_t ready = 0;
        sched_remove(&groups, (uint32_t)s);
        if (sm->slots.slot[s].state == SM_SLOT_READY) /* the groups before it may have changed that */
            ready = sm_lanes_ready(sm, (uint32_t)s, units, left, cycle);
        if (!ready)
            continue;
        lanes += sm_issue_bundles(sm, scheduler, (uint32_t)s, ready, &is_last, cycle);
        left &= ~ready;
        if (sm_has_fault(sm))
            break;
        if ((uint32_t)s == picked) {
            sm_schedulers_issued(&sm->schedulers, scheduler, picked, cycle);
        }
        sm_prepare(sm, (uint32_t)s, cycle);
    }
    sm_count_issue(sm, lanes);
}

void sm_issue_jointly(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    if (sm->lanes.ready)
        issue_lanes(sm, scheduler, s, cycle);
    else
        issue_together(sm, scheduler, s, cycle);
}
