/* The estimate for sm_90, step by step. What it leaves out: code that moves between blocks, values that are computed
 * twice in the PTX and once in machine code, spilled registers, the rare paths of divisions and square roots, and
 * functions that a compiler would put in line. */
#include <stdlib.h>

#include "base/memory.h"
#include "isa/internal.h"

/* ---- Definitions and uses ---------------------------------------------------------------------------------------- */

struct counter {
    struct isa_pass *pass;
    uint32_t i;
    bool fills; /* second round: the lists have room */
};

static void count_register(void *user, uint32_t r, bool is_write) {
    struct counter *counter = user;
    struct isa_pass *pass = counter->pass;
    if (is_write && !counter->fills) {
        pass->n_definitions[r]++;
        pass->definition[r] = counter->i;
    } else if (!is_write && counter->fills) {
        pass->use[pass->first_use[r + 1]++] = counter->i;
    } else if (!is_write) {
        pass->first_use[r + 2]++;
    }
}

static void find_uses(struct isa_pass *pass) {
    uint32_t n_registers = pass->function->n_registers;
    pass->n_definitions = base_allocate(n_registers + 1, sizeof(uint32_t));
    pass->definition = base_allocate(n_registers + 1, sizeof(uint32_t));
    pass->first_use = base_allocate(n_registers + 3, sizeof(uint32_t));
    struct counter counter = {pass, 0, false};
    for (counter.i = 0; counter.i < pass->n; counter.i++)
        ptx_for_each_register(isa_insn(pass, counter.i), count_register, &counter);
    for (uint32_t r = 0; r < n_registers + 1; r++)
        pass->first_use[r + 2] += pass->first_use[r + 1];
    pass->use = base_allocate(pass->first_use[n_registers + 1] + 1, sizeof(uint32_t));
    counter.fills = true;
    for (counter.i = 0; counter.i < pass->n; counter.i++)
        ptx_for_each_register(isa_insn(pass, counter.i), count_register, &counter);
}

/* ---- Short addresses --------------------------------------------------------------------------------------------- */

bool isa_reads_as_address(const struct ptx_instruction *insn, uint32_t r) {
    if (!isa_is_access(insn) || insn->guard == r)
        return false;
    bool is_base = false;
    for (unsigned k = 0; k < insn->n_operands; k++) {
        const struct ptx_operand *operand = &insn->operand[k];
        if (operand->kind == PTX_OPERAND_ADDRESS && operand->register_id == r)
            is_base = true;
        else if (operand->kind == PTX_OPERAND_REGISTER && operand->register_id == r)
            return false;
        for (uint32_t e = 0; operand->kind == PTX_OPERAND_VECTOR && e < operand->n_elements; e++)
            if (operand->element[e].kind == PTX_OPERAND_REGISTER && operand->element[e].register_id == r)
                return false;
    }
    return is_base;
}

/* Whether this use of a 64-bit register needs only its lower half. */
static bool is_short_use(const struct isa_pass *pass, const struct ptx_instruction *insn, uint32_t r) {
    uint32_t result = isa_result(insn);
    switch (insn->opcode) {
    case PTX_OP_LD:
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return isa_reads_as_address(insn, r) && (insn->space == PTX_SPACE_SHARED || insn->space == PTX_SPACE_LOCAL ||
                                                 insn->space == PTX_SPACE_CONST || insn->space == PTX_SPACE_PARAM);
    case PTX_OP_CVT:
        return ptx_type_bits(isa_type(insn)) <= 32;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_MOV:
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT:
    case PTX_OP_NEG:
        return result != ISA_NONE && pass->is_short[result];
    case PTX_OP_SHL:
        return result != ISA_NONE && pass->is_short[result];
    default:
        return false;
    }
}

/* All 64-bit registers are short until a use needs more. */
static void find_short_registers(struct isa_pass *pass) {
    const struct ptx_function *function = pass->function;
    pass->is_short = base_allocate(function->n_registers + 1, sizeof(bool));
    for (uint32_t r = 0; r < function->n_registers; r++)
        pass->is_short[r] = ptx_type_width(function->reg[r].type) == PTX_WIDTH_64 && isa_n_uses(pass, r) &&
                            ptx_type_kind(function->reg[r].type) != PTX_KIND_F;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (uint32_t r = 0; r < function->n_registers; r++)
            for (uint32_t u = pass->first_use[r]; pass->is_short[r] && u < pass->first_use[r + 1]; u++)
                if (!is_short_use(pass, isa_insn(pass, pass->use[u]), r)) {
                    pass->is_short[r] = false;
                    has_changed = true;
                }
    }
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool uses_global_memory(const struct isa_pass *pass) {
    for (uint32_t i = 0; i < pass->n; i++)
        if (isa_is_access(isa_insn(pass, i)) &&
            (isa_insn(pass, i)->space == PTX_SPACE_GLOBAL || isa_insn(pass, i)->space == PTX_SPACE_GENERIC))
            return true;
    return false;
}

