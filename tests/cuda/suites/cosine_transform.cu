// The cosine transform of 8 x 8 blocks of an image, there and back.
#include "../check.cuh"

__global__ void dct(const float *in, float *out, int width, bool is_inverse) {
    __shared__ float a[8][8], b[8][8];
    int x = threadIdx.x, y = threadIdx.y, i = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
    a[y][x] = in[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        int frequency = is_inverse ? k : x, place = is_inverse ? x : k;
        sum += a[y][k] * cospif((2 * place + 1) * frequency / 16.0f) * (frequency ? 0.5f : 0.35355339f);
    }
    b[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++) {
        int frequency = is_inverse ? k : y, place = is_inverse ? y : k;
        sum += b[k][x] * cospif((2 * place + 1) * frequency / 16.0f) * (frequency ? 0.5f : 0.35355339f);
    }
    out[i] = sum;
}

int main() {
    const int width = 32, height = 24;
    Random random(25);
    std::vector<float> image(width * height);
    for (float &p : image)
        p = random.uniform() * 255;
    Device<float> a(image), b(image.size()), c(image.size());
    dim3 grid(width / 8, height / 8), block(8, 8);
    dct<<<grid, block>>>(a, b, width, false);
    dct<<<grid, block>>>(b, c, width, true);
    expect_near(c.get(), image, 1e-3);
    double mean = 0;
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            mean += image[y * width + x] / 64;
    EXPECT(fabs(b.get()[0] - 8 * mean) < 1e-2);
    return 0;
}
