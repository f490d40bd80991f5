// The common part of the host programs; see workload.h.
#include "workload.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_CHECK_FAILED = 3 };
enum { DEFAULT_SEED = 12345 };

static const char *const size_names[WORKLOAD_N_SIZES] = {"small", "medium", "paper"};
static const char *const option_names[] = {"--size", "--seed", "--no-check", "--blocks", "--threads-per-block",
                                           "--help"};

// ---- Errors -------------------------------------------------------------------------------------------------------

static _Noreturn void end(const struct workload *w, int status, const char *format, va_list arguments) {
    fflush(stdout);
    fprintf(stderr, "%s: ", w->info->name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(status);
}

void workload_usage_error(const struct workload *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end(w, EXIT_USAGE, format, arguments);
}

void workload_fail(const struct workload *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end(w, EXIT_ERROR, format, arguments);
}

void workload_cuda_check(const struct workload *w, CUresult result, const char *call, const char *file, int line) {
    if (result == CUDA_SUCCESS)
        return;
    const char *name = NULL, *text = NULL, *slash = strrchr(file, '/');
    if (cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
        name = "an unknown error";
    if (cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
        text = "no description";
    workload_fail(w, "%.*s failed: %s (%s) at %s:%d", (int)strcspn(call, "("), call, name, text,
                  slash ? slash + 1 : file, line);
}

// ---- Command line -------------------------------------------------------------------------------------------------

enum { MAX_WORD = 32 };

// Returns the Levenshtein distance; MAX_WORD for longer words.
static size_t edit_distance(const char *a, const char *b) {
    size_t row[MAX_WORD + 1], n = strlen(b);
    if (n > MAX_WORD || strlen(a) > MAX_WORD)
        return MAX_WORD;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; *a; i++, a++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t replace = diagonal + (*a != b[j - 1]);
            size_t insert_or_delete = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = replace < insert_or_delete ? replace : insert_or_delete;
        }
    }
    return row[n];
}

static bool is_prefix(const char *word, const char *candidate) {
    return word[0] && !strncmp(word, candidate, strlen(word));
}

static const char *nearest(const char *word, const char *const *candidates, size_t n) {
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_prefix(word, candidates[i]))
            return candidates[i];
        if (edit_distance(word, candidates[i]) < edit_distance(word, candidates[best]))
            best = i;
    }
    return candidates[best];
}

static unsigned n_own_options(const struct workload_info *info) {
    unsigned n = 0;
    while (n < WORKLOAD_MOST_OPTIONS && info->options[n].name)
        n++;
    return n;
}

static void print_shape_option(const char *option, const char *meaning, const char *why_fixed) {
    printf("  %-28s%s%s\n", option, why_fixed ? "fixed: " : "", why_fixed ? why_fixed : meaning);
}

static void print_help(const struct workload_info *info) {
    printf("%s: %s\n\nUsage: %s [options]\n", info->name, info->summary, info->name);
    printf("  --size small|medium|paper   default small\n");
    for (int i = 0; i < WORKLOAD_N_SIZES; i++)
        printf("      %-8s%s\n", size_names[i], info->sizes[i]);
    printf("  --seed N                    seed of the input, default %d\n", DEFAULT_SEED);
    printf("  --no-check                  skip the CPU reference\n");
    print_shape_option("--blocks N", "blocks in the grid", info->blocks_fixed);
    print_shape_option("--threads-per-block N", "threads in a block", info->threads_fixed);
    for (unsigned i = 0; i < n_own_options(info); i++) {
        char usage[2 * MAX_WORD];
        snprintf(usage, sizeof usage, "%s %s", info->options[i].name, info->options[i].argument);
        printf("  %-28s%s\n", usage, info->options[i].help);
    }
    printf("Exit status: 0 verified, 1 error, 2 wrong usage, 3 failed check.\n");
}

static unsigned parse_number(const struct workload *w, const char *option, const char *text, unsigned least,
                             unsigned most) {
    char *rest;
    errno = 0;
    unsigned long long value = strtoull(text, &rest, 0);
    if (text[0] < '0' || text[0] > '9' || *rest || errno || value > most || value < least)
        workload_usage_error(w, "%s takes a number from %u to %u, not '%s'", option, least, most, text);
    return (unsigned)value;
}

static enum workload_size parse_size(const struct workload *w, const char *text) {
    for (int i = 0; i < WORKLOAD_N_SIZES; i++)
        if (!strcmp(text, size_names[i]))
            return (enum workload_size)i;
    workload_usage_error(w, "--size takes small, medium or paper, not '%s' (did you mean '%s'?)", text,
                         nearest(text, size_names, WORKLOAD_N_SIZES));
}

