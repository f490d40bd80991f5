// Aggregates: SELECT [g,] COUNT(v), SUM(v), MIN(v), MAX(v), AVG(v) FROM t WHERE w < x [GROUP BY g], by columns.
//
// aggregate_all: each thread keeps the aggregates of its rows in registers, the block reduces them in shared memory,
// and its first thread adds them to the result. aggregate_groups: a block keeps the aggregates of all groups in shared
// memory, where its threads add row by row, and adds them to the result at the end. aggregate_average computes the
// averages.
#include "heddle/device.h"

enum { THREADS = 256, LEAST = -2147483647 - 1, MOST = 2147483647 };

struct table {
    const int *values;
    const unsigned *groups, *conditions;
    unsigned limit, n_rows; // rows whose condition is below the limit count
};

// One element for each group.
struct aggregates {
    unsigned long long *sum; // of signed values
    unsigned *count;
    int *least, *most;
};

__device__ __forceinline__ void add(const aggregates &to, unsigned group, unsigned count, long long sum, int least,
                                    int most) {
    atomicAdd(&to.count[group], count);
    atomicAdd(&to.sum[group], (unsigned long long)sum);
    atomicMin(&to.least[group], least);
    atomicMax(&to.most[group], most);
}

extern "C" __global__ void aggregate_all(table t, aggregates out) {
    __shared__ long long sums[THREADS];
    __shared__ unsigned counts[THREADS];
    __shared__ int leasts[THREADS], mosts[THREADS];
    unsigned thread = threadIdx.x, count = 0;
    long long sum = 0;
    int least = MOST, most = LEAST;
#pragma unroll 1
    for (unsigned row = blockIdx.x * blockDim.x + thread; row < t.n_rows; row += gridDim.x * blockDim.x)
        if (t.conditions[row] < t.limit) {
            int value = t.values[row];
            count++;
            sum += value;
            least = min(least, value);
            most = max(most, value);
        }
    sums[thread] = sum;
    counts[thread] = count;
    leasts[thread] = least;
    mosts[thread] = most;
    __syncthreads();
#pragma unroll 1
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half) {
            sums[thread] += sums[thread + half];
            counts[thread] += counts[thread + half];
            leasts[thread] = min(leasts[thread], leasts[thread + half]);
            mosts[thread] = max(mosts[thread], mosts[thread + half]);
        }
        __syncthreads();
    }
    if (thread == 0)
        add(out, 0, counts[0], sums[0], leasts[0], mosts[0]);
}

extern "C" __global__ void aggregate_groups(table t, aggregates out, unsigned n_groups) {
    extern __shared__ unsigned long long memory[];
    aggregates own;
    own.sum = memory;
    own.count = (unsigned *)(own.sum + n_groups);
    own.least = (int *)(own.count + n_groups);
    own.most = own.least + n_groups;
#pragma unroll 1
    for (unsigned g = threadIdx.x; g < n_groups; g += blockDim.x) {
        own.sum[g] = 0;
        own.count[g] = 0;
        own.least[g] = MOST;
        own.most[g] = LEAST;
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned row = blockIdx.x * blockDim.x + threadIdx.x; row < t.n_rows; row += gridDim.x * blockDim.x)
        if (t.conditions[row] < t.limit) {
            int value = t.values[row];
            add(own, t.groups[row], 1, value, value, value);
        }
    __syncthreads();
#pragma unroll 1
    for (unsigned g = threadIdx.x; g < n_groups; g += blockDim.x)
        if (own.count[g])
            add(out, g, own.count[g], (long long)own.sum[g], own.least[g], own.most[g]);
}

extern "C" __global__ void aggregate_average(aggregates in, double *average, unsigned n_groups) {
#pragma unroll 1
    for (unsigned g = blockIdx.x * blockDim.x + threadIdx.x; g < n_groups; g += gridDim.x * blockDim.x)
        average[g] = in.count[g] ? (double)(long long)in.sum[g] / in.count[g] : 0;
}
