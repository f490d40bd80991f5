/* Tests of the pass over a memory instruction's addresses: it finds the same as a look at each of them. */
#include "exec/exec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_span(const struct exec_span *span, const uint64_t *address, const uint64_t *expected, uint32_t bytes,
                        uint32_t mask) {
    uint64_t low = UINT64_MAX, high = 0;
    uint32_t bits = 0;
    bool is_unit = mask == ~0u;
    for (unsigned i = 0; i < EXEC_LANES; i++) {
        bool is_active = mask >> i & 1;
        assert_int_equal(address[i], expected[is_active ? i : (unsigned)__builtin_ctz(mask)]);
        if (!is_active)
            continue;
        low = expected[i] < low ? expected[i] : low;
        high = expected[i] > high ? expected[i] : high;
        bits |= (uint32_t)expected[i];
        is_unit &= expected[i] == expected[0] + i * (uint64_t)bytes;
    }
    assert_int_equal(span->low, low);
    assert_int_equal(span->high, high);
    assert_int_equal(span->bits, bits);
    assert_int_equal(span->is_unit, is_unit);
}

/* Lane l is at first + l * step. If `other` is below 32, that lane is somewhere else. */
static void check(uint64_t first, uint64_t step, unsigned other, uint64_t elsewhere, uint32_t bytes, uint32_t offset,
                  uint32_t mask) {
    uint32_t narrow[EXEC_LANES];
    uint64_t wide[EXEC_LANES], expected[EXEC_LANES], address[EXEC_LANES];
    struct exec_span span;
    for (unsigned i = 0; i < EXEC_LANES; i++)
        wide[i] = i == other ? elsewhere : first + i * step;
    for (unsigned i = 0; i < EXEC_LANES; i++)
        expected[i] = wide[i] + offset;
    EXEC_NAME(exec_span_64)(wide, offset, bytes, mask, address, &span);
    assert_span(&span, address, expected, bytes, mask);
    exec_level_table()->span_64(wide, offset, bytes, mask, address, &span);
    assert_span(&span, address, expected, bytes, mask);
    for (unsigned i = 0; i < EXEC_LANES; i++)
        expected[i] = (narrow[i] = (uint32_t)wide[i] % 0x40000000) + offset;
    EXEC_NAME(exec_span_32)(narrow, offset, bytes, mask, address, &span);
    assert_span(&span, address, expected, bytes, mask);
    exec_level_table()->span_32(narrow, offset, bytes, mask, address, &span);
    assert_span(&span, address, expected, bytes, mask);
}

static void a_span_tells_what_the_addresses_are(void **state) {
    (void)state;
    static const uint64_t first[] = {0, 64, 0x7f0000001000, 0xfffffff8, 0x1fffffffc};
    static const uint32_t mask[] = {~0u, 0x80000000, 0x7fffffff, 0x00f0a110};
    static const uint64_t step[] = {0, 4, 8, 12, UINT64_MAX - 3};
    for (unsigned f = 0; f < 5; f++)
        for (unsigned s = 0; s < 5; s++)
            for (unsigned other = 0; other <= EXEC_LANES; other++)
                for (uint32_t bytes = 4; bytes <= 8; bytes *= 2) {
                    for (unsigned m = 0; m < 4; m++) {
                        check(first[f], step[s], other, 6, bytes, 16, mask[m]);
                        check(first[f], step[s], other, 0x123456789a, bytes, 0, mask[m]);
                    }
                }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_tells_what_the_addresses_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
