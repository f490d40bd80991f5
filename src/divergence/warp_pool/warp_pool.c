/* Threads of an SM in teams. See crowd.h. */
#include "divergence/warp_pool/warp_pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "divergence/parts/count.h"
#include "divergence/parts/threads.h"

static void *enlarge(void *memory, size_t count, size_t bytes) {
    void *larger = realloc(memory, count * bytes);
    if (!larger)
        abort();
    return larger;
}

uint32_t divergence_crowd_n_slots(const void *options, const struct config_machine *machine, uint32_t n_warps,
                                  uint32_t most_slots) {
    (void)options, (void)machine, (void)n_warps;
    return most_slots;
}

void divergence_crowd_start(struct divergence_crowd *crowd, const struct divergence_setup *setup, size_t team_bytes) {
    *crowd = (struct divergence_crowd){.setup = *setup, .team_bytes = team_bytes};
    crowd->all_lanes = setup->machine->warp_size == EXEC_LANES ? ~0u : (1u << setup->machine->warp_size) - 1;
}

static void free_team(struct divergence_team *team) {
    free(team->threads.registers);
    free(team);
}

void divergence_crowd_end(struct divergence_crowd *crowd) {
    for (uint32_t i = 0; i < crowd->n_live; i++)
        free_team(crowd->live[i]);
    for (uint32_t i = 0; i < crowd->n_spare; i++)
        free_team(crowd->spare[i]);
    free(crowd->live);
    free(crowd->spare);
    free(crowd->queue);
    free(crowd->block);
    free(crowd->loose);
}

/* --- blocks --- */

void *divergence_crowd_new_block(void *model, const struct exec_cta *cta) {
    (void)model;
    struct divergence_crowd_block *block = base_allocate(1, sizeof *block);
    block->sync = divergence_sync_new(cta->n_rows);
    return block;
}

void divergence_crowd_free_block(void *model, void *state) {
    (void)model;
    struct divergence_crowd_block *block = state;
    divergence_sync_free(block->sync);
    free(block);
}

static struct divergence_block *block_of(const struct divergence_crowd *crowd, const struct exec_row *row) {
    uint32_t i = 0;
    while (i < crowd->n_blocks && &crowd->block[i]->cta->block != row->block)
        i++;
    assert(i < crowd->n_blocks);
    return crowd->block[i];
}

static void add_loose(struct divergence_crowd *crowd, struct exec_row *row, uint32_t mask, uint32_t pc,
                      uint32_t passed) {
    if (crowd->n_loose == crowd->loose_capacity) {
        crowd->loose_capacity = crowd->loose_capacity ? 2 * crowd->loose_capacity : 64;
        crowd->loose = enlarge(crowd->loose, crowd->loose_capacity, sizeof *crowd->loose);
    }
    crowd->loose[crowd->n_loose++] = (struct divergence_set){row, mask, pc, passed};
}

void divergence_crowd_admit(struct divergence_crowd *crowd, struct divergence_block *block) {
    struct divergence_crowd_block *state = block->state;
    if (crowd->n_blocks == crowd->block_capacity) {
        crowd->block_capacity = crowd->block_capacity ? 2 * crowd->block_capacity : 16;
        crowd->block = enlarge(crowd->block, crowd->block_capacity, sizeof(struct divergence_block *));
    }
    crowd->block[crowd->n_blocks++] = block;
    divergence_sync_start(state->sync);
    state->passed = 0;
    uint32_t first_pc = crowd->setup.cx->grid->program->function[0].first_pc;
    for (uint32_t i = 0; i < block->cta->n_rows; i++)
        add_loose(crowd, &block->cta->row[i], block->cta->row[i].threads, first_pc, 0);
}

static void end_block(struct divergence_crowd *crowd, struct divergence_block *block) {
    for (uint32_t i = 0; i < crowd->n_blocks; i++)
        if (crowd->block[i] == block)
            crowd->block[i] = crowd->block[--crowd->n_blocks];
    crowd->setup.host->block_ended(crowd->setup.sm, block);
}

