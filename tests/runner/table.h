/* Value tables of instructions, tests/instructions/NAME.txt: ops, each one or more PTX instructions with marked
 * registers, and cases, the registers' values before and after.
 *
 *     # comment
 *     tolerance 2ulp            for the next op; also `abs 1e-7`, `rel 1e-6`
 *     op add.sat.s32 {=d:s32}, {a:s32}, {b:s32};
 *       0x7fffffff 1 -> 0x7fffffff
 *
 * {name:type} is an input, {=name:type} an output, {+name:type} both; {name} is a register named before. A case lists
 * the inputs and the outputs in the order in which they first appear. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "values.h"

enum { TABLE_MAX_REGISTERS = 12, TABLE_MAX_REFERENCES = 24, TABLE_NAME = 16 };

struct table_register {
    char name[TABLE_NAME];
    const struct value_type *type;
    bool is_input, is_output;
};

/* A register's place in the op's text. */
struct table_reference {
    size_t first, end;
    unsigned reg;
};

struct table_case {
    unsigned line;
    struct value input[TABLE_MAX_REGISTERS], output[TABLE_MAX_REGISTERS]; /* by register */
};

struct table_op {
    unsigned line;
    char *text; /* after the word op */
    struct table_register reg[TABLE_MAX_REGISTERS];
    struct table_reference reference[TABLE_MAX_REFERENCES];
    unsigned n_registers, n_references, n_inputs, n_outputs;
    struct tolerance tolerance;
    struct table_case *cases;
    unsigned n_cases;
};

struct table {
    const char *path;
    struct table_op *op;
    unsigned n_ops, n_cases;
    unsigned n_errors; /* each was reported as path:line: on standard error */
};

/* Returns false when the file cannot be read or has errors. table_free() in both cases. */
bool table_read(struct table *table, const char *path);
void table_free(struct table *table);
