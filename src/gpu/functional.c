/* Executes a grid without timing. The post-dominator stack decides which lanes of a row run, blocks run one after the
 * other, and the rows of a block take turns at barriers. A block that does not end within its turn (it may be waiting
 * for another block) makes room for the next. So at most as many blocks are in flight as the device would hold.
 *
 * The row that completes a barrier ends its turn, so that the others continue first. Rows then pass a barrier in about
 * the order in which warps of a GPU do. A kernel may overwrite a value that earlier rows read after the same barrier.
 * That is a race, but both on a GPU and here the result is the one its author expects.
 *
 * Lanes that spin on a value that other lanes of their row will write make progress, as on hardware since compute
 * capability 7.0: if a row has been diverged for a long time inside a small loop, the engine lets the waiting lanes
 * continue. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/memory.h"
#include "divergence/parts/barrier.h"
#include "divergence/parts/control.h"
#include "divergence/parts/threads.h"
#include "exec/profile.h"
#include "gpu/internal.h"
#include "gpu/progress.h"
#include "gpu/sections.h"
#include "gpu/timed.h"

enum {
    ROW_TURN = 20000,   /* instructions a row runs before its neighbours get a turn */
    BLOCK_TURNS = 64,   /* rounds over the rows before another block gets a turn */
    EARLY_TURNS = 16,   /* this many rounds count as one if a row ended its turn early */
    SHARED_TURN = 1000, /* a row's turn once several blocks are in flight; a block then gets one round at a time */
    TIME_CHECK_BLOCKS = 16,
    SPIN_AFTER = 200000, /* instructions while diverged before a small loop counts as spinning */
    SPIN_TURN = 500,     /* a spinning row's turn, and the instructions after which it counts as spinning again */
    SPIN_LOOP = 64,      /* instructions in a spinning loop, at most */
    CLOCK_STEP = 4096,   /* what the clock advances in an instruction, at most */
};

/* The engine's state of a row in addition to its stack. */
struct warp {
    uint64_t n_executed;
    uint64_t n_diverged; /* instructions executed since all lanes last ran together */
    bool is_blocked;     /* at a barrier */
    bool has_spun;       /* a join has been broken: check again soon */
};

struct resident {
    struct exec_cta *cta;
    struct divergence_stack *stack; /* one per row */
    struct warp *warp;
    uint32_t warmed_sm; /* whose accesses warm the caches as the block's do */
    bool is_busy;
};

struct gpu_engine {
    struct gpu *gpu;
    const struct exec_grid *grid;
    struct stats_counters *counters;
    struct gpu_error *error;
    struct gpu_warmed *warmed; /* NULL: its accesses do not warm the caches */
    struct exec_context cx;
    struct resident **resident;
    uint32_t n_residents, max_residents;
    uint32_t n_rows;
    uint64_t n_blocks, next_block, n_finished;
    struct gpu_progress progress;
};

/* --- blocks --- */

static struct resident *new_resident(struct gpu_engine *engine) {
    struct resident *resident = base_allocate(1, sizeof *resident);
    resident->cta = exec_cta_new(engine->grid);
    resident->cta->owner = resident;
    resident->stack = base_allocate(engine->n_rows, sizeof *resident->stack);
    resident->warp = base_allocate(engine->n_rows, sizeof *resident->warp);
    return resident;
}

static void free_resident(struct gpu_engine *engine, struct resident *resident) {
    for (uint32_t i = 0; i < engine->n_rows; i++)
        divergence_stack_free(&resident->stack[i]);
    exec_cta_free(resident->cta);
    free(resident->stack);
    free(resident->warp);
    free(resident);
}

static void start_block(struct gpu_engine *engine, struct resident *resident, uint32_t index, uint32_t slot) {
    const struct exec_grid *grid = engine->grid;
    exec_cta_start(resident->cta, index, slot % grid->n_sms);
    for (uint32_t i = 0; i < engine->n_rows; i++) {
        resident->warp[i] = (struct warp){.n_executed = 0};
        divergence_stack_start(&resident->stack[i], &resident->cta->row[i], 1, grid->program->function[0].first_pc);
    }
    resident->warmed_sm = engine->warmed ? gpu_sections_sm(engine->gpu->sections, index) : 0;
    resident->is_busy = true;
    engine->counters->blocks++;
    engine->counters->threads += exec_shape_threads(&grid->shape);
}

