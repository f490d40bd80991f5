// short: the cheapest path through rows of choices, by dynamic programming from row to row.
//
// A choice has a cost and a reach: it may follow the choices of the row before at most that far to its left or right.
// Half of the choices reach 1 (a king's step), a quarter 3 and a quarter 7 (a rook's move across the board). The
// reference works the other way: a choice offers its path to all that can follow it.
#include "../common/workload.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct workload_info info = {
    .name = "short",
    .summary = "cheapest path through rows of choices, one choice per thread, one launch per row",
    .sizes = {"6 steps of 2,000 choices", "6 steps of 40,000 choices", "6 steps of 150,000 choices"},
};

enum { STEPS = 6, MOST_REACH = 7, MOST_COST = 1000 };

// Rows of n choices; those of step 0 follow row `start`.
struct board {
    size_t n;
    int *start, *cost, *reach;
};

// The result of the search: the cost of the cheapest path to each choice of the last row, and every choice's
// predecessor.
struct paths {
    int *best, *from;
};

static struct board make_board(struct workload *w, size_t n) {
    static const int reaches[] = {1, 1, 1, 1, 3, 3, MOST_REACH, MOST_REACH};
    struct board b = {n, workload_array(w, n, sizeof(int)), workload_array(w, STEPS * n, sizeof(int)),
                      workload_array(w, STEPS * n, sizeof(int))};
    for (size_t i = 0; i < n; i++)
        b.start[i] = (int)(workload_random(w) % MOST_COST);
    for (size_t i = 0; i < STEPS * n; i++) {
        b.cost[i] = (int)(workload_random(w) % MOST_COST);
        b.reach[i] = reaches[workload_random(w) >> 21];
    }
    return b;
}

static struct paths make_paths(const struct workload *w, size_t n) {
    return (struct paths){workload_array(w, n, sizeof(int)), workload_array(w, STEPS * n, sizeof(int))};
}

// Of equally cheap predecessors the leftmost wins, as in the kernel: offers come from left to right.
static void search_reference(const struct workload *w, const struct board *b, struct paths *p) {
    size_t n = b->n;
    int *previous = workload_array(w, n, sizeof *previous);
    memcpy(p->best, b->start, n * sizeof *previous);
    for (size_t step = 0; step < STEPS; step++) {
        const int *cost = b->cost + step * n, *reach = b->reach + step * n;
        memcpy(previous, p->best, n * sizeof *previous);
        for (size_t i = 0; i < n; i++)
            p->best[i] = INT_MAX;
        for (size_t origin = 0; origin < n; origin++) {
            size_t first = origin < MOST_REACH ? 0 : origin - MOST_REACH;
            for (size_t i = first; i < n && i <= origin + MOST_REACH; i++) {
                size_t distance = i < origin ? origin - i : i - origin;
                if (distance > (size_t)reach[i] || previous[origin] + cost[i] >= p->best[i])
                    continue;
                p->best[i] = previous[origin] + cost[i];
                p->from[step * n + i] = (int)origin;
            }
        }
    }
    free(previous);
}

static void search(const struct workload *w, const struct board *b, struct paths *p, struct workload_shape shape) {
    size_t row = b->n * sizeof(int);
    int n = (int)b->n;
    CUdeviceptr previous = workload_upload(w, b->start, row), best = workload_device_alloc(w, row);
    CUdeviceptr costs = workload_upload(w, b->cost, STEPS * row), reaches = workload_upload(w, b->reach, STEPS * row);
    CUdeviceptr origins = workload_device_alloc(w, STEPS * row);
    for (size_t step = 0; step < STEPS; step++) {
        CUdeviceptr cost = costs + step * row, reach = reaches + step * row, from = origins + step * row;
        workload_launch(w, "extend_paths", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                        (void *[]){&previous, &cost, &reach, &best, &from, &n});
        CUdeviceptr done = best;
        best = previous;
        previous = done;
    }
    workload_download(w, p->best, previous, row);
    workload_download(w, p->from, origins, STEPS * row);
    workload_device_free(w, previous);
    workload_device_free(w, best);
    workload_device_free(w, costs);
    workload_device_free(w, reaches);
    workload_device_free(w, origins);
}

// Compares the costs first: a wrong one is reported before the path that led to it.
static struct workload_diff compare(const struct paths *got, const struct paths *expected, size_t n) {
    struct workload_diff diff = workload_diff_i32(got->best, expected->best, n);
    return diff.n_wrong ? diff : workload_diff_i32(got->from, expected->from, STEPS * n);
}

static int least(const int *values, size_t n) {
    int found = values[0];
    for (size_t i = 1; i < n; i++)
        found = values[i] < found ? values[i] : found;
    return found;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t n = workload_pick(&w, 2000, 40000, 150000);
    struct board board = make_board(&w, n);
    struct paths paths = make_paths(&w, n), expected = make_paths(&w, n);
    struct workload_shape shape = workload_shape(&w, n, 64);
    search(&w, &board, &paths, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        search_reference(&w, &board, &expected);
        diff = compare(&paths, &expected, n);
    }
    int cheapest = least(paths.best, n);
    free(board.start);
    free(board.cost);
    free(board.reach);
    free(paths.best);
    free(paths.from);
    free(expected.best);
    free(expected.from);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%d steps of %zu choices, the cheapest path costs %d, launches of %u blocks of %u threads",
                           STEPS, n, cheapest, shape.blocks, shape.threads);
}
