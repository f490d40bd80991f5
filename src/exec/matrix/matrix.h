/* Execution of matrix instructions: the locations of their elements and the functions that compute them. From the PTX
 * ISA manual; the way an H200 adds comes from experiments (docs/validation.md).
 *
 * The registers that an instruction reads in all lanes are first gathered into dense matrices in plain order: A by
 * rows, B by columns, so that both run along k, C and D by rows. The same functions work on every dense matrix,
 * whichever fragments it came from. All lanes of the row must take part. */
#pragma once

#include "exec/internal.h"
#include "ptx/matrix.h"

enum { EXEC_MATRIX_REGISTERS = 136, EXEC_MATRIX_BYTES = 2048, EXEC_MATRIX_COLUMNS = 32 };

/* Gathered matrices; elements of fewer than 8 bits are packed, first ones low. */
struct exec_dense {
    unsigned n; /* columns to compute, at most those of struct exec_matrix */
    _Alignas(64) unsigned char a[EXEC_MATRIX_BYTES], b[EXEC_MATRIX_BYTES], c[EXEC_MATRIX_BYTES], d[EXEC_MATRIX_BYTES];
    uint32_t metadata[EXEC_LANES];
};

struct exec_matrix;
typedef void exec_multiply_fn(const struct exec_matrix *matrix, struct exec_dense *dense);

/* The registers of one matrix. Cell c of lane l is at place[32 c + l] of the dense matrix, counted in cells. A register
 * contains one cell or two. Some fragments of wmma contain every element two or four times: the first n_distinct
 * registers contain all of them. */
struct exec_fragment {
    uint8_t first, n_registers; /* in exec_matrix.reg */
    uint8_t n_distinct, cell_bits;
    const uint16_t *place;
};

struct exec_layout {
    unsigned cell_bits, n_distinct;
};

/* What wgmma adds: its operands after D and A in registers. */
struct exec_wgmma {
    struct exec_operand descriptor[2]; /* of A and B */
    struct exec_operand adds;          /* a predicate, if has_predicate */
    bool has_predicate, adds_always;   /* otherwise D = A * B */
    bool is_negated;                   /* the predicate */
    bool a_is_shared, negates;         /* negates: the products */
    bool transposes[2];
};

struct exec_matrix {
    const struct ptx_instruction *insn;
    uint16_t m, n, k, n_matrices; /* of wgmma: of one warp, and as many columns as are computed at once */
    enum ptx_element element[PTX_N_MATRIX_ROLES];
    struct exec_fragment fragment[PTX_N_MATRIX_ROLES];
    exec_multiply_fn *multiply;
    exec_sum_fn *sum_products; /* for the host's instruction set */
    uint32_t n_registers;
    struct exec_operand reg[EXEC_MATRIX_REGISTERS]; /* D, A, B, C, metadata; of an access: its fragment */
    uint8_t selector;                               /* of the lanes with the metadata */
    bool saturates, is_and;                         /* .satfinite; .and.popc */
    enum exec_rounding rounding;                    /* of f64 */
    struct exec_wgmma wgmma;
};

/* layout.c: fills place, which has room for two cells of each register of 32 lanes. */
struct exec_layout exec_matrix_layout(const struct ptx_instruction *insn, enum ptx_matrix_role role, uint16_t *place);

/* sparse.c: finds the positions along k of the k / 2 elements of row i of a sparse A. */
void exec_matrix_find_elements(const struct exec_matrix *matrix, const struct exec_dense *dense, unsigned i,
                               uint8_t *at);

/* The functions of each kind of element. */
void exec_multiply_integer(const struct exec_matrix *matrix, struct exec_dense *dense); /* integer.c: s8 u8 s4 u4 */
void exec_multiply_bits(const struct exec_matrix *matrix, struct exec_dense *dense);    /* integer.c: b1 */
void exec_multiply_double(const struct exec_matrix *matrix, struct exec_dense *dense);  /* double.c: f64 */
void exec_multiply_quads(const struct exec_matrix *matrix, struct exec_dense *dense);   /* quads.c: m8n8k4 of f16 */
void exec_multiply_float(const struct exec_matrix *matrix, struct exec_dense *dense);   /* float.c: the others */

/* access.c */
void exec_matrix_load(struct exec_context *cx, const struct exec_operands *o);
void exec_matrix_store(struct exec_context *cx, const struct exec_operands *o);
void exec_matrix_load_rows(struct exec_context *cx, const struct exec_operands *o);  /* ldmatrix */
void exec_matrix_store_rows(struct exec_context *cx, const struct exec_operands *o); /* stmatrix */

/* multiply.c: between the registers of a fragment and its dense matrix. */
void exec_matrix_gather(const struct exec_context *cx, const struct exec_matrix *matrix,
                        const struct exec_fragment *fragment, unsigned char *dense);
void exec_matrix_scatter(const struct exec_context *cx, const struct exec_matrix *matrix,
                         const struct exec_fragment *fragment, const unsigned char *dense);
void exec_matrix_multiply(struct exec_context *cx, const struct exec_operands *o);
void exec_matrix_move(struct exec_context *cx, const struct exec_operands *o); /* movmatrix */

static inline const struct exec_matrix *exec_matrix_of(const struct exec_context *cx) {
    return cx->grid->program->matrix[cx->insn->matrix];
}

static inline void *exec_matrix_lanes(const struct exec_context *cx, struct exec_operand operand) {
    return cx->row->base[operand.base] + operand.offset;
}

/* wgmma.c */
void exec_matrix_multiply_group(struct exec_context *cx, const struct exec_operands *o);
/* Returns the offset from the start of shared memory of 16 bytes of a matrix: elements along k of one line, or of a
 * transposed matrix elements of 8 lines with one k. `line` is a row of A or a column of B. */
uint32_t exec_descriptor_address(uint64_t descriptor, bool is_transposed, unsigned line, unsigned k_byte);

/* Returns false after a fault if some lane of the row does not take part. */
bool exec_matrix_is_whole(struct exec_context *cx, uint32_t mask);
