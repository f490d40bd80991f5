/* The cost of a single instruction, before anything is folded. The lengths of sequences are those that ptxas 13.0 emits
 * for one instruction on unknown operands, without the path for rare operands. */
#include "isa/internal.h"
#include "ptx/matrix.h"

/* A constant that is stored must be in a register. */
static bool is_stored(const struct isa_code *code, uint32_t r) {
    if (r == ISA_NONE) /* the constant is taken apart into a vector */
        return false;
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++)
        if (isa_source(code, code->use[u])->opcode == PTX_OP_ST)
            return true;
    return false;
}

bool isa_is_live_after(const struct isa_code *code, uint32_t r, uint32_t i) {
    const struct ptx_block *block = &code->analysis->block[code->analysis->block_of[i]];
    for (uint32_t k = i + 1; k < block->first + block->count; k++) {
        const struct ptx_instruction *insn = isa_source(code, k);
        for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++)
            if (code->use[u] == k)
                return true;
        if (isa_result(insn) == r && insn->guard == PTX_NO_INDEX)
            return false;
    }
    for (uint32_t s = 0; s < block->n_successors; s++)
        if (ptx_is_live_in(code->analysis, block->successor[s], r))
            return true;
    return false;
}

/* Returns whether `written` changes while `kept` is needed; the copy of one to the other does not count. */
static bool is_written_while_live(const struct isa_code *code, uint32_t written, uint32_t kept, uint32_t copy) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < code->n && n < code->n_definitions[written]; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        if (isa_result(insn) != written)
            continue;
        n++;
        bool is_same_copy = insn->opcode == PTX_OP_MOV && insn->operand[1].kind == PTX_OPERAND_REGISTER &&
                            insn->operand[1].register_id == kept;
        if (i != copy && !is_same_copy && isa_is_live_after(code, kept, i))
            return true;
    }
    return n < code->n_definitions[written]; /* a vector's element */
}

/* Returns whether the block is in the loop with this header, or in one inside it. */
static bool is_in_nest(const struct ptx_analysis *analysis, uint32_t block, uint32_t header) {
    for (uint32_t l = 0; l < analysis->n_loops; l++) {
        if (analysis->loop[l].header != analysis->block[block].loop_header)
            continue;
        for (uint32_t outer = l; outer != PTX_NO_INDEX; outer = analysis->loop[outer].parent)
            if (analysis->loop[outer].header == header)
                return true;
    }
    return false;
}

/* Returns whether the value is needed only where the loop is left: the move goes there. */
static bool is_for_exit(const struct isa_code *code, uint32_t r, uint32_t i) {
    const struct ptx_analysis *analysis = code->analysis;
    const struct ptx_block *block = &analysis->block[analysis->block_of[i]];
    if (block->loop_header == PTX_NO_BLOCK)
        return false;
    for (uint32_t s = 0; s < block->n_successors; s++)
        if (ptx_is_live_in(analysis, block->successor[s], r) &&
            is_in_nest(analysis, block->successor[s], block->loop_header))
            return false;
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++)
        if (analysis->block_of[code->use[u]] == analysis->block_of[i] && code->use[u] > i)
            return false;
    return true;
}

static bool reads(const struct isa_code *code, uint32_t r, uint32_t i) {
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++)
        if (code->use[u] == i)
            return true;
    return false;
}

/* Returns whether all instructions that read the move's result can read its source instead: they are in its block,
 * before another instruction writes either register. */
static bool is_passed_on(const struct isa_code *code, uint32_t i) {
    enum { FARTHEST = 64 };
    const struct ptx_instruction *move = isa_source(code, i);
    const struct ptx_block *block = &code->analysis->block[code->analysis->block_of[i]];
    uint32_t result = isa_result(move), source = ISA_NONE;
    bool is_source_there = true;
    if (result == ISA_NONE || move->guard != PTX_NO_INDEX)
        return false;
    if (move->operand[1].kind == PTX_OPERAND_REGISTER)
        source = move->operand[1].register_id;
    for (uint32_t k = i + 1; k < block->first + block->count && k - i < FARTHEST; k++) {
        const struct ptx_instruction *insn = isa_source(code, k);
        if (!is_source_there && reads(code, result, k))
            return false;
        if (isa_result(insn) == result)
            return insn->guard == PTX_NO_INDEX;
        is_source_there &= source == ISA_NONE || isa_result(insn) != source;
    }
    return false;
}

