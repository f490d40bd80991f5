/* Costs of instructions. Lowering (isa/isa.h) names the unit, the rate and the latency of arithmetic, and the machine
 * supplies the numbers. Memory accesses use the load/store unit, matrix products the matrix unit, and all other
 * instructions the ALU lanes. A sequence passes through its unit several times. Some papers assume lanes that can do
 * everything. On the machines of these papers every lane has an SFU, and a sequence occupies the SFU no longer than any
 * other instruction does. */
#include "sm/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "isa/isa.h"
#include "ptx/matrix.h"

enum { MOST_REGISTERS = 144 };

static uint16_t passes(const struct config_machine *machine, uint32_t width) {
    return (uint16_t)((machine->sm.warp_size + width - 1) / width);
}

static enum sm_unit unit_of(const struct config_machine *machine, enum isa_unit unit) {
    switch (unit) {
    case ISA_UNIT_ALU:
        return SM_UNIT_ALU;
    case ISA_UNIT_MULTIPLY:
        return machine->sm.multiply_width ? SM_UNIT_MULTIPLY : SM_UNIT_ALU;
    case ISA_UNIT_FP64:
        return SM_UNIT_FP64;
    case ISA_UNIT_SFU:
        return SM_UNIT_SFU;
    case ISA_UNIT_LDST:
        return SM_UNIT_LDST;
    case ISA_UNIT_ARRIVE: /* arrivals are counted beside accesses */
        return machine->matrix.is_present ? SM_UNIT_MATRIX : SM_UNIT_LDST;
    }
    return SM_UNIT_ALU;
}

/* Returns the cycles for which one pass through the lanes occupies them. */
static uint16_t occupancy_of(const struct config_machine *machine, enum isa_unit lanes) {
    switch (lanes) {
    case ISA_UNIT_ALU:
        break;
    case ISA_UNIT_MULTIPLY:
        return passes(machine, machine->sm.multiply_width ? machine->sm.multiply_width : machine->sm.simd_width);
    case ISA_UNIT_FP64:
        return (uint16_t)ceil(machine->sm.warp_size / machine->sm.fp64_width);
    case ISA_UNIT_SFU:
        return passes(machine, machine->sm.sfu_width);
    case ISA_UNIT_LDST:
        return passes(machine, machine->sm.ldst_width);
    case ISA_UNIT_ARRIVE: /* 2 cycles for each warp of the SM (barrier) */
        return (uint16_t)(machine->matrix.is_present && machine->sm.units == CONFIG_UNITS_PARTITIONED
                              ? 2 * machine->sm.schedulers
                              : 2);
    }
    return passes(machine, machine->sm.simd_width);
}

static uint32_t latency_of(const struct config_machine *machine, enum isa_latency latency) {
    switch (latency) {
    case ISA_LATENCY_ALU:
        break;
    case ISA_LATENCY_FP16:
        return machine->sm.fp16_cycles ? machine->sm.fp16_cycles : machine->sm.fp32_cycles;
    case ISA_LATENCY_FP32:
        return machine->sm.fp32_cycles;
    case ISA_LATENCY_FP64:
        return machine->sm.fp64_cycles;
    case ISA_LATENCY_SFU:
        return machine->sm.sfu_cycles;
    case ISA_LATENCY_SHARED:
        return machine->shared.latency_cycles + 1;
    case ISA_LATENCY_SPECIAL:
        return machine->sm.special_cycles ? machine->sm.special_cycles : machine->sm.alu_cycles;
    }
    return machine->sm.alu_cycles;
}

static void use_unit(const struct config_machine *machine, const struct isa_insn *lowered, struct sm_timing *timing) {
    timing->unit = (uint8_t)unit_of(machine, lowered->unit);
    timing->occupancy_cycles = occupancy_of(machine, lowered->lanes);
    timing->latency_cycles = (uint16_t)latency_of(machine, lowered->latency);
}

