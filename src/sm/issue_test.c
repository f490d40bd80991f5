/* When instructions issue: dependences, units, pipelines, barriers, paths. */
#include "sm/fixture.h"

/* Issue in 1, 2, 3; ret in 4. */
static void independent_instructions_issue_every_cycle(void **state) {
    (void)state;
    assert_int_equal(fixture_cycles(NULL, "add.u32 %r1, 1, 2;\nadd.u32 %r2, 1, 2;\nadd.u32 %r3, 1, 2;\nret;", 32), 4);
}

/* 1, 1+9, 10+9; ret needs nothing: 20. */
static void a_dependent_instruction_waits_for_the_latency(void **state) {
    (void)state;
    assert_int_equal(fixture_cycles(NULL,
                                    "add.u32 %r1, 1, 2;\nadd.u32 %r2, %r1, 2;\nadd.u32 "
                                    "%r3, %r2, 2;\nret;",
                                    32),
                     20);
    assert_int_equal(fixture_cycles(NULL,
                                    "add.f32 %f1, 0f00000000, "
                                    "0f00000000;\nadd.f32 %f2, %f1, %f1;\nret;",
                                    32),
                     1 + 11 + 1);
    assert_int_equal(fixture_cycles(NULL,
                                    "mov.f64 %g1, 0d0000000000000000;\nadd.f64 %g2, %g1, "
                                    "%g1;\nadd.f64 %g3, %g2, %g2;\nret;",
                                    32),
                     1 + 11 + 13 + 1);
}

/* A write to a register also waits for an earlier write to it. */
static void a_second_write_waits_for_the_first(void **state) {
    (void)state;
    assert_int_equal(fixture_cycles(NULL, "add.u32 %r1, 1, 2;\nadd.u32 %r1, 3, 4;\nret;", 32), 1 + 9 + 1);
}

/* The branch issues in 1, its target 5 cycles later. */
static void after_a_branch_fetching_takes_longer(void **state) {
    (void)state;
    assert_int_equal(fixture_cycles(NULL, "bra L;\nL:\nret;", 32), 1 + 5);
}

/* Two warps on one scheduler: w0 in 1, w1 in 2, then 3, 4 (ret); the ALU takes a warp per cycle. With 16 lanes it takes
 * one every two cycles: 1, 3, 5, 7. */
static void a_unit_takes_warps_at_its_width(void **state) {
    (void)state;
    static const char *const narrow[] = {"sm.simd_width=16", NULL};
    assert_int_equal(fixture_cycles(NULL, "add.u32 %r1, 1, 2;\nret;", 64), 4);
    assert_int_equal(fixture_cycles(narrow, "add.u32 %r1, 1, 2;\nret;", 64), 7);
    /* sin: 8 lanes, 4 cycles a warp. w0 in 1, w1 in 5; ret of w0 in 2, of w1 in 6. */
    assert_int_equal(fixture_cycles(NULL, "sin.approx.f32 %f1, 0f00000000;\nret;", 64), 6);
}

/* Four passes through 8 units: w0 divides in 1, w1 in 17 and ends in 18. Where every lane has a unit of its own, a
 * division holds it no longer than anything else: 1 and 2, and they end in 3 and 4. */
static void a_division_holds_units_only_where_lanes_share_them(void **state) {
    (void)state;
    static const char *const own[] = {"sm.sfu_width=32", NULL};
    assert_int_equal(fixture_cycles(NULL, "div.u32 %r1, 7, 2;\nret;", 64), 18);
    assert_int_equal(fixture_cycles(own, "div.u32 %r1, 7, 2;\nret;", 64), 4);
}

/* Two schedulers issue both warps in the same cycle, eight issue eight; the ninth shares a scheduler with the first. */
static void each_scheduler_issues_a_warp(void **state) {
    (void)state;
    static const char *const two[] = {"sm.schedulers=2", NULL}, *const eight[] = {"sm.schedulers=8", NULL};
    assert_int_equal(fixture_cycles(two, "add.u32 %r1, 1, 2;\nret;", 64), 2);
    assert_int_equal(fixture_cycles(eight, "add.u32 %r1, 1, 2;\nret;", 256), 2);
    assert_int_equal(fixture_cycles(eight, "add.u32 %r1, 1, 2;\nret;", 288), 4);
}

/* One unit for the SM: the second scheduler's warp multiplies in 2, and both end in 3. Without the unit both multiply
 * in 1 and end in 2. */
static void one_unit_multiplies_for_all_schedulers(void **state) {
    (void)state;
    static const char *const shared[] = {"sm.schedulers=2", "sm.multiply_width=32", NULL};
    static const char *const own[] = {"sm.schedulers=2", "sm.multiply_width=0", NULL};
    static const char body[] = "mul.lo.u32 %r1, 3, 4;\nret;";
    assert_int_equal(fixture_cycles(shared, body, 64), 3);
    assert_int_equal(fixture_cycles(own, body, 64), 2);
    assert_int_equal(fixture_cycles(shared, "add.u32 %r1, 3, 4;\nret;", 64), 2);
}

