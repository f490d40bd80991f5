// wp: time steps of cloud microphysics in columns of air.
//
// The reference is in double precision and has no conditions: it applies every process everywhere, with rates that are
// zero where the process does not act, and reads the warming of a change of phase from a table of the kinds of water.
// The comment at check() states the tolerances.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

enum { TILE = 8 }; // as in kernel.cu

static const struct workload_info info = {
    .name = "wp",
    .summary = "weather prediction: cloud microphysics, a column of air per thread, many short branches",
    .sizes = {"16 x 8 columns of 20 levels, 2 steps", "32 x 32 columns of 27 levels, 4 steps",
              "72 x 64 columns of 27 levels, 10 steps"},
};

static const float layer_height = 500.0f, seconds = 60.0f;

// The order of the fields in kernel.cu.
enum { VAPOUR, DROPLETS, ICE, RAIN, SNOW, GRAUPEL, N_WATERS };

// Level k of column c is at [k * n_columns + c]; level 0 is at the ground. `fallen` holds each column's rain, then each
// column's snow.
struct field {
    size_t n_columns, n_levels;
    float *pressure, *temperature, *water[N_WATERS], *fallen;
};

struct domain {
    int width, height, n_levels, n_steps;
};

// As in kernel.cu.
struct air {
    CUdeviceptr temperature, water[N_WATERS], pressure, fallen_rain, fallen_snow;
    int n_columns, n_levels;
    float layer_height, seconds;
};

// ---- Reference ----------------------------------------------------------------------------------------------------

// The air of one level of a column.
struct parcel {
    double pressure, density, temperature, water[N_WATERS];
};

static const double freezing = 273.15, trace = 1e-9;

// The warming of air when vapour becomes this kind of water, in kelvin for a kilogram in a kilogram.
static const double heat[N_WATERS] = {[DROPLETS] = 2490, [RAIN] = 2490, [ICE] = 2823, [SNOW] = 2823, [GRAUPEL] = 2823};

static void move(struct parcel *p, int from, int to, double amount) {
    amount = fmin(amount, p->water[from]);
    p->water[from] -= amount;
    p->water[to] += amount;
    p->temperature += (heat[to] - heat[from]) * amount;
}

static double above(double x, double edge) { return fmax(x - edge, 0.0); }

static double present(const struct parcel *p, int kind) { return above(p->water[kind], trace); }

// A power of the amount of water: per kilogram, or per cubic metre of air.
static double mass_power(const struct parcel *p, int kind, double exponent) { return pow(present(p, kind), exponent); }
static double volume_power(const struct parcel *p, int kind, double exponent) {
    return pow(p->density * present(p, kind), exponent);
}

static double saturation(double temperature, double pressure, double steepness, double pole) {
    double vapour_pressure = 611.2 * exp(steepness * (temperature - freezing) / (temperature - pole));
    return 0.622 * vapour_pressure / (pressure - 0.378 * vapour_pressure);
}

static double water_saturation(double temperature, double pressure) {
    return saturation(temperature, pressure, 17.67, 29.65);
}

static void melt(struct parcel *p, double dt) {
    const int kinds[] = {ICE, SNOW, GRAUPEL}, products[] = {DROPLETS, RAIN, RAIN};
    for (int k = 0; k < 3; k++) {
        double most = above(p->temperature, freezing) / (heat[ICE] - heat[RAIN]),
               warmth = above(p->temperature, freezing);
        double rates[] = {most, dt * 2e-4 * warmth * volume_power(p, SNOW, 0.65),
                          dt * 1e-4 * warmth * volume_power(p, GRAUPEL, 0.7)};
        move(p, kinds[k], products[k], fmin(rates[k], most));
    }
}

static void freeze(struct parcel *p, double dt) {
    double cold = above(freezing, p->temperature), nuclei = dt * (exp(0.66 * fmin(cold, 40.0)) - 1.0);
    double share = fmin(above(cold, 35.0) / 5.0, 1.0), droplets = p->water[DROPLETS];
    move(p, DROPLETS, ICE, 3.3e-10 * nuclei * p->density * droplets * droplets);
    move(p, DROPLETS, ICE, dt * 2e-5 * pow(above(cold, 4.0), 1.3) * p->water[DROPLETS]);
    move(p, RAIN, GRAUPEL, 5e-4 * nuclei * volume_power(p, RAIN, 1.75) / p->density);
    move(p, DROPLETS, ICE, share * p->water[DROPLETS]);
}

