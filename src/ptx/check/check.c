/* Checks that instructions are well formed: types, modifiers, and the number, kind and type of operands, by the table
 * in rules.c and the type-checking chapter of the PTX ISA manual. It also resolves details that PTX leaves
 * implicit: a floating-point constant gets the width of its operand, an access without a state space to a named
 * variable gets the variable's, and a negated predicate remains only where the instruction supports it. Branch targets
 * and names are already resolved. */
#include "ptx/check/check.h"

#include "ptx/check/rules.h"

#include <stdio.h>
#include <string.h>

/* Returns "add.s32" for the current instruction, for messages. */
static const char *name_of(struct ptx_check *check) {
    return ptx_instruction_name(check->instruction, check->name, sizeof check->name);
}

static bool fail(struct ptx_check *check, const char *what) {
    return ptx_fail(check->parser, check->instruction->at, "%s %s", name_of(check), what);
}

/* ---- Suffixes ---- */

/* Returns whether a word is in a list of words separated by single blanks. */
static bool is_listed(const char *list, const char *word) {
    size_t length = strlen(word);
    while (list && *list) {
        const char *end = strchr(list, ' ');
        size_t n = end ? (size_t)(end - list) : strlen(list);
        if (n == length && memcmp(list, word, n) == 0)
            return true;
        list = end ? end + 1 : NULL;
    }
    return false;
}

/* Returns the next modifier at or after `first`, or PTX_N_MODIFIERS. */
static unsigned next_modifier(const struct ptx_instruction *instruction, unsigned first) {
    while (first < 64 * PTX_MODIFIER_WORDS) {
        uint64_t left = instruction->modifiers[first / 64] >> first % 64;
        if (left)
            return first + (unsigned)__builtin_ctzll(left);
        first = (first / 64 + 1) * 64;
    }
    return PTX_N_MODIFIERS;
}

static bool has_one_of(const struct ptx_instruction *instruction, const char *list) {
    for (unsigned i = next_modifier(instruction, 0); i < PTX_N_MODIFIERS; i = next_modifier(instruction, i + 1))
        if (is_listed(list, ptx_modifier_name((enum ptx_modifier)i)))
            return true;
    return false;
}

/* "rn rz" as ".rn .rz" */
static bool missing_modifier(struct ptx_check *check, const char *list) {
    char text[512];
    size_t n = 0;
    for (const char *c = list; *c && n + 3 < sizeof text; c++) {
        if (c == list || c[-1] == ' ')
            text[n++] = '.';
        text[n++] = *c;
    }
    text[n] = '\0';
    bool is_choice = strchr(list, ' ');
    return ptx_fail(check->parser, check->instruction->at, "%s needs %s%s", name_of(check), is_choice ? "one of " : "",
                    text);
}

static bool check_needs(struct ptx_check *check, const char *list) {
    return !list || has_one_of(check->instruction, list) || missing_modifier(check, list);
}

static bool check_modifiers(struct ptx_check *check, const struct ptx_rule *rule) {
    const struct ptx_instruction *instruction = check->instruction;
    bool is_float = ptx_type_kind(instruction->type[0]) == PTX_KIND_F;
    const char *needs_by_type = is_float ? rule->needs_if_float : rule->needs_if_int;
    for (unsigned i = next_modifier(instruction, 0); i < PTX_N_MODIFIERS; i = next_modifier(instruction, i + 1)) {
        const char *text = ptx_modifier_name((enum ptx_modifier)i);
        if (!is_listed(rule->needs, text) && !is_listed(needs_by_type, text) && !is_listed(rule->modifiers, text))
            return ptx_fail(check->parser, instruction->at, "'.%s' does not apply to %s%s%s", text,
                            ptx_opcode_name(instruction->opcode), instruction->n_types > 0 ? "." : "",
                            instruction->n_types > 0 ? ptx_type_name(instruction->type[0]) : "");
    }
    return check_needs(check, rule->needs) && check_needs(check, needs_by_type);
}

