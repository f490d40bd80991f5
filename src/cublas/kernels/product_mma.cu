// Matrix products with matrix instructions (mma.sync). Four warps compute a tile of 64 x 64 of D, 32 x 32 each, from
// tiles of A and B in shared memory, WORDS words of 32 bits along k at a time.
//
// Fragments of mma.m16n8k16 (f16, bf16), m16n8k8 (tf32) and m16n8k32 (s8) are the same in words of 32 bits: one code
// serves all. Doubles (m8n8k4) have their own.
#include "cublas/kernels/epilogue.cuh"

enum { TILE = 64, WARP_TILE = 32, THREADS = 128, WORDS = 16, PITCH = WORDS + 4 };

struct tf32 {
    float value;
};

template <typename T> struct kind {
    enum { PER_WORD = 4 / sizeof(T) };
};

// ---- A word along k of an operand

INLINE uint bits_of(half x) { return x.bits; }
INLINE uint bits_of(bfloat x) { return x.bits; }
INLINE uint bits_of(signed char x) { return (unsigned char)x; }
INLINE uint bits_of(tf32 x) {
    uint rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x.value));
    return rounded;
}

// `n_left` elements are left along k.
template <typename T> INLINE uint load_word(const T *at, long long k_stride, int n_left, bool is_whole) {
    enum { PER_WORD = kind<T>::PER_WORD };
    if (PER_WORD > 1 && is_whole && n_left >= PER_WORD)
        return *(const uint *)at;
    uint word = 0;
#pragma unroll
    for (int e = 0; e < PER_WORD; e++) {
        if (e < n_left)
            word |= bits_of(*at) << (e * 32 / PER_WORD);
        at += k_stride;
        asm volatile("" : "+l"(at)); // otherwise every multiple of the stride gets a register
    }
    return word;
}

// A thread loads EACH words of a tile. Neighbouring threads load neighbours in memory, along k or across.
template <typename T> struct loader {
    enum { EACH = TILE * WORDS / THREADS, PER_WORD = kind<T>::PER_WORD };
    const T *at; // the thread's first element of the next tile
    long long k_stride, step, left;
    int k_left, across_step, k_step, place; // steps between the thread's words; its first place in the tile
    bool is_whole;                          // a word of elements along k is a word in memory
    bool is_paired;                         // elements of 16 bits: a word in memory is two neighbours across

    __device__ __forceinline__ void open(const T *base, long long stride, long long k, long long first, long long n,
                                         long long n_k) {
        int t = threadIdx.x;
        bool runs_along_k = k == 1;
        int across = runs_along_k ? t / WORDS : t % TILE, word = runs_along_k ? t % WORDS : t / TILE;
        across_step = runs_along_k ? THREADS / WORDS : 0;
        k_step = runs_along_k ? 0 : THREADS / TILE;
        place = across * PITCH + word;
        left = n - first - across;
        k_left = (int)n_k - word * PER_WORD;
        k_stride = k;
        step = across_step * stride + k_step * PER_WORD * k;
        at = base + (first + across) * stride + word * PER_WORD * k;
        is_whole = runs_along_k && stride % PER_WORD == 0 && (size_t)base % 4 == 0;
        is_paired = PER_WORD == 2 && !runs_along_k && stride == 1 && k % 2 == 0 && (size_t)base % 4 == 0;
        if (is_paired) { // a thread loads two rows, every fourth word
            across = t % (TILE / 2) * 2;
            word = t / (TILE / 2);
            k_step = 2 * THREADS / TILE;
            place = across * PITCH + word;
            left = n - first - across;
            k_left = (int)n_k - word * PER_WORD;
            step = k_step * PER_WORD * k;
            at = base + first + across + word * PER_WORD * k;
        }
    }
    // Two rows at two positions along k; the second of either may be outside the matrix.
    __device__ __forceinline__ uint load_pair(const T *from) const {
        return left > 1 ? *(const uint *)from : bits_of(*from);
    }
    __device__ __forceinline__ void fetch_pairs(uint word[EACH]) {
        const T *next = at;
#pragma unroll
        for (int s = 0; s < EACH / 2; s++) {
            int n_left = k_left - s * k_step * PER_WORD;
            uint first = 0, second = 0;
            if (left > 0 && n_left > 0)
                first = load_pair(next);
            if (left > 0 && n_left > 1)
                second = load_pair(next + k_stride);
            word[2 * s] = __byte_perm(first, second, 0x5410);
            word[2 * s + 1] = __byte_perm(first, second, 0x7632);
            next += step;
            asm volatile("" : "+l"(next));
        }
    }
    __device__ __forceinline__ void fetch(uint word[EACH]) {
        if (PER_WORD == 2 && is_paired)
            fetch_pairs(word);
        else
            fetch_words(word);
        at += WORDS * PER_WORD * k_stride;
        k_left -= WORDS * PER_WORD;
    }
    __device__ __forceinline__ void fetch_words(uint word[EACH]) {
        const T *next = at;
#pragma unroll
        for (int s = 0; s < EACH; s++) {
            word[s] = 0;
            int n_left = k_left - s * k_step * PER_WORD;
            if (s * across_step < left && n_left > 0)
                word[s] = load_word<T>(next, k_stride, n_left, is_whole);
            next += step;
            asm volatile("" : "+l"(next)); // otherwise every multiple of the step gets a register
        }
    }
    __device__ __forceinline__ void store(uint *tile, const uint word[EACH]) const {
        int far = across_step * PITCH + k_step; // between two words of the thread
        if (is_paired) {
#pragma unroll
            for (int s = 0; s < EACH; s++)
                tile[place + s / 2 * far + s % 2 * PITCH] = word[s];
            return;
        }
#pragma unroll
        for (int s = 0; s < EACH; s++)
            tile[place + s * far] = word[s];
    }
};