/* The unit takes a warp in four cycles. The first warp loads in cycles 1 and 5, and the second in 9 and 13. If they
 * take turns, the second loads in 5 and 13, and adds its first word four cycles earlier. */
static void schedulers_with_units_of_their_own_take_turns_at_the_load_store_unit(void **state) {
    (void)state;
    static const char *const shared[] = {"sm.schedulers=2", "sm.ldst_width=8", NULL};
    static const char *const own[] = {"sm.schedulers=2", "sm.ldst_width=8", "sm.units=partitioned", NULL};
    const char *body = ".shared .b32 s[32];\nld.shared.u32 %r1, [s]; ld.shared.u32 %r2, [s]; add.u32 %r3, %r1, 1;";
    assert_int_equal(fixture_cycles(shared, body, 32), 1 + 15 + 1);
    assert_int_equal(fixture_cycles(shared, body, 64), 9 + 15 + 1);
    assert_int_equal(fixture_cycles(own, body, 64), 5 + 15 + 1);
}

/* The comparison in 1, the guarded addition in 10, or 21. A selection reads the predicate as an operand, so it issues
 * in 10 whatever guards take. */
static void guards_may_take_longer_than_other_results(void **state) {
    (void)state;
    static const char *const slow[] = {"sm.guard_cycles=20", NULL};
    static const char guard[] = "setp.eq.u32 %p1, 1, 2;\n@%p1 add.u32 %r1, 1, 2;\nret;";
    static const char operand[] = "setp.eq.u32 %p1, 1, 2;\nselp.u32 %r1, 1, 2, %p1;\nret;";
    static const char vote[] = "setp.eq.u32 %p1, 1, 2;\nvote.sync.ballot.b32 %r1, %p1, -1;\nret;";
    assert_int_equal(fixture_cycles(NULL, guard, 32), 11);
    assert_int_equal(fixture_cycles(slow, guard, 32), 22);
    assert_int_equal(fixture_cycles(slow, operand, 32), 11);
    assert_int_equal(fixture_cycles(slow, vote, 32), 22);
}

/* The product in 1 and the sum of it in 10, or five cycles later in another unit. The sum of a sum never waits. */
static void results_take_longer_to_another_unit(void **state) {
    (void)state;
    static const char *const far[] = {"sm.cross_cycles=5", "sm.far_cross_cycles=7", NULL};
    static const char two_units[] = "mul.lo.u32 %r1, 3, 4;\nadd.u32 %r2, %r1, 1;\nret;";
    static const char one_unit[] = "add.u32 %r1, 3, 4;\nadd.u32 %r2, %r1, 1;\nret;";
    static const char special[] = "ex2.approx.f32 %f1, 0f3F800000;\nadd.f32 %f2, %f1, %f1;\nret;";
    assert_int_equal(fixture_cycles(NULL, two_units, 32), 11);
    assert_int_equal(fixture_cycles(far, two_units, 32), 11 + 5);
    assert_int_equal(fixture_cycles(far, one_unit, 32), 11);
    assert_int_equal(fixture_cycles(far, special, 32), fixture_cycles(NULL, special, 32) + 7);
}

/* The comparison in 1, the branch in 10; what follows in 15, or in 13 if no thread takes it. */
static void branches_that_no_thread_takes_may_cost_less(void **state) {
    (void)state;
    static const char *const quick[] = {"sm.untaken_cycles=3", NULL};
    static const char untaken[] = "setp.eq.u32 %p1, 1, 2;\n@%p1 bra L;\nadd.u32 %r1, 1, 2;\nL:\nret;";
    static const char taken[] = "setp.eq.u32 %p1, 1, 1;\n@%p1 bra L;\nadd.u32 %r1, 1, 2;\nL:\nret;";
    assert_int_equal(fixture_cycles(NULL, untaken, 32), 16);
    assert_int_equal(fixture_cycles(quick, untaken, 32), 14);
    assert_int_equal(fixture_cycles(quick, taken, 32), 15);
}

/* With one bank, three different sources are read in three cycles, so the result is two cycles later. Equal sources are
 * read once. */
static void source_registers_of_one_bank_are_read_in_turn(void **state) {
    (void)state;
    static const char *const one_bank[] = {"sm.register_banks=1", NULL};
    static const char different[] =
        "mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nmov.u32 %r3, 3;\nmad.lo.u32 %r4, %r1, %r2, %r3;\nadd.u32 %r5, %r4, 1;\nret;";
    static const char same[] = "mov.u32 %r1, 1;\nmad.lo.u32 %r4, %r1, %r1, %r1;\nadd.u32 %r5, %r4, 1;\nret;";
    /* movs in 1, 2, 3; mad in 12; add in 21, or 23; ret */
    assert_int_equal(fixture_cycles(NULL, different, 32), 22);
    assert_int_equal(fixture_cycles(one_bank, different, 32), 24);
    assert_int_equal(fixture_cycles(one_bank, same, 32), 1 + 9 + 9 + 1);
}

