// nnei: the records of a table nearest to a given place, modelled on the hurricane tracks that the paper's program
// reads.
//
// Two checks: the distances against double precision, within 1e-6 of the distance (three roundings of 6e-8 at most,
// halved by the root, and that of the root), and the records found against sorting all keys that the device computed.
#include "../common/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_NEAREST = 5 };

static const struct workload_info info = {
    .name = "nnei",
    .summary = "nearest neighbours of a place, one record per thread, one launch per neighbour",
    .sizes = {"10,691 records", "131,072 records", "10,691 records, the same as small"},
};

struct place {
    float latitude, longitude;
};

static float uniform(struct workload *w, float low, float high) {
    return low + (high - low) * ((float)workload_random(w) * 0x1p-24f);
}

// Tracks: each begins at a random place in the tropics of the North Atlantic and drifts west and north, a record every
// six hours.
static struct place *make_records(struct workload *w, size_t n) {
    struct place *records = workload_array(w, n, sizeof *records);
    struct place at = {0};
    for (size_t i = 0; i < n; i++) {
        bool starts = i == 0 || at.latitude > 50.0f || at.longitude < -100.0f;
        at.latitude = starts ? uniform(w, 8.0f, 20.0f) : at.latitude + uniform(w, -0.3f, 1.0f);
        at.longitude = starts ? uniform(w, -60.0f, -20.0f) : at.longitude - uniform(w, -0.5f, 1.5f);
        records[i] = at;
    }
    return records;
}

static float distance_reference(struct place a, struct place b) {
    return (float)hypot((double)a.latitude - (double)b.latitude, (double)a.longitude - (double)b.longitude);
}

static float key_distance(uint64_t key) {
    uint32_t bits = (uint32_t)(key >> 32);
    float distance;
    memcpy(&distance, &bits, sizeof distance);
    return distance;
}

static int compare_keys(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

// The keys of all records, and those of the N_NEAREST nearest.
static void search(const struct workload *w, const struct place *records, struct place target, int n,
                   struct workload_shape shape, uint64_t *keys, uint64_t *found) {
    size_t key_bytes = (size_t)n * sizeof *keys;
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    uint64_t after = 0, none = UINT64_MAX;
    CUdeviceptr device_records = workload_upload(w, records, (size_t)n * sizeof *records);
    CUdeviceptr device_keys = workload_device_alloc(w, key_bytes), nearest = workload_device_alloc(w, sizeof none);
    workload_launch(w, "nnei_distances", grid, (void *[]){&device_records, &target, &device_keys, &n});
    for (int i = 0; i < N_NEAREST; i++, after = found[i - 1]) {
        WORKLOAD_CUDA(w, cuMemcpyHtoD(nearest, &none, sizeof none));
        workload_launch(w, "nnei_nearest", grid, (void *[]){&device_keys, &after, &nearest, &n});
        workload_download(w, &found[i], nearest, sizeof found[i]);
    }
    workload_download(w, keys, device_keys, key_bytes);
    workload_device_free(w, device_records);
    workload_device_free(w, device_keys);
    workload_device_free(w, nearest);
}

// Sorts `keys`.
static struct workload_diff check(const struct workload *w, const struct place *records, struct place target, size_t n,
                                  uint64_t *keys, const uint64_t *found) {
    float *got = workload_array(w, n, sizeof *got), *expected = workload_array(w, n, sizeof *expected);
    uint32_t got_record[N_NEAREST], right_record[N_NEAREST];
    for (size_t i = 0; i < n; i++) {
        got[i] = key_distance(keys[i]);
        expected[i] = distance_reference(records[i], target);
    }
    struct workload_diff distances = workload_diff_f32(got, expected, n, 0.0, 1e-6);
    free(got);
    free(expected);
    if (distances.n_wrong)
        return distances;
    qsort(keys, n, sizeof *keys, compare_keys);
    for (int i = 0; i < N_NEAREST; i++) {
        got_record[i] = (uint32_t)found[i];
        right_record[i] = (uint32_t)keys[i];
    }
    return workload_diff_u32(got_record, right_record, N_NEAREST);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 10691, 131072, 10691);
    struct place *records = make_records(&w, (size_t)n);
    struct place target = {30.0f, -75.0f};
    uint64_t *keys = workload_array(&w, (size_t)n, sizeof *keys), found[N_NEAREST];
    struct workload_shape shape = workload_shape(&w, (size_t)n, 256);
    search(&w, records, target, n, shape, keys, found);

    struct workload_diff diff = {0};
    if (w.check)
        diff = check(&w, records, target, (size_t)n, keys, found);
    free(records);
    free(keys);
    return workload_finish(
        &w, w.check ? &diff : NULL, "%d records, nearest %u at %.2f degrees, %d launches of %u blocks of %u threads", n,
        (uint32_t)found[0], (double)key_distance(found[0]), 1 + N_NEAREST, shape.blocks, shape.threads);
}
