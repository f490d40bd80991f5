// sto: MD5 digests of a sliding window. The reference follows RFC 1321 byte by byte, with the sines computed.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct workload_info info = {
    .name = "sto",
    .summary = "MD5 of a sliding window of 128 bytes, one window at every fourth byte",
    .sizes = {"2 KB", "40 KB", "192 KB"},
};

enum { WINDOW_BYTES = 128, WORD_BYTES = 4, DIGEST_WORDS = 4, CHUNK_BYTES = 64, THREADS = 128 }; // as in kernel.cu

// ---- The reference ------------------------------------------------------------------------------------------------

static uint32_t rotate_left(uint32_t x, unsigned by) { return x << by | x >> (32 - by); }

static uint32_t load_word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

// Section 3.4 of the RFC: state[0] to state[3] are A to D, which step i uses rotated by i places.
static void digest_chunk(uint32_t *state, const uint8_t *chunk) {
    static const unsigned shift[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    static const unsigned stride[4] = {1, 5, 3, 7}, start[4] = {0, 1, 5, 0};
    uint32_t v[4];
    memcpy(v, state, sizeof v);
    for (unsigned i = 0; i < 64; i++) {
        unsigned round = i / 16, at = (4 - i % 4) % 4;
        uint32_t x = v[(at + 1) % 4], y = v[(at + 2) % 4], z = v[(at + 3) % 4];
        uint32_t f = round == 0   ? (x & y) | (~x & z)
                     : round == 1 ? (x & z) | (y & ~z)
                     : round == 2 ? x ^ y ^ z
                                  : y ^ (x | ~z);
        uint32_t sine = (uint32_t)floor(fabs(sin(i + 1.0)) * 0x1p32);
        unsigned word = (start[round] + stride[round] * (i % 16)) % 16;
        v[at] = x + rotate_left(v[at] + f + load_word(chunk + WORD_BYTES * word) + sine, shift[round][i % 4]);
    }
    for (unsigned i = 0; i < 4; i++)
        state[i] += v[i];
}

static void digest_reference(const uint8_t *message, size_t n_bytes, uint32_t *digest) {
    static const uint32_t initial[DIGEST_WORDS] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
    uint8_t tail[2 * CHUNK_BYTES] = {0};
    size_t n_whole = n_bytes / CHUNK_BYTES, n_rest = n_bytes % CHUNK_BYTES;
    size_t tail_bytes = n_rest + 1 + 8 <= CHUNK_BYTES ? CHUNK_BYTES : 2 * CHUNK_BYTES;
    memcpy(digest, initial, sizeof initial);
    memcpy(tail, message + n_whole * CHUNK_BYTES, n_rest);
    tail[n_rest] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        tail[tail_bytes - 8 + i] = (uint8_t)((uint64_t)n_bytes * 8 >> 8 * i);
    for (size_t i = 0; i < n_whole; i++)
        digest_chunk(digest, message + i * CHUNK_BYTES);
    for (size_t at = 0; at < tail_bytes; at += CHUNK_BYTES)
        digest_chunk(digest, tail + at);
}

// ---- The device ---------------------------------------------------------------------------------------------------

static void hash_on_device(const struct workload *w, const uint8_t *data, size_t n_bytes, uint32_t *digests,
                           int n_windows, struct workload_shape shape) {
    size_t digest_bytes = (size_t)n_windows * DIGEST_WORDS * sizeof *digests;
    unsigned shared = shape.threads * WORD_BYTES + WINDOW_BYTES - WORD_BYTES;
    CUdeviceptr device_data = workload_upload(w, data, n_bytes);
    CUdeviceptr device_digests = workload_device_alloc(w, digest_bytes);
    workload_launch(w, "hash_windows", (struct workload_grid){shape.blocks, 1, shape.threads, 1, shared},
                    (void *[]){&device_data, &device_digests, &n_windows});
    workload_download(w, digests, device_digests, digest_bytes);
    workload_device_free(w, device_data);
    workload_device_free(w, device_digests);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned n_kilobytes = workload_pick(&w, 2, 40, 192);
    size_t n_windows = (size_t)n_kilobytes * 1024 / WORD_BYTES;
    size_t n_bytes = (n_windows - 1) * WORD_BYTES + WINDOW_BYTES; // the last window ends with the data
    uint8_t *data = workload_array(&w, n_bytes, 1);
    uint32_t *digests = workload_array(&w, n_windows * DIGEST_WORDS, sizeof *digests);
    uint32_t *expected = workload_array(&w, n_windows * DIGEST_WORDS, sizeof *expected);
    for (size_t i = 0; i < n_bytes; i++)
        data[i] = (uint8_t)workload_random(&w);
    struct workload_shape shape = workload_shape(&w, n_windows, THREADS);
    hash_on_device(&w, data, n_bytes, digests, (int)n_windows, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        for (size_t i = 0; i < n_windows; i++)
            digest_reference(data + i * WORD_BYTES, WINDOW_BYTES, expected + i * DIGEST_WORDS);
        diff = workload_diff_u32(digests, expected, n_windows * DIGEST_WORDS);
    }
    free(data);
    free(digests);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu windows of %d bytes, %u blocks of %u threads", n_windows,
                           WINDOW_BYTES, shape.blocks, shape.threads);
}
