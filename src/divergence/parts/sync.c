/* Barriers and warp-wide instructions for threads that run apart. See sync.h. */
#include "divergence/parts/sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "divergence/parts/barrier.h"
#include "divergence/parts/resolve.h"
#include "divergence/parts/threads.h"

struct divergence_sync *divergence_sync_new(uint32_t n_rows) {
    struct divergence_sync *sync = calloc(1, sizeof *sync);
    if (!sync)
        abort();
    sync->n_rows = n_rows;
    sync->waiting = calloc(n_rows, sizeof *sync->waiting);
    sync->released = calloc(n_rows, sizeof *sync->released);
    sync->pc = calloc(n_rows, sizeof *sync->pc);
    if (!sync->waiting || !sync->released || !sync->pc)
        abort();
    return sync;
}

void divergence_sync_free(struct divergence_sync *sync) {
    if (!sync)
        return;
    free(sync->waiting);
    free(sync->released);
    free(sync->pc);
    free(sync);
}

void divergence_sync_start(struct divergence_sync *sync) {
    sync->has_any = false;
    memset(sync->waiting, 0, sync->n_rows * sizeof *sync->waiting);
    memset(sync->released, 0, sync->n_rows * sizeof *sync->released);
}

/* Returns those of the lanes that are at the pc of the first one. */
static uint32_t beside_first(const uint32_t pc[EXEC_LANES], uint32_t lanes) {
    uint32_t first = pc[__builtin_ctz(lanes)], same = 0;
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++)
        same |= (uint32_t)(pc[lane] == first) << lane;
    return same & lanes;
}

/* --- barriers --- */

static void release_barrier(struct divergence_sync *sync, const struct exec_context *cx, struct exec_cta *cta,
                            uint32_t number) {
    for (uint32_t i = 0; i < cta->n_rows; i++) {
        struct exec_row *row = &cta->row[i];
        for (uint32_t left = sync->waiting[i], same; left; left &= ~same) {
            const struct exec_insn *insn = &cx->grid->program->code[sync->pc[i][__builtin_ctz(left)]];
            same = beside_first(sync->pc[i], left);
            if (insn->kind != EXEC_KIND_BARRIER)
                continue;
            uint32_t going = divergence_barrier_lanes(row, insn, number, same);
            divergence_barrier_result(row, insn, &cta->barrier[number], going);
            sync->released[i] |= going;
        }
        sync->waiting[i] &= ~sync->released[i];
    }
    exec_cta_reset_barrier(cta, number);
}

/* --- warp-wide instructions --- */

/* Returns the operand with the instruction's member mask; NULL: it names no lanes. */
static const struct exec_operand *members_of(const struct exec_insn *insn) {
    unsigned at;
    switch ((enum ptx_opcode)insn->opcode) {
    case PTX_OP_SHFL:
    case PTX_OP_TREE_TRAVERSE:
        at = 3;
        break;
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
        at = 1;
        break;
    case PTX_OP_ELECT:
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        at = 0;
        break;
    default:
        return NULL;
    }
    return insn->n_src > at ? &insn->operand[insn->n_dst + at] : NULL;
}

/* Returns the lanes that must have come before the one in `lane` continues. */
static uint32_t named_lanes(const struct exec_row *row, const struct exec_insn *insn, uint32_t lane) {
    const struct exec_operand *members = members_of(insn);
    if (!members)
        return row->live;
    const uint32_t *lanes = (const uint32_t *)(row->base[members->base] + members->offset);
    return (lanes[lane] | 1u << lane) & row->live;
}

static uint32_t waiting_at(const struct divergence_sync *sync, uint32_t row, uint32_t pc) {
    uint32_t there = 0;
    for (uint32_t left = sync->waiting[row]; left; left &= left - 1)
        if (sync->pc[row][__builtin_ctz(left)] == pc)
            there |= 1u << __builtin_ctz(left);
    return there;
}

