/* Used by check.c, operand.c and matrix.c. */
#pragma once

#include "ptx/internal.h"

struct ptx_check {
    struct ptx_parser *parser;
    const struct ptx_function *function;
    struct ptx_instruction *instruction;
    char name[96]; /* scratch for messages */
};

/* operand.c: checks one operand against its letter of rules.h. */
bool ptx_check_operand(struct ptx_check *check, struct ptx_operand *operand, char letter, unsigned k);
/* Checks an argument or result of a call against its parameter. */
bool ptx_check_argument(struct ptx_check *check, struct ptx_operand *operand, const struct ptx_variable *parameter);
/* Checks a fragment or another group of n registers of a type in braces. A single register may be without them. */
bool ptx_check_registers(struct ptx_check *check, struct ptx_operand *operand, enum ptx_type type, unsigned n,
                         bool is_destination);
/* matrix.c: checks the current instruction, a matrix instruction. */
bool ptx_check_matrix(struct ptx_check *check);
/* wgmma.c: checks the current instruction, a wgmma. */
bool ptx_check_wgmma(struct ptx_check *check);
/* matrix.c: returns the number of values of a sparse multiplication's selector. */
unsigned ptx_matrix_selectors(const struct ptx_matrix *matrix);
