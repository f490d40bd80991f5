/* Executes a grid without timing: the post-dominator stack decides which lanes of a row run, blocks run one after the
 * other, the rows of a block take turns at barriers. A block that does not end within its turn (it may wait for another
 * one) makes room for the next, so that as many blocks are in flight as the device would hold, and no more.
 *
 * Lanes that spin on what other lanes of their row will write make progress as they do on hardware since compute
 * capability 7.0: a row that has been diverged for long inside a small loop lets the lanes go on that wait for it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/internal.h"
#include "gpu/stack.h"

enum {
    ROW_TURN = 20000,   /* instructions a row runs before its neighbours get a turn */
    BLOCK_TURNS = 64,   /* rounds over the rows before another block gets a turn */
    SHARED_TURN = 1000, /* a row's turn once several blocks are in flight; a block then has one round at a time */
    TIME_CHECK_BLOCKS = 16,
    SPIN_AFTER = 1000000, /* instructions in diverged state before a small loop counts as spinning; */
    SPIN_TURN = 500,      /* the turn of a row that has been seen to spin, and how soon it counts as spinning again */
    SPIN_LOOP = 64,       /* instructions a spinning loop covers at most */
    PROGRESS_AFTER_NS = 2000000000,
    PROGRESS_EVERY_NS = 250000000,
};

struct warp {
    struct exec_row row;
    struct gpu_stack stack;
    uint64_t n_executed;
    uint64_t n_diverged; /* executed since all lanes last ran together */
    bool is_blocked;     /* at a barrier */
    bool has_spun;       /* a join has been broken: look again soon */
};

struct resident {
    struct exec_block block;
    struct exec_barrier barrier[EXEC_N_BARRIERS];
    struct warp *warp;
    unsigned char *registers, *local, *shared;
    uint32_t n_live_rows;
    bool is_busy;
};

struct engine {
    struct gpu *gpu;
    const struct exec_grid *grid;
    struct gpu_counters *counters;
    struct gpu_error *error;
    struct exec_context cx;
    struct resident **resident;
    uint32_t n_residents, max_residents;
    uint32_t n_rows;
    uint64_t n_blocks, next_block, n_finished;
    uint64_t start_ns, shown_ns;
    bool has_shown;
};

/* --- blocks --- */

static void broadcast(uint32_t *lanes, uint32_t value) {
    for (int i = 0; i < EXEC_LANES; i++)
        lanes[i] = value;
}

static void *allocate(size_t bytes) {
    void *memory = aligned_alloc(64, (bytes + 64) & ~(size_t)63);
    if (!memory)
        abort();
    return memory;
}

static struct resident *new_resident(struct engine *engine) {
    const struct exec_grid *grid = engine->grid;
    struct resident *resident = allocate(sizeof *resident);
    memset(resident, 0, sizeof *resident);
    resident->warp = allocate(engine->n_rows * sizeof *resident->warp);
    memset(resident->warp, 0, engine->n_rows * sizeof *resident->warp);
    resident->registers = allocate((size_t)engine->n_rows * grid->program->register_bytes);
    resident->local = allocate((size_t)engine->n_rows * EXEC_LANES * grid->local_bytes);
    resident->shared = allocate(grid->shared_bytes);
    return resident;
}

static void free_resident(struct engine *engine, struct resident *resident) {
    for (uint32_t i = 0; i < engine->n_rows; i++)
        gpu_stack_free(&resident->warp[i].stack);
    free(resident->warp);
    free(resident->registers);
    free(resident->local);
    free(resident->shared);
    free(resident);
}

