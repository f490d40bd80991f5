/* alloca, stacksave and stackrestore: memory after the current function's frame, until the function returns.
 *
 * The PTX ISA manual leaves the location open. Here a thread's stack ends at frame + frame bytes + row->taken, and the
 * next call puts its frame there. On return, frame.c finds how much the caller had taken. imm is the function's frame
 * bytes. */
#include "exec/memory/mbarrier.h"

enum { ALIGNMENT = 16 };

static uint32_t end_of_frame(const struct exec_context *cx, const struct exec_operands *o, unsigned lane) {
    return exec_row_at(cx, lane)->frame[exec_lane_at(cx, lane)] + o->imm;
}

static uint32_t *taken_of(const struct exec_context *cx, unsigned lane) {
    return &exec_row_at(cx, lane)->taken[exec_lane_at(cx, lane)];
}

static void overflow(struct exec_context *cx, unsigned lane, uint64_t address) {
    cx->fault = (struct exec_fault){.kind = EXEC_FAULT_STACK_OVERFLOW, .lane = lane, .address = address};
}

/* Reads and writes a register of 32 or 64 bits. */
static uint64_t read_word(const void *lanes, bool is_long, unsigned lane) {
    return is_long ? ((const uint64_t *)lanes)[lane] : ((const uint32_t *)lanes)[lane];
}

static void write_word(void *lanes, bool is_long, unsigned lane, uint64_t value) {
    if (is_long)
        ((uint64_t *)lanes)[lane] = value;
    else
        ((uint32_t *)lanes)[lane] = (uint32_t)value;
}

/* Sources: the size and the alignment. */
static void take(struct exec_context *cx, const struct exec_operands *o) {
    bool is_long = cx->insn->operand[0].width == PTX_WIDTH_64;
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t size = read_word(o->src[0], is_long, l);
        uint64_t alignment = cx->insn->n_src > 1 ? read_word(o->src[1], is_long, l) : 8;
        uint32_t *taken = taken_of(cx, l), frame = end_of_frame(cx, o, l);
        uint64_t start = (frame + *taken + alignment - 1) & ~(alignment - 1);
        if (size > cx->grid->local_bytes || start + size > cx->grid->local_bytes) {
            overflow(cx, l, start);
            return;
        }
        write_word(o->dst[0], is_long, l, start);
        *taken = (uint32_t)((start + size - frame + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1));
    }
}

static void save(struct exec_context *cx, const struct exec_operands *o) {
    bool is_long = cx->insn->operand[0].width == PTX_WIDTH_64;
    EXEC_FOR_ACTIVE(l, o->mask)
    write_word(o->dst[0], is_long, l, (uint64_t)end_of_frame(cx, o, l) + *taken_of(cx, l));
}

static void restore(struct exec_context *cx, const struct exec_operands *o) {
    bool is_long = cx->insn->operand[0].width == PTX_WIDTH_64;
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t end = read_word(o->src[0], is_long, l);
        uint32_t *taken = taken_of(cx, l), frame = end_of_frame(cx, o, l);
        if (end < frame || end > frame + *taken) { /* stacksave did not return this value in this function */
            overflow(cx, l, end);
            return;
        }
        *taken = (uint32_t)(end - frame);
    }
}

exec_act_fn *exec_select_stack(const struct exec_form *form) {
    switch (form->insn->opcode) {
    case PTX_OP_ALLOCA:
        return take;
    case PTX_OP_STACKSAVE:
        return save;
    default:
        return restore;
    }
}
