/* The load/store unit: a memory instruction becomes line accesses (or bank conflicts), goes through the L1 in order,
 * and frees its destination registers when its last line arrives. */
#include "sm/internal.h"

#include "exec/profile.h"

/* Local memory is interleaved by words, as in hardware: the same offset of 32 threads is one line. */
#define LOCAL_MEMORY 0x0000400000000000ull

static void local_addresses(const struct sm *sm, const struct exec_row *row, uint32_t mask,
                            uint64_t address[EXEC_LANES]) {
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct exec_row *owner = row ? row : sm->cx.threads->row[lane];
        uint32_t home = row ? lane : sm->cx.threads->lane[lane];
        uint64_t number = ((const struct exec_cta *)owner->block)->first_row + owner->index;
        uint64_t offset = sm->cx.address[lane];
        if (offset - EXEC_LOCAL_WINDOW < EXEC_WINDOW_BYTES)
            offset -= EXEC_LOCAL_WINDOW;
        address[lane] = LOCAL_MEMORY + number * sm->grid->local_bytes * EXEC_LANES + offset / 4 * 4 * EXEC_LANES +
                        home * 4u + offset % 4;
    }
}

/* A generic access goes where its first lane points; one that mixes spaces counts as an access to that space. */
static enum sm_access resolve(const struct sm *sm, const struct sm_timing *timing, const struct exec_insn *insn,
                              uint32_t mask) {
    if (timing->access != SM_ACCESS_GLOBAL || insn->access.space != PTX_SPACE_GENERIC)
        return timing->access;
    uint64_t address = sm->cx.address[__builtin_ctz(mask)];
    if (address - EXEC_SHARED_WINDOW < EXEC_WINDOW_BYTES)
        return SM_ACCESS_SHARED;
    if (address - EXEC_LOCAL_WINDOW < EXEC_WINDOW_BYTES)
        return SM_ACCESS_LOCAL;
    return address - EXEC_PARAM_WINDOW < EXEC_WINDOW_BYTES ? SM_ACCESS_CONSTANT : SM_ACCESS_GLOBAL;
}

/* A store's result, which only cond_acc has, does not wait for its access. */
static bool has_result(const struct sm_timing *timing) { return timing->n_destinations && !timing->is_store; }

static void set_destinations(struct sm *sm, uint32_t s, const struct sm_timing *timing, uint32_t mask, uint64_t ready) {
    struct sm_slot *slot = &sm->slots.slot[s];
    if (!has_result(timing))
        return;
    if (sm->lane_ready) {
        sm_lanes_set_results(sm, s, timing, mask, ready);
        return;
    }
    const uint32_t *reg = sm_registers(sm->program, timing);
    for (unsigned i = 0; i < timing->n_destinations; i++)
        slot->register_ready[reg[i]] = ready;
}

static void access_shared(struct sm *sm, uint32_t s, const struct sm_timing *timing, const struct exec_insn *insn,
                          uint32_t mask, uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[s];
    uint32_t bytes = (uint32_t)insn->access.bytes * insn->access.n, banks = sm->machine->shared.banks;
    bool has_span = mask == ~0u && (insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST);
    unsigned passes = has_span && mem_is_one_round(sm->cx.span.low, sm->cx.span.high, bytes, banks)
                          ? 1
                          : mem_bank_conflicts(sm->cx.address, mask, bytes, banks);
    if (timing->is_atomic && timing->atomic_kind != ISA_ATOMIC_COUNTING &&
        sm->machine->serial_atomics.is_present) { /* one by one here, too */
        unsigned most = mem_most_lanes_of_address(sm->cx.address, mask);
        passes = most > passes ? most : passes;
    }
    uint32_t occupancy = sm_occupancy_cycles(sm, timing, mask);
    uint64_t extra = passes > occupancy ? passes : occupancy;
    uint64_t ready = cycle + sm->machine->shared.latency_cycles + extra - occupancy;
    if (timing->atomic_kind == ISA_ATOMIC_RETRIED) { /* each round, one lane of a bank succeeds */
        extra = (uint64_t)passes * sm->machine->serial_atomics.retry_busy_cycles;
        ready = cycle + (uint64_t)passes * sm->machine->serial_atomics.retry_cycles;
    }
    sm_units_occupy(&sm->units, SM_UNIT_LDST, 0, cycle + extra);
    set_destinations(sm, s, timing, mask, ready);
    slot->result_ready = ready > slot->result_ready ? ready : slot->result_ready;
    if (sm->machine->sm.pipeline == CONFIG_PIPELINE_BARREL)
        slot->fetch_ready += extra - occupancy;
}

