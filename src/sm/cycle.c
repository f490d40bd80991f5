/* One cycle of an SM: wake, load/store, pick, issue; then the choice of the next cycle. */
#include <assert.h>
#include <string.h>

#include "divergence/parts/threads.h"
#include "exec/memory/stores.h"
#include "sm/prepare.h"

/* The usual tick is compiled a second time for plain SMs, without the parts that these do not have. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Wakes a slot that slept until this cycle. */
static __attribute__((noinline)) void wake_slot(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[s];
    if ((slot->state != SM_SLOT_DEPENDENCY && slot->state != SM_SLOT_FETCH) || slot->wake == SM_NEVER)
        return;               /* it now waits for something else */
    if (slot->wake > cycle) { /* beyond the wheel's range, or postponed since */
        sm_sleep_until(sm, s, cycle, slot->wake);
        return;
    }
    if (slot->is_draining) {
        sm_schedulers_wake(&sm->schedulers, s, cycle);
        slot->is_draining = false;
        sm_use_slot(sm, s);
        if (sm->follower)
            sm_observe_hook(sm, s);
        sm->divergence->resume(sm->model, slot->group, cycle);
        if (sm->lanes.ready)
            sm_lanes_changed(sm, s);
        sm_prepare(sm, s, cycle - 1);
        return;
    }
    __builtin_prefetch(slot->group);
    sm_slots_set_state(&sm->slots, s, SM_SLOT_READY);
    sm_schedulers_wake(&sm->schedulers, s, cycle);
}

/* Makes slots of a word ready whose own state says so already. */
static inline void make_ready(struct sm *sm, uint64_t slots, uint32_t word) {
    if (!slots)
        return;
    sm->slots.quiet_until = 0;
    sm->slots.ready.word[word] |= slots;
    sm_schedulers_wake_word(&sm->schedulers, slots, word);
}

/* Wakes those slots of a word of a set that the I-cache has not refused. Most only become ready. Those do so together,
 * up to the next of the others, whose model may look at them and change them. */
static inline void wake_word(struct sm *sm, uint64_t woken, uint32_t word, uint64_t cycle) {
    uint64_t ready = 0;
    for (uint64_t left = woken; left; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(left), s = word * 64 + bit;
        struct sm_slot *slot = &sm->slots.slot[s];
        bool sleeps = slot->state == SM_SLOT_DEPENDENCY || slot->state == SM_SLOT_FETCH;
        if (!sleeps || slot->wake > cycle || slot->is_draining || sm->schedulers.sees_waits) {
            make_ready(sm, ready, word);
            ready = 0;
            if (!sched_has(&sm->fetch.refused, s))
                wake_slot(sm, s, cycle);
            continue;
        }
        __builtin_prefetch(slot->group);
        sm->slots.n_in_state[slot->state]--;
        sm->slots.n_in_state[SM_SLOT_READY]++;
        slot->state = SM_SLOT_READY;
        ready |= UINT64_C(1) << bit;
    }
    make_ready(sm, ready, word);
}

/* Wakes slots until none is due, because a woken group may place or wake others that issue in the same cycle. */
static __attribute__((noinline)) void wake_due_slots(struct sm *sm, uint64_t cycle) {
    do {
        struct sched_set woken = sm_wheel_take(&sm->wheel, cycle);
        if (woken.word[0])
            wake_word(sm, woken.word[0], 0, cycle);
        if (woken.word[1])
            wake_word(sm, woken.word[1], 1, cycle);
    } while (sm_wheel_is_due(&sm->wheel, cycle));
}

static inline void wake_slots(struct sm *sm, uint64_t cycle) {
    if (sm_wheel_is_due(&sm->wheel, cycle))
        wake_due_slots(sm, cycle);
}

