// Temperature of a chip, in the style of Rodinia's hotspot: several steps in a tile that shrinks by its halo.
#include "../check.cuh"

const int BLOCK = 16, STEPS = 2;

__device__ __host__ inline float next(float c, float l, float r, float u, float d, float power) {
    return c + 0.1f * (l + r + u + d - 4 * c) + 0.05f * power;
}

__global__ void heat(const float *in, const float *power, float *out, int n) {
    __shared__ float now[BLOCK][BLOCK], later[BLOCK][BLOCK];
    const int inner = BLOCK - 2 * STEPS;
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * inner + tx - STEPS, y = blockIdx.y * inner + ty - STEPS;
    bool is_inside = x >= 0 && y >= 0 && x < n && y < n;
    int cx = min(max(x, 0), n - 1), cy = min(max(y, 0), n - 1);
    now[ty][tx] = in[cy * n + cx];
    float p = power[cy * n + cx];
    for (int s = 1; s <= STEPS; s++) {
        __syncthreads();
        bool computes = is_inside && tx >= s && tx < BLOCK - s && ty >= s && ty < BLOCK - s;
        if (computes) {
            int l = x > 0 ? tx - 1 : tx, r = x < n - 1 ? tx + 1 : tx, u = y > 0 ? ty - 1 : ty,
                d = y < n - 1 ? ty + 1 : ty;
            later[ty][tx] = next(now[ty][tx], now[ty][l], now[ty][r], now[u][tx], now[d][tx], p);
        }
        __syncthreads();
        if (computes)
            now[ty][tx] = later[ty][tx];
    }
    if (is_inside && tx >= STEPS && tx < BLOCK - STEPS && ty >= STEPS && ty < BLOCK - STEPS)
        out[y * n + x] = now[ty][tx];
}

int main() {
    const int n = 50, n_launches = 3;
    Random random(2);
    std::vector<float> t(n * n), power(n * n), u;
    for (int i = 0; i < n * n; i++) {
        t[i] = 300 + random.uniform() * 20;
        power[i] = random.uniform();
    }
    Device<float> a(t), b(n * n), p(power);
    for (int i = 0; i < n_launches; i++) {
        heat<<<dim3(5, 5), dim3(BLOCK, BLOCK)>>>(i % 2 ? b : a, p, i % 2 ? a : b, n);
    }
    u = t;
    for (int s = 0; s < STEPS * n_launches; s++) {
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                u[y * n + x] = next(t[y * n + x], t[y * n + (x ? x - 1 : 0)], t[y * n + (x < n - 1 ? x + 1 : x)],
                                    t[(y ? y - 1 : 0) * n + x], t[(y < n - 1 ? y + 1 : y) * n + x], power[y * n + x]);
        t.swap(u);
    }
    expect_near(b.get(), t, 1e-5);
    return 0;
}