/* Of these lanes of a row, those whose threads are in teams go on there; the others are given back. */
static uint32_t go_on_in_teams(struct divergence_crowd *crowd, const struct exec_row *row, uint32_t mask, uint32_t pc,
                               uint64_t cycle) {
    for (uint32_t i = 0; i < crowd->n_live && mask; i++) {
        struct divergence_team *team = crowd->live[i];
        uint32_t before = team->waits;
        for (uint32_t left = before; left; left &= left - 1) {
            uint32_t at = (uint32_t)__builtin_ctz(left);
            if (team->threads.row[at] != row || !(mask >> team->threads.lane[at] & 1))
                continue;
            team->waits &= ~(1u << at);
            team->pc[at] = pc;
            mask &= ~(1u << team->threads.lane[at]);
        }
        if (team->waits == before || (team->group.status != DIVERGENCE_WAITS && !crowd->keeps_waiting))
            continue;
        if (team->group.status == DIVERGENCE_WAITS)
            team->group.status = DIVERGENCE_DRAINS;
        if (team != crowd->acting)
            crowd->setup.host->wake(crowd->setup.sm, &team->group, cycle);
    }
    return mask;
}

/* Threads that need not wait any more. */
static void take_released(struct divergence_crowd *crowd, struct divergence_block *block, uint64_t cycle) {
    struct divergence_crowd_block *state = block->state;
    for (uint32_t i = 0; i < block->cta->n_rows; i++) {
        uint32_t pc, mask;
        while ((mask = divergence_sync_take(state->sync, i, &pc)) != 0) {
            mask = go_on_in_teams(crowd, &block->cta->row[i], mask, pc, cycle);
            if (mask)
                add_loose(crowd, &block->cta->row[i], mask, pc, state->passed);
        }
    }
}

/* --- teams --- */

static void make_room(struct divergence_crowd *crowd) {
    if (crowd->n_live + crowd->n_spare < crowd->capacity)
        return;
    uint32_t capacity = crowd->capacity ? 2 * crowd->capacity : 64;
    crowd->live = enlarge(crowd->live, capacity, sizeof(struct divergence_team *));
    crowd->spare = enlarge(crowd->spare, capacity, sizeof(struct divergence_team *));
    struct divergence_team **queue = base_allocate(capacity, sizeof(struct divergence_team *));
    for (uint32_t i = 0; i < crowd->queue_length; i++)
        queue[i] = crowd->queue[(crowd->queue_head + i) % crowd->capacity];
    free(crowd->queue);
    crowd->queue = queue;
    crowd->queue_head = 0;
    crowd->capacity = capacity;
}

struct divergence_team *divergence_crowd_new_team(struct divergence_crowd *crowd) {
    struct divergence_team *team = NULL;
    /* One that has ended in its own hook is in its slot until the SM looks. */
    for (uint32_t i = crowd->n_spare; i-- > 0 && !team;)
        if (crowd->spare[i]->group.slot == DIVERGENCE_NO_SLOT && !crowd->spare[i]->is_queued) {
            team = crowd->spare[i];
            crowd->spare[i] = crowd->spare[--crowd->n_spare];
        }
    if (!team) {
        make_room(crowd);
        team = base_allocate_aligned(crowd->team_bytes);
    }
    if (crowd->carries)
        exec_threads_carry(&team->threads, crowd->setup.cx->grid->program);
    team->group = (struct divergence_group){.meet = EXEC_NO_PC, .slot = DIVERGENCE_NO_SLOT};
    team->mask = team->waits = 0;
    team->is_together = false;
    team->number = crowd->n_live;
    crowd->live[crowd->n_live++] = team;
    return team;
}

static void unlink_team(struct divergence_team *team) {
    if (!team->list)
        return;
    if (team->older)
        team->older->younger = team->younger;
    if (team->younger)
        team->younger->older = team->older;
    else
        *team->list = team->older;
    team->list = NULL;
}

void divergence_team_set_youngest(struct divergence_team *team, struct divergence_team **list) {
    unlink_team(team);
    team->list = list;
    team->younger = NULL;
    team->older = *list;
    if (*list)
        (*list)->younger = team;
    *list = team;
}

void divergence_crowd_leave(struct divergence_crowd *crowd, struct divergence_team *team, bool is_own, uint64_t cycle) {
    crowd->live[team->number] = crowd->live[--crowd->n_live];
    crowd->live[team->number]->number = team->number;
    crowd->spare[crowd->n_spare++] = team;
    unlink_team(team);
    team->group.status = DIVERGENCE_ENDED;
    if (!is_own)
        crowd->setup.host->evict(crowd->setup.sm, &team->group, cycle);
}

/* A slot for the team: where there is none, that of a team all of whose threads wait. */
static bool place(struct divergence_crowd *crowd, struct divergence_team *team, uint64_t cycle) {
    const struct divergence_setup *setup = &crowd->setup;
    team->group.home = block_of(crowd, team->threads.row[__builtin_ctz(team->mask)]);
    if (setup->host->place(setup->sm, &team->group, cycle))
        return true;
    uint32_t i = 0;
    while (i < crowd->n_live && crowd->live[i]->group.status != DIVERGENCE_WAITS)
        i++;
    if (i == crowd->n_live)
        return false;
    struct divergence_team *waiting = crowd->live[i];
    divergence_team_dismiss(waiting);
    divergence_crowd_leave(crowd, waiting, false, cycle);
    return setup->host->place(setup->sm, &team->group, cycle);
}

