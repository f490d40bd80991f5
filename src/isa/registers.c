/* Estimates the registers that ptxas gives to each thread, which decide how many blocks an SM holds.
 *
 * The number is one more than the highest register that the code uses, and two that are reserved. It is found from the
 * values that are live at once, in the order of the rewritten text. These need no register: predicates; constants and
 * parameters, which are operands in constant memory, unless an instruction needs two of them or an address; and results
 * that are folded into another instruction, for which its own operands stay live instead. Functions that ptxas calls
 * for rare operands need registers of their own.
 *
 * ptxas does not use as few registers as it could. Even and odd registers are two banks, and operands of an instruction
 * should come from both; so an index beside a base address, or a stored value beside its address, is in an odd
 * register, and the even one next to it often remains unused. Registers that an access reads stay in use for some
 * instructions, since the access reads them late. Both hold only as long as the SM stays full of threads. If that needs
 * more, values that all threads have in common move to uniform registers, and parameters are loaded again for each use.
 *
 * ptxas spends registers as long as they cost no thread: it takes the number that the code cannot do without, and goes
 * up to the most registers with which an SM holds as many blocks. Each of the four schedulers of an SM has registers of
 * its own, and a warp gets them in units of eight: 512 for each lane, so the steps are 32, 40, 48, 56, 64, 72, 80, 96,
 * 128, 168 and 255. With .maxntid they are those of whole blocks: 32, 40, 48, 64, 80, 128 for 256 threads.
 * .minnctapersm says how many blocks are enough, and ptxas spends all registers that these leave (kernels with 2 to 120
 * accumulators and 32 loads before a barrier, blocks of 32 to 1024 threads).
 *
 * A kernel's .maxnreg, .maxntid and .minnctapersm limit the number; spill.c spills the rest.
 *
 * Found with ptxas 13.0 on small kernels. tests/registers compares the numbers with those of ptxas. */
#include <stdlib.h>

#include "base/memory.h"
#include "isa/internal.h"

/* The registers of an instruction: at most MOST_SEEN, of which the first n_read are read. */
enum { MOST_SEEN = 96 };

struct seen {
    uint32_t read[MOST_SEEN], written[MOST_SEEN];
    uint32_t n_read, n_written;
};

/* Where a value lies in the register file, whose even and odd registers are two banks. */
enum place { ANYWHERE, ODD, EVEN, TOGETHER, N_PLACES };

/* Machine registers in use at an instruction, by place: while it executes, when its results exist, and those among its
 * operands that no other instruction needs, but that an access reads late. */
struct moment {
    uint16_t during[N_PLACES], after[N_PLACES], late[N_PLACES];
};

struct counting {
    const struct isa_code *code;
    /* Per register: */
    uint8_t *words;        /* machine registers that it takes */
    uint8_t *place;        /* enum place */
    bool *is_seen_through; /* its value is a part of the instructions that read it */
    bool *is_loaded;       /* a parameter that some instruction needs in a register */
    /* Sets of registers, of n_words words: */
    uint64_t *live_in, *loaded; /* at the start of each block; parameters */
    size_t n_words;
    struct seen seen;
    struct moment *moment; /* per instruction */
};

static void see(void *user, uint32_t r, bool is_write);

/* Adds a register that is read, or, if it is seen through, those from which it comes. */
static void add_read(struct counting *counting, uint32_t r) {
    struct seen *seen = &counting->seen;
    if (counting->is_seen_through[r] && !counting->is_loaded[r]) {
        struct seen before = *seen;
        ptx_for_each_register(isa_source(counting->code, counting->code->definition[r]), see, counting);
        seen->n_written = before.n_written;
        return;
    }
    if (counting->words[r] && seen->n_read < MOST_SEEN)
        seen->read[seen->n_read++] = r;
}

