/* The lines that a warp requests, and the cycles that shared memory takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mem/mem.h"

enum { LINE = 128 };

static void strided(uint64_t address[32], uint64_t start, uint64_t stride) {
    for (uint64_t lane = 0; lane < 32; lane++)
        address[lane] = start + lane * stride;
}

static void check(const struct mem_transaction *t, uint64_t line, uint32_t lanes, uint32_t bytes) {
    assert_int_equal(t->line, line);
    assert_int_equal(t->lanes, lanes);
    assert_int_equal(t->bytes, bytes);
}

static void neighbouring_words_share_lines(void **state) {
    (void)state;
    uint64_t a[32];
    struct mem_transaction t[MEM_MAX_TRANSACTIONS];
    strided(a, 0x1000, 4);
    assert_int_equal(mem_coalesce(a, UINT32_MAX, 4, LINE, t), 1);
    check(&t[0], 0x1000, UINT32_MAX, 128);
    strided(a, 0x1000, 8);
    assert_int_equal(mem_coalesce(a, UINT32_MAX, 8, LINE, t), 2);
    check(&t[0], 0x1000, 0x0000ffff, 128);
    check(&t[1], 0x1080, 0xffff0000, 128);
    strided(a, 0x1000, 16);
    assert_int_equal(mem_coalesce(a, UINT32_MAX, 16, LINE, t), 4);
    check(&t[0], 0x1000, 0x000000ff, 128);
    check(&t[3], 0x1180, 0xff000000, 128);
    strided(a, 0x1000, 1);
    assert_int_equal(mem_coalesce(a, UINT32_MAX, 1, LINE, t), 1);
    check(&t[0], 0x1000, UINT32_MAX, 32);
}

static void sectors_are_counted_once(void **state) {
    (void)state;
    uint64_t a[32];
    strided(a, 0x1000, 4);
    assert_int_equal(mem_count_sectors(a, UINT32_MAX, 4), 4);
    assert_int_equal(mem_count_sectors(a, 0x000000ff, 4), 1);
    strided(a, 0x101e, 4); /* words cross the borders of sectors */
    assert_int_equal(mem_count_sectors(a, UINT32_MAX, 4), 5);
    assert_int_equal(mem_count_sectors(a, 1, 4), 2);
    strided(a, 0x1000, 128);
    assert_int_equal(mem_count_sectors(a, UINT32_MAX, 4), 32);
    strided(a, 0x1000, 0);
    assert_int_equal(mem_count_sectors(a, UINT32_MAX, 4), 1);
}

static void a_run_off_the_line_start_touches_one_line_more(void **state) {
    (void)state;
    uint64_t a[32];
    struct mem_transaction t[MEM_MAX_TRANSACTIONS];
    strided(a, 0x1004, 4);
    assert_int_equal(mem_coalesce(a, UINT32_MAX, 4, LINE, t), 2);
    check(&t[0], 0x1000, 0x7fffffff, 124);
    check(&t[1], 0x1080, 0x80000000, 4);
}

static void one_address_is_one_line(void **state) {
    (void)state;
    uint64_t a[32];
    struct mem_transaction t[MEM_MAX_TRANSACTIONS];
    strided(a, 0x1234, 0);
    assert_int_equal(mem_coalesce(a, UINT32_MAX, 4, LINE, t), 1);
    check(&t[0], 0x1200, UINT32_MAX, 4); /* the same bytes count once */
}

static void strides_spread_over_lines(void **state) {
    (void)state;
    uint64_t a[32];
    struct mem_transaction t[MEM_MAX_TRANSACTIONS];
    strided(a, 0x2000, 8);
    assert_int_equal(mem_coalesce(a, UINT32_MAX, 4, LINE, t), 2);
    check(&t[0], 0x2000, 0x0000ffff, 64);
    strided(a, 0x2000, 32 * 4);
    assert_int_equal(mem_coalesce(a, UINT32_MAX, 4, LINE, t), 32);
    for (uint32_t i = 0; i < 32; i++)
        check(&t[i], 0x2000 + 128 * i, UINT32_C(1) << i, 4);
}

static void lanes_that_are_off_ask_for_nothing(void **state) {
    (void)state;
    uint64_t a[32];
    struct mem_transaction t[MEM_MAX_TRANSACTIONS];
    strided(a, 0x1000, 4);
    assert_int_equal(mem_coalesce(a, 0, 4, LINE, t), 0);
    assert_int_equal(mem_coalesce(a, 0x80000001, 4, LINE, t), 1);
    check(&t[0], 0x1000, 0x80000001, 8);
}

