/* The life of an SM: its parts, its grids, the accounting of cycles. */
#include "sm/sm.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ptx/matrix.h"
#include "sm/internal.h"

enum { SLOTS_IN_HOST_CACHE = 2048 }; /* with their registers */

/* Returns whether the model does not depend on other SMs or on the grid's blocks, groups have one pc, instruction
 * fetches do not share the path to the L2 with answers to other SMs, as they do with coherent caches, and the scheduler
 * does not look at DRAM. */
static bool is_separate(const struct sm *sm) {
    bool fetches_meet_answers = sm->fetch.can_miss && sm->machine->memory.coherence != CONFIG_COHERENCE_NONE;
    bool sees_dram = sm->schedulers.policy.wants & SCHED_WANTS_DRAM;
    return !sm->divergence->chip && !divergence_mixes_pcs(sm->divergence) && !fetches_meet_answers && !sees_dram;
}

/* Returns whether groups wait for their registers and issue one instruction after the other, the model does nothing in
 * other cycles, and nothing watches them. */
static bool is_plain(const struct sm *sm) {
    bool is_model_plain = !sm->divergence->joint && !sm->divergence->refill && !sm_has_idle_work(sm);
    return sm_has_scoreboard(sm) && !sm->lanes.ready && !sm->boards.board && is_model_plain && !sm->wide &&
           !sm->follower && !sm->is_watched;
}

struct sm *sm_new(const struct sm_setup *setup) {
    const struct config_machine *machine = setup->machine;
    struct sm *sm = base_allocate_aligned(sizeof *sm);
    sm->machine = machine;
    sm->mem = setup->mem;
    sm->calls = setup->calls;
    sm->observer = setup->observer;
    sm->index = setup->index;
    sm->divergence = setup->divergence;
    sm->first_model_kind = sm->divergence->gathers_rows  ? EXEC_KIND_WARP
                           : sm->divergence->splits_rows ? EXEC_KIND_WARP_MEMORY
                                                         : EXEC_KIND_BRANCH;
    sm_fetch_init(&sm->fetch, machine);
    sm_units_init(&sm->units, machine);
    sm->pipeline = machine->sm.pipeline;
    sm->cycles_to_next = sm_has_scoreboard(sm)                            ? machine->sm.fetch_cycles
                         : machine->sm.pipeline == CONFIG_PIPELINE_BARREL ? machine->sm.stages
                                                                          : 1;
    sm->cycles_to_next_after_control = sm_has_scoreboard(sm) ? machine->sm.branch_cycles : sm->cycles_to_next;
    sm->access_cycles = sm_has_scoreboard(sm) ? machine->sm.access_cycles : 1;
    sm->dispatcher = setup->dispatcher;
    sm->checks = setup->checks;
    sm->n_warps = machine->sm.threads / machine->sm.warp_size;
    uint32_t n_slots = sm->n_warps;
    if (sm->divergence->n_slots)
        n_slots = sm->divergence->n_slots(setup->divergence_options, machine, sm->n_warps, SCHED_MAX_SLOTS);
    assert(sm->n_warps <= CONFIG_MAX_WARPS && n_slots <= SCHED_MAX_SLOTS); /* config_check(), n_slots() */
    sm_slots_init(&sm->slots, n_slots);
    sm_schedulers_init(&sm->schedulers, setup->scheduler, setup->scheduler_options, machine->sm.schedulers, &sm->slots);
    sm->wide = sm->schedulers.wide = sm_wide_new(sm);
    sm->is_separate = is_separate(sm);
    sm->needs_prefetch = machine->sm.count * sm->slots.n > SLOTS_IN_HOST_CACHE;
    sm_wheel_init(&sm->wheel);
    sm_ldst_init(&sm->ldst, 4 * sm->n_warps + SM_LDST_QUEUE + EXEC_LANES, sm->slots.n);
    sm->ldst.has_bank_queues = machine->l1.has_bank_queues;
    sm->takes_turns = machine->sm.units == CONFIG_UNITS_PARTITIONED;
    sm->ldst.memory_clock = mem_joins_stores(sm->mem) ? mem_sm_clock(sm->mem, sm->index) : NULL;
    sm->ldst.port_conflicts = mem_only_port(sm->mem, sm->index);
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
    sm_wide_free(sm->wide);
    sm_slots_free(&sm->slots);
    sm_wheel_free(&sm->wheel);
    sm_ldst_free(&sm->ldst);
    free(sm->grids.grid);
    free(sm->cx.async.rows.row);
    free(sm);
}

