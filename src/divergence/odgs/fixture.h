/* For the tests of odgs: groups by SM and slot, and which threads are in them. */
#pragma once

#include "divergence/testing/programs.h"

extern const struct divergence_ops divergence_odgs;

/* Threads with an odd number fall through, the others jump over them. */
#define ODGS_BRANCH                                                                                                    \
    "and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra EVEN;\n"                                                   \
    "xor.b32 %r4, %r0, 1; bra JOIN; EVEN: not.b32 %r4, %r0; JOIN: add.u32 %r4, %r4, 1;\n"
#define ODGS_IF_TEXT PROGRAM_HEAD PROGRAM_BEGIN ODGS_BRANCH PROGRAM_END

static inline uint32_t odgs_expected(uint32_t thread) { return (thread & 1 ? thread ^ 1 : ~thread) + 1; }

static inline struct fixture *odgs_open(const char *model, const char *text, const struct fixture_shape *shape) {
    struct fixture *f = fixture_open(&divergence_odgs, model, text, shape);
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    fixture_start(f);
    return f;
}

static inline const struct divergence_group *odgs_group_in(const struct fixture *f, uint32_t sm, uint32_t slot) {
    return f->sm[sm].slot[slot].group;
}

static inline void odgs_step_to(struct fixture *f, uint32_t sm, uint32_t slot, uint32_t pc) {
    while (odgs_group_in(f, sm, slot)->pc != pc)
        fixture_step(&f->sm[sm], slot);
}

/* The group in the slot diverges at the first branch and has left it, unless it has to wait. */
static inline void odgs_diverge(struct fixture *f, uint32_t sm, uint32_t slot) {
    odgs_step_to(f, sm, slot, fixture_pc_of(f, PTX_OP_BRA, 0));
    fixture_step(&f->sm[sm], slot);
    assert_int_equal(odgs_group_in(f, sm, slot)->status, DIVERGENCE_DRAINS);
    fixture_step(&f->sm[sm], slot);
}

/* Executes the group in the slot to its end. */
static inline void odgs_finish(struct fixture *f, uint32_t sm, uint32_t slot) {
    const struct divergence_group *group = odgs_group_in(f, sm, slot);
    uint64_t blocks = f->n_finished;
    uint32_t last = fixture_pc_of(f, PTX_OP_RET, 0);
    odgs_step_to(f, sm, slot, last);
    assert_ptr_equal(odgs_group_in(f, sm, slot), group);
    fixture_step(&f->sm[sm], slot);
    assert_true(f->n_finished >= blocks);
}

struct odgs_census {
    const struct divergence_group *group;
    uint64_t threads; /* of that group: bit block * 8 + thread */
};

static inline void odgs_count_thread(void *user, const struct divergence_group *group, const struct exec_row *row,
                                     uint32_t lane) {
    struct odgs_census *census = user;
    if (group == census->group)
        census->threads |= 1ull << (row->block->ctaid[0][0] * 8 + row->tid[0][lane]);
}

/* The threads of the group; NULL: those in no group. One byte for each block. */
static inline uint64_t odgs_threads_of(struct fixture *f, const struct divergence_group *group) {
    struct odgs_census census = {.group = group};
    for (uint32_t i = 0; i < f->n_sms; i++)
        for (uint32_t b = 0; b < f->blocks_per_sm; b++)
            if (f->sm[i].block[b].is_in_flight)
                divergence_odgs.visit(f->sm[i].model, &f->sm[i].block[b].block, odgs_count_thread, &census);
    return census.threads;
}

static inline void odgs_expect_results(struct fixture *f) {
    fixture_run(f);
    for (uint32_t i = 0; i < f->grid.shape.grid[0] * f->grid.shape.block[0]; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], odgs_expected(i % f->grid.shape.block[0]));
}
