/* The approximate instructions: the error bounds of the PTX ISA manual. */
#pragma once

#include "form.h"

enum approx_measure { APPROX_ULP, APPROX_RELATIVE, APPROX_ABSOLUTE };

/* One statement of the manual; an instruction may have several, for different operands. */
struct approx_bound {
    enum approx_measure measure;
    double amount;
    bool is_stated;        /* by the manual; otherwise the bound is the suite's own */
    bool against_recorded; /* not against the exact result */
    const char *range;     /* of the operands, in words; "" for all */
};

bool approx_is(const struct form *form);

/* Finds the bound for these inputs; returns false when the result must be exact. For operands outside the manual's
 * range the bound is the one inside it, and holds against the recorded answer. */
bool approx_bound_of(const struct form *form, const uint64_t *inputs, unsigned part, struct approx_bound *bound);

/* Returns how many values a register of the form holds: 2 for packed types. */
unsigned approx_parts(const struct form *form);

/* Returns the error of `bits` in the bound's measure, against the exact result or `recorded`; infinite when only one of
 * the two is finite. */
double approx_error(const struct form *form, const uint64_t *inputs, unsigned part, uint64_t bits, uint64_t recorded,
                    const struct approx_bound *bound);
