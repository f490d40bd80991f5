/* Control instructions thread by thread. See threads.h. */
#include "divergence/parts/threads.h"

#include <string.h>

static void set_lanes(uint32_t next[EXEC_LANES], uint32_t mask, uint32_t pc) {
    for (uint32_t left = mask; left; left &= left - 1)
        next[__builtin_ctz(left)] = pc;
}

static void call(struct exec_context *cx, struct exec_row *row, uint32_t pc, uint32_t callee, uint32_t mask,
                 uint32_t next[EXEC_LANES]) {
    exec_enter_function(cx, row, pc, callee, mask);
    set_lanes(next, mask, cx->grid->program->function[callee].first_pc);
}

static void call_indirect(struct exec_context *cx, struct exec_row *row, uint32_t pc, uint32_t mask,
                          uint32_t next[EXEC_LANES]) {
    const struct exec_program *program = cx->grid->program;
    const struct exec_call_site *site = &program->call_site[program->code[pc].imm];
    uint64_t address[EXEC_LANES]; /* a copy: entering a function may write the register */
    memcpy(address, divergence_lanes(row, site->target), sizeof address);
    for (uint32_t left = mask; left && !cx->fault.kind; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), callee = exec_function_at(program, address[lane]);
        if (callee == PTX_NO_INDEX)
            exec_fault_set(cx, EXEC_FAULT_BAD_CALL, lane, 0, 0, "%s", "");
        else
            call(cx, row, pc, callee, 1u << lane, next);
    }
}

static void leave(struct exec_context *cx, struct exec_row *row, uint32_t mask, uint32_t next[EXEC_LANES]) {
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct exec_frame_header header;
        memcpy(&header, row->local + (size_t)lane * cx->grid->local_bytes + row->frame[lane], sizeof header);
        next[lane] = header.return_pc;
    }
    exec_leave_function(cx, row, mask);
}

static void end(struct exec_row *row, uint32_t mask, uint32_t next[EXEC_LANES]) {
    row->live &= ~mask;
    divergence_cta(row)->n_live_rows -= !row->live;
    set_lanes(next, mask, EXEC_NO_PC);
}

bool divergence_is_row_sync(const struct exec_insn *insn) {
    bool is_warp_barrier =
        insn->kind == EXEC_KIND_NOTHING && (insn->opcode == PTX_OP_BAR || insn->opcode == PTX_OP_BARRIER);
    return exec_acts_on_row(insn->kind) || is_warp_barrier;
}

void divergence_next_pcs(struct exec_context *cx, struct exec_row *row, uint32_t pc, uint32_t mask,
                         uint32_t next[EXEC_LANES], uint32_t *waits) {
    const struct exec_insn *insn = &cx->grid->program->code[pc];
    uint32_t taken = divergence_guard(row, insn, mask);
    cx->row = row; /* a fault reports its lanes */
    *waits = 0;
    set_lanes(next, mask, pc + 1);
    if (!taken)
        return;
    if (insn->kind == EXEC_KIND_BARRIER || divergence_is_row_sync(insn)) {
        *waits = taken;
        return;
    }
    switch ((enum exec_kind)insn->kind) {
    case EXEC_KIND_BRANCH:
        set_lanes(next, taken, insn->target);
        break;
    case EXEC_KIND_BRANCH_INDEXED:
        for (uint32_t left = taken; left; left &= left - 1)
            next[__builtin_ctz(left)] = divergence_branch_target(cx, row, pc, (uint32_t)__builtin_ctz(left));
        break;
    case EXEC_KIND_CALL:
        call(cx, row, pc, cx->grid->program->function_of[insn->target], taken, next);
        break;
    case EXEC_KIND_CALL_INDIRECT:
        call_indirect(cx, row, pc, taken, next);
        break;
    case EXEC_KIND_CALL_BUILTIN:
        exec_row_insn(cx, row, insn, taken);
        break;
    case EXEC_KIND_RETURN:
        leave(cx, row, taken, next);
        break;
    case EXEC_KIND_EXIT:
        end(row, taken, next);
        break;
    case EXEC_KIND_TRAP:
        exec_fault_set(cx, EXEC_FAULT_TRAP, (unsigned)__builtin_ctz(taken), 0, 0, "%s", "");
        break;
    default:
        break;
    }
}
