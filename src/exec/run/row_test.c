/* The three ways to run an instruction: a straight-line kernel must leave the same memory whether it runs row by row,
 * on threads scattered over lanes, or on threads that carry their registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exec/scattered.h"

enum { N_ROWS = 3, N_THREADS = N_ROWS * EXEC_LANES, MEMORY_BYTES = 4096 };

static const char kernel_text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry mix(.param .u64 data, .param .u64 other)\n{\n"
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .f32 %f<4>; .reg .b64 %d<8>; .reg .f64 %g<3>;\n"
    "ld.param.u64 %d1, [data];\n"
    "mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %d2, %r1, 8;\n"
    "add.s64 %d3, %d1, %d2;\n"
    "ld.global.u32 %r2, [%d3];\n"
    "ld.global.u16 %h1, [%d3+4];\n"
    "setp.gt.u32 %p1|%p2, %r2, 1000;\n"
    "@%p1 add.u32 %r3, %r2, %r1;\n"
    "@!%p1 mul.lo.u32 %r3, %r2, 3;\n"
    "cvt.rn.f32.u32 %f1, %r3;\n"
    "fma.rn.f32 %f2, %f1, %f1, 0f3f800000;\n"
    "cvt.f64.f32 %g1, %f2;\n"
    "add.rz.f64 %g2, %g1, 0d3fb999999999999a;\n"
    "add.cc.u32 %r4, %r2, 0x80000000;\n"
    "addc.u32 %r5, %r1, 0;\n"
    "mov.b64 %d4, {%r4, %r5};\n"
    "selp.b32 %r6, %r4, %r5, %p2;\n"
    "add.u16 %h2, %h1, 7;\n"
    "cvt.s32.s16 %r7, %h2;\n"
    "mov.u32 %r8, %laneid;\n"
    "xor.b32 %r9, %r7, %r8;\n"
    "st.global.v2.u32 [%d3], {%r6, %r9};\n"
    "atom.global.add.u32 %r10, [%d1+2048], %r1;\n"
    "@%p2 st.global.f64 [%d3+1024], %g2;\n"
    "ld.param.u64 %d5, [data];\n"
    "ld.param.u64 %d6, [other];\n"
    "add.u64 %d7, %d5, %d6;\n"
    "st.global.u64 [%d3+2304], %d7;\n"
    /* No thread executes this loop. It makes some registers stay at home when threads carry theirs. */
    "LOOP: add.u32 %r11, %r11, 1;\n"
    "setp.lt.u32 %p3, %r11, 9;\n"
    "@%p3 bra LOOP;\n"
    "st.global.u32 [%d3], %r2;\n"
    "st.global.u16 [%d3+4], %h1;\n"
    "ret;\n}\n";

static uint64_t no_symbols(void *user, const struct ptx_variable *variable) {
    (void)user;
    (void)variable;
    return 0;
}

struct machine {
    struct exec_program *program;
    struct exec_memory memory;
    struct exec_allocation allocation;
    struct exec_grid grid;
    struct exec_block block;
    struct exec_row row[N_ROWS];
    struct exec_context cx;
    unsigned char *data;
    uint64_t parameter[2];
};

static void machine_open(struct machine *m, struct exec_program *program) {
    memset(m, 0, sizeof *m);
    m->program = program;
    m->data = aligned_alloc(256, MEMORY_BYTES);
    for (int i = 0; i < MEMORY_BYTES; i++)
        m->data[i] = (unsigned char)(i % 7 == 3 ? 0 : i * 37);
    m->parameter[0] = 0x10000;
    m->parameter[1] = 77;
    m->allocation = (struct exec_allocation){m->parameter[0], MEMORY_BYTES};
    m->memory = (struct exec_memory){.base = m->parameter[0],
                                     .limit = m->parameter[0] + MEMORY_BYTES,
                                     .delta = (ptrdiff_t)((uintptr_t)m->data - m->parameter[0]),
                                     .allocation = &m->allocation,
                                     .n_allocations = 1};
    m->grid = (struct exec_grid){.program = program,
                                 .memory = &m->memory,
                                 .parameters = (const unsigned char *)m->parameter,
                                 .parameter_bytes = sizeof m->parameter,
                                 .shape.grid = {1, 1, 1},
                                 .shape.block = {N_THREADS, 1, 1},
                                 .local_bytes = program->local_bytes};
    m->block.grid = &m->grid;
    for (uint32_t r = 0; r < N_ROWS; r++) {
        struct exec_row *row = &m->row[r];
        row->base[EXEC_BASE_REGISTERS] = aligned_alloc(64, (program->register_bytes + 63) & ~63u);
        memset(row->base[EXEC_BASE_REGISTERS], 0, program->register_bytes);
        row->base[EXEC_BASE_CONSTANTS] = program->constants;
        row->base[EXEC_BASE_ROW] = (unsigned char *)row;
        row->base[EXEC_BASE_BLOCK] = (unsigned char *)&m->block;
        row->local = calloc(EXEC_LANES, m->grid.local_bytes);
        row->block = &m->block;
        row->index = r;
        row->threads = row->live = ~0u;
        for (uint32_t lane = 0; lane < EXEC_LANES; lane++)
            row->tid[0][lane] = r * EXEC_LANES + lane;
    }
    m->cx.grid = &m->grid;
    m->cx.lanes = exec_level_table();
}

