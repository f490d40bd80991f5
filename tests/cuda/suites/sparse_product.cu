// Sparse matrix times vector, compressed rows, a warp for each row.
#include "../check.cuh"

__global__ void product(const int *starts, const int *columns, const float *values, const float *x, float *y, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n)
        return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int step = 16; step; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[row] = sum;
}

int main() {
    const int n = 300;
    Random random(3);
    std::vector<int> starts(1), columns;
    std::vector<float> values, x(n), expected(n);
    for (float &v : x)
        v = random.uniform();
    for (int row = 0; row < n; row++) {
        for (unsigned i = random.below(60); i; i--) {
            columns.push_back(random.below(n));
            values.push_back(random.uniform() - 0.5f);
            expected[row] += values.back() * x[columns.back()];
        }
        starts.push_back(static_cast<int>(columns.size()));
    }
    Device<int> ds(starts), dc(columns);
    Device<float> dv(values), dx(x), dy(n);
    product<<<blocks_of(n * 32, 128), 128>>>(ds, dc, dv, dx, dy, n);
    expect_near(dy.get(), expected, 1e-5);
    return 0;
}
