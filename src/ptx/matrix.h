/* Matrix instructions: wmma, mma, wgmma, ldmatrix, stmatrix, movmatrix. Their shapes, layouts and element types are
 * suffixes that no other instruction has. The structures here hold these suffixes in decoded form.
 *
 * A fragment is a matrix in the registers of a warp. The operands of a multiplication are D, A, B, C and, for a sparse
 * A, the metadata, which say where its elements are. wgmma adds to D. Four warps execute it, and each computes a
 * quarter of the rows. Its fragments are those of one warp. */
#pragma once

#include "ptx/ptx.h"

enum ptx_element {
    PTX_NO_ELEMENT,
#define PTX_ELEMENT(id, text, bits) PTX_ELEMENT_##id,
#include "ptx/elements.def"
#undef PTX_ELEMENT
    PTX_N_ELEMENTS
};

enum ptx_matrix_role { PTX_MATRIX_D, PTX_MATRIX_A, PTX_MATRIX_B, PTX_MATRIX_C, PTX_N_MATRIX_ROLES };

enum ptx_matrix_action {
    PTX_MATRIX_MULTIPLY, /* mma, wmma.mma, wgmma.mma_async */
    PTX_MATRIX_LOAD,     /* wmma.load, ldmatrix */
    PTX_MATRIX_STORE,    /* wmma.store, stmatrix */
    PTX_MATRIX_MOVE,     /* movmatrix */
    PTX_MATRIX_FENCE,    /* wgmma.fence */
    PTX_MATRIX_COMMIT,   /* wgmma.commit_group */
    PTX_MATRIX_WAIT      /* wgmma.wait_group */
};

struct ptx_matrix {
    enum ptx_matrix_action action;
    enum ptx_matrix_role role; /* of wmma.load and wmma.store */
    uint16_t m, n, k;          /* k is 0 for the 8 x 8 matrices of ldmatrix, stmatrix and movmatrix */
    uint8_t count;             /* of these: .x1 .x2 .x4 */
    uint8_t n_elements, n_layouts;
    enum ptx_element element[PTX_N_MATRIX_ROLES]; /* as written */
    bool is_column_major[2];                      /* as written: A and B, or the matrix in memory */
    bool is_sparse, is_transposed;
    bool is_async; /* .mma_async */
};

/* The operands of wgmma.mma_async after D, A and B. Indices; 0: it has none. */
struct ptx_wgmma_operands {
    unsigned metadata, selector, adds, negates_a, negates_b, transposes_a, transposes_b, n;
};

/* A fragment: `n_matrices` of them, each in registers of its own lanes (only m8n8k4 of f16 has 4). */
struct ptx_fragment {
    enum ptx_element element;
    unsigned rows, columns, n_matrices;
    unsigned n_registers, register_bits;
};

const char *ptx_element_name(enum ptx_element element);
unsigned ptx_element_bits(enum ptx_element element);

/* Returns the fragment of a multiplication. An access has only one fragment, whose role it names itself. */
struct ptx_fragment ptx_matrix_fragment(const struct ptx_instruction *instruction, enum ptx_matrix_role role);
/* Returns the places of the operands of wgmma.mma_async. */
struct ptx_wgmma_operands ptx_wgmma_operands(const struct ptx_instruction *instruction);
/* Returns the type of the registers of a fragment. */
enum ptx_type ptx_fragment_type(const struct ptx_fragment *fragment);
