/* Compares the analysis with slow references on random functions: nested loops and conditions, and jumps to anywhere.
 * Four lanes with a reconvergence stack also execute each function, once on virtual registers and once on slots. */
#include "base/arena.h"
#include "ptx/analysis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/analysis/dead_ends_reference.h"
#include "ptx/analysis/reference.h"

enum { N_FUNCTIONS = 4000, N_LANES = 4 };

static bool leads_to(const struct ptx_block *block, uint32_t to) {
    for (uint32_t s = 0; s < block->n_successors; s++)
        if (block->successor[s] == to)
            return true;
    return false;
}

static void check_blocks(const struct ptx_analysis *analysis, const struct reference *ref) {
    uint32_t n = ref->n, last = analysis->n_blocks - 1;
    assert_int_equal(analysis->block[last].first, n);
    assert_int_equal(analysis->block[last].count, 0);
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_block *block = &analysis->block[analysis->block_of[i]];
        bool is_last = i + 1 == block->first + block->count;
        assert_true(block->first <= i && i < block->first + block->count);
        uint32_t n_edges = 0, seen[MAX_TARGETS + 2];
        for (uint32_t k = 0; k < ref->n_next[i]; k++) {
            uint32_t to = ref->next[i][k], to_block = to == n ? last : analysis->block_of[to];
            if (is_last) {
                assert_int_equal(analysis->block[to_block].first, to);
                assert_true(leads_to(block, to_block));
            } else {
                assert_int_equal(to, i + 1);
            }
            bool is_new = true;
            for (uint32_t e = 0; e < n_edges; e++)
                is_new &= seen[e] != to_block;
            seen[n_edges] = to_block;
            n_edges += is_new;
        }
        if (is_last)
            assert_int_equal(block->n_successors, n_edges);
    }
}

/* Blocks reachable without entering `without`. */
struct block_walk {
    const struct ptx_analysis *analysis;
    const bool *is_allowed; /* NULL: all blocks */
    const bool *aborts;     /* per block: its edge to the exit is closed; NULL: all open */
    uint32_t without;
    bool seen[MAX_INSTRUCTIONS + 1];
};

static void walk_blocks(struct block_walk *walk, uint32_t at) {
    if (at == walk->without || walk->seen[at] || (walk->is_allowed && !walk->is_allowed[at]))
        return;
    walk->seen[at] = true;
    const struct ptx_block *block = &walk->analysis->block[at];
    for (uint32_t s = 0; s < block->n_successors; s++)
        if (!(walk->aborts && walk->aborts[at] && block->successor[s] == walk->analysis->n_blocks - 1))
            walk_blocks(walk, block->successor[s]);
}

static bool reaches(struct block_walk walk, uint32_t from, uint32_t to) {
    memset(walk.seen, 0, sizeof walk.seen);
    walk_blocks(&walk, from);
    return walk.seen[to];
}

/* Returns the nearest of the blocks that `is_above` marks for b: all the others are above it. */
static uint32_t nearest_above(bool is_above[][MAX_INSTRUCTIONS + 1], uint32_t n_blocks, uint32_t b) {
    for (uint32_t a = 0; a < n_blocks; a++) {
        bool is_nearest = is_above[b][a];
        for (uint32_t c = 0; c < n_blocks && is_nearest; c++)
            is_nearest = !is_above[b][c] || c == a || is_above[a][c];
        if (is_nearest)
            return a;
    }
    return PTX_NO_BLOCK;
}

static bool above[MAX_INSTRUCTIONS + 1][MAX_INSTRUCTIONS + 1];

static void check_dominators(const struct ptx_analysis *analysis) {
    uint32_t n = analysis->n_blocks;
    struct block_walk walk = {.analysis = analysis, .without = PTX_NO_BLOCK};
    walk_blocks(&walk, 0);
    memset(above, 0, sizeof above);
    for (uint32_t a = 0; a < n; a++) {
        struct block_walk without = {.analysis = analysis, .without = a};
        walk_blocks(&without, 0);
        for (uint32_t b = 0; b < n; b++)
            above[b][a] = a != b && walk.seen[a] && walk.seen[b] && !without.seen[b];
    }
    for (uint32_t b = 0; b < n; b++) {
        assert_int_equal(analysis->block[b].is_reachable, walk.seen[b]);
        assert_int_equal(analysis->block[b].dominator, nearest_above(above, n, b));
    }
}

