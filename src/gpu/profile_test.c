/* Counts per thread and per branch, compared with counts made on paper. */
#include <string.h>

#include "divergence/divergence.h"
#include "gpu/fixture.h"

/* Threads below 8 of a block take one path, 3 instructions long. The others take the branch of line 12. */
static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n" /* 1 to 3 */
                           ".visible .entry k()\n{\n"                        /* 4, 5 */
                           ".reg .b32 %r<4>;\n.reg .pred %p;\n"              /* 6, 7 */
                           "mov.u32 %r0, %tid.x;\n"                          /* 8 */
                           "mov.u32 %r1, %tid.y;\n"
                           "mad.lo.u32 %r0, %r1, 8, %r0;\n"
                           "setp.ge.u32 %p, %r0, 8;\n"
                           "@%p bra OTHER;\n" /* 12 */
                           "add.u32 %r1, %r0, 1;\n"
                           "add.u32 %r1, %r0, 2;\n"
                           "bra END;\n" /* 15 */
                           "OTHER:\n"
                           "@!%p add.u32 %r1, %r0, 4;\n" /* executed by no thread */
                           "add.u32 %r1, %r0, 3;\n"
                           "add.u32 %r1, %r0, 3;\n"
                           "add.u32 %r1, %r0, 3;\n"
                           "END:\nret;\n}\n";

static void launch(struct gpu *gpu, uint32_t blocks, uint32_t height) {
    struct gpu_error error;
    struct gpu_launch launch = fixture_launch(gpu, text, blocks, 8, NULL);
    launch.shape.block[1] = height;
    if (!gpu_launch(gpu, &launch, &error))
        fail_msg("%s", error.message);
}

/* Four instructions, the branch for those that take it, the path, ret. */
static void expect_paths(const struct gpu_profile *profile, uint32_t launches, bool has_splits) {
    uint32_t per_block = profile->shape.block[0] * profile->shape.block[1];
    for (uint64_t i = 0; i < profile->n_threads; i++) {
        uint32_t thread = (uint32_t)(i % per_block);
        assert_int_equal(profile->path[i], launches * (thread < 8 ? 4 + 3 + 1 : 5 + 3 + 1));
        if (has_splits)
            assert_int_equal(profile->split[i], launches * (thread < 32 ? 1 : 0));
    }
}

static void expect_profile(struct gpu_config *config) {
    uint32_t count;
    struct gpu *gpu = fixture_open(config);
    launch(gpu, 3, 5); /* rows of 32 and 8: the second does not diverge */
    const struct gpu_profile *profile = gpu_profiles(gpu, &count);
    assert_int_equal(count, 1);
    assert_int_equal(profile->n_threads, 120);
    assert_int_equal(profile->n_launches, 1);
    expect_paths(profile, 1, true);
    assert_int_equal(profile->n_branches, 2);
    assert_int_equal(profile->branch[0].line, 12);
    assert_int_equal(profile->branch[0].executed, 6);
    assert_int_equal(profile->branch[0].diverged, 3);
    assert_int_equal(profile->branch[1].line, 15);
    assert_int_equal(profile->branch[1].executed, 3);
    assert_int_equal(profile->branch[1].diverged, 0);
    gpu_free(gpu);
}

static void without_time_each_thread_and_branch_is_counted(void **state) {
    (void)state;
    struct gpu_config config = gpu_default_config();
    config.records_threads = true;
    expect_profile(&config);
}

static void in_time_the_stack_counts_the_same(void **state) {
    (void)state;
    static struct config_machine machine;
    struct gpu_config config = gpu_default_config();
    config_defaults(&machine);
    config.machine = &machine;
    config.records_threads = true;
    expect_profile(&config);
}

/* The model decides which threads share a group: paths are the same, and threads diverged if and only if a branch was
 * counted as divergent. */
static void every_model_counts_paths_and_splits(void **state) {
    (void)state;
    size_t n_models;
    const struct divergence_ops *const *models = divergence_list(&n_models);
    for (size_t i = 0; i < n_models; i++) {
        static struct config_machine machine;
        struct gpu_config config = gpu_default_config();
        uint32_t count;
        config_defaults(&machine);
        strcpy(machine.divergence, models[i]->name);
        config.machine = &machine;
        config.records_threads = true;
        struct gpu *gpu = fixture_open(&config);
        launch(gpu, 3, 5);
        const struct gpu_profile *profile = gpu_profiles(gpu, &count);
        struct stats_counters totals = gpu_totals(gpu);
        uint64_t n_splits = 0;
        expect_paths(profile, 1, false);
        for (uint64_t k = 0; k < profile->n_threads; k++)
            n_splits += profile->split[k];
        assert_int_equal(profile->branch[0].diverged, totals.divergent_branches);
        assert_int_equal(profile->branch[0].executed + profile->branch[1].executed, totals.branches);
        assert_true(totals.divergent_branches > 0);
        assert_true(n_splits >= 2 * totals.divergent_branches && n_splits <= profile->n_threads);
        gpu_free(gpu);
    }
}

static void launches_of_one_shape_add_up(void **state) {
    (void)state;
    uint32_t count;
    struct gpu_config config = gpu_default_config();
    config.records_threads = true;
    struct gpu *gpu = fixture_open(&config);
    launch(gpu, 3, 5);
    launch(gpu, 2, 5);
    launch(gpu, 3, 5);
    const struct gpu_profile *profile = gpu_profiles(gpu, &count);
    assert_int_equal(count, 2);
    assert_int_equal(profile[0].n_launches, 2);
    assert_int_equal(profile[0].branch[0].executed, 12);
    expect_paths(&profile[0], 2, true);
    assert_int_equal(profile[1].shape.grid[0], 2);
    expect_paths(&profile[1], 1, true);
    gpu_free(gpu);
}

static void nothing_is_recorded_unless_asked_for(void **state) {
    (void)state;
    uint32_t count = 1;
    struct gpu_config config = gpu_default_config();
    struct gpu *gpu = fixture_open(&config);
    launch(gpu, 3, 5);
    gpu_profiles(gpu, &count);
    assert_int_equal(count, 0);
    gpu_free(gpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_time_each_thread_and_branch_is_counted),
        cmocka_unit_test(in_time_the_stack_counts_the_same),
        cmocka_unit_test(every_model_counts_paths_and_splits),
        cmocka_unit_test(launches_of_one_shape_add_up),
        cmocka_unit_test(nothing_is_recorded_unless_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
