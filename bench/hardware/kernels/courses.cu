/* Kernels of the kind that courses and samples have: finance, roots, sorting, waves, matrices, graphs, learning. */
#include "kernels.cuh"
#include <cuda_fp16.h>

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

/* A thread halves the interval around an eigenvalue of a matrix of 128 with three diagonals, n times. */
KERNEL eigenvalues(const float *a, float *b, int *c, int n) {
    __shared__ float diagonal[128], square[128];
    int t = threadIdx.x;
    float beside = a[blockIdx.x * 256 + 128 + t];
    diagonal[t] = 4.0f * a[blockIdx.x * 256 + t], square[t] = beside * beside;
    __syncthreads();
    float low = -3.0f, high = 7.0f;
    for (int round = 0; round < n; round++) {
        float middle = 0.5f * (low + high), value = 1.0f;
        int below = 0;
        for (int i = 0; i < 128; i++) {
            value = diagonal[i] - middle - (i ? square[i - 1] / value : 0.0f);
            if (fabsf(value) < 1e-20f)
                value = -1e-20f;
            below += value < 0;
        }
        if (below > t)
            high = middle;
        else
            low = middle;
    }
    b[blockIdx.x * 128 + t] = 0.5f * (low + high);
}

/* Numbers that fill n places evenly, in as many dimensions as there are rows of blocks. */
KERNEL evenly(const float *a, float *b, int *c, int n) {
    __shared__ unsigned direction[32];
    if (threadIdx.x < 32)
        direction[threadIdx.x] = 1u << (31 - threadIdx.x) | (unsigned)c[blockIdx.y * 32 + threadIdx.x]
                                                                << (32 - threadIdx.x) % 32;
    __syncthreads();
    int i = THREAD, stride = gridDim.x * blockDim.x, low = __ffs(stride) - 1;
    unsigned gray = i ^ i >> 1, x = 0;
    for (int k = 0; k < low; k++) {
        if (gray & 1)
            x ^= direction[k];
        gray >>= 1;
    }
    float *row = b + blockIdx.y * n;
    row[i] = (float)x * 2.3283064e-10f;
    unsigned first = direction[low - 1];
    for (i += stride; i < n; i += stride) {
        x ^= first ^ direction[__ffs(~((i - stride) | (stride - 1))) - 1];
        row[i] = (float)x * 2.3283064e-10f;
    }
}

/* A thread sorts n numbers of its own, at most 32, by parting them around a middle one again and again. */
KERNEL own_sort(const float *a, float *b, int *c, int n) {
    int value[32], first[8], last[8], depth = 1;
    for (int i = 0; i < n; i++)
        value[i] = c[THREAD * n + i];
    first[0] = 0, last[0] = n - 1;
    while (depth) {
        int low = first[--depth], high = last[depth];
        while (low < high) {
            int pivot = value[(low + high) / 2], i = low - 1, j = high + 1;
            for (;;) {
                do
                    i++;
                while (value[i] < pivot);
                do
                    j--;
                while (value[j] > pivot);
                if (i >= j)
                    break;
                int swap = value[i];
                value[i] = value[j], value[j] = swap;
            }
            /* The smaller side first: the stack of larger ones stays short. */
            if (j - low < high - j - 1)
                first[depth] = j + 1, last[depth++] = high, high = j;
            else
                first[depth] = low, last[depth++] = j, low = j + 1;
        }
    }
    for (int i = 0; i < n; i++)
        ((int *)b)[THREAD * n + i] = value[i];
}

