/* The cost of instructions. Units and latencies are the machine's; the PTX family of an instruction decides its unit:
 * transcendental functions and division go to the SFU, 64-bit floating point and products of matrices to their own
 * units, memory accesses to the load/store unit, everything else to the ALU lanes. PTX is not machine code: a division
 * or an IEEE square root stands for a sequence, counted here as SEQUENCE passes through the SFU. Where every lane has
 * an SFU, as on machines whose papers let every lane do everything, it holds them no longer than any other instruction.
 */
#include "sm/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "isa/isa.h"
#include "ptx/matrix.h"

enum { SEQUENCE = 4, MOST_REGISTERS = 40 };

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

static bool is_sequence(const struct ptx_instruction *insn) {
    bool is_approximate = ptx_has(insn, PTX_MOD_APPROX) || ptx_has(insn, PTX_MOD_FULL);
    return insn->opcode == PTX_OP_DIV || insn->opcode == PTX_OP_REM ||
           (!is_approximate && (insn->opcode == PTX_OP_SQRT || insn->opcode == PTX_OP_RCP));
}

/* Instructions that Fermi executes at half the rate of an addition (CUDA C Programming Guide 4.2, 5.4.1: 16 per clock
 * and SM in compute capability 2.0, and also in 2.1, which has 1.5 times as many lanes: so one unit serves the whole
 * SM). There, conversions among integers of 32 and 64 bits are moves. */
static bool is_multiplication(const struct ptx_instruction *insn) {
    enum ptx_type type = insn->n_types ? insn->type[0] : PTX_B32, from = insn->n_types > 1 ? insn->type[1] : type;
    bool is_float = ptx_type_kind(type) == PTX_KIND_F;
    switch (insn->opcode) {
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_MADC:
    case PTX_OP_MUL24:
    case PTX_OP_MAD24:
        return !is_float;
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
        return is_float || ptx_type_kind(from) == PTX_KIND_F || ptx_type_bits(type) < 32 || ptx_type_bits(from) < 32;
    default:
        return false;
    }
}

static uint16_t passes(const struct config_machine *machine, uint32_t width) {
    return (uint16_t)((machine->warp_size + width - 1) / width);
}

static uint16_t fp64_passes(const struct config_machine *machine) {
    return (uint16_t)ceil(machine->warp_size / machine->fp64_width);
}

static void cost_of_arithmetic(const struct config_machine *machine, const struct ptx_instruction *insn,
                               struct sm_timing *timing) {
    enum ptx_type type = insn->n_types ? insn->type[0] : PTX_B32;
    bool is_double = type == PTX_F64 || (insn->n_types > 1 && insn->type[1] == PTX_F64);
    bool is_move = insn->opcode == PTX_OP_MOV;
    timing->unit = SM_UNIT_ALU;
    timing->occupancy_cycles = passes(machine, machine->simd_width);
    timing->latency_cycles = (uint16_t)(ptx_type_kind(type) == PTX_KIND_F ? machine->fp32_cycles : machine->alu_cycles);
    if (is_transcendental(insn->opcode) || is_sequence(insn)) {
        timing->unit = SM_UNIT_SFU;
        timing->occupancy_cycles = passes(machine, machine->sfu_width);
        timing->latency_cycles = (uint16_t)machine->sfu_cycles;
        if (is_sequence(insn)) {
            bool has_every_lane_one = machine->sfu_width >= machine->simd_width;
            timing->occupancy_cycles = (uint16_t)(timing->occupancy_cycles * (has_every_lane_one ? 1 : SEQUENCE));
            timing->latency_cycles = (uint16_t)(timing->latency_cycles * SEQUENCE);
        }
    } else if (is_double && !is_move) {
        timing->unit = SM_UNIT_FP64;
        timing->occupancy_cycles = fp64_passes(machine);
        timing->latency_cycles = (uint16_t)machine->fp64_cycles;
    } else if (machine->multiply_width && is_multiplication(insn)) {
        timing->unit = SM_UNIT_MULTIPLY;
        timing->occupancy_cycles = passes(machine, machine->multiply_width);
    }
    bool is_float = is_double || ptx_type_kind(type) == PTX_KIND_F;
    timing->work = timing->unit == SM_UNIT_SFU ? SM_WORK_SPECIAL
                   : is_float && !is_move      ? SM_WORK_FLOAT
                                               : SM_WORK_INTEGER;
}

