/* mapa, getctarank and createpolicy. A block is a cluster of one: an address of its shared memory is the same for the
 * cluster, and its rank is 0. A cache policy is a hint whose bits only the hardware defines. Here it is 0, or the
 * property that it was made from. From the PTX ISA manual. */
#include "exec/internal.h"

static void copy_32(const struct exec_operands *o) { memmove(o->dst[0], o->src[0], EXEC_LANES * sizeof(uint32_t)); }
static void copy_64(const struct exec_operands *o) { memmove(o->dst[0], o->src[0], EXEC_LANES * sizeof(uint64_t)); }
static void zero_32(const struct exec_operands *o) { memset(o->dst[0], 0, EXEC_LANES * sizeof(uint32_t)); }
static void zero_64(const struct exec_operands *o) { memset(o->dst[0], 0, EXEC_LANES * sizeof(uint64_t)); }

exec_lanes_fn *exec_select_cluster(const struct exec_form *form) {
    unsigned to = form->dst_bits[0], from = form->n_src ? form->src_bits[0] : 0;
    switch (form->insn->opcode) {
    case PTX_OP_MAPA:
        return to != from ? NULL : to == 64 ? copy_64 : to == 32 ? copy_32 : NULL;
    case PTX_OP_GETCTARANK:
        return to == 32 ? zero_32 : NULL;
    case PTX_OP_CREATEPOLICY:
        return to != 64 ? NULL : ptx_has(form->insn, PTX_MOD_CVT) && from == 64 ? copy_64 : zero_64;
    default:
        return NULL;
    }
}