static void adjust(struct parcel *p, double dt) {
    double saturated = water_saturation(p->temperature, p->pressure), pole_distance = p->temperature - 29.65;
    double share = 1.0 / (1.0 + heat[DROPLETS] * saturated * 17.67 * 243.5 / (pole_distance * pole_distance));
    double excess = above(p->water[VAPOUR], saturated), lack = above(saturated, p->water[VAPOUR]);
    move(p, VAPOUR, RAIN, share * excess * fmin(dt * 0.02 * volume_power(p, RAIN, 0.525), 0.2));
    move(p, VAPOUR, DROPLETS, 0.8 * share * excess);
    move(p, DROPLETS, VAPOUR, lack * share);
    double dryness = above(1.0, p->water[VAPOUR] / saturated) * (excess > 0.0 ? 0.0 : 1.0);
    move(p, RAIN, VAPOUR, dryness * fmin(dt * 1.5e-3 * volume_power(p, RAIN, 0.525), 0.5 * saturated));
}

static void exchange_ice(struct parcel *p, double dt, double ramp) {
    const int kinds[] = {ICE, SNOW, GRAUPEL};
    const double factors[] = {2e-4, 3e-4, 1e-4}, exponents[] = {0.6, 0.65, 0.7};
    double saturated = saturation(p->temperature, p->pressure, 21.875, 7.66);
    double excess = ramp * above(p->water[VAPOUR], saturated), lack = ramp * above(saturated, p->water[VAPOUR]);
    double crystals = 1e3 * exp(0.1 * (freezing - p->temperature));
    double first = 4.92e-11 * pow(crystals, 1.33) / p->density;
    move(p, VAPOUR, ICE, fmin(above(first, p->water[ICE]), 0.25 * excess));
    for (int k = 0; k < 3; k++) {
        double rate = dt / saturated * factors[k] * volume_power(p, kinds[k], exponents[k]);
        move(p, VAPOUR, kinds[k], excess * fmin(rate, 0.25));
        move(p, kinds[k], VAPOUR, lack * fmin(rate, 0.25));
    }
}

// dt is zero where nothing freezes.
static void collect_cold(struct parcel *p, double dt) {
    double cold = above(freezing, p->temperature);
    move(p, ICE, SNOW, dt * 1e-3 * exp(-0.025 * cold) * above(p->water[ICE], 8e-5));
    move(p, DROPLETS, ICE, dt * 2e-2 * cold * p->water[DROPLETS] * mass_power(p, ICE, 0.5));
    double sweep = dt * mass_power(p, SNOW, 0.8);
    move(p, ICE, SNOW, 0.8 * exp(-0.05 * cold) * sweep * p->water[ICE]);
    double rime = fmin(1.2 * sweep, 1.0) * p->water[DROPLETS];
    move(p, DROPLETS, SNOW, rime);
    move(p, SNOW, ICE, 0.02 * above(cold, 3.0) * above(8.0, cold) * rime);
    move(p, RAIN, SNOW, 1.5 * sweep * p->water[RAIN]);
    move(p, SNOW, GRAUPEL, dt * 1e-3 * exp(-0.09 * cold) * above(p->water[SNOW], 6e-4));
    sweep = dt * mass_power(p, GRAUPEL, 0.85);
    move(p, DROPLETS, GRAUPEL, 2.0 * sweep * p->water[DROPLETS]);
    move(p, RAIN, GRAUPEL, 2.5 * sweep * p->water[RAIN]);
    move(p, ICE, GRAUPEL, 0.2 * exp(-0.05 * cold) * sweep * p->water[ICE]);
    move(p, SNOW, GRAUPEL, 0.2 * exp(-0.09 * cold) * sweep * p->water[SNOW]);
    double both = dt * 1.8 * mass_power(p, RAIN, 0.875) * p->water[ICE];
    move(p, ICE, GRAUPEL, both);
    move(p, RAIN, GRAUPEL, both);
}