/* Barrel: a warp is fetched again 7 cycles after its last instruction: 1, 8, 15, ret 22. Eight warps share the cycles:
 * the last one issues in 8, 16, 24, 32, since its turn comes every 8 cycles. */
static void the_barrel_turns(void **state) {
    (void)state;
    static const char *const barrel[] = {"sm.pipeline=barrel", "sm.stages=7", NULL};
    static const char body[] = "add.u32 %r1, 1, 2;\nadd.u32 %r2, %r1, 2;\nadd.u32 %r3, %r2, 2;\nret;";
    assert_int_equal(fixture_cycles(barrel, body, 32), 22);
    assert_int_equal(fixture_cycles(barrel, body, 7 * 32), 28);
    assert_int_equal(fixture_cycles(barrel, body, 8 * 32), 32);
}

/* Narasiman 2011, 2.2: accesses of one warp to different lines are serialised and stall the pipeline. Two warps, the
 * second one cycle after the first: w0 issues its six instructions in 1, 8, 15, 22, 29 and, the load, in 36. All lanes
 * in one line: w1 loads in 37, and they end in 43 and 44. In four lines: w0 asks for them in 37 to 40, and only then,
 * in 40, w1's load issues, which asks in 41 to 44. w0 ends in 44 instead of 43, w1 seven cycles after its load, in 47.
 */
static void serialised_accesses_stall_a_barrel(void **state) {
    (void)state;
    static const char *const barrel[] = {
        "sm.pipeline=barrel", "sm.stages=7", "memory.perfect=false", "l1.perfect=true", "l1.latency=1",
        "l1.banks=1",         NULL};
    static const char lines[] = "mov.u32 %r1, %laneid;\nand.b32 %r2, %r1, 3;\nmul.wide.u32 %d2, %r2, 128;\n"
                                "ld.param.u64 %d1, [p];\nadd.u64 %d1, %d1, %d2;\nld.global.u32 %r3, [%d1];\nret;";
    static const char line[] = "mov.u32 %r1, %laneid;\nand.b32 %r2, %r1, 3;\nmul.wide.u32 %d2, %r2, 4;\n"
                               "ld.param.u64 %d1, [p];\nadd.u64 %d1, %d1, %d2;\nld.global.u32 %r3, [%d1];\nret;";
    assert_int_equal(fixture_cycles(barrel, line, 64), 44);
    assert_int_equal(fixture_cycles(barrel, lines, 64), 47);
}

/* Narasiman 2014, 4.2.2: a large warp is fetched again after its first sub-warp, but after a conditional branch when
 * all have completed. Two rows: the parameter is read in 1 and 2, the loads issue in 8 and 9 (7 cycles after the
 * first), and their data arrive in 49 and 50. The jump issues in 49 with the row that is there, whether it takes one
 * sub-warp or two; the addition follows in 56 and 57, the return in 63, its second sub-warp, if it has one, in 64. A
 * conditional branch issues in 49 and 50; the addition follows in 57 and 58, the return in 64. */
static void only_after_a_conditional_branch_a_large_warp_waits_for_all_sub_warps(void **state) {
    (void)state;
    static const char *const one[] = {"sm.pipeline=barrel", "sm.stages=7", "divergence=lwm:size=64,refetch=first",
                                      NULL};
    static const char *const two[] = {"sm.pipeline=barrel", "sm.stages=7",
                                      "divergence=lwm:size=64,refetch=first,jumpopt=off", NULL};
    static const char jump[] = "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nbra L;\nL:\n"
                               "add.u32 %r2, %r1, 1;\nret;";
    static const char branch[] = "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\n@!%p0 bra L;\nL:\n"
                                 "add.u32 %r2, %r1, 1;\nret;";
    assert_int_equal(fixture_cycles(one, jump, 64), 63);
    assert_int_equal(fixture_cycles(two, jump, 64), 64);
    assert_int_equal(fixture_cycles(one, branch, 64), 64);
}

/* Switch on access: one instruction per cycle whatever it needs; a warp that loads waits until its data arrive: mov, ld
 * in 2 (requested in 3, arrives in 43), add 43, ret 44. */
