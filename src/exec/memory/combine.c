/* Reductions of single elements in global memory. See combine.h. As recorded on an H200: f32 addition flushes subnormal
 * inputs and results to zero, except in bulk reductions, and f64 addition prefers the operand's NaN to the one in
 * memory. */
#include "exec/memory/combine.h"

#include <string.h>

#include "exec/float_bits.h"

static uint16_t canonical(uint16_t bits, uint16_t infinity) { return (bits & 0x7fff) > infinity ? 0x7fff : bits; }

static uint64_t add_half(uint64_t a, uint64_t b) {
    return exec_float_to_half(exec_half_to_float((uint16_t)a) + exec_half_to_float((uint16_t)b));
}

static uint64_t add_bfloat(uint64_t a, uint64_t b) {
    return exec_float_to_bfloat(exec_bfloat_to_float((uint16_t)a) + exec_bfloat_to_float((uint16_t)b));
}

/* Maps bits to integers in the order of the values. In both formats bits have the order of their values; for negative
 * values the order is reversed. */
static int32_t order_of(uint16_t bits) { return bits & 0x8000 ? -(bits & 0x7fff) - 1 : bits; }

static uint64_t choose(uint64_t x, uint64_t y, uint16_t infinity, bool is_max) {
    uint16_t a = (uint16_t)x, b = (uint16_t)y;
    if ((a & 0x7fff) > infinity)
        return canonical(b, infinity);
    if ((b & 0x7fff) > infinity)
        return a;
    return (order_of(a) < order_of(b)) == is_max ? b : a;
}

static uint64_t min_half(uint64_t a, uint64_t b) { return choose(a, b, 0x7c00, false); }
static uint64_t max_half(uint64_t a, uint64_t b) { return choose(a, b, 0x7c00, true); }
static uint64_t min_bfloat(uint64_t a, uint64_t b) { return choose(a, b, 0x7f80, false); }
static uint64_t max_bfloat(uint64_t a, uint64_t b) { return choose(a, b, 0x7f80, true); }

static uint32_t flush(uint32_t bits) { return bits & 0x7f800000 ? bits : bits & 0x80000000; }

static uint64_t add_float(uint64_t a, uint64_t b) {
    float sum = exec_bits_float(flush((uint32_t)a)) + exec_bits_float(flush((uint32_t)b));
    return isnan(sum) ? 0x7fffffff : flush(exec_float_bits(sum));
}

static uint64_t add_float_in_bulk(uint64_t a, uint64_t b) {
    float sum = exec_bits_float((uint32_t)a) + exec_bits_float((uint32_t)b);
    return isnan(sum) ? 0x7fffffff : exec_float_bits(sum);
}

static bool is_double_nan(uint64_t bits) { return (bits & INT64_MAX) > 0x7ff0000000000000; }

static uint64_t add_double(uint64_t memory, uint64_t operand) {
    if (is_double_nan(operand) || is_double_nan(memory))
        return is_double_nan(operand) ? operand : memory;
    double x, y;
    memcpy(&x, &memory, sizeof x);
    memcpy(&y, &operand, sizeof y);
    x += y;
    memcpy(&memory, &x, sizeof memory);
    return isnan(x) ? 0xfff8000000000000 : memory;
}

/* In `result`, old is the value in memory, b the operand. */
#define COMBINE(name, type, result)                                                                                    \
    static uint64_t name(uint64_t old_bits, uint64_t bits) {                                                           \
        type old = (type)old_bits, b = (type)bits;                                                                     \
        return (uint64_t)(type)(result);                                                                               \
    }
COMBINE(add_32, uint32_t, old + b)
COMBINE(add_64, uint64_t, old + b)
COMBINE(increment, uint32_t, old >= b ? 0 : old + 1)
COMBINE(decrement, uint32_t, old == 0 || old > b ? b : old - 1)
COMBINE(min_u32, uint32_t, old < b ? old : b)
COMBINE(max_u32, uint32_t, old > b ? old : b)
COMBINE(min_s32, int32_t, old < b ? old : b)
COMBINE(max_s32, int32_t, old > b ? old : b)
COMBINE(min_u64, uint64_t, old < b ? old : b)
COMBINE(max_u64, uint64_t, old > b ? old : b)
COMBINE(min_s64, int64_t, old < b ? old : b)
COMBINE(max_s64, int64_t, old > b ? old : b)
COMBINE(and_bits, uint64_t, old &b)
COMBINE(or_bits, uint64_t, old | b)
COMBINE(xor_bits, uint64_t, old ^ b)

