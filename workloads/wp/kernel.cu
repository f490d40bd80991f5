// One time step of the cloud microphysics of a weather model: water moves between vapour, cloud droplets, cloud ice,
// rain, snow and graupel, heats or cools the air on the way, and falls. A thread has a column of air and processes its
// levels. Each process is a formula guarded by the condition under which it acts: many short branches that depend on
// data.
//
// Our own scheme, with one variable for each kind of water ("single-moment"), from textbook formulas; README.md names
// them. Rates go to zero at the edge of their condition, so that results depend on the input continuously. Amounts of
// water are kilograms in a kilogram of air; temperatures are kelvin; everything else is in SI units.
#include <heddle/device.h>

static const float FREEZING = 273.15f, TRACE = 1e-9f;
static const float GAS_CONSTANT = 287.0f, REFERENCE_DENSITY = 1.2f;
// Warming by a change of phase, in kelvin for a kilogram of water in a kilogram of air.
static const float CONDENSE = 2490.0f, FREEZE = 333.0f, DEPOSIT = CONDENSE + FREEZE;

enum { TILE = 8 };

// Level k of column c is at [k * n_columns + c]; level 0 is at the ground.
struct air {
    float *temperature, *vapour, *droplets, *ice, *rain, *snow, *graupel; // changed
    const float *pressure;
    float *fallen_rain, *fallen_snow; // by column, since the beginning: kilograms on a square metre
    int n_columns, n_levels;
    float layer_height, seconds; // of a level, of a step
};

// One level of one column.
struct cell {
    float pressure, density;
    float temperature, vapour, droplets, ice, rain, snow, graupel;
};

// Moves water, at most as much as is present.
static __device__ __forceinline__ void transfer(cell &c, float &from, float &to, float amount, float warming) {
    amount = fminf(amount, from);
    from -= amount;
    to += amount;
    c.temperature += warming * amount;
}

// Advection leaves traces and small negative amounts; the vapour takes them.
static __device__ __forceinline__ void tidy(cell &c, float &water, float warming) {
    if (water < TRACE && water != 0.0f) {
        c.vapour += water;
        c.temperature -= warming * water;
        water = 0.0f;
    }
}

// ---- Saturation ---------------------------------------------------------------------------------------------------

static __device__ __forceinline__ float saturation(float vapour_pressure, float pressure) {
    return 0.622f * vapour_pressure / (pressure - 0.378f * vapour_pressure);
}

static __device__ __forceinline__ float water_saturation(const cell &c) {
    return saturation(611.2f * __expf(17.67f * (c.temperature - FREEZING) / (c.temperature - 29.65f)), c.pressure);
}

static __device__ __forceinline__ float ice_saturation(const cell &c) {
    return saturation(611.2f * __expf(21.875f * (c.temperature - FREEZING) / (c.temperature - 7.66f)), c.pressure);
}

// ---- Melting and freezing -----------------------------------------------------------------------------------------

static __device__ __forceinline__ void melt(cell &c, float seconds) {
    if (c.ice > TRACE)
        transfer(c, c.ice, c.droplets, (c.temperature - FREEZING) / FREEZE, -FREEZE);
    if (c.snow > TRACE) {
        float warmth = fmaxf(c.temperature - FREEZING, 0.0f);
        float amount = seconds * 2e-4f * warmth * __powf(c.density * (c.snow - TRACE), 0.65f);
        transfer(c, c.snow, c.rain, fminf(amount, warmth / FREEZE), -FREEZE);
    }
    if (c.graupel > TRACE) {
        float warmth = fmaxf(c.temperature - FREEZING, 0.0f);
        float amount = seconds * 1e-4f * warmth * __powf(c.density * (c.graupel - TRACE), 0.7f);
        transfer(c, c.graupel, c.rain, fminf(amount, warmth / FREEZE), -FREEZE);
    }
}

// Above freezing, snow in dry air evaporates and snow in moist air takes up vapour, both through a film of water.
static __device__ __forceinline__ void exchange_wet_snow(cell &c, float seconds) {
    float saturated = water_saturation(c), excess = c.vapour / saturated - 1.0f;
    float amount = seconds * 2e-3f * __powf(c.density * (c.snow - TRACE), 0.65f);
    if (excess < 0.0f)
        transfer(c, c.snow, c.vapour, -excess * fminf(amount, 0.5f * saturated), -DEPOSIT);
    else
        transfer(c, c.vapour, c.snow, excess * fminf(amount, 0.5f * saturated), DEPOSIT);
}

