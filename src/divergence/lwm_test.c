/* Tests of large warps: the sub-warps of the paper's example, the effect of each option, and the results of every
 * program. */
#include "divergence/testing/programs.h"
#include "exec/scattered.h"

extern const struct divergence_ops divergence_lwm, divergence_stack;

/* --- what issues --- */

enum { MOST_SEEN = 4096 };

struct seen {
    uint32_t pc, mask;
    int row[EXEC_LANES]; /* -1: lane empty */
    uint64_t cycle;
};

struct log {
    struct fixture *f;
    struct seen seen[MOST_SEEN];
    uint32_t n;
};

static void watch(void *user, const struct divergence_group *group, const struct divergence_bundle *bundle) {
    struct log *log = user;
    assert_true(log->n < MOST_SEEN);
    struct seen *seen = &log->seen[log->n++];
    *seen = (struct seen){.pc = group->pc, .mask = bundle->mask, .cycle = log->f->cycle};
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++) {
        const struct exec_row *row = bundle->row ? bundle->row : log->f->sm[0].cx.threads->row[lane];
        seen->row[lane] = bundle->mask >> lane & 1 ? (int)row->index : -1;
    }
}

static struct fixture *open_logged(const char *model, const char *text, const struct fixture_shape *shape,
                                   struct log *log) {
    const struct divergence_ops *ops = strcmp(model, "stack") == 0 ? &divergence_stack : &divergence_lwm;
    struct fixture *f = fixture_open(ops, model, text, shape);
    log->f = f;
    log->n = 0;
    f->watch = watch;
    f->user = log;
    fixture_parameter(f, 0, fixture_alloc(f, 4096));
    return f;
}

/* Bundles at the first pc of an opcode. */
static uint32_t pc_of(const struct fixture *f, enum ptx_opcode opcode) {
    uint32_t pc = 0;
    while (f->program->code[pc].opcode != opcode)
        pc++;
    return pc;
}

static uint32_t count_at(const struct log *log, uint32_t pc, const struct seen **first) {
    uint32_t n = 0;
    for (uint32_t i = log->n; i-- > 0;)
        if (log->seen[i].pc == pc) {
            n++;
            *first = &log->seen[i];
        }
    return n;
}

static uint32_t run_and_count(const char *model, const char *text, const struct fixture_shape *shape,
                              enum ptx_opcode opcode) {
    static struct log log;
    const struct seen *first;
    struct fixture *f = open_logged(model, text, shape, &log);
    fixture_start(f);
    fixture_run(f);
    uint32_t n = count_at(&log, pc_of(f, opcode), &first);
    fixture_close(f);
    return n;
}

/* --- the paper's example --- */

/* Narasiman 2011, figure 7, as bits of 32 threads: rows of four lanes, thread = 4 * row + column. */
#define FIGURE_7 "mov.u32 %r5, 0x31c62e59; shr.u32 %r5, %r5, %r0; and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 1;\n"
static const struct fixture_shape eight_by_four = {.block = 32, .warp_size = 4};
static const int sub_warps_7[4][4] = {{0, 2, 1, 0}, {1, 3, 2, 2}, {6, 4, 4, 5}, {7, 7, 5, -1}};

static void expect_figure_7(const char *text) {
    static struct log log;
    struct fixture *f = open_logged("lwm:size=32", text, &eight_by_four, &log);
    const struct seen *first = NULL;
    fixture_start(f);
    fixture_run(f);
    assert_int_equal(count_at(&log, pc_of(f, PTX_OP_XOR), &first), 4);
    for (int i = 0; i < 4; i++)
        assert_memory_equal(first[i].row, sub_warps_7[i], sizeof sub_warps_7[i]);
    fixture_close(f);
}

static void a_divergent_branch_leaves_the_papers_sub_warps(void **state) {
    (void)state;
    expect_figure_7(PROGRAM_HEAD PROGRAM_BEGIN FIGURE_7
                    "@!%p1 bra SKIP; xor.b32 %r4, %r0, 1; SKIP: add.u32 %r4, %r4, 1;\n" PROGRAM_END);
}