static bool check_types(struct ptx_check *check, const struct ptx_rule *rule) {
    const struct ptx_instruction *instruction = check->instruction;
    const char *opcode = ptx_opcode_name(instruction->opcode);
    unsigned n_needed = 0, n_allowed = 0;
    for (unsigned i = 0; i < PTX_RULE_TYPES && rule->types[i]; i++) {
        bool is_absent = rule->types[i] == 1; /* never a type */
        n_allowed += !is_absent;
        n_needed += !(rule->types[i] & 1);
    }
    if (instruction->n_types < n_needed)
        return ptx_fail(check->parser, instruction->at, "%s needs %u type%s, got %u", opcode, n_needed,
                        n_needed == 1 ? "" : "s", instruction->n_types);
    if (instruction->n_types > n_allowed)
        return ptx_fail(check->parser, instruction->at, "%s takes %u type%s, got %u", opcode, n_allowed,
                        n_allowed == 1 ? "" : "s", instruction->n_types);
    for (unsigned i = 0; i < instruction->n_types; i++)
        if (!(rule->types[i] >> instruction->type[i] & 1))
            return ptx_fail(check->parser, instruction->at, "%s does not take .%s", opcode,
                            ptx_type_name(instruction->type[i]));
    return true;
}

/* ---- Operands ---- */

/* Reports the number of operands: "1, 2 or 4", from the lengths of the alternatives. */
static bool wrong_count(struct ptx_check *check, const char *alternatives) {
    char text[64];
    size_t n = 0;
    unsigned last = 0;
    for (const char *c = alternatives;;) {
        last = (unsigned)strcspn(c, "|");
        c += last;
        if (*c == '\0')
            break;
        n += (size_t)snprintf(text + n, sizeof text - n, "%u%s", last, strchr(c + 1, '|') ? ", " : " or ");
        c++;
    }
    snprintf(text + n, sizeof text - n, "%u operand%s", last, last == 1 && n == 0 ? "" : "s");
    return ptx_fail(check->parser, check->instruction->at, "%s needs %s, got %u", name_of(check), text,
                    check->instruction->n_operands);
}

static const char *alternative_of(const char *alternatives, unsigned n_operands) {
    for (const char *c = alternatives;; c++) {
        size_t length = strcspn(c, "|");
        if (length == n_operands)
            return c;
        c += length;
        if (*c == '\0')
            return NULL;
    }
}

/* Scalar video instructions read c for a part of d or for a second operation. The vendor's assembler accepts c without
 * either and ignores it. */
static void drop_unused(struct ptx_instruction *instruction) {
    switch (instruction->opcode) {
    case PTX_OP_VADD:
    case PTX_OP_VSUB:
    case PTX_OP_VABSDIFF:
    case PTX_OP_VMIN:
    case PTX_OP_VMAX:
    case PTX_OP_VSHL:
    case PTX_OP_VSHR:
    case PTX_OP_VSET:
        if (instruction->operand[0].selector == 0 && !has_one_of(instruction, "add min max"))
            instruction->n_operands = 3;
        break;
    default:
        break;
    }
}

static bool check_operands(struct ptx_check *check, const struct ptx_rule *rule) {
    struct ptx_instruction *instruction = check->instruction;
    const char *letters = alternative_of(rule->operands, instruction->n_operands);
    if (!letters)
        return wrong_count(check, rule->operands);
    for (unsigned i = 0; i < instruction->n_operands; i++)
        if (!ptx_check_operand(check, &instruction->operand[i], letters[i], i))
            return false;
    drop_unused(instruction);
    return true;
}

/* ---- Rules outside the table ---- */

/* Bits compare for equality only, signed numbers have no .lo, and only floating point has NaN. */
static bool check_comparison(struct ptx_check *check, enum ptx_type type) {
    enum ptx_kind kind = ptx_type_kind(type);
    const char *allowed = kind == PTX_KIND_B   ? "eq ne"
                          : kind == PTX_KIND_S ? "eq ne lt le gt ge"
                          : kind == PTX_KIND_U ? "eq ne lt le gt ge lo ls hi hs"
                                               : "eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
    if (has_one_of(check->instruction, allowed))
        return true;
    char what[64];
    snprintf(what, sizeof what, "does not exist: .%s has no such comparison", ptx_type_name(type));
    return fail(check, what);
}