static const struct {
    enum ptx_modifier operation;
    enum ptx_type type, pair; /* pair: two of the type in a register */
    exec_combine_fn *combine;
} combinations[] = {
    {.combine = NULL}, /* EXEC_NO_COMBINATION */
    {PTX_MOD_ADD, PTX_U32, 0, add_32},
    {PTX_MOD_ADD, PTX_S32, 0, add_32},
    {PTX_MOD_ADD, PTX_U64, 0, add_64},
    {PTX_MOD_ADD, PTX_F32, 0, add_float},
    {PTX_MOD_ADD, PTX_F64, 0, add_double},
    {PTX_MOD_ADD, PTX_F16, PTX_F16X2, add_half},
    {PTX_MOD_ADD, PTX_BF16, PTX_BF16X2, add_bfloat},
    {PTX_MOD_MIN, PTX_F16, PTX_F16X2, min_half},
    {PTX_MOD_MIN, PTX_BF16, PTX_BF16X2, min_bfloat},
    {PTX_MOD_MAX, PTX_F16, PTX_F16X2, max_half},
    {PTX_MOD_MAX, PTX_BF16, PTX_BF16X2, max_bfloat},
    {PTX_MOD_INC, PTX_U32, 0, increment},
    {PTX_MOD_DEC, PTX_U32, 0, decrement},
    {PTX_MOD_MIN, PTX_U32, 0, min_u32},
    {PTX_MOD_MAX, PTX_U32, 0, max_u32},
    {PTX_MOD_MIN, PTX_S32, 0, min_s32},
    {PTX_MOD_MAX, PTX_S32, 0, max_s32},
    {PTX_MOD_MIN, PTX_U64, 0, min_u64},
    {PTX_MOD_MAX, PTX_U64, 0, max_u64},
    {PTX_MOD_MIN, PTX_S64, 0, min_s64},
    {PTX_MOD_MAX, PTX_S64, 0, max_s64},
    {PTX_MOD_AND, PTX_B32, 0, and_bits},
    {PTX_MOD_AND, PTX_B64, 0, and_bits},
    {PTX_MOD_OR, PTX_B32, 0, or_bits},
    {PTX_MOD_OR, PTX_B64, 0, or_bits},
    {PTX_MOD_XOR, PTX_B32, 0, xor_bits},
    {PTX_MOD_XOR, PTX_B64, 0, xor_bits},
    {PTX_MOD_ADD, PTX_F32, 0, add_float_in_bulk},
};
enum { ADD_FLOAT_IN_BULK = sizeof combinations / sizeof *combinations - 1 };

uint32_t exec_combination_of(const struct ptx_instruction *insn) {
    enum ptx_type type = insn->type[0];
    if (insn->opcode == PTX_OP_CP && type == PTX_F32 && ptx_has(insn, PTX_MOD_ADD))
        return ADD_FLOAT_IN_BULK;
    for (uint32_t k = 1; k < sizeof combinations / sizeof *combinations; k++)
        if (ptx_has(insn, combinations[k].operation) && (combinations[k].type == type || combinations[k].pair == type))
            return k;
    return EXEC_NO_COMBINATION;
}

exec_combine_fn *exec_combine_tensor(enum ptx_modifier operation, unsigned type) {
    static const enum ptx_type types[] = {PTX_NO_TYPE, PTX_NO_TYPE, PTX_U32, PTX_S32,  PTX_U64, PTX_S64,
                                          PTX_F16,     PTX_F32,     PTX_F64, PTX_BF16, PTX_F32};
    bool is_bits = operation == PTX_MOD_AND || operation == PTX_MOD_OR || operation == PTX_MOD_XOR;
    enum ptx_type wanted = type < sizeof types / sizeof *types ? types[type] : PTX_NO_TYPE;
    if (operation == PTX_MOD_ADD && wanted == PTX_F32)
        return type == 10 ? add_float : add_float_in_bulk; /* 10: EXEC_TENSOR_F32_FTZ */
    if (is_bits)
        wanted = ptx_type_bits(wanted) == 64 ? PTX_B64 : ptx_type_bits(wanted) == 32 ? PTX_B32 : PTX_NO_TYPE;
    if (operation == PTX_MOD_ADD && wanted == PTX_S64)
        wanted = PTX_U64;
    for (uint32_t k = 1; k < sizeof combinations / sizeof *combinations && wanted != PTX_NO_TYPE; k++)
        if (combinations[k].operation == operation && combinations[k].type == wanted)
            return combinations[k].combine;
    return NULL;
}

exec_combine_fn *exec_combine(uint32_t combination) { return combinations[combination].combine; }

unsigned exec_combined_bytes(uint32_t combination) { return ptx_type_bits(combinations[combination].type) / 8; }
