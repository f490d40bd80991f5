/* The registers that an instruction reads and writes, from the operand order of the PTX ISA manual: if there is a
 * destination, it comes first. The carry flag CC.CF does not count as a register. */
#include "ptx/analysis/passes.h"

#include <assert.h>

#include "ptx/matrix.h"

enum ptx_width ptx_type_width(enum ptx_type type) {
    unsigned bits = ptx_type_bits(type);
    if (ptx_type_kind(type) == PTX_KIND_P)
        return PTX_WIDTH_PRED;
    if (bits <= 16)
        return PTX_WIDTH_16;
    return bits == 32 ? PTX_WIDTH_32 : PTX_WIDTH_64;
}

typedef void visit_function(void *user, uint32_t register_id, bool is_write);

/* Opcodes that are not listed write their first operand if it is a register or a vector of registers. */
static bool writes_first_operand(const struct ptx_instruction *instruction) {
    switch (instruction->opcode) {
    case PTX_OP_ST:
    case PTX_OP_RED:
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_BRKPT:
    case PTX_OP_CALL:
    case PTX_OP_EXIT:
    case PTX_OP_RET:
    case PTX_OP_TRAP:
    case PTX_OP_FENCE:
    case PTX_OP_MEMBAR:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_PMEVENT:
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_SUST:
    case PTX_OP_SURED:
    case PTX_OP_DISCARD:
    case PTX_OP_APPLYPRIORITY:
    case PTX_OP_GRIDDEPCONTROL:
    case PTX_OP_SETMAXNREG:
    case PTX_OP_STACKRESTORE:
    case PTX_OP_STMATRIX:
    case PTX_OP_TENSORMAP:
    case PTX_OP_PROGRESS:
    case PTX_OP_CP:
        return false;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        return ptx_has(instruction, PTX_MOD_RED);
    case PTX_OP_WGMMA:
        return instruction->matrix->action == PTX_MATRIX_MULTIPLY;
    case PTX_OP_WMMA:
        return instruction->matrix->action != PTX_MATRIX_STORE;
    default:
        return true;
    }
}

static bool is_register(uint32_t register_id) { return register_id < PTX_NO_INDEX - 1; }

static void visit_reads(const struct ptx_operand *operand, visit_function *visit, void *user) {
    if ((operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_ADDRESS) &&
        is_register(operand->register_id))
        visit(user, operand->register_id, false);
    if (operand->kind == PTX_OPERAND_REGISTER && is_register(operand->pair_id))
        visit(user, operand->pair_id, false);
    if (operand->kind == PTX_OPERAND_VECTOR)
        for (uint32_t i = 0; i < operand->n_elements; i++)
            visit_reads(&operand->element[i], visit, user);
}

static void visit_writes(const struct ptx_operand *operand, visit_function *visit, void *user) {
    if (operand->kind == PTX_OPERAND_REGISTER)
        visit(user, operand->register_id, true);
    if (operand->kind == PTX_OPERAND_VECTOR)
        for (uint32_t i = 0; i < operand->n_elements; i++)
            visit_writes(&operand->element[i], visit, user);
    bool has_pair = operand->kind != PTX_OPERAND_ADDRESS && is_register(operand->pair_id);
    if (has_pair)
        visit(user, operand->pair_id, true);
}

static void visit_call_reads(const struct ptx_call *call, visit_function *visit, void *user) {
    visit_reads(&call->target, visit, user);
    for (uint32_t i = 0; i < call->n_arguments; i++)
        visit_reads(&call->argument[i], visit, user);
}

void ptx_for_each_register(const struct ptx_instruction *instruction, visit_function *visit, void *user) {
    bool writes_first = instruction->n_operands > 0 && writes_first_operand(instruction);
    const struct ptx_operand *first = instruction->operand;
    const struct ptx_call *call = instruction->call;

    if (is_register(instruction->guard))
        visit(user, instruction->guard, false);
    /* wgmma adds to its destination. An address as the first operand is only read. */
    if (instruction->n_operands > 0 &&
        (!writes_first || first->kind == PTX_OPERAND_ADDRESS || instruction->opcode == PTX_OP_WGMMA))
        visit_reads(first, visit, user);
    for (uint32_t i = 1; i < instruction->n_operands; i++)
        visit_reads(&instruction->operand[i], visit, user);
    if (call)
        visit_call_reads(call, visit, user);

    if (writes_first)
        visit_writes(first, visit, user);
    for (uint32_t i = 0; call && i < call->n_results; i++)
        visit_writes(&call->result[i], visit, user);
}

static void count_access(void *user, uint32_t register_id, bool is_write) {
    (void)register_id, (void)is_write;
    ++*(uint32_t *)user;
}

struct access_writer {
    struct ptx_access *next;
    uint32_t n_registers;
    bool is_guarded;
};

static void write_access(void *user, uint32_t register_id, bool is_write) {
    struct access_writer *writer = user;
    assert(register_id < writer->n_registers);
    *writer->next++ = (struct ptx_access){register_id, is_write, is_write && !writer->is_guarded};
}

/* Flattens the register accesses of all instructions, since every later pass walks them. */
void ptx_collect_accesses(struct ptx_passes *passes) {
    const struct ptx_function *function = passes->function;
    uint32_t n = function->n_instructions, n_accesses = 0;
    passes->access_start = BASE_ARENA_ARRAY(passes->scratch, uint32_t, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++) {
        passes->access_start[i] = n_accesses;
        ptx_for_each_register(&function->instruction[i], count_access, &n_accesses);
    }
    passes->access_start[n] = n_accesses;
    passes->access = BASE_ARENA_ARRAY(passes->scratch, struct ptx_access, n_accesses);
    struct access_writer writer = {.next = passes->access, .n_registers = function->n_registers};
    for (uint32_t i = 0; i < n; i++) {
        writer.is_guarded = is_register(function->instruction[i].guard);
        ptx_for_each_register(&function->instruction[i], write_access, &writer);
    }
}

static void count_write(void *user, uint32_t register_id, bool is_write) {
    (void)register_id;
    *(uint32_t *)user += is_write;
}

bool ptx_is_computation(enum ptx_opcode opcode) {
    switch (ptx_opcode_family(opcode)) {
    case PTX_FAMILY_INTEGER:
    case PTX_FAMILY_FLOAT:
    case PTX_FAMILY_BITS:
    case PTX_FAMILY_COMPARE:
    case PTX_FAMILY_CONVERT:
    case PTX_FAMILY_MOVE:
    case PTX_FAMILY_VIDEO:
        return true;
    default:
        return false;
    }
}

bool ptx_needs_distinct_slots(const struct ptx_instruction *instruction) {
    if (!ptx_is_computation(instruction->opcode) || ptx_has(instruction, PTX_MOD_CC)) /* the carry is a second result */
        return true;
    uint32_t n_writes = 0;
    ptx_for_each_register(instruction, count_write, &n_writes);
    return n_writes > 1;
}
