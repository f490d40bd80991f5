// A portfolio of swaptions under the LIBOR market model, by Monte Carlo, one path per thread. A path evolves the
// forward rates over a number of steps with one random number per step; the portfolio's value follows from the final
// rates. Step n changes the rates n + 1 to n_rates - 1. `lib_value` computes the value; `lib_greeks` computes the value
// and, by running the path backwards (the adjoint method), its derivatives with respect to the first rates. The rates
// of a path, and for the way back those of every step, are in the thread's local memory.
#include <heddle/device.h>

enum { MAX_RATES = 80, MAX_STEPS = 40, MAX_SWAPTIONS = 15 };

static const float NOTIONAL = 100.0f;

struct market {
    int n_rates, n_steps, n_swaptions;
    float period;                // years between the dates of rates and of steps
    float first_rate[MAX_RATES]; // at the beginning of a path
    float volatility[MAX_RATES]; // by periods to maturity
    int maturity[MAX_SWAPTIONS]; // in periods after the last step, at least 1
    float strike[MAX_SWAPTIONS]; // the swap's rate
};

// The host fills it in.
__constant__ market m;

// One step. Stores the rates before it in `tape`, unless it is NULL.
static __device__ __forceinline__ void evolve(float *rate, int step, float shock, float *tape) {
    float drift = 0.0f;
    if (tape)
        tape[step] = rate[step];
#pragma unroll 1
    for (int i = step + 1; i < m.n_rates; i++) {
        float volatility = m.volatility[i - step - 1];
        float share = m.period * volatility, now = rate[i];
        if (tape)
            tape[i] = now;
        drift += share * now / (1.0f + m.period * now);
        rate[i] = now * __expf(share * drift + volatility * (shock - 0.5f * share));
    }
}

// At the last step, by maturity in periods from 0 (that is, one period) on: the value of a bond that pays 1 then, and
// of one that pays a period's interest at rate 1 at every date until then.
struct bonds {
    float single[MAX_RATES], annuity[MAX_RATES];
};

static __device__ __forceinline__ void price_bonds(const float *rate, bonds &bond) {
    float single = 1.0f, annuity = 0.0f;
#pragma unroll 1
    for (int i = m.n_steps; i < m.n_rates; i++) {
        single /= 1.0f + m.period * rate[i];
        annuity += m.period * single;
        bond.single[i - m.n_steps] = single;
        bond.annuity[i - m.n_steps] = annuity;
    }
}

static __device__ __forceinline__ float swap_value(const bonds &bond, int swaption) {
    int last = m.maturity[swaption] - 1;
    return bond.single[last] + m.strike[swaption] * bond.annuity[last] - 1.0f;
}

// The portfolio's value at the last step. A swaption pays when the value of its swap is negative.
static __device__ __forceinline__ float portfolio_value(const bonds &bond) {
    float value = 0.0f;
#pragma unroll 1
    for (int k = 0; k < m.n_swaptions; k++) {
        float swap = swap_value(bond, k);
        if (swap < 0.0f)
            value -= NOTIONAL * swap;
    }
    return value;
}

// From the last step to today.
static __device__ __forceinline__ float discount(const float *rate) {
    float d = 1.0f;
#pragma unroll 1
    for (int i = 0; i < m.n_steps; i++)
        d /= 1.0f + m.period * rate[i];
    return d;
}

// The way back through the portfolio and its bonds: the derivatives of the value today, discounted by d, with respect
// to the final rates.
static __device__ __forceinline__ void final_slopes(const float *rate, const bonds &bond, float d, float value,
                                                    float *slope) {
    bonds bond_slope;
#pragma unroll 1
    for (int i = 0; i < m.n_rates - m.n_steps; i++)
        bond_slope.single[i] = bond_slope.annuity[i] = 0.0f;
#pragma unroll 1
    for (int k = 0; k < m.n_swaptions; k++) {
        int last = m.maturity[k] - 1;
        if (swap_value(bond, k) < 0.0f) {
            bond_slope.single[last] -= NOTIONAL * d;
            bond_slope.annuity[last] -= NOTIONAL * d * m.strike[k];
        }
    }
    float single = 0.0f, annuity = 0.0f;
#pragma unroll 1
    for (int i = m.n_rates - 1; i >= m.n_steps; i--) {
        annuity += bond_slope.annuity[i - m.n_steps];
        single += bond_slope.single[i - m.n_steps] + m.period * annuity;
        float growth = 1.0f / (1.0f + m.period * rate[i]);
        slope[i] = -m.period * single * bond.single[i - m.n_steps] * growth;
        single *= growth;
    }
#pragma unroll 1
    for (int i = 0; i < m.n_steps; i++) // the discount
        slope[i] = -m.period * d * value / (1.0f + m.period * rate[i]);
}

// The way back through evolve(): `slope` with respect to the rates after the step becomes that before it.
static __device__ __forceinline__ void evolve_back(const float *before, const float *after, int step, float *slope) {
    float drift_slope = 0.0f;
#pragma unroll 1
    for (int i = m.n_rates - 1; i > step; i--) {
        float share = m.period * m.volatility[i - step - 1];
        float weight = slope[i] * after[i];
        float growth = 1.0f / (1.0f + m.period * before[i]);
        drift_slope += share * weight;
        slope[i] = weight / before[i] + drift_slope * share * growth * growth;
    }
}

// Random number n of path p is normals[n * n_paths + p].
extern "C" __global__ void lib_value(const float *normals, float *value, int n_paths) {
    float rate[MAX_RATES];
    bonds bond;
    float root = sqrtf(m.period);
#pragma unroll 1
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n_paths; p += gridDim.x * blockDim.x) {
#pragma unroll 1
        for (int i = 0; i < m.n_rates; i++)
            rate[i] = m.first_rate[i];
#pragma unroll 1
        for (int n = 0; n < m.n_steps; n++)
            evolve(rate, n, root * normals[n * n_paths + p], nullptr);
        price_bonds(rate, bond);
        value[p] = discount(rate) * portfolio_value(bond);
    }
}

// `last` becomes the derivative with respect to the last of the first rates, `parallel` that with respect to a shift of
// all of them.
extern "C" __global__ void lib_greeks(const float *normals, float *value, float *last, float *parallel, int n_paths) {
    float rate[MAX_RATES], slope[MAX_RATES], tape[MAX_STEPS * MAX_RATES];
    bonds bond;
    float root = sqrtf(m.period);
#pragma unroll 1
    for (int p = blockIdx.x * blockDim.x + threadIdx.x; p < n_paths; p += gridDim.x * blockDim.x) {
#pragma unroll 1
        for (int i = 0; i < m.n_rates; i++)
            rate[i] = m.first_rate[i];
#pragma unroll 1
        for (int n = 0; n < m.n_steps; n++)
            evolve(rate, n, root * normals[n * n_paths + p], tape + n * MAX_RATES);
        price_bonds(rate, bond);
        float d = discount(rate), undiscounted = portfolio_value(bond);
        final_slopes(rate, bond, d, undiscounted, slope);
        const float *after = rate;
#pragma unroll 1
        for (int n = m.n_steps - 1; n >= 0; n--) {
            evolve_back(tape + n * MAX_RATES, after, n, slope);
            after = tape + n * MAX_RATES;
        }
        float sum = 0.0f;
#pragma unroll 1
        for (int i = 0; i < m.n_rates; i++)
            sum += slope[i];
        value[p] = d * undiscounted;
        last[p] = slope[m.n_rates - 1];
        parallel[p] = sum;
    }
}