void divergence_crowd_enter(struct divergence_crowd *crowd, struct divergence_team *team, uint64_t cycle) {
    team->group.warp_id = DIVERGENCE_NO_WARP;
    if (!crowd->queue_length && place(crowd, team, cycle))
        return;
    team->is_queued = true;
    crowd->queue[(crowd->queue_head + crowd->queue_length++) % crowd->capacity] = team;
}

void divergence_crowd_refill(struct divergence_crowd *crowd, uint64_t cycle) {
    while (crowd->queue_length) {
        struct divergence_team *team = crowd->queue[crowd->queue_head];
        if (team->group.status != DIVERGENCE_ENDED && !place(crowd, team, cycle))
            return;
        team->is_queued = false;
        crowd->queue_head = (crowd->queue_head + 1) % crowd->capacity;
        crowd->queue_length--;
    }
}

void divergence_crowd_visit(const struct divergence_crowd *crowd, const struct divergence_block *block,
                            void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                           uint32_t lane),
                            void *user) {
    const struct divergence_crowd_block *state = block->state;
    for (uint32_t i = 0; i < crowd->n_live; i++)
        for (uint32_t left = crowd->live[i]->mask & ~crowd->live[i]->waits; left; left &= left - 1) {
            uint32_t at = (uint32_t)__builtin_ctz(left);
            if (crowd->live[i]->threads.row[at]->block == &block->cta->block)
                thread(user, &crowd->live[i]->group, crowd->live[i]->threads.row[at], crowd->live[i]->threads.lane[at]);
        }
    for (uint32_t i = 0; i < block->cta->n_rows; i++)
        for (uint32_t left = state->sync->waiting[i]; left; left &= left - 1)
            thread(user, NULL, &block->cta->row[i], (uint32_t)__builtin_ctz(left));
}

/* --- threads of a team --- */

int divergence_team_room(const struct divergence_team *team, uint32_t lane, uint32_t n_lanes) {
    if (!(team->mask >> lane & 1))
        return (int)lane;
    uint32_t holes = ~team->mask & (n_lanes == EXEC_LANES ? ~0u : (1u << n_lanes) - 1);
    return holes ? __builtin_ctz(holes) : -1;
}

void divergence_team_take(const struct divergence_crowd *crowd, struct divergence_team *team, const uint8_t *at,
                          struct divergence_team *from, uint32_t mask) {
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left), to = at ? at[i] : i;
        team->mask |= 1u << to;
        team->pc[to] = from->pc[i];
    }
    if (mask)
        exec_threads_move(crowd->setup.cx, &team->threads, at, &from->threads, mask, from->pc[__builtin_ctz(mask)]);
}

void divergence_team_set_pcs(struct divergence_team *team, uint32_t pc) {
    for (uint32_t left = team->mask; left; left &= left - 1)
        team->pc[__builtin_ctz(left)] = pc;
}

struct exec_row *divergence_team_row(const struct divergence_team *team, uint32_t mask) {
    if (!mask)
        return NULL;
    struct exec_row *row = team->threads.row[__builtin_ctz(mask)];
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        if (team->threads.row[at] != row || team->threads.lane[at] != at)
            return NULL;
    }
    return row;
}

void divergence_team_show(struct divergence_team *team) {
    team->group.row = divergence_team_row(team, team->mask);
    team->group.threads = &team->threads;
    team->group.mask = team->mask;
    team->group.n_threads = base_count_bits(team->mask);
}

void divergence_team_bundle(struct divergence_team *team, uint32_t mask, struct exec_row *row, struct exec_context *cx,
                            struct divergence_bundle *bundle) {
    const struct exec_insn *insn = &cx->grid->program->code[bundle->pc];
    bundle->row = row;
    if (row) {
        bundle->mask = divergence_guard(row, insn, mask);
        return;
    }
    exec_threads_ready(cx, &team->threads, bundle->pc, mask);
    exec_use_threads(cx, &team->threads);
    bundle->mask = exec_threads_guard(&team->threads, insn, mask);
}

/* --- control instructions --- */