/* The same on a plain SM, where the slots that are due usually belong to the first word and only become ready. */
static inline void wake_slots_plainly(struct sm *sm, uint64_t cycle) {
    if (!sm_wheel_is_due(&sm->wheel, cycle))
        return;
    struct sched_set *due = &sm->wheel.slots[cycle % SM_WHEEL_CYCLES];
    uint64_t woken = due->word[0], left = sm->schedulers.sees_waits ? 0 : woken;
    for (; left; left &= left - 1) {
        struct sm_slot *slot = &sm->slots.slot[__builtin_ctzll(left)];
        bool sleeps = slot->state == SM_SLOT_DEPENDENCY || slot->state == SM_SLOT_FETCH;
        if (!sleeps || slot->wake > cycle || slot->is_draining)
            break;
        __builtin_prefetch(slot->group);
        sm->slots.n_in_state[slot->state]--;
        sm->slots.n_in_state[SM_SLOT_READY]++;
        slot->state = SM_SLOT_READY;
    }
    if (!sm->schedulers.sees_waits) {
        due->word[0] = left;
        make_ready(sm, woken ^ left, 0);
    }
    if (due->word[0] | due->word[1]) {
        sm->turn.is_waking = true;
        wake_due_slots(sm, cycle);
        sm->turn.is_waking = false;
    } else {
        sm->wheel.used[cycle % SM_WHEEL_CYCLES / 64] &= ~(UINT64_C(1) << cycle % 64);
    }
}

/* The same with slots that the I-cache has refused: they ask again, in turn among the others, until its port is taken.
 * If all of them found its MSHRs full, and nothing has changed since, they are counted as refused again. */
static __attribute__((noinline)) void wake_slots_and_fetch(struct sm *sm, uint64_t cycle) {
    struct sched_set refused = sm->fetch.refused;
    uint32_t n_refused = sched_count(&refused), n_at_full = sm->fetch.n_at_full;
    bool is_any_due = sm_wheel_is_due(&sm->wheel, cycle);
    if (sm->fetch.is_stuck && !is_any_due) {
        mem_refuse_fetches(sm->mem, sm->index, n_refused);
        return;
    }
    while (sm_wheel_is_due(&sm->wheel, cycle) || !sched_is_empty(&refused)) {
        struct sched_set woken = sm_wheel_take(&sm->wheel, cycle);
        for (uint32_t word = 0; word < sm->slots.n_words; word++)
            for (uint64_t left = woken.word[word] | refused.word[word]; left; left &= left - 1) {
                uint32_t s = word * 64 + (uint32_t)__builtin_ctzll(left);
                if (!sched_has(&sm->fetch.refused, s))
                    wake_slot(sm, s, cycle);
                else if (sched_has(&refused, s) && sm_fetch_has_port(&sm->fetch, cycle)) {
                    sm_use_slot(sm, s);
                    sm_prepare(sm, s, cycle - 1);
                }
            }
        memset(&refused, 0, sizeof refused);
    }
    sm->fetch.is_stuck = !is_any_due && sm->fetch.n_at_full - n_at_full == n_refused;
}

/* Returns the first cycle in which no instruction that takes several cycles occupies a unit, or SM_NEVER while accesses
 * enter the cache one after the other. */
static uint64_t pipeline_free(const struct sm *sm) {
    return sm->ldst.length ? SM_NEVER : sm_units_all_free(&sm->units);
}

static bool is_pipeline_busy(const struct sm *sm, uint64_t cycle) {
    return (sm->ldst.length || sm_units_may_be_busy(&sm->units, cycle)) && pipeline_free(sm) > cycle;
}

/* A barrel is one pipeline in order: an instruction that takes several cycles in a stage stalls all later ones, as
 * serialised accesses do in Narasiman 2011, 2.2. If lanes fetch for themselves (mimd), each is its own pipeline. */
static bool stalls_as_one(const struct sm *sm) { return sm->pipeline == CONFIG_PIPELINE_BARREL && !sm->lanes.ready; }

