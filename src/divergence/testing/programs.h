/* For the tests of this folder: small kernels with every kind of control flow, and their results, which do not depend
 * on the model or on the order in which groups run.
 *
 * Every kernel writes one word for each thread: out[block * threads + thread]. */
#pragma once

#include "divergence/testing/fixture.h"

struct program {
    const char *name, *text;
    uint32_t (*expected)(uint32_t thread, uint32_t block, uint32_t n_threads);
    bool needs_warps; /* 32 threads in a row */
};

#define PROGRAM_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

/* A kernel with nothing in its registers, for a body of its own. */
#define PROGRAM_KERNEL                                                                                                 \
    PROGRAM_HEAD ".visible .entry k(.param .u64 out) {\n.reg .pred %p<8>; .reg .b32 %r<9>; .reg .b64 %d<4>;\n"

/* %r0 thread, %r1 block, %r2 threads in a block, %r3 number in the grid, %rd1 address of its result, %r4 the result. */
#define PROGRAM_BEGIN                                                                                                  \
    ".visible .entry k(.param .u64 out) {\n"                                                                           \
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>;\n"                                                          \
    "ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;\n"                    \
    "mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd1, %rd1, %rd2;\n"
#define PROGRAM_END "st.global.u32 [%rd1], %r4; ret; }\n"

/* --- branches --- */

#define PROGRAM_IF_ELSE                                                                                                \
    PROGRAM_HEAD PROGRAM_BEGIN                                                                                         \
        "and.b32 %r5, %r3, 1; setp.eq.u32 %p1, %r5, 0; and.b32 %r5, %r3, 4; setp.eq.u32 %p2, %r5, 0;\n"                \
        "@%p1 bra EVEN;\n"                                                                                             \
        "mul.lo.u32 %r4, %r3, 3; @%p2 bra ODD_LOW; add.u32 %r4, %r4, 100; bra JOIN; ODD_LOW: add.u32 %r4, %r4, 5;\n"   \
        "bra JOIN;\n"                                                                                                  \
        "EVEN: mul.lo.u32 %r4, %r3, 7; @%p2 bra JOIN; add.u32 %r4, %r4, 1000;\n"                                       \
        "JOIN: add.u32 %r4, %r4, 1;\n" PROGRAM_END

static inline uint32_t program_if_else(uint32_t thread, uint32_t block, uint32_t n_threads) {
    uint32_t id = block * n_threads + thread, value = id & 1 ? id * 3 : id * 7;
    if (id & 1)
        value += id & 4 ? 100 : 5;
    else if (id & 4)
        value += 1000;
    return value + 1;
}

/* The paths of a || b && c: blocks that are entered from several sides. */
#define PROGRAM_UNSTRUCTURED                                                                                           \
    PROGRAM_HEAD PROGRAM_BEGIN                                                                                         \
        "mov.u32 %r4, 0; and.b32 %r5, %r3, 1; setp.ne.u32 %p1, %r5, 0; and.b32 %r5, %r3, 2; setp.ne.u32 %p2, %r5, "    \
        "0;\n"                                                                                                         \
        "and.b32 %r5, %r3, 4; setp.ne.u32 %p3, %r5, 0;\n"                                                              \
        "@%p1 bra THEN; add.u32 %r4, %r4, 1; @!%p2 bra ELSE; add.u32 %r4, %r4, 10; @%p3 bra THEN;\n"                   \
        "ELSE: add.u32 %r4, %r4, 100; bra JOIN;\n"                                                                     \
        "THEN: add.u32 %r4, %r4, 1000;\n"                                                                              \
        "JOIN: add.u32 %r4, %r4, %r3;\n" PROGRAM_END

static inline uint32_t program_unstructured(uint32_t thread, uint32_t block, uint32_t n_threads) {
    uint32_t id = block * n_threads + thread, value = id & 1 ? 0 : id & 2 ? 11 : 1;
    return value + (id & 1 || (id & 2 && id & 4) ? 1000 : 100) + id;
}

#define PROGRAM_SWITCH                                                                                                 \
    PROGRAM_HEAD PROGRAM_BEGIN                                                                                         \
        "rem.u32 %r5, %r3, 5; setp.eq.u32 %p1, %r5, 4; mov.u32 %r4, 50;\n"                                             \
        "T: .branchtargets A, B, C, A;\n"                                                                              \
        "@!%p1 brx.idx %r5, T;\n"                                                                                      \
        "bra JOIN; A: add.u32 %r4, %r3, 1; bra JOIN; B: add.u32 %r4, %r3, 20; C: add.u32 %r4, %r4, 300;\n"             \
        "JOIN:\n" PROGRAM_END

