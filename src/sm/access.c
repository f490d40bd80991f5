/* Memory accesses: turns an executed instruction into a request with one transaction per line. Shared memory and
 * constants are part of the SM, so their results are ready at a known time. */
#include "isa/isa.h"
#include "sm/internal.h"

/* Local memory is interleaved by words, as in hardware: the same offset of 32 threads is one line. A wider access
 * touches a word in each of several lines. */
enum { LOCAL_WORD_BYTES = 4, LOCAL_WORD_DISTANCE = LOCAL_WORD_BYTES * EXEC_LANES };

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
        address[lane] = MEM_LOCAL + number * sm->grid->local_bytes * EXEC_LANES +
                        offset / LOCAL_WORD_BYTES * LOCAL_WORD_DISTANCE + home * LOCAL_WORD_BYTES +
                        offset % LOCAL_WORD_BYTES;
    }
}

/* Returns the space of the access. A generic access goes where its first lane points, even if other lanes point
 * elsewhere. */
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

static void count_conflicts(struct sm *sm, uint32_t pc, uint32_t passes, uint32_t least) {
    if (passes <= least)
        return;
    sm->counters.bank_conflicts += passes - least;
    sm_hot_at(sm, pc)->conflicts += passes - least;
    if (sm->follower)
        sm_observe_conflicts(sm, pc, passes - least);
}

/* Counts the n machine instructions of each round after the first, which is a part of the instruction. In each round
 * one lane of an address succeeds, so m lanes of it take m - 1, m - 2... threads through the next ones. */
static void count_retries(struct sm *sm, uint32_t mask, uint32_t n_rounds, uint32_t n) {
    uint32_t n_threads = 0;
    for (uint32_t left = mask, same; left; left &= ~same) {
        uint64_t address = sm->cx.address[__builtin_ctz(left)];
        same = 0;
        for (uint32_t lane = 0; lane < EXEC_LANES; lane++)
            same |= (uint32_t)(sm->cx.address[lane] == address) << lane;
        same &= left;
        uint32_t m = sm_lanes_in(same);
        n_threads += m * (m - 1) / 2;
    }
    sm->counters.machine_instructions += n_rounds * n;
    sm->counters.machine_thread_instructions += (uint64_t)n_threads * n;
}

/* Returns how long an access waits for the passes of its warp's accesses before it. The passes of a warp take
 * shared.pass_cycles each. The unit takes one of another warp between them, so they keep it busy for a cycle each. */
static uint64_t wait_for_passes(const struct sm *sm, uint32_t s, uint32_t passes, uint64_t cycle) {
    uint64_t each = sm->machine->shared.pass_cycles, *end = &sm->ldst.passes_end[s],
             start = cycle > *end ? cycle : *end;
    if (each == 1)
        return 0;
    *end = start + each * passes + 1;
    return start - cycle;
}

/* The rest of access_shared() for a plain load or store that needs one pass, on a plain SM. */
static inline void pass_at_once(struct sm *sm, struct sm_slot *slot, const struct sm_timing *timing, uint64_t cycle) {
    uint64_t occupancy = timing->occupancy_cycles, extra = occupancy ? occupancy : 1;
    uint64_t ready = cycle + sm->machine->shared.latency_cycles +
                     (extra - occupancy) * sm->machine->shared.pass_cycles + timing->exit_cycles;
    sm->counters.shared_passes++;
    sm_units_occupy(&sm->units, SM_UNIT_LDST, 0, cycle + extra);
    for (unsigned i = 0, n = timing->is_store ? 0 : timing->n_destinations; i < n; i++)
        slot->register_ready[timing->reg[i]] = ready;
    slot->result_ready = ready > slot->result_ready ? ready : slot->result_ready;
}