/* Returns the slot to issue, or SM_NO_SLOT: one of the ready slots whose unit takes an instruction in this cycle. */
ALWAYS_INLINE int pick(struct sm *sm, uint32_t scheduler, uint64_t cycle, bool is_plain) {
    struct sched_set candidates = sched_and(&sm->slots.ready, &sm->schedulers.slots[scheduler]);
    if (sched_is_empty(&candidates) || sm->schedulers.busy_until[scheduler] > cycle)
        return SM_NO_SLOT;
    if (!is_plain && stalls_as_one(sm) && is_pipeline_busy(sm, cycle))
        return SM_NO_SLOT;
    if (!sm_ldst_has_room(&sm->ldst))
        candidates = sched_and_not(&candidates, &sm->units.slots[SM_UNIT_LDST]);
    candidates = sm_units_without_busy(&sm->units, candidates, scheduler, cycle);
    return sm_schedulers_pick(&sm->schedulers, scheduler, &candidates, cycle);
}

/* Returns whether the block may end with the threads of the group: they are in its only live row, or are all live
 * threads of one of its rows. Without a row or threads this is not known. */
static bool may_end_block(const struct divergence_group *group) {
    if (group->row)
        return divergence_cta(group->row)->n_live_rows == 1;
    if (!group->threads)
        return true;
    for (uint32_t left = group->mask; left; left &= left - 1) {
        const struct exec_row *row = group->threads->row[__builtin_ctz(left)];
        uint32_t others = row->live;
        for (uint32_t rest = group->mask; rest; rest &= rest - 1)
            if (group->threads->row[__builtin_ctz(rest)] == row)
                others &= ~(1u << group->threads->lane[__builtin_ctz(rest)]);
        if (!others)
            return true;
    }
    return false;
}

/* Returns whether the group's next instruction may end its block. */
static __attribute__((noinline)) bool may_end(const struct sm *sm, const struct divergence_group *group) {
    return sm->program->exec->code[group->pc].kind == EXEC_KIND_EXIT && may_end_block(group);
}

/* Returns whether the other SMs must reach this cycle before the SM can issue the group's next instruction. */
static inline bool must_wait(const struct sm *sm, uint32_t s, enum sm_freedom freedom) {
    const struct divergence_group *group = sm->slots.slot[s].group;
    if (freedom == SM_APART) {
        const struct sm_timing *timing = &sm->program->timing[group->pc];
        return timing->needs_turn || (timing->reads_memory && exec_stores_are_pending(sm->cx.stores)) ||
               (sm->has_clusters && (sm_cluster_is_seen(sm, group) || may_end(sm, group)));
    }
    if (!sched_has(&sm->slots.next_visible, s))
        return false;
    return sm->program->exec->code[group->pc].kind != EXEC_KIND_EXIT || may_end_block(group);
}

/* Lets one scheduler issue an instruction, and before it any that become no machine instruction. Returns false at a
 * group that must wait, and at a fault. */
ALWAYS_INLINE bool issue_from(struct sm *sm, uint32_t scheduler, int picked, enum sm_freedom freedom, uint64_t cycle,
                              bool is_plain) {
    struct sm_turn *turn = &sm->turn;
    do {
        if (picked == SM_NO_SLOT)
            picked = pick(sm, scheduler, cycle, is_plain);
        if (picked == SM_NO_SLOT)
            return true;
        if (!is_plain)
            sm_use_slot(sm, (uint32_t)picked);
        if (freedom != SM_TOGETHER && must_wait(sm, (uint32_t)picked, freedom)) {
            turn->picked = picked;
            return false;
        }
        turn->is_over = true;
        if (sm->takes_turns && sm->slots.slot[picked].unit == SM_UNIT_LDST)
            sm->first_scheduler = scheduler + 1 < sm->schedulers.n ? scheduler + 1 : 0;
        sm_issue(sm, scheduler, (uint32_t)picked, cycle);
        turn->has_issued = true;
        if (is_plain && sm->prefetches) /* otherwise sm_prepare() has done so */
            sm_prefetch_next(sm, (uint32_t)picked);
        picked = SM_NO_SLOT;
        if (sm_has_fault(sm))
            return false;
    } while (!turn->is_over);
    return true;
}

/* Gives every scheduler its turn. Returns false at a group that must wait. When all SMs have reached this cycle, the
 * next call continues there. */