static inline uint32_t program_switch(uint32_t thread, uint32_t block, uint32_t n_threads) {
    uint32_t id = block * n_threads + thread, way = id % 5;
    return way == 4 ? 50 : way == 1 ? id + 320 : way == 2 ? 350 : id + 1;
}

/* --- loops --- */

/* Steps of the Collatz sequence from the thread's number: trip counts and the branch inside differ. */
#define PROGRAM_COLLATZ                                                                                                \
    PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, 0; add.u32 %r6, %r3, 1;\n"                                                \
                               "LOOP: setp.eq.u32 %p1, %r6, 1; @%p1 bra DONE; add.u32 %r4, %r4, 1;\n"                  \
                               "and.b32 %r5, %r6, 1; setp.eq.u32 %p2, %r5, 0; @%p2 bra HALF;\n"                        \
                               "mad.lo.u32 %r6, %r6, 3, 1; bra LOOP;\n"                                                \
                               "HALF: shr.u32 %r6, %r6, 1; bra LOOP;\n"                                                \
                               "DONE:\n" PROGRAM_END

static inline uint32_t program_collatz(uint32_t thread, uint32_t block, uint32_t n_threads) {
    uint32_t value = block * n_threads + thread + 1, n = 0;
    for (; value != 1; n++)
        value = value & 1 ? 3 * value + 1 : value / 2;
    return n;
}

/* A loop whose threads leave it one after the other, some of them for good, by a guarded exit too. */
#define PROGRAM_EXITS                                                                                                  \
    PROGRAM_HEAD PROGRAM_BEGIN                                                                                         \
        "rem.u32 %r6, %r0, 11; mov.u32 %r4, 0; rem.u32 %r7, %r0, 3; setp.eq.u32 %p3, %r7, 0;\n"                        \
        "LOOP: add.u32 %r4, %r4, %r6; st.global.u32 [%rd1], %r4; setp.eq.u32 %p1, %r6, 0; @%p1 bra OUT;\n"             \
        "setp.eq.u32 %p2, %r6, 4; and.pred %p4, %p2, %p3; @%p4 exit; sub.u32 %r6, %r6, 1; bra LOOP;\n"                 \
        "OUT: setp.eq.u32 %p2, %r7, 1; @!%p2 bra GO; exit; GO: add.u32 %r4, %r4, 500;\n" PROGRAM_END

static inline uint32_t program_exits(uint32_t thread, uint32_t block, uint32_t n_threads) {
    (void)block, (void)n_threads;
    uint32_t sum = 0;
    for (uint32_t i = thread % 11;; i--) {
        sum += i;
        if (i == 0)
            break;
        if (i == 4 && thread % 3 == 0)
            return sum;
    }
    return thread % 3 == 1 ? sum : sum + 500;
}

/* --- calls --- */

/* Odd threads call a function that calls itself to a depth of its own; even ones call another that does not. */
#define PROGRAM_CALLS                                                                                                  \
    PROGRAM_HEAD ".func (.param .b32 result) down(.param .b32 n) {\n"                                                  \
                 ".reg .b32 %a<4>; .reg .pred %q;\n"                                                                   \
                 "ld.param.b32 %a0, [n]; setp.eq.u32 %q, %a0, 0; mov.u32 %a2, 1; @%q bra BACK;\n"                      \
                 "sub.u32 %a1, %a0, 1;\n"                                                                              \
                 "{ .param .b32 i; .param .b32 o; st.param.b32 [i], %a1; call (o), down, (i); ld.param.b32 %a2, "      \
                 "[o]; }\n"                                                                                            \
                 "mad.lo.u32 %a2, %a2, 3, %a0;\n"                                                                      \
                 "BACK: st.param.b32 [result], %a2; ret; }\n"                                                          \
                 ".func (.param .b32 result) twice(.param .b32 n) {\n"                                                 \
                 ".reg .b32 %a<2>; ld.param.b32 %a0, [n]; add.u32 %a0, %a0, %a0; st.param.b32 [result], %a0; ret; }"   \
                 "\n" PROGRAM_BEGIN                                                                                    \
                 "and.b32 %r5, %r3, 1; setp.eq.u32 %p1, %r5, 0; rem.u32 %r6, %r3, 6; @%p1 bra EVEN;\n"                 \
                 "{ .param .b32 i; .param .b32 o; st.param.b32 [i], %r6; call (o), down, (i); ld.param.b32 %r4, "      \
                 "[o]; }\n"                                                                                            \
                 "bra JOIN;\n"                                                                                         \
                 "EVEN: { .param .b32 i; .param .b32 o; st.param.b32 [i], %r3; call (o), twice, (i);\n"                \
                 "ld.param.b32 %r4, [o]; }\n"                                                                          \
                 "JOIN: add.u32 %r4, %r4, %r3;\n" PROGRAM_END