/* --- grids --- */

void sm_begin_grid(struct sm *sm, const struct exec_grid *grid, const struct sm_program *program) {
    sm->first_scheduler = 0;
    sm_end_grid(sm);
    sm->grid = grid;
    sm->program = program;
    sm->cx.grid = grid;
    exec_forget_allocations(&sm->cx);
    sm->cx.fault.kind = EXEC_FAULT_NONE;
    sm->fault_row = NULL;
    sm->is_watched = sm->checks || grid->profile || sm->observer;
    sm_observe_begin(sm);
    sm_copies_begin(sm);
    sm_products_begin(sm);
    sm_blocks_begin(sm);
    sm->sleeps_for = SM_STALL_EMPTY;
    sm->active_before = sm->counters.active_cycles;
    sm->empty_before = sm->counters.stall_empty;
    sm->empty_arrived = SM_NEVER;
    sm->lanes_at = base_allocate(grid->program->n_insns, sizeof *sm->lanes_at);
    sm_slots_begin(&sm->slots, program->n_registers + 1);
    sm_fetch_begin(&sm->fetch, program);
    sm_lanes_begin(sm);
    sm_boards_begin(sm);
    bool folds = sm_has_scoreboard(sm) && !sm->lanes.ready;
    sm->issues = !isa_is_compiled(isa_target_of(sm->machine)) ? SM_ISSUES_PTX
                 : folds                                      ? SM_ISSUES_FOLDED
                                                              : SM_ISSUES_MACHINE;
    sm->schedulers.view.most_blocks = sm->blocks.most;
    if (sm->wide)
        sm_wide_begin(sm);
    sm_schedulers_begin(&sm->schedulers);
    if (sm->wide)
        sm_wide_limit_blocks(sm, sm->last_cycle);
    sm->is_plain = is_plain(sm);
    if (sm->divergence->begin_grid)
        sm->divergence->begin_grid(sm->model);
}

/* Returns the multiply-additions that an instruction of the matrix unit has done. All lanes of a warp execute it. */
static uint64_t products_at(const struct sm *sm, uint32_t pc) {
    const struct ptx_instruction *source = sm->program->exec->source[pc];
    bool multiplies = source->matrix && source->matrix->action == PTX_MATRIX_MULTIPLY;
    return multiplies ? sm->lanes_at[pc] / EXEC_LANES * sm_matrix_products(source) : 0;
}

void sm_add_work(struct sm *sm) {
    for (uint32_t pc = 0; pc < sm->grid->program->n_insns; pc++) {
        const struct sm_timing *timing = &sm->program->timing[pc];
        sm->counters.value[timing->work] += sm->lanes_at[pc];
        sm->counters.fp64_thread_instructions += timing->unit == SM_UNIT_FP64 ? sm->lanes_at[pc] : 0;
        sm->counters.sfu_thread_instructions += timing->n_special * sm->lanes_at[pc];
        if (timing->unit == SM_UNIT_MATRIX && sm->lanes_at[pc])
            sm->counters.matrix_products += products_at(sm, pc);
        sm->counters.register_accesses += sm->lanes_at[pc] * timing->n_registers;
        sm->counters.register_writes += sm->lanes_at[pc] * timing->n_destinations;
        sm->lanes_at[pc] = 0;
    }
}

void sm_count_work(struct sm *sm) {
    sm_add_work(sm);
    free(sm->lanes_at);
    sm->lanes_at = NULL;
}

void sm_make_hot(struct sm *sm) { sm->hot = base_allocate(sm->grid->program->n_insns, sizeof *sm->hot); }

void sm_add_hot(const struct sm *sm, struct sm_hot *sum) {
    for (uint32_t pc = 0; sm->hot && pc < sm->grid->program->n_insns; pc++) {
        sum[pc].in_flight += sm->hot[pc].in_flight;
        sum[pc].accesses += sm->hot[pc].accesses;
        sum[pc].lines += sm->hot[pc].lines;
        sum[pc].conflicts += sm->hot[pc].conflicts;
        sum[pc].diverged += sm->hot[pc].diverged;
    }
}

