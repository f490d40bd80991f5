// Many tridiagonal systems by parallel cyclic reduction, one block for each.
#include "../check.cuh"

const int N = 64;

__global__ void solve(const float *a, const float *b, const float *c, const float *d, float *x) {
    __shared__ float sa[N], sb[N], sc[N], sd[N];
    int i = threadIdx.x, at = blockIdx.x * N + i;
    sa[i] = a[at];
    sb[i] = b[at];
    sc[i] = c[at];
    sd[i] = d[at];
    for (int step = 1; step < N; step *= 2) {
        __syncthreads();
        int low = i - step, high = i + step;
        float k1 = low >= 0 ? sa[i] / sb[low] : 0, k2 = high < N ? sc[i] / sb[high] : 0;
        float na = low >= 0 ? -sa[low] * k1 : 0, nc = high < N ? -sc[high] * k2 : 0;
        float nb = sb[i] - (low >= 0 ? sc[low] * k1 : 0) - (high < N ? sa[high] * k2 : 0);
        float nd = sd[i] - (low >= 0 ? sd[low] * k1 : 0) - (high < N ? sd[high] * k2 : 0);
        __syncthreads();
        sa[i] = na;
        sb[i] = nb;
        sc[i] = nc;
        sd[i] = nd;
    }
    x[at] = sd[i] / sb[i];
}

int main() {
    const int n_systems = 6, n = n_systems * N;
    Random random(28);
    std::vector<float> a(n), b(n), c(n), d(n), x(n);
    for (int i = 0; i < n; i++) {
        a[i] = i % N ? random.uniform() : 0;
        c[i] = i % N < N - 1 ? random.uniform() : 0;
        b[i] = 3 + random.uniform();
        x[i] = random.uniform() * 10;
    }
    for (int i = 0; i < n; i++)
        d[i] = b[i] * x[i] + (i % N ? a[i] * x[i - 1] : 0) + (i % N < N - 1 ? c[i] * x[i + 1] : 0);
    Device<float> da(a), db(b), dc(c), dd(d), dx(n);
    solve<<<n_systems, N>>>(da, db, dc, dd, dx);
    expect_near(dx.get(), x, 1e-4);
    return 0;
}