// dt is zero where something freezes.
static void collect_wet(struct parcel *p, double dt) {
    move(p, DROPLETS, RAIN, dt * 1.2 * p->water[DROPLETS] * mass_power(p, SNOW, 0.8));
    move(p, DROPLETS, RAIN, dt * 2.0 * p->water[DROPLETS] * mass_power(p, GRAUPEL, 0.85));
    double saturated = water_saturation(p->temperature, p->pressure);
    double amount = fmin(dt * 2e-3 * volume_power(p, SNOW, 0.65), 0.5 * saturated);
    double excess = above(p->water[VAPOUR] / saturated, 1.0), lack = above(1.0, p->water[VAPOUR] / saturated);
    move(p, SNOW, VAPOUR, lack * amount);
    move(p, VAPOUR, SNOW, excess * amount);
}

static void change_reference(struct parcel *p, double dt) {
    p->density = p->pressure / (287.0 * p->temperature);
    for (int k = DROPLETS; k < N_WATERS; k++)
        if (p->water[k] < trace)
            move(p, k, VAPOUR, p->water[k]);
    melt(p, dt);
    freeze(p, dt);
    adjust(p, dt);
    move(p, DROPLETS, RAIN, dt * 1e-3 * above(p->water[DROPLETS], 5e-4));
    move(p, DROPLETS, RAIN, dt * 2.2 * p->water[DROPLETS] * mass_power(p, RAIN, 0.875));
    double cold_ramp = fmin(above(freezing, p->temperature), 1.0);
    double warm_ramp = fmin(above(p->temperature, freezing), 1.0);
    exchange_ice(p, dt, cold_ramp);
    collect_cold(p, dt * cold_ramp);
    collect_wet(p, dt * warm_ramp);
}

// Lets water fall from the top down through a column, whose parcels are `stride` apart; returns what reaches the
// ground.
static double fall_reference(struct parcel *column, size_t stride, size_t n_levels, int kind, double dt,
                             double height) {
    static const double speed[N_WATERS] = {0.0, 0.5, 3.29, 14.0, 3.0, 12.0};
    static const double exponent[N_WATERS] = {0.0, 0.4, 0.16, 0.1364, 0.12, 0.15};
    double arriving = 0.0; // kilograms on a square metre in this step
    for (size_t k = n_levels; k-- > 0;) {
        struct parcel *p = column + k * stride;
        double density = p->pressure / (287.0 * p->temperature), mass = density * height * p->water[kind] + arriving;
        double velocity = speed[kind] * pow(fmax(mass, 0.0) / height, exponent[kind]) * sqrt(1.2 / density);
        double staying = mass / (1.0 + velocity * dt / height);
        p->water[kind] = staying / (density * height);
        arriving = mass - staying;
    }
    return arriving;
}

// All steps of the whole field.
static void run_reference(const struct workload *w, struct field *f, int n_steps) {
    size_t n = f->n_columns * f->n_levels;
    struct parcel *parcels = workload_array(w, n, sizeof *parcels);
    double *fallen = workload_array(w, 2 * f->n_columns, sizeof *fallen);
    for (size_t i = 0; i < n; i++) {
        parcels[i].pressure = (double)f->pressure[i];
        parcels[i].temperature = (double)f->temperature[i];
        for (int k = 0; k < N_WATERS; k++)
            parcels[i].water[k] = (double)f->water[k][i];
    }
    for (int step = 0; step < n_steps; step++) {
        for (size_t i = 0; i < n; i++)
            change_reference(&parcels[i], (double)seconds);
        for (size_t c = 0; c < f->n_columns; c++)
            for (int k = DROPLETS; k < N_WATERS; k++)
                fallen[(k == RAIN || k == DROPLETS ? 0 : f->n_columns) + c] +=
                    fall_reference(parcels + c, f->n_columns, f->n_levels, k, (double)seconds, (double)layer_height);
    }
    for (size_t i = 0; i < n; i++) {
        f->temperature[i] = (float)parcels[i].temperature;
        for (int k = 0; k < N_WATERS; k++)
            f->water[k][i] = (float)parcels[i].water[k];
    }
    for (size_t c = 0; c < 2 * f->n_columns; c++)
        f->fallen[c] = (float)fallen[c];
    free(parcels);
    free(fallen);
}

