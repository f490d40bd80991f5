// nqueens: the number of ways to put N queens on an N x N board so that none attacks another.
//
// The reference is a different CPU search (arrays of taken lines, not bit masks), and must itself find the known number
// for that board (OEIS A000170).
#include "../common/workload.h"

#include <stdlib.h>

enum { MAX_BOARD = 16, START_ROWS = 4, STACK_WORDS = 3 };

static const struct workload_info info = {
    .name = "nqueens",
    .summary = "N queens by backtracking, one start position per thread at a time",
    .sizes = {"board of 10", "board of 12", "board of 10, the same as small"},
};

static const uint32_t known_solutions[MAX_BOARD + 1] = {1,   1,   0,    0,     2,     10,     4,       40,      92,
                                                        352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

// As in kernel.cu.
struct start {
    uint32_t columns, left, right;
};

struct starts {
    size_t n;
    struct start *at;
};

// Adds every allowed placement on the rows from `row` to START_ROWS - 1.
static void place_starts(struct starts *starts, struct start s, int row, uint32_t board) {
    if (row == START_ROWS) {
        starts->at[starts->n++] = s;
        return;
    }
    for (uint32_t queen = 1; queen < board; queen <<= 1) {
        if (queen & (s.columns | s.left | s.right))
            continue;
        struct start next = {s.columns | queen, (s.left | queen) << 1, (s.right | queen) >> 1};
        place_starts(starts, next, row + 1, board);
    }
}

struct search {
    int side;
    bool column_taken[MAX_BOARD], rising_taken[2 * MAX_BOARD], falling_taken[2 * MAX_BOARD];
};

static uint32_t count_reference(struct search *s, int row) {
    uint32_t n = 0;
    if (row == s->side)
        return 1;
    for (int column = 0; column < s->side; column++) {
        bool *taken[] = {&s->column_taken[column], &s->rising_taken[row + column],
                         &s->falling_taken[row - column + s->side]};
        if (*taken[0] || *taken[1] || *taken[2])
            continue;
        for (int k = 0; k < 3; k++)
            *taken[k] = true;
        n += count_reference(s, row + 1);
        for (int k = 0; k < 3; k++)
            *taken[k] = false;
    }
    return n;
}

static uint32_t count_on_device(const struct workload *w, const struct starts *starts, int side,
                                struct workload_shape shape) {
    uint32_t n_solutions = 0, board = (1u << side) - 1;
    int n_starts = (int)starts->n;
    unsigned stack_bytes = (unsigned)(side - START_ROWS) * STACK_WORDS * shape.threads * (unsigned)sizeof(uint32_t);
    CUdeviceptr device_starts = workload_upload(w, starts->at, starts->n * sizeof *starts->at);
    CUdeviceptr device_count = workload_upload(w, &n_solutions, sizeof n_solutions);
    workload_launch(w, "nqueens", (struct workload_grid){shape.blocks, 1, shape.threads, 1, stack_bytes},
                    (void *[]){&device_starts, &n_starts, &board, &device_count});
    workload_download(w, &n_solutions, device_count, sizeof n_solutions);
    workload_device_free(w, device_starts);
    workload_device_free(w, device_count);
    return n_solutions;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int side = (int)workload_pick(&w, 10, 12, 10);
    size_t most = 1;
    for (int row = 0; row < START_ROWS; row++)
        most *= (size_t)side;
    struct starts starts = {0, workload_array(&w, most, sizeof *starts.at)};
    place_starts(&starts, (struct start){0, 0, 0}, 0, (1u << side) - 1);
    struct workload_shape shape = workload_shape(&w, starts.n, 64);
    uint32_t n_solutions = count_on_device(&w, &starts, side, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        struct search search = {.side = side};
        uint32_t expected = count_reference(&search, 0);
        if (expected != known_solutions[side])
            workload_fail(&w, "the CPU reference finds %u solutions, but %u are known", expected,
                          known_solutions[side]);
        diff = workload_diff_u32(&n_solutions, &expected, 1);
    }
    free(starts.at);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%u solutions on a board of %d, %zu starts, %u blocks of %u threads", n_solutions, side,
                           starts.n, shape.blocks, shape.threads);
}
