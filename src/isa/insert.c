/* Accesses to local memory that a pass adds to a function's text. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "isa/internal.h"

struct ptx_variable *isa_insert_frame(struct isa_insertions *insertions, const char *name) {
    struct ptx_function *function = insertions->function;
    struct ptx_variable **variable =
        BASE_ARENA_ARRAY(insertions->arena, struct ptx_variable *, function->n_variables + 1u);
    struct ptx_variable *frame = BASE_ARENA_NEW(insertions->arena, struct ptx_variable);
    *frame = (struct ptx_variable){.name = name,
                                   .at = function->at,
                                   .space = PTX_SPACE_LOCAL,
                                   .type = PTX_B8,
                                   .is_array = true,
                                   .vector = 1,
                                   .alignment = 8,
                                   .index = function->n_variables,
                                   .register_id = PTX_NO_INDEX,
                                   .owner = function};
    for (uint32_t i = 0; i < function->n_variables; i++)
        variable[i] = function->variable[i];
    variable[function->n_variables++] = frame;
    function->variable = variable;
    return frame;
}

/* Returns the type of a register, which may be one of those that are inserted. */
static enum ptx_type type_of(const struct isa_insertions *insertions, uint32_t r) {
    const struct ptx_function *function = insertions->function;
    return r < function->n_registers ? function->reg[r].type : insertions->reg[r - function->n_registers].type;
}

uint32_t isa_insert_register(struct isa_insertions *insertions, struct ptx_register reg) {
    if (insertions->n_registers == insertions->register_room) {
        insertions->register_room = 2 * insertions->register_room + 64;
        insertions->reg = base_grow(insertions->reg, insertions->register_room, sizeof *insertions->reg);
    }
    insertions->reg[insertions->n_registers] = reg;
    return insertions->function->n_registers + insertions->n_registers++;
}

void isa_insert_access(struct isa_insertions *insertions, uint32_t at, const struct ptx_instruction *near,
                       enum ptx_opcode opcode, uint32_t r, struct ptx_variable *frame, uint64_t offset,
                       bool is_guarded) {
    if (insertions->n == insertions->room) {
        insertions->room = 2 * insertions->room + 64;
        insertions->insertion = base_grow(insertions->insertion, insertions->room, sizeof *insertions->insertion);
    }
    enum ptx_width width = ptx_type_width(type_of(insertions, r));
    struct ptx_instruction insn = {.at = near->at, .source = near->source, .text = near->text, .opcode = opcode};
    insn.text_length = near->text_length;
    insn.space = PTX_SPACE_LOCAL;
    insn.vector = insn.n_types = 1;
    insn.n_operands = 2;
    insn.type[0] = width == PTX_WIDTH_64 ? PTX_B64 : width == PTX_WIDTH_32 ? PTX_B32 : PTX_B16;
    insn.guard = is_guarded ? near->guard : PTX_NO_INDEX;
    insn.guard_negated = is_guarded && near->guard_negated;
    insn.operand = BASE_ARENA_ARRAY(insertions->arena, struct ptx_operand, 2);
    struct ptx_operand address = {.kind = PTX_OPERAND_ADDRESS,
                                  .at = near->at,
                                  .register_id = PTX_NO_INDEX,
                                  .pair_id = PTX_NO_INDEX,
                                  .variable = frame,
                                  .offset = (int64_t)offset};
    struct ptx_operand value = {
        .kind = PTX_OPERAND_REGISTER, .at = near->at, .register_id = r, .pair_id = PTX_NO_INDEX};
    insn.operand[opcode == PTX_OP_ST] = value;
    insn.operand[opcode == PTX_OP_LD] = address;
    insertions->insertion[insertions->n] = (struct isa_insertion){at, insertions->n, insn};
    insertions->n++;
}

static int compare(const void *a, const void *b) {
    const struct isa_insertion *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->insn.opcode != y->insn.opcode) /* stores belong to the instruction before */
        return x->insn.opcode == PTX_OP_LD ? 1 : -1;
    return x->number < y->number ? -1 : 1;
}

static void insert_instructions(struct isa_insertions *insertions) {
    struct ptx_function *function = insertions->function;
    uint32_t n = function->n_instructions, n_out = 0, next = 0;
    struct ptx_instruction *out = BASE_ARENA_ARRAY(insertions->arena, struct ptx_instruction, n + insertions->n + 1u);
    uint32_t *place = base_allocate(n + 1, sizeof *place);
    qsort(insertions->insertion, insertions->n, sizeof *insertions->insertion, compare);
    for (uint32_t i = 0; i <= n; i++) {
        while (next < insertions->n && insertions->insertion[next].at == i &&
               insertions->insertion[next].insn.opcode == PTX_OP_ST)
            out[n_out++] = insertions->insertion[next++].insn;
        place[i] = n_out;
        while (next < insertions->n && insertions->insertion[next].at == i)
            out[n_out++] = insertions->insertion[next++].insn;
        if (i < n)
            out[n_out++] = function->instruction[i];
    }
    for (uint32_t i = 0; i < n_out; i++) {
        if (isa_has_target(&out[i]))
            out[i].operand[0].target = place[out[i].operand[0].target];
        for (uint32_t t = 0; t < out[i].n_targets; t++)
            out[i].target[t] = place[out[i].target[t]];
    }
    function->instruction = out;
    function->n_instructions = n_out;
    free(place);
}

void isa_insert_all(struct isa_insertions *insertions) {
    struct ptx_function *function = insertions->function;
    uint32_t n = function->n_registers, n_all = n + insertions->n_registers;
    struct ptx_register *reg = BASE_ARENA_ARRAY(insertions->arena, struct ptx_register, n_all + 1u);
    insert_instructions(insertions);
    for (uint32_t r = 0; r < n_all; r++)
        reg[r] = r < n ? function->reg[r] : insertions->reg[r - n];
    function->reg = reg;
    function->n_registers = n_all;
    free(insertions->insertion);
    free(insertions->reg);
    *insertions = (struct isa_insertions){.function = function, .arena = insertions->arena};
}
