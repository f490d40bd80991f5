/* mma and wmma.mma: gathers the fragments, multiplies, scatters the result. Also movmatrix, which transposes a
 * fragment. */
#include <fenv.h>

#include "exec/matrix/matrix.h"

bool exec_matrix_is_whole(struct exec_context *cx, uint32_t mask) {
    if (mask == EXEC_FULL_MASK)
        return true;
    exec_fault_set(cx, EXEC_FAULT_PARTIAL_WARP, (unsigned)__builtin_ctz(mask), 0, 0,
                   "it needs all lanes of the warp, and %d of them do not take part", __builtin_popcount(~mask));
    return false;
}

void exec_matrix_gather(const struct exec_context *cx, const struct exec_matrix *matrix,
                        const struct exec_fragment *fragment, unsigned char *dense) {
    unsigned cells = fragment->cell_bits == 16 ? 2 : 1;
    for (unsigned r = 0; r < fragment->n_distinct; r++) {
        const void *lanes = exec_matrix_lanes(cx, matrix->reg[fragment->first + r]);
        const uint16_t *place = fragment->place + (size_t)r * cells * EXEC_LANES;
        if (fragment->cell_bits == 32)
            for (unsigned l = 0; l < EXEC_LANES; l++)
                ((uint32_t *)dense)[place[l]] = ((const uint32_t *)lanes)[l];
        else if (fragment->cell_bits == 64)
            for (unsigned l = 0; l < EXEC_LANES; l++)
                ((uint64_t *)dense)[place[l]] = ((const uint64_t *)lanes)[l];
        else
            for (unsigned l = 0; l < EXEC_LANES; l++) {
                ((uint16_t *)dense)[place[l]] = (uint16_t)((const uint32_t *)lanes)[l];
                ((uint16_t *)dense)[place[EXEC_LANES + l]] = (uint16_t)(((const uint32_t *)lanes)[l] >> 16);
            }
    }
}

void exec_matrix_scatter(const struct exec_context *cx, const struct exec_matrix *matrix,
                         const struct exec_fragment *fragment, const unsigned char *dense) {
    unsigned cells = fragment->cell_bits == 16 ? 2 : 1;
    for (unsigned r = 0; r < fragment->n_registers; r++) {
        void *lanes = exec_matrix_lanes(cx, matrix->reg[fragment->first + r]);
        const uint16_t *place = fragment->place + (size_t)(r % fragment->n_distinct) * cells * EXEC_LANES;
        if (fragment->cell_bits == 32)
            for (unsigned l = 0; l < EXEC_LANES; l++)
                ((uint32_t *)lanes)[l] = ((const uint32_t *)dense)[place[l]];
        else if (fragment->cell_bits == 64)
            for (unsigned l = 0; l < EXEC_LANES; l++)
                ((uint64_t *)lanes)[l] = ((const uint64_t *)dense)[place[l]];
        else
            for (unsigned l = 0; l < EXEC_LANES; l++)
                ((uint32_t *)lanes)[l] = (uint32_t)((const uint16_t *)dense)[place[l]] |
                                         (uint32_t)((const uint16_t *)dense)[place[EXEC_LANES + l]] << 16;
    }
}

/* The multiplication is in another file: compilers move arithmetic across a change of the rounding mode. */
static void run(const struct exec_matrix *matrix, struct exec_dense *dense) {
    static const int host_mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    if (matrix->rounding == EXEC_ROUND_NEAREST) {
        matrix->multiply(matrix, dense);
        return;
    }
    fesetround(host_mode[matrix->rounding]);
    matrix->multiply(matrix, dense);
    fesetround(FE_TONEAREST);
}

void exec_matrix_multiply(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_matrix *matrix = exec_matrix_of(cx);
    struct exec_dense dense;
    if (!exec_matrix_is_whole(cx, o->mask))
        return;
    dense.n = matrix->n;
    exec_matrix_gather(cx, matrix, &matrix->fragment[PTX_MATRIX_A], dense.a);
    exec_matrix_gather(cx, matrix, &matrix->fragment[PTX_MATRIX_B], dense.b);
    exec_matrix_gather(cx, matrix, &matrix->fragment[PTX_MATRIX_C], dense.c);
    if (matrix->insn->matrix->is_sparse)
        memcpy(dense.metadata, exec_matrix_lanes(cx, matrix->reg[matrix->n_registers - 1]), sizeof dense.metadata);
    run(matrix, &dense);
    exec_matrix_scatter(cx, matrix, &matrix->fragment[PTX_MATRIX_D], dense.d);
}

/* Lane l holds the elements 2 l and 2 l + 1 of 64, by rows. */
void exec_matrix_move(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_matrix *matrix = exec_matrix_of(cx);
    uint16_t from[64], to[64];
    if (!exec_matrix_is_whole(cx, o->mask))
        return;
    memcpy(from, exec_matrix_lanes(cx, matrix->reg[1]), sizeof from);
    for (unsigned i = 0; i < 64; i++)
        to[i] = from[i % 8 * 8 + i / 8];
    memcpy(exec_matrix_lanes(cx, matrix->reg[0]), to, sizeof to);
}