static void a_predicated_instruction_is_packed_by_its_predicate(void **state) {
    (void)state;
    expect_figure_7(PROGRAM_HEAD PROGRAM_BEGIN FIGURE_7 "@%p1 xor.b32 %r4, %r0, 1; add.u32 %r4, %r4, 1;\n" PROGRAM_END);
}

/* --- options --- */

static const struct fixture_shape two_large = {.block = 512};

/* Every other thread stores to global and to shared memory, jumps, and computes. */
#define MEMORY_TEXT                                                                                                    \
    PROGRAM_HEAD ".shared .align 4 .b8 area[4096];\n" PROGRAM_BEGIN                                                    \
                 "mov.u32 %r4, 0; mov.u32 %r10, area; shl.b32 %r11, %r0, 2; add.u32 %r11, %r10, %r11;\n"               \
                 "and.b32 %r5, %r0, 32; setp.eq.u32 %p1, %r5, 0; @%p1 bra SKIP;\n"                                     \
                 "st.shared.u32 [%r11], %r0; atom.global.add.u32 %r6, [%rd1], 1;\n"                                    \
                 "SKIP: bra.uni NEXT; xor.b32 %r4, %r4, 1; NEXT:\n" PROGRAM_END

/* Odd rows run the path: 4 of the 8 in each large warp, 8 bundles if unpacked as if packed; so half of each row. */
#define HALF_TEXT                                                                                                      \
    PROGRAM_HEAD ".shared .align 4 .b8 area[4096];\n" PROGRAM_BEGIN                                                    \
                 "mov.u32 %r4, 0; mov.u32 %r10, area; shl.b32 %r11, %r0, 2; add.u32 %r11, %r10, %r11;\n"               \
                 "shr.u32 %r5, %r0, 5; xor.b32 %r5, %r5, %r0; and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 0;\n"         \
                 "@%p1 bra SKIP;\n"                                                                                    \
                 "st.shared.u32 [%r11], %r0; atom.global.add.u32 %r6, [%rd1], 1;\n"                                    \
                 "SKIP: bra.uni NEXT; NEXT:\n" PROGRAM_END

static uint32_t count_stores_to(const char *model, enum ptx_space space) {
    static struct log log;
    struct fixture *f = open_logged(model, HALF_TEXT, &two_large, &log);
    const struct seen *first;
    uint32_t pc = 0;
    fixture_start(f);
    fixture_run(f);
    while (f->program->code[pc].kind != EXEC_KIND_CONTEXT || f->program->code[pc].access.space != space)
        pc++;
    uint32_t n = count_at(&log, pc, &first);
    fixture_close(f);
    return n;
}

static void global_accesses_go_row_by_row_and_shared_ones_packed(void **state) {
    (void)state;
    assert_int_equal(count_stores_to("lwm", PTX_SPACE_GLOBAL), 16); /* half of each of 16 rows */
    assert_int_equal(count_stores_to("lwm", PTX_SPACE_SHARED), 8);
    assert_int_equal(count_stores_to("lwm:memopt=off", PTX_SPACE_GLOBAL), 8);
}

static uint32_t count_jumps(const char *model) {
    static struct log log;
    struct fixture *f = open_logged(model, MEMORY_TEXT, &two_large, &log);
    const struct seen *first;
    uint32_t pc = 0;
    fixture_start(f);
    fixture_run(f);
    while (f->program->code[pc].kind != EXEC_KIND_BRANCH || f->program->code[pc].guard.offset)
        pc++;
    uint32_t n = count_at(&log, pc, &first);
    fixture_close(f);
    return n;
}

static void a_jump_takes_one_sub_warp(void **state) {
    (void)state;
    assert_int_equal(count_jumps("lwm"), 2);
    assert_int_equal(count_jumps("lwm:jumpopt=off"), 16);
    assert_int_equal(count_jumps("lwm:size=64"), 8);
}

