/* Latency by reader. The time until a result can be used depends on the instruction that uses it: one in the same unit
 * has it first, one in another unit some cycles later. A predicate that guards an instruction, a branch or a vote takes
 * longer still, but one that is an operand, as of a selection, takes no longer than other results. The H200 shows all
 * of this (bench/hardware: op_setp_add, op_vote, op_setp_selp, op_iadd_xor, op_fmin_fadd, op_rcp_approx_fadd,
 * shared_load_xor), and the stall counts in the code of ptxas 13.0 agree.
 *
 * The first reader in the basic block decides. For results that only other blocks read, nothing is added, but a
 * predicate that is a guard anywhere is late for all its readers. */
#include <stdlib.h>

#include "base/memory.h"
#include "sm/timing.h"

/* The last instruction that wrote a register, until it is read. */
struct writer {
    struct sm_timing *timing;
    uint32_t block;
};

struct readers {
    const struct ptx_function *function;
    const struct config_sm *sm;
    const struct ptx_instruction *insn; /* the one whose registers are visited */
    struct sm_timing *timing;           /* its own */
    struct writer *writer;              /* per register */
    uint32_t block;
    bool *is_guard; /* per register */
    bool writes_guard;
};

static bool is_arithmetic(const struct sm_timing *timing) {
    return timing->access == SM_ACCESS_NONE && !timing->is_control && timing->latency_cycles &&
           (timing->unit == SM_UNIT_ALU || timing->unit == SM_UNIT_MULTIPLY || timing->unit == SM_UNIT_SFU ||
            timing->unit == SM_UNIT_FP64);
}

static bool is_predicate(const struct readers *readers, uint32_t r) {
    return ptx_type_width(readers->function->reg[r].type) == PTX_WIDTH_PRED;
}

static void note_guard(void *user, uint32_t r, bool is_write) {
    struct readers *readers = user;
    bool is_vote = readers->insn->opcode == PTX_OP_VOTE && is_predicate(readers, r);
    if (is_write)
        readers->writes_guard |= readers->is_guard[r];
    else if (readers->insn->guard == r || is_vote)
        readers->is_guard[r] = true;
}

/* A comparison whose predicate goes through an instruction that takes no time is itself the guard's. */
static void note_origin(void *user, uint32_t r, bool is_write) {
    struct readers *readers = user;
    readers->is_guard[r] |= !is_write && is_predicate(readers, r);
}

/* Instructions of these units wait in a queue before they read their operands. */
static bool is_far(const struct sm_timing *timing) {
    return timing->unit == SM_UNIT_SFU || timing->unit == SM_UNIT_LDST;
}

static bool has_result(const struct sm_timing *timing) {
    return is_arithmetic(timing) || timing->is_load || (timing->unit == SM_UNIT_LDST && !timing->is_store);
}

/* Adds the cycles that a result needs to get from one unit to another. */
static void cross(const struct config_sm *sm, struct sm_timing *from, const struct sm_timing *to) {
    if (from->unit == to->unit || is_far(to) || !is_arithmetic(to))
        return;
    if (from->access != SM_ACCESS_NONE)
        from->exit_cycles = sm->far_cross_cycles & 7;
    else
        from->latency_cycles =
            (uint16_t)(from->latency_cycles + (is_far(from) ? sm->far_cross_cycles : sm->cross_cycles));
}

static void read_or_write(void *user, uint32_t r, bool is_write) {
    struct readers *readers = user;
    struct writer *writer = &readers->writer[r];
    if (is_write) {
        *writer = (struct writer){has_result(readers->timing) ? readers->timing : NULL, readers->block};
    } else if (writer->timing && writer->block == readers->block) {
        cross(readers->sm, writer->timing, readers->timing);
        writer->timing = NULL;
    }
}

static void delay_guard(void *user, uint32_t r, bool is_write) {
    struct readers *readers = user;
    if (is_write && readers->is_guard[r] && readers->timing->latency_cycles < readers->sm->guard_cycles)
        readers->timing->latency_cycles = (uint16_t)readers->sm->guard_cycles;
}

void sm_wait_for_readers(const struct exec_function *function, const struct config_sm *sm, struct sm_timing *timing) {
    const struct ptx_analysis *analysis = function->analysis;
    const struct ptx_instruction *insn = function->ptx->instruction;
    struct readers readers = {.function = function->ptx, .sm = sm};
    if (!sm->cross_cycles && !sm->far_cross_cycles && !sm->guard_cycles)
        return;
    readers.writer = base_allocate(function->ptx->n_registers + 1, sizeof *readers.writer);
    readers.is_guard = base_allocate(function->ptx->n_registers + 1, sizeof(bool));
    for (uint32_t i = function->ptx->n_instructions; i-- > 0;) {
        readers.insn = &insn[i];
        readers.writes_guard = false;
        ptx_for_each_register(&insn[i], note_guard, &readers);
        if (readers.writes_guard && !timing[function->first_pc + i].latency_cycles)
            ptx_for_each_register(&insn[i], note_origin, &readers);
    }
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        readers.block = b;
        for (uint32_t i = analysis->block[b].first; i < analysis->block[b].first + analysis->block[b].count; i++) {
            readers.insn = &insn[i];
            readers.timing = &timing[function->first_pc + i];
            ptx_for_each_register(&insn[i], read_or_write, &readers);
            if (is_arithmetic(readers.timing))
                ptx_for_each_register(&insn[i], delay_guard, &readers);
        }
    }
    free(readers.writer);
    free(readers.is_guard);
}
