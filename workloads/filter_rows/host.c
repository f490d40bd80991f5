// filter_rows: the edges of a gray picture by a 3 x 3 convolution, one row per thread.
//
// The filter is Laplace's operator over all eight neighbours: eight times a pixel minus its neighbours. The reference
// takes nine times the pixel minus the sum of the 3 x 3. All values are whole numbers, so the check asks for equality.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>

static const struct workload_info info = {
    .name = "filter_rows",
    .summary = "edge detection with a 3 x 3 neighbourhood, one row of the picture per thread",
    .sizes = {"36 x 256 pixels", "400 x 400 pixels", "500 x 500 pixels"},
    .options = {WORKLOAD_REJOIN_OPTION},
};

enum { WHITE = 255, N_DISCS = 12, NOISE = 16 };
static const double weights[] = {-1, -1, -1, -1, 8, -1, -1, -1, -1};

struct picture {
    size_t width, height, pitch; // pixels, and those from one row to the next
    double *pixel;
};

// The pitch is odd: rows begin at every place of a line.
static struct picture make_blank(const struct workload *w, size_t width, size_t height) {
    size_t pitch = width | 1;
    return (struct picture){width, height, pitch, workload_array(w, height * pitch, sizeof(double))};
}

// Discs of one gray each on black, with noise over all.
static struct picture make_picture(struct workload *w, size_t width, size_t height) {
    struct picture p = make_blank(w, width, height);
    for (int k = 0; k < N_DISCS; k++) {
        long at_x = (long)(workload_random(w) % width), at_y = (long)(workload_random(w) % height);
        long radius = (long)(height / 16 + workload_random(w) % (height / 8));
        double gray = workload_random(w) % (WHITE - NOISE);
        for (long y = 0; y < (long)height; y++)
            for (long x = 0; x < (long)width; x++)
                if ((x - at_x) * (x - at_x) + (y - at_y) * (y - at_y) <= radius * radius)
                    p.pixel[y * (long)p.pitch + x] = gray;
    }
    for (size_t i = 0; i < height * p.pitch; i++)
        p.pixel[i] += workload_random(w) % NOISE;
    return p;
}

static double sum_of_nine(const double *at, size_t pitch) {
    double sum = 0;
    for (int k = -1; k <= 1; k++)
        sum += at[k - (long)pitch] + at[k] + at[k + (long)pitch];
    return sum;
}

static void find_edges_reference(const struct picture *p, double *edges) {
    for (size_t i = 0; i < p->height * p->pitch; i++) {
        size_t x = i % p->pitch, y = i / p->pitch;
        edges[i] = p->pixel[i];
        if (x > 0 && x < p->width - 1 && y > 0 && y < p->height - 1)
            edges[i] = fmin(fabs(9 * p->pixel[i] - sum_of_nine(p->pixel + i, p->pitch)), WHITE);
    }
}

static void find_edges(const struct workload *w, const struct picture *p, double *edges, struct workload_shape shape) {
    size_t bytes = p->height * p->pitch * sizeof(double);
    int width = (int)p->width, height = (int)p->height, pitch = (int)p->pitch, rejoins = workload_rejoins(w);
    CUdeviceptr from = workload_upload(w, p->pixel, bytes), to = workload_upload(w, p->pixel, bytes);
    CUdeviceptr filter = workload_upload(w, weights, sizeof weights);
    workload_launch(w, "filter_rows", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&from, &to, &filter, &width, &height, &pitch, &rejoins});
    workload_download(w, edges, to, bytes);
    workload_device_free(w, from);
    workload_device_free(w, to);
    workload_device_free(w, filter);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned width = workload_pick(&w, 36, 400, 500), height = workload_pick(&w, 256, 400, 500);
    struct picture picture = make_picture(&w, width, height);
    size_t n = height * picture.pitch;
    double *edges = workload_array(&w, n, sizeof *edges), *expected = workload_array(&w, n, sizeof *expected);
    struct workload_shape shape = workload_loop_shape(&w, height);
    find_edges(&w, &picture, edges, shape);

    struct workload_diff diff = {0};
    if (w.check) {
        find_edges_reference(&picture, expected);
        diff = workload_diff_f64(edges, expected, n, 0, 0);
    }
    free(picture.pixel);
    free(edges);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%u x %u pixels, %u blocks of %u threads", width, height,
                           shape.blocks, shape.threads);
}
