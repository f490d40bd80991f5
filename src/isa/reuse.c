/* Removes repeated loads. PTX repeats loads of the same word in a basic block around inline assembler, and of the same
 * fragment of a matrix, because LLVM moves no such load across another. Machine code loads the word or the fragment
 * once, unless something between may change it (ptxas 13.0 on small kernels: also across products, but not across
 * barriers).
 *
 * A second load of a word of shared memory becomes a move of the first one's result. A second load of a fragment
 * disappears: the instructions that read its registers read those of the first one. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "isa/internal.h"
#include "ptx/matrix.h"

enum { MOST_KNOWN = 256 };

/* Loads of the block whose values are still valid, and in registers. */
struct known {
    const struct ptx_instruction *load[MOST_KNOWN];
    uint32_t n;
    uint32_t *name;     /* per register: the one that is read instead */
    uint32_t *n_writes; /* per register: instructions of the block that write it */
};

static bool is_plain_load(const struct ptx_instruction *insn) {
    uint32_t bits = ptx_type_bits(isa_type(insn));
    return insn->opcode == PTX_OP_LD && insn->space == PTX_SPACE_SHARED && insn->vector <= 1 &&
           (bits == 32 || bits == 64) && insn->guard == PTX_NO_INDEX && !ptx_has(insn, PTX_MOD_VOLATILE) &&
           !ptx_has(insn, PTX_MOD_RELAXED) && !ptx_has(insn, PTX_MOD_ACQUIRE) &&
           insn->operand[1].register_id != PTX_NO_INDEX && !insn->operand[1].variable &&
           insn->operand[0].kind == PTX_OPERAND_REGISTER;
}

static bool is_fragment_load(const struct ptx_instruction *insn) {
    return insn->matrix && insn->matrix->action == PTX_MATRIX_LOAD && insn->guard == PTX_NO_INDEX &&
           insn->operand[0].kind == PTX_OPERAND_VECTOR && insn->operand[1].kind == PTX_OPERAND_ADDRESS;
}

/* Returns whether words of this memory may have other values after the instruction than before. */
static bool may_change_words(const struct ptx_instruction *insn, enum ptx_space space) {
    bool is_fragment = insn->matrix && insn->matrix->action == PTX_MATRIX_STORE;
    if (insn->opcode == PTX_OP_ST || is_fragment)
        return insn->space == space || insn->space == PTX_SPACE_GENERIC || space == PTX_SPACE_GENERIC;
    if (insn->matrix && insn->opcode != PTX_OP_WGMMA)
        return false;
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

static bool is_same_operand(const struct ptx_operand *a, const struct ptx_operand *b) {
    return a->kind == b->kind && a->register_id == b->register_id && a->variable == b->variable &&
           a->offset == b->offset && a->value == b->value;
}

static bool is_same_load(const struct ptx_instruction *a, const struct ptx_instruction *b) {
    if (a->matrix || b->matrix) {
        bool is_same = a->n_operands == b->n_operands && a->text_length == b->text_length &&
                       memcmp(a->text, b->text, a->text_length) == 0;
        for (unsigned k = 1; k < a->n_operands && is_same; k++)
            is_same = is_same_operand(&a->operand[k], &b->operand[k]);
        return is_same;
    }
    return isa_type(a) == isa_type(b) && a->operand[1].register_id == b->operand[1].register_id &&
           a->operand[1].offset == b->operand[1].offset && memcmp(a->modifiers, b->modifiers, sizeof a->modifiers) == 0;
}

static const struct ptx_instruction *find_known(const struct known *known, const struct ptx_instruction *insn) {
    for (uint32_t i = 0; i < known->n; i++)
        if (is_same_load(known->load[i], insn))
            return known->load[i];
    return NULL;
}

static bool is_in_register(const struct ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_REGISTER ||
           (operand->kind == PTX_OPERAND_ADDRESS && operand->register_id != PTX_NO_INDEX);
}

/* A register gets another value: forgets the loads whose result or address it held. A fragment's own registers get no
 * other value in the block. */
static void forget(void *user, uint32_t r, bool is_write) {
    struct known *known = user;
    uint32_t n = 0;
    for (uint32_t i = 0; i < known->n; i++) {
        const struct ptx_instruction *load = known->load[i];
        bool holds = false;
        for (unsigned k = 0; k < load->n_operands; k++)
            holds |= is_in_register(&load->operand[k]) && load->operand[k].register_id == r;
        if (!is_write || !holds)
            known->load[n++] = load;
    }
    known->n = n;
}

static void forget_changed(struct known *known, const struct ptx_instruction *insn) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < known->n; i++)
        if (!may_change_words(insn, known->load[i]->space))
            known->load[n++] = known->load[i];
    known->n = n;
}

