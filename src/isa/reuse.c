/* Removes repeated loads from shared memory. PTX repeats loads of the same word in a basic block around inline
 * assembler, because LLVM moves no load across it. Machine code loads the word once. The second load becomes a move of
 * the first one's result, unless something between them may change the word. */
#include <string.h>

#include "isa/internal.h"

enum { MOST_KNOWN = 256 };

/* Loads of the block whose values are still valid, and in registers. */
struct known {
    const struct ptx_instruction *load[MOST_KNOWN];
    uint32_t n;
};

static bool is_plain_load(const struct ptx_instruction *insn) {
    uint32_t bits = ptx_type_bits(isa_type(insn));
    return insn->opcode == PTX_OP_LD && insn->space == PTX_SPACE_SHARED && insn->vector <= 1 &&
           (bits == 32 || bits == 64) && insn->guard == PTX_NO_INDEX && !ptx_has(insn, PTX_MOD_VOLATILE) &&
           !ptx_has(insn, PTX_MOD_RELAXED) && !ptx_has(insn, PTX_MOD_ACQUIRE) &&
           insn->operand[1].register_id != PTX_NO_INDEX && !insn->operand[1].variable &&
           insn->operand[0].kind == PTX_OPERAND_REGISTER;
}

/* Returns whether words may have other values after the instruction than before. */
static bool may_change_words(const struct ptx_instruction *insn) {
    switch (ptx_opcode_family(insn->opcode)) {
    case PTX_FAMILY_INTEGER:
    case PTX_FAMILY_FLOAT:
    case PTX_FAMILY_BITS:
    case PTX_FAMILY_COMPARE:
    case PTX_FAMILY_CONVERT:
    case PTX_FAMILY_MOVE:
    case PTX_FAMILY_VIDEO:
        return false;
    default:
        return insn->opcode != PTX_OP_LD && insn->opcode != PTX_OP_LDU && insn->opcode != PTX_OP_CVTA;
    }
}

static bool is_same_load(const struct ptx_instruction *a, const struct ptx_instruction *b) {
    return isa_type(a) == isa_type(b) && a->operand[1].register_id == b->operand[1].register_id &&
           a->operand[1].offset == b->operand[1].offset && memcmp(a->modifiers, b->modifiers, sizeof a->modifiers) == 0;
}

static const struct ptx_instruction *find_known(const struct known *known, const struct ptx_instruction *insn) {
    for (uint32_t i = 0; i < known->n; i++)
        if (is_same_load(known->load[i], insn))
            return known->load[i];
    return NULL;
}

/* A register gets another value: forgets the loads whose result or address it held. */
static void forget(void *user, uint32_t r, bool is_write) {
    struct known *known = user;
    uint32_t n = 0;
    for (uint32_t i = 0; i < known->n; i++)
        if (!is_write || (known->load[i]->operand[0].register_id != r && known->load[i]->operand[1].register_id != r))
            known->load[n++] = known->load[i];
    known->n = n;
}

static void become_move(struct ptx_instruction *insn, uint32_t from) {
    insn->opcode = PTX_OP_MOV;
    insn->space = PTX_SPACE_GENERIC;
    memset(insn->modifiers, 0, sizeof insn->modifiers);
    insn->operand[1] = (struct ptx_operand){.kind = PTX_OPERAND_REGISTER, .register_id = from, .pair_id = PTX_NO_INDEX};
}

void isa_reuse_loads(struct ptx_function *function) {
    struct ptx_analysis *analysis = ptx_analyze_flow(function);
    struct known known = {.n = 0};
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        struct ptx_instruction *insn = &function->instruction[i];
        if (i == 0 || analysis->block_of[i] != analysis->block_of[i - 1] || may_change_words(insn))
            known.n = 0;
        const struct ptx_instruction *first = is_plain_load(insn) ? find_known(&known, insn) : NULL;
        bool is_new = is_plain_load(insn) && !first;
        if (first)
            become_move(insn, first->operand[0].register_id);
        ptx_for_each_register(insn, forget, &known);
        if (is_new && insn->operand[0].register_id != insn->operand[1].register_id && known.n < MOST_KNOWN)
            known.load[known.n++] = insn;
    }
    ptx_analysis_free(analysis);
}
