/* Packing threads. See pack.h. */
#include "divergence/parts/packing.h"

#include <string.h>

static const uint8_t own_lane[EXEC_LANES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                             16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

void divergence_pack_columns(uint32_t *left, const uint32_t *busy, uint32_t n_rows, struct divergence_pack *pack) {
    pack->mask = 0;
    pack->is_row = true;
    memcpy(pack->lane, own_lane, sizeof own_lane);
    for (uint32_t row = 0; row < n_rows && pack->mask != ~0u; row++) {
        uint32_t taken = left[row] & ~pack->mask & ~(busy ? busy[row] : 0);
        if (!taken)
            continue;
        left[row] &= ~taken;
        if (!pack->mask) {
            memset(pack->row, (int)row, sizeof pack->row);
            pack->mask = taken;
            continue;
        }
        pack->is_row = false;
        pack->mask |= taken;
        for (; taken; taken &= taken - 1)
            pack->row[__builtin_ctz(taken)] = (uint8_t)row;
    }
}

static void put(struct divergence_pack *pack, uint32_t at, uint32_t row, uint32_t lane) {
    pack->is_row &= at == lane && (!pack->mask || pack->row[__builtin_ctz(pack->mask)] == row);
    pack->mask |= 1u << at;
    pack->row[at] = (uint8_t)row;
    pack->lane[at] = (uint8_t)lane;
}

void divergence_pack_any(uint32_t *left, const uint32_t *busy, uint32_t n_rows, uint32_t n_lanes,
                         struct divergence_pack *pack) {
    uint32_t n = 0;
    pack->mask = 0;
    pack->is_row = true;
    for (uint32_t row = 0; row < n_rows; row++)
        for (uint32_t free = left[row] & ~(busy ? busy[row] : 0); free && n < n_lanes; free &= free - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(free);
            left[row] &= ~(1u << lane);
            put(pack, n++, row, lane);
        }
}