static void set_free(struct resident *resident, uint64_t rows) {
    for (; rows; rows &= rows - 1)
        resident->warp[__builtin_ctzll(rows)].is_blocked = false;
}

/* Releases all threads of the cluster if they have arrived at its barrier. */
static void meet_cluster(struct gpu_engine *engine, const struct exec_cluster *cluster) {
    if (!exec_cluster_is_complete(cluster, engine->grid->warp_size))
        return;
    for (uint32_t i = 0; i < cluster->n_blocks; i++) {
        struct exec_cta *cta = (struct exec_cta *)cluster->block[i];
        if (!cta || !cta->n_live_rows)
            continue;
        struct resident *resident = cta->owner;
        cta->is_released = true;
        set_free(resident, divergence_after_exit(resident->stack, engine->n_rows, &engine->cx, cta));
        cta->is_released = false;
    }
}

/* --- instructions --- */

/* Executes a control instruction of row number `index`. Returns whether it has completed a barrier. */
static bool control(struct gpu_engine *engine, struct resident *resident, uint32_t index, uint32_t pc, uint32_t mask) {
    struct exec_cta *cta = resident->cta;
    struct exec_row *row = &cta->row[index];
    uint32_t active = divergence_stack_top(&resident->stack[index])->mask[0];
    struct divergence_outcome outcome = divergence_control(&resident->stack[index], &engine->cx, pc, &mask);
    bool is_branch = outcome.effect == DIVERGENCE_BRANCHES;
    engine->counters->branches += is_branch;
    engine->counters->divergent_branches += outcome.is_divergent;
    if (engine->grid->profile && is_branch)
        exec_profile_branch(engine->grid->profile, pc, outcome.is_divergent);
    if (engine->grid->profile && outcome.is_divergent)
        exec_profile_split(engine->grid->profile, row, active);
    uint64_t released = 0;
    if (outcome.effect == DIVERGENCE_MEETS_BLOCK) {
        engine->counters->barriers++;
        released = divergence_arrive(resident->stack, engine->n_rows, &engine->cx, cta, index, pc, &mask);
        set_free(resident, released);
    }
    if (divergence_has_ended(&outcome))
        set_free(resident, divergence_after_exit(resident->stack, engine->n_rows, &engine->cx, cta));
    if (cta->block.cluster && (outcome.effect == DIVERGENCE_MEETS_BLOCK || divergence_has_ended(&outcome)))
        meet_cluster(engine, cta->block.cluster);
    return released != 0;
}

/* Called after a turn of n instructions that covered `range` of code. */
static void watch_for_spinning(struct warp *warp, struct divergence_stack *stack, uint64_t n, uint32_t range) {
    warp->n_diverged = stack->depth > 1 ? warp->n_diverged + n : 0;
    bool is_long = warp->n_diverged > (warp->has_spun ? SPIN_TURN : SPIN_AFTER);
    if (!is_long || range > SPIN_LOOP || !stack->depth || divergence_stack_top(stack)->is_waiting)
        return;
    divergence_stack_break_join(stack);
    warp->has_spun = true;
    warp->n_diverged = 0;
}

/* Parameters and constants have their own cache and do not count as memory, as in timed runs. */
static void count_access(struct gpu_engine *engine, const struct resident *resident, const struct exec_insn *insn,
                         uint32_t mask, uint32_t n_lanes) {
    struct stats_counters *counters = engine->counters;
    const struct exec_context *cx = &engine->cx;
    uint32_t lanes;
    enum ptx_space space = exec_accessed_space(cx, insn, mask, &lanes);
    if (!lanes || space == PTX_SPACE_PARAM || space == PTX_SPACE_CONST)
        return;
    counters->memory_instructions++;
    if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_LOCAL)
        return;
    counters->long_instructions++;
    counters->long_thread_instructions += lanes == mask ? n_lanes : base_count_bits(lanes);
    if (engine->warmed && space == PTX_SPACE_GLOBAL)
        gpu_timed_touch(engine->gpu->timed, cx, insn, lanes, resident->warmed_sm, engine->warmed);
}

