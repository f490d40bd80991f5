// Global alignment of two sequences by Needleman and Wunsch's dynamic programming, in slanted tiles. A block owns a
// strip of rows, one row per thread, and at step s thread t computes column s - t + 1: all threads of a block work in
// every step, each one column behind the thread above, whose value they get through shared memory. A tile is blockDim.x
// steps of a strip. It needs the tile to its left and the two above, so one launch computes the tiles (strip r, number
// p) with p + 2 r = wave.
#include <heddle/device.h>

enum { MATCH = 5, MISMATCH = -4, GAP = 10 };

// scores has, for each strip and each step, one value per thread: stores and loads are of neighbouring words.
// edges[r * (n_columns + 1) + j] is the score in column j of the row above strip r.
struct problem {
    const unsigned char *rows, *columns; // the sequences; `rows` is padded to whole strips
    int *scores, *edges;
    int n_columns, n_tiles; // tiles in a strip
};

struct tile {
    int strip, first_step;
};

// Loads what all threads of the tile read: the letters of the columns and the scores above its first row.
static __device__ __forceinline__ void load_common(const problem &p, tile at, unsigned char *letters, int *top) {
    int t = threadIdx.x, height = blockDim.x;
#pragma unroll 1
    for (int k = t; k < 2 * height; k += height) {
        int column = at.first_step - height + 1 + k;
        letters[k] = column >= 0 && column < p.n_columns ? p.columns[column] : 0;
    }
    int j = min(at.first_step + t + 1, p.n_columns);
    top[t] = at.strip == 0 ? -GAP * j : p.edges[at.strip * (p.n_columns + 1) + j];
}

// Leaves the scores of the strip's last row in `bottom`. A column left of the first holds the same as column 0: the
// cost of skipping all rows so far.
// has_matrix: all_pairs has what pairing two letters scores, in the order of p.scores; otherwise letters are compared.
template <bool has_matrix>
static __device__ __forceinline__ void compute(const problem &p, const int *all_pairs, tile at, unsigned char *letters,
                                               int *top, int *bottom, int *line) {
    int t = threadIdx.x, height = blockDim.x, row = at.strip * height + t + 1, letter = p.rows[row - 1];
    int *scores = p.scores + (at.strip * p.n_tiles * height + at.first_step) * height + t;
    const int *pairs = all_pairs + (scores - p.scores);
    int here = -GAP * row, corner = here + GAP; // columns 0 of this row and the row above
    if (at.first_step > 0) {
        here = scores[-height];
        corner = t > 0           ? scores[-2 * height - 1]
                 : at.strip == 0 ? -GAP * at.first_step
                                 : p.edges[at.strip * (p.n_columns + 1) + min(at.first_step, p.n_columns)];
    }
    int *from = line, *to = line + height + 1; // [t] is for thread t, from the one above
    from[t + 1] = here;
    load_common(p, at, letters, top);
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < height; k++) {
        int above = t > 0 ? from[t] : top[k];
        int paired = corner + (has_matrix                              ? pairs[k * height]
                               : letters[height - 1 + k - t] == letter ? MATCH
                                                                       : MISMATCH);
        int best = max(paired, max(above, here) - GAP);
        here = at.first_step + k < t ? -GAP * row : best;
        corner = above;
        to[t + 1] = here;
        if (t == height - 1)
            bottom[k] = here;
        scores[k * height] = here;
        __syncthreads();
        int *swap = from;
        from = to;
        to = swap;
    }
}

// Dynamic shared memory: 4 * blockDim.x + 2 words and 2 * blockDim.x bytes.
#define ALIGN(has_matrix, pairs)                                                                                       \
    extern __shared__ int shared[];                                                                                    \
    int t = threadIdx.x, height = blockDim.x;                                                                          \
    int *top = shared, *bottom = top + height, *line = bottom + height;                                                \
    unsigned char *letters = (unsigned char *)(line + 2 * (height + 1));                                               \
    _Pragma("unroll 1") for (int b = blockIdx.x; b < n_strips; b += gridDim.x) {                                       \
        tile at = {first_strip + b, (wave - 2 * (first_strip + b)) * height};                                          \
        compute<has_matrix>(p, pairs, at, letters, top, bottom, line);                                                 \
        int j = at.first_step - height + 2 + t; /* the last row's column at step t of the tile */                      \
        if (j >= 1 && j <= p.n_columns)                                                                                \
            p.edges[(at.strip + 1) * (p.n_columns + 1) + j] = bottom[t];                                               \
        __syncthreads();                                                                                               \
    }

extern "C" __global__ void needleman(problem p, int wave, int first_strip, int n_strips) { ALIGN(false, nullptr) }

extern "C" __global__ void needleman_matrix(problem p, const int *pairs, int wave, int first_strip, int n_strips) {
    ALIGN(true, pairs)
}
