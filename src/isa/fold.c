/* Folds instructions into others: products into sums, additions into three-input additions, logic into three-input
 * logic, signs into operands, predicates into comparisons, and what addresses.c lists. */
#include "isa/internal.h"

#include <stdlib.h>

#include "base/memory.h"

/* Returns the instruction that defines the operand, if it is in the same block and nothing else reads the result. */
static uint32_t only_for(const struct isa_code *code, const struct ptx_operand *operand, uint32_t i) {
    uint32_t definition = isa_definition(code, operand);
    if (definition == ISA_NONE || !isa_is_in_block_of(code, definition, i) ||
        isa_n_uses(code, operand->register_id) != 1)
        return ISA_NONE;
    const struct ptx_instruction *defining = isa_source(code, definition), *reading = isa_source(code, i);
    bool is_always_there = defining->guard == PTX_NO_INDEX ||
                           (defining->guard == reading->guard && defining->guard_negated == reading->guard_negated);
    return is_always_there ? definition : ISA_NONE;
}

/* ---- Sums and products ------------------------------------------------------------------------------------------- */

static bool is_plain_float_sum(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r) {
    (void)code;
    (void)r;
    return isa_is_sum(insn) && isa_is_float(insn) && !ptx_has(insn, PTX_MOD_RN);
}

/* Products without a rounding modifier may be fused with the sums that use them. */
static void fuse_float_products(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t r = isa_result(insn);
        if (insn->opcode == PTX_OP_MUL && isa_is_float(insn) && !ptx_has(insn, PTX_MOD_RN) && r != ISA_NONE &&
            code->n_definitions[r] == 1 && isa_all_uses(code, r, is_plain_float_sum))
            code->insn[i].parts = 0;
    }
}

static bool is_word_sum(const struct isa_code *code, const struct ptx_instruction *insn) {
    return isa_is_sum(insn) && !isa_is_float(insn) && !isa_is_wide(code, insn) && ptx_type_bits(isa_type(insn)) >= 32 &&
           !ptx_has(insn, PTX_MOD_CC);
}

static bool is_wide_sum(const struct isa_code *code, const struct ptx_instruction *insn) {
    return isa_is_sum(insn) && !isa_is_float(insn) && isa_is_wide(code, insn) && !ptx_has(insn, PTX_MOD_CC);
}

/* Sums of 64 bits take in another sum. A product of 64 bits ends in a sum, which takes in a
 * register that is added. */
static void fuse_wide_sums(struct isa_code *code) {
    bool *is_full = base_allocate(code->n + 1, sizeof(bool));
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (!code->insn[i].parts || !is_wide_sum(code, insn) || isa_is_full_sum(code, insn))
            continue;
        for (unsigned k = 1; k <= 2 && !is_full[i]; k++) {
            uint32_t d = only_for(code, &insn->operand[k], i);
            if (d == ISA_NONE || !code->insn[d].parts || is_full[d])
                continue;
            const struct ptx_instruction *inner = isa_source(code, d);
            if (inner->opcode == PTX_OP_MUL && !ptx_has(inner, PTX_MOD_HI) && !ptx_has(inner, PTX_MOD_WIDE) &&
                isa_is_wide(code, inner) && !isa_is_float(inner) && !isa_is_constant(&insn->operand[2])) {
                code->insn[i].parts = code->insn[d].parts;
                code->insn[d].parts = 0;
                is_full[i] = true;
            } else if (is_wide_sum(code, inner) && !isa_is_full_sum(code, inner)) {
                code->insn[d].parts = 0;
                is_full[i] = true;
            }
        }
    }
    free(is_full);
}

/* Returns whether the instruction adds a choice of constants: one instruction adds the first constant, and another one,
 * under the predicate, the second, or nothing. */
static bool adds_choice(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    if (insn->opcode != PTX_OP_ADD || !is_word_sum(code, insn))
        return false;
    for (unsigned k = 1; k <= 2; k++) {
        uint32_t d = only_for(code, &insn->operand[k], i);
        const struct ptx_instruction *choice = d != ISA_NONE ? isa_source(code, d) : NULL;
        if (choice && choice->opcode == PTX_OP_SELP && ptx_type_bits(isa_type(choice)) == 32 &&
            isa_is_constant(&choice->operand[1]) && isa_is_constant(&choice->operand[2]))
            return true;
    }
    return false;
}

