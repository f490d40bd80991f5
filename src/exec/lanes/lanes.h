/* Pure lane functions: they compute an instruction on 32 threads at once, without memory, other lanes or masks.
 *
 * Every file in this folder is compiled once per level of the host's instruction set (EXEC_LEVEL = base, v3, v4), so
 * that plain loops become the best vector code the host can run. A file contains selectors, which map a PTX form to its
 * function for that level, or to NULL if the form is not supported. exec_level_table() (exec/level.c) chooses the
 * level.
 *
 * Contract of a lane function
 * - It computes all EXEC_LANES lanes; callers blend. So it has no side effects and is safe for any input bits (division
 *   by zero, INT_MIN / -1 and shifts past the width follow PTX and avoid C's undefined behaviour).
 * - dst and src point to arrays of 32 elements of the register's slot size: 2 bytes for 8- and 16-bit types, otherwise
 *   4 or 8 bytes. A predicate is one uint32_t, bit l for lane l. A destination may be the same array as a source
 *   (exactly the same, never shifted), hence EXEC_FOR_LANES.
 * - dst[0] is the instruction's destination. dst[1] is q of `p|q`, or the carry-out mask of a .cc instruction. Vector
 *   destinations (mov unpack) fill dst[0..3].
 * - src[k] is the k-th source as written (vectors flattened). addc, subc and madc have the carry-in mask after their
 *   last source.
 * - imm: for lop3 the truth table. For and, or, xor of predicates bit k is set if source k is negated (!p). For setp,
 *   set and video instructions see imm.h.
 * - 8-bit values are in the low byte of a 16-bit slot. The high byte is unspecified on input. On output it is the sign
 *   or zero extension.
 * - Rounding: for .rz, .rm and .rp the caller sets the host's rounding mode around the function (exec_form_rounding).
 *   Other functions assume round to nearest even. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "exec/lanes/matrix_sum.h"
#include "ptx/analysis.h"
#include "ptx/ptx.h"

enum { EXEC_LANES = 32, EXEC_MAX_DST = 5, EXEC_MAX_SRC = 8 };

struct exec_operands {
    void *dst[EXEC_MAX_DST];
    const void *src[EXEC_MAX_SRC];
    uint32_t mask; /* active lanes; pure lane functions ignore it */
    uint32_t imm;
};

typedef void exec_lanes_fn(const struct exec_operands *o);

/* A PTX instruction and the slot sizes of its registers in bits (16, 32, 64; 1 for predicates; 0 for none). */
struct exec_form {
    const struct ptx_instruction *insn;
    uint8_t n_dst, n_src;
    uint8_t dst_bits[EXEC_MAX_DST], src_bits[EXEC_MAX_SRC];
    uint8_t n_extra, extra_bits; /* operands beyond those; extra_bits 0: of different sizes */
};

/* The addresses of the active lanes. */
struct exec_span {
    uint64_t low, high; /* the lowest and the highest */
    uint32_t bits;      /* the low 32 bits of all addresses, or'ed together */
    bool is_unit;       /* all lanes are active, and lane l's address is lane 0's plus l times the bytes of an access */
};

typedef void exec_span_32_fn(const uint32_t *base, uint32_t offset, uint32_t bytes, uint32_t mask, uint64_t *address,
                             struct exec_span *span);
typedef void exec_span_64_fn(const uint64_t *base, uint64_t offset, uint32_t bytes, uint32_t mask, uint64_t *address,
                             struct exec_span *span);

/* Sets the lanes of dst in mask to those of src. */
typedef void exec_blend_fn(void *dst, const void *src, uint32_t mask);

/* One selector per family. */
struct exec_lanes_table {
    exec_lanes_fn *(*integer)(
        const struct exec_form *form); /* integer.c: add sub mul mad ... of integer types, carries, dp4a */
    exec_lanes_fn *(*bits)(const struct exec_form *form);    /* bits.c: logic, shifts, fields, permutes */
    exec_lanes_fn *(*compare)(const struct exec_form *form); /* compare.c: setp set selp slct testp */
    exec_lanes_fn *(*move)(const struct exec_form *form);    /* move.c: mov, pack and unpack */
    exec_lanes_fn *(*video)(const struct exec_form *form);   /* video.c */
    exec_lanes_fn *(*single)(const struct exec_form *form);  /* single.c: f32 arithmetic */
    exec_lanes_fn *(*double_)(const struct exec_form *form); /* double.c: f64 arithmetic */
    exec_lanes_fn *(*half)(const struct exec_form *form);    /* half.c: f16, f16x2, bf16, bf16x2 arithmetic */
    exec_lanes_fn *(*approx)(
        const struct exec_form *form); /* approx.c: rcp rsqrt sqrt sin cos ex2 lg2 tanh div .approx/.full */
    exec_lanes_fn *(*convert)(const struct exec_form *form); /* convert.c: cvt */
    exec_blend_fn *blend[PTX_N_WIDTHS];                      /* blend.c, by the width of the slot */
    exec_sum_fn *sum_products;                               /* matrix_sum.c */
    /* span.c: address[l] = base[l] + offset, in 32 bits or in 64, for accesses of `bytes` by the lanes in mask, which
     * is not 0. Other lanes get the address of the first one in mask. */
    exec_span_32_fn *span_32;
    exec_span_64_fn *span_64;
};

#ifdef EXEC_LEVEL
#define EXEC_JOIN_(a, b) a##_##b
#define EXEC_JOIN(a, b) EXEC_JOIN_(a, b)
/* The name of an exported function of this folder for the instruction set being compiled:
 * EXEC_NAME(exec_select_integer). */
#define EXEC_NAME(name) EXEC_JOIN(name, EXEC_LEVEL)
#else
#define EXEC_NAME(name) name##_base
#endif

#if defined(__clang__)
#define EXEC_FOR_LANES _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < EXEC_LANES; i++)
#else
#define EXEC_FOR_LANES _Pragma("GCC ivdep") for (int i = 0; i < EXEC_LANES; i++)
#endif

exec_lanes_fn *EXEC_NAME(exec_select_integer)(const struct exec_form *form);
exec_lanes_fn *EXEC_NAME(exec_select_bits)(const struct exec_form *form);
exec_lanes_fn *EXEC_NAME(exec_select_compare)(const struct exec_form *form);
exec_lanes_fn *EXEC_NAME(exec_select_move)(const struct exec_form *form);
exec_lanes_fn *EXEC_NAME(exec_select_video)(const struct exec_form *form);
exec_lanes_fn *EXEC_NAME(exec_select_single)(const struct exec_form *form);
exec_lanes_fn *EXEC_NAME(exec_select_double)(const struct exec_form *form);
exec_lanes_fn *EXEC_NAME(exec_select_half)(const struct exec_form *form);
exec_lanes_fn *EXEC_NAME(exec_select_approx)(const struct exec_form *form);
exec_lanes_fn *EXEC_NAME(exec_select_convert)(const struct exec_form *form);
exec_blend_fn EXEC_NAME(exec_blend_1), EXEC_NAME(exec_blend_16), EXEC_NAME(exec_blend_32), EXEC_NAME(exec_blend_64);
exec_sum_fn EXEC_NAME(exec_sum_products);
exec_span_32_fn EXEC_NAME(exec_span_32);
exec_span_64_fn EXEC_NAME(exec_span_64);
