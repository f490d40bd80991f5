/* The number of registers of each fragment of a matrix instruction, from the tables of the PTX ISA manual. */
#include "ptx/matrix.h"

static const struct {
    const char *text;
    unsigned bits;
} elements[PTX_N_ELEMENTS] = {
    [PTX_NO_ELEMENT] = {"none", 0},
#define PTX_ELEMENT(id, text, bits) [PTX_ELEMENT_##id] = {text, bits},
#include "ptx/elements.def"
#undef PTX_ELEMENT
};

const char *ptx_element_name(enum ptx_element element) { return elements[element].text; }
unsigned ptx_element_bits(enum ptx_element element) { return elements[element].bits; }

/* wmma of f16 names only the types of D and C, wgmma those of D, A and B. */
static enum ptx_element element_of(const struct ptx_matrix *matrix, enum ptx_matrix_role role) {
    if (matrix->n_elements == 1)
        return matrix->element[0];
    if (matrix->n_elements == 2)
        return role == PTX_MATRIX_D ? matrix->element[0] : role == PTX_MATRIX_C ? matrix->element[1] : PTX_ELEMENT_F16;
    if (matrix->n_elements == 3 && role == PTX_MATRIX_C)
        return matrix->element[0];
    return matrix->element[role];
}

struct ptx_fragment ptx_matrix_fragment(const struct ptx_instruction *instruction, enum ptx_matrix_role role) {
    const struct ptx_matrix *matrix = instruction->matrix;
    struct ptx_fragment fragment = {.element = element_of(matrix, role), .n_matrices = 1};
    unsigned bits = ptx_element_bits(fragment.element);
    fragment.register_bits = bits == 64 ? 64 : 32;
    if (matrix->k == 0) { /* ldmatrix, stmatrix, movmatrix: one register for each matrix */
        fragment.rows = fragment.columns = 8;
        fragment.n_registers = fragment.n_matrices = matrix->count;
        return fragment;
    }
    bool is_wide = role == PTX_MATRIX_C || role == PTX_MATRIX_D;
    unsigned m = instruction->opcode == PTX_OP_WGMMA ? matrix->m / 4u : matrix->m; /* of one warp */
    fragment.rows = role == PTX_MATRIX_B ? matrix->k : m;
    fragment.columns = role == PTX_MATRIX_A ? (matrix->is_sparse ? matrix->k / 2u : matrix->k) : matrix->n;
    bool is_wmma = instruction->opcode == PTX_OP_WMMA;
    bool is_quad = !is_wmma && matrix->m == 8 && matrix->k == 4 && element_of(matrix, PTX_MATRIX_A) == PTX_ELEMENT_F16;
    if (is_quad)
        fragment.n_matrices = 4;
    fragment.n_registers =
        fragment.n_matrices * fragment.rows * fragment.columns * bits / (32 * fragment.register_bits);
    if (is_wmma && !is_wide && fragment.element == PTX_ELEMENT_F16)
        fragment.n_registers = 8;
    return fragment;
}

struct ptx_wgmma_operands ptx_wgmma_operands(const struct ptx_instruction *instruction) {
    const struct ptx_matrix *matrix = instruction->matrix;
    bool is_float = matrix->element[0] != PTX_ELEMENT_S32, is_half = ptx_element_bits(matrix->element[1]) == 16;
    bool a_is_shared = instruction->n_operands > 1 && instruction->operand[1].kind != PTX_OPERAND_VECTOR;
    struct ptx_wgmma_operands at = {.n = 3};
    if (matrix->is_sparse) {
        at.metadata = at.n++;
        at.selector = at.n++;
    }
    at.adds = at.n++;
    if (is_float) {
        at.negates_a = at.n++;
        at.negates_b = at.n++;
    }
    if (is_half && a_is_shared)
        at.transposes_a = at.n++;
    if (is_half)
        at.transposes_b = at.n++;
    return at;
}

enum ptx_type ptx_fragment_type(const struct ptx_fragment *fragment) {
    switch (fragment->element) {
    case PTX_ELEMENT_F64:
        return PTX_F64;
    case PTX_ELEMENT_F32:
        return PTX_F32;
    case PTX_ELEMENT_S32:
        return PTX_S32;
    default:
        return PTX_B32;
    }
}
