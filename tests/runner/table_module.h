/* The PTX that runs a table: for each op one kernel per variant. A kernel's thread reads its inputs from 8-byte slots,
 * runs the op and writes its outputs to 8-byte slots. */
#pragma once

#include <stdint.h>

#include "table.h"
#include "text.h"

enum variant {
    VARIANT_PLAIN,      /* all lanes active */
    VARIANT_GUARDED,    /* odd lanes inactive: their outputs keep their values */
    VARIANT_OVER_FIRST, /* the first output is the register of the first input of the same width */
    VARIANT_OVER_LAST,  /* or of the last one */
    VARIANT_IMMEDIATES, /* the first case's inputs are immediates */
    N_VARIANTS
};

/* Returns the value of a guarded kernel's output before the op, by register and lane. */
uint64_t table_preset(const struct table_register *reg, unsigned lane);

const char *table_variant_name(enum variant variant);
bool table_has_variant(const struct table_op *op, enum variant variant);

void table_add_header(struct text *text);
/* Adds a kernel named op<number>_<variant>, with parameters .u64 in and .u64 out, for blocks of 32 threads. */
void table_add_kernel(struct text *text, const struct table_op *op, unsigned number, enum variant variant);
