/* Follows the slots of an SM: the activity of each group in each cycle, for the counters of lines (stats/lines.def) and
 * for an observer. The states are read once, after each tick, because a slot's activity does not change between two
 * ticks of the SM. */
#include <stdlib.h>

#include "base/memory.h"
#include "exec/profile.h"
#include "sm/internal.h"

/* The activity of a slot since a cycle. */
struct follow {
    uint64_t since;       /* the first cycle that no span covers yet */
    uint64_t age;         /* of the group */
    uint32_t pc;          /* the instruction that it is at */
    uint8_t activity;     /* enum sm_activity */
    bool is_empty;        /* there was no group */
    uint8_t grid;         /* of the group: its number (grids.h) */
    uint32_t block, warp; /* as in struct sm_span */
};

struct access {
    uint64_t first_cycle; /* SM_NEVER: of a grid that has ended */
    uint32_t n_misses;
};

struct sm_follower {
    struct follow *slot;
    struct sched_set present; /* slots with a group after the last tick */
    struct access *access;    /* by request */
    uint64_t hook_cycle;      /* of hook and woken: they hold for one cycle */
    int hook, woken;          /* slots: whose hook runs; which one the hook woke. SM_NO_SLOT: none */
};

/* ---- Spans ------------------------------------------------------------------------------------------------------- */

static void count_line(struct stats_line *line, const struct sm_span *span) {
    static const unsigned at[SM_N_ACTIVITIES] = {
#define STATS_LINE_STALL(word, heading) [SM_STALLS_##word] = STATS_LINE_AT_stall_##word,
#include "stats/stalls.def"
    };
    if (span->activity != SM_ISSUES)
        line->value[at[span->activity]] += span->n_cycles;
}

/* Returns the grid with this number. Observers never make another grid the current one, because the counters of the SM
 * are divided by it. */
static const struct exec_grid *grid_of(const struct sm *sm, uint32_t k) {
    return sm->has_several_grids ? sm->grids.grid[k].grid : sm->grid;
}

static void report_span(struct sm *sm, const struct sm_span *span) {
    if (span->grid->profile && span->grid->profile->line)
        count_line(&span->grid->profile->line[span->pc], span);
    if (sm->observer)
        sm->observer->span(sm->observer->user, span);
}

/* Ends the span of the cycles before `cycle`. */
static void close_span(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct follow *follow = &sm->follower->slot[s];
    if (!follow->is_empty && follow->since < cycle)
        report_span(sm, &(struct sm_span){.grid = grid_of(sm, follow->grid),
                                          .sm = sm->index,
                                          .slot = s,
                                          .pc = follow->pc,
                                          .activity = follow->activity,
                                          .first_cycle = follow->since,
                                          .n_cycles = cycle - follow->since,
                                          .block = follow->block,
                                          .warp = follow->warp});
    if (follow->since < cycle)
        follow->since = cycle;
}

static enum sm_activity activity_of(const struct sm_slot *slot) {
    static const enum sm_activity activity[SM_N_STATES] = {
        [SM_SLOT_READY] = SM_STALLS_ready,           [SM_SLOT_MEMORY] = SM_STALLS_memory,
        [SM_SLOT_DEPENDENCY] = SM_STALLS_dependency, [SM_SLOT_FETCH] = SM_STALLS_fetch,
        [SM_SLOT_BARRIER] = SM_STALLS_barrier,
    };
    return activity[slot->state];
}

static void find_warp(const struct sm_slot *slot, uint32_t *block, uint32_t *warp) {
    const struct exec_row *row = slot->group ? slot->group->row : NULL;
    *block = row ? row->block->index : SM_NO_BLOCK;
    *warp = row ? row->index : 0;
}

