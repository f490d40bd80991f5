/* Internal to cvt: its sources and destinations, and the numbers of the general conversions.
 *
 * cvt may read and write registers wider than its types: a place is a type in a slot. A lane function has no
 * parameters, so every conversion is a separate function. The general ones are numbered, and the number encodes the
 * conversion. */
#pragma once

#include "exec/lanes/lanes.h"

enum place_kind { PLACE_U, PLACE_S, PLACE_F16, PLACE_BF16, PLACE_F32, PLACE_F64 };

/* In the order of their numbers: 18 of integers, then 7 of floats. */
struct place {
    uint8_t kind; /* enum place_kind */
    uint8_t bits; /* of the type */
    uint8_t slot; /* bits of the register */
};

enum { N_INT_PLACES = 18, N_FLOAT_PLACES = 7, N_PLACES = N_INT_PLACES + N_FLOAT_PLACES };

/* How a float is rounded to an integral number. */
enum integral { TO_NEAREST, TO_ZERO, TO_FLOOR, TO_CEILING, N_INTEGRALS };

/* How a float result is limited before it is stored. */
enum limit { LIMIT_NONE, LIMIT_SAT, LIMIT_RELU, LIMIT_FINITE, LIMIT_RELU_FINITE, N_LIMITS };

/* An input is a float place, without or with .ftz. */
enum { N_INPUTS = 2 * N_FLOAT_PLACES, N_SLOTS = 3 };

/* The first number of each kind of conversion. */
enum {
    INT_TO_INT = 0,                                                            /* [from][to][sat] */
    INT_TO_FLOAT = INT_TO_INT + N_INT_PLACES * N_INT_PLACES * 2,               /* [from][to][sat] */
    FLOAT_TO_INT = INT_TO_FLOAT + N_INT_PLACES * N_FLOAT_PLACES * 2,           /* [input][to][integral] */
    FLOAT_TO_FLOAT = FLOAT_TO_INT + N_INPUTS * N_INT_PLACES * N_INTEGRALS,     /* [input][to][limit] */
    FLOAT_TO_INTEGRAL = FLOAT_TO_FLOAT + N_INPUTS * N_FLOAT_PLACES * N_LIMITS, /* [input][slot][integral][sat] */
    N_CONVERSIONS = FLOAT_TO_INTEGRAL + N_INPUTS * N_SLOTS * N_INTEGRALS * 2
};

/* Returns the function with this number. It runs under the host rounding mode of the form. */
exec_lanes_fn *EXEC_NAME(exec_convert_numbered)(unsigned number);

/* Selects the forms with packed halves and tf32; NULL for others. */
exec_lanes_fn *EXEC_NAME(exec_select_convert_packed)(const struct exec_form *form);

/* The same for pairs of 8-bit floats. */
exec_lanes_fn *EXEC_NAME(exec_select_convert_float8)(const struct exec_form *form);

/* All places, by number. */
static const struct place places[N_PLACES] = {
    {PLACE_U, 8, 16},    {PLACE_U, 8, 32},     {PLACE_U, 8, 64},    {PLACE_S, 8, 16},    {PLACE_S, 8, 32},
    {PLACE_S, 8, 64},    {PLACE_U, 16, 16},    {PLACE_U, 16, 32},   {PLACE_U, 16, 64},   {PLACE_S, 16, 16},
    {PLACE_S, 16, 32},   {PLACE_S, 16, 64},    {PLACE_U, 32, 32},   {PLACE_U, 32, 64},   {PLACE_S, 32, 32},
    {PLACE_S, 32, 64},   {PLACE_U, 64, 64},    {PLACE_S, 64, 64},   {PLACE_F16, 16, 16}, {PLACE_F16, 16, 32},
    {PLACE_F16, 16, 64}, {PLACE_BF16, 16, 16}, {PLACE_F32, 32, 32}, {PLACE_F32, 32, 64}, {PLACE_F64, 64, 64},
};
