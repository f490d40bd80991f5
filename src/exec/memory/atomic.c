/* atom and red: read, combine and write one place per lane, lanes in ascending order, so that results repeat exactly.
 *
 * From the PTX ISA manual. Floating-point addition rounds to nearest even. f32 addition flushes subnormal inputs and
 * results to zero in global memory, but not in shared memory. A NaN result is the canonical one (0x7fffffff, 0x7fff);
 * f64 addition keeps an operand's NaN, as recorded on an H200 (add_double). Memory order and scope change no value
 * here. .b128 and vectors are in atomic_wide.c, red.async in atomic_async.c. Left out: multimem. */
#include "exec/memory/mbarrier.h"

#include "exec/float_bits.h"

/* Rounding a float sum of two half-precision values to the format equals rounding the exact sum: 24 bits are at least
 * twice 11 plus 2. */
static uint16_t add_half(uint16_t a, uint16_t b) {
    return exec_float_to_half(exec_half_to_float(a) + exec_half_to_float(b));
}

static uint16_t add_bfloat(uint16_t a, uint16_t b) {
    return exec_float_to_bfloat(exec_bfloat_to_float(a) + exec_bfloat_to_float(b));
}

static uint32_t flush(uint32_t bits) { return bits & 0x7f800000 ? bits : bits & 0x80000000; }

static uint32_t add_float(uint32_t a, uint32_t b, bool flushes) {
    float sum =
        flushes ? exec_bits_float(flush(a)) + exec_bits_float(flush(b)) : exec_bits_float(a) + exec_bits_float(b);
    if (isnan(sum))
        return 0x7fffffff;
    return flushes ? flush(exec_float_bits(sum)) : exec_float_bits(sum);
}

static bool is_double_nan(uint64_t bits) { return (bits & INT64_MAX) > 0x7ff0000000000000; }

/* The L2 adds to global memory: the operand's NaN takes precedence over the one in memory, and signalling NaNs stay
 * signalling. The multiprocessor adds to shared memory: the NaN in memory takes precedence, and it becomes quiet. */
static uint64_t add_double(uint64_t memory, uint64_t operand, bool is_global) {
    const uint64_t first = is_global ? operand : memory, second = is_global ? memory : operand;
    const uint64_t quiet = is_global ? 0 : 0x0008000000000000;
    if (is_double_nan(first))
        return first | quiet;
    if (is_double_nan(second))
        return second | quiet;
    double x, y;
    memcpy(&x, &memory, sizeof(x));
    memcpy(&y, &operand, sizeof(y));
    x += y;
    memcpy(&memory, &x, sizeof(memory));
    return isnan(x) ? 0xfff8000000000000 : memory;
}

/* In `result`, old is the value in memory, b and c are the operands, l is the lane. */
#define ATOMIC(name, type, n_sources, result)                                                                          \
    static void name(struct exec_context *cx, const struct exec_operands *o) {                                         \
        struct exec_view view;                                                                                         \
        if (!exec_view_lanes(cx, o, sizeof(type), true, &view))                                                        \
            return;                                                                                                    \
        const struct exec_places places = view.places;                                                                 \
        const type *first = o->src[1], *second = (n_sources) > 1 ? o->src[2] : o->src[1];                              \
        type *d = cx->insn->n_dst ? o->dst[0] : NULL;                                                                  \
        EXEC_FOR_ACTIVE(l, o->mask) {                                                                                  \
            type old, b = first[l], c = second[l];                                                                     \
            unsigned char *place = exec_place(places, l);                                                              \
            memcpy(&old, place, sizeof(old));                                                                          \
            type next = (type)(result);                                                                                \
            (void)c;                                                                                                   \
            memcpy(place, &next, sizeof(next));                                                                        \
            cx->has_changed |= next != old;                                                                            \
            if (d)                                                                                                     \
                d[l] = old;                                                                                            \
        }                                                                                                              \
    }

/* Returns whether the lane's address, possibly generic, is in global memory, which adds f32 and f64 differently. */
static bool is_global(const struct exec_context *cx, unsigned lane) {
    enum ptx_space space = cx->insn->access.space;
    uint64_t offset;
    if (space == PTX_SPACE_GENERIC)
        space = exec_generic_space(cx->address[lane], &offset);
    return space == PTX_SPACE_GLOBAL;
}