// Larger and colder drops freeze sooner; all droplets freeze between -35 and -40 degrees Celsius.
static __device__ __forceinline__ void freeze(cell &c, float seconds) {
    float cold = FREEZING - c.temperature, nuclei = seconds * (__expf(0.66f * fminf(cold, 40.0f)) - 1.0f);
    if (c.droplets > TRACE) {
        transfer(c, c.droplets, c.ice, 3.3e-10f * nuclei * c.density * c.droplets * c.droplets, FREEZE);
        if (cold > 4.0f) // on contact with dust
            transfer(c, c.droplets, c.ice, seconds * 2e-5f * __powf(cold - 4.0f, 1.3f) * c.droplets, FREEZE);
    }
    if (c.rain > TRACE)
        transfer(c, c.rain, c.graupel, 5e-4f * nuclei * __powf(c.density * (c.rain - TRACE), 1.75f) / c.density,
                 FREEZE);
    if (cold > 35.0f && c.droplets > TRACE)
        transfer(c, c.droplets, c.ice, fminf((cold - 35.0f) / 5.0f, 1.0f) * c.droplets, FREEZE);
}

// ---- Condensation and evaporation ---------------------------------------------------------------------------------

// The share of the distance from saturation that changes phase: the air warms or cools on the way, which moves
// saturation.
static __device__ __forceinline__ float damping(const cell &c, float saturated) {
    float slope = 17.67f * 243.5f / ((c.temperature - 29.65f) * (c.temperature - 29.65f));
    return 1.0f / (1.0f + CONDENSE * saturated * slope);
}

static __device__ __forceinline__ void adjust_to_saturation(cell &c, float seconds) {
    float saturated = water_saturation(c);
    float excess = c.vapour - saturated;
    if (excess > 0.0f) {
        float share = damping(c, saturated);
        if (c.rain > TRACE) // rain takes its part before the droplets
            transfer(c, c.vapour, c.rain,
                     share * excess * fminf(seconds * 0.02f * __powf(c.density * (c.rain - TRACE), 0.525f), 0.2f),
                     CONDENSE);
        transfer(c, c.vapour, c.droplets, 0.8f * share * excess, CONDENSE);
    } else {
        if (c.droplets > TRACE)
            transfer(c, c.droplets, c.vapour, -excess * damping(c, saturated), -CONDENSE);
        if (c.rain > TRACE) {
            float dryness = fmaxf(1.0f - c.vapour / saturated, 0.0f);
            float amount = seconds * 1.5e-3f * dryness * __powf(c.density * (c.rain - TRACE), 0.525f);
            transfer(c, c.rain, c.vapour, fminf(amount, 0.5f * dryness * saturated), -CONDENSE);
        }
    }
}

// ---- Ice and vapour -----------------------------------------------------------------------------------------------

// Returns the initial ice: one crystal per nucleus at this temperature.
static __device__ __forceinline__ float initial_ice(const cell &c) {
    float crystals = 1e3f * __expf(0.1f * (FREEZING - c.temperature));
    return 4.92e-11f * __powf(crystals, 1.33f) / c.density;
}

static __device__ __forceinline__ void grow_ice(cell &c, float seconds, float excess, float saturated) {
    float most = 0.25f * excess, rate = seconds * excess / saturated;
    float first = initial_ice(c);
    if (first > c.ice)
        transfer(c, c.vapour, c.ice, fminf(first - c.ice, most), DEPOSIT);
    if (c.ice > TRACE)
        transfer(c, c.vapour, c.ice, fminf(2e-4f * rate * __powf(c.density * (c.ice - TRACE), 0.6f), most), DEPOSIT);
    if (c.snow > TRACE)
        transfer(c, c.vapour, c.snow, fminf(3e-4f * rate * __powf(c.density * (c.snow - TRACE), 0.65f), most), DEPOSIT);
    if (c.graupel > TRACE)
        transfer(c, c.vapour, c.graupel, fminf(1e-4f * rate * __powf(c.density * (c.graupel - TRACE), 0.7f), most),
                 DEPOSIT);
}

static __device__ __forceinline__ void shrink_ice(cell &c, float seconds, float lack, float saturated) {
    float most = 0.25f * lack, rate = seconds * lack / saturated;
    if (c.ice > TRACE)
        transfer(c, c.ice, c.vapour, fminf(2e-4f * rate * __powf(c.density * (c.ice - TRACE), 0.6f), most), -DEPOSIT);
    if (c.snow > TRACE)
        transfer(c, c.snow, c.vapour, fminf(3e-4f * rate * __powf(c.density * (c.snow - TRACE), 0.65f), most),
                 -DEPOSIT);
    if (c.graupel > TRACE)
        transfer(c, c.graupel, c.vapour, fminf(1e-4f * rate * __powf(c.density * (c.graupel - TRACE), 0.7f), most),
                 -DEPOSIT);
}

