/* The load/store unit: takes requests through the L1 in order, and makes the destination registers of an instruction
 * ready when its last line arrives. */
#include "sm/ldst.h"

#include <stdlib.h>

#include "base/memory.h"
#include "exec/profile.h"
#include "sm/prepare.h"

/* ---- Requests ---------------------------------------------------------------------------------------------------- */

void sm_ldst_init(struct sm_ldst *ldst, uint32_t n_requests, uint32_t n_slots) {
    *ldst = (struct sm_ldst){.n_requests = n_requests,
                             .n_free = n_requests,
                             .done = SM_NO_REQUEST,
                             .request = base_grow(NULL, n_requests, sizeof *ldst->request),
                             .next_free = SM_NO_REQUEST,
                             .passes_end = base_allocate(n_slots, sizeof *ldst->passes_end)};
}

void sm_ldst_free(struct sm_ldst *ldst) {
    free(ldst->request);
    free(ldst->passes_end);
}

uint32_t sm_ldst_take(struct sm_ldst *ldst) {
    bool is_new = ldst->next_free == SM_NO_REQUEST;
    uint32_t number = is_new ? ldst->n_touched++ : ldst->next_free;
    struct sm_request *request = &ldst->request[number];
    if (is_new)
        *request = (struct sm_request){.next_free = SM_NO_REQUEST};
    ldst->next_free = request->next_free;
    ldst->n_free--;
    request->is_used = true;
    request->is_copy = false;
    request->conflicting = 0;
    request->late_cycles = 0;
    return number;
}

void sm_ldst_release(struct sm_ldst *ldst, struct sm_request *request) {
    request->is_used = false;
    request->next_free = ldst->next_free;
    ldst->next_free = (uint32_t)(request - ldst->request);
    ldst->n_free++;
}

void sm_ldst_add_done(struct sm_ldst *ldst, uint32_t number) {
    ldst->request[number].next_free = SM_NO_REQUEST; /* in the order in which they end */
    if (ldst->done == SM_NO_REQUEST)
        ldst->done = number;
    else
        ldst->request[ldst->last_done].next_free = number;
    ldst->last_done = number;
}