static void start_row(struct engine *engine, struct resident *resident, uint32_t index) {
    const struct exec_grid *grid = engine->grid;
    const struct exec_program *program = grid->program;
    struct warp *warp = &resident->warp[index];
    struct exec_row *row = &warp->row;
    uint32_t n_threads = grid->block[0] * grid->block[1] * grid->block[2];
    row->base[EXEC_BASE_REGISTERS] = resident->registers + (size_t)index * program->register_bytes;
    row->base[EXEC_BASE_CONSTANTS] = program->constants;
    row->base[EXEC_BASE_ROW] = (unsigned char *)row;
    row->base[EXEC_BASE_BLOCK] = (unsigned char *)&resident->block;
    row->local = resident->local + (size_t)index * EXEC_LANES * grid->local_bytes;
    row->block = &resident->block;
    row->index = index;
    row->threads = 0;
    broadcast(row->warpid, index);
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++) {
        uint32_t thread = index * EXEC_LANES + lane;
        row->threads |= (uint32_t)(thread < n_threads) << lane;
        row->tid[0][lane] = thread % grid->block[0];
        row->tid[1][lane] = thread / grid->block[0] % grid->block[1];
        row->tid[2][lane] = thread / grid->block[0] / grid->block[1];
        row->frame[lane] = 0;
        unsigned char *local = row->local + (size_t)lane * grid->local_bytes;
        memset(local, 0, program->local_bytes);
        struct exec_frame_header header = {EXEC_NO_PC, 0, 0, 0};
        memcpy(local, &header, sizeof header);
    }
    row->live = row->threads;
    memset(row->base[EXEC_BASE_REGISTERS], 0, program->register_bytes);
    warp->n_executed = warp->n_diverged = 0;
    warp->is_blocked = warp->has_spun = false;
    gpu_stack_start(&warp->stack, program->function[0].first_pc, row->threads);
}

static void start_block(struct engine *engine, struct resident *resident, uint32_t index, uint32_t slot) {
    const struct exec_grid *grid = engine->grid;
    struct exec_block *block = &resident->block;
    block->grid = grid;
    block->shared = resident->shared;
    block->index = index;
    block->n_rows = engine->n_rows;
    const uint32_t ctaid[3] = {index % grid->grid[0], index / grid->grid[0] % grid->grid[1],
                               index / grid->grid[0] / grid->grid[1]};
    for (int i = 0; i < 3; i++) {
        broadcast(block->ctaid[i], ctaid[i]);
        broadcast(block->nctaid[i], grid->grid[i]);
        broadcast(block->ntid[i], grid->block[i]);
    }
    broadcast(block->smid, slot % grid->n_sms);
    broadcast(block->nsmid, grid->n_sms);
    broadcast(block->nwarpid, engine->gpu->config.threads_per_sm / EXEC_LANES);
    broadcast(block->dynamic_shared, grid->dynamic_shared_bytes);
    broadcast(block->total_shared, grid->shared_bytes);
    for (int i = 0; i < EXEC_LANES; i++)
        block->gridid[i] = grid->grid_id;
    memset(resident->shared, 0, grid->shared_bytes);
    memset(resident->barrier, 0, sizeof resident->barrier);
    for (uint32_t i = 0; i < engine->n_rows; i++)
        start_row(engine, resident, i);
    resident->n_live_rows = engine->n_rows;
    resident->is_busy = true;
    engine->counters->blocks++;
    engine->counters->threads += (uint64_t)grid->block[0] * grid->block[1] * grid->block[2];
}

/* --- barriers --- */

/* Writes bar.red's result for the lanes of an entry that waited. */
static void write_barrier_result(struct exec_row *row, const struct exec_insn *insn, const struct exec_barrier *barrier,
                                 uint32_t mask) {
    if (!insn->n_dst)
        return;
    uint32_t value = exec_barrier_result(barrier, insn->reconvergence);
    unsigned char *lanes = row->base[insn->operand[0].base] + insn->operand[0].offset;
    if (insn->operand[0].width == PTX_WIDTH_PRED) {
        uint32_t *predicate = (uint32_t *)lanes;
        *predicate = value ? *predicate | mask : *predicate & ~mask;
        return;
    }
    for (uint32_t left = mask; left; left &= left - 1)
        ((uint32_t *)lanes)[__builtin_ctz(left)] = value;
}

static uint32_t barrier_number(const struct exec_row *row, const struct exec_insn *insn, uint32_t lane) {
    if (insn->n_src == 0)
        return 0;
    struct exec_operand operand = insn->operand[insn->n_dst];
    return ((const uint32_t *)(row->base[operand.base] + operand.offset))[lane];
}

static void release_barrier(struct engine *engine, struct resident *resident, uint32_t number) {
    struct exec_barrier *barrier = &resident->barrier[number];
    const struct exec_insn *code = engine->grid->program->code;
    for (uint32_t i = 0; i < engine->n_rows; i++) {
        struct warp *warp = &resident->warp[i];
        for (uint32_t d = 0; d < warp->stack.depth; d++) {
            struct gpu_entry *entry = &warp->stack.entry[d];
            if (!entry->is_waiting)
                continue;
            const struct exec_insn *insn = &code[entry->wait_pc];
            if (barrier_number(&warp->row, insn, (uint32_t)__builtin_ctz(entry->wait_mask)) != number)
                continue;
            write_barrier_result(&warp->row, insn, barrier, entry->wait_mask);
            entry->is_waiting = false;
            warp->is_blocked = false;
        }
    }
    exec_barrier_reset(barrier);
}

