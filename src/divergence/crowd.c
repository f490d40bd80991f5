/* Threads of an SM in crews. See crowd.h. */
#include "divergence/crowd.h"

#include <assert.h>
#include <stdlib.h>

#include "divergence/threads.h"

static void *allocate(size_t count, size_t bytes) {
    void *memory = calloc(count, bytes);
    if (!memory)
        abort();
    return memory;
}

static void *enlarge(void *memory, size_t count, size_t bytes) {
    void *larger = realloc(memory, count * bytes);
    if (!larger)
        abort();
    return larger;
}

void divergence_crowd_start(struct divergence_crowd *crowd, const struct divergence_setup *setup) {
    *crowd = (struct divergence_crowd){.setup = *setup};
}

void divergence_crowd_end(struct divergence_crowd *crowd) {
    for (uint32_t i = 0; i < crowd->n_live; i++)
        free(crowd->live[i]);
    for (uint32_t i = 0; i < crowd->n_spare; i++)
        free(crowd->spare[i]);
    free(crowd->live);
    free(crowd->spare);
    free(crowd->queue);
    free(crowd->block);
    free(crowd->loose);
}

/* --- blocks --- */

void *divergence_crowd_new_block(void *model, const struct exec_cta *cta) {
    (void)model;
    struct divergence_crowd_block *block = allocate(1, sizeof *block);
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

/* Of these lanes of a row, those whose threads have not left their crews yet go on there; the others are given back. */
static uint32_t go_on_in_crews(struct divergence_crowd *crowd, const struct exec_row *row, uint32_t mask, uint32_t pc) {
    for (uint32_t i = 0; i < crowd->n_live && mask; i++) {
        struct divergence_crew *crew = crowd->live[i];
        for (uint32_t left = crew->waits; left; left &= left - 1) {
            uint32_t at = (uint32_t)__builtin_ctz(left);
            if (crew->row[at] != row || !(mask >> crew->lane[at] & 1))
                continue;
            crew->waits &= ~(1u << at);
            crew->pc[at] = pc;
            mask &= ~(1u << crew->lane[at]);
        }
    }
    return mask;
}

/* Threads that need not wait any more. */
static void take_released(struct divergence_crowd *crowd, struct divergence_block *block) {
    struct divergence_crowd_block *state = block->state;
    for (uint32_t i = 0; i < block->cta->n_rows; i++) {
        uint32_t pc, mask;
        while ((mask = divergence_sync_take(state->sync, i, &pc)) != 0) {
            mask = go_on_in_crews(crowd, &block->cta->row[i], mask, pc);
            if (mask)
                add_loose(crowd, &block->cta->row[i], mask, pc, state->passed);
        }
    }
}

/* --- crews --- */

static void make_room(struct divergence_crowd *crowd) {
    if (crowd->n_live + crowd->n_spare < crowd->capacity)
        return;
    uint32_t capacity = crowd->capacity ? 2 * crowd->capacity : 64;
    crowd->live = enlarge(crowd->live, capacity, sizeof(struct divergence_crew *));
    crowd->spare = enlarge(crowd->spare, capacity, sizeof(struct divergence_crew *));
    struct divergence_crew **queue = allocate(capacity, sizeof(struct divergence_crew *));
    for (uint32_t i = 0; i < crowd->queue_length; i++)
        queue[i] = crowd->queue[(crowd->queue_head + i) % crowd->capacity];
    free(crowd->queue);
    crowd->queue = queue;
    crowd->queue_head = 0;
    crowd->capacity = capacity;
}

struct divergence_crew *divergence_crowd_new_crew(struct divergence_crowd *crowd) {
    struct divergence_crew *crew = NULL;
    /* One that has ended in its own hook is in its slot until the SM looks. */
    for (uint32_t i = crowd->n_spare; i-- > 0 && !crew;)
        if (crowd->spare[i]->group.slot == DIVERGENCE_NO_SLOT && !crowd->spare[i]->is_queued) {
            crew = crowd->spare[i];
            crowd->spare[i] = crowd->spare[--crowd->n_spare];
        }
    if (!crew) {
        make_room(crowd);
        crew = allocate(1, sizeof *crew);
    }
    crew->group = (struct divergence_group){.meet = EXEC_NO_PC, .slot = DIVERGENCE_NO_SLOT};
    crew->mask = crew->waits = 0;
    crew->entered = 0;
    crew->issued = crew->last = crew->patience = 0;
    crowd->live[crowd->n_live++] = crew;
    return crew;
}

void divergence_crowd_enter(struct divergence_crowd *crowd, struct divergence_crew *crew, uint64_t cycle) {
    const struct divergence_setup *setup = &crowd->setup;
    crew->group.home = block_of(crowd, crew->row[__builtin_ctz(crew->mask)]);
    crew->group.warp_id = DIVERGENCE_NO_WARP;
    if (!crowd->queue_length && setup->host->place(setup->sm, &crew->group, cycle))
        return;
    crew->is_queued = true;
    crowd->queue[(crowd->queue_head + crowd->queue_length++) % crowd->capacity] = crew;
}

void divergence_crowd_leave(struct divergence_crowd *crowd, struct divergence_crew *crew, bool is_own, uint64_t cycle) {
    uint32_t i = 0;
    while (crowd->live[i] != crew)
        i++;
    crowd->live[i] = crowd->live[--crowd->n_live];
    crowd->spare[crowd->n_spare++] = crew;
    crew->group.status = DIVERGENCE_ENDED;
    if (!is_own)
        crowd->setup.host->evict(crowd->setup.sm, &crew->group, cycle);
}

void divergence_crowd_refill(struct divergence_crowd *crowd, uint64_t cycle) {
    const struct divergence_setup *setup = &crowd->setup;
    while (crowd->queue_length) {
        struct divergence_crew *crew = crowd->queue[crowd->queue_head];
        if (crew->group.status != DIVERGENCE_ENDED) {
            /* The block that it counted to may have ended while it stood here. */
            crew->group.home = block_of(crowd, crew->row[__builtin_ctz(crew->mask)]);
            if (!setup->host->place(setup->sm, &crew->group, cycle))
                return;
        }
        crew->is_queued = false;
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
            if (crowd->live[i]->row[at]->block == &block->cta->block)
                thread(user, &crowd->live[i]->group, crowd->live[i]->row[at], crowd->live[i]->lane[at]);
        }
    for (uint32_t i = 0; i < block->cta->n_rows; i++)
        for (uint32_t left = state->sync->waiting[i]; left; left &= left - 1)
            thread(user, NULL, &block->cta->row[i], (uint32_t)__builtin_ctz(left));
}

/* --- threads of a crew --- */

int divergence_crew_room(const struct divergence_crew *crew, uint32_t lane, bool is_free, uint32_t n_lanes) {
    if (!(crew->mask >> lane & 1))
        return (int)lane;
    uint32_t holes = ~crew->mask & (n_lanes == EXEC_LANES ? ~0u : (1u << n_lanes) - 1);
    return is_free && holes ? __builtin_ctz(holes) : -1;
}

void divergence_crew_set_pcs(struct divergence_crew *crew, uint32_t pc) {
    for (uint32_t left = crew->mask; left; left &= left - 1)
        crew->pc[__builtin_ctz(left)] = pc;
}

/* The row that these threads are lanes of, each in its own; NULL: not so. */
static struct exec_row *row_of(const struct divergence_crew *crew, uint32_t mask) {
    if (!mask)
        return NULL;
    struct exec_row *row = crew->row[__builtin_ctz(mask)];
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        if (crew->row[at] != row || crew->lane[at] != at)
            return NULL;
    }
    return row;
}

