// filter: the edges of a gray picture by Sobel's operator.
//
// The reference works on a picture with a border added and splits the operator into a smoothing and a difference, one
// after the other. All values are whole numbers, so the check asks for equality.
#include "../common/workload.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "filter",
    .summary = "edge detection with a 3 x 3 neighbourhood, one pixel per thread",
    .sizes = {"128 x 128 pixels", "400 x 400 pixels", "500 x 500 pixels"},
};

enum { WHITE = 255, N_DISCS = 12, NOISE = 16 };

struct picture {
    size_t width, height;
    int *pixel;
};

static struct picture make_blank(const struct workload *w, size_t width, size_t height) {
    return (struct picture){width, height, workload_array(w, width * height, sizeof(int))};
}

// Discs of one gray each on a gradient, with noise over all.
static struct picture make_picture(struct workload *w, size_t side) {
    struct picture p = make_blank(w, side, side);
    for (size_t y = 0; y < side; y++)
        for (size_t x = 0; x < side; x++)
            p.pixel[y * side + x] = (int)((x + y) * 100 / (2 * side));
    for (int k = 0; k < N_DISCS; k++) {
        long at_x = (long)(workload_random(w) % side), at_y = (long)(workload_random(w) % side);
        long radius = (long)(side / 16 + workload_random(w) % (side / 8));
        int gray = (int)(workload_random(w) % (WHITE - NOISE));
        for (long y = 0; y < (long)side; y++)
            for (long x = 0; x < (long)side; x++)
                if ((x - at_x) * (x - at_x) + (y - at_y) * (y - at_y) <= radius * radius)
                    p.pixel[y * (long)side + x] = gray;
    }
    for (size_t i = 0; i < side * side; i++)
        p.pixel[i] += (int)(workload_random(w) % NOISE);
    return p;
}

// The picture with its outermost pixels repeated once on every side.
static struct picture add_border(const struct workload *w, const struct picture *p) {
    struct picture wide = make_blank(w, p->width + 2, p->height + 2);
    for (size_t y = 0; y < wide.height; y++)
        for (size_t x = 0; x < wide.width; x++) {
            size_t from_x = x == 0 ? 0 : x > p->width ? p->width - 1 : x - 1;
            size_t from_y = y == 0 ? 0 : y > p->height ? p->height - 1 : y - 1;
            wide.pixel[y * wide.width + x] = p->pixel[from_y * p->width + from_x];
        }
    return wide;
}

// `along` is the distance between neighbours in the direction of the difference, `across` in that of the smoothing.
static int gradient(const int *at, long along, long across) {
    int smooth[2];
    for (int side = 0; side < 2; side++) {
        const int *centre = at + (side ? along : -along);
        smooth[side] = (centre[-across] + centre[0]) + (centre[0] + centre[across]);
    }
    return abs(smooth[1] - smooth[0]);
}

static void find_edges_reference(const struct workload *w, const struct picture *p, int *edges) {
    struct picture wide = add_border(w, p);
    long row = (long)wide.width;
    for (size_t y = 0; y < p->height; y++)
        for (size_t x = 0; x < p->width; x++) {
            const int *at = wide.pixel + (y + 1) * wide.width + x + 1;
            int size = gradient(at, 1, row) + gradient(at, row, 1);
            edges[y * p->width + x] = size < WHITE ? size : WHITE;
        }
    free(wide.pixel);
}

static void find_edges(const struct workload *w, const struct picture *p, int *edges, struct workload_shape shape) {
    size_t bytes = p->width * p->height * sizeof(int);
    int width = (int)p->width, height = (int)p->height;
    CUdeviceptr from = workload_upload(w, p->pixel, bytes), to = workload_device_alloc(w, bytes);
    workload_launch(w, "filter", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&from, &to, &width, &height});
    workload_download(w, edges, to, bytes);
    workload_device_free(w, from);
    workload_device_free(w, to);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned side = workload_pick(&w, 128, 400, 500);
    size_t n = (size_t)side * side;
    struct picture picture = make_picture(&w, side);
    int *edges = workload_array(&w, n, sizeof *edges), *expected = workload_array(&w, n, sizeof *expected);
    struct workload_shape shape = workload_shape(&w, n, 64);
    find_edges(&w, &picture, edges, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        find_edges_reference(&w, &picture, expected);
        diff = workload_diff_i32(edges, expected, n);
    }
    free(picture.pixel);
    free(edges);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%u x %u pixels, %u blocks of %u threads", side, side,
                           shape.blocks, shape.threads);
}