static void access_shared(struct sm *sm, uint32_t s, uint32_t pc, uint32_t mask, uint64_t cycle) {
    const struct sm_timing *timing = &sm->program->timing[pc];
    const struct exec_insn *insn = &sm->program->exec->code[pc];
    struct sm_slot *slot = &sm->slots.slot[s];
    uint32_t bytes = (uint32_t)insn->access.bytes * insn->access.n, banks = sm->machine->shared.banks;
    bool has_span = mask == ~0u && (insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST);
    unsigned groups = 1, passes;
    bool is_wide = sm->machine->shared.has_groups && (bytes == 8 || bytes == 16) &&
                   (insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST);
    if (is_wide)
        passes = mem_group_passes(sm->cx.address, mask, bytes, insn->opcode == PTX_OP_LD, banks, &groups);
    else
        passes = has_span && mem_is_one_round(sm->cx.span.low, sm->cx.span.high, bytes, banks)
                     ? 1
                     : mem_bank_conflicts(sm->cx.address, mask, bytes, banks);
    if (passes == 1 && groups == 1 && timing->is_direct && sm->is_plain && !sm->has_clusters) {
        pass_at_once(sm, slot, timing, cycle);
        return;
    }
    if (insn->kind == EXEC_KIND_WARP_MEMORY && sm_is_fragment(sm, pc)) {
        unsigned of_parts = sm_fragment_passes(sm, pc, true);
        passes = of_parts ? of_parts : passes;
    }
    uint32_t plain_passes = passes;
    if (timing->is_atomic && timing->atomic_kind != ISA_ATOMIC_COUNTING && timing->atomic_kind != ISA_ATOMIC_JOINED &&
        sm->machine->serial_atomics.is_present) { /* one by one here, too */
        passes = mem_most_lanes_of_bank(sm->cx.address, mask, bytes, banks);
    }
    sm->counters.shared_passes += passes;
    if (passes > 1)
        count_conflicts(sm, pc, passes, is_wide ? groups : mem_least_passes(mask, bytes, banks));
    uint32_t occupancy = sm_occupancy_cycles(sm, timing, mask);
    uint64_t extra = passes > occupancy ? passes : occupancy;
    uint64_t ready = cycle + sm->machine->shared.latency_cycles +
                     (extra - occupancy) * sm->machine->shared.pass_cycles + timing->exit_cycles + groups - 1;
    if (passes > 1)
        ready += wait_for_passes(sm, s, passes, cycle);
    uint32_t others = sm->has_clusters ? sm_cluster_lanes(sm, mask) : 0;
    if (others) {
        uint64_t sent;
        ready = sm_cluster_access(sm, others, bytes, timing, cycle, &sent);
        sent = sm_has_result(timing) || sent < cycle + occupancy ? cycle + occupancy : sent;
        sm_units_occupy(&sm->units, SM_UNIT_LDST, 0, sent); /* the network holds up what waits for no result */
        sm_set_destinations(sm, s, timing, mask, ready);
        slot->result_ready = ready > slot->result_ready ? ready : slot->result_ready;
        return;
    }
    if (timing->atomic_kind == ISA_ATOMIC_RETRIED) {
        uint32_t block = slot->group->home ? slot->group->home->slot : 0;
        struct sm_retry_cost cost =
            sm_retries_access(&sm->retries, sm->machine, sm->cx.address, mask, bytes, plain_passes, block, cycle);
        extra = cost.busy_cycles;
        ready = cost.ready;
        slot->fetch_ready =
            ready > slot->fetch_ready ? ready : slot->fetch_ready; /* it is a loop, also without a result */
        if (cost.n_rounds > 1)
            count_retries(sm, mask, cost.n_rounds - 1, timing->parts / ISA_PARTS - ISA_AROUND_RETRIES);
    }
    sm_units_occupy(&sm->units, SM_UNIT_LDST, 0, cycle + extra);
    sm_set_destinations(sm, s, timing, mask, ready);
    slot->result_ready = ready > slot->result_ready ? ready : slot->result_ready;
    if (sm->pipeline == CONFIG_PIPELINE_BARREL)
        slot->fetch_ready += extra - occupancy;
}

/* The unit reads one address after the other. */
static void access_constants(struct sm *sm, uint32_t s, const struct sm_timing *timing, uint32_t mask, uint64_t cycle) {
    uint32_t n;
    uint64_t place[EXEC_LANES];
    for (uint32_t left = mask, before = EXEC_LANES; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        bool is_same = before < EXEC_LANES && sm->cx.address[l] == sm->cx.address[before];
        place[l] = is_same ? place[before] : sm_constants_place(sm->program->exec, sm->cx.address[l]);
        before = l;
    }
    uint64_t latency = sm_constants_access(&sm->constants, &sm->machine->constant_cache, place, mask,
                                           timing->latency_cycles, cycle, &n);
    uint64_t each = timing->unit == SM_UNIT_LDST ? sm->machine->constant_cache.busy_cycles : 0;
    uint64_t busy = n * each, ready = cycle + latency + busy - each;
    if (busy && cycle + busy > sm_units_free_from(&sm->units, SM_UNIT_LDST, 0))
        sm_units_occupy(&sm->units, SM_UNIT_LDST, 0, cycle + busy);
    sm_set_destinations(sm, s, timing, mask, ready);
    struct sm_slot *slot = &sm->slots.slot[s];
    slot->result_ready = ready > slot->result_ready ? ready : slot->result_ready;
}