static bool check_compare(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    bool is_short_result = instruction->opcode == PTX_OP_SET && ptx_type_bits(instruction->type[0]) == 16 &&
                           ptx_type_kind(instruction->type[0]) != PTX_KIND_F;
    if (is_short_result && ptx_type_bits(instruction->type[1]) > 16)
        return fail(check, "does not exist: a 16-bit integer result needs 16-bit operands");
    if (!check_comparison(check, instruction->type[instruction->n_types - 1]))
        return false;
    bool has_operation = has_one_of(instruction, "and or xor");
    if (has_operation != (instruction->n_operands == 4))
        return fail(check, has_operation ? "needs a predicate as fourth operand"
                                         : "with a fourth operand needs one of .and .or .xor");
    return true;
}

/* Checks the arithmetic modifiers that only some types have. */
static bool check_arithmetic(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    enum ptx_type type = instruction->type[0];
    bool is_float = ptx_type_kind(type) == PTX_KIND_F;
    if (is_float && has_one_of(instruction, "lo hi wide cc"))
        return fail(check, "is floating-point: .lo .hi .wide .cc are for integers");
    if (!is_float && has_one_of(instruction, "rn rz rm rp ftz approx full NaN xorsign"))
        return fail(check, "is an integer instruction: rounding and .ftz are for floating point");
    if (ptx_has(instruction, PTX_MOD_WIDE) && ptx_type_bits(type) == 64)
        return fail(check, "does not exist: .wide takes 16 and 32 bits");
    if (ptx_has(instruction, PTX_MOD_CC) && ptx_type_bits(type) < 32)
        return fail(check, "does not exist: .cc takes 32 and 64 bits");
    if (ptx_has(instruction, PTX_MOD_SAT) && (is_float ? type == PTX_F64 : type != PTX_S32))
        return fail(check, "does not exist: .sat takes .s32, .f32 and half precision");
    bool is_reciprocal = instruction->opcode == PTX_OP_RCP || instruction->opcode == PTX_OP_RSQRT;
    if (ptx_has(instruction, PTX_MOD_FTZ) && type == PTX_F64 && !is_reciprocal)
        return fail(check, "does not exist: .ftz is for .f32 and half precision");
    return true;
}

static bool is_float8(enum ptx_type type) { return type == PTX_E4M3X2 || type == PTX_E5M2X2; }

/* Pairs of 8-bit floats: from two f32 or an f16x2, with .rn.satfinite; to an f16x2, with .rn. */
static bool check_float8(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    enum ptx_type to = instruction->type[0], from = instruction->type[1];
    bool narrows = is_float8(to), joins = from == PTX_F32;
    if (narrows ? from != PTX_F32 && from != PTX_F16X2 : to != PTX_F16X2)
        return fail(check, "does not exist: 8-bit floats convert from .f32 and .f16x2 and to .f16x2");
    if (!ptx_has(instruction, PTX_MOD_RN))
        return missing_modifier(check, "rn");
    if (narrows != ptx_has(instruction, PTX_MOD_SATFINITE))
        return narrows ? missing_modifier(check, "satfinite") : fail(check, "is exact: .satfinite does not apply");
    if (joins != (instruction->n_operands == 3))
        return fail(check, joins ? "needs 3 operands" : "needs 2 operands");
    return true;
}

/* cvt.pack: two 16-bit numbers, or two smaller ones below the bits of c. */
static bool check_pack(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    bool is_small = has_one_of(instruction, "u2 s2 u4 s4"), has_addend = instruction->n_operands == 4;
    bool is_byte = ptx_type_bits(instruction->type[0]) == 8;
    unsigned n_types = (is_small ? 1u : 2u) + has_addend;
    if (!ptx_has(instruction, PTX_MOD_SAT))
        return missing_modifier(check, "sat");
    if (has_addend != (is_small || is_byte))
        return fail(check, has_addend ? "needs 3 operands" : "needs 4 operands");
    if (instruction->n_types != n_types || instruction->type[is_small ? 0 : 1] != PTX_S32 ||
        (has_addend && instruction->type[n_types - 1] != PTX_B32))
        return fail(check, "must be of .s32, and with a fourth operand of .s32.b32");
    return true;
}

