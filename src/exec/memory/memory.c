/* Selects the function of a memory instruction, and finds the space that it accessed. Fences and prefetches have no
 * function, because they change no value. */
#include "exec/memory/mbarrier.h"
#include "exec/memory/tensor.h"

exec_act_fn *exec_select_memory(const struct exec_form *form) {
    switch (form->insn->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
        return exec_select_load(form);
    case PTX_OP_ST:
        return exec_select_store(form);
    case PTX_OP_CVTA:
    case PTX_OP_ISSPACEP:
        return exec_select_address_space(form);
    case PTX_OP_ALLOCA:
    case PTX_OP_STACKSAVE:
    case PTX_OP_STACKRESTORE:
        return exec_select_stack(form);
    default:
        return NULL;
    }
}

exec_act_fn *exec_select_async(const struct exec_form *form, exec_lanes_fn **lanes) {
    switch (form->insn->opcode) {
    case PTX_OP_CP:
        return exec_select_copy(form);
    case PTX_OP_TENSORMAP:
        return exec_select_tensor_map(form);
    case PTX_OP_MBARRIER:
        if (!ptx_has(form->insn, PTX_MOD_PENDING_COUNT))
            return exec_select_mbarrier(form);
        *lanes = exec_select_pending_count(form);
        return NULL;
    default:
        *lanes = exec_select_cluster(form);
        return NULL;
    }
}

enum ptx_space exec_accessed_space(const struct exec_context *cx, const struct exec_insn *insn, uint32_t mask,
                                   uint32_t *lanes) {
    uint64_t offset;
    *lanes = insn->kind == EXEC_KIND_WARP_MEMORY ? cx->touched : mask;
    if (insn->is_texture)
        return PTX_SPACE_GLOBAL;
    if (insn->access.space == PTX_SPACE_GENERIC && *lanes)
        return exec_generic_space(cx->address[__builtin_ctz(*lanes)], &offset);
    return (enum ptx_space)insn->access.space;
}