// ---- Input --------------------------------------------------------------------------------------------------------

static double uniform(struct workload *w, double low, double high) {
    return low + (high - low) * (workload_random(w) * 0x1p-24);
}

// A cloud: how wet the air is falls off from its centre like a bell, in units of columns and levels.
struct cloud {
    double x, y, z, radius, depth;
};
enum { N_CLOUDS = 8 };

static double cloudiness(const struct cloud *clouds, double x, double y, double z) {
    double most = 0.0;
    for (int i = 0; i < N_CLOUDS; i++) {
        const struct cloud *c = &clouds[i];
        double across = hypot(x - c->x, y - c->y) / c->radius, up = (z - c->z) / c->depth;
        most = fmax(most, exp(-across * across - up * up));
    }
    return most;
}

// Air that is too moist inside clouds, with some water already there, and a little noise from elsewhere in the model.
static void fill_cell(struct workload *w, struct field *f, size_t at, double cloud, double altitude, double ground) {
    double t = fmax(ground - 6.5e-3 * altitude, 210.0), p = 1e5 * pow(1.0 - 2.25577e-5 * altitude, 5.2559);
    double core = fmax(cloud - 0.5, 0.0), frozen = fmin(fmax((freezing - t) / 20.0, 0.0), 1.0);
    double moisture = fmin(0.35 + 0.8 * cloud + uniform(w, -0.03, 0.03), 1.1);
    double water[N_WATERS] = {[VAPOUR] = moisture * water_saturation(t, p)};
    water[DROPLETS] = 2e-3 * core * (1.0 - 0.8 * frozen) * uniform(w, 0.5, 1.0);
    water[ICE] = 4e-4 * core * frozen * uniform(w, 0.5, 1.0);
    water[RAIN] = 4e-3 * fmax(cloud - 0.5, 0.0) * (1.0 - 0.8 * frozen) * uniform(w, 0.0, 1.0);
    water[SNOW] = 4e-3 * core * fmin(frozen + 0.2, 1.0) * uniform(w, 0.0, 1.0);
    water[GRAUPEL] = 2e-3 * fmax(cloud - 0.6, 0.0) * fmin(frozen + 0.2, 1.0) * uniform(w, 0.0, 1.0);
    bool is_noisy = workload_random(w) % 16 == 0;
    for (int k = DROPLETS; k < N_WATERS && is_noisy; k++)
        water[k] += uniform(w, -5e-10, 5e-10);
    f->pressure[at] = (float)p;
    f->temperature[at] = (float)t;
    for (int k = 0; k < N_WATERS; k++)
        f->water[k][at] = (float)water[k];
}

static struct field make_field(struct workload *w, const struct domain *d) {
    size_t n_columns = (size_t)d->width * (size_t)d->height, n = n_columns * (size_t)d->n_levels;
    struct field f = {.n_columns = n_columns, .n_levels = (size_t)d->n_levels};
    struct cloud clouds[N_CLOUDS];
    f.pressure = workload_array(w, n, sizeof(float));
    f.temperature = workload_array(w, n, sizeof(float));
    f.fallen = workload_array(w, 2 * n_columns, sizeof(float));
    for (int k = 0; k < N_WATERS; k++)
        f.water[k] = workload_array(w, n, sizeof(float));
    for (int i = 0; i < N_CLOUDS; i++)
        clouds[i] = (struct cloud){uniform(w, 0, d->width), uniform(w, 0, d->height), uniform(w, 0, d->n_levels - 6),
                                   uniform(w, 0.1, 0.3) * d->width, uniform(w, 3, 8)};
    for (size_t c = 0; c < n_columns; c++) {
        double x = (double)(c % (size_t)d->width), y = (double)(c / (size_t)d->width);
        double ground = 292.0 - 12.0 * y / d->height + uniform(w, -0.5, 0.5);
        for (int k = 0; k < d->n_levels; k++)
            fill_cell(w, &f, (size_t)k * n_columns + c, cloudiness(clouds, x, y, k), k * (double)layer_height, ground);
    }
    return f;
}

