/* f64 arithmetic: add sub mul fma mad div rcp sqrt abs neg min max copysign.
 *
 * From the floating-point chapter of the PTX ISA manual; float.h contains the rule for NaN. .rz, .rm and .rp run the
 * same functions under the host's rounding mode (exec_form_rounding). f64 always keeps subnormals and has no .sat. */
#include <math.h>

#include "exec/lanes/float.h"
#include "exec/lanes/float_form.h"

typedef double unary_fn(double a);
typedef double binary_fn(double a, double b);

LANES_INLINE void unary(const struct exec_operands *o, unary_fn *op) {
    double *d = o->dst[0];
    const double *a = o->src[0];
    EXEC_FOR_LANES d[i] = f64_with_nan(op(a[i]), a[i], a[i], a[i]);
}

/* For sums, products, minima and maxima the NaN of b takes precedence over that of a. */
LANES_INLINE void binary(const struct exec_operands *o, binary_fn *op) {
    double *d = o->dst[0];
    const double *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES d[i] = f64_with_nan(op(a[i], b[i]), b[i], a[i], a[i]);
}

LANES_INLINE double add_lane(double a, double b) { return a + b; }
LANES_INLINE double sub_lane(double a, double b) { return a - b; }
LANES_INLINE double mul_lane(double a, double b) { return a * b; }
LANES_INLINE double rcp_lane(double a) { return 1 / a; }
LANES_INLINE double sqrt_lane(double a) { return sqrt(a); }

/* A NaN keeps its sign through abs and neg. */
LANES_INLINE double abs_lane(double a) { return f64_abs(a); }
LANES_INLINE double neg_lane(double a) { return f64_from(f64_bits(a) ^ F64_SIGN); }

/* -0 is less than +0; a number takes precedence over a NaN. */
LANES_INLINE double min_lane(double a, double b) {
    double least = f64_choose(a < b, a, b);
    least = f64_choose(a == b, f64_from(f64_bits(a) | f64_bits(b)), least);
    return f64_choose(a == a, f64_choose(b == b, least, a), b);
}

LANES_INLINE double max_lane(double a, double b) {
    double most = f64_choose(a > b, a, b);
    most = f64_choose(a == b, f64_from(f64_bits(a) & f64_bits(b)), most);
    return f64_choose(a == a, f64_choose(b == b, most, a), b);
}

static void add(const struct exec_operands *o) { binary(o, add_lane); }
static void sub(const struct exec_operands *o) { binary(o, sub_lane); }
static void mul(const struct exec_operands *o) { binary(o, mul_lane); }
static void min(const struct exec_operands *o) { binary(o, min_lane); }
static void max(const struct exec_operands *o) { binary(o, max_lane); }
static void rcp(const struct exec_operands *o) { unary(o, rcp_lane); }
static void square_root(const struct exec_operands *o) { unary(o, sqrt_lane); }
static void absolute(const struct exec_operands *o) { unary(o, abs_lane); }
static void negate(const struct exec_operands *o) { unary(o, neg_lane); }

static void divide(const struct exec_operands *o) {
    double *d = o->dst[0];
    const double *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES d[i] = f64_with_nan(a[i] / b[i], a[i], b[i], b[i]);
}

static void multiply_add(const struct exec_operands *o) {
    double *d = o->dst[0];
    const double *a = o->src[0], *b = o->src[1], *c = o->src[2];
    EXEC_FOR_LANES d[i] = f64_with_nan(fma(a[i], b[i], c[i]), b[i], c[i], a[i]);
}

static void copy_sign(const struct exec_operands *o) {
    uint64_t *d = o->dst[0];
    const uint64_t *a = o->src[0], *b = o->src[1];
    EXEC_FOR_LANES d[i] = (a[i] & F64_SIGN) | (b[i] & ~F64_SIGN);
}

exec_lanes_fn *EXEC_NAME(exec_select_double)(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    unsigned modifiers = form_modifiers(insn);
    bool rounds = modifiers & FORM_ROUNDINGS;
    if (insn->n_types != 1 || insn->type[0] != PTX_F64 || !form_allows(modifiers, FORM_ROUNDINGS, 0))
        return NULL;
    switch (insn->opcode) {
    case PTX_OP_ADD:
        return add;
    case PTX_OP_SUB:
        return sub;
    case PTX_OP_MUL:
        return mul;
    case PTX_OP_FMA:
    case PTX_OP_MAD:
        return rounds ? multiply_add : NULL;
    case PTX_OP_DIV:
        return rounds ? divide : NULL;
    case PTX_OP_RCP: /* .approx: approx.c */
        return rounds ? rcp : NULL;
    case PTX_OP_SQRT:
        return rounds ? square_root : NULL;
    case PTX_OP_ABS:
        return rounds ? NULL : absolute;
    case PTX_OP_NEG:
        return rounds ? NULL : negate;
    case PTX_OP_MIN:
        return rounds ? NULL : min;
    case PTX_OP_MAX:
        return rounds ? NULL : max;
    case PTX_OP_COPYSIGN:
        return rounds ? NULL : copy_sign;
    default:
        return NULL;
    }
}