/* A block finds the price of an option on a tree of n steps, from its leaves to its root. */
KERNEL option_tree(const float *a, float *b, int *c, int n) {
    __shared__ float value[257];
    int t = threadIdx.x;
    float price = 5.0f + 25.0f * a[3 * blockIdx.x], strike = 1.0f + 99.0f * a[3 * blockIdx.x + 1];
    float years = 0.25f + 9.75f * a[3 * blockIdx.x + 2], step = years / n, up = 0.3f * sqrtf(step);
    float growth = expf(0.02f * step), u = expf(up), d = expf(-up), p = (growth - d) / (u - d);
    float p_up = p / growth, p_down = (1.0f - p) / growth;
    for (int i = t; i <= n; i += blockDim.x)
        value[i] = fmaxf(price * expf(up * (2.0f * i - n)) - strike, 0.0f);
    for (int left = n; left > 0; left--) {
        float low[2], high[2];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 2; k++)
            if (t + k * 128 < left)
                low[k] = value[t + k * 128], high[k] = value[t + k * 128 + 1];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 2; k++)
            if (t + k * 128 < left)
                value[t + k * 128] = p_up * high[k] + p_down * low[k];
    }
    __syncthreads();
    if (t == 0)
        b[blockIdx.x] = value[0];
}

struct interval {
    float low, high;
};

static __device__ interval sum_of(interval x, interval y) {
    return {__fadd_rd(x.low, y.low), __fadd_ru(x.high, y.high)};
}

static __device__ interval product_of(interval x, interval y) {
    float low = fminf(fminf(__fmul_rd(x.low, y.low), __fmul_rd(x.low, y.high)),
                      fminf(__fmul_rd(x.high, y.low), __fmul_rd(x.high, y.high)));
    float high = fmaxf(fmaxf(__fmul_ru(x.low, y.low), __fmul_ru(x.low, y.high)),
                       fmaxf(__fmul_ru(x.high, y.low), __fmul_ru(x.high, y.high)));
    return {low, high};
}

static __device__ interval cubic(interval x, float p, float q) {
    interval square = product_of(x, x), third = product_of(square, x);
    return sum_of(sum_of(third, product_of({-p, -p}, x)), {q, q});
}

/* All roots of a cubic by halving intervals that may have one; what is still to be done is on a stack. */
KERNEL intervals(const float *a, float *b, int *c, int n) {
    interval stack[24];
    int depth = 1, found = 0;
    float p = 1.0f + 3.0f * a[THREAD], q = a[THREAD + 10000] - 0.5f, sum = 0;
    stack[0] = {-4.0f, 4.0f};
    for (int rounds = 0; depth && rounds < n; rounds++) {
        interval x = stack[--depth], y = cubic(x, p, q);
        if (y.low > 0 || y.high < 0)
            continue;
        float width = __fsub_ru(x.high, x.low), middle = __fdiv_rn(__fadd_rn(x.low, x.high), 2.0f);
        if (width < 0.001f) {
            found++;
            sum = __fadd_ru(sum, __fdiv_ru(width, fmaxf(__fsqrt_rd(middle * middle), 0.125f)));
        } else {
            stack[depth++] = {middle, x.high};
            stack[depth++] = {x.low, middle};
        }
    }
    b[2 * THREAD] = sum, b[2 * THREAD + 1] = found;
}

/* A filter that goes down and up the n rows of a picture; a thread has a column. */
KERNEL down_and_up(const float *a, float *b, int *c, int n) {
    int width = gridDim.x * blockDim.x;
    const float *in = a + THREAD;
    float *out = b + THREAD;
    float x1 = in[0], y1 = x1 * 0.5f, y2 = y1;
    for (int i = 0; i < n; i++) {
        float x = in[i * width], y = 0.25f * x + 0.1f * x1 + 0.9f * y1 - 0.2f * y2;
        out[i * width] = y;
        x1 = x, y2 = y1, y1 = y;
    }
    float x2 = x1;
    y1 = y2 = 0.5f * x1;
    for (int i = n - 1; i >= 0; i--) {
        float y = 0.15f * x1 + 0.05f * x2 + 0.9f * y1 - 0.2f * y2;
        x2 = x1, x1 = in[i * width], y2 = y1, y1 = y;
        out[i * width] += y;
    }
}

/* Two matrices of n x n times a vector, added; a thread has a row of each. */
KERNEL two_products(const float *a, float *b, int *c, int n) {
    int row = THREAD;
    const float *x = a + 3 * (1 << 20), *other = a + (1 << 20);
    float first = 0, second = 0;
    for (int k = 0; k < n; k++) {
        first += a[row * n + k] * x[k];
        second += other[row * n + k] * x[k];
    }
    b[row] = 1.5f * first + 1.2f * second;
}