static void see(void *user, uint32_t r, bool is_write) {
    struct counting *counting = user;
    if (!is_write)
        add_read(counting, r);
    else if (counting->words[r] && !counting->is_seen_through[r] && counting->seen.n_written < MOST_SEEN)
        counting->seen.written[counting->seen.n_written++] = r;
}

static void look_at(struct counting *counting, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(counting->code, i);
    uint32_t r = isa_result(insn);
    counting->seen.n_read = counting->seen.n_written = 0;
    if (r != ISA_NONE && counting->is_seen_through[r])
        return;
    ptx_for_each_register(insn, see, counting);
}

/* ---- Values without a register ----------------------------------------------------------------------------------- */

/* A parameter, or a constant at a fixed address: an operand in constant memory. */
static bool is_in_bank(const struct isa_code *code, const struct ptx_instruction *insn) {
    if (insn->opcode != PTX_OP_LD || insn->operand[0].kind != PTX_OPERAND_REGISTER)
        return false;
    if (insn->space == PTX_SPACE_PARAM)
        return code->function->is_entry;
    return insn->space == PTX_SPACE_CONST && isa_is_uniform_address(code, &insn->operand[1]);
}

/* Returns whether the register is the same for all threads, and points only to constants: it is a uniform one. */
static bool is_uniform_pointer(const struct isa_code *code, uint32_t r) {
    if (!code->analysis->is_uniform[r] || !isa_n_uses(code, r))
        return false;
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++) {
        const struct ptx_instruction *insn = isa_source(code, code->use[u]);
        bool is_step = isa_result(insn) == r;
        if (!is_step && !(insn->space == PTX_SPACE_CONST && isa_reads_as_address(insn, r)))
            return false;
    }
    return true;
}

static bool is_seen_through(const struct isa_code *code, uint32_t r) {
    if (code->n_definitions[r] != 1)
        return false;
    uint32_t i = code->definition[r];
    const struct ptx_instruction *insn = isa_source(code, i);
    if (isa_result(insn) != r || insn->guard != PTX_NO_INDEX)
        return false;
    if (is_in_bank(code, insn))
        return true;
    if (insn->opcode == PTX_OP_MOV && insn->n_operands > 1 && isa_is_constant(&insn->operand[1]))
        return true;
    if (isa_is_access(insn) || insn->opcode == PTX_OP_TEX || insn->opcode == PTX_OP_CALL)
        return false;
    return code->insn[i].parts == 0;
}

/* Returns whether the operand is an immediate, or in constant memory, or contains one after folding. */
static bool has_constant(const struct counting *counting, const struct ptx_operand *operand, unsigned depth) {
    enum { DEEPEST = 4 };
    const struct isa_code *code = counting->code;
    if (isa_is_constant(operand))
        return true;
    if (operand->kind != PTX_OPERAND_REGISTER || !counting->is_seen_through[operand->register_id] || depth == DEEPEST)
        return false;
    const struct ptx_instruction *insn = isa_source(code, code->definition[operand->register_id]);
    if (is_in_bank(code, insn))
        return true;
    if (insn->opcode == PTX_OP_SHL)
        return false;
    for (unsigned k = 1; k < insn->n_operands; k++)
        if (has_constant(counting, &insn->operand[k], depth + 1))
            return true;
    return false;
}

static bool reads(const struct ptx_operand *operand, uint32_t r) {
    return operand->kind == PTX_OPERAND_REGISTER && operand->register_id == r;
}

/* An instruction takes one operand from constant memory or as an immediate. A parameter that is needed as a second one,
 * as an address, or where the instruction takes none, is loaded into a register. */
