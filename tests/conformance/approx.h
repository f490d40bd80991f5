/* The approximate instructions: how far from the exact result the PTX ISA manual lets them be. */
#pragma once

#include "form.h"

enum approx_measure { APPROX_ULP, APPROX_RELATIVE, APPROX_ABSOLUTE };

/* One statement of the manual; an instruction may have several, for different operands. */
struct approx_bound {
    enum approx_measure measure;
    double amount;
    bool is_stated;        /* by the manual; else it is what the suite asks for */
    bool against_recorded; /* not against the exact result */
    const char *range;     /* of the operands, in words; "" for all */
};

bool approx_is(const struct form *form);

/* The bound that holds for these inputs; false when the result must be exact. Where the operands are out of the range
 * that the manual speaks of, the bound is the one within it, and holds against the recorded answer. */
bool approx_bound_of(const struct form *form, const uint64_t *inputs, unsigned part, struct approx_bound *bound);

/* How many values a register of the form holds: 2 for packed types. */
unsigned approx_parts(const struct form *form);

/* The error of `bits` in the bound's measure, against the exact result or `recorded`; infinite where one is finite and
 * one not. */
double approx_error(const struct form *form, const uint64_t *inputs, unsigned part, uint64_t bits, uint64_t recorded,
                    const struct approx_bound *bound);