/* After an arrival or an exit. */
static void check_barrier(struct engine *engine, struct resident *resident, uint32_t number) {
    if (!resident->barrier[number].is_open)
        return;
    uint32_t live[EXEC_MAX_ROWS];
    for (uint32_t i = 0; i < engine->n_rows; i++)
        live[i] = resident->warp[i].row.live;
    if (exec_barrier_is_complete(&resident->barrier[number], live, engine->n_rows))
        release_barrier(engine, resident, number);
}

static void fault(struct engine *engine, enum exec_fault_kind kind, uint32_t mask, const char *detail) {
    engine->cx.fault = (struct exec_fault){.kind = kind, .lane = (uint32_t)__builtin_ctz(mask)};
    snprintf(engine->cx.fault.detail, sizeof engine->cx.fault.detail, "%s", detail);
}

/* bar.sync / bar.red / bar.arrive for the lanes in mask. The entry's pc is already behind the barrier. */
static void arrive(struct engine *engine, struct resident *resident, struct warp *warp, uint32_t pc, uint32_t mask) {
    const struct exec_insn *insn = &engine->grid->program->code[pc];
    struct exec_row *row = &warp->row;
    uint32_t lane = (uint32_t)__builtin_ctz(mask), number = barrier_number(row, insn, lane);
    bool reduces = insn->reconvergence >= EXEC_BARRIER_POPC;
    uint32_t expected = 0, predicate = 0;
    if (insn->n_src > 1u + reduces) {
        struct exec_operand count = insn->operand[insn->n_dst + 1];
        expected = ((const uint32_t *)(row->base[count.base] + count.offset))[lane];
        if (expected == 0 || expected % EXEC_LANES)
            fault(engine, EXEC_FAULT_BARRIER, mask, "a barrier's thread count must be a positive multiple of 32");
    }
    if (reduces) {
        struct exec_operand operand = insn->operand[insn->n_dst + insn->n_src - 1];
        predicate = *(const uint32_t *)(row->base[operand.base] + operand.offset) ^ (insn->imm & 1 ? ~0u : 0);
    }
    if (number >= EXEC_N_BARRIERS)
        fault(engine, EXEC_FAULT_BARRIER, mask, "a block has barriers 0 to 15");
    if (engine->cx.fault.kind)
        return;
    struct exec_barrier *barrier = &resident->barrier[number];
    if (!exec_barrier_arrive(barrier, row->index, mask, predicate, expected)) {
        fault(engine, EXEC_FAULT_BARRIER, mask, "threads arrived at one barrier with different thread counts");
        return;
    }
    engine->counters->barriers++;
    if (insn->reconvergence != EXEC_BARRIER_ARRIVE) {
        struct gpu_entry *top = gpu_stack_top(&warp->stack);
        top->is_waiting = true;
        top->wait_pc = pc;
        top->wait_mask = mask;
    }
    check_barrier(engine, resident, number);
}

/* --- instructions --- */

static void exit_lanes(struct engine *engine, struct resident *resident, struct warp *warp, uint32_t mask) {
    warp->row.live &= ~mask;
    gpu_stack_remove(&warp->stack, mask, false);
    if (!warp->row.live)
        resident->n_live_rows--;
    for (uint32_t i = 0; i < EXEC_N_BARRIERS; i++)
        check_barrier(engine, resident, i);
}

static void call(struct engine *engine, struct warp *warp, uint32_t pc, uint32_t callee, uint32_t mask) {
    exec_enter_function(&engine->cx, &warp->row, pc, callee, mask);
    gpu_stack_push_call(&warp->stack, engine->grid->program->function[callee].first_pc, mask);
}