static bool needs_register(const struct counting *counting, uint32_t r, unsigned depth) {
    enum { DEEPEST = 6 };
    const struct isa_code *code = counting->code;
    for (uint32_t u = code->first_use[r]; u < code->first_use[r + 1]; u++) {
        const struct ptx_instruction *insn = isa_source(code, code->use[u]);
        uint32_t result = isa_result(insn);
        if (isa_is_access(insn) || insn->opcode == PTX_OP_CALL)
            return true;
        bool is_copy = result != ISA_NONE && counting->is_seen_through[result] &&
                       (insn->opcode == PTX_OP_MOV || insn->opcode == PTX_OP_CVTA || insn->opcode == PTX_OP_CVT);
        if (is_copy) {
            if (depth < DEEPEST && needs_register(counting, result, depth + 1))
                return true;
            continue;
        }
        for (unsigned k = 1; k < insn->n_operands; k++)
            if (!reads(&insn->operand[k], r) && has_constant(counting, &insn->operand[k], 0))
                return true;
    }
    return false;
}

static bool is_uniform_arithmetic(const struct isa_code *code, uint32_t r) {
    if (code->n_definitions[r] != 1)
        return false;
    const struct ptx_instruction *insn = isa_source(code, code->definition[r]);
    if (!code->analysis->is_uniform[r] || insn->guard != PTX_NO_INDEX || isa_is_float(insn))
        return false;
    switch (ptx_opcode_family(insn->opcode)) {
    case PTX_FAMILY_INTEGER:
    case PTX_FAMILY_BITS:
    case PTX_FAMILY_MOVE:
    case PTX_FAMILY_CONVERT:
        return insn->opcode != PTX_OP_DIV && insn->opcode != PTX_OP_REM && !isa_converts(insn);
    default:
        return false;
    }
}

/* Registers are scarce: uniform values are in uniform registers, and parameters are loaded for each instruction. */
static void spare(struct counting *counting) {
    for (uint32_t r = 0; r < counting->code->function->n_registers; r++) {
        counting->is_loaded[r] = false;
        counting->is_seen_through[r] |= is_uniform_arithmetic(counting->code, r);
    }
}

static void find_words(struct counting *counting) {
    const struct isa_code *code = counting->code;
    for (uint32_t r = 0; r < code->function->n_registers; r++) {
        switch (ptx_type_width(code->function->reg[r].type)) {
        case PTX_WIDTH_PRED:
            counting->words[r] = 0;
            break;
        case PTX_WIDTH_64:
            counting->words[r] = code->is_short[r] ? 1 : 2;
            break;
        default:
            counting->words[r] = 1;
        }
        counting->is_seen_through[r] = is_seen_through(code, r);
        if (counting->words[r] && is_uniform_pointer(code, r))
            counting->words[r] = 0;
    }
    for (uint32_t i = 0; i < code->n; i++)
        isa_drop_copies(isa_source(code, i), counting->words);
    for (uint32_t r = 0; r < code->function->n_registers; r++)
        counting->is_loaded[r] = counting->is_seen_through[r] &&
                                 is_in_bank(code, isa_source(code, code->definition[r])) &&
                                 needs_register(counting, r, 0);
}

/* Returns whether the value that is seen through is a constant, or a parameter. */
static bool has_no_operand(const struct isa_code *code, uint32_t r) {
    const struct ptx_instruction *insn = isa_source(code, code->definition[r]);
    if (is_in_bank(code, insn))
        return true;
    for (unsigned k = 1; k < insn->n_operands; k++)
        if (!isa_is_constant(&insn->operand[k])) {
            if (insn->opcode != PTX_OP_CVTA || insn->operand[k].kind != PTX_OPERAND_REGISTER)
                return false;
            uint32_t from = isa_definition(code, &insn->operand[k]);
            if (from == ISA_NONE || !is_in_bank(code, isa_source(code, from)))
                return false;
        }
    return true;
}

