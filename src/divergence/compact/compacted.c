/* Squads. See squad.h. */
#include "divergence/compact/compacted.h"

#include <assert.h>
#include <string.h>

#include "divergence/parts/control.h"
#include "divergence/parts/packing.h"
#include "divergence/parts/threads.h"
#include "divergence/parts/wide.h"

uint32_t divergence_squad_piece(const struct divergence_squad *squad, uint32_t mask) {
    uint32_t row = squad->row[__builtin_ctz(mask)], piece = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        piece |= (uint32_t)(squad->row[__builtin_ctz(left)] == row) << __builtin_ctz(left);
    return piece;
}

uint32_t divergence_squad_lanes(const struct divergence_squad *squad, uint32_t piece) {
    uint32_t lanes = 0;
    if (!squad->is_crossed)
        return piece;
    for (uint32_t left = piece; left; left &= left - 1)
        lanes |= 1u << squad->threads.lane[__builtin_ctz(left)];
    return lanes;
}

void divergence_squad_add(const struct divergence_squad *squad, uint32_t mask, uint32_t *over_rows) {
    for (uint32_t left = mask; left; left &= left - 1)
        over_rows[squad->row[__builtin_ctz(left)]] |= 1u << squad->threads.lane[__builtin_ctz(left)];
}

static void take_pack(struct divergence_squad *squad, struct exec_row *rows, const struct divergence_pack *pack,
                      uint32_t pc) {
    squad->pc = pc;
    squad->mask = pack->mask;
    squad->at_barrier = 0;
    squad->has_come = squad->is_crossed = false;
    memcpy(squad->row, pack->row, sizeof pack->row);
    exec_threads_start(&squad->threads);
    for (uint32_t left = pack->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        exec_threads_put(&squad->threads, lane, &rows[pack->row[lane]], pack->lane[lane]);
        squad->is_crossed |= pack->lane[lane] != lane;
    }
}

uint32_t divergence_squad_muster(struct divergence_squad *squad, struct exec_row *rows, const uint32_t *mask,
                                 uint32_t n_rows, uint32_t pc, enum divergence_arrangement arrangement,
                                 uint32_t n_lanes) {
    uint32_t left[EXEC_MAX_ROWS], n = 0;
    memcpy(left, mask, n_rows * sizeof *left);
    for (uint32_t first = 0; first < n_rows;) {
        struct divergence_pack pack;
        if (!left[first]) {
            first++;
            continue;
        }
        if (arrangement == DIVERGENCE_IN_ORDER)
            divergence_pack_any(left, NULL, n_rows, n_lanes, &pack);
        else
            divergence_pack_columns(left, NULL, arrangement == DIVERGENCE_IN_ROWS ? first + 1 : n_rows, &pack);
        take_pack(&squad[n++], rows, &pack, pc);
    }
    return n;
}

bool divergence_squad_splits_rows(const struct divergence_squad *squad, uint32_t n_squads, const uint32_t *mask) {
    for (uint32_t i = 0; i < n_squads; i++)
        for (uint32_t left = squad[i].mask, piece; left; left &= ~piece) {
            piece = divergence_squad_piece(&squad[i], left);
            if (squad[i].is_crossed || mask[squad[i].row[__builtin_ctz(piece)]] != piece)
                return true;
        }
    return false;
}

void divergence_squad_execute(const struct divergence_squad *squad, struct exec_context *cx, uint32_t pc,
                              uint32_t mask) {
    for (uint32_t left = mask, piece; left && !cx->fault.kind; left &= ~piece) {
        piece = divergence_squad_piece(squad, left);
        struct exec_row *row = divergence_squad_row(squad, piece);
        exec_row_insn(cx, row, &cx->grid->program->code[pc], divergence_squad_lanes(squad, piece));
    }
}

bool divergence_squad_diverges(const struct divergence_squad *squad, struct exec_context *cx, uint32_t pc,
                               uint32_t taken) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    if (insn->kind == EXEC_KIND_BRANCH)
        return taken && taken != squad->mask && insn->target != pc + 1;
    uint32_t first = EXEC_NO_PC, next[EXEC_LANES], waits;
    for (uint32_t left = squad->mask, piece; left; left &= ~piece) {
        piece = divergence_squad_piece(squad, left);
        uint32_t lanes = divergence_squad_lanes(squad, piece);
        divergence_next_pcs(cx, divergence_squad_row(squad, piece), pc, lanes, next, &waits);
        for (; lanes; lanes &= lanes - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(lanes);
            first = first == EXEC_NO_PC ? next[lane] : first;
            if (next[lane] != first)
                return true;
        }
    }
    return false;
}

bool divergence_squad_release(struct divergence_squad *squad, const struct exec_context *cx,
                              const struct exec_barrier *barrier, uint32_t number) {
    const struct exec_insn *insn = &cx->grid->program->code[squad->pc];
    if (!squad->at_barrier)
        return false;
    assert(!squad->is_crossed);
    for (uint32_t left = squad->at_barrier, piece; left; left &= ~piece) {
        piece = divergence_squad_piece(squad, left);
        struct exec_row *row = divergence_squad_row(squad, piece);
        if (divergence_barrier_number(row, insn, (uint32_t)__builtin_ctz(piece)) != number)
            continue;
        divergence_barrier_result(row, insn, barrier, piece);
        squad->at_barrier &= ~piece;
    }
    return !squad->at_barrier;
}
