/* For the tests of dws and slip: looks into a model that is built on splits.h, and loads that miss. */
#pragma once

#include "divergence/splits/internal.h"
#include "divergence/splits/splits.h"
#include "divergence/testing/programs.h"

/* --- invariants --- */

static inline void splits_count_subdivision(const struct divergence_warp *warp,
                                            const struct divergence_subdivision *subdivision) {
    uint32_t seen[EXEC_MAX_ROWS] = {0};
    const struct divergence_entry *top = divergence_stack_top(&subdivision->stack);
    for (const struct divergence_split *split = subdivision->split; split; split = split->next)
        for (uint32_t i = 0; i < warp->n_rows; i++) {
            assert_int_equal(seen[i] & split->mask[i], 0);
            seen[i] |= split->mask[i];
        }
    for (const struct divergence_subdivision *child = warp->subdivision; child; child = child->next)
        for (uint32_t i = 0; i < warp->n_rows && child->parent == subdivision; i++) {
            assert_int_equal(seen[i] & divergence_stack_at(&child->stack, 0)->mask[i], 0);
            seen[i] |= divergence_stack_at(&child->stack, 0)->mask[i];
        }
    for (uint32_t i = 0; i < warp->n_rows; i++) {
        assert_int_equal(seen[i], top->mask[i]);
        assert_int_equal(subdivision->joined[i] & ~top->mask[i], 0);
    }
}

/* The splits and children of a subdivision partition the threads of its stack's top; the table holds the splits of
 * subdivided warps and no others; every split that can continue has a slot or is in the queue. */
static inline void splits_check_state(struct fixture *f) {
    const struct divergence_splits *splits = f->sm[0].model;
    uint32_t n_entries = 0;
    for (uint32_t i = 0; i < splits->n_pool; i++) {
        const struct divergence_split *split = splits->pool[i];
        if (!split->subdivision) {
            assert_true(split->entry < 0 && !split->is_queued);
            continue;
        }
        const struct divergence_warp *warp = split->subdivision->warp;
        splits_count_subdivision(warp, split->subdivision);
        assert_true((split->entry >= 0) == (warp->n_splits > 1));
        assert_true(split->entry < 0 || splits->table[split->entry] == split);
        n_entries += split->entry >= 0;
        assert_true(split->phase != DIVERGENCE_SPLIT_RUNS || split->is_queued ||
                    split->group.slot != DIVERGENCE_NO_SLOT);
    }
    assert_int_equal(n_entries, splits->n_used);
}

/* --- states --- */

struct entry {
    uint32_t pc, reconvergence, mask;
};

enum { SPLITS_RUNS, SPLITS_WAITS }; /* entry.reconvergence, in the table */

/* The table's used entries, in their order: {pc, 0 or 1 for one that waits for other splits, mask}. */
static inline void splits_expect_table(struct fixture *f, const struct entry *expected, uint32_t n) {
    const struct divergence_splits *splits = f->sm[0].model;
    assert_int_equal(splits->n_used, n);
    uint32_t at = 0;
    for (uint32_t i = 0; i < splits->rules.n_entries; i++) {
        const struct divergence_split *split = splits->table[i];
        if (!split)
            continue;
        assert_int_equal(split->group.pc, expected[at].pc);
        assert_int_equal(split->mask[0], expected[at].mask);
        assert_int_equal(split->phase != DIVERGENCE_SPLIT_RUNS, expected[at].reconvergence);
        at++;
    }
}

/* The stack of the first warp of the first block, its bottom first. The pc of a running entry is that of its groups. */
static inline void splits_expect_stack(struct fixture *f, const struct entry *expected, uint32_t n) {
    const struct divergence_splits_block *block = f->sm[0].block[0].block.state;
    const struct divergence_subdivision *subdivision = block->warp[0].subdivision;
    while (subdivision->parent)
        subdivision = subdivision->parent;
    assert_int_equal(subdivision->stack.depth, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct divergence_entry *entry = divergence_stack_at(&subdivision->stack, i);
        if (i < n - 1)
            assert_int_equal(entry->pc, expected[i].pc);
        assert_int_equal(entry->reconvergence, expected[i].reconvergence);
        assert_int_equal(entry->mask[0], expected[i].mask);
    }
}

/* Starts a block of n_warps warps of eight threads; the kernel's first parameter is a word for each thread. */
static inline struct fixture *splits_open(const struct divergence_ops *ops, const char *model, const char *text,
                                          uint32_t n_warps) {
    const struct fixture_shape shape = {.block = 8 * n_warps, .warp_size = 8};
    struct fixture *f = fixture_open(ops, model, text, &shape);
    fixture_parameter(f, 0, fixture_alloc(f, 32 * n_warps));
    fixture_start(f);
    return f;
}

static inline void splits_step(struct fixture *f, uint32_t slot) {
    fixture_catch_up(f);
    fixture_step(&f->sm[0], slot);
    splits_check_state(f);
}

