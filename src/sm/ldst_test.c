/* Tests of the timing of loads and shared memory. */
#include "sm/fixture.h"
#include "sm/ldst.h"

/* ld.param in 1 (constant: 9), the load in 10, requested in 11, arrives in 51: the add issues in 51, ret in 52. */
static void a_load_waits_for_memory(void **state) {
    (void)state;
    assert_int_equal(fixture_cycles(NULL,
                                    "ld.param.u64 %d1, [p];\nld.global.u32 %r1, "
                                    "[%d1];\nadd.u32 %r2, %r1, 1;\nret;",
                                    32),
                     52);
    /* The value is unused: ret in 11, and the launch ends. */
    assert_int_equal(fixture_cycles(NULL, "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nret;", 32), 11);
}

/* Shared memory: 15 cycles; with all 32 lanes in one bank the access takes 32 passes, 31 more. */
static void bank_conflicts_take_passes(void **state) {
    (void)state;
    static const char no_conflict[] = ".shared .b32 s[1024];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n"
                                      "ld.shared.u32 %r3, [%r2];\nadd.u32 %r4, %r3, 1;\nmov.u32 %r5, s;\nret;";
    static const char conflict[] = ".shared .b32 s[1024];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 7;\n"
                                   "ld.shared.u32 %r3, [%r2];\nadd.u32 %r4, %r3, 1;\nmov.u32 %r5, s;\nret;";
    /* mov 1, shl 10, ld 19, add 34, mov 35, ret 36 */
    assert_int_equal(fixture_cycles(NULL, no_conflict, 32), 36);
    assert_int_equal(fixture_cycles(NULL, conflict, 32), 36 + 31);
    static const char *const slow[] = {"shared.pass_cycles=3", NULL};
    assert_int_equal(fixture_cycles(slow, no_conflict, 32), 36);
    assert_int_equal(fixture_cycles(slow, conflict, 32), 36 + 3 * 31);
}

/* 32 lanes of 16 bytes need four passes, and neighbours take no more. At a stride of 32 bytes two lanes meet in each
 * bank: eight passes, four of them conflicts. */
static void only_passes_beyond_the_least_are_conflicts(void **state) {
    (void)state;
    static const char format[] = ".shared .align 16 .b8 s[2048];\nmov.u32 %%r1, %%tid.x;\nshl.b32 %%r2, %%r1, %d;\n"
                                 "ld.shared.v4.u32 {%%r3, %%r4, %%r5, %%r6}, [%%r2];\nmov.u32 %%r7, s;\nret;";
    char body[256];
    snprintf(body, sizeof body, format, 4);
    struct stats_counters counters = fixture_run(NULL, body, 1, 32);
    assert_int_equal(counters.shared_passes, 4);
    assert_int_equal(counters.bank_conflicts, 0);
    snprintf(body, sizeof body, format, 5);
    counters = fixture_run(NULL, body, 1, 32);
    assert_int_equal(counters.shared_passes, 8);
    assert_int_equal(counters.bank_conflicts, 4);
}

/* 32 words, then one word for all lanes: 128 bytes and 4. */
static void requested_bytes_count_once_for_all_lanes(void **state) {
    (void)state;
    static const char body[] = "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\n"
                               "add.u64 %d3, %d1, %d2;\nld.global.u32 %r2, [%d3];\nld.global.u32 %r3, [%d1];\nret;";
    assert_int_equal(fixture_run(NULL, body, 1, 32).requested_bytes, 132);
}

/* A word of 64 bits is in two lines of local memory, and 128 bits are in four. All of them pass through the L1. */
static void wide_accesses_to_local_memory_touch_all_their_lines(void **state) {
    (void)state;
    static const char format[] = ".local .align 16 .b8 s[64];\nst.local.%s [s], %s;\nret;";
    static const struct {
        const char *suffix, *value;
        uint32_t words;
    } access[] = {{"b8", "%r1", 0},
                  {"b32", "%r1", 1},
                  {"b64", "%d1", 2},
                  {"v2.b32", "{%r1, %r2}", 2},
                  {"v4.b32", "{%r1, %r2, %r3, %r4}", 4},
                  {"v2.b64", "{%d1, %d2}", 4}};
    static const char *const settings[] = {"l1.line=128", NULL};
    for (size_t i = 0; i < sizeof access / sizeof *access; i++) {
        char body[256];
        snprintf(body, sizeof body, format, access[i].suffix, access[i].value);
        struct stats_counters counters = fixture_run(settings, body, 1, 32);
        assert_int_equal(counters.requested_bytes, access[i].words ? 128 * access[i].words : 32);
        assert_int_equal(counters.l1_writes, access[i].words ? access[i].words : 1);
    }
}

