/* For the tests of dual-path and multi-path: the groups of one warp. */
#pragma once

#include "divergence/convergence/groups.h"
#include "divergence/testing/programs.h"

struct expected_group {
    uint32_t pc, mask, notify_pc;
    enum divergence_status status;
};

/* Returns the group with these lanes. */
static inline struct divergence_group *groups_find(struct fixture *f, uint32_t mask) {
    for (uint32_t s = 0; s < f->n_slots; s++)
        if (f->sm[0].slot[s].group && f->sm[0].slot[s].group->mask == mask)
            return f->sm[0].slot[s].group;
    fail_msg("no group has the lanes %x", mask);
    return NULL;
}

/* The slots contain these groups and no others. */
static inline void groups_expect(struct fixture *f, const struct expected_group *expected, uint32_t n) {
    assert_int_equal(f->n_slots - fixture_free_slots(&f->sm[0]), n);
    for (uint32_t i = 0; i < n; i++) {
        const struct divergence_group *group = groups_find(f, expected[i].mask);
        assert_int_equal(group->status, expected[i].status);
        assert_int_equal(group->pc, expected[i].pc);
        assert_int_equal(group->notify_pc, expected[i].notify_pc);
    }
}
#define GROUPS_EXPECT(f, ...)                                                                                          \
    groups_expect(f, (const struct expected_group[]){__VA_ARGS__},                                                     \
                  sizeof((const struct expected_group[]){__VA_ARGS__}) / sizeof(struct expected_group))

/* The group with these lanes takes n steps; its lanes stay the same before each. */
static inline void groups_step(struct fixture *f, uint32_t mask, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        fixture_step(&f->sm[0], (uint32_t)groups_find(f, mask)->slot);
}

/* Reconvergence entries of the warp of the group with these lanes. */
static inline uint32_t groups_n_entries(struct fixture *f, uint32_t mask) {
    const struct divergence_paths *paths = &((struct divergence_path_group *)groups_find(f, mask))->warp->paths;
    uint32_t n = 0;
    for (uint32_t j = 0; j < paths->capacity; j++)
        n += paths->join[j].is_used;
    return n;
}

static inline struct fixture *groups_start(const char *model, const char *text, uint32_t block, uint32_t warp_size) {
    return fixture_begin(model, text, &(struct fixture_shape){.block = block, .warp_size = warp_size, .n_slots = 16});
}

/* Lanes 0 to 3 go left, and there lanes 0 and 1 left again. The inner branch meets at 12, the outer one at 13. */
#define GROUPS_NESTED                                                                                                  \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 4; setp.lt.u32 %p2, %r0, 2; @%p1 bra L;\n" /* 0-3 */    \
                   "add.u32 %r1, %r0, 1; add.u32 %r1, %r1, 1; bra G;\n"                                   /* 4 5 6 */  \
                   "L: add.u32 %r1, %r0, 2; @%p2 bra LL;\n"                                               /* 7 8 */    \
                   "add.u32 %r1, %r1, 3; bra F;\n"                                                        /* 9 10 */   \
                   "LL: add.u32 %r1, %r1, 4;\n"                                                           /* 11 */     \
                   "F: add.u32 %r1, %r1, 5;\n"                                                            /* 12 */     \
                   "G: add.u32 %r1, %r1, 6; ret; }\n"                                                     /* 13 14 */

/* if (lane < 4) { if (lane < 2) x; else y; } else z;  without code after the inner if: both branches meet at 11. */
#define GROUPS_CHAIN                                                                                                   \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 4; setp.lt.u32 %p2, %r0, 2; @%p1 bra L;\n" /* 0-3 */    \
                   "add.u32 %r1, %r0, 1; bra G;\n"                                                        /* 4 5 */    \
                   "L: @%p2 bra LL;\n"                                                                    /* 6 */      \
                   "add.u32 %r1, %r0, 3; bra G;\n"                                                        /* 7 8 */    \
                   "LL: add.u32 %r1, %r0, 4; add.u32 %r1, %r1, 4;\n"                                      /* 9 10 */   \
                   "G: add.u32 %r1, %r1, 6; ret; }\n"                                                     /* 11 12 */

/* Lane i leaves the loop after iteration i. */
#define GROUPS_LOOP                                                                                                    \
    PROGRAM_KERNEL "mov.u32 %r0, %tid.x; mov.u32 %r1, 0;\n"                                          /* 0 1 */         \
                   "LOOP: setp.eq.u32 %p1, %r0, %r1; @%p1 bra OUT; add.u32 %r1, %r1, 1; bra LOOP;\n" /* 2 3 4 5 */     \
                   "OUT: add.u32 %r2, %r1, 1; ret; }\n"                                              /* 6 7 */