/* Electric and magnetic fields in n x n places; launches step one of three after the other. */
KERNEL fields(const float *a, float *b, int *c, int n, const int *d, int step) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * n + x;
    float *ex = b, *ey = b + n * n, *hz = b + 2 * n * n;
    if (step % 3 == 0)
        ey[i] = y ? ey[i] - 0.5f * (hz[i] - hz[i - n]) + 0.1f * a[i] : (float)step;
    else if (step % 3 == 1) {
        if (x)
            ex[i] = ex[i] - 0.5f * (hz[i] - hz[i - 1]) + 0.1f * a[n * n + i];
    } else if (x < n - 1 && y < n - 1)
        hz[i] = hz[i] - 0.7f * (ex[i + 1] - ex[i] + ey[i + n] - ey[i]);
}

/* How much columns of n numbers go together: a thread has a column, and all that come after it. */
KERNEL correlate(const float *a, float *b, int *c, int n) {
    int columns = gridDim.x * blockDim.x, j = THREAD;
    b[j * columns + j] = 1.0f;
    for (int k = j + 1; k < columns; k++) {
        float sum = 0;
        for (int i = 0; i < n; i++)
            sum += a[i * columns + j] * a[i * columns + k];
        b[j * columns + k] = sum, b[k * columns + j] = sum;
    }
}

/* A block makes n columns of 256 numbers, at most 40, stand at right angles. */
KERNEL right_angles(const float *a, float *b, int *c, int n) {
    __shared__ float column[40][256];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    for (int j = 0; j < n; j++)
        column[j][t] = a[(blockIdx.x * n + j) * 256 + t] - 0.5f;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (warp == 0) {
            float norm = 0;
            for (int i = lane; i < 256; i += 32)
                norm += column[k][i] * column[k][i];
            for (int d = 16; d; d /= 2)
                norm += __shfl_xor_sync(~0u, norm, d);
            float length = sqrtf(norm);
            for (int i = lane; i < 256; i += 32)
                column[k][i] /= length;
        }
        __syncthreads();
        for (int j = k + 1 + warp; j < n; j += 8) {
            float dot = 0;
            for (int i = lane; i < 256; i += 32)
                dot += column[k][i] * column[j][i];
            for (int d = 16; d; d /= 2)
                dot += __shfl_xor_sync(~0u, dot, d);
            for (int i = lane; i < 256; i += 32)
                column[j][i] -= dot * column[k][i];
        }
        __syncthreads();
    }
    for (int j = 0; j < n; j++)
        b[(blockIdx.x * n + j) * 256 + t] = column[j][t];
}

/* Chooses nodes of the graph without chosen neighbours: those whose number is the largest around, step by step. */
KERNEL independent(const float *a, float *b, int *c, int n, const int *d, int step) {
    enum { OPEN, CHOSEN, OUT };
    const int *before = (const int *)b + step % 2 * NODES;
    int *after = (int *)b + (step + 1) % 2 * NODES, node = THREAD, state = before[node];
    if (state == OPEN) {
        bool is_largest = true, is_out = false;
        for (int e = d[node]; e < d[node + 1] && !is_out; e++) {
            int other = d[GRAPH_EDGES + e], its_state = before[other];
            if (its_state == CHOSEN)
                is_out = true;
            else if (its_state == OPEN && other != node && c[other] > c[node])
                is_largest = false;
        }
        state = is_out ? OUT : is_largest ? CHOSEN : OPEN;
    }
    after[node] = state;
}

/* The distance of n members of a list from its end: each launch jumps twice as far. */
KERNEL jump(const float *a, float *b, int *c, int n, const int *d, int step) {
    const int *next = (const int *)b + step % 2 * 2 * n, *rank = next + n;
    int *next_after = (int *)b + (step + 1) % 2 * 2 * n, *rank_after = next_after + n, i = THREAD;
    if (step == 0) {
        next_after[i] = i ? (int)(i * 1664525u + 1013904223u) & (n - 1) : 0;
        rank_after[i] = i ? 1 : 0;
        return;
    }
    int to = next[i];
    rank_after[i] = rank[i] + rank[to];
    next_after[i] = next[to];
}

