/* The life of an SM: its slots, the blocks it holds, the accounting of cycles. */
#include "sm/sm.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/occupancy.h"
#include "sm/internal.h"

enum { SLOTS_IN_HOST_CACHE = 2048 }; /* with their registers */

struct sm *sm_new(const struct sm_setup *setup) {
    const struct config_machine *machine = setup->machine;
    struct sm *sm = base_allocate_aligned(sizeof *sm);
    sm->machine = machine;
    sm->mem = setup->mem;
    sm->observer = setup->observer;
    sm->index = setup->index;
    sm->divergence = setup->divergence;
    sm->first_model_kind = sm->divergence->splits_rows ? EXEC_KIND_WARP_MEMORY : EXEC_KIND_BRANCH;
    sm_fetch_init(&sm->fetch, &machine->icache);
    sm_units_init(&sm->units, machine);
    sm->pipeline = machine->sm.pipeline;
    sm->cycles_to_next = sm_has_scoreboard(sm)                            ? machine->sm.fetch_cycles
                         : machine->sm.pipeline == CONFIG_PIPELINE_BARREL ? machine->sm.stages
                                                                          : 1;
    sm->cycles_to_next_after_control = sm_has_scoreboard(sm) ? machine->sm.branch_cycles : sm->cycles_to_next;
    sm->dispatcher = setup->dispatcher;
    sm->checks = setup->checks;
    sm->n_warps = machine->sm.threads / machine->sm.warp_size;
    uint32_t n_slots = sm->n_warps;
    if (sm->divergence->n_slots)
        n_slots = sm->divergence->n_slots(setup->divergence_options, machine, sm->n_warps, SCHED_MAX_SLOTS);
    assert(sm->n_warps <= CONFIG_MAX_WARPS && n_slots <= SCHED_MAX_SLOTS); /* config_check(), n_slots() */
    sm_slots_init(&sm->slots, n_slots);
    sm_schedulers_init(&sm->schedulers, setup->scheduler, setup->scheduler_options, machine->sm.schedulers, &sm->slots);
    sm->needs_prefetch = machine->sm.count * sm->slots.n > SLOTS_IN_HOST_CACHE;
    sm_wheel_init(&sm->wheel);
    sm_ldst_init(&sm->ldst, 4 * sm->n_warps + SM_LDST_QUEUE + EXEC_LANES);
    for (uint32_t s = 0; s < sm->slots.n; s++)
        sched_add(&sm->units.slots[sm->slots.slot[s].unit], s);
    sm->cx.lanes = exec_level_table();
    sm->model_wake = SM_NEVER;
    struct divergence_setup divergence = {
        .machine = machine,
        .options = setup->divergence_options,
        .chip = setup->divergence_chip,
        .sm_index = sm->index,
        .n_slots = sm->slots.n,
        .host = &sm_divergence_host,
        .sm = sm,
        .cx = &sm->cx,
        .counters = &sm->divergence_counters,
    };
    sm->model = sm->divergence->new_model(&divergence);
    return sm;
}

void sm_free(struct sm *sm) {
    if (!sm)
        return;
    sm_end_grid(sm);
    sm->divergence->free_model(sm->model);
    sm_schedulers_free(&sm->schedulers);
    sm_slots_free(&sm->slots);
    sm_wheel_free(&sm->wheel);
    sm_ldst_free(&sm->ldst);
    free(sm);
}

/* --- grids and blocks --- */

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Returns how many blocks the SM holds at once: at least one, because the launch has been checked. */
static uint32_t blocks_that_fit(const struct config_capacity *capacity, const struct exec_grid *grid) {
    const struct config_demand block = {
        .threads = exec_shape_threads(&grid->shape),
        .registers_per_thread = grid->program->registers_per_thread,
        .shared_bytes = grid->shared_bytes,
    };
    uint32_t blocks = config_occupancy(capacity, &block, NULL);
    assert(blocks);
    return blocks;
}

/* Returns the number of warps whose registers the SM can hold, whatever their blocks. */
static uint32_t warps_that_fit(const struct sm *sm, const struct config_capacity *capacity,
                               const struct exec_grid *grid) {
    return least(sm->n_warps, config_register_warps(capacity, grid->program->registers_per_thread));
}

