// picture: two consecutive if-else, decided by the colours of a picture, so that the picture shows which warps diverge.
// With two colours the second branch takes the same direction as the first.
//
// The reference takes each chain of multiply-adds in one step, by a power, in double precision. Tolerance: 1e-6. Values
// are at most 1, and every step brings them nearer to a goal, which also shrinks errors.
#include "../common/png.h"
#include "../common/workload.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARM_STEPS = 32, COMMON_STEPS = 8 }; // as in kernel.cu
enum { OPTION_PATTERN, OPTION_COLOURS, OPTION_CELL, OPTION_IMAGE };
enum { DEFAULT_CELL = 16 };

static const struct workload_info info = {
    .name = "picture",
    .summary = "two if-else decided by the colours of a picture, one pixel per thread",
    .sizes = {"128 x 128 pixels", "512 x 512 pixels", "256 x 256 pixels"},
    .options = {{"--pattern", "NAME", "disc (default), stripes, checkerboard, blocks, random or waves", 0, 0},
                {"--colours", "N", "2 or 4, default 4", 2, 4},
                {"--cell", "N", "pixels across a stripe, field, block or wave, default 16", 1, 512},
                {"--image", "FILE.png", "write the result as a picture", 0, 0}},
};

// ---- Patterns -----------------------------------------------------------------------------------------------------

struct pattern {
    unsigned side, cell, n_colours;
    uint32_t seed;
};

// The patterns below return the number of the colour at (x, y), less than n_colours.

// Rings around the middle; with two colours a disc whose radius is a quarter of the side.
static unsigned disc_at(const struct pattern *p, unsigned x, unsigned y) {
    double middle = 0.5 * p->side, radius = hypot(x + 0.5 - middle, y + 0.5 - middle);
    unsigned ring = (unsigned)(radius * p->n_colours / middle);
    return ring < p->n_colours ? ring : p->n_colours - 1;
}

static unsigned stripes_at(const struct pattern *p, unsigned x, unsigned y) {
    (void)y;
    return x / p->cell % p->n_colours;
}

static unsigned checkerboard_at(const struct pattern *p, unsigned x, unsigned y) {
    return (x / p->cell + y / p->cell) % p->n_colours;
}

// A random colour that depends only on the cell's place: the final steps of a hash function (xor, shift, multiply).
static unsigned blocks_at(const struct pattern *p, unsigned x, unsigned y) {
    uint32_t hash = p->seed ^ (y / p->cell * p->side + x / p->cell) * 0x9e3779b1u;
    hash = (hash ^ hash >> 16) * 0x7feb352du;
    hash = (hash ^ hash >> 15) * 0x846ca68bu;
    return (hash ^ hash >> 16) % p->n_colours;
}

static unsigned random_at(const struct pattern *p, unsigned x, unsigned y) {
    struct pattern pixels = *p;
    pixels.cell = 1;
    return blocks_at(&pixels, x, y);
}

// A smooth picture in shades of grey: waves of lengths around four cells in three directions.
static unsigned waves_at(const struct pattern *p, unsigned x, unsigned y) {
    double scale = 6.283185307179586 / (4.0 * p->cell);
    double sum = sin(scale * x + 0.7) + sin(scale * (0.6 * x + 0.8 * y) + 2.1) + sin(scale * (1.1 * y - 0.3 * x) + 4.4);
    double level = (sum / 3.0 + 1.0) / 2.0 * p->n_colours;
    return level < p->n_colours ? (unsigned)level : p->n_colours - 1;
}

static const struct {
    const char *name;
    unsigned (*at)(const struct pattern *p, unsigned x, unsigned y);
} patterns[] = {{"disc", disc_at},     {"stripes", stripes_at}, {"checkerboard", checkerboard_at},
                {"blocks", blocks_at}, {"random", random_at},   {"waves", waves_at}};

static size_t find_pattern(const struct workload *w) {
    const char *name = w->option[OPTION_PATTERN].text;
    size_t n = sizeof patterns / sizeof patterns[0];
    for (size_t i = 0; i < n; i++)
        if (!name || !strcmp(name, patterns[i].name))
            return i;
    workload_usage_error(w, "--pattern takes disc, stripes, checkerboard, blocks, random or waves, not '%s'", name);
}

