/* Microbenchmarks of a GPU, which run on a real one and on Heddle: the pieces that the files of this folder share.
 *
 * A benchmark is a PTX text made at run time around one fragment, launched with parameters of its own. Every warp reads
 * its SM's clock before and after the fragment's rounds; the pass before that one warms caches up. A result is a line
 * of CSV on standard output: name,parameter,value. */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text that grows. */
struct text {
    char *at;
    size_t length, room;
};
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the fragment and a newline, with `number` in the place of every '$'. */
void text_add_numbered(struct text *text, const char *fragment, unsigned number);
void text_free(struct text *text);

struct bench {
    CUdevice device;
    const char *keep_folder; /* where the kernels' texts go; NULL: nowhere */
    const char *only;        /* names of results begin with it */
    bool is_quick;           /* footprints and grids that a simulator ends in minutes */
    unsigned n_sms;
    CUdeviceptr times, data;
    size_t data_bytes;
};
enum { BENCH_MOST_WARPS = 1 << 17 };

/* A kernel around a fragment. Registers for it: %a, %b, %t, %r0.. (32 bits, started from the lane), %fa, %fb, %f0..,
 * %da, %db, %d0.., %rda, %rdb, %rd0.. (64 bits), %p0.., %data, %gtid, %lane, %number (the parameter); `tail` must leave
 * in %sink what depends on all results. */
struct bench_source {
    const char *version;    /* of PTX, 7.1 if NULL */
    const char *target;     /* compute capability, sm_70 if NULL */
    const char *globals;    /* declarations outside of the kernel; may be NULL */
    const char *setup;      /* before the passes; may be NULL */
    const char *body;       /* one round */
    const char *tail;       /* after the rounds; may be NULL */
    const char *last;       /* before the kernel ends; may be NULL */
    unsigned cluster;       /* blocks of a cluster; 0: without clusters */
    const char *directives; /* of the kernel; may be NULL */
};

/* Per-warp clocks of the second pass. */
struct bench_time {
    uint64_t start, end;
};
struct bench_launch {
    unsigned blocks, threads, rounds, number, passes; /* passes 0: 2 */
    size_t dynamic_shared_bytes;
};

struct bench_kernel {
    CUmodule module;
    CUfunction function;
};
struct bench_kernel bench_compile(const struct bench *bench, const struct bench_source *source);
void bench_unload(struct bench_kernel kernel);
/* Launches and returns the longest time, over all blocks, from the first start in a block to its last end. `times`, if
 * not NULL, gets one entry per warp. */
double bench_run(struct bench *bench, struct bench_kernel kernel, struct bench_launch launch, struct bench_time *times);

/* True if a benchmark with this name is to run. */
bool bench_wants(const struct bench *bench, const char *name);
void bench_print(const char *name, const char *parameter, double value);
void bench_print_number(const char *name, unsigned long long parameter, double value);

/* Uploads to `data`, at its start. */
void bench_upload(struct bench *bench, const void *host, size_t bytes);

#define CHECK(call) bench_check((call), #call, __FILE__, __LINE__)
void bench_check(CUresult result, const char *call, const char *file, int line);

/* The groups of benchmarks, one file each. */
void bench_arithmetic(struct bench *bench);
void bench_control(struct bench *bench);
void bench_matrix(struct bench *bench);
void bench_wgmma(struct bench *bench);
void bench_mbarriers(struct bench *bench);
void bench_shared(struct bench *bench);
void bench_quarters(struct bench *bench);
void bench_latency(struct bench *bench);
void bench_operators(struct bench *bench);
void bench_lines(struct bench *bench);
void bench_bandwidth(struct bench *bench);
void bench_patterns(struct bench *bench);
void bench_split(struct bench *bench);
void bench_atomics(struct bench *bench);
void bench_sums(struct bench *bench);
void bench_retries(struct bench *bench);
void bench_launches(struct bench *bench);
void bench_constants(struct bench *bench);
void bench_waiting(struct bench *bench);
void bench_strides(struct bench *bench);
void bench_clusters(struct bench *bench);
void bench_copies(struct bench *bench);
void bench_slices(struct bench *bench);
void bench_dispatch(struct bench *bench);
void bench_sectors(struct bench *bench);
void bench_joins(struct bench *bench);
void bench_meets(struct bench *bench);
void bench_calls(struct bench *bench);