static unsigned cost_of_move(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    const struct ptx_operand *source = &insn->operand[1];
    uint32_t result = isa_result(insn);
    bool is_merged = result != ISA_NONE && code->n_definitions[result] > 1; /* paths bring it different values */
    bool is_wide = ptx_type_bits(isa_type(insn)) == 64 && !(result != ISA_NONE && code->is_short[result]);
    if (is_merged && source->kind != PTX_OPERAND_SPECIAL && is_for_exit(code, result, i))
        return 0;
    if (is_merged && source->kind == PTX_OPERAND_REGISTER && is_passed_on(code, i))
        return 0;
    switch (source->kind) {
    case PTX_OPERAND_SPECIAL:
        return 1;
    case PTX_OPERAND_VARIABLE:
        if (source->variable->space == PTX_SPACE_SHARED)
            return 1; /* addresses.c adds what the first of them costs */
        return source->variable->space == PTX_SPACE_GLOBAL ? 2 : 0;
    case PTX_OPERAND_FUNCTION:
        return 2;
    case PTX_OPERAND_REGISTER: {
        /* A copy costs nothing if both registers can be the same. */
        if (!is_merged || ptx_type_kind(isa_type(insn)) == PTX_KIND_P)
            return 0;
        uint32_t from = source->register_id;
        bool is_apart = is_written_while_live(code, from, result, i) || is_written_while_live(code, result, from, i);
        return is_apart ? (is_wide ? 2 : 1) : 0;
    }
    case PTX_OPERAND_VECTOR:
        return 0;
    default:
        if (!(is_merged || is_stored(code, result)))
            return 0;
        if (ptx_type_kind(isa_type(insn)) == PTX_KIND_P)
            return 1;
        return is_wide && source->value ? 2 : 1; /* one instruction clears both halves */
    }
}

static bool is_loop_invariant(const struct isa_code *code, const struct ptx_operand *operand, uint32_t i) {
    const struct ptx_analysis *analysis = code->analysis;
    uint32_t header = analysis->block[analysis->block_of[i]].loop_header;
    if (header == PTX_NO_BLOCK)
        return false;
    uint32_t definition = isa_definition(code, operand);
    return definition != ISA_NONE && analysis->block_of[definition] != analysis->block_of[i] &&
           analysis->block[analysis->block_of[definition]].loop_header != header;
}

/* Returns whether an earlier division of the block, or of one that dominates it, has the same divisor, so that the
 * reciprocal exists already. */
static bool is_repeated(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    const struct ptx_analysis *analysis = code->analysis;
    if (insn->operand[2].kind != PTX_OPERAND_REGISTER || code->n_definitions[insn->operand[2].register_id] != 1)
        return false;
    uint32_t r = insn->operand[2].register_id;
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1] && code->use[u] < i; u++) {
        const struct ptx_instruction *other = isa_source(code, code->use[u]);
        if ((other->opcode != PTX_OP_DIV && other->opcode != PTX_OP_REM) || isa_type(other) != isa_type(insn) ||
            other->operand[2].kind != PTX_OPERAND_REGISTER || other->operand[2].register_id != r)
            continue;
        uint32_t block = analysis->block_of[i], wanted = analysis->block_of[code->use[u]];
        while (block != wanted && block != PTX_NO_BLOCK)
            block = analysis->block[block].dominator;
        if (block == wanted)
            return true;
    }
    return false;
}

bool isa_leaves_reciprocal(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    return (insn->opcode == PTX_OP_DIV || insn->opcode == PTX_OP_REM) && !isa_is_float(insn) &&
           ptx_type_bits(isa_type(insn)) == 32 && !isa_is_constant(&insn->operand[2]) &&
           is_loop_invariant(code, &insn->operand[2], i);
}

