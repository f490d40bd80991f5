/* Encodes the modifiers of setp and set in the immediate (exec/lanes/imm.h). From the tables of comparison operators in
 * the PTX ISA manual, "Comparison and Selection Instructions". */
#include "exec/lanes/imm.h"

enum { ORDERED = EXEC_LESS | EXEC_EQUAL | EXEC_GREATER };
enum operand_class {
    BITS = 1,
    SIGNED = 2,
    UNSIGNED = 4,
    FLOAT = 8,
    INTEGERS = BITS | SIGNED | UNSIGNED,
    ORDERABLE = SIGNED | UNSIGNED | FLOAT
};

static const struct {
    uint8_t modifier, relation, classes;
} comparisons[] = {
    {PTX_MOD_EQ, EXEC_EQUAL, INTEGERS | FLOAT},
    {PTX_MOD_NE, EXEC_LESS | EXEC_GREATER, INTEGERS | FLOAT},
    {PTX_MOD_LT, EXEC_LESS, ORDERABLE},
    {PTX_MOD_LE, EXEC_LESS | EXEC_EQUAL, ORDERABLE},
    {PTX_MOD_GT, EXEC_GREATER, ORDERABLE},
    {PTX_MOD_GE, EXEC_GREATER | EXEC_EQUAL, ORDERABLE},
    {PTX_MOD_LO, EXEC_LESS, UNSIGNED},
    {PTX_MOD_LS, EXEC_LESS | EXEC_EQUAL, UNSIGNED},
    {PTX_MOD_HI, EXEC_GREATER, UNSIGNED},
    {PTX_MOD_HS, EXEC_GREATER | EXEC_EQUAL, UNSIGNED},
    {PTX_MOD_EQU, EXEC_EQUAL | EXEC_UNORDERED, FLOAT},
    {PTX_MOD_NEU, EXEC_LESS | EXEC_GREATER | EXEC_UNORDERED, FLOAT},
    {PTX_MOD_LTU, EXEC_LESS | EXEC_UNORDERED, FLOAT},
    {PTX_MOD_LEU, EXEC_LESS | EXEC_EQUAL | EXEC_UNORDERED, FLOAT},
    {PTX_MOD_GTU, EXEC_GREATER | EXEC_UNORDERED, FLOAT},
    {PTX_MOD_GEU, EXEC_GREATER | EXEC_EQUAL | EXEC_UNORDERED, FLOAT},
    {PTX_MOD_NUM, ORDERED, FLOAT},
    {PTX_MOD_UNORDERED, EXEC_UNORDERED, FLOAT},
};

static unsigned class_of(enum ptx_type type) {
    switch (ptx_type_kind(type)) {
    case PTX_KIND_B:
        return BITS;
    case PTX_KIND_S:
        return SIGNED;
    case PTX_KIND_U:
        return UNSIGNED;
    case PTX_KIND_F:
        return FLOAT;
    default:
        return 0;
    }
}

static enum exec_boolean boolean_of(const struct ptx_instruction *insn) {
    return ptx_has(insn, PTX_MOD_AND)   ? EXEC_BOOLEAN_AND
           : ptx_has(insn, PTX_MOD_OR)  ? EXEC_BOOLEAN_OR
           : ptx_has(insn, PTX_MOD_XOR) ? EXEC_BOOLEAN_XOR
                                        : EXEC_BOOLEAN_NONE;
}

static enum exec_truth truth_of(enum ptx_type type) {
    switch (type) {
    case PTX_F32:
        return EXEC_TRUTH_F32;
    case PTX_F16:
    case PTX_F16X2:
        return EXEC_TRUTH_F16;
    case PTX_BF16:
    case PTX_BF16X2:
        return EXEC_TRUTH_BF16;
    case PTX_U16:
    case PTX_S16:
        return EXEC_TRUTH_ONES16;
    default:
        return EXEC_TRUTH_ONES32;
    }
}

uint32_t exec_compare_imm(const struct ptx_instruction *insn) {
    unsigned class = class_of(insn->type[insn->n_types - 1]), relation = 0;
    for (unsigned k = 0; k < sizeof(comparisons) / sizeof(comparisons[0]); k++)
        if (ptx_has(insn, (enum ptx_modifier)comparisons[k].modifier) && comparisons[k].classes & class)
            relation = comparisons[k].relation;
    enum exec_boolean boolean = boolean_of(insn);
    bool is_negated = boolean != EXEC_BOOLEAN_NONE && insn->n_operands > 3 && insn->operand[3].is_negated;
    return (is_negated ? EXEC_COMPARE_NEGATED : 0) | (uint32_t)boolean << EXEC_COMPARE_BOOLEAN_SHIFT |
           (exec_has_q(insn) ? EXEC_COMPARE_HAS_Q : 0) | relation << EXEC_COMPARE_RELATION_SHIFT |
           (uint32_t)truth_of(insn->type[0]) << EXEC_COMPARE_TRUTH_SHIFT;
}