/* Products of matrices. The unit's rate is that of 16-bit elements; narrower ones are faster in proportion, f64 is as
 * slow as on the GPUs that have it (NVIDIA A100 and H100 white papers). A sparse A has half of the products. */
static void cost_of_matrices(const struct config_machine *machine, const struct ptx_instruction *insn,
                             struct sm_timing *timing) {
    enum { F64_BITS = 256 };
    struct ptx_fragment a = ptx_matrix_fragment(insn, PTX_MATRIX_A);
    bool is_double = a.element == PTX_ELEMENT_F64,
         is_integer = ptx_matrix_fragment(insn, PTX_MATRIX_D).element == PTX_ELEMENT_S32;
    uint32_t products = a.n_matrices * a.rows * a.columns * insn->matrix->n;
    uint32_t bits = is_double ? F64_BITS : ptx_element_bits(a.element), per_cycle = 16 * machine->matrix_rate;
    uint32_t cycles =
        machine->matrix_rate ? (products * bits + per_cycle - 1) / per_cycle : 1; /* without a unit: refused */
    timing->unit = SM_UNIT_MATRIX;
    timing->work = is_integer ? SM_WORK_INTEGER : SM_WORK_FLOAT;
    timing->occupancy_cycles = (uint16_t)(cycles < UINT16_MAX ? cycles : UINT16_MAX);
    timing->latency_cycles = (uint16_t)(machine->matrix_cycles + timing->occupancy_cycles - 1);
}

static bool is_store(const struct exec_insn *insn, const struct ptx_instruction *source) {
    bool is_matrix = source && source->matrix && source->matrix->action == PTX_MATRIX_STORE;
    return is_matrix || insn->opcode == PTX_OP_ST || insn->opcode == PTX_OP_SUST || insn->opcode == PTX_OP_COND_ACC;
}

/* Loads that see what other SMs have written, or that are to leave the L1 as it is: where the H200 has them from the
 * L2 (operator). */
static bool passes_l1(const struct exec_insn *insn, const struct ptx_instruction *source) {
    bool is_copy = source->opcode == PTX_OP_CP;
    if (insn->opcode == PTX_OP_LD && (ptx_has(source, PTX_MOD_LU) || ptx_has(source, PTX_MOD_L1_NO_ALLOCATE)))
        return true;
    if (ptx_has(source, PTX_MOD_CG) || (is_copy && ptx_has(source, PTX_MOD_BULK)))
        return insn->opcode == PTX_OP_LD || is_copy;
    bool is_wide = ptx_has(source, PTX_MOD_GPU) || ptx_has(source, PTX_MOD_SYS) || ptx_has(source, PTX_MOD_CLUSTER);
    bool is_ordered = ptx_has(source, PTX_MOD_RELAXED) || ptx_has(source, PTX_MOD_ACQUIRE);
    return insn->opcode == PTX_OP_LD &&
           (ptx_has(source, PTX_MOD_CV) || ptx_has(source, PTX_MOD_VOLATILE) || (is_ordered && is_wide));
}

static void cost_of_access(const struct config_machine *machine, const struct exec_insn *insn,
                           const struct ptx_instruction *source, struct sm_timing *timing) {
    bool is_texture = ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE;
    enum ptx_space space = is_texture ? PTX_SPACE_GLOBAL : (enum ptx_space)insn->access.space;
    timing->is_atomic = insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED || insn->opcode == PTX_OP_SURED ||
                        insn->opcode == PTX_OP_MBARRIER;
    timing->is_store = is_store(insn, source);
    timing->is_load = !timing->is_store && !timing->is_atomic;
    timing->is_sampled = machine->texture.is_present && (insn->opcode == PTX_OP_TEX || insn->opcode == PTX_OP_TLD4);
    timing->holds_row = insn->flags & EXEC_FLAG_HOLDS_ROW;
    timing->passes_l1 = machine->l1_bypass && source && passes_l1(insn, source);
    timing->unit = SM_UNIT_LDST;
    timing->work = SM_WORK_MEMORY;
    timing->occupancy_cycles = passes(machine, machine->ldst_width);
    timing->latency_cycles = (uint16_t)machine->alu_cycles;
    bool is_shared = insn->opcode == PTX_OP_LDMATRIX || insn->opcode == PTX_OP_STMATRIX; /* generic addresses too */
    switch (is_shared ? PTX_SPACE_SHARED : space) {
    case PTX_SPACE_PARAM:
    case PTX_SPACE_CONST:
        timing->access = SM_ACCESS_CONSTANT;
        if (machine->constant_cycles)
            timing->latency_cycles = (uint16_t)machine->constant_cycles;
        break;
    case PTX_SPACE_SHARED:
        timing->access = SM_ACCESS_SHARED;
        if (source && source->matrix) /* where a model executes it, which knows no bank conflicts */
            timing->latency_cycles = (uint16_t)machine->shared_cycles;
        break;
    case PTX_SPACE_LOCAL:
        timing->access = SM_ACCESS_LOCAL;
        break;
    default:
        timing->access = SM_ACCESS_GLOBAL;
        break;
    }
}