/* Lanes may call different functions: one entry for each. */
static void call_indirect(struct engine *engine, struct warp *warp, uint32_t pc, uint32_t mask) {
    const struct exec_program *program = engine->grid->program;
    const struct exec_call_site *site = &program->call_site[program->code[pc].imm];
    const uint64_t *address = (const uint64_t *)(warp->row.base[site->target.base] + site->target.offset);
    while (mask && !engine->cx.fault.kind) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask), same = 0;
        for (uint32_t left = mask; left; left &= left - 1)
            same |= (uint32_t)(address[__builtin_ctz(left)] == address[lane]) << __builtin_ctz(left);
        uint32_t callee = exec_function_at(program, address[lane]);
        if (callee == PTX_NO_INDEX)
            fault(engine, EXEC_FAULT_BAD_CALL, same, "");
        else
            call(engine, warp, pc, callee, same);
        mask &= ~same;
    }
}

/* brx.idx: one path for each distinct target. */
static void branch_indexed(struct engine *engine, struct warp *warp, uint32_t pc, uint32_t mask) {
    const struct exec_program *program = engine->grid->program;
    const struct exec_insn *insn = &program->code[pc];
    const uint32_t *index = (const uint32_t *)(warp->row.base[insn->operand[0].base] + insn->operand[0].offset);
    const uint32_t *table = program->branch_table[insn->target];
    uint32_t next[EXEC_LANES], n_paths = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        next[lane] = index[lane] < table[0] ? table[1 + index[lane]] : pc + 1;
    }
    uint32_t stay = gpu_stack_top(&warp->stack)->mask & ~mask; /* lanes whose guard was false fall through */
    gpu_stack_make_join(&warp->stack, insn->reconvergence);
    if (stay) {
        if (pc + 1 != insn->reconvergence)
            gpu_stack_push_path(&warp->stack, pc + 1, insn->reconvergence, stay);
        n_paths++;
    }
    for (uint32_t left = mask; left;) {
        uint32_t target = next[__builtin_ctz(left)], same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            same |= (uint32_t)(next[__builtin_ctz(rest)] == target) << __builtin_ctz(rest);
        if (target != insn->reconvergence)
            gpu_stack_push_path(&warp->stack, target, insn->reconvergence, same);
        left &= ~same;
        n_paths++;
    }
    engine->counters->divergent_branches += n_paths > 1;
    gpu_stack_pop_finished(&warp->stack);
}

/* After a turn of n instructions that covered `range` of code. */
static void watch_for_spinning(struct warp *warp, uint64_t n, uint32_t range) {
    warp->n_diverged = warp->stack.depth > 1 ? warp->n_diverged + n : 0;
    bool is_long = warp->n_diverged > (warp->has_spun ? SPIN_TURN : SPIN_AFTER);
    if (!is_long || range > SPIN_LOOP || !warp->stack.depth || gpu_stack_top(&warp->stack)->is_waiting)
        return;
    gpu_stack_break_join(&warp->stack);
    warp->has_spun = true;
    warp->n_diverged = 0;
}