/* A kernel begins with its stack pointer and, for global memory, a descriptor. */
static void add_prologue(struct isa_pass *pass) {
    if (pass->n && pass->function->is_entry)
        pass->cost[0] = (uint16_t)(pass->cost[0] + ISA_PARTS * (1 + uses_global_memory(pass)));
}

/* Whether the register is written before the call and read after it, in the order of the text. */
static bool lives_across(const struct isa_pass *pass, uint32_t r, uint32_t call) {
    bool is_read = false;
    for (uint32_t u = pass->first_use[r]; u < pass->first_use[r + 1] && !is_read; u++)
        is_read = pass->use[u] > call;
    if (!is_read)
        return false;
    for (uint32_t i = 0; i < call; i++)
        if (isa_result(isa_insn(pass, i)) == r)
            return true;
    return false;
}

/* A function that calls others keeps what it needs after a call, and where to return to, in registers that it stores at
 * its beginning and loads at its end. */
static void add_frame(struct isa_pass *pass) {
    enum { RETURN_ADDRESS = 2, STACK_POINTER = 1, MOST = 64 };
    uint32_t words = 0;
    for (uint32_t r = 0; r < pass->function->n_registers; r++) {
        bool is_kept = false;
        for (uint32_t i = 0; i < pass->n && !is_kept; i++)
            is_kept = isa_insn(pass, i)->opcode == PTX_OP_CALL && lives_across(pass, r, i);
        if (is_kept && ptx_type_width(pass->function->reg[r].type) != PTX_WIDTH_PRED)
            words += ptx_type_width(pass->function->reg[r].type) == PTX_WIDTH_64 ? 2 : 1;
    }
    uint16_t cost =
        (uint16_t)(ISA_PARTS * ((words < MOST ? words : MOST) + RETURN_ADDRESS + STACK_POINTER)); /* each way */
    pass->cost[0] = (uint16_t)(pass->cost[0] + cost);
    for (uint32_t i = 0; i < pass->n; i++)
        if (isa_insn(pass, i)->opcode == PTX_OP_RET)
            pass->cost[i] = (uint16_t)(pass->cost[i] + cost);
}

static bool calls_others(const struct isa_pass *pass) {
    for (uint32_t i = 0; i < pass->n; i++)
        if (isa_insn(pass, i)->opcode == PTX_OP_CALL)
            return true;
    return false;
}

struct isa_pass isa_pass_new(const struct ptx_analysis *analysis) {
    struct isa_pass pass = {.analysis = analysis, .function = analysis->function};
    pass.n = pass.function->n_instructions;
    pass.cost = base_allocate(pass.n + 1, sizeof *pass.cost);
    pass.is_converted = base_allocate(pass.n + 1, sizeof(bool));
    find_uses(&pass);
    find_short_registers(&pass);
    for (uint32_t i = 0; i < pass.n; i++)
        pass.cost[i] = (uint16_t)(isa_own_cost(&pass, i) * ISA_PARTS);
    isa_fold(&pass);
    isa_convert_branches(&pass);
    return pass;
}

void isa_pass_free(struct isa_pass *pass) {
    free(pass->n_definitions);
    free(pass->definition);
    free(pass->first_use);
    free(pass->use);
    free(pass->is_short);
    free(pass->is_converted);
    free(pass->cost);
}

uint16_t *isa_sm_90(const struct ptx_analysis *analysis) {
    struct isa_pass pass = isa_pass_new(analysis);
    isa_unroll(&pass);
    isa_mark_regions(&pass);
    add_prologue(&pass);
    if (pass.n && !pass.function->is_entry && calls_others(&pass))
        add_frame(&pass);
    for (uint32_t i = 0; i < pass.n; i++)
        pass.cost[i] = (uint16_t)((pass.cost[i] & ISA_COST) | (pass.is_converted[i] ? ISA_NO_JUMP : 0));
    uint16_t *cost = pass.cost;
    pass.cost = NULL;
    isa_pass_free(&pass);
    return cost;
}
