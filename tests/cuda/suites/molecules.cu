// Forces between molecules of neighbouring cells, in the style of Rodinia's lavaMD: one block for each cell.
#include "../check.cuh"

const int PER_CELL = 20, CELLS = 4;

__host__ __device__ inline double force(double ax, double ay, double bx, double by) {
    double dx = ax - bx, dy = ay - by, r = dx * dx + dy * dy;
    return r < 1.0 ? exp(-2 * r) : 0;
}

__global__ void interact(const double2 *where, double *out) {
    __shared__ double2 others[PER_CELL];
    int cx = blockIdx.x, cy = blockIdx.y, me = (cy * CELLS + cx) * PER_CELL + threadIdx.x;
    double sum = 0;
    for (int ny = max(cy - 1, 0); ny <= min(cy + 1, CELLS - 1); ny++)
        for (int nx = max(cx - 1, 0); nx <= min(cx + 1, CELLS - 1); nx++) {
            if (threadIdx.x < PER_CELL)
                others[threadIdx.x] = where[(ny * CELLS + nx) * PER_CELL + threadIdx.x];
            __syncthreads();
            if (threadIdx.x < PER_CELL)
                for (int j = 0; j < PER_CELL; j++)
                    sum += force(where[me].x, where[me].y, others[j].x, others[j].y);
            __syncthreads();
        }
    if (threadIdx.x < PER_CELL)
        out[me] = sum;
}

int main() {
    const int n = CELLS * CELLS * PER_CELL;
    Random random(6);
    std::vector<double2> where(n);
    for (int i = 0; i < n; i++) {
        int cell = i / PER_CELL;
        where[i] = make_double2(cell % CELLS + random.uniform(), cell / CELLS + random.uniform());
    }
    std::vector<double> expected(n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            expected[i] += force(where[i].x, where[i].y, where[j].x, where[j].y);
    Device<double2> d(where);
    Device<double> out(n);
    interact<<<dim3(CELLS, CELLS), 32>>>(d, out);
    expect_near(out.get(), expected, 1e-11);
    return 0;
}
