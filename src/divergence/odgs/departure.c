/* Walks backwards over the control flow of all functions, to a fixed point. A generic address may be a shared one. A
 * function may return to the instruction after any call that may call it. See departure.h. */
#include "divergence/odgs/departure.h"

#include <stdbool.h>

#include "base/memory.h"
#include "divergence/parts/resolve.h"

typedef bool does_fn(const struct exec_insn *insn);

static bool accesses_shared(const struct exec_insn *insn) {
    if (!exec_has_addresses(insn->kind))
        return false;
    return insn->access.space == PTX_SPACE_SHARED || insn->access.space == PTX_SPACE_GENERIC;
}

static bool waits_for_others(const struct exec_insn *insn) {
    return insn->kind == EXEC_KIND_BARRIER || divergence_is_row_sync(insn);
}

/* Returns whether the code does it after any call that the return at pc may belong to. */
static bool caller_does(const struct exec_program *program, const uint8_t *reaches, uint32_t pc) {
    for (uint32_t call = 0; call + 1 < program->n_insns; call++) {
        const struct exec_insn *insn = &program->code[call];
        bool may_be = insn->kind == EXEC_KIND_CALL_INDIRECT ||
                      (insn->kind == EXEC_KIND_CALL && program->function_of[insn->target] == program->function_of[pc]);
        if (may_be && reaches[call + 1])
            return true;
    }
    return false;
}

static bool successor_does(const struct exec_program *program, const uint8_t *reaches, uint32_t pc) {
    const struct exec_insn *insn = &program->code[pc];
    bool falls = pc + 1 < program->n_insns && reaches[pc + 1];
    switch ((enum exec_kind)insn->kind) {
    case EXEC_KIND_BRANCH:
    case EXEC_KIND_CALL:
        return reaches[insn->target] || falls;
    case EXEC_KIND_BRANCH_INDEXED: {
        const uint32_t *table = program->branch_table[insn->branch_table];
        for (uint32_t i = 0; i < table[0]; i++)
            falls |= reaches[table[1 + i]];
        return falls;
    }
    case EXEC_KIND_CALL_INDIRECT: /* any function */
        for (uint32_t i = 0; i < program->n_functions; i++)
            falls |= reaches[program->function[i].first_pc];
        return falls;
    case EXEC_KIND_RETURN:
        return (insn->guard.offset && falls) || caller_does(program, reaches, pc);
    case EXEC_KIND_EXIT:
        return insn->guard.offset && falls;
    default:
        return falls;
    }
}

static void find_free(const struct exec_program *program, does_fn *does, uint8_t *is_free) {
    uint8_t *reaches = base_allocate(program->n_insns, 1);
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        reaches[pc] = does(&program->code[pc]);
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

void divergence_find_shared_free(const struct exec_program *program, uint8_t *is_free) {
    find_free(program, accesses_shared, is_free);
}

void divergence_find_sync_free(const struct exec_program *program, uint8_t *is_free) {
    find_free(program, waits_for_others, is_free);
}
