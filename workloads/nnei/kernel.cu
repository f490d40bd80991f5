// The records nearest to a place on a map in degrees. `nnei_distances` computes every record's distance; each launch of
// `nnei_nearest` then finds the nearest record that is farther than the one found before.
#include <heddle/device.h>

// In degrees. Neighbouring threads read neighbouring records.
struct place {
    float latitude, longitude;
};

static __device__ __forceinline__ float distance(place a, place b) {
    float north = a.latitude - b.latitude, east = a.longitude - b.longitude;
    return sqrtf(north * north + east * east);
}

// A key orders records by distance and then by number: distances are not negative, so their bits have the same order.
extern "C" __global__ void nnei_distances(const place *records, place target, unsigned long long *keys, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        keys[i] = (unsigned long long)__float_as_uint(distance(records[i], target)) << 32 | (unsigned)i;
}

// *nearest becomes the smallest key above `after`. It starts as the largest number; most threads see that they cannot
// lower it and skip the atomic operation.
extern "C" __global__ void nnei_nearest(const unsigned long long *keys, unsigned long long after,
                                        unsigned long long *nearest, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned long long key = keys[i];
        if (key > after && key < *nearest)
            atomicMin(nearest, key);
    }
}
