/* Extended-precision arithmetic: add.cc addc sub.cc subc mad.cc madc. The forms are in carry.def.
 *
 * From the PTX ISA manual, "Extended-Precision Integer Arithmetic Instructions". The carry flag is a lane mask.
 * Differences are the sums a + ~b + flag that the hardware computes, so sub.cc sets the flag if there was no borrow.
 * The manual describes the flag as a borrow. Programs that use sub.cc and subc together cannot tell the difference, and
 * programs that mix sub.cc with addc get the same result as on a GPU. */
#include "exec/lanes/lanes.h"

#include "exec/lanes/form_rows.h"
#include "exec/lanes/integer_parts.h"
#include "exec/lanes/lane_masks.h"

static const uint8_t vocabulary[] = {PTX_MOD_HI, PTX_MOD_LO, PTX_MOD_CC};
enum { NONE = 0, HI = 1, LO = 2, CC = 4 };

enum {
    U32 = LANES_TYPE(U32),
    S32 = LANES_TYPE(S32),
    U64 = LANES_TYPE(U64),
    S64 = LANES_TYPE(S64),
    I32 = U32 | S32,
    I64 = U64 | S64,
};

static inline uint32_t high_u32(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
static inline uint32_t high_s32(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
}

#define NO_CARRY 0
#define CARRY_SET UINT32_MAX
#define CARRY_AT(k) (*(const uint32_t *)o->src[k])

#define LOOP(t, ex, ey, load_c)                                                                                        \
    EXEC_FOR_LANES {                                                                                                   \
        const t a = pa[i], b = pb[i];                                                                                  \
        load_c;                                                                                                        \
        const LANES_MASK_WORD(t) bit = LANES_BIT(t)[i];                                                                \
        const t x = (t)(ex), y = (t)(ey), partial = x + y, r = partial + (in_mask & bit ? 1 : 0);                      \
        d[i] = r;                                                                                                      \
        out_mask |= (0u - (LANES_MASK_WORD(t))((partial < x) | (r < partial))) & bit;                                  \
    }
#define STORE_CARRY(modifiers)                                                                                         \
    if ((modifiers)&CC)                                                                                                \
    *(uint32_t *)o->dst[1] = (uint32_t)out_mask
#define FORM2(op, name, types, modifiers, t, ex, ey, carry_in)                                                         \
    static void name(const struct exec_operands *o) {                                                                  \
        t *d = o->dst[0];                                                                                              \
        const t *pa = o->src[0], *pb = o->src[1];                                                                      \
        LANES_MASK_WORD(t) in_mask = carry_in, out_mask = 0;                                                           \
        LOOP(t, ex, ey, )                                                                                              \
        STORE_CARRY(modifiers);                                                                                        \
    }
#define FORM3(op, name, types, modifiers, t, ex, ey, carry_in)                                                         \
    static void name(const struct exec_operands *o) {                                                                  \
        t *d = o->dst[0];                                                                                              \
        const t *pa = o->src[0], *pb = o->src[1], *pc = o->src[2];                                                     \
        LANES_MASK_WORD(t) in_mask = carry_in, out_mask = 0;                                                           \
        LOOP(t, ex, ey, const t c = pc[i])                                                                             \
        STORE_CARRY(modifiers);                                                                                        \
    }
#include "exec/lanes/carry.def"
#undef FORM2
#undef FORM3

static const struct lanes_row rows[] = {
#define FORM2(op, name, types, modifiers, t, ex, ey, carry_in)                                                         \
    {PTX_OP_##op, LANES_BITS(t), {LANES_BITS(t), LANES_BITS(t)}, types, 0, modifiers, name},
#define FORM3(op, name, types, modifiers, t, ex, ey, carry_in)                                                         \
    {PTX_OP_##op, LANES_BITS(t), {LANES_BITS(t), LANES_BITS(t), LANES_BITS(t)}, types, 0, modifiers, name},
#include "exec/lanes/carry.def"
};

exec_lanes_fn *EXEC_NAME(exec_select_carry)(const struct exec_form *form) {
    return lanes_find_row(rows, LANES_COUNT(rows), form, vocabulary, LANES_COUNT(vocabulary));
}