void isa_find_words(const struct isa_code *code, uint8_t *words) {
    for (uint32_t r = 0; r < code->function->n_registers; r++) {
        enum ptx_width width = ptx_type_width(code->function->reg[r].type);
        words[r] = width == PTX_WIDTH_PRED ? 0 : width == PTX_WIDTH_64 && !code->is_short[r] ? 2 : 1;
        bool is_constant = code->n_definitions[r] == 1 && isa_result(isa_source(code, code->definition[r])) == r &&
                           is_seen_through(code, r) && has_no_operand(code, r);
        if (is_constant || is_uniform_pointer(code, r) || is_uniform_arithmetic(code, r))
            words[r] = 0;
    }
    for (uint32_t i = 0; i < code->n; i++)
        isa_drop_copies(isa_source(code, i), words);
}

/* ---- Banks ------------------------------------------------------------------------------------------------------- */

static void place(struct counting *counting, const struct ptx_operand *operand, enum place where) {
    if (operand->kind == PTX_OPERAND_REGISTER && counting->place[operand->register_id] == ANYWHERE)
        counting->place[operand->register_id] = (uint8_t)where;
    for (uint32_t e = 0; operand->kind == PTX_OPERAND_VECTOR && e < operand->n_elements; e++)
        place(counting, &operand->element[e], TOGETHER);
}

/* The address of an access and the value that it stores, and the index and the base of an address, come from different
 * banks: pairs begin in an even register, values that are read with them are in odd ones. */
static void find_places(struct counting *counting) {
    const struct isa_code *code = counting->code;
    for (uint32_t r = 0; r < code->function->n_registers; r++)
        counting->place[r] = counting->words[r] == 2 ? TOGETHER : ANYWHERE;
    for (uint32_t i = 0; i < code->n; i++) {
        const struct ptx_instruction *insn = isa_source(code, i);
        bool is_store = insn->opcode == PTX_OP_ST || insn->opcode == PTX_OP_RED || insn->opcode == PTX_OP_ATOM;
        for (unsigned k = 0; k < insn->n_operands; k++) {
            const struct ptx_operand *operand = &insn->operand[k];
            if (operand->kind == PTX_OPERAND_VECTOR)
                place(counting, operand, TOGETHER);
            else if (is_store && operand->kind == PTX_OPERAND_REGISTER && !(k == 0 && insn->opcode == PTX_OP_ATOM))
                place(counting, operand, ODD);
            else if (is_store && operand->kind == PTX_OPERAND_ADDRESS && operand->register_id != PTX_NO_INDEX &&
                     counting->place[operand->register_id] == ANYWHERE)
                counting->place[operand->register_id] = EVEN;
        }
        if (insn->opcode == PTX_OP_MUL && ptx_has(insn, PTX_MOD_WIDE) && !code->insn[i].parts)
            place(counting, &insn->operand[1], ODD);
    }
}

/* ---- Liveness ---------------------------------------------------------------------------------------------------- */

static bool has(const uint64_t *set, uint32_t r) { return set[r / 64] >> (r % 64) & 1; }
static void put(uint64_t *set, uint32_t r) { set[r / 64] |= 1ull << (r % 64); }
static void drop(uint64_t *set, uint32_t r) { set[r / 64] &= ~(1ull << (r % 64)); }

/* Returns whether every thread executes the instruction once. */
static bool is_for_all(const struct isa_code *code, uint32_t i) {
    const struct ptx_analysis *analysis = code->analysis;
    uint32_t wanted = analysis->block_of[i], b = 0;
    while (b != wanted && b != PTX_NO_BLOCK)
        b = analysis->block[b].post_dominator;
    return b == wanted && analysis->block[b].loop_header == PTX_NO_BLOCK;
}

/* Returns the registers that the instruction uses while it executes, beside its operands: sequences, and functions that
 * ptxas calls for rare operands (kernels of one such instruction). */
