// One iteration of k-means clustering (Lloyd's algorithm). `assign` assigns each point to the nearest centre, one
// thread per point; a point that changes its cluster is subtracted from the sums of the old one and added to those of
// the new one, so the sums need no second pass over all points. `update` computes centres from the sums. All numbers
// are integers, which keeps the sums independent of the order of their atomics; centres have FRACTION_BITS bits after
// the binary point.
#include <heddle/device.h>

enum { FRACTION_BITS = 4 };

// Takes the centre if it is nearer, in instructions under a predicate: what compilers make of so short an `if` (guarded
// instructions of a GPU, cmov on x86). clang makes selects of it, which all threads execute.
static __device__ __forceinline__ void take_if_nearer(int &best_distance, int &best, int distance, int c) {
    asm("{\n\t.reg .pred is_nearer;\n\tsetp.lt.s32 is_nearer, %2, %0;\n\t@is_nearer mov.u32 %0, %2;\n\t"
        "@is_nearer mov.u32 %1, %3;\n\t}"
        : "+r"(best_distance), "+r"(best)
        : "r"(distance), "r"(c));
}

// Returns the nearest centre; of equal ones the first. Coordinate d of all points lies at points[d * n], so that
// neighbouring threads read neighbouring addresses.
template <typename coordinate, int dimensions, bool is_predicated>
static __device__ __forceinline__ int nearest(const coordinate *points, const int *centres, int n_centres, int n,
                                              int i) {
    int x[dimensions], best = 0, best_distance = 0x7fffffff;
#pragma unroll
    for (int d = 0; d < dimensions; d++)
        x[d] = points[d * n + i] << FRACTION_BITS;
#pragma unroll 1
    for (int c = 0; c < n_centres; c++) {
        int distance = 0;
#pragma unroll
        for (int d = 0; d < dimensions; d++) {
            int difference = x[d] - centres[c * dimensions + d];
            distance += difference * difference;
        }
        if (is_predicated) {
            take_if_nearer(best_distance, best, distance, c);
        } else if (distance < best_distance) {
            best_distance = distance;
            best = c;
        }
    }
    return best;
}

// The same with the coordinates of a point next to each other. Each distance reads them again, as in a program that
// leaves them to the cache.
template <int dimensions>
static __device__ __forceinline__ int nearest_row(const int *points, const int *centres, int n_centres, int i) {
    const int *point = points + i * dimensions;
    int best = 0, best_distance = 0x7fffffff;
#pragma unroll 1
    for (int c = 0; c < n_centres; c++) {
        int distance = 0;
#pragma unroll 1
        for (int d = 0; d < dimensions; d++) {
            int difference = (point[d] << FRACTION_BITS) - centres[c * dimensions + d];
            distance += difference * difference;
        }
        if (distance < best_distance) {
            best_distance = distance;
            best = c;
        }
    }
    return best;
}

// Moves point i between clusters; the first time it has none. sums: the coordinates' sums of each centre, then the
// numbers of points.
template <typename coordinate, int dimensions>
static __device__ __forceinline__ void move_point(const coordinate *points, int *sums, int n_centres, int n, int i,
                                                  int from, int to) {
#pragma unroll 1
    for (int d = 0; d < dimensions; d++) {
        int x = points[d * n + i];
        if (from >= 0)
            atomicSub(&sums[from * dimensions + d], x);
        atomicAdd(&sums[to * dimensions + d], x);
    }
    if (from >= 0)
        atomicSub(&sums[n_centres * dimensions + from], 1);
    atomicAdd(&sums[n_centres * dimensions + to], 1);
}

template <typename coordinate, int dimensions, bool is_predicated = false>
static __device__ __forceinline__ void assign(const coordinate *points, const int *centres, int *membership, int *sums,
                                              int *moved, int n_centres, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int from = membership[i], to = nearest<coordinate, dimensions, is_predicated>(points, centres, n_centres, n, i);
        if (from != to) {
            membership[i] = to;
            move_point<coordinate, dimensions>(points, sums, n_centres, n, i, from, to);
            *moved = 1; // all threads write the same value
        }
    }
}

// The same with the centres and the changes of the sums in shared memory, where atomics are cheap.
// Dynamic shared memory: a word for each coordinate of the centres, and as many and n_centres more for the sums.
template <typename coordinate, int dimensions, bool is_predicated = false>
static __device__ __forceinline__ void assign_shared(const coordinate *points, const int *centres, int *membership,
                                                     int *sums, int *moved, int n_centres, int n) {
    extern __shared__ int shared[];
    int n_coordinates = n_centres * dimensions, n_sums = n_coordinates + n_centres, *own_sums = shared + n_coordinates;
#pragma unroll 1
    for (int k = threadIdx.x; k < n_coordinates; k += blockDim.x)
        shared[k] = centres[k];
#pragma unroll 1
    for (int k = threadIdx.x; k < n_sums; k += blockDim.x)
        own_sums[k] = 0;
    __syncthreads();
    assign<coordinate, dimensions, is_predicated>(points, shared, membership, own_sums, moved, n_centres, n);
    __syncthreads();
#pragma unroll 1
    for (int k = threadIdx.x; k < n_sums; k += blockDim.x)
        if (own_sums[k])
            atomicAdd(&sums[k], own_sums[k]);
}

extern "C" __global__ void assign_1(const unsigned char *points, const int *centres, int *membership, int *sums,
                                    int *moved, int n_centres, int n) {
    assign<unsigned char, 1>(points, centres, membership, sums, moved, n_centres, n);
}

extern "C" __global__ void assign_20(const int *points, const int *centres, int *membership, int *sums, int *moved,
                                     int n_centres, int n) {
    assign<int, 20>(points, centres, membership, sums, moved, n_centres, n);
}

extern "C" __global__ void assign_shared_1(const unsigned char *points, const int *centres, int *membership, int *sums,
                                           int *moved, int n_centres, int n) {
    assign_shared<unsigned char, 1>(points, centres, membership, sums, moved, n_centres, n);
}

extern "C" __global__ void assign_shared_20(const int *points, const int *centres, int *membership, int *sums,
                                            int *moved, int n_centres, int n) {
    assign_shared<int, 20>(points, centres, membership, sums, moved, n_centres, n);
}

extern "C" __global__ void assign_predicated_1(const unsigned char *points, const int *centres, int *membership,
                                               int *sums, int *moved, int n_centres, int n) {
    assign_shared<unsigned char, 1, true>(points, centres, membership, sums, moved, n_centres, n);
}

extern "C" __global__ void assign_rows_20(const int *points, const int *centres, int *membership, int *sums, int *moved,
                                          int n_centres, int n) {
    enum { DIMENSIONS = 20 };
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int from = membership[i], to = nearest_row<DIMENSIONS>(points, centres, n_centres, i);
        if (from != to) {
            membership[i] = to;
            move_point<int, DIMENSIONS>(points + i * (DIMENSIONS - 1), sums, n_centres, 1, i, from, to);
            *moved = 1; // all threads write the same value
        }
    }
}

// The mean of a cluster, rounded; an empty one keeps its centre.
extern "C" __global__ void update(const int *sums, int *centres, int n_centres, int dimensions) {
#pragma unroll 1
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n_centres * dimensions; k += gridDim.x * blockDim.x) {
        int n_points = sums[n_centres * dimensions + k / dimensions];
        if (n_points)
            centres[k] = ((sums[k] << FRACTION_BITS) + n_points / 2) / n_points;
    }
}
