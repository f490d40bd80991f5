/* Fragments from and to memory: wmma.load and wmma.store, whose matrix has a pitch, and ldmatrix and stmatrix, whose
 * rows of 16 bytes each have their own address. */
#include "exec/matrix/matrix.h"

enum { MAX_CHUNK = 16, ROW_BYTES = 16, ROW_WORDS = 4 };

/* --- wmma --- */

/* The matrix of an access: its lines are rows, or columns if it is column-major. */
struct lines {
    unsigned n, length; /* elements */
    unsigned bits;      /* of an element */
    bool is_dense;      /* the dense matrix has the same order */
};

static struct lines lines_of(const struct exec_matrix *matrix) {
    const struct ptx_matrix *access = matrix->insn->matrix;
    struct ptx_fragment fragment = ptx_matrix_fragment(matrix->insn, access->role);
    bool is_column_major = access->is_column_major[0];
    return (struct lines){.n = is_column_major ? fragment.columns : fragment.rows,
                          .length = is_column_major ? fragment.rows : fragment.columns,
                          .bits = ptx_element_bits(fragment.element),
                          .is_dense = is_column_major == (access->role == PTX_MATRIX_B)};
}

static uint64_t first_address(const struct exec_context *cx, const struct exec_operands *o) {
    if (cx->insn->operand[0].width == PTX_WIDTH_32) /* 32-bit addresses wrap, as in ld and st */
        return ((const uint32_t *)o->src[0])[0] + o->imm;
    return ((const uint64_t *)o->src[0])[0] + (uint64_t)(int64_t)(int32_t)o->imm;
}

/* Copies between memory and `packed`, which contains line after line. The bytes are divided evenly among the lanes for
 * the memory system. All lanes have the same address and pitch; the first lane's are used. Returns false after a fault,
 * in which case nothing was written. */
static bool copy_lines(struct exec_context *cx, const struct exec_operands *o, const struct lines *lines,
                       unsigned char *packed, bool is_write) {
    unsigned line_bytes = lines->length * lines->bits / 8, bytes = lines->n * line_bytes / EXEC_LANES;
    unsigned chunk = bytes < MAX_CHUNK ? bytes : MAX_CHUNK;
    uint64_t first = first_address(cx, o);
    uint64_t pitch = cx->insn->n_src > 1 ? (uint64_t)((const uint32_t *)o->src[1])[0] * lines->bits / 8 : line_bytes;
    unsigned char *host[EXEC_LANES][EXEC_MATRIX_BYTES / EXEC_LANES / 4];
    cx->touched = EXEC_FULL_MASK;
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        unsigned at = l * bytes;
        cx->address[l] = first + at / line_bytes * pitch + at % line_bytes;
        for (unsigned i = 0; i < bytes / chunk; i++) {
            host[l][i] = exec_host_at(cx, l, (enum ptx_space)cx->insn->access.space, cx->address[l] + i * chunk, chunk,
                                      is_write);
            if (!host[l][i])
                return false;
        }
    }
    for (unsigned l = 0; l < EXEC_LANES; l++)
        for (unsigned i = 0; i < bytes / chunk; i++) {
            unsigned char *here = packed + l * bytes + i * chunk;
            memcpy(is_write ? host[l][i] : here, is_write ? here : host[l][i], chunk);
        }
    return true;
}

/* Transposes n lines. Elements of fewer than 8 bits have only one order. */
static void transpose(const struct lines *lines, const unsigned char *from, unsigned char *to) {
    unsigned bytes = lines->bits / 8;
    for (unsigned i = 0; i < lines->n; i++)
        for (unsigned x = 0; x < lines->length; x++)
            memcpy(to + (x * lines->n + i) * bytes, from + (i * lines->length + x) * bytes, bytes);
}

