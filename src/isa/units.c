/* The units that execute instructions. Special functions and divisions go to the SFU, double precision to its own unit,
 * and the target decides where everything else goes. Instructions other than arithmetic, which all GPUs since sm_80
 * treat alike, are here too. */
#include "isa/internal.h"

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

static bool is_transcendental(enum ptx_opcode opcode) {
    switch (opcode) {
    case PTX_OP_RCP:
    case PTX_OP_RSQRT:
    case PTX_OP_SQRT:
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_EX2:
    case PTX_OP_LG2:
    case PTX_OP_TANH:
        return true;
    default:
        return false;
    }
}

/* Returns whether the instruction computes with numbers of 16 bits, alone or in pairs. */
static bool is_half(const struct ptx_instruction *insn) {
    enum ptx_type type = isa_type(insn);
    bool is_pair = type == PTX_F16X2 || type == PTX_BF16X2;
    return insn->opcode != PTX_OP_CVT && insn->opcode != PTX_OP_MOV &&
           (is_pair || (ptx_type_kind(type) == PTX_KIND_F && ptx_type_bits(type) == 16));
}

/* PTX is not machine code: a division or an IEEE square root stands for a sequence. */
static bool is_sequence(const struct ptx_instruction *insn) {
    bool is_approximate = ptx_has(insn, PTX_MOD_APPROX) || ptx_has(insn, PTX_MOD_FULL);
    return insn->opcode == PTX_OP_DIV || insn->opcode == PTX_OP_REM ||
           (!is_approximate && (insn->opcode == PTX_OP_SQRT || insn->opcode == PTX_OP_RCP));
}

bool isa_multiplies(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_MUL || insn->opcode == PTX_OP_MAD || insn->opcode == PTX_OP_MADC ||
           insn->opcode == PTX_OP_MUL24 || insn->opcode == PTX_OP_MAD24;
}

bool isa_converts(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_CVT && (isa_is_float(insn) || ptx_type_kind(isa_source_type(insn)) == PTX_KIND_F);
}

bool isa_saturates(const struct ptx_instruction *insn) {
    bool is_rounded = ptx_has(insn, PTX_MOD_RNI) || ptx_has(insn, PTX_MOD_RZI) || ptx_has(insn, PTX_MOD_RMI) ||
                      ptx_has(insn, PTX_MOD_RPI);
    return insn->opcode == PTX_OP_CVT && ptx_has(insn, PTX_MOD_SAT) && !is_rounded && isa_type(insn) == PTX_F32 &&
           isa_source_type(insn) == PTX_F32;
}

bool isa_counts_bits(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_POPC || insn->opcode == PTX_OP_CLZ || insn->opcode == PTX_OP_BREV ||
           insn->opcode == PTX_OP_BFIND;
}

/* Products whose upper half matters: op_imul_hi, op_imad_wide. */
void isa_take_twice_if_long(const struct ptx_instruction *source, struct isa_insn *insn) {
    if (ptx_has(source, PTX_MOD_WIDE) || ptx_has(source, PTX_MOD_HI))
        insn->passes = 2;
}

/* A sum that contains a product executes where products do; one that contains a shift or another sum, beside logic. A
 * pair of words goes through the lanes for logic twice: op_imad_wide, op_add_u64_xor. */
static void choose_for_contents(const struct ptx_instruction *source, struct isa_insn *insn) {
    if (insn->is_either && insn->takes != ISA_TAKES_NOTHING) {
        insn->is_either = false;
        insn->unit = insn->takes == ISA_TAKES_SUM ? ISA_UNIT_MULTIPLY : ISA_UNIT_ALU;
        insn->passes = insn->takes == ISA_TAKES_WIDE_PRODUCT ? 2 : 1;
    } else if (insn->unit == ISA_UNIT_MULTIPLY && insn->parts >= 2 * ISA_PARTS && isa_type(source) != PTX_F64 &&
               source->n_types && ptx_type_bits(isa_type(source)) == 64) {
        insn->passes = 2;
    }
}

/* Returns whether the instruction reads a special register. The sizes of blocks and grids are constants, and clocks
 * have an instruction of their own (op_tid). */
