/* What policies ask for beyond the view of slots (wide.h). The hooks below stand before the policy's own: they bring
 * its part of the view up to date and then call it. */
#include "sm/wide.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sm/internal.h"

/* Hooks receive the view, which is part of the schedulers. */
static struct sm_wide *wide_of(const struct sched_view *view) {
    const char *schedulers = (const char *)view - offsetof(struct sm_schedulers, view);
    return ((const struct sm_schedulers *)(const void *)schedulers)->wide;
}

static bool wants(const struct sm_wide *wide, enum sched_wants part) { return wide->own.wants & part; }

/* ---- Hooks ------------------------------------------------------------------------------------------------------- */

static void arrive(void *state, const struct sched_view *view, uint32_t slot) {
    struct sm_wide *wide = wide_of(view);
    sched_accounts_arrive(&wide->accounts, view, slot);
    wide->own.arrive(state, view, slot);
}

static void leave(void *state, const struct sched_view *view, uint32_t slot) {
    struct sm_wide *wide = wide_of(view);
    sched_accounts_leave(&wide->accounts, view, slot);
    wide->own.leave(state, view, slot);
}

static void stall(void *state, const struct sched_view *view, uint32_t slot, bool is_long) {
    struct sm_wide *wide = wide_of(view);
    sched_accounts_stall(&wide->accounts, view, slot, is_long);
    wide->own.stall(state, view, slot, is_long);
}

static void wake(void *state, const struct sched_view *view, uint32_t slot) {
    struct sm_wide *wide = wide_of(view);
    sched_accounts_wake(&wide->accounts, view, slot);
    wide->own.wake(state, view, slot);
}

static void issued(void *state, const struct sched_view *view, uint32_t slot) {
    struct sm_wide *wide = wide_of(view);
    sched_accounts_issued(&wide->accounts, view, slot);
    wide->own.issued(state, view, slot);
}

static void read_pressure(struct sm_wide *wide) {
    const struct sm *sm = wide->sm;
    wide->pressure.mshrs_used = mem_mshrs_used(sm->mem, sm->index);
    wide->pressure.queue_used = sm->ldst.length;
    wide->pressure.credits_left = mem_credits_left(sm->mem, sm->index);
    wide->pressure.is_refused = sm->ldst.is_refused || sm->ldst.is_aside_refused;
}

static int pick(void *state, const struct sched_view *view, const struct sched_set *candidates) {
    struct sm_wide *wide = wide_of(view);
    struct sched_set left = *candidates;
    if (wants(wide, SCHED_WANTS_PRESSURE | SCHED_WANTS_DRAM))
        read_pressure(wide);
    if (wide->own.hold) {
        wide->held = (struct sched_set){{0}};
        wide->own.hold(state, view, &wide->held);
        wide->held = sched_and(&wide->held, view->next_long);
        left = sched_and_not(&left, &wide->held);
        if (sched_is_empty(&left))
            return SCHED_NONE;
    }
    int picked = wide->own.pick(state, view, &left);
    if (picked == SCHED_NONE && !wide->own.is_strict)
        config_plugin_broken("scheduler", wide->own.name, "pick() returned SCHED_NONE, and it is not strict");
    if (picked >= 0 && picked < SCHED_MAX_SLOTS && sched_has(&wide->held, (uint32_t)picked))
        config_plugin_broken("scheduler", wide->own.name, "pick() returned a slot that is no candidate");
    return picked;
}

/* ---- The L1 ------------------------------------------------------------------------------------------------------ */

static void tell(struct sm_wide *wide, const struct sched_l1_event *event) {
    struct sm_schedulers *schedulers = &wide->sm->schedulers;
    wide->own.l1(schedulers->state[event->slot % schedulers->n], &schedulers->view, event);
}