static void lines_come_in_the_order_of_their_first_lane(void **state) {
    (void)state;
    uint64_t a[32] = {0x5000, 0x3000, 0x5010, 0x1000, 0x3004};
    struct mem_transaction t[MEM_MAX_TRANSACTIONS];
    assert_int_equal(mem_coalesce(a, 0x1f, 4, LINE, t), 3);
    check(&t[0], 0x5000, 0x05, 8);
    check(&t[1], 0x3000, 0x12, 8);
    check(&t[2], 0x1000, 0x08, 4);
}

static void bytes_across_a_line_end_belong_to_both(void **state) {
    (void)state;
    uint64_t a[32] = {0x107c, 0x103c};
    struct mem_transaction t[MEM_MAX_TRANSACTIONS];
    assert_int_equal(mem_coalesce(a, 1, 16, LINE, t), 2);
    check(&t[0], 0x1000, 1, 4);
    check(&t[1], 0x1080, 1, 12);
    assert_int_equal(mem_coalesce(a, 2, 16, LINE, t), 1); /* across the middle of a line */
    check(&t[0], 0x1000, 2, 16);
}

/* The fast path for runs and the general path must agree. */
static void the_fast_path_equals_the_general_one(void **state) {
    (void)state;
    uint64_t a[32];
    struct mem_transaction quick[MEM_MAX_TRANSACTIONS], slow[MEM_MAX_TRANSACTIONS];
    for (uint32_t bytes = 1; bytes <= 32; bytes *= 2) {
        for (uint64_t start = 0x1000; start < 0x1100; start++) {
            strided(a, start, bytes);
            unsigned n = mem_coalesce(a, UINT32_MAX, bytes, LINE, quick);
            uint64_t last = a[31];
            a[31] = a[30]; /* breaks the run and adds no bytes */
            unsigned m = mem_coalesce(a, UINT32_MAX, bytes, LINE, slow);
            a[31] = last;
            uint32_t quick_bytes = 0, slow_bytes = 0;
            for (unsigned i = 0; i < n; i++)
                quick_bytes += quick[i].bytes;
            for (unsigned i = 0; i < m; i++) {
                slow_bytes += slow[i].bytes;
                assert_int_equal(slow[i].line, quick[i].line);
                assert_int_equal(slow[i].lanes & 0x3fffffff, quick[i].lanes & 0x3fffffff);
            }
            assert_int_equal(quick_bytes, 32 * bytes);
            assert_int_equal(slow_bytes, 31 * bytes);
            assert_true(n == m || n == m + 1);
        }
    }
}

/* One byte after the other: the lines in the order of their first lane, with their lanes and the bytes touched. */
static unsigned coalesce_bytes(const uint64_t a[32], uint32_t mask, uint32_t bytes, uint32_t line_bytes,
                               struct mem_transaction t[MEM_MAX_TRANSACTIONS]) {
    static bool touched[MEM_MAX_TRANSACTIONS][MEM_MAX_LINE_BYTES];
    unsigned n = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint64_t at = a[lane]; (mask >> lane & 1) && at < a[lane] + bytes; at++) {
            unsigned i = 0;
            while (i < n && t[i].line != at / line_bytes * line_bytes)
                i++;
            if (i == n) {
                t[n++] = (struct mem_transaction){.line = at / line_bytes * line_bytes};
                memset(touched[i], 0, sizeof touched[i]);
            }
            t[i].lanes |= UINT32_C(1) << lane;
            t[i].bytes += !touched[i][at % line_bytes];
            touched[i][at % line_bytes] = true;
        }
    return n;
}

static void random_addresses_touch_what_their_bytes_do(void **state) {
    (void)state;
    uint64_t seed = 1, a[32];
    struct mem_transaction t[MEM_MAX_TRANSACTIONS], expected[MEM_MAX_TRANSACTIONS];
    for (unsigned round = 0; round < 20000; round++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint32_t bytes = round % 8 ? 1 + (uint32_t)(seed >> 60) : 32, line_bytes = UINT32_C(32) << (seed >> 57 & 3);
        uint64_t range = UINT64_C(1) << (seed >> 50 & 15), step = seed >> 48 & 1 ? 1 : bytes;
        uint32_t mask = seed >> 47 & 1 ? UINT32_MAX : (uint32_t)(seed >> 8);
        for (uint32_t lane = 0; lane < 32; lane++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            a[lane] = 0x200000000000 + (seed >> 33) % range * step;
        }
        unsigned n = mem_coalesce(a, mask, bytes, line_bytes, t);
        assert_int_equal(n, coalesce_bytes(a, mask, bytes, line_bytes, expected));
        for (unsigned i = 0; i < n; i++)
            check(&t[i], expected[i].line, expected[i].lanes, expected[i].bytes);
    }
}

