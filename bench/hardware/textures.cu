/* textures: latency and rate of texture reads, and the cost of a barrier of the whole grid. It prints
 * name,parameter,value. Latencies are chains of one warp; rates are cycles per warp instruction of an SM with 32 warps.
 * The parameter is the texture's size in bytes, or the number of blocks. */
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t result = (call);                                                                                   \
        if (result != cudaSuccess) {                                                                                   \
            fprintf(stderr, "textures: %s: %s\n", #call, cudaGetErrorString(result));                                  \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { STEPS = 64 };
enum kind { FETCH, POINT, LINEAR, FOUR };

template <int kind> __device__ float read(cudaTextureObject_t texture, float x, float y) {
    if (kind == FETCH)
        return tex1Dfetch<float>(texture, (int)x);
    if (kind == FOUR) {
        float4 v = tex1Dfetch<float4>(texture, (int)x);
        return v.x + v.y + v.z + v.w;
    }
    return tex2D<float>(texture, x, y);
}

/* The texels are 0, so a coordinate depends on the read before it and stays where it is. */
template <int kind>
__global__ void chain(cudaTextureObject_t texture, float *out, long long *clocks, unsigned width, unsigned height) {
    float x = threadIdx.x * 7 % width, y = threadIdx.x / 32 * 3 % height;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        long long start = clock64();
#pragma unroll 8
        for (int k = 0; k < STEPS; k++) {
            x += read<kind>(texture, x, y);
            x += 13;
            x = x >= width ? x - width : x;
        }
        out[threadIdx.x] = x;
        clocks[threadIdx.x] = clock64() - start;
    }
}

template <int kind>
__global__ void rate(cudaTextureObject_t texture, float *out, long long *clocks, unsigned width, unsigned height) {
    float sum = 0, x = threadIdx.x % 32 + threadIdx.x / 32 * 32 % width, y = threadIdx.x / 32 * 3 % height;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        long long start = clock64();
#pragma unroll 8
        for (int k = 0; k < STEPS; k++)
            sum += read<kind>(texture, x + (k + pass), y);
        out[threadIdx.x] = sum;
        clocks[threadIdx.x] = clock64() - start;
    }
}

/* Every lane somewhere else. */
template <int kind>
__global__ void scattered(cudaTextureObject_t texture, float *out, long long *clocks, unsigned width, unsigned height) {
    float sum = 0;
    unsigned state = threadIdx.x * 747796405u + 1;
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        long long start = clock64();
#pragma unroll 8
        for (int k = 0; k < STEPS; k++) {
            state = state * 1664525u + 1013904223u;
            sum += read<kind>(texture, (state >> 8) % width, (state >> 20) % height);
        }
        out[threadIdx.x] = sum;
        clocks[threadIdx.x] = clock64() - start;
    }
}

/* `several` independent chains of each thread, of the first `lanes` lanes of each warp. The second pass reads the same
 * texels as the first. Loads of the same memory stand beside them. */
template <int kind, int several>
__global__ void chains(cudaTextureObject_t texture, const float *memory, float *out, long long *clocks, unsigned texels,
                       int lanes) {
    float sum = 0;
    int lane = threadIdx.x % 32;
    for (int pass = 0; pass < 2; pass++) {
        unsigned at[several];
        for (int i = 0; i < several; i++)
            at[i] = (threadIdx.x * 8 + i * 977 * 8) & (texels - 1);
        __syncthreads();
        long long start = clock64();
        if (lane < lanes)
#pragma unroll 1
            for (int k = 0; k < STEPS / several; k++) {
                float got[several];
#pragma unroll
                for (int i = 0; i < several; i++)
                    if (kind == FETCH)
                        got[i] = tex1Dfetch<float>(texture, (int)at[i]);
                    else
                        got[i] = memory[at[i]];
#pragma unroll
                for (int i = 0; i < several; i++)
                    at[i] = (at[i] + 8456 + __float_as_uint(got[i])) & (texels - 1);
            }
        for (int i = 0; i < several; i++)
            sum += at[i];
        out[threadIdx.x] = sum;
        __syncwarp();
        clocks[pass * 1024 + threadIdx.x] = clock64() - start;
    }
}

__global__ void sync_grid(long long *clocks) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    grid.sync();
    long long start = clock64();
    for (int k = 0; k < 32; k++)
        grid.sync();
    if (threadIdx.x == 0)
        clocks[blockIdx.x] = clock64() - start;
}

static float *out;
static long long *clocks;

static double longest(unsigned n) {
    static long long got[4096];
    long long most = 0;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got, clocks, n * sizeof *got, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++)
        most = got[i] > most ? got[i] : most;
    return (double)most;
}

