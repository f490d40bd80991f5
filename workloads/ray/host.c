// ray: a picture of spheres over a floor.
//
// The reference traces the same scene recursively in double precision and intersects spheres geometrically (the point
// of the ray nearest to the centre). Tolerance: 2 of 255 levels for each colour. If a ray passes an edge within single
// precision, either side is right: such a pixel must agree with the reference for a ray at most 1/50 of a pixel away.
#include "../common/png.h"
#include "../common/workload.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_X = 16, BLOCK_Y = 8, N_SPHERES = 6, MOST_REFLECTIONS = 5, SIDE_OPTION = 0, IMAGE_OPTION = 1 };

static const struct workload_info info = {
    .name = "ray",
    .summary = "ray tracing with shadows and up to five reflections, one pixel per thread",
    .sizes = {"32 x 32 pixels", "192 x 192 pixels", "256 x 256 pixels"},
    .options = {[SIDE_OPTION] = {"--side", "N", "pixels along a side of the picture; Liu 2023: 32", 1, 4096},
                [IMAGE_OPTION] = {"--image", "FILE.png", "write the picture", 0, 0}},
};

// As in kernel.cu.
struct float3 {
    float x, y, z;
};
struct sphere {
    struct float3 centre;
    float radius;
    struct float3 colour;
    float mirror;
};
struct scene {
    struct sphere spheres[N_SPHERES];
    struct float3 eye, to_light;
    float floor_mirror;
};

static float uniform(struct workload *w, float low, float high) {
    return low + (high - low) * ((float)workload_random(w) * 0x1p-24f);
}

// Two rows of three spheres that stand on the floor and do not touch.
static struct scene make_scene(struct workload *w) {
    struct scene scene = {.eye = {0, 1.6f, -6}, .to_light = {0.48f, 0.64f, -0.6f}, .floor_mirror = 0.2f};
    for (int i = 0; i < N_SPHERES; i++) {
        struct sphere *s = &scene.spheres[i];
        s->radius = uniform(w, 0.5f, 1.0f);
        s->centre.x = (float)(i % 3 - 1) * 2.4f + uniform(w, -0.15f, 0.15f);
        s->centre.y = s->radius;
        s->centre.z = (float)(i / 3) * 2.6f + uniform(w, -0.2f, 0.2f);
        s->colour = (struct float3){uniform(w, 0.2f, 1), uniform(w, 0.2f, 1), uniform(w, 0.2f, 1)};
        s->mirror = i % 2 ? 0 : uniform(w, 0.4f, 0.9f);
    }
    return scene;
}

// ---- Reference ----------------------------------------------------------------------------------------------------

struct vector {
    double x, y, z;
};