/* Sets how fast the L1 takes the request's lines. Copies use all banks, without conflicts. */
static void set_pace(struct sm *sm, uint32_t s, struct sm_request *request, const uint64_t address[EXEC_LANES],
                     uint32_t bytes, uint64_t cycle) {
    const struct config_machine *machine = sm->machine;
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
    bool is_fragment =
        sm->program->exec->code[request->pc].kind == EXEC_KIND_WARP_MEMORY && sm_is_fragment(sm, request->pc);
    unsigned cycles = is_fragment ? sm_fragment_passes(sm, request->pc, false) : 0;
    if (!cycles)
        cycles = mem_l1_passes(address, request->lanes, bytes, request->transaction, n, machine->unified.tag_banks,
                               machine->shared.banks);
    request->lines_per_cycle = (uint8_t)((n + cycles - 1) / cycles);
    request->more_cycles = (uint8_t)(cycles - (n + request->lines_per_cycle - 1) / request->lines_per_cycle);
    if (cycles == 1)
        return;
    sm_units_occupy(&sm->units, SM_UNIT_LDST, 0, cycle + cycles); /* shared memory has the same data path */
    if (request->kind != MEM_WRITE)
        request->late_cycles = (uint16_t)(wait_for_passes(sm, s, cycles, cycle) +
                                          (uint64_t)(cycles - 1) * (machine->shared.pass_cycles - 1));
}

/* The texture unit takes longer than the L1 for the same lines. */
static void slow_down(const struct config_machine *machine, const struct sm_timing *timing,
                      struct sm_request *request) {
    unsigned lanes = machine->unified.texture_lanes, cycles = (EXEC_LANES + lanes - 1) / lanes;
    unsigned per_cycle = request->lines_per_cycle ? request->lines_per_cycle : 1;
    unsigned own = (request->n_transactions + per_cycle - 1) / per_cycle + request->more_cycles;
    cycles *= timing->is_plane ? 2 : 1;
    if (cycles > own)
        request->more_cycles = (uint8_t)(request->more_cycles + cycles - own);
}

static enum mem_kind kind_of(const struct config_machine *machine, const struct sm_timing *timing) {
    if (timing->is_atomic)
        return MEM_ATOMIC;
    if (timing->is_store)
        return MEM_WRITE;
    if (timing->is_sampled)
        return MEM_TEXTURE;
    if (timing->holds_row)
        return MEM_READ_HOLD;
    if (timing->copies == SM_COPIES_BULK && timing->passes_l1 && machine->copies.is_present)
        return MEM_READ_BULK;
    return timing->passes_l1 ? MEM_READ_PAST : MEM_READ;
}

/* Sets up the request, except for its transactions. */
static void start_request(const struct sm *sm, struct sm_request *request, uint32_t s,
                          const struct divergence_bundle *bundle, uint32_t mask, uint64_t cycle) {
    request->next = 0;
    request->outstanding = 0;
    request->ready = cycle + 1;
    request->first_cycle = cycle;
    request->slot = s;
    request->grid = sm->slots.slot[s].grid;
    request->age = sm->slots.slot[s].age;
    request->pc = bundle->pc;
    request->tag = bundle->tag;
    request->row = bundle->row;
    request->lanes = mask;
    request->kind = kind_of(sm->machine, &sm->program->timing[bundle->pc]);
    request->missed = 0;
}

/* Fills the request with the lines that the lanes access. With n_words above 1 these are words of local memory, and
 * `address` is that of the first. */
static void coalesce(const struct sm *sm, const struct sm_timing *timing, const uint64_t address[EXEC_LANES],
                     uint32_t mask, uint32_t bytes, uint32_t n_words, struct sm_request *request) {
    uint32_t line_bytes = timing->is_sampled ? sm->machine->texture.line_bytes : sm->machine->l1.cache.line_bytes;
    bool is_run = mask == ~0u && timing->is_direct && address == sm->cx.address && sm->cx.span.is_unit &&
                  address[1] - address[0] == bytes && (bytes & (bytes - 1)) == 0;
    uint32_t n = is_run ? mem_coalesce_run(address[0], bytes, line_bytes, request->transaction)
                 : n_words > 1
                     ? mem_coalesce_words(address, mask, n_words, LOCAL_WORD_DISTANCE, line_bytes, request->transaction)
                     : mem_coalesce(address, mask, bytes, line_bytes, request->transaction);
    for (uint32_t i = 0; sm->prefetches && i < n; i++)
        mem_prefetch_access(sm->mem, sm->index, request->transaction[i].line);
    request->atomic = 0;
    request->number_bytes = bytes;
    request->twice_above = line_bytes;
    if (timing->is_atomic && sm->machine->serial_atomics.is_present) {
        if (timing->atomic_kind != ISA_ATOMIC_JOINED)
            n = mem_repeat_atomics(address, n, bytes, request->transaction);
        request->atomic =
            (timing->atomic_kind == ISA_ATOMIC_SUM ? MEM_ADDS_FLOATS : 0) | (timing->returns ? MEM_RETURNS : 0);
        if (timing->atomic_kind == ISA_ATOMIC_SWAP) /* its transactions also carry what they compare with */
            request->twice_above = bytes;
        else if (timing->atomic_kind == ISA_ATOMIC_SUM && bytes == sizeof(double))
            request->twice_above = 2 * bytes;
    }
    request->n_transactions = n;
}