template <int kind>
static void measure(const char *name, cudaTextureObject_t texture, unsigned width, unsigned height, size_t bytes) {
    chain<kind><<<1, 32>>>(texture, out, clocks, width, height);
    printf("texture_latency_%s,%zu,%.3f\n", name, bytes, longest(32) / STEPS);
    rate<kind><<<1, 1024>>>(texture, out, clocks, width, height);
    printf("texture_rate_%s,%zu,%.3f\n", name, bytes, longest(1024) / STEPS / 32);
    scattered<kind><<<1, 1024>>>(texture, out, clocks, width, height);
    printf("texture_scattered_%s,%zu,%.3f\n", name, bytes, longest(1024) / STEPS / 32);
}

/* Cycles of a step of all chains: the first pass finds its texels in the L2, the second in the L1 if they fit. */
template <int kind, int several>
static void measure_chains(const char *name, cudaTextureObject_t texture, const float *memory, unsigned texels) {
    static long long got[2048];
    for (int lanes = 1; lanes <= 32; lanes *= lanes == 1 ? 4 : 8)
        for (unsigned warps = 1; warps <= 32; warps *= 2) {
            CHECK(cudaMemset((void *)memory, 0, texels * sizeof *memory));
            chains<kind, several><<<1, warps * 32>>>(texture, memory, out, clocks, texels, lanes);
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemcpy(got, clocks, sizeof got, cudaMemcpyDeviceToHost));
            for (int pass = 0; pass < 2; pass++) {
                long long most = 0;
                for (unsigned i = 0; i < warps * 32; i++)
                    most = got[pass * 1024 + i] > most ? got[pass * 1024 + i] : most;
                printf("texture_%s_%d_chains_%d_lanes_%s,%u,%.3f\n", name, several, lanes, pass ? "again" : "first",
                       warps, (double)most * several / STEPS);
            }
        }
}

static void many_chains() {
    enum { TEXELS = 1 << 22 };
    float *memory;
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    CHECK(cudaMalloc(&memory, TEXELS * sizeof(float)));
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = TEXELS * sizeof(float);
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
    measure_chains<FETCH, 1>("fetch", texture, memory, TEXELS);
    measure_chains<FETCH, 4>("fetch", texture, memory, TEXELS);
    measure_chains<POINT, 1>("load", texture, memory, TEXELS);
    measure_chains<POINT, 4>("load", texture, memory, TEXELS);
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFree(memory));
}

static void lines(unsigned texels) {
    float *memory;
    size_t bytes = texels * sizeof(float);
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMemset(memory, 0, bytes));
    for (int wide = 0; wide < 2; wide++) {
        cudaResourceDesc resource = {};
        cudaTextureDesc description = {};
        cudaTextureObject_t texture;
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = memory;
        resource.res.linear.desc = wide ? cudaCreateChannelDesc<float4>() : cudaCreateChannelDesc<float>();
        resource.res.linear.sizeInBytes = bytes;
        CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
        if (wide)
            measure<FOUR>("fetch_four", texture, texels / 4, 1, bytes);
        else
            measure<FETCH>("fetch", texture, texels, 1, bytes);
        CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaFree(memory));
}

static void planes(unsigned width, unsigned height) {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    size_t bytes = (size_t)width * height * sizeof(float);
    float *zeros = (float *)calloc(width * height, sizeof *zeros);
    CHECK(cudaMallocArray(&array, &format, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, zeros, width * 4, width * 4, height, cudaMemcpyHostToDevice));
    for (int linear = 0; linear < 2; linear++) {
        cudaResourceDesc resource = {};
        cudaTextureDesc description = {};
        cudaTextureObject_t texture;
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
        description.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
        if (linear)
            measure<LINEAR>("linear", texture, width, height, bytes);
        else
            measure<POINT>("point", texture, width, height, bytes);
        CHECK(cudaDestroyTextureObject(texture));
    }
    CHECK(cudaFreeArray(array));
    free(zeros);
}

int main() {
    int sms = 0;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaMalloc(&out, 1024 * sizeof *out));
    CHECK(cudaMalloc(&clocks, 4096 * sizeof *clocks));
    printf("name,parameter,value\n");
    many_chains();
    for (unsigned texels = 1 << 12; texels <= 1 << 22; texels <<= 5)
        lines(texels);
    for (unsigned side = 64; side <= 2048; side *= 32)
        planes(side, side);
    for (int blocks = 1; blocks <= 8 * sms; blocks = blocks == 1 ? sms / 4 : 2 * blocks)
        for (int threads = 32; threads <= 256; threads *= 8) {
            void *arguments[] = {&clocks};
            CHECK(cudaLaunchCooperativeKernel((void *)sync_grid, dim3(blocks), dim3(threads), arguments, 0, 0));
            printf("grid_sync_%d_threads,%d,%.3f\n", threads, blocks, longest(blocks) / 32);
        }
    return 0;
}