static void profile_insn(struct exec_profile *profile, const struct exec_row *row, uint32_t pc, uint32_t mask) {
    exec_profile_path(profile, row, mask);
    if (profile->line)
        exec_profile_line(profile, pc, base_count_bits(mask));
}

/* Runs row number `index` until it blocks, ends, or has used its turn. Returns true if it ended its turn early: it
 * waits for an mbarrier, or has completed a barrier. */
static bool run_row(struct gpu_engine *engine, struct resident *resident, uint32_t index) {
    const struct exec_insn *code = engine->grid->program->code;
    struct exec_context *cx = &engine->cx;
    struct exec_row *row = &resident->cta->row[index];
    struct divergence_stack *stack = &resident->stack[index];
    struct warp *warp = &resident->warp[index];
    struct exec_profile *profile = engine->grid->profile;
    uint64_t n_warp = 0, n_thread = 0;
    bool has_yielded = false;
    uint32_t pc = 0, lowest_pc = EXEC_NO_PC, highest_pc = 0, counted = ~0u, n_lanes = EXEC_LANES;
    uint64_t turn = warp->has_spun ? SPIN_TURN : engine->n_residents > 1 ? SHARED_TURN : ROW_TURN;
    while (n_warp < turn && stack->depth && !cx->fault.kind) {
        const struct divergence_entry *top = divergence_stack_top(stack);
        if (top->is_waiting) {
            if (divergence_stack_yield(stack))
                continue;
            warp->is_blocked = true;
            break;
        }
        pc = top->pc;
        lowest_pc = pc < lowest_pc ? pc : lowest_pc;
        uint32_t active = top->mask[0], reconvergence = top->reconvergence;
        /* Straight-line instructions, and branches that all lanes take or none, keep pc in a register; only other
         * control flow reads the stack. */
        for (;; pc++) {
            if (pc != reconvergence && code[pc].is_simple && !profile) {
                uint32_t first = pc;
                pc = exec_row_straight(cx, row, pc, reconvergence, active, &n_thread);
                n_warp += pc - first;
            }
            if (pc == reconvergence) {
                stack->depth--;
                divergence_stack_pop_finished(stack);
                break;
            }
            const struct exec_insn *insn = &code[pc];
            uint32_t mask = divergence_guard(row, insn, active);
            n_warp++;
            if (profile)
                profile_insn(profile, row, pc, mask);
            if (mask != counted) {
                counted = mask;
                n_lanes = base_count_bits(mask);
            }
            n_thread += n_lanes;
            if (insn->kind > EXEC_KIND_WARP) {
                highest_pc = pc > highest_pc ? pc : highest_pc;
                if (insn->kind == EXEC_KIND_BRANCH && !profile && n_warp < turn && (mask == active || !mask)) {
                    engine->counters->branches++;
                    pc = (mask ? insn->target : pc + 1) - 1;
                    lowest_pc = pc + 1 < lowest_pc && pc + 1 != reconvergence ? pc + 1 : lowest_pc;
                    continue;
                }
                if (control(engine, resident, index, pc, mask)) {
                    has_yielded = true;
                    turn = n_warp;
                }
                break;
            }
            if (!mask)
                continue;
            cx->time++;
            exec_row_insn(cx, row, insn, mask);
            if (insn->kind != EXEC_KIND_LANES) {
                if (insn->goes_to_memory)
                    count_access(engine, resident, insn, mask, n_lanes);
                if (cx->fault.kind)
                    break;
                if (cx->waits) { /* other rows get their turn when the row has looked at the result */
                    cx->waits = false;
                    has_yielded = true;
                    turn = n_warp;
                }
            }
        }
    }
    warp->n_executed += n_warp;
    engine->counters->warp_instructions += n_warp;
    engine->counters->thread_instructions += n_thread;
    watch_for_spinning(warp, stack, n_warp, highest_pc - lowest_pc);
    uint64_t limit = engine->gpu->config.max_instructions;
    if (!cx->fault.kind && limit && warp->n_executed > limit && stack->depth)
        exec_fault_set(cx, EXEC_FAULT_LIMIT, (unsigned)__builtin_ctz(divergence_stack_top(stack)->mask[0]), 0, 0, "%s",
                       "instruction limit reached: an endless loop?");
    if (cx->fault.kind)
        gpu_describe_fault(cx, row, pc, engine->error);
    return has_yielded;
}