ALWAYS_INLINE bool schedule(struct sm *sm, enum sm_freedom freedom, uint64_t cycle, bool is_plain) {
    if (!sm->slots.n_in_state[SM_SLOT_READY] || sm_has_fault(sm))
        return true;
    struct sm_turn *turn = &sm->turn;
    uint32_t n = sm->schedulers.n;
    for (int picked = turn->picked; turn->n_over < n; turn->n_over++, picked = SM_NO_SLOT) {
        uint32_t scheduler = turn->first + turn->n_over;
        if (!issue_from(sm, scheduler < n ? scheduler : scheduler - n, picked, freedom, cycle, is_plain))
            return sm_has_fault(sm);
    }
    return true;
}

/* Ready groups that cannot issue wait for a unit or, if a full load/store queue stops all of them, for memory. */
static enum sm_stall why_ready_groups_wait(const struct sm *sm) {
    if (stalls_as_one(sm) && sm->ldst.length && sm->ldst.is_refused)
        return SM_STALL_MEMORY;
    if (sm_ldst_has_room(&sm->ldst))
        return SM_STALL_STRUCTURAL;
    for (uint32_t word = 0; word < sm->slots.n_words; word++)
        if (sm->slots.ready.word[word] & ~sm->units.slots[SM_UNIT_LDST].word[word])
            return SM_STALL_STRUCTURAL;
    return SM_STALL_MEMORY;
}

static enum sm_stall why_idle(const struct sm *sm) {
    static const enum sm_stall by_state[] = {SM_STALL_MEMORY, SM_STALL_DEPENDENCY, SM_STALL_FETCH, SM_STALL_BARRIER};
    if (sm->slots.n_in_state[SM_SLOT_READY])
        return why_ready_groups_wait(sm);
    for (int state = SM_SLOT_MEMORY; state < SM_N_STATES; state++)
        if (sm->slots.n_in_state[state])
            return by_state[state - SM_SLOT_MEMORY];
    return SM_STALL_EMPTY;
}

/* Returns the cycle in which a ready group may find its unit free, or SM_NEVER if all of them wait for room in the
 * load/store queue. */
static uint64_t next_issue(const struct sm *sm, uint64_t cycle) {
    bool ldst_is_full = !sm_ldst_has_room(&sm->ldst);
    uint64_t next = SM_NEVER;
    if (stalls_as_one(sm) && pipeline_free(sm) > cycle)
        return pipeline_free(sm);
    struct sched_set others = sched_and_not(&sm->slots.ready, &sm->units.slots[SM_UNIT_LDST]);
    if (ldst_is_full && sched_is_empty(&others))
        return SM_NEVER;
    for (uint32_t k = 0; k < sm->schedulers.n; k++)
        for (int unit = 0; unit < SM_N_UNITS; unit++) {
            uint64_t any = 0;
            for (uint32_t word = 0; word < sm->slots.n_words; word++)
                any |=
                    sm->slots.ready.word[word] & sm->schedulers.slots[k].word[word] & sm->units.slots[unit].word[word];
            if (!any || (unit == SM_UNIT_LDST && ldst_is_full))
                continue;
            uint64_t free = sm_units_free_from(&sm->units, unit, k);
            free = sm->schedulers.busy_until[k] > free ? sm->schedulers.busy_until[k] : free;
            next = free < next ? free : next;
        }
    return next > cycle ? next : cycle + 1;
}

/* Returns whether ticks may be quiet. Otherwise a cycle without an issue can change more than the load/store unit. */
static bool can_be_quiet(const struct sm *sm) {
    return sm->pipeline != CONFIG_PIPELINE_BARREL && !sm->wide && !sm->copies.n_queued && !sm_has_idle_work(sm);
}

/* Returns the next cycle in which the SM has work. */
static uint64_t next_cycle(struct sm *sm, uint64_t cycle, bool has_issued) {
    if (has_issued || (sm->copies.n_queued && !sm->ldst.is_refused) || !sched_is_empty(&sm->fetch.refused))
        return cycle + 1;
    uint64_t next = sm_wheel_next(&sm->wheel, cycle);
    if (sm->slots.n_in_state[SM_SLOT_READY]) {
        uint64_t issue = sm->schedulers.policy.is_strict ? cycle + 1 : next_issue(sm, cycle);
        next = issue < next ? issue : next;
    }
    next = sm->model_wake < next ? sm->model_wake : next;
    if (can_be_quiet(sm))
        sm->slots.quiet_until = next;
    return sm_ldst_has_work(&sm->ldst) ? cycle + 1 : next;
}

