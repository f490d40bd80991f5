/* Checks matrix instructions: whether the combination of shape, elements and layouts exists (multiplications.def), and
 * the registers of the fragments. */
#include "ptx/check/check.h"

#include <stdio.h>

#include "ptx/matrix.h"

#define E(element) (UINT32_C(1) << PTX_ELEMENT_##element)

enum instruction_kind { MMA, SPARSE, WMMA };
enum layouts { ROW_COLUMN, ANY };

static const struct multiplication {
    enum instruction_kind kind;
    uint16_t m, n, k;
    uint32_t factors, sums;
    enum layouts layouts;
} multiplications[] = {
#define PTX_MULTIPLICATION(kind, m, n, k, factors, sums, layouts) {kind, m, n, k, factors, sums, layouts},
#include "ptx/check/multiplications.def"
#undef PTX_MULTIPLICATION
};

static bool fail(struct ptx_check *check, const char *what) {
    return ptx_fail(check->parser, check->instruction->at, "%s %s",
                    ptx_instruction_name(check->instruction, check->name, sizeof check->name), what);
}

static enum instruction_kind kind_of(const struct ptx_instruction *instruction) {
    return instruction->opcode == PTX_OP_WMMA ? WMMA : instruction->matrix->is_sparse ? SPARSE : MMA;
}

static bool has(uint32_t set, enum ptx_element element) { return set >> element & 1; }

/* Returns the row of the instruction's shape and elements, or NULL. */
static const struct multiplication *find(const struct ptx_instruction *instruction) {
    const struct ptx_matrix *matrix = instruction->matrix;
    enum ptx_element a = ptx_matrix_fragment(instruction, PTX_MATRIX_A).element,
                     b = ptx_matrix_fragment(instruction, PTX_MATRIX_B).element,
                     c = ptx_matrix_fragment(instruction, PTX_MATRIX_C).element,
                     d = ptx_matrix_fragment(instruction, PTX_MATRIX_D).element;
    for (unsigned i = 0; i < sizeof multiplications / sizeof *multiplications; i++) {
        const struct multiplication *row = &multiplications[i];
        if (row->kind == kind_of(instruction) && row->m == matrix->m && row->n == matrix->n && row->k == matrix->k &&
            has(row->factors, a) && has(row->factors, b) && has(row->sums, c) && has(row->sums, d))
            return row;
    }
    return NULL;
}

/* C and D of mma have one type, except that m8n8k4 can widen; factors of wmma have one type. */
static bool check_elements(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    const struct ptx_matrix *matrix = instruction->matrix;
    const enum ptx_element *element = matrix->element;
    bool is_wmma = instruction->opcode == PTX_OP_WMMA;
    if (matrix->n_elements != 4 && !(is_wmma && matrix->n_elements == 2))
        return fail(check, "needs the types of D, A, B and C");
    if (is_wmma && matrix->n_elements == 4 && element[1] != element[2])
        return fail(check, "does not exist: A and B have one type");
    bool widens = element[0] == PTX_ELEMENT_F32 && element[3] == PTX_ELEMENT_F16 && matrix->m == 8;
    if (!is_wmma && element[0] != element[3] && !widens)
        return fail(check, "does not exist: C and D have one type");
    return true;
}

static bool check_suffixes(struct ptx_check *check, const struct multiplication *row) {
    const struct ptx_instruction *instruction = check->instruction;
    const struct ptx_matrix *matrix = instruction->matrix;
    bool is_bits = has(row->factors, PTX_ELEMENT_B1);
    bool has_operation = ptx_has(instruction, PTX_MOD_XOR) != ptx_has(instruction, PTX_MOD_AND);
    bool rounds = ptx_has(instruction, PTX_MOD_RN) || ptx_has(instruction, PTX_MOD_RZ) ||
                  ptx_has(instruction, PTX_MOD_RM) || ptx_has(instruction, PTX_MOD_RP);
    if (matrix->n_layouts != 2 ||
        (row->layouts == ROW_COLUMN && (matrix->is_column_major[0] || !matrix->is_column_major[1])))
        return fail(check, row->layouts == ROW_COLUMN ? "needs .row.col" : "needs the layouts of A and B");
    if (is_bits != (has_operation && ptx_has(instruction, PTX_MOD_POPC)))
        return fail(check, is_bits ? "needs .xor.popc or .and.popc" : "does not exist: .popc is for .b1");
    if (ptx_has(instruction, PTX_MOD_SATFINITE) && (!has(row->sums, PTX_ELEMENT_S32) || is_bits))
        return fail(check, "does not exist: .satfinite is for integers of 4 and 8 bits");
    if (rounds && !has(row->factors, PTX_ELEMENT_F64))
        return fail(check, "does not exist: only .f64 has a rounding mode");
    return true;
}

/* Returns the number of values of a sparse multiplication's selector: the metadata come from one lane of four, two or
 * all of them. */
unsigned ptx_matrix_selectors(const struct ptx_matrix *matrix) {
    unsigned bits = ptx_element_bits(matrix->element[1]), bytes_of_row = matrix->k * bits / 8;
    return bits >= 16 ? (bytes_of_row == 32 ? 4 : 2) : bits == 8 ? (matrix->k == 32 ? 2 : 1) : matrix->k == 64 ? 2 : 1;
}

static bool check_fragment(struct ptx_check *check, unsigned k, enum ptx_matrix_role role) {
    struct ptx_fragment fragment = ptx_matrix_fragment(check->instruction, role);
    bool is_destination = k == 0 && check->instruction->matrix->action != PTX_MATRIX_STORE;
    return ptx_check_registers(check, &check->instruction->operand[k], ptx_fragment_type(&fragment),
                               fragment.n_registers, is_destination);
}

