/* mov: copies of scalars and vectors, packing of a vector into a scalar and unpacking.
 *
 * From the PTX ISA manual, mov. Only widths matter. The first element of a vector is the least significant part. A
 * register of 128 bits is a vector of two halves. */
#include "exec/lanes/lanes.h"

#include <stddef.h>

#define DEFINE_COPY(bits)                                                                                              \
    static void copy_##bits(const struct exec_operands *o) {                                                           \
        uint##bits##_t *d = o->dst[0];                                                                                 \
        const uint##bits##_t *a = o->src[0];                                                                           \
        EXEC_FOR_LANES d[i] = a[i];                                                                                    \
    }
DEFINE_COPY(16)
DEFINE_COPY(32)
DEFINE_COPY(64)

/* All elements of a lane are read before any is written: the vectors may have registers in common. */
#define DEFINE_VECTORS(bits)                                                                                           \
    static void copy_2_##bits(const struct exec_operands *o) {                                                         \
        uint##bits##_t *d0 = o->dst[0], *d1 = o->dst[1];                                                               \
        const uint##bits##_t *a0 = o->src[0], *a1 = o->src[1];                                                         \
        EXEC_FOR_LANES {                                                                                               \
            const uint##bits##_t x = a0[i], y = a1[i];                                                                 \
            d0[i] = x;                                                                                                 \
            d1[i] = y;                                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    static void copy_4_##bits(const struct exec_operands *o) {                                                         \
        uint##bits##_t *d0 = o->dst[0], *d1 = o->dst[1], *d2 = o->dst[2], *d3 = o->dst[3];                             \
        const uint##bits##_t *a0 = o->src[0], *a1 = o->src[1], *a2 = o->src[2], *a3 = o->src[3];                       \
        EXEC_FOR_LANES {                                                                                               \
            const uint##bits##_t x = a0[i], y = a1[i], z = a2[i], w = a3[i];                                           \
            d0[i] = x;                                                                                                 \
            d1[i] = y;                                                                                                 \
            d2[i] = z;                                                                                                 \
            d3[i] = w;                                                                                                 \
        }                                                                                                              \
    }
DEFINE_VECTORS(16)
DEFINE_VECTORS(32)
DEFINE_VECTORS(64)

static void copy_predicate(const struct exec_operands *o) { *(uint32_t *)o->dst[0] = *(const uint32_t *)o->src[0]; }

/* Two or four parts of `part` bits in slots of C type tp, and a whole of C type tw. A slot may be wider than its part.
 */
