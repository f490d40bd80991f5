/* Tests of the rules between options, each with its message. */
#include "config/fixture.h"

/* The default machine with these changes (separated by blanks) is refused for exactly this reason. */
static void expect_invalid(const char *assignments, const char *message) {
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES] = "", words[256], *rest;
    config_defaults(&machine);
    snprintf(words, sizeof words, "%s", assignments);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        set(&machine, word);
    assert_false(config_check(&machine, error, sizeof error));
    assert_string_equal(error, message);
}

static void expect_valid(const char *assignments) {
    struct config_machine machine;
    char error[CONFIG_ERROR_BYTES] = "", words[256], *rest;
    config_defaults(&machine);
    snprintf(words, sizeof words, "%s", assignments);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        set(&machine, word);
    if (!config_check(&machine, error, sizeof error))
        fail_msg("%s: %s", assignments, error);
}

static void warps_fit_the_lanes_and_the_sm(void **state) {
    (void)state;
    expect_valid("sm.warp_size=16 sm.simd_width=4");
    expect_invalid("sm.warp_size=24 sm.simd_width=8", "sm.warp_size is 24, but must be a power of two");
    expect_invalid("sm.simd_width=12", "sm.simd_width is 12, but must divide sm.warp_size, 32");
    expect_invalid("sm.warp_size=16", "sm.simd_width is 32, but must divide sm.warp_size, 16");
    expect_invalid("sm.threads=1540", "sm.threads is 1540, but must be a multiple of sm.warp_size, 32");
    expect_valid("sm.threads=4096");
    expect_invalid("sm.warp_size=8 sm.simd_width=8 sm.threads=1032",
                   "sm.threads is 1032, which is 129 warps, but an SM has at most 128: up to 1024 threads with "
                   "sm.warp_size 8");
    expect_invalid("sm.threads=32 sm.schedulers=2 sm.threads_per_block=32",
                   "sm.schedulers is 2, but the SM has only 1 warps (sm.threads 32)");
}

static void an_sm_holds_its_largest_block(void **state) {
    (void)state;
    expect_invalid("sm.threads=512", "sm.threads_per_block is 1024, but an SM holds only 512 threads (sm.threads)");
    expect_valid("sm.registers=1024");
    expect_valid("sm.registers=0"); /* no limit */
    expect_invalid("sm.registers=1023", "sm.registers is 1023, less than one for each thread of a block: at least 1024 "
                                        "(sm.threads_per_block)");
    expect_invalid("shared.banks=24", "shared.banks is 24, but must be a power of two");
}

static void caches_have_whole_sets(void **state) {
    (void)state;
    expect_valid("l1.size=48K l1.ways=6");
    expect_valid("l1.size=32K l1.ways=256"); /* fully associative */
    expect_invalid("l1.line=96", "l1.line is 96, but must be a power of two");
    expect_invalid("l1.size=20K",
                   "l1.size is 20K, but must be a power of two times 512 bytes (l1.ways 4 x l1.line 128)");
    expect_invalid("l1.size=1000",
                   "l1.size is 1000, but must be a power of two times 512 bytes (l1.ways 4 x l1.line 128)");
    expect_invalid("l1.size=256",
                   "l1.size is 256, but must be a power of two times 512 bytes (l1.ways 4 x l1.line 128)");
    expect_invalid("icache.ways=3",
                   "icache.size is 2K, but must be a power of two times 384 bytes (icache.ways 3 x icache.line 128)");
    expect_invalid("l2.size=1M",
                   "l2.size is 1M, but must be a power of two times 12288 bytes (l2.ways 8 x l2.line 128 x "
                   "l2.banks 12)");
    expect_valid("l1.size=20K l1.present=false");
    expect_valid("l2.size=1000K l2.perfect=true");
}

static void lines_do_not_shrink_on_the_way_down(void **state) {
    (void)state;
    expect_valid("l1.line=64");
    expect_valid("cacp.present=true");
    expect_invalid(
        "cacp.present=true l1.ways=1",
        "cacp.present is true, but the L1 has no ways to divide: l1.present must be true, l1.perfect false and "
        "l1.ways at least 2");
    expect_valid("l1.bank_queues=true");
    expect_invalid("l1.bank_queues=true unified.tag_banks=4",
                   "l1.bank_queues is true, but the L1 has no banks of its own: unified.tag_banks is 4 and must be 0");
    expect_invalid("l2.line=64 icache.line=64", "l1.line is 128, but must not exceed l2.line, 64");
    expect_invalid("l2.line=64 l1.line=64", "icache.line is 128, but must not exceed l2.line, 64");
    expect_valid("l2.line=64 l2.present=false");
}