/* Products are in the lanes for single precision, and long ones pass through them twice. */
static bool is_long_product(const struct isa_insn *lowered) {
    return lowered->unit == ISA_UNIT_ALU && lowered->lanes == ISA_UNIT_MULTIPLY && lowered->passes == 2 &&
           lowered->parts && !lowered->is_sequence;
}

/* The instructions of a sequence depend on each other. */
static void cost_of_arithmetic(const struct config_machine *machine, const struct isa_insn *lowered,
                               struct sm_timing *timing) {
    enum { PER_PAIR = 2, FEW = 2 };
    static const enum sm_work works[] = {
        [ISA_WORK_INTEGER] = SM_WORK_INTEGER, [ISA_WORK_FLOAT] = SM_WORK_FLOAT, [ISA_WORK_SPECIAL] = SM_WORK_SPECIAL};
    bool has_every_lane_one = machine->sm.sfu_width >= machine->sm.simd_width;
    unsigned all = lowered->parts / ISA_PARTS, n = all > lowered->n_constants ? all - lowered->n_constants : all;
    unsigned more = n > 1 ? n - 1 : 0;
    use_unit(machine, lowered, timing);
    timing->work = (uint8_t)works[lowered->work];
    timing->has_slow_path = lowered->has_slow_path;
    unsigned latency =
        lowered->is_sequence ? timing->latency_cycles * lowered->passes : timing->latency_cycles + lowered->passes - 1u;
    timing->latency_cycles = (uint16_t)(latency + more * (n <= FEW ? PER_PAIR : machine->sm.alu_cycles));
    if (lowered->is_scaled && machine->sm.guard_cycles) /* comparison, product, function, product: op_rsqrt_scaled */
        timing->latency_cycles = (uint16_t)(timing->latency_cycles + machine->sm.guard_cycles - machine->sm.alu_cycles +
                                            machine->sm.far_cross_cycles);
    timing->is_long_product = is_long_product(lowered);
    if (timing->is_long_product && n == 1 && machine->sm.long_product_cycles)
        timing->latency_cycles = (uint16_t)machine->sm.long_product_cycles;
    if (!(lowered->is_sequence && has_every_lane_one))
        timing->occupancy_cycles = (uint16_t)(timing->occupancy_cycles * lowered->passes);
    if (!lowered->parts) /* a part of another one */
        timing->latency_cycles = timing->occupancy_cycles = 0;
}

/* Narrower elements are faster in proportion, and f64 is as slow as on the GPUs that support it (NVIDIA A100 and H100
 * white papers). A sparse A has half of the products. */
uint32_t sm_matrix_products(const struct ptx_instruction *insn) {
    enum { F64_BITS = 256, ELEMENT_BITS = 16 };
    struct ptx_fragment a = ptx_matrix_fragment(insn, PTX_MATRIX_A);
    uint32_t bits = a.element == PTX_ELEMENT_F64 ? F64_BITS : ptx_element_bits(a.element);
    return a.n_matrices * a.rows * a.columns * insn->matrix->n * bits / ELEMENT_BITS;
}

static void cost_of_matrices(const struct config_machine *machine, const struct ptx_instruction *insn,
                             struct sm_timing *timing) {
    bool is_integer = ptx_matrix_fragment(insn, PTX_MATRIX_D).element == PTX_ELEMENT_S32;
    uint32_t cycles = (sm_matrix_products(insn) + machine->matrix.rate - 1) / machine->matrix.rate;
    timing->unit = SM_UNIT_MATRIX;
    timing->work = is_integer ? SM_WORK_INTEGER : SM_WORK_FLOAT;
    timing->occupancy_cycles = (uint16_t)(cycles < UINT16_MAX ? cycles : UINT16_MAX);
    timing->latency_cycles = (uint16_t)(machine->matrix.latency_cycles + timing->occupancy_cycles - 1);
}

