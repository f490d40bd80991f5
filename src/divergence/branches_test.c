/* Tests that every model counts branches, and among them divergent ones, by the same rule: a branch is divergent if the
 * threads that execute it together have more than one next pc. Each program runs one warp up to a branch, so the groups
 * are the same under all models. */
#include "divergence/testing/programs.h"

/* The branch, before code in which any thread may go anywhere. %r5 is the lowest bit of the thread's number. */
#define PROGRAM_BRANCH(branch)                                                                                         \
    PROGRAM_HEAD PROGRAM_BEGIN "T: .branchtargets NEXT, NEXT; U: .branchtargets A, A; V: .branchtargets NEXT, A;\n"    \
                               "W: .branchtargets A, B; and.b32 %r5, %r0, 1; add.u32 %r6, %r5, 1; mov.u32 %r4, 0;\n"   \
                               "setp.eq.u32 %p1, %r5, 0; setp.lt.u32 %p2, %r0, 100;\n" branch                          \
                               "NEXT: add.u32 %r4, %r4, 1; A: add.u32 %r4, %r4, 10; B: add.u32 %r4, %r4, 100;\n"       \
                               "END: add.u32 %r4, %r4, 1000;\n" PROGRAM_END

static const struct branch {
    const char *text;
    bool is_divergent;
    uint32_t even, odd; /* results of even and odd threads */
} branches[] = {
    {PROGRAM_BRANCH("bra A;\n"), false, 1110, 1110},
    {PROGRAM_BRANCH("@%p2 bra A;\n"), false, 1110, 1110},
    {PROGRAM_BRANCH("@!%p2 bra A;\n"), false, 1111, 1111},
    {PROGRAM_BRANCH("@%p1 bra A;\n"), true, 1110, 1111},
    {PROGRAM_BRANCH("@%p1 bra NEXT;\n"), false, 1111, 1111},
    {PROGRAM_BRANCH("@!%p2 brx.idx %r5, W;\n"), false, 1111, 1111},
    {PROGRAM_BRANCH("brx.idx %r5, U;\n"), false, 1110, 1110},
    {PROGRAM_BRANCH("brx.idx %r5, W;\n"), true, 1110, 1100},
    {PROGRAM_BRANCH("@%p1 brx.idx %r5, W;\n"), true, 1110, 1111},
    {PROGRAM_BRANCH("brx.idx %r5, V;\n"), true, 1111, 1110},
    {PROGRAM_BRANCH("brx.idx %r5, T;\n"), false, 1111, 1111},
    {PROGRAM_BRANCH("@%p1 brx.idx %r5, T;\n"), false, 1111, 1111},
    {PROGRAM_BRANCH("@%p1 brx.idx %r5, V;\n"), false, 1111, 1111},
    {PROGRAM_BRANCH("brx.idx %r6, V;\n"), true, 1110, 1111}, /* 2 is past the table */
    {PROGRAM_BRANCH("@!%p1 brx.idx %r6, V;\n"), false, 1111, 1111},
};

static void expect(const char *model, const struct branch *branch) {
    enum { WARP_SIZE = 8 };
    const struct divergence_ops *ops;
    void *options;
    char error[200];
    assert_true(divergence_parse(model, &ops, &options, error, sizeof error));
    free(options);
    struct fixture *f =
        fixture_open(ops, model, branch->text, &(struct fixture_shape){.block = WARP_SIZE, .warp_size = WARP_SIZE});
    fixture_parameter(f, 0, fixture_alloc(f, 4 * WARP_SIZE));
    f->label = model;
    fixture_start(f);
    fixture_run(f);
    for (uint32_t i = 0; i < WARP_SIZE; i++)
        assert_int_equal(fixture_u32(f, FIXTURE_MEMORY)[i], i & 1 ? branch->odd : branch->even);
    if (FIXTURE_COUNTER(f, branches) != 1 || FIXTURE_COUNTER(f, divergent_branches) != branch->is_divergent)
        fail_msg("%s: %lu branches, of which %lu are divergent, in:\n%s", model,
                 (unsigned long)FIXTURE_COUNTER(f, branches), (unsigned long)FIXTURE_COUNTER(f, divergent_branches),
                 branch->text);
    fixture_close(f);
}

static void all_models_count_the_same_branches(void **state) {
    (void)state;
    size_t n_models;
    const struct divergence_ops *const *ops = divergence_list(&n_models);
    static const char *const variants[] = {"dwf:lanes=free", "dws:size=64",    "dws:branch-only", "dws:merge=dwf",
                                           "odgs:local=dwf", "odgs:local=tbc", "slip:bypass"};
    for (size_t b = 0; b < sizeof branches / sizeof *branches; b++) {
        for (size_t i = 0; i < n_models; i++)
            expect(ops[i]->name, &branches[b]);
        for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
            expect(variants[i], &branches[b]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_models_count_the_same_branches)};
    return cmocka_run_group_tests_name("divergence/branches", tests, NULL, NULL);
}
