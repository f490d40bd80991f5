/* The life of an SM: slots, blocks that come and go, the clock's accounting. */
#include "sm/sm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/internal.h"

static void *allocate(size_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        abort();
    return memory;
}

struct sm *sm_new(const struct sm_setup *setup) {
    const struct config_machine *machine = setup->machine;
    struct sm *sm = aligned_alloc(64, (sizeof *sm + 63) & ~(size_t)63);
    if (!sm)
        abort();
    memset(sm, 0, sizeof *sm);
    sm->machine = machine;
    sm->policy = setup->scheduler;
    sm->policy_options = setup->scheduler_options;
    sm->mem = setup->mem;
    sm->index = setup->index;
    sm->n_slots = machine->threads_per_sm / machine->warp_size;
    if (sm->n_slots > SCHED_MAX_SLOTS)
        sm->n_slots = SCHED_MAX_SLOTS;
    sm->n_schedulers = machine->schedulers < SM_MAX_SCHEDULERS ? machine->schedulers : SM_MAX_SCHEDULERS;
    sm->has_icache = machine->icache.is_present && !machine->icache.is_perfect;
    sm->line_shift =
        (uint32_t)__builtin_ctz(machine->icache.line_bytes / SM_INSTRUCTION_BYTES); /* lines are powers of two */
    sm->slot = allocate(sm->n_slots, sizeof *sm->slot);
    sm->view_slot = allocate(sm->n_slots, sizeof *sm->view_slot);
    sm->wheel = allocate(SM_WHEEL, sizeof *sm->wheel);
    sm->n_requests = 2 * sm->n_slots + SM_LDST_QUEUE;
    sm->request = allocate(sm->n_requests, sizeof *sm->request);
    sm->n_in_state[SM_SLOT_FREE] = sm->n_slots;
    for (uint32_t k = 0; k < sm->n_schedulers; k++)
        sm->policy_state[k] = allocate(1, sm->policy->state_bytes);
    for (uint32_t s = 0; s < sm->n_slots; s++)
        sched_add(&sm->of_scheduler[s % sm->n_schedulers], s);
    for (uint32_t s = 0; s < sm->n_slots; s++)
        sched_add(&sm->of_unit[sm->slot[s].unit], s);
    sm->view = (struct sched_view){
        .slot = sm->view_slot,
        .occupied = &sm->occupied,
        .ready = &sm->ready,
        .next_long = &sm->next_long,
        .next_load = &sm->next_load,
        .waits_long = &sm->waits_long,
        .pending = &sm->pending,
        .n_slots = sm->n_slots,
    };
    sm->n_words = (sm->n_slots + 63) / 64;
    sm->cx.lanes = exec_isa_table();
    return sm;
}

void sm_free(struct sm *sm) {
    if (!sm)
        return;
    sm_end_grid(sm);
    for (uint32_t k = 0; k < sm->n_schedulers; k++)
        free(sm->policy_state[k]);
    free(sm->slot);
    free(sm->view_slot);
    free(sm->wheel);
    free(sm->request);
    free(sm);
}

/* --- grids and blocks --- */

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* How many blocks the SM holds at once; 0 with a line that names what is short.
 */
static uint32_t blocks_that_fit(const struct sm *sm, const struct exec_grid *grid, char *error, size_t size) {
    const struct config_machine *machine = sm->machine;
    uint32_t threads = grid->block[0] * grid->block[1] * grid->block[2];
    uint32_t rows = (threads + machine->warp_size - 1) / machine->warp_size;
    uint32_t registers = rows * machine->warp_size * grid->program->registers_per_thread;
    const struct {
        const char *what;
        uint32_t need, have;
    } limits[] = {
        {"threads", rows * machine->warp_size, machine->threads_per_sm},
        {"registers", registers, machine->registers_per_sm},
        {"bytes of shared memory", grid->shared_bytes, machine->shared_bytes},
        {"warps", rows, sm->n_slots},
    };
    uint32_t blocks = machine->blocks_per_sm;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (!limits[i].need)
            continue;
        if (limits[i].need > limits[i].have) {
            snprintf(error, size, "a block of kernel '%s' needs %u %s; an SM of machine '%s' has %u",
                     grid->program->name, limits[i].need, limits[i].what, machine->name, limits[i].have);
            return 0;
        }
        blocks = least(blocks, limits[i].have / limits[i].need);
    }
    return blocks;
}

