/* Packing threads. See packing.h. */
#include "divergence/parts/packing.h"

#include <string.h>

static const uint8_t own_lane[EXEC_LANES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                             16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

void divergence_pack_columns(uint32_t *left, const uint32_t *in_flight, uint32_t n_rows,
                             struct divergence_packing *packing) {
    packing->mask = 0;
    packing->is_row = true;
    memcpy(packing->lane, own_lane, sizeof own_lane);
    for (uint32_t row = 0; row < n_rows && packing->mask != ~0u; row++) {
        uint32_t taken = left[row] & ~packing->mask & ~(in_flight ? in_flight[row] : 0);
        if (!taken)
            continue;
        left[row] &= ~taken;
        if (!packing->mask) {
            memset(packing->row, (int)row, sizeof packing->row);
            packing->mask = taken;
            continue;
        }
        packing->is_row = false;
        packing->mask |= taken;
        for (; taken; taken &= taken - 1)
            packing->row[__builtin_ctz(taken)] = (uint8_t)row;
    }
}

static void put(struct divergence_packing *packing, uint32_t at, uint32_t row, uint32_t lane) {
    packing->is_row &= at == lane && (!packing->mask || packing->row[__builtin_ctz(packing->mask)] == row);
    packing->mask |= 1u << at;
    packing->row[at] = (uint8_t)row;
    packing->lane[at] = (uint8_t)lane;
}

void divergence_pack_any(uint32_t *left, const uint32_t *in_flight, uint32_t n_rows, uint32_t n_lanes,
                         struct divergence_packing *packing) {
    uint32_t n = 0;
    packing->mask = 0;
    packing->is_row = true;
    for (uint32_t row = 0; row < n_rows; row++)
        for (uint32_t free = left[row] & ~(in_flight ? in_flight[row] : 0); free && n < n_lanes; free &= free - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(free);
            left[row] &= ~(1u << lane);
            put(packing, n++, row, lane);
        }
}