/* The unit reads one address after the other. */
static void access_constants(struct sm *sm, uint32_t s, const struct sm_timing *timing, uint32_t mask, uint64_t cycle) {
    uint32_t n;
    uint64_t latency = sm_constants_access(&sm->constants, &sm->machine->constant_cache, sm->cx.address, mask,
                                           timing->latency_cycles, cycle, &n);
    uint64_t each = timing->unit == SM_UNIT_LDST ? sm->machine->constant_cache.busy_cycles : 0;
    uint64_t busy = n * each, ready = cycle + latency + busy - each;
    if (busy && cycle + busy > sm_units_free_from(&sm->units, SM_UNIT_LDST, 0))
        sm_units_occupy(&sm->units, SM_UNIT_LDST, 0, cycle + busy);
    set_destinations(sm, s, timing, mask, ready);
    struct sm_slot *slot = &sm->slots.slot[s];
    slot->result_ready = ready > slot->result_ready ? ready : slot->result_ready;
}

static uint32_t take_request(struct sm *sm) {
    uint32_t number = sm->free_request;
    sm->free_request = sm->request[number].next_free;
    sm->n_free_requests--;
    sm->request[number].is_used = true;
    sm->request[number].is_copy = false;
    sm->request[number].conflicting = 0;
    return number;
}

void sm_request_release(struct sm *sm, struct sm_request *request) {
    request->is_used = false;
    request->next_free = sm->free_request;
    sm->free_request = (uint32_t)(request - sm->request);
    sm->n_free_requests++;
}

/* Says how fast the L1 takes the request's lines: copies by as much as all banks deliver, without conflicts. */
static void set_pace(const struct config_machine *machine, struct sm_request *request,
                     const uint64_t address[EXEC_LANES], uint32_t bytes) {
    unsigned n = request->n_transactions;
    request->lines_per_cycle = request->more_cycles = 0;
    if (!machine->unified.is_present || !machine->unified.tag_banks || request->kind == MEM_ATOMIC ||
        request->kind == MEM_TEXTURE || !n)
        return;
    if (request->is_copy) {
        uint32_t lines = 4 * machine->shared.banks / machine->l1.cache.line_bytes;
        request->lines_per_cycle = (uint8_t)(lines ? lines : 1);
        return;
    }
    unsigned cycles = mem_l1_passes(address, request->lanes, bytes, request->transaction, n, machine->unified.tag_banks,
                                    machine->shared.banks);
    request->lines_per_cycle = (uint8_t)((n + cycles - 1) / cycles);
    request->more_cycles = (uint8_t)(cycles - (n + request->lines_per_cycle - 1) / request->lines_per_cycle);
}

