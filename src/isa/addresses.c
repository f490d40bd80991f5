/* Folds what computes addresses into the accesses that read them, or into one instruction: constants into offsets,
 * products and extensions into sums of 64 bits, the place of shared memory into accesses; and joins loads of words of
 * shared memory that lie side by side. */
#include "isa/internal.h"

bool isa_is_full_sum(const struct isa_code *code, const struct ptx_instruction *insn) {
    for (unsigned k = 1; k <= 2; k++) {
        uint32_t d = isa_definition(code, &insn->operand[k]);
        if (d == ISA_NONE || code->insn[d].parts)
            continue;
        const struct ptx_instruction *inner = isa_source(code, d);
        if (inner->opcode == PTX_OP_MUL || inner->opcode == PTX_OP_SHL ||
            (inner->opcode == PTX_OP_CVT && ptx_type_kind(isa_source_type(inner)) == PTX_KIND_S))
            return true;
    }
    return false;
}

/* ---- Offsets ----------------------------------------------------------------------------------------------------- */

static bool is_address_use(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r) {
    (void)code;
    return isa_reads_as_address(insn, r);
}

static bool is_shared_use(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r) {
    (void)code;
    return insn->space == PTX_SPACE_SHARED && insn->opcode != PTX_OP_PREFETCH && isa_reads_as_address(insn, r);
}

static bool is_place_in(const struct isa_code *code, const struct ptx_operand *operand, enum ptx_space space) {
    uint32_t definition = isa_definition(code, operand);
    if (definition == ISA_NONE || isa_source(code, definition)->opcode != PTX_OP_MOV)
        return false;
    const struct ptx_operand *source = &isa_source(code, definition)->operand[1];
    return source->kind == PTX_OPERAND_VARIABLE && source->variable->space == space;
}

/* Returns whether one operand of the sum is the address of a variable in shared memory, and the other differs between
 * threads. An access to shared memory adds the former, which is in a uniform register, to its address. */
static bool is_base_and_index(const struct isa_code *code, const struct ptx_instruction *insn) {
    unsigned base = is_place_in(code, &insn->operand[1], PTX_SPACE_SHARED) ? 1 : 2;
    const struct ptx_operand *index = &insn->operand[3 - base];
    return insn->opcode == PTX_OP_ADD && is_place_in(code, &insn->operand[base], PTX_SPACE_SHARED) &&
           index->kind == PTX_OPERAND_REGISTER && !code->analysis->is_uniform[index->register_id];
}

/* base + constant goes into the offset of the accesses. The address of a variable in constant memory is a constant. */
static void fold_offsets(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t r = isa_result(insn);
        if (isa_is_sum(insn) && !isa_is_float(insn) && r != ISA_NONE && code->n_definitions[r] == 1 &&
            (isa_is_constant(&insn->operand[2]) ||
             (!isa_is_full_sum(code, insn) && (is_place_in(code, &insn->operand[1], PTX_SPACE_CONST) ||
                                               is_place_in(code, &insn->operand[2], PTX_SPACE_CONST)))) &&
            isa_all_uses(code, r, is_address_use))
            code->insn[i].parts = 0;
        if (isa_is_sum(insn) && r != ISA_NONE && code->n_definitions[r] == 1 && is_base_and_index(code, insn) &&
            !isa_is_full_sum(code, insn) && isa_all_uses(code, r, is_shared_use))
            code->insn[i].parts = 0;
    }
}

/* ---- Far offsets ------------------------------------------------------------------------------------------------- */

enum { OFFSET_BITS = 24, MOST_FAR = 32 }; /* an access has room for an offset of so many bits, with a sign */

/* A base with a multiple of 2^24, in a pair of registers. */
struct far_base {
    uint32_t register_id, guard;
    int64_t multiple;
    bool is_negated;
};

/* Returns the place that the access has room for after a multiple of 2^24 was added to its base. */
static struct far_base far_base_of(const struct isa_code *code, const struct ptx_instruction *insn,
                                   const struct ptx_operand *operand) {
    struct far_base far = {
        .register_id = operand->register_id, .guard = insn->guard, .is_negated = insn->guard_negated};
    int64_t offset = operand->offset;
    for (uint32_t d; (d = code->definition[far.register_id]) < code->n && code->n_definitions[far.register_id] == 1 &&
                     !code->insn[d].parts && isa_is_sum(isa_source(code, d)) &&
                     isa_is_constant(&isa_source(code, d)->operand[2]) &&
                     isa_source(code, d)->operand[1].kind == PTX_OPERAND_REGISTER;) {
        int64_t more = (int64_t)isa_source(code, d)->operand[2].value;
        offset += isa_source(code, d)->opcode == PTX_OP_ADD ? more : -more;
        far.register_id = isa_source(code, d)->operand[1].register_id;
    }
    far.multiple = (offset + (1 << (OFFSET_BITS - 1))) >> OFFSET_BITS;
    return far;
}

