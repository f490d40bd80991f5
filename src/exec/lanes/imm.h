/* The layout of exec_operands.imm for instructions that lanes.h does not describe. The decoder sets an instruction's
 * imm to exec_compare_imm() for setp and set, and to exec_video_imm() for the video instructions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

/* setp and set: the outcomes of a comparison that count as true, and the use of the result. */
enum exec_relation { EXEC_LESS = 1, EXEC_EQUAL = 2, EXEC_GREATER = 4, EXEC_UNORDERED = 8 };
enum exec_boolean { EXEC_BOOLEAN_NONE, EXEC_BOOLEAN_AND, EXEC_BOOLEAN_OR, EXEC_BOOLEAN_XOR };
enum exec_truth {
    EXEC_TRUTH_ONES32,
    EXEC_TRUTH_ONES16,
    EXEC_TRUTH_F32,
    EXEC_TRUTH_F16,
    EXEC_TRUTH_BF16
}; /* the value that set writes for true */

enum {
    EXEC_COMPARE_NEGATED = 1,        /* !c */
    EXEC_COMPARE_BOOLEAN_SHIFT = 1,  /* 2 bits: enum exec_boolean */
    EXEC_COMPARE_HAS_Q = 8,          /* p|q with a register q */
    EXEC_COMPARE_RELATION_SHIFT = 4, /* 4 bits: set of enum exec_relation; 0: not a comparison of this type */
    EXEC_COMPARE_TRUTH_SHIFT = 8,    /* 3 bits: enum exec_truth */
};

uint32_t exec_compare_imm(const struct ptx_instruction *insn);

/* Scalar video instructions: vadd vsub vabsdiff vmin vmax vshl vshr vmad vset. A part selector is 0 for the whole word,
 * 1 to 4 for bytes, 5 and 6 for halves. */
enum exec_video_second { EXEC_VIDEO_NO_SECOND, EXEC_VIDEO_ADD, EXEC_VIDEO_MIN, EXEC_VIDEO_MAX };

enum {
    EXEC_VIDEO_A_SHIFT = 0, /* 3 bits: part of a */
    EXEC_VIDEO_B_SHIFT = 3, /* 3 bits: part of b */
    EXEC_VIDEO_D_SHIFT = 6, /* 3 bits: part of the destination; the rest comes from c */
    EXEC_VIDEO_A_SIGNED = 1 << 9,
    EXEC_VIDEO_B_SIGNED = 1 << 10,
    EXEC_VIDEO_D_SIGNED = 1 << 11,
    EXEC_VIDEO_SATURATES = 1 << 12,
    EXEC_VIDEO_SECOND_SHIFT = 13,   /* 2 bits: enum exec_video_second */
    EXEC_VIDEO_RELATION_SHIFT = 15, /* 3 bits: vset: set of enum exec_relation */
    EXEC_VIDEO_WRAPS = 1 << 18,     /* vshl, vshr: amount modulo 32 */
    EXEC_VIDEO_NEGATES_PRODUCT = 1 << 19,
    EXEC_VIDEO_NEGATES_C = 1 << 20,
    EXEC_VIDEO_PLUS_ONE = 1 << 21,
    EXEC_VIDEO_SCALE_SHIFT = 22, /* 4 bits: vmad: right shift of the result */
};

/* Packed video instructions (vadd2 ... vset4): four selectors each for a and b, low element first, which number the
 * parts of {b, a}; a destination mask; then fields that depend on the opcode: vset has one of four tests, since greater
 * is less with swapped operands, and the secondary .add has a separate function. */
enum exec_video_test { EXEC_VIDEO_EQUAL, EXEC_VIDEO_NOT_EQUAL, EXEC_VIDEO_LESS, EXEC_VIDEO_LESS_OR_EQUAL };

enum {
    EXEC_PACKED_A_SHIFT = 0,     /* 4 x 3 bits */
    EXEC_PACKED_B_SHIFT = 12,    /* 4 x 3 bits */
    EXEC_PACKED_MASK_SHIFT = 24, /* 4 bits */
    EXEC_PACKED_A_SIGNED = 1 << 28,
    EXEC_PACKED_B_SIGNED = 1 << 29,
    EXEC_PACKED_D_SIGNED = 1 << 30,
    EXEC_PACKED_TEST_SHIFT = 30, /* 2 bits: vset: enum exec_video_test */
};
#define EXEC_PACKED_SATURATES (1u << 31)

uint32_t exec_video_imm(const struct ptx_instruction *insn);

/* Returns whether the destination is a pair p|q with a register q. */
static inline bool exec_has_q(const struct ptx_instruction *insn) {
    return insn->n_operands > 0 && insn->operand[0].pair_id < PTX_NO_INDEX - 1;
}
