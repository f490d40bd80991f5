/* The order of instructions. A compiler moves loads up, so that the loads of a basic block wait together, and places
 * other instructions between a result and its first use. This pass reorders each block by list scheduling. Loads, the
 * instructions that compute their addresses, and the branch condition come first, as far as registers and memory allow;
 * then the earliest ready instruction. What needs the result of a load lets the other loads go first. Every thread
 * computes the same as before: an instruction stays after those whose results it reads, whose operands or results it
 * overwrites, and whose accesses it must not overtake.
 *
 * Registers are limited. An SM of sm_90 can be full of threads if each thread uses at most 32 registers. ptxas keeps a
 * function to that number wherever it can: of 159 kernels, 27 have exactly 32, and eleven have more. A function that
 * needs more anyway goes up to the next number that costs threads (registers.c), and .minnctapersm leaves it all that
 * so many blocks can have. Loads wait until registers are free.
 *
 * No instruction moves to another block here; hoist.c moves loads ahead of branches before. */
#include <stdlib.h>

#include "base/memory.h"
#include "isa/internal.h"
#include "ptx/matrix.h"

/* An instruction of the block waits for n_before others; `after` lists those that wait for it. */
struct edge {
    uint32_t to, next;
    bool is_data; /* it waits for the result, not only for its turn */
};

struct ordering {
    const struct ptx_function *function;
    uint32_t first, count;
    uint32_t *n_before, *after; /* per instruction of the block; after: the first edge */
    struct edge *edge;
    uint32_t n_edges, edge_room;
    uint32_t *writer, *reader_edge; /* per register: the last writer in the block; the readers since, as a list */
    struct edge *reader;
    uint32_t n_readers, reader_room;
    uint32_t *touched, n_touched; /* registers to forget after the block */
    bool *is_early;
    uint32_t *ready; /* the estimated time at which the operands are there */
    uint32_t at;     /* the instruction whose registers are visited */
    const struct ptx_analysis *analysis;
    uint8_t *words;           /* per register: machine registers that it takes */
    uint32_t *n_uses;         /* per register: reads that are still to come in the block */
    bool *is_live, *lives_on; /* per register: now; after the block */
    bool *is_loaded;          /* per register: a load of the block writes it */
    int32_t pressure, limit;  /* machine registers: live now; at most */
    int32_t loaded;           /* those of them that hold results of the block's loads */
    int32_t room;             /* registers that loads leave free for the block's other results */
    int32_t change;           /* of the pressure by the instruction that is visited */
    int32_t predicates;       /* live now */
    int32_t new_predicates;   /* of the instruction that is visited */
};

static void add_data_edge(struct ordering *ordering, uint32_t from, uint32_t to, bool is_data) {
    if (from == ISA_NONE || from == to)
        return;
    if (ordering->n_edges == ordering->edge_room) {
        ordering->edge_room = ordering->edge_room ? 2 * ordering->edge_room : 256;
        ordering->edge = base_grow(ordering->edge, ordering->edge_room, sizeof *ordering->edge);
    }
    ordering->edge[ordering->n_edges] = (struct edge){to, ordering->after[from], is_data};
    ordering->after[from] = ordering->n_edges++;
    ordering->n_before[to]++;
}

static void add_edge(struct ordering *ordering, uint32_t from, uint32_t to) {
    add_data_edge(ordering, from, to, false);
}

static void add_reader(struct ordering *ordering, uint32_t r, uint32_t i) {
    if (ordering->n_readers == ordering->reader_room) {
        ordering->reader_room = ordering->reader_room ? 2 * ordering->reader_room : 256;
        ordering->reader = base_grow(ordering->reader, ordering->reader_room, sizeof *ordering->reader);
    }
    ordering->reader[ordering->n_readers] = (struct edge){i, ordering->reader_edge[r], false};
    ordering->reader_edge[r] = ordering->n_readers++;
}

