/* Shared by check.c and check_operand.c. */
#pragma once

#include "ptx/internal.h"

struct ptx_check {
    struct ptx_parser *parser;
    const struct ptx_function *function;
    struct ptx_instruction *instruction;
    char name[96]; /* scratch for messages */
};

/* check_operand.c: checks one operand against its letter of check_rules.h. */
bool ptx_check_operand(struct ptx_check *check, struct ptx_operand *operand, char letter, unsigned k);
/* Checks an argument or result of a call against its parameter. */
bool ptx_check_argument(struct ptx_check *check, struct ptx_operand *operand, const struct ptx_variable *parameter);
