// Separable convolution of an image: rows, then columns, the filter in constant memory.
#include "../check.cuh"

const int RADIUS = 4;
__constant__ float filter[2 * RADIUS + 1];

template <bool ROWS> __global__ void convolve(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) {
        int sx = ROWS ? x + k : x, sy = ROWS ? y : y + k;
        if (sx >= 0 && sx < width && sy >= 0 && sy < height)
            sum += in[sy * width + sx] * filter[k + RADIUS];
    }
    out[y * width + x] = sum;
}

int main() {
    const int width = 61, height = 43;
    Random random(22);
    float f[2 * RADIUS + 1];
    for (float &w : f)
        w = random.uniform();
    std::vector<float> image(width * height), rows(width * height), expected(width * height);
    for (float &p : image)
        p = random.uniform();
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int k = std::max(-RADIUS, -x); k <= std::min(RADIUS, width - 1 - x); k++)
                rows[y * width + x] += image[y * width + x + k] * f[k + RADIUS];
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int k = std::max(-RADIUS, -y); k <= std::min(RADIUS, height - 1 - y); k++)
                expected[y * width + x] += rows[(y + k) * width + x] * f[k + RADIUS];
    CUDA(cudaMemcpyToSymbol(filter, f, sizeof f));
    Device<float> a(image), b(image.size());
    dim3 block(16, 8), grid(blocks_of(width, 16), blocks_of(height, 8));
    convolve<true><<<grid, block>>>(a, b, width, height);
    convolve<false><<<grid, block>>>(b, a, width, height);
    expect_near(a.get(), expected, 1e-5);
    return 0;
}
