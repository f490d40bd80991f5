// saop: the price of an arithmetic Asian call option, paid on the mean price of a share, by Monte Carlo simulation.
//
// The reference draws the same random numbers, which define the paths, and works in double precision with the logarithm
// of the price. It checks the payoff of every path and the mean. A path of 88 steps multiplies 88 exponentials with
// relative errors of about 1e-7 each, so a mean price of at most a few hundred agrees within 2e-4.
#include "../common/workload.h"
#include "../common/xorwow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS_OPTION = 0 };

static const struct workload_info info = {
    .name = "saop",
    .summary = "Asian option by Monte Carlo simulation, one path per thread",
    .sizes = {"1,024 paths of 10 days", "2,048 paths of 88 days", "100,000 paths of 88 days"},
    .options = {[NUMBERS_OPTION] = {"--numbers", "paths|streams",
                                    "a generator for each path, or a stream for each thread (Liu 2023)", 0, 0}},
};

static const float spot = 40.0f, strike = 35.0f, rate = 0.03f, volatility = 0.2f;
static const float days_per_year = 261.0f; // with trade
enum { THREADS = 128, GENERATOR_WORDS = 6 };

struct model {
    int n_paths, n_steps;
    uint32_t seed;
    float drift, deviation; // of the logarithm of the price in one step
};

static struct model make_model(struct workload *w) {
    float years = 1.0f / days_per_year;
    return (struct model){
        .n_paths = (int)workload_pick(w, 1024, 2048, 100000),
        .n_steps = (int)workload_pick(w, 10, 88, 88),
        .seed = workload_random(w),
        .drift = (rate - 0.5f * volatility * volatility) * years,
        .deviation = volatility * sqrtf(years),
    };
}

// ---- The reference ------------------------------------------------------------------------------------------------

static uint32_t scramble(uint32_t x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

// history[0] to history[4] are the latest five words, the oldest first.
static uint32_t next_random(uint32_t *history, uint32_t *count) {
    uint32_t oldest = history[0] ^ history[0] >> 2, newest = history[4];
    for (int i = 0; i < 4; i++)
        history[i] = history[i + 1];
    history[4] = newest ^ newest << 4 ^ oldest ^ oldest << 1;
    return history[4] + (*count += 362437u);
}

static double payoff_reference(const struct model *m, uint32_t *history, uint32_t *count) {
    double log_price = log((double)spot), sum = 0;
    for (int step = 0; step < m->n_steps; step += 2) {
        double first = ((double)(next_random(history, count) >> 9) + 0.5) * 0x1p-23;
        double second = ((double)(next_random(history, count) >> 9) + 0.5) * 0x1p-23;
        double radius = sqrt(-2 * log(first)), angle = 6.283185307179586476925 * second;
        log_price += (double)m->drift + (double)m->deviation * radius * cos(angle);
        sum += exp(log_price);
        log_price += (double)m->drift + (double)m->deviation * radius * sin(angle);
        sum += exp(log_price);
    }
    return fmax(sum / m->n_steps - (double)strike, 0);
}

static double path_reference(const struct model *m, uint32_t path) {
    uint32_t history[5], count = 0, key = scramble(m->seed ^ scramble(path));
    for (uint32_t i = 0; i < 5; i++)
        history[i] = scramble(key + i + 1);
    return payoff_reference(m, history, &count);
}

// Steps through the sequence from its beginning, without matrices.
static void streams_reference(const struct model *m, struct xorwow stream_start, unsigned n_threads, float *payoff) {
    for (unsigned thread = 0; thread < n_threads; thread++) {
        struct xorwow s = stream_start;
        for (int i = (int)thread; i < m->n_paths; i += (int)n_threads)
            payoff[i] = (float)payoff_reference(m, s.word, &s.counter);
        for (int i = 0; i < XORWOW_STREAM_STEPS; i++)
            xorwow_next(&stream_start);
    }
}

// ---- The device ---------------------------------------------------------------------------------------------------

// Starts a stream for each thread of the grid.
static void start_streams(const struct workload *w, const struct xorwow *seed, struct workload_grid grid,
                          CUdeviceptr generators) {
    unsigned stream_steps = XORWOW_STREAM_STEPS;
    CUdeviceptr matrices = xorwow_upload_matrices(w, grid.blocks_x * grid.threads_x);
    CUdeviceptr device_seed = workload_upload(w, seed, sizeof *seed);
    workload_launch(w, "start_streams", grid, (void *[]){&matrices, &device_seed, &stream_steps, &generators});
    workload_device_free(w, matrices);
    workload_device_free(w, device_seed);
}

// Writes the payoff of every path; returns the mean of all. seed: that of the streams; NULL: each path has a generator.
static double simulate(const struct workload *w, const struct model *m, const struct xorwow *seed, float *payoff,
                       struct workload_shape shape) {
    size_t n = (size_t)m->n_paths, n_generators = seed ? shape.blocks * shape.threads : n;
    struct model given = *m;
    float spot_price = spot, strike_price = strike;
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0}, with_sums = grid;
    with_sums.dynamic_shared_bytes = shape.threads * (unsigned)sizeof(float);
    CUdeviceptr generators = workload_device_alloc(w, n_generators * GENERATOR_WORDS * sizeof(uint32_t));
    CUdeviceptr price = workload_device_alloc(w, n * (size_t)m->n_steps * sizeof(float));
    CUdeviceptr device_payoff = workload_device_alloc(w, n * sizeof(float));
    CUdeviceptr device_sum = workload_device_alloc(w, shape.blocks * sizeof(float));
    if (seed)
        start_streams(w, seed, grid, generators);
    else
        workload_launch(w, "start_generators", grid, (void *[]){&generators, &given.n_paths, &given.seed});
    workload_launch(
        w, seed ? "walk_streams" : "walk_paths", grid,
        (void *[]){&generators, &price, &given.n_paths, &given.n_steps, &spot_price, &given.drift, &given.deviation});
    workload_launch(w, "average_paths", with_sums,
                    (void *[]){&price, &device_payoff, &device_sum, &given.n_paths, &given.n_steps, &strike_price});
    float *sums = workload_array(w, shape.blocks, sizeof *sums);
    workload_download(w, payoff, device_payoff, n * sizeof(float));
    workload_download(w, sums, device_sum, shape.blocks * sizeof(float));
    double total = 0;
    for (unsigned i = 0; i < shape.blocks; i++)
        total += (double)sums[i];
    free(sums);
    workload_device_free(w, generators);
    workload_device_free(w, price);
    workload_device_free(w, device_payoff);
    workload_device_free(w, device_sum);
    return total / m->n_paths;
}

