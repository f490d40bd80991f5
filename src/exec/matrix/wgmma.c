/* wgmma.mma_async: four warps multiply a matrix of 64 rows, A, with B. Each warp computes 16 rows from its own
 * registers and from shared memory. Hardware does so while the warps continue, after the last of them has executed the
 * instruction. Here the sums are in D when the instruction has executed. wgmma.wait_group is a barrier of the four
 * warps: a warp that passes it knows that no warp still reads the matrices. sm/products.c decides when the wait ends.
 *
 * A descriptor says where a matrix is in shared memory: PTX ISA manual, "Matrix Descriptor Format" and "Strides". Bits
 * 0 to 13 hold the start, 16 to 29 the leading offset and 32 to 45 the stride offset, all in units of 16 bytes, 49 to
 * 51 the base offset, and 62 and 63 the swizzle. */
#include "exec/matrix/matrix.h"

enum { CORE_LINES = 8, CHUNK = 16, LINE_BYTES = 32 };

/* Widths of swizzled lines by the descriptor's code. Without a swizzle a line has 16 bytes. */
static const uint16_t widths[] = {CHUNK, 128, 64, 32};

static uint32_t field(uint64_t descriptor, unsigned first) { return (uint32_t)(descriptor >> first & 0x3fff) * CHUNK; }

/* The chunks of a core matrix are CORE_LINES lines of one chunk, or with a swizzle of `width` bytes. A swizzle
 * exchanges the chunks of a line: the number of the line, which the address contains, is added to that of the chunk
 * without carries. The base offset says how many lines the pattern begins before an address that is a multiple of it.
 */
uint32_t exec_descriptor_address(uint64_t descriptor, bool is_transposed, unsigned line, unsigned k_byte) {
    uint32_t leading = field(descriptor, 16), stride = field(descriptor, 32), mode = (uint32_t)(descriptor >> 62);
    uint32_t width = widths[mode], offset, chunk, row;
    if (is_transposed) {
        chunk = line / CORE_LINES; /* of 8 elements of 16 bits */
        row = k_byte / 2;
        uint32_t per_width = chunk / (width / CHUNK) * (mode ? leading : stride);
        offset = chunk % (width / CHUNK) * CHUNK + per_width + row % CORE_LINES * width +
                 row / CORE_LINES * (mode ? stride : leading);
    } else {
        chunk = k_byte / CHUNK;
        row = line;
        offset = chunk % (width / CHUNK) * CHUNK + chunk / (width / CHUNK) * leading + row % CORE_LINES * width +
                 row / CORE_LINES * stride;
    }
    uint32_t address = field(descriptor, 0) + offset, in_pattern = address - (uint32_t)(descriptor >> 49 & 7) * 128;
    return address ^ (in_pattern >> 3 & (width - 1) & ~(CHUNK - 1u));
}

static const unsigned char *chunk_at(struct exec_context *cx, uint64_t descriptor, bool is_transposed, unsigned line,
                                     unsigned k_byte) {
    return exec_range_at(cx, 0, PTX_SPACE_SHARED,
                         exec_descriptor_address(descriptor, is_transposed, line, k_byte) & ~(CHUNK - 1u), CHUNK, CHUNK,
                         false);
}

/* Loads lines of a matrix, each `bytes` long. Returns false after a fault. */
static bool load(struct exec_context *cx, uint64_t descriptor, unsigned first, unsigned n, unsigned bytes,
                 unsigned char *to) {
    for (unsigned i = 0; i < n; i++)
        for (unsigned at = 0; at < bytes; at += CHUNK) {
            const unsigned char *from = chunk_at(cx, descriptor, false, first + i, at);
            if (!from)
                return false;
            memcpy(to + i * bytes + at, from, CHUNK);
        }
    return true;
}