/* Divides the cycles without a group: before the last arrival of groups, after it, or without any. */
static void count_empty(struct sm *sm) {
    uint64_t now = sm->counters.stall_empty;
    if (sm->empty_arrived == SM_NEVER) {
        sm->counters.empty_unused += now - sm->empty_before;
    } else {
        sm->counters.empty_start += sm->empty_arrived - sm->empty_before;
        sm->counters.empty_tail += now - sm->empty_arrived;
    }
}

void sm_end_grid(struct sm *sm) {
    if (sm->lanes_at) { /* otherwise the grid has been counted, or there was none */
        count_empty(sm);
        sm_count_work(sm);
    }
    free(sm->hot);
    sm->hot = NULL;
    for (uint32_t s = 0; s < sm->slots.n; s++)
        if (sm->slots.slot[s].group) /* only if the launch has failed */
            sm_finish_slot(sm, s);
    sm_grids_end(sm);
    sm_blocks_end(sm);
    sm_fetch_end(&sm->fetch);
    sm_slots_end(&sm->slots);
    sm_lanes_end(&sm->lanes);
    sm_boards_end(&sm->boards);
    sm_constants_clear(&sm->constants);
    sm->model_wake = SM_NEVER;
    sm->turn = (struct sm_turn){0};
    sm_copies_end(sm);
    sm_products_end(sm);
    sm_follower_free(sm->follower);
    sm->follower = NULL;
}

uint64_t sm_last_cycle(const struct sm *sm) { return sm->last_cycle; }
uint64_t sm_last_change(const struct sm *sm) { return sm->last_change; }
uint32_t sm_slots(const struct sm *sm) { return sm->slots.n; }
const struct divergence_group *sm_group(const struct sm *sm, uint32_t slot) { return sm->slots.slot[slot].group; }
/* Accesses to other blocks of a cluster are results of the SM itself. */
bool sm_has_accesses(const struct sm *sm, uint32_t slot) {
    return sm_group_has_accesses(sm, slot) || (sm->has_clusters && sm->slots.slot[slot].result_ready > sm->last_cycle);
}
const char *sm_strict_scheduler(const struct sm *sm) {
    return sm->schedulers.policy.is_strict && sm->slots.n_in_state[SM_SLOT_READY] ? sm->schedulers.policy.name : NULL;
}
uint32_t sm_count_groups(const struct sm *sm) { return sm_slots_n_occupied(&sm->slots); }
const struct stats_sm *sm_counters(const struct sm *sm) { return &sm->counters; }
const uint64_t *sm_active_lanes(const struct sm *sm) { return sm->active_lanes; }

void sm_add_counters(const struct sm *sm, struct stats_counters *sum) {
    stats_add_sm(sum, &sm->counters);
    stats_add_divergence(sum, &sm->divergence_counters);
}

/* --- accounting and reports --- */

void sm_catch_up(struct sm *sm, uint64_t cycle) {
    if (cycle <= sm->last_cycle)
        return;
    uint64_t slept = cycle - sm->last_cycle;
    sm->counters.sm_cycles += slept;
    sm_count_stall(sm, slept);
    sm->last_cycle = cycle;
}

void sm_add_cycles(struct sm *sm, uint32_t grid, uint64_t cycle, uint64_t sum[1 + STATS_N_SM_STALLS]) {
    static const unsigned at[STATS_N_SM_STALLS] = {
#define STATS_SM_STALL(word, heading) STATS_SM_AT_stall_##word,
#include "stats/stalls.def"
    };
    const struct stats_sm *counters = sm_see(sm, grid).counters;
    bool has_sleep = cycle > sm->last_cycle && (grid == SM_ALL_GRIDS || grid == sm->grids.current);
    sum[0] += counters->active_cycles;
    for (unsigned i = 0; i < STATS_N_SM_STALLS; i++) {
        sum[1 + i] += counters->value[at[i]];
        if (at[i] == (unsigned)sm->sleeps_for && has_sleep)
            sum[1 + i] += cycle - sm->last_cycle;
    }
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
        const struct exec_program *program = sm_program_at(sm, s);
        const struct ptx_instruction *insn = program->source[group->pc];
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