static struct vector widened(struct float3 a) { return (struct vector){(double)a.x, (double)a.y, (double)a.z}; }
static struct vector sum(struct vector a, double s, struct vector b) {
    return (struct vector){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static double product(struct vector a, struct vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static struct vector unit(struct vector a) {
    double s = 1 / sqrt(product(a, a));
    return (struct vector){s * a.x, s * a.y, s * a.z};
}

// Returns the distance to the sphere along `d`, INFINITY if the ray misses it.
static double distance(const struct sphere *s, struct vector from, struct vector d) {
    struct vector to_centre = sum(widened(s->centre), -1, from);
    double along = product(to_centre, d), radius = (double)s->radius;
    struct vector aside = sum(to_centre, -along, d);
    double inside = radius * radius - product(aside, aside);
    double t = inside < 0 ? -1 : along - sqrt(inside);
    return t > 1e-3 ? t : INFINITY;
}

static const struct sphere *nearest_sphere(const struct scene *scene, struct vector from, struct vector d, double *t) {
    const struct sphere *nearest = NULL;
    *t = INFINITY;
    for (int i = 0; i < N_SPHERES; i++) {
        double here = distance(&scene->spheres[i], from, d);
        if (here >= *t)
            continue;
        *t = here;
        nearest = &scene->spheres[i];
    }
    return nearest;
}

static struct vector floor_colour(struct vector point) {
    bool is_light = ((long)floor(point.x) + (long)floor(point.z)) % 2 == 0;
    return is_light ? (struct vector){0.9, 0.9, 0.85} : (struct vector){0.15, 0.15, 0.2};
}

static struct vector ray_colour(const struct scene *scene, struct vector from, struct vector d, int reflections_left) {
    double t, t_light;
    const struct sphere *ball = nearest_sphere(scene, from, d, &t);
    double t_floor = d.y < 0 ? -from.y / d.y : INFINITY;
    if (!ball && isinf(t_floor)) {
        double height = fmax(d.y, 0);
        return (struct vector){0.7 - 0.4 * height, 0.8 - 0.3 * height, 0.95};
    }
    bool is_floor = t_floor < t;
    struct vector point = sum(from, is_floor ? t_floor : t, d), normal = {0, 1, 0}, to_light = widened(scene->to_light);
    if (!is_floor)
        normal = unit(sum(point, -1, widened(ball->centre)));
    double light = 0.15, mirror = (double)(is_floor ? scene->floor_mirror : ball->mirror);
    if (product(normal, to_light) > 0 && !nearest_sphere(scene, point, to_light, &t_light))
        light += 0.85 * product(normal, to_light);
    if (!reflections_left)
        mirror = 0;
    struct vector own = is_floor ? floor_colour(point) : widened(ball->colour), seen = {0, 0, 0};
    if (mirror > 0)
        seen = ray_colour(scene, point, sum(d, -2 * product(normal, d), normal), reflections_left - 1);
    return sum(sum((struct vector){0, 0, 0}, mirror, seen), light * (1 - mirror), own);
}

static uint32_t level(double x) { return (uint32_t)(fmin(x, 1) * 255 + 0.5); }

// The colour at a point of the picture, in pixels from its upper left corner.
static uint32_t colour_at(const struct scene *scene, double x, double y, int side) {
    struct vector d = {2 * x / side - 1, 1 - 2 * y / side, 2};
    struct vector c = ray_colour(scene, widened(scene->eye), unit(d), MOST_REFLECTIONS);
    return level(c.x) | level(c.y) << 8 | level(c.z) << 16;
}

static bool is_close(uint32_t a, uint32_t b) {
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(a >> shift & 0xff) - (int)(b >> shift & 0xff)) > 2)
            return false;
    return true;
}

static bool is_close_nearby(const struct scene *scene, int x, int y, int side, uint32_t got) {
    enum { RINGS = 2, DIRECTIONS = 16 };
    for (int i = 0; i < RINGS * DIRECTIONS; i++) {
        double radius = i < DIRECTIONS ? 0.002 : 0.02, angle = i * 6.283185307179586 / DIRECTIONS;
        if (is_close(got, colour_at(scene, x + 0.5 + radius * cos(angle), y + 0.5 + radius * sin(angle), side)))
            return true;
    }
    return false;
}

static struct workload_diff compare(const struct workload *w, const struct scene *scene, const uint32_t *picture,
                                    int side) {
    size_t n = (size_t)side * (size_t)side;
    uint32_t *expected = workload_array(w, n, sizeof *expected);
    for (size_t i = 0; i < n; i++) {
        int x = (int)i % side, y = (int)i / side;
        expected[i] = colour_at(scene, x + 0.5, y + 0.5, side);
        if (is_close(picture[i], expected[i]) || is_close_nearby(scene, x, y, side, picture[i]))
            expected[i] = picture[i];
    }
    struct workload_diff diff = workload_diff_u32(picture, expected, n);
    free(expected);
    return diff;
}

// ---- Device -------------------------------------------------------------------------------------------------------

static struct workload_grid draw(const struct workload *w, const struct scene *scene, uint32_t *picture, int side) {
    size_t bytes = (size_t)side * (size_t)side * sizeof *picture;
    struct workload_shape shape = workload_shape(w, (size_t)side * (size_t)side, BLOCK_X * BLOCK_Y);
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    bool strided = w->blocks || w->threads_per_block || shape.threads < BLOCK_X * BLOCK_Y;
    if (!strided)
        grid = (struct workload_grid){((unsigned)side + BLOCK_X - 1) / BLOCK_X,
                                      ((unsigned)side + BLOCK_Y - 1) / BLOCK_Y, BLOCK_X, BLOCK_Y, 0};
    workload_set_variable(w, "the_scene", scene, sizeof *scene);
    CUdeviceptr device_picture = workload_device_alloc(w, bytes);
    workload_launch(w, strided ? "ray_strided" : "ray", grid, (void *[]){&device_picture, &side});
    workload_download(w, picture, device_picture, bytes);
    workload_device_free(w, device_picture);
    return grid;
}

static void write_image(const struct workload *w, const char *path, const uint32_t *picture, unsigned side) {
    size_t n = (size_t)side * side;
    uint8_t *rgb = workload_array(w, n, 3);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++)
            rgb[3 * i + k] = (uint8_t)(picture[i] >> 8 * k);
    if (!workload_write_png(path, rgb, side, side))
        workload_fail(w, "cannot write '%s': %s", path, strerror(errno));
    free(rgb);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int side = (int)(w.option[SIDE_OPTION].text ? w.option[SIDE_OPTION].number : workload_pick(&w, 32, 192, 256));
    struct scene scene = make_scene(&w);
    uint32_t *picture = workload_array(&w, (size_t)side * (size_t)side, sizeof *picture);
    struct workload_grid grid = draw(&w, &scene, picture, side);
    if (w.option[IMAGE_OPTION].text)
        write_image(&w, w.option[IMAGE_OPTION].text, picture, (unsigned)side);

    struct workload_diff diff = {0};
    if (w.check)
        diff = compare(&w, &scene, picture, side);
    free(picture);
    return workload_finish(&w, w.check ? &diff : NULL, "%d x %d pixels, %u blocks of %u threads", side, side,
                           grid.blocks_x * grid.blocks_y, grid.threads_x * grid.threads_y);
}
