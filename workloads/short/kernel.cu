// One step of a search for the cheapest path through rows of choices, one choice per thread: a choice is reached from
// those of the row before that lie within its reach, and takes the cheapest of them. The reach differs from choice to
// choice.
#include <heddle/device.h>

extern "C" __global__ void extend_paths(const int *previous, const int *cost, const int *reach, int *best, int *from,
                                        int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int first = max(i - reach[i], 0), last = min(i + reach[i], n - 1);
        int least = previous[first], origin = first;
#pragma unroll 1
        for (int k = first + 1; k <= last; k++)
            if (previous[k] < least) {
                least = previous[k];
                origin = k;
            }
        best[i] = least + cost[i];
        from[i] = origin;
    }
}
