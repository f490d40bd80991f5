// Vector addition, the first program of every tutorial.
#include "../check.cuh"

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main() {
    const int n = 50000;
    std::vector<float> a(n), b(n), expected(n);
    for (int i = 0; i < n; i++) {
        a[i] = i * 0.5f;
        b[i] = 1.0f / (i + 1);
        expected[i] = a[i] + b[i];
    }
    Device<float> da(a), db(b), dc(n);
    add<<<blocks_of(n, 256), 256>>>(da, db, dc, n);
    expect_equal(dc.get(), expected);
}