static unsigned cost_of_division(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    enum ptx_type type = isa_type(insn);
    bool is_rest = insn->opcode == PTX_OP_REM, is_signed = ptx_type_kind(type) == PTX_KIND_S;
    if (type == PTX_F64)
        return 19;
    if (isa_is_float(insn)) {
        if (ptx_has(insn, PTX_MOD_APPROX))
            return ptx_has(insn, PTX_MOD_FTZ) ? 2 : 5;
        return ptx_has(insn, PTX_MOD_FULL) ? (ptx_has(insn, PTX_MOD_FTZ) ? 6 : 8) : 10;
    }
    if (ptx_type_bits(type) == 64)
        return is_signed ? 80 : 70;
    if (isa_is_constant(&insn->operand[2]))
        return is_rest ? (is_signed ? 10 : 6) : (is_signed ? 13 : 8);
    if (is_loop_invariant(code, &insn->operand[2], i) || is_repeated(code, i)) /* its reciprocal is computed once */
        return is_rest ? (is_signed ? 11 : 8) : (is_signed ? 12 : 9);
    return is_rest ? (is_signed ? 24 : 17) : (is_signed ? 26 : 18);
}

/* Functions of the special-function unit: operands that are not flushed to zero are scaled first. */
static unsigned cost_of_special_function(const struct ptx_instruction *insn) {
    bool is_flushed = ptx_has(insn, PTX_MOD_FTZ), is_approximate = ptx_has(insn, PTX_MOD_APPROX);
    bool is_double = isa_type(insn) == PTX_F64;
    switch (insn->opcode) {
    case PTX_OP_SIN:
    case PTX_OP_COS:
        return 2;
    case PTX_OP_TANH:
        return 1;
    case PTX_OP_RCP:
        return is_double ? 12 : !is_approximate ? 10 : is_flushed ? 1 : 7;
    case PTX_OP_SQRT:
        return is_double ? 20 : !is_approximate ? 10 : is_flushed ? 1 : 4;
    case PTX_OP_RSQRT:
        return is_double ? 12 : is_flushed ? 1 : 4;
    default: /* ex2, lg2 */
        return is_flushed ? 1 : 4;
    }
}

static bool is_extended_load(const struct isa_code *code, const struct ptx_operand *operand) {
    uint32_t definition = isa_definition(code, operand);
    return definition != ISA_NONE && isa_source(code, definition)->opcode == PTX_OP_LD &&
           ptx_type_bits(isa_type(isa_source(code, definition))) <= 16;
}

static unsigned cost_of_conversion(const struct isa_code *code, const struct ptx_instruction *insn) {
    enum ptx_type to = insn->type[0], from = insn->n_types > 1 ? insn->type[1] : to;
    bool is_integer = ptx_type_kind(to) != PTX_KIND_F && ptx_type_kind(from) != PTX_KIND_F;
    unsigned to_bits = ptx_type_bits(to), from_bits = ptx_type_bits(from);
    uint32_t result = isa_result(insn);
    if (isa_is_known(code, &insn->operand[1]))
        return 0; /* the compiler converts it */
    if (!is_integer)
        return 1;
    if (to_bits <= from_bits)
        return 0; /* the upper bits are ignored */
    if (from_bits == 32)
        return ptx_type_kind(from) == PTX_KIND_S && !(result != ISA_NONE && code->is_short[result]);
    if (is_extended_load(code, &insn->operand[1]))
        return 0;
    return !(from == PTX_U16 && to_bits == 32);
}

/* Returns whether the lower half is known to be zero. */
static bool has_empty_lower_half(const struct isa_code *code, const struct ptx_operand *operand) {
    if (operand->kind == PTX_OPERAND_INTEGER)
        return !(uint32_t)operand->value;
    uint32_t definition = isa_definition(code, operand);
    const struct ptx_instruction *insn = definition != ISA_NONE ? isa_source(code, definition) : NULL;
    if (!insn || insn->n_operands < 3 || insn->operand[2].kind != PTX_OPERAND_INTEGER)
        return false;
    return insn->opcode == PTX_OP_SHL   ? insn->operand[2].value >= 32
           : insn->opcode == PTX_OP_AND ? !(uint32_t)insn->operand[2].value
                                        : false;
}