static inline uint32_t program_down(uint32_t n) { return n == 0 ? 1 : program_down(n - 1) * 3 + n; }

static inline uint32_t program_calls(uint32_t thread, uint32_t block, uint32_t n_threads) {
    uint32_t id = block * n_threads + thread;
    return (id & 1 ? program_down(id % 6) : 2 * id) + id;
}

/* --- threads that wait for each other --- */

/* Three times: reach the barrier after a loop of one's own length, then read what a neighbour wrote. */
#define PROGRAM_BARRIERS                                                                                               \
    PROGRAM_HEAD                                                                                                       \
    ".shared .align 4 .b8 area[4096];\n" PROGRAM_BEGIN                                                                 \
    "mov.u32 %r10, area; shl.b32 %r11, %r0, 2; add.u32 %r11, %r10, %r11; add.u32 %r4, %r0, 3;\n"                       \
    "mov.u32 %r9, 3;\n"                                                                                                \
    "ROUND: and.b32 %r5, %r0, 3;\n"                                                                                    \
    "SPIN: setp.eq.u32 %p1, %r5, 0; @%p1 bra READY; sub.u32 %r5, %r5, 1; add.u32 %r4, %r4, 2; bra SPIN;\n"             \
    "READY: st.shared.u32 [%r11], %r4; bar.sync 0;\n"                                                                  \
    "add.u32 %r6, %r0, 5; rem.u32 %r6, %r6, %r2; shl.b32 %r6, %r6, 2; add.u32 %r6, %r10, %r6;\n"                       \
    "ld.shared.u32 %r7, [%r6]; bar.sync 0; mad.lo.u32 %r4, %r7, 3, %r4;\n"                                             \
    "sub.u32 %r9, %r9, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra ROUND;\n" PROGRAM_END

static inline uint32_t program_barriers_at(uint32_t thread, uint32_t n_threads, uint32_t round) {
    if (round == 0)
        return thread + 3;
    uint32_t next = (thread + 5) % n_threads;
    uint32_t mine = program_barriers_at(thread, n_threads, round - 1) + 2 * (thread & 3);
    return 3 * (program_barriers_at(next, n_threads, round - 1) + 2 * (next & 3)) + mine;
}

static inline uint32_t program_barriers(uint32_t thread, uint32_t block, uint32_t n_threads) {
    (void)block;
    return program_barriers_at(thread, n_threads, 3);
}

/* Both sides of an if wait at the barrier, and some threads never come: they have ended. */
#define PROGRAM_TWO_BARRIERS                                                                                           \
    PROGRAM_HEAD ".shared .align 4 .b8 area[4096];\n" PROGRAM_BEGIN                                                    \
                 "mov.u32 %r10, area; shl.b32 %r11, %r0, 2; add.u32 %r11, %r10, %r11; mul.lo.u32 %r4, %r0, 9;\n"       \
                 "st.shared.u32 [%r11], %r4; rem.u32 %r5, %r0, 7; setp.eq.u32 %p1, %r5, 6;\n"                          \
                 "and.b32 %r6, %r0, 1; setp.eq.u32 %p2, %r6, 0; xor.b32 %r7, %r0, 1; min.u32 %r7, %r7, %r0;\n"         \
                 "@%p1 bra LAST; @%p2 bra EVEN;\n"                                                                     \
                 "bar.sync 0; ld.shared.u32 %r8, [area]; add.u32 %r4, %r8, 1; bra JOIN;\n"                             \
                 "EVEN: add.u32 %r4, %r4, 5; bar.sync 0; shl.b32 %r7, %r7, 2; add.u32 %r7, %r10, %r7;\n"               \
                 "ld.shared.u32 %r8, [%r7]; add.u32 %r4, %r4, %r8;\n"                                                  \
                 "JOIN: add.u32 %r4, %r4, 40; st.global.u32 [%rd1], %r4; ret; LAST:\n" PROGRAM_END

static inline uint32_t program_two_barriers(uint32_t thread, uint32_t block, uint32_t n_threads) {
    (void)block, (void)n_threads;
    if (thread % 7 == 6)
        return 9 * thread;
    return thread & 1 ? 41 : 9 * thread + 5 + 9 * thread + 40;
}

