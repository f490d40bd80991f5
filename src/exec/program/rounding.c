/* The host rounding mode of a lane function. The host's floating-point unit performs the directed roundings of PTX: the
 * caller sets the mode, runs the function on all lanes, and resets the mode. Integer roundings of cvt (.rni, .rzi,
 * .rmi, .rpi), tf32 and all approximate instructions run under round to nearest. */
#include "exec/exec.h"

static bool is_float(enum ptx_type type) { return ptx_type_kind(type) == PTX_KIND_F; }

static bool rounds_on_the_host(const struct ptx_instruction *insn) {
    switch (insn->opcode) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_FMA:
    case PTX_OP_DIV:
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
    case PTX_OP_CVT:
        return is_float(insn->type[0]) && insn->type[0] != PTX_TF32;
    default:
        return false;
    }
}

enum exec_rounding exec_form_rounding(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    if (!rounds_on_the_host(insn))
        return EXEC_ROUND_NEAREST;
    if (ptx_has(insn, PTX_MOD_RZ))
        return EXEC_ROUND_ZERO;
    if (ptx_has(insn, PTX_MOD_RM))
        return EXEC_ROUND_DOWN;
    if (ptx_has(insn, PTX_MOD_RP))
        return EXEC_ROUND_UP;
    return EXEC_ROUND_NEAREST;
}