static void check_post_dominators(const struct ptx_analysis *analysis, const struct reference *ref) {
    uint32_t n = analysis->n_blocks;
    bool returns[MAX_INSTRUCTIONS + 1], aborts[MAX_INSTRUCTIONS + 1] = {0};
    for (uint32_t b = 0; b + 1 < n; b++)
        aborts[b] = ref->aborts[analysis->block[b].first + analysis->block[b].count - 1];
    for (uint32_t b = 0; b < n; b++)
        returns[b] = reaches((struct block_walk){analysis, NULL, aborts, PTX_NO_BLOCK, {0}}, b, n - 1);
    struct edges_reference edges;
    edges_refer(&edges, analysis, aborts, returns);
    memset(above, 0, sizeof above);
    for (uint32_t b = 0; b + 1 < n; b++)
        for (uint32_t a = 0; a < n && edges.leads_out[b]; a++)
            above[b][a] = a != b && edges.leads_out[a] && (a == n - 1 || !edges_from(&edges, b, a).seen[n - 1]);
    for (uint32_t b = 0; b < n; b++) {
        if (edges.leads_out[b])
            assert_int_equal(analysis->block[b].post_dominator, nearest_above(above, n, b));
        uint32_t at = b, n_steps = 0;
        while (at != n - 1 && n_steps++ < n)
            at = analysis->block[at].post_dominator;
        assert_int_equal(at, n - 1);
    }
}

static void check_liveness(const struct ptx_analysis *analysis, const struct reference *ref) {
    for (uint32_t b = 0; b < analysis->n_blocks; b++)
        for (uint32_t r = 0; r < MAX_REGISTERS; r++)
            assert_int_equal(ptx_is_live_in(analysis, b, r), ref->live[analysis->block[b].first][r]);
}

static bool use_one_slot(const struct ptx_analysis *analysis, uint32_t a, uint32_t b) {
    const struct ptx_register *reg = analysis->function->reg;
    return a != b && ptx_type_width(reg[a].type) == ptx_type_width(reg[b].type) &&
           analysis->slot[a] == analysis->slot[b];
}

static bool is_multi_step(const struct ptx_instruction *instruction) {
    return instruction->opcode == PTX_OP_LD || instruction->opcode == PTX_OP_SHFL ||
           (instruction->opcode == PTX_OP_SETP && instruction->operand[0].pair_id != PTX_NO_INDEX);
}

static void check_slots(const struct ptx_analysis *analysis, const struct reference *ref) {
    for (uint32_t i = 0; i < ref->n; i++)
        for (uint32_t d = 0; d < MAX_REGISTERS; d++) {
            if (!ref->writes[i][d])
                continue;
            assert_true(analysis->slot[d] < analysis->n_slots[ptx_type_width(analysis->function->reg[d].type)]);
            for (uint32_t r = 0; r < MAX_REGISTERS; r++) {
                bool is_live_after = false;
                for (uint32_t k = 0; k < ref->n_next[i]; k++)
                    is_live_after |= ref->live[ref->next[i][k]][r];
                bool must_differ = is_live_after || ref->writes[i][r] ||
                                   (is_multi_step(&ref->builder->instruction[i]) && ref->reads[i][r]);
                if (must_differ)
                    assert_false(use_one_slot(analysis, d, r));
            }
        }
    for (uint32_t p = 0; p < analysis->function->n_parameters; p++)
        for (uint32_t r = 0; r < MAX_REGISTERS; r++)
            if (ref->live[0][r] || is_parameter(analysis->function, r))
                assert_false(use_one_slot(analysis, analysis->function->parameter[p].register_id, r));
}

static void check_loops(const struct ptx_analysis *analysis) {
    uint32_t n_headers = 0;
    for (uint32_t b = 0; b < analysis->n_blocks; b++) {
        bool is_header = false;
        for (uint32_t h = 0; h < analysis->n_blocks; h++) {
            const struct ptx_block *from = &analysis->block[h];
            uint32_t at = h;
            while (from->is_reachable && at != PTX_NO_BLOCK && at != b)
                at = analysis->block[at].dominator;
            is_header |= from->is_reachable && at == b && leads_to(from, b);
        }
        n_headers += is_header;
        assert_int_equal(is_header, analysis->block[b].loop_header == b);
    }
    assert_int_equal(analysis->n_loops, n_headers);
    for (uint32_t l = 0; l < analysis->n_loops; l++) {
        const struct ptx_loop *loop = &analysis->loop[l];
        uint32_t n_blocks = 0;
        for (uint32_t b = 0; b < analysis->n_blocks; b++) {
            /* b belongs to the loop if it can reach the header without leaving the blocks that the header dominates. */
            bool is_below[MAX_INSTRUCTIONS + 1];
            for (uint32_t c = 0; c < analysis->n_blocks; c++) {
                uint32_t at = c;
                while (at != PTX_NO_BLOCK && at != loop->header)
                    at = analysis->block[at].dominator;
                is_below[c] = at == loop->header;
            }
            n_blocks += is_below[b] &&
                        reaches((struct block_walk){analysis, is_below, NULL, PTX_NO_BLOCK, {0}}, b, loop->header);
        }
        assert_int_equal(loop->n_blocks, n_blocks);
        assert_int_equal(loop->depth, analysis->block[loop->header].loop_depth);
    }
}

