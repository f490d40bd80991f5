/* Barriers of a block. See barrier.h. */
#include "divergence/parts/barrier.h"

#include "divergence/parts/threads.h"
#include "exec/check/check.h"

static void fault(struct exec_context *cx, uint32_t mask, const char *detail) {
    exec_fault_set(cx, EXEC_FAULT_BARRIER, (unsigned)__builtin_ctz(mask), 0, 0, "%s", detail);
}

void divergence_barrier_result(struct exec_row *row, const struct exec_insn *insn, const struct exec_barrier *barrier,
                               uint32_t mask) {
    if (!insn->n_dst)
        return;
    uint32_t value = exec_barrier_result(barrier, insn->barrier_mode);
    unsigned char *lanes = row->base[insn->operand[0].base] + insn->operand[0].offset;
    if (insn->operand[0].width == PTX_WIDTH_PRED) {
        uint32_t *predicate = (uint32_t *)lanes;
        *predicate = value ? *predicate | mask : *predicate & ~mask;
        return;
    }
    for (uint32_t left = mask; left; left &= left - 1)
        ((uint32_t *)lanes)[__builtin_ctz(left)] = value;
}

/* wgmma.wait_group: each four neighbouring warps have a barrier of their own. */
static bool is_of_group(const struct exec_insn *insn) { return insn->opcode == PTX_OP_WGMMA; }

uint32_t divergence_barrier_number(const struct exec_row *row, const struct exec_insn *insn, uint32_t lane) {
    if (is_of_group(insn))
        return EXEC_GROUP_BARRIER + row->index / EXEC_GROUP_ROWS;
    return insn->n_src == 0 ? 0 : ((const uint32_t *)divergence_lanes(row, insn->operand[insn->n_dst]))[lane];
}

uint32_t divergence_barrier_lanes(const struct exec_row *row, const struct exec_insn *insn, uint32_t number,
                                  uint32_t lanes) {
    if (is_of_group(insn) || insn->n_src == 0)
        return divergence_barrier_number(row, insn, 0) == number ? lanes : 0;
    const uint32_t *of_lane = divergence_lanes(row, insn->operand[insn->n_dst]);
    uint32_t same = 0;
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++)
        same |= (uint32_t)(of_lane[lane] == number) << lane;
    return same & lanes;
}

bool divergence_barrier_is_complete(const struct exec_context *cx, const struct exec_cta *cta, uint32_t number) {
    if (!exec_cta_is_open(cta, number))
        return false;
    if (number == EXEC_CLUSTER_BARRIER && cta->block.cluster) /* the engine knows when other blocks have arrived */
        return cta->is_released;
    uint32_t live[EXEC_MAX_ROWS];
    for (uint32_t i = 0; i < cta->n_rows; i++)
        live[i] = cta->row[i].live;
    return exec_barrier_is_complete(&cta->barrier[number], live, cta->n_rows, cx->grid->warp_size);
}

/* A thread arrives at the cluster's barrier once and then waits for it once. If the barrier has been completed since,
 * no arrival of the thread is open. */
bool divergence_barrier_waits(const struct exec_context *cx, const struct exec_cta *cta, const struct exec_row *row,
                              uint32_t pc, uint32_t mask) {
    enum exec_barrier_mode mode = (enum exec_barrier_mode)cx->grid->program->code[pc].barrier_mode;
    if (mode == EXEC_BARRIER_WAIT)
        return exec_cta_is_open(cta, EXEC_CLUSTER_BARRIER) &&
               cta->barrier[EXEC_CLUSTER_BARRIER].arrived[row->index] & mask;
    return mode != EXEC_BARRIER_ARRIVE;
}

/* bar.arrive has a thread count, barrier.cluster.arrive does not. */
static bool is_of_cluster(const struct exec_insn *insn) {
    return insn->barrier_mode == EXEC_BARRIER_WAIT || (insn->barrier_mode == EXEC_BARRIER_ARRIVE && insn->n_src == 1);
}

int divergence_barrier_arrive(struct exec_context *cx, struct exec_cta *cta, struct exec_row *row, uint32_t pc,
                              uint32_t mask) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    uint32_t lane = (uint32_t)__builtin_ctz(mask), number = divergence_barrier_number(row, insn, lane);
    bool reduces = insn->barrier_mode >= EXEC_BARRIER_POPC;
    uint32_t expected = 0, predicate = 0;
    cx->insn = insn; /* for a fault's report */
    cx->row = row;
    if (insn->n_src > 1u + reduces) {
        expected = ((const uint32_t *)divergence_lanes(row, insn->operand[insn->n_dst + 1]))[lane];
        if (expected == 0 || expected % EXEC_LANES)
            fault(cx, mask, "a barrier's thread count must be a positive multiple of 32");
    }
    if (reduces)
        predicate = *(const uint32_t *)divergence_lanes(row, insn->operand[insn->n_dst + insn->n_src - 1]) ^
                    (insn->imm & 1 ? ~0u : 0);
    if (is_of_group(insn))
        expected = EXEC_GROUP_ROWS * EXEC_LANES;
    else if (number >= EXEC_CLUSTER_BARRIER && !is_of_cluster(insn))
        fault(cx, mask, "a block has barriers 0 to 15");
    if (cx->fault.kind || insn->barrier_mode == EXEC_BARRIER_WAIT)
        return DIVERGENCE_NO_BARRIER;
    exec_cta_open_barrier(cta, number);
    if (!exec_barrier_arrive(&cta->barrier[number], row->index, mask, predicate, expected)) {
        fault(cx, mask, "threads arrived at one barrier with different thread counts");
        return DIVERGENCE_NO_BARRIER;
    }
    if (cta->block.check) /* lanes that arrive at the cluster's barrier wait for it later */
        exec_check_arrive(&cta->block, number, row->index, mask,
                          insn->barrier_mode != EXEC_BARRIER_ARRIVE || number == EXEC_CLUSTER_BARRIER);
    return divergence_barrier_is_complete(cx, cta, number) ? (int)number : DIVERGENCE_NO_BARRIER;
}