static void visit(void *user, uint32_t r, bool is_write) {
    struct ordering *ordering = user;
    uint32_t i = ordering->at;
    if (ordering->writer[r] == ISA_NONE && ordering->reader_edge[r] == ISA_NONE)
        ordering->touched[ordering->n_touched++] = r;
    add_data_edge(ordering, ordering->writer[r], i, !is_write);
    if (!is_write) {
        add_reader(ordering, r, i);
        return;
    }
    for (uint32_t e = ordering->reader_edge[r]; e != ISA_NONE; e = ordering->reader[e].next)
        add_edge(ordering, ordering->reader[e].to, i);
    ordering->reader_edge[r] = ISA_NONE;
    ordering->writer[r] = i;
}

/* All threads of a block of code execute such an instruction together, wherever it is in the block; ptxas moves loads
 * and arithmetic across it. */
static bool is_exchange(const struct ptx_instruction *insn) {
    bool is_one = insn->opcode == PTX_OP_SHFL || insn->opcode == PTX_OP_VOTE || insn->opcode == PTX_OP_REDUX ||
                  insn->opcode == PTX_OP_MATCH;
    return is_one && ptx_has(insn, PTX_MOD_SYNC) && insn->guard == PTX_NO_INDEX;
}

/* Atomics that shared memory lacks are loops of compare-and-swap. */
static bool is_retried(const struct ptx_instruction *insn) {
    bool is_atomic = insn->opcode == PTX_OP_ATOM || insn->opcode == PTX_OP_RED;
    return is_atomic && insn->space == PTX_SPACE_SHARED && !ptx_has(insn, PTX_MOD_CAS) &&
           !ptx_has(insn, PTX_MOD_EXCH) && (isa_is_float(insn) || ptx_type_bits(isa_type(insn)) == 64);
}

bool isa_is_fixed(const struct ptx_instruction *insn) {
    switch (ptx_opcode_family(insn->opcode)) {
    case PTX_FAMILY_CONTROL:
    case PTX_FAMILY_EXTENSION:
    case PTX_FAMILY_NONE:
        return true;
    default:
        break;
    }
    bool has_carry = ptx_has(insn, PTX_MOD_CC) || insn->opcode == PTX_OP_ADDC || insn->opcode == PTX_OP_SUBC ||
                     insn->opcode == PTX_OP_MADC;
    bool reads_special = insn->opcode == PTX_OP_MOV && insn->n_operands > 1 &&
                         insn->operand[1].kind == PTX_OPERAND_SPECIAL && insn->operand[1].special >= PTX_SPECIAL_CLOCK;
    return has_carry || reads_special || insn->opcode == PTX_OP_FENCE || insn->opcode == PTX_OP_MEMBAR ||
           insn->opcode == PTX_OP_WGMMA || ptx_has(insn, PTX_MOD_VOLATILE) || isa_has_rare_path(insn) ||
           is_retried(insn) || (ptx_opcode_family(insn->opcode) == PTX_FAMILY_WARP && !is_exchange(insn));
}

static bool is_matrix(const struct ptx_instruction *insn, enum ptx_matrix_action action) {
    return insn->matrix && insn->matrix->action == action;
}

static bool is_load(const struct ptx_instruction *insn) {
    return is_matrix(insn, PTX_MATRIX_LOAD) || insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_LDU ||
           insn->opcode == PTX_OP_TEX;
}

bool isa_is_ordered(const struct ptx_instruction *insn) {
    enum ptx_family family = ptx_opcode_family(insn->opcode);
    return !is_load(insn) && insn->opcode != PTX_OP_CVTA && insn->opcode != PTX_OP_ISSPACEP &&
           (family == PTX_FAMILY_MEMORY || family == PTX_FAMILY_ATOMIC || family == PTX_FAMILY_TEXTURE ||
            is_matrix(insn, PTX_MATRIX_STORE) || insn->opcode == PTX_OP_CP || insn->opcode == PTX_OP_MBARRIER ||
            insn->opcode == PTX_OP_TENSORMAP);
}