/* Four lanes with a reconvergence stack. A register's value in a lane is a number that identifies its write. */
struct machine {
    const struct ptx_analysis *analysis;
    const struct reference *ref;
    struct stack_entry {
        uint32_t pc, reconvergence, mask;
    } stack[4 * MAX_INSTRUCTIONS];
    uint32_t depth, n_steps;
    uint64_t value[MAX_REGISTERS][N_LANES];
    bool is_written[MAX_REGISTERS][N_LANES];
    uint64_t slot[PTX_N_WIDTHS][MAX_REGISTERS][N_LANES];
};

static uint64_t *slot_of(struct machine *machine, uint32_t r) {
    return machine->slot[ptx_type_width(machine->analysis->function->reg[r].type)][machine->analysis->slot[r]];
}

static void check_reads(struct machine *machine, uint32_t pc, uint32_t mask) {
    for (uint32_t r = 0; r < MAX_REGISTERS; r++) {
        if (!machine->ref->reads[pc][r])
            continue;
        uint32_t first = (uint32_t)__builtin_ctz(mask);
        for (uint32_t lane = 0; lane < N_LANES; lane++) {
            if (!(mask >> lane & 1))
                continue;
            if (machine->is_written[r][lane])
                assert_true(machine->value[r][lane] == slot_of(machine, r)[lane]);
            if (machine->analysis->is_uniform[r])
                assert_true(machine->value[r][lane] == machine->value[r][first]);
        }
    }
}

static uint64_t result_of(const struct machine *machine, uint32_t pc, uint32_t lane, uint32_t destination) {
    const struct ptx_instruction *instruction = &machine->analysis->function->instruction[pc];
    uint64_t value = mix(instruction->opcode + 131 * destination);
    if (instruction->opcode == PTX_OP_LD || instruction->opcode == PTX_OP_SHFL)
        value = mix(value + 1000 * lane + machine->n_steps);
    for (uint32_t k = 1; k < instruction->n_operands; k++) {
        const struct ptx_operand *operand = &instruction->operand[k];
        if (operand->kind == PTX_OPERAND_SPECIAL)
            value = mix(value + operand->special + (operand->special == PTX_SPECIAL_TID_X ? lane : 0));
        else
            value = mix(value + machine->value[operand->register_id][lane]);
    }
    return value;
}

static void execute_plain(struct machine *machine, uint32_t pc, uint32_t mask) {
    uint64_t result[MAX_REGISTERS][N_LANES];
    for (uint32_t r = 0; r < MAX_REGISTERS; r++)
        for (uint32_t lane = 0; lane < N_LANES; lane++)
            result[r][lane] = machine->ref->writes[pc][r] ? result_of(machine, pc, lane, r) : 0;
    for (uint32_t r = 0; r < MAX_REGISTERS; r++)
        for (uint32_t lane = 0; lane < N_LANES; lane++)
            if (machine->ref->writes[pc][r] && mask >> lane & 1) {
                machine->value[r][lane] = slot_of(machine, r)[lane] = result[r][lane];
                machine->is_written[r][lane] = true;
            }
}

static uint32_t guarded_lanes(const struct machine *machine, const struct ptx_instruction *instruction, uint32_t mask) {
    uint32_t lanes = mask;
    for (uint32_t lane = 0; lane < N_LANES && instruction->guard != PTX_NO_INDEX; lane++)
        if ((machine->value[instruction->guard][lane] & 1) == instruction->guard_negated)
            lanes &= ~(1u << lane);
    return lanes;
}

static uint32_t lane_target(const struct machine *machine, const struct ptx_instruction *instruction, uint32_t lane) {
    if (instruction->opcode == PTX_OP_BRA)
        return instruction->operand[0].target;
    return instruction->target[machine->value[instruction->operand[0].register_id][lane] % instruction->n_targets];
}

static void execute_branch(struct machine *machine, uint32_t pc, uint32_t mask) {
    const struct ptx_instruction *instruction = &machine->analysis->function->instruction[pc];
    uint32_t taken = guarded_lanes(machine, instruction, mask), n_paths = 0;
    struct stack_entry paths[N_LANES], *top = &machine->stack[machine->depth - 1];
    for (uint32_t lane = 0; lane < N_LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        uint32_t to = taken >> lane & 1 ? lane_target(machine, instruction, lane) : pc + 1, w = 0;
        while (w < n_paths && paths[w].pc != to)
            w++;
        if (w == n_paths)
            paths[n_paths++] = (struct stack_entry){to, machine->analysis->reconvergence[pc], 0};
        paths[w].mask |= 1u << lane;
    }
    top->pc = paths[0].pc;
    if (n_paths == 1)
        return;
    assert_false(machine->analysis->is_uniform_branch[pc]);
    assert_int_not_equal(machine->analysis->reconvergence[pc], PTX_NO_INDEX);
    top->pc = machine->analysis->reconvergence[pc];
    if (machine->depth + n_paths < 4 * MAX_INSTRUCTIONS)
        for (uint32_t w = 0; w < n_paths; w++)
            machine->stack[machine->depth++] = paths[w];
}