static bool reads_special(const struct ptx_instruction *insn) {
    if (insn->opcode != PTX_OP_MOV || insn->operand[1].kind != PTX_OPERAND_SPECIAL)
        return false;
    unsigned special = insn->operand[1].special;
    bool is_size = (special >= PTX_SPECIAL_NTID_X && special <= PTX_SPECIAL_NTID_Z) ||
                   (special >= PTX_SPECIAL_NCTAID_X && special <= PTX_SPECIAL_NCTAID_Z);
    return !is_size && !(special >= PTX_SPECIAL_CLOCK && special <= PTX_SPECIAL_CLOCK64);
}

static void choose_unit(const struct isa_target *target, const struct ptx_instruction *source, struct isa_insn *insn) {
    bool is_double = isa_type(source) == PTX_F64 || isa_source_type(source) == PTX_F64;
    bool is_move = source->opcode == PTX_OP_MOV;
    insn->passes = 1;
    insn->work = (is_double || isa_is_float(source)) && !is_move ? ISA_WORK_FLOAT : ISA_WORK_INTEGER;
    if (is_transcendental(source->opcode) || is_sequence(source)) {
        isa_use(insn, ISA_UNIT_SFU, ISA_LATENCY_SFU);
        insn->work = ISA_WORK_SPECIAL;
        if (is_sequence(source)) {
            insn->passes = (uint8_t)target->sequence_passes;
            insn->is_sequence = true;
        }
        return;
    }
    if (is_double && !is_move)
        isa_use(insn, ISA_UNIT_FP64, ISA_LATENCY_FP64);
    else
        isa_use(insn, ISA_UNIT_ALU,
                !isa_is_float(source) ? ISA_LATENCY_ALU
                : is_half(source)     ? ISA_LATENCY_FP16
                                      : ISA_LATENCY_FP32);
    if (!target->compiler || !isa_saturates(source)) /* otherwise a sum with zero */
        target->choose_unit(source, insn);
    choose_for_contents(source, insn);
    if (target->compiler && reads_special(source))
        insn->latency = ISA_LATENCY_SPECIAL;
}

/* Returns how many machine instructions of the special-function unit the instruction becomes: conversions, counts of
 * bits, roots and reciprocals are one for each word, a division of integers converts, inverts and converts back, and a
 * rounded one of floating-point numbers checks its operands there. A division whose divisor's reciprocal is known, or
 * by a constant, needs none (Nsight Compute: smsp__thread_inst_executed_pipe_xu_pred_on). */
static unsigned n_special(const struct isa_code *code, uint32_t i) {
    enum { FULL_DIVISION = 17 };
    const struct ptx_instruction *source = isa_source(code, i);
    const struct isa_insn *insn = &code->insn[i];
    bool is_division = source->opcode == PTX_OP_DIV || source->opcode == PTX_OP_REM;
    if (insn->unit != ISA_UNIT_SFU || (!insn->parts && !insn->is_paid))
        return 0;
    if (is_division && !isa_is_float(source))
        return code->target->cost(code, i) >= FULL_DIVISION ? 3 : 0;
    if (is_division && is_sequence(source))
        return isa_type(source) == PTX_F32 && !ptx_has(source, PTX_MOD_APPROX) && !ptx_has(source, PTX_MOD_FULL) ? 2
                                                                                                                 : 1;
    return isa_counts_bits(source) && ptx_type_bits(isa_type(source)) == 64 ? 2 : 1;
}

/* Without .ftz these functions compare their operand and scale numbers that are too small or too large. */
static bool is_scaled(const struct ptx_instruction *insn) {
    if (isa_type(insn) != PTX_F32 || ptx_has(insn, PTX_MOD_FTZ))
        return false;
    switch (insn->opcode) {
    case PTX_OP_RSQRT:
    case PTX_OP_EX2:
    case PTX_OP_LG2:
        return true;
    case PTX_OP_SQRT:
    case PTX_OP_DIV:
        return ptx_has(insn, PTX_MOD_APPROX);
    default:
        return false;
    }
}

/* ---- Atomics ----------------------------------------------------------------------------------------------------- */

static bool is_atomic(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED || insn->opcode == PTX_OP_SURED ||
           insn->opcode == PTX_OP_MBARRIER;
}