static void a_warp_switches_on_an_access(void **state) {
    (void)state;
    static const char *const switching[] = {"sm.pipeline=switch-on-access", NULL};
    assert_int_equal(fixture_cycles(switching,
                                    "add.u32 %r1, 1, 2;\nadd.u32 %r2, %r1, 2;\nadd.u32 "
                                    "%r3, %r2, 2;\nret;",
                                    32),
                     4);
    assert_int_equal(fixture_cycles(switching,
                                    "ld.param.u64 %d1, [p];\nld.global.u32 %r1, "
                                    "[%d1];\nadd.u32 %r2, %r1, 1;\nret;",
                                    32),
                     44);
}

/* The paper's machine keeps a warp until it accesses the cache (Meng 2010, 3.3 and 4.5). w0 issues both loads in 1 and
 * 2, and its data arrives in 43. Then w1 issues them in 3 and 4, and its data arrives in 45. w0 adds and ends in 43 and
 * 44, w1 in 45 and 46. In turn, the warps access the cache in 3 and 4. Their data arrives in 44 and 45, they add in 44
 * and 45, and end in 46 and 47. */
static void an_access_alone_makes_the_greedy_scheduler_switch(void **state) {
    (void)state;
    static const char *const greedy[] = {"sm.pipeline=switch-on-access", "scheduler=gtrr", NULL};
    static const char *const in_turn[] = {"sm.pipeline=switch-on-access", "scheduler=lrr", NULL};
    static const char body[] = "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nadd.u32 %r2, %r1, 1;\nret;";
    assert_int_equal(fixture_cycles(greedy, body, 64), 46);
    assert_int_equal(fixture_cycles(in_turn, body, 64), 47);
}

/* Two warps: w0 arrives in 1, w1 in 2. Both go on after the barrier. It is control flow, so w1's ret follows 5 cycles
 * later, in 7; w0's, fetched long ago, in 6. */
static void a_barrier_frees_everyone_when_the_last_arrives(void **state) {
    (void)state;
    struct stats_counters counters = fixture_run(NULL, "bar.sync 0;\nret;", 1, 64);
    assert_int_equal(counters.cycles, 7);
    assert_int_equal(counters.barriers, 2);
}

/* Both sides of a branch run one after the other: the divergent kernel issues 1 more instruction than either side
 * alone. */
static void divergent_paths_run_one_after_the_other(void **state) {
    (void)state;
    struct stats_counters counters = fixture_run(NULL,
                                                 "mov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 bra "
                                                 "A;\nadd.u32 %r2, 1, 1;\nbra B;\nA:\nadd.u32 %r3, 1, 1;\nB:\nret;",
                                                 1, 32);
    assert_int_equal(counters.warp_instructions, 7);
    assert_int_equal(counters.thread_instructions, 32 + 32 + 16 + 16 + 16 + 16 + 32);
    assert_int_equal(counters.divergent_branches, 1);
    /* mov 1, setp 10, bra 19, A's add 24, then (reconvergence of that path) the other side: add 25, bra 26, ret 31 */
    assert_int_equal(counters.cycles, 31);
}

/* Ten blocks of 1024 threads on an SM that holds one: each takes as long as the first. */
static void blocks_wait_for_room(void **state) {
    (void)state;
    static const char *const small[] = {"sm.threads=1024", NULL};
    static const char body[] = "add.u32 %r1, 1, 2;\nret;";
    uint64_t one = fixture_run(small, body, 1, 1024).cycles;
    assert_int_equal(one, 64);
    assert_int_equal(fixture_run(small, body, 10, 1024).cycles, 10 * one);
}

/* A block issues in 1, 10 and 19 and ends in 20, and its registers are all that the SM has. Where they are no limit,
 * both blocks are there at once: 1, 10, 19 and 2, 11, 20, and they end in 21 and 22. */
static void registers_are_no_limit_where_there_are_as_many_as_needed(void **state) {
    (void)state;
    static const char *const few[] = {"sm.registers=64", "sm.threads_per_block=32", NULL};
    static const char *const enough[] = {"sm.registers=0", "sm.threads_per_block=32", NULL};
    static const char body[] = "mov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r3, %r1, %r2;\nret;";
    assert_int_equal(fixture_run(few, body, 2, 32).cycles, 40);
    assert_int_equal(fixture_run(enough, body, 2, 32).cycles, 22);
}

/* The store issues in 10, the instruction after it in 11. */
static void fences_and_releases_wait_for_earlier_accesses(void **state) {
    (void)state;
#define ADDRESS "ld.param.u64 %d1, [p];\n"
#define STORE "st.global.u32 [%d1], 1;\n"
    static const char *const machine[] = {"lowering.target=sm_90", "lowering.fence_cycles=100",
                                          "lowering.fence_access_cycles=300", NULL};
    uint64_t plain = fixture_cycles(machine, ADDRESS STORE STORE "ret;", 32);
    uint64_t released = fixture_cycles(machine, ADDRESS STORE "st.release.gpu.global.u32 [%d1], 1;\nret;", 32);
    uint64_t alone = fixture_cycles(machine, ADDRESS "st.release.gpu.global.u32 [%d1], 1;\nret;", 32);
    uint64_t in_block = fixture_cycles(machine, ADDRESS STORE "st.release.cta.global.u32 [%d1], 1;\nret;", 32);
    assert_in_range(released, plain + 299, plain + 301);
    assert_in_range(alone, plain + 80, plain + 101);
    assert_int_equal(in_block, plain);
    assert_int_equal(fixture_cycles(machine, "membar.gl;\nmembar.gl;\nret;", 32), 201);
}

