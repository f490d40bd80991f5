// needleman: the scores of all global alignments of the prefixes of two DNA sequences. A match counts 5, a mismatch -4,
// a gap -10 for each letter.
//
// The reference goes row by row and keeps one row. Scores are integers, and the check requires equality of all of them.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

enum { MATCH = 5, MISMATCH = -4, GAP = 10, LENGTH_OPTION = 0, PAIRS_OPTION = 1 }; // the scores as in kernel.cu

static const struct workload_info info = {
    .name = "needleman",
    .summary = "alignment of two DNA sequences (Needleman-Wunsch), slanted tiles in waves, one launch per wave",
    .sizes = {"128 letters each", "768 letters each", "2,048 letters each"},
    .options = {[LENGTH_OPTION] = {"--length", "N", "letters in each sequence; Liu 2023: 1024", 1, 8192},
                [PAIRS_OPTION] = {"--pairs", "letters|matrix",
                                  "letters are compared, or a matrix of all pairs' scores is read (for Narasiman)", 0,
                                  0}},
};

// As in kernel.cu.
struct problem {
    CUdeviceptr rows, columns, scores, edges;
    int n_columns, n_tiles;
};

// The second sequence is the first with letters replaced, removed and inserted, as in a related species.
static void make_sequences(struct workload *w, uint8_t *first, uint8_t *second, int n) {
    static const uint8_t letters[] = {'A', 'C', 'G', 'T'};
    for (int i = 0; i < n; i++)
        first[i] = letters[workload_random(w) >> 12 & 3];
    for (int i = 0, from = 0; i < n; i++, from++) {
        unsigned fate = workload_random(w) >> 8 & 31;
        uint8_t other = letters[workload_random(w) >> 12 & 3];
        from += fate == 0;
        second[i] = from < n && fate > 2 ? first[from] : other;
        from -= fate == 1;
    }
}

struct launch {
    int n_strips, height, n_waves;
};

static bool has_matrix(const struct workload *w) {
    const char *pairs = w->option[PAIRS_OPTION].text;
    if (pairs && strcmp(pairs, "letters") != 0 && strcmp(pairs, "matrix") != 0)
        workload_usage_error(w, "--pairs takes letters or matrix, not '%s'", pairs);
    return pairs && strcmp(pairs, "matrix") == 0;
}

// The place of row i and column j, both from 1, in the kernel's order.
static size_t place_of(struct launch shape, int n_tiles, int i, int j) {
    size_t height = (size_t)shape.height, strip = (size_t)(i - 1) / height, t = (size_t)(i - 1) % height;
    return (strip * (size_t)n_tiles * height + (size_t)(j - 1) + t) * height + t;
}

// What pairing each letter of the rows with each of the columns scores.
static CUdeviceptr upload_pairs(const struct workload *w, const uint8_t *rows, const uint8_t *columns, int n,
                                struct launch shape, int n_tiles, size_t n_scores) {
    int *pairs = workload_array(w, n_scores, sizeof *pairs);
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            pairs[place_of(shape, n_tiles, i, j)] = rows[i - 1] == columns[j - 1] ? MATCH : MISMATCH;
    CUdeviceptr device = workload_upload(w, pairs, n_scores * sizeof *pairs);
    free(pairs);
    return device;
}

