/* The code on which the passes work: definitions and uses of registers, and each instruction at its own cost. */
#include <stdlib.h>

#include "base/memory.h"
#include "isa/internal.h"
#include "ptx/matrix.h"

/* ---- Definitions and uses ---------------------------------------------------------------------------------------- */

struct counter {
    struct isa_code *code;
    uint32_t i;
    bool fills; /* second round: the lists have room */
};

static void count_register(void *user, uint32_t r, bool is_write) {
    struct counter *counter = user;
    struct isa_code *code = counter->code;
    if (is_write && !counter->fills) {
        code->n_definitions[r]++;
        code->definition[r] = counter->i;
    } else if (!is_write && counter->fills) {
        code->use[code->first_use[r + 1]++] = counter->i;
    } else if (!is_write) {
        code->first_use[r + 2]++;
    }
}

static void find_uses(struct isa_code *code) {
    uint32_t n_registers = code->function->n_registers;
    code->n_definitions = base_allocate(n_registers + 1, sizeof(uint32_t));
    code->definition = base_allocate(n_registers + 1, sizeof(uint32_t));
    code->first_use = base_allocate(n_registers + 3, sizeof(uint32_t));
    struct counter counter = {code, 0, false};
    for (counter.i = 0; counter.i < code->n; counter.i++)
        ptx_for_each_register(isa_source(code, counter.i), count_register, &counter);
    for (uint32_t r = 0; r < n_registers + 1; r++)
        code->first_use[r + 2] += code->first_use[r + 1];
    code->use = base_allocate(code->first_use[n_registers + 1] + 1, sizeof(uint32_t));
    counter.fills = true;
    for (counter.i = 0; counter.i < code->n; counter.i++)
        ptx_for_each_register(isa_source(code, counter.i), count_register, &counter);
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

/* Returns whether the instruction's second operand leaves nothing of the upper half of its first one. */
static bool drops_upper_half(const struct ptx_instruction *insn) {
    if (insn->n_operands < 3 || insn->operand[2].kind != PTX_OPERAND_INTEGER)
        return false;
    return insn->opcode == PTX_OP_AND ? insn->operand[2].value <= UINT32_MAX
                                      : insn->opcode == PTX_OP_SHL && insn->operand[2].value >= 32;
}

/* Returns whether this use of a 64-bit register needs only its lower half. */
static bool is_short_use(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r) {
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
    case PTX_OP_SHL:
    case PTX_OP_SELP:
        return (result != ISA_NONE && code->is_short[result]) || drops_upper_half(insn);
    default:
        return false;
    }
}

/* All 64-bit registers are short until a use needs more. */
static void find_short_registers(struct isa_code *code) {
    const struct ptx_function *function = code->function;
    code->is_short = base_allocate(function->n_registers + 1, sizeof(bool));
    for (uint32_t r = 0; r < function->n_registers; r++)
        code->is_short[r] = ptx_type_width(function->reg[r].type) == PTX_WIDTH_64 && isa_n_uses(code, r) &&
                            ptx_type_kind(function->reg[r].type) != PTX_KIND_F;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (uint32_t r = 0; r < function->n_registers; r++)
            for (uint32_t u = code->first_use[r]; code->is_short[r] && u < code->first_use[r + 1]; u++)
                if (!is_short_use(code, isa_source(code, code->use[u]), r)) {
                    code->is_short[r] = false;
                    has_changed = true;
                }
    }
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

bool isa_all_uses(const struct isa_code *code, uint32_t r,
                  bool (*test)(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r)) {
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++)
        if (!test(code, isa_source(code, code->use[u]), r))
            return false;
    return isa_n_uses(code, r) > 0;
}

const struct ptx_operand *isa_moved_integer(const struct isa_code *code, const struct ptx_instruction *move) {
    if (move->opcode != PTX_OP_MOV || move->n_operands < 2)
        return NULL;
    uint32_t d = isa_definition(code, &move->operand[1]);
    if (d != ISA_NONE && isa_source(code, d)->opcode == PTX_OP_MOV && isa_source(code, d)->guard == PTX_NO_INDEX)
        move = isa_source(code, d);
    return move->operand[1].kind == PTX_OPERAND_INTEGER ? &move->operand[1] : NULL;
}

