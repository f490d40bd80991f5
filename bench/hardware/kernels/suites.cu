/* Kernels of the kind that suites for scientific computing have: flows, particles, cells, pictures, correlations. */
#include "kernels.cuh"

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

/* Fluxes through the four faces of n elements of a gas; a neighbour is near in the list, or the face is a wall. */
KERNEL flux(const float *a, float *b, int *c, int n) {
    int i = THREAD;
    float density = a[i] + 0.5f, mx = a[n + i], my = a[2 * n + i], mz = a[3 * n + i], energy = a[4 * n + i] + 4.0f;
    float vx = mx / density, vy = my / density, vz = mz / density;
    float pressure = 0.4f * (energy - 0.5f * density * (vx * vx + vy * vy + vz * vz));
    float speed = sqrtf(vx * vx + vy * vy + vz * vz) + sqrtf(1.4f * pressure / density);
    float out[5] = {0, 0, 0, 0, 0};
    for (int face = 0; face < 4; face++) {
        int link = c[face * n + i];
        float nx = a[(5 + 3 * face) * n + i] - 0.5f, ny = a[(6 + 3 * face) * n + i] - 0.5f,
              nz = a[(7 + 3 * face) * n + i] - 0.5f;
        if ((link >> 8 & 15) == 0) {
            out[1] += nx * pressure, out[2] += ny * pressure, out[3] += nz * pressure;
            continue;
        }
        int j = min(max(i + (link & 255) - 128, 0), n - 1);
        float d = a[j] + 0.5f, px = a[n + j], py = a[2 * n + j], pz = a[3 * n + j], e = a[4 * n + j] + 4.0f;
        float ux = px / d, uy = py / d, uz = pz / d, square = ux * ux + uy * uy + uz * uz;
        float p = 0.4f * (e - 0.5f * d * square);
        float fastest = speed + sqrtf(square) + sqrtf(1.4f * p / d);
        float factor = -0.1f * sqrtf(nx * nx + ny * ny + nz * nz) * fastest;
        float through = 0.5f * (nx * vx + ny * vy + nz * vz), back = 0.5f * (nx * ux + ny * uy + nz * uz);
        float mean = 0.5f * (pressure + p);
        out[0] += factor * (density - d) + through * density + back * d;
        out[1] += factor * (mx - px) + through * mx + back * px + nx * mean;
        out[2] += factor * (my - py) + through * my + back * py + ny * mean;
        out[3] += factor * (mz - pz) + through * mz + back * pz + nz * mean;
        out[4] += factor * (energy - e) + through * (energy + pressure) + back * (e + p);
    }
    for (int k = 0; k < 5; k++)
        b[k * n + i] = out[k];
}

/* A block has a box of 64 particles, which feel those of all boxes around; n boxes in each direction. */
KERNEL boxes(const float *a, float *b, int *c, int n) {
    __shared__ float4 mine[64], other[64];
    const float4 *particle = (const float4 *)a;
    int box = blockIdx.x, x = box % n, y = box / n % n, z = box / (n * n), t = threadIdx.x;
    float4 sum = {0, 0, 0, 0};
    mine[t] = particle[box * 64 + t];
    for (int k = 0; k < 27; k++) {
        int u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
        if (u < 0 || v < 0 || w < 0 || u >= n || v >= n || w >= n)
            continue;
        other[t] = particle[((w * n + v) * n + u) * 64 + t];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float dx = mine[t].x - other[j].x, dy = mine[t].y - other[j].y, dz = mine[t].z - other[j].z;
            float strength = other[j].w * expf(-0.5f * (dx * dx + dy * dy + dz * dz));
            sum.x += strength * dx, sum.y += strength * dy, sum.z += strength * dz, sum.w += strength;
        }
        __syncthreads();
    }
    ((float4 *)b)[box * 64 + t] = sum;
}

