// Dense matrix product with tiles in shared memory; the sizes are no multiple of the tile.
#include "../check.cuh"

const int TILE = 16;

__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < k; t += TILE) {
        ta[threadIdx.y][threadIdx.x] = row < m && t + threadIdx.x < k ? a[row * k + t + threadIdx.x] : 0;
        tb[threadIdx.y][threadIdx.x] = t + threadIdx.y < k && column < n ? b[(t + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

int main() {
    const int m = 50, n = 70, k = 45;
    Random random(1);
    std::vector<float> a(m * k), b(k * n), expected(m * n);
    for (float &x : a)
        x = random.uniform();
    for (float &x : b)
        x = random.uniform();
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                expected[i * n + j] += a[i * k + l] * b[l * n + j];
    Device<float> da(a), db(b), dc(m * n);
    multiply<<<dim3(blocks_of(n, TILE), blocks_of(m, TILE)), dim3(TILE, TILE)>>>(da, db, dc, m, n, k);
    expect_near(dc.get(), expected, 1e-5);
    return 0;
}