static void shared_memory_serves_distinct_banks_at_once(void **state) {
    (void)state;
    uint64_t a[32];
    strided(a, 0, 4);
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 4, 32), 1);
    strided(a, 64, 4); /* another start, the same banks in another order */
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 4, 32), 1);
    strided(a, 0, 8);
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 8, 32), 2);
    strided(a, 0, 16);
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 16, 32), 4);
    strided(a, 0, 1);
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 1, 32), 1);
}

static void shared_memory_broadcasts_a_word(void **state) {
    (void)state;
    uint64_t a[32];
    strided(a, 12, 0);
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 4, 32), 1);
    a[0] = 12 + 128; /* another word of the same bank */
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 4, 32), 2);
    a[0] = 14; /* the same word, another byte */
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 1, 32), 1);
}

/* Passes of lanes that access piece number (lane / part % turn) * step, as shared_load* and shared_store* measure them.
 */
static unsigned passes_of(uint32_t mask, uint32_t bytes, bool is_load, unsigned part, unsigned turn, unsigned step) {
    uint64_t a[32];
    unsigned groups;
    for (unsigned i = 0; i < 32; i++)
        a[i] = (uint64_t)bytes * (i / part % turn * step);
    return mem_group_passes(a, mask, bytes, is_load, 32, &groups);
}

static void wide_accesses_pass_in_groups(void **state) {
    (void)state;
    assert_int_equal(passes_of(UINT32_MAX, 16, true, 1, 32, 1), 4); /* own */
    assert_int_equal(passes_of(UINT32_MAX, 16, true, 1, 8, 1), 4);  /* turns_8 */
    assert_int_equal(passes_of(UINT32_MAX, 16, true, 1, 4, 1), 4);  /* turns_4 */
    assert_int_equal(passes_of(UINT32_MAX, 16, true, 1, 2, 1), 2);  /* turns_2: every second lane the same */
    assert_int_equal(passes_of(UINT32_MAX, 16, true, 2, 32, 1), 2); /* same_2 */
    assert_int_equal(passes_of(UINT32_MAX, 16, true, 1, 1, 1), 2);  /* all_same */
    assert_int_equal(passes_of(UINT32_MAX, 16, true, 8, 4, 8), 4);  /* same_bank_4 */
    assert_int_equal(passes_of(UINT32_MAX, 16, true, 1, 32, 2), 8); /* strided_2 */
    assert_int_equal(passes_of(0xff, 16, true, 1, 32, 1), 4);       /* own of 8 lanes */
    assert_int_equal(passes_of(1, 16, true, 1, 1, 1), 2);           /* one lane */
    assert_int_equal(passes_of(UINT32_MAX, 8, true, 1, 32, 1), 2);
    assert_int_equal(passes_of(UINT32_MAX, 8, true, 8, 32, 1), 1);
    assert_int_equal(passes_of(UINT32_MAX, 8, true, 1, 32, 2), 4);
    assert_int_equal(passes_of(UINT32_MAX, 8, false, 1, 1, 1), 2); /* stores are never taken together */
    assert_int_equal(passes_of(UINT32_MAX, 16, false, 8, 4, 1), 4);
    assert_int_equal(passes_of(UINT32_MAX, 16, false, 1, 32, 2), 8);
}

static void strides_conflict_in_shared_memory(void **state) {
    (void)state;
    uint64_t a[32];
    strided(a, 0, 8);
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 4, 32), 2);
    strided(a, 0, 12); /* odd strides do not */
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 4, 32), 1);
    strided(a, 0, 32 * 4);
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 4, 32), 32);
    assert_int_equal(mem_bank_conflicts(a, 0xffff, 4, 32), 16);
    assert_int_equal(mem_bank_conflicts(a, 0, 4, 32), 0);
    strided(a, 0, 33 * 4); /* the padded column */
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 4, 32), 1);
    strided(a, 0, 4);
    assert_int_equal(mem_bank_conflicts(a, UINT32_MAX, 4, 16), 2);
}