static void become_move(struct ptx_instruction *insn, uint32_t from) {
    insn->opcode = PTX_OP_MOV;
    insn->space = PTX_SPACE_GENERIC;
    memset(insn->modifiers, 0, sizeof insn->modifiers);
    insn->operand[1] = (struct ptx_operand){.kind = PTX_OPERAND_REGISTER, .register_id = from, .pair_id = PTX_NO_INDEX};
}

/* ---- Fragments --------------------------------------------------------------------------------------------------- */

static void count_write(void *user, uint32_t r, bool is_write) {
    struct known *known = user;
    known->n_writes[r] += is_write;
}

static void clear(void *user, uint32_t r, bool is_write) {
    struct known *known = user;
    (void)is_write;
    known->n_writes[r] = 0;
    known->name[r] = r;
}

static void begin_block(struct known *known, const struct ptx_function *function, const struct ptx_block *block) {
    known->n = 0;
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        ptx_for_each_register(&function->instruction[i], clear, known);
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        ptx_for_each_register(&function->instruction[i], count_write, known);
}

/* Returns whether the block writes each register of the fragment once. */
static bool is_written_once(const struct known *known, const struct ptx_operand *fragment) {
    for (uint32_t e = 0; e < fragment->n_elements; e++)
        if (fragment->element[e].kind != PTX_OPERAND_REGISTER || known->n_writes[fragment->element[e].register_id] != 1)
            return false;
    return true;
}

/* Returns whether no other block reads the fragment. */
static bool ends_in_block(const struct ptx_analysis *analysis, const struct ptx_block *block,
                          const struct ptx_operand *fragment) {
    for (uint32_t s = 0; s < block->n_successors; s++)
        for (uint32_t e = 0; e < fragment->n_elements; e++)
            if (ptx_is_live_in(analysis, block->successor[s], fragment->element[e].register_id))
                return false;
    return true;
}

static void rename(const struct known *known, struct ptx_operand *operand) {
    if (is_in_register(operand))
        operand->register_id = known->name[operand->register_id];
    for (uint32_t e = 0; operand->kind == PTX_OPERAND_VECTOR && e < operand->n_elements; e++)
        rename(known, &operand->element[e]);
}

/* Reads the registers of the first load instead of those of the second. Operands that are written have no other name:
 * nothing else writes these registers. */
static void rename_reads(const struct known *known, struct ptx_instruction *insn) {
    for (unsigned k = 0; k < insn->n_operands; k++)
        rename(known, &insn->operand[k]);
    for (uint32_t k = 0; insn->call && k < insn->call->n_arguments; k++)
        rename(known, &insn->call->argument[k]);
}

static void replace(struct known *known, const struct ptx_operand *second, const struct ptx_operand *first) {
    for (uint32_t e = 0; e < second->n_elements; e++)
        known->name[second->element[e].register_id] = first->element[e].register_id;
}

void isa_reuse_loads(struct ptx_function *function) {
    struct ptx_analysis *analysis = ptx_analyze_flow(function);
    struct known known = {.n = 0};
    known.name = base_allocate(function->n_registers + 1, sizeof *known.name);
    known.n_writes = base_allocate(function->n_registers + 1, sizeof *known.n_writes);
    bool *is_gone = base_allocate(function->n_instructions + 1, sizeof(bool));
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        struct ptx_instruction *insn = &function->instruction[i];
        const struct ptx_block *block = &analysis->block[analysis->block_of[i]];
        if (i == block->first)
            begin_block(&known, function, block);
        rename_reads(&known, insn);
        forget_changed(&known, insn);
        bool is_fragment = is_fragment_load(insn) && is_written_once(&known, &insn->operand[0]);
        bool is_kept = is_plain_load(insn) ? insn->operand[0].register_id != insn->operand[1].register_id : is_fragment;
        const struct ptx_instruction *first = is_plain_load(insn) || is_fragment ? find_known(&known, insn) : NULL;
        is_gone[i] = first && is_fragment && ends_in_block(analysis, block, &insn->operand[0]);
        if (is_gone[i]) {
            replace(&known, &insn->operand[0], &first->operand[0]);
            continue;
        }
        if (first && !is_fragment)
            become_move(insn, first->operand[0].register_id);
        ptx_for_each_register(insn, forget, &known);
        if (!first && is_kept && known.n < MOST_KNOWN)
            known.load[known.n++] = insn;
    }
    isa_take_out(function, is_gone);
    free(known.name);
    free(known.n_writes);
    free(is_gone);
    ptx_analysis_free(analysis);
}
