/* The suffixes of matrix instructions that no other instruction has: shapes, layouts, elements, fragments. */
#include "ptx/matrix.h"
#include "ptx/internal.h"

#include <stdlib.h>
#include <string.h>

/* Reads the number after `letter` and moves on; 0 when there is none. */
static unsigned read_extent(const char **text, char letter) {
    if (**text != letter || (*text)[1] < '1' || (*text)[1] > '9')
        return 0;
    char *end;
    unsigned long value = strtoul(*text + 1, &end, 10);
    *text = end;
    return value < 1000 ? (unsigned)value : 0;
}

/* m16n8k16, or m8n8 */
static bool parse_shape(const char *text, struct ptx_matrix *matrix) {
    unsigned m = read_extent(&text, 'm'), n = read_extent(&text, 'n'), k = *text ? read_extent(&text, 'k') : 0;
    if (!m || !n || *text)
        return false;
    matrix->m = (uint16_t)m;
    matrix->n = (uint16_t)n;
    matrix->k = (uint16_t)k;
    return true;
}

static bool parse_element(const char *text, struct ptx_matrix *matrix) {
    for (unsigned i = 1; i < PTX_N_ELEMENTS; i++)
        if (matrix->n_elements < PTX_N_MATRIX_ROLES && strcmp(text, ptx_element_name((enum ptx_element)i)) == 0) {
            matrix->element[matrix->n_elements++] = (enum ptx_element)i;
            return true;
        }
    return false;
}

static bool parse_layout(const char *text, struct ptx_matrix *matrix) {
    bool is_column_major = strcmp(text, "col") == 0;
    if ((!is_column_major && strcmp(text, "row") != 0) || matrix->n_layouts == 2)
        return false;
    matrix->is_column_major[matrix->n_layouts++] = is_column_major;
    return true;
}

static bool parse_word(const char *text, struct ptx_matrix *matrix) {
    static const char *const words[] = {"d",         "a",         "b",     "c",
                                        "mma",       "load",      "store", "x1",
                                        "x2",        "x4",        "sp",    "sp::ordered_metadata",
                                        "trans",     "mma_async", "fence", "commit_group",
                                        "wait_group"};
    unsigned i = 0;
    while (i < sizeof words / sizeof *words && strcmp(text, words[i]) != 0)
        i++;
    switch (i) {
    case 0:
    case 1:
    case 2:
    case 3:
        matrix->role = (enum ptx_matrix_role)i;
        return true;
    case 4:
        matrix->action = PTX_MATRIX_MULTIPLY;
        return true;
    case 5:
        matrix->action = PTX_MATRIX_LOAD;
        return true;
    case 6:
        matrix->action = PTX_MATRIX_STORE;
        return true;
    case 7:
    case 8:
    case 9:
        matrix->count = (uint8_t)(1u << (i - 7));
        return true;
    case 10:
    case 11:
        matrix->is_sparse = true;
        return true;
    case 12:
        matrix->is_transposed = true;
        return true;
    case 13:
        matrix->is_async = true;
        return true;
    case 14:
        matrix->action = PTX_MATRIX_FENCE;
        return true;
    case 15:
        matrix->action = PTX_MATRIX_COMMIT;
        return true;
    case 16:
        matrix->action = PTX_MATRIX_WAIT;
        return true;
    default:
        return false;
    }
}

struct ptx_matrix *ptx_matrix_new(struct ptx_parser *parser, enum ptx_opcode opcode) {
    struct ptx_matrix *matrix = BASE_ARENA_NEW(parser->arena, struct ptx_matrix);
    *matrix = (struct ptx_matrix){.action = opcode == PTX_OP_LDMATRIX    ? PTX_MATRIX_LOAD
                                            : opcode == PTX_OP_STMATRIX  ? PTX_MATRIX_STORE
                                            : opcode == PTX_OP_MOVMATRIX ? PTX_MATRIX_MOVE
                                                                         : PTX_MATRIX_MULTIPLY,
                                  .count = 1};
    return matrix;
}

bool ptx_parse_matrix_suffix(const char *text, struct ptx_matrix *matrix) {
    return parse_element(text, matrix) || parse_shape(text, matrix) || parse_layout(text, matrix) ||
           parse_word(text, matrix);
}

/* Suffixes of sm_100 and later: other elements, scaled blocks, other shapes of ldmatrix. */
bool ptx_is_later_matrix_suffix(const char *text) {
    static const char *const words[] = {"e3m2",      "e2m3",      "e2m1",   "ue8m0", "ue4m3", "b8",         "b8x16",
                                        "b6x16_p32", "b4x16_p64", "m16n16", "m8n16", "m16n8", "block_scale"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return strncmp(text, "kind::", 6) == 0 || strncmp(text, "scale_vec::", 11) == 0;
}
