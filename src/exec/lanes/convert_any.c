/* cvt in general: every pair of places, in three passes over a row: read the lanes into 64-bit integers or doubles, convert, write
 * them back. Common pairs have loops of their own (convert.c).
 *
 * From the cvt section of the PTX ISA manual and, for NaN, from an NVIDIA H200:
 * - A NaN becomes the integer 0, or the smallest signed one of the type's width when either side has 64 bits.
 * - Between floats a NaN keeps its sign and the top of its payload, made quiet, when either side is f64; otherwise it becomes the
 *   one NaN of the result's type.
 * - Numbers out of an integer's range give its nearest end, with or without .sat. */
#include "exec/lanes/convert.h"

#include <math.h>

#include "exec/lanes/float.h"

static bool is_signed(struct place p) { return p.kind == PLACE_S; }

/* The low p.bits of a slot, extended as the type says. */
static void read_integers(uint64_t *row, const void *src, struct place p) {
    if (p.slot == 16)
        EXEC_FOR_LANES row[i] = ((const uint16_t *)src)[i];
    else if (p.slot == 32)
        EXEC_FOR_LANES row[i] = ((const uint32_t *)src)[i];
    else
        EXEC_FOR_LANES row[i] = ((const uint64_t *)src)[i];
}

static void extend(uint64_t *row, struct place p) {
    unsigned shift = 64u - p.bits;
    if (is_signed(p))
        EXEC_FOR_LANES row[i] = (uint64_t)((int64_t)(row[i] << shift) >> shift);
    else
        EXEC_FOR_LANES row[i] = row[i] << shift >> shift;
}

static void write_integers(void *dst, const uint64_t *row, struct place p) {
    if (p.slot == 16)
        EXEC_FOR_LANES((uint16_t *)dst)[i] = (uint16_t)row[i];
    else if (p.slot == 32)
        EXEC_FOR_LANES((uint32_t *)dst)[i] = (uint32_t)row[i];
    else
        EXEC_FOR_LANES((uint64_t *)dst)[i] = row[i];
}

static void read_floats(double *row, const void *src, struct place p, bool ftz) {
    uint64_t bits[EXEC_LANES];
    read_integers(bits, src, p);
    if (p.kind == PLACE_F64)
        EXEC_FOR_LANES row[i] = f64_from(bits[i]);
    else if (p.kind == PLACE_F16)
        EXEC_FOR_LANES row[i] = (double)f16_widen((uint32_t)bits[i]);
    else if (p.kind == PLACE_BF16)
        EXEC_FOR_LANES row[i] = (double)bf16_widen((uint32_t)bits[i] & 0xffff);
    else if (ftz)
        EXEC_FOR_LANES row[i] = (double)f32_flush(f32_from((uint32_t)bits[i]));
    else
        EXEC_FOR_LANES row[i] = (double)f32_from((uint32_t)bits[i]);
}
