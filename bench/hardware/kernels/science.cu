/* Kernels of numerical programs: stencils, lattices, linear systems, differential equations, random numbers. */
#include "kernels.cuh"
#include <cuda_fp16.h>

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

/* One step of heat in double precision on n x n points. */
KERNEL heat_double(const float *a, float *b, int *c, int n) {
    const double *from = (const double *)a;
    double *to = (double *)b;
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * n + x;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1) {
        to[i] = from[i];
        return;
    }
    double laplace = from[i - 1] + from[i + 1] + from[i - n] + from[i + n] - 4.0 * from[i];
    to[i] = from[i] + 0.23 * laplace;
}

/* Heat in three dimensions: a block marches along z with its plane and a border in shared memory. */
KERNEL heat_planes(const float *a, float *b, int *c, int n) {
    __shared__ float plane[18][18];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * 16 + threadIdx.x + 1, y = blockIdx.y * 16 + threadIdx.y + 1, stride = n * n;
    int i = y * n + x;
    bool is_inside = x < n - 1 && y < n - 1;
    float below = is_inside ? a[i] : 0, here = is_inside ? a[i + stride] : 0;
    for (int z = 1; z < n - 1; z++) {
        i += stride;
        float above = is_inside ? a[i + stride] : 0;
        plane[ty][tx] = here;
        if (is_inside && threadIdx.x == 0)
            plane[ty][0] = a[i - 1];
        if (is_inside && (threadIdx.x == 15 || x == n - 2))
            plane[ty][tx + 1] = a[i + 1];
        if (is_inside && threadIdx.y == 0)
            plane[0][tx] = a[i - n];
        if (is_inside && (threadIdx.y == 15 || y == n - 2))
            plane[ty + 1][tx] = a[i + n];
        __syncthreads();
        if (is_inside)
            b[i] = here + 0.1f * (below + above + plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] +
                                  plane[ty + 1][tx] - 6.0f * here);
        __syncthreads();
        below = here, here = above;
    }
}

/* Flow on a lattice of n x n with nine directions: streams in, relaxes, writes. */
KERNEL lattice_flow(const float *a, float *b, int *c, int n) {
    const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float weight[9] = {4 / 9.0f,  1 / 9.0f,  1 / 9.0f,  1 / 9.0f, 1 / 9.0f,
                             1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, size = n * n;
    float f[9], density = 0, u = 0, v = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int from_x = (x - dx[k] + n) % n, from_y = (y - dy[k] + n) % n;
        f[k] = a[k * size + from_y * n + from_x];
        density += f[k], u += f[k] * dx[k], v += f[k] * dy[k];
    }
    u /= density, v /= density;
    float energy = 1.5f * (u * u + v * v);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float along = 3.0f * (dx[k] * u + dy[k] * v);
        float rest = weight[k] * density * (1.0f + along + 0.5f * along * along - energy);
        b[k * size + y * n + x] = f[k] + 0.8f * (rest - f[k]);
    }
}

/* Carries a field along a velocity: four neighbours at a place that the data gives. */
KERNEL advect(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float px = x - 8.0f * (a[n * n + y * n + x] - 0.5f), py = y - 8.0f * (a[2 * n * n + y * n + x] - 0.5f);
    px = fminf(fmaxf(px, 0.0f), n - 1.001f), py = fminf(fmaxf(py, 0.0f), n - 1.001f);
    int x0 = (int)floorf(px), y0 = (int)floorf(py);
    float s = px - x0, t = py - y0;
    const float *p = a + y0 * n + x0;
    b[y * n + x] = (1 - t) * ((1 - s) * p[0] + s * p[1]) + t * ((1 - s) * p[n] + s * p[n + 1]);
}