/* A false guard leaves a thread active. A branch sends it to another path, here of so many instructions that they do
 * not become predicates. */
static void threads_of_a_path_are_active(void **state) {
    (void)state;
    static const char *const machine[] = {"lowering.target=sm_90", NULL};
    static const char *const barriers[] = {"lowering.target=sm_90", "divergence=barriers", NULL};
#define FOUR "xor.b32 %r2, %r2, %r1;\nmul.hi.u32 %r2, %r2, %r1;\nxor.b32 %r2, %r2, %r1;\nmul.hi.u32 %r2, %r2, %r1;\n"
#define IF_BELOW(limit)                                                                                                \
    "ld.param.u64 %d1, [p];\nmov.u32 %r1, %laneid;\nmov.u32 %r2, 7;\nsetp.ge.u32 %p1, %r1, " limit ";\n"               \
    "@%p1 bra A;\n" FOUR FOUR FOUR "A:\n@%p1 st.global.u32 [%d1], %r2;\nret;"
    struct stats_counters all = fixture_run(machine, IF_BELOW("32"), 1, 32);
    struct stats_counters half = fixture_run(machine, IF_BELOW("16"), 1, 32);
    struct stats_counters none = fixture_run(machine, IF_BELOW("0"), 1, 32);
    assert_true(all.machine_instructions > none.machine_instructions + 8);
    assert_int_equal(half.machine_instructions, all.machine_instructions);
    assert_int_equal(all.machine_thread_instructions, 32 * all.machine_instructions);
    assert_int_equal(none.machine_thread_instructions, 32 * none.machine_instructions);
    assert_int_equal(half.machine_thread_instructions,
                     32 * half.machine_instructions - 16 * (all.machine_instructions - none.machine_instructions));
    struct stats_counters apart = fixture_run(barriers, IF_BELOW("16"), 1, 32);
    assert_int_equal(apart.machine_instructions, half.machine_instructions + 1); /* each path executes BSYNC, */
    assert_int_equal(apart.machine_thread_instructions, half.machine_thread_instructions); /* and each thread once */
    assert_int_equal(fixture_run(barriers, IF_BELOW("32"), 1, 32).machine_instructions, all.machine_instructions);
}

/* On the machine with its own instructions the branch of IF_BELOW stays one, and that before the end is a guard of
 * EXIT. The warp's lanes have 28 roots and 32 conversions. */
static void branches_and_special_functions_of_the_machine_are_counted(void **state) {
    (void)state;
    static const char *const machine[] = {"lowering.target=sm_90", NULL};
    struct stats_counters half = fixture_run(machine, IF_BELOW("16"), 1, 32);
    assert_int_equal(half.machine_branches, 1);
    assert_int_equal(half.machine_divergent_branches, 1);
    assert_int_equal(half.sfu_thread_instructions, 0);
    struct stats_counters all = fixture_run(machine, IF_BELOW("32"), 1, 32);
    assert_int_equal(all.machine_branches, 1);
    assert_int_equal(all.machine_divergent_branches, 0);
    struct stats_counters roots =
        fixture_run(machine,
                    "mov.u32 %r1, %laneid;\nsetp.ge.u32 %p1, %r1, 28;\ncvt.rzi.s32.f32 %r2, %f1;\n@%p1 bra END;\n"
                    "sqrt.approx.f32 %f1, %f1;\nmul.hi.u32 %r2, %r2, %r1;\n" FOUR FOUR FOUR "END:\nret;",
                    1, 32);
    assert_int_equal(roots.branches, 1);
    assert_int_equal(roots.divergent_branches, 1);
    assert_int_equal(roots.machine_branches, 0);
    assert_int_equal(roots.machine_divergent_branches, 0);
    assert_int_equal(roots.sfu_thread_instructions, 28 + 32);
}

