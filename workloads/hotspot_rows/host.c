// hotspot_rows: temperatures of a chip, by explicit time steps, one row of cells per thread.
//
// The chip is 16 mm high and 0.5 mm thick, of silicon (100 W/(m K), 1.75e6 J/(m^3 K)), and burns up to 3 W/mm^2. The
// time step is a quarter of the longest stable one. The reference adds up the heat that flows through each wall of a
// cell. Tolerance: 1e-10 kelvin. A step rounds some ten times to 1e-14 kelvin, and steps damp earlier errors.
#include "../common/workload.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "hotspot_rows",
    .summary = "temperatures of a chip, one row of cells per thread, two launches per time step",
    .sizes = {"24 x 256 cells, 2 steps", "300 x 300 cells, 6 steps", "300 x 300 cells, 100 steps"},
    .options = {WORKLOAD_REJOIN_OPTION},
};

// As in kernel.cu.
struct rates {
    double lateral, vertical, power;
    double ambient;
};

static struct rates make_rates(size_t height) {
    const double chip = 16e-3, thickness = 0.5e-3, conductivity = 100, heat_capacity = 1.75e6;
    double cell = chip / (double)height, capacity = heat_capacity * thickness * cell * cell;
    double lateral = conductivity * thickness, vertical = conductivity * cell * cell / thickness; // W/K
    double step = 0.25 * capacity / (4 * lateral + vertical);                                     // s
    return (struct rates){lateral * step / capacity, vertical * step / capacity, step / capacity, 45};
}

struct chip {
    size_t width, height, pitch; // cells, and those from one row to the next
    double *temperature, *power; // degrees Celsius, watts for each cell
};

// The pitch is odd: rows begin at every place of a line.
static struct chip make_chip(struct workload *w, size_t width, size_t height) {
    const double most_watts = 3e6 * 16e-3 * 16e-3 / (double)height / (double)height;
    size_t pitch = width | 1, n = height * pitch;
    struct chip chip = {width, height, pitch, workload_array(w, n, sizeof(double)),
                        workload_array(w, n, sizeof(double))};
    for (size_t i = 0; i < n; i++) {
        chip.temperature[i] = 50 + 50 * ((double)workload_random(w) * 0x1p-24);
        chip.power[i] = most_watts * (double)workload_random(w) * 0x1p-24;
    }
    return chip;
}

static void heat(const struct workload *w, const struct chip *chip, unsigned n_steps, double *result,
                 struct workload_shape shape) {
    struct rates rates = make_rates(chip->height);
    size_t bytes = chip->height * chip->pitch * sizeof(double);
    int width = (int)chip->width, height = (int)chip->height, rejoins = workload_rejoins(w);
    long long pitch = (long long)chip->pitch;
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    CUdeviceptr power = workload_upload(w, chip->power, bytes), before = workload_upload(w, chip->temperature, bytes);
    CUdeviceptr after = workload_upload(w, chip->temperature, bytes);
    for (unsigned i = 0; i < n_steps; i++) {
        workload_launch(w, "hotspot_rows", grid,
                        (void *[]){&before, &power, &after, &rates, &width, &height, &pitch, &rejoins});
        workload_launch(w, "copy_rows", grid, (void *[]){&after, &before, &width, &height, &pitch, &rejoins});
    }
    workload_download(w, result, before, bytes);
    workload_device_free(w, power);
    workload_device_free(w, before);
    workload_device_free(w, after);
}

// Moves heat through the wall between cells i and j.
static void exchange(const double *t, double *change, size_t i, size_t j, double lateral) {
    double flow = lateral * (t[j] - t[i]);
    change[i] += flow;
    change[j] -= flow;
}

static void step_reference(const struct chip *chip, const struct rates *r, double *t, double *change) {
    size_t width = chip->width, height = chip->height, pitch = chip->pitch;
    for (size_t i = 0; i < height * pitch; i++)
        change[i] = r->power * chip->power[i] + r->vertical * (r->ambient - t[i]);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            size_t i = y * pitch + x, n_cold_walls = (size_t)(x == 0) + (y == 0);
            change[i] += (double)n_cold_walls * r->lateral * (r->ambient - t[i]);
            if (x + 1 < width)
                exchange(t, change, i, i + 1, r->lateral);
            if (y + 1 < height)
                exchange(t, change, i, i + pitch, r->lateral);
        }
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            t[y * pitch + x] += change[y * pitch + x];
}

static void heat_reference(const struct workload *w, const struct chip *chip, unsigned n_steps, double *result) {
    struct rates r = make_rates(chip->height);
    size_t n = chip->height * chip->pitch;
    double *change = workload_array(w, n, sizeof *change);
    for (size_t i = 0; i < n; i++)
        result[i] = chip->temperature[i];
    for (unsigned step = 0; step < n_steps; step++)
        step_reference(chip, &r, result, change);
    free(change);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned width = workload_pick(&w, 24, 300, 300), height = workload_pick(&w, 256, 300, 300);
    unsigned n_steps = workload_pick(&w, 2, 6, 100);
    struct chip chip = make_chip(&w, width, height);
    size_t n = height * chip.pitch;
    double *result = workload_array(&w, n, sizeof *result), *expected = workload_array(&w, n, sizeof *expected);
    struct workload_shape shape = workload_loop_shape(&w, height);
    heat(&w, &chip, n_steps, result, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        heat_reference(&w, &chip, n_steps, expected);
        diff = workload_diff_f64(result, expected, n, 1e-10, 0);
    }
    free(chip.temperature);
    free(chip.power);
    free(result);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%u x %u cells, %u launches of %u blocks of %u threads", width,
                           height, 2 * n_steps, shape.blocks, shape.threads);
}