/* All threads take part in a conditional branch, whatever their guard. */
static void a_conditional_branch_takes_all_sub_warps(void **state) {
    (void)state;
    static struct log log;
    struct fixture *f = open_logged("lwm", MEMORY_TEXT, &two_large, &log);
    const struct seen *first = NULL;
    uint32_t pc = pc_of(f, PTX_OP_BRA);
    fixture_start(f);
    fixture_run(f);
    assert_int_equal(count_at(&log, pc, &first), 16);
    assert_int_equal(first[0].mask, ~0u); /* row 0 jumps */
    assert_int_equal(first[1].mask, 0);
    fixture_close(f);
}

static void a_perfect_register_file_packs_one_column(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN "and.b32 %r5, %r0, 31; setp.eq.u32 %p1, %r5, 3;\n"
                                                          "@%p1 xor.b32 %r4, %r0, 1;\n" PROGRAM_END;
    assert_int_equal(run_and_count("lwm", text, &two_large, PTX_OP_XOR), 16);
    assert_int_equal(run_and_count("lwm:perfect_rf=on", text, &two_large, PTX_OP_XOR), 2);
}

static void nobodys_guard_takes_one_empty_sub_warp(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN "setp.eq.u32 %p1, %r0, 1000;\n"
                                                          "@%p1 xor.b32 %r4, %r0, 1;\n" PROGRAM_END;
    assert_int_equal(run_and_count("lwm", text, &two_large, PTX_OP_XOR), 2);
}

/* --- scalar instructions --- */

#define SCALAR_TEXT                                                                                                    \
    PROGRAM_HEAD PROGRAM_BEGIN "ld.param.u64 %rd3, [out]; ld.global.u32 %r6, [%rd3+2048]; mov.u32 %r7, 5;\n"           \
                               "xor.b32 %r8, %r7, %r1; sub.u32 %r9, %r8, %r0; add.u32 %r4, %r9, %r6;\n" PROGRAM_END

static void scalar_instructions_take_one_sub_warp_and_everybody_gets_the_result(void **state) {
    (void)state;
    static struct log log;
    struct fixture *f = open_logged("lwm:scalar=on", SCALAR_TEXT, &(struct fixture_shape){.block = 256}, &log);
    const struct seen *first;
    uint64_t out = f->parameter[0];
    fixture_u32(f, out)[512] = 77;
    fixture_start(f);
    fixture_run(f);
    assert_int_equal(count_at(&log, pc_of(f, PTX_OP_XOR), &first), 1);
    assert_int_equal(count_at(&log, pc_of(f, PTX_OP_XOR) - 2, &first), 1); /* the load */
    assert_int_equal(count_at(&log, pc_of(f, PTX_OP_SUB), &first), 8);
    for (uint32_t i = 0; i < 256; i++)
        assert_int_equal(fixture_u32(f, out)[i], 5 - i + 77);
    fixture_close(f);
    assert_int_equal(run_and_count("lwm", SCALAR_TEXT, &(struct fixture_shape){.block = 256}, PTX_OP_XOR), 8);
}