static struct launch align(const struct workload *w, const uint8_t *rows, const uint8_t *columns, int n, int *scores,
                           struct launch shape, int n_tiles) {
    size_t n_scores = (size_t)shape.n_strips * (size_t)n_tiles * (size_t)(shape.height * shape.height);
    size_t edge_bytes = (size_t)(shape.n_strips + 1) * (size_t)(n + 1) * sizeof(int);
    struct problem p = {workload_upload(w, rows, (size_t)(shape.n_strips * shape.height)),
                        workload_upload(w, columns, (size_t)n),
                        workload_device_alloc(w, n_scores * sizeof(int)),
                        workload_device_alloc(w, edge_bytes),
                        n,
                        n_tiles};
    bool reads_pairs = has_matrix(w);
    CUdeviceptr pairs = reads_pairs ? upload_pairs(w, rows, columns, n, shape, n_tiles, n_scores) : 0;
    unsigned threads = (unsigned)shape.height, shared_bytes = (4 * threads + 2) * (unsigned)sizeof(int) + 2 * threads;
    shape.n_waves = n_tiles + 2 * (shape.n_strips - 1);
    for (int wave = 0; wave < shape.n_waves; wave++) {
        int first = wave < n_tiles ? 0 : (wave - n_tiles + 2) / 2;
        int last = wave / 2 < shape.n_strips ? wave / 2 : shape.n_strips - 1;
        int n_blocks = last - first + 1;
        struct workload_grid grid = {w->blocks ? w->blocks : (unsigned)n_blocks, 1, threads, 1, shared_bytes};
        if (reads_pairs)
            workload_launch(w, "needleman_matrix", grid, (void *[]){&p, &pairs, &wave, &first, &n_blocks});
        else
            workload_launch(w, "needleman", grid, (void *[]){&p, &wave, &first, &n_blocks});
    }
    workload_download(w, scores, p.scores, n_scores * sizeof(int));
    CUdeviceptr all[] = {p.rows, p.columns, p.scores, p.edges};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        workload_device_free(w, all[i]);
    if (reads_pairs)
        workload_device_free(w, pairs);
    return shape;
}

static int score_at(const int *scores, struct launch shape, int n_tiles, int i, int j) {
    return scores[place_of(shape, n_tiles, i, j)];
}

static void score_row_reference(int *row, int i, uint8_t letter, const uint8_t *columns, int n) {
    int corner = row[0];
    row[0] = -GAP * i;
    for (int j = 1; j <= n; j++) {
        int above = row[j], best = corner + (letter == columns[j - 1] ? MATCH : MISMATCH);
        if (above - GAP > best)
            best = above - GAP;
        if (row[j - 1] - GAP > best)
            best = row[j - 1] - GAP;
        corner = above;
        row[j] = best;
    }
}

// Compares row by row; differences add up.
static struct workload_diff compare(const struct workload *w, const uint8_t *rows, const uint8_t *columns, int n,
                                    const int *scores, struct launch shape, int n_tiles) {
    size_t count = (size_t)n;
    int *row = workload_array(w, count + 1, sizeof *row), *got = workload_array(w, count, sizeof *got);
    struct workload_diff all = {0};
    for (int j = 0; j <= n; j++)
        row[j] = -GAP * j;
    for (int i = 1; i <= n; i++) {
        score_row_reference(row, i, rows[i - 1], columns, n);
        for (int j = 1; j <= n; j++)
            got[j - 1] = score_at(scores, shape, n_tiles, i, j);
        struct workload_diff diff = workload_diff_i32(got, row + 1, count);
        diff.first += all.n_compared;
        diff.n_compared += all.n_compared;
        diff.n_wrong += all.n_wrong;
        if (all.n_wrong) {
            diff.first = all.first;
            diff.got = all.got;
            diff.expected = all.expected;
        }
        all = diff;
    }
    free(row);
    free(got);
    return all;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)(w.option[LENGTH_OPTION].text ? w.option[LENGTH_OPTION].number : workload_pick(&w, 128, 768, 2048));
    int height = (int)workload_shape(&w, 1, 64).threads;
    if (height < 2)
        workload_usage_error(&w, "--threads-per-block must be at least 2 here: a tile needs a row above another");
    struct launch shape = {(n + height - 1) / height, height, 0};
    int n_tiles = (n + height - 1 + height - 1) / height;
    uint8_t *rows = workload_array(&w, (size_t)(shape.n_strips * height), 1),
            *columns = workload_array(&w, (size_t)n, 1);
    int *scores =
        workload_array(&w, (size_t)shape.n_strips * (size_t)n_tiles * (size_t)(height * height), sizeof *scores);
    make_sequences(&w, rows, columns, n);
    shape = align(&w, rows, columns, n, scores, shape, n_tiles);

    struct workload_diff diff = {0};
    if (w.check)
        diff = compare(&w, rows, columns, n, scores, shape, n_tiles);
    int score = score_at(scores, shape, n_tiles, n, n);
    free(rows);
    free(columns);
    free(scores);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "two sequences of %d letters, score %d, %d launches of at most %d blocks of %d threads", n,
                           score, shape.n_waves, shape.n_strips, shape.height);
}