static unsigned parse_shape(const struct workload *w, const char *option, const char *text, const char *why_fixed) {
    if (why_fixed)
        workload_usage_error(w, "%s cannot be chosen: %s", option, why_fixed);
    return parse_number(w, option, text, 1, UINT_MAX);
}

static void apply_own_option(struct workload *w, const char *option, const char *value) {
    unsigned i = 0;
    while (strcmp(option, w->info->options[i].name))
        i++;
    const struct workload_option *own = &w->info->options[i];
    w->option[i] =
        (struct workload_value){value, own->most ? parse_number(w, option, value, own->least, own->most) : 0};
}

static void apply_option(struct workload *w, const char *option, const char *value) {
    if (!strcmp(option, "--size"))
        w->size = parse_size(w, value);
    else if (!strcmp(option, "--seed"))
        w->random_state = parse_number(w, option, value, 0, UINT_MAX);
    else if (!strcmp(option, "--blocks"))
        w->blocks = parse_shape(w, option, value, w->info->blocks_fixed);
    else if (!strcmp(option, "--threads-per-block"))
        w->threads_per_block = parse_shape(w, option, value, w->info->threads_fixed);
    else
        apply_own_option(w, option, value);
}

static _Noreturn void refuse_argument(const struct workload *w, const char *argument, const char *name,
                                      const char *right) {
    enum { NEAR = 3 };
    if (edit_distance(name, right) > NEAR && !is_prefix(name, right))
        workload_usage_error(w, "unknown argument '%s'; --help lists the options", argument);
    workload_usage_error(w, "unknown option '%s' (did you mean '%s'?)", argument, right);
}

enum { N_COMMON_OPTIONS = sizeof option_names / sizeof option_names[0] };

// Options are `--name value` or `--name=value`.
static void parse_arguments(struct workload *w, int argc, char **argv) {
    const char *names[N_COMMON_OPTIONS + WORKLOAD_MOST_OPTIONS];
    const unsigned n_own = n_own_options(w->info), n_options = N_COMMON_OPTIONS + n_own;
    for (unsigned i = 0; i < n_options; i++)
        names[i] = i < N_COMMON_OPTIONS ? option_names[i] : w->info->options[i - N_COMMON_OPTIONS].name;
    for (int i = 1; i < argc; i++) {
        char name[MAX_WORD];
        const char *value = strchr(argv[i], '=');
        size_t length = value ? (size_t)(value - argv[i]) : strlen(argv[i]);
        snprintf(name, sizeof name, "%.*s", (int)length, argv[i]);
        bool is_help = !strcmp(name, "--help") || !strcmp(name, "-h");
        bool is_no_check = !strcmp(name, "--no-check");
        if (value && (is_help || is_no_check))
            workload_usage_error(w, "%s takes no value", name);
        if (is_help) {
            print_help(w->info);
            exit(0);
        }
        if (is_no_check) {
            w->check = false;
            continue;
        }
        const char *right = nearest(name, names, n_options);
        if (strcmp(name, right))
            refuse_argument(w, argv[i], name, right);
        value = value ? value + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (!value)
            workload_usage_error(w, "%s needs a value", name);
        apply_option(w, name, value);
    }
}

// ---- Device -------------------------------------------------------------------------------------------------------

static unsigned device_attribute(const struct workload *w, CUdevice_attribute attribute) {
    int value = 0;
    WORKLOAD_CUDA(w, cuDeviceGetAttribute(&value, attribute, w->device));
    return (unsigned)value;
}

