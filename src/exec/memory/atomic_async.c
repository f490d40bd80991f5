/* red.async: a reduction in shared memory that completes its bytes at an mbarrier. The sources are the address, the
 * value, and the mbarrier's base and offset. From the PTX ISA manual; for clusters of one block. */
#include "exec/memory/mbarrier.h"

/* In `result`, old is the value in memory, b the operand. */
#define RED_ASYNC(name, type, result)                                                                                  \
    static void name(struct exec_context *cx, const struct exec_operands *o) {                                         \
        struct exec_view view;                                                                                         \
        if (!exec_view_lanes(cx, o, sizeof(type), true, &view))                                                        \
            return;                                                                                                    \
        EXEC_FOR_ACTIVE(l, o->mask) {                                                                                  \
            type old, b = ((const type *)o->src[1])[l];                                                                \
            unsigned char *place = exec_place(view.places, l);                                                         \
            memcpy(&old, place, sizeof(old));                                                                          \
            type next = (type)(result);                                                                                \
            memcpy(place, &next, sizeof(next));                                                                        \
            if (!exec_mbarrier_complete(cx, l, exec_based_address(cx, o, 2, l), sizeof(type)))                         \
                return;                                                                                                \
        }                                                                                                              \
    }
RED_ASYNC(add_32, uint32_t, old + b)
RED_ASYNC(add_64, uint64_t, old + b)
RED_ASYNC(increment, uint32_t, old >= b ? 0 : old + 1)
RED_ASYNC(decrement, uint32_t, old == 0 || old > b ? b : old - 1)
RED_ASYNC(min_u32, uint32_t, old < b ? old : b)
RED_ASYNC(max_u32, uint32_t, old > b ? old : b)
RED_ASYNC(min_s32, int32_t, old < b ? old : b)
RED_ASYNC(max_s32, int32_t, old > b ? old : b)
RED_ASYNC(and_32, uint32_t, old &b)
RED_ASYNC(or_32, uint32_t, old | b)
RED_ASYNC(xor_32, uint32_t, old ^ b)

static const struct {
    enum ptx_modifier operation;
    enum ptx_type type;
    exec_act_fn *act;
} reductions[] = {
    {PTX_MOD_ADD, PTX_U32, add_32},    {PTX_MOD_ADD, PTX_S32, add_32},    {PTX_MOD_ADD, PTX_U64, add_64},
    {PTX_MOD_INC, PTX_U32, increment}, {PTX_MOD_DEC, PTX_U32, decrement}, {PTX_MOD_MIN, PTX_U32, min_u32},
    {PTX_MOD_MAX, PTX_U32, max_u32},   {PTX_MOD_MIN, PTX_S32, min_s32},   {PTX_MOD_MAX, PTX_S32, max_s32},
    {PTX_MOD_AND, PTX_B32, and_32},    {PTX_MOD_OR, PTX_B32, or_32},      {PTX_MOD_XOR, PTX_B32, xor_32},
};

exec_act_fn *exec_select_red_async(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    bool is_shared = insn->space == PTX_SPACE_SHARED || insn->space == PTX_SPACE_GENERIC;
    if (!is_shared || form->n_src != 4)
        return NULL;
    for (size_t k = 0; k < sizeof(reductions) / sizeof(reductions[0]); k++)
        if (reductions[k].type == insn->type[0] && ptx_has(insn, reductions[k].operation))
            return form->src_bits[1] == ptx_type_bits(insn->type[0]) ? reductions[k].act : NULL;
    return NULL;
}
