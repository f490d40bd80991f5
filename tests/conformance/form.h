/* One instruction form of tests/runner/forms.def in the conformance suite: its inputs and outputs.
 *
 * A form's kernel runs n_cases threads. Each reads its inputs, executes the instruction once and stores the outputs.
 * Inputs follow from the form's text alone, so that only outputs need recording. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "forms.h"

enum { FORM_MAX_INPUTS = 12, FORM_MAX_OUTPUTS = 10, FORM_MAX_WORDS = 12, FORM_WORD = 32, FORM_REGION_WORDS = 4 };

enum form_category {
    FORM_LANES,    /* registers in, registers out */
    FORM_WARP,     /* reads other lanes; in half of the warps some lanes are inactive */
    FORM_LOAD,     /* ld, ldu: from a region of FORM_REGION_WORDS words */
    FORM_STORE,    /* st: the region afterwards is the output */
    FORM_ATOMIC,   /* atom, red: one word of memory or two, before and after */
    FORM_REDUCE,   /* cp.reduce.async.bulk: two words of shared memory into two of global memory */
    FORM_CONVERT,  /* cvta: to generic and back, then a load */
    FORM_SPACE,    /* isspacep: of addresses of four spaces */
    FORM_PREFETCH, /* no result: a load after it */
};

/* The use of a value, which decides the values worth trying. */
enum form_class {
    FORM_I16,
    FORM_I32,
    FORM_I64,
    FORM_F16,
    FORM_BF16,
    FORM_F32,
    FORM_F64,
    FORM_F16X2,
    FORM_BF16X2,
    FORM_PREDICATE,
    FORM_AMOUNT, /* of a shift, a field's place or length */
    FORM_CARRY,  /* 0 or 1 */
    FORM_MASK,   /* the lanes of the warp that execute */
    FORM_LANE,   /* of shfl */
    FORM_CLAMP,  /* of shfl */
    FORM_KEY,    /* of match: few different values */
    FORM_VOTE,   /* a predicate, the same in some warps */
    FORM_OFFSET, /* in the region */
    FORM_COMPARE /* of cas: often the value in memory */
};

struct form_value {
    char letter; /* p, h, r or w: predicate, 16, 32, 64 bits */
    enum form_class class;
};

struct form {
    char text[FORMS_TEXT]; /* "add.u32 r, r, r" */
    size_t pattern;        /* of forms.def */
    enum form_category category;
    char word[FORM_MAX_WORDS][FORM_WORD]; /* opcode and suffixes */
    unsigned n_words;
    struct form_value input[FORM_MAX_INPUTS], output[FORM_MAX_OUTPUTS];
    unsigned n_inputs, n_outputs;
    unsigned first_hidden; /* inputs from here on are not operands: carry, mask, memory, offset */
    bool reads_carry, writes_carry, subtracts;
    unsigned access_bytes;         /* of memory forms: all elements */
    unsigned region_words;         /* of memory forms: the words of memory that a case has */
    enum form_class element_class; /* of bulk reductions */
    unsigned element_bits;
    unsigned n_cases;
};

struct form_list {
    struct form *form;
    size_t n;
};

/* Returns all forms, each once; form_list_free() frees them. */
struct form_list form_list_all(void);
void form_list_free(struct form_list *list);

/* Returns whether one of the suffixes is `suffix`, without its dot. */
bool form_has(const struct form *form, const char *suffix);
/* Returns the form's state space: "", "global", "shared", "local", "const". */
const char *form_space(const struct form *form);
/* The number of types of the mnemonic, and the k-th. */
unsigned form_n_types(const struct form *form);
const char *form_type(const struct form *form, unsigned k);

/* Returns the elements of a vector: 2 for .v2; 1 without a suffix. */
unsigned form_n_elements(const struct form *form);

unsigned form_letter_bits(char letter);
/* Bytes of all outputs of all cases: output after output, each case after case, predicates as bits. */
size_t form_answer_bytes(const struct form *form);
uint64_t form_answer(const struct form *form, const uint8_t *answers, unsigned output, unsigned number);
void form_set_answer(const struct form *form, uint8_t *answers, unsigned output, unsigned number, uint64_t value);

/* inputs.c: values[case * n_inputs + input], malloc'ed, and their hash. */
uint64_t *form_inputs(const struct form *form);
uint64_t form_inputs_hash(const struct form *form, const uint64_t *values);
