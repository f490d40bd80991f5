/* mapa, getctarank and createpolicy, from the PTX ISA manual.
 *
 * An address that mapa returns contains the rank of its block (EXEC_RANK_BIT), unless the cluster is one block. The
 * manual leaves the bits open. An address of a thread's own block that was not made by mapa does not contain it, so it
 * means another place in another block. The sources of mapa are the number of blocks, the address and the rank; those
 * of getctarank the own rank and the address. A cache policy is a hint whose bits only the hardware defines. Here it is
 * 0, or the property that it was made from. */
#include "exec/internal.h"

static void copy_64(const struct exec_operands *o) { memmove(o->dst[0], o->src[0], EXEC_LANES * sizeof(uint64_t)); }
static void zero_64(const struct exec_operands *o) { memset(o->dst[0], 0, EXEC_LANES * sizeof(uint64_t)); }

#define RANK_MASK (0xffull << EXEC_RANK_BIT)

#define MAP(name, type)                                                                                                \
    static void name(const struct exec_operands *o) {                                                                  \
        const uint32_t *n_blocks = o->src[0], *rank = o->src[2];                                                       \
        const type *address = o->src[1];                                                                               \
        type *d = o->dst[0];                                                                                           \
        for (int i = 0; i < EXEC_LANES; i++) {                                                                         \
            uint64_t bits = n_blocks[i] == 1 ? 0 : (uint64_t)((rank[i] + 1) & 0xff) << EXEC_RANK_BIT;                  \
            d[i] = (type)((address[i] & ~RANK_MASK) | bits);                                                           \
        }                                                                                                              \
    }
MAP(map_32, uint32_t)
MAP(map_64, uint64_t)

#define RANK(name, type)                                                                                               \
    static void name(const struct exec_operands *o) {                                                                  \
        const uint32_t *own = o->src[0];                                                                               \
        const type *address = o->src[1];                                                                               \
        uint32_t *d = o->dst[0];                                                                                       \
        for (int i = 0; i < EXEC_LANES; i++) {                                                                         \
            uint32_t rank = (uint32_t)((address[i] & RANK_MASK) >> EXEC_RANK_BIT);                                     \
            d[i] = rank ? rank - 1 : own[i];                                                                           \
        }                                                                                                              \
    }
RANK(rank_32, uint32_t)
RANK(rank_64, uint64_t)

exec_lanes_fn *exec_select_cluster(const struct exec_form *form) {
    unsigned to = form->dst_bits[0], from = form->n_src > 1 ? form->src_bits[1] : 0;
    switch (form->insn->opcode) {
    case PTX_OP_MAPA:
        return to != from || form->n_src != 3 ? NULL : to == 64 ? map_64 : to == 32 ? map_32 : NULL;
    case PTX_OP_GETCTARANK:
        return to != 32 ? NULL : from == 64 ? rank_64 : from == 32 ? rank_32 : NULL;
    case PTX_OP_CREATEPOLICY:
        from = form->n_src ? form->src_bits[0] : 0;
        return to != 64 ? NULL : ptx_has(form->insn, PTX_MOD_CVT) && from == 64 ? copy_64 : zero_64;
    default:
        return NULL;
    }
}
