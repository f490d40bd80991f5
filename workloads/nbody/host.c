// nbody: bodies that attract each other, moved by two time steps of Euler's semi-implicit method.
//
// The reference is in double precision and visits every pair once: the pull on one body is the opposite of that on the
// other. Positions lie in [-1, 1) and the masses add up to 1, so accelerations are of the order of 1 and a step of 1/64
// moves a body by about 1e-3. Positions agree within 1e-5.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct workload_info info = {
    .name = "nbody",
    .summary = "gravity among all pairs of bodies, tiles of bodies in shared memory",
    .sizes = {"192 bodies, 2 steps", "768 bodies, 2 steps", "4,096 bodies, 2 steps"},
};

enum { STEPS = 2, AXES = 3, BODY_FLOATS = 4 };
static const float step_seconds = 1.0f / 64, softening = 1e-2f;

// BODY_FLOATS floats for each body: the place and the mass.
static float *make_bodies(struct workload *w, size_t n) {
    float *bodies = workload_array(w, n * BODY_FLOATS, sizeof *bodies);
    for (size_t i = 0; i < n; i++) {
        for (int axis = 0; axis < AXES; axis++)
            bodies[i * BODY_FLOATS + axis] = (float)workload_random(w) * 0x1p-23f - 1.0f;
        bodies[i * BODY_FLOATS + AXES] = (0.5f + (float)workload_random(w) * 0x1p-24f) / (float)n;
    }
    return bodies;
}

// pull[i] is the acceleration of body i, three axes each, zero on entry.
static void add_pulls(const double *body, double *pull, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double *a = body + i * BODY_FLOATS, *b = body + j * BODY_FLOATS;
            double way[AXES], square = (double)softening;
            for (int axis = 0; axis < AXES; axis++) {
                way[axis] = b[axis] - a[axis];
                square += way[axis] * way[axis];
            }
            double strength = 1 / (square * sqrt(square));
            for (int axis = 0; axis < AXES; axis++) {
                pull[i * AXES + axis] += b[AXES] * strength * way[axis];
                pull[j * AXES + axis] -= a[AXES] * strength * way[axis];
            }
        }
}

static void move_reference(const struct workload *w, const float *bodies, float *moved, size_t n) {
    double *body = workload_array(w, n * BODY_FLOATS, sizeof *body), *pull = workload_array(w, n * AXES, sizeof *pull);
    double *velocity = workload_array(w, n * AXES, sizeof *velocity);
    for (size_t i = 0; i < n * BODY_FLOATS; i++)
        body[i] = (double)bodies[i];
    for (int step = 0; step < STEPS; step++) {
        memset(pull, 0, n * AXES * sizeof *pull);
        add_pulls(body, pull, n);
        for (size_t i = 0; i < n; i++)
            for (size_t axis = 0; axis < AXES; axis++) {
                velocity[i * AXES + axis] += pull[i * AXES + axis] * (double)step_seconds;
                body[i * BODY_FLOATS + axis] += velocity[i * AXES + axis] * (double)step_seconds;
            }
    }
    for (size_t i = 0; i < n * BODY_FLOATS; i++)
        moved[i] = (float)body[i];
    free(body);
    free(pull);
    free(velocity);
}

static void move(const struct workload *w, float *bodies, int n, struct workload_shape shape) {
    size_t bytes = (size_t)n * BODY_FLOATS * sizeof(float);
    float seconds = step_seconds, soft = softening;
    unsigned shared = shape.threads * BODY_FLOATS * (unsigned)sizeof(float);
    CUdeviceptr from = workload_upload(w, bodies, bytes), to = workload_device_alloc(w, bytes);
    CUdeviceptr velocity = workload_device_alloc(w, bytes);
    WORKLOAD_CUDA(w, cuMemsetD32(velocity, 0, (size_t)n * BODY_FLOATS));
    for (int step = 0; step < STEPS; step++) {
        workload_launch(w, "nbody", (struct workload_grid){shape.blocks, 1, shape.threads, 1, shared},
                        (void *[]){&from, &to, &velocity, &n, &seconds, &soft});
        CUdeviceptr done = to;
        to = from;
        from = done;
    }
    workload_download(w, bodies, from, bytes);
    workload_device_free(w, from);
    workload_device_free(w, to);
    workload_device_free(w, velocity);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t n = workload_pick(&w, 192, 768, 4096);
    float *bodies = make_bodies(&w, n), *expected = workload_array(&w, n * BODY_FLOATS, sizeof *expected);
    if (w.check)
        move_reference(&w, bodies, expected, n);
    struct workload_shape shape = workload_shape(&w, n, 64);
    move(&w, bodies, (int)n, shape);

    struct workload_diff diff = {0};
    if (w.check)
        diff = workload_diff_f32(bodies, expected, n * BODY_FLOATS, 1e-5, 0);
    free(bodies);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%zu bodies, %d launches of %u blocks of %u threads", n, STEPS,
                           shape.blocks, shape.threads);
}
