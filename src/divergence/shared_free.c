/* Backwards over the control flow of all functions, to a fixed point. A generic address may be a shared one. See
 * shared_free.h. */
#include "divergence/shared_free.h"

#include <stdbool.h>

#include "base/memory.h"

static bool accesses_shared(const struct exec_insn *insn) {
    if (!exec_has_addresses(insn->kind))
        return false;
    return insn->access.space == PTX_SPACE_SHARED || insn->access.space == PTX_SPACE_GENERIC;
}

static bool successor_does(const struct exec_program *program, const uint8_t *reaches, uint32_t pc) {
    const struct exec_insn *insn = &program->code[pc];
    bool falls = pc + 1 < program->n_insns && reaches[pc + 1];
    switch ((enum exec_kind)insn->kind) {
    case EXEC_KIND_BRANCH:
    case EXEC_KIND_CALL:
        return reaches[insn->target] || falls;
    case EXEC_KIND_BRANCH_INDEXED: {
        const uint32_t *table = program->branch_table[insn->target];
        for (uint32_t i = 0; i < table[0]; i++)
            falls |= reaches[table[1 + i]];
        return falls;
    }
    case EXEC_KIND_CALL_INDIRECT: /* any function */
        for (uint32_t i = 0; i < program->n_functions; i++)
            falls |= reaches[program->function[i].first_pc];
        return falls;
    case EXEC_KIND_RETURN: /* what follows the call counts there */
        return false;
    case EXEC_KIND_EXIT:
        return insn->guard.offset && falls;
    default:
        return falls;
    }
}

void divergence_find_shared_free(const struct exec_program *program, uint8_t *is_free) {
    uint8_t *reaches = base_allocate(program->n_insns, 1);
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        reaches[pc] = accesses_shared(&program->code[pc]);
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (uint32_t pc = program->n_insns; pc-- > 0;)
            if (!reaches[pc] && successor_does(program, reaches, pc))
                reaches[pc] = has_changed = true;
    }
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        is_free[pc] = !reaches[pc];
    free(reaches);
}
