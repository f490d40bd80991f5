/* Describes a fault of the simulated program in one line: kind, kernel, block, thread, PTX line, address. */
#include <inttypes.h>
#include <stdio.h>

#include "gpu/internal.h"

static const char *what_happened(const struct exec_fault *fault, enum gpu_status *status) {
    switch (fault->kind) {
    case EXEC_FAULT_ILLEGAL_ADDRESS:
    case EXEC_FAULT_USE_AFTER_FREE:
        *status = GPU_ILLEGAL_ADDRESS;
        return "illegal address";
    case EXEC_FAULT_STRAY:
        *status = GPU_ILLEGAL_ADDRESS;
        return "stray access to";
    case EXEC_FAULT_SHARED_BOUNDS:
        *status = GPU_ILLEGAL_ADDRESS;
        return "shared memory access out of bounds";
    case EXEC_FAULT_LOCAL_BOUNDS:
        *status = GPU_ILLEGAL_ADDRESS;
        return "local memory access out of bounds";
    case EXEC_FAULT_READ_ONLY:
        *status = GPU_ILLEGAL_ADDRESS;
        return "store to read-only memory";
    case EXEC_FAULT_MISALIGNED:
        *status = GPU_MISALIGNED_ADDRESS;
        return "misaligned address";
    case EXEC_FAULT_STACK_OVERFLOW:
        *status = GPU_STACK_OVERFLOW;
        return "stack overflow";
    case EXEC_FAULT_ASSERT:
        *status = GPU_ASSERT;
        return "assertion failed";
    case EXEC_FAULT_TRAP:
        *status = GPU_TRAP;
        return "trap";
    case EXEC_FAULT_BAD_CALL:
        *status = GPU_INVALID_PC;
        return "indirect call to an address that is not a function";
    case EXEC_FAULT_BAD_TEXTURE:
        *status = GPU_ILLEGAL_ADDRESS;
        return "no such texture or surface";
    case EXEC_FAULT_BAD_NODE:
        *status = GPU_TRAP;
        return "bad node size";
    case EXEC_FAULT_PARTIAL_WARP:
        *status = GPU_TRAP;
        return "part of a warp";
    case EXEC_FAULT_BARRIER:
        *status = GPU_LAUNCH_TIMEOUT;
        return "barrier";
    default:
        *status = GPU_INSTRUCTION_LIMIT;
        return "limit reached";
    }
}

void gpu_describe_fault(const struct exec_context *cx, const struct exec_row *row, uint32_t pc,
                        struct gpu_error *error) {
    const struct exec_fault *fault = &cx->fault;
    const struct exec_program *program = cx->grid->program;
    const struct ptx_instruction *insn = program->source[pc];
    const struct exec_block *block = row->block;
    unsigned lane = fault->lane;
    char name[120] = "ret", address[80] = "", detail[256] = "";
    if (insn)
        ptx_instruction_name(insn, name, sizeof name);
    if (fault->bytes)
        snprintf(address, sizeof address, " 0x%" PRIx64 " (%" PRIu32 " bytes)", fault->address, fault->bytes);
    if (fault->detail[0])
        snprintf(detail, sizeof detail, ", %s", fault->detail);
    const char *what = what_happened(fault, &error->status);
    snprintf(error->message, sizeof error->message,
             "%s%s in kernel '%s', block (%" PRIu32 ",%" PRIu32 ",%" PRIu32 "), thread (%" PRIu32 ",%" PRIu32
             ",%" PRIu32 "), %s:%" PRIu32 " (%s)%s",
             what, address, program->name, block->ctaid[0][0], block->ctaid[1][0], block->ctaid[2][0],
             row->tid[0][lane], row->tid[1][lane], row->tid[2][lane],
             program->function[program->function_of[pc]].ptx->home->path, insn ? insn->at.line : 0, name, detail);
}
