// One step of a search for the cheapest path through rows of choices, a stretch of neighbouring choices per thread. A
// choice can follow the choices of the row before at most two to its left or right, at a cost for each distance. One
// marked as a capture, by a negative first cost, can also follow those three to its left or right, at the first cost.
#include "../common/tasks.cuh"

enum { DISTANCES = 3, MARGIN = 3 };

struct path {
    long long cost;
    int origin; // relative to the choice
};

static __device__ __forceinline__ path cheaper(path a, long long cost, int origin) {
    return cost < a.cost ? path{cost, origin} : a;
}

// A row has MARGIN entries more on each side, which no path comes through; previous[0] and best[0] are the first
// choice's. `origins` remembers where each path came from.
extern "C" __global__ void extend_paths(const long long *previous, const long long *costs, long long *best,
                                        long long *origins, int n, int stretch, int rejoins) {
#pragma unroll 1
    for (int first = first_task() * stretch; first < n; first += n_threads() * stretch) {
        int end = min(first + stretch, n);
#pragma unroll 1
        for (int i = first; i < end; i++) {
            const long long *cost = costs + (long long)i * DISTANCES, *from = previous + i;
            long long toll = cost[0];
            path least = {from[0] + (toll < 0 ? -toll : toll), 0};
#pragma unroll
            for (int distance = 1; distance < DISTANCES; distance++) {
                least = cheaper(least, from[-distance] + cost[distance], -distance);
                least = cheaper(least, from[distance] + cost[distance], distance);
            }
            if (toll < 0) {
                least = cheaper(least, from[-3] - toll, -3);
                least = cheaper(least, from[3] - toll, 3);
            }
            best[i] = least.cost;
            origins[i] = i + least.origin;
        }
        end_task(rejoins);
    }
}