/* Checks which conversions need a rounding mode. */
static bool check_convert(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    enum ptx_type to = instruction->type[0], from = instruction->type[1];
    bool to_float = ptx_type_kind(to) == PTX_KIND_F, from_float = ptx_type_kind(from) == PTX_KIND_F;
    if (ptx_has(instruction, PTX_MOD_PACK))
        return check_pack(check);
    if (is_float8(to) || is_float8(from))
        return check_float8(check);
    bool is_packed = to == PTX_F16X2 || to == PTX_BF16X2;
    if (is_packed != (instruction->n_operands == 3))
        return fail(check, is_packed ? "needs 3 operands" : "needs 2 operands");
    bool rounds = has_one_of(instruction, "rn rz rm rp rna");
    bool rounds_to_integer = has_one_of(instruction, "rni rzi rmi rpi");
    if (!to_float && from_float && !rounds_to_integer)
        return fail(check, "needs one of .rni .rzi .rmi .rpi");
    if (to_float && !from_float && !rounds)
        return fail(check, "needs one of .rn .rz .rm .rp");
    if (to_float && from_float && !rounds && (ptx_type_bits(to) < ptx_type_bits(from) || is_packed || to == PTX_TF32))
        return fail(check, "needs one of .rn .rz .rm .rp");
    bool widens = to_float && from_float && ptx_type_bits(to) > ptx_type_bits(from);
    if (widens && from == PTX_BF16) { /* exact; the vendor's assembler accepts a rounding nevertheless */
        static const enum ptx_modifier roundings[] = {PTX_MOD_RN, PTX_MOD_RZ, PTX_MOD_RM, PTX_MOD_RP};
        for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++)
            check->instruction->modifiers[roundings[i] / 64] &= ~(UINT64_C(1) << roundings[i] % 64);
        rounds = false;
    }
    if (rounds && (widens || !to_float))
        return fail(check, "is exact: .rn .rz .rm .rp do not apply");
    if ((!from_float || (to_float && to != from)) && rounds_to_integer)
        return fail(check, "does not round to an integer: .rni .rzi .rmi .rpi do not apply");
    return true;
}

static bool is_half(enum ptx_type type) {
    return type == PTX_F16 || type == PTX_F16X2 || type == PTX_BF16 || type == PTX_BF16X2;
}

/* Vectors in memory; .b128 is a vector of two halves. */
static bool check_vector_atomic(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    enum ptx_type type = instruction->type[0];
    if (type == PTX_B64)
        return has_one_of(instruction, "exch cas") || fail(check, "does not exist: 128 bits have .exch and .cas");
    if (instruction->space == PTX_SPACE_SHARED)
        return fail(check, "does not exist: vectors are in .global memory");
    if (type != PTX_F32 && !is_half(type))
        return fail(check, "does not exist: vectors are of .f32 and half precision");
    if (instruction->vector * ptx_type_bits(type) > 128)
        return fail(check, "is more than 128 bits");
    if (!has_one_of(instruction, type == PTX_F32 ? "add" : "add min max"))
        return fail(check, "does not exist: vectors have .add, and in half precision .min and .max");
    return true;
}

static bool check_atomic(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    enum ptx_type type = instruction->type[0];
    enum ptx_kind kind = ptx_type_kind(type);
    bool is_swap = ptx_has(instruction, PTX_MOD_CAS);
    unsigned n_values = instruction->opcode == PTX_OP_RED ? instruction->n_operands - 1u : instruction->n_operands - 2u;
    bool has_third = ptx_has(instruction, PTX_MOD_L2_CACHE_HINT) || ptx_has(instruction, PTX_MOD_ASYNC);
    unsigned n_wanted = (is_swap ? 2u : 1u) + has_third;
    if (n_values != n_wanted)
        return fail(check, is_swap ? "needs a value to compare with and a value to store" : "needs one value");
    if (instruction->space != PTX_SPACE_GENERIC && instruction->space != PTX_SPACE_GLOBAL &&
        instruction->space != PTX_SPACE_SHARED)
        return fail(check, "works on .global and .shared only");
    if (has_one_of(instruction, "and or xor exch cas") && kind != PTX_KIND_B)
        return fail(check, "needs a type such as .b32");
    if (has_one_of(instruction, "inc dec") && type != PTX_U32)
        return fail(check, "needs .u32");
    if (has_one_of(instruction, "add min max") && kind == PTX_KIND_B)
        return fail(check, "needs a type such as .u32");
    if (ptx_has(instruction, PTX_MOD_ADD) && type == PTX_S64)
        return fail(check, "does not exist: 64-bit addition is .u64");
    if (has_one_of(instruction, "min max") && (type == PTX_F32 || type == PTX_F64))
        return fail(check, "does not exist: minimum and maximum are for integers and half precision");
    return instruction->vector == 1 || check_vector_atomic(check);
}

