/* Instruction fetch: requests to the I-cache and their answers. */
#include "sm/fetch.h"

#include "sm/internal.h"

void sm_fetch_init(struct sm_fetch *fetch, const struct config_cache *icache) {
    *fetch = (struct sm_fetch){
        .port_cycle = SM_NEVER,
        .line_shift = (uint8_t)__builtin_ctz(icache->line_bytes / SM_INSTRUCTION_BYTES), /* a power of two */
        .can_miss = icache->is_present && !icache->is_perfect,
        .has_one_port = icache->banks <= 1,
    };
}

bool sm_fetch_line(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_fetch *fetch = &sm->fetch;
    struct sm_slot *slot = &sm->slots.slot[s];
    uint32_t line = slot->group->pc >> fetch->line_shift, line_bytes = sm->machine->icache.line_bytes;
    uint64_t ready = 0, address = sm->grid->program->code_address + (uint64_t)line * line_bytes;
    /* Before the schedulers pick, `cycle` is the one before. */
    uint64_t now = cycle < sm->turn.cycle ? sm->turn.cycle : cycle;
    enum mem_answer answer = MEM_REFUSED;
    if (sm_fetch_has_port(fetch, now))
        answer = mem_access(sm->mem, sm->index, now, MEM_FETCH, address, line_bytes, SM_FETCH_TOKEN | s, &ready);
    if (answer == MEM_REFUSED) {
        bool is_full = ready == MEM_NEVER;
        fetch->n_at_full += is_full;
        fetch->is_stuck &= is_full;
        slot->wake = SM_NEVER;
        sm_slots_set_state(&sm->slots, s, SM_SLOT_FETCH);
        sched_add(&fetch->refused, s);
        return false;
    }
    if (fetch->has_one_port)
        fetch->port_cycle = now;
    slot->fetch_line = line;
    if (answer == MEM_MISS) {
        fetch->n_in_flight++;
        slot->fetch_ready = slot->wake = SM_NEVER;
        sm_slots_set_state(&sm->slots, s, SM_SLOT_FETCH);
        return false;
    }
    if (ready > slot->fetch_ready)
        slot->fetch_ready = ready;
    return true;
}

void sm_fetch_done(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_slot *slot = &sm->slots.slot[s];
    sm->fetch.n_in_flight--;
    if (slot->state == SM_SLOT_FREE || slot->fetch_ready != SM_NEVER)
        return; /* for a group that has left since */
    slot->fetch_ready = cycle;
    sm_use_slot(sm, s);
    sm_prepare(sm, s, cycle - 1);
}
