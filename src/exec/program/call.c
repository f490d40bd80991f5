/* The arguments and results of a call, which pass between the frames or register ranges of the caller and the callee.
 * The location of a formal parameter depends only on the prototype, so one call site serves every target of an indirect
 * call. */
#include "base/arena.h"
#include "exec/program/link.h"

uint32_t exec_place_formals(const struct ptx_function *function, uint32_t *offset) {
    uint32_t at = sizeof(struct exec_frame_header), n = 0;
    for (int list = 0; list < 2; list++) {
        const struct ptx_variable *formal = list ? function->parameter : function->result;
        uint32_t n_formals = list ? function->n_parameters : function->n_results;
        for (uint32_t i = 0; i < n_formals; i++, n++) {
            offset[n] = PTX_NO_INDEX;
            if (function->is_entry || formal[i].register_id != PTX_NO_INDEX)
                continue;
            at = (at + formal[i].alignment - 1) & ~(formal[i].alignment - 1);
            offset[n] = at;
            at += (uint32_t)formal[i].size;
        }
    }
    return at;
}

/* The caller's side: a call block in its frame, or a register or immediate. */
static void caller_side(struct exec_linker *linker, uint32_t caller, const struct ptx_operand *operand,
                        enum ptx_type type, bool *in_frame, uint32_t *offset, struct exec_operand *value,
                        uint32_t *bytes) {
    *in_frame = operand->kind == PTX_OPERAND_VARIABLE && operand->variable->space == PTX_SPACE_PARAM;
    if (*in_frame) {
        *offset = exec_frame_offset(linker, caller, operand->variable);
        *bytes = (uint32_t)operand->variable->size;
        if (*offset == PTX_NO_INDEX)
            ptx_error_at(linker->messages, linker->program->function[caller].ptx->home, operand->at,
                         "'%s' cannot be passed: it is not a parameter block of '%s'", operand->variable->name,
                         linker->program->function[caller].ptx->name);
        return;
    }
    struct exec_flat_operand flat = {operand, type, EXEC_FLAT_PLAIN};
    *value = exec_value_operand(linker, caller, &flat);
    *bytes = (uint32_t)ptx_type_bits(type) / 8;
}

/* The callee's side: `place` in its frame, or a register. */
static void callee_side(struct exec_linker *linker, const struct ptx_function *callee,
                        const struct ptx_variable *formal, uint32_t place, bool *in_frame, uint32_t *offset,
                        struct exec_operand *value) {
    *in_frame = formal->register_id == PTX_NO_INDEX;
    if (*in_frame) {
        *offset = place;
        return;
    }
    uint32_t number = linker->program->function_number[callee->index];
    if (number != PTX_NO_INDEX)
        *value = exec_register_operand(&linker->program->function[number], formal->register_id);
}

uint32_t exec_link_call_site(struct exec_linker *linker, uint32_t function_number, const struct ptx_instruction *insn) {
    const struct ptx_call *call = insn->call;
    struct exec_program *program = linker->program;
    uint32_t number = program->n_call_sites++;
    struct exec_call_site *site = &program->call_site[number];
    bool is_direct = call->target.kind == PTX_OPERAND_FUNCTION;
    const struct ptx_function *callee = is_direct ? call->target.function : call->prototype;
    *site = (struct exec_call_site){.insn = insn, .caller = function_number};
    if (!is_direct) {
        struct exec_flat_operand flat = {&call->target, PTX_U64, EXEC_FLAT_PLAIN};
        site->target = exec_value_operand(linker, function_number, &flat);
    }
    uint32_t *place = base_arena_alloc_array(linker->arena, (size_t)callee->n_results + callee->n_parameters + 1,
                                             sizeof *place, _Alignof(uint32_t));
    exec_place_formals(callee, place);
    site->n_arguments = call->n_arguments;
    site->n_results = call->n_results;
    site->argument = base_arena_alloc_array(linker->arena, call->n_arguments + 1, sizeof *site->argument, 16);
    site->result = base_arena_alloc_array(linker->arena, call->n_results + 1, sizeof *site->result, 16);
    for (uint32_t i = 0; i < call->n_arguments; i++) {
        struct exec_passed *passed = &site->argument[i];
        const struct ptx_variable *formal = &callee->parameter[i];
        caller_side(linker, function_number, &call->argument[i], formal->type, &passed->from_frame,
                    &passed->from_offset, &passed->from, &passed->bytes);
        callee_side(linker, callee, formal, place[callee->n_results + i], &passed->to_frame, &passed->to_offset,
                    &passed->to);
    }
    for (uint32_t i = 0; i < call->n_results; i++) {
        struct exec_passed *passed = &site->result[i];
        const struct ptx_variable *formal = &callee->result[i];
        caller_side(linker, function_number, &call->result[i], formal->type, &passed->to_frame, &passed->to_offset,
                    &passed->to, &passed->bytes);
        callee_side(linker, callee, formal, place[i], &passed->from_frame, &passed->from_offset, &passed->from);
    }
    return number;
}