// ---- One instruction

#define MMA(T, sum_type, constraint, shape)                                                                            \
    INLINE void mma(T, sum_type *sum, const uint *a, const uint *b) {                                                  \
        asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"      \
                     : "+" constraint(sum[0]), "+" constraint(sum[1]), "+" constraint(sum[2]), "+" constraint(sum[3])  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                              \
    }
MMA(half, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
MMA(bfloat, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
MMA(tf32, float, "f", "m16n8k8.row.col.f32.tf32.tf32.f32")
MMA(signed char, int, "r", "m16n8k32.row.col.s32.s8.s8.s32")

// ---- The kernel

template <typename T, typename S> INLINE void multiply_tiles(S sum[2][4][4], const uint *a, const uint *b) {
    int lane = threadIdx.x % 32, group = lane / 4, word = lane % 4;
#pragma unroll
    for (int k = 0; k < WORDS; k += 8) {
        uint left[2][4], right[4][2];
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int r = 0; r < 4; r++)
                left[i][r] = a[(16 * i + group + r % 2 * 8) * PITCH + k + word + r / 2 * 4];
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int r = 0; r < 2; r++)
                right[j][r] = b[(8 * j + group) * PITCH + k + word + r * 4];
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
                mma(T{}, sum[i][j], left[i], right[j]);
    }
}

template <typename T, typename S> INLINE void multiply(const product &p) {
    __shared__ union {
        uint tiles[2][TILE * PITCH];
        S sums[TILE * (TILE + 1)];
    } shared;
    uint *a_tile = shared.tiles[0], *b_tile = shared.tiles[1];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp / 2 * WARP_TILE, col = warp % 2 * WARP_TILE;
    long long row0 = (long long)blockIdx.x * TILE, col0 = (long long)blockIdx.y * TILE;
    for (long long batch = blockIdx.z; batch < p.n_batches; batch += gridDim.z) {
        loader<T> a, b;
        a.open((const T *)batch_base(p.a, batch, sizeof(T)), p.a.row, p.a.col, row0, p.m, p.k);
        b.open((const T *)batch_base(p.b, batch, sizeof(T)), p.b.col, p.b.row, col0, p.n, p.k);
        S sum[2][4][4] = {};
        uint a_next[loader<T>::EACH], b_next[loader<T>::EACH];
        a.fetch(a_next);
        b.fetch(b_next);
        for (long long at = 0; at < p.k; at += WORDS * loader<T>::PER_WORD) {
            a.store(a_tile, a_next);
            b.store(b_tile, b_next);
            __syncthreads();
            a.fetch(a_next);
            b.fetch(b_next);
            multiply_tiles<T, S>(sum, &a_tile[row * PITCH], &b_tile[col * PITCH]);
            __syncthreads();
        }
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    shared
                        .sums[(col + 8 * j + lane % 4 * 2 + e % 2) * (TILE + 1) + row + 16 * i + lane / 4 + e / 2 * 8] =
                        sum[i][j][e];
        __syncthreads();
        put_tile<S, TILE, THREADS>(p, batch, row0, col0, shared.sums);
    }
}

// ---- Doubles: 32 x 32 of D per block, 16 x 16 per warp, eight along k at a time

enum { D_TILE = 32, D_DEPTH = 8, D_PITCH = D_DEPTH + 4 };

INLINE void load_doubles(double *tile, const double *base, long long along_stride, long long k_stride, long long first,
                         long long limit, long long at_k, long long k_limit) {
#pragma unroll
    for (int s = 0; s < D_TILE * D_DEPTH / THREADS; s++) {
        int t = threadIdx.x + s * THREADS;
        int along = k_stride == 1 ? t / D_DEPTH : t % D_TILE, k = k_stride == 1 ? t % D_DEPTH : t / D_TILE;
        long long i = first + along, j = at_k + k;
        tile[along * D_PITCH + k] = i < limit && j < k_limit ? base[i * along_stride + j * k_stride] : 0;
    }
}

INLINE void multiply_doubles(const product &p) {
    __shared__ double a_tile[D_TILE * D_PITCH], b_tile[D_TILE * D_PITCH], sums[D_TILE * (D_TILE + 1)];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp / 2 * 16, col = warp % 2 * 16;
    long long row0 = (long long)blockIdx.x * D_TILE, col0 = (long long)blockIdx.y * D_TILE;
    for (long long batch = blockIdx.z; batch < p.n_batches; batch += gridDim.z) {
        const double *a = (const double *)batch_base(p.a, batch, 8), *b = (const double *)batch_base(p.b, batch, 8);
        double sum[2][2][2] = {};
        for (long long at = 0; at < p.k; at += D_DEPTH) {
            load_doubles(a_tile, a, p.a.row, p.a.col, row0, p.m, at, p.k);
            load_doubles(b_tile, b, p.b.col, p.b.row, col0, p.n, at, p.k);
            __syncthreads();
#pragma unroll
            for (int k = 0; k < D_DEPTH; k += 4)
#pragma unroll
                for (int i = 0; i < 2; i++)
#pragma unroll
                    for (int j = 0; j < 2; j++)
                        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                                     : "+d"(sum[i][j][0]), "+d"(sum[i][j][1])
                                     : "d"(a_tile[(row + 8 * i + lane / 4) * D_PITCH + k + lane % 4]),
                                       "d"(b_tile[(col + 8 * j + lane / 4) * D_PITCH + k + lane % 4]));
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
#pragma unroll
            for (int j = 0; j < 2; j++)
#pragma unroll
                for (int e = 0; e < 2; e++)
                    sums[(col + 8 * j + lane % 4 * 2 + e) * (D_TILE + 1) + row + 8 * i + lane / 4] = sum[i][j][e];
        __syncthreads();
        put_tile<double, D_TILE, THREADS>(p, batch, row0, col0, sums);
    }
}

extern "C" __global__ void mma_f16(product p) { multiply<half, float>(p); }
extern "C" __global__ void mma_bf16(product p) { multiply<bfloat, float>(p); }
extern "C" __global__ void mma_tf32_f32(product p) { multiply<tf32, float>(p); }
extern "C" __global__ void mma_i8(product p) { multiply<signed char, int>(p); }
extern "C" __global__ void mma_f64(product p) { multiply_doubles(p); }
