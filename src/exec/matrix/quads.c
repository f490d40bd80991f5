/* mma.sync.m8n8k4 of f16: four products of 8 x 4 and 4 x 8 matrices. Only Volta has them in hardware. An H200 computes
 * them with f32 additions, rounded to nearest, in an order that depends on the type of D. */
#include <math.h>

#include "exec/float_bits.h"
#include "exec/matrix/matrix.h"

enum { SIDE = 8, DEPTH = 4, N_MATRICES = 4 };

/* Products of halves are exact. A sum that starts from +0 is never -0. */
static float sum_to_single(const float *p, float c) { return 0.0f + p[0] + p[1] + p[2] + p[3] + c; }

static float sum_to_half(const float *p, float c) { return (p[0] + p[1] + c) + (p[2] + p[3]); }

void exec_multiply_quads(const struct exec_matrix *matrix, struct exec_dense *dense) {
    bool is_half = matrix->element[PTX_MATRIX_C] == PTX_ELEMENT_F16,
         makes_half = matrix->element[PTX_MATRIX_D] == PTX_ELEMENT_F16;
    const uint16_t *a = (const uint16_t *)dense->a, *b = (const uint16_t *)dense->b;
    for (unsigned i = 0; i < N_MATRICES * SIDE; i++) /* rows of all matrices */
        for (unsigned j = 0; j < SIDE; j++) {
            unsigned at = i * SIDE + j;
            float c = is_half ? exec_half_to_float(((const uint16_t *)dense->c)[at]) : ((const float *)dense->c)[at];
            float p[DEPTH];
            for (unsigned x = 0; x < DEPTH; x++)
                p[x] = exec_half_to_float(a[i * DEPTH + x]) * exec_half_to_float(b[(i / SIDE * SIDE + j) * DEPTH + x]);
            float sum = makes_half ? sum_to_half(p, c) : sum_to_single(p, c);
            if (makes_half)
                ((uint16_t *)dense->d)[at] = exec_float_to_half(sum);
            else
                ((uint32_t *)dense->d)[at] = isnan(sum) ? 0x7fffffff : exec_float_bits(sum);
        }
}