void sm_ldst_issue(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle, uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[s];
    uint32_t pc = bundle->pc;
    const struct sm_timing *timing = &sm->program->timing[pc];
    const struct exec_insn *insn = &sm->program->exec->code[pc];
    uint32_t mask = insn->kind == EXEC_KIND_WARP_MEMORY ? sm->cx.touched : bundle->mask;
    if (timing->is_store || (timing->is_atomic && sm->cx.has_changed))
        sm->last_change = cycle;
    enum sm_access access = mask ? resolve(sm, timing, insn, mask) : SM_ACCESS_CONSTANT;
    if (access == SM_ACCESS_CONSTANT) {
        if (mask && sm->machine->constant_cache.is_present && insn->access.space == PTX_SPACE_CONST)
            access_constants(sm, s, timing, mask, cycle);
        return;
    }
    sm->counters.memory_instructions++;
    if (access == SM_ACCESS_SHARED) {
        access_shared(sm, s, timing, insn, mask, cycle);
        return;
    }
    uint32_t number = take_request(sm);
    struct sm_request *request = &sm->request[number];
    uint64_t local[EXEC_LANES];
    const uint64_t *address = sm->cx.address;
    bool is_texture = ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE;
    uint32_t bytes = is_texture ? sm->cx.texel_bytes : (uint32_t)insn->access.bytes * insn->access.n;
    uint32_t line_bytes = timing->is_sampled ? sm->machine->texture.line_bytes : sm->machine->l1.cache.line_bytes;
    if (access == SM_ACCESS_LOCAL) {
        local_addresses(sm, bundle->row, mask, local);
        address = local;
        bytes = bytes < 4 ? bytes : 4; /* wider accesses touch a word in each of several lines: counted as the first */
    }
    if (timing->copies == SM_COPIES_NONE)
        request->n_transactions = mem_coalesce(address, mask, bytes, line_bytes, request->transaction);
    if (sm->is_cold)
        for (uint32_t i = 0; timing->copies == SM_COPIES_NONE && i < request->n_transactions; i++)
            mem_warm_access(sm->mem, sm->index, request->transaction[i].line);
    if (timing->is_atomic && sm->machine->serial_atomics.is_present)
        request->n_transactions = mem_repeat_atomics(
            address, request->n_transactions, timing->atomic_kind == ISA_ATOMIC_SLOW ? 2 : 1, request->transaction);
    request->next = 0;
    request->outstanding = 0;
    request->ready = cycle + 1;
    request->slot = s;
    request->age = slot->age;
    request->pc = pc;
    request->tag = bundle->tag;
    request->row = bundle->row;
    request->lanes = mask;
    request->kind = timing->is_atomic    ? MEM_ATOMIC
                    : timing->is_store   ? MEM_WRITE
                    : timing->is_sampled ? MEM_TEXTURE
                    : timing->holds_row  ? MEM_READ_HOLD
                    : timing->passes_l1  ? MEM_READ_PAST
                                         : MEM_READ;
    request->missed = 0;
    bool is_copy = timing->copies != SM_COPIES_NONE;
    if (is_copy) {
        request->lanes = mask = sm_copies_issue(sm, bundle, request, cycle);
        if (!mask) {
            sm_request_release(sm, request);
            return;
        }
    }
    set_pace(sm->machine, request, address, bytes);
    sm->counters.long_instructions++;
    sm->counters.long_thread_instructions += (uint32_t)__builtin_popcount(mask);
    sm->counters.divergent_memory_instructions += request->n_transactions > 1;
    if (!is_copy) {
        slot->n_accesses++;
        slot->n_loads = (uint16_t)(slot->n_loads + has_result(timing));
        set_destinations(sm, s, timing, mask, SM_NEVER);
    }
    if (timing->copies != SM_COPIES_BULK)
        sm->queue[(sm->queue_head + sm->queue_length++) % SM_LDST_RING] = number;
    if (sm->follower)
        sm_observe_access(sm, number, cycle);
}

/* The group that asked is still in its slot. A store, or a load whose result is unused, may outlive it. */
static bool has_owner(const struct sm *sm, const struct sm_request *request) {
    const struct sm_slot *slot = &sm->slots.slot[request->slot];
    return slot->age == request->age && slot->state != SM_SLOT_FREE;
}

/* Another access of the group writes the same registers (other rows of a large warp): they are not ready yet. */
static bool has_sibling(const struct sm *sm, const struct sm_request *request) {
    const struct divergence_group *group = sm->slots.slot[request->slot].group;
    bool is_one_bundle = group->row || group->threads;
    if (is_one_bundle || sm->slots.slot[request->slot].n_loads == 0)
        return false;
    for (uint32_t i = 0; i < sm->n_requests; i++) {
        const struct sm_request *other = &sm->request[i];
        if (other->is_used && other != request && other->slot == request->slot && other->age == request->age &&
            other->pc == request->pc)
            return true;
    }
    return false;
}

