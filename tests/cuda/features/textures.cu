// Texture and surface objects over arrays and linear memory.
#include "../check.cuh"

__global__ void sample(cudaTextureObject_t texture, float *out, int width, int height) {
    int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
    out[(height + y) * width + x] = tex2D<float>(texture, x + 1.0f, y + 0.5f); // between two texels
    out[(2 * height + y) * width + x] = tex2D<float>(texture, x - 3.5f, y + 0.5f);
}

__global__ void fetch(cudaTextureObject_t texture, int *out, int n) {
    if (threadIdx.x < n)
        out[threadIdx.x] = tex1Dfetch<int>(texture, threadIdx.x) * 2;
}

__global__ void fill(cudaSurfaceObject_t surface) {
    surf2Dwrite(threadIdx.x * 10.0f + blockIdx.x, surface, threadIdx.x * sizeof(float), blockIdx.x);
}

__global__ void pixels(cudaTextureObject_t texture, float4 *out) {
    out[threadIdx.x] = tex2D<float4>(texture, (threadIdx.x + 0.5f) / 4, 0.5f);
}

int main() {
    const int width = 16, height = 8;
    std::vector<float> image(width * height), expected(3 * width * height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            image[y * width + x] = x * x + y;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float here = image[y * width + x], right = image[y * width + (x + 1 < width ? x + 1 : x)];
            expected[y * width + x] = here;
            expected[(height + y) * width + x] = (here + right) / 2;
            expected[(2 * height + y) * width + x] = image[y * width + (x < 4 ? 0 : x - 4)];
        }
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CUDA(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
    CUDA(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    Device<float> out(3 * width * height);
    sample<<<height, width>>>(texture, out, width, height);
    expect_near(out.get(), expected, 1e-6);
    cudaTextureDesc kept;
    CUDA(cudaGetTextureObjectTextureDesc(&kept, texture));
    EXPECT(kept.filterMode == cudaFilterModeLinear && kept.addressMode[1] == cudaAddressModeClamp);
    CUDA(cudaDestroyTextureObject(texture));

    cudaSurfaceObject_t surface;
    CUDA(cudaCreateSurfaceObject(&surface, &resource));
    fill<<<height, width>>>(surface);
    CUDA(cudaMemcpy2DFromArray(image.data(), width * 4, array, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            EXPECT(image[y * width + x] == x * 10 + y);
    CUDA(cudaDestroySurfaceObject(surface));
    CUDA(cudaFreeArray(array));

    std::vector<int> numbers = {5, -3, 8, 100}, doubled = {10, -6, 16, 200};
    Device<int> linear(numbers), result(4);
    resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = linear.data;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = 4 * sizeof(int);
    how = {};
    CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    fetch<<<1, 32>>>(texture, result, 4);
    expect_equal(result.get(), doubled);

    uchar4 colours[4] = {{255, 0, 51, 255}, {0, 255, 0, 0}, {51, 102, 153, 204}, {255, 255, 255, 255}};
    void *lines;
    size_t pitch;
    CUDA(cudaMallocPitch(&lines, &pitch, sizeof colours, 1));
    CUDA(cudaMemcpy2D(lines, pitch, colours, sizeof colours, sizeof colours, 1, cudaMemcpyHostToDevice));
    resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = lines;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
    resource.res.pitch2D.width = 4;
    resource.res.pitch2D.height = 1;
    resource.res.pitch2D.pitchInBytes = pitch;
    how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    how.normalizedCoords = 1;
    CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    Device<float4> rgba(4);
    pixels<<<1, 4>>>(texture, rgba);
    std::vector<float4> got = rgba.get();
    EXPECT(got[0].x == 1 && got[1].y == 1 && std::fabs(got[2].w - 0.8f) < 1e-6f && std::fabs(got[0].z - 0.2f) < 1e-6f);
    return 0;
}
