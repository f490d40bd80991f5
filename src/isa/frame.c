/* Instructions that surround a function's own instructions: those at the beginning of a kernel, and those of calls.
 *
 * Arguments and results are in registers. ptxas chooses the registers of a function and of its callers together, so
 * that most values need no copy, and nothing is saved. An open function (ptx/calls.c) and its callers keep to a
 * convention instead: arguments and results have registers of their own, to which values are copied that are needed
 * later, too. The function stores R2, R16 and the registers behind it at its beginning, as far as it uses them, and
 * loads them at its end. It keeps the values in them that it needs after a call, its return address, and a convergence
 * barrier. (bench/hardware: calls_*; code of ptxas 13.0 for small functions.) */
#include <stdlib.h>

#include "base/memory.h"
#include "isa/internal.h"

static bool uses_global_memory(const struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++)
        if (isa_is_access(isa_source(code, i)) &&
            (isa_source(code, i)->space == PTX_SPACE_GLOBAL || isa_source(code, i)->space == PTX_SPACE_GENERIC))
            return true;
    return false;
}

static bool has_frame(const struct ptx_function *function) {
    for (uint32_t i = 0; i < function->n_variables; i++)
        if (function->variable[i]->space == PTX_SPACE_LOCAL)
            return true;
    return false;
}

/* Returns whether lanes may part in the function, so that it has a convergence barrier. */
static bool has_barrier(const struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++)
        if (isa_source(code, i)->opcode == PTX_OP_BRA && isa_source(code, i)->guard != PTX_NO_INDEX &&
            !code->analysis->is_uniform_branch[i])
            return true;
    return false;
}

/* Returns whether the instruction calls a function, if only for rare operands. */
static bool calls(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_CALL || (isa_is_float(insn) && isa_has_rare_path(insn));
}

static bool calls_others(const struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++)
        if (calls(isa_source(code, i)))
            return true;
    return false;
}

static void add(struct isa_code *code, uint32_t i, unsigned n) {
    code->insn[i].parts = (uint16_t)(code->insn[i].parts + n * ISA_PARTS);
}

/* A kernel begins with its stack pointer and, for global memory, a descriptor. A function with local memory moves the
 * stack pointer, at its beginning and at its end; an open one that calls others moves its convergence barrier into a
 * register and back. */
void isa_add_prologue(struct isa_code *code) {
    const struct ptx_function *function = code->function;
    if (code->n && function->is_entry)
        add(code, 0, 1u + uses_global_memory(code));
    if (!code->n || function->is_entry || !has_frame(function))
        return;
    unsigned n = 1u + (function->is_open && calls_others(code) && has_barrier(code));
    add(code, 0, n);
    for (uint32_t i = 0; i < code->n; i++)
        if (isa_source(code, i)->opcode == PTX_OP_RET)
            add(code, i, n);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Returns whether the function called is known, and not one that Heddle provides. */
static const struct ptx_function *callee_of(const struct ptx_instruction *call) {
    bool is_direct = call->call->target.kind == PTX_OPERAND_FUNCTION;
    return is_direct && call->call->target.function->has_body ? call->call->target.function : NULL;
}

/* Returns whether caller and callee keep to the convention. */
static bool is_open_call(const struct ptx_instruction *call) {
    return call->call->target.kind != PTX_OPERAND_FUNCTION || (callee_of(call) && callee_of(call)->is_open);
}

/* The return address is 64 bits wide. A call through a pointer reads the address of the code from a table, and lanes
 * that may call different functions meet behind it. */
unsigned isa_cost_of_call(const struct isa_code *code, uint32_t i) {
    enum { CLOSED = 4, OPEN = 3, TABLE = 1, MEETING = 2 };
    const struct ptx_instruction *call = isa_source(code, i);
    if (call->call->target.kind != PTX_OPERAND_FUNCTION)
        return OPEN + TABLE + (code->analysis->is_uniform_branch[i] ? 0 : MEETING);
    return is_open_call(call) ? OPEN : CLOSED;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

static const struct ptx_operand *address_of(const struct ptx_instruction *insn) {
    return &insn->operand[insn->opcode == PTX_OP_LD];
}

/* Returns whether the instruction accesses an argument or a result of a function, at a known place. */
static bool is_argument(const struct ptx_instruction *insn) {
    if ((insn->opcode != PTX_OP_LD && insn->opcode != PTX_OP_ST) || insn->space != PTX_SPACE_PARAM)
        return false;
    const struct ptx_operand *address = address_of(insn);
    if (address->kind != PTX_OPERAND_ADDRESS || !address->variable || address->register_id != PTX_NO_INDEX)
        return false;
    const struct ptx_function *owner = address->variable->owner;
    for (uint32_t i = 0; owner && owner->is_entry && i < owner->n_parameters; i++)
        if (&owner->parameter[i] == address->variable)
            return false;
    return true;
}

static bool names(const struct ptx_operand *operand, const struct ptx_variable *variable) {
    if (operand->kind == PTX_OPERAND_VARIABLE || operand->kind == PTX_OPERAND_ADDRESS)
        return operand->variable == variable;
    for (uint32_t e = 0; operand->kind == PTX_OPERAND_VECTOR && e < operand->n_elements; e++)
        if (names(&operand->element[e], variable))
            return true;
    return false;
}

/* Returns whether an instruction needs the argument's address, so that it is in memory. */
static bool is_in_memory(const struct isa_code *code, const struct ptx_variable *variable) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        for (unsigned k = 0; k < insn->n_operands && !is_argument(insn); k++)
            if (names(&insn->operand[k], variable))
                return true;
    }
    return false;
}

