/* cvta and isspacep: conversion between generic addresses and those of one state space.
 *
 * A global address is its own generic address. Constants are in known address ranges of global memory. Shared, local
 * and kernel-parameter addresses lie in fixed windows (exec.h). Left out: constants of other modules and of functions,
 * and 32-bit generic addresses, which have no room for the windows. */
#include "exec/internal.h"

EXEC_INLINE void convert(const struct exec_operands *o, uint64_t add) {
    const uint64_t *a = o->src[0];
    uint64_t *d = o->dst[0];
    if (o->mask == EXEC_FULL_MASK && !add)
        memmove(d, a, EXEC_LANES * sizeof *d);
    else if (o->mask == EXEC_FULL_MASK)
        EXEC_FOR_LANES d[i] = a[i] + add;
    else
        EXEC_FOR_ACTIVE(l, o->mask) d[l] = a[l] + add;
}

#define CONVERT(name, window)                                                                                          \
    static void name(struct exec_context *cx, const struct exec_operands *o) {                                         \
        (void)cx;                                                                                                      \
        convert(o, window);                                                                                            \
    }
CONVERT(convert_global, 0)
CONVERT(from_shared, EXEC_SHARED_WINDOW)
CONVERT(from_local, EXEC_LOCAL_WINDOW)
CONVERT(from_param, EXEC_PARAM_WINDOW)
CONVERT(to_shared, -EXEC_SHARED_WINDOW)
CONVERT(to_local, -EXEC_LOCAL_WINDOW)
CONVERT(to_param, -EXEC_PARAM_WINDOW)

static exec_act_fn *select_convert(const struct exec_form *form) {
    bool is_to = ptx_has(form->insn, PTX_MOD_TO);
    if (form->dst_bits[0] != 64 || form->src_bits[0] != 64)
        return NULL;
    switch (form->insn->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        return convert_global;
    case PTX_SPACE_SHARED:
        return is_to ? to_shared : from_shared;
    case PTX_SPACE_LOCAL:
        return is_to ? to_local : from_local;
    case PTX_SPACE_PARAM:
        return is_to ? to_param : from_param;
    default:
        return NULL;
    }
}

static bool is_in_const_variable(const struct exec_program *program, uint64_t address) {
    for (uint32_t i = 0; i < program->n_const_variables; i++)
        if (address - program->const_variable[i].address < program->const_variable[i].bytes)
            return true;
    return false;
}

static enum ptx_space space_of(const struct exec_context *cx, uint64_t address) {
    uint64_t offset;
    enum ptx_space space = exec_generic_space(address, &offset);
    bool is_const = space == PTX_SPACE_GLOBAL && is_in_const_variable(cx->grid->program, address);
    return is_const ? PTX_SPACE_CONST : space;
}

EXEC_INLINE void test_space(const struct exec_context *cx, const struct exec_operands *o, enum ptx_space space) {
    const uint64_t *wide = o->src[0];
    const uint32_t *narrow = o->src[0];
    bool is_wide = cx->insn->operand[1].width == PTX_WIDTH_64;
    uint32_t found = 0;
    EXEC_FOR_ACTIVE(l, o->mask)
    found |= (uint32_t)(space_of(cx, is_wide ? wide[l] : narrow[l]) == space) << l;
    exec_write_predicate(o->dst[0], found, o->mask);
}

#define TEST(name, space)                                                                                              \
    static void name(struct exec_context *cx, const struct exec_operands *o) { test_space(cx, o, space); }
TEST(is_global, PTX_SPACE_GLOBAL)
TEST(is_const, PTX_SPACE_CONST)
TEST(is_shared, PTX_SPACE_SHARED)
TEST(is_local, PTX_SPACE_LOCAL)
TEST(is_param, PTX_SPACE_PARAM)

exec_act_fn *exec_select_address_space(const struct exec_form *form) {
    if (form->insn->opcode == PTX_OP_CVTA)
        return select_convert(form);
    switch (form->insn->space) {
    case PTX_SPACE_GLOBAL:
        return is_global;
    case PTX_SPACE_CONST:
        return is_const;
    case PTX_SPACE_SHARED:
        return is_shared;
    case PTX_SPACE_LOCAL:
        return is_local;
    case PTX_SPACE_PARAM:
        return is_param;
    default:
        return NULL;
    }
}