static __device__ __forceinline__ void exchange_ice_and_vapour(cell &c, float seconds, float ramp) {
    float saturated = ice_saturation(c), excess = ramp * (c.vapour - saturated);
    if (excess > 0.0f)
        grow_ice(c, seconds, excess, saturated);
    else
        shrink_ice(c, seconds, -excess, saturated);
}

// ---- Collection ---------------------------------------------------------------------------------------------------

static __device__ __forceinline__ void collect_warm(cell &c, float seconds) {
    if (c.droplets > 5e-4f)
        transfer(c, c.droplets, c.rain, seconds * 1e-3f * (c.droplets - 5e-4f), 0.0f);
    if (c.droplets > TRACE && c.rain > TRACE)
        transfer(c, c.droplets, c.rain, seconds * 2.2f * c.droplets * __powf(c.rain - TRACE, 0.875f), 0.0f);
}

// Snow and graupel that melt shed the droplets they collect.
static __device__ __forceinline__ void collect_wet(cell &c, float seconds) {
    if (c.droplets > TRACE && c.snow > TRACE)
        transfer(c, c.droplets, c.rain, seconds * 1.2f * c.droplets * __powf(c.snow - TRACE, 0.8f), 0.0f);
    if (c.droplets > TRACE && c.graupel > TRACE)
        transfer(c, c.droplets, c.rain, seconds * 2.0f * c.droplets * __powf(c.graupel - TRACE, 0.85f), 0.0f);
}

// Snow collects what it falls through; rime throws off splinters, most at 5.5 degrees below freezing.
static __device__ __forceinline__ void collect_with_snow(cell &c, float seconds, float cold) {
    float sweep = seconds * __powf(c.snow - TRACE, 0.8f);
    if (c.ice > TRACE)
        transfer(c, c.ice, c.snow, 0.8f * __expf(-0.05f * cold) * sweep * c.ice, 0.0f);
    if (c.droplets > TRACE) {
        float rime = fminf(1.2f * sweep * c.droplets, c.droplets);
        transfer(c, c.droplets, c.snow, rime, FREEZE);
        if (cold > 3.0f && cold < 8.0f)
            transfer(c, c.snow, c.ice, 0.02f * (cold - 3.0f) * (8.0f - cold) * rime, 0.0f);
    }
    if (c.rain > TRACE)
        transfer(c, c.rain, c.snow, 1.5f * sweep * c.rain, FREEZE);
    if (c.snow > 6e-4f) // heavy with rime
        transfer(c, c.snow, c.graupel, seconds * 1e-3f * __expf(-0.09f * cold) * (c.snow - 6e-4f), 0.0f);
}

static __device__ __forceinline__ void collect_with_graupel(cell &c, float seconds, float cold) {
    float sweep = seconds * __powf(c.graupel - TRACE, 0.85f);
    if (c.droplets > TRACE)
        transfer(c, c.droplets, c.graupel, 2.0f * sweep * c.droplets, FREEZE);
    if (c.rain > TRACE)
        transfer(c, c.rain, c.graupel, 2.5f * sweep * c.rain, FREEZE);
    if (c.ice > TRACE)
        transfer(c, c.ice, c.graupel, 0.2f * __expf(-0.05f * cold) * sweep * c.ice, 0.0f);
    if (c.snow > TRACE)
        transfer(c, c.snow, c.graupel, 0.2f * __expf(-0.09f * cold) * sweep * c.snow, 0.0f);
}

static __device__ __forceinline__ void collect_cold(cell &c, float seconds) {
    float cold = fmaxf(FREEZING - c.temperature, 0.0f);
    if (c.ice > 8e-5f)
        transfer(c, c.ice, c.snow, seconds * 1e-3f * __expf(-0.025f * cold) * (c.ice - 8e-5f), 0.0f);
    if (c.droplets > TRACE && c.ice > TRACE) // ice grows at the droplets' expense
        transfer(c, c.droplets, c.ice, seconds * 2e-2f * cold * c.droplets * __powf(c.ice - TRACE, 0.5f), FREEZE);
    if (c.snow > TRACE)
        collect_with_snow(c, seconds, cold);
    if (c.graupel > TRACE)
        collect_with_graupel(c, seconds, cold);
    if (c.ice > TRACE && c.rain > TRACE) { // both become graupel
        float sweep = seconds * 1.8f * __powf(c.rain - TRACE, 0.875f) * c.ice;
        transfer(c, c.ice, c.graupel, sweep, 0.0f);
        transfer(c, c.rain, c.graupel, sweep, FREEZE);
    }
}

