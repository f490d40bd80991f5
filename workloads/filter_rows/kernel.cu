// Edges of a picture by a 3 x 3 convolution, one row of the picture per thread. The weights are data, as in a program
// that takes any filter; a loop goes over the three rows of the neighbourhood. The outermost pixels stay as they are.
#include "../common/tasks.cuh"

// The longest response that is shown.
#define WHITE 255.0

// Both pictures have `pitch` pixels from one row to the next.
extern "C" __global__ void filter_rows(const double *picture, double *edges, const double *weights, int width,
                                       int height, int pitch, int rejoins) {
#pragma unroll 1
    for (int y = 1 + first_task(); y < height - 1; y += n_threads()) {
#pragma unroll 1
        for (int x = 1; x < width - 1; x++) {
            const double *at = picture + (y - 1) * pitch + x, *weight = weights;
            double sum = 0;
#pragma unroll 1
            for (int k = 0; k < 3; k++, at += pitch, weight += 3)
                sum += at[-1] * weight[0] + at[0] * weight[1] + at[1] * weight[2];
            double size = fabs(sum);
            edges[y * pitch + x] = size < WHITE ? size : WHITE;
        }
        end_task(rejoins);
    }
}