void sm_wide_access(struct sm *sm, const struct sm_request *request, uint32_t line, bool is_hit) {
    const struct sm_slot *slot = &sm->slots.slot[request->slot];
    bool has_owner = slot->age == request->age && slot->state != SM_SLOT_FREE;
    bool bypasses = request->kind != MEM_READ && request->kind != MEM_READ_HOLD && request->kind != MEM_WRITE;
    if (!sm->wide->own.l1 || !has_owner || bypasses)
        return;
    sm->schedulers.view.cycle = sm->turn.cycle;
    tell(sm->wide, &(struct sched_l1_event){.kind = is_hit ? SCHED_L1_HIT : SCHED_L1_MISS,
                                            .slot = request->slot,
                                            .pc = request->pc,
                                            .is_store = request->kind == MEM_WRITE,
                                            .line = request->transaction[line].line,
                                            .n_lines = request->n_transactions});
}

void sm_wide_name_access(struct sm *sm, const struct sm_request *request) {
    struct sm_schedulers *schedulers = &sm->schedulers;
    const struct sm_slot *slot = &sm->slots.slot[request->slot];
    bool has_owner = slot->age == request->age && slot->state != SM_SLOT_FREE;
    schedulers->view.cycle = sm->turn.cycle;
    mem_name_access(sm->mem, sm->index, request->pc,
                    has_owner && sm->wide->own.is_critical(schedulers->state[request->slot % schedulers->n],
                                                           &schedulers->view, request->slot));
}

void sm_line_filled(struct sm *sm, const struct mem_fill *fill, uint64_t cycle) {
    struct sm_wide *wide = sm->wide;
    struct sm_owner *owner = &wide->owner[fill->slot], old = *owner;
    sm->schedulers.view.cycle = cycle;
    *owner = (struct sm_owner){0};
    if (fill->token != MEM_NO_TOKEN) {
        const struct sm_request *request = &sm->ldst.request[fill->token & ((1u << SM_TOKEN_SHIFT) - 1)];
        *owner = (struct sm_owner){request->pc, (uint16_t)request->slot, true, request->kind == MEM_WRITE};
    }
    if (fill->evicted != MEM_NOTHING_EVICTED && old.is_known)
        tell(wide, &(struct sched_l1_event){SCHED_L1_EVICTION, old.slot, old.pc, old.is_store, fill->evicted, 0});
    if (owner->is_known)
        tell(wide, &(struct sched_l1_event){SCHED_L1_FILL, owner->slot, owner->pc, owner->is_store, fill->line, 0});
}

