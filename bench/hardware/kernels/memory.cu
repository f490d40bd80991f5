/* Kernels that mostly move data: stencils, copies in several patterns, gathers, lists, sums over rows and columns. */
#include "kernels.cuh"

/* n x n x n points. */
KERNEL jacobi(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y % n, z = blockIdx.y / n;
    if (x < 1 || x >= n - 1 || y < 1 || y >= n - 1 || z < 1 || z >= n - 1)
        return;
    size_t i = ((size_t)z * n + y) * n + x;
    b[i] = 0.4f * a[i] + 0.1f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - n * n] + a[i + n * n]);
}

/* n x n pixels, weights of a 5 x 5 neighbourhood computed from their place. */
KERNEL blur(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int u = min(max(x + dx, 0), n - 1), v = min(max(y + dy, 0), n - 1);
            sum += a[v * n + u] * (1.0f / (1 + dx * dx + dy * dy));
        }
    b[y * n + x] = sum;
}

KERNEL transpose_naive(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    b[(size_t)x * n + y] = a[(size_t)y * n + x];
}

/* Every 33rd word: 32 lines for a warp, each of which is read again later by others. */
KERNEL copy_far(const float *a, float *b, int *c, int n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[(i * 33u) & (unsigned)(n - 1)];
}

KERNEL copy_vectors(const float *a, float *b, int *c, int n) {
    const float4 *from = (const float4 *)a;
    float4 *to = (float4 *)b;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x)
        to[i] = from[i];
}

KERNEL saxpy(const float *a, float *b, int *c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        b[i] = 2.5f * a[i] + b[i];
}

KERNEL gather_random(const float *a, float *b, int *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[c[i] & (n - 1)] + a[c[i] >> 3 & (n - 1)];
}

/* A thread follows a list that c holds. */
KERNEL walk(const float *a, float *b, int *c, int n) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * 977 & ((1 << 20) - 1);
    for (int i = 0; i < n; i++)
        at = c[at] & ((1 << 20) - 1);
    b[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

/* A warp sums up a row of n words and multiplies by a vector. */
KERNEL rows_times_vector(const float *a, float *b, int *c, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = lane; i < n; i += 32)
        sum += a[(size_t)row * n + i] * a[i];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        b[row] = sum;
}

/* A thread sums up a column of n words: the rows are as long as there are threads. */
KERNEL sum_columns(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, width = gridDim.x * blockDim.x;
    float sum = 0;
    for (int y = 0; y < n; y++)
        sum += a[(size_t)y * width + x];
    b[x] = sum;
}

/* Rows of different length: row i has (c[i] & 63) + 1 words at random places. */
KERNEL sparse_rows(const float *a, float *b, int *c, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, count = (c[row] & 63) + 1;
    float sum = 0;
    for (int k = 0; k < count; k++)
        sum += a[c[row + k * 64] & (n - 1)];
    b[row] = sum;
}