/* The adders over a row's predicates precede the pipeline's own work: cond_acc then adds and stores like any store,
 * tree_traverse adds like any addition (Narasiman 2014, 7.1 and 7.2.1). */
static uint16_t prefix_cycles(const struct config_machine *machine, const struct exec_insn *insn) {
    bool sums_predicates = insn->opcode == PTX_OP_COND_ACC || insn->opcode == PTX_OP_TREE_TRAVERSE;
    return (uint16_t)(sums_predicates ? machine->prefix_cycles : 0);
}

static enum sm_copies_role role_of_copy(const struct exec_insn *insn, const struct ptx_instruction *source) {
    bool is_bulk = ptx_has(source, PTX_MOD_BULK);
    if (insn->kind != EXEC_KIND_CONTEXT || ptx_has(source, PTX_MOD_COMMIT_GROUP))
        return SM_COPIES_NONE;
    if (ptx_has(source, PTX_MOD_WAIT_GROUP))
        return is_bulk ? SM_COPIES_WAIT_BULK : SM_COPIES_WAIT_GROUP;
    if (ptx_has(source, PTX_MOD_WAIT_ALL))
        return SM_COPIES_WAIT_ALL;
    if (ptx_has(source, PTX_MOD_MBARRIER))
        return SM_COPIES_ARRIVE;
    return !is_bulk                                 ? SM_COPIES_ELEMENTS
           : insn->access.space == PTX_SPACE_GLOBAL ? SM_COPIES_BULK
                                                    : SM_COPIES_NONE; /* inside shared memory: an access to it */
}

static enum sm_copies_role role_of(const struct exec_insn *insn, const struct ptx_instruction *source) {
    if (source && insn->opcode == PTX_OP_CP)
        return role_of_copy(insn, source);
    bool waits = source && insn->opcode == PTX_OP_MBARRIER &&
                 (ptx_has(source, PTX_MOD_TEST_WAIT) || ptx_has(source, PTX_MOD_TRY_WAIT));
    return waits ? SM_COPIES_WAIT_MBARRIER : SM_COPIES_NONE;
}

static void cost(const struct config_machine *machine, const struct exec_insn *insn,
                 const struct ptx_instruction *source, struct sm_timing *timing) {
    timing->is_control = insn->kind > EXEC_KIND_WARP && insn->kind != EXEC_KIND_NOTHING;
    timing->is_branch = insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_BRANCH_INDEXED;
    timing->is_jump = !insn->guard.offset && (insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_CALL);
    timing->is_barrier = insn->kind == EXEC_KIND_BARRIER;
    timing->is_fence = insn->opcode == PTX_OP_MEMBAR || insn->opcode == PTX_OP_FENCE;
    timing->copies = (uint8_t)role_of(insn, source);
    if (exec_goes_to_memory(insn)) {
        cost_of_access(machine, insn, source, timing);
        if (timing->copies == SM_COPIES_BULK && source->space == PTX_SPACE_GLOBAL) {
            timing->is_store = true;
            timing->is_load = false;
        }
    } else if (insn->kind == EXEC_KIND_LANES && source) {
        cost_of_arithmetic(machine, source, timing);
    } else if (source && source->matrix && source->matrix->action == PTX_MATRIX_MULTIPLY) {
        cost_of_matrices(machine, source, timing);
    } else {
        timing->unit = SM_UNIT_ALU;
        timing->work = timing->is_control || insn->kind == EXEC_KIND_NOTHING ? SM_WORK_CONTROL : SM_WORK_INTEGER;
        timing->occupancy_cycles = passes(machine, machine->simd_width);
        timing->latency_cycles = (uint16_t)machine->alu_cycles;
    }
    timing->latency_cycles = (uint16_t)(timing->latency_cycles + prefix_cycles(machine, insn));
    timing->is_visible_to_others = timing->access == SM_ACCESS_GLOBAL || insn->kind == EXEC_KIND_EXIT ||
                                   insn->kind == EXEC_KIND_CALL_BUILTIN || insn->kind == EXEC_KIND_TRAP;
    bool is_plain = insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_LDU ||
                    (insn->opcode == PTX_OP_ST && !(source && ptx_has(source, PTX_MOD_ASYNC)));
    bool is_other_access = timing->access == SM_ACCESS_GLOBAL && !is_plain;
    timing->reads_memory = is_other_access && timing->is_load;
    timing->needs_turn =
        (is_other_access && !timing->is_load) || insn->kind == EXEC_KIND_CALL_BUILTIN || insn->kind == EXEC_KIND_TRAP;
}