/* Decomposes a symmetric matrix of 32 x 32 in each block, column by column. */
KERNEL cholesky_small(const float *a, float *b, int *c, int n) {
    __shared__ float m[32][33];
    int row = threadIdx.x % 32, part = threadIdx.x / 32;
    for (int j = part; j < 32; j += 4)
        m[row][j] = a[blockIdx.x * 1024 + max(row, j) * 32 + min(row, j)] + (row == j ? 32.0f : 0.0f);
    __syncthreads();
    for (int k = 0; k < 32; k++) {
        if (part == 0) {
            float pivot = sqrtf(m[k][k]);
            __syncwarp();
            if (row >= k)
                m[row][k] = row == k ? pivot : m[row][k] / pivot;
        }
        __syncthreads();
        for (int j = k + 1 + part; j < 32; j += 4)
            if (row >= j)
                m[row][j] -= m[row][k] * m[j][k];
        __syncthreads();
    }
    for (int j = part; j < 32; j += 4)
        b[blockIdx.x * 1024 + row * 32 + j] = row >= j ? m[row][j] : 0.0f;
}

/* Solves a system of 64 equations in each block; rows change places for the largest pivot. */
KERNEL eliminate(const float *a, float *b, int *c, int n) {
    __shared__ float m[64][66], largest[64];
    __shared__ int where[64];
    int t = threadIdx.x;
    for (int j = 0; j < 64; j++)
        m[j][t] = a[blockIdx.x * 4096 + j * 64 + t] - 0.5f;
    m[t][64] = a[(blockIdx.x * 64 + t) & 0xfffff];
    for (int k = 0; k < 64; k++) {
        __syncthreads();
        largest[t] = t >= k ? fabsf(m[t][k]) : -1.0f;
        where[t] = t;
        for (int d = 32; d; d /= 2) {
            __syncthreads();
            if (t < d && largest[t + d] > largest[t])
                largest[t] = largest[t + d], where[t] = where[t + d];
        }
        __syncthreads();
        int pivot = where[0];
        if (pivot != k) {
            float swap = m[k][t];
            m[k][t] = m[pivot][t], m[pivot][t] = swap;
            if (t == 0)
                swap = m[k][64], m[k][64] = m[pivot][64], m[pivot][64] = swap;
        }
        __syncthreads();
        if (t > k) {
            float factor = m[t][k] / m[k][k];
            for (int j = k; j <= 64; j++)
                m[t][j] -= factor * m[k][j];
        }
    }
    __syncthreads();
    for (int k = 63; k >= 0; k--) {
        if (t == k)
            m[k][64] /= m[k][k];
        __syncthreads();
        if (t < k)
            m[t][64] -= m[t][k] * m[k][64];
        __syncthreads();
    }
    b[blockIdx.x * 64 + t] = m[t][64];
}

/* One block reflects the columns of a matrix of n rows by its first column. */
KERNEL reflect(const float *a, float *b, int *c, int n) {
    __shared__ float part[8];
    __shared__ float total;
    const float *column = a + (size_t)(blockIdx.x + 1) * n;
    float dot = 0, norm = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        dot += a[i] * column[i], norm += a[i] * a[i];
    for (int k = 0; k < 2; k++) {
        float value = k ? norm : dot;
        for (int d = 16; d; d /= 2)
            value += __shfl_down_sync(~0u, value, d);
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = value;
        __syncthreads();
        if (threadIdx.x == 0) {
            float sum = 0;
            for (int w = 0; w < 8; w++)
                sum += part[w];
            total = sum;
        }
        __syncthreads();
        if (k)
            norm = total;
        else
            dot = total;
    }
    float factor = 2.0f * dot / norm;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        b[(size_t)blockIdx.x * n + i] = column[i] - factor * a[i];
}

/* A thread solves a system with three diagonals; neighbours in memory belong to different systems. */
KERNEL three_diagonals(const float *a, float *b, int *c, int n) {
    int t = THREAD, systems = gridDim.x * blockDim.x;
    float last_c = 0, last_d = 0;
    for (int i = 0; i < n; i++) {
        float low = -a[i * systems + t], high = -a[i * systems + t + 1], right = a[i * systems + t + 2];
        float scale = 1.0f / (4.0f - low * last_c);
        last_c = high * scale;
        last_d = (right - low * last_d) * scale;
        b[2 * i * systems + t] = last_c;
        b[(2 * i + 1) * systems + t] = last_d;
    }
    float x = 0;
    for (int i = n - 1; i >= 0; i--) {
        x = b[(2 * i + 1) * systems + t] - b[2 * i * systems + t] * x;
        b[2 * i * systems + t] = x;
    }
}

