/* Sums of floating-point numbers, and atomics of 64 bits, on shared memory. An SM executes them as a loop: it loads the
 * word, computes, and swaps if the word has not changed meanwhile.
 *
 * Source: bench/hardware/retries.c on an H200, and the loop in the machine code of ptxas 13.0 (LDS, FADD,
 * ATOMS.CAST.SPIN, ISETP, BRA). The measurements say:
 *
 * - In each round one lane of a bank succeeds, whether the others want the same word or another one. Accesses of 64
 * bits pass in two halves of the warp, whose banks do not meet.
 * - A round takes retry_cycles. The load and the swap pass as often as a bank's words need: on average half of those in
 *   the first round.
 * - Warps that want the same word fail when another one has been faster. A word changes once in at least
 *   retry_least_cycles, from the load to the swap. With few warps it takes nearly a whole round, because those that
 * fail start together again.
 * - Every round occupies the load/store unit, also those that fail.
 *
 * Ours: how fast a word changes falls evenly up to the eleventh warp. Warps get a word one after the other, although
 * their lanes take turns. Warps that want different words of a bank do not hold each other up. */
#include "sm/retries.h"

enum { LANES = 32, WORD_BYTES = 4, MANY_WARPS = 10 };

/* How many lanes want the same word as `lane`; *in_bank: the lanes that succeed one after the other with it. */
static uint32_t count_rivals(const uint64_t address[32], uint32_t mask, uint32_t lane, uint32_t bytes, uint32_t banks,
                             uint32_t *in_bank) {
    uint32_t same_word = 0, same_bank = 0;
    uint64_t bank = address[lane] / bytes % (banks * WORD_BYTES / bytes);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(left);
        bool is_same = address[other] == address[lane];
        bool is_half = bytes > WORD_BYTES && (other ^ lane) & (LANES / 2);
        same_word += is_same;
        same_bank += is_same || (!is_half && address[other] / bytes % (banks * WORD_BYTES / bytes) == bank);
    }
    *in_bank = same_bank;
    return same_word;
}

/* Books a word for `n` lanes of a warp that need `round` cycles each if they are alone. Returns when the last one has
 * changed it. */
static uint64_t take_word(struct sm_retries *retries, uint64_t key, uint32_t n, uint64_t round, uint64_t least,
                          uint64_t cycle) {
    uint32_t place = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 56) % SM_RETRY_WORDS;
    uint64_t start = cycle, others = 0, *free = &retries->word[place].free;
    if (retries->word[place].key == key && *free > cycle) {
        start = *free;
        others = (start - cycle + n * round - 1) / (n * round);
        others = others < MANY_WARPS ? others : MANY_WARPS;
    }
    uint64_t each = round - (round - least) * others / MANY_WARPS;
    retries->word[place].key = key;
    *free = start + n * each;
    return *free;
}

struct sm_retry_cost sm_retries_access(struct sm_retries *retries, const struct config_machine *machine,
                                       const uint64_t address[32], uint32_t mask, uint32_t bytes, uint32_t passes,
                                       uint32_t block, uint64_t cycle) {
    const struct config_serial_atomics *atomics = &machine->serial_atomics;
    bool is_wide = bytes > WORD_BYTES;
    uint64_t wide = is_wide ? atomics->retry_wide_cycles : 0;
    uint64_t round = atomics->retry_cycles + wide, least = atomics->retry_least_cycles + wide;
    least = least < round ? least : round;
    uint64_t ready = cycle;
    uint32_t n_rounds = 1;
    for (uint32_t left = mask, in_bank; left;) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint32_t n = count_rivals(address, mask, lane, bytes, machine->shared.banks, &in_bank);
        for (uint32_t rest = left; rest; rest &= rest - 1)
            if (address[__builtin_ctz(rest)] == address[lane])
                left &= ~(rest & -rest);
        n_rounds = in_bank > n_rounds ? in_bank : n_rounds;
        uint64_t end = take_word(retries, address[lane] ^ (uint64_t)block << 32, n, round, least, cycle);
        ready = end > ready ? end : ready;
    }
    uint32_t more = (passes - 1) * n_rounds / 2;
    uint64_t alone = cycle + n_rounds * round + (uint64_t)more * machine->shared.pass_cycles;
    ready = ready > alone ? ready : alone;
    if ((ready - cycle) / round > n_rounds)
        n_rounds = (uint32_t)((ready - cycle) / round);
    /* the swap of 64 bits passes in two halves: four passes in each round instead of three */
    retries->rest += n_rounds * atomics->retry_busy_cycles * (is_wide ? 4.0 / 3 : 1) + more;
    uint32_t busy = (uint32_t)retries->rest;
    retries->rest -= busy;
    return (struct sm_retry_cost){ready, n_rounds, busy};
}