static bool passes(const struct ptx_instruction *call, const struct ptx_variable *variable) {
    for (uint32_t a = 0; a < call->call->n_arguments; a++)
        if (names(&call->call->argument[a], variable))
            return true;
    for (uint32_t r = 0; r < call->call->n_results; r++)
        if (names(&call->call->result[r], variable))
            return true;
    return false;
}

/* Returns the call in the instruction's block that passes the variable, or ISA_NONE: it is the function's own. */
static uint32_t find_call(const struct isa_code *code, uint32_t i, const struct ptx_variable *variable) {
    const struct ptx_block *block = &code->analysis->block[code->analysis->block_of[i]];
    for (uint32_t c = block->first; c < block->first + block->count; c++)
        if (isa_source(code, c)->opcode == PTX_OP_CALL && passes(isa_source(code, c), variable))
            return c;
    return ISA_NONE;
}

/* Returns whether the register is needed after a call behind instruction i. */
static bool outlives_call(const struct isa_code *code, uint32_t r, uint32_t i) {
    for (uint32_t c = i + 1; c < code->n; c++)
        if (calls(isa_source(code, c)) && isa_is_live_after(code, r, c))
            return true;
    return false;
}

static unsigned words_of(const struct ptx_instruction *insn) {
    unsigned bits = ptx_type_bits(isa_type(insn)) * (insn->vector ? insn->vector : 1u);
    return (bits + 31) / 32;
}

/* Returns whether the value was computed in the block of instruction i, and after the last call. */
static bool is_new(const struct isa_code *code, uint32_t r, uint32_t i) {
    uint32_t first = code->analysis->block[code->analysis->block_of[i]].first;
    for (uint32_t k = i; k-- > first;) {
        if (isa_source(code, k)->opcode == PTX_OP_CALL)
            return false;
        if (isa_result(isa_source(code, k)) == r)
            return true;
    }
    return false;
}

/* Returns how many copies the access to an argument needs. Only constants, parts of words, and values in the registers
 * of a convention need some. */
static unsigned copies_of(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    const struct ptx_operand *value = &insn->operand[insn->opcode == PTX_OP_ST];
    uint32_t call = find_call(code, i, address_of(insn)->variable);
    bool is_open = call != ISA_NONE ? is_open_call(isa_source(code, call)) : code->function->is_open;
    if (isa_is_known(code, value) || (insn->opcode == PTX_OP_LD && ptx_type_bits(isa_type(insn)) < 32))
        return words_of(insn);
    if (!is_open || value->kind != PTX_OPERAND_REGISTER)
        return 0;
    uint32_t r = value->register_id;
    if (insn->opcode == PTX_OP_LD)
        return outlives_call(code, r, i) ? words_of(insn) : 0;
    return call != ISA_NONE && (isa_is_live_after(code, r, i) || !is_new(code, r, i)) ? words_of(insn) : 0;
}