/* If the sum overwrites its other operand, both instructions need it, and a move follows. */
static void add_moves_of_choices(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (code->insn[i].parts && adds_choice(code, i) && insn->guard == PTX_NO_INDEX)
            for (unsigned k = 1; k <= 2; k++)
                if (insn->operand[k].kind == PTX_OPERAND_REGISTER && insn->operand[k].register_id == isa_result(insn))
                    code->insn[i].parts = (uint16_t)(code->insn[i].parts + ISA_PARTS);
    }
}

/* A sum takes in a product, a shift by a constant of a word or of two words, or another sum: one of them. */
static void fuse_sums(struct isa_code *code) {
    bool *is_full = base_allocate(code->n + 1, sizeof(bool));
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        bool is_bound = insn->opcode == PTX_OP_MIN || insn->opcode == PTX_OP_MAX;
        if (!code->insn[i].parts || isa_is_float(insn) || !(is_word_sum(code, insn) || is_bound) ||
            adds_choice(code, i))
            continue;
        for (unsigned k = 1; k <= 2 && !is_full[i]; k++) {
            uint32_t d = only_for(code, &insn->operand[k], i);
            if (d == ISA_NONE || !code->insn[d].parts || is_full[d])
                continue;
            const struct ptx_instruction *inner = isa_source(code, d);
            bool is_product = inner->opcode == PTX_OP_MUL && !ptx_has(inner, PTX_MOD_HI) && !isa_is_float(inner) &&
                              !isa_is_wide(code, inner);
            if (is_product && insn->opcode == PTX_OP_SUB && k == 2) /* IMAD subtracts no product of two registers */
                is_product = isa_is_known(code, &inner->operand[1]) || isa_is_known(code, &inner->operand[2]);
            bool is_down = inner->opcode == PTX_OP_SHR && (insn->opcode == PTX_OP_ADD) &&
                           ptx_type_bits(isa_type(inner)) == 32; /* LEA.HI adds, but does not subtract it */
            bool is_shift = (inner->opcode == PTX_OP_SHL || is_down) && isa_is_known(code, &inner->operand[2]) &&
                            !isa_is_wide(code, inner);
            bool is_funnel = inner->opcode == PTX_OP_SHF && insn->opcode == PTX_OP_ADD &&
                             isa_is_known(code, &inner->operand[3]); /* LEA.HI takes both words */
            if ((is_word_sum(code, inner) && !adds_choice(code, d)) ||
                (!is_bound && (is_product || is_shift || is_funnel))) {
                code->insn[d].parts = 0;
                code->insn[i].takes = is_product && !is_bound ? ISA_TAKES_PRODUCT : ISA_TAKES_SUM;
                is_full[i] = true;
            }
        }
    }
    free(is_full);
}

/* The least or most of three words is one instruction, and so is a bound of zero beside another one. */
static void fuse_bounds(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        bool is_bound = insn->opcode == PTX_OP_MIN || insn->opcode == PTX_OP_MAX;
        if (!is_bound || isa_is_float(insn) || ptx_type_bits(isa_type(insn)) != 32 || !code->insn[i].parts ||
            code->insn[i].takes)
            continue;
        for (unsigned k = 1; k <= 2; k++) {
            uint32_t d = only_for(code, &insn->operand[k], i);
            if (d == ISA_NONE || !code->insn[d].parts || code->insn[d].takes ||
                isa_type(isa_source(code, d)) != isa_type(insn))
                continue;
            const struct ptx_operand *other = &insn->operand[3 - k];
            enum ptx_opcode inner = isa_source(code, d)->opcode;
            bool is_zero = other->kind == PTX_OPERAND_INTEGER && !other->value && insn->opcode == PTX_OP_MAX &&
                           inner == PTX_OP_MIN && ptx_type_kind(isa_type(insn)) == PTX_KIND_S;
            bool is_third = inner == insn->opcode && other->kind == PTX_OPERAND_REGISTER;
            if (is_zero || is_third) {
                code->insn[d].parts = 0;
                code->insn[i].takes = ISA_TAKES_SUM;
                break;
            }
        }
    }
}