enum { N_BARRIERS = 16 }; /* of a block, from the PTX ISA manual ("bar") */

static bool check_barrier(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    unsigned n = instruction->n_operands;
    bool is_cluster = ptx_has(instruction, PTX_MOD_CLUSTER), is_warp = ptx_has(instruction, PTX_MOD_WARP);
    bool is_reduction = ptx_has(instruction, PTX_MOD_RED), is_arrival = ptx_has(instruction, PTX_MOD_ARRIVE);
    if (is_cluster ? n != 0 : n == 0)
        return fail(check, is_cluster ? "takes no operands" : "needs the number of a barrier");
    if (is_reduction != (n >= 3))
        return fail(check, is_reduction ? "needs a result, a barrier and a predicate" : "takes at most 2 operands");
    if (is_arrival && !is_cluster && n != 2)
        return fail(check, "needs 2 operands: the barrier and the number of threads");
    if (is_warp && n != 1)
        return fail(check, "needs 1 operand: the mask of threads");
    bool is_count = ptx_has(instruction, PTX_MOD_POPC);
    if (is_reduction && (instruction->n_types != 1 || is_count != (instruction->type[0] == PTX_U32)))
        return fail(check, "must be .popc.u32, .and.pred or .or.pred");
    if (is_cluster || is_warp)
        return true;
    const struct ptx_operand *number = &instruction->operand[is_reduction];
    if (number->kind == PTX_OPERAND_INTEGER && number->value >= N_BARRIERS)
        return ptx_fail(check->parser, number->at, "a block has barriers 0 to %d", N_BARRIERS - 1);
    return true;
}

/* Checks the spaces and the size of a copy: from global to shared memory, from shared to global, or, in bulk, between
 * the shared memories of a cluster. */
static bool check_tensor_copy(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    bool is_load = ptx_has(instruction, PTX_MOD_MBARRIER_COMPLETE_TX);
    bool is_prefetch = ptx_has(instruction, PTX_MOD_PREFETCH), has_offsets = ptx_has(instruction, PTX_MOD_IM2COL);
    unsigned rank = ptx_has(instruction, PTX_MOD_D1)   ? 1
                    : ptx_has(instruction, PTX_MOD_D2) ? 2
                    : ptx_has(instruction, PTX_MOD_D3) ? 3
                    : ptx_has(instruction, PTX_MOD_D4) ? 4
                                                       : 5;
    unsigned n = (is_load       ? 3u
                  : is_prefetch ? 1u
                                : 2u) +
                 has_offsets + ptx_has(instruction, PTX_MOD_MULTICAST) + ptx_has(instruction, PTX_MOD_L2_CACHE_HINT);
    const struct ptx_operand *tensor = &instruction->operand[is_load ? 1 : 0];
    if (instruction->n_operands != n)
        return fail(check, "has too few or too many operands for its suffixes");
    if (tensor->element[1].n_elements != rank)
        return fail(check, "needs as many coordinates as dimensions");
    if ((has_offsets || ptx_has(instruction, PTX_MOD_IM2COL_NO_OFFS)) && rank < 3)
        return fail(check, "has im2col only for 3 to 5 dimensions");
    const struct ptx_operand *offsets = &instruction->operand[is_load ? 3 : 1];
    if (has_offsets && (offsets->kind != PTX_OPERAND_VECTOR || offsets->n_elements != rank - 2))
        return fail(check, "needs two im2col offsets fewer than dimensions");
    if (!is_load && !is_prefetch && !ptx_has(instruction, PTX_MOD_BULK_GROUP))
        return missing_modifier(check, "bulk_group");
    return true;
}