/* The divisions by 1 of lanes 0 to 15, whose dividend is zero, call a function. */
static void threads_that_divide_zero_call_a_function(void **state) {
    (void)state;
    static const char *const machine[] = {"lowering.target=sm_90", NULL};
#define DIVIDE(dividend)                                                                                               \
    "mov.u32 %r1, %laneid;\n" dividend ";\ncvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, 0f3F800000;\n"                       \
    "div.rn.f32 %f1, %f1, %f2;\nret;"
    struct stats_counters none = fixture_run(machine, DIVIDE("or.b32 %r1, %r1, 16"), 1, 32);
    struct stats_counters half = fixture_run(machine, DIVIDE("shr.u32 %r1, %r1, 4"), 1, 32);
    assert_int_equal(half.machine_instructions, none.machine_instructions + 34);
    assert_int_equal(half.machine_thread_instructions, none.machine_thread_instructions + 34 * 16);
    assert_in_range(half.cycles, none.cycles + 150, none.cycles + 200); /* 271 cycles instead of the usual division */
}

/* The warp's next instruction comes after the result, since the branch over the function's call waits for the check. */
static void divisions_of_a_warp_do_not_overlap(void **state) {
    (void)state;
    static const char *const machine[] = {"lowering.target=sm_90", NULL};
#define ROOTS(more)                                                                                                    \
    "mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f3F800000;\nsqrt.rn.f32 %f3, %f1;\n" more "add.f32 %f4, %f3, %f3;\nret;"
    uint64_t one = fixture_cycles(machine, ROOTS(""), 32);
    uint64_t two = fixture_cycles(machine, ROOTS("sqrt.rn.f32 %f5, %f2;\n"), 32);
    uint64_t chain = fixture_cycles(machine, ROOTS("sqrt.rn.f32 %f3, %f3;\n"), 32);
    assert_int_equal(two, chain);
    assert_in_range(two, one + 50, one + 110);
}

/* The first lanes have `rare`, and the others one. */
static struct stats_counters run_on_numbers(const char *operation, const char *rare, bool is_double, unsigned n_rare) {
    static const char *const machine[] = {"lowering.target=sm_90", NULL};
    char body[512];
    const char *one = is_double ? "0d3FF0000000000000" : "0f3F800000", *type = is_double ? "f64" : "f32";
    snprintf(body, sizeof body,
             "mov.u32 %%r1, %%laneid;\nsetp.lt.u32 %%p1, %%r1, %u;\nselp.%s %%%c1, %s, %s, %%p1;\n"
             "mov.%s %%%c2, %s;\n%s;\nret;",
             n_rare, type, is_double ? 'g' : 'f', rare, one, type, is_double ? 'g' : 'f', one, operation);
    return fixture_run(machine, body, 1, 32);
}

static void expect_function(const char *operation, const char *rare, bool is_double, unsigned n, unsigned cycles) {
    struct stats_counters none = run_on_numbers(operation, rare, is_double, 0);
    struct stats_counters half = run_on_numbers(operation, rare, is_double, 16);
    assert_int_equal(half.machine_instructions, none.machine_instructions + n);
    assert_int_equal(half.machine_thread_instructions, none.machine_thread_instructions + n * 16);
    if (!n)
        assert_int_equal(half.cycles, none.cycles);
    else /* as many cycles as the function, instead of those of an instruction */
        assert_in_range(half.cycles, run_on_numbers("mov.b32 %r2, %r1", rare, is_double, 16).cycles + cycles - 16,
                        run_on_numbers("mov.b32 %r2, %r1", rare, is_double, 16).cycles + cycles + 32);
}

/* The numbers of instructions are those of ptxas's functions for zero. */
static void threads_with_rare_numbers_call_functions(void **state) {
    (void)state;
    expect_function("rcp.rn.f32 %f1, %f1", "0f00000000", false, 22, 252);
    expect_function("rcp.rn.f32 %f1, %f1", "0f7F000000", false, 22, 252); /* the result is a denormal number */
    expect_function("rcp.rn.f32 %f1, %f1", "0f7E000000", false, 0, 0);
    expect_function("sqrt.rn.f32 %f1, %f1", "0f00000000", false, 12, 165);
    expect_function("div.rn.f64 %g1, %g1, %g2", "0d0000000000000000", true, 63, 400);
    expect_function("div.rn.f64 %g1, %g1, %g2", "0d0360000000000000", true, 0, 0);
    expect_function("div.rn.f64 %g1, %g1, %g2", "0d035FFFFF00000000", true, 63, 400);
    expect_function("div.rn.f64 %g1, %g1, %g2", "0d7F90000000000000", true, 63, 400); /* the quotient */
    expect_function("div.rn.f64 %g1, %g2, %g1", "0d7F80000000000000", true, 63, 400); /* the divisor */
    expect_function("div.rn.f64 %g1, %g2, %g1", "0d7F70000000000000", true, 0, 0);
    expect_function("mov.f64 %g2, 0d4700000000000000;\ndiv.rn.f64 %g1, %g1, %g2", "0d0370000000000000", true, 63,
                    400); /* a tiny quotient */
    expect_function("rcp.rn.f64 %g1, %g1", "0d0000000000000000", true, 18, 252);
    expect_function("sqrt.rn.f64 %g1, %g1", "0dBFF0000000000000", true, 14, 252);
}

