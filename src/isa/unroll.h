/* A loop that is unrolled, between iterations.c, which finds it, and unroll.c, which writes its bodies. */
#pragma once

#include "isa/internal.h"

/* The relation of the comparison, for a counter that goes up or down. */
enum relation { STRICT, OR_EQUAL, DIFFERENT };

struct unrolled_loop {
    struct isa_loop found;
    uint32_t first, last; /* instructions: from the header to the branch */
    uint32_t n_exits;     /* branches out of the middle */
    uint32_t *exit;       /* the blocks they lead to */
    enum relation relation;
    bool is_signed;
    unsigned bits;
    uint32_t counter;
    uint32_t times; /* bodies in MAIN */
    bool is_whole;  /* all iterations: nothing else remains */
};

static inline uint32_t isa_block_of(const struct isa_code *code, uint32_t i) { return code->analysis->block_of[i]; }

static inline bool isa_is_inside(const struct unrolled_loop *loop, uint32_t i) {
    return i >= loop->first && i <= loop->last;
}

/* Returns whether the instruction executes once in every iteration, before or after everything else. */
static inline bool isa_is_in_every_iteration(const struct isa_code *code, const struct unrolled_loop *loop,
                                             uint32_t i) {
    uint32_t block = isa_block_of(code, i);
    return isa_source(code, i)->guard == PTX_NO_INDEX &&
           (block == isa_block_of(code, loop->first) || block == isa_block_of(code, loop->last));
}

/* Returns the bits of a value that the counter has. */
static inline uint64_t isa_cut(const struct unrolled_loop *loop, uint64_t value) {
    return loop->bits == 64 ? value : value & 0xffffffffu;
}

/* Returns whether the loop, of which `found` is known, can be unrolled, and finds its text, exits and relation. */
bool isa_can_unroll(const struct isa_code *code, struct unrolled_loop *loop);
/* Finds how many iterations become bodies. */
void isa_choose_times(const struct isa_code *code, struct unrolled_loop *loop);
