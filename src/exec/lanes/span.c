/* The addresses of a memory instruction and their properties, found in one pass: the lowest and highest address, and
 * whether the addresses are neighbours. For most accesses, bounds, alignment and bank conflicts then need no other
 * pass. */
#include "exec/lanes/lanes.h"

#include "exec/lanes/lane_masks.h"

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

/* The lanes in mask, and in the others the first of these. */
#define FILL(bits)                                                                                                     \
    static inline void fill_##bits(const uint##bits##_t *base, uint32_t lanes, uint##bits##_t *restrict filled) {      \
        const uint##bits##_t mask = lanes, first = base[__builtin_ctz(lanes)];                                         \
        for (int i = 0; i < EXEC_LANES; i++) {                                                                         \
            const uint##bits##_t own = base[i];                                                                        \
            filled[i] = mask & LANES_BIT(uint##bits##_t)[i] ? own : first;                                             \
        }                                                                                                              \
    }
FILL(32)
FILL(64)

void EXEC_NAME(exec_span_32)(const uint32_t *base, uint32_t offset, uint32_t bytes, uint32_t mask,
                             uint64_t *restrict address, struct exec_span *span) {
    uint32_t at[EXEC_LANES], filled[EXEC_LANES];
    if (mask != ~0u) {
        fill_32(base, mask, filled);
        base = filled;
    }
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
void EXEC_NAME(exec_span_64)(const uint64_t *base, uint64_t offset, uint32_t bytes, uint32_t mask,
                             uint64_t *restrict address, struct exec_span *span) {
    uint64_t filled[EXEC_LANES];
    uint32_t lower[EXEC_LANES];
    if (mask != ~0u) {
        fill_64(base, mask, filled);
        base = filled;
    }
    uint64_t first = base[0] + offset, spread = 0;
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
