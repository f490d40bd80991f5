// AES-128 decryption in cipher block chaining mode, one block of 16 bytes per thread; unlike encryption in this mode,
// blocks do not wait for each other. The inverse cipher of FIPS 197 (5.3), with a single table, the 256 bytes of the
// inverse substitution in shared memory: the mixing of columns is computed, on four bytes of a word at a time.
#include <heddle/device.h>

enum { ROUNDS = 10, TABLE = 256, BLOCK_WORDS = 4 };

// Words hold a column of the state, its first row in the low byte.
__constant__ unsigned round_keys[(ROUNDS + 1) * BLOCK_WORDS];

static __device__ __forceinline__ unsigned rotate_right(unsigned word, int bytes) {
    return word >> 8 * bytes | word << (32 - 8 * bytes);
}

// Every byte times 2 in the field of 256 elements.
static __device__ __forceinline__ unsigned doubled(unsigned word) {
    return (word & 0x7f7f7f7f) << 1 ^ (word >> 7 & 0x01010101) * 0x1b;
}

// The column times the inverse of the mixing polynomial, whose coefficients are 14, 11, 13 and 9.
static __device__ __forceinline__ unsigned unmixed(unsigned column) {
    unsigned times_2 = doubled(column), times_4 = doubled(times_2), times_8 = doubled(times_4);
    unsigned times_9 = times_8 ^ column;
    return times_8 ^ times_4 ^ times_2 ^ rotate_right(times_9 ^ times_2, 1) ^ rotate_right(times_9 ^ times_4, 2) ^
           rotate_right(times_9, 3);
}

// Rows 0 to 3 of a new column come from columns a, b, c, d: this is the shifting of rows back.
static __device__ __forceinline__ unsigned substituted(const unsigned char *table, unsigned a, unsigned b, unsigned c,
                                                       unsigned d) {
    return table[a & 0xff] | table[b >> 8 & 0xff] << 8 | table[c >> 16 & 0xff] << 16 | (unsigned)table[d >> 24] << 24;
}

static __device__ __forceinline__ uint4 substituted_and_keyed(const unsigned char *table, uint4 s,
                                                              const unsigned *key) {
    return make_uint4(substituted(table, s.x, s.w, s.z, s.y) ^ key[0], substituted(table, s.y, s.x, s.w, s.z) ^ key[1],
                      substituted(table, s.z, s.y, s.x, s.w) ^ key[2], substituted(table, s.w, s.z, s.y, s.x) ^ key[3]);
}

static __device__ __forceinline__ uint4 decrypt_block(const unsigned char *table, uint4 s) {
    const unsigned *last = round_keys + ROUNDS * BLOCK_WORDS;
    s = make_uint4(s.x ^ last[0], s.y ^ last[1], s.z ^ last[2], s.w ^ last[3]);
#pragma unroll 1
    for (int k = (ROUNDS - 1) * BLOCK_WORDS; k > 0; k -= BLOCK_WORDS) {
        s = substituted_and_keyed(table, s, round_keys + k);
        s = make_uint4(unmixed(s.x), unmixed(s.y), unmixed(s.z), unmixed(s.w));
    }
    return substituted_and_keyed(table, s, round_keys);
}

// `in` begins with the initialization vector; block i of the message is in[i + 1].
extern "C" __global__ void decrypt(const unsigned *table, const uint4 *in, uint4 *out, int n_blocks) {
    __shared__ unsigned fast_table[TABLE / 4];
#pragma unroll 1
    for (int i = threadIdx.x; i < TABLE / 4; i += blockDim.x)
        fast_table[i] = table[i];
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_blocks; i += gridDim.x * blockDim.x) {
        uint4 before = in[i], plain = decrypt_block((const unsigned char *)fast_table, in[i + 1]);
        out[i] = make_uint4(plain.x ^ before.x, plain.y ^ before.y, plain.z ^ before.z, plain.w ^ before.w);
    }
}
