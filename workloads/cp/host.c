// cp: the electric potential of point charges on a plane of lattice points.
//
// The reference is in double precision, one point at a time. Tolerance: 2e-5 + 1e-5 of the potential. Charges are at
// most 1 and distances at least 1, most of them 5 and more, so a sum of 200 terms loses about 1e-6 in float arithmetic
// with the approximate reciprocal square root (relative error about 1e-7), and never ten times as much.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS_PER_THREAD = 4, TILE_THREADS_X = 16 }; // as in kernel.cu

static const struct workload_info info = {
    .name = "cp",
    .summary = "Coulombic potential of atoms on a plane of lattice points, four points per thread",
    .sizes = {"128 x 32 points, 40 atoms", "256 x 64 points, 200 atoms", "512 x 256 points, 200 atoms"},
};

static const float spacing = 0.1f;

// As in kernel.cu: z is the square of the distance from the plane.
struct atom {
    float x, y, z, charge;
};

static float uniform(struct workload *w, float low, float high) {
    return low + (high - low) * ((float)workload_random(w) * 0x1p-24f);
}

// Atoms above the lattice, 1 to 10 away from its plane, of either sign.
static struct atom *make_atoms(struct workload *w, int n_atoms, int width, int height) {
    struct atom *atoms = workload_array(w, (size_t)n_atoms, sizeof *atoms);
    for (int i = 0; i < n_atoms; i++) {
        float distance = uniform(w, 1.0f, 10.0f);
        atoms[i].x = uniform(w, 0.0f, (float)width * spacing);
        atoms[i].y = uniform(w, 0.0f, (float)height * spacing);
        atoms[i].z = distance * distance;
        atoms[i].charge = uniform(w, -1.0f, 1.0f);
    }
    return atoms;
}

static double potential_reference(const struct atom *atoms, int n_atoms, double x, double y) {
    double sum = 0.0;
    for (int i = 0; i < n_atoms; i++) {
        double in_plane = hypot((double)atoms[i].x - x, (double)atoms[i].y - y);
        sum += (double)atoms[i].charge / hypot(in_plane, sqrt((double)atoms[i].z));
    }
    return sum;
}

static void upload_atoms(const struct workload *w, const struct atom *atoms, int n_atoms) {
    CUdeviceptr device;
    size_t bytes;
    WORKLOAD_CUDA(w, cuModuleGetGlobal(&device, &bytes, w->module, "atoms"));
    WORKLOAD_CUDA(w, cuMemcpyHtoD(device, atoms, (size_t)n_atoms * sizeof *atoms));
}

// Without --blocks a two-dimensional grid with a block for each tile.
static struct workload_grid choose_grid(const struct workload *w, int width, int height) {
    unsigned threads = w->threads_per_block, most = workload_most_threads(w);
    if (!threads)
        threads = most < 128 ? most / TILE_THREADS_X * TILE_THREADS_X : 128;
    if (threads % TILE_THREADS_X)
        workload_usage_error(w, "--threads-per-block must be a multiple of %d here: a row of a tile is %d threads wide",
                             TILE_THREADS_X, TILE_THREADS_X);
    unsigned rows = threads / TILE_THREADS_X, tile_width = TILE_THREADS_X * POINTS_PER_THREAD;
    unsigned tiles_x = ((unsigned)width + tile_width - 1) / tile_width;
    unsigned tiles_y = ((unsigned)height + rows - 1) / rows;
    if (w->blocks)
        return (struct workload_grid){w->blocks, 1, TILE_THREADS_X, rows, 0};
    return (struct workload_grid){tiles_x, tiles_y, TILE_THREADS_X, rows, 0};
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int width = (int)workload_pick(&w, 128, 256, 512), height = (int)workload_pick(&w, 32, 64, 256);
    int n_atoms = (int)workload_pick(&w, 40, 200, 200);
    size_t n_points = (size_t)width * (size_t)height;
    struct atom *atoms = make_atoms(&w, n_atoms, width, height);
    float *potential = workload_array(&w, n_points, sizeof *potential), lattice_spacing = spacing;
    struct workload_grid grid = choose_grid(&w, width, height);
    CUdeviceptr device = workload_device_alloc(&w, n_points * sizeof(float));
    upload_atoms(&w, atoms, n_atoms);
    workload_launch(&w, w.blocks ? "cp_strided" : "cp", grid,
                    (void *[]){&device, &width, &height, &lattice_spacing, &n_atoms});
    workload_download(&w, potential, device, n_points * sizeof(float));
    workload_device_free(&w, device);

    struct workload_diff diff = {0};
    if (w.check) {
        float *expected = workload_array(&w, n_points, sizeof *expected);
        for (size_t i = 0; i < n_points; i++) {
            double x = (double)(i % (size_t)width) * (double)spacing, y = (double)(i / (size_t)width) * (double)spacing;
            expected[i] = (float)potential_reference(atoms, n_atoms, x, y);
        }
        diff = workload_diff_f32(potential, expected, n_points, 2e-5, 1e-5);
        free(expected);
    }
    free(atoms);
    free(potential);
    return workload_finish(&w, w.check ? &diff : NULL, "%d x %d points, %d atoms, %u x %u blocks of %u x %u threads",
                           width, height, n_atoms, grid.blocks_x, grid.blocks_y, grid.threads_x, grid.threads_y);
}