static bool check_copy(struct ptx_check *check) {
    if (ptx_has(check->instruction, PTX_MOD_TENSOR))
        return check_tensor_copy(check);
    const struct ptx_instruction *instruction = check->instruction;
    bool is_bulk = ptx_has(instruction, PTX_MOD_BULK), is_group = ptx_has(instruction, PTX_MOD_BULK_GROUP);
    enum ptx_space to = instruction->space, from = instruction->source_space;
    if (has_one_of(instruction, "commit_group wait_group wait_all mbarrier"))
        return true;
    if (ptx_has(instruction, PTX_MOD_PREFETCH))
        return to == PTX_SPACE_GLOBAL || fail(check, "needs .global");
    if (is_group ? to != PTX_SPACE_GLOBAL || from != PTX_SPACE_SHARED
                 : to != PTX_SPACE_SHARED || (from != PTX_SPACE_GLOBAL && !(is_bulk && from == PTX_SPACE_SHARED)))
        return fail(check, is_group ? "copies from .shared::cta to .global" : "copies from .global to .shared");
    if (is_bulk)
        return true;
    uint64_t bytes = instruction->operand[2].value;
    bool is_l2 = ptx_has(instruction, PTX_MOD_CG);
    if (is_l2 ? bytes != 16 : bytes != 4 && bytes != 8 && bytes != 16)
        return fail(check, is_l2 ? "copies 16 bytes" : "copies 4, 8 or 16 bytes");
    return true;
}

/* Heddle's own instructions: docs/extensions.md. */
static bool check_extension(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    bool is_accumulate = instruction->opcode == PTX_OP_COND_ACC,
         is_traverse = instruction->opcode == PTX_OP_TREE_TRAVERSE;
    if (is_accumulate && instruction->space != PTX_SPACE_GLOBAL && instruction->space != PTX_SPACE_SHARED)
        return fail(check, "needs .global or .shared");
    const struct ptx_operand *size = is_traverse ? &instruction->operand[3] : NULL;
    if (size && size->kind == PTX_OPERAND_INTEGER && (size->value == 0 || (size->value & (size->value - 1)) != 0))
        return fail(check, "needs a node size that is a power of two");
    bool is_sync = ptx_has(instruction, PTX_MOD_SYNC);
    if ((is_accumulate || is_traverse) && is_sync != (instruction->n_operands == 5))
        return fail(check, is_sync ? "needs a mask of lanes as fifth operand" : "with a fifth operand needs .sync");
    return true;
}

static bool check_space(struct ptx_check *check) {
    const struct ptx_instruction *instruction = check->instruction;
    switch (instruction->opcode) {
    case PTX_OP_ST:
        if (instruction->space == PTX_SPACE_CONST)
            return fail(check, "writes to read-only memory");
        return true;
    case PTX_OP_LDU:
        if (instruction->space != PTX_SPACE_GENERIC && instruction->space != PTX_SPACE_GLOBAL)
            return fail(check, "works on .global only");
        return true;
    case PTX_OP_CVTA:
    case PTX_OP_ISSPACEP:
        if (instruction->space == PTX_SPACE_GENERIC)
            return fail(check, "needs a state space such as .global");
        return true;
    case PTX_OP_LD:
        if (ptx_has(instruction, PTX_MOD_HEDDLE_ROW) && instruction->space != PTX_SPACE_GLOBAL)
            return fail(check, "hints at a row of .global memory; other spaces have none");
        return true;
    default:
        return true;
    }
}

static bool check_special_cases(struct ptx_check *check) {
    switch (check->instruction->opcode) {
    case PTX_OP_SET:
    case PTX_OP_SETP:
        return check_compare(check);
    case PTX_OP_CVT:
        return check_convert(check);
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return check_atomic(check);
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        return check_barrier(check);
    case PTX_OP_CP:
        return check_copy(check);
    case PTX_OP_SHF:
        return has_one_of(check->instruction, "clamp wrap") || missing_modifier(check, "clamp wrap");
    case PTX_OP_LOP3:
        if (has_one_of(check->instruction, "and or") != (check->instruction->n_operands == 6))
            return fail(check, "needs 5 operands, or .and or .or and 6");
        return true;
    default: {
        enum ptx_family family = ptx_opcode_family(check->instruction->opcode);
        if (family == PTX_FAMILY_INTEGER || family == PTX_FAMILY_FLOAT)
            return check_arithmetic(check);
        return family == PTX_FAMILY_EXTENSION ? check_extension(check) : check_space(check);
    }
    }
}

/* ---- Calls ---- */