void divergence_crew_show(struct divergence_crew *crew) {
    crew->group.row = row_of(crew, crew->mask);
    crew->group.mask = crew->mask;
    crew->group.n_threads = (uint32_t)__builtin_popcount(crew->mask);
}

void divergence_crew_bundle(const struct divergence_crew *crew, uint32_t mask, struct exec_context *cx,
                            struct divergence_bundle *bundle) {
    const struct exec_insn *insn = &cx->grid->program->code[bundle->pc];
    bundle->mask = mask;
    bundle->row = row_of(crew, mask);
    if (bundle->row) {
        bundle->mask = divergence_guard(bundle->row, insn, mask);
        return;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        cx->row_of[at] = crew->row[at];
        cx->lane_of[at] = crew->lane[at];
        if (!divergence_guard(crew->row[at], insn, 1u << crew->lane[at]))
            bundle->mask &= ~(1u << at);
    }
}

/* --- control instructions --- */

uint32_t divergence_crew_lowest(const struct divergence_crew *crew, uint32_t mask, uint32_t *there) {
    uint32_t lowest = EXEC_NO_PC;
    *there = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left);
        if (crew->pc[at] < lowest) {
            lowest = crew->pc[at];
            *there = 0;
        }
        *there |= (uint32_t)(crew->pc[at] == lowest) << at;
    }
    return lowest;
}

