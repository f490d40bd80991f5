/* sm_80: Ampere, such as the A100. */
#include "isa/internal.h"

/* Each scheduler has 16 lanes for single precision and products of integers, and 16 for everything else except special
 * functions. Both work at the same time (NVIDIA A100 white paper; CUDA C++ Programming Guide 13.0, throughput of
 * compute capability 8.0). */
static void choose_unit(const struct ptx_instruction *source, struct isa_insn *insn) {
    bool is_sum = source->opcode == PTX_OP_ADD || source->opcode == PTX_OP_SUB || source->opcode == PTX_OP_FMA;
    if (isa_converts(source) || isa_counts_bits(source)) {
        isa_use(insn, ISA_UNIT_SFU, ISA_LATENCY_SFU);
    } else if (insn->unit == ISA_UNIT_ALU && (isa_multiplies(source) || (is_sum && insn->work == ISA_WORK_FLOAT))) {
        insn->unit = insn->lanes = ISA_UNIT_MULTIPLY;
        isa_take_twice_if_long(source, insn);
    }
}

const struct isa_target isa_sm_80 = {
    .name = "sm_80",
    .compiler = &isa_ptxas,
    .cost = isa_ptxas_cost,
    .choose_unit = choose_unit,
    .sequence_passes = 1,
};
