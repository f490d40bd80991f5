// AES-128 on the CPU: the reference of aes and decrypt, and the tables that their kernels need.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    WORKLOAD_AES_BLOCK_BYTES = 16,
    WORKLOAD_AES_KEY_BYTES = 16,
    WORKLOAD_AES_ROUNDS = 10,
    WORKLOAD_AES_SCHEDULE_BYTES = (WORKLOAD_AES_ROUNDS + 1) * WORKLOAD_AES_BLOCK_BYTES,
};

struct workload_aes {
    uint8_t substitute[256], substitute_back[256];
    uint8_t schedule[WORKLOAD_AES_SCHEDULE_BYTES]; // the round keys, the cipher key first
};

// Computes the tables and expands the key.
void workload_aes_start(struct workload_aes *aes, const uint8_t key[WORKLOAD_AES_KEY_BYTES]);

// Encrypt or decrypt one block in place.
void workload_aes_encrypt(const struct workload_aes *aes, uint8_t block[WORKLOAD_AES_BLOCK_BYTES]);
void workload_aes_decrypt(const struct workload_aes *aes, uint8_t block[WORKLOAD_AES_BLOCK_BYTES]);

// Returns the product of two elements of the field of 256 elements.
uint8_t workload_aes_multiply(uint8_t a, uint8_t b);

// Returns whether both directions reproduce the example of FIPS 197, appendix C.1.
bool workload_aes_passes_known_answer(void);