/* A wild address faults once, in the sub-warp that issued. */
static void a_scalar_load_faults_like_any_other(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN "mov.u64 %rd3, 64; ld.global.u32 %r4, [%rd3];\n" PROGRAM_END;
    struct fixture *f = fixture_open(&divergence_lwm, "lwm:scalar=on", text, &two_large);
    f->expects_fault = true;
    fixture_start(f);
    fixture_run(f);
    assert_int_equal(f->sm[0].cx.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(f->sm[0].cx.fault.address, 64);
    assert_int_equal(f->sm[0].cx.row->index, 0); /* the sub-warp's row, not one of those that it stands for */
    fixture_close(f);
}

/* --- refetch=first --- */

#define LOAD_TEXT                                                                                                      \
    PROGRAM_HEAD PROGRAM_BEGIN                                                                                         \
        "ld.global.u32 %r5, [%rd1]; xor.b32 %r4, %r5, 1; setp.eq.u32 %p1, %r4, 9; @%p1 bra END; END:\n" PROGRAM_END

/* Row 2's load takes 50 cycles, the others' hit. */
static void slow_row(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                     uint32_t delay[EXEC_LANES]) {
    (void)group, (void)pc;
    const struct log *log = user;
    for (uint32_t lane = 0; lane < EXEC_LANES; lane++)
        delay[lane] = (mask >> lane & 1) && log->seen[log->n - 1].row[lane] == 2 ? 50 : 0;
}

static void with_refetch_first_threads_in_flight_stay_and_the_others_issue(void **state) {
    (void)state;
    static struct log log;
    struct fixture *f = open_logged("lwm:refetch=first", LOAD_TEXT, &(struct fixture_shape){.block = 128}, &log);
    const struct seen *first = NULL, *branch = NULL;
    f->outcome = slow_row;
    f->machine.sm.stages = 1;
    fixture_start(f);
    fixture_run(f);
    uint32_t pc = pc_of(f, PTX_OP_XOR);
    assert_int_equal(count_at(&log, pc, &first), 4);
    static const int order[] = {0, 1, 3, 2};
    for (int i = 0; i < 4; i++)
        assert_int_equal(first[i].row[0], order[i]);
    assert_true(first[2].cycle < first[3].cycle); /* rows 0, 1 and 3 at once, row 2 when its data has come */
    assert_in_range(first[3].cycle - first[2].cycle, 40, 52);
    assert_int_equal(count_at(&log, pc + 2, &branch), 4);
    assert_true(branch[0].cycle > first[3].cycle);
    fixture_close(f);
}

/* 2014, 4.2.2: a branch issues for the threads that are not in flight, like any instruction; what follows a conditional
 * one waits for all its sub-warps, what follows a jump does not. */
static void only_what_follows_a_conditional_branch_waits(void **state) {
    (void)state;
    static const char *const branches[] = {"@%p1 bra END;", "bra NEXT; NEXT:"};
    for (int i = 0; i < 2; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "%s and.b32 %%r6, %%r0, 1; setp.eq.u32 %%p1, %%r6, 1; ld.global.u32 %%r5, [%%rd1]; %s\n%s",
                 PROGRAM_HEAD PROGRAM_BEGIN, branches[i], "xor.b32 %r4, %r0, 1; END:\n" PROGRAM_END);
        static struct log log;
        struct fixture *f = open_logged("lwm:refetch=first", text, &(struct fixture_shape){.block = 128}, &log);
        const struct seen *branch = NULL, *next = NULL;
        bool is_jump = i == 1;
        f->outcome = slow_row;
        f->machine.sm.stages = 1;
        fixture_start(f);
        fixture_run(f);
        uint32_t pc = pc_of(f, PTX_OP_XOR);
        assert_int_equal(count_at(&log, pc - 1, &branch), is_jump ? 1 : 4);
        assert_int_equal(branch[0].row[1], 0); /* odd lanes take the branch */
        assert_int_equal(count_at(&log, pc, &next), 4);
        if (is_jump) {
            assert_int_equal(next[2].row[0], 3);
            assert_in_range(next[3].cycle - next[2].cycle, 40, 52);
        } else {
            assert_int_equal(branch[2].row[1], 3);
            assert_in_range(branch[3].cycle - branch[2].cycle, 40, 52);
            assert_true(next[0].cycle > branch[3].cycle);
        }
        fixture_close(f);
    }
}

/* Row by row, too. */
static void threads_in_flight_are_left_out_of_rows(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN "ld.global.u32 %r5, [%rd1]; atom.global.add.u32 %r4, [%rd1], 1;\n" PROGRAM_END;
    static struct log log;
    struct fixture *f = open_logged("lwm:refetch=first", text, &(struct fixture_shape){.block = 128}, &log);
    const struct seen *first = NULL;
    f->outcome = slow_row;
    f->machine.sm.stages = 1;
    fixture_start(f);
    fixture_run(f);
    assert_int_equal(count_at(&log, pc_of(f, PTX_OP_ATOM), &first), 4);
    static const int order[] = {0, 1, 3, 2};
    for (int i = 0; i < 4; i++)
        assert_int_equal(first[i].row[0], order[i]);
    fixture_close(f);
}