static void finish(struct sm *sm, struct sm_request *request, uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[request->slot];
    const struct sm_timing *timing = &sm->program->timing[request->pc];
    bool has_scoreboard = sm->is_scoreboard && !sm->lane_ready && has_owner(sm, request);
    bool is_last = !has_scoreboard || !has_sibling(sm, request);
    if (request->is_copy && !sm_copies_finish(sm, request, cycle))
        return;
    sm_request_release(sm, request);
    if (sm->follower)
        sm_observe_access_end(sm, (uint32_t)(request - sm->request), cycle);
    if (!has_owner(sm, request))
        return;
    slot->n_accesses--;
    slot->n_loads = (uint16_t)(slot->n_loads - has_result(timing));
    if (is_last)
        set_destinations(sm, request->slot, timing, request->lanes, request->ready);
    if (has_result(timing) && request->ready > slot->result_ready)
        slot->result_ready = request->ready;
    if (!sm->is_scoreboard && request->ready > slot->fetch_ready && !slot->group->overlaps)
        slot->fetch_ready = request->ready;
    if (sm->divergence->memory && sm->divergence->memory->complete)
        sm->divergence->memory->complete(sm->model, slot->group, request->tag, cycle);
    bool may_wake_sooner = sm->lane_ready && slot->state == SM_SLOT_DEPENDENCY;
    if (slot->state == SM_SLOT_MEMORY || slot->group->status != DIVERGENCE_RUNS || may_wake_sooner)
        sm_prepare(sm, request->slot, cycle);
}

uint32_t sm_ldst_missing(const struct sm_request *request) {
    uint32_t missing = 0;
    for (uint64_t left = request->outstanding | request->conflicting; left; left &= left - 1)
        missing |= request->transaction[__builtin_ctzll(left)].lanes;
    for (uint32_t i = request->next; i < request->n_transactions; i++)
        missing |= request->transaction[i].lanes;
    return missing;
}

static void tell_memory(struct sm *sm, const struct sm_request *request, uint64_t cycle) {
    if (!sm->divergence->memory || !sm->divergence->memory->answered || !has_owner(sm, request))
        return;
    const struct sm_slot *slot = &sm->slots.slot[request->slot];
    uint32_t missing = sm_ldst_missing(request);
    struct divergence_access access = {
        .pc = request->pc,
        .row = request->row,
        .tag = request->tag,
        .hit = request->lanes & ~missing,
        .missing = request->lanes & missing,
        .ready = request->ready,
        .is_awaited = !sm->is_scoreboard || has_result(&sm->program->timing[request->pc]),
        .n_others = slot->n_accesses - 1u,
    };
    sm->divergence->memory->answered(sm->model, slot->group, &access, cycle);
}

static bool is_over(const struct sm_request *request) {
    return sm_request_is_answered(request) && !request->outstanding;
}

/* Atomics bypass the L1. */
static void count_misses(struct sm *sm, const struct sm_request *request) {
    if (!request->missed || request->kind == MEM_ATOMIC)
        return;
    sm->counters.missing_memory_instructions++;
    sm->counters.divergent_misses += request->missed != request->lanes;
    if (sm->follower)
        sm_observe_answer(sm, (uint32_t)(request - sm->request));
    if (sm->grid->profile && request->row && has_owner(sm, request))
        exec_profile_miss(sm->grid->profile, request->row, request->missed);
}

void sm_memory_changed(struct sm *sm) { sm->ldst_is_refused = false; }