/* 31 rounds after the first, with 31, 30... 1 threads: 16 on average. */
static void threads_that_retry_an_atomic_become_fewer(void **state) {
    (void)state;
    static const char *const machine[] = {"lowering.target=sm_90", "serial_atomics.present=true", NULL};
#define ADD_AT(shift)                                                                                                  \
    ".shared .b32 s[32];\nmov.u32 %r1, %laneid;\n" shift ";\nmov.u32 %r3, s;\nadd.u32 %r2, %r2, %r3;\n"                \
    "atom.shared.add.f32 %f1, [%r2], 0f3F800000;\nret;"
    struct stats_counters apart = fixture_run(machine, ADD_AT("shl.b32 %r2, %r1, 2"), 1, 32);
    struct stats_counters one = fixture_run(machine, ADD_AT("shr.u32 %r2, %r1, 5"), 1, 32);
    uint64_t n = one.machine_instructions - apart.machine_instructions;
    assert_true(n >= 31);
    assert_int_equal(one.machine_thread_instructions - apart.machine_thread_instructions, 16 * n);
}

/* 100 nanoseconds become 128, at 2 GHz. */
static void a_sleep_takes_a_power_of_two_of_nanoseconds(void **state) {
    (void)state;
    static const char *const machine[] = {"lowering.target=sm_90", "lowering.sleep_cycles=50",
                                          "lowering.registers_cycles=40", "clock=2", NULL};
    uint64_t none = fixture_cycles(machine, "ret;", 32);
    assert_int_equal(fixture_cycles(machine, "nanosleep.u32 100;\nret;", 32), none + 256);
    assert_int_equal(fixture_cycles(machine, "nanosleep.u32 1;\nret;", 32), none + 50);
    assert_int_equal(fixture_cycles(machine, "mov.u32 %r1, 64;\nnanosleep.u32 %r1;\nret;", 32), none + 9 + 128);
}

/* The lanes are busy with a long product for two cycles, so the next instruction of any warp waits that long anyway. */
static void long_products_take_longer_and_hold_the_scheduler(void **state) {
    (void)state;
#define LONG(latency, issue)                                                                                           \
    ((const char *const[]){"lowering.target=sm_90", "sm.long_product_cycles=" latency,                                 \
                           "sm.long_product_issue_cycles=" issue, NULL})
#define PRODUCT(kind, next) "mov.u32 %r1, %laneid;\n" kind ".u32 %r2, %r1, %r1;\n" next "ret;"
    static const char chain[] = PRODUCT("mul.hi", "add.u32 %r3, %r2, 1;\n"), alone[] = PRODUCT("mul.hi", "");
    static const char low[] = PRODUCT("mul.lo", "add.u32 %r3, %r2, %r1;\n");
    assert_int_equal(fixture_cycles(LONG("30", "1"), chain, 32), fixture_cycles(LONG("12", "1"), chain, 32) + 18);
    assert_int_equal(fixture_cycles(LONG("12", "4"), alone, 32), fixture_cycles(LONG("12", "1"), alone, 32) + 2);
    assert_int_equal(fixture_cycles(LONG("30", "4"), low, 32), fixture_cycles(LONG("12", "1"), low, 32));
}

/* Words 0 to 7 are eight values, words 0 one. */
static void match_any_finds_one_value_after_the_other(void **state) {
    (void)state;
    static const char *const machine[] = {"lowering.target=sm_90", "sm.match_cycles=11", NULL};
#define MATCH(mask)                                                                                                    \
    "mov.u32 %r1, %laneid;\nand.b32 %r1, %r1, " mask ";\nmatch.any.sync.b32 %r2, %r1, 0xffffffff;\n"                   \
    "add.u32 %r3, %r2, 1;\nret;"
    uint64_t one = fixture_cycles(machine, MATCH("0"), 32);
    assert_int_equal(fixture_cycles(machine, MATCH("7"), 32), one + 7 * 11);
}

/* Arguments and results are in registers of a target; otherwise they are in local memory. */
#define CALL_OF_SAME                                                                                                   \
    "{\n.param .b32 in; .param .b32 out;\nst.param.b32 [in], %r1;\ncall (out), same, (in);\n"                          \
    "ld.param.b32 %r2, [out];\n}\n"
static void arguments_are_in_registers(void **state) {
    (void)state;
    static const char *const compiled[] = {"lowering.target=sm_90", NULL}, *const none[] = {NULL};
    static const char body[] = "mov.u32 %r1, %laneid;\n" CALL_OF_SAME "ld.param.u64 %d1, [p];\n"
                               "st.global.u32 [%d1], %r2;\nret;";
    assert_int_equal(fixture_run(none, body, 1, 32).local_instructions, 4);
    assert_int_equal(fixture_run(compiled, body, 1, 32).local_instructions, 0);
}

