// One iteration of k-means clustering as a map and a reduction, one point per thread at a time. `assign` finds the
// nearest centre of each point and adds the point to sums of the thread's own; `update` adds up the sums of all threads
// and moves the centres. A point is a row of DIMENSIONS coordinates. All numbers are multiples of 1 / 16 and small
// enough for sums of squares to be exact.
#include "../common/tasks.cuh"

enum { DIMENSIONS = 20 };

// sums: for each thread, for each cluster, its coordinates' sums and its number of points.
extern "C" __global__ void assign(const double *points, const double *centres, long long *membership, double *sums,
                                  int n_centres, int n, int rejoins) {
    double *own = sums + first_task() * n_centres * (DIMENSIONS + 1);
#pragma unroll 1
    for (int k = 0; k < n_centres * (DIMENSIONS + 1); k++)
        own[k] = 0;
#pragma unroll 1
    for (int i = first_task(); i < n; i += n_threads()) {
        const double *point = points + i * DIMENSIONS;
        double least = 1e300;
#pragma unroll 1
        for (int c = 0; c < n_centres; c++) {
            const double *centre = centres + c * DIMENSIONS;
            double distance = 0;
#pragma unroll 1
            for (long long d = 0; d < DIMENSIONS; d++)
                distance += (point[d] - centre[d]) * (point[d] - centre[d]);
            if (distance < least) {
                least = distance;
                membership[i] = c;
            }
        }
        double *sum = own + membership[i] * (DIMENSIONS + 1);
#pragma unroll 1
        for (long long d = 0; d < DIMENSIONS; d++)
            sum[d] += point[d];
        sum[DIMENSIONS] += 1;
        end_task(rejoins);
    }
}

// One coordinate of one centre per thread: the mean of its cluster, rounded to a multiple of 1 / 16; an empty one keeps
// its centre.
extern "C" __global__ void update(double *sums, double *centres, int n_centres, int n_copies, int rejoins) {
#pragma unroll 1
    for (int k = first_task(); k < n_centres * DIMENSIONS; k += n_threads()) {
        int c = k / DIMENSIONS, d = k % DIMENSIONS;
        double sum = 0, count = 0;
#pragma unroll 1
        for (int copy = 0; copy < n_copies; copy++) {
            const double *own = sums + (copy * n_centres + c) * (DIMENSIONS + 1);
            sum += own[d];
            count += own[DIMENSIONS];
        }
        if (count > 0)
            centres[k] = floor(sum * 16 / count + 0.5) / 16;
        end_task(rejoins);
    }
}