ATOMIC(add_32, uint32_t, 1, old + b)
ATOMIC(add_64, uint64_t, 1, old + b)
ATOMIC(add_f32, uint32_t, 1, add_float(old, b, is_global(cx, l)))
ATOMIC(add_f64, uint64_t, 1, add_double(old, b, is_global(cx, l)))
ATOMIC(add_f16, uint16_t, 1, add_half(old, b))
ATOMIC(add_bf16, uint16_t, 1, add_bfloat(old, b))
ATOMIC(add_f16x2, uint32_t, 1,
       add_half((uint16_t)old, (uint16_t)b) | (uint32_t)add_half((uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16)
ATOMIC(add_bf16x2, uint32_t, 1,
       add_bfloat((uint16_t)old, (uint16_t)b) | (uint32_t)add_bfloat((uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16)
ATOMIC(increment, uint32_t, 1, old >= b ? 0 : old + 1)
ATOMIC(decrement, uint32_t, 1, old == 0 || old > b ? b : old - 1)
ATOMIC(min_u32, uint32_t, 1, old < b ? old : b)
ATOMIC(max_u32, uint32_t, 1, old > b ? old : b)
ATOMIC(min_s32, int32_t, 1, old < b ? old : b)
ATOMIC(max_s32, int32_t, 1, old > b ? old : b)
ATOMIC(min_u64, uint64_t, 1, old < b ? old : b)
ATOMIC(max_u64, uint64_t, 1, old > b ? old : b)
ATOMIC(min_s64, int64_t, 1, old < b ? old : b)
ATOMIC(max_s64, int64_t, 1, old > b ? old : b)
ATOMIC(and_32, uint32_t, 1, old &b)
ATOMIC(and_64, uint64_t, 1, old &b)
ATOMIC(or_32, uint32_t, 1, old | b)
ATOMIC(or_64, uint64_t, 1, old | b)
ATOMIC(xor_32, uint32_t, 1, old ^ b)
ATOMIC(xor_64, uint64_t, 1, old ^ b)
ATOMIC(exchange_32, uint32_t, 1, b)
ATOMIC(exchange_64, uint64_t, 1, b)
ATOMIC(swap_16, uint16_t, 2, old == b ? c : old)
ATOMIC(swap_32, uint32_t, 2, old == b ? c : old)
ATOMIC(swap_64, uint64_t, 2, old == b ? c : old)

static const struct {
    enum ptx_modifier operation;
    enum ptx_type type;
    exec_act_fn *act;
} atomics[] = {
    {PTX_MOD_ADD, PTX_U32, add_32},        {PTX_MOD_ADD, PTX_S32, add_32},      {PTX_MOD_ADD, PTX_U64, add_64},
    {PTX_MOD_ADD, PTX_S64, add_64},        {PTX_MOD_ADD, PTX_F32, add_f32},     {PTX_MOD_ADD, PTX_F64, add_f64},
    {PTX_MOD_ADD, PTX_F16, add_f16},       {PTX_MOD_ADD, PTX_F16X2, add_f16x2}, {PTX_MOD_ADD, PTX_BF16, add_bf16},
    {PTX_MOD_ADD, PTX_BF16X2, add_bf16x2}, {PTX_MOD_INC, PTX_U32, increment},   {PTX_MOD_DEC, PTX_U32, decrement},
    {PTX_MOD_MIN, PTX_U32, min_u32},       {PTX_MOD_MAX, PTX_U32, max_u32},     {PTX_MOD_MIN, PTX_S32, min_s32},
    {PTX_MOD_MAX, PTX_S32, max_s32},       {PTX_MOD_MIN, PTX_U64, min_u64},     {PTX_MOD_MAX, PTX_U64, max_u64},
    {PTX_MOD_MIN, PTX_S64, min_s64},       {PTX_MOD_MAX, PTX_S64, max_s64},     {PTX_MOD_AND, PTX_B32, and_32},
    {PTX_MOD_AND, PTX_B64, and_64},        {PTX_MOD_OR, PTX_B32, or_32},        {PTX_MOD_OR, PTX_B64, or_64},
    {PTX_MOD_XOR, PTX_B32, xor_32},        {PTX_MOD_XOR, PTX_B64, xor_64},      {PTX_MOD_EXCH, PTX_B32, exchange_32},
    {PTX_MOD_EXCH, PTX_B64, exchange_64},  {PTX_MOD_CAS, PTX_B16, swap_16},     {PTX_MOD_CAS, PTX_B32, swap_32},
    {PTX_MOD_CAS, PTX_B64, swap_64},
};

static bool are_slots_right(const struct exec_form *form, unsigned bits, unsigned n_values) {
    if (form->n_src < 1 + n_values || (form->n_dst && form->dst_bits[0] && form->dst_bits[0] != bits))
        return false;
    for (unsigned k = 1; k <= n_values; k++)
        if (form->src_bits[k] != bits)
            return false;
    return true;
}

exec_act_fn *exec_select_atomic(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    bool is_writable =
        insn->space == PTX_SPACE_GENERIC || insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_SHARED;
    if (!is_writable || insn->n_types != 1)
        return NULL;
    if (insn->vector > 1)
        return exec_select_atomic_wide(form);
    if (ptx_has(insn, PTX_MOD_ASYNC))
        return exec_select_red_async(form);
    for (size_t k = 0; k < sizeof(atomics) / sizeof(atomics[0]); k++) {
        if (atomics[k].type != insn->type[0] || !ptx_has(insn, atomics[k].operation))
            continue;
        bool is_swap = atomics[k].operation == PTX_MOD_CAS;
        bool needs_result = is_swap || atomics[k].operation == PTX_MOD_EXCH;
        if (needs_result && insn->opcode == PTX_OP_RED)
            return NULL;
        return are_slots_right(form, ptx_type_bits(insn->type[0]), is_swap ? 2 : 1) ? atomics[k].act : NULL;
    }
    return NULL;
}