unsigned workload_most_threads(const struct workload *w) {
    return device_attribute(w, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

unsigned workload_most_shared_bytes(const struct workload *w) {
    return device_attribute(w, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
}

static void check_shape(const struct workload *w) {
    unsigned most_threads = workload_most_threads(w);
    unsigned most_blocks = device_attribute(w, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    if (w->threads_per_block > most_threads)
        workload_usage_error(w, "--threads-per-block %u is more than this device's %u", w->threads_per_block,
                             most_threads);
    if (w->blocks > most_blocks)
        workload_usage_error(w, "--blocks %u is more than this device's %u", w->blocks, most_blocks);
}

// Prints the driver's log about refused PTX, which says more than the error code.
void workload_load(struct workload *w, const char *text) {
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUresult result = cuModuleLoadDataEx(&w->module, text, 2, options, values);
    if (result != CUDA_SUCCESS && log[0])
        fprintf(stderr, "%s: %s\n", w->info->name, log);
    workload_cuda_check(w, result, "cuModuleLoadDataEx(", __FILE__, __LINE__);
}

void workload_start(struct workload *w, const struct workload_info *info, int argc, char **argv) {
    *w = (struct workload){.info = info, .size = WORKLOAD_SMALL, .check = true, .random_state = DEFAULT_SEED};
    parse_arguments(w, argc, argv);
    CUcontext context;
    WORKLOAD_CUDA(w, cuInit(0));
    WORKLOAD_CUDA(w, cuDeviceGet(&w->device, 0));
    check_shape(w);
    WORKLOAD_CUDA(w, cuDevicePrimaryCtxRetain(&context, w->device));
    WORKLOAD_CUDA(w, cuCtxSetCurrent(context));
    workload_load(w, workload_ptx);
}

unsigned workload_pick(const struct workload *w, unsigned small, unsigned medium, unsigned paper) {
    return w->size == WORKLOAD_SMALL ? small : w->size == WORKLOAD_MEDIUM ? medium : paper;
}

uint32_t workload_random(struct workload *w) {
    w->random_state = w->random_state * 1664525u + 1013904223u;
    return w->random_state >> 8;
}

uint32_t workload_random_below(struct workload *w, uint32_t n) {
    return (uint32_t)((uint64_t)workload_random(w) * n >> 24);
}

struct workload_shape workload_shape(const struct workload *w, size_t n_items, unsigned default_threads) {
    unsigned threads = w->threads_per_block, most = workload_most_threads(w);
    if (!threads)
        threads = default_threads < most ? default_threads : most;
    size_t enough = (n_items + threads - 1) / threads;
    unsigned blocks = w->blocks ? w->blocks : (unsigned)enough;
    return (struct workload_shape){blocks, threads, blocks >= enough};
}

struct workload_shape workload_loop_shape(const struct workload *w, size_t n_items) {
    struct workload_shape shape = workload_shape(w, n_items, 64);
    if (!w->blocks)
        shape.blocks = 4;
    shape.covers = (size_t)shape.blocks * shape.threads >= n_items;
    return shape;
}

int workload_rejoins(const struct workload *w) {
    const char *where = w->option[0].text;
    if (where && strcmp(where, "task") != 0 && strcmp(where, "launch") != 0)
        workload_usage_error(w, "--rejoin takes task or launch, not '%s'", where);
    return !where || strcmp(where, "task") == 0;
}

void *workload_array(const struct workload *w, size_t n, size_t item_bytes) {
    void *array = calloc(n, item_bytes);
    if (!array)
        workload_fail(w, "no host memory for %zu items of %zu bytes", n, item_bytes);
    return array;
}

CUdeviceptr workload_device_alloc(const struct workload *w, size_t bytes) {
    CUdeviceptr device;
    WORKLOAD_CUDA(w, cuMemAlloc(&device, bytes));
    return device;
}

CUdeviceptr workload_upload(const struct workload *w, const void *host, size_t bytes) {
    CUdeviceptr device = workload_device_alloc(w, bytes);
    WORKLOAD_CUDA(w, cuMemcpyHtoD(device, host, bytes));
    return device;
}

void workload_download(const struct workload *w, void *host, CUdeviceptr device, size_t bytes) {
    WORKLOAD_CUDA(w, cuMemcpyDtoH(host, device, bytes));
}

void workload_device_free(const struct workload *w, CUdeviceptr device) { WORKLOAD_CUDA(w, cuMemFree(device)); }

void workload_set_variable(const struct workload *w, const char *name, const void *host, size_t bytes) {
    CUdeviceptr device;
    size_t room;
    WORKLOAD_CUDA(w, cuModuleGetGlobal(&device, &room, w->module, name));
    if (bytes > room)
        workload_fail(w, "variable '%s' has %zu bytes, not %zu", name, room, bytes);
    WORKLOAD_CUDA(w, cuMemcpyHtoD(device, host, bytes));
}

// The kernels count threads and strides in ints; a grid beyond this many threads would overflow them.
enum { MOST_THREADS = 1 << 29 };

// A kernel gets more shared memory than usual only if it asks for it.
static unsigned most_shared_bytes_on_request(const struct workload *w) {
    return device_attribute(w, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
}

static void check_launch(const struct workload *w, struct workload_grid grid) {
    unsigned block = grid.threads_x * grid.threads_y;
    unsigned long long threads = (unsigned long long)grid.blocks_x * grid.blocks_y * block;
    unsigned most_shared = workload_most_shared_bytes(w);
    if (grid.dynamic_shared_bytes > most_shared)
        most_shared = most_shared_bytes_on_request(w);
    if (threads > MOST_THREADS)
        workload_usage_error(w, "the grid has %llu threads, at most %d are supported: use fewer --blocks", threads,
                             MOST_THREADS);
    if (grid.dynamic_shared_bytes && !most_shared)
        workload_fail(w, "the kernel needs shared memory, and this device has none");
    if (grid.dynamic_shared_bytes > most_shared)
        workload_usage_error(w, "%u threads need %u bytes of shared memory per block, this device has %u: use fewer %s",
                             block, grid.dynamic_shared_bytes, most_shared, "--threads-per-block");
}

void workload_launch(const struct workload *w, const char *kernel, struct workload_grid grid, void **arguments) {
    CUfunction function;
    check_launch(w, grid);
    WORKLOAD_CUDA(w, cuModuleGetFunction(&function, w->module, kernel));
    if (grid.dynamic_shared_bytes > workload_most_shared_bytes(w))
        WORKLOAD_CUDA(w, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                            (int)grid.dynamic_shared_bytes));
    WORKLOAD_CUDA(w, cuLaunchKernel(function, grid.blocks_x, grid.blocks_y, 1, grid.threads_x, grid.threads_y, 1,
                                    grid.dynamic_shared_bytes, NULL, arguments, NULL));
    WORKLOAD_CUDA(w, cuCtxSynchronize());
}

// ---- Result -------------------------------------------------------------------------------------------------------

static void note_wrong(struct workload_diff *diff, size_t at, double got, double expected) {
    if (diff->n_wrong++)
        return;
    diff->first = at;
    diff->got = got;
    diff->expected = expected;
}

struct workload_diff workload_diff_u32(const uint32_t *got, const uint32_t *expected, size_t n) {
    struct workload_diff diff = {.n_compared = n};
    for (size_t i = 0; i < n; i++)
        if (got[i] != expected[i])
            note_wrong(&diff, i, got[i], expected[i]);
    return diff;
}

struct workload_diff workload_diff_i32(const int32_t *got, const int32_t *expected, size_t n) {
    struct workload_diff diff = {.n_compared = n};
    for (size_t i = 0; i < n; i++)
        if (got[i] != expected[i])
            note_wrong(&diff, i, got[i], expected[i]);
    return diff;
}

struct workload_diff workload_diff_i64(const int64_t *got, const int64_t *expected, size_t n) {
    struct workload_diff diff = {.n_compared = n};
    for (size_t i = 0; i < n; i++)
        if (got[i] != expected[i])
            note_wrong(&diff, i, (double)got[i], (double)expected[i]);
    return diff;
}

static bool is_close(double got, double expected, double absolute, double relative) {
    return fabs(got - expected) <= absolute + relative * fabs(expected); // false for a NaN
}

struct workload_diff workload_diff_f32(const float *got, const float *expected, size_t n, double absolute,
                                       double relative) {
    struct workload_diff diff = {.n_compared = n};
    for (size_t i = 0; i < n; i++)
        if (!is_close((double)got[i], (double)expected[i], absolute, relative))
            note_wrong(&diff, i, (double)got[i], (double)expected[i]);
    return diff;
}

struct workload_diff workload_diff_f64(const double *got, const double *expected, size_t n, double absolute,
                                       double relative) {
    struct workload_diff diff = {.n_compared = n};
    for (size_t i = 0; i < n; i++)
        if (!is_close(got[i], expected[i], absolute, relative))
            note_wrong(&diff, i, got[i], expected[i]);
    return diff;
}

int workload_finish(struct workload *w, const struct workload_diff *diff, const char *format, ...) {
    bool failed = diff && diff->n_wrong;
    printf("%s: %s, ", w->info->name, failed ? "FAILED" : diff ? "verified" : "not checked");
    if (failed) {
        printf("%zu of %zu wrong, first at %zu: got %.9g, expected %.9g\n", diff->n_wrong, diff->n_compared,
               diff->first, diff->got, diff->expected);
    } else {
        va_list arguments;
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        putchar('\n');
    }
    WORKLOAD_CUDA(w, cuModuleUnload(w->module));
    WORKLOAD_CUDA(w, cuDevicePrimaryCtxRelease(w->device));
    if (fflush(stdout))
        workload_fail(w, "cannot write the result: %s", strerror(errno));
    return failed ? EXIT_CHECK_FAILED : 0;
}
