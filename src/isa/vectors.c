/* Joins neighbouring words of shared memory. ptxas loads or stores two or four words, or two of 64 bits, by one
 * instruction if it knows that their address is a multiple of 8 or 16 bytes, and if nothing between the accesses may
 * meet them. It knows where
 * variables of shared memory lie, and what is added to their addresses. The kernels l4, st4, tile and others, compiled
 * with ptxas 13.0, show these rules. Of three words in four it loads all four; here two become one access.
 *
 * A joined load stands where its first part stood, and a joined store where its last part stood. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "isa/internal.h"

enum { MOST_LOG = 4, MOST_DISTANCE = 256, MOST_WORDS = 4 };

/* ---- Alignment --------------------------------------------------------------------------------------------------- */

struct alignment {
    const struct ptx_function *function;
    uint8_t *log; /* per register: its value is a multiple of 2 to this power, up to MOST_LOG */
    bool has_changed;
};

static uint8_t log_of_value(uint64_t value) {
    unsigned log = value ? (unsigned)__builtin_ctzll(value) : MOST_LOG;
    return (uint8_t)(log < MOST_LOG ? log : MOST_LOG);
}

static uint8_t least(uint8_t a, uint8_t b) { return a < b ? a : b; }

static uint8_t log_of(const struct alignment *alignment, const struct ptx_operand *operand) {
    switch (operand->kind) {
    case PTX_OPERAND_INTEGER:
        return log_of_value(operand->value);
    case PTX_OPERAND_REGISTER:
        return alignment->log[operand->register_id];
    case PTX_OPERAND_VARIABLE:
        return operand->variable && operand->variable->space == PTX_SPACE_SHARED
                   ? least(log_of_value(operand->variable->alignment), log_of_value((uint64_t)operand->offset))
                   : 0;
    default:
        return 0;
    }
}

static uint8_t log_of_product(const struct alignment *alignment, const struct ptx_instruction *insn) {
    unsigned sum = log_of(alignment, &insn->operand[1]) + log_of(alignment, &insn->operand[2]);
    return (uint8_t)(sum < MOST_LOG ? sum : MOST_LOG);
}

/* What the instruction's result is a multiple of. */
static uint8_t log_of_result(const struct alignment *alignment, const struct ptx_instruction *insn) {
    const struct ptx_operand *operand = insn->operand;
    if (isa_is_float(insn))
        return 0;
    switch (insn->opcode) {
    case PTX_OP_MOV:
    case PTX_OP_CVTA:
        return insn->n_operands > 1 ? log_of(alignment, &operand[1]) : 0;
    case PTX_OP_CVT: {
        bool is_integer = ptx_type_kind(isa_source_type(insn)) != PTX_KIND_F;
        return is_integer ? log_of(alignment, &operand[1]) : 0;
    }
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_SELP:
        return least(log_of(alignment, &operand[1]), log_of(alignment, &operand[2]));
    case PTX_OP_AND: {
        uint8_t a = log_of(alignment, &operand[1]), b = log_of(alignment, &operand[2]);
        return a > b ? a : b;
    }
    case PTX_OP_MUL:
        return ptx_has(insn, PTX_MOD_HI) ? 0 : log_of_product(alignment, insn);
    case PTX_OP_MAD:
        return ptx_has(insn, PTX_MOD_HI) ? 0 : least(log_of_product(alignment, insn), log_of(alignment, &operand[3]));
    case PTX_OP_SHL: {
        uint64_t by = operand[2].kind == PTX_OPERAND_INTEGER ? operand[2].value : 0;
        uint64_t sum = log_of(alignment, &operand[1]) + (by < MOST_LOG ? by : MOST_LOG);
        return (uint8_t)(sum < MOST_LOG ? sum : MOST_LOG);
    }
    default:
        return 0;
    }
}

static void lower_written(void *user, uint32_t r, bool is_write) {
    struct alignment *alignment = user;
    if (is_write && alignment->log[r]) {
        alignment->log[r] = 0;
        alignment->has_changed = true;
    }
}

/* Starts from the best and lowers it until all definitions agree. */
static void find_alignment(struct alignment *alignment) {
    const struct ptx_function *function = alignment->function;
    memset(alignment->log, MOST_LOG, function->n_registers);
    for (uint32_t p = 0; p < function->n_parameters; p++)
        if (function->parameter[p].register_id < function->n_registers)
            alignment->log[function->parameter[p].register_id] = 0;
    do {
        alignment->has_changed = false;
        for (uint32_t i = 0; i < function->n_instructions; i++) {
            const struct ptx_instruction *insn = &function->instruction[i];
            uint32_t r = isa_result(insn);
            uint8_t log = r == ISA_NONE ? 0 : log_of_result(alignment, insn);
            if (!log) {
                ptx_for_each_register(insn, lower_written, alignment);
            } else if (log < alignment->log[r]) {
                alignment->log[r] = log;
                alignment->has_changed = true;
            }
        }
    } while (alignment->has_changed);
}

/* A kernel's own variables lie one after the other, in the order of their declarations. Writes down the alignment that
 * they have because of their places, so that every later step keeps it. */