/* Source registers in one bank are read one after the other. Operand collectors keep the unit busy with other warps
 * meanwhile, so a conflict delays the result, not the next issue. A register's place decides its bank. */
static uint16_t bank_conflicts(const struct config_machine *machine, const struct exec_insn *insn) {
    enum { MOST_BANKS = 64, PLACE_BYTES = EXEC_LANES * 4 };
    uint8_t n_in_bank[MOST_BANKS] = {0};
    uint8_t most = 1;
    if (!machine->register_banks || machine->register_banks > MOST_BANKS)
        return 0;
    for (unsigned i = 0; i < insn->n_src; i++) {
        struct exec_operand operand = insn->operand[insn->n_dst + i];
        bool is_read_before = operand.base != EXEC_BASE_REGISTERS || operand.width == PTX_WIDTH_PRED;
        for (unsigned j = 0; j < i; j++)
            is_read_before |= insn->operand[insn->n_dst + j].offset == operand.offset &&
                              insn->operand[insn->n_dst + j].base == operand.base;
        if (is_read_before)
            continue;
        uint8_t *count = &n_in_bank[operand.offset / PLACE_BYTES % machine->register_banks];
        if (++*count > most)
            most = *count;
    }
    return (uint16_t)(most - 1);
}

/* The scoreboard tracks virtual registers. Registers that are never live at the same time share a place; tracking
 * places would make independent instructions wait for each other. Each function has its own range of numbers. */
struct collector {
    uint32_t reg[MOST_REGISTERS];
    uint32_t n, limit, first;
    bool wants_writes;
};

static void collect(void *user, uint32_t register_id, bool is_write) {
    struct collector *collector = user;
    if (is_write == collector->wants_writes && collector->n < collector->limit)
        collector->reg[collector->n++] = collector->first + register_id;
}

/* Only matrix instructions have more registers than a record holds. Of a call with more, the first count. */
static void collect_registers(struct sm_program *program, const struct ptx_instruction *insn,
                              struct sm_timing *timing) {
    struct collector collector = {
        .limit = insn->matrix ? MOST_REGISTERS : SM_OWN_REGISTERS, .first = program->n_registers, .wants_writes = true};
    ptx_for_each_register(insn, collect, &collector);
    timing->n_destinations = (uint8_t)collector.n;
    collector.wants_writes = false;
    ptx_for_each_register(insn, collect, &collector);
    timing->n_registers = (uint8_t)collector.n;
    if (collector.n <= SM_OWN_REGISTERS) {
        memcpy(timing->reg, collector.reg, collector.n * sizeof *collector.reg);
        return;
    }
    uint32_t *larger = realloc(program->more, (program->n_more + collector.n) * sizeof *larger);
    if (!larger)
        abort();
    program->more = larger;
    memcpy(program->more + program->n_more, collector.reg, collector.n * sizeof *collector.reg);
    timing->reg[0] = program->n_more;
    program->n_more += collector.n;
}

static bool multiplies(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_MUL || insn->opcode == PTX_OP_MAD || insn->opcode == PTX_OP_MADC ||
           insn->opcode == PTX_OP_MUL24 || insn->opcode == PTX_OP_MAD24;
}

static void set_traits(struct sm_timing *timing) {
    enum { LONG = SM_N_UNITS, LOAD = 2 * LONG, VISIBLE = 4 * LONG };
    timing->traits = (uint8_t)(timing->unit + timing->is_long * LONG + timing->is_load * LOAD +
                               timing->is_visible_to_others * VISIBLE);
}

