/* The target of machines whose papers count PTX instructions: each PTX instruction is one machine instruction. */
#include "isa/internal.h"

static unsigned cost(const struct isa_code *code, uint32_t i) {
    (void)code;
    (void)i;
    return 1;
}

/* Instructions that Fermi executes at half the rate of an addition (CUDA C Programming Guide 4.2, 5.4.1: 16 per clock
 * and SM in compute capability 2.0, and also in 2.1, which has 1.5 times as many lanes: so one unit serves the whole
 * SM). There, conversions among integers of 32 and 64 bits are moves. */
static bool is_slower(const struct ptx_instruction *insn) {
    switch (insn->opcode) {
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_MADC:
    case PTX_OP_MUL24:
    case PTX_OP_MAD24:
        return !isa_is_float(insn);
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_SHF:
    case PTX_OP_BFE:
    case PTX_OP_BFI:
    case PTX_OP_BREV:
    case PTX_OP_CLZ:
    case PTX_OP_BFIND:
    case PTX_OP_POPC:
    case PTX_OP_SAD:
        return true;
    case PTX_OP_CVT:
        return isa_converts(insn) || ptx_type_bits(isa_type(insn)) < 32 || ptx_type_bits(isa_source_type(insn)) < 32;
    default:
        return false;
    }
}

static void choose_unit(const struct ptx_instruction *source, struct isa_insn *insn) {
    if (insn->unit == ISA_UNIT_ALU && is_slower(source))
        insn->unit = insn->lanes = ISA_UNIT_MULTIPLY;
}

const struct isa_target isa_ptx = {
    .name = "ptx",
    .cost = cost,
    .choose_unit = choose_unit,
    .sequence_passes = 4,
};
