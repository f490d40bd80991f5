// blackscholes: call and put prices of European options.
//
// The reference is in double precision with erfc(). Tolerance: 1e-4 + 1e-5 of the price. Spot and strike are at most
// 50, so the distribution's polynomial contributes at most 1e-5, and single precision with the approximate exponential
// and logarithm (relative error about 1e-6 of a spot or strike) the rest.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

static const struct workload_info info = {
    .name = "blackscholes",
    .summary = "European option prices, one option per thread",
    .sizes = {"12,288 options", "262,144 options", "524,288 options"},
};

static const float rate = 0.03f, volatility = 0.25f;

static double normal_cumulative(double d) { return 0.5 * erfc(-d * 0.70710678118654752440); }

static void price_reference(double spot, double strike, double years, float *call, float *put) {
    double r = (double)rate, v = (double)volatility;
    double d1 = (log(spot / strike) + (r + 0.5 * v * v) * years) / (v * sqrt(years));
    double d2 = d1 - v * sqrt(years);
    double present = strike * exp(-r * years);
    *call = (float)(spot * normal_cumulative(d1) - present * normal_cumulative(d2));
    *put = (float)(present * normal_cumulative(-d2) - spot * normal_cumulative(-d1));
}

static float uniform(struct workload *w, float low, float high) {
    return low + (high - low) * ((float)workload_random(w) * 0x1p-24f);
}

struct options {
    float *spot, *strike, *years;
};

static struct options make_options(struct workload *w, size_t n) {
    struct options o = {workload_array(w, n, sizeof(float)), workload_array(w, n, sizeof(float)),
                        workload_array(w, n, sizeof(float))};
    for (size_t i = 0; i < n; i++) {
        o.spot[i] = uniform(w, 5.0f, 50.0f);
        o.strike[i] = uniform(w, 5.0f, 50.0f);
        o.years[i] = uniform(w, 0.25f, 5.0f);
    }
    return o;
}

// `price` holds n calls and then n puts.
static void price_on_device(const struct workload *w, const struct options *o, struct workload_shape shape,
                            float *price, int n) {
    size_t bytes = (size_t)n * sizeof(float);
    float r = rate, v = volatility;
    CUdeviceptr spot = workload_upload(w, o->spot, bytes), strike = workload_upload(w, o->strike, bytes);
    CUdeviceptr years = workload_upload(w, o->years, bytes), call = workload_device_alloc(w, 2 * bytes);
    CUdeviceptr put = call + bytes;
    workload_launch(w, "blackscholes", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&spot, &strike, &years, &call, &put, &r, &v, &n});
    workload_download(w, price, call, 2 * bytes);
    workload_device_free(w, spot);
    workload_device_free(w, strike);
    workload_device_free(w, years);
    workload_device_free(w, call);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 12288, 1 << 18, 1 << 19);
    size_t count = (size_t)n;
    struct options o = make_options(&w, count);
    float *price = workload_array(&w, 2 * count, sizeof *price);
    float *expected = workload_array(&w, 2 * count, sizeof *expected);
    struct workload_shape shape = workload_shape(&w, count, 256);
    price_on_device(&w, &o, shape, price, n);

    struct workload_diff diff = {0};
    if (w.check) {
        for (size_t i = 0; i < count; i++)
            price_reference((double)o.spot[i], (double)o.strike[i], (double)o.years[i], &expected[i],
                            &expected[count + i]);
        diff = workload_diff_f32(price, expected, 2 * count, 1e-4, 1e-5);
    }
    free(o.spot);
    free(o.strike);
    free(o.years);
    free(price);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d options, %u blocks of %u threads", n, shape.blocks,
                           shape.threads);
}
