// kmeans_rows: clusters of points, two launches per iteration, one point per thread at a time. Each thread adds up its
// points by itself.
//
// The reference searches for the centre c with the largest 2xc - cc, which is the nearest, in integers: coordinates are
// whole numbers, centres multiples of 1 / 16. The kernel's sums are exact too, so the check asks for equality of every
// membership and every centre.
#include "../common/workload.h"

#include <stdlib.h>

enum { DIMENSIONS = 20, N_CENTRES = 4, FRACTION = 16 };

static const struct workload_info info = {
    .name = "kmeans_rows",
    .summary = "k-means clustering, one point of 20 coordinates per thread, sums of a thread's own",
    .sizes = {"512 points, 1 iteration", "10,000 points, 2 iterations", "10,000 points, 10 iterations"},
    .options = {WORKLOAD_REJOIN_OPTION},
};

// Points lie around twice as many places as there are clusters to find.
static int64_t *make_points(struct workload *w, size_t n) {
    int64_t place[2 * N_CENTRES][DIMENSIONS], *points = workload_array(w, n * DIMENSIONS, sizeof *points);
    for (int k = 0; k < 2 * N_CENTRES; k++)
        for (int d = 0; d < DIMENSIONS; d++)
            place[k][d] = workload_random_below(w, 160);
    for (size_t i = 0; i < n; i++) {
        const int64_t *near = place[workload_random_below(w, 2 * N_CENTRES)];
        for (int d = 0; d < DIMENSIONS; d++)
            points[i * DIMENSIONS + d] = near[d] + workload_random_below(w, 96);
    }
    return points;
}

// The centres in sixteenths.
struct clustering {
    int64_t *membership, *centres;
};

// The first points are the first centres.
static void start_centres(const int64_t *points, int64_t *centres) {
    for (int k = 0; k < N_CENTRES * DIMENSIONS; k++)
        centres[k] = points[k] * FRACTION;
}

static CUdeviceptr upload_divided(const struct workload *w, const int64_t *number, size_t n, int64_t divisor) {
    double *quotient = workload_array(w, n, sizeof *quotient);
    for (size_t i = 0; i < n; i++)
        quotient[i] = (double)number[i] / (double)divisor;
    CUdeviceptr device = workload_upload(w, quotient, n * sizeof *quotient);
    free(quotient);
    return device;
}

static void cluster(const struct workload *w, const int64_t *points, size_t n, unsigned n_iterations,
                    struct workload_shape shape, struct clustering *result) {
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    int n_centres = N_CENTRES, rejoins = workload_rejoins(w), n_points = (int)n,
        n_copies = (int)(shape.blocks * shape.threads);
    double means[N_CENTRES * DIMENSIONS];
    start_centres(points, result->centres);
    CUdeviceptr at = upload_divided(w, points, n * DIMENSIONS, 1);
    CUdeviceptr centres = upload_divided(w, result->centres, N_CENTRES * DIMENSIONS, FRACTION);
    CUdeviceptr membership = workload_device_alloc(w, n * sizeof *result->membership);
    CUdeviceptr sums = workload_device_alloc(w, (size_t)n_copies * N_CENTRES * (DIMENSIONS + 1) * sizeof(double));
    for (unsigned i = 0; i < n_iterations; i++) {
        workload_launch(w, "assign", grid,
                        (void *[]){&at, &centres, &membership, &sums, &n_centres, &n_points, &rejoins});
        workload_launch(w, "update", grid, (void *[]){&sums, &centres, &n_centres, &n_copies, &rejoins});
    }
    workload_download(w, result->membership, membership, n * sizeof *result->membership);
    workload_download(w, means, centres, sizeof means);
    for (int k = 0; k < N_CENTRES * DIMENSIONS; k++)
        result->centres[k] = (int64_t)(means[k] * FRACTION);
    workload_device_free(w, at);
    workload_device_free(w, centres);
    workload_device_free(w, membership);
    workload_device_free(w, sums);
}

static int nearest_reference(const int64_t *point, const int64_t *centres) {
    int best = 0;
    int64_t most = INT64_MIN;
    for (int c = 0; c < N_CENTRES; c++) {
        int64_t score = 0;
        for (int d = 0; d < DIMENSIONS; d++) {
            int64_t at = centres[c * DIMENSIONS + d];
            score += 2 * FRACTION * point[d] * at - at * at;
        }
        if (score > most) {
            most = score;
            best = c;
        }
    }
    return best;
}

static void cluster_reference(const int64_t *points, size_t n, unsigned n_iterations, struct clustering *result) {
    start_centres(points, result->centres);
    for (unsigned iteration = 0; iteration < n_iterations; iteration++) {
        int64_t sum[N_CENTRES][DIMENSIONS] = {{0}}, count[N_CENTRES] = {0};
        for (size_t i = 0; i < n; i++) {
            int c = nearest_reference(points + i * DIMENSIONS, result->centres);
            result->membership[i] = c;
            count[c]++;
            for (int d = 0; d < DIMENSIONS; d++)
                sum[c][d] += points[i * DIMENSIONS + (size_t)d];
        }
        for (int c = 0; c < N_CENTRES; c++)
            for (int d = 0; count[c] && d < DIMENSIONS; d++) // rounded, halves up
                result->centres[c * DIMENSIONS + d] = (2 * FRACTION * sum[c][d] + count[c]) / (2 * count[c]);
    }
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t n = workload_pick(&w, 512, 10000, 10000), n_results = n + N_CENTRES * DIMENSIONS;
    unsigned n_iterations = workload_pick(&w, 1, 2, 10);
    int64_t *points = make_points(&w, n), *results = workload_array(&w, n_results, sizeof *results);
    int64_t *expected = workload_array(&w, n_results, sizeof *expected);
    struct clustering got = {results, results + n}, reference = {expected, expected + n};
    struct workload_shape shape = workload_loop_shape(&w, n);
    cluster(&w, points, n, n_iterations, shape, &got);

    struct workload_diff diff = {0};
    if (w.check) {
        cluster_reference(points, n, n_iterations, &reference);
        diff = workload_diff_i64(results, expected, n_results);
    }
    free(points);
    free(results);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%zu points in %d-D, %d clusters, %u iterations, %u blocks of %u threads", n, DIMENSIONS,
                           N_CENTRES, n_iterations, shape.blocks, shape.threads);
}