uint32_t sm_request_missing(const struct sm_request *request) {
    uint32_t missing = 0;
    for (uint64_t left = request->outstanding | request->conflicting; left; left &= left - 1)
        missing |= request->transaction[__builtin_ctzll(left)].lanes;
    for (uint32_t i = request->next; i < request->n_transactions; i++)
        missing |= request->transaction[i].lanes;
    return missing;
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

/* Returns whether the group that asked is still in its slot. A store, or a load whose result is unused, may outlive
 * it. */
static bool has_owner(const struct sm *sm, const struct sm_request *request) {
    const struct sm_slot *slot = &sm->slots.slot[request->slot];
    return slot->age == request->age && slot->state != SM_SLOT_FREE;
}

/* Returns whether another access of the group, for other rows of a large warp, writes the same registers. Then they are
 * not ready yet. */
static bool has_sibling(const struct sm *sm, const struct sm_request *request) {
    const struct divergence_group *group = sm->slots.slot[request->slot].group;
    bool is_one_bundle = group->row || group->threads;
    if (is_one_bundle || sm->slots.slot[request->slot].n_loads == 0)
        return false;
    for (uint32_t i = 0; i < sm->ldst.n_touched; i++) {
        const struct sm_request *other = &sm->ldst.request[i];
        if (other->is_used && other != request && other->slot == request->slot && other->age == request->age &&
            other->pc == request->pc)
            return true;
    }
    return false;
}

static void count_load(struct sm *sm, const struct sm_request *request) {
    struct sm_hot *hot = sm_hot_at(sm, request->pc);
    hot->in_flight += request->ready - request->first_cycle;
    hot->accesses++;
    hot->lines += request->n_transactions;
}

static void finish(struct sm *sm, struct sm_request *request, uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[request->slot];
    if (sm->has_several_grids && has_owner(sm, request))
        sm_use_slot(sm, request->slot);
    const struct sm_timing *timing = &sm->program->timing[request->pc];
    bool has_scoreboard = sm_has_scoreboard(sm) && !sm->lanes.ready && has_owner(sm, request);
    bool is_last = !has_scoreboard || !has_sibling(sm, request);
    if (request->is_copy && !sm_copies_finish(sm, request, cycle))
        return;
    sm_ldst_release(&sm->ldst, request);
    if (sm->follower)
        sm_observe_access_end(sm, (uint32_t)(request - sm->ldst.request), cycle);
    if (sm->boards.board ? request->is_copy || !sm_boards_own(sm, request) : !has_owner(sm, request))
        return;
    if (timing->is_texture)
        request->ready += (timing->is_plane ? 2ull : 1ull) * sm->machine->unified.texture_cycles;
    request->ready += request->late_cycles + timing->exit_cycles;
    if (sm_has_result(timing))
        count_load(sm, request);
    if (sm->boards.board) {
        sm_boards_end_access(sm, request, cycle);
        return;
    }
    slot->n_accesses--;
    slot->n_loads = (uint16_t)(slot->n_loads - sm_has_result(timing));
    if (is_last)
        sm_set_destinations(sm, request->slot, timing, request->lanes, request->ready);
    if (sm_has_result(timing) && request->ready > slot->result_ready)
        slot->result_ready = request->ready;
    if (!sm_has_scoreboard(sm) && request->ready > slot->fetch_ready && !slot->group->overlaps)
        slot->fetch_ready = request->ready;
    if (sm->divergence->memory && sm->divergence->memory->complete)
        sm->divergence->memory->complete(sm->model, slot->group, request->tag, cycle);
    bool may_wake_sooner = sm->lanes.ready && slot->state == SM_SLOT_DEPENDENCY;
    if (slot->state != SM_SLOT_MEMORY && slot->group->status == DIVERGENCE_RUNS && !may_wake_sooner)
        return;
    if (sm->is_plain && !sm->prefetches && sched_is_empty(&sm->fetch.refused))
        sm_prepare_next(sm, request->slot, false, cycle);
    else
        sm_prepare(sm, request->slot, cycle);
}

static void tell_memory(struct sm *sm, const struct sm_request *request, uint64_t cycle) {
    if (!sm->divergence->memory || !sm->divergence->memory->answered || !has_owner(sm, request))
        return;
    const struct sm_slot *slot = &sm->slots.slot[request->slot];
    uint32_t missing = sm_request_missing(request);
    struct divergence_access access = {
        .pc = request->pc,
        .row = request->row,
        .tag = request->tag,
        .hit = request->lanes & ~missing,
        .missing = request->lanes & missing,
        .ready = request->ready,
        .is_awaited = !sm_has_scoreboard(sm) || sm_has_result(&sm->program->timing[request->pc]),
        .n_others = slot->n_accesses - 1u,
    };
    sm->divergence->memory->answered(sm->model, slot->group, &access, cycle);
}

/* Atomics bypass the L1. */
static void count_misses(struct sm *sm, const struct sm_request *request) {
    if (!request->missed || request->kind == MEM_ATOMIC)
        return;
    sm->counters.missing_memory_instructions++;
    sm->counters.divergent_misses += request->missed != request->lanes;
    if (sm->follower)
        sm_observe_answer(sm, (uint32_t)(request - sm->ldst.request));
    if (sm->grid->profile && request->row && has_owner(sm, request))
        exec_profile_miss(sm->grid->profile, request->row, request->missed);
}

/* ---- The L1 ------------------------------------------------------------------------------------------------------ */

static bool outlasts_block(const struct sm *sm, const struct sm_request *request) {
    return request->kind == MEM_ATOMIC ||
           (request->kind == MEM_WRITE && mem_is_in_host_memory(sm->mem, request->transaction[request->next].line));
}

bool sm_has_queued_effect(const struct sm *sm) {
    const struct sm_ldst *ldst = &sm->ldst;
    for (uint32_t i = 0; i < ldst->length; i++)
        if (outlasts_block(sm, &ldst->request[ldst->queue[(ldst->head + i) % SM_LDST_RING]]))
            return true;
    return false;
}

void sm_memory_changed(struct sm *sm) { sm->ldst.is_refused = sm->ldst.is_aside_refused = sm->fetch.is_stuck = false; }

/* Returns whether the access needs a port of the L1 data cache. */
static bool needs_port(enum mem_kind kind) { return kind != MEM_ATOMIC && kind != MEM_TEXTURE; }

/* Looks a line of the request up. Returns false if memory refuses it. */
static bool look_up(struct sm *sm, uint32_t number, uint32_t line, uint64_t cycle) {
    struct sm_request *request = &sm->ldst.request[number];
    const struct mem_transaction *transaction = &request->transaction[line];
    uint64_t ready;
    if (sm->ldst.port_cycle == cycle && needs_port(request->kind)) {
        ++*sm->ldst.port_conflicts;
        return false;
    }
    if (sm->wide && sm->wide->names_critical)
        sm_wide_name_access(sm, request);
    uint32_t bytes = transaction->bytes;
    if (request->kind == MEM_ATOMIC)
        bytes |= request->atomic | (transaction->bytes > request->twice_above ? MEM_PASSES_TWICE : 0) |
                 (transaction->bytes > request->number_bytes ? MEM_HAS_SEVERAL : 0);
    else if (sm->ldst.memory_clock && request->kind == MEM_WRITE)
        mem_name_store(sm->mem, sm->index, request->is_copy ? 0 : request->written[line]);
    enum mem_answer answer = mem_access(sm->mem, sm->index, cycle, request->kind, transaction->line, bytes,
                                        number | line << SM_TOKEN_SHIFT, &ready);
    if (answer == MEM_REFUSED) {
        sm->ldst.is_refused = ready == MEM_NEVER; /* until sm_memory_changed() */
        return false;
    }
    if (sm->ldst.port_conflicts && needs_port(request->kind))
        sm->ldst.port_cycle = cycle;
    sm->counters.requested_bytes += transaction->bytes;
    if (sm->wide)
        sm_wide_access(sm, request, line, answer == MEM_HIT);
    if (answer == MEM_MISS) {
        request->outstanding |= 1ull << line;
        request->missed |= transaction->lanes;
    } else if (ready > request->ready) {
        request->ready = ready;
    }
    return true;
}

/* Submits the lines of a request that have not been. Returns false if memory refuses one, or takes more in the next
 * cycle. */
static inline __attribute__((always_inline)) bool submit_lines(struct sm *sm, uint32_t number, uint64_t cycle) {
    struct sm_request *request = &sm->ldst.request[number];
    if (cycle < sm->ldst.l1_free)
        return false;
    if (sm->has_several_grids)
        sm_use_request(sm, request->grid);
    uint32_t last = request->lines_per_cycle ? request->next + request->lines_per_cycle : request->n_transactions;
    for (; request->next < request->n_transactions; request->next++)
        if (request->next == last || !look_up(sm, number, request->next, cycle))
            return false;
    if (request->lines_per_cycle)
        sm->ldst.l1_free = cycle + 1 + request->more_cycles;
    count_misses(sm, request);
    return true;
}

static __attribute__((noinline)) bool submit(struct sm *sm, uint32_t number, uint64_t cycle) {
    return submit_lines(sm, number, cycle);
}

/* Does the same on machines whose banks have queues. A line that finds its bank taken lets the others pass (Meng 2010,
 * 3.3: requests that conflict are serialised). If memory has no room, all lines wait. */
static __attribute__((noinline)) bool submit_past_conflicts(struct sm *sm, uint32_t number, uint64_t cycle) {
    struct sm_request *request = &sm->ldst.request[number];
    if (sm->has_several_grids)
        sm_use_request(sm, request->grid);
    for (uint64_t left = request->conflicting; left && !sm->ldst.is_refused; left &= left - 1) {
        uint32_t line = (uint32_t)__builtin_ctzll(left);
        if (look_up(sm, number, line, cycle))
            request->conflicting &= ~(1ull << line);
    }
    for (; request->next < request->n_transactions && !sm->ldst.is_refused; request->next++)
        if (!look_up(sm, number, request->next, cycle)) {
            if (sm->ldst.is_refused)
                return false;
            request->conflicting |= 1ull << request->next;
        }
    if (!sm_request_is_answered(request))
        return false;
    count_misses(sm, request);
    return true;
}

static void answer(struct sm *sm, uint32_t number, uint64_t cycle) {
    struct sm_request *request = &sm->ldst.request[number];
    tell_memory(sm, request, cycle);
    if (sm_request_is_over(request))
        finish(sm, request, cycle);
    else if (sm->boards.board && sm->divergence->memory && sm->divergence->memory->serves_hits)
        sm_boards_serve_hits(sm, request, cycle);
}

/* ---- Refused loads that wait aside ------------------------------------------------------------------------------- */

/* Puts a load that memory has refused aside if the scheduler allows it. Returns false if it stays in the queue. */
static bool put_aside(struct sm *sm, uint32_t number, uint64_t cycle) {
    struct sm_ldst *ldst = &sm->ldst;
    const struct sm_request *request = &ldst->request[number];
    bool is_load = request->kind == MEM_READ || request->kind == MEM_READ_HOLD;
    if (!ldst->is_refused || !is_load || request->is_copy)
        return false;
    ldst->is_aside_full = ldst->n_aside >= sm_wide_most_aside(sm, request->slot, cycle);
    if (ldst->is_aside_full)
        return false;
    ldst->aside[(ldst->first_aside + ldst->n_aside++) % SCHED_MOST_ASIDE] = number;
    ldst->is_refused = false; /* the next access may hit */
    return true;
}

/* Tries the loads that wait aside again. A refusal does not keep those in the queue from the L1. */
static void tick_aside(struct sm *sm, uint64_t cycle) {
    struct sm_ldst *ldst = &sm->ldst;
    bool was_refused = ldst->is_refused;
    while (ldst->n_aside && !ldst->is_aside_refused) {
        uint32_t number = ldst->aside[ldst->first_aside];
        ldst->is_refused = false;
        bool is_done = ldst->has_bank_queues ? submit_past_conflicts(sm, number, cycle) : submit(sm, number, cycle);
        ldst->is_aside_refused = ldst->is_refused;
        if (!is_done)
            break;
        ldst->first_aside = (ldst->first_aside + 1) % SCHED_MOST_ASIDE;
        ldst->n_aside--;
        ldst->is_aside_full = false;
        answer(sm, number, cycle);
    }
    ldst->is_refused = was_refused;
}

/* ---- The queue --------------------------------------------------------------------------------------------------- */

static void tick_queue(struct sm *sm, uint64_t cycle) {
    while (sm->ldst.length && !sm->ldst.is_refused) {
        uint32_t number = sm->ldst.queue[sm->ldst.head];
        bool is_answered = submit_lines(sm, number, cycle);
        if (!is_answered && !(sm->wide && put_aside(sm, number, cycle)))
            return;
        sm->ldst.head = (sm->ldst.head + 1) % SM_LDST_RING;
        sm->ldst.length--;
        if (is_answered)
            answer(sm, number, cycle);
    }
}

/* Accesses pass those that wait for a bank; the others keep their order. */
static void tick_bank_queues(struct sm *sm, uint64_t cycle) {
    uint32_t answered[SM_LDST_RING], n_answered = 0, n_kept = 0;
    for (uint32_t i = 0; i < sm->ldst.length; i++) {
        uint32_t number = sm->ldst.queue[(sm->ldst.head + i) % SM_LDST_RING];
        if (!sm->ldst.is_refused && submit_past_conflicts(sm, number, cycle))
            answered[n_answered++] = number;
        else if (!(sm->wide && put_aside(sm, number, cycle)))
            sm->ldst.queue[(sm->ldst.head + n_kept++) % SM_LDST_RING] = number;
    }
    sm->ldst.length = n_kept;
    for (uint32_t i = 0; i < n_answered; i++)
        answer(sm, answered[i], cycle);
}

/* Takes the requests of copies, which come last. */
static __attribute__((noinline)) void tick_copies(struct sm *sm, uint64_t cycle) {
    while (sm->copies.n_queued && !sm->ldst.is_refused) {
        uint32_t number = sm_copies_first(sm);
        if (!submit(sm, number, cycle))
            return;
        sm_copies_pop(sm);
        if (sm->ldst.request[number].more_cycles && sm->ldst.request[number].ready < sm->ldst.l1_free)
            sm->ldst.request[number].ready = sm->ldst.l1_free;
        if (sm_request_is_over(&sm->ldst.request[number]))
            finish(sm, &sm->ldst.request[number], cycle);
    }
}

/* On machines whose banks have queues, for schedulers that let loads wait aside, and while there are copies. */
static __attribute__((noinline)) void tick_queues(struct sm *sm, uint64_t cycle) {
    if (sm->ldst.is_aside_full)
        tick_aside(sm, cycle);
    if (sm->ldst.has_bank_queues)
        tick_bank_queues(sm, cycle);
    else
        tick_queue(sm, cycle);
    if (sm->ldst.n_aside && !sm->ldst.length)
        tick_aside(sm, cycle);
    if (sm->copies.n_queued)
        tick_copies(sm, cycle);
}

void sm_ldst_tick(struct sm *sm, uint64_t cycle) {
    if (sm->wide || sm->ldst.has_bank_queues || sm->copies.n_queued)
        tick_queues(sm, cycle);
    else
        tick_queue(sm, cycle);
}

void sm_ldst_collect(struct sm *sm, uint64_t cycle) {
    while (sm->ldst.done != SM_NO_REQUEST) {
        struct sm_request *request = &sm->ldst.request[sm->ldst.done];
        sm->ldst.done = request->next_free;
        finish(sm, request, cycle - 1);
    }
}

/* Returns whether policies, models, observers or other SMs can tell a cycle in which the SM was ticked from one through
 * which it slept. If models or clusters connect SMs, another SM may end a block of this one, up to its last tick. */
static bool sees_every_tick(const struct sm *sm) {
    return sm->wide || sm->follower || sm->has_clusters || sm->divergence->chip || sm_has_idle_work(sm);
}

bool sm_memory_done(struct sm *sm, uint32_t token, uint64_t cycle) {
    sm_catch_up(sm, cycle - 1);
    if (token & SM_FETCH_TOKEN) {
        sm_fetch_done(sm, token & ~(uint32_t)SM_FETCH_TOKEN, cycle);
        return true;
    }
    uint32_t number = token & ((1u << SM_TOKEN_SHIFT) - 1);
    struct sm_request *request = &sm->ldst.request[number];
    request->outstanding &= ~(1ull << (token >> SM_TOKEN_SHIFT));
    if (cycle > request->ready)
        request->ready = cycle;
    if (sm_request_is_over(request)) {
        sm_ldst_add_done(&sm->ldst, number);
        return true;
    }
    return sees_every_tick(sm);
}
