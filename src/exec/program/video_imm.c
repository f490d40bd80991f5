/* Encodes selectors, signs and options of the video instructions in the immediate (exec/lanes/imm.h). */
#include "exec/exec.h"
#include "exec/lanes/imm.h"

static const struct {
    uint8_t modifier, relation;
} relations[] = {
    {PTX_MOD_EQ, EXEC_EQUAL},   {PTX_MOD_NE, EXEC_LESS | EXEC_GREATER},
    {PTX_MOD_LT, EXEC_LESS},    {PTX_MOD_LE, EXEC_LESS | EXEC_EQUAL},
    {PTX_MOD_GT, EXEC_GREATER}, {PTX_MOD_GE, EXEC_GREATER | EXEC_EQUAL},
};

static uint32_t relation_of(const struct ptx_instruction *insn) {
    for (unsigned k = 0; k < sizeof relations / sizeof relations[0]; k++)
        if (ptx_has(insn, (enum ptx_modifier)relations[k].modifier))
            return relations[k].relation;
    return 0;
}

static uint32_t if_has(const struct ptx_instruction *insn, enum ptx_modifier modifier, uint32_t bits) {
    return ptx_has(insn, modifier) ? bits : 0;
}

/* vset.atype.btype has no destination type: a secondary operation uses a's. The others are vop.dtype.atype.btype. */
static uint32_t signs(const struct ptx_instruction *insn, bool is_vset, uint32_t a, uint32_t b, uint32_t d) {
    unsigned first = is_vset ? 0 : 1;
    return (insn->type[first] == PTX_S32 ? a : 0) | (insn->type[first + 1] == PTX_S32 ? b : 0) |
           (insn->type[0] == PTX_S32 ? d : 0);
}

static uint32_t scalar_imm(const struct ptx_instruction *insn) {
    const struct ptx_operand *operand = insn->operand;
    uint32_t second = ptx_has(insn, PTX_MOD_ADD)   ? EXEC_VIDEO_ADD
                      : ptx_has(insn, PTX_MOD_MIN) ? EXEC_VIDEO_MIN
                      : ptx_has(insn, PTX_MOD_MAX) ? EXEC_VIDEO_MAX
                                                   : EXEC_VIDEO_NO_SECOND;
    uint32_t scale = ptx_has(insn, PTX_MOD_SHR7) ? 7 : ptx_has(insn, PTX_MOD_SHR15) ? 15 : 0;
    bool has_c = insn->n_operands > 3;
    return (uint32_t)operand[1].selector << EXEC_VIDEO_A_SHIFT | (uint32_t)operand[2].selector << EXEC_VIDEO_B_SHIFT |
           (uint32_t)operand[0].selector << EXEC_VIDEO_D_SHIFT |
           signs(insn, insn->opcode == PTX_OP_VSET, EXEC_VIDEO_A_SIGNED, EXEC_VIDEO_B_SIGNED, EXEC_VIDEO_D_SIGNED) |
           if_has(insn, PTX_MOD_SAT, EXEC_VIDEO_SATURATES) | second << EXEC_VIDEO_SECOND_SHIFT |
           relation_of(insn) << EXEC_VIDEO_RELATION_SHIFT | if_has(insn, PTX_MOD_WRAP, EXEC_VIDEO_WRAPS) |
           (operand[1].is_negated != operand[2].is_negated ? EXEC_VIDEO_NEGATES_PRODUCT : 0) |
           (has_c && operand[3].is_negated ? EXEC_VIDEO_NEGATES_C : 0) | if_has(insn, PTX_MOD_PO, EXEC_VIDEO_PLUS_ONE) |
           scale << EXEC_VIDEO_SCALE_SHIFT;
}

/* Returns the selectors of a packed source as 3-bit numbers; the default is its own elements in order, from `first` on.
 */
static uint32_t packed_selectors(const struct ptx_operand *operand, unsigned first) {
    uint32_t selectors = 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned digit = operand->selector_mask == 0xffff ? first + k : operand->selector_mask >> 4 * k & 0xf;
        selectors |= (digit & 7) << 3 * k;
    }
    return selectors;
}