static uint32_t words_inside(const struct isa_code *code, uint32_t i) {
    const struct ptx_instruction *insn = isa_source(code, i);
    enum ptx_type type = isa_type(insn);
    bool is_rounded = !ptx_has(insn, PTX_MOD_APPROX) && !ptx_has(insn, PTX_MOD_FULL);
    bool is_signed = ptx_type_kind(type) == PTX_KIND_S, is_long = ptx_type_bits(type) == 64;
    switch (insn->opcode) {
    case PTX_OP_DIV:
    case PTX_OP_REM:
        if (type == PTX_F64)
            return 16;
        if (isa_is_float(insn))
            return is_rounded ? 9 : 0;
        if (is_long)
            return is_signed ? 15 : 11;
        return isa_is_constant(&insn->operand[2]) ? 3 : is_signed ? 6 : 4;
    case PTX_OP_RCP:
        return type == PTX_F64 ? 6 : is_rounded ? 9 : 0;
    case PTX_OP_SQRT:
        return type == PTX_F64 ? 12 : is_rounded ? 6 : 0;
    case PTX_OP_MUL:
    case PTX_OP_MAD:
        if (isa_is_float(insn) || ptx_has(insn, PTX_MOD_WIDE) || !isa_is_wide(code, insn))
            return 0;
        return ptx_has(insn, PTX_MOD_HI) ? 6 : 2;
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        return type == PTX_F64 ? 4 : 0;
    case PTX_OP_SHFL: /* its operand stays in use for some time, and code for threads that are apart has its own */
        return is_for_all(code, i) ? 2 : 4;
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        return !isa_is_joined(code, insn) ? 0 : insn->opcode == PTX_OP_ATOM ? 4 : 2;
    default:
        return 0;
    }
}

static void count_live(const struct counting *counting, const uint64_t *live, uint16_t words[N_PLACES]) {
    memset(words, 0, N_PLACES * sizeof *words);
    for (size_t w = 0; w < counting->n_words; w++)
        for (uint64_t left = live[w]; left; left &= left - 1) {
            uint32_t r = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left);
            words[counting->place[r]] = (uint16_t)(words[counting->place[r]] + counting->words[r]);
        }
}

/* Writes the instruction's moment, with the registers that are live after it and their words, and updates both to those
 * before it. A guarded write to a register that nothing else writes begins its life. */
static void pass_instruction(struct counting *counting, uint32_t i, uint64_t *live, uint16_t words[N_PLACES]) {
    const struct ptx_instruction *insn = isa_source(counting->code, i);
    const struct seen *seen = &counting->seen;
    struct moment *moment = &counting->moment[i];
    uint32_t results = 0;
    look_at(counting, i);
    memcpy(moment->after, words, sizeof moment->after);
    memset(moment->late, 0, sizeof moment->late);
    for (uint32_t k = 0; k < seen->n_written; k++) {
        uint32_t r = seen->written[k], place = counting->place[r], size = counting->words[r];
        results += size;
        if (!has(live, r))
            moment->after[place] = (uint16_t)(moment->after[place] + size);
        else if (insn->guard == PTX_NO_INDEX || counting->code->n_definitions[r] == 1) {
            drop(live, r);
            words[place] = (uint16_t)(words[place] - size);
        }
    }
    for (uint32_t k = 0; k < seen->n_read; k++) {
        uint32_t r = seen->read[k], place = counting->place[r], size = counting->words[r];
        if (has(live, r))
            continue;
        put(live, r);
        words[place] = (uint16_t)(words[place] + size);
        if (!isa_is_access(insn))
            continue;
        uint32_t reused = results < size ? results : size; /* a load may write into its address */
        results -= reused;
        place = reused && place == TOGETHER ? ODD : place;
        moment->late[place] = (uint16_t)(moment->late[place] + size - reused);
    }
    memcpy(moment->during, words, sizeof moment->during);
}

/* Goes through the block from its end with the registers that are live there. */
static void pass_block(struct counting *counting, const struct ptx_block *block, uint64_t *live) {
    uint16_t words[N_PLACES];
    count_live(counting, live, words);
    for (uint32_t i = block->first + block->count; i-- > block->first;)
        pass_instruction(counting, i, live, words);
}

