/* Operands that an instruction has no room for, read lane by lane wherever its threads are. */
#include "exec/internal.h"
#include "exec/live.h"
#include "exec/run.h"

static bool is_carried(const struct exec_context *cx, struct exec_operand operand) {
    return operand.base == EXEC_BASE_REGISTERS && cx->threads->registers &&
           !cx->grid->program->live->is_at_home[operand.offset / 4];
}

uint32_t exec_extra_value(const struct exec_context *cx, unsigned k, unsigned lane) {
    struct exec_operand operand = cx->grid->program->extra[cx->insn->reconvergence - 1].operand[k];
    if (cx->row)
        return ((const uint32_t *)exec_lanes_of(cx->row, operand))[lane];
    if (is_carried(cx, operand))
        return ((const uint32_t *)(const void *)(cx->threads->registers + operand.offset))[lane];
    const struct exec_row *row = cx->threads->row[lane];
    return ((const uint32_t *)exec_lanes_of(row, operand))[cx->threads->lane[lane]];
}