/* Holds the result against a count of all different words of each bank. */
static void random_addresses_conflict_as_their_words_do(void **state) {
    (void)state;
    enum { ROUNDS = 2000, WORDS = 512 };
    static const uint32_t n_banks[] = {32, 16, 12, 1, 64};
    uint32_t seed = 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t banks = n_banks[round % 5], bytes = 1u << round / 5 % 5, most = 0;
        uint32_t range = round / 25 % 2 ? 100 : WORDS * 4 - 16, align = round % 9 ? 1 : 32; /* 32 bytes are aligned */
        bytes = round % 9 ? bytes : 32;
        uint32_t mask = round / 50 % 2 ? UINT32_MAX : (seed = seed * 1664525u + 1013904223u);
        uint64_t a[32], start = round / 100 % 2 ? UINT64_C(0x7ffffffe0) : 0;
        bool is_touched[WORDS + 8] = {false};
        uint32_t n_words[64] = {0};
        for (unsigned lane = 0; lane < 32; lane++) {
            seed = seed * 1664525u + 1013904223u;
            a[lane] = start + (seed >> 8) % range;
            a[lane] -= a[lane] % align;
            for (uint64_t word = a[lane] / 4; mask >> lane & 1 && word <= (a[lane] + bytes - 1) / 4; word++)
                is_touched[word - start / 4] = true;
        }
        for (unsigned i = 0; i < WORDS + 8; i++)
            if (is_touched[i] && ++n_words[(start / 4 + i) % banks] > most)
                most = n_words[(start / 4 + i) % banks];
        assert_int_equal(mem_bank_conflicts(a, mask, bytes, banks), most);
    }
}

/* Sectors of 32 bytes, lines of 128, four banks of tags, 32 of words. */
static unsigned passes(const uint64_t a[32], uint32_t bytes) {
    struct mem_transaction t[MEM_MAX_TRANSACTIONS];
    unsigned n = mem_coalesce(a, UINT32_MAX, bytes, 32, t);
    return mem_l1_passes(a, UINT32_MAX, bytes, t, n, 4, 32);
}

static void an_l1_reads_words_as_shared_memory_does(void **state) {
    (void)state;
    uint64_t a[32];
    strided(a, 0, 4);
    assert_int_equal(passes(a, 4), 1);
    strided(a, 124, 4); /* two lines, all banks once */
    assert_int_equal(passes(a, 4), 1);
    strided(a, 0, 8);
    assert_int_equal(passes(a, 4), 2);
    strided(a, 0, 128);
    assert_int_equal(passes(a, 4), 32);
    strided(a, 16, 0); /* all lanes one place: wide accesses take several parts of a warp nevertheless */
    assert_int_equal(passes(a, 4), 1);
    assert_int_equal(passes(a, 8), 2);
    assert_int_equal(passes(a, 16), 4);
    strided(a, 16, 16);
    assert_int_equal(passes(a, 16), 4);
}

static void an_l1_looks_up_a_line_in_each_bank_of_tags(void **state) {
    (void)state;
    uint64_t a[32];
    strided(a, 0, 128 + 4); /* 32 lines, all banks of words once */
    assert_int_equal(passes(a, 4), 8);
    strided(a, 0, 4 * 128 + 4);
    assert_int_equal(passes(a, 4), 8);
    static const uint64_t lines[] = {0, 6, 12, 16}; /* in the banks 0, 2, 2 and 2 */
    strided(a, 0, 4);
    for (unsigned lane = 0; lane < 4; lane++)
        a[lane] += lines[lane] * 128;
    assert_int_equal(passes(a, 4), 3);
}

/* Local memory keeps word i of 32 lanes in line i. */
static void wide_words_of_local_memory_are_in_several_lines(void **state) {
    (void)state;
    enum { WORDS = 128, SECTOR = 32 };
    uint64_t address[32];
    struct mem_transaction out[MEM_MAX_TRANSACTIONS];
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = 4 * lane;
    assert_int_equal(mem_coalesce_words(address, UINT32_MAX, 2, WORDS, SECTOR, out), 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(out[i].line, i * SECTOR);
        assert_int_equal(out[i].lanes, 0xffu << i % 4 * 8);
        assert_int_equal(out[i].bytes, SECTOR);
    }
    assert_int_equal(mem_coalesce_words(address, 1, 4, WORDS, SECTOR, out), 4);
    assert_int_equal(out[3].line, 3 * WORDS);
    assert_int_equal(out[3].bytes, 4);
    address[1] += WORDS; /* its first word is in the line of lane 0's second */
    assert_int_equal(mem_coalesce_words(address, 3, 2, WORDS, SECTOR, out), 3);
    assert_int_equal(out[1].line, WORDS);
    assert_int_equal(out[1].lanes, 3);
    assert_int_equal(out[1].bytes, 8);
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = 4 * lane + (uint64_t)lane * 4 * WORDS;
    assert_int_equal(mem_coalesce_words(address, UINT32_MAX, 4, WORDS, SECTOR, out), MEM_MAX_TRANSACTIONS);
}