void sm_observe_issue(struct sm *sm, uint32_t s, uint32_t pc, uint32_t n_lanes) {
    uint64_t cycle = sm->turn.cycle;
    close_span(sm, s, cycle);
    if (sm->grid->profile && sm->grid->profile->line)
        exec_profile_line(sm->grid->profile, pc, n_lanes);
    struct sm_span span = {.grid = sm->grid,
                           .sm = sm->index,
                           .slot = s,
                           .pc = pc,
                           .activity = SM_ISSUES,
                           .first_cycle = cycle,
                           .n_cycles = 1,
                           .n_lanes = n_lanes};
    find_warp(&sm->slots.slot[s], &span.block, &span.warp);
    report_span(sm, &span);
    sm->follower->slot[s].since = cycle + 1;
    sm_observe_hook(sm, s);
}

/* Reads the activity of the slot after the tick of this cycle. view_slot holds the instruction that the group is to
 * issue or, while it waits for others, the one that it has issued. */
static inline void look(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct follow *follow = &sm->follower->slot[s];
    const struct sm_slot *slot = &sm->slots.slot[s];
    bool is_empty = slot->state == SM_SLOT_FREE;
    enum sm_activity activity = activity_of(slot);
    uint32_t pc = sm->schedulers.slot[s].pc;
    if (is_empty == follow->is_empty && follow->activity == activity && follow->pc == pc && follow->age == slot->age)
        return;
    close_span(sm, s, cycle);
    *follow = (struct follow){follow->since, slot->age, pc, (uint8_t)activity, is_empty, slot->grid, SM_NO_BLOCK, 0};
    if (!is_empty)
        find_warp(slot, &follow->block, &follow->warp);
}

void sm_observe_cycle(struct sm *sm, uint64_t cycle) {
    struct sm_follower *follower = sm->follower;
    for (uint32_t word = 0; word < sm->slots.n_words; word++)
        for (uint64_t left = follower->present.word[word] | sm->slots.occupied.word[word]; left; left &= left - 1)
            look(sm, word * 64 + (uint32_t)__builtin_ctzll(left), cycle);
    follower->present = sm->slots.occupied;
    follower->hook = follower->woken = SM_NO_SLOT;
}