/* Only row 2 loads; the others are not in flight, but nothing is fetched before a sub-warp of the load has come back.
 */
static void the_next_instruction_waits_for_the_first_sub_warp(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM_HEAD PROGRAM_BEGIN "shr.u32 %r6, %r0, 5; setp.eq.u32 %p1, %r6, 2; @%p1 ld.global.u32 %r5, [%rd1]; "
                                   "xor.b32 %r4, %r0, 1;\n" PROGRAM_END;
    static struct log log;
    struct fixture *f = open_logged("lwm:refetch=first", text, &(struct fixture_shape){.block = 128}, &log);
    const struct seen *first = NULL, *load = NULL;
    f->outcome = slow_row;
    f->machine.sm.stages = 1;
    fixture_start(f);
    fixture_run(f);
    uint32_t pc = pc_of(f, PTX_OP_XOR);
    assert_int_equal(count_at(&log, pc - 1, &load), 1);
    assert_int_equal(count_at(&log, pc, &first), 4);
    assert_in_range(first[0].cycle - load[0].cycle, 50, 55);
    fixture_close(f);
}

static void with_refetch_all_everybody_waits_for_the_last(void **state) {
    (void)state;
    static struct log log;
    struct fixture *f = open_logged("lwm", LOAD_TEXT, &(struct fixture_shape){.block = 128}, &log);
    const struct seen *first = NULL;
    f->outcome = slow_row;
    fixture_start(f);
    fixture_run(f);
    assert_int_equal(count_at(&log, pc_of(f, PTX_OP_XOR), &first), 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(first[i].row[0], i);
        assert_int_equal(first[i].cycle, first[0].cycle);
    }
    fixture_close(f);
}

static void refetch_first_is_refused_with_a_scoreboard(void **state) {
    (void)state;
    char text[200] = "";
    struct fixture *f = fixture_open(&divergence_lwm, "lwm:2014", LOAD_TEXT, &two_large);
    f->machine.sm.pipeline = CONFIG_PIPELINE_SCOREBOARD;
    const char *rule = divergence_lwm.refuses(f->options, &f->machine, f->program, text, sizeof text);
    assert_non_null(rule);
    assert_non_null(strstr(rule, "use refetch=all"));
    f->machine.sm.pipeline = CONFIG_PIPELINE_BARREL;
    assert_null(divergence_lwm.refuses(f->options, &f->machine, f->program, text, sizeof text));
    fixture_close(f);
}

/* --- barriers --- */

/* bar.arrive does not wait: as the last instruction of a path it leads to the join like any other. */
static void a_path_may_end_with_an_arrival(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "and.b32 %r5, %r0, 1; setp.eq.u32 %p1, %r5, 0; mov.u32 %r4, 0; @%p1 bra JOIN; bar.arrive 1, 128;\n"
        "JOIN: xor.b32 %r4, %r0, 1;\n" PROGRAM_END;
    static const char *const models[] = {"lwm:size=64", "stack"};
    for (int i = 0; i < 2; i++) {
        static struct log log;
        struct fixture *f = open_logged(models[i], text, &(struct fixture_shape){.block = 64}, &log);
        const struct seen *first = NULL;
        fixture_start(f);
        fixture_run(f);
        assert_int_equal(count_at(&log, pc_of(f, PTX_OP_XOR), &first), 2); /* no thread has gone past the join alone */
        assert_int_equal(first[0].mask, ~0u);
        fixture_close(f);
    }
}

/* Rows of one large warp at different barriers: rows 0 and 1 at barrier 1, rows 2 and 3 at barrier 2. */
static void rows_of_a_large_warp_may_wait_at_different_barriers(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "shr.u32 %r5, %r0, 6; add.u32 %r5, %r5, 1; and.b32 %r6, %r0, 1; setp.eq.u32 %p1, %r6, 0;\n"
        "bar.red.popc.u32 %r4, %r5, 64, %p1;\n" PROGRAM_END;
    struct fixture *f = fixture_open(&divergence_lwm, "lwm", text, &(struct fixture_shape){.block = 128});
    fixture_parameter(f, 0, fixture_alloc(f, 512));
    fixture_start(f);
    fixture_run(f);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(fixture_u32(f, f->parameter[0])[i], 32);
    fixture_close(f);
}