static bool is_logic_use(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r) {
    (void)code;
    (void)r;
    return insn->opcode == PTX_OP_OR || insn->opcode == PTX_OP_XOR || insn->opcode == PTX_OP_AND;
}

static bool is_arithmetic_use(const struct isa_code *code, const struct ptx_instruction *insn, uint32_t r) {
    return is_logic_use(code, insn, r) || isa_is_sum(insn) || insn->opcode == PTX_OP_MUL || insn->opcode == PTX_OP_CVT;
}

/* Masks of 64 bits: a half of zeros or ones needs no instruction. */
static unsigned cost_of_mask(uint64_t mask) {
    uint32_t lower = (uint32_t)mask, upper = (uint32_t)(mask >> 32);
    return (lower && lower != UINT32_MAX) + (upper && upper != UINT32_MAX);
}

/* Logic and shifts of 64 bits whose result, or one half of it, needs no instruction. */
static unsigned cost_of_halves(const struct isa_code *code, const struct ptx_instruction *insn) {
    bool is_wide = isa_is_wide(code, insn), is_pair = insn->opcode == PTX_OP_SELP && isa_type(insn) == PTX_F64;
    if (!is_wide && !is_pair)
        return 1;
    bool has_empty = isa_has_empty_half(code, &insn->operand[1]) || isa_has_empty_half(code, &insn->operand[2]);
    bool has_lower = !has_empty_lower_half(code, &insn->operand[1]) && !has_empty_lower_half(code, &insn->operand[2]);
    uint32_t result = isa_result(insn);
    switch (insn->opcode) {
    case PTX_OP_AND:
        return isa_has_empty_half(code, &insn->operand[1])    ? 1
               : insn->operand[2].kind == PTX_OPERAND_INTEGER ? cost_of_mask(insn->operand[2].value)
               : has_empty                                    ? 1
                                                              : 2;
    case PTX_OP_OR:
    case PTX_OP_XOR:
        return !has_empty + has_lower;
    case PTX_OP_SHR:
    case PTX_OP_SHL: {
        if (insn->opcode == PTX_OP_SHL && insn->operand[2].kind == PTX_OPERAND_INTEGER &&
            insn->operand[2].value == 32 && result != ISA_NONE && isa_all_uses(code, result, is_logic_use))
            return 0;
        bool is_upper = insn->opcode == PTX_OP_SHR && ptx_type_kind(isa_type(insn)) != PTX_KIND_S &&
                        insn->operand[2].kind == PTX_OPERAND_INTEGER && insn->operand[2].value == 32;
        if (is_upper && result != ISA_NONE && isa_all_uses(code, result, is_arithmetic_use))
            return 0;
        bool is_far = insn->operand[2].kind == PTX_OPERAND_INTEGER && insn->operand[2].value >= 32;
        bool is_filled = insn->opcode == PTX_OP_SHR && ptx_type_kind(isa_type(insn)) == PTX_KIND_S;
        return is_far && !is_filled ? 1 : 2;
    }
    case PTX_OP_SELP: /* of words: the upper half is zero */
        return isa_has_empty_half(code, &insn->operand[1]) && isa_has_empty_half(code, &insn->operand[2]) ? 1 : 2;
    default:
        return 2;
    }
}

/* mul and mad of integers. */
static unsigned cost_of_product(const struct isa_code *code, const struct ptx_instruction *insn) {
    bool is_mad = insn->opcode == PTX_OP_MAD || insn->opcode == PTX_OP_MADC, is_high = ptx_has(insn, PTX_MOD_HI);
    if (isa_is_float(insn))
        return 1;
    if (ptx_has(insn, PTX_MOD_WIDE)) /* unlike a product and a sum of their own, a wide mad becomes three */
        return is_mad && !isa_is_constant(&insn->operand[3]) ? 3 : 1;
    if (isa_is_wide(code, insn) && !is_high) {
        bool is_short = isa_is_constant(&insn->operand[2]) && insn->operand[2].value <= UINT32_MAX;
        return isa_has_empty_half(code, &insn->operand[1]) ? 2 : is_short ? 3 : 4;
    }
    if (isa_is_wide(code, insn)) /* signs take sums of their own */
        return ptx_type_kind(isa_type(insn)) != PTX_KIND_S ? 7 : isa_is_constant(&insn->operand[2]) ? 12 : 17;
    return is_high && is_mad ? 2 : 1;
}