/* A block lets the gradients of a picture of 40 x 40 flow until they hardly change, at most n times. */
KERNEL gradient_flow(const float *a, float *b, int *c, int n) {
    __shared__ float field[2][42][42];
    __shared__ float change[10];
    const float *picture = a + blockIdx.x * 1600;
    int t = threadIdx.x, from = 0;
    for (int i = t; i < 42 * 42; i += 320) {
        int x = min(max(i % 42 - 1, 0), 39), y = min(max(i / 42 - 1, 0), 39);
        field[0][i / 42][i % 42] = field[1][i / 42][i % 42] = picture[y * 40 + x];
    }
    __syncthreads();
    for (int round = 0; round < n; round++) {
        float most = 0;
        for (int i = t; i < 1600; i += 320) {
            int x = i % 40 + 1, y = i / 40 + 1;
            float here = field[from][y][x], next = here;
            for (int k = 0; k < 9; k++) {
                float step = field[from][y + k / 3 - 1][x + k % 3 - 1] - here;
                next += 0.08f * step / (1.0f + fabsf(4.0f * step));
            }
            next -= 0.05f * picture[i] * (next - picture[i]);
            field[1 - from][y][x] = next;
            most = fmaxf(most, fabsf(next - here));
        }
        for (int d = 16; d; d /= 2)
            most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
        if (t % 32 == 0)
            change[t / 32] = most;
        __syncthreads();
        from = 1 - from;
        for (int w = 0; w < 10; w++)
            most = fmaxf(most, change[w]);
        if (most < 0.002f)
            break;
        __syncthreads();
    }
    for (int i = t; i < 1600; i += 320)
        b[blockIdx.x * 1600 + i] = field[from][i / 40 + 1][i % 40 + 1];
}

/* A thread follows a muscle cell of 12 quantities through n steps: gates that open and close with the voltage. */
KERNEL muscle(const float *a, float *b, int *c, int n) {
    float gate[9], voltage = -80.0f + 10.0f * a[THREAD], calcium = 0.1f * a[THREAD + 1000], sodium = 10.0f;
#pragma unroll
    for (int k = 0; k < 9; k++)
        gate[k] = a[THREAD + 2000 * (k + 1)];
    for (int step = 0; step < n; step++) {
        float current = step % 8 == 0 ? 20.0f : 0.0f;
#pragma unroll
        for (int k = 0; k < 9; k++) {
            float middle = -60.0f + 6.0f * k, opening = 0.1f + 0.5f / (1.0f + expf(-(voltage - middle) / (4.0f + k)));
            float closing = 0.2f * expf(-(voltage + 70.0f) / (20.0f + 2.0f * k));
            float rest = opening / (opening + closing);
            gate[k] = rest + (gate[k] - rest) * expf(-0.1f * (opening + closing));
        }
        float fast = gate[0] * gate[0] * gate[0] * gate[1] * gate[2], slow = powf(gate[3], 1.5f) * gate[4];
        float reversal = 26.7f * logf(140.0f / sodium);
        current += 8.0f * fast * (voltage - reversal) + 2.0f * slow * (voltage + 85.0f);
        current += 0.5f * gate[5] * gate[6] * (voltage - 40.0f) / (1.0f + calcium * calcium);
        current += 0.3f * gate[7] * gate[8] * (voltage + 30.0f);
        calcium += 0.02f * (0.1f - calcium + 0.01f * fabsf(gate[5] * gate[6] * voltage) / (1.0f + calcium));
        sodium += 0.001f * (10.0f - sodium) - 0.0001f * fast * (voltage - reversal);
        voltage = fminf(fmaxf(voltage - 0.05f * current, -120.0f), 80.0f);
    }
    b[THREAD] = voltage, b[THREAD + 1000] = calcium, b[THREAD + 2000] = sodium;
}

/* Particles are drawn again: each looks from the start for the first place whose sum of weights reaches its own. */
KERNEL resample(const float *a, float *b, int *c, int n, const int *d) {
    const int *sums = d + SORTED;
    int wanted = c[THREAD] & (2 * n - 1), place = n - 1;
    for (int k = 0; k < n; k++)
        if (sums[k] >= wanted) {
            place = k;
            break;
        }
    b[2 * THREAD] = a[2 * place], b[2 * THREAD + 1] = a[2 * place + 1];
}

