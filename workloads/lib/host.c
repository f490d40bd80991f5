// lib: the value of a portfolio of swaptions and its derivatives under the LIBOR market model, by Monte Carlo.
//
// The reference runs every path in double precision on numbers that carry their derivatives along (forward, while the
// kernel goes backward). Tolerance: for values 2e-3 + 1e-4, for derivatives 2e-2 + 2e-4 of the number. Rates after 40
// steps have lost about 1e-6 of themselves in single precision, and a portfolio of 15 swaptions of 100 each multiplies
// the loss of its bonds by up to 1,500. A swap within 2e-5 of worthless may count as a small gain or a small cost. The
// value then hardly changes, but the derivatives jump, so the check expects the nearer of both outcomes.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_RATES = 80, MAX_SWAPTIONS = 15 }; // as in kernel.cu

static const struct workload_info info = {
    .name = "lib",
    .summary = "LIBOR market model: value and derivatives of swaptions by Monte Carlo, one path per thread",
    .sizes = {"128 paths of 20 rates and 10 steps", "512 paths of 40 rates and 20 steps",
              "4,096 paths of 80 rates and 40 steps"},
};

// As in kernel.cu.
struct market {
    int n_rates, n_steps, n_swaptions;
    float period;
    float first_rate[MAX_RATES], volatility[MAX_RATES];
    int maturity[MAX_SWAPTIONS];
    float strike[MAX_SWAPTIONS];
};

// Rates rise and volatilities fall with maturity; three strikes for each of five maturities.
static struct market make_market(int n_rates, int n_steps) {
    struct market m = {.n_rates = n_rates, .n_steps = n_steps, .n_swaptions = MAX_SWAPTIONS, .period = 0.25f};
    const int tenths[] = {1, 2, 5, 7, 10};
    for (int i = 0; i < n_rates; i++) {
        m.first_rate[i] = 0.04f + 0.015f * (float)i / (float)n_rates;
        m.volatility[i] = 0.25f - 0.1f * (float)i / (float)n_rates;
    }
    for (int k = 0; k < MAX_SWAPTIONS; k++) {
        m.maturity[k] = (n_rates - n_steps) * tenths[k / 3] / 10;
        m.strike[k] = 0.045f + 0.005f * (float)(k % 3);
    }
    return m;
}

// Normal numbers by the method of Box and Muller.
static float *make_normals(struct workload *w, size_t n) {
    float *normals = workload_array(w, n, sizeof *normals);
    for (size_t i = 0; i < n; i++) {
        double u = (workload_random(w) + 1) * 0x1p-24, v = workload_random(w) * 0x1p-24;
        normals[i] = (float)(sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v));
    }
    return normals;
}

// ---- Reference ----------------------------------------------------------------------------------------------------

// A number and its derivatives: with respect to the last of the first rates, and to a shift of all of them.
enum { VALUE, LAST, PARALLEL, N_PARTS };
struct dual {
    double part[N_PARTS];
};

static struct dual constant(double x) { return (struct dual){{x, 0.0, 0.0}}; }

static struct dual add(struct dual a, struct dual b, double weight) {
    for (int k = 0; k < N_PARTS; k++)
        a.part[k] += weight * b.part[k];
    return a;
}

// f(a), where f is `value` and its derivative `slope` at a.
static struct dual chain(struct dual a, double value, double slope) {
    return (struct dual){{value, slope * a.part[LAST], slope * a.part[PARALLEL]}};
}

static struct dual multiply(struct dual a, struct dual b) {
    double x = a.part[VALUE], y = b.part[VALUE];
    return (struct dual){{x * y, x * b.part[LAST] + y * a.part[LAST], x * b.part[PARALLEL] + y * a.part[PARALLEL]}};
}

// 1 / (1 + period * rate): a period's discount.
static struct dual period_discount(const struct market *m, struct dual rate) {
    double d = 1.0 / (1.0 + (double)m->period * rate.part[VALUE]);
    return chain(rate, d, -(double)m->period * d * d);
}

// The final rates of a path, by their logarithms' steps.
static void walk_reference(const struct market *m, const float *normals, size_t stride, struct dual *rate) {
    double period = (double)m->period;
    for (int i = 0; i < m->n_rates; i++)
        rate[i] = (struct dual){{(double)m->first_rate[i], i == m->n_rates - 1, 1.0}};
    for (int step = 0; step < m->n_steps; step++) {
        struct dual drift = constant(0.0);
        double shock = sqrt(period) * (double)normals[(size_t)step * stride];
        for (int i = step + 1; i < m->n_rates; i++) {
            double volatility = (double)m->volatility[i - step - 1];
            // rate / (1 + period * rate) = (1 - discount) / period
            struct dual forward = add(constant(1.0), period_discount(m, rate[i]), -1.0);
            drift = add(drift, forward, volatility);
            struct dual move =
                add(constant(volatility * shock - 0.5 * volatility * volatility * period), drift, volatility * period);
            double growth = exp(move.part[VALUE]);
            rate[i] = multiply(rate[i], chain(move, growth, growth));
        }
    }
}

