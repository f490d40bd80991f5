/* Constants that an instruction cannot contain. An instruction has room for 32 bits of one constant. For a number in
 * double precision these are the upper 32 bits; a number with other bits takes two instructions (UMOV), which ptxas
 * places in the basic block that uses it. A product and sum with two constants, and a choice between two, need one of
 * them in a register. So does a constant that is stored or that an atomic adds. A compare-and-swap has both its numbers
 * in a pair of registers. Zero is a register.
 *
 * The constants of a short block that every iteration of an innermost loop executes are loaded before the loop, unless
 * the loop loads from global memory: such a loop has time to load them in every iteration. Those of choices stay in
 * their registers.
 *
 * Found with ptxas 13.0 on kernels of one such instruction, and of loops of different lengths with up to 16 of them.
 * Constants that stay in registers from one block to the next are left out. */
#include "isa/internal.h"

#include <stdlib.h>

#include "base/memory.h"

enum { MOST_KNOWN = 32, LONGEST_BLOCK = 18 * ISA_PARTS };

/* The constants that the block has in registers. */
struct known {
    uint64_t value[MOST_KNOWN];
    uint32_t n;
};

static bool is_known(struct known *known, uint64_t value) {
    for (uint32_t k = 0; k < known->n; k++)
        if (known->value[k] == value)
            return true;
    if (known->n < MOST_KNOWN)
        known->value[known->n++] = value;
    return false;
}

/* The constant of an operand, also if a register holds it. Returns whether there is one. */
static bool find_value(const struct isa_code *code, const struct ptx_operand *operand, uint64_t *value) {
    if (!isa_is_known(code, operand))
        return false;
    uint32_t d = isa_definition(code, operand);
    *value = isa_is_constant(operand) ? operand->value : isa_source(code, d)->operand[1].value;
    return true;
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static uint32_t parts_of(const struct isa_code *code, const struct ptx_block *block) {
    uint32_t sum = 0;
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        sum += code->insn[i].parts;
    return sum;
}

static bool loads(const struct isa_code *code, const struct ptx_block *block) {
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (insn->opcode == PTX_OP_CALL ||
            (insn->opcode == PTX_OP_LD && (insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_GENERIC)))
            return true;
    }
    return false;
}