static bool check_call_list(struct ptx_check *check, struct ptx_operand *operand, uint32_t count,
                            const struct ptx_variable *parameter, uint32_t n_parameters, const char *what) {
    bool is_open = n_parameters > 0 && parameter[n_parameters - 1].is_unsized;
    if (is_open ? count + 1 < n_parameters : count != n_parameters)
        return ptx_fail(check->parser, check->instruction->at, "the call has %u %s%s, but the function has %u", count,
                        what, count == 1 ? "" : "s", n_parameters);
    for (uint32_t i = 0; i < count && i < n_parameters; i++)
        if (!ptx_check_argument(check, &operand[i], &parameter[i]))
            return false;
    return true;
}

static bool check_call(struct ptx_check *check) {
    struct ptx_call *call = check->instruction->call;
    const struct ptx_function *callee = call->target.function;
    if (call->target.kind == PTX_OPERAND_REGISTER) {
        const struct ptx_register *reg = &check->function->reg[call->target.register_id];
        if (ptx_type_bits(reg->type) != 64)
            return ptx_fail(check->parser, call->target.at, "'%s' is .%s; the address of a function has 64 bits",
                            reg->name, ptx_type_name(reg->type));
        if (!call->prototype && call->n_candidates > 0)
            call->prototype = call->candidate[0];
        callee = call->prototype;
        if (!callee)
            return check->parser->n_errors > 0
                       ? false
                       : fail(check, "through a register needs a .callprototype or .calltargets");
    }
    if (!callee)
        return false; /* undefined; already reported */
    if (callee->is_entry)
        return ptx_fail(check->parser, call->target.at, "'%s' is an .entry and cannot be called", callee->name);
    return check_call_list(check, call->result, call->n_results, callee->result, callee->n_results, "result") &&
           check_call_list(check, call->argument, call->n_arguments, callee->parameter, callee->n_parameters,
                           "argument");
}

/* ---- Negated predicates ---- */

/* setp, set, and, or, xor, vote and bar.red can read !p. Other instructions are rewritten to an equivalent one or
 * marked as unsupported. */
static void resolve_negation(struct ptx_instruction *instruction) {
    struct ptx_operand *operand = instruction->operand;
    switch (instruction->opcode) {
    case PTX_OP_SELP:
        if (operand[3].is_negated) {
            struct ptx_operand a = operand[1];
            operand[1] = operand[2];
            operand[2] = a;
            operand[3].is_negated = false;
        }
        return;
    case PTX_OP_MOV:
    case PTX_OP_NOT:
        if (operand[1].is_negated)
            instruction->opcode = instruction->opcode == PTX_OP_MOV ? PTX_OP_NOT : PTX_OP_MOV;
        operand[1].is_negated = false;
        return;
    case PTX_OP_LOP3:
        for (unsigned i = 0; i < instruction->n_operands; i++)
            if (operand[i].is_negated)
                instruction->unsupported = "!";
        return;
    default:
        return;
    }
}

/* ---- Functions ---- */

/* An operand with an undefined name is already reported and not checked. */
static bool is_resolved(const struct ptx_operand *operand, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (operand[i].kind == PTX_OPERAND_NONE || !is_resolved(operand[i].element, operand[i].n_elements))
            return false;
    return true;
}

static bool check_instruction(struct ptx_check *check) {
    struct ptx_instruction *instruction = check->instruction;
    if (!ptx_instruction_is_supported(instruction) || !is_resolved(instruction->operand, instruction->n_operands))
        return true;
    if (instruction->opcode == PTX_OP_CALL)
        return is_resolved(instruction->call->result, instruction->call->n_results) &&
               is_resolved(instruction->call->argument, instruction->call->n_arguments) && check_call(check);
    if (instruction->opcode == PTX_OP_BRX)
        return ptx_check_operand(check, instruction->operand, 'u', 0);
    if (instruction->matrix)
        return ptx_check_matrix(check);
    const struct ptx_rule *rule = ptx_rule_of(instruction);
    bool is_right = !rule || (check_types(check, rule) && check_modifiers(check, rule) && check_operands(check, rule) &&
                              check_special_cases(check));
    if (is_right)
        resolve_negation(instruction);
    return is_right;
}

void ptx_check_function(struct ptx_parser *parser, const struct ptx_function *function) {
    struct ptx_check check = {.parser = parser, .function = function};
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        check.instruction = &function->instruction[i];
        check_instruction(&check);
    }
}