static void retire(struct machine *machine, uint32_t lanes) {
    for (uint32_t d = 0; d < machine->depth; d++)
        machine->stack[d].mask &= ~lanes;
}

/* Reconvergence points are nested: running lanes do not pass one where lanes below them on the stack wait, except to
 * end. */
static void check_nesting(const struct machine *machine, uint32_t pc) {
    const struct ptx_instruction *instruction = &machine->analysis->function->instruction[pc];
    bool is_end =
        (instruction->opcode == PTX_OP_RET || instruction->opcode == PTX_OP_EXIT) && instruction->guard == PTX_NO_INDEX;
    for (uint32_t d = 0; d + 1 < machine->depth && !is_end; d++)
        assert_int_not_equal(machine->stack[d].reconvergence, pc);
}

static void step(struct machine *machine) {
    struct stack_entry *top = &machine->stack[machine->depth - 1];
    uint32_t pc = top->pc, mask = top->mask;
    if (mask == 0 || pc == top->reconvergence) {
        machine->depth--;
        return;
    }
    if (pc < machine->ref->n)
        check_nesting(machine, pc);
    check_reads(machine, pc, mask);
    if (pc == machine->ref->n) {
        retire(machine, mask);
        return;
    }
    const struct ptx_instruction *instruction = &machine->analysis->function->instruction[pc];
    uint32_t lanes = guarded_lanes(machine, instruction, mask);
    switch (instruction->opcode) {
    case PTX_OP_BRA:
    case PTX_OP_BRX:
        execute_branch(machine, pc, mask);
        return;
    case PTX_OP_TRAP:
    case PTX_OP_CALL:
        if (lanes != 0)
            machine->depth = 0;
        break;
    case PTX_OP_RET:
    case PTX_OP_EXIT:
        if (lanes != 0 && lanes != mask)
            assert_false(machine->analysis->is_uniform_branch[pc]);
        retire(machine, lanes);
        break;
    default:
        execute_plain(machine, pc, lanes);
    }
    top->pc = pc + 1;
}

static void check_execution(const struct ptx_analysis *analysis, const struct reference *ref) {
    static struct machine machine;
    machine = (struct machine){.analysis = analysis, .ref = ref, .depth = 1};
    machine.stack[0] = (struct stack_entry){0, PTX_NO_INDEX, (1u << N_LANES) - 1};
    for (uint32_t r = 0; r < MAX_REGISTERS; r++)
        for (uint32_t lane = 0; lane < N_LANES; lane++)
            machine.value[r][lane] = mix(r * 100 + lane); /* unwritten registers differ by lane */
    for (uint32_t p = 0; p < analysis->function->n_parameters; p++) {
        uint32_t r = analysis->function->parameter[p].register_id;
        for (uint32_t lane = 0; lane < N_LANES; lane++) {
            slot_of(&machine, r)[lane] = machine.value[r][lane];
            machine.is_written[r][lane] = true;
        }
    }
    while (machine.depth > 0 && machine.n_steps++ < 400)
        step(&machine);
}

static void random_functions_agree_with_slow_references(void **state) {
    (void)state;
    static struct builder builder;
    static struct reference reference;
    uint32_t n_uniform = 0, n_uniform_guarded = 0;
    for (uint64_t seed = 0; seed < N_FUNCTIONS; seed++) {
        build(&builder, seed);
        refer(&reference, &builder);
        struct ptx_analysis *analysis = ptx_analyze(&builder.function);
        check_blocks(analysis, &reference);
        check_dominators(analysis);
        check_post_dominators(analysis, &reference);
        check_loops(analysis);
        check_liveness(analysis, &reference);
        check_slots(analysis, &reference);
        check_execution(analysis, &reference);
        for (uint32_t r = 0; r < MAX_REGISTERS; r++)
            n_uniform += analysis->is_uniform[r];
        for (uint32_t i = 0; i < reference.n; i++)
            n_uniform_guarded += analysis->is_uniform_branch[i] && builder.instruction[i].guard != PTX_NO_INDEX;
        ptx_analysis_free(analysis);
        base_arena_free(&builder.arena);
    }
    /* "Not uniform" everywhere would pass all checks above. */
    assert_true(n_uniform > N_FUNCTIONS / 20);
    assert_true(n_uniform_guarded > N_FUNCTIONS / 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_functions_agree_with_slow_references)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
