/* The types, modifiers and operands of each opcode: one row per opcode, applied by check.c. */
#pragma once

#include "ptx/ptx.h"

enum { PTX_RULE_TYPES = 3 };

struct ptx_rule {
    uint32_t types[PTX_RULE_TYPES]; /* per suffix type: a bit per enum ptx_type; bit 0: it may be missing */
    /* One letter per operand; '|' separates alternatives with other numbers of operands. The type is
     * ptx_operand_type()'s.
     *   d destination register   D the same, or wider, or a vector    P predicate destination, also p|q
     *   Q destination with an optional predicate after '|'             V vector destination or source, also wider
     *   s source                 S the same, or wider, or a vector    p predicate source
     *   u .u32 source            i integer constant                   A address in a register
     *   m [address]              x [texture, {coordinates}]           t [texture]
     *   h cache policy           v 32-bit source with a selector      M either side of mov
     *   1 [address] in cp's destination space, 2 in its source space, a in .shared
     *   e .u32 source or a predicate */
    const char *operands;
    const char *needs;          /* at least one of these modifiers */
    const char *needs_if_int;   /* the same, when the first type is an integer or bits */
    const char *needs_if_float; /* when it is floating-point */
    const char *modifiers;      /* further modifiers that are allowed */
};

/* NULL for opcodes without a row: calls, branches and unsupported ones. */
const struct ptx_rule *ptx_rule_of(const struct ptx_instruction *instruction);
