/* Checks wgmma: the shapes and types that exist, and its operands. From the PTX ISA manual ("Asynchronous Warpgroup
 * Level Matrix Instructions"). */
#include "ptx/check/check.h"

#include <stdio.h>

#include "ptx/matrix.h"

enum { LINE_BITS = 256, MOST_WAITED = 7 };

static bool fail(struct ptx_check *check, const char *what) {
    return ptx_fail(check->parser, check->instruction->at, "%s %s",
                    ptx_instruction_name(check->instruction, check->name, sizeof check->name), what);
}

/* The types of sums that exist for two types of factors. */
static bool has_types(const struct ptx_matrix *matrix) {
    enum ptx_element d = matrix->element[0], a = matrix->element[1], b = matrix->element[2];
    switch (a) {
    case PTX_ELEMENT_F16:
        return b == a && (d == PTX_ELEMENT_F16 || d == PTX_ELEMENT_F32);
    case PTX_ELEMENT_BF16:
    case PTX_ELEMENT_TF32:
        return b == a && d == PTX_ELEMENT_F32;
    case PTX_ELEMENT_E4M3:
    case PTX_ELEMENT_E5M2:
        return (b == PTX_ELEMENT_E4M3 || b == PTX_ELEMENT_E5M2) && (d == PTX_ELEMENT_F16 || d == PTX_ELEMENT_F32);
    case PTX_ELEMENT_S8:
    case PTX_ELEMENT_U8:
        return (b == PTX_ELEMENT_S8 || b == PTX_ELEMENT_U8) && d == PTX_ELEMENT_S32;
    case PTX_ELEMENT_B1:
        return b == a && d == PTX_ELEMENT_S32 && !matrix->is_sparse;
    default:
        return false;
    }
}

/* A line along k has 32 bytes, or of a sparse multiplication 64. Integers have fewer shapes. */
static bool has_shape(const struct ptx_matrix *matrix) {
    unsigned line_bits = matrix->is_sparse ? 2 * LINE_BITS : LINE_BITS;
    bool is_integer = matrix->element[0] == PTX_ELEMENT_S32;
    return matrix->m == 64 && matrix->n >= 8 && matrix->n <= 256 && matrix->n % 8 == 0 &&
           matrix->k * ptx_element_bits(matrix->element[1]) == line_bits &&
           !(is_integer && matrix->n > 32 && matrix->n % 16);
}

static bool check_suffixes(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    const struct ptx_matrix *matrix = instruction->matrix;
    bool is_bits = matrix->element[1] == PTX_ELEMENT_B1;
    if (!matrix->is_async)
        return fail(check, "does not exist: wgmma needs .mma_async, .fence, .commit_group or .wait_group");
    if (matrix->n_elements != 3)
        return fail(check, "needs the types of D, A and B");
    if (!has_types(matrix) || !has_shape(matrix) || matrix->n_layouts)
        return fail(check, "does not exist: no multiplication has this shape and these types");
    if (is_bits != (ptx_has(instruction, PTX_MOD_AND) && ptx_has(instruction, PTX_MOD_POPC)))
        return fail(check, is_bits ? "needs .and.popc" : "does not exist: .popc is for .b1");
    if (ptx_has(instruction, PTX_MOD_SATFINITE) && (matrix->element[0] != PTX_ELEMENT_S32 || is_bits))
        return fail(check, "does not exist: .satfinite is for integers of 8 bits");
    return true;
}

/* Checks an operand that must be one of two constants. Index 0: the instruction has no such operand. */
static bool check_constant(struct ptx_check *check, unsigned k, int64_t low, int64_t high) {
    const struct ptx_operand *operand = &check->instruction->operand[k];
    char what[64];
    if (k == 0 ||
        (operand->kind == PTX_OPERAND_INTEGER && ((int64_t)operand->value == low || (int64_t)operand->value == high)))
        return true;
    snprintf(what, sizeof what, "needs %d or %d as operand %u", (int)low, (int)high, k + 1);
    return fail(check, what);
}

static bool check_descriptor(struct ptx_check *check, unsigned k) {
    return ptx_check_registers(check, &check->instruction->operand[k], PTX_B64, 1, false);
}

static bool check_a(struct ptx_check *check) {
    struct ptx_fragment fragment = ptx_matrix_fragment(check->instruction, PTX_MATRIX_A);
    if (check->instruction->operand[1].kind != PTX_OPERAND_VECTOR)
        return check_descriptor(check, 1);
    return ptx_check_registers(check, &check->instruction->operand[1], PTX_B32, fragment.n_registers, false);
}

static bool check_sparse(struct ptx_check *check, const struct ptx_wgmma_operands *at) {
    const struct ptx_instruction *instruction = check->instruction;
    if (!instruction->matrix->is_sparse)
        return true;
    const struct ptx_operand *selector = &instruction->operand[at->selector];
    if (selector->kind != PTX_OPERAND_INTEGER || selector->value >= ptx_matrix_selectors(instruction->matrix))
        return fail(check, "needs a selector that is a constant and small enough for its shape");
    return ptx_check_registers(check, &instruction->operand[at->metadata], PTX_B32, 1, false);
}

/* Whether the product is added to D: a predicate, 0 or 1. */
static bool check_adds(struct ptx_check *check, unsigned k) {
    return check->instruction->operand[k].kind == PTX_OPERAND_INTEGER
               ? check_constant(check, k, 0, 1)
               : ptx_check_operand(check, &check->instruction->operand[k], 'p', k);
}

static bool check_product(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    if (!check_suffixes(check))
        return false;
    struct ptx_wgmma_operands at = ptx_wgmma_operands(instruction);
    struct ptx_fragment d = ptx_matrix_fragment(instruction, PTX_MATRIX_D);
    char what[64];
    snprintf(what, sizeof what, "needs %u operands, got %u", at.n, instruction->n_operands);
    if (instruction->n_operands != at.n)
        return fail(check, what);
    return ptx_check_registers(check, &instruction->operand[0], ptx_fragment_type(&d), d.n_registers, true) &&
           check_a(check) && check_descriptor(check, 2) && check_sparse(check, &at) && check_adds(check, at.adds) &&
           check_constant(check, at.negates_a, -1, 1) && check_constant(check, at.negates_b, -1, 1) &&
           check_constant(check, at.transposes_a, 0, 1) && check_constant(check, at.transposes_b, 0, 1);
}

bool ptx_check_wgmma(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    enum ptx_matrix_action action = instruction->matrix->action;
    if (action == PTX_MATRIX_MULTIPLY)
        return check_product(check);
    if (action < PTX_MATRIX_FENCE || instruction->matrix->is_async)
        return fail(check, "does not exist: wgmma needs .mma_async, .fence, .commit_group or .wait_group");
    if (action != PTX_MATRIX_WAIT)
        return instruction->n_operands == 0 || fail(check, "has no operands");
    bool is_right = instruction->n_operands == 1 && instruction->operand[0].kind == PTX_OPERAND_INTEGER &&
                    instruction->operand[0].value <= MOST_WAITED;
    return is_right || fail(check, "needs a number of groups from 0 to 7");
}
