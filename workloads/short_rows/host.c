// short_rows: the cheapest path through rows of choices, by dynamic programming from row to row, a stretch of choices
// per thread.
//
// A choice follows one of the row before at most two places away, at a cost for each distance. One choice in 28 is a
// capture and may come from three places away too. The reference works the other way: a choice offers its path to all
// that can follow it. If several paths are cheapest, any of them will do: the check follows each path back, adds up its
// costs and asks for the sum of the cheapest.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

static const struct workload_info info = {
    .name = "short_rows",
    .summary = "cheapest path through rows of choices, a stretch of choices per thread, one launch per row",
    .sizes = {"6 steps of 2,500 choices", "6 steps of 40,000 choices", "6 steps of 150,000 choices"},
    .options = {WORKLOAD_REJOIN_OPTION},
};

enum { STEPS = 6, DISTANCES = 3, MARGIN = 3, MOST_COST = 1000, CHOICES_PER_CAPTURE = 28 };
static const int64_t unreachable = INT64_C(1) << 60;

// Rows of n choices and MARGIN unreachable ones on each side; costs[step][choice][distance], the first of a capture
// negative.
struct board {
    size_t n;
    int64_t *start, *costs;
};

static size_t row_length(const struct board *b) { return b->n + 2 * MARGIN; }

static struct board make_board(struct workload *w, size_t n) {
    struct board b = {.n = n, .costs = workload_array(w, STEPS * n * DISTANCES, sizeof(int64_t))};
    b.start = workload_array(w, row_length(&b), sizeof(int64_t));
    for (size_t i = 0; i < row_length(&b); i++) {
        bool is_choice = i >= MARGIN && i < MARGIN + n;
        b.start[i] = is_choice ? workload_random_below(w, MOST_COST) : unreachable;
    }
    for (size_t i = 0; i < STEPS * n; i++) {
        for (size_t distance = 0; distance < DISTANCES; distance++)
            b.costs[i * DISTANCES + distance] = 1 + workload_random_below(w, MOST_COST);
        if (!workload_random_below(w, CHOICES_PER_CAPTURE))
            b.costs[i * DISTANCES] *= -1;
    }
    return b;
}

// The cost of choice i after choice `origin` of the row before.
static int64_t price(const struct board *b, size_t step, long origin, long i) {
    long n = (long)b->n, distance = labs(origin - i);
    const int64_t *cost = b->costs + (step * b->n + (size_t)i) * DISTANCES;
    if (origin < 0 || origin >= n || distance > MARGIN)
        return unreachable;
    if (distance < DISTANCES)
        return llabs(cost[distance]);
    return cost[0] < 0 ? -cost[0] : unreachable;
}

static void search_reference(const struct workload *w, const struct board *b, int64_t *best) {
    long n = (long)b->n;
    int64_t *previous = workload_array(w, b->n, sizeof *previous);
    memcpy(best, b->start + MARGIN, b->n * sizeof *best);
    for (size_t step = 0; step < STEPS; step++) {
        memcpy(previous, best, b->n * sizeof *best);
        for (long i = 0; i < n; i++)
            best[i] = unreachable;
        for (long origin = 0; origin < n; origin++)
            for (long i = origin - MARGIN; i <= origin + MARGIN; i++)
                if (i >= 0 && i < n && previous[origin] + price(b, step, origin, i) < best[i])
                    best[i] = previous[origin] + price(b, step, origin, i);
    }
    free(previous);
}

// Follows the paths back from the last row, adding up what they cost.
static void add_up(const struct board *b, const int64_t *origins, int64_t *sum) {
    for (size_t last = 0; last < b->n; last++) {
        long i = (long)last, n = (long)b->n;
        sum[last] = 0;
        for (size_t step = STEPS; step-- > 0 && i >= 0 && i < n;) {
            long origin = (long)origins[step * b->n + (size_t)i];
            sum[last] += price(b, step, origin, i);
            i = origin;
        }
        sum[last] += i >= 0 && i < n ? b->start[MARGIN + i] : unreachable;
    }
}

// A stretch for each thread, of an odd length: stretches begin at every place of a line.
static void search(const struct workload *w, const struct board *b, int64_t *best, int64_t *origins,
                   struct workload_shape shape) {
    size_t row = row_length(b) * sizeof(int64_t), margin = MARGIN * sizeof(int64_t);
    size_t n_threads = (size_t)shape.blocks * shape.threads;
    int rejoins = workload_rejoins(w), n = (int)b->n, stretch = (int)((b->n + n_threads - 1) / n_threads) | 1;
    CUdeviceptr from = workload_upload(w, b->start, row), to = workload_upload(w, b->start, row);
    CUdeviceptr costs = workload_upload(w, b->costs, STEPS * b->n * DISTANCES * sizeof(int64_t));
    CUdeviceptr all_origins = workload_device_alloc(w, STEPS * b->n * sizeof(int64_t));
    for (size_t step = 0; step < STEPS; step++) {
        CUdeviceptr previous = from + margin, next = to + margin, swap = from;
        CUdeviceptr cost = costs + step * b->n * DISTANCES * sizeof(int64_t);
        CUdeviceptr origin = all_origins + step * b->n * sizeof(int64_t);
        workload_launch(w, "extend_paths", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                        (void *[]){&previous, &cost, &next, &origin, &n, &stretch, &rejoins});
        from = to;
        to = swap;
    }
    workload_download(w, best, from + margin, b->n * sizeof *best);
    workload_download(w, origins, all_origins, STEPS * b->n * sizeof *origins);
    workload_device_free(w, from);
    workload_device_free(w, to);
    workload_device_free(w, costs);
    workload_device_free(w, all_origins);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    struct board board = make_board(&w, workload_pick(&w, 2500, 40000, 150000));
    size_t n = board.n;
    // The costs that the device computed, then those of its paths.
    int64_t *got = workload_array(&w, 2 * n, sizeof *got), *expected = workload_array(&w, 2 * n, sizeof *expected);
    int64_t *origins = workload_array(&w, STEPS * n, sizeof *origins);
    struct workload_shape shape = workload_loop_shape(&w, n);
    search(&w, &board, got, origins, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        add_up(&board, origins, got + n);
        search_reference(&w, &board, expected);
        memcpy(expected + n, expected, n * sizeof *expected);
        diff = workload_diff_i64(got, expected, 2 * n);
    }
    free(board.start);
    free(board.costs);
    free(got);
    free(expected);
    free(origins);
    return workload_finish(&w, w.check ? &diff : NULL, "%d steps of %zu choices, %u blocks of %u threads", STEPS, n,
                           shape.blocks, shape.threads);
}
