/* Atomics whose result no instruction reads. ptxas makes reductions (RED) of them, for which a thread waits no longer
 * than for a store. Exchanges have no such form. */
#include <stdlib.h>

#include "base/memory.h"
#include "isa/internal.h"

static void note_read(void *user, uint32_t r, bool is_write) {
    bool *is_read = user;
    is_read[r] = is_read[r] || !is_write;
}

static bool has_reduction(const struct ptx_instruction *insn) {
    enum ptx_type type = isa_type(insn);
    unsigned bits = ptx_type_bits(type);
    bool is_exchange = ptx_has(insn, PTX_MOD_CAS) || ptx_has(insn, PTX_MOD_EXCH);
    bool is_ordered = ptx_has(insn, PTX_MOD_ACQUIRE) || ptx_has(insn, PTX_MOD_ACQ_REL);
    return insn->opcode == PTX_OP_ATOM && insn->n_operands == 3 && insn->n_types == 1 && insn->vector <= 1 &&
           (bits == 32 || bits == 64) && insn->operand[1].kind == PTX_OPERAND_ADDRESS && !is_exchange && !is_ordered;
}

/* An increment whose bound is the largest number never wraps at another one: ptxas adds one. */
static bool counts_on(const struct ptx_instruction *insn) {
    const struct ptx_operand *bound = &insn->operand[2];
    return ptx_has(insn, PTX_MOD_INC) && bound->kind == PTX_OPERAND_INTEGER && (uint32_t)bound->value == UINT32_MAX;
}

void isa_reduce_atomics(struct ptx_function *function) {
    bool *is_read = base_allocate(function->n_registers + 1, sizeof *is_read);
    for (uint32_t i = 0; i < function->n_instructions; i++)
        ptx_for_each_register(&function->instruction[i], note_read, is_read);
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        struct ptx_instruction *insn = &function->instruction[i];
        bool is_unread = has_reduction(insn) &&
                         (insn->operand[0].kind == PTX_OPERAND_SINK ||
                          (insn->operand[0].kind == PTX_OPERAND_REGISTER && !is_read[insn->operand[0].register_id]));
        if (!is_unread)
            continue;
        if (counts_on(insn)) {
            insn->modifiers[PTX_MOD_INC / 64] &= ~(UINT64_C(1) << PTX_MOD_INC % 64);
            insn->modifiers[PTX_MOD_ADD / 64] |= UINT64_C(1) << PTX_MOD_ADD % 64;
            insn->operand[2].value = 1;
        }
        insn->opcode = PTX_OP_RED;
        insn->operand++;
        insn->n_operands--;
    }
    free(is_read);
}