/* Takes the speckle from a picture of n x n; launches find the coefficients and use them in turn. */
KERNEL speckle(const float *a, float *b, int *c, int n, const int *d, int step) {
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, i = y * n + x, size = n * n;
    int north = y ? i - n : i, south = y < n - 1 ? i + n : i, west = x ? i - 1 : i, east = x < n - 1 ? i + 1 : i;
    float *coefficient = b + size, *derivative = b + 2 * size;
    if (step % 2 == 0) {
        float here = a[i] + 0.1f;
        float to_north = a[north] + 0.1f - here, to_south = a[south] + 0.1f - here;
        float to_west = a[west] + 0.1f - here, to_east = a[east] + 0.1f - here;
        float square = to_north * to_north + to_south * to_south + to_west * to_west + to_east * to_east;
        float gradient = square / (here * here), laplace = (to_north + to_south + to_west + to_east) / here;
        float upper = 0.5f * gradient - 0.0625f * laplace * laplace, lower = 1.0f + 0.25f * laplace;
        float speed = upper / (lower * lower), value = 1.0f / (1.0f + (speed - 0.05f) / (0.05f * 1.05f));
        coefficient[i] = fminf(fmaxf(value, 0.0f), 1.0f);
        derivative[i] = to_north, derivative[size + i] = to_south;
        derivative[2 * size + i] = to_west, derivative[3 * size + i] = to_east;
    } else {
        float own = coefficient[i];
        float sum = own * derivative[i] + coefficient[south] * derivative[size + i] + own * derivative[2 * size + i] +
                    coefficient[east] * derivative[3 * size + i];
        b[i] = a[i] + 0.1f + 0.25f * 0.5f * sum;
    }
}

/* A block looks for one key in a tree of 128 children a node: every thread compares one of them. */
KERNEL wide_tree(const float *a, float *b, int *c, int n, const int *d) {
    __shared__ int at;
    const int *keys = d + SORTED;
    int wanted = c[blockIdx.x] & ((1 << 20) - 1);
    if (threadIdx.x == 0)
        at = 0;
    __syncthreads();
    for (int width = n / 128; width; width /= 128) {
        int first = at + threadIdx.x * width;
        bool is_here = keys[first] <= wanted && (threadIdx.x == 127 || wanted < keys[first + width]);
        __syncthreads();
        if (is_here)
            at = first;
        __syncthreads();
    }
    int last = n >> 14 < 128 ? n >> 14 : 128;
    if (threadIdx.x < last && keys[at + threadIdx.x] == (wanted & ~1))
        b[blockIdx.x] = a[at + threadIdx.x];
}

/* A block follows a point through n pictures: where a patch of 17 x 17 is most like its template. */
KERNEL track(const float *a, float *b, int *c, int n) {
    __shared__ float window[41][41], patch[17][17], best[8];
    __shared__ int where[8], at;
    int t = threadIdx.x, x0 = 8 + blockIdx.x * 7, y0 = 8 + blockIdx.x * 5;
    for (int i = t; i < 289; i += 256)
        patch[i / 17][i % 17] = a[(y0 + 12 + i / 17) * 512 + x0 + 12 + i % 17];
    for (int frame = 1; frame <= n; frame++) {
        const float *picture = a + frame * 512 * 512;
        for (int i = t; i < 41 * 41; i += 256)
            window[i / 41][i % 41] = picture[(y0 + i / 41) * 512 + x0 + i % 41];
        __syncthreads();
        float most = -1.0f;
        int place = 0;
        for (int i = t; i < 625; i += 256) {
            float product = 0, square = 0, sum = 0;
            for (int v = 0; v < 17; v++)
                for (int u = 0; u < 17; u++) {
                    float value = window[i / 25 + v][i % 25 + u];
                    product += value * patch[v][u], square += value * value, sum += value;
                }
            float like = product / sqrtf(square + 0.001f * sum);
            if (like > most)
                most = like, place = i;
        }
        for (int d = 16; d; d /= 2) {
            float other = __shfl_down_sync(~0u, most, d);
            int its_place = __shfl_down_sync(~0u, place, d);
            if (other > most)
                most = other, place = its_place;
        }
        if (t % 32 == 0)
            best[t / 32] = most, where[t / 32] = place;
        __syncthreads();
        if (t == 0) {
            for (int w = 1; w < 8; w++)
                if (best[w] > most)
                    most = best[w], place = where[w];
            at = place;
            b[(blockIdx.x * n + frame - 1) * 2] = place % 25, b[(blockIdx.x * n + frame - 1) * 2 + 1] = most;
        }
        __syncthreads();
        for (int i = t; i < 289; i += 256)
            patch[i / 17][i % 17] = 0.9f * patch[i / 17][i % 17] + 0.1f * window[at / 25 + i / 17][at % 25 + i % 17];
        __syncthreads();
    }
}