/* The first load is in flight when the function is called, the second one when it has returned. */
static void calls_wait_for_results_in_flight(void **state) {
    (void)state;
    static const char *const compiled[] = {"lowering.target=sm_90", "lowering.call_cycles=20", NULL};
#define LOAD "ld.param.u64 %d1, [p];\nld.global.cg.u32 %r3, [%d1];\n"
    static const char before[] = LOAD CALL_OF_SAME "ret;", after[] = CALL_OF_SAME LOAD "ret;";
    uint64_t call = fixture_cycles(compiled, CALL_OF_SAME "ret;", 32);
    uint64_t with_load = fixture_cycles(compiled, before, 32);
    assert_true(call >= 40);
    assert_in_range(with_load, call + 35, call + 60);
    assert_true(fixture_cycles(compiled, after, 32) + 25 < with_load);
}

/* Three cycles more between two accesses, and nothing if other instructions take as long. */
static void accesses_of_a_warp_are_apart(void **state) {
    (void)state;
    static const char *const apart[] = {"sm.access_cycles=4", NULL}, *const none[] = {NULL};
#define AREA ".shared .align 8 .b32 s[32];\n"
#define PUT "st.shared.u32 [s], %r1;\n"
#define OTHERS "add.u32 %r4, 1, 2;\nadd.u32 %r2, 1, 2;\nadd.u32 %r3, 1, 2;\n"
    static const char one[] = AREA PUT "ret;", two[] = AREA PUT PUT "ret;", three[] = AREA PUT PUT PUT "ret;";
    static const char others[] = AREA PUT OTHERS PUT "ret;";
    assert_int_equal(fixture_cycles(apart, one, 32), fixture_cycles(none, one, 32));
    assert_int_equal(fixture_cycles(apart, two, 32), fixture_cycles(none, two, 32) + 3);
    assert_int_equal(fixture_cycles(apart, three, 32), fixture_cycles(none, three, 32) + 6);
    assert_int_equal(fixture_cycles(apart, others, 32), fixture_cycles(none, others, 32));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_instructions_issue_every_cycle),
        cmocka_unit_test(a_dependent_instruction_waits_for_the_latency),
        cmocka_unit_test(a_second_write_waits_for_the_first),
        cmocka_unit_test(after_a_branch_fetching_takes_longer),
        cmocka_unit_test(a_unit_takes_warps_at_its_width),
        cmocka_unit_test(a_division_holds_units_only_where_lanes_share_them),
        cmocka_unit_test(each_scheduler_issues_a_warp),
        cmocka_unit_test(one_unit_multiplies_for_all_schedulers),
        cmocka_unit_test(schedulers_with_units_of_their_own_take_turns_at_the_load_store_unit),
        cmocka_unit_test(guards_may_take_longer_than_other_results),
        cmocka_unit_test(results_take_longer_to_another_unit),
        cmocka_unit_test(branches_that_no_thread_takes_may_cost_less),
        cmocka_unit_test(source_registers_of_one_bank_are_read_in_turn),
        cmocka_unit_test(the_barrel_turns),
        cmocka_unit_test(serialised_accesses_stall_a_barrel),
        cmocka_unit_test(only_after_a_conditional_branch_a_large_warp_waits_for_all_sub_warps),
        cmocka_unit_test(a_warp_switches_on_an_access),
        cmocka_unit_test(an_access_alone_makes_the_greedy_scheduler_switch),
        cmocka_unit_test(a_barrier_frees_everyone_when_the_last_arrives),
        cmocka_unit_test(divergent_paths_run_one_after_the_other),
        cmocka_unit_test(fences_and_releases_wait_for_earlier_accesses),
        cmocka_unit_test(threads_of_a_path_are_active),
        cmocka_unit_test(branches_and_special_functions_of_the_machine_are_counted),
        cmocka_unit_test(threads_that_divide_zero_call_a_function),
        cmocka_unit_test(divisions_of_a_warp_do_not_overlap),
        cmocka_unit_test(threads_with_rare_numbers_call_functions),
        cmocka_unit_test(threads_that_retry_an_atomic_become_fewer),
        cmocka_unit_test(a_sleep_takes_a_power_of_two_of_nanoseconds),
        cmocka_unit_test(long_products_take_longer_and_hold_the_scheduler),
        cmocka_unit_test(match_any_finds_one_value_after_the_other),
        cmocka_unit_test(arguments_are_in_registers),
        cmocka_unit_test(calls_wait_for_results_in_flight),
        cmocka_unit_test(accesses_of_a_warp_are_apart),
        cmocka_unit_test(blocks_wait_for_room),
        cmocka_unit_test(registers_are_no_limit_where_there_are_as_many_as_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