/* Marks the blocks whose constants are loaded before their loop. */
static bool *find_hoisted(const struct isa_code *code) {
    const struct ptx_analysis *analysis = code->analysis;
    bool *is_hoisted = base_allocate(analysis->n_blocks + 1, sizeof(bool));
    bool *is_outer = base_allocate(analysis->n_blocks + 1, sizeof(bool)); /* per header: the loop contains loops, */
    bool *has_load = base_allocate(analysis->n_blocks + 1, sizeof(bool)); /* or loads */
    for (uint32_t l = 0; l < analysis->n_loops; l++)
        if (analysis->loop[l].parent != PTX_NO_INDEX)
            is_outer[analysis->loop[analysis->loop[l].parent].header] = true;
    for (uint32_t b = 0; b < analysis->n_blocks; b++)
        if (analysis->block[b].loop_header != PTX_NO_BLOCK && loads(code, &analysis->block[b]))
            has_load[analysis->block[b].loop_header] = true;
    for (uint32_t b = 0; b < analysis->n_blocks; b++) {
        uint32_t header = analysis->block[b].loop_header, at = PTX_NO_BLOCK;
        if (header == PTX_NO_BLOCK || is_outer[header] || has_load[header] ||
            parts_of(code, &analysis->block[b]) > LONGEST_BLOCK)
            continue;
        is_hoisted[b] = true;
        for (uint32_t p = 0; p < analysis->block[header].n_predecessors && is_hoisted[b]; p++) {
            at = analysis->block[header].predecessor[p];
            if (analysis->block[at].loop_header != header)
                continue;
            while (at != b && at != header && at != PTX_NO_BLOCK)
                at = analysis->block[at].dominator;
            is_hoisted[b] = at == b;
        }
        uint32_t before = analysis->block[header].dominator;
        is_hoisted[b] &= before != PTX_NO_BLOCK && analysis->block[before].count > 0;
    }
    free(is_outer);
    free(has_load);
    return is_hoisted;
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

/* Returns the machine instructions that bring the numbers of a compare-and-swap into a pair of registers. If the first
 * one is a constant, the second is copied beside it, unless no swap before this one has it. */
static unsigned count_swapped(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    const struct ptx_operand *compared = &insn->operand[2], *swapped = &insn->operand[3];
    uint64_t value;
    bool has_constant = find_value(code, compared, &value);
    unsigned words = ptx_type_bits(isa_type(insn)) == 64 ? 2 : 1;
    unsigned sum = has_constant ? (value > UINT32_MAX ? 2 : 1) : 0;
    if (find_value(code, swapped, &value))
        return sum + (value > UINT32_MAX ? 2 : 1);
    if (!has_constant || swapped->kind != PTX_OPERAND_REGISTER)
        return sum;
    for (uint32_t u = code->first_use[swapped->register_id]; u < code->first_use[swapped->register_id + 1]; u++) {
        const struct ptx_instruction *other = isa_source(code, code->use[u]);
        if (code->use[u] < i && other->opcode == PTX_OP_ATOM && ptx_has(other, PTX_MOD_CAS))
            return sum + words;
    }
    return sum;
}

/* Returns the machine instructions that bring what an access stores or adds into a register. */
static unsigned count_stored(const struct isa_code *code, uint32_t i, struct known *known) {
    const struct ptx_instruction *insn = isa_source(code, i);
    bool is_store = insn->opcode == PTX_OP_ST;
    bool is_atomic = (insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED) && insn->space != PTX_SPACE_SHARED &&
                     !isa_is_joined(code, insn);
    unsigned sum = 0;
    for (unsigned k = 1; (is_store || is_atomic) && k < insn->n_operands; k++) {
        const struct ptx_operand *operand = &insn->operand[k];
        if (isa_is_constant(operand) && (operand->value || is_atomic))
            sum += !is_known(known, operand->value);
    }
    return sum;
}

static bool may_hold(const struct ptx_instruction *insn) {
    switch (insn->opcode) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
    case PTX_OP_SETP:
    case PTX_OP_SELP:
        return true;
    default:
        return false;
    }
}

/* Returns the machine instructions that bring the instruction's constants into registers. */
static unsigned count_loads(const struct isa_code *code, uint32_t i, struct known *known) {
    const struct ptx_instruction *insn = isa_source(code, i);
    bool is_double = isa_type(insn) == PTX_F64;
    bool is_kept = insn->opcode == PTX_OP_SELP && code->analysis->block[code->analysis->block_of[i]].loop_depth > 0;
    unsigned sum = 0, n = 0;
    uint64_t value;
    for (unsigned k = insn->n_operands; k-- > 1;) {
        if (!find_value(code, &insn->operand[k], &value) || !value)
            continue;
        bool is_second = ++n > 1;
        if (is_double && (uint32_t)value && !is_known(known, value))
            sum += 2;
        else if (is_second && !is_kept && !is_known(known, value))
            sum += is_double ? 2 : 1;
    }
    return sum;
}

void isa_load_constants(struct isa_code *code) {
    const struct ptx_analysis *analysis = code->analysis;
    struct known known = {.n = 0};
    bool *is_hoisted = find_hoisted(code);
    uint32_t at = ISA_NONE; /* the place of the constants that are known */
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t block = analysis->block_of[i], before = at, n = 0;
        at = is_hoisted[block] ? analysis->block[analysis->block[block].loop_header].dominator : block;
        if (at != before)
            known.n = 0;
        bool is_swap = insn->opcode == PTX_OP_ATOM && ptx_has(insn, PTX_MOD_CAS) && insn->n_operands == 4;
        if (is_swap)
            n = count_swapped(code, i);
        else if (may_hold(insn) && insn->n_operands > 2 && code->insn[i].parts)
            n = count_loads(code, i, &known);
        else if (isa_is_access(insn))
            n = count_stored(code, i, &known);
        uint32_t to = at == block || is_swap ? i : analysis->block[at].first + analysis->block[at].count - 1;
        code->insn[to].parts = (uint16_t)(code->insn[to].parts + ISA_PARTS * n);
        code->insn[to].n_constants = (uint8_t)(code->insn[to].n_constants + n);
    }
    free(is_hoisted);
}
