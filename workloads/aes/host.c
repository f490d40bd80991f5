// aes: AES-128 encryption in counter mode (NIST SP 800-38A, 6.5). The reference is ../common/aes.c, byte by byte; it
// must itself reproduce the example of FIPS 197.
#include "../common/aes.h"
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = WORKLOAD_AES_BLOCK_BYTES, NONCE_WORDS = 3 };

static const struct workload_info info = {
    .name = "aes",
    .summary = "AES-128 encryption in counter mode, look-up table in shared memory",
    .sizes = {"16 KB", "256 KB, the same as paper", "256 KB"},
};

static void fill_randomly(struct workload *w, uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)workload_random(w);
}

// A word combines the substitution with the column (2, 1, 1, 3) of the mixing.
static void make_table(const struct workload_aes *aes, uint32_t table[256]) {
    for (int i = 0; i < 256; i++) {
        uint8_t s = aes->substitute[i];
        table[i] = workload_aes_multiply(s, 2) | (uint32_t)s << 8 | (uint32_t)s << 16 |
                   (uint32_t)workload_aes_multiply(s, 3) << 24;
    }
}

static void encrypt(const struct workload *w, const struct workload_aes *aes, struct workload_shape shape,
                    const uint32_t nonce[NONCE_WORDS], uint8_t *text, int n_blocks) {
    uint32_t table[256], n_0 = nonce[0], n_1 = nonce[1], n_2 = nonce[2];
    size_t bytes = (size_t)n_blocks * BLOCK;
    make_table(aes, table);
    workload_set_variable(w, "round_keys", aes->schedule, sizeof aes->schedule);
    CUdeviceptr device_table = workload_upload(w, table, sizeof table), in = workload_upload(w, text, bytes);
    CUdeviceptr out = workload_device_alloc(w, bytes);
    workload_launch(w, "aes", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&device_table, &in, &out, &n_0, &n_1, &n_2, &n_blocks});
    workload_download(w, text, out, bytes);
    workload_device_free(w, device_table);
    workload_device_free(w, in);
    workload_device_free(w, out);
}

static void encrypt_reference(const struct workload_aes *aes, const uint32_t nonce[NONCE_WORDS], uint8_t *text,
                              uint32_t n_blocks) {
    for (uint32_t i = 0; i < n_blocks; i++) {
        uint8_t pad[BLOCK] = {[12] = (uint8_t)(i >> 24), (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
        memcpy(pad, nonce, NONCE_WORDS * sizeof nonce[0]);
        workload_aes_encrypt(aes, pad);
        for (size_t k = 0; k < BLOCK; k++)
            text[i * (size_t)BLOCK + k] ^= pad[k];
    }
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t bytes = workload_pick(&w, 16 << 10, 256 << 10, 256 << 10), n_blocks = bytes / BLOCK;
    uint8_t key[WORKLOAD_AES_KEY_BYTES];
    uint32_t nonce[NONCE_WORDS];
    struct workload_aes aes;
    uint8_t *text = workload_array(&w, bytes, 1), *expected = workload_array(&w, bytes, 1);
    fill_randomly(&w, key, sizeof key);
    fill_randomly(&w, (uint8_t *)nonce, sizeof nonce);
    fill_randomly(&w, text, bytes);
    memcpy(expected, text, bytes);
    workload_aes_start(&aes, key);
    struct workload_shape shape = workload_shape(&w, n_blocks, 256);
    encrypt(&w, &aes, shape, nonce, text, (int)n_blocks);

    struct workload_diff diff = {0};
    if (w.check) {
        if (!workload_aes_passes_known_answer())
            workload_fail(&w, "the CPU reference does not reproduce the example of FIPS 197");
        encrypt_reference(&aes, nonce, expected, (uint32_t)n_blocks);
        diff = workload_diff_u32((const uint32_t *)text, (const uint32_t *)expected, bytes / sizeof(uint32_t));
    }
    free(text);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu bytes, %u blocks of %u threads", bytes, shape.blocks,
                           shape.threads);
}
