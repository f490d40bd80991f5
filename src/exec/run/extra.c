/* Finds operands that do not fit into an instruction, one lane at a time, wherever the registers of its threads are. */
#include "exec/internal.h"
#include "exec/program/live.h"
#include "exec/run/run.h"

static bool is_carried(const struct exec_context *cx, struct exec_operand operand) {
    return operand.base == EXEC_BASE_REGISTERS && cx->threads->registers &&
           !cx->grid->program->live->is_at_home[operand.offset / 4];
}

void *exec_extra_at(const struct exec_context *cx, unsigned k, unsigned lane) {
    struct exec_operand operand = cx->grid->program->extra[cx->insn->extra - 1].operand[k];
    size_t bytes = exec_slot_bytes(operand);
    if (cx->row)
        return (unsigned char *)exec_lanes_of(cx->row, operand) + lane * bytes;
    if (is_carried(cx, operand))
        return cx->threads->registers + operand.offset + lane * bytes;
    return (unsigned char *)exec_lanes_of(cx->threads->row[lane], operand) + cx->threads->lane[lane] * bytes;
}

uint32_t exec_extra_value(const struct exec_context *cx, unsigned k, unsigned lane) {
    return *(const uint32_t *)exec_extra_at(cx, k, lane);
}