void exec_matrix_load(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_matrix *matrix = exec_matrix_of(cx);
    const struct exec_fragment *fragment = &matrix->fragment[matrix->insn->matrix->role];
    const struct lines lines = lines_of(matrix);
    _Alignas(64) unsigned char packed[EXEC_MATRIX_BYTES], dense[EXEC_MATRIX_BYTES];
    if (!exec_matrix_is_whole(cx, o->mask) || !copy_lines(cx, o, &lines, packed, false))
        return;
    if (!lines.is_dense)
        transpose(&lines, packed, dense);
    exec_matrix_scatter(cx, matrix, fragment, lines.is_dense ? packed : dense);
}

void exec_matrix_store(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_matrix *matrix = exec_matrix_of(cx);
    const struct exec_fragment *fragment = &matrix->fragment[matrix->insn->matrix->role];
    const struct lines lines = lines_of(matrix), rows = {lines.length, lines.n, lines.bits, true};
    _Alignas(64) unsigned char packed[EXEC_MATRIX_BYTES], dense[EXEC_MATRIX_BYTES];
    if (!exec_matrix_is_whole(cx, o->mask))
        return;
    exec_matrix_gather(cx, matrix, fragment, dense);
    if (!lines.is_dense)
        transpose(&rows, dense, packed);
    copy_lines(cx, o, &lines, lines.is_dense ? dense : packed, true);
}

/* --- ldmatrix and stmatrix --- */

/* Returns the register of lane l for one matrix. It holds two elements: of row l / 4, whose words belong to four lanes,
 * or with .trans of column l / 4. */
static uint32_t word_of(const uint32_t rows[8][ROW_WORDS], unsigned lane, bool is_transposed) {
    if (!is_transposed)
        return rows[lane / 4][lane % 4];
    unsigned column = lane / 4, row = lane % 4 * 2, shift = 16 * (column % 2);
    return (rows[row][column / 2] >> shift & 0xffff) | (rows[row + 1][column / 2] >> shift) << 16;
}

/* Finds the rows of the matrices: lanes 8 i to 8 i + 7 have the addresses of matrix i. Returns false after a fault. */
static bool view_rows(struct exec_context *cx, const struct exec_operands *o, unsigned count, bool is_write,
                      struct exec_view *view) {
    struct exec_operands part = *o;
    if (!exec_matrix_is_whole(cx, o->mask))
        return false;
    part.mask = cx->touched = count == 4 ? EXEC_FULL_MASK : (1u << 8 * count) - 1;
    return exec_view_lanes(cx, &part, ROW_BYTES, is_write, view);
}

void exec_matrix_load_rows(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_matrix *matrix = exec_matrix_of(cx);
    unsigned count = matrix->insn->matrix->count;
    struct exec_view view;
    uint32_t rows[4][8][ROW_WORDS];
    if (!view_rows(cx, o, count, false, &view))
        return;
    for (unsigned l = 0; l < 8 * count; l++)
        memcpy(rows[l / 8][l % 8], exec_place(view.places, l), ROW_BYTES);
    for (unsigned i = 0; i < count; i++) {
        uint32_t *lanes = exec_matrix_lanes(cx, matrix->reg[i]);
        for (unsigned l = 0; l < EXEC_LANES; l++)
            lanes[l] = word_of((const uint32_t(*)[ROW_WORDS])rows[i], l, matrix->insn->matrix->is_transposed);
    }
}

void exec_matrix_store_rows(struct exec_context *cx, const struct exec_operands *o) {
    const struct exec_matrix *matrix = exec_matrix_of(cx);
    unsigned count = matrix->insn->matrix->count;
    struct exec_view view;
    if (!view_rows(cx, o, count, true, &view))
        return;
    for (unsigned i = 0; i < count; i++) {
        uint32_t rows[8][ROW_WORDS], words[8][ROW_WORDS];
        memcpy(rows, exec_matrix_lanes(cx, matrix->reg[i]), sizeof rows);
        for (unsigned l = 0; l < EXEC_LANES; l++) /* transposing is its own inverse */
            words[l / 4][l % 4] = word_of((const uint32_t(*)[ROW_WORDS])rows, l, matrix->insn->matrix->is_transposed);
        for (unsigned r = 0; r < 8; r++)
            memcpy(exec_place(view.places, 8 * i + r), words[r], ROW_BYTES);
    }
}
