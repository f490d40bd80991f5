/* Compacted warps. See compacted.h. */
#include "divergence/compact/compacted.h"

#include <assert.h>
#include <string.h>

#include "divergence/parts/barrier.h"
#include "divergence/parts/masks.h"
#include "divergence/parts/packing.h"
#include "divergence/parts/threads.h"

uint32_t divergence_compacted_piece(const struct divergence_compacted *compacted, uint32_t mask) {
    uint32_t row = compacted->row[__builtin_ctz(mask)], piece = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        piece |= (uint32_t)(compacted->row[__builtin_ctz(left)] == row) << __builtin_ctz(left);
    return piece;
}

uint32_t divergence_compacted_lanes(const struct divergence_compacted *compacted, uint32_t piece) {
    uint32_t lanes = 0;
    if (!compacted->is_crossed)
        return piece;
    for (uint32_t left = piece; left; left &= left - 1)
        lanes |= 1u << compacted->threads.lane[__builtin_ctz(left)];
    return lanes;
}

void divergence_compacted_add(const struct divergence_compacted *compacted, uint32_t mask, uint32_t *over_rows) {
    for (uint32_t left = mask; left; left &= left - 1)
        over_rows[compacted->row[__builtin_ctz(left)]] |= 1u << compacted->threads.lane[__builtin_ctz(left)];
}

static void take_packing(struct divergence_compacted *compacted, struct exec_row *rows,
                         const struct divergence_packing *packing, uint32_t pc) {
    compacted->pc = pc;
    compacted->mask = packing->mask;
    compacted->at_barrier = 0;
    compacted->has_come = compacted->is_crossed = false;
    memcpy(compacted->row, packing->row, sizeof packing->row);
    exec_threads_start(&compacted->threads);
    for (uint32_t left = packing->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        exec_threads_put(&compacted->threads, lane, &rows[packing->row[lane]], packing->lane[lane]);
        compacted->is_crossed |= packing->lane[lane] != lane;
    }
}

uint32_t divergence_compacted_form(struct divergence_compacted *compacted, struct exec_row *rows, const uint32_t *mask,
                                   uint32_t n_rows, uint32_t pc, enum divergence_arrangement arrangement,
                                   uint32_t n_lanes) {
    uint32_t left[EXEC_MAX_ROWS], n = 0;
    memcpy(left, mask, n_rows * sizeof *left);
    for (uint32_t first = 0; first < n_rows;) {
        struct divergence_packing packing;
        if (!left[first]) {
            first++;
            continue;
        }
        if (arrangement == DIVERGENCE_IN_ORDER)
            divergence_pack_any(left, NULL, n_rows, n_lanes, &packing);
        else
            divergence_pack_columns(left, NULL, arrangement == DIVERGENCE_IN_ROWS ? first + 1 : n_rows, &packing);
        take_packing(&compacted[n++], rows, &packing, pc);
    }
    return n;
}

bool divergence_compacted_splits_rows(const struct divergence_compacted *compacted, uint32_t n_compacted,
                                      const uint32_t *mask) {
    for (uint32_t i = 0; i < n_compacted; i++)
        for (uint32_t left = compacted[i].mask, piece; left; left &= ~piece) {
            piece = divergence_compacted_piece(&compacted[i], left);
            if (compacted[i].is_crossed || mask[compacted[i].row[__builtin_ctz(piece)]] != piece)
                return true;
        }
    return false;
}

void divergence_compacted_execute(const struct divergence_compacted *compacted, struct exec_context *cx, uint32_t pc,
                                  uint32_t mask) {
    for (uint32_t left = mask, piece; left && !cx->fault.kind; left &= ~piece) {
        piece = divergence_compacted_piece(compacted, left);
        struct exec_row *row = divergence_compacted_row(compacted, piece);
        exec_row_insn(cx, row, &cx->grid->program->code[pc], divergence_compacted_lanes(compacted, piece));
    }
}

bool divergence_compacted_diverges(const struct divergence_compacted *compacted, struct exec_context *cx, uint32_t pc,
                                   uint32_t taken) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    if (insn->kind == EXEC_KIND_BRANCH)
        return taken && taken != compacted->mask && insn->target != pc + 1;
    uint32_t first = EXEC_NO_PC, next[EXEC_LANES], waits;
    for (uint32_t left = compacted->mask, piece; left; left &= ~piece) {
        piece = divergence_compacted_piece(compacted, left);
        uint32_t lanes = divergence_compacted_lanes(compacted, piece);
        divergence_next_pcs(cx, divergence_compacted_row(compacted, piece), pc, lanes, next, &waits);
        for (; lanes; lanes &= lanes - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(lanes);
            first = first == EXEC_NO_PC ? next[lane] : first;
            if (next[lane] != first)
                return true;
        }
    }
    return false;
}

bool divergence_compacted_release(struct divergence_compacted *compacted, const struct exec_context *cx,
                                  const struct exec_barrier *barrier, uint32_t number) {
    const struct exec_insn *insn = &cx->grid->program->code[compacted->pc];
    if (!compacted->at_barrier)
        return false;
    assert(!compacted->is_crossed);
    for (uint32_t left = compacted->at_barrier, piece; left; left &= ~piece) {
        piece = divergence_compacted_piece(compacted, left);
        struct exec_row *row = divergence_compacted_row(compacted, piece);
        if (divergence_barrier_number(row, insn, (uint32_t)__builtin_ctz(piece)) != number)
            continue;
        divergence_barrier_result(row, insn, barrier, piece);
        compacted->at_barrier &= ~piece;
    }
    return !compacted->at_barrier;
}
