/* Instructions that surround a function's own instructions: those at the beginning of a kernel, and those that keep
 * registers across calls. */
#include "isa/internal.h"

static bool uses_global_memory(const struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++)
        if (isa_is_access(isa_source(code, i)) &&
            (isa_source(code, i)->space == PTX_SPACE_GLOBAL || isa_source(code, i)->space == PTX_SPACE_GENERIC))
            return true;
    return false;
}

/* A kernel begins with its stack pointer and, for global memory, a descriptor. */
void isa_add_prologue(struct isa_code *code) {
    if (code->n && code->function->is_entry)
        code->insn[0].parts = (uint16_t)(code->insn[0].parts + ISA_PARTS * (1 + uses_global_memory(code)));
}

/* Returns whether the register is written before the call and read after it, in the order of the text. */
static bool lives_across(const struct isa_code *code, uint32_t r, uint32_t call) {
    bool is_read = false;
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1] && !is_read; u++)
        is_read = code->use[u] > call;
    if (!is_read)
        return false;
    for (uint32_t i = 0; i < call; i++)
        if (isa_result(isa_source(code, i)) == r)
            return true;
    return false;
}

static bool calls_others(const struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++)
        if (isa_source(code, i)->opcode == PTX_OP_CALL)
            return true;
    return false;
}

/* A function that calls others keeps its return address and the values it needs after a call in registers, which it
 * stores at its beginning and loads at its end. */
void isa_add_frame(struct isa_code *code) {
    enum { RETURN_ADDRESS = 2, STACK_POINTER = 1, MOST = 64 };
    if (code->function->is_entry || !calls_others(code))
        return;
    uint32_t words = 0;
    for (uint32_t r = 0; r < code->function->n_registers; r++) {
        bool is_kept = false;
        for (uint32_t i = 0; i < code->n && !is_kept; i++)
            is_kept = isa_source(code, i)->opcode == PTX_OP_CALL && lives_across(code, r, i);
        if (is_kept && ptx_type_width(code->function->reg[r].type) != PTX_WIDTH_PRED)
            words += ptx_type_width(code->function->reg[r].type) == PTX_WIDTH_64 ? 2 : 1;
    }
    uint16_t cost =
        (uint16_t)(ISA_PARTS * ((words < MOST ? words : MOST) + RETURN_ADDRESS + STACK_POINTER)); /* each way */
    code->insn[0].parts = (uint16_t)(code->insn[0].parts + cost);
    for (uint32_t i = 0; i < code->n; i++)
        if (isa_source(code, i)->opcode == PTX_OP_RET)
            code->insn[i].parts = (uint16_t)(code->insn[i].parts + cost);
}
