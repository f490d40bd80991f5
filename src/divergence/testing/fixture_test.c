/* Tests of the fixture: it runs kernels on a correct model, lets loads wait, and detects the mistakes of broken models.
 * The broken ones are `stack` with one function replaced. Each runs in its own process, whose message is read. */
#include "divergence/testing/programs.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct divergence_ops divergence_stack;

#define COPY_NUMBER PROGRAM_HEAD PROGRAM_BEGIN "mov.u32 %r4, %r3;\n" PROGRAM_END

static struct fixture *open_model(const struct divergence_ops *ops, const char *text,
                                  const struct fixture_shape *shape) {
    struct fixture *f = fixture_open(ops, "stack", text, shape);
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    fixture_start(f);
    return f;
}

/* ---- Correct models ---------------------------------------------------------------------------------------------- */

static void memory_is_zeroed_aligned_and_apart(void **state) {
    (void)state;
    struct fixture *f = fixture_open(&divergence_stack, "stack", COPY_NUMBER, &(struct fixture_shape){0});
    uint64_t first = fixture_alloc(f, 1), second = fixture_alloc(f, 257), third = fixture_alloc(f, 4);
    assert_int_equal(first % 256, 0);
    assert_int_equal(second, first + 256);
    assert_int_equal(third, second + 512);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(fixture_u32(f, second)[i], 0);
    assert_int_equal(fixture_variable(f, "nothing"), 0);
    fixture_close(f);
}

static void every_block_runs_however_few_fit(void **state) {
    (void)state;
    const struct fixture_shape shape = {.block = 40, .grid = 7, .blocks_per_sm = 2, .n_sms = 2};
    struct fixture *f = open_model(&divergence_stack, COPY_NUMBER, &shape);
    fixture_run(f);
    assert_int_equal(f->n_finished, 7);
    assert_int_equal(fixture_free_slots(&f->sm[0]), f->n_slots);
    for (uint32_t i = 0; i < 7 * 40; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], i);
    fixture_close(f);
}

/* The first warp's load takes a hundred cycles in its last lane. */
static void delay_last_lane(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                            uint32_t delay[EXEC_LANES]) {
    (void)user;
    (void)pc;
    (void)mask;
    delay[EXEC_LANES - 1] = group->slot == 0 ? 100 : 0;
}

#define LOAD PROGRAM_HEAD PROGRAM_BEGIN "ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, %r0;\n" PROGRAM_END

static void loads_wait_as_the_test_says(void **state) {
    (void)state;
    const struct fixture_shape shape = {.block = 64};
    struct fixture *f = open_model(&divergence_stack, LOAD, &shape);
    f->outcome = delay_last_lane;
    while (f->sm[0].slot[0].n_accesses == 0)
        fixture_step(&f->sm[0], 0);
    uint64_t issued = f->cycle;
    assert_false(fixture_can_step(&f->sm[0], 0));
    assert_true(fixture_can_step(&f->sm[0], 1));
    while (!fixture_can_step(&f->sm[0], 0)) {
        fixture_idle(f);
        fixture_catch_up(f);
    }
    assert_int_equal(f->cycle, issued + 100);
    fixture_run(f);
    fixture_close(f);
}

/* The order of slots, as a hash. */
static void note_order(void *user, const struct divergence_group *group, const struct divergence_bundle *bundle) {
    uint64_t *hash = user;
    *hash = (*hash ^ (uint64_t)group->slot ^ (uint64_t)bundle->pc << 8) * 0x100000001b3ull;
}

static uint64_t order_of(uint64_t seed) {
    const struct fixture_shape shape = {.block = 128};
    struct fixture *f = open_model(&divergence_stack, COPY_NUMBER, &shape);
    uint64_t hash = 1;
    f->watch = note_order;
    f->user = &hash;
    fixture_run_random(f, seed);
    fixture_close(f);
    return hash;
}

static void a_seed_is_an_order(void **state) {
    (void)state;
    assert_true(order_of(1) == order_of(1));
    assert_true(order_of(1) != order_of(2));
}