/* --- the grid --- */

static void report_deadlock(struct gpu_engine *engine, struct resident *resident) {
    for (uint32_t i = 0; i < engine->n_rows; i++) {
        if (!resident->stack[i].depth)
            continue;
        const struct exec_row *row = &resident->cta->row[i];
        const struct divergence_entry *top = divergence_stack_top(&resident->stack[i]);
        uint32_t lane = (uint32_t)__builtin_ctz(*divergence_wait_mask(&resident->stack[i], top));
        const struct exec_insn *insn = &engine->grid->program->code[top->wait_pc];
        uint32_t number = divergence_barrier_number(row, insn, lane);
        const struct exec_barrier *barrier = &resident->cta->barrier[number];
        char detail[160], expected[48] = "all threads of the block";
        if (barrier->expected)
            snprintf(expected, sizeof expected, "%" PRIu32 " threads", barrier->expected);
        snprintf(detail, sizeof detail,
                 "deadlock: barrier %" PRIu32 " waits for %s, %" PRIu32 " arrived and no other thread can", number,
                 expected, barrier->n_arrived);
        exec_fault_set(&engine->cx, EXEC_FAULT_BARRIER, lane, 0, 0, "%s", detail);
        gpu_describe_fault(&engine->cx, row, top->wait_pc, engine->error);
        return;
    }
}

static void end_block(struct gpu_engine *engine, struct resident *resident) {
    struct exec_cluster *cluster = resident->cta->block.cluster;
    uint64_t length = 0;
    for (uint32_t i = 0; engine->warmed && i < engine->n_rows; i++)
        length = resident->warp[i].n_executed > length ? resident->warp[i].n_executed : length;
    if (engine->warmed)
        gpu_sections_add_block(engine->gpu->sections, length);
    resident->is_busy = false;
    engine->n_finished++;
    if (!cluster)
        return;
    if (exec_cta_leave(resident->cta))
        free(cluster);
    else
        meet_cluster(engine, cluster);
}

/* Gives every row of the block its turns. Returns false if the launch has failed. */
static bool run_block(struct gpu_engine *engine, struct resident *resident) {
    int n_turns = (engine->n_residents > 1 ? 1 : BLOCK_TURNS) * EARLY_TURNS;
    bool has_yielded = false;
    for (int turn = 0; turn < n_turns && resident->cta->n_live_rows; turn += has_yielded ? 1 : EARLY_TURNS) {
        bool has_run = false;
        has_yielded = false;
        for (uint32_t i = 0; i < engine->n_rows; i++) {
            if (!resident->stack[i].depth || resident->warp[i].is_blocked)
                continue;
            has_run = true;
            has_yielded |= run_row(engine, resident, i);
            if (engine->cx.fault.kind)
                return false;
        }
        if (!has_run && resident->cta->block.cluster) /* another block of the cluster may let it continue */
            return true;
        if (!has_run && resident->cta->n_live_rows) {
            report_deadlock(engine, resident);
            return false;
        }
    }
    if (!resident->cta->n_live_rows)
        end_block(engine, resident);
    return true;
}