uint32_t sm_wide_most_aside(struct sm *sm, uint32_t slot, uint64_t cycle) {
    const struct sched_ops *own = &sm->wide->own;
    struct sm_schedulers *schedulers = &sm->schedulers;
    if (!own->most_aside)
        return 0;
    schedulers->view.cycle = cycle;
    uint32_t most = own->most_aside(schedulers->state[slot % schedulers->n], &schedulers->view);
    return most < SCHED_MOST_ASIDE ? most : SCHED_MOST_ASIDE;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

void sm_wide_limit_blocks(struct sm *sm, uint64_t cycle) {
    struct sm_wide *wide = sm->wide;
    if (!wide->own.blocks)
        return;
    sm->schedulers.view.cycle = cycle;
    uint32_t most = wide->own.blocks(sm->schedulers.state[0], &sm->schedulers.view);
    most = most < 1 ? 1 : most > sm->blocks.most ? sm->blocks.most : most;
    bool has_more_room = most > wide->most_blocks && sm->blocks.n < most;
    wide->most_blocks = most;
    if (has_more_room && sm->dispatcher.has_room)
        sm->dispatcher.has_room(sm->dispatcher.user, sm->index);
}

uint64_t sm_choose_block(struct sm *sm, const struct sched_blocks_left *left, uint64_t cycle) {
    const struct sched_ops *own = &sm->wide->own;
    sm->schedulers.view.cycle = cycle;
    uint64_t block = own->choose_block(sm->schedulers.state[0], &sm->schedulers.view, left);
    if (block == SCHED_NO_BLOCK)
        return block;
    if (block >= left->n_blocks || left->started[block / 64] >> block % 64 & 1)
        config_plugin_broken("scheduler", own->name, "choose_block() returned a block that cannot start");
    return block;
}

void sm_wide_begin_block(struct sm *sm, const struct divergence_block *block, uint64_t cycle) {
    struct sm_wide *wide = sm->wide;
    sched_accounts_begin_block(&wide->accounts, block->slot, block->cta->block.index, cycle);
    wide->kernel.l1_lines = mem_l1_lines(sm->mem, sm->index, &wide->kernel.l1_ways);
}

/* ---- Grids ------------------------------------------------------------------------------------------------------- */

void sm_sample_dram(struct sm *sm, uint64_t busy_cycles, uint32_t n_channels, uint32_t waiting, uint64_t cycle) {
    struct sched_pressure *pressure = &sm->wide->pressure;
    pressure->dram_busy_cycles = busy_cycles;
    pressure->n_channels = n_channels;
    pressure->dram_waiting = waiting;
    pressure->dram_cycle = cycle;
}

void sm_wide_begin(struct sm *sm) {
    struct sm_wide *wide = sm->wide;
    const struct sm_facts *facts = sm->program->facts;
    memset(&wide->accounts, 0, sizeof wide->accounts);
    wide->held = (struct sched_set){{0}};
    wide->most_blocks = sm->blocks.most;
    if (wide->owner)
        memset(wide->owner, 0,
               sm->machine->l1.cache.size_bytes / sm->machine->l1.cache.line_bytes * sizeof *wide->owner);
    wide->kernel = (struct sched_kernel){
        .threads_per_block = exec_shape_threads(&sm->grid->shape),
        .warp_size = sm->machine->sm.warp_size,
        .sm = sm->index,
        .n_sms = sm->machine->sm.count,
        .n_blocks = exec_shape_blocks(&sm->grid->shape),
        .l1_line_bytes = sm->machine->l1.cache.line_bytes,
    };
    if (!facts)
        return;
    wide->kernel.insn = facts->insn;
    wide->kernel.n_insns = sm->program->exec->n_insns;
    wide->kernel.loop = facts->loop;
    wide->kernel.n_loops = facts->n_loops;
}

static void stand_before(struct sm_wide *wide, struct sm_schedulers *schedulers) {
    struct sched_ops *policy = &schedulers->policy;
    wide->own = *policy;
    policy->pick = pick;
    policy->is_strict |= wide->own.hold != NULL;
    if (!wants(wide, SCHED_WANTS_ACCOUNTS))
        return;
    policy->arrive = arrive;
    policy->leave = leave;
    policy->stall = stall;
    policy->wake = wake;
    policy->issued = issued;
    schedulers->sees_waits = true;
    schedulers->view.account = wide->accounts.account;
    schedulers->view.block = wide->accounts.block;
    schedulers->view.at_barrier = &wide->accounts.at_barrier;
}

struct sm_wide *sm_wide_new(struct sm *sm) {
    const struct sched_ops *policy = &sm->schedulers.policy;
    const struct config_cache *l1 = &sm->machine->l1.cache;
    if (!policy->wants && !policy->l1 && !policy->hold && !policy->blocks && !policy->choose_block &&
        !policy->most_aside && !policy->is_critical)
        return NULL;
    struct sm_wide *wide = base_allocate(1, sizeof *wide);
    wide->sm = sm;
    wide->names_critical = policy->is_critical && sm->machine->cacp.is_present;
    stand_before(wide, &sm->schedulers);
    if (policy->l1)
        wide->owner = base_allocate(l1->size_bytes / l1->line_bytes + 1, sizeof *wide->owner);
    if (wants(wide, SCHED_WANTS_PRESSURE | SCHED_WANTS_DRAM))
        sm->schedulers.view.pressure = &wide->pressure;
    if (wants(wide, SCHED_WANTS_KERNEL))
        sm->schedulers.view.kernel = &wide->kernel;
    wide->pressure.n_mshrs = mem_mshrs(sm->mem);
    wide->pressure.n_queue = SM_LDST_QUEUE;
    return wide;
}

void sm_wide_free(struct sm_wide *wide) {
    if (!wide)
        return;
    free(wide->owner);
    free(wide);
}