/* Returns whether all lanes have the same value: a constant, a value of the whole block, or the result of a vote, or
 * its number of bits. */
static bool is_same_value(const struct isa_code *code, const struct ptx_operand *value) {
    if (isa_is_constant(value))
        return true;
    if (value->kind != PTX_OPERAND_REGISTER)
        return false;
    uint32_t definition = isa_definition(code, value);
    if (definition != ISA_NONE && isa_source(code, definition)->opcode == PTX_OP_POPC)
        definition = isa_definition(code, &isa_source(code, definition)->operand[1]);
    bool is_vote = definition != ISA_NONE && isa_source(code, definition)->opcode == PTX_OP_VOTE;
    return is_vote || code->analysis->is_uniform[value->register_id];
}

static bool is_sum_of_lanes(const struct ptx_instruction *insn) {
    return ptx_has(insn, PTX_MOD_ADD) && ptx_type_kind(isa_type(insn)) != PTX_KIND_F && insn->n_operands >= 2 &&
           insn->space != PTX_SPACE_SHARED;
}

/* Returns whether the threads of a warp have different values of the register: the number of the thread in its block,
 * or that plus something that is the same for all. */
static bool differs_between_threads(const struct isa_code *code, const struct ptx_operand *value) {
    uint32_t d = isa_definition(code, value);
    const struct ptx_instruction *insn = d != ISA_NONE ? isa_source(code, d) : NULL;
    if (!insn)
        return false;
    if (insn->opcode == PTX_OP_MOV)
        return insn->operand[1].kind == PTX_OPERAND_SPECIAL && insn->operand[1].special == PTX_SPECIAL_TID_X;
    bool is_sum = insn->opcode == PTX_OP_ADD, is_mad = insn->opcode == PTX_OP_MAD && !ptx_has(insn, PTX_MOD_WIDE);
    if (!is_sum && !is_mad)
        return false;
    for (unsigned k = is_mad ? 3 : 1; k <= (is_mad ? 3u : 2u); k++) {
        uint32_t of = isa_definition(code, &insn->operand[k]);
        const struct ptx_instruction *move = of != ISA_NONE ? isa_source(code, of) : NULL;
        bool is_thread = move && move->opcode == PTX_OP_MOV && move->operand[1].kind == PTX_OPERAND_SPECIAL &&
                         move->operand[1].special == PTX_SPECIAL_TID_X;
        bool is_rest_uniform = true;
        for (unsigned other = 1; other < insn->n_operands; other++)
            is_rest_uniform &= other == k || insn->operand[other].kind == PTX_OPERAND_INTEGER ||
                               (insn->operand[other].kind == PTX_OPERAND_REGISTER &&
                                code->analysis->is_uniform[insn->operand[other].register_id]);
        if (is_thread && is_rest_uniform)
            return true;
    }
    return false;
}

/* Returns whether at most one thread of a warp has this value of the predicate. */
static bool names_one_thread(const struct isa_code *code, uint32_t predicate, bool value) {
    if (predicate == PTX_NO_INDEX || code->n_definitions[predicate] != 1)
        return false;
    const struct ptx_instruction *insn = isa_source(code, code->definition[predicate]);
    return insn->opcode == PTX_OP_SETP && insn->n_operands == 3 && insn->operand[2].kind == PTX_OPERAND_INTEGER &&
           ptx_has(insn, value ? PTX_MOD_EQ : PTX_MOD_NE) && differs_between_threads(code, &insn->operand[1]);
}

/* Returns whether at most one thread of a warp executes the instruction, as the compiler knows from a comparison of
 * its number. */
