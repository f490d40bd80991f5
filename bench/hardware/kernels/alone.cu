/* Kernels in which every thread computes for itself: floating point, integers, bits, branches, tables, arrays of its
 * own. */
#include "kernels.cuh"

__constant__ float table[4096];

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL bodies(const float *a, float *b, int *c, int n) {
    const float4 *body = (const float4 *)a;
    float4 me = body[THREAD];
    float x = 0, y = 0, z = 0;
    for (int j = 0; j < n; j++) {
        float4 other = body[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = other.w * r * r * r;
        x += f * dx, y += f * dy, z += f * dz;
    }
    b[THREAD] = x + y + z;
}

/* Prices of options by random paths: logarithm, cosine and exponential in full precision. */
KERNEL paths(const float *a, float *b, int *c, int n) {
    unsigned state = (unsigned)c[THREAD] | 1;
    float sum = 0;
    for (int i = 0; i < n; i++) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        float u = (state >> 8) * 5.9604645e-8f + 1e-8f;
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        float v = (state >> 8) * 5.9604645e-8f;
        float normal = sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
        sum += fmaxf(expf(0.2f * normal) - 1.0f, 0.0f);
    }
    b[THREAD] = sum / n;
}

KERNEL julia(const float *a, float *b, int *c, int n) {
    double x = (THREAD % 512) / 256.0 - 1, y = (THREAD / 512) / 256.0 - 1;
    int i = 0;
    for (; i < n && x * x + y * y < 4; i++) {
        double t = x * x - y * y - 0.4;
        y = 2 * x * y + 0.6;
        x = t;
    }
    b[THREAD] = i;
}

/* A polynomial of degree 15 in double precision, many times. */
KERNEL polynomial(const float *a, float *b, int *c, int n) {
    double x = a[THREAD], sum = 0;
    for (int i = 0; i < n; i++) {
        double p = 0.5;
        for (int k = 0; k < 15; k++)
            p = p * x + 1.0 / (k + 1);
        sum += p;
        x = x * 0.999;
    }
    b[THREAD] = (float)sum;
}

KERNEL collatz(const float *a, float *b, int *c, int n) {
    unsigned long long x = (unsigned)c[THREAD] % 100000u + 1;
    int steps = 0;
    while (x != 1 && steps < n) {
        x = x & 1 ? 3 * x + 1 : x >> 1;
        steps++;
    }
    b[THREAD] = steps;
}

KERNEL divisors(const float *a, float *b, int *c, int n) {
    unsigned x = (unsigned)c[THREAD] | 1, y = (unsigned)c[THREAD + 1] | 1, sum = 0;
    for (int i = 0; i < n; i++) {
        unsigned u = x + i, v = y;
        for (int k = 0; k < 6 && v; k++) {
            unsigned rest = u % v;
            u = v, v = rest;
        }
        sum += u / 3 + v;
    }
    b[THREAD] = sum;
}

KERNEL powers(const float *a, float *b, int *c, int n) {
    unsigned long long x = (unsigned)c[THREAD], product = 1, m = 1000003ull * 65537ull;
    for (int e = n; e; e >>= 1) {
        if (e & 1)
            product = product * x % m;
        x = x * x % m;
    }
    b[THREAD] = (float)product;
}

/* Distances of bit strings. */
KERNEL bits(const float *a, float *b, int *c, int n) {
    unsigned x = (unsigned)c[THREAD], sum = 0;
    for (int i = 0; i < n; i++) {
        unsigned y = (unsigned)c[i * 4];
        sum += __popc(x ^ y) + __clz(x & y) + (__brev(x + i) & 7) + __ffs(y);
        x = __funnelshift_l(x, y, 7) ^ (x >> 3);
    }
    b[THREAD] = sum;
}

KERNEL digest(const float *a, float *b, int *c, int n) {
    unsigned h[4] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u + THREAD};
    for (int i = 0; i < n; i++) {
        unsigned f = (h[1] & h[2]) | (~h[1] & h[3]), t = h[3];
        h[3] = h[2], h[2] = h[1];
        h[1] += __funnelshift_l(h[0] + f + 0x5a827999u * i, h[0] + f + 0x5a827999u * i, 7);
        h[0] = t;
    }
    b[THREAD] = h[0] ^ h[1] ^ h[2] ^ h[3];
}

/* Where a text of bytes has a word of 4 letters. */
KERNEL find_word(const float *a, float *b, int *c, int n) {
    const unsigned char *text = (const unsigned char *)c;
    int found = 0;
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) {
        int k = 0;
        while (k < 4 && (text[i + k] & 3) == (k & 3))
            k++;
        found += k == 4;
    }
    b[THREAD] = found;
}

/* Sorts 16 words in an array of its own, with indices known only at run time. */
KERNEL own_array(const float *a, float *b, int *c, int n) {
    float keys[16];
    for (int i = 0; i < 16; i++)
        keys[i] = a[THREAD + i * 4096];
#pragma unroll 1
    for (int i = 1; i < n; i++) {
        float key = keys[i];
        int j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
    float sum = 0;
    for (int i = 0; i < 16; i++)
        sum = sum * 0.5f + keys[i];
    b[THREAD] = sum;
}

/* Branches by data: six kinds of work. */
KERNEL kinds(const float *a, float *b, int *c, int n) {
    float x = a[THREAD], sum = 0;
    for (int i = 0; i < n; i++) {
        switch ((c[THREAD] >> (i & 15)) % 6u) {
        case 0:
            x = sinf(x);
            break;
        case 1:
            x = x * 1.5f + 0.25f;
            break;
        case 2:
            x = sqrtf(x + 1.0f);
            break;
        case 3:
            x = 1.0f / (x + 0.5f);
            break;
        case 4:
            sum += x;
            break;
        default:
            x = expf(-x * x);
        }
    }
    b[THREAD] = sum + x;
}

/* All lanes read the same constants. */
KERNEL filter_constants(const float *a, float *b, int *c, int n) {
    float x = a[THREAD], sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum * 0.5f + x * table[i];
    b[THREAD] = sum;
}

/* Lanes read different constants. */
KERNEL look_up(const float *a, float *b, int *c, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += table[(c[THREAD] + i * 7) & 63];
    b[THREAD] = sum;
}

/* Little that can be done at the same time. */
KERNEL chain(const float *a, float *b, int *c, int n) {
    float x = a[THREAD];
    for (int i = 0; i < n; i++)
        x = x / (1.0f + x * x);
    b[THREAD] = x;
}

/* Intersections with spheres, until the first. */
KERNEL spheres(const float *a, float *b, int *c, int n) {
    float dx = a[THREAD] - 0.5f, dy = a[THREAD + 1] - 0.5f, dz = 1.0f, nearest = 1e30f;
    float scale = rsqrtf(dx * dx + dy * dy + dz * dz);
    dx *= scale, dy *= scale, dz *= scale;
    for (int i = 0; i < n; i++) {
        float px = a[4 * i] * 4 - 2, py = a[4 * i + 1] * 4 - 2, pz = a[4 * i + 2] * 8 + 2, r = a[4 * i + 3];
        float along = px * dx + py * dy + pz * dz, d = along * along - (px * px + py * py + pz * pz) + r * r;
        if (d > 0) {
            float t = along - sqrtf(d);
            if (t > 0 && t < nearest)
                nearest = t;
        }
    }
    b[THREAD] = nearest;
}

/* One short step of a simulation: many launches. */
KERNEL step(const float *a, float *b, int *c, int n) { b[THREAD] = b[THREAD] * 0.5f + a[THREAD]; }