#define DEFINE_PAIR(name, tw, tp, part)                                                                                \
    static void pack_##name(const struct exec_operands *o) {                                                           \
        tw *d = o->dst[0];                                                                                             \
        const tp *p0 = o->src[0], *p1 = o->src[1];                                                                     \
        EXEC_FOR_LANES d[i] = (tw)((p0[i] & mask_##part) | (tw)((tw)p1[i] << part));                                   \
    }                                                                                                                  \
    static void unpack_##name(const struct exec_operands *o) {                                                         \
        tp *d0 = o->dst[0], *d1 = o->dst[1];                                                                           \
        const tw *a = o->src[0];                                                                                       \
        EXEC_FOR_LANES {                                                                                               \
            const tw whole = a[i];                                                                                     \
            d0[i] = (tp)(whole & mask_##part);                                                                         \
            d1[i] = (tp)(whole >> part);                                                                               \
        }                                                                                                              \
    }
#define DEFINE_QUAD(name, tw, tp, part)                                                                                \
    static void pack_##name(const struct exec_operands *o) {                                                           \
        tw *d = o->dst[0];                                                                                             \
        const tp *p0 = o->src[0], *p1 = o->src[1], *p2 = o->src[2], *p3 = o->src[3];                                   \
        EXEC_FOR_LANES d[i] = (tw)(p0[i] & mask_##part) | (tw)(p1[i] & mask_##part) << part |                          \
                              (tw)(p2[i] & mask_##part) << 2 * part | (tw)p3[i] << 3 * part;                           \
    }                                                                                                                  \
    static void unpack_##name(const struct exec_operands *o) {                                                         \
        tp *d0 = o->dst[0], *d1 = o->dst[1], *d2 = o->dst[2], *d3 = o->dst[3];                                         \
        const tw *a = o->src[0];                                                                                       \
        EXEC_FOR_LANES {                                                                                               \
            const tw whole = a[i];                                                                                     \
            d0[i] = (tp)(whole & mask_##part);                                                                         \
            d1[i] = (tp)(whole >> part & mask_##part);                                                                 \
            d2[i] = (tp)(whole >> 2 * part & mask_##part);                                                             \
            d3[i] = (tp)(whole >> 3 * part);                                                                           \
        }                                                                                                              \
    }
enum { mask_8 = 0xff, mask_16 = 0xffff };
#define mask_32 UINT32_MAX
DEFINE_PAIR(16_by_2, uint16_t, uint16_t, 8)
DEFINE_PAIR(32_by_2, uint32_t, uint16_t, 16)
DEFINE_PAIR(64_by_2, uint64_t, uint32_t, 32)
DEFINE_QUAD(32_by_4, uint32_t, uint16_t, 8)
DEFINE_QUAD(64_by_4, uint64_t, uint16_t, 16)

static exec_lanes_fn *select_copy(enum ptx_type type) {
    bool is_packed = type == PTX_U16X2 || type == PTX_S16X2;
    if (is_packed || (ptx_type_kind(type) == PTX_KIND_F && type != PTX_F32 && type != PTX_F64))
        return NULL;
    switch (ptx_type_bits(type)) {
    case 1:
        return copy_predicate;
    case 16:
        return copy_16;
    case 32:
        return copy_32;
    case 64:
        return copy_64;
    default:
        return NULL;
    }
}

static const struct {
    uint8_t bits, n, part_bits; /* part_bits: of the slot */
    exec_lanes_fn *pack, *unpack;
} vectors[] = {
    {16, 2, 16, pack_16_by_2, unpack_16_by_2}, {32, 2, 16, pack_32_by_2, unpack_32_by_2},
    {64, 2, 32, pack_64_by_2, unpack_64_by_2}, {32, 4, 16, pack_32_by_4, unpack_32_by_4},
    {64, 4, 16, pack_64_by_4, unpack_64_by_4},
};

/* The whole and n parts, each slot as wide as the packing expects. */
static exec_lanes_fn *select_vector(unsigned bits, unsigned whole_slot, const uint8_t *part_slot, unsigned n,
                                    bool packs) {
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        bool fits = vectors[k].bits == bits && vectors[k].n == n && whole_slot == bits;
        for (unsigned part = 0; part < n; part++)
            fits = fits && part_slot[part] == vectors[k].part_bits;
        if (fits)
            return packs ? vectors[k].pack : vectors[k].unpack;
    }
    return NULL;
}

static exec_lanes_fn *select_vector_copy(const struct exec_form *form, unsigned bits) {
    unsigned n = form->insn->vector;
    bool fits = (n == 2 || n == 4) && form->n_dst == n && form->n_src == n;
    for (unsigned k = 0; fits && k < n; k++)
        fits = form->dst_bits[k] == bits && form->src_bits[k] == bits;
    if (!fits)
        return NULL;
    return bits == 16   ? (n == 2 ? copy_2_16 : copy_4_16)
           : bits == 32 ? (n == 2 ? copy_2_32 : copy_4_32)
           : bits == 64 ? (n == 2 ? copy_2_64 : copy_4_64)
                        : NULL;
}

exec_lanes_fn *EXEC_NAME(exec_select_move)(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    if (insn->opcode != PTX_OP_MOV || insn->n_types != 1)
        return NULL;
    unsigned bits = ptx_type_bits(insn->type[0]);
    for (unsigned word = 0; word < PTX_MODIFIER_WORDS; word++)
        if (insn->modifiers[word])
            return NULL;
    if (insn->vector > 1)
        return select_vector_copy(form, bits);
    if (form->n_src == 1 && form->n_dst == 1)
        return form->dst_bits[0] == bits && form->src_bits[0] == bits ? select_copy(insn->type[0]) : NULL;
    if (ptx_type_kind(insn->type[0]) != PTX_KIND_B)
        return NULL;
    if (form->n_dst == 1)
        return select_vector(bits, form->dst_bits[0], form->src_bits, form->n_src, true);
    return form->n_src == 1 ? select_vector(bits, form->src_bits[0], form->dst_bits, form->n_dst, false) : NULL;
}