static bool is_for_one_thread(const struct isa_code *code, const struct ptx_instruction *insn) {
    const struct ptx_analysis *analysis = code->analysis;
    if (!code->n_definitions || !analysis->n_blocks) /* not compiled */
        return false;
    uint32_t i = (uint32_t)(insn - code->function->instruction), block = analysis->block_of[i];
    if (names_one_thread(code, insn->guard, !insn->guard_negated))
        return true;
    for (uint32_t before = analysis->block[block].dominator; before != PTX_NO_BLOCK;
         block = before, before = analysis->block[before].dominator) {
        const struct ptx_block *from = &analysis->block[before];
        const struct ptx_instruction *branch = isa_source(code, from->first + from->count - 1);
        if (!from->count || !isa_has_target(branch) || branch->guard == PTX_NO_INDEX ||
            analysis->block[block].n_predecessors != 1)
            continue;
        bool is_taken = branch->operand[0].target == analysis->block[block].first;
        if (names_one_thread(code, branch->guard, is_taken != branch->guard_negated))
            return true;
    }
    return false;
}

/* A reduction to one address, which the compiler knows to be the same for all lanes: it combines their values by REDUX,
 * and one lane accesses memory. REDUX has no form for 64 bits. If the numbers have 64 bits, or the lanes read their
 * sums, one adds for all only if they add the same. A single thread adds itself. Otherwise the code of a sum of 32 bits
 * that is read asks first whether all 32 lanes are there, which is not modelled. */
bool isa_is_joined(const struct isa_code *code, const struct ptx_instruction *insn) {
    enum ptx_type type = isa_type(insn);
    bool is_word = ptx_type_kind(type) != PTX_KIND_F && ptx_type_bits(type) == 32;
    bool is_read = insn->opcode == PTX_OP_ATOM;
    if ((is_read || insn->opcode == PTX_OP_RED) && is_for_one_thread(code, insn))
        return false;
    if (is_sum_of_lanes(insn) && (is_read || (insn->opcode == PTX_OP_RED && ptx_type_bits(type) == 64)))
        return isa_is_uniform_address(code, &insn->operand[is_read]) &&
               is_same_value(code, &insn->operand[1 + is_read]);
    bool is_combined = ptx_has(insn, PTX_MOD_ADD) || ptx_has(insn, PTX_MOD_MIN) || ptx_has(insn, PTX_MOD_MAX) ||
                       ptx_has(insn, PTX_MOD_AND) || ptx_has(insn, PTX_MOD_OR) || ptx_has(insn, PTX_MOD_XOR);
    if (!is_word || insn->n_operands < 2 || insn->opcode != PTX_OP_RED)
        return false;
    bool is_counted = insn->space == PTX_SPACE_SHARED && insn->operand[1].kind == PTX_OPERAND_INTEGER;
    return is_combined && !is_counted && isa_is_uniform_address(code, &insn->operand[0]);
}

/* Returns whether an earlier reduction of the basic block has chosen the lane that accesses memory. */
static bool has_elected(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    for (uint32_t k = code->analysis->block[code->analysis->block_of[i]].first; k < i; k++) {
        const struct ptx_instruction *other = isa_source(code, k);
        if (other->opcode == PTX_OP_RED && ptx_type_bits(isa_type(other)) == 32 && isa_is_joined(code, other) &&
            other->guard == insn->guard && other->guard_negated == insn->guard_negated)
            return true;
    }
    return false;
}

/* ptxas 13.0 on small kernels: joined atomics with the vote, the choice of a lane, the combination, and for sums that
 * are read the way back. Where the memory has no such operation: a loop that tries compare-and-swap, here one round. */
