// The MD5 digest (RFC 1321) of every window of 128 bytes that begins at a multiple of four bytes, one window per
// thread. A block copies the common stretch of its windows into shared memory; neighbouring windows overlap in all but
// one word.
#include <heddle/device.h>

enum { WINDOW_WORDS = 32, CHUNK_WORDS = 16, STEPS = 64 };

// Step i adds the first 32 bits of the fraction of |sin(i + 1)|.
static __constant__ const unsigned additions[STEPS] = {
    0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu, 0xf57c0fafu, 0x4787c62au, 0xa8304613u, 0xfd469501u,
    0x698098d8u, 0x8b44f7afu, 0xffff5bb1u, 0x895cd7beu, 0x6b901122u, 0xfd987193u, 0xa679438eu, 0x49b40821u,
    0xf61e2562u, 0xc040b340u, 0x265e5a51u, 0xe9b6c7aau, 0xd62f105du, 0x02441453u, 0xd8a1e681u, 0xe7d3fbc8u,
    0x21e1cde6u, 0xc33707d6u, 0xf4d50d87u, 0x455a14edu, 0xa9e3e905u, 0xfcefa3f8u, 0x676f02d9u, 0x8d2a4c8au,
    0xfffa3942u, 0x8771f681u, 0x6d9d6122u, 0xfde5380cu, 0xa4beea44u, 0x4bdecfa9u, 0xf6bb4b60u, 0xbebfbc70u,
    0x289b7ec6u, 0xeaa127fau, 0xd4ef3085u, 0x04881d05u, 0xd9d4d039u, 0xe6db99e5u, 0x1fa27cf8u, 0xc4ac5665u,
    0xf4292244u, 0x432aff97u, 0xab9423a7u, 0xfc93a039u, 0x655b59c3u, 0x8f0ccc92u, 0xffeff47du, 0x85845dd1u,
    0x6fa87e4fu, 0xfe2ce6e0u, 0xa3014314u, 0x4e0811a1u, 0xf7537e82u, 0xbd3af235u, 0x2ad7d2bbu, 0xeb86d391u,
};
static __constant__ const unsigned rotations[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

struct digest {
    unsigned a, b, c, d;
};

static __device__ __forceinline__ unsigned mix(int round, unsigned b, unsigned c, unsigned d) {
    return round == 0 ? ((c ^ d) & b) ^ d : round == 1 ? ((b ^ c) & d) ^ c : round == 2 ? b ^ c ^ d : c ^ (b | ~d);
}

static __device__ __forceinline__ int word_of_step(int step) {
    int round = step / 16;
    return (round == 0 ? step : round == 1 ? 5 * step + 1 : round == 2 ? 3 * step + 5 : 7 * step) % CHUNK_WORDS;
}

// Unrolled, so that tables, rounds and places are constants and the four words change roles without moves.
static __device__ __forceinline__ void add_chunk(digest &digest, const unsigned *chunk) {
    unsigned a = digest.a, b = digest.b, c = digest.c, d = digest.d;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        int round = step / 16;
        unsigned turn = rotations[round][step % 4];
        unsigned sum = a + mix(round, b, c, d) + chunk[word_of_step(step)] + additions[step];
        a = d;
        d = c;
        c = b;
        b += sum << turn | sum >> (32 - turn);
    }
    digest.a += a;
    digest.b += b;
    digest.c += c;
    digest.d += d;
}

static __device__ __forceinline__ digest hash_window(const unsigned *window) {
    digest digest = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u};
#pragma unroll 1
    for (int first = 0; first < WINDOW_WORDS; first += CHUNK_WORDS)
        add_chunk(digest, window + first);
    // After the message: a one bit, zeros, and the length in bits.
    const unsigned padding[CHUNK_WORDS] = {0x80u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, WINDOW_WORDS * 32, 0};
    add_chunk(digest, padding);
    return digest;
}

// `data` holds n_windows + WINDOW_WORDS - 1 words. Dynamic shared memory: a word for each thread and WINDOW_WORDS - 1
// more.
extern "C" __global__ void hash_windows(const unsigned *data, uint4 *digests, int n_windows) {
    extern __shared__ unsigned stretch[];
    int t = threadIdx.x;
#pragma unroll 1
    for (int first = blockIdx.x * blockDim.x; first < n_windows; first += gridDim.x * blockDim.x) {
        int n_words = min((int)blockDim.x, n_windows - first) + WINDOW_WORDS - 1;
#pragma unroll 1
        for (int k = t; k < n_words; k += blockDim.x)
            stretch[k] = data[first + k];
        __syncthreads();
        if (first + t < n_windows) {
            digest digest = hash_window(stretch + t);
            digests[first + t] = make_uint4(digest.a, digest.b, digest.c, digest.d);
        }
        __syncthreads();
    }
}
