// The eight queens problem: backtracking with bits, a thread for each start, loops that end at different times.
#include "../check.cuh"

__host__ __device__ inline int solutions(int n, unsigned columns, unsigned left, unsigned right) {
    unsigned all = (1u << n) - 1, stack_columns[12], stack_left[12], stack_right[12], stack_free[12];
    int depth = 0, found = 0;
    stack_columns[0] = columns;
    stack_left[0] = left;
    stack_right[0] = right;
    stack_free[0] = all & ~(columns | left | right);
    while (depth >= 0) {
        unsigned open = stack_free[depth];
        if (!open) {
            depth--;
            continue;
        }
        unsigned bit = open & -open, c = stack_columns[depth] | bit;
        stack_free[depth] = open ^ bit;
        if (c == all) {
            found++;
            continue;
        }
        depth++;
        stack_columns[depth] = c;
        stack_left[depth] = (stack_left[depth - 1] | bit) << 1;
        stack_right[depth] = (stack_right[depth - 1] | bit) >> 1;
        stack_free[depth] = all & ~(c | stack_left[depth] | stack_right[depth]);
    }
    return found;
}

__global__ void place(int n, int *total) {
    int first = threadIdx.x / n, second = threadIdx.x % n;
    if (first >= n || abs(first - second) < 2)
        return;
    unsigned a = 1u << first, b = 1u << second;
    atomicAdd(total, solutions(n, a | b, (a << 2) | (b << 1), (a >> 2) | (b >> 1)));
}

int main() {
    Device<int> total(std::vector<int>{0});
    place<<<1, 64>>>(8, total);
    expect_equal(total.get(), {92});
    return 0;
}