/* Lanes 0 to 15 store to a line that the load has brought, the others to one that is not there. */
static const char half_hits[] = "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nmov.u32 %r2, %tid.x;\n"
                                "and.b32 %r3, %r2, 16;\nmul.wide.u32 %d2, %r3, 256;\nadd.u64 %d3, %d1, %d2;\n"
                                "st.global.u32 [%d3], %r2;\nadd.u32 %r4, %r2, 1;\nret;";
#define CACHED "memory.perfect=false", "l1.write=back", "l1.write_allocate=true", "divergence=dws:aggress"

/* Meng 2010, 3.3 and 5.1: a warp waits for its stores, so those that hit go on without those that miss. With a
 * scoreboard it does not wait. */
static void a_store_that_a_warp_waits_for_subdivides_it(void **state) {
    (void)state;
    static const char *const switching[] = {CACHED, "sm.pipeline=switch-on-access", NULL};
    static const char *const scoreboard[] = {CACHED, NULL};
    assert_int_equal(fixture_run(switching, half_hits, 1, 32).warp_splits, 1);
    assert_int_equal(fixture_run(scoreboard, half_hits, 1, 32).warp_splits, 0);
}

/* Lanes 0 to 15 jump to F and hit there. The others compute until those are ready after their access, then come to F
 * and miss: the two meet (Meng 2010, 4.5), and the warp is one from there on. */
static void a_split_at_an_access_meets_those_that_have_finished_it(void **state) {
    (void)state;
    static const char *const settings[] = {"memory.perfect=false",         "l1.latency=3",
                                           "divergence=dws:branch-only",   "scheduler=gtrr",
                                           "sm.pipeline=switch-on-access", NULL};
    static const char body[] = "ld.param.u64 %d1, [p];\nld.global.u32 %r1, [%d1];\nmov.u32 %r2, %laneid;\n"
                               "and.b32 %r3, %r2, 16;\nmul.wide.u32 %d2, %r3, 256;\nadd.u64 %d3, %d1, %d2;\n"
                               "setp.lt.u32 %p1, %r2, 16;\n@%p1 bra F;\n"
                               "add.u32 %r4, 1, 2;\nadd.u32 %r4, 1, 2;\nadd.u32 %r4, 1, 2;\nadd.u32 %r4, 1, 2;\n"
                               "add.u32 %r4, 1, 2;\nadd.u32 %r4, 1, 2;\nadd.u32 %r4, 1, 2;\nadd.u32 %r4, 1, 2;\n"
                               "F:\nld.global.u32 %r5, [%d3];\nadd.u32 %r6, %r5, 1;\nret;";
    struct stats_counters counters = fixture_run(settings, body, 1, 32);
    assert_int_equal(counters.warp_splits, 1);
    assert_int_equal(counters.merges, 1);
}

/* Eight lines of warp 0 lie in bank 0, 16 lines apart, and are looked up one after the other, from the cycle after
 * their instruction issued on. The line of warp 1, which issues a cycle later, lies in bank 1: with one queue it is
 * looked up together with the eighth, with a queue for each bank six cycles sooner. Warp 1 reads twice and ends last.
 */
static const char two_banks[] = "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 7;\n"
                                "setp.ge.u32 %p1, %r1, 32;\nmul.wide.u32 %d2, %r2, 2048;\nadd.u64 %d3, %d1, %d2;\n"
                                "@%p1 add.u64 %d3, %d1, 128;\nld.global.u64 %d4, [%d3];\n@!%p1 ret;\n"
                                "add.u64 %d5, %d3, %d4;\nld.global.u64 %d6, [%d5+4096];\nadd.u64 %d7, %d6, 1;\nret;";

