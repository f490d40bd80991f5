// AES-128, byte by byte as in FIPS 197 (2001), with every table computed from arithmetic in the field of 256 elements.
// A reference: slow, and without any defence against timing attacks.
#include "aes.h"

#include <string.h>

enum { BLOCK = WORKLOAD_AES_BLOCK_BYTES, SIDE = 4 };

uint8_t workload_aes_multiply(uint8_t a, uint8_t b) {
    unsigned product = 0, shifted = a;
    for (; b; b >>= 1) {
        if (b & 1)
            product ^= shifted;
        shifted <<= 1;
        if (shifted & 0x100)
            shifted ^= 0x11b; // x^8 + x^4 + x^3 + x + 1
    }
    return (uint8_t)product;
}

// b^254, which is 1 / b, and 0 for 0.
static uint8_t inverse(uint8_t b) {
    uint8_t power = b;
    for (int i = 0; i < 6; i++)
        power = workload_aes_multiply(workload_aes_multiply(power, power), b); // exponents 3, 7, ..., 127
    return workload_aes_multiply(power, power);
}

static uint8_t rotate_left(uint8_t b, int by) { return (uint8_t)(b << by | b >> (8 - by)); }

static void make_substitutions(struct workload_aes *aes) {
    for (int b = 0; b < 256; b++) {
        uint8_t i = inverse((uint8_t)b);
        uint8_t s = i ^ rotate_left(i, 1) ^ rotate_left(i, 2) ^ rotate_left(i, 3) ^ rotate_left(i, 4) ^ 0x63;
        aes->substitute[b] = s;
        aes->substitute_back[s] = (uint8_t)b;
    }
}

void workload_aes_start(struct workload_aes *aes, const uint8_t key[WORKLOAD_AES_KEY_BYTES]) {
    make_substitutions(aes);
    uint8_t *schedule = aes->schedule, round_constant = 1;
    memcpy(schedule, key, WORKLOAD_AES_KEY_BYTES);
    for (int at = WORKLOAD_AES_KEY_BYTES; at < WORKLOAD_AES_SCHEDULE_BYTES; at += SIDE) {
        uint8_t word[SIDE];
        memcpy(word, schedule + at - SIDE, SIDE);
        if (at % WORKLOAD_AES_KEY_BYTES == 0) {
            uint8_t first = word[0];
            for (int i = 0; i < SIDE; i++)
                word[i] = aes->substitute[i == SIDE - 1 ? first : word[i + 1]];
            word[0] ^= round_constant;
            round_constant = workload_aes_multiply(round_constant, 2);
        }
        for (int i = 0; i < SIDE; i++)
            schedule[at + i] = schedule[at + i - WORKLOAD_AES_KEY_BYTES] ^ word[i];
    }
}

static void add_round_key(uint8_t block[BLOCK], const struct workload_aes *aes, int round) {
    for (int i = 0; i < BLOCK; i++)
        block[i] ^= aes->schedule[round * BLOCK + i];
}

// Substitutes every byte and turns row r of the state (bytes r, r + 4, ...) left by r * `turn` places.
static void substitute_and_shift(uint8_t block[BLOCK], const uint8_t table[256], int turn) {
    uint8_t old[BLOCK];
    memcpy(old, block, BLOCK);
    for (int column = 0; column < SIDE; column++)
        for (int row = 0; row < SIDE; row++)
            block[column * SIDE + row] = table[old[(column + turn * row + SIDE * SIDE) % SIDE * SIDE + row]];
}

// Multiplies each column by the polynomial whose coefficients begin with `factors`.
static void mix_columns(uint8_t block[BLOCK], const uint8_t factors[SIDE]) {
    for (int column = 0; column < SIDE; column++) {
        uint8_t old[SIDE];
        memcpy(old, block + column * SIDE, SIDE);
        for (int row = 0; row < SIDE; row++) {
            uint8_t sum = 0;
            for (int i = 0; i < SIDE; i++)
                sum ^= workload_aes_multiply(old[i], factors[(i - row + SIDE) % SIDE]);
            block[column * SIDE + row] = sum;
        }
    }
}

void workload_aes_encrypt(const struct workload_aes *aes, uint8_t block[BLOCK]) {
    static const uint8_t factors[SIDE] = {2, 3, 1, 1};
    add_round_key(block, aes, 0);
    for (int round = 1; round <= WORKLOAD_AES_ROUNDS; round++) {
        substitute_and_shift(block, aes->substitute, 1);
        if (round < WORKLOAD_AES_ROUNDS)
            mix_columns(block, factors);
        add_round_key(block, aes, round);
    }
}

void workload_aes_decrypt(const struct workload_aes *aes, uint8_t block[BLOCK]) {
    static const uint8_t factors[SIDE] = {14, 11, 13, 9};
    for (int round = WORKLOAD_AES_ROUNDS; round > 0; round--) {
        add_round_key(block, aes, round);
        if (round < WORKLOAD_AES_ROUNDS)
            mix_columns(block, factors);
        substitute_and_shift(block, aes->substitute_back, -1);
    }
    add_round_key(block, aes, 0);
}

bool workload_aes_passes_known_answer(void) {
    static const uint8_t cipher[BLOCK] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                          0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    uint8_t key[WORKLOAD_AES_KEY_BYTES], plain[BLOCK], block[BLOCK];
    struct workload_aes aes;
    for (int i = 0; i < BLOCK; i++) {
        key[i] = (uint8_t)i;
        plain[i] = (uint8_t)(0x11 * i);
    }
    workload_aes_start(&aes, key);
    memcpy(block, plain, BLOCK);
    workload_aes_encrypt(&aes, block);
    bool encrypts = !memcmp(block, cipher, BLOCK);
    workload_aes_decrypt(&aes, block);
    return encrypts && !memcmp(block, plain, BLOCK);
}