/* Finds the bytes of each line that a store writes, for stores that join. */
static void find_written(const uint64_t address[EXEC_LANES], uint32_t bytes, uint32_t n_words,
                         struct sm_request *request) {
    for (uint32_t i = 0; i < request->n_transactions; i++) {
        const struct mem_transaction *transaction = &request->transaction[i];
        bool is_whole = transaction->bytes == 32;
        request->written[i] = is_whole ? UINT32_MAX : 0;
        for (uint32_t word = 0; !is_whole && word < n_words; word++)
            request->written[i] |= mem_touched_bytes(address, transaction->lanes, bytes / n_words,
                                                     transaction->line - (uint64_t)word * LOCAL_WORD_DISTANCE);
    }
}

/* Accesses global, local or texture memory. */
static void access_memory(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle, enum sm_access access,
                          uint32_t mask, uint64_t cycle) {
    const struct sm_timing *timing = &sm->program->timing[bundle->pc];
    const struct exec_insn *insn = &sm->program->exec->code[bundle->pc];
    uint32_t number = sm_ldst_take(&sm->ldst);
    struct sm_request *request = &sm->ldst.request[number];
    uint64_t local[EXEC_LANES];
    const uint64_t *address = sm->cx.address;
    bool is_texture = ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE;
    uint32_t bytes = is_texture ? sm->cx.texel_bytes : (uint32_t)insn->access.bytes * insn->access.n;
    uint32_t n_words = 1; /* in different lines */
    if (access == SM_ACCESS_LOCAL) {
        local_addresses(sm, bundle->row, mask, local);
        address = local;
        n_words = bytes > LOCAL_WORD_BYTES ? bytes / LOCAL_WORD_BYTES : 1;
    }
    start_request(sm, request, s, bundle, mask, cycle);
    if (timing->copies == SM_COPIES_NONE || timing->copies == SM_COPIES_SIGNAL)
        coalesce(sm, timing, address, mask, bytes, n_words, request);
    else
        request->lanes = mask = sm_copies_issue(sm, bundle, request, cycle);
    if (!mask) {
        sm_ldst_release(&sm->ldst, request);
        return;
    }
    if (sm->ldst.memory_clock && request->kind == MEM_WRITE && !request->is_copy)
        find_written(address, bytes, n_words, request);
    if (timing->copies != SM_COPIES_BULK || !sm->machine->copies.is_present)
        set_pace(sm, s, request, address, bytes, cycle);
    if (timing->is_texture)
        slow_down(sm->machine, timing, request);
    sm->counters.long_instructions++;
    sm->counters.local_instructions += access == SM_ACCESS_LOCAL;
    sm->counters.long_thread_instructions += (uint32_t)__builtin_popcount(mask);
    sm->counters.divergent_memory_instructions += request->n_transactions > 1;
    sm->slots.slot[s].has_accessed = true;
    if (!request->is_copy) {
        struct sm_slot *slot = &sm->slots.slot[s];
        if (sm->boards.board) {
            sm_boards_begin_access(sm, s, request);
        } else {
            slot->n_accesses++;
            slot->n_loads = (uint16_t)(slot->n_loads + sm_has_result(timing));
        }
        sm_set_destinations(sm, s, timing, mask, SM_NEVER);
    }
    if (timing->copies == SM_COPIES_BULK)
        sm_copies_spread(sm, number);
    else
        sm_ldst_push(&sm->ldst, number);
    if (sm->follower)
        sm_observe_access(sm, number, address, bytes / n_words, n_words, cycle);
}

void sm_ldst_issue(struct sm *sm, uint32_t s, const struct divergence_bundle *bundle, uint64_t cycle) {
    const struct sm_timing *timing = &sm->program->timing[bundle->pc];
    const struct exec_insn *insn = &sm->program->exec->code[bundle->pc];
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
    if (access == SM_ACCESS_SHARED)
        access_shared(sm, s, bundle->pc, mask, cycle);
    else
        access_memory(sm, s, bundle, access, mask, cycle);
}
