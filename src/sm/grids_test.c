/* Several grids on an SM: room for their blocks, and their shares of the counters. */
#include "sm/fixture.h"

/* Two kernels: one of 5 instructions, and one with more registers, of 2 + 4 * 10 + 2 instructions. */
static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry small(.param .u64 p) {\n"
    ".reg .b32 %r<4>; .reg .b64 %d<2>;\nld.param.u64 %d1, [p]; mov.u32 %r1, 3; add.u32 %r1, %r1, %r1;\n"
    "st.global.u32 [%d1], %r1; ret;\n}\n"
    ".visible .entry large(.param .u64 p) {\n.reg .b32 %r<40>; .reg .b64 %d<2>; .reg .pred %p<2>;\n"
    "ld.param.u64 %d1, [p]; mov.u32 %r30, 10;\n"
    "again: mad.lo.u32 %r31, %r30, %r30, %r31; sub.u32 %r30, %r30, 1; setp.ne.u32 %p1, %r30, 0; @%p1 bra again;\n"
    "st.global.u32 [%d1+128], %r31; ret;\n}\n";

enum { SMALL, LARGE, N_GRIDS };

struct several {
    struct fixture f;
    struct mem *mem;
    struct ptx_module *module;
    struct exec_program *program[N_GRIDS];
    struct sm_program *timing[N_GRIDS];
    struct exec_grid grid[N_GRIDS];
    struct exec_memory memory;
    struct exec_allocation allocation;
    uint64_t parameter;
    unsigned char *bytes;
    void *scheduler_options, *divergence_options;
};

static void open_sm(struct several *s, uint32_t threads_of_small, uint32_t threads_of_large) {
    static const char *const settings[] = {"sm.threads=256", "sm.blocks=3", NULL};
    static const char *const name[] = {"small", "large"};
    char error[256];
    *s = (struct several){.f = {.clock = {.wake = SM_NEVER}}, .parameter = FIXTURE_MEMORY};
    fixture_configure(&s->f.machine, settings);
    struct sm_setup setup = {.machine = &s->f.machine,
                             .dispatcher = {.block_ended = fixture_block_ended, .wake = fixture_wake, .user = &s->f},
                             .checks = true};
    assert_true(sched_parse("lrr", &setup.scheduler, &s->scheduler_options, error, sizeof error));
    assert_true(divergence_parse("stack", &setup.divergence, &s->divergence_options, error, sizeof error));
    setup.scheduler_options = s->scheduler_options;
    setup.divergence_options = s->divergence_options;
    setup.mem = s->mem = mem_new(&s->f.machine, fixture_memory_done, &s->f);
    mem_report_changes(s->mem, fixture_memory_changed);
    s->f.sm = sm_new(&setup);
    assert_true(sm_can_share(s->f.sm));
    s->bytes = calloc(1, FIXTURE_MEMORY_BYTES);
    s->allocation = (struct exec_allocation){FIXTURE_MEMORY, FIXTURE_MEMORY_BYTES};
    s->memory = (struct exec_memory){.base = FIXTURE_MEMORY,
                                     .limit = FIXTURE_MEMORY + FIXTURE_MEMORY_BYTES,
                                     .delta = (ptrdiff_t)((uintptr_t)s->bytes - FIXTURE_MEMORY),
                                     .allocation = &s->allocation,
                                     .n_allocations = 1};
    struct ptx_messages messages = {0};
    s->module = ptx_parse("k.ptx", text, strlen(text), &messages);
    for (int k = 0; k < N_GRIDS; k++) {
        s->program[k] =
            s->module ? exec_link(s->module, ptx_find_function(s->module, name[k]), NULL, NULL, &messages) : NULL;
        if (!s->program[k])
            fail_msg("%s", messages.text);
        s->timing[k] = sm_program_new(s->program[k], &s->f.machine);
        s->grid[k] = (struct exec_grid){.program = s->program[k],
                                        .memory = &s->memory,
                                        .parameters = (const unsigned char *)&s->parameter,
                                        .parameter_bytes = s->program[k]->parameter_bytes,
                                        .shape = {.grid = {8, 1, 1}, .block = {32, 1, 1}},
                                        .grid_id = (uint64_t)k + 1,
                                        .n_sms = 1,
                                        .warp_size = 32,
                                        .warps_per_sm = 8};
    }
    s->grid[SMALL].shape.block[0] = threads_of_small;
    s->grid[LARGE].shape.block[0] = threads_of_large;
    sm_begin_grid(s->f.sm, &s->grid[SMALL], s->timing[SMALL]);
    sm_share_grid(s->f.sm);
    sm_join_grid(s->f.sm, LARGE, &s->grid[LARGE], s->timing[LARGE], 0);
}

static void close_sm(struct several *s) {
    sm_end_grid(s->f.sm);
    sm_free(s->f.sm);
    mem_free(s->mem);
    for (int k = 0; k < N_GRIDS; k++) {
        sm_program_free(s->timing[k]);
        exec_program_free(s->program[k]);
    }
    ptx_module_free(s->module);
    free(s->bytes);
    free(s->scheduler_options);
    free(s->divergence_options);
}

static void start(struct several *s, uint32_t k, uint32_t block) {
    assert_true(sm_has_room_for(s->f.sm, k));
    sm_start_block_of(s->f.sm, k, block, 0, 0);
    fixture_wake(&s->f, 0, 1);
}

/* Returns the last cycle. */
static uint64_t run(struct several *s, uint32_t n_blocks) {
    uint64_t cycle = 0;
    char broken[200];
    while (s->f.n_ended < n_blocks) {
        uint64_t event = mem_next_event(s->mem);
        cycle = event < s->f.clock.wake ? event : s->f.clock.wake;
        assert_true(cycle != SM_NEVER);
        if (event <= cycle)
            mem_advance(s->mem, cycle);
        if (s->f.clock.wake > cycle)
            continue;
        assert_int_equal(sm_run(s->f.sm, SM_TOGETHER, cycle, &s->f.clock), SM_TICKED);
        if (!sm_check_invariants(s->f.sm, broken, sizeof broken))
            fail_msg("%s", broken);
    }
    return cycle;
}

/* 256 threads and 3 blocks on an SM. */
static void blocks_of_all_grids_take_places(void **state) {
    (void)state;
    struct several s;
    open_sm(&s, 96, 64);
    start(&s, SMALL, 0);
    start(&s, LARGE, 0);
    assert_true(sm_has_room_for(s.f.sm, SMALL)); /* 256 of 256 threads */
    start(&s, SMALL, 1);
    assert_false(sm_has_room_for(s.f.sm, SMALL));
    assert_false(sm_has_room_for(s.f.sm, LARGE));
    run(&s, 3);
    assert_true(sm_has_room_for(s.f.sm, LARGE));
    assert_int_equal(sm_take_ended(s.f.sm, SMALL), 2);
    assert_int_equal(sm_take_ended(s.f.sm, LARGE), 1);
    assert_int_equal(sm_take_ended(s.f.sm, LARGE), 0);
    close_sm(&s);
    open_sm(&s, 32, 32);
    for (uint32_t i = 0; i < 3; i++)
        start(&s, i % N_GRIDS, i);
    assert_false(sm_has_room_for(s.f.sm, SMALL)); /* three blocks */
    run(&s, 3);
    close_sm(&s);
}

static void every_grid_runs_its_own_program_and_counts_it(void **state) {
    (void)state;
    struct several s;
    struct stats_counters share[N_GRIDS] = {{.cycles = 0}}, all = {.cycles = 0};
    uint64_t lanes[N_GRIDS][EXEC_LANES + 1] = {{0}};
    open_sm(&s, 64, 32);
    start(&s, SMALL, 0);
    start(&s, LARGE, 0);
    uint64_t last = run(&s, 2);
    for (uint32_t k = 0; k < N_GRIDS; k++)
        sm_leave_grid(s.f.sm, k, last, &share[k], lanes[k]);
    sm_add_counters(s.f.sm, &all);
    stats_add_mem(&all, mem_counters(s.mem));
    assert_int_equal(share[SMALL].warp_instructions, 2 * 5);
    assert_int_equal(share[LARGE].warp_instructions, 2 + 4 * 10 + 2);
    assert_int_equal(lanes[LARGE][32], 2 + 4 * 10 + 2 - 1);
    assert_int_equal(lanes[LARGE][0], 1); /* the last branch is not taken */
    assert_int_equal(share[SMALL].threads, 64);
    assert_int_equal(share[SMALL].branches, 0);
    assert_int_equal(share[LARGE].branches, 10);
    assert_int_equal(share[LARGE].long_instructions, 1);
    assert_int_equal(share[SMALL].control_thread_instructions, 64);
    assert_true(share[LARGE].active_cycles > share[SMALL].active_cycles);
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++) {
        bool is_divided_here = i == STATS_AT_empty_unused || i == STATS_AT_empty_start || i == STATS_AT_empty_tail;
        if (!is_divided_here)
            assert_int_equal(share[SMALL].value[i] + share[LARGE].value[i], all.value[i]);
    }
    for (int k = 0; k < N_GRIDS; k++)
        assert_int_equal(share[k].empty_unused + share[k].empty_start + share[k].empty_tail, share[k].stall_empty);
    uint32_t word;
    memcpy(&word, s.bytes, sizeof word);
    assert_int_equal(word, 6);
    memcpy(&word, s.bytes + 128, sizeof word);
    assert_int_equal(word, 10 * 11 * 21 / 6);
    close_sm(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_all_grids_take_places),
        cmocka_unit_test(every_grid_runs_its_own_program_and_counts_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