static void free_field(struct field *f) {
    free(f->pressure);
    free(f->temperature);
    free(f->fallen);
    for (int k = 0; k < N_WATERS; k++)
        free(f->water[k]);
}

// ---- Device -------------------------------------------------------------------------------------------------------

// Runs the steps on the device and stores the resulting field in `f`.
static struct workload_grid simulate(const struct workload *w, const struct domain *d, struct field *f) {
    size_t bytes = f->n_columns * f->n_levels * sizeof(float), ground_bytes = f->n_columns * sizeof(float);
    struct air a = {
        .n_columns = (int)f->n_columns, .n_levels = (int)f->n_levels, .layer_height = layer_height, .seconds = seconds};
    bool is_strided = w->blocks || w->threads_per_block;
    struct workload_shape shape = workload_shape(w, f->n_columns, TILE * TILE);
    struct workload_grid grid = {(unsigned)d->width / TILE, (unsigned)d->height / TILE, TILE, TILE, 0};
    if (is_strided)
        grid = (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0};
    int width = d->width;
    a.temperature = workload_upload(w, f->temperature, bytes);
    a.pressure = workload_upload(w, f->pressure, bytes);
    a.fallen_rain = workload_upload(w, f->fallen, 2 * ground_bytes);
    a.fallen_snow = a.fallen_rain + ground_bytes;
    for (int k = 0; k < N_WATERS; k++)
        a.water[k] = workload_upload(w, f->water[k], bytes);
    for (int step = 0; step < d->n_steps; step++)
        workload_launch(w, is_strided ? "wp_strided" : "wp", grid, (void *[]){&a, &width});
    workload_download(w, f->temperature, a.temperature, bytes);
    workload_download(w, f->fallen, a.fallen_rain, 2 * ground_bytes);
    workload_device_free(w, a.temperature);
    workload_device_free(w, a.pressure);
    workload_device_free(w, a.fallen_rain);
    for (int k = 0; k < N_WATERS; k++) {
        workload_download(w, f->water[k], a.water[k], bytes);
        workload_device_free(w, a.water[k]);
    }
    return grid;
}

// Returns the first quantity that is wrong, or the last one. Temperatures agree within 1e-3 kelvin: single precision
// rounds them to 3e-5, some twenty times per step. That moves the vapour at saturation, and all other kinds of water
// with it, by less than 1e-4 of it: they agree within 5e-7 + 5e-4 of the amount, and precipitation within 1e-5 + 1e-3.
static struct workload_diff check(const struct field *got, const struct field *expected) {
    size_t n = got->n_columns * got->n_levels;
    struct workload_diff diff = workload_diff_f32(got->temperature, expected->temperature, n, 1e-3, 0.0);
    for (int k = 0; k < N_WATERS && !diff.n_wrong; k++)
        diff = workload_diff_f32(got->water[k], expected->water[k], n, 5e-7, 5e-4);
    if (!diff.n_wrong)
        diff = workload_diff_f32(got->fallen, expected->fallen, 2 * got->n_columns, 1e-5, 1e-3);
    return diff;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    struct domain d = {(int)workload_pick(&w, 16, 32, 72), (int)workload_pick(&w, 8, 32, 64),
                       (int)workload_pick(&w, 20, 27, 27), (int)workload_pick(&w, 2, 4, 10)};
    uint32_t state = w.random_state;
    struct field got = make_field(&w, &d);
    struct workload_grid grid = simulate(&w, &d, &got);

    struct workload_diff diff = {0};
    double rain = 0.0;
    for (size_t c = 0; c < got.n_columns; c++)
        rain += (double)got.fallen[c] / (double)got.n_columns;
    if (w.check) {
        w.random_state = state; // the same input again
        struct field expected = make_field(&w, &d);
        run_reference(&w, &expected, d.n_steps);
        diff = check(&got, &expected);
        free_field(&expected);
    }
    free_field(&got);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%d x %d columns of %d levels, %.3g mm of rain, %d launches of %u blocks of %u threads",
                           d.width, d.height, d.n_levels, rain, d.n_steps, grid.blocks_x * grid.blocks_y,
                           grid.threads_x * grid.threads_y);
}
