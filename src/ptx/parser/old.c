/* PTX from before 2.0, as compilers wrote it for the first CUDA devices (.target sm_1x). For each instruction, the PTX
 * ISA says which suffix applies if none is written: .approx for single precision up to 1.3, .rn for double precision.
 * Subnormal numbers of single precision are 0 on sm_1x. mad.f32 of sm_1x truncated its product; here it rounds as on
 * every later device. map_f64_to_f32 is ignored: double precision stays double precision. */
#include "ptx/internal.h"

#include <string.h>

static void add(struct ptx_instruction *instruction, enum ptx_modifier modifier) {
    instruction->modifiers[modifier / 64] |= UINT64_C(1) << modifier % 64;
}

static bool has_rounding(const struct ptx_instruction *instruction) {
    return ptx_has(instruction, PTX_MOD_RN) || ptx_has(instruction, PTX_MOD_RZ) || ptx_has(instruction, PTX_MOD_RM) ||
           ptx_has(instruction, PTX_MOD_RP) || ptx_has(instruction, PTX_MOD_APPROX) ||
           ptx_has(instruction, PTX_MOD_FULL);
}

/* Returns whether the instruction has .ftz. */
static bool can_flush(enum ptx_opcode opcode) {
    switch (opcode) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
    case PTX_OP_DIV:
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
    case PTX_OP_RSQRT:
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_LG2:
    case PTX_OP_EX2:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_ABS:
    case PTX_OP_NEG:
    case PTX_OP_SET:
    case PTX_OP_SETP:
        return true;
    default:
        return false;
    }
}

static void add_rounding(struct ptx_instruction *instruction, bool is_single) {
    switch (instruction->opcode) {
    case PTX_OP_MAD:
    case PTX_OP_FMA:
        add(instruction, PTX_MOD_RN);
        return;
    case PTX_OP_DIV:
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
        add(instruction, is_single ? PTX_MOD_APPROX : PTX_MOD_RN);
        return;
    case PTX_OP_RSQRT:
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_LG2:
    case PTX_OP_EX2:
        add(instruction, PTX_MOD_APPROX);
        return;
    default:
        return;
    }
}

/* mov.u16 %h, %ctaid.x; cvt.u32.u16 %r, %tid.x: special registers once had 16 bits and can still be read that way, and
 * %gridid once had 16 or 32. Here they are read with all their bits. The lower part is the same, and indices of that
 * time were smaller. */
void ptx_widen_special(struct ptx_instruction *instruction) {
    bool is_read = instruction->opcode == PTX_OP_MOV || instruction->opcode == PTX_OP_CVT;
    if (!is_read || instruction->n_operands != 2 || instruction->operand[1].kind != PTX_OPERAND_SPECIAL ||
        instruction->n_types == 0 || ptx_type_kind(instruction->type[instruction->n_types - 1]) == PTX_KIND_F)
        return;
    enum ptx_special special = instruction->operand[1].special;
    unsigned bits = ptx_special_bits(special), read = ptx_type_bits(instruction->type[instruction->n_types - 1]);
    bool is_grid = special == PTX_SPECIAL_GRIDID;
    if (!(bits == 32 && read == 16) && !(is_grid && (read == 16 || read == 32)))
        return;
    if (instruction->opcode == PTX_OP_MOV) {
        instruction->opcode = PTX_OP_CVT;
        instruction->n_types = 2;
        instruction->type[0] = read == 16 ? PTX_U16 : PTX_U32;
    }
    instruction->type[1] = is_grid ? PTX_U64 : PTX_U32;
}

void ptx_complete_old(const struct ptx_module *module, struct ptx_instruction *instruction) {
    if (module->version_major >= 2 || !instruction->n_types)
        return;
    enum ptx_type type = instruction->type[instruction->n_types - 1]; /* set.u32.f32 compares .f32 */
    bool is_single = type == PTX_F32;
    if (!is_single && type != PTX_F64)
        return;
    if (!has_rounding(instruction))
        add_rounding(instruction, is_single);
    if (is_single && can_flush(instruction->opcode) && module->target && strncmp(module->target, "sm_1", 4) == 0 &&
        strlen(module->target) == 5)
        add(instruction, PTX_MOD_FTZ);
}