/* The operand with the address of an access; NULL: it has none. */
static const struct ptx_operand *address_of(const struct ptx_instruction *insn) {
    for (unsigned k = 0; k < insn->n_operands; k++)
        if (insn->operand[k].kind == PTX_OPERAND_ADDRESS)
            return &insn->operand[k];
    return NULL;
}

static uint64_t access_bytes(const struct ptx_instruction *insn) {
    return insn->n_types ? (uint64_t)insn->vector * ptx_type_bits(insn->type[0]) / 8 : UINT32_MAX;
}

/* Returns whether two plain accesses with the same base register, unchanged between them, access different bytes. */
static bool are_apart(const struct ordering *ordering, uint32_t a, uint32_t b) {
    const struct ptx_instruction *first = &ordering->function->instruction[ordering->first + a];
    const struct ptx_instruction *second = &ordering->function->instruction[ordering->first + b];
    const struct ptx_operand *x = address_of(first), *y = address_of(second);
    bool is_plain = (first->opcode == PTX_OP_LD || first->opcode == PTX_OP_ST) &&
                    (second->opcode == PTX_OP_LD || second->opcode == PTX_OP_ST);
    if (!is_plain || !x || !y || x->register_id != y->register_id || x->variable != y->variable)
        return false;
    if (x->register_id != PTX_NO_INDEX && ordering->writer[x->register_id] != ISA_NONE &&
        ordering->writer[x->register_id] >= a)
        return false;
    return x->offset + (int64_t)access_bytes(first) <= y->offset ||
           y->offset + (int64_t)access_bytes(second) <= x->offset;
}

/* Returns whether all that the access touches is in its one memory. */
static bool names_memory(const struct ptx_instruction *insn) {
    return insn->opcode == PTX_OP_LD || insn->opcode == PTX_OP_ST || is_matrix(insn, PTX_MATRIX_LOAD) ||
           is_matrix(insn, PTX_MATRIX_STORE);
}

bool isa_may_meet(const struct ptx_instruction *first, const struct ptx_instruction *second) {
    const struct ptx_instruction *load = is_load(first) ? first : second;
    if (names_memory(first) && names_memory(second) && first->space != second->space &&
        first->space != PTX_SPACE_GENERIC && second->space != PTX_SPACE_GENERIC)
        return false;
    return load->opcode != PTX_OP_LD ||
           (load->space != PTX_SPACE_CONST && load->space != PTX_SPACE_PARAM && !ptx_has(load, PTX_MOD_NC));
}

/* Returns whether one of two accesses must stay before the other. */
static bool may_meet(const struct ordering *ordering, uint32_t a, uint32_t b) {
    const struct ptx_instruction *first = &ordering->function->instruction[ordering->first + a];
    const struct ptx_instruction *second = &ordering->function->instruction[ordering->first + b];
    return isa_may_meet(first, second) && !are_apart(ordering, a, b);
}

static void find_edges(struct ordering *ordering) {
    uint32_t fixed = ISA_NONE, last_ordered = ISA_NONE;
    for (uint32_t i = 0; i < ordering->count; i++) {
        const struct ptx_instruction *insn = &ordering->function->instruction[ordering->first + i];
        ordering->at = i;
        ptx_for_each_register(insn, visit, ordering);
        add_edge(ordering, fixed, i);
        if (isa_is_fixed(insn)) {
            for (uint32_t k = fixed == ISA_NONE ? 0 : fixed + 1; k < i; k++)
                add_edge(ordering, k, i);
            fixed = i;
            last_ordered = ISA_NONE;
        } else if (isa_is_ordered(insn)) {
            for (uint32_t k = fixed == ISA_NONE ? 0 : fixed + 1; k < i; k++)
                if (is_load(&ordering->function->instruction[ordering->first + k]) && may_meet(ordering, k, i))
                    add_edge(ordering, k, i);
            add_edge(ordering, last_ordered, i);
            last_ordered = i;
        } else if (is_load(insn)) {
            for (uint32_t k = fixed == ISA_NONE ? 0 : fixed + 1; last_ordered != ISA_NONE && k <= last_ordered; k++)
                if (isa_is_ordered(&ordering->function->instruction[ordering->first + k]) && may_meet(ordering, k, i))
                    add_edge(ordering, k, i);
        }
    }
}