// Bit 0 of a colour decides the first branch, bit 1 the second. Colours are shades of grey from dark to light: of four,
// the first branch separates the two dark from the two light ones, the second the shades of each. With two colours both
// branches go the same way.
static uint8_t *make_colours(struct workload *w, unsigned side) {
    static const uint8_t of_two[] = {0, 3}, of_four[] = {0, 2, 1, 3};
    size_t which = find_pattern(w);
    unsigned asked = w->option[OPTION_COLOURS].number, cell = w->option[OPTION_CELL].number;
    struct pattern p = {side, cell ? cell : DEFAULT_CELL, asked ? asked : 4, workload_random(w)};
    if (p.n_colours == 3)
        workload_usage_error(w, "--colours takes 2 or 4, not '3'");
    uint8_t *colours = workload_array(w, (size_t)side * side, 1);
    for (unsigned i = 0; i < side * side; i++) {
        unsigned number = patterns[which].at(&p, i % side, i / side);
        colours[i] = p.n_colours == 2 ? of_two[number] : of_four[number];
    }
    return colours;
}

// ---- Reference and result -----------------------------------------------------------------------------------------

static double draw_towards(double value, double goal, double keep, int steps) {
    return goal + (value - goal) * pow(keep, steps);
}

static float reference(unsigned colour, double value) {
    bool a = colour & 1, b = colour & 2;
    value = draw_towards(value, a ? 1.0 : 0.0625, a ? 0.875 : 0.90625, ARM_STEPS);
    value = draw_towards(value, 0.5, 0.984375, COMMON_STEPS);
    return (float)draw_towards(value, b ? 0.96875 : 0.03125, b ? 0.96875 : 0.9765625, ARM_STEPS);
}

// Grey, 0 black and 1 white.
static void write_image(const struct workload *w, const float *values, unsigned side) {
    const char *path = w->option[OPTION_IMAGE].text;
    uint8_t *rgb = workload_array(w, (size_t)side * side, 3);
    for (size_t i = 0; i < (size_t)side * side; i++)
        memset(rgb + 3 * i, (int)fmin(fmax(255.0 * (double)values[i], 0.0), 255.0), 3);
    if (!workload_write_png(path, rgb, side, side))
        workload_fail(w, "cannot write '%s': %s", path, strerror(errno));
    free(rgb);
}

static void compute(const struct workload *w, const uint8_t *colours, const float *in, float *out, int n,
                    struct workload_shape shape) {
    size_t bytes = (size_t)n * sizeof(float);
    CUdeviceptr device_colours = workload_upload(w, colours, (size_t)n), device_in = workload_upload(w, in, bytes);
    CUdeviceptr device_out = workload_device_alloc(w, bytes);
    workload_launch(w, shape.covers ? "picture" : "picture_strided",
                    (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&device_colours, &device_in, &device_out, &n});
    workload_download(w, out, device_out, bytes);
    workload_device_free(w, device_colours);
    workload_device_free(w, device_in);
    workload_device_free(w, device_out);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned side = workload_pick(&w, 128, 512, 256);
    size_t n = (size_t)side * side;
    uint8_t *colours = make_colours(&w, side);
    float *in = workload_array(&w, n, sizeof *in), *out = workload_array(&w, n, sizeof *out);
    for (size_t i = 0; i < n; i++)
        in[i] = (float)workload_random(&w) * 0x1p-24f;
    struct workload_shape shape = workload_shape(&w, n, 256);
    compute(&w, colours, in, out, (int)n, shape);
    if (w.option[OPTION_IMAGE].text)
        write_image(&w, out, side);

    struct workload_diff diff = {0};
    if (w.check) {
        float *expected = workload_array(&w, n, sizeof *expected);
        for (size_t i = 0; i < n; i++)
            expected[i] = reference(colours[i], (double)in[i]);
        diff = workload_diff_f32(out, expected, n, 1e-6, 0.0);
        free(expected);
    }
    free(colours);
    free(in);
    free(out);
    return workload_finish(&w, w.check ? &diff : NULL, "%u x %u pixels, %s, %u blocks of %u threads", side, side,
                           patterns[find_pattern(&w)].name, shape.blocks, shape.threads);
}
