/* Control flow on the post-dominator stack. See control.h. */
#include "divergence/parts/control.h"

static void fault(struct exec_context *cx, enum exec_fault_kind kind, uint32_t mask, const char *detail) {
    exec_fault_set(cx, kind, (unsigned)__builtin_ctz(mask), 0, 0, "%s", detail);
}

static const void *lanes_of(const struct exec_row *row, struct exec_operand operand) {
    return row->base[operand.base] + operand.offset;
}

static void call(struct divergence_stack *stack, struct exec_context *cx, struct exec_row *row, uint32_t pc,
                 uint32_t callee, uint32_t mask) {
    exec_enter_function(cx, row, pc, callee, mask);
    divergence_stack_push_call(stack, cx->grid->program->function[callee].first_pc, mask);
}

/* Lanes may call different functions: one entry for each. */
static void call_indirect(struct divergence_stack *stack, struct exec_context *cx, struct exec_row *row, uint32_t pc,
                          uint32_t mask) {
    const struct exec_program *program = cx->grid->program;
    const struct exec_call_site *site = &program->call_site[program->code[pc].imm];
    const uint64_t *address = lanes_of(row, site->target);
    while (mask && !cx->fault.kind) {
        uint32_t lane = (uint32_t)__builtin_ctz(mask), same = 0;
        for (uint32_t left = mask; left; left &= left - 1)
            same |= (uint32_t)(address[__builtin_ctz(left)] == address[lane]) << __builtin_ctz(left);
        uint32_t callee = exec_function_at(program, address[lane]);
        if (callee == PTX_NO_INDEX)
            fault(cx, EXEC_FAULT_BAD_CALL, same, "");
        else
            call(stack, cx, row, pc, callee, same);
        mask &= ~same;
    }
}

/* brx.idx: one path for each distinct target. True when there is more than one. */
static bool branch_indexed(struct divergence_stack *stack, const struct exec_context *cx, const struct exec_row *row,
                           uint32_t pc, uint32_t mask) {
    const struct exec_program *program = cx->grid->program;
    const struct exec_insn *insn = &program->code[pc];
    const uint32_t *index = lanes_of(row, insn->operand[0]);
    const uint32_t *table = program->branch_table[insn->target];
    uint32_t next[EXEC_LANES], n_paths = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        next[lane] = index[lane] < table[0] ? table[1 + index[lane]] : pc + 1;
    }
    uint32_t stay = divergence_stack_top(stack)->mask & ~mask; /* lanes whose guard was false fall through */
    divergence_stack_make_join(stack, insn->reconvergence);
    if (stay) {
        if (pc + 1 != insn->reconvergence)
            divergence_stack_push_path(stack, pc + 1, insn->reconvergence, stay);
        n_paths++;
    }
    for (uint32_t left = mask; left;) {
        uint32_t target = next[__builtin_ctz(left)], same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            same |= (uint32_t)(next[__builtin_ctz(rest)] == target) << __builtin_ctz(rest);
        if (target != insn->reconvergence)
            divergence_stack_push_path(stack, target, insn->reconvergence, same);
        left &= ~same;
        n_paths++;
    }
    divergence_stack_pop_finished(stack);
    return n_paths > 1;
}

static bool branch(struct divergence_stack *stack, const struct exec_insn *insn, uint32_t pc, uint32_t mask) {
    struct divergence_entry *top = divergence_stack_top(stack);
    if (mask == top->mask) {
        top->pc = insn->target;
        return false;
    }
    if (!mask)
        return false;
    divergence_stack_diverge(stack, insn->reconvergence, insn->target, mask, pc + 1);
    return true;
}

struct divergence_outcome divergence_control(struct divergence_stack *stack, struct exec_context *cx,
                                             struct exec_row *row, uint32_t pc, uint32_t mask) {
    const struct exec_program *program = cx->grid->program;
    const struct exec_insn *insn = &program->code[pc];
    struct divergence_outcome outcome = {.is_branch = false};
    divergence_stack_top(stack)->pc = pc + 1;
    if (insn->kind == EXEC_KIND_BRANCH) {
        outcome.is_branch = true;
        outcome.is_divergent = branch(stack, insn, pc, mask);
        divergence_stack_pop_finished(stack);
        return outcome;
    }
    if (!mask) {
        outcome.is_branch = insn->kind == EXEC_KIND_BRANCH_INDEXED;
        divergence_stack_pop_finished(stack);
        return outcome;
    }
    switch ((enum exec_kind)insn->kind) {
    case EXEC_KIND_BRANCH_INDEXED:
        outcome.is_branch = true;
        outcome.is_divergent = branch_indexed(stack, cx, row, pc, mask);
        break;
    case EXEC_KIND_CALL:
        call(stack, cx, row, pc, program->function_of[insn->target], mask);
        break;
    case EXEC_KIND_CALL_INDIRECT:
        call_indirect(stack, cx, row, pc, mask);
        break;
    case EXEC_KIND_CALL_BUILTIN:
        exec_row_insn(cx, row, insn, mask);
        break;
    case EXEC_KIND_RETURN:
        exec_leave_function(cx, row, mask);
        divergence_stack_remove(stack, mask, true);
        break;
    case EXEC_KIND_EXIT:
        outcome.exited = mask;
        row->live &= ~mask;
        divergence_stack_remove(stack, mask, false);
        break;
    case EXEC_KIND_BARRIER:
        outcome.at_barrier = mask;
        break;
    case EXEC_KIND_TRAP:
        fault(cx, EXEC_FAULT_TRAP, mask, "");
        break;
    default:
        break;
    }
    if (!outcome.at_barrier) /* there the entry still has to wait */
        divergence_stack_pop_finished(stack);
    return outcome;
}

