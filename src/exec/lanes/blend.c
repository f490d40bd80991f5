/* Writes the result of an instruction that not all lanes execute: the active lanes of the register receive the result,
 * and the others keep their values. */
#include "exec/lanes/lanes.h"

#include "exec/lanes/lane_masks.h"

#define DEFINE_BLEND(bits)                                                                                             \
    void EXEC_NAME(exec_blend_##bits)(void *dst, const void *src, uint32_t lanes) {                                    \
        uint##bits##_t *d = dst;                                                                                       \
        const uint##bits##_t *s = src;                                                                                 \
        const LANES_MASK_WORD(uint##bits##_t) mask = lanes;                                                            \
        EXEC_FOR_LANES {                                                                                               \
            const uint##bits##_t now = d[i], next = s[i];                                                              \
            d[i] = mask & LANES_BIT(uint##bits##_t)[i] ? next : now;                                                   \
        }                                                                                                              \
    }
DEFINE_BLEND(16)
DEFINE_BLEND(32)
DEFINE_BLEND(64)

void EXEC_NAME(exec_blend_1)(void *dst, const void *src, uint32_t mask) {
    *(uint32_t *)dst = (*(uint32_t *)dst & ~mask) | (*(const uint32_t *)src & mask);
}
