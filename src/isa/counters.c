/* Comparisons that end loops. A compiler may write the bound of a loop before its counter; ptxas unrolls such a loop
 * all the same. This pass puts the counter first, where the other passes look for it. Every thread computes the same.
 */
#include "isa/internal.h"

struct sight {
    uint32_t wanted;
    bool is_written;
};

static void look_for_write(void *user, uint32_t r, bool is_write) {
    struct sight *sight = user;
    sight->is_written |= is_write && r == sight->wanted;
}

static bool is_written_between(const struct ptx_function *function, uint32_t r, uint32_t first, uint32_t last) {
    struct sight sight = {.wanted = r};
    for (uint32_t i = first; i <= last && !sight.is_written; i++)
        ptx_for_each_register(&function->instruction[i], look_for_write, &sight);
    return sight.is_written;
}

static void exchange_modifiers(struct ptx_instruction *insn, enum ptx_modifier a, enum ptx_modifier b) {
    bool has_a = ptx_has(insn, a), has_b = ptx_has(insn, b);
    uint64_t bit_a = 1ull << (a % 64), bit_b = 1ull << (b % 64);
    insn->modifiers[a / 64] = (insn->modifiers[a / 64] & ~bit_a) | (has_b ? bit_a : 0);
    insn->modifiers[b / 64] = (insn->modifiers[b / 64] & ~bit_b) | (has_a ? bit_b : 0);
}

static bool is_integer_comparison(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_SETP && insn->n_operands == 3 && ptx_type_kind(isa_type(insn)) != PTX_KIND_F &&
           insn->operand[1].kind == PTX_OPERAND_REGISTER && insn->operand[2].kind == PTX_OPERAND_REGISTER;
}

/* Returns the comparison that guards a branch back to an earlier instruction, or ISA_NONE. */
static uint32_t find_comparison(const struct ptx_function *function, uint32_t branch) {
    const struct ptx_instruction *insn = &function->instruction[branch];
    if (!isa_has_target(insn) || insn->guard == PTX_NO_INDEX || insn->operand[0].target >= branch)
        return ISA_NONE;
    for (uint32_t i = branch; i-- > insn->operand[0].target;)
        if (isa_result(&function->instruction[i]) == insn->guard)
            return is_integer_comparison(&function->instruction[i]) ? i : ISA_NONE;
    return ISA_NONE;
}

void isa_turn_counters(struct ptx_function *function) {
    for (uint32_t branch = 0; branch < function->n_instructions; branch++) {
        uint32_t comparison = find_comparison(function, branch);
        if (comparison == ISA_NONE)
            continue;
        struct ptx_instruction *insn = &function->instruction[comparison];
        uint32_t first = function->instruction[branch].operand[0].target;
        if (is_written_between(function, insn->operand[1].register_id, first, branch) ||
            !is_written_between(function, insn->operand[2].register_id, first, branch))
            continue;
        struct ptx_operand bound = insn->operand[1];
        insn->operand[1] = insn->operand[2];
        insn->operand[2] = bound;
        exchange_modifiers(insn, PTX_MOD_LT, PTX_MOD_GT);
        exchange_modifiers(insn, PTX_MOD_LE, PTX_MOD_GE);
        exchange_modifiers(insn, PTX_MOD_LO, PTX_MOD_HI);
        exchange_modifiers(insn, PTX_MOD_LS, PTX_MOD_HS);
    }
}
