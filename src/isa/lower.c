/* The list of passes. They do not model arithmetic that moves between blocks, values that the PTX computes twice and
 * machine code once (except loads from shared memory and of fragments), the rare paths of divisions and square roots,
 * and functions that a compiler would inline. */
#include "isa/internal.h"

void isa_rewrite(const struct isa_target *target, struct ptx_function *function, struct base_arena *arena) {
    if (!target->compiler)
        return;
    isa_reduce_atomics(function);
    isa_turn_branches(function);
    isa_turn_counters(function);
    isa_unroll(target, function, arena);
    isa_predicate(target, function);
    isa_reuse_loads(function);
    isa_join_accesses(function, arena);
    isa_hoist_loads(target, function);
    isa_schedule(target, function);
    if (isa_count_registers(target, function))
        isa_spill(target, function, arena);
    isa_save_registers(target, function, arena);
}

struct isa_code isa_estimate(const struct isa_target *target, const struct ptx_analysis *analysis) {
    struct isa_code code = isa_code_new(target, analysis);
    isa_fold(&code);
    isa_load_constants(&code);
    isa_convert_branches(&code);
    return code;
}

static struct isa_code compile(const struct isa_target *target, const struct ptx_analysis *analysis) {
    struct isa_code code = isa_estimate(target, analysis);
    isa_amortize_loops(&code);
    isa_place_bases(&code);
    isa_mark_regions(&code);
    isa_mark_jumps(&code);
    isa_pass_arguments(&code);
    isa_add_prologue(&code);
    return code;
}

struct isa_insn *isa_lower(const struct isa_target *target, const struct ptx_analysis *analysis) {
    struct isa_code code = target->compiler ? compile(target, analysis) : isa_code_new(target, analysis);
    isa_choose_units(&code);
    struct isa_insn *insn = code.insn;
    code.insn = NULL;
    isa_code_free(&code);
    return insn;
}