/* The same for elements of 16 bits whose neighbours belong to neighbouring lines. */
static bool load_transposed(struct exec_context *cx, uint64_t descriptor, unsigned first, unsigned n, unsigned bytes,
                            unsigned char *to) {
    for (unsigned i = 0; i < n; i += CORE_LINES)
        for (unsigned at = 0; at < bytes; at += 2) {
            const unsigned char *from = chunk_at(cx, descriptor, true, first + i, at);
            if (!from)
                return false;
            for (unsigned line = 0; line < CORE_LINES; line++)
                memcpy(to + (i + line) * bytes + at, from + 2 * line, 2);
        }
    return true;
}

static bool load_lines(struct exec_context *cx, const struct exec_matrix *matrix, unsigned which, unsigned first,
                       unsigned n, unsigned bytes, unsigned char *to) {
    uint64_t descriptor = *(const uint64_t *)exec_matrix_lanes(cx, matrix->wgmma.descriptor[which]);
    return (matrix->wgmma.transposes[which] ? load_transposed : load)(cx, descriptor, first, n, bytes, to);
}

/* Changes the signs of A, and so of all products. */
static void negate(enum ptx_element element, unsigned char *a, unsigned n_bytes) {
    unsigned bytes = ptx_element_bits(element) / 8;
    for (unsigned i = bytes - 1; i < n_bytes; i += bytes)
        a[i] ^= 0x80;
}

static bool adds(const struct exec_context *cx, const struct exec_wgmma *wgmma) {
    if (!wgmma->has_predicate)
        return wgmma->adds_always;
    bool is_true = *(const uint32_t *)exec_matrix_lanes(cx, wgmma->adds) & 1;
    return is_true != wgmma->is_negated;
}

/* Returns the registers of `n` columns of D from `first` on. */
static struct exec_fragment columns_of(const struct exec_matrix *matrix, unsigned first, unsigned n) {
    struct exec_fragment part = matrix->fragment[PTX_MATRIX_D];
    unsigned per_column = ptx_element_bits(matrix->element[PTX_MATRIX_D]); /* registers of 64 columns */
    part.first = (uint8_t)(part.first + first * per_column / 64);
    part.n_registers = part.n_distinct = (uint8_t)(n * per_column / 64);
    return part;
}

void exec_matrix_multiply_group(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_matrix *matrix = exec_matrix_of(cx);
    const struct exec_wgmma *wgmma = &matrix->wgmma;
    unsigned n = matrix->insn->matrix->n, b_bytes = matrix->insn->matrix->is_sparse ? 2 * LINE_BYTES : LINE_BYTES;
    struct exec_dense dense;
    cx->touched = 0;
    if (!exec_matrix_is_whole(cx, o->mask))
        return;
    if (!wgmma->a_is_shared)
        exec_matrix_gather(cx, matrix, &matrix->fragment[PTX_MATRIX_A], dense.a);
    else if (!load_lines(cx, matrix, 0, cx->row->index % EXEC_GROUP_ROWS * matrix->m, matrix->m, LINE_BYTES, dense.a))
        return;
    if (wgmma->negates)
        negate(matrix->element[PTX_MATRIX_A], dense.a, matrix->m * LINE_BYTES);
    if (matrix->insn->matrix->is_sparse)
        memcpy(dense.metadata, exec_matrix_lanes(cx, matrix->reg[matrix->n_registers - 1]), sizeof dense.metadata);
    for (unsigned first = 0; first < n; first += dense.n) {
        dense.n = n - first < EXEC_MATRIX_COLUMNS ? n - first : EXEC_MATRIX_COLUMNS;
        struct exec_fragment part = columns_of(matrix, first, dense.n);
        if (!load_lines(cx, matrix, 1, first, dense.n, b_bytes, dense.b))
            return;
        if (adds(cx, wgmma))
            exec_matrix_gather(cx, matrix, &part, dense.c);
        else
            memset(dense.c, 0, sizeof dense.c);
        matrix->multiply(matrix, &dense);
        exec_matrix_scatter(cx, matrix, &part, dense.d);
    }
}
