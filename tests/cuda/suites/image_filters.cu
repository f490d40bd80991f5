// Image filters: Sobel edges through a texture, a median of nine, grey from colour.
#include <algorithm>

#include "../check.cuh"

__global__ void grey(const uchar4 *in, unsigned char *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (in[i].x * 77 + in[i].y * 150 + in[i].z * 29) >> 8;
}

__global__ void sobel(cudaTextureObject_t image, int *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int p[3][3];
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            p[dy + 1][dx + 1] = tex2D<unsigned char>(image, x + dx, y + dy);
    int gx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    int gy = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
    out[y * width + x] = abs(gx) + abs(gy);
}

__global__ void median(const unsigned char *in, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    unsigned char v[9];
    for (int k = 0; k < 9; k++)
        v[k] = in[min(max(y + k / 3 - 1, 0), height - 1) * width + min(max(x + k % 3 - 1, 0), width - 1)];
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 9; j++)
            if (v[j] < v[i]) {
                unsigned char t = v[i];
                v[i] = v[j];
                v[j] = t;
            }
    out[y * width + x] = v[4];
}

int main() {
    const int width = 40, height = 30, n = width * height;
    Random random(23);
    std::vector<uchar4> colours(n);
    std::vector<unsigned char> image(n), middle(n);
    std::vector<int> edges(n);
    for (int i = 0; i < n; i++) {
        colours[i] = make_uchar4(random.below(256), random.below(256), random.below(256), 255);
        image[i] = (colours[i].x * 77 + colours[i].y * 150 + colours[i].z * 29) >> 8;
    }
    auto at = [&](int x, int y) {
        return int(image[std::min(std::max(y, 0), height - 1) * width + std::min(std::max(x, 0), width - 1)]);
    };
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int gx = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x - 1, y) -
                     at(x - 1, y + 1);
            int gy = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x, y - 1) -
                     at(x + 1, y - 1);
            edges[y * width + x] = abs(gx) + abs(gy);
            std::vector<int> v;
            for (int k = 0; k < 9; k++)
                v.push_back(at(x + k % 3 - 1, y + k / 3 - 1));
            std::sort(v.begin(), v.end());
            middle[y * width + x] = static_cast<unsigned char>(v[4]);
        }
    Device<uchar4> dc(colours);
    Device<unsigned char> dg(n), dm(n);
    Device<int> de(n);
    dim3 block(16, 8), grid(blocks_of(width, 16), blocks_of(height, 8));
    grey<<<blocks_of(n, 128), 128>>>(dc, dg, n);
    expect_equal(dg.get(), image);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t array;
    CUDA(cudaMallocArray(&array, &format, width, height));
    CUDA(cudaMemcpy2DToArray(array, 0, 0, dg, width, width, height, cudaMemcpyDeviceToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t texture;
    CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    sobel<<<grid, block>>>(texture, de, width, height);
    expect_equal(de.get(), edges);
    median<<<grid, block>>>(dg, dm, width, height);
    expect_equal(dm.get(), middle);
    return 0;
}