/* On sm_90 and sm_89 each scheduler has 16 lanes for comparisons, selections, shifts, permutations, minima and logic
 * (SM_UNIT_MULTIPLY), and 32 for single precision, of which 16 multiply integers meanwhile (SM_UNIT_ALU). ptxas writes
 * a sum of integers for either, so that both are in use (bench/hardware: op_setp_selp, op_shf, op_prmt, op_imin_iadd,
 * op_imad, op_iadd_xor, pair_ffma+imad, pair_ffma+shf); share_units() does that. Counting bits and
 * conversions go to the special-function unit (op_popc, op_clz, op_i2f_f2i); on sm_90 numbers become single-precision
 * ones elsewhere (the guide: 64 per cycle and SM, otherwise 16). */
static void choose_sm_90_unit(const struct config_machine *machine, const struct ptx_instruction *insn,
                              struct sm_timing *timing) {
    enum ptx_type type = insn->n_types ? insn->type[0] : PTX_B32, from = insn->n_types > 1 ? insn->type[1] : type;
    bool is_float = ptx_type_kind(type) == PTX_KIND_F;
    bool converts = insn->opcode == PTX_OP_CVT && (is_float || ptx_type_kind(from) == PTX_KIND_F);
    bool is_to_float = insn->opcode == PTX_OP_CVT && type == PTX_F32 && ptx_type_kind(from) != PTX_KIND_F;
    switch (insn->opcode) {
    case PTX_OP_POPC:
    case PTX_OP_CLZ:
    case PTX_OP_BREV:
    case PTX_OP_BFIND:
        converts = true;
        break;
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
        if (timing->unit == SM_UNIT_FP64)
            return;
        timing->unit = SM_UNIT_MULTIPLY;
        break;
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
    case PTX_OP_LOP3:
        if (machine->isa != CONFIG_ISA_SM_80)
            timing->unit = SM_UNIT_MULTIPLY;
        break;
    default:
        break;
    }
    if (converts && !(is_to_float && machine->isa == CONFIG_ISA_SM_90)) {
        timing->unit = SM_UNIT_SFU;
        timing->occupancy_cycles = passes(machine, machine->sfu_width);
        timing->latency_cycles = (uint16_t)machine->sfu_cycles;
    }
    if (timing->unit == SM_UNIT_MULTIPLY)
        timing->occupancy_cycles = passes(machine, machine->multiply_width);
    bool is_long = multiplies(insn) && (ptx_has(insn, PTX_MOD_WIDE) || ptx_has(insn, PTX_MOD_HI));
    if (timing->unit == SM_UNIT_MULTIPLY && is_long) { /* twice as long: op_imul_hi, op_imad_wide */
        timing->occupancy_cycles = (uint16_t)(2 * timing->occupancy_cycles);
        timing->latency_cycles++;
    }
    if (multiplies(insn) && timing->unit == SM_UNIT_MULTIPLY && machine->isa != CONFIG_ISA_SM_80)
        timing->unit = SM_UNIT_ALU;
}

/* Sums of integers go where less has been to do in the basic block. */
static void share_units(const struct config_machine *machine, const struct exec_function *function,
                        struct sm_timing *timing) {
    const struct ptx_analysis *analysis = function->analysis;
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        uint32_t busy[2] = {0}; /* SM_UNIT_ALU, SM_UNIT_MULTIPLY */
        for (uint32_t i = analysis->block[b].first; i < analysis->block[b].first + analysis->block[b].count; i++) {
            const struct ptx_instruction *insn = &function->ptx->instruction[i];
            struct sm_timing *one = &timing[function->first_pc + i];
            bool is_sum = (insn->opcode == PTX_OP_ADD || insn->opcode == PTX_OP_SUB) && one->work == SM_WORK_INTEGER;
            if (is_sum && one->unit == SM_UNIT_ALU && one->occupancy_cycles) {
                one->occupancy_cycles = passes(machine, machine->multiply_width);
                one->unit = busy[0] <= busy[1] ? SM_UNIT_ALU : SM_UNIT_MULTIPLY;
                set_traits(one);
            }
            if (one->unit == SM_UNIT_ALU || one->unit == SM_UNIT_MULTIPLY)
                busy[one->unit == SM_UNIT_MULTIPLY] += one->occupancy_cycles;
        }
    }
}

/* On sm_80 each scheduler has 16 lanes for single precision and products of integers, and 16 for everything else that
 * is not special; both work at the same time (NVIDIA A100 white paper; CUDA C++ Programming Guide 13.0, throughput of
 * compute capability 8.0). */
