// sc: clustering by local search, as in a stream of points: a candidate becomes a centre if that lowers the cost.
//
// A solution costs the sum of the squared distances of all points to their centres and a price for each open centre.
// The price is searched by bisection until the number of centres lies in the wanted range. The device computes how much
// a point would save by moving to a candidate. The search itself runs on the host.
//
// The reference is the same search with the distances computed on the CPU from the scalar product in whole numbers.
// Coordinates are whole numbers small enough for squared distances to be exact in a float, so the check requires equal
// clusters.
#include "../common/workload.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "sc",
    .summary = "clustering by local search (streamcluster), one point per thread, one launch per candidate",
    .sizes = {"256 points, 8-D, 2 to 4 centres", "512 points, 16-D, 4 to 8 centres",
              "2,048 points, 256-D, 10 to 20 centres"},
};

enum { THREADS = 128, MOST_COORDINATE = 255 }; // 256 dimensions: a squared distance stays below 2^24

struct points {
    size_t n, dimensions;
    int *coordinate; // dimension by dimension: coordinate[k * n + i]
};

struct clusters {
    int *centre; // of each point: the number of the point that is its centre
    float *cost; // squared distance to it
    size_t n_centres;
};

// How savings are computed: on the device, or on the CPU when `coordinates` is 0.
struct savings {
    struct workload *w;
    const struct points *points;
    CUdeviceptr coordinates, cost, saving;
    struct workload_shape shape;
    float *value; // the result for each point
    int n_evaluations;
};

// ---- Points -------------------------------------------------------------------------------------------------------

// Points scattered around twice as many places as the most centres that are wanted.
static struct points make_points(struct workload *w, size_t n, size_t dimensions, size_t n_places) {
    enum { SPREAD = 96 };
    struct points p = {n, dimensions, workload_array(w, n * dimensions, sizeof(int))};
    int *place = workload_array(w, n_places * dimensions, sizeof *place);
    for (size_t i = 0; i < n_places * dimensions; i++)
        place[i] = (int)(workload_random(w) % (MOST_COORDINATE - SPREAD + 1));
    for (size_t i = 0; i < n; i++) {
        const int *around = place + workload_random(w) % n_places * dimensions;
        for (size_t k = 0; k < dimensions; k++)
            p.coordinate[k * n + i] = around[k] + (int)(workload_random(w) % (SPREAD + 1));
    }
    free(place);
    return p;
}

static CUdeviceptr upload_coordinates(const struct workload *w, const struct points *p) {
    float *as_float = workload_array(w, p->n * p->dimensions, sizeof *as_float);
    for (size_t i = 0; i < p->n * p->dimensions; i++)
        as_float[i] = (float)p->coordinate[i];
    CUdeviceptr device = workload_upload(w, as_float, p->n * p->dimensions * sizeof *as_float);
    free(as_float);
    return device;
}

// ---- Savings ------------------------------------------------------------------------------------------------------

static void find_on_device(struct savings *s, const struct clusters *clusters, int candidate) {
    size_t bytes = s->points->n * sizeof(float);
    int n = (int)s->points->n, dimensions = (int)s->points->dimensions;
    unsigned shared = (unsigned)(s->points->dimensions * sizeof(float));
    WORKLOAD_CUDA(s->w, cuMemcpyHtoD(s->cost, clusters->cost, bytes));
    workload_launch(s->w, "savings", (struct workload_grid){s->shape.blocks, 1, s->shape.threads, 1, shared},
                    (void *[]){&s->coordinates, &s->cost, &s->saving, &n, &dimensions, &candidate});
    workload_download(s->w, s->value, s->saving, bytes);
}

// |x - c|^2 = |x|^2 + |c|^2 - 2 x.c
static void find_on_cpu(struct savings *s, const struct clusters *clusters, int candidate) {
    const struct points *p = s->points;
    for (size_t i = 0; i < p->n; i++) {
        int own = 0, other = 0, product = 0;
        for (size_t k = 0; k < p->dimensions; k++) {
            int x = p->coordinate[k * p->n + i], c = p->coordinate[k * p->n + (size_t)candidate];
            own += x * x;
            other += c * c;
            product += x * c;
        }
        s->value[i] = clusters->cost[i] - (float)(own + other - 2 * product);
    }
}

static void find_savings(struct savings *s, const struct clusters *clusters, int candidate) {
    s->n_evaluations++;
    if (s->coordinates)
        find_on_device(s, clusters, candidate);
    else
        find_on_cpu(s, clusters, candidate);
}

// ---- The search ---------------------------------------------------------------------------------------------------

