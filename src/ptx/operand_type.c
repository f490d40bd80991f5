/* The type of each operand of an instruction, where the text leaves it implicit. Shift amounts are .u32 whatever the
 * type of the value, and the sum of a .wide product is twice as wide. From the operand descriptions of the PTX ISA
 * manual. */
#include "ptx/matrix.h"

static enum ptx_type double_width(enum ptx_type type) {
    switch (type) {
    case PTX_U16:
        return PTX_U32;
    case PTX_S16:
        return PTX_S32;
    case PTX_U32:
        return PTX_U64;
    case PTX_S32:
        return PTX_S64;
    default:
        return type;
    }
}

static enum ptx_type multiply_type(const struct ptx_instruction *insn, unsigned k) {
    enum ptx_type type = insn->type[0];
    bool is_sum = k == 0 || k == 3;
    if (insn->opcode == PTX_OP_FMA && insn->n_types > 1)
        return is_sum ? type : insn->type[1];
    return is_sum && ptx_has(insn, PTX_MOD_WIDE) ? double_width(type) : type;
}

static enum ptx_type shift_type(const struct ptx_instruction *insn, unsigned k) {
    switch (insn->opcode) {
    case PTX_OP_SHF:
    case PTX_OP_PRMT:
    case PTX_OP_FNS:
        return PTX_B32;
    default: /* shl shr bfe: amounts after the value; bfi: after the two values */
        return k > (insn->opcode == PTX_OP_BFI ? 2u : 1u) ? PTX_U32 : insn->type[0];
    }
}

static enum ptx_type compare_type(const struct ptx_instruction *insn, unsigned k) {
    switch (insn->opcode) {
    case PTX_OP_SETP:
        return k == 0 || k == 3 ? PTX_PRED : insn->type[0];
    case PTX_OP_SET:
        return k == 0 ? insn->type[0] : k == 3 ? PTX_PRED : insn->type[insn->n_types - 1];
    case PTX_OP_SELP:
        return k == 3 ? PTX_PRED : insn->type[0];
    case PTX_OP_SLCT:
        return k == 3 ? insn->type[insn->n_types - 1] : insn->type[0];
    default: /* testp */
        return k == 0 ? PTX_PRED : insn->type[0];
    }
}

static enum ptx_type bits_type(const struct ptx_instruction *insn, unsigned k) {
    switch (insn->opcode) {
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_SHF:
    case PTX_OP_BFE:
    case PTX_OP_BFI:
    case PTX_OP_PRMT:
    case PTX_OP_FNS:
        return shift_type(insn, k);
    case PTX_OP_POPC:
    case PTX_OP_CLZ:
    case PTX_OP_BFIND:
        return k == 0 ? PTX_U32 : insn->type[0];
    case PTX_OP_SZEXT:
        return k == 2 ? PTX_U32 : insn->type[0];
    case PTX_OP_LOP3: /* d, a, b, c, table [, q] */
        return k == 5 ? PTX_PRED : PTX_B32;
    default:
        return insn->type[0];
    }
}

static enum ptx_type integer_type(const struct ptx_instruction *insn, unsigned k) {
    switch (insn->opcode) {
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
        return multiply_type(insn, k);
    case PTX_OP_DP4A:
    case PTX_OP_DP2A: /* .atype.btype: d and c are unsigned only when both are */
        if (k == 1 || k == 2)
            return insn->type[k - 1];
        return insn->type[0] == PTX_U32 && insn->type[1] == PTX_U32 ? PTX_U32 : PTX_S32;
    default:
        return insn->type[0];
    }
}

static enum ptx_type warp_type(const struct ptx_instruction *insn, unsigned k) {
    switch (insn->opcode) {
    case PTX_OP_VOTE:
        return k == 0 ? (ptx_has(insn, PTX_MOD_BALLOT) ? PTX_B32 : PTX_PRED) : k == 1 ? PTX_PRED : PTX_B32;
    case PTX_OP_MATCH:
        return k == 1 ? insn->type[0] : PTX_B32;
    case PTX_OP_REDUX:
        return k == 2 ? PTX_B32 : insn->type[0];
    default: /* shfl activemask */
        return PTX_B32;
    }
}

/* cond_acc writes a count, tree_traverse the sum of base and shifted count; the predicate is the third operand of
 * both. */
static enum ptx_type extension_type(const struct ptx_instruction *insn, unsigned k) {
    switch (insn->opcode) {
    case PTX_OP_COND_ACC: /* d, [base], p, value [, members] */
        return k == 0 || k == 4 ? PTX_U32 : k == 2 ? PTX_PRED : insn->type[0];
    case PTX_OP_TREE_TRAVERSE: /* d, base, p, node bytes [, members] */
        return k == 2 ? PTX_PRED : k >= 3 ? PTX_U32 : insn->type[0];
    default:
        return insn->type[0];
    }
}