void sm_begin_grid(struct sm *sm, const struct exec_grid *grid, const struct sm_program *program) {
    const struct config_capacity capacity = config_capacity_of(sm->machine);
    sm_end_grid(sm);
    sm->grid = grid;
    sm->program = program;
    sm->cx.grid = grid;
    sm->cx.cached_low = sm->cx.cached_high = 0;
    sm->cx.fault.kind = EXEC_FAULT_NONE;
    sm->fault_row = NULL;
    sm->is_watched = sm->checks || grid->profile || sm->observer;
    sm_observe_begin(sm);
    sm_copies_begin(sm);
    sm->blocks.most = blocks_that_fit(&capacity, grid);
    sm->sleeps_for = SM_STALL_EMPTY;
    sm->slots.n_usable = sm->slots.n;
    if (sm->divergence->chip)
        sm->slots.n_usable = least(sm->slots.n, warps_that_fit(sm, &capacity, grid));
    sm->lanes_at = base_allocate(grid->program->n_insns, sizeof *sm->lanes_at);
    sm_slots_begin(&sm->slots, program->n_registers + 1);
    sm_lanes_begin(sm);
    bool folds = sm_has_scoreboard(sm) && !sm->lanes.ready;
    sm->issues = !isa_is_compiled(isa_target_of(sm->machine)) ? SM_ISSUES_PTX
                 : folds                                      ? SM_ISSUES_FOLDED
                                                              : SM_ISSUES_MACHINE;
    sm_schedulers_begin(&sm->schedulers);
    if (sm->divergence->begin_grid)
        sm->divergence->begin_grid(sm->model);
}

/* Counts the work of the executed instructions, all at once. */
static void count_work(struct sm *sm) {
    for (uint32_t pc = 0; sm->lanes_at && pc < sm->grid->program->n_insns; pc++) {
        const struct sm_timing *timing = &sm->program->timing[pc];
        sm->counters.value[timing->work] += sm->lanes_at[pc];
        sm->counters.register_accesses += sm->lanes_at[pc] * timing->n_registers;
        sm->counters.register_writes += sm->lanes_at[pc] * timing->n_destinations;
    }
    free(sm->lanes_at);
    sm->lanes_at = NULL;
}

void sm_end_grid(struct sm *sm) {
    count_work(sm);
    for (uint32_t s = 0; s < sm->slots.n; s++)
        if (sm->slots.slot[s].group) /* only if the launch has failed */
            sm_finish_slot(sm, s);
    for (uint32_t i = 0; i < sm->blocks.n_places; i++) {
        struct divergence_block *block = &sm->blocks.place[i]->block;
        if (sm->divergence->free_block)
            sm->divergence->free_block(sm->model, block->state);
        exec_cta_free(block->cta);
        free(sm->blocks.place[i]);
    }
    free(sm->blocks.place);
    sm_slots_end(&sm->slots);
    sm_lanes_end(&sm->lanes);
    sm->blocks.place = NULL;
    sm->blocks.n_places = sm->blocks.most = sm->blocks.n = 0;
    sm_constants_clear(&sm->constants);
    sm->model_wake = SM_NEVER;
    sm->turn = (struct sm_turn){0};
    sm_copies_end(sm);
    sm_follower_free(sm->follower);
    sm->follower = NULL;
}

uint64_t sm_last_cycle(const struct sm *sm) { return sm->last_cycle; }
uint64_t sm_last_change(const struct sm *sm) { return sm->last_change; }
uint32_t sm_slots(const struct sm *sm) { return sm->slots.n; }
const struct divergence_group *sm_group(const struct sm *sm, uint32_t slot) { return sm->slots.slot[slot].group; }
bool sm_has_accesses(const struct sm *sm, uint32_t slot) { return sm->slots.slot[slot].n_accesses > 0; }
const char *sm_strict_scheduler(const struct sm *sm) {
    return sm->schedulers.policy.is_strict && sm->slots.n_in_state[SM_SLOT_READY] ? sm->schedulers.policy.name : NULL;
}
bool sm_has_room(const struct sm *sm) { return sm->blocks.n < sm->blocks.most; }

uint32_t sm_most_blocks(const struct sm *sm) { return sm->blocks.most; }

uint32_t sm_count_blocks(const struct sm *sm) { return sm->blocks.n; }
uint32_t sm_count_groups(const struct sm *sm) { return sm->slots.n - sm->slots.n_in_state[SM_SLOT_FREE]; }
const struct stats_sm *sm_counters(const struct sm *sm) { return &sm->counters; }
const uint64_t *sm_active_lanes(const struct sm *sm) { return sm->active_lanes; }

void sm_add_counters(const struct sm *sm, struct stats_counters *sum) {
    stats_add_sm(sum, &sm->counters);
    stats_add_divergence(sum, &sm->divergence_counters);
}