/* Returns the comparison that decides the branch at the block's end, or ISA_NONE. */
static uint32_t find_condition(const struct ordering *ordering) {
    const struct ptx_instruction *block = &ordering->function->instruction[ordering->first];
    const struct ptx_instruction *last = &block[ordering->count - 1];
    for (uint32_t i = ordering->count - 1; last->opcode == PTX_OP_BRA && last->guard != PTX_NO_INDEX && i-- > 0;)
        if (block[i].opcode == PTX_OP_SETP && block[i].operand[0].kind == PTX_OPERAND_REGISTER &&
            block[i].operand[0].register_id == last->guard)
            return i;
    return ISA_NONE;
}

bool isa_is_slow_load(const struct ptx_instruction *insn) {
    return is_load(insn) && insn->space != PTX_SPACE_PARAM && insn->space != PTX_SPACE_CONST;
}

/* Returns whether an instruction needs data that a load of the block reads. */
static bool needs_load(struct ordering *ordering, uint32_t wanted) {
    bool *needs = ordering->is_early; /* free until find_early() fills it */
    for (uint32_t i = 0; i <= wanted; i++)
        needs[i] = false;
    for (uint32_t i = 0; i < wanted; i++) {
        bool is_needed = needs[i] || isa_is_slow_load(&ordering->function->instruction[ordering->first + i]);
        for (uint32_t e = ordering->after[i]; e != ISA_NONE && is_needed; e = ordering->edge[e].next)
            if (ordering->edge[e].to <= wanted)
                needs[ordering->edge[e].to] = true;
    }
    return needs[wanted];
}

/* Marks loads from memory, the condition of the branch, and the instructions that they wait for. One that nothing
 * moves across does not count as waiting: everything in the block waits for it. A condition that needs loaded data is
 * not marked: the instructions before it would keep later loads back. */
static void find_early(struct ordering *ordering) {
    uint32_t condition = find_condition(ordering);
    if (condition != ISA_NONE && needs_load(ordering, condition))
        condition = ISA_NONE;
    for (uint32_t i = ordering->count; i-- > 0;) {
        const struct ptx_instruction *insn = &ordering->function->instruction[ordering->first + i];
        bool is_early = isa_is_slow_load(insn) || i == condition;
        for (uint32_t e = ordering->after[i]; e != ISA_NONE && !is_early; e = ordering->edge[e].next)
            is_early = ordering->is_early[ordering->edge[e].to] &&
                       !isa_is_fixed(&ordering->function->instruction[ordering->first + ordering->edge[e].to]);
        ordering->is_early[i] = is_early;
    }
}

/* Estimates the cycles until a result can be used. Only the order of magnitude matters. */
enum { ARITHMETIC = 4, DOUBLE = 8, GUARD = 13, SPECIAL = 18, SHARED = 24, MEMORY = 200 };