static bool is_shift_by(const struct ptx_instruction *insn, enum ptx_opcode opcode) {
    return insn->opcode == opcode && insn->operand[1].kind == PTX_OPERAND_REGISTER &&
           insn->operand[2].kind == PTX_OPERAND_INTEGER && ptx_type_bits(isa_type(insn)) == 32;
}

/* Two shifts of a word in opposite directions, by 32 bits together, whose results are joined, turn it round. */
static void fold_rotations(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        bool joins = insn->opcode == PTX_OP_OR || insn->opcode == PTX_OP_XOR || insn->opcode == PTX_OP_ADD;
        if (!joins || ptx_type_bits(isa_type(insn)) != 32 || !code->insn[i].parts)
            continue;
        uint32_t a = only_for(code, &insn->operand[1], i), b = only_for(code, &insn->operand[2], i);
        if (a == ISA_NONE || b == ISA_NONE)
            continue;
        const struct ptx_instruction *first = isa_source(code, a), *second = isa_source(code, b);
        bool is_turned = (is_shift_by(first, PTX_OP_SHL) && is_shift_by(second, PTX_OP_SHR)) ||
                         (is_shift_by(first, PTX_OP_SHR) && is_shift_by(second, PTX_OP_SHL));
        if (!is_turned || first->operand[1].register_id != second->operand[1].register_id ||
            first->operand[2].value + second->operand[2].value != 32 || ptx_type_kind(isa_type(first)) == PTX_KIND_S ||
            ptx_type_kind(isa_type(second)) == PTX_KIND_S)
            continue;
        code->insn[a].parts = code->insn[b].parts = 0;
    }
}

/* ---- Logic ------------------------------------------------------------------------------------------------------- */

static bool is_logic(const struct isa_code *code, const struct ptx_instruction *insn) {
    switch (insn->opcode) {
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
        return ptx_type_kind(isa_type(insn)) != PTX_KIND_P && !isa_is_wide(code, insn);
    default:
        return false;
    }
}

enum { MOST_INPUTS = 3 };
struct inputs {
    const struct ptx_operand *operand[MOST_INPUTS];
    unsigned n;
};

static bool is_same_input(const struct ptx_operand *a, const struct ptx_operand *b) {
    if (a->kind != b->kind)
        return false;
    return a->kind == PTX_OPERAND_REGISTER ? a->register_id == b->register_id : a->value == b->value;
}

static bool add_input(struct inputs *inputs, const struct ptx_operand *operand) {
    unsigned n_constants = isa_is_constant(operand);
    for (unsigned k = 0; k < inputs->n; k++) {
        if (is_same_input(inputs->operand[k], operand))
            return true;
        n_constants += isa_is_constant(inputs->operand[k]);
    }
    if (inputs->n == MOST_INPUTS || n_constants > 1)
        return false;
    inputs->operand[inputs->n++] = operand;
    return true;
}

/* Joins logic as long as it has at most three inputs. */
static void fuse_logic(struct isa_code *code) {
    struct inputs *inputs = base_allocate(code->n + 1, sizeof *inputs);
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (!is_logic(code, insn))
            continue;
        for (unsigned k = 1; k < insn->n_operands; k++)
            add_input(&inputs[i], &insn->operand[k]);
        for (unsigned k = 1; k < insn->n_operands; k++) {
            uint32_t d = only_for(code, &insn->operand[k], i);
            if (d == ISA_NONE || !is_logic(code, isa_source(code, d)))
                continue;
            struct inputs joined = {.n = 0};
            bool fits = true;
            for (unsigned j = 0; j < inputs[i].n; j++)
                if (!is_same_input(inputs[i].operand[j], &insn->operand[k]))
                    fits = fits && add_input(&joined, inputs[i].operand[j]);
            for (unsigned j = 0; j < inputs[d].n; j++)
                fits = fits && add_input(&joined, inputs[d].operand[j]);
            if (fits) {
                inputs[i] = joined;
                code->insn[d].parts = 0;
            }
        }
    }
    free(inputs);
}

/* ---- Signs, predicates, constants -------------------------------------------------------------------------------- */

static bool is_arithmetic_use(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r) {
    (void)code;
    (void)r;
    switch (insn->opcode) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_FMA:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_SETP:
    case PTX_OP_SELP:
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
    case PTX_OP_RSQRT:
    case PTX_OP_EX2:
    case PTX_OP_LG2:
    case PTX_OP_SIN:
    case PTX_OP_COS:
        return true;
    default:
        return false;
    }
}