static enum ptx_type mbarrier_type(const struct ptx_instruction *insn, unsigned k) {
    if (ptx_has(insn, PTX_MOD_TEST_WAIT) || ptx_has(insn, PTX_MOD_TRY_WAIT)) /* p, [address], state or parity, time */
        return k == 0 ? PTX_PRED : k == 2 && !ptx_has(insn, PTX_MOD_PARITY) ? PTX_B64 : PTX_U32;
    if (ptx_has(insn, PTX_MOD_PENDING_COUNT))
        return k == 0 ? PTX_U32 : PTX_B64;
    return k == 0 ? PTX_B64 : PTX_U32; /* state, [address], count */
}

static enum ptx_type async_type(const struct ptx_instruction *insn, unsigned k) {
    switch (insn->opcode) {
    case PTX_OP_TENSORMAP:
        return insn->type[0];
    case PTX_OP_MBARRIER:
        return mbarrier_type(insn, k);
    case PTX_OP_CREATEPOLICY: /* policy, fraction; policy, [address], size, size; policy, property */
        return k == 0 || ptx_has(insn, PTX_MOD_CVT) ? PTX_B64 : ptx_has(insn, PTX_MOD_RANGE) ? PTX_U32 : PTX_F32;
    case PTX_OP_GETCTARANK: /* rank, address */
        return k == 0 ? PTX_U32 : insn->type[0];
    default: /* mapa: address, address, rank */
        return k == 2 ? PTX_U32 : insn->type[0];
    }
}

static enum ptx_type texture_type(const struct ptx_instruction *insn, unsigned k) {
    bool is_store = insn->opcode == PTX_OP_SUST || insn->opcode == PTX_OP_SURED;
    bool is_address = k == (is_store ? 0u : 1u);
    if (is_address)
        return insn->opcode == PTX_OP_TEX || insn->opcode == PTX_OP_TLD4 ? insn->type[insn->n_types - 1] : PTX_S32;
    bool is_level = (insn->opcode == PTX_OP_TEX || insn->opcode == PTX_OP_TLD4) && k > 1; /* derivatives, offsets */
    return insn->type[is_level ? insn->n_types - 1 : 0];
}

/* D, A, B, C, metadata. An access has a fragment, an address and a stride, which are 32 bits wide. */
static enum ptx_type matrix_type(const struct ptx_instruction *insn, unsigned k) {
    const struct ptx_matrix *matrix = insn->matrix;
    bool is_multiplication = matrix->action == PTX_MATRIX_MULTIPLY;
    bool is_fragment = is_multiplication ? k < PTX_N_MATRIX_ROLES : k == (matrix->action == PTX_MATRIX_STORE ? 1u : 0u);
    if (!is_fragment)
        return PTX_B32;
    struct ptx_fragment fragment =
        ptx_matrix_fragment(insn, is_multiplication ? (enum ptx_matrix_role)k : matrix->role);
    return ptx_fragment_type(&fragment);
}

enum ptx_type ptx_operand_type(const struct ptx_instruction *insn, unsigned k) {
    if (insn->matrix)
        return matrix_type(insn, k);
    if (insn->n_types == 0)
        return insn->opcode == PTX_OP_ISSPACEP && k == 0 ? PTX_PRED : PTX_B32; /* elect, cp: .b32 */
    switch (ptx_opcode_family(insn->opcode)) {
    case PTX_FAMILY_INTEGER:
    case PTX_FAMILY_FLOAT:
        return integer_type(insn, k);
    case PTX_FAMILY_BITS:
        return bits_type(insn, k);
    case PTX_FAMILY_COMPARE:
        return compare_type(insn, k);
    case PTX_FAMILY_CONVERT: /* cvt.d.a; cvt.rn.f16x2.f32 d, a, b; cvt.pack.sat.u8.s32.b32 d, a, b, c */
        if (ptx_has(insn, PTX_MOD_PACK))
            return k == 1 || k == 2 ? PTX_S32 : PTX_B32;
        return insn->type[k == 0 ? 0 : insn->n_types - 1];
    case PTX_FAMILY_VIDEO: /* vop.dtype.atype.btype d, a, b, c */
        return k == 0 || k == 3 || insn->n_types < 3 ? insn->type[0] : insn->type[k];
    case PTX_FAMILY_WARP:
        return warp_type(insn, k);
    case PTX_FAMILY_ASYNC:
        return async_type(insn, k);
    case PTX_FAMILY_TEXTURE:
        return texture_type(insn, k);
    case PTX_FAMILY_EXTENSION:
        return extension_type(insn, k);
    case PTX_FAMILY_CONTROL: /* bar.red d, number[, count], p */
        if (!ptx_has(insn, PTX_MOD_RED) || k == 0)
            return insn->type[0];
        return k + 1u == insn->n_operands ? PTX_PRED : PTX_U32;
    default:
        return insn->type[0];
    }
}