// Swaps below `edge` count as negative.
static struct dual portfolio_reference(const struct market *m, const struct dual *rate, double edge) {
    struct dual value = constant(0.0);
    for (int k = 0; k < m->n_swaptions; k++) {
        struct dual bond = constant(1.0), swap = constant(-1.0);
        for (int i = m->n_steps; i < m->n_steps + m->maturity[k]; i++) {
            bond = multiply(bond, period_discount(m, rate[i]));
            swap = add(swap, bond, (double)m->strike[k] * (double)m->period);
        }
        swap = add(swap, bond, 1.0);
        if (swap.part[VALUE] < edge)
            value = add(value, swap, -100.0);
    }
    for (int i = 0; i < m->n_steps; i++)
        value = multiply(value, period_discount(m, rate[i]));
    return value;
}

// ---- Device -------------------------------------------------------------------------------------------------------

// `got` gets one array of n_paths for each part, and another for the values of the kernel without derivatives.
static void simulate(const struct workload *w, const struct market *m, const float *normals, int n_paths,
                     struct workload_shape shape, float *got) {
    size_t bytes = (size_t)n_paths * sizeof(float), market_bytes;
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    CUdeviceptr device_market, device_normals = workload_upload(w, normals, bytes * (size_t)m->n_steps);
    CUdeviceptr device_got = workload_device_alloc(w, (N_PARTS + 1) * bytes);
    CUdeviceptr value = device_got, last = value + bytes, parallel = last + bytes, value_alone = parallel + bytes;
    WORKLOAD_CUDA(w, cuModuleGetGlobal(&device_market, &market_bytes, w->module, "m"));
    WORKLOAD_CUDA(w, cuMemcpyHtoD(device_market, m, sizeof *m));
    workload_launch(w, "lib_greeks", grid, (void *[]){&device_normals, &value, &last, &parallel, &n_paths});
    workload_launch(w, "lib_value", grid, (void *[]){&device_normals, &value_alone, &n_paths});
    workload_download(w, got, device_got, (N_PARTS + 1) * bytes);
    workload_device_free(w, device_normals);
    workload_device_free(w, device_got);
}

static struct workload_diff check(const struct workload *w, const struct market *m, const float *normals, size_t n,
                                  const float *got) {
    float *expected = workload_array(w, (N_PARTS + 1) * n, sizeof *expected);
    const double doubt = 2e-5;
    for (size_t p = 0; p < n; p++) {
        struct dual rate[MAX_RATES];
        walk_reference(m, normals + p, n, rate);
        struct dual fewer = portfolio_reference(m, rate, -doubt), more = portfolio_reference(m, rate, doubt);
        struct dual exact = portfolio_reference(m, rate, 0.0);
        expected[p] = expected[N_PARTS * n + p] = (float)exact.part[VALUE];
        for (int k = LAST; k <= PARALLEL; k++) {
            double value = (double)got[(size_t)k * n + p];
            bool is_fewer = fabs(value - fewer.part[k]) < fabs(value - more.part[k]);
            expected[(size_t)k * n + p] = (float)(is_fewer ? fewer : more).part[k];
        }
    }
    struct workload_diff diff = workload_diff_f32(got, expected, n, 2e-3, 1e-4);
    if (!diff.n_wrong)
        diff = workload_diff_f32(got + N_PARTS * n, expected + N_PARTS * n, n, 2e-3, 1e-4);
    if (!diff.n_wrong)
        diff = workload_diff_f32(got + LAST * n, expected + LAST * n, 2 * n, 2e-2, 2e-4);
    free(expected);
    return diff;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    struct market m = make_market((int)workload_pick(&w, 20, 40, 80), (int)workload_pick(&w, 10, 20, 40));
    int n_paths = (int)workload_pick(&w, 128, 512, 4096);
    size_t n = (size_t)n_paths;
    float *normals = make_normals(&w, n * (size_t)m.n_steps);
    float *got = workload_array(&w, (N_PARTS + 1) * n, sizeof *got);
    struct workload_shape shape = workload_shape(&w, n, 64);
    simulate(&w, &m, normals, n_paths, shape, got);

    struct workload_diff diff = {0};
    if (w.check)
        diff = check(&w, &m, normals, n, got);
    double mean = 0.0;
    for (size_t p = 0; p < n; p++)
        mean += (double)got[p] / (double)n;
    free(normals);
    free(got);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "portfolio worth %.2f, %d paths, 2 launches of %u blocks of %u threads", mean, n_paths,
                           shape.blocks, shape.threads);
}
