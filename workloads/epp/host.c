// epp: pi by Monte Carlo, with a random number generator in the kernel.
//
// The reference uses no matrices: it steps through the sequence from its beginning and takes each thread's numbers from
// that thread's stream. Counts must be equal.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

enum { STATE_WORDS = 5, STATE_BITS = 160, MATRIX_WORDS = STATE_BITS * STATE_WORDS, COUNTER_STEP = 362437 }; // kernel.cu
enum { STREAM_STEPS_LOG2 = 12, STREAM_STEPS = 1 << STREAM_STEPS_LOG2 };
enum { MAX_MATRICES = 30 }; // one for each bit of a thread's number

static const struct workload_info info = {
    .name = "epp",
    .summary = "pi by Monte Carlo, one random number stream per thread",
    .sizes = {"1,000 points, 128 threads", "10,000 points, 1,280 threads", "100,000 points, 24,960 threads"},
};

// A state of the sequence: the five words, not all zero, and the counter.
struct sequence {
    uint32_t word[STATE_WORDS], counter;
};

static struct sequence make_seed(struct workload *w) {
    struct sequence s = {.counter = workload_random(w)};
    for (int k = 0; k < STATE_WORDS; k++) {
        uint32_t high = workload_random(w), low = workload_random(w);
        s.word[k] = high << 8 ^ low;
    }
    s.word[0] |= 1;
    return s;
}

// ---- The generator as a linear map --------------------------------------------------------------------------------

// One step of the five words, without the counter.
static void step_words(uint32_t *word) {
    uint32_t t = word[0] ^ word[0] >> 2, last = word[4];
    memmove(word, word + 1, 4 * sizeof *word);
    word[4] = last ^ last << 4 ^ t ^ t << 1;
}

// out = matrix * in; column b of a matrix is at [STATE_WORDS * b].
static void multiply(const uint32_t *matrix, const uint32_t *in, uint32_t *out) {
    uint32_t sum[STATE_WORDS] = {0};
    for (int b = 0; b < STATE_BITS; b++)
        for (int k = 0; k < STATE_WORDS && (in[b / 32] >> b % 32 & 1); k++)
            sum[k] ^= matrix[STATE_WORDS * b + k];
    memcpy(out, sum, sizeof sum);
}

static void square(const uint32_t *matrix, uint32_t *result) {
    for (int b = 0; b < STATE_BITS; b++)
        multiply(matrix, matrix + STATE_WORDS * b, result + STATE_WORDS * b);
}

// Matrix k of the result skips 2^k streams.
static uint32_t *make_matrices(const struct workload *w, int n) {
    uint32_t *matrices = workload_array(w, (size_t)n * MATRIX_WORDS, sizeof *matrices);
    uint32_t power[MATRIX_WORDS] = {0}, squared[MATRIX_WORDS];
    for (int b = 0; b < STATE_BITS; b++) { // one step, applied to every single bit
        power[STATE_WORDS * b + b / 32] = 1u << b % 32;
        step_words(power + STATE_WORDS * b);
    }
    for (int k = 0; k < STREAM_STEPS_LOG2 + n; k++) {
        if (k >= STREAM_STEPS_LOG2)
            memcpy(matrices + (size_t)(k - STREAM_STEPS_LOG2) * MATRIX_WORDS, power, sizeof power);
        square(power, squared);
        memcpy(power, squared, sizeof power);
    }
    return matrices;
}

// ---- Reference ----------------------------------------------------------------------------------------------------

// Computes float operations in double precision and rounds once, which equals the float operation.
static bool is_inside(float x, float y) {
    float xx = (float)((double)x * (double)x), yy = (float)((double)y * (double)y);
    return (float)((double)xx + (double)yy) <= 1.0f;
}

static float next_uniform(struct sequence *s) {
    step_words(s->word);
    s->counter += COUNTER_STEP;
    return (float)((s->word[4] + s->counter) >> 8) * 0x1p-24f;
}

static uint32_t count_reference(struct sequence stream_start, int n_points, int n_threads) {
    uint32_t n_inside = 0;
    for (int thread = 0; thread < n_threads && thread < n_points; thread++) {
        struct sequence s = stream_start;
        for (int i = thread; i < n_points; i += n_threads) {
            float x = next_uniform(&s), y = next_uniform(&s);
            n_inside += is_inside(x, y);
        }
        for (int i = 0; i < STREAM_STEPS; i++)
            next_uniform(&stream_start);
    }
    return n_inside;
}

// ---- Device -------------------------------------------------------------------------------------------------------

static uint32_t count_on_device(const struct workload *w, struct sequence seed, int n_points,
                                struct workload_shape shape) {
    unsigned n_threads = shape.blocks * shape.threads;
    int n_matrices = 1;
    while (n_matrices < MAX_MATRICES && n_threads >> n_matrices)
        n_matrices++;
    uint32_t *matrices = make_matrices(w, n_matrices), n_inside = 0, stream_steps = STREAM_STEPS;
    CUdeviceptr device_matrices = workload_upload(w, matrices, (size_t)n_matrices * MATRIX_WORDS * sizeof *matrices);
    CUdeviceptr device_seed = workload_upload(w, &seed, sizeof seed);
    CUdeviceptr device_count = workload_upload(w, &n_inside, sizeof n_inside);
    workload_launch(w, "epp", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&device_matrices, &device_seed, &stream_steps, &n_points, &device_count});
    workload_download(w, &n_inside, device_count, sizeof n_inside);
    workload_device_free(w, device_matrices);
    workload_device_free(w, device_seed);
    workload_device_free(w, device_count);
    free(matrices);
    return n_inside;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n_points = (int)workload_pick(&w, 1000, 10000, 100000);
    unsigned n_threads = workload_pick(&w, 128, 1280, 24960);
    struct workload_shape shape = workload_shape(&w, n_threads, workload_pick(&w, 64, 128, 128));
    struct sequence seed = make_seed(&w);
    uint32_t n_inside = count_on_device(&w, seed, n_points, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        uint32_t expected = count_reference(seed, n_points, (int)(shape.blocks * shape.threads));
        diff = workload_diff_u32(&n_inside, &expected, 1);
    }
    return workload_finish(&w, w.check ? &diff : NULL, "pi is about %.4f, %d points, %u blocks of %u threads",
                           4.0 * n_inside / n_points, n_points, shape.blocks, shape.threads);
}