static void machine_close(struct machine *m) {
    for (int r = 0; r < N_ROWS; r++) {
        free(m->row[r].base[EXEC_BASE_REGISTERS]);
        free(m->row[r].local);
    }
    free(m->data);
}

static uint32_t guard_of(const struct exec_row *row, const struct exec_insn *insn) {
    if (!insn->guard.offset)
        return ~0u;
    uint32_t predicate;
    memcpy(&predicate, row->base[EXEC_BASE_REGISTERS] + insn->guard.offset, sizeof predicate);
    return insn->flags & EXEC_FLAG_GUARD_NEGATED ? ~predicate : predicate;
}

static void run_by_rows(struct machine *m) {
    for (const struct exec_insn *insn = m->program->code; insn->kind <= EXEC_KIND_CONTEXT; insn++)
        for (int r = 0; r < N_ROWS; r++) {
            uint32_t mask = guard_of(&m->row[r], insn);
            if (mask)
                exec_row_insn(&m->cx, &m->row[r], insn, mask);
            assert_int_equal(m->cx.fault.kind, EXEC_FAULT_NONE);
        }
}

/* The same, with simple instructions in runs: as far as they go, or up to every third pc. */
static void run_straight(struct machine *m) {
    const struct exec_insn *code = m->program->code;
    uint64_t time = 0, n_threads = 0, expected = 0;
    for (uint32_t pc = 0, end; code[pc].kind <= EXEC_KIND_CONTEXT; pc = end) {
        uint32_t limit = pc % 2 ? EXEC_NO_PC : pc - pc % 3 + 3;
        for (end = pc; end != limit && code[end].is_simple;)
            end++;
        for (int r = 0; r < N_ROWS; r++)
            assert_int_equal(exec_row_straight(&m->cx, &m->row[r], pc, limit, ~0u, &n_threads), end);
        if (end == limit)
            continue;
        for (int r = 0; r < N_ROWS; r++)
            if (guard_of(&m->row[r], &code[end]) && code[end].kind <= EXEC_KIND_CONTEXT)
                exec_row_insn(&m->cx, &m->row[r], &code[end], guard_of(&m->row[r], &code[end]));
        end += code[end].kind <= EXEC_KIND_CONTEXT;
    }
    /* The last values of the guards are those with which the instructions were executed. */
    for (uint32_t pc = 0; code[pc].kind <= EXEC_KIND_CONTEXT; pc++)
        for (int r = 0; r < N_ROWS && code[pc].is_simple; r++) {
            uint32_t mask = guard_of(&m->row[r], &code[pc]);
            expected += (uint64_t)__builtin_popcount(mask);
            time += mask != 0;
        }
    assert_int_equal(n_threads, expected);
    assert_int_equal(m->cx.time, time);
}

/* Thread t runs in lane (t * 5) % 32 of bundle t / 32 (so rows mix when the order is rotated by 11). The last bundle's
 * threads run as parts of their rows: if a bundle took other threads, some would run twice. A bundle runs as a whole,
 * or its odd lanes before the even ones: the contents of an empty lane, lane 0 above all, must not matter. */
static void run_scattered(struct machine *m, bool in_halves) {
    const uint32_t first = in_halves ? 0xaaaaaaaau : ~0u;
    for (const struct exec_insn *insn = m->program->code; insn->kind <= EXEC_KIND_CONTEXT; insn++)
        for (uint32_t bundle = 0; bundle < N_ROWS; bundle++) {
            uint32_t mask = 0, of_row[N_ROWS] = {0};
            struct exec_threads threads;
            exec_threads_start(&threads);
            for (uint32_t i = 0; i < EXEC_LANES; i++) {
                uint32_t thread = (bundle * EXEC_LANES + i + 11) % N_THREADS, lane = i * 5 % EXEC_LANES;
                struct exec_row *row = &m->row[thread / EXEC_LANES];
                uint32_t is_true = guard_of(row, insn) >> thread % EXEC_LANES & 1;
                exec_threads_put(&threads, lane, row, thread % EXEC_LANES);
                mask |= is_true << lane;
                of_row[thread / EXEC_LANES] |= is_true << thread % EXEC_LANES;
            }
            if (bundle % 2)
                exec_threads_list(&threads, mask);
            m->cx.threads = &threads;
            for (uint32_t r = 0; bundle == N_ROWS - 1 && r < N_ROWS; r++)
                if (of_row[r])
                    exec_row_insn(&m->cx, &m->row[r], insn, of_row[r]);
            if (bundle < N_ROWS - 1 && mask & first)
                exec_scattered_insn(&m->cx, insn, mask & first);
            if (bundle < N_ROWS - 1 && mask & ~first)
                exec_scattered_insn(&m->cx, insn, mask & ~first);
            assert_int_equal(m->cx.fault.kind, EXEC_FAULT_NONE);
        }
}