static uint32_t latency_of(const struct ptx_instruction *insn) {
    switch (insn->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ATOM:
    case PTX_OP_TEX:
    case PTX_OP_WMMA:
    case PTX_OP_LDMATRIX:
        if (is_matrix(insn, PTX_MATRIX_MULTIPLY))
            return SPECIAL;
        return insn->space == PTX_SPACE_PARAM    ? ARITHMETIC
               : insn->space == PTX_SPACE_SHARED ? SHARED
               : insn->space == PTX_SPACE_CONST  ? SHARED
                                                 : MEMORY;
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
    case PTX_OP_RSQRT:
    case PTX_OP_EX2:
    case PTX_OP_LG2:
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_DIV:
    case PTX_OP_REM:
    case PTX_OP_SHFL:
        return SPECIAL;
    case PTX_OP_SETP: /* most are guards */
        return GUARD;
    default:
        return insn->n_types && insn->type[0] == PTX_F64 && insn->opcode != PTX_OP_MOV ? DOUBLE : ARITHMETIC;
    }
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

static void find_words(struct ordering *ordering, const struct isa_target *target) {
    struct isa_code code = isa_code_new(target, ordering->analysis);
    isa_fold(&code);
    isa_find_words(&code, ordering->words);
    isa_code_free(&code);
}

/* Visits the registers of the block's instructions in the order of the text. */
static void visit_block(struct ordering *ordering, const struct ptx_block *block,
                        void (*visit_register)(void *user, uint32_t r, bool is_write)) {
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        ptx_for_each_register(&ordering->function->instruction[i], visit_register, ordering);
}

static void count_use(void *user, uint32_t r, bool is_write) {
    struct ordering *ordering = user;
    ordering->n_uses[r] += !is_write;
}

/* Returns whether the register holds a value at the start of a block. A register that is only written under a guard
 * seems to be live from the function's start on, but its value matters only near the guard. */
static bool is_needed_at(const struct ptx_analysis *analysis, uint32_t b, uint32_t r) {
    return ptx_is_live_in(analysis, b, r) && !ptx_is_live_in(analysis, 0, r);
}

static bool lives_on(const struct ordering *ordering, const struct ptx_block *block, uint32_t r) {
    for (uint32_t s = 0; s < block->n_successors; s++)
        if (is_needed_at(ordering->analysis, block->successor[s], r))
            return true;
    return false;
}

enum { PREDICATES = 7 }; /* of a thread */

static int32_t is_predicate(const struct ordering *ordering, uint32_t r) {
    return ptx_type_width(ordering->function->reg[r].type) == PTX_WIDTH_PRED;
}

/* Finds the registers that are live at the block's start and its end. */
static void begin_pressure(struct ordering *ordering, uint32_t b) {
    const struct ptx_analysis *analysis = ordering->analysis;
    const struct ptx_block *block = &analysis->block[b];
    ordering->pressure = ordering->loaded = ordering->predicates = 0;
    for (uint32_t c = 0; c < analysis->n_crossing; c++) {
        uint32_t r = analysis->crossing[c];
        ordering->is_live[r] = is_needed_at(analysis, b, r);
        ordering->lives_on[r] = lives_on(ordering, block, r);
        ordering->pressure += ordering->is_live[r] * ordering->words[r];
        ordering->predicates += ordering->is_live[r] * is_predicate(ordering, r);
    }
    visit_block(ordering, block, count_use);
}

/* Registers that cross blocks and do not occur in this one are set again at the start of the next. */
static void forget_uses(void *user, uint32_t r, bool is_write) {
    struct ordering *ordering = user;
    (void)is_write;
    ordering->n_uses[r] = 0;
    ordering->is_live[r] = ordering->lives_on[r] = ordering->is_loaded[r] = false;
}

/* Reads come before writes. */
static void pass_register(void *user, uint32_t r, bool is_write) {
    struct ordering *ordering = user;
    if (!is_write && --ordering->n_uses[r] == 0 && ordering->is_live[r] && !ordering->lives_on[r]) {
        ordering->is_live[r] = false;
        ordering->pressure -= ordering->words[r];
        ordering->predicates -= is_predicate(ordering, r);
        ordering->loaded -= ordering->is_loaded[r] * ordering->words[r];
    } else if (is_write && !ordering->is_live[r] && (ordering->n_uses[r] || ordering->lives_on[r])) {
        ordering->is_live[r] = true;
        ordering->pressure += ordering->words[r];
        ordering->predicates += is_predicate(ordering, r);
        ordering->loaded += ordering->is_loaded[r] * ordering->words[r];
    }
}

static void estimate_register(void *user, uint32_t r, bool is_write) {
    struct ordering *ordering = user;
    if (!is_write && --ordering->n_uses[r] == 0 && ordering->is_live[r] && !ordering->lives_on[r]) {
        ordering->change -= ordering->words[r];
        ordering->new_predicates -= is_predicate(ordering, r);
    } else if (is_write && !ordering->is_live[r] && (ordering->n_uses[r] || ordering->lives_on[r])) {
        ordering->change += ordering->words[r];
        ordering->new_predicates += is_predicate(ordering, r);
    }
}

/* Returns by how many machine registers the instruction changes the pressure: too many if no predicate is free. */
static int32_t change_by(struct ordering *ordering, uint32_t i) {
    enum { TOO_MANY = 1024 };
    const struct ptx_instruction *insn = &ordering->function->instruction[ordering->first + i];
    ordering->change = ordering->new_predicates = 0;
    ptx_for_each_register(insn, estimate_register, ordering);
    ptx_for_each_register(insn, count_use, ordering);
    bool is_free = ordering->new_predicates <= 0 || ordering->predicates + ordering->new_predicates <= PREDICATES;
    return is_free ? ordering->change : TOO_MANY;
}

static void note_loaded(void *user, uint32_t r, bool is_write) {
    struct ordering *ordering = user;
    ordering->is_loaded[r] |= is_write;
}

/* Finds the registers that the block needs in the order of the text, apart from results of loads. */
static void find_room(struct ordering *ordering, uint32_t b) {
    const struct ptx_block *block = &ordering->analysis->block[b];
    for (uint32_t i = block->first; i < block->first + block->count; i++)
        if (isa_is_slow_load(&ordering->function->instruction[i]))
            ptx_for_each_register(&ordering->function->instruction[i], note_loaded, ordering);
    begin_pressure(ordering, b);
    int32_t start = ordering->pressure, most = start;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        ptx_for_each_register(&ordering->function->instruction[i], pass_register, ordering);
        most = ordering->pressure - ordering->loaded > most ? ordering->pressure - ordering->loaded : most;
    }
    ordering->room = most - start;
    visit_block(ordering, block, forget_uses);
}

