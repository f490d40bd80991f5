/* Instruction fetch: an SM asks the I-cache for a line when a group's next instruction is not in the same line as its
 * last one. A fetch that misses goes to the L2. If the I-cache has one port, it serves one group per cycle. */
#pragma once

#include "config/machine.h"
#include "sm/slots.h"
#include "sm/sm.h"

enum {
    SM_INSTRUCTION_BYTES = 8,
    SM_FETCH_TOKEN = 0x80000000u, /* token of a fetch in the memory system: this and the slot */
};

/* Code in the first launch of a kernel: lines of SM_CODE_LINE machine instructions, which an SM has to fetch once. If
 * several grids share the SM, their code is there (grids.h). */
struct sm_new_code {
    uint64_t *arrives; /* per line: the cycle in which the SM has it; 0: it has not been asked for */
    uint32_t n_lines;
    uint32_t miss_cycles, line_cycles, n_ahead;
};

struct sm_fetch {
    struct sm_new_code code;  /* n_lines 0: not modelled, or an earlier launch has executed it */
    struct sched_set refused; /* slots that the I-cache refused: they ask again in the next cycle */
    uint64_t port_cycle;      /* the cycle in which the only port was last used */
    uint32_t n_in_flight;     /* fetches that missed */
    uint8_t line_shift;       /* from a pc to its line */
    bool can_miss, has_one_port;
    bool looks;         /* at the line of each instruction: fetches may miss, or code is new */
    bool is_stuck;      /* every refused slot found the MSHRs full, and memory has not changed since */
    uint32_t n_at_full; /* refusals for this reason so far */
};

void sm_fetch_init(struct sm_fetch *fetch, const struct config_machine *machine);
/* Before and after a grid. */
void sm_fetch_begin(struct sm_fetch *fetch, const struct sm_program *program);
void sm_fetch_end(struct sm_fetch *fetch);
/* Fetches the line of the slot's next instruction. Returns false if the slot must wait for an event. */
bool sm_fetch_line(struct sm *sm, uint32_t s, uint64_t cycle);
/* The line that the slot waited for has arrived. */
void sm_fetch_done(struct sm *sm, uint32_t s, uint64_t cycle);

/* Returns the line of an instruction. */
static inline uint32_t sm_fetch_line_at(const struct sm_fetch *fetch, const struct sm_program *program, uint32_t pc) {
    return fetch->code.n_lines ? program->timing[pc].code_line : pc >> fetch->line_shift;
}

/* Returns whether the slot's group has its next instruction. */
static inline bool sm_fetch_has_line(const struct sm_fetch *fetch, const struct sm_program *program,
                                     const struct sm_slot *slot) {
    return !fetch->looks || sm_fetch_line_at(fetch, program, slot->group->pc) == slot->fetch_line;
}

/* Returns whether a slot that was refused can ask again in this cycle. */
static inline bool sm_fetch_has_port(const struct sm_fetch *fetch, uint64_t cycle) {
    return fetch->port_cycle != cycle;
}
