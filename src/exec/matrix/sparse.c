/* Sparse matrices: A stores only half of its elements, and the metadata say which ones. Four bits select two of four
 * neighbours; for s4 and u4, two of four pairs; for tf32, one of two. From the PTX ISA manual. */
#include "exec/matrix/matrix.h"

/* Rows i and i + 8 have their metadata in one, two or four of the lanes 4 i to 4 i + 3, as the selector says. For
 * elements of 16 and 32 bits each lane has 16 bits for either row, otherwise 32 bits for one of them. */
static unsigned nibble_of(const struct exec_matrix *matrix, const struct exec_dense *dense, unsigned i, unsigned q,
                          unsigned n_nibbles) {
    unsigned n_lanes = n_nibbles / 4, first = 4 * (i % 8) + matrix->selector * n_lanes, upper = i / 8;
    if (ptx_element_bits(matrix->element[PTX_MATRIX_A]) >= 16)
        return dense->metadata[first + q / 4] >> (16 * upper + 4 * (q % 4)) & 15;
    return dense->metadata[first + upper + q / 8 * 2] >> 4 * (q % 8) & 15;
}

void exec_matrix_find_elements(const struct exec_matrix *matrix, const struct exec_dense *dense, unsigned i,
                               uint8_t *at) {
    unsigned bits = ptx_element_bits(matrix->element[PTX_MATRIX_A]);
    unsigned chunk = bits == 4 ? 8 : bits == 32 ? 2 : 4, n_nibbles = matrix->k / chunk;
    for (unsigned q = 0; q < n_nibbles; q++) {
        unsigned nibble = nibble_of(matrix, dense, i, q, n_nibbles), low = nibble & 3, high = nibble >> 2;
        if (bits == 32) {
            *at++ = (uint8_t)(chunk * q + low / 2);
        } else if (bits == 4) {
            for (unsigned y = 0; y < 4; y++)
                *at++ = (uint8_t)(chunk * q + 2 * (y < 2 ? low : high) + y % 2);
        } else {
            *at++ = (uint8_t)(chunk * q + low);
            *at++ = (uint8_t)(chunk * q + high);
        }
    }
}