static void fold_signs(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t r = isa_result(insn);
        bool is_sign = insn->opcode == PTX_OP_NEG || (insn->opcode == PTX_OP_ABS && isa_is_float(insn));
        if (is_sign && r != ISA_NONE && code->n_definitions[r] == 1 && isa_all_uses(code, r, is_arithmetic_use))
            code->insn[i].parts = 0;
    }
}

static bool is_constant_word(const struct isa_code *code, const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_LD && insn->space == PTX_SPACE_CONST && insn->vector <= 1 &&
           ptx_type_bits(isa_type(insn)) == 32 && isa_is_uniform_address(code, &insn->operand[1]);
}

static bool is_beside(const struct ptx_operand *a, const struct ptx_operand *b) {
    return a->register_id == b->register_id && a->variable == b->variable && (a->offset ^ 4) == b->offset;
}

/* Constants that lie side by side, at an address that is the same in all lanes, are loaded two words at a time. */
static void pair_constants(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        const struct ptx_block *block = &code->analysis->block[code->analysis->block_of[i]];
        bool has_other = false;
        if (!is_constant_word(code, insn))
            continue;
        for (uint32_t k = block->first; k < block->first + block->count && !has_other; k++) {
            const struct ptx_instruction *other = isa_source(code, k);
            has_other = is_constant_word(code, other) && is_beside(&other->operand[1], &insn->operand[1]);
        }
        if (has_other)
            code->insn[i].parts /= 2;
    }
}

static bool is_comparison(const struct isa_code *code, const struct ptx_operand *operand) {
    uint32_t definition = isa_definition(code, operand);
    return definition != ISA_NONE && isa_source(code, definition)->opcode == PTX_OP_SETP &&
           isa_n_uses(code, operand->register_id) == 1;
}

/* A comparison takes a predicate as a third operand; a test of masked bits against zero is the mask's own result. */
static void fold_predicates(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        bool is_predicate = ptx_type_kind(isa_type(insn)) == PTX_KIND_P && insn->opcode != PTX_OP_MOV;
        for (unsigned k = 1; is_predicate && k < insn->n_operands; k++)
            if (is_comparison(code, &insn->operand[k]))
                code->insn[i].parts = 0;
        if (insn->opcode == PTX_OP_NOT && is_predicate)
            code->insn[i].parts = 0;
        bool is_zero_test = insn->opcode == PTX_OP_SETP && insn->n_operands > 2 && isa_is_constant(&insn->operand[2]) &&
                            !insn->operand[2].value && (ptx_has(insn, PTX_MOD_EQ) || ptx_has(insn, PTX_MOD_NE));
        if (is_zero_test) {
            uint32_t d = only_for(code, &insn->operand[1], i);
            if (d != ISA_NONE && isa_source(code, d)->opcode == PTX_OP_AND && is_logic(code, isa_source(code, d)))
                code->insn[d].parts = 0;
        }
    }
}

/* Sums and products can limit their result to 0..1. */
static void fold_limits(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t d = isa_saturates(insn) ? only_for(code, &insn->operand[1], i) : ISA_NONE;
        if (d == ISA_NONE || isa_type(isa_source(code, d)) != PTX_F32)
            continue;
        enum ptx_opcode inner = isa_source(code, d)->opcode;
        if (inner == PTX_OP_FMA || inner == PTX_OP_MUL || isa_is_sum(isa_source(code, d)))
            code->insn[i].parts = 0;
    }
}

/* ---- Choices ----------------------------------------------------------------------------------------------------- */

/* Returns whether a predicate may guard the machine instruction that computes the word. */
static bool may_be_guarded(const struct isa_code *code, uint32_t d) {
    const struct ptx_instruction *insn = isa_source(code, d);
    if (code->insn[d].parts != ISA_PARTS || ptx_type_bits(isa_type(insn)) != 32)
        return false;
    switch (insn->opcode) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_EX2:
    case PTX_OP_LG2:
        return true;
    default:
        return false;
    }
}

/* A choice between a result that nothing else reads and a register that is not needed afterwards: a predicate guards
 * the instruction with that result, which overwrites the register. */
