/* sm_89: Ada, such as the RTX 4090. Other cards since Ampere that have 128 lanes on an SM divide them in the same way.
 */
#include "isa/internal.h"

static bool is_logic_or_comparison(const struct ptx_instruction *insn) {
    switch (insn->opcode) {
    case PTX_OP_SETP:
    case PTX_OP_SELP:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_SHF:
    case PTX_OP_BFE:
    case PTX_OP_BFI:
    case PTX_OP_PRMT:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
    case PTX_OP_LOP3:
    case PTX_OP_SAD:
        return true;
    case PTX_OP_CVT: /* those that are no moves */
        return isa_converts(insn) || ptx_type_bits(isa_type(insn)) < 32 || ptx_type_bits(isa_source_type(insn)) < 32;
    default:
        return false;
    }
}

/* Each scheduler has 16 lanes for comparisons, selections, shifts, permutations, minima and logic (MULTIPLY), and 32
 * for single precision (ALU). 16 of the 32 can multiply integers meanwhile. ptxas writes sums of integers for either
 * kind, so that both are in use (bench/hardware: op_setp_selp, op_shf, op_prmt, op_imin_iadd, op_imad, op_iadd_xor,
 * pair_ffma+imad, pair_ffma+shf). */
void isa_choose_half(const struct ptx_instruction *source, struct isa_insn *insn) {
    bool is_sum = source->opcode == PTX_OP_ADD || source->opcode == PTX_OP_SUB;
    if (insn->unit != ISA_UNIT_ALU)
        return;
    if (is_logic_or_comparison(source)) {
        insn->unit = insn->lanes = ISA_UNIT_MULTIPLY;
    } else if (isa_multiplies(source) && !isa_is_float(source)) {
        insn->lanes = ISA_UNIT_MULTIPLY;
        isa_take_twice_if_long(source, insn);
    } else if (is_sum && insn->work == ISA_WORK_INTEGER) {
        insn->lanes = ISA_UNIT_MULTIPLY;
        insn->is_either = true;
    }
}

/* Counting bits and conversions go to the special-function unit (op_popc, op_clz, op_i2f_f2i). */
static void choose_unit(const struct ptx_instruction *source, struct isa_insn *insn) {
    if (isa_converts(source) || isa_counts_bits(source))
        isa_use(insn, ISA_UNIT_SFU, ISA_LATENCY_SFU);
    else
        isa_choose_half(source, insn);
}

const struct isa_target isa_sm_89 = {
    .name = "sm_89",
    .compiler = &isa_ptxas,
    .cost = isa_ptxas_cost,
    .choose_unit = choose_unit,
    .sequence_passes = 1,
};
