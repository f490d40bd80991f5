// hotspot: temperatures of a chip, by explicit time steps.
//
// The chip is 16 mm wide and 0.5 mm thick, of silicon (100 W/(m K), 1.75e6 J/(m^3 K)), and burns up to 3 W/mm^2. The
// time step is a quarter of the longest stable one. The reference adds up the heat that flows through each wall between
// two cells, in double precision. Tolerance: 5e-4 kelvin. A step rounds some six times to 4e-6 kelvin (temperatures are
// below 128), and steps damp earlier errors.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_X = 32, BLOCK_Y = 8, SIDE_OPTION = 0, ITERATIONS_OPTION = 1, CODE_OPTION = 2 };
enum { TILE = 16, TILE_STEPS = 2, TILE_INNER = TILE - 2 * TILE_STEPS }; // as in kernel.cu

static const struct workload_info info = {
    .name = "hotspot",
    .summary = "temperatures of a chip, one launch per time step",
    .sizes = {"64 x 64 cells, 4 steps", "256 x 256 cells, 6 steps", "512 x 512 cells, 8 steps"},
    .options = {[SIDE_OPTION] = {"--side", "N", "cells along a side of the chip; Meng 2010: 300", 2, 4096},
                [ITERATIONS_OPTION] = {"--iterations", "N", "time steps; Meng 2010: 100", 1, 10000},
                [CODE_OPTION] = {"--code", "cells|columns", "a thread for a cell, or for a column (for Narasiman)", 0,
                                 0}},
};

// As in kernel.cu.
struct rates {
    float lateral, vertical, power;
    float ambient;
};

static struct rates make_rates(int side) {
    const double chip = 16e-3, thickness = 0.5e-3, conductivity = 100, heat_capacity = 1.75e6;
    double cell = chip / side, capacity = heat_capacity * thickness * cell * cell;
    double lateral = conductivity * thickness, vertical = conductivity * cell * cell / thickness; // W/K
    double step = 0.25 * capacity / (4 * lateral + vertical);                                     // s
    return (struct rates){(float)(lateral * step / capacity), (float)(vertical * step / capacity),
                          (float)(step / capacity), 45.0f};
}

struct chip {
    float *temperature, *power; // degrees Celsius, watts for each cell
};

static struct chip make_chip(struct workload *w, int side) {
    const double most_watts = 3e6 * 16e-3 * 16e-3 / side / side;
    size_t n = (size_t)side * (size_t)side;
    struct chip chip = {workload_array(w, n, sizeof(float)), workload_array(w, n, sizeof(float))};
    for (size_t i = 0; i < n; i++) {
        chip.temperature[i] = 50.0f + 50.0f * ((float)workload_random(w) * 0x1p-24f);
        chip.power[i] = (float)(most_watts * (double)workload_random(w) * 0x1p-24);
    }
    return chip;
}

enum code { CELLS, COLUMNS, TILES };

static enum code code_of(const struct workload *w) {
    static const char *const names[] = {"cells", "columns", "tiles"};
    const char *code = w->option[CODE_OPTION].text;
    for (unsigned i = 0; code && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(code, names[i]) == 0)
            return (enum code)i;
    if (code)
        workload_usage_error(w, "--code takes cells, columns or tiles, not '%s'", code);
    return CELLS;
}

// In tiles, each launch is TILE_STEPS steps.
static struct workload_grid make_tiles(const struct workload *w, unsigned side, int n_steps) {
    if (n_steps % TILE_STEPS)
        workload_usage_error(w, "--code tiles takes an even number of steps, not %d", n_steps);
    if (w->blocks || w->threads_per_block)
        workload_usage_error(w, "--code tiles has blocks of %d x %d, as many as the chip needs", TILE, TILE);
    unsigned blocks = (side + TILE_INNER - 1) / TILE_INNER;
    return (struct workload_grid){blocks, blocks, TILE, TILE, 0};
}

