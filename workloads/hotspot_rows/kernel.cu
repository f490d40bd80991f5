// One time step of heat in a chip, one row of cells per thread: every cell exchanges heat with its four neighbours and
// the environment and is heated by its power. Two sides of the chip, north and west, touch a body at the temperature of
// the environment; no heat crosses the other two, where a neighbour is the cell itself. `copy_rows` then copies the new
// temperatures over the old ones, as Rodinia's program for CPUs does.
#include "../common/tasks.cuh"

// The change of a cell's temperature in one step per kelvin of difference, or per watt.
struct rates {
    double lateral, vertical, power;
    double ambient; // temperature
};

// All grids have `pitch` cells from one row to the next.
extern "C" __global__ void hotspot_rows(const double *before, const double *power, double *after, rates r, int width,
                                        int height, long long pitch, int rejoins) {
#pragma unroll 1
    for (int y = first_task(); y < height; y += n_threads()) {
        long long row = y * pitch, south_of = y < height - 1 ? pitch : 0;
#pragma unroll 1
        for (long long x = 0; x < width; x++) {
            const double *at = before + row + x;
            double here = *at, north = r.ambient, west = r.ambient;
            if (y > 0)
                north = at[-pitch];
            if (x > 0)
                west = at[-1];
            double south = at[south_of], east = at[x < width - 1 ? 1ll : 0ll];
            after[row + x] = here + r.power * power[row + x] + r.lateral * (north + south - 2 * here) +
                             r.lateral * (west + east - 2 * here) + r.vertical * (r.ambient - here);
        }
        end_task(rejoins);
    }
}

extern "C" __global__ void copy_rows(const double *from, double *to, int width, int height, long long pitch,
                                     int rejoins) {
#pragma unroll 1
    for (int y = first_task(); y < height; y += n_threads()) {
        const double *in = from + y * pitch;
        double *out = to + y * pitch;
#pragma unroll 1
        for (long long x = 0; x < width; x++)
            out[x] = in[x];
        end_task(rejoins);
    }
}
