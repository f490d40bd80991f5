// One step of back propagation for the layer between many inputs and 16 hidden units. A block is a tile of 16 inputs
// (threadIdx.y) by 16 hidden units (threadIdx.x). `bp_forward` computes each tile's part of every hidden unit's
// weighted sum; `bp_adjust` adjusts the weights after the host has computed the hidden units' errors. Weight k of unit
// j is at [k * 16 + j]; input 0 is the bias.
#include <heddle/device.h>

enum { TILE = 16 };

// partial[t * 16 + j] = the sum over tile t's inputs of input times weight of hidden unit j.
extern "C" __global__ void bp_forward(const float *inputs, const float *weights, float *partial, int n_tiles) {
    __shared__ float input[TILE], product[TILE][TILE];
    int j = threadIdx.x, k = threadIdx.y;
#pragma unroll 1
    for (int tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
        int at = tile * TILE + k;
        if (j == 0)
            input[k] = inputs[at];
        __syncthreads();
        product[k][j] = input[k] * weights[at * TILE + j];
        __syncthreads();
#pragma unroll 1
        for (int half = TILE / 2; half > 0; half >>= 1) {
            if (k < half)
                product[k][j] += product[k + half][j];
            __syncthreads();
        }
        if (k == 0)
            partial[tile * TILE + j] = product[0][j];
        __syncthreads();
    }
}

// Moves each weight along its gradient, with a share of its last movement.
extern "C" __global__ void bp_adjust(const float *inputs, const float *errors, float *weights, float *movements,
                                     float rate, float momentum, int n_tiles) {
    int j = threadIdx.x, k = threadIdx.y;
#pragma unroll 1
    for (int tile = blockIdx.x; tile < n_tiles; tile += gridDim.x) {
        int input = tile * TILE + k, at = input * TILE + j;
        float movement = rate * errors[j] * inputs[input] + momentum * movements[at];
        weights[at] += movement;
        movements[at] = movement;
    }
}