/* An offset that an access has no room for: two instructions add a multiple of 2^24 to the base, once in a basic block.
 */
static void add_far_offsets(struct isa_code *code) {
    struct far_base known[MOST_FAR];
    uint32_t n = 0;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (i == 0 || code->analysis->block_of[i] != code->analysis->block_of[i - 1])
            n = 0;
        bool is_far_space = insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_GENERIC;
        for (unsigned k = 0; isa_is_access(insn) && is_far_space && k < insn->n_operands; k++) {
            const struct ptx_operand *operand = &insn->operand[k];
            if (operand->kind != PTX_OPERAND_ADDRESS || operand->register_id == PTX_NO_INDEX)
                continue;
            struct far_base far = far_base_of(code, insn, operand);
            uint32_t j = 0;
            while (j < n && (known[j].register_id != far.register_id || known[j].multiple != far.multiple ||
                             known[j].guard != far.guard || known[j].is_negated != far.is_negated))
                j++;
            if (!far.multiple || j < n)
                continue;
            if (n < MOST_FAR)
                known[n++] = far;
            code->insn[i].parts = (uint16_t)(code->insn[i].parts + 2 * ISA_PARTS);
        }
    }
}

/* A load of 8 or 16 bits clears the bits above them: a mask of those that it loads changes nothing. */
static void fold_masks(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (insn->opcode != PTX_OP_AND || insn->operand[2].kind != PTX_OPERAND_INTEGER)
            continue;
        uint32_t d = isa_definition(code, &insn->operand[1]);
        if (d == ISA_NONE || isa_source(code, d)->opcode != PTX_OP_LD ||
            ptx_type_kind(isa_type(isa_source(code, d))) == PTX_KIND_S)
            continue;
        unsigned bits = ptx_type_bits(isa_type(isa_source(code, d)));
        uint64_t loaded = (1ull << (bits & 31)) - 1;
        if (bits < 32 && (insn->operand[2].value & loaded) == loaded)
            code->insn[i].parts = 0;
    }
}

static bool is_sum_with_register(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r) {
    (void)r;
    (void)code;
    return isa_is_sum(insn) && insn->operand[1].kind == PTX_OPERAND_REGISTER &&
           insn->operand[2].kind == PTX_OPERAND_REGISTER && !isa_is_float(insn) &&
           insn->operand[1].register_id != insn->operand[2].register_id;
}

/* A wide product that is only added becomes a part of each sum, which then is one instruction of its own. Shifts do so
 * too, but a wide sum stays two instructions. */
static void fold_wide_products(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t r = isa_result(insn);
        bool is_product = insn->opcode == PTX_OP_MUL && ptx_has(insn, PTX_MOD_WIDE);
        bool is_shift =
            insn->opcode == PTX_OP_SHL && ptx_type_bits(isa_type(insn)) == 64 && isa_is_constant(&insn->operand[2]);
        if (r == ISA_NONE || code->n_definitions[r] != 1 || !(is_product || is_shift) ||
            !isa_all_uses(code, r, is_sum_with_register))
            continue;
        if (is_shift && !code->is_short[r] && isa_n_uses(code, r) > 1)
            continue;
        code->insn[i].parts = 0;
        for (uint32_t u = code->first_use[r]; is_product && u < code->first_use[r + 1]; u++) {
            code->insn[code->use[u]].parts = ISA_PARTS;
            code->insn[code->use[u]].takes = ISA_TAKES_WIDE_PRODUCT;
        }
    }
}

static bool adds_wide_product(const struct isa_code *code, uint32_t r) {
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++)
        if (code->insn[code->use[u]].takes == ISA_TAKES_WIDE_PRODUCT)
            return true;
    return false;
}

/* The upper half of an extended number that is only added comes with the sum, unless that is a part of a wide product,
 * which adds a pair of registers. */
static void fold_extensions(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        uint32_t r = isa_result(insn);
        if (insn->opcode == PTX_OP_CVT && isa_type(insn) == PTX_S64 && r != ISA_NONE && code->n_definitions[r] == 1 &&
            isa_all_uses(code, r, is_sum_with_register) && !adds_wide_product(code, r))
            code->insn[i].parts = 0;
    }
}

/* The first address of shared memory is made from the block's place in its cluster. */
static void add_shared_base(struct isa_code *code) {
    bool is_first = true;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (insn->opcode != PTX_OP_MOV || insn->operand[1].kind != PTX_OPERAND_VARIABLE ||
            insn->operand[1].variable->space != PTX_SPACE_SHARED)
            continue;
        code->insn[i].parts = (uint16_t)(is_first ? 3 * ISA_PARTS : 0);
        is_first = false;
    }
}

/* ---- Loads from shared memory ------------------------------------------------------------------------------------ */

enum { MOST_ALIGNMENT = 16, DEEPEST = 8 };

static uint32_t alignment_of(const struct isa_code *code, uint32_t r, unsigned depth);

