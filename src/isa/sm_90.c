/* sm_90: Hopper, such as the H200. */
#include "isa/internal.h"

/* As on sm_89, but integers become single-precision numbers elsewhere than in the special-function unit (CUDA C++
 * Programming Guide 13.0: 64 per cycle and SM, other conversions 16). */
static void choose_unit(const struct ptx_instruction *source, struct isa_insn *insn) {
    bool is_to_single = isa_type(source) == PTX_F32 && ptx_type_kind(isa_source_type(source)) != PTX_KIND_F;
    if ((isa_converts(source) && !is_to_single) || isa_counts_bits(source))
        isa_use(insn, ISA_UNIT_SFU, ISA_LATENCY_SFU);
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