/* Sets the limit: at least `least`, and the most registers that the text needs in its own order; and those to spare. */
static void find_limit(struct ordering *ordering, int32_t least, int32_t spare) {
    const struct ptx_analysis *analysis = ordering->analysis;
    ordering->limit = least;
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        const struct ptx_block *block = &analysis->block[b];
        begin_pressure(ordering, b);
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            ptx_for_each_register(&ordering->function->instruction[i], pass_register, ordering);
            ordering->limit = ordering->pressure > ordering->limit ? ordering->pressure : ordering->limit;
        }
        visit_block(ordering, block, forget_uses);
    }
    ordering->limit += spare;
}

/* ---- The order --------------------------------------------------------------------------------------------------- */

/* With all registers in use: of the instructions that need no more of them, the first whose operands are ready, or will
 * be ready first; otherwise the first instruction. */
static uint32_t choose_sparingly(struct ordering *ordering, const bool *is_taken, uint32_t next_any, uint32_t now) {
    enum { WINDOW = 48 };
    uint32_t first = ISA_NONE, chosen = ISA_NONE, n_seen = 0;
    for (uint32_t i = next_any; i < ordering->count && (n_seen < WINDOW || first == ISA_NONE); i++) {
        if (is_taken[i])
            continue;
        n_seen++;
        if (ordering->n_before[i])
            continue;
        if (first == ISA_NONE)
            first = i;
        if (change_by(ordering, i) > 0)
            continue;
        if (ordering->ready[i] <= now)
            return i;
        if (chosen == ISA_NONE || ordering->ready[i] < ordering->ready[chosen])
            chosen = i;
    }
    return chosen != ISA_NONE ? chosen : first;
}

/* Returns whether the instruction waits for a load. What waits for arithmetic is there soon. */
static bool waits_for_load(const struct ordering *ordering, uint32_t i, uint32_t now) {
    return ordering->ready[i] >= now + SHARED;
}

/* Returns the first early instruction whose operands are there, otherwise the one whose operands will be there first.
 * Stops at the first for which there are no registers: a later one would take those that it needs. */