static void fold_choices(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (insn->opcode != PTX_OP_SELP || ptx_type_bits(isa_type(insn)) != 32 || !code->insn[i].parts)
            continue;
        for (unsigned k = 1; k <= 2; k++) {
            const struct ptx_operand *other = &insn->operand[3 - k];
            uint32_t d = only_for(code, &insn->operand[k], i);
            if (d == ISA_NONE || !may_be_guarded(code, d) || other->kind != PTX_OPERAND_REGISTER ||
                isa_is_known(code, other) || isa_is_live_after(code, other->register_id, i))
                continue;
            code->insn[i].parts = 0;
            break;
        }
    }
}

static bool is_31(const struct isa_code *code, const struct ptx_operand *operand) {
    uint32_t d = isa_definition(code, operand);
    if (d != ISA_NONE && isa_is_known(code, operand))
        operand = &isa_source(code, d)->operand[1];
    return operand->kind == PTX_OPERAND_INTEGER && operand->value == 31;
}

/* clz is FLO, which numbers the highest bit, and a difference from 31; another such difference cancels it. */
static void fold_highest_bits(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t d = insn->opcode == PTX_OP_SUB ? only_for(code, &insn->operand[2], i) : ISA_NONE;
        if (d == ISA_NONE || isa_source(code, d)->opcode != PTX_OP_CLZ ||
            ptx_type_bits(isa_type(isa_source(code, d))) != 32 || !is_31(code, &insn->operand[1]))
            continue;
        code->insn[d].parts = ISA_PARTS;
        code->insn[i].parts = 0;
    }
}

/* ---- Masks of lanes ---------------------------------------------------------------------------------------------- */

static bool is_warp_wide(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_SHFL || insn->opcode == PTX_OP_VOTE || insn->opcode == PTX_OP_MATCH ||
           insn->opcode == PTX_OP_REDUX;
}

/* Returns the register with the lanes that take part, if the compiler does not know them; otherwise ISA_NONE. */
static uint32_t unknown_mask(const struct isa_code *code, const struct ptx_instruction *insn) {
    if (!is_warp_wide(insn) || insn->n_operands < 3 || !ptx_has(insn, PTX_MOD_SYNC))
        return ISA_NONE;
    const struct ptx_operand *mask = &insn->operand[insn->n_operands - 1];
    uint32_t d = isa_definition(code, mask);
    bool is_active = d != ISA_NONE && isa_source(code, d)->opcode == PTX_OP_ACTIVEMASK;
    return mask->kind != PTX_OPERAND_REGISTER || is_active || isa_is_known(code, mask) ? ISA_NONE : mask->register_id;
}

/* Lanes that the compiler does not know must meet first: WARPSYNC before a single shuffle, and BSSY and BSYNC around
 * another instruction. Before several shuffles in a basic block the code asks once whether the lanes are those that
 * are there: MATCH, REDUX, VOTEU, LOP3, BRA. The path for other lanes is not modelled. */
static void add_meetings(struct isa_code *code) {
    enum { SINGLE = 1, SEVERAL = 5, OTHER = 3 };
    for (uint32_t i = 0; i < code->n; i++) {
        uint32_t mask = unknown_mask(code, isa_source(code, i)), first = i, n = 0;
        const struct ptx_block *block = &code->analysis->block[code->analysis->block_of[i]];
        for (uint32_t k = block->first; mask != ISA_NONE && k < block->first + block->count; k++)
            if (unknown_mask(code, isa_source(code, k)) == mask) {
                first = k < first ? k : first;
                n++;
            }
        bool is_shuffle = isa_source(code, i)->opcode == PTX_OP_SHFL;
        if (n && first == i)
            code->insn[i].parts = (uint16_t)(code->insn[i].parts + ISA_PARTS * (!is_shuffle ? OTHER
                                                                                : n > 1     ? SEVERAL
                                                                                            : SINGLE));
    }
}

void isa_fold(struct isa_code *code) {
    isa_fold_addresses(code);
    pair_constants(code);
    fuse_float_products(code);
    fold_rotations(code);
    fuse_logic(code);
    fuse_sums(code);
    fuse_bounds(code);
    fuse_wide_sums(code);
    fold_signs(code);
    fold_limits(code);
    fold_predicates(code);
    fold_choices(code);
    add_moves_of_choices(code);
    fold_highest_bits(code);
    add_meetings(code);
}