static void coherence_needs_caches_that_can_keep_it(void **state) {
    (void)state;
    const char *valid = "memory.coherence=mesi l1.write=back l1.write_allocate=true";
    char words[256];
    expect_valid(valid);
    expect_invalid("memory.coherence=mesi", "memory.coherence is mesi, but its L1 caches own what they write: l1.write "
                                            "must be back and l1.write_allocate true");
    snprintf(words, sizeof words, "%s l2.present=false", valid);
    expect_invalid(words, "memory.coherence is mesi, but its directory is in the L2: l2.present must be true and "
                          "l2.perfect false");
    snprintf(words, sizeof words, "%s l1.perfect=true", valid);
    expect_invalid(words, "memory.coherence is mesi, but there is no L1 to keep coherent: l1.present must be true and "
                          "l1.perfect false");
    snprintf(words, sizeof words, "%s l1.line=64", valid);
    expect_invalid(words, "memory.coherence is mesi, but l1.line is 64 and l2.line 128: they must be equal");
}

static void rows_of_dram_hold_lines(void **state) {
    (void)state;
    expect_valid("dram.row=128");
    expect_invalid("dram.row=64", "dram.row is 64, but must hold a line of 128 bytes (l2.line)");
    expect_invalid("dram.row=64 l2.present=false", "dram.row is 64, but must hold a line of 128 bytes (l1.line)");
    expect_invalid("dram.row=3K", "dram.row is 3072, but must be a power of two");
    expect_invalid("dram.row_conflict=108", "dram.row_conflict is 108, but must not be below dram.row_hit, 109");
    expect_valid("dram.row_cycle=18");
    expect_invalid("dram.row_cycle=17",
                   "dram.row_cycle is 17, but a row takes 18 cycles to open (dram.row_conflict - dram.row_hit)");
}

static void shared_memory_and_the_l1_share_what_there_is(void **state) {
    (void)state;
    expect_valid("l1.size=64K unified.shared_sizes=16K,48K");
    expect_valid("l1.size=64K unified.shared_sizes=49152");
    static const char *const wrong[] = {"48K,16K", "16K,,48K", "16K,64K", "0,48K", "16K,48k,x", "16K,48K,48K"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char words[64], message[256];
        snprintf(words, sizeof words, "l1.size=64K unified.shared_sizes=%s", wrong[i]);
        snprintf(message, sizeof message,
                 "unified.shared_sizes is '%s', but must be sizes in ascending order, such as 8K,16K,32K, all below "
                 "l1.size, 64K",
                 wrong[i]);
        expect_invalid(words, message);
    }
    expect_invalid("l1.size=64K unified.shared_sizes=16K,32K",
                   "unified.shared_sizes is '16K,32K', but its last size must hold shared.size, 48K");
    expect_invalid("l1.size=64K unified.shared_sizes=48K l1.write=back",
                   "unified.shared_sizes is '48K', but needs an L1 that writes through (l1.write through)");
    expect_invalid("shared.reserved=49K", "shared.reserved is 50176, but an SM has only 49152 bytes (shared.size)");
}

static void a_launch_takes_the_first_size_that_holds_its_blocks(void **state) {
    (void)state;
    struct config_machine machine;
    config_defaults(&machine);
    set(&machine, "l1.size=64K");
    assert_int_equal(config_l1_bytes(&machine, 20000), 64 << 10);
    set(&machine, "unified.shared_sizes=8K,16K,48K");
    set(&machine, "unified.reserved=0");
    assert_int_equal(config_l1_bytes(&machine, 0), 56 << 10);
    assert_int_equal(config_l1_bytes(&machine, 8 << 10), 56 << 10);
    assert_int_equal(config_l1_bytes(&machine, (8 << 10) + 1), 48 << 10);
    assert_int_equal(config_l1_bytes(&machine, 17 << 10), 16 << 10);
    assert_int_equal(config_l1_bytes(&machine, 48 << 10), 16 << 10);
    set(&machine, "unified.reserved=4K");
    assert_int_equal(config_l1_bytes(&machine, 8 << 10), 52 << 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_fit_the_lanes_and_the_sm),
        cmocka_unit_test(an_sm_holds_its_largest_block),
        cmocka_unit_test(caches_have_whole_sets),
        cmocka_unit_test(lines_do_not_shrink_on_the_way_down),
        cmocka_unit_test(coherence_needs_caches_that_can_keep_it),
        cmocka_unit_test(rows_of_dram_hold_lines),
        cmocka_unit_test(shared_memory_and_the_l1_share_what_there_is),
        cmocka_unit_test(a_launch_takes_the_first_size_that_holds_its_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