/* Moves the threads of a bundle to other lanes of it, and back every other time. */
static void move_on(struct machine *m, struct exec_threads *from, struct exec_threads *to, uint32_t pc) {
    uint8_t at[EXEC_LANES];
    for (uint32_t i = 0; i < EXEC_LANES; i++)
        at[i] = (uint8_t)((i * 7 + 3) % EXEC_LANES);
    if (pc % 3) { /* the even lanes rotate, the odd ones stay */
        for (uint32_t i = 0; i < EXEC_LANES; i += 2)
            at[i] = (uint8_t)((i + 2) % EXEC_LANES);
        exec_threads_move(&m->cx, to, at, from, 0x55555555, pc);
        exec_threads_move(&m->cx, to, NULL, from, 0xaaaaaaaa, pc);
    } else {
        exec_threads_move(&m->cx, to, at, from, ~0u, pc);
    }
}

/* The same threads, in bundles that stay together. After each instruction they change lanes, and sometimes some of them
 * go home. */
static void run_carried(struct machine *m) {
    struct exec_threads bundle[N_ROWS][2] = {0};
    for (uint32_t b = 0; b < N_ROWS; b++)
        for (uint32_t i = 0; i < EXEC_LANES; i++) {
            uint32_t thread = (b * EXEC_LANES + i + 11) % N_THREADS;
            exec_threads_carry(&bundle[b][0], m->program);
            exec_threads_carry(&bundle[b][1], m->program);
            exec_threads_put(&bundle[b][0], i * 5 % EXEC_LANES, &m->row[thread / EXEC_LANES], thread % EXEC_LANES);
        }
    uint32_t pc = 0, n_at_home = 0;
    for (const struct exec_insn *insn = m->program->code; insn->kind <= EXEC_KIND_CONTEXT; insn++, pc++)
        for (uint32_t b = 0; b < N_ROWS; b++) {
            n_at_home += b == 0 && insn->flags & EXEC_FLAG_AT_HOME;
            struct exec_threads *threads = &bundle[b][pc % 2];
            exec_threads_ready(&m->cx, threads, pc, ~0u);
            assert_int_equal(threads->carried, ~0u);
            exec_use_threads(&m->cx, threads);
            uint32_t mask = exec_threads_guard(threads, insn, ~0u);
            if (mask)
                exec_scattered_insn(&m->cx, insn, mask);
            assert_int_equal(m->cx.fault.kind, EXEC_FAULT_NONE);
            if (pc % 4 == 2)
                exec_threads_send_home(&m->cx, threads, pc + 1, 0x00ffff0f);
            bundle[b][1 - pc % 2].carried = ~0u; /* left over from threads that have ended */
            move_on(m, threads, &bundle[b][1 - pc % 2], pc + 1);
            assert_int_equal(threads->carried, 0);
        }
    assert_true(n_at_home > 5 && n_at_home < pc / 2);
    for (uint32_t b = 0; b < N_ROWS; b++) {
        free(bundle[b][0].registers);
        free(bundle[b][1].registers);
    }
}

static void scattered_threads_compute_what_rows_compute(void **state) {
    (void)state;
    struct ptx_messages messages = {0};
    struct ptx_module *module = ptx_parse("mix.ptx", kernel_text, strlen(kernel_text), &messages);
    if (!module)
        fail_msg("%s", messages.text);
    struct exec_program *program = exec_link(module, module->function[0], no_symbols, NULL, &messages);
    if (!program)
        fail_msg("%s", messages.text);
    static struct machine rows, scattered;
    machine_open(&rows, program);
    unsigned char before[MEMORY_BYTES];
    memcpy(before, rows.data, MEMORY_BYTES);
    run_by_rows(&rows);
    assert_memory_not_equal(before, rows.data, MEMORY_BYTES);
    for (int in_halves = 0; in_halves < 2; in_halves++) {
        machine_open(&scattered, program);
        run_scattered(&scattered, in_halves);
        assert_memory_equal(rows.data, scattered.data, MEMORY_BYTES);
        machine_close(&scattered);
    }
    machine_open(&scattered, program);
    run_straight(&scattered);
    assert_memory_equal(rows.data, scattered.data, MEMORY_BYTES);
    machine_close(&scattered);
    machine_open(&scattered, program);
    run_carried(&scattered);
    assert_memory_equal(rows.data, scattered.data, MEMORY_BYTES);
    machine_close(&scattered);
    machine_close(&rows);
    exec_program_free(program);
    ptx_module_free(module);
    ptx_messages_free(&messages);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scattered_threads_compute_what_rows_compute)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
