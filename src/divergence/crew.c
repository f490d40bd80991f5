/* Crews. See crew.h. */
#include "divergence/crew.h"

#include <string.h>

#include "divergence/control.h"
#include "divergence/pack.h"
#include "divergence/threads.h"
#include "divergence/wide.h"

uint32_t divergence_crew_piece(const struct divergence_crew *crew, uint32_t mask) {
    uint32_t row = crew->row[__builtin_ctz(mask)], piece = 0;
    for (uint32_t left = mask; left; left &= left - 1)
        piece |= (uint32_t)(crew->row[__builtin_ctz(left)] == row) << __builtin_ctz(left);
    return piece;
}

void divergence_crew_add(const struct divergence_crew *crew, uint32_t mask, uint32_t *over_rows) {
    for (uint32_t left = mask; left; left &= left - 1)
        over_rows[crew->row[__builtin_ctz(left)]] |= 1u << __builtin_ctz(left);
}

uint32_t divergence_crew_muster(struct divergence_crew *crew, const uint32_t *mask, uint32_t n_rows, uint32_t pc,
                                bool is_packed) {
    uint32_t left[EXEC_MAX_ROWS], n = 0;
    memcpy(left, mask, n_rows * sizeof *left);
    for (uint32_t i = 0; !is_packed && i < n_rows; i++) {
        if (!left[i])
            continue;
        crew[n] = (struct divergence_crew){.pc = pc, .mask = left[i]};
        memset(crew[n++].row, (int)i, EXEC_LANES);
    }
    while (is_packed && !divergence_wide_is_empty(left, n_rows)) {
        struct divergence_pack pack;
        divergence_pack_columns(left, NULL, n_rows, &pack);
        crew[n] = (struct divergence_crew){.pc = pc, .mask = pack.mask};
        memcpy(crew[n++].row, pack.row, sizeof pack.row);
    }
    return n;
}

bool divergence_crew_splits_rows(const struct divergence_crew *crew, uint32_t n_crews, const uint32_t *mask) {
    for (uint32_t i = 0; i < n_crews; i++)
        for (uint32_t left = crew[i].mask, piece; left; left &= ~piece) {
            piece = divergence_crew_piece(&crew[i], left);
            if (mask[crew[i].row[__builtin_ctz(piece)]] != piece)
                return true;
        }
    return false;
}

void divergence_crew_bundle(const struct divergence_crew *crew, struct exec_row *rows, struct exec_context *cx,
                            uint32_t pc, struct divergence_bundle *bundle) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    *bundle = (struct divergence_bundle){.pc = pc, .is_last = true};
    for (uint32_t left = crew->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        cx->row_of[lane] = &rows[crew->row[lane]];
        cx->lane_of[lane] = (uint8_t)lane;
        bundle->mask |= divergence_guard(cx->row_of[lane], insn, 1u << lane);
    }
}

void divergence_crew_execute(const struct divergence_crew *crew, struct exec_row *rows, struct exec_context *cx,
                             uint32_t pc, uint32_t mask) {
    for (uint32_t left = mask, piece; left && !cx->fault.kind; left &= ~piece) {
        piece = divergence_crew_piece(crew, left);
        exec_row_insn(cx, divergence_crew_row(crew, rows, piece), &cx->grid->program->code[pc], piece);
    }
}

bool divergence_crew_diverges(const struct divergence_crew *crew, struct exec_row *rows, struct exec_context *cx,
                              uint32_t pc) {
    uint32_t first = EXEC_NO_PC, next[EXEC_LANES], waits;
    for (uint32_t left = crew->mask, piece; left; left &= ~piece) {
        piece = divergence_crew_piece(crew, left);
        divergence_next_pcs(cx, divergence_crew_row(crew, rows, piece), pc, piece, next, &waits);
        for (uint32_t lanes = piece; lanes; lanes &= lanes - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(lanes);
            first = first == EXEC_NO_PC ? next[lane] : first;
            if (next[lane] != first)
                return true;
        }
    }
    return false;
}

bool divergence_crew_release(struct divergence_crew *crew, struct exec_row *rows, const struct exec_context *cx,
                             const struct exec_barrier *barrier, uint32_t number) {
    const struct exec_insn *insn = &cx->grid->program->code[crew->pc];
    if (!crew->at_barrier)
        return false;
    for (uint32_t left = crew->at_barrier, piece; left; left &= ~piece) {
        piece = divergence_crew_piece(crew, left);
        struct exec_row *row = divergence_crew_row(crew, rows, piece);
        if (divergence_barrier_number(row, insn, (uint32_t)__builtin_ctz(piece)) != number)
            continue;
        divergence_barrier_result(row, insn, barrier, piece);
        crew->at_barrier &= ~piece;
    }
    return !crew->at_barrier;
}