/* Parameters are loaded where they are needed: in the block, or before its loop. */
static void find_live_out(const struct counting *counting, uint32_t b, uint64_t *live) {
    const struct ptx_analysis *analysis = counting->code->analysis;
    const struct ptx_block *block = &analysis->block[b];
    memset(live, 0, counting->n_words * sizeof *live);
    for (uint32_t s = 0; s < block->n_successors; s++) {
        const struct ptx_block *to = &analysis->block[block->successor[s]];
        bool stays = block->loop_header != PTX_NO_BLOCK && block->loop_header == to->loop_header;
        for (size_t w = 0; w < counting->n_words; w++)
            live[w] |=
                counting->live_in[block->successor[s] * counting->n_words + w] & (stays ? ~0ull : ~counting->loaded[w]);
    }
}

static void find_live(struct counting *counting) {
    const struct ptx_analysis *analysis = counting->code->analysis;
    uint64_t *live = base_allocate(counting->n_words, sizeof *live);
    memset(counting->live_in, 0, analysis->n_blocks * counting->n_words * sizeof *live);
    memset(counting->loaded, 0, counting->n_words * sizeof *live);
    for (uint32_t r = 0; r < counting->code->function->n_registers; r++)
        if (counting->is_loaded[r])
            put(counting->loaded, r);
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (uint32_t b = analysis->n_blocks - 1; b-- > 0;) {
            uint64_t *before = &counting->live_in[b * counting->n_words];
            find_live_out(counting, b, live);
            pass_block(counting, &analysis->block[b], live);
            has_changed |= memcmp(before, live, counting->n_words * sizeof *live) != 0;
            memcpy(before, live, counting->n_words * sizeof *live);
        }
    }
    free(live);
}

/* ---- The number -------------------------------------------------------------------------------------------------- */

/* The registers that values take: `loose` if each is in its bank and no access reads late, `tight` if not. */
struct need {
    uint32_t loose, tight;
};

static void raise(struct need *most, const uint16_t words[N_PLACES], const uint16_t late[N_PLACES], uint32_t inside) {
    enum { STACK_POINTER = 1 }; /* an odd register */
    uint32_t tight = STACK_POINTER + inside, all = STACK_POINTER + inside;
    for (unsigned p = 0; p < N_PLACES; p++) {
        tight += words[p];
        all += p == TOGETHER ? 0u : (uint32_t)words[p] + late[p];
    }
    uint32_t odd = STACK_POINTER + (uint32_t)words[ODD] + late[ODD], even = (uint32_t)words[EVEN] + late[EVEN];
    uint32_t pairs = odd > even ? odd : even;
    pairs = pairs > (all + 1) / 2 ? pairs : (all + 1) / 2;
    uint32_t loose = (uint32_t)words[TOGETHER] + late[TOGETHER] + 2 * pairs;
    most->loose = loose > most->loose ? loose : most->loose;
    most->tight = tight > most->tight ? tight : most->tight;
}

static struct need find_need(const struct counting *counting) {
    enum {
        LATE = 16
    }; /* instructions; the count of half the kernels of tests/registers is near ptxas's from 8 to 24 */
    const struct ptx_analysis *analysis = counting->code->analysis;
    struct need most = {0};
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        const struct ptx_block *block = &analysis->block[b];
        uint16_t late[N_PLACES] = {0};
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            const struct moment *moment = &counting->moment[i];
            raise(&most, moment->during, late, words_inside(counting->code, i));
            for (unsigned p = 0; p < N_PLACES && i >= block->first + LATE; p++)
                late[p] = (uint16_t)(late[p] - counting->moment[i - LATE].late[p]);
            raise(&most, moment->after, late, 0);
            for (unsigned p = 0; p < N_PLACES; p++)
                late[p] = (uint16_t)(late[p] + moment->late[p]);
        }
    }
    return most;
}

