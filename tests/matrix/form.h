/* One matrix instruction of forms.def: its operands, as elements of a type in registers or memory.
 *
 * A form's kernel runs one warp, or of wgmma four warps, for each case. All operands of a case are a stream of words of
 * 32 bits, one operand after the other: register r of lane l is the word 32 r + l (of 64 bits for f64), a matrix in
 * memory its rows or columns, with FORM_PAD bytes between them. Inputs follow from the form's text alone, so that only
 * outputs need recording. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runner/forms.h"

enum { FORM_MAX_INPUTS = 4, FORM_PAD = 16, FORM_MATRIX_ROWS = 32, FORM_REGION_ALIGNMENT = 1024 };

enum form_kind {
    FORM_MMA,
    FORM_WMMA,      /* load, mma, store */
    FORM_WMMA_LOAD, /* the registers are the output */
    FORM_LDMATRIX,
    FORM_STMATRIX,
    FORM_MOVMATRIX,
    FORM_WGMMA
};

enum form_type {
    FORM_NO_TYPE,
    FORM_F16,
    FORM_BF16,
    FORM_TF32,
    FORM_F32,
    FORM_F64,
    FORM_E4M3,
    FORM_E5M2,
    FORM_S8,
    FORM_U8,
    FORM_S4,
    FORM_U4,
    FORM_B1,
    FORM_S32,
    FORM_METADATA_PAIRS,  /* 16 bits by 4: two of four elements */
    FORM_METADATA_SINGLE, /* of tf32: one of two elements, by 4 */
    FORM_OFFSETS,         /* of rows of 16 bytes, each row once */
    FORM_N_TYPES
};

struct form_operand {
    enum form_type type;
    bool is_memory;
    unsigned n_elements; /* with those of the padding */
    unsigned stride;     /* of a matrix in memory, in elements */
    unsigned n_words;
    unsigned n_registers, register_bits;
};

/* A matrix of wgmma in shared memory, in the layout of its descriptor. */
struct form_region {
    unsigned leading_bytes, stride_bytes; /* of the descriptor */
    unsigned bytes;
};

/* The words after the mnemonic of wgmma. */
struct form_wgmma {
    bool a_is_shared;
    unsigned swizzle_bytes; /* 0: none */
    bool is_transposed[2], is_negated[2];
    bool is_fresh; /* D = A * B */
    struct form_region region[2];
};

struct form {
    char text[FORMS_TEXT];
    char mnemonic[FORMS_TEXT];
    enum form_kind kind;
    unsigned m, n, k;
    bool is_sparse;
    unsigned selector;
    char layout[2][4]; /* of A and B; of a load: of its matrix */
    struct form_operand input[FORM_MAX_INPUTS], output;
    unsigned n_inputs, n_input_words;
    struct form_wgmma wgmma;
};

struct form_list {
    struct form *form;
    size_t n;
};

struct form_list form_list_all(void);
void form_list_free(struct form_list *list);

unsigned form_threads(const struct form *form);
unsigned form_chunk_cases(const struct form *form); /* of which one hash is kept */
bool form_has(const struct form *form, const char *suffix);
unsigned form_type_bits(enum form_type type);
const char *form_type_name(enum form_type type);

/* inputs.c: fills the n_input_words words of a case. */
void form_fill_case(const struct form *form, unsigned number, uint32_t *words);