static void a_bank_conflict_delays_the_conflicting_lines_only(void **state) {
    (void)state;
    static const char *const one_queue[] = {"memory.perfect=false", "l1.perfect=true", "l1.banks=16", NULL};
    static const char *const bank_queues[] = {"memory.perfect=false", "l1.perfect=true", "l1.banks=16",
                                              "l1.bank_queues=true", NULL};
    uint64_t cycles = fixture_run(one_queue, two_banks, 1, 64).cycles;
    assert_int_equal(fixture_run(bank_queues, two_banks, 1, 64).cycles, cycles - 6);
}

/* Lines of one access: those in bank 0 one after the other, the others at once. Threads that hit are known when the
 * last has been looked up, as before. */
static void the_lines_of_an_access_pass_one_that_waits_for_its_bank(void **state) {
    (void)state;
    static const char *const settings[] = {"memory.perfect=false", "l1.banks=16", "l1.bank_queues=true", "l1.mshrs=4",
                                           NULL};
    /* Lanes 0 to 31: lines 0, 16, 1, 17, 2, 18 ... With 4 MSHRs lines are refused too. */
    static const char body[] =
        "ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 1;\nshr.u32 %r3, %r1, 1;\n"
        "mad.lo.u32 %r4, %r2, 16, %r3;\nmul.wide.u32 %d2, %r4, 128;\nadd.u64 %d3, %d1, %d2;\n"
        "ld.global.u64 %d4, [%d3];\nadd.u64 %d5, %d4, 1;\nret;";
    struct stats_counters counters = fixture_run(settings, body, 1, 32);
    assert_int_equal(counters.l1_accesses, 32);
    assert_int_equal(counters.l1_misses, 32);
    assert_int_equal(counters.missing_memory_instructions, 1);
}

/* Two reads of a texture with one axis, the second with the first one's result. The texture unit adds its latency to
 * each. It takes four cycles for a warp, but only the reads themselves need it. */
static void a_texture_unit_adds_its_latency(void **state) {
    (void)state;
    static const char *const without[] = {"memory.perfect=false",    "l1.perfect=true",          "unified.present=true",
                                          "unified.texture_lanes=0", "unified.texture_cycles=0", NULL};
    static const char *const with[] = {"memory.perfect=false",    "l1.perfect=true",           "unified.present=true",
                                       "unified.texture_lanes=8", "unified.texture_cycles=30", NULL};
    static const char body[] = "mov.u32 %r1, %tid.x;\nmov.u64 %d1, 1;\n"
                               "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%d1, {%r1}];\nadd.u32 %r6, %r1, %r2;\n"
                               "tex.1d.v4.u32.s32 {%r7, %r8, %r9, %r10}, [%d1, {%r6}];\nadd.u32 %r11, %r7, 1;\nret;";
    uint64_t cycles = fixture_run(without, body, 1, 32).cycles;
    assert_int_equal(fixture_run(with, body, 1, 32).cycles, cycles + 60);
}

/* 32 words at 4 bytes are two lines of 64; read again, they are there. Without the cache they go through the L1, whose
 * lines have 128 bytes. */
static void textures_have_their_own_cache(void **state) {
    (void)state;
    static const char *const with[] = {"memory.perfect=false", "texture.present=true", "texture.line=64",
                                       "texture.latency=7", NULL};
    static const char *const without[] = {"memory.perfect=false", NULL};
    static const char body[] = "mov.u32 %r1, %tid.x;\nmov.u64 %d1, 1;\n"
                               "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%d1, {%r1}];\nadd.u32 %r6, %r1, %r2;\n"
                               "tex.1d.v4.u32.s32 {%r7, %r8, %r9, %r10}, [%d1, {%r6}];\nadd.u32 %r11, %r7, 1;\nret;";
    struct stats_counters counters = fixture_run(with, body, 1, 32);
    assert_int_equal(counters.texture_accesses, 4);
    assert_int_equal(counters.texture_misses, 2);
    assert_int_equal(counters.l1_accesses, 0);
    counters = fixture_run(without, body, 1, 32);
    assert_int_equal(counters.texture_accesses, 0);
    assert_int_equal(counters.l1_accesses, 2);
}

/* ---- Requests, without an SM ------------------------------------------------------------------------------------- */

