/* Runs programs through the CUDA driver API. */
#include "batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"
#include "image.h"
#include "layout.h"
#include "program.h"

/* The compiler does not know how much stack recursion needs. A program runs for microseconds: one that takes seconds
 * hangs. */
enum { STACK_BYTES = 4096, TIME_LIMIT_SECONDS = 60, BATCH_LIMIT_SECONDS = 400 };

static const size_t trace_bytes = (size_t)LAYOUT_THREADS * LAYOUT_TRACE_ENTRIES * LAYOUT_TRACE_ENTRY;

struct batch {
    CUmodule module;
    CUdeviceptr memory, trace;
    unsigned char *host; /* count images */
    uint64_t *host_trace;
};

void batch_start(void) {
    driver_start();
    DRIVER_REQUIRE(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, STACK_BYTES));
}

static void load(struct batch *batch, const struct batch_options *options, uint64_t first, unsigned count) {
    static char log[DRIVER_LOG];
    struct text text = {0};
    program_add_header(&text);
    for (unsigned i = 0; i < count; i++) {
        struct program program;
        program_make(&program, options->seed, first + i, options->is_traced, &text);
        program_free(&program);
    }
    CUjit_option jit[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {log, (void *)(uintptr_t)DRIVER_LOG, (void *)(uintptr_t)options->optimization};
    log[0] = 0;
    CUresult result = cuModuleLoadDataEx(&batch->module, text.data, options->optimization < 0 ? 2 : 3, jit, values);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "programs %llu to %llu: %s\n%.*s\n", (unsigned long long)first,
                (unsigned long long)(first + count - 1), driver_error_name(result), DRIVER_LOG, log);
        _exit(BATCH_FAILED);
    }
    text_free(&text);
}

static void fail(uint64_t first, unsigned count, CUresult result) {
    fprintf(stderr, "programs %llu to %llu: %s; --batch 1 tells which\n", (unsigned long long)first,
            (unsigned long long)(first + count - 1),
            result == CUDA_ERROR_NOT_READY ? "one does not end" : driver_error_name(result));
    _exit(BATCH_FAILED); /* without cleaning up, which would wait for a program that hangs */
}

static CUresult wait_for_end(void) {
    CUresult result;
    time_t start = time(NULL);
    for (unsigned i = 0; (result = cuStreamQuery(NULL)) == CUDA_ERROR_NOT_READY; i++) {
        if (i > 1000)
            usleep(100);
        if (time(NULL) - start > TIME_LIMIT_SECONDS)
            break;
    }
    return result;
}

static void launch(struct batch *batch, uint64_t number, unsigned place) {
    char name[32];
    CUfunction function;
    CUdeviceptr memory = batch->memory + (CUdeviceptr)place * LAYOUT_BYTES;
    CUdeviceptr trace = batch->trace ? batch->trace + place * trace_bytes : 0;
    void *parameters[] = {&memory, &trace};
    snprintf(name, sizeof name, "k%llu", (unsigned long long)number);
    DRIVER_REQUIRE(cuModuleGetFunction(&function, batch->module, name));
    CUresult result =
        cuLaunchKernel(function, LAYOUT_BLOCKS, 1, 1, LAYOUT_BLOCK_THREADS, 1, 1, 0, NULL, parameters, NULL);
    if (result != CUDA_SUCCESS)
        fail(number, 1, result);
}

static void run_loaded(struct batch *batch, const struct batch_options *options, uint64_t first, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        image_fill(batch->host + (size_t)i * LAYOUT_BYTES, options->seed, first + i);
    DRIVER_REQUIRE(cuMemcpyHtoD(batch->memory, batch->host, (size_t)count * LAYOUT_BYTES));
    if (batch->trace)
        DRIVER_REQUIRE(cuMemsetD8(batch->trace, 0xff, count * trace_bytes));
    for (unsigned i = 0; i < count; i++)
        launch(batch, first + i, i);
    CUresult result = wait_for_end();
    if (result != CUDA_SUCCESS)
        fail(first, count, result);
    DRIVER_REQUIRE(cuMemcpyDtoH(batch->host, batch->memory, (size_t)count * LAYOUT_BYTES));
    if (batch->trace)
        DRIVER_REQUIRE(cuMemcpyDtoH(batch->host_trace, batch->trace, count * trace_bytes));
}

void batch_run(const struct batch_options *options, uint64_t first, unsigned count, batch_result_fn *result,
               void *user) {
    struct batch batch = {.host = text_resize(NULL, (size_t)count * LAYOUT_BYTES)};
    alarm(BATCH_LIMIT_SECONDS);
    load(&batch, options, first, count);
    DRIVER_REQUIRE(cuMemAlloc(&batch.memory, (size_t)count * LAYOUT_BYTES));
    if (options->is_traced) {
        DRIVER_REQUIRE(cuMemAlloc(&batch.trace, count * trace_bytes));
        batch.host_trace = text_resize(NULL, count * trace_bytes);
    }
    run_loaded(&batch, options, first, count);
    for (unsigned i = 0; i < count; i++)
        result(user, first + i, batch.host + (size_t)i * LAYOUT_BYTES,
               batch.host_trace ? batch.host_trace + i * (trace_bytes / sizeof(uint64_t)) : NULL);
    DRIVER_REQUIRE(cuMemFree(batch.memory));
    if (batch.trace)
        DRIVER_REQUIRE(cuMemFree(batch.trace));
    DRIVER_REQUIRE(cuModuleUnload(batch.module));
    free(batch.host);
    free(batch.host_trace);
}
