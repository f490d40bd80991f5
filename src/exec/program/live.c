/* Liveness of the registers of a decoded program, by their places. See live.h. */
#include "exec/program/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "exec/matrix/matrix.h"
#include "exec/program/link.h"

/* The numbered registers, sorted by width, and for each pc the set of those it needs. */
struct pass {
    const struct exec_program *program;
    struct exec_operand *slot;
    uint32_t n_slots, n_words;
    uint32_t *number; /* by offset / 4: the register's number plus 1; 0: no register */
    uint64_t *needed; /* a bit set of n_words for each pc */
};

static bool is_call(const struct exec_insn *insn) {
    return insn->kind == EXEC_KIND_CALL || insn->kind == EXEC_KIND_CALL_INDIRECT ||
           insn->kind == EXEC_KIND_CALL_BUILTIN;
}

/* Returns the registers of a matrix instruction that its operands do not hold. */
static const struct exec_operand *fragments_of(const struct exec_program *program, const struct exec_insn *insn,
                                               uint32_t *n) {
    bool is_matrix = ptx_opcode_family((enum ptx_opcode)insn->opcode) == PTX_FAMILY_MATRIX;
    const struct exec_matrix *matrix = is_matrix ? program->matrix[insn->matrix] : NULL;
    *n = matrix ? matrix->n_registers : 0;
    return matrix ? matrix->reg : NULL;
}

/* Returns the operands that do not fit into the instruction; n is 0 if there are none. */
static struct exec_extra extra_of(const struct exec_program *program, const struct exec_insn *insn) {
    bool has_extra = insn->kind == EXEC_KIND_CONTEXT && insn->extra;
    return has_extra ? program->extra[insn->extra - 1] : (struct exec_extra){.n = 0};
}

/* --- registers --- */

/* Returns whether the operand is a register that is read somewhere. */
static bool is_register(struct exec_operand operand) {
    return operand.base == EXEC_BASE_REGISTERS && operand.offset != EXEC_TRASH_OFFSET;
}

static void add_register(struct pass *pass, struct exec_operand operand) {
    if (!is_register(operand) || pass->number[operand.offset / 4])
        return;
    pass->slot[pass->n_slots++] = operand;
    pass->number[operand.offset / 4] = pass->n_slots;
}

static void add_passed(struct pass *pass, const struct exec_passed *passed, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (!passed[i].from_frame)
            add_register(pass, passed[i].from);
        if (!passed[i].to_frame)
            add_register(pass, passed[i].to);
    }
}

