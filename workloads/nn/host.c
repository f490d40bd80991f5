// nn: a convolutional network of four layers that recognises digits. Weights are random, so the recognised digits are
// meaningless, but the work is that of a trained network.
//
// The reference is in double precision and works the other way: each neuron pushes its value to all neurons that it is
// connected with. All layers' outputs are compared. Tolerance: 1e-5. Activations are below 2, and weights are small
// enough that a sum of up to 1,250 products stays near 1, so a layer loses a few times 1e-7.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOW = 5, STEP = 2, INPUT_SIDE = 29, N_LAYERS = 4, N_CLASSES = 10 }; // as in kernel.cu
enum { DIGITS_OF_THE_PAPER = 28 };
enum { OPTION_LAYERS };

static const struct workload_info info = {
    .name = "nn",
    .summary = "digit recognition by a network of four layers, the last two with one thread per block",
    .sizes = {"1 digit", "8 digits", "28 digits"},
    .blocks_fixed = "a block is a feature map or a neuron of one digit",
    .options = {{"--layers", "N", "stop after layer N, default 4", 1, N_LAYERS}},
};

// A layer of `maps` square pictures; a layer that is connected with everything has pictures of one point.
struct layer {
    int maps, side, window; // window: 0 when connected with everything
};
static const struct layer layers[N_LAYERS + 1] = {
    {1, INPUT_SIDE, 0}, {6, 13, WINDOW}, {50, 5, WINDOW}, {100, 1, 0}, {N_CLASSES, 1, 0}};

static size_t n_outputs(int layer) {
    return (size_t)layers[layer].maps * (size_t)layers[layer].side * (size_t)layers[layer].side;
}

// Of one map, with its bias.
static size_t n_weights(int layer) {
    size_t window = (size_t)layers[layer].window;
    return 1 + (window ? (size_t)layers[layer - 1].maps * window * window : n_outputs(layer - 1));
}

static float uniform(struct workload *w, float low, float high) {
    return low + (high - low) * ((float)workload_random(w) * 0x1p-24f);
}

static float *make_weights(struct workload *w, int layer) {
    size_t n = (size_t)layers[layer].maps * n_weights(layer);
    float span = 1.5f / sqrtf((float)n_weights(layer)), *weights = workload_array(w, n, sizeof *weights);
    for (size_t i = 0; i < n; i++)
        weights[i] = uniform(w, -span, span);
    return weights;
}

// ---- Digits -------------------------------------------------------------------------------------------------------

// Strokes of a digit, in the order top, upper left, upper right, middle, lower left, lower right, bottom.
enum { N_STROKES = 7 };
static const char strokes_of[N_CLASSES][N_STROKES + 1] = {"1110111", "0010010", "1011101", "1011011", "0111010",
                                                          "1101011", "1101111", "1010010", "1111111", "1111011"};

// Squared distance of (x, y) from a stroke. Digits are in a box of width 1 and height 2.
static double stroke_distance(int stroke, double x, double y) {
    static const double ends[N_STROKES][4] = {{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 1, 1}, {0, 1, 1, 1},
                                              {0, 1, 0, 2}, {1, 1, 1, 2}, {0, 2, 1, 2}};
    const double *e = ends[stroke];
    double dx = fmax(fmax(e[0] - x, x - e[2]), 0.0), dy = fmax(fmax(e[1] - y, y - e[3]), 0.0);
    return dx * dx + dy * dy;
}

// A digit drawn with soft strokes, slanted and moved a little, on paper of -1 and ink of 1, with noise.
static void draw_digit(struct workload *w, int digit, float *picture) {
    double slant = (double)uniform(w, -0.3f, 0.3f), scale = (double)uniform(w, 8.0f, 10.0f);
    double left = (double)uniform(w, 7.0f, 11.0f), top = (double)uniform(w, 3.0f, 6.0f);
    for (int i = 0; i < INPUT_SIDE * INPUT_SIDE; i++) {
        double y = (i / INPUT_SIDE - top) / scale, x = (i % INPUT_SIDE - left) / scale + slant * (y - 1.0);
        double nearest = 100.0;
        for (int s = 0; s < N_STROKES; s++)
            if (strokes_of[digit][s] == '1')
                nearest = fmin(nearest, stroke_distance(s, x, y));
        picture[i] = (float)(2.0 * exp(-40.0 * nearest) - 1.0) + uniform(w, -0.05f, 0.05f);
    }
}

// ---- Reference ----------------------------------------------------------------------------------------------------

// Adds the contribution of neuron (map, y, x) of the previous layer, with output `value`, to the windows that contain
// it.
static void push_to_windows(int layer, const float *weights, int map, int y, int x, double value, double *sums) {
    int side = layers[layer].side;
    for (int wy = y % STEP; wy < WINDOW; wy += STEP)
        for (int wx = x % STEP; wx < WINDOW; wx += STEP) {
            int to_y = (y - wy) / STEP, to_x = (x - wx) / STEP;
            if (y < wy || x < wx || to_y >= side || to_x >= side)
                continue;
            for (int to = 0; to < layers[layer].maps; to++) {
                size_t weight = (size_t)to * n_weights(layer) + 1 + (size_t)((map * WINDOW + wy) * WINDOW + wx);
                sums[(to * side + to_y) * side + to_x] += value * (double)weights[weight];
            }
        }
}