static void choose_sm_80_unit(const struct config_machine *machine, const struct ptx_instruction *insn,
                              struct sm_timing *timing) {
    bool is_product = false;
    switch (insn->opcode) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_FMA:
        is_product = timing->work == SM_WORK_FLOAT;
        break;
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_MADC:
    case PTX_OP_MUL24:
    case PTX_OP_MAD24:
        is_product = true;
        break;
    default:
        break;
    }
    if (is_product && timing->unit == SM_UNIT_ALU) {
        timing->unit = SM_UNIT_MULTIPLY;
        timing->occupancy_cycles = passes(machine, machine->multiply_width);
    } else if (!is_product && timing->unit == SM_UNIT_MULTIPLY) {
        timing->unit = SM_UNIT_ALU;
        timing->occupancy_cycles = passes(machine, machine->simd_width);
    }
}

struct reader {
    uint32_t register_id;
    bool is_found;
};

static void look_for_reader(void *user, uint32_t r, bool is_write) {
    struct reader *reader = user;
    reader->is_found |= !is_write && r == reader->register_id;
}

/* Whether an instruction reads what this one writes. */
static bool has_reader(const struct ptx_function *function, const struct ptx_instruction *source) {
    struct reader reader = {source->operand[0].register_id, false};
    bool has_result = source->opcode == PTX_OP_ATOM && source->operand[0].kind == PTX_OPERAND_REGISTER;
    for (uint32_t i = 0; has_result && i < function->n_instructions && !reader.is_found; i++)
        ptx_for_each_register(&function->instruction[i], look_for_reader, &reader);
    return reader.is_found;
}

/* Atomics in shared memory that are more, or less, than one by one on an address: shared_atomic64, shared_atomic_f32.
 */
static void set_shared_atomic(const struct config_machine *machine, const struct ptx_function *function,
                              const struct ptx_instruction *source, struct sm_timing *timing) {
    bool is_exchange = ptx_has(source, PTX_MOD_CAS) || ptx_has(source, PTX_MOD_EXCH);
    enum ptx_type type = source->n_types ? source->type[0] : PTX_B32;
    const struct ptx_operand *value = &source->operand[source->n_operands - 1];
    bool is_retried = machine->shared_retry_cycles && !is_exchange &&
                      (ptx_type_bits(type) == 64 || ptx_type_kind(type) == PTX_KIND_F);
    bool is_counting = ptx_has(source, PTX_MOD_ADD) && ptx_type_bits(type) == 32 && ptx_type_kind(type) != PTX_KIND_F &&
                       value->kind == PTX_OPERAND_INTEGER && value->value == 1 && !has_reader(function, source);
    if (is_retried || is_counting)
        timing->atomic_kind = is_retried ? SM_ATOMIC_RETRIED : SM_ATOMIC_COUNTING;
}

/* A constant whose address all lanes share goes through a uniform register, beside the load/store unit (constant_fixed,
 * constant_first). */
static bool is_uniform_constant(const struct ptx_analysis *analysis, const struct ptx_instruction *source) {
    const struct ptx_operand *address = &source->operand[1];
    return source->opcode == PTX_OP_LD && source->space == PTX_SPACE_CONST && address->kind == PTX_OPERAND_ADDRESS &&
           (address->register_id == PTX_NO_INDEX || analysis->is_uniform[address->register_id]);
}

/* A sequence depends on itself: each further instruction adds to the latency of the first. The special-function unit
 * serves only one of them. */