static void place_variables(const struct ptx_function *function) {
    uint64_t bytes = 0;
    for (uint32_t v = 0; v < function->n_variables && function->is_entry; v++) {
        struct ptx_variable *variable = function->variable[v];
        if (variable->space != PTX_SPACE_SHARED || variable->is_unsized)
            continue;
        bytes = (bytes + variable->alignment - 1) & ~(uint64_t)(variable->alignment - 1);
        uint32_t known = 1u << log_of_value(bytes);
        bytes += variable->size;
        if (known > variable->alignment && variable->size >= known)
            variable->alignment = known;
    }
}

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

struct joining {
    struct ptx_function *function;
    struct base_arena *arena;
    struct alignment alignment;
    bool *is_gone; /* per instruction */
};

static const struct ptx_operand *address_of(const struct ptx_instruction *insn) {
    return &insn->operand[insn->opcode == PTX_OP_LD];
}

static const struct ptx_operand *value_of(const struct ptx_instruction *insn) {
    return &insn->operand[insn->opcode == PTX_OP_ST];
}

static bool is_word(const struct ptx_instruction *insn) {
    bool is_access = insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST;
    return is_access && insn->space == PTX_SPACE_SHARED && insn->n_types == 1 && insn->n_operands == 2 &&
           insn->vector <= 1 && ptx_type_bits(isa_type(insn)) >= 32 && insn->guard == PTX_NO_INDEX &&
           !ptx_has(insn, PTX_MOD_VOLATILE) && !ptx_has(insn, PTX_MOD_RELAXED) && !ptx_has(insn, PTX_MOD_ACQUIRE) &&
           !ptx_has(insn, PTX_MOD_RELEASE) && address_of(insn)->kind == PTX_OPERAND_ADDRESS &&
           value_of(insn)->kind == PTX_OPERAND_REGISTER && value_of(insn)->register_id != address_of(insn)->register_id;
}

static bool is_beside(const struct ptx_instruction *a, const struct ptx_instruction *b, uint64_t bytes) {
    if (!is_word(b))
        return false;
    const struct ptx_operand *x = address_of(a), *y = address_of(b);
    return a->opcode == b->opcode && isa_type(a) == isa_type(b) && x->register_id == y->register_id &&
           x->variable == y->variable && (uint64_t)x->offset / bytes == (uint64_t)y->offset / bytes && x->offset >= 0 &&
           y->offset >= 0 && memcmp(a->modifiers, b->modifiers, sizeof a->modifiers) == 0;
}

/* Returns whether nothing may move a load up, or a store down, across the instruction. */
static bool is_in_the_way(const struct ptx_instruction *insn, bool is_store) {
    switch (ptx_opcode_family(insn->opcode)) {
    case PTX_FAMILY_INTEGER:
    case PTX_FAMILY_FLOAT:
    case PTX_FAMILY_BITS:
    case PTX_FAMILY_COMPARE:
    case PTX_FAMILY_CONVERT:
    case PTX_FAMILY_MOVE:
    case PTX_FAMILY_VIDEO:
        return false;
    default:
        break;
    }
    bool is_elsewhere = insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_LOCAL ||
                        insn->space == PTX_SPACE_CONST || insn->space == PTX_SPACE_PARAM;
    if (insn->opcode == PTX_OP_LD)
        return (is_store && !is_elsewhere) || ptx_has(insn, PTX_MOD_VOLATILE) || ptx_has(insn, PTX_MOD_ACQUIRE);
    if (insn->opcode == PTX_OP_ST)
        return !is_elsewhere || ptx_has(insn, PTX_MOD_VOLATILE) || ptx_has(insn, PTX_MOD_RELEASE);
    return insn->opcode != PTX_OP_CVTA;
}

/* The registers of one access, and whether the instructions between it and the joined one touch them. */
struct touch {
    uint32_t base, value[MOST_WORDS];
    unsigned n_values;
    bool is_store, is_touched;
};

static void note_touch(void *user, uint32_t r, bool is_write) {
    struct touch *touch = user;
    bool is_changed = is_write && r == touch->base;
    for (unsigned k = 0; k < touch->n_values; k++)
        is_changed |= r == touch->value[k] && (is_write || !touch->is_store);
    touch->is_touched |= is_changed;
}

struct group {
    uint32_t member[MOST_WORDS]; /* by offset */
    uint32_t first, last;        /* in the text */
    unsigned n;
};

static uint32_t word_bytes(const struct ptx_instruction *insn) { return ptx_type_bits(isa_type(insn)) / 8; }