static bool is_in_time(struct gpu_engine *engine) {
    const struct gpu_config *config = &engine->gpu->config;
    if (config->stop && *config->stop) {
        engine->error->status = GPU_INTERRUPTED;
        snprintf(engine->error->message, sizeof engine->error->message,
                 "interrupted in kernel '%s' after %" PRIu64 " of %" PRIu64 " blocks", engine->grid->program->name,
                 engine->n_finished, engine->n_blocks);
        return false;
    }
    if (!config->shows_progress && config->timeout_seconds <= 0)
        return true;
    uint64_t now = gpu_host_clock_ns();
    if (config->shows_progress)
        gpu_progress_show(&engine->progress, engine->grid->program->name, engine->n_finished, engine->n_blocks,
                          (double)engine->counters->warp_instructions * 1e-6, "M warp instructions", -1);
    if (config->timeout_seconds <= 0 || (double)(now - engine->gpu->start_ns) * 1e-9 < config->timeout_seconds)
        return true;
    engine->error->status = GPU_TIME_LIMIT;
    snprintf(engine->error->message, sizeof engine->error->message,
             "time limit of %g s reached in kernel '%s' after %" PRIu64 " of %" PRIu64 " blocks",
             config->timeout_seconds, engine->grid->program->name, engine->n_finished, engine->n_blocks);
    return false;
}

/* Tells sections.c which block comes next. */
static void reach_block(struct gpu_engine *engine) {
    struct gpu_sections *sections = engine->gpu->sections;
    if (engine->next_block >= gpu_sections_next(sections))
        gpu_sections_reach(sections, engine->next_block, engine->n_finished < engine->next_block, engine->counters,
                           engine->warmed);
}

static struct resident *next_resident(struct gpu_engine *engine, uint32_t slot) {
    if (slot == engine->n_residents)
        engine->resident[engine->n_residents++] = new_resident(engine);
    struct resident *resident = engine->resident[slot];
    if (engine->warmed && !resident->is_busy && engine->next_block < engine->n_blocks)
        reach_block(engine);
    if (!resident->is_busy && engine->next_block < engine->n_blocks)
        start_block(engine, resident, (uint32_t)engine->next_block++, slot);
    return resident;
}

/* --- clusters --- */

/* Starts the next cluster in the slots from `slot` on. */
static void start_cluster(struct gpu_engine *engine, uint32_t slot, uint32_t n) {
    if (engine->warmed)
        reach_block(engine);
    struct exec_cluster *cluster = base_allocate(1, sizeof *cluster);
    cluster->n_blocks = n;
    for (uint32_t rank = 0; rank < n; rank++) {
        if (slot + rank == engine->n_residents)
            engine->resident[engine->n_residents++] = new_resident(engine);
        struct resident *resident = engine->resident[slot + rank];
        uint32_t block = exec_cluster_block(&engine->grid->shape, engine->next_block / n, rank);
        start_block(engine, resident, block, slot + rank);
        exec_cta_join(resident->cta, cluster, rank);
    }
    engine->next_block += n;
}

/* Returns whether a block in these slots has a row that can run. */
static bool can_run(const struct gpu_engine *engine, uint32_t slot, uint32_t n) {
    for (uint32_t k = slot; k < slot + n; k++)
        for (uint32_t i = 0; i < engine->n_rows && engine->resident[k]->is_busy; i++)
            if (engine->resident[k]->stack[i].depth && !engine->resident[k]->warp[i].is_blocked)
                return true;
    return false;
}

static uint32_t first_busy(const struct gpu_engine *engine, uint32_t slot, uint32_t n) {
    uint32_t k = slot;
    while (k < slot + n && !engine->resident[k]->is_busy)
        k++;
    return k;
}

/* Runs the cluster in the slots from `slot` on, until it ends or has used its turn. */
static bool run_cluster(struct gpu_engine *engine, uint32_t slot, uint32_t n) {
    for (int turn = 0; turn < BLOCK_TURNS && first_busy(engine, slot, n) < slot + n; turn++) {
        if (!can_run(engine, slot, n)) {
            report_deadlock(engine, engine->resident[first_busy(engine, slot, n)]);
            return false;
        }
        for (uint32_t k = slot; k < slot + n; k++)
            if (engine->resident[k]->is_busy && !run_block(engine, engine->resident[k]))
                return false;
    }
    return true;
}

