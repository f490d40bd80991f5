/* Constants that an instruction cannot contain. An instruction has room for 32 bits of one constant. For a number in
 * double precision these are the upper 32 bits; a number with other bits takes two instructions (UMOV), which ptxas
 * places in the basic block that uses it. A product and sum with two constants, and a choice between two, need one of
 * them in a register: ptxas loads it once, before a loop. So is a constant that is stored or that an atomic adds. Zero
 * is a register.
 *
 * Found with ptxas 13.0 on kernels of one such instruction, and of a loop of it. Constants that stay in registers from
 * one block to the next are left out. */
#include "isa/internal.h"

enum { MOST_KNOWN = 32 };

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
    bool is_in_loop = code->analysis->block[code->analysis->block_of[i]].loop_header != PTX_NO_BLOCK;
    unsigned sum = 0, n = 0;
    for (unsigned k = insn->n_operands; k-- > 1;) {
        uint64_t value = insn->operand[k].value;
        if (!isa_is_constant(&insn->operand[k]) || !value)
            continue;
        bool is_second = ++n > 1;
        if (is_double && (uint32_t)value && !is_known(known, value))
            sum += 2;
        else if (is_second && !is_in_loop && !is_known(known, value))
            sum += is_double ? 2 : 1;
    }
    return sum;
}

void isa_load_constants(struct isa_code *code) {
    struct known known = {.n = 0};
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        unsigned n = 0;
        if (i == 0 || code->analysis->block_of[i] != code->analysis->block_of[i - 1])
            known.n = 0;
        if (may_hold(insn) && insn->n_operands > 2 && code->insn[i].parts)
            n = count_loads(code, i, &known);
        else if (isa_is_access(insn))
            n = count_stored(code, i, &known);
        code->insn[i].parts = (uint16_t)(code->insn[i].parts + ISA_PARTS * n);
        code->insn[i].n_constants = (uint8_t)n;
    }
}