/* Of sm_90, as ptxas 13.0 counts them. */
enum { FILES = 4, FILE_REGISTERS = 512, UNIT = 8, MOST_WARPS = 64, MOST_BLOCKS = 32, MOST = 255 };

/* The warps of a block; without .maxntid one for each scheduler. */
static uint32_t block_warps(const struct ptx_function *function) {
    uint32_t threads = 1;
    bool is_known = function->required_threads[0] || function->max_threads[0];
    for (unsigned d = 0; d < 3; d++) {
        uint32_t most = function->required_threads[d] ? function->required_threads[d] : function->max_threads[d];
        threads *= most ? most : 1;
    }
    return is_known ? (threads + 31) / 32 : FILES;
}

static uint32_t blocks_of_sm(uint32_t warps, uint32_t registers) {
    uint32_t units = (registers + UNIT - 1) / UNIT * UNIT;
    uint32_t all = FILES * (FILE_REGISTERS / (units ? units : UNIT));
    uint32_t blocks = (all < MOST_WARPS ? all : MOST_WARPS) / warps;
    return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

uint32_t isa_allowed_registers(const struct ptx_function *function) {
    enum { LEAST = 24 };
    uint32_t warps = block_warps(function), allowed = MOST;
    uint32_t wanted = function->min_blocks_per_sm ? function->min_blocks_per_sm : 1;
    bool has_threads = function->required_threads[0] || function->max_threads[0];
    if (has_threads)
        allowed = FILES * FILE_REGISTERS / (wanted * warps) / UNIT * UNIT;
    if (function->max_registers && function->max_registers < allowed)
        allowed = function->max_registers;
    allowed = allowed < LEAST ? LEAST : allowed;
    return allowed < MOST ? allowed : MOST;
}

/* Returns the most registers that a thread may have if it cannot do without `least`, and no block leaves the SM. */
static uint32_t enough_registers(const struct ptx_function *function, uint32_t least) {
    uint32_t warps = block_warps(function), allowed = isa_allowed_registers(function);
    bool has_threads = function->required_threads[0] || function->max_threads[0];
    if (least >= allowed || (function->min_blocks_per_sm && has_threads))
        return allowed;
    uint32_t n = (least + UNIT - 1) / UNIT * UNIT, blocks = blocks_of_sm(warps, n);
    while (n < allowed && blocks_of_sm(warps, n + UNIT) == blocks)
        n += UNIT;
    return n < allowed ? n : allowed;
}

static struct counting start(const struct isa_code *code) {
    uint32_t n = code->function->n_registers;
    struct counting counting = {.code = code, .n_words = n / 64 + 1};
    counting.words = base_allocate(n + 1, 1);
    counting.place = base_allocate(n + 1, 1);
    counting.is_seen_through = base_allocate(n + 1, sizeof(bool));
    counting.is_loaded = base_allocate(n + 1, sizeof(bool));
    counting.live_in = base_allocate(code->analysis->n_blocks * counting.n_words, sizeof *counting.live_in);
    counting.loaded = base_allocate(counting.n_words, sizeof *counting.loaded);
    counting.moment = base_allocate(code->n + 1, sizeof *counting.moment);
    find_words(&counting);
    find_places(&counting);
    return counting;
}

static void finish(struct counting *counting) {
    free(counting->words);
    free(counting->place);
    free(counting->is_seen_through);
    free(counting->is_loaded);
    free(counting->live_in);
    free(counting->loaded);
    free(counting->moment);
}

/* Finds the registers of a thread: all of what `loose` says, if they cost no thread. */
struct count {
    uint32_t registers; /* that it gets */
    uint32_t least;     /* that it cannot do without */
    uint32_t enough;    /* that cost no more threads than these */
};

static struct count count(struct counting *counting, uint32_t of_full_sm) {
    enum { LEAST = 8 };
    find_live(counting);
    struct need need = find_need(counting);
    uint32_t least = need.tight;
    if (least > of_full_sm) {
        spare(counting);
        find_live(counting);
        least = find_need(counting).tight;
    }
    uint32_t enough = ISA_RESERVED_REGISTERS + (least > of_full_sm ? least : of_full_sm);
    enough = enough_registers(counting->code->function, enough);
    uint32_t n = need.loose + ISA_RESERVED_REGISTERS;
    n = n < enough ? n : enough;
    return (struct count){n < LEAST ? LEAST : n, least + ISA_RESERVED_REGISTERS, enough};
}

static struct count count_function(const struct isa_target *target, const struct ptx_function *function) {
    struct ptx_analysis *analysis = ptx_analyze_flow(function);
    struct isa_code code = isa_code_new(target, analysis);
    isa_fold(&code);
    struct counting counting = start(&code);
    struct count found = count(&counting, (uint32_t)target->compiler->schedule.registers);
    finish(&counting);
    isa_code_free(&code);
    ptx_analysis_free(analysis);
    return found;
}

bool isa_count_registers(const struct isa_target *target, struct ptx_function *function) {
    struct count found = count_function(target, function);
    uint32_t allowed = isa_allowed_registers(function);
    function->machine_registers = found.registers > allowed ? allowed : found.registers;
    return found.least > allowed;
}

struct isa_need isa_find_need(const struct isa_target *target, const struct ptx_function *function) {
    struct count found = count_function(target, function);
    return (struct isa_need){found.least, found.enough};
}

uint32_t *isa_find_pressure(const struct isa_code *code) {
    struct counting counting = start(code);
    uint32_t *pressure = base_allocate(code->n + 1, sizeof *pressure);
    spare(&counting);
    find_live(&counting);
    for (uint32_t i = 0; i < code->n; i++) {
        struct need need = {0};
        const uint16_t none[N_PLACES] = {0};
        raise(&need, counting.moment[i].during, none, words_inside(code, i));
        raise(&need, counting.moment[i].after, none, 0);
        pressure[i] = need.tight;
    }
    finish(&counting);
    return pressure;
}

struct isa_peak isa_find_peak(const struct isa_code *code) {
    struct counting counting = start(code);
    struct isa_peak peak = {.words = base_allocate(code->function->n_registers + 1, 1)};
    uint32_t allowed = isa_allowed_registers(code->function), most = 0, at = ISA_NONE;
    spare(&counting);
    find_live(&counting);
    for (uint32_t i = 0; i < code->n; i++) {
        struct need need = {0};
        const uint16_t none[N_PLACES] = {0};
        raise(&need, counting.moment[i].during, none, words_inside(code, i));
        raise(&need, counting.moment[i].after, none, 0);
        if (need.tight > most) {
            most = need.tight;
            at = i;
        }
    }
    peak.excess = most + ISA_RESERVED_REGISTERS > allowed ? most + ISA_RESERVED_REGISTERS - allowed : 0;
    if (peak.excess) {
        uint64_t *live = base_allocate(counting.n_words, sizeof *live);
        uint16_t words[N_PLACES];
        const struct ptx_block *block = &code->analysis->block[code->analysis->block_of[at]];
        find_live_out(&counting, code->analysis->block_of[at], live);
        count_live(&counting, live, words);
        for (uint32_t i = block->first + block->count; i-- > at + 1;)
            pass_instruction(&counting, i, live, words);
        look_at(&counting, at);
        for (uint32_t k = 0; k < counting.seen.n_read; k++)
            drop(live, counting.seen.read[k]);
        for (uint32_t k = 0; k < counting.seen.n_written; k++)
            drop(live, counting.seen.written[k]);
        for (uint32_t r = 0; r < code->function->n_registers; r++)
            peak.words[r] = has(live, r) && !counting.is_loaded[r] ? counting.words[r] : 0;
        free(live);
    }
    finish(&counting);
    return peak;
}
