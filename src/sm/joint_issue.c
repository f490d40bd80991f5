/* Issue for models that send several instructions (mimd, sbi, vws) or several groups (dws:merge=dwf) into the lanes in
 * one cycle: struct divergence_joint_ops. The scoreboards of single lanes are in lanes.c. */
#include "sm/internal.h"

/* Returns whether the group in the slot may issue with others, in lanes that they leave free. `units`: those that took
 * an instruction of this scheduler when the cycle began. */
static bool may_follow(const struct sm *sm, uint32_t s, uint32_t pc, uint32_t units) {
    const struct sm_slot *slot = &sm->slots.slot[s];
    if (slot->state != SM_SLOT_READY || !slot->group->row || (sm->wide && sched_has(&sm->wide->held, s)))
        return false;
    if (!sm->divergence->joint->mixes_pcs)
        return slot->group->pc == pc;
    return units >> slot->unit & 1 && (slot->unit != SM_UNIT_LDST || sm_ldst_has_room(&sm->ldst));
}

/* Issues the groups that join the picked one, as parts of its instruction or with instructions of their own. The policy
 * does not learn about them. A part may change or end the groups after it. */
static uint32_t issue_followers(struct sm *sm, uint32_t scheduler, uint32_t pc, uint32_t units, uint64_t cycle) {
    uint32_t lanes = 0;
    uint64_t busy = sm->schedulers.busy_until[scheduler];
    bool is_over = sm->turn.is_over;
    for (uint32_t word = 0; word < sm->slots.n_words; word++)
        for (uint64_t left = sm->slots.ready.word[word] & sm->schedulers.slots[scheduler].word[word]; left;
             left &= left - 1) {
            uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (!may_follow(sm, s, pc, units) || !sm->divergence->joint->follows(sm->model, sm->slots.slot[s].group))
                continue;
            lanes += sm_issue_row(sm, scheduler, s, cycle);
            is_over |= sm->turn.is_over;
            busy = sm->schedulers.busy_until[scheduler] > busy ? sm->schedulers.busy_until[scheduler] : busy;
            if (sm_has_fault(sm))
                return lanes;
            sm_prepare(sm, s, cycle);
        }
    if (sm->divergence->joint->mixes_pcs) { /* the longest of them counts */
        sm->turn.is_over = is_over;
        sm->schedulers.busy_until[scheduler] = busy;
    }
    return lanes;
}

static void issue_together(struct sm *sm, uint32_t scheduler, uint32_t s, uint64_t cycle) {
    const struct divergence_group *group = sm->slots.slot[s].group;
    uint32_t pc = group->pc, units = sm_units_free(&sm->units, scheduler, cycle);
    bool leads = group->row && sm->divergence->joint->leads && sm->divergence->joint->leads(sm->model, group);
    uint32_t lanes = sm_issue_picked(sm, scheduler, s, cycle);
    if (leads && !sm_has_fault(sm))
        lanes += issue_followers(sm, scheduler, pc, units, cycle);
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