void isa_pass_arguments(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (!is_argument(insn) || is_in_memory(code, address_of(insn)->variable))
            continue;
        code->insn[i].is_argument = true;
        code->insn[i].parts = (uint16_t)(ISA_PARTS * copies_of(code, i));
    }
}

/* ---- Saved registers --------------------------------------------------------------------------------------------- */

static unsigned words_of_register(const struct ptx_function *function, uint32_t r) {
    enum ptx_width width = ptx_type_width(function->reg[r].type);
    return width == PTX_WIDTH_PRED ? 0 : width == PTX_WIDTH_64 ? 2 : 1;
}

/* Returns how many words the function needs after one of its calls. They take as many registers if they fit, and
 * otherwise a few more than are needed after one call. */
static uint32_t words_across_calls(const struct isa_code *code) {
    enum { SPARE = 2 };
    const struct ptx_function *function = code->function;
    uint32_t all = 0, most = 0;
    bool *is_counted = base_allocate(function->n_registers + 1, sizeof *is_counted);
    for (uint32_t i = 0; i < code->n; i++) {
        if (!calls(isa_source(code, i)))
            continue;
        uint32_t here = 0;
        for (uint32_t r = 0; r < function->n_registers; r++) {
            if (r == isa_result(isa_source(code, i)) || !isa_n_uses(code, r) || !isa_is_live_after(code, r, i))
                continue;
            uint32_t words = code->is_short[r] && words_of_register(function, r) ? 1 : words_of_register(function, r);
            here += words;
            all += is_counted[r] ? 0 : words;
            is_counted[r] = true;
        }
        most = here > most ? here : most;
    }
    free(is_counted);
    return all < most + SPARE ? all : most + SPARE;
}

/* Returns how many registers the function saves: those of the values across its calls, of the return address, and of
 * the convergence barrier of its branches, or those that it needs beyond the ones that callers leave it. */
static uint32_t saved_words(const struct isa_target *target, const struct ptx_function *function) {
    enum { RETURN_ADDRESS = 2, FREE = 14, MOST = 48 };
    struct ptx_analysis *analysis = ptx_analyze_flow(function);
    struct isa_code code = isa_code_new(target, analysis);
    uint32_t words, least = isa_find_need(target, function).least;
    if (calls_others(&code))
        words = words_across_calls(&code) + RETURN_ADDRESS + has_barrier(&code);
    else
        words = least > FREE + ISA_RESERVED_REGISTERS ? least - FREE - ISA_RESERVED_REGISTERS : 0;
    isa_code_free(&code);
    ptx_analysis_free(analysis);
    return words < MOST ? words : MOST;
}

void isa_save_registers(const struct isa_target *target, struct ptx_function *function, struct base_arena *arena) {
    enum { WORD_BYTES = 4 };
    if (function->is_entry || !function->is_open || !function->n_instructions)
        return;
    uint32_t words = saved_words(target, function);
    if (!words)
        return;
    struct isa_insertions insertions = {.function = function, .arena = arena};
    struct ptx_variable *frame = isa_insert_frame(&insertions, ISA_SAVED_NAME);
    frame->size = (uint64_t)words * WORD_BYTES;
    for (uint32_t w = 0; w < words; w++) {
        uint32_t r = isa_insert_register(&insertions, (struct ptx_register){.name = "%saved", .type = PTX_B32});
        isa_insert_access(&insertions, 0, &function->instruction[0], PTX_OP_ST, r, frame, w * WORD_BYTES, false);
        for (uint32_t i = 0; i < function->n_instructions; i++)
            if (function->instruction[i].opcode == PTX_OP_RET)
                isa_insert_access(&insertions, i, &function->instruction[i], PTX_OP_LD, r, frame, w * WORD_BYTES, true);
    }
    isa_insert_all(&insertions);
}