/* Returns a place for a block. There are as many as blocks were ever resident at once. */
static struct sm_resident *free_resident(struct sm *sm) {
    for (uint32_t i = 0; i < sm->blocks.n_places; i++)
        if (!sm->blocks.place[i]->is_in_flight)
            return sm->blocks.place[i];
    uint32_t number = sm->blocks.n_places++;
    sm->blocks.place = base_grow(sm->blocks.place, sm->blocks.n_places, sizeof *sm->blocks.place);
    struct sm_resident *resident = sm->blocks.place[number] = base_allocate(1, sizeof *resident);
    resident->block.cta = exec_cta_new(sm->grid);
    resident->block.cta->owner = &resident->block;
    resident->block.slot = number % SCHED_MAX_SLOTS;
    resident->block.cta->first_row = ((uint64_t)number * sm->grid->n_sms + sm->index) * EXEC_MAX_ROWS;
    if (sm->divergence->new_block)
        resident->block.state = sm->divergence->new_block(sm->model, resident->block.cta);
    return resident;
}

void sm_start_block(struct sm *sm, uint32_t block, uint64_t cycle) {
    if (cycle)
        sm_catch_up(sm, cycle - 1);
    struct sm_resident *resident = free_resident(sm);
    exec_cta_start(resident->block.cta, block, sm->index);
    resident->is_in_flight = true;
    sm->last_change = cycle;
    sm->blocks.n++;
    sm->counters.blocks++;
    sm->counters.threads += exec_shape_threads(&sm->grid->shape);
    sm->divergence->admit(sm->model, &resident->block, cycle);
}

void sm_start_block_at(struct sm *sm, uint32_t block, uint64_t start, uint64_t cycle) {
    sm->blocks.start = start + 1;
    sm_start_block(sm, block, cycle);
    sm->blocks.start = 0;
}

void sm_pull(struct sm *sm, uint64_t cycle) { sm->divergence->refill(sm->model, cycle); }

/* --- accounting and reports --- */

void sm_catch_up(struct sm *sm, uint64_t cycle) {
    if (cycle <= sm->last_cycle)
        return;
    uint64_t slept = cycle - sm->last_cycle;
    sm->counters.sm_cycles += slept;
    sm->counters.value[sm->sleeps_for] += slept;
    sm->last_cycle = cycle;
}

const struct exec_context *sm_fault(const struct sm *sm, const struct exec_row **row, uint32_t *pc) {
    if (sm->cx.fault.kind == EXEC_FAULT_NONE)
        return NULL;
    if (sm->fault_row) {
        *row = sm->fault_row;
        *pc = (uint32_t)sm->fault_pc;
    } else { /* in a hook while nothing issued: at a barrier or a warp-wide instruction */
        *row = sm->cx.row;
        *pc = (uint32_t)(sm->cx.insn - sm->program->exec->code);
    }
    return &sm->cx;
}

void sm_describe(const struct sm *sm, void (*line)(void *user, const char *text), void *user) {
    static const unsigned stall[SM_N_STATES] = {
        [SM_SLOT_READY] = STATS_LINE_STALL_ready,     [SM_SLOT_MEMORY] = STATS_LINE_STALL_memory,
        [SM_SLOT_FETCH] = STATS_LINE_STALL_fetch,     [SM_SLOT_DEPENDENCY] = STATS_LINE_STALL_dependency,
        [SM_SLOT_BARRIER] = STATS_LINE_STALL_barrier,
    };
    for (uint32_t s = 0; s < sm->slots.n; s++) {
        const struct sm_slot *slot = &sm->slots.slot[s];
        if (slot->state == SM_SLOT_FREE)
            continue;
        const struct divergence_group *group = slot->group;
        const struct ptx_instruction *insn = sm->program->exec->source[group->pc];
        char name[80] = "ret", who[48], text[240];
        if (insn)
            ptx_instruction_name(insn, name, sizeof name);
        if (group->row)
            snprintf(who, sizeof who, "block %u warp %u", group->row->block->index, group->row->index);
        else
            snprintf(who, sizeof who, "%u threads", group->n_threads);
        snprintf(text, sizeof text, "SM %u slot %u: %s, stall: %s, next line %u (%s), %u accesses in flight", sm->index,
                 s, who, stats_line_stalls[stall[slot->state]].word, insn ? insn->at.line : 0, name, slot->n_accesses);
        line(user, text);
    }
}
