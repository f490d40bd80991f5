// Alignment of two sequences, diagonal by diagonal; a block fills its tile in shared memory.
#include "../check.cuh"

const int TILE = 16, GAP = 2;

__host__ __device__ inline int best(int diagonal, int left, int up, int a, int b) {
    int match = diagonal + (a == b ? 3 : -1), gap = (left > up ? left : up) - GAP;
    return match > gap ? match : gap;
}

__global__ void tile(const int *a, const int *b, int *score, int n, int diagonal, int first) {
    __shared__ int s[TILE + 1][TILE + 1];
    int by = first + blockIdx.x, bx = diagonal - by, t = threadIdx.x;
    int x0 = bx * TILE, y0 = by * TILE, pitch = n + 1;
    s[0][t + 1] = score[y0 * pitch + x0 + t + 1];
    s[t + 1][0] = score[(y0 + t + 1) * pitch + x0];
    if (t == 0)
        s[0][0] = score[y0 * pitch + x0];
    __syncthreads();
    for (int d = 0; d < 2 * TILE - 1; d++) {
        int y = d - t;
        if (y >= 0 && y < TILE)
            s[y + 1][t + 1] = best(s[y][t], s[y + 1][t], s[y][t + 1], a[x0 + t], b[y0 + y]);
        __syncthreads();
    }
    for (int y = 0; y < TILE; y++)
        score[(y0 + y + 1) * pitch + x0 + t + 1] = s[y + 1][t + 1];
}

int main() {
    const int n = 64, n_tiles = n / TILE, pitch = n + 1;
    Random random(15);
    std::vector<int> a(n), b(n), score(pitch * pitch);
    for (int i = 0; i < n; i++) {
        a[i] = random.below(4);
        b[i] = random.below(4);
    }
    for (int i = 0; i <= n; i++)
        score[i] = score[i * pitch] = -GAP * i;
    Device<int> da(a), db(b), ds(score);
    for (int d = 0; d < 2 * n_tiles - 1; d++) {
        int first = d < n_tiles ? 0 : d - n_tiles + 1, last = d < n_tiles ? d : n_tiles - 1;
        tile<<<last - first + 1, TILE>>>(da, db, ds, n, d, first);
    }
    for (int y = 1; y <= n; y++)
        for (int x = 1; x <= n; x++)
            score[y * pitch + x] = best(score[(y - 1) * pitch + x - 1], score[y * pitch + x - 1],
                                        score[(y - 1) * pitch + x], a[x - 1], b[y - 1]);
    expect_equal(ds.get(), score);
    return 0;
}