/* wgmma goes on in the background (products.c). Here is the time until the warp's next instruction: wide products take
 * longer to issue (bench/hardware/wgmma.c, issue). */
static void cost_of_group_product(const struct ptx_instruction *insn, struct sm_timing *timing) {
    enum { PER_CYCLE = 8, FREE = 4, LEAST = 2 };
    unsigned n = insn->matrix->n / PER_CYCLE;
    bool is_integer = insn->matrix->element[0] == PTX_ELEMENT_S32;
    timing->unit = SM_UNIT_MATRIX;
    timing->work = is_integer ? SM_WORK_INTEGER : SM_WORK_FLOAT;
    timing->occupancy_cycles = (uint16_t)(n > FREE + LEAST ? n - FREE : LEAST);
    timing->latency_cycles = timing->occupancy_cycles;
}

static bool is_store(const struct exec_insn *insn, const struct ptx_instruction *source) {
    bool is_matrix = source && source->matrix && source->matrix->action == PTX_MATRIX_STORE;
    return is_matrix || insn->opcode == PTX_OP_ST || insn->opcode == PTX_OP_SUST || insn->opcode == PTX_OP_COND_ACC ||
           insn->opcode == PTX_OP_TENSORMAP;
}

/* Returns whether a load bypasses the L1, either because it must see stores of other SMs or because it must not change
 * the L1. The H200 serves these loads from the L2 (bench/hardware: operator). */
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

/* Returns whether a machine instruction names the constant itself, so that no load comes before it: constant_operand_*,
 * constant_fixed. */
static bool is_constant_operand(const struct config_machine *machine, const struct ptx_instruction *source) {
    return machine->lowering.target && source && source->opcode == PTX_OP_LD && source->space == PTX_SPACE_CONST &&
           source->operand[1].kind == PTX_OPERAND_ADDRESS && source->operand[1].register_id == PTX_NO_INDEX;
}

static void cost_of_access(const struct config_machine *machine, const struct exec_insn *insn,
                           const struct ptx_instruction *source, const struct isa_insn *lowered,
                           struct sm_timing *timing) {
    bool is_texture = ptx_opcode_family(insn->opcode) == PTX_FAMILY_TEXTURE;
    enum ptx_space space = is_texture ? PTX_SPACE_GLOBAL : (enum ptx_space)insn->access.space;
    timing->is_atomic = insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED || insn->opcode == PTX_OP_SURED ||
                        insn->opcode == PTX_OP_MBARRIER;
    timing->returns = insn->opcode == PTX_OP_ATOM;
    timing->is_store = is_store(insn, source);
    timing->is_load = !timing->is_store && !timing->is_atomic;
    bool retries = machine->serial_atomics.is_present && machine->serial_atomics.retry_cycles;
    timing->atomic_kind = lowered->atomic == ISA_ATOMIC_RETRIED && !retries ? ISA_ATOMIC_PLAIN : lowered->atomic;
    timing->is_sampled = machine->texture.is_present && (insn->opcode == PTX_OP_TEX || insn->opcode == PTX_OP_TLD4);
    bool is_read = insn->opcode == PTX_OP_TEX || insn->opcode == PTX_OP_TLD4;
    timing->is_texture = machine->unified.is_present && machine->unified.texture_lanes && is_read;
    timing->is_plane = timing->is_texture && source && !ptx_has(source, PTX_MOD_D1);
    timing->holds_row = insn->flags & EXEC_FLAG_HOLDS_ROW;
    timing->passes_l1 = machine->l1.bypass && source && passes_l1(insn, source);
    timing->unit = SM_UNIT_LDST;
    timing->work = SM_WORK_MEMORY;
    timing->occupancy_cycles = passes(machine, machine->sm.ldst_width);
    timing->latency_cycles = (uint16_t)machine->sm.alu_cycles;
    bool is_shared = insn->opcode == PTX_OP_LDMATRIX || insn->opcode == PTX_OP_STMATRIX; /* generic addresses too */
    switch (is_shared ? PTX_SPACE_SHARED : space) {
    case PTX_SPACE_PARAM:
    case PTX_SPACE_CONST:
        timing->access = SM_ACCESS_CONSTANT;
        if (machine->sm.constant_cycles)
            timing->latency_cycles = (uint16_t)machine->sm.constant_cycles;
        break;
    case PTX_SPACE_SHARED:
        timing->access = SM_ACCESS_SHARED;
        if (source && source->matrix) /* a model that executes it itself counts no bank conflicts */
            timing->latency_cycles = (uint16_t)machine->shared.latency_cycles;
        break;
    case PTX_SPACE_LOCAL:
        timing->access = SM_ACCESS_LOCAL;
        break;
    default:
        timing->access = SM_ACCESS_GLOBAL;
        break;
    }
}