/* Finds the accesses after `at` that complete its chunk of n words. */
static bool find_group(const struct joining *joining, uint32_t at, uint32_t end, unsigned n, struct group *group) {
    const struct ptx_instruction *text = joining->function->instruction, *first = &text[at];
    bool is_store = first->opcode == PTX_OP_ST;
    uint64_t size = word_bytes(first), bytes = size * n;
    unsigned found = 1;
    struct touch touch = {.base = address_of(first)->register_id, .is_store = is_store};
    *group = (struct group){.member = {ISA_NONE, ISA_NONE, ISA_NONE, ISA_NONE}, .first = at, .last = at, .n = n};
    group->member[(uint64_t)address_of(first)->offset % bytes / size] = at;
    if ((uint64_t)address_of(first)->offset % size)
        return false;
    if (is_store)
        touch.value[touch.n_values++] = value_of(first)->register_id;
    for (uint32_t i = at + 1; i < end && i - at < MOST_DISTANCE && found < n; i++) {
        const struct ptx_instruction *insn = &text[i];
        uint32_t place = is_word(insn) ? (uint32_t)((uint64_t)address_of(insn)->offset % bytes / size) : 0;
        if (joining->is_gone[i])
            continue;
        if (!touch.is_touched && is_beside(first, insn, bytes) && group->member[place] == ISA_NONE &&
            (uint64_t)address_of(insn)->offset % size == 0) {
            /* a load's result must not have been used since the place to which it moves */
            struct touch own = {.base = ISA_NONE, .value = {value_of(insn)->register_id}, .n_values = 1};
            for (uint32_t k = at; !is_store && k < i && !own.is_touched; k++)
                if (!joining->is_gone[k])
                    ptx_for_each_register(&text[k], note_touch, &own);
            if (own.is_touched)
                return false;
            group->member[place] = i;
            group->last = i;
            found++;
            if (is_store)
                touch.value[touch.n_values++] = value_of(insn)->register_id;
        } else if (is_in_the_way(insn, is_store)) {
            return false;
        }
        ptx_for_each_register(insn, note_touch, &touch);
        if (touch.is_touched && found < n)
            return false;
    }
    return found == n;
}

static void join(struct joining *joining, const struct group *group) {
    struct ptx_instruction *text = joining->function->instruction;
    uint32_t at = text[group->first].opcode == PTX_OP_LD ? group->first : group->last;
    struct ptx_instruction *insn = &text[at];
    struct ptx_operand *operand = BASE_ARENA_ARRAY(joining->arena, struct ptx_operand, 2);
    struct ptx_operand vector = {.kind = PTX_OPERAND_VECTOR,
                                 .at = insn->operand[0].at,
                                 .register_id = PTX_NO_INDEX,
                                 .pair_id = PTX_NO_INDEX,
                                 .element = BASE_ARENA_ARRAY(joining->arena, struct ptx_operand, group->n),
                                 .n_elements = group->n};
    struct ptx_operand address = *address_of(&text[group->member[0]]);
    bool is_load = insn->opcode == PTX_OP_LD;
    for (unsigned k = 0; k < group->n; k++) {
        vector.element[k] = *value_of(&text[group->member[k]]);
        joining->is_gone[group->member[k]] = group->member[k] != at;
    }
    operand[!is_load] = vector;
    operand[is_load] = address;
    insn->operand = operand;
    insn->vector = (uint8_t)group->n;
}

/* Removes the instructions that are gone. */
static void close_up(struct joining *joining) {
    struct ptx_function *function = joining->function;
    uint32_t *moved = base_allocate(function->n_instructions + 1, sizeof *moved), n = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        moved[i] = n;
        n += !joining->is_gone[i];
    }
    moved[function->n_instructions] = n;
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        struct ptx_instruction *insn = &function->instruction[i];
        if (joining->is_gone[i])
            continue;
        if (isa_has_target(insn))
            insn->operand[0].target = moved[insn->operand[0].target];
        for (uint32_t t = 0; t < insn->n_targets; t++)
            insn->target[t] = moved[insn->target[t]];
        function->instruction[moved[i]] = *insn;
    }
    function->n_instructions = n;
    free(moved);
}

void isa_join_accesses(struct ptx_function *function, struct base_arena *arena) {
    struct ptx_analysis *analysis = ptx_analyze_flow(function);
    struct joining joining = {.function = function, .arena = arena};
    bool has_joined = false;
    joining.alignment = (struct alignment){.function = function};
    joining.alignment.log = base_allocate(function->n_registers + 1, 1);
    joining.is_gone = base_allocate(function->n_instructions + 1, sizeof(bool));
    place_variables(function);
    find_alignment(&joining.alignment);
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        uint32_t end = analysis->block[b].first + analysis->block[b].count;
        for (uint32_t i = analysis->block[b].first; i < end; i++) {
            const struct ptx_instruction *insn = &function->instruction[i];
            struct group group;
            if (joining.is_gone[i] || !is_word(insn))
                continue;
            const struct ptx_operand *address = address_of(insn);
            uint8_t log = address->register_id != PTX_NO_INDEX ? joining.alignment.log[address->register_id]
                          : address->variable                  ? log_of_value(address->variable->alignment)
                                                               : 0;
            bool is_long = word_bytes(insn) == 8;
            if ((log >= 4 && find_group(&joining, i, end, is_long ? 2 : 4, &group)) ||
                (log >= 3 && !is_long && find_group(&joining, i, end, 2, &group))) {
                join(&joining, &group);
                has_joined = true;
            }
        }
    }
    if (has_joined)
        close_up(&joining);
    free(joining.is_gone);
    free(joining.alignment.log);
    ptx_analysis_free(analysis);
}
