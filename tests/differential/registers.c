/* Chooses the registers and immediates of an instruction.
 *
 * A real GPU's compiler removes results that are never read, which then test nothing. So most sources are results not
 * yet read, and most destinations are registers whose value has been read. */
#include "program.h"

#include <stdio.h>

const struct kind_info kinds[N_KINDS] = {
    [KIND_I16] = {'h', 16, 4, 0},    [KIND_F16] = {'e', 16, 4, 8},      [KIND_BF16] = {'b', 16, 4, 16},
    [KIND_PRED] = {'p', 1, 4, 24},   [KIND_I32] = {'r', 32, 8, 32},     [KIND_F32] = {'f', 32, 8, 64},
    [KIND_F16X2] = {'x', 32, 4, 96}, [KIND_BF16X2] = {'y', 32, 4, 112}, [KIND_I64] = {'l', 64, 4, 128},
    [KIND_F64] = {'d', 64, 4, 160},
};

enum kind program_kind(char letter) {
    enum kind kind = 0;
    while (kind < N_KINDS && kinds[kind].letter != letter)
        kind++;
    return kind;
}

/* Returns one of the set bits of a mask that is not 0. */
static unsigned pick_bit(struct random *random, uint32_t mask) {
    for (unsigned skip = random_below(random, (uint32_t)__builtin_popcount(mask)); skip > 0; skip--)
        mask &= mask - 1;
    return (unsigned)__builtin_ctz(mask);
}

unsigned program_pick_source(struct program *p, enum kind kind) {
    if (p->count[kind] == 0)
        return PROGRAM_NO_REGISTER;
    unsigned number = p->unread[kind] && random_chance(&p->random, 60) ? pick_bit(&p->random, p->unread[kind])
                                                                       : random_below(&p->random, p->count[kind]);
    p->unread[kind] &= ~(1u << number);
    return number;
}

unsigned program_pick_destination(struct program *p, enum kind kind) {
    if (p->count[kind] == 0)
        return PROGRAM_NO_REGISTER;
    uint32_t read = ((1u << p->count[kind]) - 1) & ~p->unread[kind];
    return read && random_chance(&p->random, 85) ? pick_bit(&p->random, read)
                                                 : random_below(&p->random, p->count[kind]);
}

void program_written(struct program *p, enum kind kind, unsigned number) { p->unread[kind] |= 1u << number; }

bool program_immediate(struct program *p, enum kind kind, char *buffer, size_t size) {
    unsigned long long value = edge_value(&p->random, kind);
    switch (kind) {
    case KIND_I16:
        snprintf(buffer, size, "%d", (int16_t)value);
        return true;
    case KIND_I32:
        snprintf(buffer, size, "%d", (int32_t)value);
        return true;
    case KIND_I64:
        snprintf(buffer, size, "0x%llx", value);
        return true;
    case KIND_F32:
        snprintf(buffer, size, "0f%08llX", value);
        return true;
    case KIND_F64:
        snprintf(buffer, size, "0d%016llX", value);
        return true;
    default:
        return false;
    }
}