/* --- barriers --- */

void divergence_barrier_result(struct exec_row *row, const struct exec_insn *insn, const struct exec_barrier *barrier,
                               uint32_t mask) {
    if (!insn->n_dst)
        return;
    uint32_t value = exec_barrier_result(barrier, insn->reconvergence);
    unsigned char *lanes = row->base[insn->operand[0].base] + insn->operand[0].offset;
    if (insn->operand[0].width == PTX_WIDTH_PRED) {
        uint32_t *predicate = (uint32_t *)lanes;
        *predicate = value ? *predicate | mask : *predicate & ~mask;
        return;
    }
    for (uint32_t left = mask; left; left &= left - 1)
        ((uint32_t *)lanes)[__builtin_ctz(left)] = value;
}

uint32_t divergence_barrier_number(const struct exec_row *row, const struct exec_insn *insn, uint32_t lane) {
    return insn->n_src == 0 ? 0 : ((const uint32_t *)lanes_of(row, insn->operand[insn->n_dst]))[lane];
}

static uint64_t release(struct divergence_stack *stack, const struct exec_context *cx, struct exec_cta *cta,
                        uint32_t number) {
    struct exec_barrier *barrier = &cta->barrier[number];
    uint64_t released = 0;
    for (uint32_t i = 0; i < cta->n_rows; i++) {
        for (uint32_t d = 0; d < stack[i].depth; d++) {
            struct divergence_entry *entry = &stack[i].entry[d];
            if (!entry->is_waiting)
                continue;
            const struct exec_insn *insn = &cx->grid->program->code[entry->wait_pc];
            uint32_t lane = (uint32_t)__builtin_ctz(entry->wait_mask);
            if (divergence_barrier_number(&cta->row[i], insn, lane) != number)
                continue;
            divergence_barrier_result(&cta->row[i], insn, barrier, entry->wait_mask);
            entry->is_waiting = false;
            released |= 1ull << i;
        }
        divergence_stack_pop_finished(&stack[i]); /* the barrier may have been the last instruction of a path */
    }
    exec_barrier_reset(barrier);
    return released;
}

bool divergence_barrier_is_complete(const struct exec_context *cx, const struct exec_cta *cta, uint32_t number) {
    if (!cta->barrier[number].is_open)
        return false;
    uint32_t live[EXEC_MAX_ROWS];
    for (uint32_t i = 0; i < cta->n_rows; i++)
        live[i] = cta->row[i].live;
    return exec_barrier_is_complete(&cta->barrier[number], live, cta->n_rows, cx->grid->warp_size);
}

int divergence_barrier_arrive(struct exec_context *cx, struct exec_cta *cta, struct exec_row *row, uint32_t pc,
                              uint32_t mask) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    uint32_t lane = (uint32_t)__builtin_ctz(mask), number = divergence_barrier_number(row, insn, lane);
    bool reduces = insn->reconvergence >= EXEC_BARRIER_POPC;
    uint32_t expected = 0, predicate = 0;
    cx->insn = insn; /* what a fault is told of */
    cx->row = row;
    if (insn->n_src > 1u + reduces) {
        expected = ((const uint32_t *)lanes_of(row, insn->operand[insn->n_dst + 1]))[lane];
        if (expected == 0 || expected % EXEC_LANES)
            fault(cx, EXEC_FAULT_BARRIER, mask, "a barrier's thread count must be a positive multiple of 32");
    }
    if (reduces)
        predicate =
            *(const uint32_t *)lanes_of(row, insn->operand[insn->n_dst + insn->n_src - 1]) ^ (insn->imm & 1 ? ~0u : 0);
    if (number >= EXEC_N_BARRIERS)
        fault(cx, EXEC_FAULT_BARRIER, mask, "a block has barriers 0 to 15");
    if (cx->fault.kind)
        return DIVERGENCE_NO_BARRIER;
    if (!exec_barrier_arrive(&cta->barrier[number], row->index, mask, predicate, expected)) {
        fault(cx, EXEC_FAULT_BARRIER, mask, "threads arrived at one barrier with different thread counts");
        return DIVERGENCE_NO_BARRIER;
    }
    return divergence_barrier_is_complete(cx, cta, number) ? (int)number : DIVERGENCE_NO_BARRIER;
}

uint64_t divergence_arrive(struct divergence_stack *stack, struct exec_context *cx, struct exec_cta *cta,
                           uint32_t row_number, uint32_t pc, uint32_t mask) {
    int complete = divergence_barrier_arrive(cx, cta, &cta->row[row_number], pc, mask);
    if (cx->fault.kind)
        return 0;
    if (cx->grid->program->code[pc].reconvergence != EXEC_BARRIER_ARRIVE) {
        struct divergence_entry *top = divergence_stack_top(&stack[row_number]);
        top->is_waiting = true;
        top->wait_pc = pc;
        top->wait_mask = mask;
    } else {
        divergence_stack_pop_finished(&stack[row_number]); /* it may have been the last instruction of a path */
    }
    return complete == DIVERGENCE_NO_BARRIER ? 0 : release(stack, cx, cta, (uint32_t)complete);
}

uint64_t divergence_after_exit(struct divergence_stack *stack, struct exec_context *cx, struct exec_cta *cta) {
    uint64_t released = 0;
    for (uint32_t i = 0; i < EXEC_N_BARRIERS; i++)
        if (divergence_barrier_is_complete(cx, cta, i))
            released |= release(stack, cx, cta, i);
    return released;
}
