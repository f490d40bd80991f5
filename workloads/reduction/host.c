// reduction: the sum of a vector in two launches: one sum per block, then one block over those sums.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, TYPE_OPTION = 0 };

static const struct workload_info info = {
    .name = "reduction",
    .summary = "sum of a vector: grid-stride loads, shared-memory tree, two launches",
    .sizes = {"40,960 ints", "1,048,576 ints", "33,554,432 booleans of one byte"},
    .threads_fixed = "the tree in shared memory is laid out for 256 threads",
    .options = {[TYPE_OPTION] = {"--type", "int|boolean", "of the elements; boolean (a byte): Narasiman 2014", 0, 0}},
};

// Ints from 0 to 255, or booleans, in the size's element type. Returns their sum.
static int32_t fill(struct workload *w, bool is_bool, void *in, size_t n) {
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t value = workload_random(w) & (is_bool ? 1u : 255u);
        if (is_bool)
            ((uint8_t *)in)[i] = (uint8_t)value;
        else
            ((int32_t *)in)[i] = (int32_t)value;
        sum += (int32_t)value;
    }
    return sum;
}

static bool adds_booleans(const struct workload *w) {
    const char *type = w->option[TYPE_OPTION].text;
    if (!type)
        return w->size == WORKLOAD_PAPER;
    if (strcmp(type, "int") != 0 && strcmp(type, "boolean") != 0)
        workload_usage_error(w, "--type takes int or boolean, not '%s'", type);
    return strcmp(type, "boolean") == 0;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    bool is_bool = adds_booleans(&w);
    int n = (int)workload_pick(&w, 40960, 1 << 20, 1 << 25);
    unsigned blocks = w.blocks ? w.blocks : workload_pick(&w, 40, 1024, 1024);
    int n_partial = (int)blocks;
    size_t bytes = (size_t)n * (is_bool ? sizeof(uint8_t) : sizeof(int32_t));
    void *in = workload_array(&w, bytes, 1);
    int32_t expected = fill(&w, is_bool, in, (size_t)n), sum = 0;

    CUdeviceptr device_in = workload_upload(&w, in, bytes);
    CUdeviceptr device_partial = workload_device_alloc(&w, blocks * sizeof sum);
    CUdeviceptr device_sum = workload_device_alloc(&w, sizeof sum);
    const char *kernel = !is_bool ? "reduce" : w.option[TYPE_OPTION].text ? "reduce_bytes" : "reduce_bool";
    workload_launch(&w, kernel, (struct workload_grid){blocks, 1, THREADS, 1, 0},
                    (void *[]){&device_in, &device_partial, &n});
    workload_launch(&w, "reduce", (struct workload_grid){1, 1, THREADS, 1, 0},
                    (void *[]){&device_partial, &device_sum, &n_partial});
    workload_download(&w, &sum, device_sum, sizeof sum);

    struct workload_diff diff = workload_diff_i32(&sum, &expected, 1);
    workload_device_free(&w, device_in);
    workload_device_free(&w, device_partial);
    workload_device_free(&w, device_sum);
    free(in);
    return workload_finish(&w, w.check ? &diff : NULL, "sum %d of %d %s, %u blocks of %d threads", sum, n,
                           is_bool ? "booleans" : "ints", blocks, THREADS);
}