static uint32_t choose_early(struct ordering *ordering, const bool *is_taken, uint32_t next_early, uint32_t now) {
    enum { WINDOW = 48 };
    uint32_t chosen = ISA_NONE, n_seen = 0;
    for (uint32_t i = next_early; i < ordering->count && n_seen < WINDOW; i++) {
        if (is_taken[i] || !ordering->is_early[i])
            continue;
        n_seen++;
        if (ordering->n_before[i])
            continue;
        if (ordering->pressure + change_by(ordering, i) + ordering->room > ordering->limit)
            break;
        if (ordering->ready[i] <= now + DOUBLE)
            return i;
        if (chosen == ISA_NONE || ordering->ready[i] < ordering->ready[chosen])
            chosen = i;
    }
    return chosen;
}

/* Takes an early instruction, if there are registers for it and it waits for no load. Otherwise takes, among the next
 * ones, the first whose operands are ready, or will be ready first. Loads stay in their order then: a later one would
 * take the registers that earlier ones need to reach their uses. */
static uint32_t choose(struct ordering *ordering, const bool *is_taken, uint32_t *next_early, uint32_t *next_any,
                       uint32_t now) {
    enum { WINDOW = 48 };
    while (*next_early < ordering->count && (is_taken[*next_early] || !ordering->is_early[*next_early]))
        ++*next_early;
    uint32_t early = choose_early(ordering, is_taken, *next_early, now);
    if (early != ISA_NONE && !waits_for_load(ordering, early, now))
        return early;
    while (is_taken[*next_any])
        ++*next_any;
    if (early == ISA_NONE && (ordering->pressure >= ordering->limit || ordering->predicates >= PREDICATES))
        return choose_sparingly(ordering, is_taken, *next_any, now);
    uint32_t chosen = early, n_seen = 0;
    bool is_load_left = false;
    for (uint32_t i = *next_any; i < ordering->count && (n_seen < WINDOW || chosen == ISA_NONE); i++) {
        if (is_taken[i])
            continue;
        n_seen++;
        bool overtakes = false;
        if (isa_is_slow_load(&ordering->function->instruction[ordering->first + i])) {
            overtakes = is_load_left;
            is_load_left = true;
        }
        if (ordering->n_before[i] || overtakes)
            continue;
        if (ordering->ready[i] <= now)
            return i;
        if (chosen == ISA_NONE || (early == ISA_NONE && ordering->ready[i] < ordering->ready[chosen]))
            chosen = i;
    }
    return chosen;
}

static void put_in_order(struct ordering *ordering, struct ptx_instruction *sorted) {
    struct ptx_instruction *block = ordering->function->instruction + ordering->first;
    bool *is_taken = base_allocate(ordering->count, sizeof(bool));
    uint32_t next_early = 0, next_any = 0, now = 0;
    for (uint32_t n = 0; n < ordering->count; n++) {
        uint32_t chosen = choose(ordering, is_taken, &next_early, &next_any, now);
        now = ordering->ready[chosen] > now ? ordering->ready[chosen] : now;
        is_taken[chosen] = true;
        sorted[n] = block[chosen];
        ptx_for_each_register(&block[chosen], pass_register, ordering);
        uint32_t result = now + latency_of(&block[chosen]);
        for (uint32_t e = ordering->after[chosen]; e != ISA_NONE; e = ordering->edge[e].next) {
            uint32_t to = ordering->edge[e].to, from = ordering->edge[e].is_data ? result : now + 1;
            ordering->n_before[to]--;
            ordering->ready[to] = from > ordering->ready[to] ? from : ordering->ready[to];
        }
        now++;
    }
    for (uint32_t n = 0; n < ordering->count; n++)
        block[n] = sorted[n];
    free(is_taken);
}