void sm_observe_end(struct sm *sm, uint64_t cycle) {
    for (uint32_t s = 0; sm->follower && s < sm->slots.n; s++)
        close_span(sm, s, cycle + 1);
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

void sm_observe_hook(struct sm *sm, uint32_t s) {
    sm->follower->hook_cycle = sm->turn.cycle;
    sm->follower->hook = (int)s;
    sm->follower->woken = SM_NO_SLOT;
}

static int running_hook(const struct sm *sm) {
    return sm->follower->hook_cycle == sm->turn.cycle ? sm->follower->hook : SM_NO_SLOT;
}

static void report_move(const struct sm *sm, int from, int to, bool is_merge) {
    if (sm->observer && from != SM_NO_SLOT && to != SM_NO_SLOT && from != to)
        sm->observer->move(sm->observer->user,
                           &(struct sm_move){sm->index, (uint32_t)from, (uint32_t)to, is_merge, sm->turn.cycle});
}

void sm_observe_arrival(struct sm *sm, uint32_t s, int from) {
    report_move(sm, from == SM_NO_SLOT ? running_hook(sm) : from, (int)s, false);
}

void sm_observe_wake(struct sm *sm, uint32_t s) { sm->follower->woken = (int)s; }

/* A group that leaves before its threads end has joined another group: the running hook's or, if that is its own hook,
 * the one that the hook woke. */
void sm_observe_departure(struct sm *sm, uint32_t s, bool is_evicted) {
    int hook = running_hook(sm);
    close_span(sm, s, sm->turn.cycle + 1); /* it was there in this cycle */
    if (is_evicted)
        report_move(sm, (int)s, hook, true);
    else if (hook == (int)s && sm->program->exec->code[sm->schedulers.slot[s].pc].kind != EXEC_KIND_EXIT)
        report_move(sm, (int)s, sm->follower->woken, true);
}

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

static bool is_of_running_grid(const struct sm *sm, uint32_t number) {
    return sm->follower->access[number].first_cycle != SM_NEVER;
}

void sm_observe_access(struct sm *sm, uint32_t number, const uint64_t address[EXEC_LANES], uint32_t bytes,
                       uint32_t n_words, uint64_t cycle) {
    const struct sm_request *request = &sm->ldst.request[number];
    sm->follower->access[number] = (struct access){.first_cycle = cycle};
    if (!sm->grid->profile || !sm->grid->profile->line)
        return;
    struct stats_line *line = &sm->grid->profile->line[request->pc];
    line->accesses++;
    line->requests += request->n_transactions;
    line->sectors += request->is_copy ? 0 : n_words * mem_count_sectors(address, request->lanes, bytes);
}

void sm_observe_conflicts(struct sm *sm, uint32_t pc, uint32_t n_conflicts) {
    if (sm->grid->profile && sm->grid->profile->line)
        sm->grid->profile->line[pc].bank_conflicts += n_conflicts;
}

void sm_observe_answer(struct sm *sm, uint32_t number) {
    const struct sm_request *request = &sm->ldst.request[number];
    uint32_t n_misses = 0;
    if (!is_of_running_grid(sm, number))
        return;
    for (uint32_t i = 0; i < request->n_transactions; i++)
        n_misses += (request->transaction[i].lanes & request->missed) != 0;
    sm->follower->access[number].n_misses = n_misses;
    const struct exec_grid *grid = grid_of(sm, request->grid);
    if (grid->profile && grid->profile->line)
        grid->profile->line[request->pc].misses += n_misses;
}

void sm_observe_access_end(struct sm *sm, uint32_t number, uint64_t cycle) {
    const struct sm_request *request = &sm->ldst.request[number];
    struct access *access = &sm->follower->access[number];
    uint64_t end = request->ready > cycle ? request->ready : cycle;
    if (sm->observer && is_of_running_grid(sm, number))
        sm->observer->access(sm->observer->user, &(struct sm_access_span){.grid = grid_of(sm, request->grid),
                                                                          .sm = sm->index,
                                                                          .slot = request->slot,
                                                                          .pc = request->pc,
                                                                          .n_requests = request->n_transactions,
                                                                          .n_misses = access->n_misses,
                                                                          .first_cycle = access->first_cycle,
                                                                          .n_cycles = end - access->first_cycle});
}

/* ---- Grids ------------------------------------------------------------------------------------------------------- */

void sm_observe_leave(struct sm *sm, uint32_t k, uint64_t cycle) {
    struct sm_follower *follower = sm->follower;
    for (uint32_t s = 0; s < sm->slots.n; s++)
        if (follower->slot[s].grid == k) {
            close_span(sm, s, cycle + 1);
            follower->slot[s].is_empty = true;
        }
    for (uint32_t i = 0; i < sm->ldst.n_requests; i++)
        if (sm->ldst.request[i].grid == k)
            follower->access[i].first_cycle = SM_NEVER;
}

void sm_follower_free(struct sm_follower *follower) {
    if (!follower)
        return;
    free(follower->slot);
    free(follower->access);
    free(follower);
}

void sm_observe_begin(struct sm *sm) {
    bool has_lines = sm->grid->profile && sm->grid->profile->line;
    if (!has_lines && !sm->observer)
        return;
    struct sm_follower *follower = sm->follower = base_allocate(1, sizeof *follower);
    follower->slot = base_allocate(sm->slots.n, sizeof *follower->slot);
    follower->access = base_allocate(sm->ldst.n_requests, sizeof *follower->access);
    follower->hook = follower->woken = SM_NO_SLOT;
    for (uint32_t s = 0; s < sm->slots.n; s++)
        follower->slot[s] = (struct follow){.since = sm->last_cycle + 1, .is_empty = true};
    for (uint32_t i = 0; i < sm->ldst.n_requests; i++)
        follower->access[i].first_cycle = SM_NEVER;
}
