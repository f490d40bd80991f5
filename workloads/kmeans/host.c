// kmeans: clusters of points, two launches per iteration, until no point changes its cluster or a limit of iterations
// is reached.
//
// The reference recomputes all sums in every iteration and searches for the centre c with the largest 2xc - cc, which
// is the nearest. Both compute with integers, so the check asks for equality of every membership and every centre.
#include "../common/workload.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FRACTION_BITS = 4, MOST_DIMENSIONS = 20 }; // as in kernel.cu
enum { DIMENSIONS_OPTION = 0, CODE_OPTION = 1, LAYOUT_OPTION = 2 };

static const struct workload_info info = {
    .name = "kmeans",
    .summary = "k-means clustering, one thread per point",
    .sizes = {"1,024 points, 20-D: 256 points", "8,192 points, 20-D: 2,500 points",
              "16,384 points, 20-D: 10,000 points"},
    .options = {[DIMENSIONS_OPTION] = {"--dimensions", "1|20",
                                       "1: bytes (Narasiman 2011), default; 20: ints (Meng 2010)", 1, MOST_DIMENSIONS},
                [CODE_OPTION] = {"--code", "select|predicated", "how the nearest centre is kept; 1-D only", 0, 0},
                [LAYOUT_OPTION] = {"--layout", "columns|rows",
                                   "rows: a point's 20 coordinates together; 512, 8,192 or 65,536 points, "
                                   "1, 1 or 4 iterations",
                                   0, 0}},
};

// Coordinate d of point i is at[d * n + i].
struct points {
    int dimensions, n, n_centres;
    bool has_rows; // on the device, the coordinates of a point are together
    int *at;
};

static bool has_rows(const struct workload *w) {
    const char *layout = w->option[LAYOUT_OPTION].text;
    if (layout && strcmp(layout, "columns") != 0 && strcmp(layout, "rows") != 0)
        workload_usage_error(w, "--layout takes columns or rows, not '%s'", layout);
    return layout && strcmp(layout, "rows") == 0;
}

static struct points make_points(struct workload *w) {
    int dimensions = w->option[DIMENSIONS_OPTION].text ? (int)w->option[DIMENSIONS_OPTION].number : 1;
    if (dimensions != 1 && dimensions != MOST_DIMENSIONS)
        workload_usage_error(w, "--dimensions takes 1 or %d, not %d", MOST_DIMENSIONS, dimensions);
    bool is_line = dimensions == 1, is_rows = has_rows(w);
    if (is_line && is_rows)
        workload_usage_error(w, "--layout rows is for --dimensions %d", MOST_DIMENSIONS);
    int n = (int)(is_line   ? workload_pick(w, 1024, 8192, 16384)
                  : is_rows ? workload_pick(w, 512, 8192, 65536)
                            : workload_pick(w, 256, 2500, 10000));
    struct points p = {dimensions, n, is_line ? 16 : 8, is_rows,
                       workload_array(w, (size_t)n * (size_t)dimensions, sizeof(int))};
    // Points lie around twice as many places as there are clusters to find.
    int place[2 * 16][MOST_DIMENSIONS];
    for (int k = 0; k < 2 * p.n_centres; k++)
        for (int d = 0; d < dimensions; d++)
            place[k][d] = (int)(workload_random(w) >> 8) % 160;
    for (int i = 0; i < n; i++) {
        const int *near = place[(int)(workload_random(w) >> 8) % (2 * p.n_centres)];
        for (int d = 0; d < dimensions; d++)
            p.at[d * n + i] = near[d] + (int)(workload_random(w) >> 8) % 96;
    }
    return p;
}

// The first points are the first centres.
static void start_centres(const struct points *p, int *centres) {
    for (int c = 0; c < p->n_centres; c++)
        for (int d = 0; d < p->dimensions; d++)
            centres[c * p->dimensions + d] = p->at[d * p->n + c] << FRACTION_BITS;
}

// ---- Device -------------------------------------------------------------------------------------------------------

static CUdeviceptr upload_rows(const struct workload *w, const struct points *p) {
    size_t n = (size_t)p->n, dimensions = (size_t)p->dimensions;
    int *rows = workload_array(w, n * dimensions, sizeof *rows);
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < dimensions; d++)
            rows[i * dimensions + d] = p->at[d * n + i];
    CUdeviceptr device = workload_upload(w, rows, n * dimensions * sizeof *rows);
    free(rows);
    return device;
}

// Points on a line are bytes, others ints.
static CUdeviceptr upload_points(const struct workload *w, const struct points *p) {
    size_t n = (size_t)p->n * (size_t)p->dimensions;
    if (p->has_rows)
        return upload_rows(w, p);
    if (p->dimensions > 1)
        return workload_upload(w, p->at, n * sizeof *p->at);
    uint8_t *bytes = workload_array(w, n, 1);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)p->at[i];
    CUdeviceptr device = workload_upload(w, bytes, n);
    free(bytes);
    return device;
}

struct clustering {
    int *membership, *centres;
    int n_iterations;
};

struct device_memory {
    CUdeviceptr points, centres, membership, sums, moved;
};

static bool is_predicated(const struct workload *w, const struct points *p) {
    const char *code = w->option[CODE_OPTION].text;
    if (code && strcmp(code, "select") != 0 && strcmp(code, "predicated") != 0)
        workload_usage_error(w, "--code takes select or predicated, not '%s'", code);
    bool asks = code && strcmp(code, "predicated") == 0;
    if (asks && p->dimensions != 1)
        workload_usage_error(w, "--code predicated is for --dimensions 1");
    return asks;
}

