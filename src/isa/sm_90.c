/* sm_90: Hopper, such as the H200. */
#include "isa/internal.h"

static bool is_half(enum ptx_type type) {
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F16X2 || type == PTX_BF16X2;
}

/* As on sm_89, but not all conversions are in the special-function unit (CUDA C++ Programming Guide 13.0: 64 per cycle
 * and SM, others 16). Integers of 32 bits, and smaller ones without a sign, become single-precision numbers elsewhere.
 * So do numbers of half precision, by a sum with zero or a shift, and single-precision numbers become halves, alone or
 * in pairs, where logic executes (HADD2.F32, F2FP: ptxas 13.0 schedules them with a fixed latency, and Nsight Compute
 * counts no instruction of that unit for gemm and halves). */
static void choose_unit(const struct ptx_instruction *source, struct isa_insn *insn) {
    enum ptx_type to = isa_type(source), from = isa_source_type(source);
    bool is_integer = ptx_type_kind(from) != PTX_KIND_F;
    bool is_short = ptx_type_kind(from) == PTX_KIND_S && ptx_type_bits(from) < 32;
    bool is_to_single = to == PTX_F32 && (is_integer ? !is_short : is_half(from));
    if (isa_converts(source) && is_half(to) && from == PTX_F32)
        isa_use(insn, ISA_UNIT_MULTIPLY, ISA_LATENCY_ALU);
    else if ((isa_converts(source) && !is_to_single) || isa_counts_bits(source))
        isa_use(insn, ISA_UNIT_SFU, ISA_LATENCY_SFU);
    else if (isa_converts(source) && !is_integer)
        isa_use(insn, ISA_UNIT_ALU, ISA_LATENCY_ALU);
    else
        isa_choose_half(source, insn);
}

const struct isa_target isa_sm_90 = {
    .name = "sm_90",
    .compiler = &isa_ptxas,
    .cost = isa_ptxas_cost,
    .choose_unit = choose_unit,
    .sequence_passes = 1,
};