bool isa_is_known(const struct isa_code *code, const struct ptx_operand *operand) {
    uint32_t d = isa_definition(code, operand);
    return isa_is_constant(operand) || (d != ISA_NONE && isa_source(code, d)->opcode == PTX_OP_MOV &&
                                        isa_is_constant(&isa_source(code, d)->operand[1]));
}

bool isa_has_empty_half(const struct isa_code *code, const struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_INTEGER)
        return operand->value <= UINT32_MAX;
    uint32_t definition = isa_definition(code, operand);
    if (definition == ISA_NONE)
        return false;
    const struct ptx_instruction *insn = isa_source(code, definition);
    switch (insn->opcode) {
    case PTX_OP_CVT:
        return ptx_type_kind(isa_source_type(insn)) == PTX_KIND_U && ptx_type_bits(isa_source_type(insn)) <= 32;
    case PTX_OP_LD:
        return ptx_type_kind(isa_type(insn)) == PTX_KIND_U && ptx_type_bits(isa_type(insn)) <= 32;
    case PTX_OP_AND:
        return drops_upper_half(insn);
    case PTX_OP_SHR:
        return insn->operand[2].kind == PTX_OPERAND_INTEGER && insn->operand[2].value >= 32 &&
               ptx_type_kind(isa_type(insn)) == PTX_KIND_U;
    default:
        return false;
    }
}

bool isa_has_rare_path(const struct ptx_instruction *insn) {
    enum ptx_type type = insn->n_types ? insn->type[0] : PTX_B32;
    bool is_rounded =
        ptx_type_kind(type) == PTX_KIND_F && !ptx_has(insn, PTX_MOD_APPROX) && !ptx_has(insn, PTX_MOD_FULL);
    switch (insn->opcode) {
    case PTX_OP_DIV:
    case PTX_OP_REM:
        return is_rounded || (ptx_type_kind(type) != PTX_KIND_F && ptx_type_bits(type) == 64);
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
        return is_rounded;
    default:
        return false;
    }
}

void isa_drop_copies(const struct ptx_instruction *insn, uint8_t *words) {
    enum { WORD_BITS = 32, LANES = 32 };
    if (insn->opcode != PTX_OP_WMMA || insn->matrix->action != PTX_MATRIX_LOAD)
        return;
    struct ptx_fragment fragment = ptx_matrix_fragment(insn, insn->matrix->role);
    unsigned n = fragment.rows * fragment.columns * ptx_element_bits(fragment.element) / WORD_BITS / LANES;
    const struct ptx_operand *registers = &insn->operand[0];
    for (uint32_t e = n ? n : 1; registers->kind == PTX_OPERAND_VECTOR && e < registers->n_elements; e++)
        if (registers->element[e].kind == PTX_OPERAND_REGISTER)
            words[registers->element[e].register_id] = 0;
}

/* ---- The code ---------------------------------------------------------------------------------------------------- */

struct isa_code isa_code_new(const struct isa_target *target, const struct ptx_analysis *analysis) {
    struct isa_code code = {.target = target, .analysis = analysis, .function = analysis->function};
    code.n = code.function->n_instructions;
    code.insn = base_allocate(code.n + 1, sizeof *code.insn);
    if (target->compiler) {
        find_uses(&code);
        find_short_registers(&code);
    }
    for (uint32_t i = 0; i < code.n; i++)
        code.insn[i].parts = (uint16_t)(target->cost(&code, i) * ISA_PARTS);
    return code;
}

void isa_code_free(struct isa_code *code) {
    free(code->n_definitions);
    free(code->definition);
    free(code->first_use);
    free(code->use);
    free(code->is_short);
    free(code->insn);
}