/* Warp-wide instructions: inside a branch among the lanes that are there, and after it among all. */
#define PROGRAM_WARP                                                                                                   \
    PROGRAM_HEAD PROGRAM_BEGIN                                                                                         \
        "mov.u32 %r20, %laneid; and.b32 %r5, %r20, 1; setp.eq.u32 %p1, %r5, 0; rem.u32 %r6, %r20, 3;\n"                \
        "setp.eq.u32 %p2, %r6, 0; mov.u32 %r4, 0;\n"                                                                   \
        "WAIT: setp.eq.u32 %p3, %r6, 0; @%p3 bra GO; sub.u32 %r6, %r6, 1; bra WAIT;\n"                                 \
        "GO: @%p1 bra EVEN; vote.sync.ballot.b32 %r4, %p2, 0xaaaaaaaa; bra JOIN;\n"                                    \
        "EVEN: shfl.sync.idx.b32 %r4, %r0, 0, 31, 0x55555555;\n"                                                       \
        "JOIN: bar.warp.sync 0xffffffff; vote.sync.any.pred %p4, %p2, 0xffffffff; selp.u32 %r7, 1000, 0, %p4;\n"       \
        "add.u32 %r4, %r4, %r7;\n" PROGRAM_END

static inline uint32_t program_warp(uint32_t thread, uint32_t block, uint32_t n_threads) {
    (void)block;
    uint32_t first = thread & ~31u, ballot = 0;
    for (uint32_t lane = 1; lane < 32 && first + lane < n_threads; lane += 2)
        ballot |= (uint32_t)(lane % 3 == 0) << lane;
    return (thread & 1 ? ballot : first) + 1000;
}

static const struct program programs[] = {
    {"if_else", PROGRAM_IF_ELSE, program_if_else, false},
    {"unstructured", PROGRAM_UNSTRUCTURED, program_unstructured, false},
    {"switch", PROGRAM_SWITCH, program_switch, false},
    {"collatz", PROGRAM_COLLATZ, program_collatz, false},
    {"exits", PROGRAM_EXITS, program_exits, false},
    {"calls", PROGRAM_CALLS, program_calls, false},
    {"barriers", PROGRAM_BARRIERS, program_barriers, false},
    {"two_barriers", PROGRAM_TWO_BARRIERS, program_two_barriers, false},
    {"warp", PROGRAM_WARP, program_warp, true},
};

/* Runs one program on this shape (seed 0: round robin) and compares every word. */
static inline void programs_check(const struct divergence_ops *ops, const char *model, const struct program *program,
                                  const struct fixture_shape *shape, uint64_t seed, bool is_lane_aware) {
    struct fixture *f = fixture_open(ops, model, program->text, shape);
    uint32_t n_threads = f->grid.shape.block[0], n_blocks = f->grid.shape.grid[0];
    uint64_t out = fixture_alloc(f, (uint64_t)n_threads * n_blocks * 4);
    fixture_parameter(f, 0, out);
    f->label = program->name;
    f->is_lane_aware = is_lane_aware;
    fixture_start(f);
    if (seed)
        fixture_run_random(f, seed);
    else
        fixture_run(f);
    for (uint32_t i = 0; i < n_threads * n_blocks; i++) {
        uint32_t expected = program->expected(i % n_threads, i / n_threads, n_threads), got = fixture_u32(f, out)[i];
        if (got != expected)
            fail_msg("%s: %s, %u blocks of %u, warps of %u, seed %llu: thread %u has %u, not %u", model, program->name,
                     n_blocks, n_threads, f->grid.warp_size, (unsigned long long)seed, i, got, expected);
    }
    fixture_close(f);
}

/* Orders in which groups take turns: round robin, then random ones. Under sanitizers, which are slow, only the first.
 */
#ifdef FIXTURE_IS_SANITIZED
enum { PROGRAMS_ORDERS = 1 };
#else
enum { PROGRAMS_ORDERS = 3 };
#endif

/* Every program on whole and partial rows, narrow warps, several blocks, in every order. */
static inline void programs_check_all(const struct divergence_ops *ops, const char *model, bool is_lane_aware) {
    static const struct fixture_shape shapes[] = {
        {.block = 32},
        {.block = 1},
        {.block = 128, .grid = 3},
        {.block = 77, .grid = 5, .blocks_per_sm = 2},
        {.block = 40, .warp_size = 16, .grid = 2},
        {.block = 7, .warp_size = 4, .grid = 3, .blocks_per_sm = 2},
        {.block = 100, .grid = 2, .is_scoreboard = true},
    };
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (uint64_t seed = 0; seed < PROGRAMS_ORDERS && (!programs[p].needs_warps || !shapes[s].warp_size);
                 seed++)
                programs_check(ops, model, &programs[p], &shapes[s], seed, is_lane_aware);
}
