/* ld and st of eight elements, .v8. They have more registers than an instruction has operands, so all the registers are
 * extra operands. From the PTX ISA manual, which has had them for global memory since version 8.8. */
#include "exec/internal.h"
#include "exec/program/link.h"

enum { ELEMENTS = 8 };

bool exec_is_wide(const struct ptx_instruction *insn) {
    bool is_access = insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST;
    bool is_atomic = insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED;
    return is_access ? insn->vector == ELEMENTS : is_atomic && insn->vector > 1 && insn->type[0] != PTX_B64;
}

/* The elements of a lane are neighbours in memory. */
static void load_eight(struct exec_context *cx, const struct exec_operands *o) {
    struct exec_view view;
    const unsigned bytes = cx->insn->access.bytes;
    if (!exec_view_lanes(cx, o, ELEMENTS * bytes, false, &view))
        return;
    EXEC_FOR_ACTIVE(l, o->mask)
    for (unsigned e = 0; e < ELEMENTS; e++)
        memcpy(exec_extra_at(cx, e, l), exec_place(view.places, l) + (size_t)e * bytes, bytes);
}

static void store_eight(struct exec_context *cx, const struct exec_operands *o) {
    struct exec_view view;
    const unsigned bytes = cx->insn->access.bytes;
    if (!exec_view_lanes(cx, o, ELEMENTS * bytes, true, &view))
        return;
    EXEC_FOR_ACTIVE(l, o->mask)
    for (unsigned e = 0; e < ELEMENTS; e++)
        memcpy(exec_place(view.places, l) + (size_t)e * bytes, exec_extra_at(cx, e, l), bytes);
}

exec_act_fn *exec_select_wide(const struct exec_form *form) {
    const struct ptx_instruction *insn = form->insn;
    if (ptx_type_bits(insn->type[0]) != 32 || form->extra_bits != 32 || form->n_extra != ELEMENTS ||
        (insn->space != PTX_SPACE_GLOBAL && insn->space != PTX_SPACE_GENERIC))
        return NULL;
    return insn->opcode == PTX_OP_LD ? load_eight : store_eight;
}