static unsigned cost_of_atomic(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    enum {
        COUNTED = 5,
        COMBINED = 7,
        ELECTED_COUNTED = 2,
        ELECTED_COMBINED = 3,
        COUNTED_AND_READ = 10,
        LONG_COUNTED = 11,
        LONG_AND_READ = 19
    };
    enum { ASKED = 4, WORD = 5, DOUBLE = 6, LONG = 7 };
    enum ptx_type type = isa_type(insn);
    bool is_exchange = ptx_has(insn, PTX_MOD_CAS) || ptx_has(insn, PTX_MOD_EXCH);
    if (isa_is_joined(code, insn)) {
        const struct ptx_operand *value = &insn->operand[insn->n_operands - 1];
        if (ptx_type_bits(type) == 64)
            return insn->opcode == PTX_OP_ATOM ? LONG_AND_READ : LONG_COUNTED;
        if (insn->opcode == PTX_OP_ATOM)
            return COUNTED_AND_READ;
        bool is_counted = isa_is_constant(value) && ptx_has(insn, PTX_MOD_ADD);
        if (has_elected(code, i))
            return is_counted ? ELECTED_COUNTED : ELECTED_COMBINED;
        return is_counted ? COUNTED : COMBINED;
    }
    if (insn->space == PTX_SPACE_SHARED) {
        if (is_exchange || (ptx_type_bits(type) < 64 && ptx_type_kind(type) != PTX_KIND_F))
            return 1;
        return ISA_AROUND_RETRIES + (ptx_type_bits(type) < 64            ? WORD
                                     : ptx_type_kind(type) == PTX_KIND_F ? DOUBLE
                                                                         : LONG);
    }
    bool is_sum = insn->opcode == PTX_OP_ATOM && ptx_has(insn, PTX_MOD_ADD) && ptx_type_kind(type) != PTX_KIND_F &&
                  ptx_type_bits(type) == 32;
    return is_sum && isa_is_uniform_address(code, &insn->operand[1]) && !is_for_one_thread(code, insn) ? ASKED : 1;
}

/* Fragments of wmma in global memory are loaded and stored word by word, in pairs of words if an element has 32 bits,
 * with the addresses of their rows; those of 16 bits in shared memory by LDSM. MOVM turns a matrix that lies in the
 * other order. A product of 16 x 8 x 16 elements of 16 bits is one instruction (ptxas 13.0 on small kernels). */
static unsigned cost_of_matrix(const struct ptx_instruction *insn) {
    enum { ADDRESSES = 3, TURNS = 4, LANES = 32, WORD_BITS = 32, PRODUCT_BITS = 16 * 8 * 16 * 16 };
    const struct ptx_matrix *matrix = insn->matrix;
    if (matrix->action == PTX_MATRIX_MULTIPLY) {
        struct ptx_fragment a = ptx_matrix_fragment(insn, PTX_MATRIX_A);
        unsigned n = a.rows * a.columns * matrix->n * ptx_element_bits(a.element) / PRODUCT_BITS;
        return insn->opcode == PTX_OP_WMMA && n > 1 ? n : 1;
    }
    bool is_access = matrix->action == PTX_MATRIX_LOAD || matrix->action == PTX_MATRIX_STORE;
    if (insn->opcode != PTX_OP_WMMA || !is_access)
        return 1;
    struct ptx_fragment fragment = ptx_matrix_fragment(insn, matrix->role);
    unsigned bits = ptx_element_bits(fragment.element);
    unsigned words = fragment.rows * fragment.columns * bits / WORD_BITS / LANES;
    bool is_turned = (matrix->role == PTX_MATRIX_A && matrix->is_column_major[0]) ||
                     (matrix->role == PTX_MATRIX_B && !matrix->is_column_major[0]);
    if (insn->space == PTX_SPACE_SHARED && bits == 16 && matrix->action == PTX_MATRIX_LOAD)
        return 2;
    return (bits == 32 ? (words + 1) / 2 : words ? words : 1) + ADDRESSES + (is_turned && bits == 16 ? TURNS : 0);
}

/* Returns whether a load extends a number with a sign to a pair of registers: another instruction makes the upper half.
 */
static bool is_load_of_pair(const struct isa_code *code, const struct ptx_instruction *insn) {
    uint32_t r = isa_result(insn);
    return insn->vector <= 1 && ptx_type_kind(isa_type(insn)) == PTX_KIND_S && ptx_type_bits(isa_type(insn)) < 64 &&
           r != ISA_NONE && ptx_type_width(code->function->reg[r].type) == PTX_WIDTH_64 && !code->is_short[r];
}

static unsigned cost_of_branch(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    bool falls_through = insn->guard == PTX_NO_INDEX && insn->operand[0].target == i + 1;
    return !falls_through;
}