/* Executes the instruction for the lanes at pc whose named lanes have all come. */
static bool try_row(struct divergence_sync *sync, struct exec_context *cx, struct exec_row *row, uint32_t pc) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    uint32_t there = waiting_at(sync, row->index, pc), going = 0;
    for (uint32_t left = there; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (!(named_lanes(row, insn, lane) & ~there))
            going |= 1u << lane;
    }
    if (!going)
        return false;
    if (exec_acts_on_row(insn->kind))
        exec_row_insn(cx, row, insn, going);
    divergence_pass_row_sync(row, insn, going);
    sync->waiting[row->index] &= ~going;
    sync->released[row->index] |= going;
    return true;
}

/* --- the interface --- */

bool divergence_sync_arrive(struct divergence_sync *sync, struct exec_context *cx, struct exec_row *row, uint32_t pc,
                            uint32_t mask) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    sync->has_any = true;
    for (uint32_t left = mask; left; left &= left - 1)
        sync->pc[row->index][__builtin_ctz(left)] = pc;
    if (insn->kind != EXEC_KIND_BARRIER) {
        sync->waiting[row->index] |= mask;
        return try_row(sync, cx, row, pc);
    }
    bool has_released = !divergence_barrier_waits(cx, divergence_cta(row), row, pc, mask);
    if (has_released)
        sync->released[row->index] |= mask;
    else
        sync->waiting[row->index] |= mask;
    int number = divergence_barrier_arrive(cx, divergence_cta(row), row, pc, mask);
    if (number != DIVERGENCE_NO_BARRIER) {
        release_barrier(sync, cx, divergence_cta(row), (uint32_t)number);
        has_released = true;
    }
    return has_released;
}

bool divergence_sync_after_exit(struct divergence_sync *sync, struct exec_context *cx, struct exec_cta *cta) {
    bool has_released = false;
    if (!sync->has_any)
        return false;
    for (uint64_t open = cta->open_barriers; open; open &= open - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(open);
        if (!divergence_barrier_is_complete(cx, cta, i))
            continue;
        release_barrier(sync, cx, cta, i);
        has_released = true;
    }
    for (uint32_t i = 0; i < cta->n_rows; i++)
        for (uint32_t left = sync->waiting[i]; left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(left), pc = sync->pc[i][lane];
            if (!(sync->waiting[i] >> lane & 1) || cx->grid->program->code[pc].kind == EXEC_KIND_BARRIER)
                continue;
            has_released |= try_row(sync, cx, &cta->row[i], pc);
        }
    return has_released;
}

uint32_t divergence_sync_take(struct divergence_sync *sync, uint32_t row, uint32_t *next_pc) {
    if (!sync->released[row])
        return 0;
    uint32_t mask = beside_first(sync->pc[row], sync->released[row]);
    *next_pc = sync->pc[row][__builtin_ctz(mask)] + 1;
    sync->released[row] &= ~mask;
    return mask;
}

const char *divergence_refuse_unsynced(const struct exec_program *program, const char *model, char *text, size_t size) {
    for (uint32_t pc = 0; program && pc < program->n_insns; pc++) {
        const struct exec_insn *insn = &program->code[pc];
        bool names_all = program->source[pc] && program->source[pc]->matrix && !exec_is_row_access(insn);
        if (!exec_acts_on_row(insn->kind) || members_of(insn) || names_all || !program->source[pc])
            continue;
        char name[80];
        ptx_instruction_name(program->source[pc], name, sizeof name);
        snprintf(text, size, "%s lets the lanes of a warp run apart, and '%s' (line %u) %s", model, name,
                 program->source[pc]->at.line,
                 insn->kind == EXEC_KIND_WARP_MEMORY
                     ? "accesses memory for all of them at once: use another model"
                     : "does not name the lanes that it needs: use the form with .sync and a member mask, or another "
                       "model");
        return text;
    }
    return NULL;
}