/* n x n in double precision, tiles of 16 x 16. */
KERNEL product_double(const float *a, float *b, int *c, int n) {
    __shared__ double x[16][16], y[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    double sum = 0;
    for (int k = 0; k < n; k += 16) {
        x[ty][tx] = a[row * n + k + tx];
        y[ty][tx] = a[(k + ty) * n + column];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++)
            sum += x[ty][i] * y[i][tx];
        __syncthreads();
    }
    b[row * n + column] = (float)sum;
}

/* Pairs of halves: a polynomial of each, summed up. */
KERNEL halves(const float *a, float *b, int *c, int n) {
    const half2 *from = (const half2 *)c;
    half2 sum = __float2half2_rn(0.0f);
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) {
        half2 x = __hmul2(from[i], __float2half2_rn(0.001f)), p = __float2half2_rn(0.25f);
        for (int k = 0; k < 6; k++)
            p = __hfma2(p, x, __float2half2_rn(0.5f));
        sum = __hadd2(sum, __hmax2(p, x));
    }
    b[THREAD] = __low2float(sum) + __high2float(sum);
}

/* Forces from a list of 24 neighbours for each atom. */
KERNEL forces(const float *a, float *b, int *c, int n) {
    const float4 *atom = (const float4 *)a;
    int i = THREAD;
    float4 me = atom[i], force = {0, 0, 0, 0};
    for (int k = 0; k < 24; k++) {
        int j = (i + (c[k * n + i] & 1023)) & (n - 1);
        float4 other = atom[j];
        float dx = me.x - other.x, dy = me.y - other.y, dz = me.z - other.z, r2 = dx * dx + dy * dy + dz * dz;
        if (r2 < 0.5f) {
            float inverse = 1.0f / (r2 + 0.01f), sixth = inverse * inverse * inverse;
            float size = inverse * sixth * (48.0f * sixth - 24.0f);
            force.x += dx * size, force.y += dy * size, force.z += dz * size;
        }
    }
    ((float4 *)b)[i] = force;
}

/* Fourth-order steps of three coupled equations in double precision. */
KERNEL three_bodies(const float *a, float *b, int *c, int n) {
    double x = a[THREAD], y = a[THREAD + 1], z = a[THREAD + 2];
    const double h = 0.005;
    for (int i = 0; i < n; i++) {
        double kx = 0, ky = 0, kz = 0, sx = 0, sy = 0, sz = 0;
        for (int stage = 0; stage < 4; stage++) {
            double part = stage == 0 ? 0 : stage == 3 ? h : h / 2, weight = stage == 0 || stage == 3 ? 1 : 2;
            double px = x + part * kx, py = y + part * ky, pz = z + part * kz;
            kx = 10 * (py - px), ky = px * (28 - pz) - py, kz = px * py - 8.0 / 3.0 * pz;
            sx += weight * kx, sy += weight * ky, sz += weight * kz;
        }
        x += h / 6 * sx, y += h / 6 * sy, z += h / 6 * sz;
    }
    b[THREAD] = (float)(x + y + z);
}

