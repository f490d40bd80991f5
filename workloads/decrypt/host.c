// decrypt: AES-128 decryption in cipher block chaining mode (NIST SP 800-38A, 6.2). The message is encrypted with
// ../common/aes.c, which computes everything from the field's arithmetic and must itself reproduce the example of FIPS
// 197. The check compares the decrypted message with the original.
#include "../common/aes.h"
#include "../common/workload.h"

#include <stdlib.h>

enum { BLOCK = WORKLOAD_AES_BLOCK_BYTES };

static const struct workload_info info = {
    .name = "decrypt",
    .summary = "AES-128 decryption in cipher block chaining mode, column mixing computed",
    .sizes = {"8 KB", "128 KB", "256 KB"},
};

static void fill_randomly(struct workload *w, uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)workload_random(w);
}

// `cipher` begins with the initialization vector and is one block longer than the message.
static void encrypt_message(const struct workload_aes *aes, const uint8_t *message, uint8_t *cipher, size_t n_blocks) {
    for (size_t i = 0; i < n_blocks; i++) {
        const uint8_t *before = cipher + i * BLOCK;
        uint8_t *block = cipher + (i + 1) * BLOCK;
        for (size_t k = 0; k < BLOCK; k++)
            block[k] = message[i * BLOCK + k] ^ before[k];
        workload_aes_encrypt(aes, block);
    }
}

static void decrypt(const struct workload *w, const struct workload_aes *aes, struct workload_shape shape,
                    const uint8_t *cipher, uint8_t *message, int n_blocks) {
    size_t bytes = (size_t)n_blocks * BLOCK;
    workload_set_variable(w, "round_keys", aes->schedule, sizeof aes->schedule);
    CUdeviceptr table = workload_upload(w, aes->substitute_back, sizeof aes->substitute_back);
    CUdeviceptr in = workload_upload(w, cipher, bytes + BLOCK), out = workload_device_alloc(w, bytes);
    workload_launch(w, "decrypt", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&table, &in, &out, &n_blocks});
    workload_download(w, message, out, bytes);
    workload_device_free(w, table);
    workload_device_free(w, in);
    workload_device_free(w, out);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t bytes = workload_pick(&w, 8 << 10, 128 << 10, 256 << 10), n_blocks = bytes / BLOCK;
    uint8_t key[WORKLOAD_AES_KEY_BYTES];
    struct workload_aes aes;
    uint8_t *message = workload_array(&w, bytes, 1), *expected = workload_array(&w, bytes, 1);
    uint8_t *cipher = workload_array(&w, bytes + BLOCK, 1);
    fill_randomly(&w, key, sizeof key);
    fill_randomly(&w, cipher, BLOCK);
    fill_randomly(&w, expected, bytes);
    workload_aes_start(&aes, key);
    encrypt_message(&aes, expected, cipher, n_blocks);
    struct workload_shape shape = workload_shape(&w, n_blocks, 256);
    decrypt(&w, &aes, shape, cipher, message, (int)n_blocks);

    struct workload_diff diff = {0};
    if (w.check) {
        if (!workload_aes_passes_known_answer())
            workload_fail(&w, "the CPU reference does not reproduce the example of FIPS 197");
        diff = workload_diff_u32((const uint32_t *)message, (const uint32_t *)expected, bytes / sizeof(uint32_t));
    }
    free(message);
    free(expected);
    free(cipher);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu bytes, %u blocks of %u threads", bytes, shape.blocks,
                           shape.threads);
}
