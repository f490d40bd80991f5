/* Writes the result of an instruction that not all lanes execute: the active lanes of the register receive the result,
 * and the others keep their values. */
#include "exec/lanes/lanes.h"

#include <assert.h>

#include "exec/lanes/lane_masks.h"

#define DEFINE_BLEND(bits)                                                                                             \
    static void blend_##bits(uint##bits##_t *d, const uint##bits##_t *s, uint32_t lanes) {                             \
        const LANES_MASK_WORD(uint##bits##_t) mask = lanes;                                                            \
        EXEC_FOR_LANES {                                                                                               \
            const uint##bits##_t now = d[i], next = s[i];                                                              \
            d[i] = mask & LANES_BIT(uint##bits##_t)[i] ? next : now;                                                   \
        }                                                                                                              \
    }
DEFINE_BLEND(16)
DEFINE_BLEND(32)
DEFINE_BLEND(64)

void EXEC_NAME(exec_blend)(void *dst, const void *src, uint32_t mask, unsigned bits) {
    switch (bits) {
    case 1:
        *(uint32_t *)dst = (*(uint32_t *)dst & ~mask) | (*(const uint32_t *)src & mask);
        break;
    case 16:
        blend_16(dst, src, mask);
        break;
    case 32:
        blend_32(dst, src, mask);
        break;
    default:
        assert(bits == 64);
        blend_64(dst, src, mask);
        break;
    }
}
