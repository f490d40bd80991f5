// Common to all host programs: the command line, the device, copies, random numbers and the result line.
//
// A host program is plain C and uses only the CUDA driver API, so the same program runs on Heddle and on a GPU. Its
// main() reads: start, make the input, upload, launch, download, compare with a CPU reference, finish. Exit status: 0
// verified (or --no-check), 1 error, 2 wrong usage, 3 failed check.
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum workload_size { WORKLOAD_SMALL, WORKLOAD_MEDIUM, WORKLOAD_PAPER, WORKLOAD_N_SIZES };

// An option of one program, `--name VALUE`.
struct workload_option {
    const char *name;     // with its dashes
    const char *argument; // what --help calls the value
    const char *help;     // one line
    unsigned least, most; // the value is a number in this range; both 0: any text
};
enum { WORKLOAD_MOST_OPTIONS = 4 };

// The description of a program.
struct workload_info {
    const char *name;
    const char *summary;                                   // one line
    const char *sizes[WORKLOAD_N_SIZES];                   // the input at each size, for --help
    const char *blocks_fixed;                              // why --blocks is fixed, or NULL if it is not
    const char *threads_fixed;                             // the same for --threads-per-block
    struct workload_option options[WORKLOAD_MOST_OPTIONS]; // of this program; ends with one without a name
};

// The value of one of a program's own options.
struct workload_value {
    const char *text; // NULL when the option was not given
    unsigned number;  // 0 for a text
};

struct workload {
    const struct workload_info *info;
    enum workload_size size;
    bool check;
    unsigned blocks;                                     // as given, 0 when not given
    unsigned threads_per_block;                          // as given, 0 when not given
    struct workload_value option[WORKLOAD_MOST_OPTIONS]; // as in info->options
    uint32_t random_state;
    CUdevice device;
    CUmodule module;
};

// The kernels' PTX, a NUL-terminated text that the build embeds in the program.
extern const char workload_ptx[];

// Reads the command line, opens device 0 and loads the PTX. Ends the program after --help or an error.
void workload_start(struct workload *w, const struct workload_info *info, int argc, char **argv);

// Loads another PTX, from which workload_launch() then takes its kernels.
void workload_load(struct workload *w, const char *text);

// Returns the value for the size of --size.
unsigned workload_pick(const struct workload *w, unsigned small, unsigned medium, unsigned paper);

// Uniform in [0, 2^24): the linear congruential generator of Numerical Recipes, its low 8 bits dropped.
uint32_t workload_random(struct workload *w);

// Uniform in [0, n), n at most 2^24; uses the high bits, which are better.
uint32_t workload_random_below(struct workload *w, uint32_t n);

// Ends the program with one line on standard error: status 2, a wrong option value; status 1, an error.
_Noreturn void workload_usage_error(const struct workload *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void workload_fail(const struct workload *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The limits of one block on this device.
unsigned workload_most_threads(const struct workload *w);
unsigned workload_most_shared_bytes(const struct workload *w);

// A one-dimensional launch over n_items: the blocks and threads of the command line, otherwise enough for one thread
// per item, in blocks no larger than the device allows. `covers`: there is a thread for every item.
struct workload_shape {
    unsigned blocks, threads;
    bool covers;
};
struct workload_shape workload_shape(const struct workload *w, size_t n_items, unsigned default_threads);
// The same for a parallel loop as Meng 2010 runs it (common/tasks.cuh): 4 blocks of 64 threads share out n_items tasks,
// unless the command line says otherwise or the device has smaller blocks.
struct workload_shape workload_loop_shape(const struct workload *w, size_t n_items);

// Where the threads of a warp wait for each other in such a loop: at the end of each task, or of the launch only. The
// kernels' last argument; the option is the program's first.
#define WORKLOAD_REJOIN_OPTION                                                                                         \
    {                                                                                                                  \
        "--rejoin", "task|launch",                                                                                     \
            "where the threads of a warp wait for each other: after each task (default), or after "                    \
            "the launch",                                                                                              \
            0, 0                                                                                                       \
    }
int workload_rejoins(const struct workload *w);

// Host memory, zeroed; freed with free().
void *workload_array(const struct workload *w, size_t n, size_t item_bytes);

// Device memory.
CUdeviceptr workload_device_alloc(const struct workload *w, size_t bytes);
CUdeviceptr workload_upload(const struct workload *w, const void *host, size_t bytes);
void workload_download(const struct workload *w, void *host, CUdeviceptr device, size_t bytes);
void workload_device_free(const struct workload *w, CUdeviceptr device);
// Fills a variable of the module, for example in constant memory.
void workload_set_variable(const struct workload *w, const char *name, const void *host, size_t bytes);

// Runs a kernel of the module to its end. `arguments` holds a pointer to each argument.
struct workload_grid {
    unsigned blocks_x, blocks_y;
    unsigned threads_x, threads_y;
    unsigned dynamic_shared_bytes;
};
void workload_launch(const struct workload *w, const char *kernel, struct workload_grid grid, void **arguments);

// The differences between a result and its reference; n_wrong == 0 means none.
struct workload_diff {
    size_t n_compared, n_wrong, first;
    double got, expected; // at `first`
};
struct workload_diff workload_diff_u32(const uint32_t *got, const uint32_t *expected, size_t n);
struct workload_diff workload_diff_i32(const int32_t *got, const int32_t *expected, size_t n);
struct workload_diff workload_diff_i64(const int64_t *got, const int64_t *expected, size_t n);
// Equal if |got - expected| <= absolute + relative * |expected|.
struct workload_diff workload_diff_f32(const float *got, const float *expected, size_t n, double absolute,
                                       double relative);
struct workload_diff workload_diff_f64(const double *got, const double *expected, size_t n, double absolute,
                                       double relative);

// Prints the result line, closes the device and returns main's return value. diff is NULL with --no-check.
int workload_finish(struct workload *w, const struct workload_diff *diff, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Calls a driver function; when it fails, ends the program with `NAME: cuFoo failed: CUDA_ERROR_X (text) at file:line`.
#define WORKLOAD_CUDA(w, call) workload_cuda_check((w), (call), #call, __FILE__, __LINE__)
void workload_cuda_check(const struct workload *w, CUresult result, const char *call, const char *file, int line);
