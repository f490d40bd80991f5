// A small convolutional network that recognises digits, one launch a layer; blockIdx.y is the digit. The first two
// layers slide 5 x 5 windows over pictures in steps of two, one block per feature map and one thread per neuron. The
// last two layers connect every neuron with all neurons of the previous layer; a block is one neuron and has one
// thread. That suits the problem but not the hardware, which is the point of this program.
#include <heddle/device.h>

enum { WINDOW = 5, STEP = 2 };
enum { INPUT_SIDE = 29, INPUT_SIZE = INPUT_SIDE * INPUT_SIDE };
enum { MAPS1 = 6, SIDE1 = 13, SIZE1 = SIDE1 * SIDE1 };
enum { MAPS2 = 50, SIDE2 = 5, SIZE2 = SIDE2 * SIDE2 };
enum { NEURONS3 = 100, NEURONS4 = 10 };
enum { WINDOW_SIZE = WINDOW * WINDOW, WEIGHTS2 = 1 + MAPS1 * WINDOW_SIZE, WEIGHTS3 = 1 + MAPS2 * SIZE2 };

// 1.7159 tanh(2/3 x), computed from the exponential.
static __device__ __forceinline__ float activate(float x) {
    return 1.7159f * (1.0f - 2.0f / (1.0f + expf(1.33333333f * x)));
}

static __device__ __forceinline__ float window_sum(const float *picture, int side, const float *weights, float sum) {
#pragma unroll 1
    for (int y = 0; y < WINDOW; y++)
#pragma unroll 1
        for (int x = 0; x < WINDOW; x++)
            sum += picture[y * side + x] * *weights++;
    return sum;
}

// Weights: for each map the bias, then its window.
static __device__ __forceinline__ void neuron1(const float *digits, const float *weights, float *out, int y, int x) {
    int map = blockIdx.x, digit = blockIdx.y;
    const float *w = weights + map * (1 + WINDOW_SIZE);
    const float *corner = digits + digit * INPUT_SIZE + STEP * y * INPUT_SIDE + STEP * x;
    out[(digit * MAPS1 + map) * SIZE1 + y * SIDE1 + x] = activate(window_sum(corner, INPUT_SIDE, w + 1, w[0]));
}

// Weights: for each map the bias, then a window for each map of the first layer.
static __device__ __forceinline__ void neuron2(const float *in, const float *weights, float *out, int y, int x) {
    int map = blockIdx.x, digit = blockIdx.y;
    const float *w = weights + map * WEIGHTS2;
    const float *corner = in + digit * MAPS1 * SIZE1 + STEP * y * SIDE1 + STEP * x;
    float sum = *w++;
#pragma unroll 1
    for (int k = 0; k < MAPS1; k++) {
        sum = window_sum(corner, SIDE1, w, sum);
        corner += SIZE1;
        w += WINDOW_SIZE;
    }
    out[(digit * MAPS2 + map) * SIZE2 + y * SIDE2 + x] = activate(sum);
}

extern "C" __global__ void nn_layer1(const float *digits, const float *weights, float *out) {
    neuron1(digits, weights, out, threadIdx.y, threadIdx.x);
}

extern "C" __global__ void nn_layer2(const float *in, const float *weights, float *out) {
    neuron2(in, weights, out, threadIdx.y, threadIdx.x);
}

// The same with one-dimensional blocks of any size.
extern "C" __global__ void nn_layer1_strided(const float *digits, const float *weights, float *out) {
#pragma unroll 1
    for (int i = threadIdx.x; i < SIZE1; i += blockDim.x)
        neuron1(digits, weights, out, i / SIDE1, i % SIDE1);
}

extern "C" __global__ void nn_layer2_strided(const float *in, const float *weights, float *out) {
#pragma unroll 1
    for (int i = threadIdx.x; i < SIZE2; i += blockDim.x)
        neuron2(in, weights, out, i / SIDE2, i % SIDE2);
}

// Weights: for each neuron the bias, then one for each of the n inputs.
static __device__ __forceinline__ float full_sum(const float *in, const float *weights, int n) {
    float sum = *weights++;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        sum += in[i] * weights[i];
    return sum;
}

extern "C" __global__ void nn_layer3(const float *in, const float *weights, float *out) {
    int neuron = blockIdx.x, digit = blockIdx.y;
    out[digit * NEURONS3 + neuron] =
        activate(full_sum(in + digit * (WEIGHTS3 - 1), weights + neuron * WEIGHTS3, WEIGHTS3 - 1));
}

extern "C" __global__ void nn_layer4(const float *in, const float *weights, float *out) {
    int neuron = blockIdx.x, digit = blockIdx.y;
    out[digit * NEURONS4 + neuron] =
        activate(full_sum(in + digit * NEURONS3, weights + neuron * (1 + NEURONS3), NEURONS3));
}