/* Spins on a checkerboard; a generator of five words and a counter for each thread. */
KERNEL spins(const float *a, float *b, int *c, int n) {
    int x = THREAD % n, y = THREAD / n;
    unsigned v[5], d = 362437;
    for (int k = 0; k < 5; k++)
        v[k] = (unsigned)c[THREAD + k * 65536];
    for (int sweep = 0; sweep < 4; sweep++) {
        int column = 2 * x + ((y + sweep) & 1), width = 2 * n;
        float sum = b[y * width + ((column + 1) & (width - 1))] + b[y * width + ((column - 1) & (width - 1))] +
                    b[((y + 1) & (n - 1)) * width + column] + b[((y - 1) & (n - 1)) * width + column];
        unsigned t = v[0] ^ (v[0] >> 2);
        v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
        v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
        d += 362437;
        float r = (float)(v[4] + d) * 2.3283064e-10f, spin = b[y * width + column];
        spin = spin == 0 ? 1.0f : spin;
        if (r < __expf(-0.8f * spin * sum))
            spin = -spin;
        b[y * width + column] = spin;
    }
}

/* A block renews the 624 words of a twister's state n times. */
KERNEL twister(const float *a, float *b, int *c, int n) {
    __shared__ unsigned state[624];
    for (int i = threadIdx.x; i < 624; i += blockDim.x)
        state[i] = (unsigned)c[blockIdx.x * 624 + i];
    for (int round = 0; round < n; round++) {
        for (int from = 0; from < 624; from += 208) {
            int i = from + threadIdx.x;
            unsigned next = 0;
            __syncthreads();
            if (threadIdx.x < 208) {
                unsigned y = (state[i] & 0x80000000u) | (state[(i + 1) % 624] & 0x7fffffffu);
                next = state[(i + 397) % 624] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0u);
            }
            __syncthreads();
            if (threadIdx.x < 208)
                state[i] = next;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 624; i += blockDim.x) {
        unsigned y = state[i];
        y ^= y >> 11, y ^= y << 7 & 0x9d2c5680u, y ^= y << 15 & 0xefc60000u, y ^= y >> 18;
        b[blockIdx.x * 624 + i] = (float)(y >> 8);
    }
}

static __device__ float distance_to_scene(float x, float y, float z) {
    float ball = sqrtf(x * x + y * y + (z - 4) * (z - 4)) - 1.0f;
    float qx = fmodf(fabsf(x) + 1.0f, 2.0f) - 1.0f, qz = fmodf(fabsf(z) + 1.0f, 2.0f) - 1.0f;
    float post = sqrtf(qx * qx + qz * qz) - 0.15f, ground = y + 1.0f;
    return fminf(ball, fminf(fmaxf(post, y), ground));
}

/* Rays walk through a scene of distances and are lit by its gradient. */
KERNEL march(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float dx = (x - n / 2) / (float)n, dy = (n / 2 - y) / (float)n, dz = 1.0f, t = 0;
    float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= scale, dy *= scale, dz *= scale;
    int i = 0;
    for (; i < 64; i++) {
        float d = distance_to_scene(t * dx, t * dy, t * dz);
        if (d < 0.002f || t > 30.0f)
            break;
        t += d;
    }
    float light = 0;
    if (i < 64 && t <= 30.0f) {
        float px = t * dx, py = t * dy, pz = t * dz, e = 0.01f, d = distance_to_scene(px, py, pz);
        light = (distance_to_scene(px + e, py, pz) - d + distance_to_scene(px, py + e, pz) - d) / e;
    }
    b[y * n + x] = light / (1.0f + 0.1f * t);
}

/* An integral by halving intervals, as a function that calls itself. */
static __device__ __noinline__ float integrate(float from, float to, float f_from, float f_to, int depth) {
    float middle = 0.5f * (from + to), f_middle = 1.0f / (0.01f + (middle - 0.3f) * (middle - 0.3f));
    float rough = 0.5f * (to - from) * (f_from + f_to);
    float fine = 0.25f * (to - from) * (f_from + 2 * f_middle + f_to);
    if (depth == 0 || fabsf(fine - rough) < 0.05f)
        return fine;
    return integrate(from, middle, f_from, f_middle, depth - 1) + integrate(middle, to, f_middle, f_to, depth - 1);
}

KERNEL integral(const float *a, float *b, int *c, int n) {
    float to = 0.5f + a[THREAD], f = 1.0f / (0.01f + (to - 0.3f) * (to - 0.3f));
    b[THREAD] = integrate(0.0f, to, 10.0f, f, n);
}