// Returns whether a point changed its cluster.
static bool iterate(const struct workload *w, struct points *p, struct workload_shape shape, struct device_memory *m) {
    unsigned n_coordinates = (unsigned)(p->n_centres * p->dimensions);
    unsigned shared_bytes = (2 * n_coordinates + (unsigned)p->n_centres) * (unsigned)sizeof(int);
    bool is_line = p->dimensions == 1;
    bool has_shared_memory = !p->has_rows && workload_most_shared_bytes(w) >= shared_bytes;
    const char *kernel = is_predicated(w, p) ? "assign_predicated_1"
                         : p->has_rows       ? "assign_rows_20"
                         : has_shared_memory ? (is_line ? "assign_shared_1" : "assign_shared_20")
                                             : (is_line ? "assign_1" : "assign_20");
    int moved = 0;
    WORKLOAD_CUDA(w, cuMemcpyHtoD(m->moved, &moved, sizeof moved));
    workload_launch(w, kernel,
                    (struct workload_grid){shape.blocks, 1, shape.threads, 1, has_shared_memory ? shared_bytes : 0},
                    (void *[]){&m->points, &m->centres, &m->membership, &m->sums, &m->moved, &p->n_centres, &p->n});
    workload_launch(w, "update", (struct workload_grid){1, 1, shape.threads, 1, 0},
                    (void *[]){&m->sums, &m->centres, &p->n_centres, &p->dimensions});
    workload_download(w, &moved, m->moved, sizeof moved);
    return moved;
}

static void cluster(const struct workload *w, struct points *p, struct workload_shape shape, int most_iterations,
                    struct clustering *result) {
    size_t n_coordinates = (size_t)(p->n_centres * p->dimensions), member_bytes = (size_t)p->n * sizeof(int);
    size_t sum_bytes = (n_coordinates + (size_t)p->n_centres) * sizeof(int);
    start_centres(p, result->centres);
    struct device_memory m = {upload_points(w, p), workload_upload(w, result->centres, n_coordinates * sizeof(int)),
                              workload_device_alloc(w, member_bytes), workload_device_alloc(w, sum_bytes),
                              workload_device_alloc(w, sizeof(int))};
    WORKLOAD_CUDA(w, cuMemsetD8(m.membership, 0xff, member_bytes)); // -1: in no cluster
    WORKLOAD_CUDA(w, cuMemsetD8(m.sums, 0, sum_bytes));
    bool moves = true;
    for (; moves && result->n_iterations < most_iterations; result->n_iterations++)
        moves = iterate(w, p, shape, &m);
    workload_download(w, result->membership, m.membership, member_bytes);
    workload_download(w, result->centres, m.centres, n_coordinates * sizeof(int));
    CUdeviceptr all[] = {m.points, m.centres, m.membership, m.sums, m.moved};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        workload_device_free(w, all[i]);
}

// ---- Reference ----------------------------------------------------------------------------------------------------

static int nearest_reference(const struct points *p, const int *centres, int i) {
    int best = 0;
    int64_t most = INT64_MIN;
    for (int c = 0; c < p->n_centres; c++) {
        int64_t score = 0;
        for (int d = 0; d < p->dimensions; d++) {
            int64_t x = (int64_t)p->at[d * p->n + i] << FRACTION_BITS, centre = centres[c * p->dimensions + d];
            score += 2 * x * centre - centre * centre;
        }
        if (score <= most)
            continue;
        most = score;
        best = c;
    }
    return best;
}

static void move_centre_reference(const struct points *p, const int *membership, int c, int *centre) {
    int64_t sum[MOST_DIMENSIONS] = {0}, n = 0;
    for (int i = 0; i < p->n; i++) {
        if (membership[i] != c)
            continue;
        n++;
        for (int d = 0; d < p->dimensions; d++)
            sum[d] += (int64_t)p->at[d * p->n + i] << FRACTION_BITS;
    }
    for (int d = 0; n && d < p->dimensions; d++)
        centre[d] = (int)((2 * sum[d] + n) / (2 * n)); // rounded, halves up
}

static void cluster_reference(const struct points *p, int most_iterations, struct clustering *result) {
    start_centres(p, result->centres);
    memset(result->membership, 0xff, (size_t)p->n * sizeof(int));
    bool moves = true;
    for (; moves && result->n_iterations < most_iterations; result->n_iterations++) {
        moves = false;
        for (int i = 0; i < p->n; i++) {
            int c = nearest_reference(p, result->centres, i);
            moves |= c != result->membership[i];
            result->membership[i] = c;
        }
        for (int c = 0; c < p->n_centres; c++)
            move_centre_reference(p, result->membership, c, &result->centres[c * p->dimensions]);
    }
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    struct points p = make_points(&w);
    int most_iterations = (int)(p.has_rows ? workload_pick(&w, 1, 1, 4) : workload_pick(&w, 5, 12, 100));
    size_t n = (size_t)p.n, n_results = n + (size_t)(p.n_centres * p.dimensions);
    int *results = workload_array(&w, n_results, sizeof *results);
    int *expected = workload_array(&w, n_results, sizeof *expected);
    struct clustering got = {results, results + n, 0}, reference = {expected, expected + n, 0};
    struct workload_shape shape = workload_shape(&w, n, 256);
    cluster(&w, &p, shape, most_iterations, &got);

    struct workload_diff diff = {0};
    if (w.check) {
        cluster_reference(&p, most_iterations, &reference);
        diff = workload_diff_i32(results, expected, n_results);
    }
    free(p.at);
    free(results);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%d points in %d-D, %d clusters, %d iterations, %u blocks of %u threads", p.n, p.dimensions,
                           p.n_centres, got.n_iterations, shape.blocks, shape.threads);
}
