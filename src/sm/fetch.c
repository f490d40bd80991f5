/* Instruction fetch: requests to the I-cache and their answers, and code that is new to the device. New code has no
 * cache: a line that an SM has fetched stays there. When a warp enters a line, the SM asks for those that follow it
 * (lowering.new_*; bench/hardware: new_jumps). */
#include "sm/fetch.h"

#include <stdlib.h>

#include "base/memory.h"
#include "sm/internal.h"

void sm_fetch_init(struct sm_fetch *fetch, const struct config_machine *machine) {
    const struct config_cache *icache = &machine->icache;
    *fetch = (struct sm_fetch){
        .port_cycle = SM_NEVER,
        .line_shift = (uint8_t)__builtin_ctz(icache->line_bytes / SM_INSTRUCTION_BYTES), /* a power of two */
        .can_miss = icache->is_present && !icache->is_perfect,
        .has_one_port = icache->banks <= 1,
        .code.miss_cycles = machine->lowering.new_code_cycles,
        .code.line_cycles = machine->lowering.new_line_cycles,
        .code.n_ahead = machine->lowering.new_lines_ahead,
    };
    fetch->looks = fetch->can_miss;
}

void sm_fetch_begin(struct sm_fetch *fetch, const struct sm_program *program) {
    if (fetch->can_miss || !fetch->code.miss_cycles || !program->is_new)
        return;
    fetch->code.n_lines = program->n_code_lines;
    fetch->code.arrives = base_allocate(program->n_code_lines, sizeof *fetch->code.arrives);
    fetch->looks = true;
}

void sm_fetch_end(struct sm_fetch *fetch) {
    free(fetch->code.arrives);
    fetch->code.arrives = NULL;
    fetch->code.n_lines = 0;
    fetch->looks = fetch->can_miss;
}

/* Returns the cycle in which the SM has the line that a group enters in `cycle`, and asks for some that follow it. */
static uint64_t line_arrives(struct sm_new_code *code, uint32_t line, uint64_t cycle) {
    uint64_t *arrives = code->arrives, asked = cycle + code->miss_cycles;
    uint32_t last = line + code->n_ahead < code->n_lines ? line + code->n_ahead : code->n_lines - 1;
    if (!arrives[line])
        arrives[line] = asked;
    for (uint32_t next = line + 1; next <= last; next++)
        if (!arrives[next]) {
            uint64_t in_turn = arrives[next - 1] + code->line_cycles;
            arrives[next] = in_turn > asked ? in_turn : asked;
        }
    return arrives[line];
}

/* Lets the slot wait for the line of new code that its group enters. */
static void enter_new_line(struct sm *sm, struct sm_slot *slot, uint64_t cycle) {
    slot->fetch_line = sm_fetch_line_at(&sm->fetch, sm->program, slot->group->pc);
    uint64_t now = slot->fetch_ready > cycle ? slot->fetch_ready : cycle + 1;
    uint64_t arrival = line_arrives(&sm->fetch.code, slot->fetch_line, now);
    slot->fetch_ready = arrival > now ? arrival : now;
}

bool sm_fetch_line(struct sm *sm, uint32_t s, uint64_t cycle) {
    struct sm_fetch *fetch = &sm->fetch;
    struct sm_slot *slot = &sm->slots.slot[s];
    if (fetch->code.n_lines) {
        enter_new_line(sm, slot, cycle);
        return true;
    }
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