/* The adders over a row's predicates come before the pipeline. After them cond_acc adds and stores like any store, and
 * tree_traverse adds like any addition (Narasiman 2014, 7.1 and 7.2.1). */
static uint16_t prefix_cycles(const struct config_machine *machine, const struct exec_insn *insn) {
    bool sums_predicates = insn->opcode == PTX_OP_COND_ACC || insn->opcode == PTX_OP_TREE_TRAVERSE;
    return (uint16_t)(sums_predicates ? machine->sm.prefix_cycles : 0);
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

static enum sm_copies_role role_of_wgmma(const struct ptx_instruction *source) {
    switch (source->matrix->action) {
    case PTX_MATRIX_FENCE:
        return SM_PRODUCTS_FENCE;
    case PTX_MATRIX_COMMIT:
        return SM_PRODUCTS_COMMIT;
    case PTX_MATRIX_WAIT:
        return SM_PRODUCTS_WAIT;
    default:
        return SM_PRODUCTS_MULTIPLY;
    }
}

static enum sm_copies_role role_of(const struct exec_insn *insn, const struct ptx_instruction *source) {
    if (source && insn->opcode == PTX_OP_WGMMA)
        return role_of_wgmma(source);
    if (source && insn->opcode == PTX_OP_CP)
        return role_of_copy(insn, source);
    if (source && insn->kind == EXEC_KIND_CONTEXT &&
        ((insn->opcode == PTX_OP_ST || insn->opcode == PTX_OP_RED) && ptx_has(source, PTX_MOD_ASYNC)))
        return SM_COPIES_SIGNAL;
    if (!source || insn->opcode != PTX_OP_MBARRIER || insn->kind != EXEC_KIND_CONTEXT)
        return SM_COPIES_NONE;
    bool waits = ptx_has(source, PTX_MOD_TEST_WAIT) || ptx_has(source, PTX_MOD_TRY_WAIT);
    return waits ? SM_COPIES_WAIT_MBARRIER : SM_COPIES_SIGNAL;
}

/* Source registers in one bank are read one after the other. Operand collectors keep the unit busy with other warps
 * meanwhile, so a conflict delays the result, not the next issue. A register's place decides its bank. */
static uint16_t bank_conflicts(const struct config_machine *machine, const struct exec_insn *insn) {
    enum { MOST_BANKS = 64, PLACE_BYTES = EXEC_LANES * 4 };
    uint8_t n_in_bank[MOST_BANKS] = {0};
    uint8_t most = 1;
    if (!machine->sm.register_banks || machine->sm.register_banks > MOST_BANKS)
        return 0;
    for (unsigned i = 0; i < insn->n_src; i++) {
        struct exec_operand operand = insn->operand[insn->n_dst + i];
        bool is_read_before = operand.base != EXEC_BASE_REGISTERS || operand.width == PTX_WIDTH_PRED;
        for (unsigned j = 0; j < i; j++)
            is_read_before |= insn->operand[insn->n_dst + j].offset == operand.offset &&
                              insn->operand[insn->n_dst + j].base == operand.base;
        if (is_read_before)
            continue;
        uint8_t *count = &n_in_bank[operand.offset / PLACE_BYTES % machine->sm.register_banks];
        if (++*count > most)
            most = *count;
    }
    return (uint16_t)(most - 1);
}

/* Returns whether an arrival makes earlier accesses visible to the cluster: the H200 then executes a fence for the
 * device (bench/hardware: cluster_barrier, cluster_barrier_relaxed, cluster_arrive). */
static bool releases_to_cluster(const struct exec_insn *insn, const struct ptx_instruction *source) {
    bool is_arrival = source && (insn->opcode == PTX_OP_BARRIER || insn->opcode == PTX_OP_MBARRIER) &&
                      (ptx_has(source, PTX_MOD_ARRIVE) || ptx_has(source, PTX_MOD_ARRIVE_DROP));
    return is_arrival && ptx_has(source, PTX_MOD_CLUSTER) && !ptx_has(source, PTX_MOD_RELAXED);
}

/* Returns whether a store or an atomic contains a fence for the device. */
static bool is_release(const struct config_machine *machine, const struct exec_insn *insn,
                       const struct ptx_instruction *source) {
    bool is_access = insn->opcode == PTX_OP_ST || insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED;
    return machine->lowering.fence_access_cycles && source && is_access &&
           (source->space == PTX_SPACE_GLOBAL || source->space == PTX_SPACE_GENERIC) &&
           !ptx_has(source, PTX_MOD_CTA_MODE) && (ptx_has(source, PTX_MOD_RELEASE) || ptx_has(source, PTX_MOD_ACQ_REL));
}

static void cost(const struct config_machine *machine, const struct exec_insn *insn,
                 const struct ptx_instruction *source, const struct isa_insn *lowered, struct sm_timing *timing) {
    timing->parts = lowered->parts;
    timing->is_predicated = lowered->is_predicated;
    timing->jumps = lowered->jumps;
    timing->meets = lowered->meets;
    timing->n_special = lowered->n_special & 3;
    timing->is_control = insn->kind > EXEC_KIND_WARP && insn->kind != EXEC_KIND_NOTHING;
    timing->is_branch = insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_BRANCH_INDEXED;
    timing->is_jump = !insn->guard.offset && (insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_CALL);
    timing->is_call =
        insn->kind == EXEC_KIND_CALL || insn->kind == EXEC_KIND_CALL_INDIRECT || insn->kind == EXEC_KIND_RETURN;
    timing->is_barrier = insn->kind == EXEC_KIND_BARRIER && insn->opcode != PTX_OP_WGMMA;
    timing->is_fence = insn->opcode == PTX_OP_MEMBAR || insn->opcode == PTX_OP_FENCE;
    timing->is_device_fence = (timing->is_fence && lowered->is_device_fence) || releases_to_cluster(insn, source);
    timing->is_release = is_release(machine, insn, source);
    timing->is_pause = (insn->opcode == PTX_OP_NANOSLEEP && machine->lowering.sleep_cycles) ||
                       (insn->opcode == PTX_OP_SETMAXNREG && machine->lowering.registers_cycles);
    timing->copies = (uint8_t)role_of(insn, source);
    if (insn->goes_to_memory && !lowered->is_argument) {
        cost_of_access(machine, insn, source, lowered, timing);
        if (timing->copies == SM_COPIES_BULK && source->space == PTX_SPACE_GLOBAL) {
            timing->is_store = true;
            timing->is_load = false;
        }
    } else if (insn->kind == EXEC_KIND_LANES && source) {
        cost_of_arithmetic(machine, lowered, timing);
    } else if (timing->copies == SM_PRODUCTS_MULTIPLY) {
        cost_of_group_product(source, timing);
    } else if (source && source->matrix && source->matrix->action == PTX_MATRIX_MULTIPLY) {
        cost_of_matrices(machine, source, timing);
    } else if (insn->opcode == PTX_OP_MATCH && machine->sm.match_cycles && source && ptx_has(source, PTX_MOD_ANY)) {
        timing->unit = SM_UNIT_LDST;
        timing->work = SM_WORK_INTEGER;
        timing->occupancy_cycles = passes(machine, machine->sm.ldst_width);
        timing->latency_cycles = (uint16_t)machine->sm.sfu_cycles;
        timing->has_slow_path = true;
    } else {
        timing->unit = SM_UNIT_ALU;
        timing->work = timing->is_control || insn->kind == EXEC_KIND_NOTHING ? SM_WORK_CONTROL : SM_WORK_INTEGER;
        timing->occupancy_cycles = passes(machine, machine->sm.simd_width);
        timing->latency_cycles = (uint16_t)machine->sm.alu_cycles;
    }
    if (lowered->is_argument && !lowered->parts) /* no copy */
        timing->latency_cycles = timing->occupancy_cycles = 0;
    if (lowered->is_exception)
        use_unit(machine, lowered, timing);
    if (timing->access == SM_ACCESS_CONSTANT && is_constant_operand(machine, source))
        timing->latency_cycles = 1;
    timing->latency_cycles = (uint16_t)(timing->latency_cycles + prefix_cycles(machine, insn));
    if (timing->latency_cycles) /* not a part of another one */
        timing->latency_cycles = (uint16_t)(timing->latency_cycles + bank_conflicts(machine, insn));
    timing->is_visible_to_others = timing->access == SM_ACCESS_GLOBAL || insn->kind == EXEC_KIND_EXIT ||
                                   insn->kind == EXEC_KIND_CALL_BUILTIN || insn->kind == EXEC_KIND_TRAP;
    bool is_plain = insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_LDU ||
                    (insn->opcode == PTX_OP_ST && !(source && ptx_has(source, PTX_MOD_ASYNC)));
    bool is_other_access = timing->access == SM_ACCESS_GLOBAL && !is_plain;
    timing->reads_memory = is_other_access && timing->is_load;
    timing->is_direct = insn->is_simple || (is_plain && insn->kind == EXEC_KIND_CONTEXT);
    timing->needs_turn =
        (is_other_access && !timing->is_load) || insn->kind == EXEC_KIND_CALL_BUILTIN || insn->kind == EXEC_KIND_TRAP;
}

/* The scoreboard tracks virtual registers. Registers that are never live at the same time use the same place, so
 * tracking places would make independent instructions wait for each other. Each function has its own range of numbers.
 */
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

/* Only matrix instructions have more registers than a record holds. For a call with more, only the first ones count. */
static void collect_registers(struct sm_program *program, const struct ptx_instruction *insn,
                              struct sm_timing *timing) {
    struct collector collector = {
        .limit = insn->matrix ? MOST_REGISTERS : SM_OWN_REGISTERS, .first = program->n_registers, .wants_writes = true};
    if (insn->opcode != PTX_OP_WGMMA) /* its sums are waited for with wgmma.wait_group */
        ptx_for_each_register(insn, collect, &collector);
    timing->n_destinations = (uint8_t)collector.n;
    collector.wants_writes = false;
    ptx_for_each_register(insn, collect, &collector);
    timing->n_registers = (uint8_t)collector.n;
    if (collector.n <= SM_OWN_REGISTERS) {
        memcpy(timing->reg, collector.reg, collector.n * sizeof *collector.reg);
        return;
    }
    program->more = base_grow(program->more, program->n_more + collector.n, sizeof *program->more);
    memcpy(program->more + program->n_more, collector.reg, collector.n * sizeof *collector.reg);
    timing->reg[0] = program->n_more;
    program->n_more += collector.n;
}

static void set_traits(struct sm_timing *timing) {
    enum { LONG = SM_TRAITS_UNIT + 1, LOAD = 2 * LONG, VISIBLE = 4 * LONG };
    timing->traits = (uint8_t)(timing->unit + timing->is_long * LONG + timing->is_load * LOAD +
                               timing->is_visible_to_others * VISIBLE);
}

static void set_awaits_others(const struct config_machine *machine, struct sm_timing *timing) {
    bool has_own_registers = timing->n_registers <= SM_OWN_REGISTERS;
    /* The code behind a call or a return does not know which results are in flight. */
    bool awaits_results = timing->is_call && isa_is_compiled(isa_target_of(machine));
    timing->awaits_others =
        timing->is_release || timing->is_fence || timing->is_barrier || awaits_results || !has_own_registers;
    timing->is_direct &= has_own_registers;
}

/* Sends each instruction that two units can execute to the one with less work so far in the basic block. */
static void balance_units(const struct exec_function *function, const struct isa_insn *lowered,
                          struct sm_timing *timing) {
    const struct ptx_analysis *analysis = function->analysis;
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        uint32_t busy[2] = {0}; /* SM_UNIT_ALU, SM_UNIT_MULTIPLY */
        for (uint32_t i = analysis->block[b].first; i < analysis->block[b].first + analysis->block[b].count; i++) {
            struct sm_timing *one = &timing[function->first_pc + i];
            if (lowered[i].is_either && one->occupancy_cycles) {
                one->unit = busy[0] <= busy[1] ? SM_UNIT_ALU : SM_UNIT_MULTIPLY;
                set_traits(one);
            }
            if (one->unit == SM_UNIT_ALU || one->unit == SM_UNIT_MULTIPLY)
                busy[one->unit == SM_UNIT_MULTIPLY] += one->occupancy_cycles;
        }
    }
}

