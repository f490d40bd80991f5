// Matrix transposition through padded tiles of shared memory.
#include "../check.cuh"

const int TILE = 32, ROWS = 8;

__global__ void transpose(const int *in, int *out, int width, int height) {
    __shared__ int tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main() {
    const int width = 100, height = 77;
    std::vector<int> in(width * height), expected(width * height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            expected[x * height + y] = in[y * width + x] = y * 1000 + x;
    Device<int> din(in), dout(in.size());
    transpose<<<dim3(4, 3), dim3(TILE, ROWS)>>>(din, dout, width, height);
    expect_equal(dout.get(), expected);
    return 0;
}