static void set_sm_90_cost(const struct config_machine *machine, const struct ptx_analysis *analysis,
                           const struct exec_insn *insn, const struct ptx_instruction *source, uint16_t parts,
                           struct sm_timing *timing) {
    enum { PER_PAIR = 2, FEW = 2 };
    unsigned n = (parts & ISA_COST) / ISA_PARTS;
    timing->parts = parts;
    if (timing->is_fence && source && !ptx_has(source, PTX_MOD_CTA_MODE))
        timing->is_fence = 2;
    if (timing->is_atomic && source && source->n_types && ptx_type_kind(source->type[0]) == PTX_KIND_F)
        timing->atomic_kind = SM_ATOMIC_SLOW;
    if (timing->is_atomic && timing->access == SM_ACCESS_SHARED && source && source->n_operands > 1)
        set_shared_atomic(machine, analysis->function, source, timing);
    if (source && timing->access == SM_ACCESS_CONSTANT && is_uniform_constant(analysis, source)) {
        timing->unit = SM_UNIT_ALU;
        timing->occupancy_cycles = passes(machine, machine->simd_width);
        timing->latency_cycles = (uint16_t)machine->alu_cycles;
    }
    if (insn->kind == EXEC_KIND_WARP &&
        insn->opcode == PTX_OP_SHFL) { /* goes through shared memory's crossbar: op_shfl */
        timing->unit = SM_UNIT_LDST;
        timing->occupancy_cycles = passes(machine, machine->ldst_width);
        timing->latency_cycles = (uint16_t)(machine->shared_cycles + 1);
    } else if (timing->is_barrier) { /* arrivals are counted, 2 cycles for each warp of the SM (barrier), beside
                                        accesses */
        timing->unit = machine->matrix_rate ? SM_UNIT_MATRIX : SM_UNIT_LDST;
        timing->occupancy_cycles =
            (uint16_t)(machine->matrix_rate && machine->units == CONFIG_UNITS_PARTITIONED ? 2 * machine->schedulers
                                                                                          : 2);
    }
    if (!source || insn->kind != EXEC_KIND_LANES)
        return;
    if (is_sequence(source)) {
        timing->has_slow_path = source->opcode == PTX_OP_SQRT && source->n_types && source->type[0] == PTX_F32;
        timing->occupancy_cycles = passes(machine, machine->sfu_width);
        timing->latency_cycles = (uint16_t)machine->sfu_cycles;
    } else if (timing->unit != SM_UNIT_SFU && machine->multiply_width) {
        choose_sm_90_unit(machine, source, timing);
        if (machine->isa == CONFIG_ISA_SM_80)
            choose_sm_80_unit(machine, source, timing);
    }
    if (!(parts & ISA_COST)) /* a part of another one */
        timing->latency_cycles = timing->occupancy_cycles = 0;
    if (n > 1)
        timing->latency_cycles =
            (uint16_t)(timing->latency_cycles + (n - 1) * (n <= FEW ? PER_PAIR : machine->alu_cycles));
}

struct sm_program *sm_program_new(const struct exec_program *exec, const struct config_machine *machine) {
    struct sm_program *program = calloc(1, sizeof *program);
    if (!program)
        abort();
    program->exec = exec;
    program->timing = base_allocate_aligned((exec->n_insns + 1) * sizeof *program->timing);
    for (uint32_t f = 0; f < exec->n_functions; f++) {
        const struct exec_function *function = &exec->function[f];
        uint16_t *parts = machine->isa != CONFIG_ISA_PTX ? isa_sm_90(function->analysis) : NULL;
        for (uint32_t pc = function->first_pc; pc < function->first_pc + function->n_insns; pc++) {
            cost(machine, &exec->code[pc], exec->source[pc], &program->timing[pc]);
            program->timing[pc].latency_cycles =
                (uint16_t)(program->timing[pc].latency_cycles + bank_conflicts(machine, &exec->code[pc]));
            program->timing[pc].parts = ISA_PARTS;
            if (parts && pc - function->first_pc < function->ptx->n_instructions)
                set_sm_90_cost(machine, function->analysis, &exec->code[pc], exec->source[pc],
                               parts[pc - function->first_pc], &program->timing[pc]);
            program->timing[pc].is_long =
                program->timing[pc].access == SM_ACCESS_GLOBAL || program->timing[pc].access == SM_ACCESS_LOCAL;
            set_traits(&program->timing[pc]);
            uint32_t reconvergence = exec->code[pc].reconvergence;
            bool is_branch = exec->code[pc].kind == EXEC_KIND_BRANCH || exec->code[pc].kind == EXEC_KIND_BRANCH_INDEXED;
            if (is_branch && reconvergence != EXEC_NO_PC)
                program->timing[reconvergence].is_reconvergence = true;
            if (exec->source[pc])
                collect_registers(program, exec->source[pc], &program->timing[pc]);
        }
        if (parts && machine->multiply_width && machine->isa != CONFIG_ISA_SM_80)
            share_units(machine, function, program->timing);
        program->n_registers += function->ptx->n_registers;
        free(parts);
    }
    return program;
}

void sm_program_free(struct sm_program *program) {
    if (!program)
        return;
    free(program->timing);
    free(program->more);
    free(program);
}