/* --- sizes --- */

static uint32_t groups_at_start(const char *model, const char *text, const struct fixture_shape *shape) {
    struct fixture *f = fixture_open(&divergence_lwm, model, text, shape);
    fixture_start(f);
    uint32_t n = f->n_slots - fixture_free_slots(&f->sm[0]);
    fixture_close(f);
    return n;
}

static void a_large_warp_never_spans_two_blocks(void **state) {
    (void)state;
    static const struct fixture_shape shape = {.block = 96, .grid = 4};
    assert_int_equal(groups_at_start("lwm", PROGRAM_COLLATZ, &shape), 4);
    assert_int_equal(groups_at_start("lwm:size=64", PROGRAM_COLLATZ, &shape), 8);
    assert_int_equal(groups_at_start("lwm:size=32", PROGRAM_COLLATZ, &shape), 12);
}

static void a_kernels_pragma_names_the_size(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN ".pragma \"nounroll\"; .pragma \"heddle warp_size 128\";\n"
                                                          "mov.u32 %r4, 1;\n" PROGRAM_END;
    assert_int_equal(groups_at_start("lwm", text, &two_large), 4);
    assert_int_equal(groups_at_start("lwm:size=64", text, &two_large), 4);
}

static void a_pragma_with_another_size_is_refused(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD ".visible .entry k() { .pragma \"heddle warp_size 77\"; ret; }\n";
    struct ptx_messages messages = {0};
    struct ptx_module *module = ptx_parse("t.ptx", text, sizeof text - 1, &messages);
    assert_non_null(module);
    assert_null(exec_link(module, ptx_find_function(module, "k"), NULL, NULL, &messages));
    assert_non_null(strstr(messages.text, "32, 64, 128, 256 or 512"));
    ptx_messages_free(&messages);
    ptx_module_free(module);
}

/* The same instructions with the same lanes in the same order. */
static void a_large_warp_of_one_row_is_a_warp(void **state) {
    (void)state;
    static struct log large, ordinary;
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        const struct fixture_shape shape = {.block = 77, .grid = 2};
        struct fixture *a = open_logged("lwm:size=32,refetch=first", programs[p].text, &shape, &large);
        struct fixture *b = open_logged("stack", programs[p].text, &shape, &ordinary);
        for (struct fixture *f = a; f; f = f == a ? b : NULL) {
            fixture_start(f);
            for (int i = 0; i < 500 && !fixture_is_done(f); i++)
                for (uint32_t s = 0; s < f->n_slots; s++)
                    if (fixture_can_step(&f->sm[0], s))
                        fixture_step(&f->sm[0], s);
        }
        assert_int_equal(large.n, ordinary.n);
        assert_memory_equal(large.seen, ordinary.seen, large.n * sizeof *large.seen);
        assert_memory_equal(&a->sm[0].counters, &b->sm[0].counters, sizeof a->sm[0].counters);
        fixture_close(a);
        fixture_close(b);
    }
}

/* --- everything --- */

static void every_program_computes_what_it_should(void **state) {
    (void)state;
    static const char *const models[] = {
        "lwm",
        "lwm:size=32",
        "lwm:size=64,memopt=off,jumpopt=off",
        "lwm:size=64,perfect_rf=on,memopt=off",
        "lwm:scalar=on",
        "lwm:refetch=first",
        "lwm:size=64,refetch=first,scalar=on,perfect_rf=on,memopt=off",
    };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        programs_check_all(&divergence_lwm, models[i], false);
}

/* Loads of any length at random: no thread is lost or waits forever. */
static void any_delay(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                      uint32_t delay[EXEC_LANES]) {
    (void)group, (void)pc;
    uint64_t *seed = user;
    uint32_t cycles = fixture_random(seed) % 3 ? 0 : fixture_random(seed) % 40;
    for (uint32_t left = mask; left; left &= left - 1)
        delay[__builtin_ctz(left)] = cycles;
}

