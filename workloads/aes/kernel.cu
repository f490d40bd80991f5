// AES-128 encryption in counter mode, one block of 16 bytes per thread. A round is four look-ups per column in a table
// that combines the substitution with the mixing of columns (J. Daemen and V. Rijmen, AES Proposal: Rijndael, 1999,
// section 5.2.1): one table of 1 KB in shared memory, whose words are rotated for the four rows. Round keys are the
// same for all threads and come from constant memory.
#include <heddle/device.h>

enum { ROUNDS = 10, TABLE = 256, BLOCK_WORDS = 4 };

// Words hold a column of the state, its first row in the low byte.
__constant__ unsigned round_keys[(ROUNDS + 1) * BLOCK_WORDS];

static __device__ __forceinline__ unsigned byte_of(unsigned word, int row) { return word >> 8 * row & 0xff; }
static __device__ __forceinline__ unsigned rotate(unsigned word, int bytes) {
    return word << 8 * bytes | word >> (32 - 8 * bytes);
}

// Rows 0 to 3 of a new column come from columns a, b, c, d: this is the shifting of rows.
static __device__ __forceinline__ unsigned mixed(const unsigned *table, unsigned a, unsigned b, unsigned c,
                                                 unsigned d) {
    return table[byte_of(a, 0)] ^ rotate(table[byte_of(b, 1)], 1) ^ rotate(table[byte_of(c, 2)], 2) ^
           rotate(table[byte_of(d, 3)], 3);
}

// The last round does not mix. Byte 1 of a table word is the substituted byte.
static __device__ __forceinline__ unsigned unmixed(const unsigned *table, unsigned a, unsigned b, unsigned c,
                                                   unsigned d) {
    return byte_of(table[byte_of(a, 0)], 1) | byte_of(table[byte_of(b, 1)], 1) << 8 |
           byte_of(table[byte_of(c, 2)], 1) << 16 | byte_of(table[byte_of(d, 3)], 1) << 24;
}

static __device__ __forceinline__ uint4 encrypt(const unsigned *table, uint4 s) {
    s = make_uint4(s.x ^ round_keys[0], s.y ^ round_keys[1], s.z ^ round_keys[2], s.w ^ round_keys[3]);
#pragma unroll 1
    for (int k = BLOCK_WORDS; k < ROUNDS * BLOCK_WORDS; k += BLOCK_WORDS)
        s = make_uint4(
            mixed(table, s.x, s.y, s.z, s.w) ^ round_keys[k], mixed(table, s.y, s.z, s.w, s.x) ^ round_keys[k + 1],
            mixed(table, s.z, s.w, s.x, s.y) ^ round_keys[k + 2], mixed(table, s.w, s.x, s.y, s.z) ^ round_keys[k + 3]);
    const unsigned *last = round_keys + ROUNDS * BLOCK_WORDS;
    return make_uint4(unmixed(table, s.x, s.y, s.z, s.w) ^ last[0], unmixed(table, s.y, s.z, s.w, s.x) ^ last[1],
                      unmixed(table, s.z, s.w, s.x, s.y) ^ last[2], unmixed(table, s.w, s.x, s.y, s.z) ^ last[3]);
}

// The counter is the last word of a block, most significant byte first.
extern "C" __global__ void aes(const unsigned *table, const uint4 *in, uint4 *out, unsigned nonce_0, unsigned nonce_1,
                               unsigned nonce_2, int n_blocks) {
    __shared__ unsigned fast_table[TABLE];
#pragma unroll 1
    for (int i = threadIdx.x; i < TABLE; i += blockDim.x)
        fast_table[i] = table[i];
    __syncthreads();
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_blocks; i += gridDim.x * blockDim.x) {
        uint4 pad = encrypt(fast_table, make_uint4(nonce_0, nonce_1, nonce_2, __byte_perm((unsigned)i, 0, 0x0123)));
        uint4 plain = in[i];
        out[i] = make_uint4(plain.x ^ pad.x, plain.y ^ pad.y, plain.z ^ pad.z, plain.w ^ pad.w);
    }
}