/* The first of these threads and all others of its row: where they are in the crew, by their lanes, and which lanes
 * they are. They are taken out of *left. */
static struct exec_row *next_row(const struct divergence_crew *crew, uint32_t *left, uint8_t at[EXEC_LANES],
                                 uint32_t *lanes) {
    struct exec_row *row = crew->row[__builtin_ctz(*left)];
    *lanes = 0;
    for (uint32_t rest = *left; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest);
        if (crew->row[i] != row)
            continue;
        at[crew->lane[i]] = (uint8_t)i;
        *lanes |= 1u << crew->lane[i];
        *left &= ~(1u << i);
    }
    return row;
}

static void after_exit(struct divergence_crowd *crowd, struct divergence_block *block) {
    struct divergence_crowd_block *state = block->state;
    if (divergence_sync_after_exit(state->sync, crowd->setup.cx, block->cta))
        take_released(crowd, block);
    if (!block->cta->n_live_rows)
        end_block(crowd, block);
}

static void arrive(struct divergence_crowd *crowd, struct divergence_crew *crew, struct exec_row *row, uint32_t pc,
                   uint32_t lanes) {
    struct divergence_block *block = block_of(crowd, row);
    struct divergence_crowd_block *state = block->state;
    state->passed = crew->group.passed;
    if (divergence_sync_arrive(state->sync, crowd->setup.cx, row, pc, lanes))
        take_released(crowd, block);
}

/* For the lanes of one row, which are at at[] in the crew. */
static void control_row(struct divergence_crowd *crowd, struct divergence_crew *crew, struct exec_row *row, uint32_t pc,
                        uint32_t lanes, const uint8_t at[EXEC_LANES]) {
    struct exec_context *cx = crowd->setup.cx;
    uint32_t next[EXEC_LANES], waits, live = row->live;
    divergence_next_pcs(cx, row, pc, lanes, next, &waits);
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        crew->pc[at[lane]] = next[lane];
        crew->waits |= (waits >> lane & 1) << at[lane];
        if (next[lane] == EXEC_NO_PC)
            crew->mask &= ~(1u << at[lane]);
    }
    if (waits)
        arrive(crowd, crew, row, pc, waits);
    if (row->live != live)
        after_exit(crowd, block_of(crowd, row));
    if (cx->fault.kind != EXEC_FAULT_NONE) { /* told of a lane of the bundle; here lanes are those of rows */
        cx->row_of[cx->fault.lane] = row;
        cx->lane_of[cx->fault.lane] = (uint8_t)cx->fault.lane;
    }
}

void divergence_crowd_control(struct divergence_crowd *crowd, struct divergence_crew *crew, uint32_t mask,
                              uint32_t pc) {
    const struct exec_context *cx = crowd->setup.cx;
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    uint8_t at[EXEC_LANES];
    for (uint32_t left = mask, lanes; left && !cx->fault.kind;) {
        struct exec_row *row = next_row(crew, &left, at, &lanes);
        control_row(crowd, crew, row, pc, lanes, at);
    }
    if (insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_BRANCH_INDEXED) {
        uint32_t there;
        divergence_crew_lowest(crew, mask, &there);
        crowd->setup.counters->branches++;
        crowd->setup.counters->divergent_branches += there != mask;
    }
    crowd->setup.counters->barriers += insn->kind == EXEC_KIND_BARRIER;
}
