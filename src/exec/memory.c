/* The selector of the memory family: which file gives an instruction its meaning. Fences and prefetches have none: they
 * change no value. */
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