static bool has_streams(const struct workload *w) {
    const char *numbers = w->option[NUMBERS_OPTION].text;
    if (numbers && strcmp(numbers, "paths") != 0 && strcmp(numbers, "streams") != 0)
        workload_usage_error(w, "--numbers takes paths or streams, not '%s'", numbers);
    return numbers && strcmp(numbers, "streams") == 0;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    struct model model = make_model(&w);
    size_t n = (size_t)model.n_paths;
    // The mean follows the payoffs, and is checked with them.
    float *payoff = workload_array(&w, n + 1, sizeof *payoff), *expected = workload_array(&w, n + 1, sizeof *expected);
    bool is_streams = has_streams(&w);
    struct xorwow seed = {0};
    struct workload_shape shape = workload_shape(&w, is_streams ? workload_pick(&w, 256, 512, 24960) : n, THREADS);
    unsigned n_threads = shape.blocks * shape.threads;
    if (is_streams) {
        seed = xorwow_seed(&w);
        if ((n + n_threads - 1) / n_threads * (size_t)model.n_steps > XORWOW_STREAM_STEPS)
            workload_usage_error(&w, "%u threads are too few for %zu paths: a stream has %d numbers", n_threads, n,
                                 XORWOW_STREAM_STEPS);
    }
    double mean = simulate(&w, &model, is_streams ? &seed : NULL, payoff, shape);
    payoff[n] = (float)mean;

    struct workload_diff diff = {0};
    if (w.check) {
        double total = 0;
        if (is_streams)
            streams_reference(&model, seed, n_threads, expected);
        for (size_t i = 0; i < n; i++) {
            double paid = is_streams ? (double)expected[i] : path_reference(&model, (uint32_t)i);
            expected[i] = (float)paid;
            total += paid;
        }
        expected[n] = (float)(total / (double)n);
        diff = workload_diff_f32(payoff, expected, n + 1, 2e-4, 0);
    }
    free(payoff);
    free(expected);
    double years = (double)model.n_steps / (double)days_per_year;
    return workload_finish(&w, w.check ? &diff : NULL, "%d paths of %d steps, price %.4f, %u blocks of %u threads",
                           model.n_paths, model.n_steps, mean * exp(-(double)rate * years), shape.blocks,
                           shape.threads);
}