/* As gpu_engine_step(), with as many slots as a cluster has blocks in the place of one. */
static bool step_clusters(struct gpu_engine *engine, uint32_t n) {
    for (uint32_t slot = 0; slot + n <= engine->max_residents; slot += n) {
        if (slot == engine->n_residents && engine->next_block == engine->n_blocks)
            break;
        if (slot == engine->n_residents)
            start_cluster(engine, slot, n);
        for (;;) {
            if (!run_cluster(engine, slot, n) || !is_in_time(engine))
                return false;
            if (first_busy(engine, slot, n) < slot + n || engine->next_block == engine->n_blocks)
                break;
            start_cluster(engine, slot, n);
        }
    }
    return true;
}

bool gpu_engine_step(struct gpu_engine *engine) {
    uint32_t n_cluster = exec_shape_cluster(&engine->grid->shape);
    if (n_cluster > 1)
        return step_clusters(engine, n_cluster);
    /* One block at a time: another slot opens only while the earlier ones are still busy after their turns. */
    for (uint32_t slot = 0; slot < engine->max_residents; slot++) {
        if (slot == engine->n_residents && engine->next_block == engine->n_blocks)
            break;
        struct resident *resident = next_resident(engine, slot);
        uint32_t n_blocks_done = 0;
        while (resident->is_busy) {
            if (!run_block(engine, resident))
                return false;
            if (resident->is_busy)
                break;
            if (++n_blocks_done % TIME_CHECK_BLOCKS == 0 && !is_in_time(engine))
                return false;
            resident = next_resident(engine, slot);
        }
        if (!is_in_time(engine))
            return false;
    }
    return true;
}

bool gpu_engine_is_done(const struct gpu_engine *engine) { return engine->n_finished == engine->n_blocks; }

struct gpu_engine *gpu_engine_new(struct gpu *gpu, const struct exec_grid *grid, struct stats_counters *counters,
                                  struct gpu_warmed *warmed, struct gpu_error *error) {
    struct gpu_engine *engine = base_allocate_aligned(sizeof *engine);
    uint32_t n_threads = exec_shape_threads(&grid->shape);
    engine->gpu = gpu;
    engine->grid = grid;
    engine->counters = counters;
    engine->warmed = gpu->sections ? warmed : NULL;
    engine->error = error;
    engine->cx.grid = grid;
    engine->cx.lanes = exec_level_table();
    /* Later than every reading of earlier launches, in which no instruction took longer than CLOCK_STEP. */
    engine->cx.time = gpu->totals.warp_instructions * CLOCK_STEP;
    engine->cx.spin.max_step = CLOCK_STEP - 1;
    engine->n_rows = (n_threads + EXEC_LANES - 1) / EXEC_LANES;
    engine->n_blocks = exec_shape_blocks(&grid->shape);
    gpu_progress_start(&engine->progress);
    const struct config_demand block = {n_threads, grid->program->registers_per_thread, grid->shared_bytes};
    engine->max_residents = gpu->config.n_sms * config_occupancy(&gpu->config.sm, &block, NULL);
    engine->resident = base_allocate(engine->max_residents, sizeof(struct resident *));
    return engine;
}

void gpu_engine_free(struct gpu_engine *engine) {
    if (engine->warmed)
        gpu_timed_touch_code(engine->gpu->timed, engine->grid);
    fflush(stdout); /* device printf */
    gpu_progress_end(&engine->progress);
    for (uint32_t i = 0; i < engine->n_residents; i++) {
        struct exec_cluster *cluster = engine->resident[i]->cta->block.cluster;
        if (cluster && exec_cta_leave(engine->resident[i]->cta)) /* the launch has failed */
            free(cluster);
        free_resident(engine, engine->resident[i]);
    }
    free(engine->resident);
    free(engine->cx.async.rows.row);
    free(engine);
}

bool gpu_run_functional(struct gpu *gpu, const struct exec_grid *grid, struct stats_counters *counters,
                        struct gpu_warmed *warmed, struct gpu_error *error) {
    struct gpu_engine *engine = gpu_engine_new(gpu, grid, counters, warmed, error);
    bool is_good = true;
    while (is_good && !gpu_engine_is_done(engine))
        is_good = gpu_engine_step(engine);
    gpu_engine_free(engine);
    return is_good;
}
