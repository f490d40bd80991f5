/* The memory of a program before it runs: a column of values per register, one value per thread. Columns differ in how
 * similar their lanes are, so that votes, matches and branches see uniform, nearly uniform and mixed warps. */
#include "image.h"

#include <string.h>

#include "layout.h"
#include "program.h"

enum column { COLUMN_MIXED, COLUMN_FEW_VALUES, COLUMN_UNIFORM, COLUMN_NEIGHBOURS };

static enum column pick_column(struct random *random) {
    unsigned choice = random_below(random, 100);
    return choice < 70   ? COLUMN_MIXED
           : choice < 85 ? COLUMN_FEW_VALUES
           : choice < 92 ? COLUMN_UNIFORM
                         : COLUMN_NEIGHBOURS;
}

static void put(unsigned char *place, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        place[i] = (unsigned char)(value >> 8 * i);
}

static void fill_column(unsigned char *first, struct random *random, enum kind kind) {
    enum column column = pick_column(random);
    uint64_t few[3];
    for (unsigned i = 0; i < 3; i++)
        few[i] = edge_value(random, kind);
    for (unsigned thread = 0; thread < LAYOUT_THREADS; thread++) {
        uint64_t value = column == COLUMN_MIXED        ? edge_value(random, kind)
                         : column == COLUMN_FEW_VALUES ? few[random_below(random, 3)]
                         : column == COLUMN_UNIFORM    ? few[0]
                                                       : few[0] + thread;
        put(first + (size_t)thread * LAYOUT_REGISTERS, value, kinds[kind].bits / 8);
    }
}

void image_fill(unsigned char *image, uint64_t seed, uint64_t number) {
    struct random random = random_stream(seed, number, 1);
    memset(image, 0, LAYOUT_BYTES);
    for (enum kind kind = 0; kind < N_KINDS; kind++)
        for (unsigned i = 0; i < kinds[kind].count && kind != KIND_PRED; i++)
            fill_column(image + LAYOUT_AT_IN + kinds[kind].offset + i * kinds[kind].bits / 8, &random, kind);
    for (unsigned thread = 0; thread < LAYOUT_THREADS; thread++)
        put(image + LAYOUT_AT_IN + thread * LAYOUT_REGISTERS + kinds[KIND_PRED].offset, random_next(&random), 4);
    for (unsigned at = LAYOUT_AT_SCRATCH; at < LAYOUT_BYTES; at += 8) {
        bool is_double = random_chance(&random, 50);
        uint64_t value = edge_value(&random, is_double ? KIND_F64 : KIND_I32);
        put(image + at, is_double ? value : value | edge_value(&random, KIND_F32) << 32, 8);
    }
}

uint64_t image_digest(const unsigned char *image) {
    uint64_t hash = 0x243f6a8885a308d3u, word;
    for (unsigned at = LAYOUT_AT_OUT; at < LAYOUT_BYTES; at += 8) {
        memcpy(&word, image + at, sizeof word);
        hash = random_hash(hash, word);
    }
    return hash;
}