/* Looks a line of the request up. Returns false if memory refuses it. */
static bool look_up(struct sm *sm, uint32_t number, uint32_t line, uint64_t cycle) {
    struct sm_request *request = &sm->request[number];
    const struct mem_transaction *transaction = &request->transaction[line];
    uint64_t ready;
    enum mem_answer answer = mem_access(sm->mem, sm->index, cycle, request->kind, transaction->line, transaction->bytes,
                                        number | line << SM_TOKEN_SHIFT, &ready);
    if (answer == MEM_REFUSED) {
        sm->ldst_is_refused = ready == MEM_NEVER; /* until sm_memory_changed() */
        return false;
    }
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
static bool submit(struct sm *sm, uint32_t number, uint64_t cycle) {
    struct sm_request *request = &sm->request[number];
    if (cycle < sm->l1_free)
        return false;
    uint32_t last = request->lines_per_cycle ? request->next + request->lines_per_cycle : request->n_transactions;
    for (; request->next < request->n_transactions; request->next++)
        if (request->next == last || !look_up(sm, number, request->next, cycle))
            return false;
    if (request->lines_per_cycle)
        sm->l1_free = cycle + 1 + request->more_cycles;
    count_misses(sm, request);
    return true;
}

/* The same where each bank has a queue: a line whose bank is taken in this cycle lets the others pass (Meng 2010, 3.3:
 * requests that conflict are serialised). Where memory has no room, all wait. */
static bool submit_past_conflicts(struct sm *sm, uint32_t number, uint64_t cycle) {
    struct sm_request *request = &sm->request[number];
    for (uint64_t left = request->conflicting; left && !sm->ldst_is_refused; left &= left - 1) {
        uint32_t line = (uint32_t)__builtin_ctzll(left);
        if (look_up(sm, number, line, cycle))
            request->conflicting &= ~(1ull << line);
    }
    for (; request->next < request->n_transactions && !sm->ldst_is_refused; request->next++)
        if (!look_up(sm, number, request->next, cycle)) {
            if (sm->ldst_is_refused)
                return false;
            request->conflicting |= 1ull << request->next;
        }
    if (!sm_request_is_answered(request))
        return false;
    count_misses(sm, request);
    return true;
}

static void answer(struct sm *sm, uint32_t number, uint64_t cycle) {
    struct sm_request *request = &sm->request[number];
    tell_memory(sm, request, cycle);
    if (is_over(request))
        finish(sm, request, cycle);
}

static void tick_queue(struct sm *sm, uint64_t cycle) {
    while (sm->queue_length && !sm->ldst_is_refused) {
        uint32_t number = sm->queue[sm->queue_head];
        if (!submit(sm, number, cycle))
            return;
        sm->queue_head = (sm->queue_head + 1) % SM_LDST_RING;
        sm->queue_length--;
        answer(sm, number, cycle);
    }
}

/* Accesses pass those that wait for a bank; the others keep their order. */
static void tick_bank_queues(struct sm *sm, uint64_t cycle) {
    uint32_t answered[SM_LDST_RING], n_answered = 0, n_kept = 0;
    for (uint32_t i = 0; i < sm->queue_length; i++) {
        uint32_t number = sm->queue[(sm->queue_head + i) % SM_LDST_RING];
        if (!sm->ldst_is_refused && submit_past_conflicts(sm, number, cycle))
            answered[n_answered++] = number;
        else
            sm->queue[(sm->queue_head + n_kept++) % SM_LDST_RING] = number;
    }
    sm->queue_length = n_kept;
    for (uint32_t i = 0; i < n_answered; i++)
        answer(sm, answered[i], cycle);
}

void sm_ldst_tick(struct sm *sm, uint64_t cycle) {
    if (sm->machine->l1.has_bank_queues)
        tick_bank_queues(sm, cycle);
    else
        tick_queue(sm, cycle);
    while (sm->n_bulk_copies && !sm->ldst_is_refused) {
        uint32_t number = sm_copies_first(sm);
        if (!submit(sm, number, cycle))
            return;
        sm_copies_pop(sm);
        if (is_over(&sm->request[number]))
            finish(sm, &sm->request[number], cycle);
    }
}

void sm_ldst_collect(struct sm *sm, uint64_t cycle) {
    while (sm->done != SM_NO_REQUEST) {
        struct sm_request *request = &sm->request[sm->done];
        sm->done = request->next_free;
        finish(sm, request, cycle - 1);
    }
}

void sm_memory_done(struct sm *sm, uint32_t token, uint64_t cycle) {
    sm_catch_up(sm, cycle - 1);
    if (token & SM_FETCH_TOKEN) {
        sm->n_fetches--;
        uint32_t s = token & ~(uint32_t)SM_FETCH_TOKEN;
        if (sm->slots.slot[s].state == SM_SLOT_FREE || sm->slots.slot[s].fetch_ready != SM_NEVER)
            return; /* for a group that has left since */
        sm->slots.slot[s].fetch_ready = cycle;
        sm_prepare(sm, s, cycle - 1);
        return;
    }
    uint32_t number = token & ((1u << SM_TOKEN_SHIFT) - 1);
    struct sm_request *request = &sm->request[number];
    request->outstanding &= ~(1ull << (token >> SM_TOKEN_SHIFT));
    if (cycle > request->ready)
        request->ready = cycle;
    if (!is_over(request))
        return;
    request->next_free = SM_NO_REQUEST; /* in the order in which they end */
    if (sm->done == SM_NO_REQUEST)
        sm->done = number;
    else
        sm->request[sm->last_done].next_free = number;
    sm->last_done = number;
}