/* The potential on a lattice of atoms in bins of eight, n bins in each direction; far ones do not count. */
KERNEL potential(const float *a, float *b, int *c, int n) {
    __shared__ float4 atom[8];
    int t = threadIdx.x, bin = blockIdx.x, bx = bin % n, by = bin / n % n, bz = bin / (n * n);
    float x = bx + (t % 8) / 8.0f, y = by + t / 8 % 8 / 8.0f, z = bz + t / 64 / 8.0f, sum[4] = {0, 0, 0, 0};
    for (int w = max(bz - 1, 0); w <= min(bz + 1, n - 1); w++)
        for (int v = max(by - 1, 0); v <= min(by + 1, n - 1); v++)
            for (int u = max(bx - 1, 0); u <= min(bx + 1, n - 1); u++) {
                __syncthreads();
                if (t < 32)
                    ((float *)atom)[t] = a[((w * n + v) * n + u) * 32 + t];
                __syncthreads();
                for (int k = 0; k < 8; k++) {
                    float dx = x - u - atom[k].x, dy = y - v - atom[k].y, flat = dx * dx + dy * dy;
                    if (flat >= 0.64f)
                        continue;
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        float dz = z + 0.25f * i - w - atom[k].z, r2 = flat + dz * dz;
                        if (r2 < 0.64f) {
                            float part = 1.0f - r2 / 0.64f;
                            sum[i] += atom[k].w * rsqrtf(r2) * part * part;
                        }
                    }
                }
            }
    for (int i = 0; i < 4; i++)
        b[bin * 512 + i * 128 + t] = sum[i];
}

/* A block looks for the place, 17 x 17 of them, where 16 x 16 bytes of a picture were in the last one. */
KERNEL motion(const float *a, float *b, int *c, int n) {
    __shared__ unsigned block[64], window[32][9];
    __shared__ unsigned best;
    const unsigned *last = (const unsigned *)c, *now = last + n * n / 4;
    int t = threadIdx.x, x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
    if (t == 0)
        best = ~0u;
    for (int i = t; i < 64; i += blockDim.x)
        block[i] = now[((y0 + i / 4) * n + x0) / 4 + i % 4];
    for (int i = t; i < 32 * 9; i += blockDim.x) {
        int x = min(max(x0 / 4 - 2 + i % 9, 0), n / 4 - 1), y = min(max(y0 - 8 + i / 9, 0), n - 1);
        window[i / 9][i % 9] = last[y * (n / 4) + x];
    }
    __syncthreads();
    for (int i = t; i < 289; i += blockDim.x) {
        int u = i % 17, v = i / 17;
        unsigned sum = 0;
        for (int row = 0; row < 16; row++)
            for (int k = 0; k < 4; k++) {
                unsigned low = window[row + v][u / 4 + k], high = window[row + v][u / 4 + k + 1];
                sum += __vsadu4(__funnelshift_r(low, high, u % 4 * 8), block[row * 4 + k]);
            }
        atomicMin(&best, sum << 16 | i);
    }
    __syncthreads();
    if (t == 0)
        ((unsigned *)b)[blockIdx.y * gridDim.x + blockIdx.x] = best;
}