unsigned isa_ptxas_cost(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    bool is_predicate = ptx_type_kind(isa_type(insn)) == PTX_KIND_P;
    unsigned words = isa_is_wide(code, insn) && !isa_is_float(insn) ? 2 : 1;
    if (insn->matrix)
        return cost_of_matrix(insn);
    switch (insn->opcode) {
    case PTX_OP_MOV:
        return cost_of_move(code, i);
    case PTX_OP_CVTA:
        return 0;
    case PTX_OP_CVT:
        return cost_of_conversion(code, insn);
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_ADDC:
    case PTX_OP_SUBC:
    case PTX_OP_NOT:
    case PTX_OP_NEG:
    case PTX_OP_SETP:
    case PTX_OP_CNOT:
        return is_predicate ? 1 : words;
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_SHL:
    case PTX_OP_SHR:
    case PTX_OP_SELP:
        return is_predicate ? 1 : cost_of_halves(code, insn);
    case PTX_OP_ABS:
        return isa_is_float(insn) ? 1 : words == 2 ? 5 : 1;
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        return words == 2 ? 4 : isa_type(insn) == PTX_F64 ? 9 : 1;
    case PTX_OP_MUL:
    case PTX_OP_MAD:
    case PTX_OP_MADC:
        return cost_of_product(code, insn);
    case PTX_OP_MUL24:
    case PTX_OP_MAD24:
        return 3;
    case PTX_OP_DIV:
    case PTX_OP_REM:
        return cost_of_division(code, i);
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
    case PTX_OP_RSQRT:
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_EX2:
    case PTX_OP_LG2:
    case PTX_OP_TANH:
        return cost_of_special_function(insn);
    case PTX_OP_SET:
        return isa_type(insn) == PTX_F32 && isa_source_type(insn) == PTX_F32 ? 1 : 2;
    case PTX_OP_SLCT:
    case PTX_OP_TESTP:
        return 2;
    case PTX_OP_BFE: {
        bool is_constant = isa_is_constant(&insn->operand[2]) && isa_is_constant(&insn->operand[3]);
        bool is_byte = is_constant && insn->operand[2].value % 8 == 0 && insn->operand[3].value == 8;
        if (ptx_type_bits(isa_type(insn)) == 64)
            return ptx_type_kind(isa_type(insn)) == PTX_KIND_S ? 7 : 2;
        return is_byte ? 1 : is_constant ? 2 : 5;
    }
    case PTX_OP_BFI: {
        if (ptx_type_bits(isa_type(insn)) == 64 && insn->operand[3].kind == PTX_OPERAND_INTEGER &&
            insn->operand[3].value == 32 && insn->operand[4].kind == PTX_OPERAND_INTEGER &&
            insn->operand[4].value == 32)
            return 0; /* the two words become a pair */
        if (ptx_type_bits(isa_type(insn)) == 64 && insn->operand[3].kind == PTX_OPERAND_INTEGER &&
            insn->operand[3].value < 32)
            return 5;
        bool is_constant = isa_is_constant(&insn->operand[3]) && isa_is_constant(&insn->operand[4]);
        bool is_byte = is_constant && insn->operand[3].value % 8 == 0 && insn->operand[4].value == 8;
        return is_byte ? 1 : is_constant ? 2 : 6;
    }
    case PTX_OP_POPC:
        return ptx_type_bits(isa_type(insn)) == 64 ? 3 : 1;
    case PTX_OP_CLZ:
        return ptx_type_bits(isa_type(insn)) == 64 ? 6 : 2;
    case PTX_OP_BREV:
        return words;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return cost_of_atomic(code, i);
    case PTX_OP_LD:
        return 1 + is_load_of_pair(code, insn);
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
        return ptx_has(insn, PTX_MOD_CTA_MODE) ? 1 : 4;
    case PTX_OP_BRA:
        return cost_of_branch(code, i);
    case PTX_OP_BRX:
        return 4;
    case PTX_OP_CALL:
        return isa_cost_of_call(code, i);
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_PMEVENT:
    case PTX_OP_PROGRESS:
        return 0;
    default:
        return 1;
    }
}
