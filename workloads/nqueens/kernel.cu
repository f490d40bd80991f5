// Ways to put N queens on an N x N board. The host places queens on the first rows in every allowed way; a thread takes
// one such start after another and completes it by backtracking over bit masks, with its stack in shared memory.
#include <heddle/device.h>

// Columns and diagonals under attack, as seen from one row; a set bit is an attacked square.
struct start {
    unsigned columns, left, right;
};

// Dynamic shared memory: three words for each row left to fill, for each thread. Word k of thread t is at
// [k * blockDim.x + t], so that the threads of a warp use different banks.
extern "C" __global__ void nqueens(const start *starts, int n_starts, unsigned board, unsigned *n_solutions) {
    extern __shared__ unsigned stack[];
    unsigned found = 0, stride = blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_starts; i += gridDim.x * blockDim.x) {
        unsigned *top = stack + threadIdx.x, *bottom = top;
        unsigned columns = starts[i].columns, left = starts[i].left, right = starts[i].right;
        unsigned free_squares = board & ~(columns | left | right);
        while (true) {
            if (free_squares) {
                unsigned queen = free_squares & -free_squares;
                free_squares ^= queen;
                unsigned next_columns = columns | queen;
                if (next_columns == board) {
                    found++;
                    continue;
                }
                unsigned next_left = (left | queen) << 1, next_right = (right | queen) >> 1;
                unsigned next_free = board & ~(next_columns | next_left | next_right);
                if (next_free == 0)
                    continue;
                if (free_squares) { // come back for the other squares of this row
                    top[0] = free_squares | columns << 16;
                    top[stride] = left;
                    top[2 * stride] = right;
                    top += 3 * stride;
                }
                columns = next_columns;
                left = next_left;
                right = next_right;
                free_squares = next_free;
            } else {
                if (top == bottom)
                    break;
                top -= 3 * stride;
                free_squares = top[0] & 0xffff;
                columns = top[0] >> 16;
                left = top[stride];
                right = top[2 * stride];
            }
        }
    }
    if (found)
        atomicAdd(n_solutions, found);
}
