/* Compacted warps. See compacted.h. */
#include "divergence/compact/compacted.h"

#include <assert.h>
#include <string.h>

#include "divergence/parts/barrier.h"
#include "divergence/parts/masks.h"
#include "divergence/parts/packing.h"
#include "divergence/parts/resolve.h"

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
        for (uint32_t left = compacted[i].mask, same, home; left; left &= ~same) {
            same = divergence_same_row(&compacted[i].threads, left, &home);
            if (compacted[i].is_crossed || mask[compacted[i].row[__builtin_ctz(same)]] != same)
                return true;
        }
    return false;
}

void divergence_compacted_execute(const struct divergence_compacted *compacted, struct exec_context *cx, uint32_t pc,
                                  uint32_t mask) {
    for (uint32_t left = mask, same, home; left && !cx->fault.kind; left &= ~same) {
        same = divergence_same_row(&compacted->threads, left, &home);
        exec_row_insn(cx, compacted->threads.row[__builtin_ctz(same)], &cx->grid->program->code[pc], home);
    }
}

bool divergence_compacted_release(struct divergence_compacted *compacted, const struct exec_context *cx,
                                  const struct exec_barrier *barrier, uint32_t number) {
    const struct exec_insn *insn = &cx->grid->program->code[compacted->pc];
    if (!compacted->at_barrier)
        return false;
    assert(!compacted->is_crossed);
    for (uint32_t left = compacted->at_barrier, same, home; left; left &= ~same) {
        same = divergence_same_row(&compacted->threads, left, &home);
        struct exec_row *row = compacted->threads.row[__builtin_ctz(same)];
        if (divergence_barrier_number(row, insn, (uint32_t)__builtin_ctz(home)) != number)
            continue;
        divergence_barrier_result(row, insn, barrier, home);
        compacted->at_barrier &= ~same;
    }
    return !compacted->at_barrier;
}