/* Runs the top entry until it blocks, ends, or has used its turn. */
static void run_row(struct engine *engine, struct resident *resident, struct warp *warp) {
    const struct exec_insn *code = engine->grid->program->code;
    struct exec_context *cx = &engine->cx;
    uint64_t n_warp = 0, n_thread = 0, n_memory = 0, n_branch = 0;
    uint32_t pc = 0;
    uint32_t lowest_pc = EXEC_NO_PC, highest_pc = 0;
    struct gpu_stack *stack = &warp->stack;
    const uint64_t turn = warp->has_spun ? SPIN_TURN : engine->n_residents > 1 ? SHARED_TURN : ROW_TURN;
    while (n_warp < turn && stack->depth) {
        struct gpu_entry *top = gpu_stack_top(stack);
        if (top->is_waiting) {
            if (gpu_stack_yield(stack))
                continue;
            warp->is_blocked = true;
            break;
        }
        pc = top->pc;
        lowest_pc = pc < lowest_pc ? pc : lowest_pc;
        uint32_t active = top->mask, meet = top->reconvergence;
        const struct exec_insn *insn;
        uint32_t mask;
        /* Straight-line instructions keep pc in a register; only control flow looks at the stack. */
        for (;; pc++) {
            if (pc == meet) {
                stack->depth--;
                gpu_stack_pop_finished(stack);
                goto next_entry;
            }
            insn = &code[pc];
            mask = active;
            n_warp++;
            if (insn->guard.offset) {
                uint32_t predicate = *(const uint32_t *)(warp->row.base[EXEC_BASE_REGISTERS] + insn->guard.offset);
                mask &= insn->flags & EXEC_FLAG_GUARD_NEGATED ? ~predicate : predicate;
            }
            n_thread += mask == ~0u ? EXEC_LANES : (uint32_t)__builtin_popcount(mask);
            if (insn->kind > EXEC_KIND_WARP)
                break;
            if (!mask)
                continue;
            cx->time++;
            exec_row_insn(cx, &warp->row, insn, mask);
            if (insn->kind == EXEC_KIND_CONTEXT) {
                n_memory++;
                if (cx->fault.kind)
                    goto done;
            }
        }
        top->pc = pc + 1;
        highest_pc = pc > highest_pc ? pc : highest_pc;
        switch ((enum exec_kind)insn->kind) {
        case EXEC_KIND_BRANCH:
            n_branch++;
            if (mask == active)
                top->pc = insn->target;
            else if (mask) {
                engine->counters->divergent_branches++;
                gpu_stack_diverge(stack, insn->reconvergence, insn->target, mask, pc + 1);
            }
            break;
        case EXEC_KIND_BRANCH_INDEXED:
            n_branch++;
            if (mask)
                branch_indexed(engine, warp, pc, mask);
            break;
        case EXEC_KIND_CALL:
            if (mask)
                call(engine, warp, pc, engine->grid->program->function_of[insn->target], mask);
            break;
        case EXEC_KIND_CALL_INDIRECT:
            call_indirect(engine, warp, pc, mask);
            break;
        case EXEC_KIND_CALL_BUILTIN:
            if (mask)
                exec_row_insn(cx, &warp->row, insn, mask);
            break;
        case EXEC_KIND_RETURN:
            exec_leave_function(cx, &warp->row, mask);
            gpu_stack_remove(stack, mask, true);
            break;
        case EXEC_KIND_EXIT:
            if (mask)
                exit_lanes(engine, resident, warp, mask);
            break;
        case EXEC_KIND_BARRIER:
            if (mask)
                arrive(engine, resident, warp, pc, mask);
            break;
        case EXEC_KIND_TRAP:
            if (mask)
                fault(engine, EXEC_FAULT_TRAP, mask, "");
            break;
        default:
            break;
        }
        if (cx->fault.kind)
            goto done;
    next_entry:;
    }
done:
    warp->n_executed += n_warp;
    engine->counters->warp_instructions += n_warp;
    engine->counters->thread_instructions += n_thread;
    engine->counters->memory_instructions += n_memory;
    engine->counters->branches += n_branch;
    watch_for_spinning(warp, n_warp, highest_pc - lowest_pc);
    uint64_t limit = engine->gpu->config.max_instructions;
    if (!cx->fault.kind && limit && warp->n_executed > limit && stack->depth)
        fault(engine, EXEC_FAULT_LIMIT, gpu_stack_top(stack)->mask, "instruction limit reached: an endless loop?");
    if (cx->fault.kind)
        gpu_describe_fault(cx, &warp->row, pc, engine->error);
}

/* --- the grid --- */

static void report_deadlock(struct engine *engine, struct resident *resident) {
    for (uint32_t i = 0; i < engine->n_rows; i++) {
        struct warp *warp = &resident->warp[i];
        if (!warp->stack.depth)
            continue;
        const struct gpu_entry *top = gpu_stack_top(&warp->stack);
        uint32_t lane = (uint32_t)__builtin_ctz(top->wait_mask);
        uint32_t number = barrier_number(&warp->row, &engine->grid->program->code[top->wait_pc], lane);
        const struct exec_barrier *barrier = &resident->barrier[number];
        char detail[160], expected[48] = "all threads of the block";
        if (barrier->expected)
            snprintf(expected, sizeof expected, "%" PRIu32 " threads", barrier->expected);
        snprintf(detail, sizeof detail,
                 "deadlock: barrier %" PRIu32 " waits for %s, %" PRIu32 " arrived and nobody else can", number,
                 expected, barrier->n_arrived);
        fault(engine, EXEC_FAULT_BARRIER, top->wait_mask, detail);
        gpu_describe_fault(&engine->cx, &warp->row, top->wait_pc, engine->error);
        return;
    }
}

