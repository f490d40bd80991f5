// bp: one training step of a network with many inputs, 16 hidden units and one output.
//
// The device adds up the hidden units' inputs and adjusts the large layer's weights. The host does the few operations
// in between, as in the program that the paper used. The reference does the whole step in double precision, unit by
// unit. Tolerance: 1e-7 + 1e-5 of the value for weights and movements. A weighted sum is at most a few units large and
// loses about 1e-6 of that in single precision. The rest of the step is smooth.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

enum { TILE = 16, N_HIDDEN = 16 }; // as in kernel.cu

static const struct workload_info info = {
    .name = "bp",
    .summary = "back propagation, one training step, one tile of 16 inputs and 16 hidden units per block",
    .sizes = {"512 inputs", "8,192 inputs", "65,536 inputs"},
    .threads_fixed = "a block is one tile of 16 x 16 threads",
};

static const float rate = 0.3f, momentum = 0.3f;

// The weights of the large layer are [input * N_HIDDEN + unit].
struct network {
    size_t n_inputs;
    float *inputs, *weights, *movements;
    float output_weights[N_HIDDEN], target;
};

static float uniform(struct workload *w, float low, float high) {
    return low + (high - low) * ((float)workload_random(w) * 0x1p-24f);
}

static struct network make_network(struct workload *w, size_t n_inputs) {
    size_t n_weights = n_inputs * N_HIDDEN;
    struct network net = {.n_inputs = n_inputs,
                          .inputs = workload_array(w, n_inputs, sizeof(float)),
                          .weights = workload_array(w, n_weights, sizeof(float)),
                          .movements = workload_array(w, n_weights, sizeof(float)),
                          .target = 0.1f};
    float span = 1.0f / sqrtf((float)n_inputs); // keeps the weighted sums where the sigmoid has a slope
    for (size_t i = 0; i < n_inputs; i++)
        net.inputs[i] = i == 0 ? 1.0f : uniform(w, 0.0f, 1.0f);
    for (size_t i = 0; i < n_weights; i++) {
        net.weights[i] = uniform(w, -span, span);
        net.movements[i] = uniform(w, -0.01f * span, 0.01f * span);
    }
    for (int j = 0; j < N_HIDDEN; j++)
        net.output_weights[j] = uniform(w, -1.0f, 1.0f);
    return net;
}

// The reference: hidden units, output, errors, and new weights and movements, one after the other.
static void train_reference(const struct network *net, float *weights, float *movements) {
    double hidden[N_HIDDEN], output = 0.0;
    for (int j = 0; j < N_HIDDEN; j++) {
        double sum = 0.0;
        for (size_t i = 0; i < net->n_inputs; i++)
            sum += (double)net->inputs[i] * (double)net->weights[i * N_HIDDEN + (size_t)j];
        hidden[j] = 0.5 + 0.5 * tanh(0.5 * sum);
        output += hidden[j] * (double)net->output_weights[j];
    }
    output = 0.5 + 0.5 * tanh(0.5 * output);
    double output_error = output * (1.0 - output) * ((double)net->target - output);
    for (int j = 0; j < N_HIDDEN; j++) {
        double error = hidden[j] * (1.0 - hidden[j]) * output_error * (double)net->output_weights[j];
        for (size_t i = 0; i < net->n_inputs; i++) {
            size_t at = i * N_HIDDEN + (size_t)j;
            double movement =
                (double)rate * error * (double)net->inputs[i] + (double)momentum * (double)net->movements[at];
            movements[at] = (float)movement;
            weights[at] = (float)((double)net->weights[at] + movement);
        }
    }
}

static float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

// Computes the hidden units' errors from the tiles' partial sums: the step on the host.
static void propagate_on_host(const struct network *net, const float *partial, size_t n_tiles, float *errors) {
    float hidden[N_HIDDEN] = {0}, sum = 0.0f;
    for (size_t i = 0; i < n_tiles * N_HIDDEN; i++)
        hidden[i % N_HIDDEN] += partial[i];
    for (int j = 0; j < N_HIDDEN; j++) {
        hidden[j] = sigmoid(hidden[j]);
        sum += hidden[j] * net->output_weights[j];
    }
    float output = sigmoid(sum), output_error = output * (1.0f - output) * (net->target - output);
    for (int j = 0; j < N_HIDDEN; j++)
        errors[j] = hidden[j] * (1.0f - hidden[j]) * output_error * net->output_weights[j];
}

// Leaves the new weights and movements in `weights` and `movements`.
static void train(const struct workload *w, const struct network *net, struct workload_grid grid, float *weights,
                  float *movements) {
    int n_tiles = (int)(net->n_inputs / TILE);
    float step = rate, share = momentum, errors[N_HIDDEN];
    size_t n_partial = (size_t)n_tiles * N_HIDDEN, weight_bytes = net->n_inputs * N_HIDDEN * sizeof(float);
    float *partial = workload_array(w, n_partial, sizeof *partial);
    CUdeviceptr device_inputs = workload_upload(w, net->inputs, net->n_inputs * sizeof(float));
    CUdeviceptr device_weights = workload_upload(w, net->weights, weight_bytes);
    CUdeviceptr device_movements = workload_upload(w, net->movements, weight_bytes);
    CUdeviceptr device_partial = workload_device_alloc(w, n_partial * sizeof(float));
    workload_launch(w, "bp_forward", grid, (void *[]){&device_inputs, &device_weights, &device_partial, &n_tiles});
    workload_download(w, partial, device_partial, n_partial * sizeof(float));
    propagate_on_host(net, partial, (size_t)n_tiles, errors);
    CUdeviceptr device_errors = workload_upload(w, errors, sizeof errors);
    workload_launch(
        w, "bp_adjust", grid,
        (void *[]){&device_inputs, &device_errors, &device_weights, &device_movements, &step, &share, &n_tiles});
    workload_download(w, weights, device_weights, weight_bytes);
    workload_download(w, movements, device_movements, weight_bytes);
    const CUdeviceptr all[] = {device_inputs, device_weights, device_movements, device_partial, device_errors};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        workload_device_free(w, all[i]);
    free(partial);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t n_inputs = workload_pick(&w, 512, 8192, 65536), n_weights = n_inputs * N_HIDDEN;
    struct network net = make_network(&w, n_inputs);
    float *got = workload_array(&w, 2 * n_weights, sizeof *got); // the weights, then their movements
    struct workload_grid grid = {w.blocks ? w.blocks : (unsigned)n_inputs / TILE, 1, TILE, TILE, 0};
    train(&w, &net, grid, got, got + n_weights);

    struct workload_diff diff = {0};
    if (w.check) {
        float *expected = workload_array(&w, 2 * n_weights, sizeof *expected);
        train_reference(&net, expected, expected + n_weights);
        diff = workload_diff_f32(got, expected, 2 * n_weights, 1e-7, 1e-5);
        free(expected);
    }
    free(net.inputs);
    free(net.weights);
    free(net.movements);
    free(got);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%zu inputs, %d hidden units, 2 launches of %u blocks of %u x %u", n_inputs, N_HIDDEN,
                           grid.blocks_x, grid.threads_x, grid.threads_y);
}