static void order_block(struct ordering *ordering, uint32_t b, struct ptx_instruction *sorted) {
    const struct ptx_block *block = &ordering->analysis->block[b];
    ordering->first = block->first;
    ordering->count = block->count;
    ordering->n_edges = ordering->n_readers = ordering->n_touched = 0;
    for (uint32_t i = 0; i < block->count; i++) {
        ordering->n_before[i] = ordering->ready[i] = 0;
        ordering->after[i] = ISA_NONE;
    }
    find_edges(ordering);
    find_early(ordering);
    find_room(ordering, b);
    begin_pressure(ordering, b);
    put_in_order(ordering, sorted);
    visit_block(ordering, block, forget_uses);
    for (uint32_t k = 0; k < ordering->n_touched; k++)
        ordering->writer[ordering->touched[k]] = ordering->reader_edge[ordering->touched[k]] = ISA_NONE;
}

static void order_function(const struct isa_target *target, struct ptx_function *function, int32_t spare) {
    uint32_t n = function->n_instructions, n_registers = function->n_registers;
    struct ptx_analysis *analysis = ptx_analyze_flow(function);
    struct ptx_instruction *sorted = base_allocate(n, sizeof *sorted);
    struct ordering ordering = {.function = function};
    ordering.n_before = base_allocate(n, sizeof(uint32_t));
    ordering.after = base_allocate(n, sizeof(uint32_t));
    ordering.writer = base_allocate(n_registers + 1, sizeof(uint32_t));
    ordering.reader_edge = base_allocate(n_registers + 1, sizeof(uint32_t));
    ordering.touched = base_allocate(n_registers + 1, sizeof(uint32_t));
    ordering.is_early = base_allocate(n, sizeof(bool));
    ordering.ready = base_allocate(n, sizeof(uint32_t));
    ordering.analysis = analysis;
    ordering.words = base_allocate(n_registers + 1, sizeof(uint8_t));
    ordering.n_uses = base_allocate(n_registers + 1, sizeof(uint32_t));
    ordering.is_live = base_allocate(n_registers + 1, sizeof(bool));
    ordering.is_loaded = base_allocate(n_registers + 1, sizeof(bool));
    ordering.lives_on = base_allocate(n_registers + 1, sizeof(bool));
    for (uint32_t r = 0; r < n_registers; r++)
        ordering.writer[r] = ordering.reader_edge[r] = ISA_NONE;
    find_words(&ordering, target);
    int32_t allowed = (int32_t)isa_allowed_registers(function) - ISA_RESERVED_REGISTERS;
    int32_t of_full_sm = target->compiler->schedule.registers;
    find_limit(&ordering, allowed < of_full_sm ? allowed : of_full_sm, spare);
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++)
        if (analysis->block[b].count > 2)
            order_block(&ordering, b, sorted);
    free(ordering.n_before);
    free(ordering.after);
    free(ordering.edge);
    free(ordering.writer);
    free(ordering.reader_edge);
    free(ordering.reader);
    free(ordering.touched);
    free(ordering.is_early);
    free(ordering.ready);
    free(ordering.words);
    free(ordering.n_uses);
    free(ordering.is_live);
    free(ordering.is_loaded);
    free(ordering.lives_on);
    free(sorted);
    ptx_analysis_free(analysis);
}

/* The registers that loads take are an estimate until everything is in its order. If it then needs so many that an SM
 * holds fewer threads, the function is ordered again with a lower limit. */
void isa_schedule(const struct isa_target *target, struct ptx_function *function) {
    enum { TRIES = 3 };
    size_t size = function->n_instructions * sizeof *function->instruction;
    if (function->n_instructions < 2)
        return;
    uint32_t of_full_sm = (uint32_t)target->compiler->schedule.registers + ISA_RESERVED_REGISTERS;
    struct isa_need need = isa_find_need(target, function);
    int32_t spare = (int32_t)(need.enough - (need.least > of_full_sm ? need.least : of_full_sm));
    struct ptx_instruction *text = base_allocate(function->n_instructions, sizeof *text);
    memcpy(text, function->instruction, size);
    for (unsigned k = 0; k < TRIES; k++) {
        memcpy(function->instruction, text, size);
        order_function(target, function, spare);
        uint32_t least = isa_find_need(target, function).least;
        if (least <= need.enough)
            break;
        spare -= (int32_t)(least - need.enough);
    }
    free(text);
}
