/* Squads. See squad.h. */
#include "divergence/squad.h"

#include <string.h>

#include "divergence/control.h"
#include "divergence/pack.h"
#include "divergence/threads.h"
#include "divergence/wide.h"

uint32_t divergence_squad_piece(const struct divergence_squad *squad, uint32_t mask) {
    uint32_t row = squad->row[__builtin_ctz(mask)], piece = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        piece |= (uint32_t)(squad->row[__builtin_ctz(left)] == row) << __builtin_ctz(left);
    return piece;
}

void divergence_squad_add(const struct divergence_squad *squad, uint32_t mask, uint32_t *over_rows) {
    for (uint32_t left = mask; left; left &= left - 1)
        over_rows[squad->row[__builtin_ctz(left)]] |= 1u << __builtin_ctz(left);
}

uint32_t divergence_squad_muster(struct divergence_squad *squad, const uint32_t *mask, uint32_t n_rows, uint32_t pc,
                                 bool is_packed) {
    uint32_t left[EXEC_MAX_ROWS], n = 0;
    memcpy(left, mask, n_rows * sizeof *left);
    for (uint32_t i = 0; !is_packed && i < n_rows; i++) {
        if (!left[i])
            continue;
        squad[n] = (struct divergence_squad){.pc = pc, .mask = left[i]};
        memset(squad[n++].row, (int)i, EXEC_LANES);
    }
    while (is_packed && !divergence_wide_is_empty(left, n_rows)) {
        struct divergence_pack pack;
        divergence_pack_columns(left, NULL, n_rows, &pack);
        squad[n] = (struct divergence_squad){.pc = pc, .mask = pack.mask};
        memcpy(squad[n++].row, pack.row, sizeof pack.row);
    }
    return n;
}

bool divergence_squad_splits_rows(const struct divergence_squad *squad, uint32_t n_squads, const uint32_t *mask) {
    for (uint32_t i = 0; i < n_squads; i++)
        for (uint32_t left = squad[i].mask, piece; left; left &= ~piece) {
            piece = divergence_squad_piece(&squad[i], left);
            if (mask[squad[i].row[__builtin_ctz(piece)]] != piece)
                return true;
        }
    return false;
}

void divergence_squad_bundle(const struct divergence_squad *squad, struct exec_row *rows, struct exec_context *cx,
                             uint32_t pc, struct divergence_bundle *bundle) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    *bundle = (struct divergence_bundle){.pc = pc, .is_last = true};
    for (uint32_t left = squad->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        cx->row_of[lane] = &rows[squad->row[lane]];
        cx->lane_of[lane] = (uint8_t)lane;
        bundle->mask |= divergence_guard(cx->row_of[lane], insn, 1u << lane);
    }
}

void divergence_squad_execute(const struct divergence_squad *squad, struct exec_row *rows, struct exec_context *cx,
                              uint32_t pc, uint32_t mask) {
    for (uint32_t left = mask, piece; left && !cx->fault.kind; left &= ~piece) {
        piece = divergence_squad_piece(squad, left);
        exec_row_insn(cx, divergence_squad_row(squad, rows, piece), &cx->grid->program->code[pc], piece);
    }
}

bool divergence_squad_diverges(const struct divergence_squad *squad, struct exec_row *rows, struct exec_context *cx,
                               uint32_t pc) {
    uint32_t first = EXEC_NO_PC, next[EXEC_LANES], waits;
    for (uint32_t left = squad->mask, piece; left; left &= ~piece) {
        piece = divergence_squad_piece(squad, left);
        divergence_next_pcs(cx, divergence_squad_row(squad, rows, piece), pc, piece, next, &waits);
        for (uint32_t lanes = piece; lanes; lanes &= lanes - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(lanes);
            first = first == EXEC_NO_PC ? next[lane] : first;
            if (next[lane] != first)
                return true;
        }
    }
    return false;
}

bool divergence_squad_release(struct divergence_squad *squad, struct exec_row *rows, const struct exec_context *cx,
                              const struct exec_barrier *barrier, uint32_t number) {
    const struct exec_insn *insn = &cx->grid->program->code[squad->pc];
    if (!squad->at_barrier)
        return false;
    for (uint32_t left = squad->at_barrier, piece; left; left &= ~piece) {
        piece = divergence_squad_piece(squad, left);
        struct exec_row *row = divergence_squad_row(squad, rows, piece);
        if (divergence_barrier_number(row, insn, (uint32_t)__builtin_ctz(piece)) != number)
            continue;
        divergence_barrier_result(row, insn, barrier, piece);
        squad->at_barrier &= ~piece;
    }
    return !squad->at_barrier;
}
