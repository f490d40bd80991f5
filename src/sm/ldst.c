/* The load/store unit: a memory instruction becomes line accesses (or bank
 * conflicts), goes through the L1 in order, and frees its destination registers
 * when the last line is there. */
#include "sm/internal.h"

bool sm_ldst_has_room(const struct sm *sm) { return sm->queue_length < SM_LDST_QUEUE; }

/* Threads' local memory is interleaved by words, as the hardware does it: the
 * same offset of 32 threads is one line. */
#define LOCAL_MEMORY 0x0000400000000000ull

static void local_addresses(const struct sm *sm, const struct sm_slot *slot, uint32_t mask,
                            uint64_t address[EXEC_LANES]) {
    uint64_t row = (uint64_t)sm->index * sm->n_slots + (uint64_t)(slot - sm->slot);
    uint64_t base = LOCAL_MEMORY + row * sm->grid->local_bytes * EXEC_LANES;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t offset = sm->cx.address[lane];
        if (offset - EXEC_LOCAL_WINDOW < EXEC_WINDOW_BYTES)
            offset -= EXEC_LOCAL_WINDOW;
        address[lane] = base + offset / 4 * 4 * EXEC_LANES + lane * 4u + offset % 4;
    }
}

/* A generic access goes where its lanes point; mixed ones count as global. */
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

static void set_destinations(struct sm_slot *slot, const struct sm_timing *timing, uint64_t ready) {
    for (unsigned i = 0; i < timing->n_destinations; i++)
        slot->register_ready[timing->reg[i]] = ready;
}

static void access_shared(struct sm *sm, struct sm_slot *slot, const struct sm_timing *timing,
                          const struct exec_insn *insn, uint32_t mask, uint64_t cycle) {
    unsigned passes = mem_bank_conflicts(sm->cx.address, mask, (uint32_t)insn->access.bytes * insn->access.n,
                                         sm->machine->shared_banks);
    uint64_t extra = passes > timing->occupancy_cycles ? passes : timing->occupancy_cycles;
    sm->unit_free[SM_UNIT_LDST][0] = cycle + extra;
    set_destinations(slot, timing, cycle + sm->machine->shared_cycles + extra - timing->occupancy_cycles);
    if (sm->machine->pipeline == CONFIG_PIPELINE_BARREL)
        slot->fetch_ready += extra - timing->occupancy_cycles;
}

static uint32_t free_request(const struct sm *sm) {
    uint32_t i = 0;
    while (sm->request[i].is_used)
        i++;
    return i;
}

void sm_ldst_issue(struct sm *sm, uint32_t s, uint32_t pc, uint32_t mask, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    const struct sm_timing *timing = &sm->program->timing[pc];
    const struct exec_insn *insn = &sm->program->exec->code[pc];
    enum sm_access access = resolve(sm, timing, insn, mask);
    if (access == SM_ACCESS_CONSTANT)
        return;
    sm->counters.memory_instructions++;
    if (access == SM_ACCESS_SHARED) {
        access_shared(sm, slot, timing, insn, mask, cycle);
        return;
    }
    uint32_t number = free_request(sm);
    struct sm_request *request = &sm->request[number];
    uint64_t local[EXEC_LANES];
    const uint64_t *address = sm->cx.address;
    bool is_texture = ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE;
    uint32_t bytes = is_texture ? 4 : (uint32_t)insn->access.bytes * insn->access.n;
    if (access == SM_ACCESS_LOCAL) {
        local_addresses(sm, slot, mask, local);
        address = local;
        bytes = bytes < 4 ? bytes : 4; /* wider accesses touch a word in each of
                                          several lines: counted as the first */
    }
    request->n_transactions = mem_coalesce(address, mask, bytes, sm->machine->l1.line_bytes, request->transaction);
    request->next = request->n_outstanding = 0;
    request->ready = cycle + 1;
    request->slot = s;
    request->age = slot->age;
    request->pc = pc;
    request->kind = timing->is_atomic ? MEM_ATOMIC : timing->is_store ? MEM_WRITE : MEM_READ;
    request->is_used = true;
    sm->counters.divergent_memory_instructions += request->n_transactions > 1;
    slot->n_accesses++;
    set_destinations(slot, timing, SM_NEVER);
    sm->queue[(sm->queue_head + sm->queue_length++) % SM_LDST_QUEUE] = number;
}

static void finish(struct sm *sm, struct sm_request *request, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[request->slot];
    const struct sm_timing *timing = &sm->program->timing[request->pc];
    request->is_used = false;
    if (slot->age != request->age || slot->state == SM_SLOT_FREE)
        return; /* a store, or a load nobody waited for, whose group has ended */
    slot->n_accesses--;
    set_destinations(slot, timing, request->ready);
    bool blocks = sm->machine->pipeline != CONFIG_PIPELINE_SCOREBOARD;
    if (blocks && request->ready > slot->fetch_ready)
        slot->fetch_ready = request->ready;
    if (slot->state == SM_SLOT_MEMORY)
        sm_prepare(sm, request->slot, cycle);
}

static bool is_over(const struct sm_request *request) {
    return request->next == request->n_transactions && !request->n_outstanding;
}

void sm_ldst_tick(struct sm *sm, uint64_t cycle) {
    while (sm->queue_length) {
        uint32_t number = sm->queue[sm->queue_head];
        struct sm_request *request = &sm->request[number];
        while (request->next < request->n_transactions) {
            const struct mem_transaction *transaction = &request->transaction[request->next];
            uint64_t ready;
            enum mem_answer answer = mem_access(sm->mem, sm->index, cycle, request->kind, transaction->line,
                                                transaction->bytes, number, &ready);
            if (answer == MEM_REFUSED)
                return;
            request->next++;
            if (answer == MEM_MISS)
                request->n_outstanding++;
            else if (ready > request->ready)
                request->ready = ready;
        }
        sm->queue_head = (sm->queue_head + 1) % SM_LDST_QUEUE;
        sm->queue_length--;
        if (is_over(request))
            finish(sm, request, cycle);
    }
}

void sm_memory_done(struct sm *sm, uint32_t token, uint64_t cycle) {
    sm_catch_up(sm, cycle - 1);
    if (token & SM_FETCH_TOKEN) {
        uint32_t s = token & ~(uint32_t)SM_FETCH_TOKEN;
        if (sm->slot[s].state == SM_SLOT_FREE)
            return;
        sm->slot[s].fetch_ready = cycle;
        sm_prepare(sm, s, cycle - 1);
        return;
    }
    struct sm_request *request = &sm->request[token];
    request->n_outstanding--;
    if (cycle > request->ready)
        request->ready = cycle;
    if (is_over(request))
        finish(sm, request, cycle - 1);
}
