/* Loads that only move values inside shared memory: their registers are stored there again and used for nothing else.
 * A buffer's unused end may move with the rest, so such a load is no uninitialised read. The bytes that it moves stay
 * unwritten instead, and a later use of them is found. */
#include "exec/check/internal.h"

#include "base/arena.h"
#include "base/memory.h"

struct use {
    uint32_t n_writes, writer; /* pc */
    bool is_other;             /* used for something else than a store's value */
};

struct visit {
    struct use *use;
    const struct ptx_instruction *insn;
    uint32_t pc;
};

static bool is_in_shared(const struct ptx_instruction *insn, enum ptx_opcode opcode) {
    return insn->opcode == opcode && insn->space == PTX_SPACE_SHARED && !ptx_has(insn, PTX_MOD_ASYNC);
}

static void visit_register(void *user, uint32_t register_id, bool is_write) {
    const struct visit *visit = user;
    const struct ptx_instruction *insn = visit->insn;
    struct use *use = &visit->use[register_id];
    if (is_write) {
        use->n_writes++;
        use->writer = visit->pc;
        return;
    }
    bool is_value =
        is_in_shared(insn, PTX_OP_ST) && insn->operand[0].register_id != register_id && insn->guard != register_id;
    use->is_other |= !is_value;
}

/* Returns the register of a load's or store's first element, or PTX_NO_INDEX if it is none. */
static uint32_t first_register(const struct ptx_operand *operand) {
    const struct ptx_operand *first =
        operand->kind == PTX_OPERAND_VECTOR && operand->n_elements ? &operand->element[0] : operand;
    return first->kind == PTX_OPERAND_REGISTER ? first->register_id : PTX_NO_INDEX;
}

static bool only_moves(const struct use *use, const struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_VECTOR) {
        for (uint32_t i = 0; i < operand->n_elements; i++)
            if (!only_moves(use, &operand->element[i]))
                return false;
        return true;
    }
    return operand->kind == PTX_OPERAND_REGISTER && use[operand->register_id].n_writes == 1 &&
           !use[operand->register_id].is_other;
}

static void find_in_function(const struct exec_function *function, uint32_t *moves) {
    const struct ptx_function *ptx = function->ptx;
    struct use *use = base_allocate(ptx->n_registers, sizeof *use);
    for (uint32_t i = 0; i < ptx->n_instructions; i++)
        ptx_for_each_register(&ptx->instruction[i], visit_register,
                              &(struct visit){use, &ptx->instruction[i], function->first_pc + i});
    for (uint32_t i = 0; i < ptx->n_instructions; i++) {
        uint32_t pc = function->first_pc + i;
        if (is_in_shared(&ptx->instruction[i], PTX_OP_LD) && only_moves(use, &ptx->instruction[i].operand[0]))
            moves[pc] = pc + 1;
    }
    for (uint32_t i = 0; i < ptx->n_instructions; i++) {
        const struct ptx_instruction *insn = &ptx->instruction[i];
        uint32_t value = is_in_shared(insn, PTX_OP_ST) ? first_register(&insn->operand[1]) : PTX_NO_INDEX;
        if (value != PTX_NO_INDEX && use[value].n_writes == 1)
            moves[function->first_pc + i] = moves[use[value].writer];
    }
    free(use);
}

uint32_t *exec_check_find_moves(struct exec_program *program) {
    uint32_t *moves = base_arena_alloc_array(program->arena, program->n_insns, sizeof *moves, 16);
    memset(moves, 0, program->n_insns * sizeof *moves);
    for (uint32_t f = 0; f < program->n_functions; f++)
        find_in_function(&program->function[f], moves);
    return moves;
}
