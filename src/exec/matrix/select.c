/* Finds the function of a matrix instruction, and links it. A matrix instruction has more registers than a decoded
 * instruction has room for, so the decoded instruction holds the index of a struct exec_matrix instead. */
#include "base/arena.h"
#include "exec/matrix/matrix.h"
#include "exec/program/link.h"

enum exec_kind exec_matrix_kind(const struct ptx_instruction *insn) {
    enum ptx_matrix_action action = insn->matrix->action;
    if (action == PTX_MATRIX_WAIT)
        return EXEC_KIND_BARRIER;
    if (action > PTX_MATRIX_MOVE)
        return EXEC_KIND_CONTEXT; /* the timing model looks at these as it does at groups of copies */
    if (insn->opcode == PTX_OP_WGMMA)
        return EXEC_KIND_WARP_MEMORY;
    return action == PTX_MATRIX_LOAD || action == PTX_MATRIX_STORE ? EXEC_KIND_WARP_MEMORY : EXEC_KIND_WARP;
}

/* Fences, groups and waits do nothing: the product has its values as soon as it has executed. */
static void order(struct exec_context *cx, const struct exec_operands *o) { (void)cx, (void)o; }

exec_act_fn *exec_select_matrix(const struct ptx_instruction *insn) {
    bool is_wmma = insn->opcode == PTX_OP_WMMA;
    if (insn->opcode == PTX_OP_WGMMA)
        return insn->matrix->action == PTX_MATRIX_MULTIPLY ? exec_matrix_multiply_group : order;
    switch (insn->matrix->action) {
    case PTX_MATRIX_LOAD:
        return is_wmma ? exec_matrix_load : exec_matrix_load_rows;
    case PTX_MATRIX_STORE:
        return is_wmma ? exec_matrix_store : exec_matrix_store_rows;
    case PTX_MATRIX_MOVE:
        return exec_matrix_move;
    default:
        return exec_matrix_multiply;
    }
}

static exec_multiply_fn *select_multiplication(enum ptx_element element) {
    switch (element) {
    case PTX_ELEMENT_S8:
    case PTX_ELEMENT_U8:
    case PTX_ELEMENT_S4:
    case PTX_ELEMENT_U4:
        return exec_multiply_integer;
    case PTX_ELEMENT_B1:
        return exec_multiply_bits;
    case PTX_ELEMENT_F64:
        return exec_multiply_double;
    default:
        return exec_multiply_float;
    }
}

/* Adds the registers of an operand: a vector, or one register. */
static unsigned add_registers(struct exec_linker *linker, uint32_t function_number, const struct ptx_operand *operand,
                              enum ptx_type type, struct exec_matrix *matrix) {
    bool is_vector = operand->kind == PTX_OPERAND_VECTOR;
    unsigned n = is_vector ? operand->n_elements : 1;
    for (unsigned i = 0; i < n; i++) {
        const struct exec_flat_operand flat = {is_vector ? &operand->element[i] : operand, type, EXEC_FLAT_PLAIN};
        matrix->reg[matrix->n_registers++] = exec_value_operand(linker, function_number, &flat);
    }
    return n;
}

static void add_fragment(struct exec_linker *linker, uint32_t function_number, unsigned k, enum ptx_matrix_role role,
                         struct exec_matrix *matrix) {
    struct ptx_fragment shape = ptx_matrix_fragment(matrix->insn, role);
    struct exec_fragment *fragment = &matrix->fragment[role];
    matrix->element[role] = shape.element;
    fragment->first = (uint8_t)matrix->n_registers;
    fragment->n_registers =
        (uint8_t)add_registers(linker, function_number, &matrix->insn->operand[k], ptx_fragment_type(&shape), matrix);
    if (matrix->insn->matrix->k == 0) /* ldmatrix, stmatrix, movmatrix find their own places */
        return;
    size_t n_places = (size_t)shape.n_registers * EXEC_LANES * 2, n_least = (size_t)matrix->m * EXEC_MATRIX_COLUMNS;
    uint16_t *place = base_arena_alloc_array(linker->arena, n_places > n_least ? n_places : n_least, sizeof *place, 64);
    struct exec_layout layout = exec_matrix_layout(matrix->insn, role, place);
    fragment->cell_bits = (uint8_t)layout.cell_bits;
    fragment->n_distinct = (uint8_t)layout.n_distinct;
    fragment->place = place;
}

static enum exec_rounding rounding_of(const struct ptx_instruction *insn) {
    return ptx_has(insn, PTX_MOD_RZ)   ? EXEC_ROUND_ZERO
           : ptx_has(insn, PTX_MOD_RM) ? EXEC_ROUND_DOWN
           : ptx_has(insn, PTX_MOD_RP) ? EXEC_ROUND_UP
                                       : EXEC_ROUND_NEAREST;
}

/* Sets the bytes that each lane accesses, as elements: at most 16, as many as the memory system handles. With 32 bytes,
 * of f32 and s32, a lane's second half is in the line of its first. */
static void set_access(const struct ptx_instruction *insn, struct exec_insn *out) {
    struct ptx_fragment shape = ptx_matrix_fragment(insn, insn->matrix->role);
    unsigned bytes =
        insn->matrix->k ? shape.rows * shape.columns * ptx_element_bits(shape.element) / 8 / EXEC_LANES : 16;
    out->access.bytes = (uint8_t)(bytes < 8 ? bytes : 8);
    out->access.n = (uint8_t)(bytes < 16 ? bytes / out->access.bytes : 2);
}