static void requests_are_taken_and_given_back(void **state) {
    (void)state;
    struct sm_ldst ldst;
    sm_ldst_init(&ldst, EXEC_LANES + 1, 1);
    assert_true(sm_ldst_has_room(&ldst));
    uint32_t first = sm_ldst_take(&ldst);
    assert_true(ldst.request[first].is_used && sm_ldst_has_room(&ldst));
    uint32_t second = sm_ldst_take(&ldst);
    assert_int_not_equal(first, second);
    assert_false(sm_ldst_has_room(&ldst)); /* an instruction may need one for every lane */
    sm_ldst_release(&ldst, &ldst.request[first]);
    assert_true(sm_ldst_has_room(&ldst) && !ldst.request[first].is_used);
    assert_int_equal(sm_ldst_take(&ldst), first);
    sm_ldst_free(&ldst);
}

static void the_queue_keeps_its_order_around_the_ring(void **state) {
    (void)state;
    struct sm_ldst ldst;
    sm_ldst_init(&ldst, 2 * EXEC_LANES, 1);
    for (uint32_t i = 0; i < 2 * SM_LDST_RING; i++) {
        sm_ldst_push(&ldst, i);
        if (i < SM_LDST_QUEUE - 1) {
            assert_true(sm_ldst_has_room(&ldst));
            continue;
        }
        assert_false(sm_ldst_has_room(&ldst));
        assert_int_equal(ldst.queue[ldst.head], i - (SM_LDST_QUEUE - 1));
        sm_ldst_pop(&ldst);
    }
    sm_ldst_free(&ldst);
}

static void answered_requests_form_a_list_in_their_order(void **state) {
    (void)state;
    struct sm_ldst ldst;
    sm_ldst_init(&ldst, 4, 1);
    assert_int_equal(ldst.done, SM_NO_REQUEST);
    sm_ldst_add_done(&ldst, 2);
    sm_ldst_add_done(&ldst, 0);
    sm_ldst_add_done(&ldst, 3);
    assert_int_equal(ldst.done, 2);
    assert_int_equal(ldst.request[2].next_free, 0);
    assert_int_equal(ldst.request[0].next_free, 3);
    assert_int_equal(ldst.request[3].next_free, SM_NO_REQUEST);
    sm_ldst_free(&ldst);
}

/* Of four lines the first hit, the second missed, the third waits for its bank, the fourth has not been asked for. */
static void a_request_knows_the_lanes_that_wait(void **state) {
    (void)state;
    struct sm_request request = {.n_transactions = 4, .next = 3, .outstanding = 1u << 1, .conflicting = 1u << 2};
    for (uint32_t i = 0; i < 4; i++)
        request.transaction[i].lanes = 0xffu << 8 * i;
    assert_int_equal(sm_request_missing(&request), 0xffffff00u);
    assert_false(sm_request_is_answered(&request));
    request.next = 4;
    request.conflicting = 0;
    assert_true(sm_request_is_answered(&request) && !sm_request_is_over(&request));
    assert_int_equal(sm_request_missing(&request), 0xff00);
    request.outstanding = 0;
    assert_true(sm_request_is_over(&request));
    assert_int_equal(sm_request_missing(&request), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_waits_for_memory),
        cmocka_unit_test(bank_conflicts_take_passes),
        cmocka_unit_test(only_passes_beyond_the_least_are_conflicts),
        cmocka_unit_test(requested_bytes_count_once_for_all_lanes),
        cmocka_unit_test(wide_accesses_to_local_memory_touch_all_their_lines),
        cmocka_unit_test(a_store_that_a_warp_waits_for_subdivides_it),
        cmocka_unit_test(a_split_at_an_access_meets_those_that_have_finished_it),
        cmocka_unit_test(a_bank_conflict_delays_the_conflicting_lines_only),
        cmocka_unit_test(the_lines_of_an_access_pass_one_that_waits_for_its_bank),
        cmocka_unit_test(a_texture_unit_adds_its_latency),
        cmocka_unit_test(textures_have_their_own_cache),
        cmocka_unit_test(requests_are_taken_and_given_back),
        cmocka_unit_test(the_queue_keeps_its_order_around_the_ring),
        cmocka_unit_test(answered_requests_form_a_list_in_their_order),
        cmocka_unit_test(a_request_knows_the_lanes_that_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