/* Steps the group in the slot until its pc is `pc`, or it leaves or waits. */
static inline void splits_step_to(struct fixture *f, uint32_t slot, uint32_t pc) {
    const struct divergence_group *group = f->sm[0].slot[slot].group;
    assert_non_null(group);
    for (uint32_t i = 0; f->sm[0].slot[slot].group == group && group->pc != pc; i++) {
        assert_true(i < 100);
        splits_step(f, slot);
    }
}

/* --- loads --- */

/* Lanes 5 to 7 miss, each for a time of its own. */
static inline void splits_miss_above_4(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                                       uint32_t delay[EXEC_LANES]) {
    (void)user, (void)group, (void)pc;
    for (uint32_t lane = 5; lane < 8; lane++)
        if (mask >> lane & 1)
            delay[lane] = 100 * (lane - 4);
}

/* Every thread follows a chain through memory, as long as its own number says, with a branch on the way. */
#define SPLITS_CHASE                                                                                                   \
    PROGRAM_HEAD                                                                                                       \
    ".visible .entry k(.param .u64 out, .param .u64 table) {\n"                                                        \
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>;\n"                                                          \
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd3, [table]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n"              \
    "mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd1, %rd1, %rd2;\n"      \
    "and.b32 %r5, %r3, 7; add.u32 %r5, %r5, 1; and.b32 %r6, %r3, 255; mov.u32 %r4, 0;\n"                               \
    "LOOP: mul.wide.u32 %rd4, %r6, 4; add.u64 %rd4, %rd3, %rd4; ld.global.u32 %r6, [%rd4]; add.u32 %r4, %r4, %r6;\n"   \
    "and.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra EVEN;\n"                                                   \
    "add.u32 %r8, %r6, 3; and.b32 %r8, %r8, 255; mul.wide.u32 %rd4, %r8, 4; add.u64 %rd4, %rd3, %rd4;\n"               \
    "ld.global.u32 %r9, [%rd4]; mad.lo.u32 %r4, %r9, 3, %r4; bra NEXT;\n"                                              \
    "EVEN: add.u32 %r4, %r4, 7;\n"                                                                                     \
    "NEXT: sub.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra LOOP;\n"                                             \
    "st.global.u32 [%rd1], %r4; ret; }\n"

static inline uint32_t splits_table_word(uint32_t i) { return (i * 37 + 11) & 255; }

static inline uint32_t splits_chase(uint32_t id) {
    uint32_t at = id & 255, sum = 0;
    for (uint32_t n = (id & 7) + 1; n; n--) {
        at = splits_table_word(at);
        sum += at;
        sum += at & 1 ? 3 * splits_table_word((at + 3) & 255) : 7;
    }
    return sum;
}

/* Misses by a fixed pattern: of every four lanes one to three, and a different time each. */
static inline void splits_outcome(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                                  uint32_t delay[EXEC_LANES]) {
    uint64_t *seed = user;
    (void)group, (void)pc;
    for (uint32_t left = mask; left; left &= left - 1)
        if (fixture_random(seed) % 3)
            delay[__builtin_ctz(left)] = 1 + fixture_random(seed) % 60;
}

static inline void splits_check_one(const struct divergence_ops *ops, const char *model,
                                    const struct fixture_shape *shape, uint64_t seed) {
    struct fixture *f = fixture_open(ops, model, SPLITS_CHASE, shape);
    uint32_t n = f->grid.shape.block[0] * f->grid.shape.grid[0];
    uint64_t out = fixture_alloc(f, n * 4), table = fixture_alloc(f, 1024), misses = seed + 77;
    fixture_parameter(f, 0, out);
    fixture_parameter(f, 1, table);
    for (uint32_t i = 0; i < 256; i++)
        fixture_u32(f, table)[i] = splits_table_word(i);
    f->outcome = splits_outcome;
    f->user = &misses;
    f->label = model;
    f->runs_ahead = seed & 1;
    fixture_start(f);
    if (seed)
        fixture_run_random(f, seed);
    else
        fixture_run(f);
    for (uint32_t i = 0; i < n; i++)
        if (fixture_u32(f, out)[i] != splits_chase(i))
            fail_msg("%s, seed %llu: thread %u has %u, not %u", model, (unsigned long long)seed, i,
                     fixture_u32(f, out)[i], splits_chase(i));
    const struct divergence_splits *splits = f->sm[0].model;
    assert_int_equal(splits->n_used, 0);
    assert_null(splits->queue);
    fixture_close(f);
}

static inline void splits_check_loads(const struct divergence_ops *ops, const char *model) {
    static const struct fixture_shape shapes[] = {
        {.block = 32},
        {.block = 128, .grid = 3},
        {.block = 77, .grid = 5, .blocks_per_sm = 2},
        {.block = 40, .warp_size = 16, .grid = 2},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (uint64_t seed = 0; seed < 4; seed++)
            splits_check_one(ops, model, &shapes[s], seed);
}