/* Returns a power of two, at most 16, that divides the result of the instruction. */
static uint32_t alignment_by(const struct isa_code *code, const struct ptx_instruction *insn, unsigned depth) {
    const struct ptx_operand *a = &insn->operand[1], *b = &insn->operand[2];
    uint64_t factor = 1;
    switch (insn->opcode) {
    case PTX_OP_MOV:
        return a->kind == PTX_OPERAND_VARIABLE   ? MOST_ALIGNMENT
               : a->kind == PTX_OPERAND_REGISTER ? alignment_of(code, a->register_id, depth + 1)
                                                 : 1;
    case PTX_OP_MUL:
    case PTX_OP_SHL:
        if (b->kind != PTX_OPERAND_INTEGER)
            return 1;
        factor = insn->opcode == PTX_OP_MUL ? b->value & -b->value : b->value < 32 ? 1ull << b->value : 1;
        factor *= a->kind == PTX_OPERAND_REGISTER ? alignment_of(code, a->register_id, depth + 1) : 1;
        break;
    case PTX_OP_AND:
        factor = b->kind == PTX_OPERAND_INTEGER ? b->value & -b->value : 1;
        break;
    case PTX_OP_ADD: {
        if (a->kind != PTX_OPERAND_REGISTER)
            return 1;
        uint32_t first = alignment_of(code, a->register_id, depth + 1);
        factor = b->kind == PTX_OPERAND_INTEGER    ? b->value & -b->value
                 : b->kind == PTX_OPERAND_REGISTER ? alignment_of(code, b->register_id, depth + 1)
                                                   : 1;
        factor = factor < first ? factor : first;
        break;
    }
    default:
        return 1;
    }
    return (uint32_t)(factor < MOST_ALIGNMENT ? factor : MOST_ALIGNMENT);
}

/* Returns the constant that the instruction adds to the register, if it does only that; otherwise 0. */
static uint64_t step_of(const struct ptx_instruction *insn, uint32_t r) {
    return insn->opcode == PTX_OP_ADD && insn->operand[1].kind == PTX_OPERAND_REGISTER &&
                   insn->operand[1].register_id == r && insn->operand[2].kind == PTX_OPERAND_INTEGER
               ? insn->operand[2].value
               : 0;
}

/* Returns a power of two, at most 16, that divides every value of the register. The register has one definition, or it
 * is a pointer that loops advance; then it is as aligned as its first value and the steps. */
static uint32_t alignment_of(const struct isa_code *code, uint32_t r, unsigned depth) {
    const struct ptx_instruction *first = NULL;
    uint64_t steps = MOST_ALIGNMENT;
    uint32_t n = 0;
    for (uint32_t i = 0; i < code->n && n < code->n_definitions[r]; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (isa_result(insn) != r)
            continue;
        uint64_t step = step_of(insn, r);
        if (!step && first)
            return 1;
        first = step ? first : insn;
        steps |= step;
        n++;
    }
    if (!first || n < code->n_definitions[r] || depth == DEEPEST)
        return 1;
    uint32_t least = alignment_by(code, first, depth);
    steps &= -steps;
    return steps < least ? (uint32_t)steps : least;
}

static bool is_word_load(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_LD && insn->space == PTX_SPACE_SHARED && insn->vector <= 1 &&
           ptx_type_bits(isa_type(insn)) >= 32 && insn->guard == PTX_NO_INDEX && !ptx_has(insn, PTX_MOD_VOLATILE) &&
           insn->operand[1].register_id != PTX_NO_INDEX;
}

/* Returns whether loads after this instruction may see other values than before. */
static bool ends_group(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_ST || insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED ||
           ptx_opcode_family(insn->opcode) == PTX_FAMILY_CONTROL;
}

/* Four words, or two of 64 bits, side by side at a multiple of 16 bytes are one load. */
static void join_loads(struct isa_code *code) {
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (!is_word_load(insn) || insn->operand[1].offset % 16 ||
            alignment_of(code, insn->operand[1].register_id, 0) < 16)
            continue;
        uint32_t follower[3], n = 0, bytes = ptx_type_bits(isa_type(insn)) / 8, wanted = 16 / bytes - 1;
        for (uint32_t j = i + 1;
             j < code->n && n < wanted && isa_is_in_block_of(code, i, j) && !ends_group(isa_source(code, j)); j++)
            if (is_word_load(isa_source(code, j)) &&
                isa_source(code, j)->operand[1].register_id == insn->operand[1].register_id &&
                isa_type(isa_source(code, j)) == isa_type(insn) &&
                isa_source(code, j)->operand[1].offset == insn->operand[1].offset + (int64_t)bytes * (n + 1))
                follower[n++] = j;
        for (uint32_t k = 0; n == wanted && k < n; k++)
            code->insn[follower[k]].parts = 0;
    }
}

void isa_fold_addresses(struct isa_code *code) {
    fold_wide_products(code);
    fold_extensions(code);
    fold_offsets(code);
    add_far_offsets(code);
    fold_masks(code);
    add_shared_base(code);
    join_loads(code);
}