enum { SECTOR = 32 };

/* Of 32 lanes 2 have an address in the first sector, 30 one in the second, of the same line of 128 bytes. */
static void atomics_on_one_address_take_turns(void **state) {
    (void)state;
    uint64_t address[32];
    struct mem_transaction out[MEM_MAX_TRANSACTIONS];
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = lane % 16 ? SECTOR : 0;
    unsigned n = mem_coalesce(address, ~0u, 4, SECTOR, out);
    assert_int_equal(n, 2);
    assert_int_equal(mem_repeat_atomics(address, n, 4, out), 32);
    for (unsigned i = 0; i < 32; i++) {
        assert_int_equal(out[i].line, i == 0 || i == 2 ? 0 : SECTOR);
        assert_int_equal(out[i].bytes, 4);
    }
    for (unsigned lane = 0; lane < 32; lane++) /* two lanes on each word of the first line, then on the second's */
        address[lane] = lane % 8 * 4 + lane / 16 * 4 * SECTOR;
    n = mem_coalesce(address, ~0u, 4, SECTOR, out);
    assert_int_equal(mem_repeat_atomics(address, n, 4, out), 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(out[i].line, i / 2 * 4 * SECTOR);
        assert_int_equal(out[i].bytes, SECTOR);
    }
}

/* Atomics, unlike loads, do not share a pass for a word, and other words of the bank take their own. */
static void atomics_take_a_pass_for_each_lane_of_a_bank(void **state) {
    (void)state;
    uint64_t address[32];
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = lane % 4 * 128; /* four words of one bank */
    assert_int_equal(mem_most_lanes_of_bank(address, ~0u, 4, 32), 32);
    for (unsigned lane = 0; lane < 32; lane++)
        address[lane] = lane % 16 * 4;
    assert_int_equal(mem_most_lanes_of_bank(address, ~0u, 4, 32), 2);
    assert_int_equal(mem_most_lanes_of_bank(address, 0xffff, 4, 32), 1);
}

static void touched_bytes_are_those_of_the_lanes_inside_the_line(void **state) {
    (void)state;
    uint64_t address[32] = {96, 104, 112, 92, 124, 128, 60, 103};
    assert_int_equal(mem_touched_bytes(address, 1, 4, 96), 0xf);
    assert_int_equal(mem_touched_bytes(address, 7, 4, 96), 0x000f0f0f);
    assert_int_equal(mem_touched_bytes(address, 1 | 128, 1, 96), 0x81);
    assert_int_equal(mem_touched_bytes(address, 8, 8, 96), 0xf);          /* begins before the line */
    assert_int_equal(mem_touched_bytes(address, 16, 8, 96), 0xf0000000u); /* ends after it */
    assert_int_equal(mem_touched_bytes(address, 32 | 64, 4, 96), 0);      /* other lines */
    assert_int_equal(mem_touched_bytes(address, 1, 32, 96), 0xffffffffu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbouring_words_share_lines),
        cmocka_unit_test(sectors_are_counted_once),
        cmocka_unit_test(a_run_off_the_line_start_touches_one_line_more),
        cmocka_unit_test(one_address_is_one_line),
        cmocka_unit_test(wide_words_of_local_memory_are_in_several_lines),
        cmocka_unit_test(strides_spread_over_lines),
        cmocka_unit_test(lanes_that_are_off_ask_for_nothing),
        cmocka_unit_test(lines_come_in_the_order_of_their_first_lane),
        cmocka_unit_test(bytes_across_a_line_end_belong_to_both),
        cmocka_unit_test(the_fast_path_equals_the_general_one),
        cmocka_unit_test(random_addresses_touch_what_their_bytes_do),
        cmocka_unit_test(shared_memory_serves_distinct_banks_at_once),
        cmocka_unit_test(shared_memory_broadcasts_a_word),
        cmocka_unit_test(wide_accesses_pass_in_groups),
        cmocka_unit_test(strides_conflict_in_shared_memory),
        cmocka_unit_test(random_addresses_conflict_as_their_words_do),
        cmocka_unit_test(an_l1_reads_words_as_shared_memory_does),
        cmocka_unit_test(an_l1_looks_up_a_line_in_each_bank_of_tags),
        cmocka_unit_test(atomics_on_one_address_take_turns),
        cmocka_unit_test(atomics_take_a_pass_for_each_lane_of_a_bank),
        cmocka_unit_test(touched_bytes_are_those_of_the_lanes_inside_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