static struct exec_operand value_operand(struct exec_linker *linker, uint32_t function_number,
                                         const struct ptx_operand *operand, enum ptx_type type) {
    const struct exec_flat_operand flat = {operand, type, EXEC_FLAT_PLAIN};
    return exec_value_operand(linker, function_number, &flat);
}

static bool is_minus_one(const struct ptx_instruction *insn, unsigned k) {
    return k && (int64_t)insn->operand[k].value == -1;
}

/* D is C too. A is in registers, or like B in shared memory. */
static void link_wgmma(struct exec_linker *linker, uint32_t function_number, const struct ptx_instruction *insn,
                       struct exec_matrix *matrix) {
    struct ptx_wgmma_operands at = ptx_wgmma_operands(insn);
    struct exec_wgmma *wgmma = &matrix->wgmma;
    const struct ptx_operand *adds = &insn->operand[at.adds];
    matrix->m = insn->matrix->m / 4;
    matrix->n = EXEC_MATRIX_COLUMNS;
    add_fragment(linker, function_number, 0, PTX_MATRIX_D, matrix);
    matrix->fragment[PTX_MATRIX_C] = matrix->fragment[PTX_MATRIX_D];
    matrix->element[PTX_MATRIX_C] = matrix->element[PTX_MATRIX_D];
    matrix->element[PTX_MATRIX_A] = ptx_matrix_fragment(insn, PTX_MATRIX_A).element;
    matrix->element[PTX_MATRIX_B] = ptx_matrix_fragment(insn, PTX_MATRIX_B).element;
    wgmma->a_is_shared = insn->operand[1].kind != PTX_OPERAND_VECTOR;
    if (wgmma->a_is_shared)
        wgmma->descriptor[0] = value_operand(linker, function_number, &insn->operand[1], PTX_B64);
    else
        add_fragment(linker, function_number, 1, PTX_MATRIX_A, matrix);
    wgmma->descriptor[1] = value_operand(linker, function_number, &insn->operand[2], PTX_B64);
    wgmma->has_predicate = adds->kind != PTX_OPERAND_INTEGER;
    wgmma->is_negated = adds->is_negated;
    wgmma->adds_always = !wgmma->has_predicate && adds->value;
    if (wgmma->has_predicate)
        wgmma->adds = value_operand(linker, function_number, adds, PTX_PRED);
    wgmma->negates = is_minus_one(insn, at.negates_a) != is_minus_one(insn, at.negates_b);
    wgmma->transposes[0] = at.transposes_a && insn->operand[at.transposes_a].value;
    wgmma->transposes[1] = at.transposes_b && insn->operand[at.transposes_b].value;
    if (insn->matrix->is_sparse) {
        add_registers(linker, function_number, &insn->operand[at.metadata], PTX_B32, matrix);
        matrix->selector = (uint8_t)insn->operand[at.selector].value;
    }
}

void exec_link_matrix(struct exec_linker *linker, uint32_t function_number, const struct ptx_instruction *insn,
                      struct exec_insn *out) {
    struct exec_program *program = linker->program;
    if (insn->opcode == PTX_OP_WGMMA) /* the memory system does not see it */
        out->access = (struct exec_access){.space = PTX_SPACE_REG, .bytes = 1, .n = 1};
    if (insn->matrix->action > PTX_MATRIX_MOVE)
        return;
    struct exec_matrix *matrix = BASE_ARENA_NEW(linker->arena, struct exec_matrix);
    enum ptx_matrix_action action = insn->matrix->action;
    *matrix = (struct exec_matrix){.insn = insn,
                                   .m = insn->matrix->m,
                                   .n = insn->matrix->n,
                                   .k = insn->matrix->k,
                                   .saturates = ptx_has(insn, PTX_MOD_SATFINITE),
                                   .is_and = ptx_has(insn, PTX_MOD_AND),
                                   .rounding = rounding_of(insn)};
    if (insn->opcode == PTX_OP_WGMMA) {
        link_wgmma(linker, function_number, insn, matrix);
    } else if (action == PTX_MATRIX_MULTIPLY) {
        for (unsigned k = 0; k < PTX_N_MATRIX_ROLES; k++)
            add_fragment(linker, function_number, k, (enum ptx_matrix_role)k, matrix);
    } else {
        add_fragment(linker, function_number, action == PTX_MATRIX_STORE ? 1 : 0, insn->matrix->role, matrix);
    }
    if (action == PTX_MATRIX_MULTIPLY) {
        matrix->n_matrices = (uint16_t)ptx_matrix_fragment(insn, PTX_MATRIX_A).n_matrices;
        matrix->multiply =
            matrix->n_matrices == 4 ? exec_multiply_quads : select_multiplication(matrix->element[PTX_MATRIX_A]);
        matrix->sum_products = exec_level_table()->sum_products;
        if (!program->first_multiplication)
            program->first_multiplication = insn;
    }
    if (insn->matrix->is_sparse && insn->opcode != PTX_OP_WGMMA) {
        add_registers(linker, function_number, &insn->operand[4], PTX_B32, matrix);
        matrix->selector = (uint8_t)insn->operand[5].value;
    }
    if (action == PTX_MATRIX_MOVE)
        add_registers(linker, function_number, &insn->operand[1], PTX_B32, matrix);
    if (out->kind == EXEC_KIND_WARP_MEMORY && insn->opcode != PTX_OP_WGMMA)
        set_access(insn, out);
    out->matrix = program->n_matrices;
    program->matrix[program->n_matrices++] = matrix;
}