// Opens `candidate` for the points that save and closes the centres whose other points lose less by moving there than
// the centre's price, if the whole change pays. `loss` has an element per point, used for centres. Returns the gain.
static double try_candidate(struct savings *s, struct clusters *c, int candidate, double price, double *loss) {
    size_t n = s->points->n;
    find_savings(s, c, candidate);
    for (size_t i = 0; i < n; i++)
        loss[i] = 0;
    double gain = c->centre[candidate] == candidate ? 0 : -price;
    for (size_t i = 0; i < n; i++) {
        if (s->value[i] > 0)
            gain += (double)s->value[i];
        else
            loss[c->centre[i]] -= (double)s->value[i];
    }
    for (size_t i = 0; i < n; i++)
        if (c->centre[i] == (int)i && (int)i != candidate && loss[i] < price)
            gain += price - loss[i];
    if (gain <= 0)
        return 0;
    size_t n_centres = c->centre[candidate] == candidate ? c->n_centres : c->n_centres + 1;
    for (size_t i = 0; i < n; i++)
        n_centres -= c->centre[i] == (int)i && (int)i != candidate && loss[i] < price;
    for (size_t i = 0; i < n; i++)
        if (s->value[i] > 0 || (c->centre[i] != candidate && loss[c->centre[i]] < price)) {
            c->centre[i] = candidate;
            c->cost[i] -= s->value[i];
        }
    c->n_centres = n_centres;
    return gain;
}

static double total_cost(const struct clusters *c, size_t n, double price) {
    double total = price * (double)c->n_centres;
    for (size_t i = 0; i < n; i++)
        total += (double)c->cost[i];
    return total;
}

// Passes over n_candidates random points each, until one gains less than a thousandth of the cost.
static void improve(struct savings *s, struct clusters *c, double price, size_t n_candidates, double *loss) {
    enum { MOST_PASSES = 4 };
    double gain, before;
    int pass = 0;
    do {
        before = total_cost(c, s->points->n, price);
        gain = 0;
        for (size_t i = 0; i < n_candidates; i++)
            gain += try_candidate(s, c, (int)(workload_random(s->w) % s->points->n), price, loss);
    } while (++pass < MOST_PASSES && gain > before * 1e-3);
}

// Assigns all points to point 0.
static void start_clusters(struct savings *s, struct clusters *c) {
    for (size_t i = 0; i < s->points->n; i++) {
        c->centre[i] = 0;
        c->cost[i] = 0;
    }
    find_savings(s, c, 0);
    for (size_t i = 0; i < s->points->n; i++)
        c->cost[i] = -s->value[i];
    c->n_centres = 1;
}

// Bisects the price of a centre until there are `least` to `most` of them, or the price is settled.
static void cluster(struct savings *s, struct clusters *c, size_t least, size_t most) {
    double *loss = workload_array(s->w, s->points->n, sizeof *loss);
    start_clusters(s, c);
    double low = 0, high = total_cost(c, s->points->n, 0);
    while (high - low > 1e-3 * high) {
        double price = (low + high) / 2;
        start_clusters(s, c);
        improve(s, c, price, 3 * most, loss);
        if (c->n_centres >= least && c->n_centres <= most)
            break;
        if (c->n_centres < least)
            high = price;
        else
            low = price;
    }
    free(loss);
}

static struct clusters make_clusters(const struct workload *w, size_t n) {
    return (struct clusters){workload_array(w, n, sizeof(int)), workload_array(w, n, sizeof(float)), 0};
}

// The reference draws the same candidates: both searches begin with the generator in state `random_state`.
static struct clusters search(struct workload *w, const struct points *p, bool on_device, uint32_t random_state,
                              struct workload_shape shape, int *n_evaluations) {
    size_t least = workload_pick(w, 2, 4, 10), most = 2 * least, bytes = p->n * sizeof(float);
    struct savings s = {.w = w, .points = p, .shape = shape, .value = workload_array(w, p->n, sizeof(float))};
    struct clusters c = make_clusters(w, p->n);
    w->random_state = random_state;
    if (on_device) {
        s.coordinates = upload_coordinates(w, p);
        s.cost = workload_device_alloc(w, bytes);
        s.saving = workload_device_alloc(w, bytes);
    }
    cluster(&s, &c, least, most);
    if (on_device) {
        workload_device_free(w, s.coordinates);
        workload_device_free(w, s.cost);
        workload_device_free(w, s.saving);
    }
    free(s.value);
    *n_evaluations = s.n_evaluations;
    return c;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    size_t n = workload_pick(&w, 256, 512, 2048), dimensions = workload_pick(&w, 8, 16, 256);
    struct points points = make_points(&w, n, dimensions, workload_pick(&w, 8, 16, 40));
    struct workload_shape shape = workload_shape(&w, n, THREADS);
    uint32_t random_state = w.random_state;
    int n_launches;
    struct clusters found = search(&w, &points, true, random_state, shape, &n_launches);

    struct workload_diff diff = {0};
    if (w.check) {
        int n_evaluations;
        struct clusters expected = search(&w, &points, false, random_state, shape, &n_evaluations);
        diff = workload_diff_i32(found.centre, expected.centre, n);
        free(expected.centre);
        free(expected.cost);
    }
    free(points.coordinate);
    free(found.centre);
    free(found.cost);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%zu points, %zu centres, %d launches of %u blocks of %u threads", n, found.n_centres,
                           n_launches, shape.blocks, shape.threads);
}