/* Numbers the lines of machine code that the instructions are in. */
static uint32_t number_lines(struct sm_timing *timing, uint32_t n) {
    uint64_t parts = 0;
    for (uint32_t pc = 0; pc < n; pc++) {
        uint64_t line = parts / (ISA_PARTS * SM_CODE_LINE);
        timing[pc].code_line = (uint16_t)(line < UINT16_MAX ? line : UINT16_MAX);
        parts += timing[pc].parts;
    }
    return n ? timing[n - 1].code_line + 1u : 0;
}

struct sm_program *sm_program_new(const struct exec_program *exec, const struct config_machine *machine) {
    static const struct isa_insn added = {.parts = ISA_PARTS, .passes = 1}; /* an instruction that the linker added */
    struct sm_program *program = base_allocate(1, sizeof *program);
    program->exec = exec;
    program->timing = base_allocate_aligned((exec->n_insns + 1) * sizeof *program->timing);
    for (uint32_t f = 0; f < exec->n_functions; f++) {
        const struct exec_function *function = &exec->function[f];
        struct isa_insn *lowered = isa_lower(isa_target_of(machine), function->analysis);
        for (uint32_t pc = function->first_pc; pc < function->first_pc + function->n_insns; pc++) {
            bool is_ptx = pc - function->first_pc < function->ptx->n_instructions;
            cost(machine, &exec->code[pc], exec->source[pc], is_ptx ? &lowered[pc - function->first_pc] : &added,
                 &program->timing[pc]);
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
        if (machine->sm.multiply_width)
            balance_units(function, lowered, program->timing);
        sm_wait_for_readers(function, &machine->sm, program->timing);
        for (uint32_t pc = function->first_pc; pc < function->first_pc + function->n_insns; pc++)
            set_awaits_others(machine, &program->timing[pc]);
        program->n_registers += function->ptx->n_registers;
        free(lowered);
    }
    program->n_code_lines = number_lines(program->timing, exec->n_insns);
    program->is_new = true;
    return program;
}

void sm_program_free(struct sm_program *program) {
    if (!program)
        return;
    sm_facts_free(program->facts);
    free(program->timing);
    free(program->more);
    free(program);
}