bool sm_begin_grid(struct sm *sm, const struct exec_grid *grid, const struct sm_program *program, char *error,
                   size_t size) {
    uint32_t blocks = blocks_that_fit(sm, grid, error, size);
    if (!blocks)
        return false;
    sm_end_grid(sm);
    sm->grid = grid;
    sm->program = program;
    sm->cx.grid = grid;
    sm->cx.cached_low = sm->cx.cached_high = 0;
    sm->cx.fault.kind = EXEC_FAULT_NONE;
    sm->max_residents = blocks;
    sm->resident = allocate(blocks, sizeof *sm->resident);
    sm->register_memory = allocate((size_t)sm->n_slots * (program->n_registers + 1), sizeof *sm->register_memory);
    for (uint32_t s = 0; s < sm->n_slots; s++)
        sm->slot[s].register_ready = sm->register_memory + (size_t)s * (program->n_registers + 1);
    for (uint32_t k = 0; k < sm->n_schedulers; k++) {
        memset(sm->policy_state[k], 0, sm->policy->state_bytes);
        sm->policy->start(sm->policy_state[k], sm->policy_options, sm->n_slots);
    }
    return true;
}

void sm_end_grid(struct sm *sm) {
    for (uint32_t i = 0; i < sm->max_residents; i++) {
        struct sm_resident *resident = &sm->resident[i];
        for (uint32_t r = 0; resident->cta && r < resident->cta->n_rows; r++)
            divergence_stack_free(&resident->stack[r]);
        exec_cta_free(resident->cta);
        free(resident->stack);
        free(resident->slot_of);
    }
    free(sm->resident);
    free(sm->register_memory);
    sm->resident = NULL;
    sm->register_memory = NULL;
    sm->max_residents = sm->n_residents = 0;
}

bool sm_has_room(const struct sm *sm) { return sm->n_residents < sm->max_residents; }
bool sm_is_busy(const struct sm *sm) { return sm->n_residents != 0; }
uint32_t sm_blocks_finished(const struct sm *sm) { return sm->n_finished; }
const struct sm_counters *sm_counters(const struct sm *sm) { return &sm->counters; }

static struct sm_resident *free_resident(struct sm *sm) {
    uint32_t i = 0;
    while (sm->resident[i].is_busy)
        i++;
    struct sm_resident *resident = &sm->resident[i];
    if (!resident->cta) {
        resident->cta = exec_cta_new(sm->grid);
        resident->stack = allocate(resident->cta->n_rows, sizeof *resident->stack);
        resident->slot_of = allocate(resident->cta->n_rows, sizeof *resident->slot_of);
    }
    return resident;
}

static uint32_t free_slot(const struct sm *sm) {
    uint32_t s = 0;
    while (sched_has(&sm->occupied, s))
        s++;
    return s;
}