// Two-dimensional blocks unless the user asks for a shape or the device has no room for them.
static struct workload_grid make_grid(const struct workload *w, unsigned side) {
    struct workload_shape shape = workload_shape(w, (size_t)side * side, BLOCK_X * BLOCK_Y);
    if (code_of(w) == COLUMNS) {
        shape = workload_shape(w, side, BLOCK_X * BLOCK_Y);
        if (shape.blocks * shape.threads % side)
            workload_usage_error(w, "%u blocks of %u threads are no multiple of %u cells; --code columns needs that",
                                 shape.blocks, shape.threads, side);
        return (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0};
    }
    if (w->blocks || w->threads_per_block || shape.threads < BLOCK_X * BLOCK_Y)
        return (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0};
    return (struct workload_grid){(side + BLOCK_X - 1) / BLOCK_X, (side + BLOCK_Y - 1) / BLOCK_Y, BLOCK_X, BLOCK_Y, 0};
}

static struct workload_grid heat(const struct workload *w, const struct chip *chip, int side, int n_steps,
                                 float *result) {
    bool is_tiles = code_of(w) == TILES;
    struct workload_grid grid = is_tiles ? make_tiles(w, (unsigned)side, n_steps) : make_grid(w, (unsigned)side);
    const char *kernel = is_tiles                ? "hotspot_tiles"
                         : code_of(w) == COLUMNS ? "hotspot_columns"
                         : grid.threads_y > 1    ? "hotspot"
                                                 : "hotspot_strided";
    struct rates rates = make_rates(side);
    size_t bytes = (size_t)side * (size_t)side * sizeof(float);
    CUdeviceptr power = workload_upload(w, chip->power, bytes), before = workload_device_alloc(w, bytes);
    CUdeviceptr after = workload_upload(w, chip->temperature, bytes);
    for (int i = 0; i < n_steps; i += is_tiles ? TILE_STEPS : 1) {
        CUdeviceptr swap = before;
        before = after;
        after = swap;
        workload_launch(w, kernel, grid, (void *[]){&before, &power, &after, &rates, &side});
    }
    workload_download(w, result, after, bytes);
    workload_device_free(w, power);
    workload_device_free(w, before);
    workload_device_free(w, after);
    return grid;
}

// Moves heat through the wall between cells i and j.
static void exchange(const double *t, double *change, size_t i, size_t j, double lateral) {
    double flow = lateral * (t[j] - t[i]);
    change[i] += flow;
    change[j] -= flow;
}

static void heat_reference(const struct workload *w, const struct chip *chip, int side, int n_steps, float *result) {
    struct rates r = make_rates(side);
    size_t width = (size_t)side, n = width * width;
    double *t = workload_array(w, n, sizeof *t), *change = workload_array(w, n, sizeof *change);
    for (size_t i = 0; i < n; i++)
        t[i] = (double)chip->temperature[i];
    for (int step = 0; step < n_steps; step++) {
        for (size_t i = 0; i < n; i++)
            change[i] = (double)r.power * (double)chip->power[i] + (double)r.vertical * ((double)r.ambient - t[i]);
        for (size_t i = 0; i < n; i++) {
            if ((i + 1) % width)
                exchange(t, change, i, i + 1, (double)r.lateral);
            if (i + width < n)
                exchange(t, change, i, i + width, (double)r.lateral);
        }
        for (size_t i = 0; i < n; i++)
            t[i] += change[i];
    }
    for (size_t i = 0; i < n; i++)
        result[i] = (float)t[i];
    free(t);
    free(change);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    const struct workload_value *given = w.option;
    int side = (int)(given[SIDE_OPTION].text ? given[SIDE_OPTION].number : workload_pick(&w, 64, 256, 512));
    int n_steps = (int)(given[ITERATIONS_OPTION].text ? given[ITERATIONS_OPTION].number : workload_pick(&w, 4, 6, 8));
    size_t n = (size_t)side * (size_t)side;
    struct chip chip = make_chip(&w, side);
    float *result = workload_array(&w, n, sizeof *result), *expected = workload_array(&w, n, sizeof *expected);
    struct workload_grid grid = heat(&w, &chip, side, n_steps, result);

    struct workload_diff diff = {0};
    if (w.check) {
        heat_reference(&w, &chip, side, n_steps, expected);
        diff = workload_diff_f32(result, expected, n, 5e-4, 0);
    }
    free(chip.temperature);
    free(chip.power);
    free(result);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d x %d cells, %d launches of %u blocks of %u threads", side,
                           side, code_of(&w) == TILES ? n_steps / TILE_STEPS : n_steps, grid.blocks_x * grid.blocks_y,
                           grid.threads_x * grid.threads_y);
}