static bool is_in_shared_memory(const struct ptx_instruction *insn) {
    for (unsigned k = 0; k < insn->n_operands; k++) {
        const struct ptx_operand *operand = &insn->operand[k];
        if (operand->kind == PTX_OPERAND_ADDRESS && operand->variable && operand->register_id == PTX_NO_INDEX)
            return operand->variable->space == PTX_SPACE_SHARED;
    }
    return insn->space == PTX_SPACE_SHARED;
}

/* Returns whether an instruction reads the result of this one. */
static bool has_reader(const struct isa_code *code, const struct ptx_instruction *insn) {
    bool has_result = insn->opcode == PTX_OP_ATOM && insn->operand[0].kind == PTX_OPERAND_REGISTER;
    return has_result && isa_n_uses(code, insn->operand[0].register_id);
}

/* Atomics in shared memory may be more, or less, than one by one on an address: shared_atomic64, shared_atomic_f32. */
static enum isa_atomic kind_of_atomic(const struct isa_code *code, const struct ptx_instruction *insn) {
    if (insn->opcode == PTX_OP_MBARRIER) /* mbarrier_arrive, mbarrier_wait: all lanes at once */
        return ISA_ATOMIC_COUNTING;
    bool is_exchange = ptx_has(insn, PTX_MOD_CAS) || ptx_has(insn, PTX_MOD_EXCH);
    bool is_float = insn->n_types && isa_is_float(insn), is_word = ptx_type_bits(isa_type(insn)) == 32;
    if (insn->opcode != PTX_OP_SURED && isa_is_joined(code, insn))
        return ISA_ATOMIC_JOINED;
    if (is_in_shared_memory(insn) && insn->n_operands > 1) {
        const struct ptx_operand *value = &insn->operand[insn->n_operands - 1];
        if (!is_exchange && (is_float || ptx_type_bits(isa_type(insn)) == 64))
            return ISA_ATOMIC_RETRIED;
        if (ptx_has(insn, PTX_MOD_ADD) && is_word && !is_float && value->kind == PTX_OPERAND_INTEGER &&
            value->value == 1 && !has_reader(code, insn))
            return ISA_ATOMIC_COUNTING;
    }
    if (ptx_has(insn, PTX_MOD_CAS))
        return ISA_ATOMIC_SWAP;
    return is_float ? ISA_ATOMIC_SUM : ISA_ATOMIC_PLAIN;
}

/* ---- Everything else --------------------------------------------------------------------------------------------- */

/* A constant whose address is the same in all lanes goes through a uniform register, beside the load/store unit
 * (constant_fixed, constant_first). */
static bool is_uniform_constant(const struct isa_code *code, const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_LD && insn->space == PTX_SPACE_CONST &&
           isa_is_uniform_address(code, &insn->operand[1]);
}

static void describe(const struct isa_code *code, const struct ptx_instruction *source, struct isa_insn *insn) {
    insn->is_exception = true;
    if (is_uniform_constant(code, source))
        isa_use(insn, ISA_UNIT_ALU, ISA_LATENCY_ALU);
    else if (source->opcode == PTX_OP_SHFL) /* through shared memory's crossbar: op_shfl */
        isa_use(insn, ISA_UNIT_LDST, ISA_LATENCY_SHARED);
    else if ((source->opcode == PTX_OP_BAR || source->opcode == PTX_OP_BARRIER) && !ptx_has(source, PTX_MOD_WARP))
        isa_use(insn, ISA_UNIT_ARRIVE, ISA_LATENCY_ALU);
    else if (source->opcode == PTX_OP_VOTE) /* beside comparisons: op_vote */
        isa_use(insn, ISA_UNIT_MULTIPLY, ISA_LATENCY_ALU);
    else
        insn->is_exception = false;
    if (is_atomic(source))
        insn->atomic = kind_of_atomic(code, source) & 7;
    insn->is_device_fence =
        (source->opcode == PTX_OP_MEMBAR || source->opcode == PTX_OP_FENCE) && !ptx_has(source, PTX_MOD_CTA_MODE);
    insn->has_slow_path = isa_is_float(source) && isa_has_rare_path(source);
}

void isa_choose_units(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        choose_unit(code->target, isa_source(code, i), &code->insn[i]);
        if (!code->target->compiler)
            continue;
        describe(code, isa_source(code, i), &code->insn[i]);
        code->insn[i].n_special = n_special(code, i) & 3;
        code->insn[i].is_scaled = is_scaled(isa_source(code, i));
    }
}
