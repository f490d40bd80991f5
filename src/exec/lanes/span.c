/* The addresses of a memory instruction and their properties, found in one pass: the lowest and highest address, and
 * whether the addresses are neighbours. For most accesses, bounds, alignment and bank conflicts then need no other
 * pass. */
#include "exec/lanes/lanes.h"

static inline struct exec_span span_of(const uint32_t *at, uint32_t bytes) {
    uint32_t low = UINT32_MAX, high = 0, bits = 0, unlike = 0, first = at[0];
    for (int i = 0; i < EXEC_LANES; i++) {
        low = at[i] < low ? at[i] : low;
        high = at[i] > high ? at[i] : high;
        bits |= at[i];
        unlike |= at[i] ^ (first + (uint32_t)i * bytes);
    }
    return (struct exec_span){low, high, bits, unlike == 0};
}

void EXEC_NAME(exec_span_32)(const uint32_t *base, uint32_t offset, uint32_t bytes, uint64_t *restrict address,
                             struct exec_span *span) {
    uint32_t at[EXEC_LANES];
    for (int i = 0; i < EXEC_LANES; i++)
        address[i] = at[i] = base[i] + offset;
    *span = span_of(at, bytes);
}

/* The same for addresses whose upper halves differ. */
static __attribute__((noinline)) struct exec_span wide_span_of(const uint64_t *at, uint32_t bytes) {
    struct exec_span span = {at[0], at[0], 0, true};
    for (unsigned i = 0; i < EXEC_LANES; i++) {
        span.low = at[i] < span.low ? at[i] : span.low;
        span.high = at[i] > span.high ? at[i] : span.high;
        span.bits |= (uint32_t)at[i];
        span.is_unit &= at[i] == at[0] + i * (uint64_t)bytes;
    }
    return span;
}

/* The upper halves are usually the same, and the lower ones decide. */
void EXEC_NAME(exec_span_64)(const uint64_t *base, uint64_t offset, uint32_t bytes, uint64_t *restrict address,
                             struct exec_span *span) {
    uint64_t first = base[0] + offset, spread = 0;
    uint32_t lower[EXEC_LANES];
    for (int i = 0; i < EXEC_LANES; i++) {
        uint64_t at = base[i] + offset;
        address[i] = at;
        lower[i] = (uint32_t)at;
        spread |= at ^ first;
    }
    *span = span_of(lower, bytes);
    span->low |= first >> 32 << 32;
    span->high |= first >> 32 << 32;
    if (spread >> 32)
        *span = wide_span_of(address, bytes);
}