/* A filter of 3 x 3 on each channel alone, channels of n x n, then cut to 0 to 6. */
KERNEL each_channel(const float *a, float *b, int *c, int n) {
    const float *in = a + blockIdx.y * n * n, *filter = a + 3 * (1 << 20) + blockIdx.y * 9;
    int i = THREAD, x = i % n, y = i / n;
    if (i >= n * n)
        return;
    float sum = a[3 * (1 << 20) + 10000 + blockIdx.y];
#pragma unroll
    for (int v = -1; v <= 1; v++)
#pragma unroll
        for (int u = -1; u <= 1; u++)
            if (x + u >= 0 && x + u < n && y + v >= 0 && y + v < n)
                sum += in[i + v * n + u] * filter[(v + 1) * 3 + u + 1];
    b[blockIdx.y * n * n + i] = fminf(fmaxf(sum, 0.0f), 6.0f);
}

/* A step of learning for n weights with the means of their gradients and of the squares. */
KERNEL learn(const float *a, float *b, int *c, int n, const int *d, int step) {
    float *weight = b, *mean = b + n, *square = b + 2 * n;
    float correct_mean = 1.0f - powf(0.9f, step + 1.0f), correct_square = 1.0f - powf(0.999f, step + 1.0f);
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) {
        float gradient = a[step * n + i] - 0.5f + 0.01f * weight[i];
        float m = 0.9f * mean[i] + 0.1f * gradient, s = 0.999f * square[i] + 0.001f * gradient * gradient;
        mean[i] = m, square[i] = s;
        weight[i] -= 0.001f * (m / correct_mean) / (sqrtf(s / correct_square) + 1e-8f);
    }
}

/* Rows of n halves are divided by the root of their mean square; a warp has a row. */
KERNEL root_mean(const float *a, float *b, int *c, int n) {
    int row = THREAD / 32, lane = threadIdx.x % 32;
    const unsigned *in = (const unsigned *)c + row * n / 2;
    float sum = 0;
    for (int i = lane; i < n / 2; i += 32) {
        unsigned bits = in[i] & 0xbfffbfffu;
        float2 x = __half22float2(*(half2 *)&bits);
        sum += x.x * x.x + x.y * x.y;
    }
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    float scale = rsqrtf(sum / n + 1e-5f);
    for (int i = lane; i < n / 2; i += 32) {
        unsigned bits = in[i] & 0xbfffbfffu;
        float2 x = __half22float2(*(half2 *)&bits);
        ((half2 *)b)[row * n / 2 + i] = __floats2half2_rn(x.x * scale * a[2 * i], x.y * scale * a[2 * i + 1]);
    }
}

/* Products of matrices of bytes, n words of four in a row; tiles of 32 x 32 results, four a thread. */
KERNEL product_bytes(const float *a, float *b, int *c, int n) {
    __shared__ int x[32][17], y[32][17];
    const int *left = c + blockIdx.y * 32 * n, *right = c + (1 << 20) + blockIdx.x * 32 * n;
    int t = threadIdx.x, column = t % 16, row = t / 16, sum[2][2] = {{0, 0}, {0, 0}};
    for (int k = 0; k < n; k += 16) {
        for (int i = t; i < 512; i += 256) {
            x[i / 16][i % 16] = left[i / 16 * n + k + i % 16];
            y[i / 16][i % 16] = right[i / 16 * n + k + i % 16];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++)
#pragma unroll
            for (int r = 0; r < 2; r++)
#pragma unroll
                for (int s = 0; s < 2; s++)
                    sum[r][s] = __dp4a(x[row + 16 * r][i], y[column + 16 * s][i], sum[r][s]);
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            ((int *)b)[(blockIdx.y * 32 + row + 16 * r) * gridDim.x * 32 + blockIdx.x * 32 + column + 16 * s] =
                sum[r][s];
}