/* Returns whether slots have become free, or the cycle that the model asked for has come. */
static bool is_refill_due(const struct sm *sm, uint64_t cycle) { return sm->has_freed_slot || sm->model_wake <= cycle; }

/* Lets the model fill slots. */
static inline void refill(struct sm *sm, uint64_t cycle) {
    if (!is_refill_due(sm, cycle))
        return;
    sm->has_freed_slot = false;
    if (sm->model_wake <= cycle)
        sm->model_wake = SM_NEVER;
    if (sm->divergence->refill)
        sm->divergence->refill(sm->model, cycle);
}

/* Lets the model use the time in which every group waits for memory or for others. */
static inline void use_idle_time(struct sm *sm, uint64_t cycle) {
    if (sm->turn.has_issued || !sm_has_idle_work(sm) || sm_slots_n_awake(&sm->slots) ||
        !sm->slots.n_in_state[SM_SLOT_MEMORY])
        return;
    sm->divergence->memory->idle(sm->model, cycle);
}

/* Accounts the cycles in which the SM slept, and begins a new one. */
static inline void begin_cycle(struct sm *sm, uint64_t cycle) {
    if (cycle > sm->last_cycle + 1)
        sm_catch_up(sm, cycle - 1);
    sm->turn = (struct sm_turn){.cycle = cycle, .picked = SM_NO_SLOT, .first = sm->first_scheduler};
}

static inline void collect_answers(struct sm *sm, uint64_t cycle) {
    if (sm->ldst.done != SM_NO_REQUEST)
        sm_ldst_collect(sm, cycle);
}

ALWAYS_INLINE void wake_groups(struct sm *sm, uint64_t cycle, bool is_plain) {
    if (is_plain && sched_is_empty(&sm->fetch.refused)) {
        wake_slots_plainly(sm, cycle);
        return;
    }
    sm->turn.is_waking = true;
    if (sched_is_empty(&sm->fetch.refused))
        wake_slots(sm, cycle);
    else
        wake_slots_and_fetch(sm, cycle);
    if (!is_plain && is_refill_due(sm, cycle)) {
        refill(sm, cycle);
        wake_slots(sm, cycle); /* the slots that refill() filled */
    }
    sm->turn.is_waking = false;
}

ALWAYS_INLINE void access_l1(struct sm *sm, uint64_t cycle, bool is_plain) {
    bool may_wait_aside = !is_plain && sm->wide;
    bool has_requests = sm->ldst.length && (!sm->ldst.is_refused || may_wait_aside);
    if (has_requests || (may_wait_aside && sm->ldst.n_aside) || sm->copies.n_queued)
        sm_ldst_tick(sm, cycle);
}

/* Accounts the cycle. Returns the next one in which the SM has work. */
static inline uint64_t end_cycle(struct sm *sm, uint64_t cycle) {
    bool has_issued = sm->turn.has_issued;
    uint64_t next = next_cycle(sm, cycle, has_issued);
    if (!has_issued || next > cycle + 1)
        sm->sleeps_for = why_idle(sm);
    sm->counters.sm_cycles++;
    if (has_issued)
        sm->counters.active_cycles++;
    else
        sm_count_stall(sm, 1);
    sm->last_cycle = cycle;
    return next;
}

/* Runs a cycle in which, as far as is known, only the load/store unit has work. Returns false if the rest of the cycle
 * must run: an access has ended, or the unit takes instructions again. */
static bool tick_quietly(struct sm *sm, uint64_t cycle, uint64_t *next) {
    bool had_room = sm_ldst_has_room(&sm->ldst);
    begin_cycle(sm, cycle);
    access_l1(sm, cycle, true); /* no tick of an SM with sm->wide is quiet */
    if (sm_ldst_has_room(&sm->ldst) != had_room)
        sm->slots.quiet_until = 0;
    if (!sm->slots.quiet_until)
        return false;
    sm->counters.sm_cycles++;
    sm_count_stall(sm, 1);
    sm->last_cycle = cycle;
    *next = sm_ldst_has_work(&sm->ldst) ? cycle + 1 : sm->slots.quiet_until;
    return true;
}

