// SIMD-in-word and bit intrinsics: motion estimation by __vabsdiffu4/__dp4a, byte permutes, packed minimum, population
// and find-nth-set.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
const int W = 64, HT = 48, R = 4;
__global__ void motion(const uint8_t *ref, const uint8_t *cur, int2 *best, unsigned *cost) {
    int bx = blockIdx.x * 8, by = blockIdx.y * 8, dx = (int)threadIdx.x - R, dy = (int)threadIdx.y - R;
    unsigned sad = 0;
    int x = bx + dx, y = by + dy;
    if (x < 0 || y < 0 || x + 8 > W || y + 8 > HT)
        sad = 0xffff;
    else
        for (int r = 0; r < 8; r++)
            for (int c = 0; c < 8; c += 4) {
                const uint8_t *p = ref + (y + r) * W + x + c;
                unsigned a = p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24,
                         b = *(const unsigned *)(cur + (by + r) * W + bx + c);
                sad = __dp4a(__vabsdiffu4(a, b), 0x01010101u, sad);
            }
    unsigned key = sad << 8 | threadIdx.y << 4 | threadIdx.x;
    __shared__ unsigned m;
    if (!threadIdx.x && !threadIdx.y)
        m = ~0u;
    __syncthreads();
    atomicMin(&m, key);
    __syncthreads();
    if (key == m) {
        best[blockIdx.y * gridDim.x + blockIdx.x] = make_int2(dx, dy);
        cost[blockIdx.y * gridDim.x + blockIdx.x] = sad;
    }
}
__global__ void bits(const unsigned *in, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned v = in[i], w = in[(i + 1) % n];
    unsigned *o = out + i * 12;
    o[0] = __byte_perm(v, w, 0x2541);
    o[1] = __vaddus4(v, w);
    o[2] = __vmins2(v, w);
    o[3] = __popc(v) * 100 + __clz(v);
    o[4] = __ffs(v);
    o[5] = __brev(v);
    o[6] = __fns(v, 0, 3);
    o[7] = __sad((int)v, (int)w, 5u);
    o[8] = __vcmpgtu4(v, w);
    o[9] = __hadd((int)v, (int)w);
    o[10] = __funnelshift_lc(v, w, 7);
    o[11] = __mulhi((int)v, (int)w) ^ __umulhi(v, w);
}
static int s8(unsigned v, int k) { return (v >> 8 * k) & 255; }
int main() {
    std::vector<uint8_t> ref(W * HT), cur(W * HT);
    srand(11);
    for (auto &v : ref)
        v = rand();
    for (int y = 0; y < HT; y++)
        for (int x = 0; x < W; x++)
            cur[y * W + x] = ref[(y + 2 < HT ? y + 2 : y) * W + (x >= 3 ? x - 3 : x)];
    uint8_t *dr, *dc;
    int2 *db;
    unsigned *ds;
    int nb = W / 8 * (HT / 8);
    cudaMalloc(&dr, W * HT);
    cudaMalloc(&dc, W * HT);
    cudaMalloc(&db, nb * 8);
    cudaMalloc(&ds, nb * 4);
    cudaMemcpy(dr, ref.data(), W * HT, cudaMemcpyHostToDevice);
    cudaMemcpy(dc, cur.data(), W * HT, cudaMemcpyHostToDevice);
    motion<<<dim3(W / 8, HT / 8), dim3(2 * R + 1, 2 * R + 1)>>>(dr, dc, db, ds);
    std::vector<int2> b(nb);
    std::vector<unsigned> s(nb);
    cudaMemcpy(b.data(), db, nb * 8, cudaMemcpyDeviceToHost);
    cudaMemcpy(s.data(), ds, nb * 4, cudaMemcpyDeviceToHost);
    int exact = 0;
    for (int j = 0; j < HT / 8; j++)
        for (int i = 0; i < W / 8; i++) {
            unsigned m = ~0u;
            int2 e = {};
            for (int y = -R; y <= R; y++)
                for (int x = -R; x <= R; x++) {
                    if (i * 8 + x < 0 || j * 8 + y < 0 || i * 8 + x + 8 > W || j * 8 + y + 8 > HT)
                        continue;
                    unsigned c = 0;
                    for (int r = 0; r < 8; r++)
                        for (int q = 0; q < 8; q++)
                            c += abs(ref[(j * 8 + y + r) * W + i * 8 + x + q] - cur[(j * 8 + r) * W + i * 8 + q]);
                    unsigned key = c << 8 | (y + R) << 4 | (x + R);
                    if (key < m)
                        m = key, e = make_int2(x, y);
                }
            int k = j * (W / 8) + i;
            if (b[k].x != e.x || b[k].y != e.y || s[k] != m >> 8) {
                printf("block %d\n", k);
                return 1;
            }
            exact += s[k] == 0;
        }
    const int n = 64;
    std::vector<unsigned> in(n), out(n * 12);
    for (auto &v : in)
        v = rand() * 65537u ^ rand();
    unsigned *di, *dout;
    cudaMalloc(&di, n * 4);
    cudaMalloc(&dout, n * 48);
    cudaMemcpy(di, in.data(), n * 4, cudaMemcpyHostToDevice);
    bits<<<1, n>>>(di, dout, n);
    cudaMemcpy(out.data(), dout, n * 48, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        unsigned v = in[i], w = in[(i + 1) % n], *o = &out[i * 12], e[12] = {};
        unsigned long long vw = (unsigned long long)w << 32 | v;
        int sel[4] = {1, 4, 5, 2};
        for (int k = 0; k < 4; k++)
            e[0] |= (unsigned)((vw >> 8 * sel[k]) & 255) << 8 * k;
        for (int k = 0; k < 4; k++) {
            int t = s8(v, k) + s8(w, k);
            e[1] |= (unsigned)(t > 255 ? 255 : t) << 8 * k;
            e[8] |= (s8(v, k) > s8(w, k) ? 255u : 0u) << 8 * k;
        }
        for (int k = 0; k < 2; k++) {
            short a = v >> 16 * k, c = w >> 16 * k;
            e[2] |= (unsigned)(unsigned short)(a < c ? a : c) << 16 * k;
        }
        e[3] = __builtin_popcount(v) * 100 + (v ? __builtin_clz(v) : 32);
        e[4] = __builtin_ffs(v);
        for (int k = 0; k < 32; k++)
            e[5] |= (v >> k & 1) << (31 - k);
        int c = 0;
        e[6] = ~0u;
        for (int k = 0; k < 32; k++)
            if (v >> k & 1 && ++c == 3) {
                e[6] = k;
                break;
            }
        long long df = (long long)(int)v - (int)w;
        e[7] = (unsigned)(df < 0 ? -df : df) + 5;
        e[9] = (unsigned)(((long long)(int)v + (int)w) >> 1);
        e[10] = w << 7 | v >> 25;
        e[11] = (unsigned)((long long)(int)v * (int)w >> 32) ^ (unsigned)((unsigned long long)v * w >> 32);
        for (int k = 0; k < 12; k++)
            if (o[k] != e[k]) {
                printf("bits %d op %d: %08x %08x (%08x %08x)\n", i, k, o[k], e[k], v, w);
                return 1;
            }
    }
    printf("%d exact\n", exact);
    return cudaGetLastError();
}