static uint32_t packed_mask(const struct ptx_operand *operand) {
    uint32_t mask = 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned digit = operand->selector_mask >> 4 * k & 0xf;
        mask |= digit < 4 ? 1u << digit : 0;
    }
    return operand->selector_mask == 0xffff ? 0xf : mask;
}

static uint32_t packed_imm(const struct ptx_instruction *insn, unsigned n) {
    const struct ptx_operand *operand = insn->operand;
    bool is_vset = insn->opcode == PTX_OP_VSET2 || insn->opcode == PTX_OP_VSET4;
    uint32_t a = packed_selectors(&operand[1], 0), b = packed_selectors(&operand[2], n);
    uint32_t sign_bits = signs(insn, is_vset, EXEC_PACKED_A_SIGNED, EXEC_PACKED_B_SIGNED,
                               is_vset ? 0 : EXEC_PACKED_D_SIGNED); /* vset uses that bit for its test */
    uint32_t mask = packed_mask(&operand[0]) << EXEC_PACKED_MASK_SHIFT;
    if (!is_vset)
        return a << EXEC_PACKED_A_SHIFT | b << EXEC_PACKED_B_SHIFT | mask | sign_bits |
               if_has(insn, PTX_MOD_SAT, EXEC_PACKED_SATURATES);
    static const uint8_t test_of[] = {
        [EXEC_EQUAL] = EXEC_VIDEO_EQUAL,  [EXEC_LESS | EXEC_GREATER] = EXEC_VIDEO_NOT_EQUAL,
        [EXEC_LESS] = EXEC_VIDEO_LESS,    [EXEC_LESS | EXEC_EQUAL] = EXEC_VIDEO_LESS_OR_EQUAL,
        [EXEC_GREATER] = EXEC_VIDEO_LESS, [EXEC_GREATER | EXEC_EQUAL] = EXEC_VIDEO_LESS_OR_EQUAL};
    uint32_t relation = relation_of(insn), test = (uint32_t)test_of[relation] << EXEC_PACKED_TEST_SHIFT;
    if (relation & EXEC_GREATER && relation != (EXEC_LESS | EXEC_GREATER)) { /* a > b is b < a */
        uint32_t swapped = (sign_bits & EXEC_PACKED_A_SIGNED ? EXEC_PACKED_B_SIGNED : 0) |
                           (sign_bits & EXEC_PACKED_B_SIGNED ? EXEC_PACKED_A_SIGNED : 0);
        return b << EXEC_PACKED_A_SHIFT | a << EXEC_PACKED_B_SHIFT | mask | swapped | test;
    }
    return a << EXEC_PACKED_A_SHIFT | b << EXEC_PACKED_B_SHIFT | mask | sign_bits | test;
}

uint32_t exec_video_imm(const struct ptx_instruction *insn) {
    bool is_vset = insn->opcode == PTX_OP_VSET || insn->opcode == PTX_OP_VSET2 || insn->opcode == PTX_OP_VSET4;
    if (insn->n_operands < 3 || insn->n_types < (is_vset ? 2 : 3))
        return 0;
    switch (insn->opcode) {
    case PTX_OP_VADD2:
    case PTX_OP_VSUB2:
    case PTX_OP_VAVRG2:
    case PTX_OP_VABSDIFF2:
    case PTX_OP_VMIN2:
    case PTX_OP_VMAX2:
    case PTX_OP_VSET2:
        return packed_imm(insn, 2);
    case PTX_OP_VADD4:
    case PTX_OP_VSUB4:
    case PTX_OP_VAVRG4:
    case PTX_OP_VABSDIFF4:
    case PTX_OP_VMIN4:
    case PTX_OP_VMAX4:
    case PTX_OP_VSET4:
        return packed_imm(insn, 4);
    default:
        return scalar_imm(insn);
    }
}