static int by_width(const void *a, const void *b) {
    const struct exec_operand *x = a, *y = b;
    if (x->width != y->width)
        return x->width < y->width ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void number_registers(struct pass *pass) {
    const struct exec_program *program = pass->program;
    for (uint32_t pc = 0; pc < program->n_insns; pc++) {
        add_register(pass, program->code[pc].guard);
        for (unsigned i = 0; i < EXEC_MAX_OPERANDS; i++)
            add_register(pass, program->code[pc].operand[i]);
        uint32_t n;
        const struct exec_operand *fragment = fragments_of(program, &program->code[pc], &n);
        for (uint32_t i = 0; i < n; i++)
            add_register(pass, fragment[i]);
        struct exec_extra extra = extra_of(program, &program->code[pc]);
        for (uint32_t i = 0; i < extra.n; i++)
            add_register(pass, extra.operand[i]);
    }
    for (uint32_t i = 0; i < program->n_call_sites; i++) {
        const struct exec_call_site *site = &program->call_site[i];
        add_register(pass, site->target);
        add_passed(pass, site->argument, site->n_arguments);
        add_passed(pass, site->result, site->n_results);
    }
    qsort(pass->slot, pass->n_slots, sizeof *pass->slot, by_width);
    for (uint32_t i = 0; i < pass->n_slots; i++)
        pass->number[pass->slot[i].offset / 4] = i + 1;
}

/* --- needed registers --- */

static uint64_t *needed_at(const struct pass *pass, uint32_t pc) { return pass->needed + (size_t)pc * pass->n_words; }

static void set(const struct pass *pass, uint64_t *bits, struct exec_operand operand, bool is_needed) {
    if (!is_register(operand))
        return;
    uint32_t number = pass->number[operand.offset / 4] - 1;
    uint64_t bit = 1ull << number % 64;
    bits[number / 64] = is_needed ? bits[number / 64] | bit : bits[number / 64] & ~bit;
}

static void add_from(const struct pass *pass, uint64_t *bits, uint32_t pc) {
    for (uint32_t i = 0; pc < pass->program->n_insns && i < pass->n_words; i++)
        bits[i] |= needed_at(pass, pc)[i];
}

/* Adds the registers needed after the instruction, at any of its successors. */
static void add_from_next(const struct pass *pass, uint64_t *bits, uint32_t pc) {
    const struct exec_insn *insn = &pass->program->code[pc];
    bool leaves = insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_EXIT || insn->kind == EXEC_KIND_RETURN;
    if (!leaves || insn->guard.offset)
        add_from(pass, bits, pc + 1);
    if (insn->kind == EXEC_KIND_BRANCH)
        add_from(pass, bits, insn->target);
    const uint32_t *table =
        insn->kind == EXEC_KIND_BRANCH_INDEXED ? pass->program->branch_table[insn->branch_table] : NULL;
    for (uint32_t i = 1; table && i <= table[0]; i++)
        add_from(pass, bits, table[i]);
}

static void find_needed(const struct pass *pass, uint32_t pc, uint64_t *bits) {
    const struct exec_insn *insn = &pass->program->code[pc];
    bool computes = insn->kind == EXEC_KIND_LANES || insn->kind == EXEC_KIND_CONTEXT;
    memset(bits, 0, pass->n_words * sizeof *bits);
    add_from_next(pass, bits, pc);
    for (unsigned i = 0; computes && !insn->guard.offset && i < insn->n_dst; i++)
        set(pass, bits, insn->operand[i], false);
    for (unsigned i = 0; computes && i < insn->n_src; i++)
        set(pass, bits, insn->operand[insn->n_dst + i], true);
    struct exec_extra extra = extra_of(pass->program, insn);
    for (uint32_t i = 0; i < extra.n; i++)
        set(pass, bits, extra.operand[i], true);
    /* Other kinds may read all their operands. A missing operand looks like the carry, which none of them reads. */
    for (unsigned i = 0; !computes && i < EXEC_MAX_OPERANDS; i++)
        if (insn->operand[i].offset != EXEC_CARRY_OFFSET)
            set(pass, bits, insn->operand[i], true);
    uint32_t n;
    const struct exec_operand *fragment = fragments_of(pass->program, insn, &n);
    for (uint32_t i = 0; i < n; i++)
        set(pass, bits, fragment[i], true);
    if (insn->guard.offset)
        set(pass, bits, insn->guard, true);
}

static void solve(const struct pass *pass) {
    uint64_t *bits = base_allocate(pass->n_words, sizeof *bits);
    bool has_changed = true;
    while (has_changed) {
        has_changed = false;
        for (uint32_t pc = pass->program->n_insns; pc-- > 0;) {
            find_needed(pass, pc, bits);
            has_changed |= memcmp(bits, needed_at(pass, pc), pass->n_words * sizeof *bits) != 0;
            memcpy(needed_at(pass, pc), bits, pass->n_words * sizeof *bits);
        }
    }
    free(bits);
}

/* --- registers that must be zero at the start --- */

/* Adds the registers of instructions that read those of other lanes, which may have come another way. */
static void add_row_registers(const struct pass *pass, uint64_t *bits) {
    for (uint32_t pc = 0; pc < pass->program->n_insns; pc++) {
        const struct exec_insn *insn = &pass->program->code[pc];
        if (!exec_acts_on_row(insn->kind))
            continue;
        for (unsigned i = 0; i < EXEC_MAX_OPERANDS; i++)
            set(pass, bits, insn->operand[i], true);
        uint32_t n;
        const struct exec_operand *fragment = fragments_of(pass->program, insn, &n);
        for (uint32_t i = 0; i < n; i++)
            set(pass, bits, fragment[i], true);
    }
}

/* With calls all registers count as needed, those of matrices and the carry included. */
static void find_cleared(const struct pass *pass, struct exec_live *live, bool has_calls) {
    static const uint32_t row_bytes[PTX_N_WIDTHS] = {4, 2 * EXEC_LANES, 4 * EXEC_LANES, 8 * EXEC_LANES};
    const struct exec_program *program = pass->program;
    live->cleared = base_arena_alloc_array(program->arena, pass->n_slots + 1, sizeof *live->cleared, 4);
    live->n_cleared = 0;
    if (has_calls) {
        live->cleared[live->n_cleared++] = (struct exec_bytes){0, program->register_bytes};
        return;
    }
    uint64_t *bits = base_allocate(pass->n_words, sizeof *bits);
    add_from(pass, bits, 0);
    add_row_registers(pass, bits);
    for (uint32_t i = 0; i < pass->n_slots; i++) {
        struct exec_bytes one = {pass->slot[i].offset, row_bytes[pass->slot[i].width]};
        struct exec_bytes *last = live->n_cleared ? &live->cleared[live->n_cleared - 1] : NULL;
        if (!(bits[i / 64] >> i % 64 & 1))
            continue;
        if (last && last->offset + last->n == one.offset)
            last->n += one.n;
        else
            live->cleared[live->n_cleared++] = one;
    }
    free(bits);
}

/* --- registers that stay at home --- */

/* Marks the instructions between a backward branch and its target. */
static bool *find_loops(const struct exec_program *program) {
    bool *is_in_loop = base_allocate(program->n_insns + 1, sizeof *is_in_loop);
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        if (program->code[pc].kind == EXEC_KIND_BRANCH && program->code[pc].target <= pc)
            memset(&is_in_loop[program->code[pc].target], true, pc + 1 - program->code[pc].target);
    return is_in_loop;
}

/* Finds the registers that are live in loops but used in none, and removes them from the needed ones. */
static void find_home_registers(const struct pass *pass, uint8_t *is_at_home) {
    const struct exec_program *program = pass->program;
    bool *is_in_loop = find_loops(program);
    uint64_t *lives = base_allocate(pass->n_words, sizeof *lives),
             *touched = base_allocate(pass->n_words, sizeof *touched);
    for (uint32_t pc = 0; pc < program->n_insns; pc++) {
        for (unsigned i = 0; is_in_loop[pc] && i < EXEC_MAX_OPERANDS; i++)
            set(pass, touched, program->code[pc].operand[i], true);
        uint32_t n;
        const struct exec_operand *fragment = fragments_of(program, &program->code[pc], &n);
        for (uint32_t i = 0; is_in_loop[pc] && i < n; i++)
            set(pass, touched, fragment[i], true);
        struct exec_extra extra = extra_of(program, &program->code[pc]);
        for (uint32_t i = 0; is_in_loop[pc] && i < extra.n; i++)
            set(pass, touched, extra.operand[i], true);
        for (uint32_t i = 0; is_in_loop[pc] && i < pass->n_words; i++)
            lives[i] |= needed_at(pass, pc)[i];
    }
    for (uint32_t i = 0; i < pass->n_slots; i++)
        if (pass->slot[i].width != PTX_WIDTH_PRED && (lives[i / 64] & ~touched[i / 64]) >> i % 64 & 1) {
            is_at_home[pass->slot[i].offset / 4] = true;
            for (uint32_t pc = 0; pc < program->n_insns; pc++)
                needed_at(pass, pc)[i / 64] &= ~(1ull << i % 64);
        }
    free(is_in_loop);
    free(lives);
    free(touched);
}

static void flag_instructions(const struct exec_program *program, const uint8_t *is_at_home) {
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        for (unsigned i = 0; i < EXEC_MAX_OPERANDS; i++) {
            struct exec_operand operand = program->code[pc].operand[i];
            if (is_register(operand) && is_at_home[operand.offset / 4])
                program->code[pc].flags |= EXEC_FLAG_AT_HOME;
        }
}

/* --- lists --- */

static bool is_like_next(const struct pass *pass, uint32_t pc) {
    return pc + 1 < pass->program->n_insns &&
           !memcmp(needed_at(pass, pc), needed_at(pass, pc + 1), pass->n_words * sizeof *pass->needed);
}

static uint32_t count_entries(const struct pass *pass) {
    uint32_t n = 0;
    for (uint32_t pc = 0; pc < pass->program->n_insns; pc++)
        for (uint32_t i = 0; !is_like_next(pass, pc) && i < pass->n_words; i++)
            n += (uint32_t)__builtin_popcountll(needed_at(pass, pc)[i]);
    return n;
}

static void make_lists(const struct pass *pass, struct exec_live *live) {
    struct base_arena *arena = pass->program->arena;
    uint32_t n = 0;
    live->at = base_arena_alloc_array(arena, pass->program->n_insns + 1, sizeof *live->at, 8);
    live->offset = base_arena_alloc_array(arena, count_entries(pass) + 1, sizeof *live->offset, 8);
    for (uint32_t pc = pass->program->n_insns; pc-- > 0;) {
        struct exec_live_at *at = &live->at[pc];
        if (is_like_next(pass, pc)) {
            *at = live->at[pc + 1];
            continue;
        }
        *at = (struct exec_live_at){.first = n};
        for (uint32_t i = 0; i < pass->n_slots; i++)
            if (needed_at(pass, pc)[i / 64] >> i % 64 & 1) {
                live->offset[n++] = pass->slot[i].offset;
                for (unsigned width = pass->slot[i].width; width < PTX_N_WIDTHS; width++)
                    at->end[width]++;
            }
    }
}

struct exec_live *exec_live_new(const struct exec_program *program) {
    struct pass pass = {.program = program};
    pass.slot = base_allocate(program->register_bytes / 4 + 1, sizeof *pass.slot);
    pass.number = base_allocate(program->register_bytes / 4 + 1, sizeof *pass.number);
    number_registers(&pass);
    pass.n_words = pass.n_slots / 64 + 1;
    pass.needed = base_allocate((size_t)program->n_insns * pass.n_words + 1, sizeof *pass.needed);
    bool has_calls = program->n_functions > 1;
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        has_calls |= is_call(&program->code[pc]);
    uint8_t *is_at_home = base_arena_alloc_array(program->arena, program->register_bytes / 4 + 1, 1, 8);
    memset(is_at_home, 0, program->register_bytes / 4 + 1);
    struct exec_live *live = BASE_ARENA_NEW(program->arena, struct exec_live);
    if (!has_calls)
        solve(&pass);
    find_cleared(&pass, live, has_calls);
    if (has_calls) {
        memset(pass.needed, 0xff, (size_t)program->n_insns * pass.n_words * sizeof *pass.needed);
    } else {
        find_home_registers(&pass, is_at_home);
        flag_instructions(program, is_at_home);
    }
    make_lists(&pass, live);
    live->is_at_home = is_at_home;
    free(pass.slot);
    free(pass.number);
    free(pass.needed);
    return live;
}