static void loads_may_take_any_time(void **state) {
    (void)state;
    static const char text[] = PROGRAM_HEAD PROGRAM_BEGIN
        "mov.u32 %r4, 0; rem.u32 %r6, %r0, 7;\n"
        "LOOP: ld.global.u32 %r5, [%rd1]; @%p1 ld.global.u32 %r7, [%rd1]; add.u32 %r4, %r4, %r5; st.global.u32 [%rd1], "
        "%r4; add.u32 %r5, %r5, 1; st.global.u32 [%rd1], %r5;\n"
        "sub.u32 %r6, %r6, 1; setp.gt.s32 %p1, %r6, 0; @%p1 bra LOOP;\n" PROGRAM_END;
    for (uint64_t seed = 1; seed < 20; seed++) {
        uint64_t random = seed;
        struct fixture *f = fixture_open(&divergence_lwm, seed % 2 ? "lwm:refetch=first" : "lwm:2014,size=64", text,
                                         &(struct fixture_shape){.block = 300});
        uint64_t out = fixture_alloc(f, 1200);
        fixture_parameter(f, 0, out);
        f->outcome = any_delay;
        f->user = &random;
        fixture_start(f);
        fixture_run_random(f, seed);
        for (uint32_t i = 0; i < 300; i++) {
            uint32_t n = i % 7 ? i % 7 : 1;
            assert_int_equal(fixture_u32(f, out)[i], n * (n - 1) / 2);
        }
        fixture_close(f);
    }
}

static void the_storage_is_the_papers(void **state) {
    (void)state;
    char formula[200];
    struct fixture *f = fixture_open(&divergence_lwm, "lwm:2011", PROGRAM_COLLATZ, &two_large);
    struct fixture *g = fixture_open(&divergence_lwm, "lwm:2014", PROGRAM_COLLATZ, &two_large);
    f->machine.sm.threads = 1024;
    assert_int_equal(divergence_lwm.cost_bits(f->options, &f->machine, formula, sizeof formula), 96 * 8);
    assert_int_equal(divergence_lwm.cost_bits(g->options, &f->machine, formula, sizeof formula), 224 * 8);
    fixture_close(f);
    fixture_close(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_divergent_branch_leaves_the_papers_sub_warps),
        cmocka_unit_test(a_predicated_instruction_is_packed_by_its_predicate),
        cmocka_unit_test(global_accesses_go_row_by_row_and_shared_ones_packed),
        cmocka_unit_test(a_jump_takes_one_sub_warp),
        cmocka_unit_test(a_conditional_branch_takes_all_sub_warps),
        cmocka_unit_test(a_perfect_register_file_packs_one_column),
        cmocka_unit_test(nobodys_guard_takes_one_empty_sub_warp),
        cmocka_unit_test(scalar_instructions_take_one_sub_warp_and_everybody_gets_the_result),
        cmocka_unit_test(a_scalar_load_faults_like_any_other),
        cmocka_unit_test(with_refetch_first_threads_in_flight_stay_and_the_others_issue),
        cmocka_unit_test(threads_in_flight_are_left_out_of_rows),
        cmocka_unit_test(the_next_instruction_waits_for_the_first_sub_warp),
        cmocka_unit_test(only_what_follows_a_conditional_branch_waits),
        cmocka_unit_test(with_refetch_all_everybody_waits_for_the_last),
        cmocka_unit_test(refetch_first_is_refused_with_a_scoreboard),
        cmocka_unit_test(a_path_may_end_with_an_arrival),
        cmocka_unit_test(rows_of_a_large_warp_may_wait_at_different_barriers),
        cmocka_unit_test(a_large_warp_never_spans_two_blocks),
        cmocka_unit_test(a_kernels_pragma_names_the_size),
        cmocka_unit_test(a_pragma_with_another_size_is_refused),
        cmocka_unit_test(a_large_warp_of_one_row_is_a_warp),
        cmocka_unit_test(every_program_computes_what_it_should),
        cmocka_unit_test(loads_may_take_any_time),
        cmocka_unit_test(the_storage_is_the_papers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