/* Each thread adds n waves at its place, as magnetic resonance does. */
KERNEL waves_at(const float *a, float *b, int *c, int n) {
    __shared__ float4 wave[64];
    float x = a[3 * THREAD], y = a[3 * THREAD + 1], z = a[3 * THREAD + 2], real = 0, imaginary = 0;
    if (threadIdx.x < n)
        wave[threadIdx.x] = ((const float4 *)a)[100000 + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        float s, co;
        sincosf(6.2831853f * (wave[k].x * x + wave[k].y * y + wave[k].z * z), &s, &co);
        real += wave[k].w * co, imaginary += wave[k].w * s;
    }
    b[2 * THREAD] = real, b[2 * THREAD + 1] = imaginary;
}

/* How often pairs of points are how far apart: bins found by halving, counts of each warp, integers only. */
KERNEL angles(const float *a, float *b, int *c, int n) {
    __shared__ float edge[32];
    __shared__ unsigned count[8][33];
    __shared__ float4 tile[128];
    int t = threadIdx.x, warp = t / 32;
    if (t < 32)
        edge[t] = 0.05f * t;
    for (int i = t; i < 8 * 33; i += 256)
        count[i / 33][i % 33] = 0;
    float4 me = ((const float4 *)a)[THREAD];
    for (int from = 0; from < n; from += 128) {
        __syncthreads();
        if (t < 128)
            tile[t] = ((const float4 *)a)[500000 + from + t];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float product = me.x * tile[j].x + me.y * tile[j].y + me.z * tile[j].z;
            int low = 0, high = 32;
            while (high > low + 1) {
                int middle = (low + high) / 2;
                if (product >= edge[middle])
                    low = middle;
                else
                    high = middle;
            }
            atomicAdd(&count[warp][low], 1u);
        }
    }
    __syncthreads();
    if (t < 32) {
        unsigned sum = 0;
        for (int w = 0; w < 8; w++)
            sum += count[w][t];
        atomicAdd((unsigned *)b + t, sum);
    }
}

/* Rates of 24 reactions at a temperature and the changes of six substances that follow from them. */
KERNEL rates(const float *a, float *b, int *c, int n) {
    int i = THREAD;
    float temperature = 800.0f + 1000.0f * a[i], logarithm = logf(temperature), inverse = 1.0f / temperature;
    float amount[6], change[6] = {0, 0, 0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < 6; k++)
        amount[k] = 0.01f + a[(k + 1) * n + i];
#pragma unroll
    for (int r = 0; r < 24; r++) {
        int p = r % 6, q = (r * 5 + 1) % 6, s = (r * 7 + 2) % 6;
        float forward = expf(2.0f + 0.1f * r + (0.5f - 0.04f * r) * logarithm - (300.0f + 150.0f * r) * inverse);
        float balance = 1.0f + temperature * (0.001f * r + temperature * (1e-7f - 1e-9f * r));
        float backward = forward / balance;
        float rate = forward * amount[p] * amount[q] - backward * amount[s] * amount[s];
        if (r % 4 == 3) {
            float third = amount[0] + 0.5f * amount[2] + 2.0f * amount[4], reduced = rate * third;
            rate = rate * reduced / (fabsf(reduced) + 1.0f);
        }
        change[p] -= rate, change[q] -= rate, change[s] += 2.0f * rate;
    }
#pragma unroll
    for (int k = 0; k < 6; k++)
        b[k * n + i] = change[k];
}

/* A sparse matrix of the graph's shape times a vector: a warp has a row. */
KERNEL sparse_warps(const float *a, float *b, int *c, int n, const int *d) {
    int row = THREAD / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = d[row] + lane; k < d[row + 1]; k += 32)
        sum += a[k] * a[(1 << 21) + d[GRAPH_EDGES + k]];
    for (int delta = 16; delta; delta /= 2)
        sum += __shfl_down_sync(~0u, sum, delta);
    if (lane == 0)
        b[row] = sum;
}
