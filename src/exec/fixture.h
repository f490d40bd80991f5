/* For the tests of this folder: a grid of one block and one row with device memory, and instructions built by hand.
 *
 * Device memory holds two adjacent allocations and a separate third one:
 *     FIXTURE_A  1024 bytes        FIXTURE_B  1024 bytes, right after        FIXTURE_C  512 bytes after a gap */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/internal.h"

#define FIXTURE_A 0x7f0000000000ull
#define FIXTURE_B (FIXTURE_A + 1024)
#define FIXTURE_C (FIXTURE_A + 4096)

enum { FIXTURE_LOCAL = 256, FIXTURE_SHARED = 1024, FIXTURE_PARAMETERS = 64, FIXTURE_DEVICE = 8192 };

struct fixture {
    struct ptx_operand operand[2];
    struct ptx_instruction ptx;
    struct exec_form form;
    struct exec_insn insn;
    struct exec_operands o;
    _Alignas(64) unsigned char dst[EXEC_MAX_DST][EXEC_LANES * 8];
    _Alignas(64) unsigned char src[EXEC_MAX_SRC][EXEC_LANES * 8];
    struct exec_allocation allocation[3];
    struct exec_memory memory;
    struct exec_call_site site;
    struct exec_program program;
    struct exec_grid grid;
    struct exec_block block;
    struct exec_row row;
    struct exec_context cx;
    _Alignas(64) unsigned char device[FIXTURE_DEVICE];
    _Alignas(64) unsigned char shared[FIXTURE_SHARED];
    _Alignas(64) unsigned char local[EXEC_LANES * FIXTURE_LOCAL];
    _Alignas(64) unsigned char parameters[FIXTURE_PARAMETERS];
};

static inline void fixture_open(struct fixture *f) {
    memset(f, 0, sizeof(*f));
    f->allocation[0] = (struct exec_allocation){FIXTURE_A, 1024};
    f->allocation[1] = (struct exec_allocation){FIXTURE_B, 1024};
    f->allocation[2] = (struct exec_allocation){FIXTURE_C, 512};
    f->memory = (struct exec_memory){.base = FIXTURE_A,
                                     .limit = FIXTURE_A + FIXTURE_DEVICE,
                                     .delta = (ptrdiff_t)((uintptr_t)f->device - FIXTURE_A),
                                     .allocation = f->allocation,
                                     .n_allocations = 3,
                                     .user = f};
    f->program.call_site = &f->site;
    f->grid = (struct exec_grid){.program = &f->program,
                                 .memory = &f->memory,
                                 .parameters = f->parameters,
                                 .parameter_bytes = FIXTURE_PARAMETERS,
                                 .shared_bytes = FIXTURE_SHARED,
                                 .local_bytes = FIXTURE_LOCAL};
    f->block = (struct exec_block){.grid = &f->grid, .shared = f->shared, .n_rows = 1};
    f->row = (struct exec_row){.local = f->local, .block = &f->block, .threads = ~0u, .live = ~0u};
    f->row.base[EXEC_BASE_REGISTERS] = f->src[0];
    f->cx.grid = &f->grid;
    f->cx.row = &f->row;
    f->cx.insn = &f->insn;
    f->cx.lanes = exec_level_table();
    f->o.mask = ~0u;
}

/* Begins an instruction; operands and modifiers are added after it. */
static inline void fixture_insn(struct fixture *f, enum ptx_opcode opcode, enum ptx_space space, enum ptx_type type) {
    f->ptx =
        (struct ptx_instruction){.opcode = opcode, .space = space, .vector = 1, .operand = f->operand, .n_operands = 2};
    f->ptx.n_types = type != PTX_NO_TYPE;
    f->ptx.type[0] = type;
    f->form = (struct exec_form){.insn = &f->ptx};
    f->insn = (struct exec_insn){.opcode = (uint8_t)opcode};
    f->insn.access.space = (uint8_t)space;
    f->cx.fault.kind = EXEC_FAULT_NONE;
    f->o.imm = 0;
}

static inline void fixture_modifier(struct fixture *f, enum ptx_modifier modifier) {
    f->ptx.modifiers[modifier / 64] |= 1ull << (modifier % 64);
}

static inline enum ptx_width fixture_width(unsigned bits) {
    return bits == 1 ? PTX_WIDTH_PRED : bits == 16 ? PTX_WIDTH_16 : bits == 32 ? PTX_WIDTH_32 : PTX_WIDTH_64;
}

/* Adds a destination, filled with 0xee; all destinations come before the first source. */
static inline void *fixture_dst(struct fixture *f, unsigned bits) {
    unsigned k = f->form.n_dst++;
    f->form.dst_bits[k] = (uint8_t)bits;
    f->insn.operand[f->insn.n_dst++].width = fixture_width(bits) & 3;
    memset(f->dst[k], 0xee, sizeof(f->dst[k]));
    return f->o.dst[k] = f->dst[k];
}

static inline void *fixture_src(struct fixture *f, unsigned bits) {
    unsigned k = f->form.n_src++;
    f->form.src_bits[k] = (uint8_t)bits;
    f->insn.operand[f->insn.n_dst + f->insn.n_src++] =
        (struct exec_operand){.width = fixture_width(bits) & 3, .base = EXEC_BASE_REGISTERS};
    f->o.src[k] = f->src[k];
    return f->src[k];
}

/* The address operand: lane l at first + l * step. */
static inline void fixture_address(struct fixture *f, uint64_t first, uint64_t step) {
    uint64_t *address = fixture_src(f, 64);
    for (unsigned l = 0; l < EXEC_LANES; l++)
        address[l] = first + l * step;
}

static inline void fixture_act(struct fixture *f, exec_act_fn *act) {
    assert_non_null(act);
    act(&f->cx, &f->o);
}

static inline unsigned char *fixture_at(struct fixture *f, uint64_t address) {
    return f->device + (address - FIXTURE_A);
}