ALWAYS_INLINE enum sm_outcome tick_fully(struct sm *sm, enum sm_freedom freedom, uint64_t cycle, uint64_t *next,
                                         bool is_plain) {
    if (sm->needs_prefetch)
        sm->prefetches = freedom != SM_AHEAD;
    if (sm->turn.cycle != cycle) { /* otherwise an earlier call has run these stages */
        begin_cycle(sm, cycle);
        collect_answers(sm, cycle);
        wake_groups(sm, cycle, is_plain);
        access_l1(sm, cycle, is_plain);
    }
    if (!schedule(sm, freedom, cycle, is_plain))
        return SM_WAITS;
    if (!is_plain) {
        refill(sm, cycle);
        use_idle_time(sm, cycle);
        if (sm->wide)
            sm_wide_limit_blocks(sm, cycle);
    }
    *next = end_cycle(sm, cycle);
    return sm_has_fault(sm) ? SM_FAULTED : SM_TICKED;
}

static __attribute__((noinline)) enum sm_outcome tick_any(struct sm *sm, enum sm_freedom freedom, uint64_t cycle,
                                                          uint64_t *next) {
    return tick_fully(sm, freedom, cycle, next, false);
}

static inline enum sm_outcome tick(struct sm *sm, enum sm_freedom freedom, uint64_t cycle, uint64_t *next) {
    assert(cycle > sm->last_cycle); /* otherwise a scheduler would issue twice in a cycle */
    bool is_quiet = cycle < sm->slots.quiet_until && sm->ldst.done == SM_NO_REQUEST && sm->turn.cycle != cycle;
    if (is_quiet && tick_quietly(sm, cycle, next))
        return SM_TICKED;
    return sm->is_plain ? tick_fully(sm, freedom, cycle, next, true) : tick_any(sm, freedom, cycle, next);
}

/* Returns whether an SM that is alone, and has finished a tick without a fault, is still alone. */
static inline bool stays_alone(const struct sm *sm, uint64_t cycle) {
    return sm->blocks.n && !sm->fetch.n_in_flight && sm->ldst.n_free == sm->ldst.n_requests && sm->model_wake > cycle;
}

bool sm_is_alone(const struct sm *sm, uint64_t cycle) {
    return stays_alone(sm, cycle) && sm->turn.cycle != cycle && !sm_has_fault(sm) && sm->is_separate;
}

/* Returns whether the SM can go on by itself. Stores that wait in its part of the memory may leave before `end`. */
static inline bool goes_on(const struct sm *sm, enum sm_freedom freedom, uint64_t end, const struct sm_clock *clock) {
    if (sm->ldst.memory_clock && freedom != SM_AHEAD && *sm->ldst.memory_clock <= clock->wake)
        return false;
    return clock->wake < end && !clock->must_stop &&
           (freedom != SM_AHEAD || (clock->n_ticks < clock->most_ticks && stays_alone(sm, clock->wake)));
}

enum sm_outcome sm_run(struct sm *sm, enum sm_freedom freedom, uint64_t end, struct sm_clock *clock) {
    do {
        uint64_t cycle = clock->wake, next = SM_NEVER;
        clock->wake = SM_NEVER;
        enum sm_outcome outcome = tick(sm, freedom, cycle, &next);
        if (outcome == SM_WAITS) {
            clock->wake = cycle;
            return SM_WAITS;
        }
        clock->n_ticks++;
        if (clock->wake <= cycle) /* no SM is ticked twice in a cycle */
            clock->wake = cycle + 1;
        if (next < clock->wake)
            clock->wake = next;
        if (outcome == SM_FAULTED)
            return SM_FAULTED;
    } while (goes_on(sm, freedom, end, clock));
    return SM_TICKED;
}

void sm_keep_stores(struct sm *sm, struct exec_stores *stores) { sm->cx.stores = stores; }
