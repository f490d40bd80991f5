/* The layouts of fragments: which lane holds which elements, from the figures of the PTX ISA manual. The manual leaves
 * the layouts of wmma open; ours are those of an H200.
 *
 * Every layout is a permutation of bits. A row of the table lists, least significant first, the bits that make up the
 * row and the column of a cell: a to e are the bits of the lane's number, 0 to 3 those of the cell's number within the
 * lane. A cell is the elements of a register, which are neighbours: along k in A and B, along a row in C and D. */
#include "exec/matrix/matrix.h"

struct layout {
    const char *row, *column;
};

/* mma.sync: the registers of A run down the rows first, then along k. */
static const struct layout mma_a_16 = {"cde0", "ab123"}, mma_a_8 = {"cde", "ab012"};
static const struct layout mma_b = {"ab012", "cde"};
static const struct layout mma_c_16 = {"cde1", "0ab23"}, mma_c_8 = {"cde", "0ab"}; /* of wgmma: 8 columns, then more */
static const struct layout mma_c_16_pairs = {"cde0", "ab12"};

/* mma.sync.m8n8k4 of f16: lanes 4 i to 4 i + 3 and the same 16 higher hold matrix i. Cells are elements. */
static const struct layout quad_a_row = {"abe", "01"}, quad_a_column = {"01e", "ab"};
static const struct layout quad_b_row = {"ab", "01e"}, quad_b_column = {"01", "abe"};
static const struct layout quad_c_16 = {"abe", "012"}, quad_c_32 = {"a1e", "0b2"};
static const char quad_matrix[] = "cd";

/* wmma: fragments of mma, side by side. Those of 8 x 32 belong to the transposed product. */
static const struct layout wmma_a[] = {{"cde", "ab0"}, {"cde0", "ab1"}, {"cde02", "ab1"}},
                           wmma_a_bytes = {"cde01", "ab"};
static const struct layout wmma_b[] = {{"ab0", "cde"}, {"ab0", "cde1"}, {"ab1", "cde02"}};
static const struct layout wmma_b_bytes[] = {{"ab", "cde"}, {"ab", "cde0"}, {"ab", "cde01"}};
static const struct layout wmma_c[] = {{"0ab", "cde12"}, {"cde1", "0ab2"}, {"cde12", "0ab"}};
static const struct layout wmma_c_pairs[] = {
    {"0ab", "cde12"}, {"cde0", "ab1"}, {"cde01", "ab"}}; /* the first: no pairs */

static unsigned pick_bits(const char *bits, unsigned lane, unsigned cell) {
    unsigned value = 0;
    for (unsigned i = 0; bits[i]; i++) {
        unsigned bit = bits[i] >= 'a' ? lane >> (bits[i] - 'a') : cell >> (bits[i] - '0');
        value |= (bit & 1) << i;
    }
    return value;
}

static const struct layout *quad_layout(const struct ptx_matrix *matrix, enum ptx_matrix_role role, unsigned bits) {
    switch (role) {
    case PTX_MATRIX_A:
        return matrix->is_column_major[0] ? &quad_a_column : &quad_a_row;
    case PTX_MATRIX_B:
        return matrix->is_column_major[1] ? &quad_b_column : &quad_b_row;
    default:
        return bits == 16 ? &quad_c_16 : &quad_c_32;
    }
}

static const struct layout *mma_layout(const struct ptx_matrix *matrix, enum ptx_matrix_role role, unsigned bits) {
    switch (role) {
    case PTX_MATRIX_A:
        return matrix->m != 8 ? &mma_a_16 : &mma_a_8;
    case PTX_MATRIX_B:
        return &mma_b;
    default:
        return matrix->m == 8 ? &mma_c_8 : bits == 16 ? &mma_c_16_pairs : &mma_c_16;
    }
}

/* Returns 0, 1 or 2 for 8, 16 or 32. */
static unsigned extent_index(unsigned extent) { return extent / 16; }

static const struct layout *wmma_layout(const struct ptx_matrix *matrix, enum ptx_matrix_role role, unsigned bits) {
    unsigned m = extent_index(matrix->m), n = extent_index(matrix->n);
    switch (role) {
    case PTX_MATRIX_A:
        return bits == 8 && m == 2 ? &wmma_a_bytes : &wmma_a[m];
    case PTX_MATRIX_B:
        return bits == 8 ? &wmma_b_bytes[n] : &wmma_b[n];
    default:
        if (matrix->n == 8 && matrix->m == 8)
            return &mma_c_8;
        return bits == 16 ? &wmma_c_pairs[m] : &wmma_c[m];
    }
}

struct exec_layout exec_matrix_layout(const struct ptx_instruction *insn, enum ptx_matrix_role role, uint16_t *place) {
    struct ptx_fragment fragment = ptx_matrix_fragment(insn, role);
    unsigned bits = ptx_element_bits(fragment.element);
    if (insn->opcode == PTX_OP_WGMMA && role != PTX_MATRIX_A)
        fragment.columns = EXEC_MATRIX_COLUMNS;
    bool is_wmma = insn->opcode == PTX_OP_WMMA, is_quad = fragment.n_matrices == 4, is_b = role == PTX_MATRIX_B;
    bool is_transposed = is_wmma && insn->matrix->n == 32 && role != PTX_MATRIX_A && !is_b;
    unsigned cell_bits = is_quad || is_transposed ? bits : fragment.register_bits, per_cell = cell_bits / bits;
    unsigned n_cells = fragment.n_matrices * fragment.rows * fragment.columns / per_cell / EXEC_LANES;
    const struct layout *layout = is_quad   ? quad_layout(insn->matrix, role, bits)
                                  : is_wmma ? wmma_layout(insn->matrix, role, bits)
                                            : mma_layout(insn->matrix, role, bits);
    unsigned length = (is_b ? fragment.rows : fragment.columns) / per_cell; /* of a line, in cells */
    for (unsigned cell = 0; cell < n_cells; cell++)
        for (unsigned lane = 0; lane < EXEC_LANES; lane++) {
            unsigned row = pick_bits(layout->row, lane, cell), column = pick_bits(layout->column, lane, cell);
            unsigned at = is_b ? column * length + row : row * length + column;
            if (is_quad)
                at += pick_bits(quad_matrix, lane, cell) * fragment.rows * fragment.columns;
            place[cell * EXEC_LANES + lane] = (uint16_t)at;
        }
    return (struct exec_layout){cell_bits, n_cells * cell_bits / fragment.register_bits};
}