static bool check_count(struct ptx_check *check, unsigned low, unsigned high) {
    unsigned n = check->instruction->n_operands;
    if (n >= low && n <= high)
        return true;
    char what[64];
    snprintf(what, sizeof what, low == high ? "needs %u operands, got %u" : "needs %u operands or one more, got %u",
             low, n);
    return fail(check, what);
}

static bool check_multiplication(struct ptx_check *check) {
    const struct ptx_matrix *matrix = check->instruction->matrix;
    unsigned n_operands = matrix->is_sparse ? 6 : 4;
    if (!check_elements(check))
        return false;
    const struct multiplication *row = find(check->instruction);
    if (!row)
        return fail(check, "does not exist: no multiplication has this shape and these types");
    if (!check_suffixes(check, row) || !check_count(check, n_operands, n_operands))
        return false;
    for (unsigned k = 0; k < PTX_N_MATRIX_ROLES; k++)
        if (!check_fragment(check, k, (enum ptx_matrix_role)k))
            return false;
    if (!matrix->is_sparse)
        return true;
    const struct ptx_operand *selector = &check->instruction->operand[5];
    if (selector->kind != PTX_OPERAND_INTEGER || selector->value >= ptx_matrix_selectors(matrix))
        return fail(check, "needs a selector that is a constant and small enough for its shape");
    return ptx_check_registers(check, &check->instruction->operand[4], PTX_B32, 1, false);
}

/* wmma.load and wmma.store exist for the fragments of multiplications. */
static bool is_known_fragment(const struct ptx_matrix *matrix) {
    bool is_factor = matrix->role == PTX_MATRIX_A || matrix->role == PTX_MATRIX_B;
    for (unsigned i = 0; i < sizeof multiplications / sizeof *multiplications; i++) {
        const struct multiplication *row = &multiplications[i];
        bool is_column_major = matrix->is_column_major[0], is_ordered = row->layouts == ROW_COLUMN && is_factor;
        if (row->kind == WMMA && row->m == matrix->m && row->n == matrix->n && row->k == matrix->k &&
            has(is_factor ? row->factors : row->sums, matrix->element[0]) &&
            (!is_ordered || is_column_major == (matrix->role == PTX_MATRIX_B)))
            return true;
    }
    return false;
}

static bool check_access(struct ptx_check *check) {
    const struct ptx_matrix *matrix = check->instruction->matrix;
    bool is_store = matrix->action == PTX_MATRIX_STORE;
    enum ptx_space space = check->instruction->space;
    if (!check_count(check, 2, 3))
        return false;
    if (matrix->n_elements != 1 || matrix->n_layouts != 1 || is_store != (matrix->role == PTX_MATRIX_D) ||
        !is_known_fragment(matrix))
        return fail(check, "does not exist: no multiplication has such a fragment");
    if (space != PTX_SPACE_GENERIC && space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED)
        return fail(check, "works on .global and .shared only");
    return ptx_check_operand(check, &check->instruction->operand[is_store ? 0 : 1], 'm', is_store ? 0 : 1) &&
           check_fragment(check, is_store ? 1 : 0, matrix->role) &&
           (check->instruction->n_operands == 2 || ptx_check_operand(check, &check->instruction->operand[2], 'u', 2));
}

static bool check_move(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    const struct ptx_matrix *matrix = instruction->matrix;
    bool is_store = matrix->action == PTX_MATRIX_STORE, is_move = matrix->action == PTX_MATRIX_MOVE;
    if (!check_count(check, 2, 2))
        return false;
    if (matrix->m != 8 || matrix->n != 8 || matrix->k != 0 || matrix->n_elements != 1 ||
        matrix->element[0] != PTX_ELEMENT_B16 || (is_move && !matrix->is_transposed))
        return fail(check, is_move ? "must be .m8n8.trans.b16" : "must be .m8n8 and .b16");
    if (instruction->space != PTX_SPACE_GENERIC && (is_move || instruction->space != PTX_SPACE_SHARED))
        return fail(check, "works on .shared only");
    if (is_move)
        return check_fragment(check, 0, PTX_MATRIX_D) &&
               ptx_check_registers(check, &check->instruction->operand[1], PTX_B32, 1, false);
    return ptx_check_operand(check, &check->instruction->operand[is_store ? 0 : 1], 'm', is_store ? 0 : 1) &&
           check_fragment(check, is_store ? 1 : 0, PTX_MATRIX_D);
}

bool ptx_check_matrix(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    bool is_aligned =
        ptx_has(instruction, PTX_MOD_ALIGNED) || instruction->opcode == PTX_OP_WMMA; /* PTX 6.0 had none */
    if (!ptx_has(instruction, PTX_MOD_SYNC) || !is_aligned)
        return fail(check, "needs .sync.aligned");
    if (instruction->opcode == PTX_OP_WGMMA)
        return ptx_check_wgmma(check);
    if (instruction->matrix->is_async || instruction->matrix->action > PTX_MATRIX_MOVE)
        return fail(check, "does not exist: only wgmma is asynchronous");
    if (instruction->opcode != PTX_OP_WMMA && instruction->opcode != PTX_OP_MMA)
        return check_move(check);
    return instruction->matrix->action == PTX_MATRIX_MULTIPLY ? check_multiplication(check) : check_access(check);
}