uint32_t divergence_team_lowest(const struct divergence_team *team, uint32_t mask, uint32_t *there) {
    uint32_t lowest = EXEC_NO_PC;
    *there = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        if (team->pc[at] < lowest) {
            lowest = team->pc[at];
            *there = 0;
        }
        *there |= (uint32_t)(team->pc[at] == lowest) << at;
    }
    return lowest;
}

/* The first of these threads and all others of its row: where they are in the team, by their lanes, and which lanes
 * they are. They are taken out of *left. */
static struct exec_row *next_row(const struct divergence_team *team, uint32_t *left, uint8_t at[EXEC_LANES],
                                 uint32_t *lanes) {
    struct exec_row *row = team->threads.row[__builtin_ctz(*left)];
    *lanes = 0;
    for (uint32_t rest = *left; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest);
        if (team->threads.row[i] != row)
            continue;
        at[team->threads.lane[i]] = (uint8_t)i;
        *lanes |= 1u << team->threads.lane[i];
        *left &= ~(1u << i);
    }
    return row;
}

static void after_exit(struct divergence_crowd *crowd, struct divergence_block *block, uint64_t cycle) {
    struct divergence_crowd_block *state = block->state;
    if (divergence_sync_after_exit(state->sync, crowd->setup.cx, block->cta))
        take_released(crowd, block, cycle);
    if (!block->cta->n_live_rows)
        end_block(crowd, block);
}

static void arrive(struct divergence_crowd *crowd, struct divergence_team *team, struct exec_row *row, uint32_t pc,
                   uint32_t lanes, uint64_t cycle) {
    struct divergence_block *block = block_of(crowd, row);
    struct divergence_crowd_block *state = block->state;
    state->passed = team->group.passed;
    if (divergence_sync_arrive(state->sync, crowd->setup.cx, row, pc, lanes))
        take_released(crowd, block, cycle);
}

/* For the lanes of one row, which are at at[] in the team. */
static void control_row(struct divergence_crowd *crowd, struct divergence_team *team, struct exec_row *row, uint32_t pc,
                        uint32_t lanes, const uint8_t at[EXEC_LANES], uint64_t cycle) {
    struct exec_context *cx = crowd->setup.cx;
    uint32_t next[EXEC_LANES], waits, live = row->live;
    divergence_next_pcs(cx, row, pc, lanes, next, &waits);
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        team->pc[at[lane]] = next[lane];
        team->waits |= (waits >> lane & 1) << at[lane];
        if (next[lane] == EXEC_NO_PC)
            team->mask &= ~(1u << at[lane]);
    }
    if (waits)
        arrive(crowd, team, row, pc, waits, cycle);
    if (row->live != live)
        after_exit(crowd, block_of(crowd, row), cycle);
}

/* Threads have executed a branch: they have their next pcs. */
static void count_branch(const struct divergence_crowd *crowd, const struct divergence_team *team, uint32_t mask,
                         uint32_t pc, bool is_divergent) {
    divergence_count_branch(&crowd->setup, pc, is_divergent);
    for (uint32_t left = is_divergent ? mask : 0; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        divergence_count_split(&crowd->setup, team->threads.row[i], 1u << team->threads.lane[i]);
    }
}

/* The guard says it all, whatever the rows. */
static void branch(const struct divergence_crowd *crowd, struct divergence_team *team, uint32_t mask, uint32_t taken,
                   uint32_t pc) {
    uint32_t target = crowd->setup.cx->grid->program->code[pc].target;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        team->pc[i] = taken >> i & 1 ? target : pc + 1;
    }
    count_branch(crowd, team, mask, pc, taken && taken != mask && target != pc + 1);
}

void divergence_crowd_control(struct divergence_crowd *crowd, struct divergence_team *team, uint32_t mask,
                              uint32_t taken, uint32_t pc, uint64_t cycle) {
    const struct exec_context *cx = crowd->setup.cx;
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    uint8_t at[EXEC_LANES];
    crowd->acting = team;
    if (insn->kind == EXEC_KIND_BRANCH) {
        branch(crowd, team, mask, taken, pc);
        return;
    }
    exec_threads_send_home(cx, &team->threads, pc, mask); /* rows execute these */
    for (uint32_t left = mask, lanes; left && !cx->fault.kind;) {
        struct exec_row *row = next_row(team, &left, at, &lanes);
        control_row(crowd, team, row, pc, lanes, at, cycle);
    }
    if (insn->kind == EXEC_KIND_BRANCH_INDEXED) {
        uint32_t there;
        divergence_team_lowest(team, mask, &there);
        count_branch(crowd, team, mask, pc, there != mask);
    }
    crowd->setup.counters->barriers += insn->kind == EXEC_KIND_BARRIER;
}