/* ---- Broken models ----------------------------------------------------------------------------------------------- */

static struct divergence_ops broken;

static void run_broken(void **state) {
    (void)state;
    const struct fixture_shape shape = {.block = 64};
    struct fixture *f =
        open_model(&broken, PROGRAM_HEAD PROGRAM_BEGIN "bar.sync 0; mov.u32 %r4, %r0;\n" PROGRAM_END, &shape);
    f->is_lane_aware = true;
    fixture_run(f);
    fixture_close(f);
}

/* The test of the broken model fails, and says this. */
static void expect_complaint(const char *text) {
    int ends[2];
    char output[4096];
    size_t n = 0;
    ssize_t more;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(run_broken)};
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
        fflush(NULL);
        _exit(n_failed);
    }
    close(ends[1]);
    while (n + 1 < sizeof output && (more = read(ends[0], output + n, sizeof output - 1 - n)) > 0)
        n += (size_t)more;
    output[n] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    if (!strstr(output, text))
        fail_msg("'%s' is not in: %s", text, output);
}

/* Calls thread() as `stack` does, but not for lane 3 of the first row. */
struct filter {
    void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane);
    void *user;
};

static void leave_one_out(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane) {
    const struct filter *filter = user;
    if (lane != 3 || row->index != 0)
        filter->thread(filter->user, group, row, lane);
}

static void name_one_twice(void *user, const struct divergence_group *group, const struct exec_row *row,
                           uint32_t lane) {
    const struct filter *filter = user;
    filter->thread(filter->user, group, row, lane);
    if (lane == 3)
        filter->thread(filter->user, group, row, lane);
}

/* Puts the threads of the second row into the group of the first. */
static void share_a_lane(void *user, const struct divergence_group *group, const struct exec_row *row, uint32_t lane) {
    const struct filter *filter = user;
    static const struct divergence_group *first;
    first = row->index == 0 ? group : first;
    filter->thread(filter->user, first, row, lane);
}

#define VISIT(name, filter_name)                                                                                       \
    static void name(const void *model, const struct divergence_block *block,                                          \
                     void (*thread)(void *, const struct divergence_group *, const struct exec_row *, uint32_t),       \
                     void *user) {                                                                                     \
        divergence_stack.visit(model, block, filter_name, &(struct filter){thread, user});                             \
    }
VISIT(visit_without_one, leave_one_out)
VISIT(visit_twice, name_one_twice)
VISIT(visit_one_group, share_a_lane)
#undef VISIT

static void threads_that_are_lost_doubled_or_on_one_lane_are_found(void **state) {
    (void)state;
    broken = divergence_stack;
    broken.visit = visit_without_one;
    expect_complaint("thread 3 of row 0, block 0 is alive and not named by visit()");
    broken.visit = visit_twice;
    expect_complaint("thread 3 of row 0, block 0 is named twice by visit()");
    broken.visit = visit_one_group;
    expect_complaint("has two threads in one group");
}

/* At a barrier the other group is changed, and the host is not told. */
static struct divergence_group *seen[2];

static void change_the_other(void *model, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    divergence_stack.control(model, group, pc, mask, cycle);
    seen[group->row->index] = group;
    if (seen[0] && seen[1])
        seen[group == seen[0]]->pc++;
}

static void wait_for_ever(void *model, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    (void)model;
    (void)pc;
    (void)mask;
    (void)cycle;
    group->status = DIVERGENCE_WAITS;
}

static void changes_in_secret_and_deadlocks_are_found(void **state) {
    (void)state;
    broken = divergence_stack;
    broken.control = change_the_other;
    expect_complaint("has been changed and not woken");
    broken.control = wait_for_ever;
    expect_complaint("deadlock at cycle");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(every_block_runs_however_few_fit),
        cmocka_unit_test(loads_wait_as_the_test_says),
        cmocka_unit_test(a_seed_is_an_order),
        cmocka_unit_test(threads_that_are_lost_doubled_or_on_one_lane_are_found),
        cmocka_unit_test(changes_in_secret_and_deadlocks_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
