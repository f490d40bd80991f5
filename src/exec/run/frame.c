/* Calls and returns: frames in each thread's local memory, argument and result copies, and saved registers of functions
 * that may recurse. */
#include <string.h>

#include "exec/exec.h"

static const unsigned width_bytes[PTX_N_WIDTHS] = {0, 2, 4, 8};

static unsigned char *thread_local_memory(const struct exec_row *row, unsigned lane) {
    return row->local + (size_t)lane * row->block->grid->local_bytes;
}

static uint64_t read_register(const struct exec_row *row, struct exec_operand operand, unsigned lane) {
    const unsigned char *lanes = row->base[operand.base] + operand.offset;
    uint64_t value = 0;
    if (operand.width == PTX_WIDTH_PRED) {
        uint32_t mask;
        memcpy(&mask, lanes, sizeof mask);
        return mask >> lane & 1;
    }
    memcpy(&value, lanes + lane * width_bytes[operand.width], width_bytes[operand.width]);
    return value;
}

static void write_register(struct exec_row *row, struct exec_operand operand, unsigned lane, uint64_t value) {
    unsigned char *lanes = row->base[operand.base] + operand.offset;
    if (operand.width == PTX_WIDTH_PRED) {
        uint32_t mask;
        memcpy(&mask, lanes, sizeof mask);
        mask = (mask & ~(1u << lane)) | (uint32_t)(value & 1) << lane;
        memcpy(lanes, &mask, sizeof mask);
        return;
    }
    memcpy(lanes + lane * width_bytes[operand.width], &value, width_bytes[operand.width]);
}

/* Moves a function's registers of one lane to (is_save) or from its save area. */
static void move_registers(const struct exec_function *function, struct exec_row *row, unsigned lane,
                           unsigned char *area, bool is_save) {
    static const uint32_t row_bytes[PTX_N_WIDTHS] = {4, 64, 128, 256};
    for (int width = PTX_N_WIDTHS - 1; width >= 0; width--) {
        for (uint32_t slot = 0; slot < function->analysis->n_slots[width]; slot++) {
            struct exec_operand operand = {.offset =
                                               (function->register_offset[width] + slot * row_bytes[width]) & 0xfffffff,
                                           .base = EXEC_BASE_REGISTERS,
                                           .width = (unsigned)width & 3};
            unsigned bytes = width == PTX_WIDTH_PRED ? 1 : width_bytes[width];
            uint64_t value = 0;
            if (is_save) {
                value = read_register(row, operand, lane);
                memcpy(area, &value, bytes);
            } else {
                memcpy(&value, area, bytes);
                write_register(row, operand, lane, value);
            }
            area += bytes;
        }
    }
}

enum { MAX_PASSED_REGISTERS = 64 };

/* Passes values between two frames of a thread. Registers are read before any is written: a recursive callee's
 * parameters are the caller's own registers. */
static void pass_values(const struct exec_passed *passed, uint32_t n, struct exec_row *row, unsigned lane,
                        const unsigned char *from_frame, unsigned char *to_frame) {
    uint64_t value[MAX_PASSED_REGISTERS];
    for (uint32_t i = 0; i < n && i < MAX_PASSED_REGISTERS; i++)
        if (!passed[i].from_frame)
            value[i] = read_register(row, passed[i].from, lane);
    for (uint32_t i = 0; i < n; i++) {
        const struct exec_passed *c = &passed[i];
        if (!c->from_frame && i >= MAX_PASSED_REGISTERS)
            value[MAX_PASSED_REGISTERS - 1] = read_register(row, c->from, lane);
        uint64_t *kept = &value[i < MAX_PASSED_REGISTERS ? i : MAX_PASSED_REGISTERS - 1];
        if (c->from_frame && c->to_frame) {
            memmove(to_frame + c->to_offset, from_frame + c->from_offset, c->bytes);
            continue;
        }
        if (c->from_frame) {
            *kept = 0;
            memcpy(kept, from_frame + c->from_offset, c->bytes > 8 ? 8 : c->bytes);
        }
        if (c->to_frame)
            memcpy(to_frame + c->to_offset, kept, c->bytes > 8 ? 8 : c->bytes);
        else
            write_register(row, c->to, lane, *kept);
    }
}

void exec_enter_function(struct exec_context *cx, struct exec_row *row, uint32_t pc, uint32_t callee, uint32_t mask) {
    const struct exec_program *program = cx->grid->program;
    const struct exec_insn *insn = &program->code[pc];
    const struct exec_call_site *site = &program->call_site[insn->call_site];
    const struct exec_function *caller = &program->function[site->caller];
    cx->row = row; /* a fault names a lane of this row */
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        unsigned char *local = thread_local_memory(row, lane);
        uint32_t frame = row->frame[lane], next = frame + caller->frame_bytes + row->taken[lane];
        if (next + program->function[callee].frame_bytes > cx->grid->local_bytes) {
            cx->fault = (struct exec_fault){.kind = EXEC_FAULT_STACK_OVERFLOW, .lane = lane, .address = next};
            return;
        }
        struct exec_frame_header header;
        memcpy(&header, local + frame, sizeof header);
        header = (struct exec_frame_header){pc + 1, frame, insn->call_site, header.depth + 1};
        memcpy(local + next, &header, sizeof header);
        if (insn->flags & EXEC_FLAG_SAVES)
            move_registers(caller, row, lane, local + frame + caller->save_offset, true);
        pass_values(site->argument, site->n_arguments, row, lane, local + frame, local + next);
        row->frame[lane] = next;
        row->taken[lane] = 0;
    }
}

void exec_leave_function(struct exec_context *cx, struct exec_row *row, uint32_t mask) {
    const struct exec_program *program = cx->grid->program;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        unsigned char *local = thread_local_memory(row, lane);
        struct exec_frame_header header;
        memcpy(&header, local + row->frame[lane], sizeof header);
        const struct exec_call_site *site = &program->call_site[header.call_site];
        const struct exec_function *caller = &program->function[site->caller];
        /* Register results are read before the caller's saved registers overwrite them. */
        uint64_t result[MAX_PASSED_REGISTERS];
        for (uint32_t i = 0; i < site->n_results && i < MAX_PASSED_REGISTERS; i++)
            if (!site->result[i].from_frame)
                result[i] = read_register(row, site->result[i].from, lane);
        if (program->code[header.return_pc - 1].flags & EXEC_FLAG_SAVES)
            move_registers(caller, row, lane, local + header.caller_frame + caller->save_offset, false);
        for (uint32_t i = 0; i < site->n_results && i < MAX_PASSED_REGISTERS; i++) {
            const struct exec_passed *c = &site->result[i];
            if (c->from_frame)
                pass_values(c, 1, row, lane, local + row->frame[lane], local + header.caller_frame);
            else if (c->to_frame)
                memcpy(local + header.caller_frame + c->to_offset, &result[i], c->bytes > 8 ? 8 : c->bytes);
            else
                write_register(row, c->to, lane, result[i]);
        }
        row->taken[lane] = row->frame[lane] - header.caller_frame - caller->frame_bytes;
        row->frame[lane] = header.caller_frame;
    }
}

uint32_t exec_function_at(const struct exec_program *program, uint64_t address) {
    uint64_t index = (address - EXEC_CODE_WINDOW) / 16;
    if (address < EXEC_CODE_WINDOW || (address & 15) || index >= program->module->n_functions)
        return PTX_NO_INDEX;
    return program->function_number[index];
}