/* A discrete cosine transform of blocks of 8 x 8 pixels: eight threads a block, rows and then columns. */
KERNEL cosines(const float *a, float *b, int *c, int n) {
    __shared__ float tile[32][8][9];
    int which = threadIdx.x / 8, line = threadIdx.x % 8;
    size_t base = ((size_t)blockIdx.x * 32 + which) * 64;
    float(*my)[9] = tile[which];
    for (int i = 0; i < 8; i++)
        my[i][line] = a[base + i * 8 + line];
    __syncthreads();
    for (int pass = 0; pass < 2; pass++) {
        float in[8], out[8];
        for (int i = 0; i < 8; i++)
            in[i] = pass ? my[i][line] : my[line][i];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float s = in[k] + in[7 - k], d = in[k] - in[7 - k];
            in[k] = s, in[7 - k] = d;
        }
        out[0] = in[0] + in[1] + in[2] + in[3], out[4] = (in[0] - in[1] - in[2] + in[3]) * 0.7071068f;
        out[2] = (in[0] - in[3]) * 0.9238795f + (in[1] - in[2]) * 0.3826834f;
        out[6] = (in[0] - in[3]) * 0.3826834f - (in[1] - in[2]) * 0.9238795f;
        out[1] = in[7] * 0.9807853f + in[6] * 0.8314696f + in[5] * 0.5555702f + in[4] * 0.1950903f;
        out[3] = in[7] * 0.8314696f - in[6] * 0.1950903f - in[5] * 0.9807853f - in[4] * 0.5555702f;
        out[5] = in[7] * 0.5555702f - in[6] * 0.9807853f + in[5] * 0.1950903f + in[4] * 0.8314696f;
        out[7] = in[7] * 0.1950903f - in[6] * 0.5555702f + in[5] * 0.8314696f - in[4] * 0.9807853f;
        __syncthreads();
        for (int i = 0; i < 8; i++)
            if (pass)
                my[i][line] = out[i] * 0.25f;
            else
                my[line][i] = out[i];
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        b[base + i * 8 + line] = rintf(my[i][line] * 16.0f);
}

/* Smooths an image but keeps its edges: weights from distance and brightness. */
KERNEL smooth(const float *a, float *b, int *c, int n) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float middle = a[y * n + x], sum = 0, weights = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            int u = x + dx, v = y + dy;
            if (u < 0 || v < 0 || u >= n || v >= n)
                continue;
            float value = a[v * n + u], d = value - middle;
            float weight = __expf(-0.1f * (dx * dx + dy * dy) - 8.0f * d * d);
            sum += weight * value, weights += weight;
        }
    b[y * n + x] = sum / weights;
}

__constant__ float mask[49] = {1,  2, 3, 4, 3, 2, 1,  2, 4, 6, 8, 6, 4, 2, 3, 6, 9, 12, 9, 6, 3, 4, 8, 12, 16,
                               12, 8, 4, 3, 6, 9, 12, 9, 6, 3, 2, 4, 6, 8, 6, 4, 2, 1,  2, 3, 4, 3, 2, 1};

/* An image under a mask of 7 x 7 constants, tiles with borders in shared memory. */
KERNEL masked(const float *a, float *b, int *c, int n) {
    __shared__ float tile[22][40];
    int x0 = blockIdx.x * 32 - 3, y0 = blockIdx.y * 16 - 3;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 22 * 38; i += 512) {
        int x = x0 + i % 38, y = y0 + i / 38;
        tile[i / 38][i % 38] = x >= 0 && y >= 0 && x < n && y < n ? a[y * n + x] : 0.0f;
    }
    __syncthreads();
    float sum = 0;
    for (int v = 0; v < 7; v++)
        for (int u = 0; u < 7; u++)
            sum += tile[threadIdx.y + v][threadIdx.x + u] * mask[v * 7 + u];
    b[(y0 + 3 + threadIdx.y) * n + x0 + 3 + threadIdx.x] = sum;
}