static void push_to_all(int layer, const float *weights, size_t neuron, double value, double *sums) {
    for (size_t to = 0; to < n_outputs(layer); to++)
        sums[to] += value * (double)weights[to * n_weights(layer) + 1 + neuron];
}

// One layer of one digit.
static void layer_reference(const struct workload *w, int layer, const float *weights, const float *in, float *out) {
    size_t n = n_outputs(layer), points = n / (size_t)layers[layer].maps;
    int side = layers[layer - 1].side;
    double *sums = workload_array(w, n, sizeof *sums);
    for (size_t i = 0; i < n; i++)
        sums[i] = (double)weights[i / points * n_weights(layer)];
    for (size_t i = 0; i < n_outputs(layer - 1); i++) {
        int at = (int)i;
        if (layers[layer].window)
            push_to_windows(layer, weights, at / (side * side), at / side % side, at % side, (double)in[i], sums);
        else
            push_to_all(layer, weights, i, (double)in[i], sums);
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (float)(1.7159 * tanh(2.0 / 3.0 * sums[i]));
    free(sums);
}

// ---- Device -------------------------------------------------------------------------------------------------------

// The block of a layer is its map, or --threads-per-block threads, or as many as the device allows.
static void launch_layer(const struct workload *w, int layer, int n_digits, CUdeviceptr in, CUdeviceptr weights,
                         CUdeviceptr out) {
    static const char *const names[] = {"", "nn_layer1", "nn_layer2", "nn_layer3", "nn_layer4"};
    static const char *const strided[] = {"", "nn_layer1_strided", "nn_layer2_strided", "nn_layer3", "nn_layer4"};
    unsigned side = (unsigned)layers[layer].side, most = workload_most_threads(w);
    unsigned threads = w->threads_per_block ? w->threads_per_block : side * side > most ? most : 0;
    bool is_strided = layers[layer].window && threads;
    struct workload_grid grid = {(unsigned)layers[layer].maps, (unsigned)n_digits, is_strided ? threads : side,
                                 is_strided ? 1 : side, 0};
    workload_launch(w, (is_strided ? strided : names)[layer], grid, (void *[]){&in, &weights, &out});
}

// Runs layers 1 to n; stores the output of layer k for all digits in outputs[k].
static void recognise(const struct workload *w, int n, int n_digits, float *const *weights, float *const *outputs) {
    CUdeviceptr in = workload_upload(w, outputs[0], (size_t)n_digits * n_outputs(0) * sizeof(float));
    for (int k = 1; k <= n; k++) {
        size_t bytes = (size_t)n_digits * n_outputs(k) * sizeof(float);
        size_t weight_bytes = (size_t)layers[k].maps * n_weights(k) * sizeof(float);
        CUdeviceptr device_weights = workload_upload(w, weights[k], weight_bytes);
        CUdeviceptr out = workload_device_alloc(w, bytes);
        launch_layer(w, k, n_digits, in, device_weights, out);
        workload_download(w, outputs[k], out, bytes);
        workload_device_free(w, device_weights);
        workload_device_free(w, in);
        in = out;
    }
    workload_device_free(w, in);
}

// Returns the first layer that is wrong, or the last one.
static struct workload_diff check(const struct workload *w, int n, size_t n_digits, float *const *weights,
                                  float *const *outputs) {
    struct workload_diff diff = {0};
    const float *before = outputs[0];
    float *expected[N_LAYERS + 1] = {0};
    for (int k = 1; k <= n && !diff.n_wrong; k++) {
        expected[k] = workload_array(w, n_digits * n_outputs(k), sizeof(float));
        for (size_t d = 0; d < n_digits; d++)
            layer_reference(w, k, weights[k], before + d * n_outputs(k - 1), expected[k] + d * n_outputs(k));
        diff = workload_diff_f32(outputs[k], expected[k], n_digits * n_outputs(k), 1e-5, 0.0);
        before = expected[k];
    }
    for (int k = 1; k <= n; k++)
        free(expected[k]);
    return diff;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = w.option[OPTION_LAYERS].text ? (int)w.option[OPTION_LAYERS].number : N_LAYERS;
    size_t n_digits = workload_pick(&w, 1, 8, DIGITS_OF_THE_PAPER);
    float *weights[N_LAYERS + 1] = {0}, *outputs[N_LAYERS + 1];
    for (int k = 0; k <= N_LAYERS; k++) {
        weights[k] = k ? make_weights(&w, k) : NULL;
        outputs[k] = workload_array(&w, n_digits * n_outputs(k), sizeof(float));
    }
    for (size_t d = 0; d < n_digits; d++)
        draw_digit(&w, (int)(d % N_CLASSES), outputs[0] + d * n_outputs(0));
    recognise(&w, n, (int)n_digits, weights, outputs);

    struct workload_diff diff = {0};
    if (w.check)
        diff = check(&w, n, n_digits, weights, outputs);
    for (int k = 0; k <= N_LAYERS; k++) {
        free(weights[k]);
        free(outputs[k]);
    }
    return workload_finish(&w, w.check ? &diff : NULL, "%zu digit%s, %d layer%s, a launch each", n_digits,
                           n_digits == 1 ? "" : "s", n, n == 1 ? "" : "s");
}