/* Gives every row of the block its turns. False when the launch has failed. */
static bool run_block(struct engine *engine, struct resident *resident) {
    int n_turns = engine->n_residents > 1 ? 1 : BLOCK_TURNS;
    for (int turn = 0; turn < n_turns && resident->n_live_rows; turn++) {
        bool has_run = false;
        for (uint32_t i = 0; i < engine->n_rows; i++) {
            struct warp *warp = &resident->warp[i];
            if (!warp->stack.depth || warp->is_blocked)
                continue;
            has_run = true;
            run_row(engine, resident, warp);
            if (engine->cx.fault.kind)
                return false;
        }
        if (!has_run && resident->n_live_rows) {
            report_deadlock(engine, resident);
            return false;
        }
    }
    if (!resident->n_live_rows) {
        resident->is_busy = false;
        engine->n_finished++;
    }
    return true;
}

static void show_progress(struct engine *engine, uint64_t now) {
    if (now - engine->start_ns < PROGRESS_AFTER_NS || now - engine->shown_ns < PROGRESS_EVERY_NS)
        return;
    engine->shown_ns = now;
    engine->has_shown = true;
    double seconds = (double)(now - engine->start_ns) * 1e-9,
           share = (double)engine->n_finished / (double)engine->n_blocks;
    fprintf(stderr, "\r%s: %5.1f %% of %" PRIu64 " blocks, %.1f M warp instructions/s", engine->grid->program->name,
            100 * share, engine->n_blocks, (double)engine->counters->warp_instructions * 1e-6 / seconds);
    if (share > 0)
        fprintf(stderr, ", %.0f s left", seconds / share - seconds);
    fprintf(stderr, "   ");
    fflush(stderr);
}

static bool is_in_time(struct engine *engine) {
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
        show_progress(engine, now);
    if (config->timeout_seconds <= 0 || (double)(now - engine->gpu->start_ns) * 1e-9 < config->timeout_seconds)
        return true;
    engine->error->status = GPU_TIME_LIMIT;
    snprintf(engine->error->message, sizeof engine->error->message,
             "time limit of %g s reached in kernel '%s' after %" PRIu64 " of %" PRIu64 " blocks",
             config->timeout_seconds, engine->grid->program->name, engine->n_finished, engine->n_blocks);
    return false;
}

static struct resident *next_resident(struct engine *engine, uint32_t slot) {
    if (slot == engine->n_residents)
        engine->resident[engine->n_residents++] = new_resident(engine);
    struct resident *resident = engine->resident[slot];
    if (!resident->is_busy && engine->next_block < engine->n_blocks)
        start_block(engine, resident, (uint32_t)engine->next_block++, slot);
    return resident;
}

static bool run_grid(struct engine *engine) {
    while (engine->n_finished < engine->n_blocks) {
        /* One block at a time; a further slot opens only while the earlier ones are still busy after their turns. */
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
    }
    return true;
}

bool gpu_run_functional(struct gpu *gpu, const struct exec_grid *grid, struct gpu_counters *counters,
                        struct gpu_error *error) {
    struct engine *engine = allocate(sizeof *engine);
    memset(engine, 0, sizeof *engine);
    uint32_t n_threads = grid->block[0] * grid->block[1] * grid->block[2];
    engine->gpu = gpu;
    engine->grid = grid;
    engine->counters = counters;
    engine->error = error;
    engine->cx.grid = grid;
    engine->cx.lanes = exec_isa_table();
    engine->cx.time = gpu->totals.warp_instructions;
    engine->n_rows = (n_threads + EXEC_LANES - 1) / EXEC_LANES;
    engine->n_blocks = (uint64_t)grid->grid[0] * grid->grid[1] * grid->grid[2];
    engine->start_ns = engine->shown_ns = gpu_host_clock_ns();
    uint32_t blocks_per_sm = gpu->config.threads_per_sm / (engine->n_rows * EXEC_LANES);
    if (blocks_per_sm > gpu->config.blocks_per_sm)
        blocks_per_sm = gpu->config.blocks_per_sm;
    engine->max_residents = gpu->config.n_sms * (blocks_per_sm ? blocks_per_sm : 1);
    engine->resident = allocate(engine->max_residents * sizeof(struct resident *));

    bool is_done = run_grid(engine);
    fflush(stdout); /* device printf */
    if (engine->has_shown)
        fprintf(stderr, "\r%79s\r", "");
    for (uint32_t i = 0; i < engine->n_residents; i++)
        free_resident(engine, engine->resident[i]);
    free(engine->resident);
    free(engine);
    return is_done;
}