// ---- A column -----------------------------------------------------------------------------------------------------

static __device__ __forceinline__ cell load_cell(const air &a, int at) {
    cell c;
    c.pressure = a.pressure[at];
    c.temperature = a.temperature[at];
    c.density = c.pressure / (GAS_CONSTANT * c.temperature);
    c.vapour = a.vapour[at];
    c.droplets = a.droplets[at];
    c.ice = a.ice[at];
    c.rain = a.rain[at];
    c.snow = a.snow[at];
    c.graupel = a.graupel[at];
    return c;
}

static __device__ __forceinline__ void store_cell(const air &a, int at, const cell &c) {
    a.temperature[at] = c.temperature;
    a.vapour[at] = c.vapour;
    a.droplets[at] = c.droplets;
    a.ice[at] = c.ice;
    a.rain[at] = c.rain;
    a.snow[at] = c.snow;
    a.graupel[at] = c.graupel;
}

// Clear air stays as it is: there is nothing to move, and too little vapour for water or ice.
static __device__ __forceinline__ bool is_clear(const cell &c) {
    if (c.droplets != 0.0f || c.ice != 0.0f || c.rain != 0.0f || c.snow != 0.0f || c.graupel != 0.0f)
        return false;
    if (c.vapour > water_saturation(c))
        return false;
    return c.temperature >= FREEZING || c.vapour <= ice_saturation(c);
}

// Processes above and below freezing set in within one kelvin: melting snow keeps air at freezing, where a sharp change
// would make the result depend on the last bit.
static __device__ __forceinline__ void change_cell(cell &c, float seconds) {
    tidy(c, c.droplets, CONDENSE);
    tidy(c, c.ice, DEPOSIT);
    tidy(c, c.rain, CONDENSE);
    tidy(c, c.snow, DEPOSIT);
    tidy(c, c.graupel, DEPOSIT);
    if (c.temperature > FREEZING)
        melt(c, seconds);
    else
        freeze(c, seconds);
    adjust_to_saturation(c, seconds);
    collect_warm(c, seconds);
    float cold = FREEZING - c.temperature, ramp = fminf(fabsf(cold), 1.0f);
    if (cold > 0.0f) {
        exchange_ice_and_vapour(c, seconds, ramp);
        collect_cold(c, ramp * seconds);
    } else {
        collect_wet(c, ramp * seconds);
        if (c.snow > TRACE)
            exchange_wet_snow(c, ramp * seconds);
    }
}

// Lets one kind of water fall at speed * (density * amount) ^ exponent, corrected for thin air; returns what reaches
// the ground. Implicit in time, so that no step is too long for it.
static __device__ __forceinline__ float fall(const air &a, float *water, int column, float speed, float exponent) {
    float flux = 0.0f; // kilograms on a square metre in a second, from above
#pragma unroll 1
    for (int k = a.n_levels - 1; k >= 0; k--) {
        int at = k * a.n_columns + column;
        float amount = water[at];
        if (amount <= TRACE && flux <= 0.0f)
            continue;
        float density = a.pressure[at] / (GAS_CONSTANT * a.temperature[at]);
        amount += flux * a.seconds / (density * a.layer_height);
        float velocity = speed * __powf(density * amount, exponent) * sqrtf(REFERENCE_DENSITY / density);
        amount /= 1.0f + velocity * a.seconds / a.layer_height;
        flux = density * velocity * amount;
        water[at] = amount;
    }
    return flux * a.seconds;
}

static __device__ __forceinline__ void step_column(const air &a, int column) {
#pragma unroll 1
    for (int k = 0; k < a.n_levels; k++) {
        int at = k * a.n_columns + column;
        cell c = load_cell(a, at);
        if (is_clear(c))
            continue;
        change_cell(c, a.seconds);
        store_cell(a, at, c);
    }
    float rain = fall(a, a.rain, column, 14.0f, 0.1364f) + fall(a, a.droplets, column, 0.5f, 0.4f);
    float snow = fall(a, a.snow, column, 3.0f, 0.12f) + fall(a, a.ice, column, 3.29f, 0.16f) +
                 fall(a, a.graupel, column, 12.0f, 0.15f);
    if (rain > 0.0f)
        a.fallen_rain[column] += rain;
    if (snow > 0.0f)
        a.fallen_snow[column] += snow;
}

// A block is a tile of 8 x 8 columns; `width` columns lie in a row.
extern "C" __global__ void wp(air a, int width) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    step_column(a, y * width + x);
}

extern "C" __global__ void wp_strided(air a) {
#pragma unroll 1
    for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < a.n_columns; column += gridDim.x * blockDim.x)
        step_column(a, column);
}
