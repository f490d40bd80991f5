/* What memory instructions have in common: which file gives one its meaning (fences and prefetches have none: they
 * change no value), and where one went. */
#include "exec/internal.h"

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
    default:
        return NULL;
    }
}

uint32_t exec_far_lanes(const struct exec_context *cx, const struct exec_insn *insn, uint32_t mask) {
    if (!exec_has_addresses(insn->kind) || insn->opcode == PTX_OP_CVTA || insn->opcode == PTX_OP_ISSPACEP)
        return 0;
    uint32_t lanes = insn->kind == EXEC_KIND_WARP_MEMORY ? cx->touched : mask;
    enum ptx_space space = (enum ptx_space)insn->access.space;
    uint64_t offset;
    if (ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE)
        space = PTX_SPACE_GLOBAL;
    else if (space == PTX_SPACE_GENERIC && lanes)
        space = exec_generic_space(cx->address[__builtin_ctz(lanes)], &offset);
    return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_LOCAL ? lanes : 0;
}