static void start_slot(struct sm *sm, uint32_t s, struct sm_resident *resident, uint32_t row, uint64_t cycle) {
    struct sm_slot *slot = &sm->slot[s];
    uint64_t *registers = slot->register_ready;
    divergence_stack_start(&resident->stack[row], sm->grid->program->function[0].first_pc,
                           resident->cta->row[row].threads);
    *slot = (struct sm_slot){
        .row = &resident->cta->row[row],
        .stack = &resident->stack[row],
        .cta = (uint32_t)(resident - sm->resident),
        .fetch_ready = cycle + 1,
        .age = sm->n_arrived,
        .fetch_line = UINT32_MAX,
        .register_ready = registers,
        .state = slot->state,
        .unit = slot->unit,
    };
    memset(registers, 0, (sm->program->n_registers + 1) * sizeof *registers);
    resident->slot_of[row] = s;
    sched_add(&sm->occupied, s);
    sm->view_slot[s] = (struct sched_slot){.age = sm->n_arrived++, .warp_id = s / sm->n_schedulers, .block = slot->cta};
    sm->view.cycle = cycle;
    sm->policy->arrive(sm->policy_state[s % sm->n_schedulers], &sm->view, s);
    sm_prepare(sm, s, cycle);
}

void sm_start_block(struct sm *sm, uint32_t block, uint64_t cycle) {
    sm_catch_up(sm, cycle);
    struct sm_resident *resident = free_resident(sm);
    exec_cta_start(resident->cta, block, sm->index);
    resident->is_busy = true;
    sm->n_residents++;
    sm->counters.blocks++;
    sm->counters.threads += (uint64_t)sm->grid->block[0] * sm->grid->block[1] * sm->grid->block[2];
    for (uint32_t row = 0; row < resident->cta->n_rows; row++)
        start_slot(sm, free_slot(sm), resident, row, cycle);
}

/* The group has ended; with the last one of its block the block has. */
void sm_finish_slot(struct sm *sm, uint32_t s) {
    struct sm_resident *resident = &sm->resident[sm->slot[s].cta];
    sm->policy->leave(sm->policy_state[s % sm->n_schedulers], &sm->view, s);
    sched_remove(&sm->occupied, s);
    sched_remove(&sm->pending, s);
    sched_remove(&sm->waits_long, s);
    sm_set_state(sm, s, SM_SLOT_FREE);
    for (uint32_t row = 0; row < resident->cta->n_rows; row++) {
        uint32_t other = resident->slot_of[row];
        if (sm->slot[other].state != SM_SLOT_FREE && &sm->resident[sm->slot[other].cta] == resident)
            return;
    }
    resident->is_busy = false;
    sm->n_residents--;
    sm->n_finished++;
}

/* --- accounting and reports --- */

void sm_catch_up(struct sm *sm, uint64_t cycle) {
    if (cycle <= sm->last_cycle)
        return;
    uint64_t slept = cycle - sm->last_cycle;
    sm->counters.cycles += slept;
    sm->counters.stall[sm->sleeps_for] += slept;
    sm->last_cycle = cycle;
}

const struct exec_context *sm_fault(const struct sm *sm, const struct exec_row **row, uint32_t *pc) {
    if (sm->cx.fault.kind == EXEC_FAULT_NONE)
        return NULL;
    *row = sm->fault_row;
    *pc = (uint32_t)sm->fault_pc;
    return &sm->cx;
}

void sm_describe(const struct sm *sm, void (*line)(void *user, const char *text), void *user) {
    static const char *const states[SM_N_STATES] = {"free",     "ready",           "memory",
                                                    "a result", "its instruction", "a barrier"};
    for (uint32_t s = 0; s < sm->n_slots; s++) {
        const struct sm_slot *slot = &sm->slot[s];
        if (slot->state == SM_SLOT_FREE)
            continue;
        const struct ptx_instruction *insn = sm->program->exec->source[slot->pc];
        char name[80] = "ret", text[240];
        if (insn)
            ptx_instruction_name(insn, name, sizeof name);
        snprintf(text, sizeof text,
                 "SM %u slot %u: block %u warp %u %s%s, next line %u (%s), %u "
                 "accesses under way",
                 sm->index, s, slot->row->block->index, slot->row->index,
                 slot->state == SM_SLOT_READY ? "" : "waits for ", states[slot->state], insn ? insn->at.line : 0, name,
                 slot->n_accesses);
        line(user, text);
    }
}
