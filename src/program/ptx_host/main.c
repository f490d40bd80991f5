/* heddle-ptx-run FILE.ptx [--kernel NAME] [--grid X,Y,Z] [--block X,Y,Z] [--shared BYTES] [--arg VALUE]...
 *
 * Launches one kernel of a PTX file once. This is an ordinary program that uses the CUDA driver API. `heddle run
 * FILE.ptx` starts it like any other program, so its messages begin with `heddle`. Exit status: 0 for success, 1 for an
 * error, 2 for wrong usage. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argument.h"
#include "base/text.h"

enum { MOST_ARGUMENTS = 1024 };

struct job {
    const char *path, *kernel;
    unsigned grid[3], block[3], shared_bytes;
    struct host_argument *argument;
    unsigned n_arguments;
    CUmodule module;
    CUfunction function;
};

static _Noreturn void fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
static _Noreturn void fail(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(status);
}

static void check(CUresult result, const char *what) {
    const char *name = "an unknown error", *text = "no description";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    cuGetErrorString(result, &text);
    fail(1, "%s: %s (%s)", what, name, text);
}

/* ---- Command line ------------------------------------------------------------------------------------------------ */

static void parse_shape(const char *option, const char *text, unsigned shape[3]) {
    shape[1] = shape[2] = 1;
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        char *rest;
        errno = 0;
        unsigned long value = strtoul(at, &rest, 0);
        if (*at < '0' || *at > '9' || errno || value == 0 || value > UINT32_MAX || (*rest && *rest != ','))
            break;
        shape[i] = (unsigned)value;
        if (*rest == '\0')
            return;
        at = rest + 1;
    }
    fail(2, "%s takes one to three numbers above 0 with commas, such as 16,16; not '%s'", option, text);
}

static void add_argument(struct job *job, const char *text) {
    char mistake[256];
    if (job->n_arguments == MOST_ARGUMENTS)
        fail(2, "a kernel has at most %d arguments", MOST_ARGUMENTS);
    if (!host_argument_parse(&job->argument[job->n_arguments++], text, mistake))
        fail(2, "%s", mistake);
}

static void apply_option(struct job *job, const char *option, const char *value) {
    uint64_t number;
    if (strcmp(option, "--kernel") == 0)
        job->kernel = value;
    else if (strcmp(option, "--grid") == 0)
        parse_shape(option, value, job->grid);
    else if (strcmp(option, "--block") == 0)
        parse_shape(option, value, job->block);
    else if (strcmp(option, "--arg") == 0)
        add_argument(job, value);
    else if (strcmp(option, "--shared") == 0 && base_parse_u64(value, &number) && number <= INT32_MAX)
        job->shared_bytes = (unsigned)number;
    else
        fail(2, "wrong option %s %s", option, value);
}

static void parse_command_line(struct job *job, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' && !job->path)
            job->path = argv[i];
        else if (argv[i][0] != '-')
            fail(2, "unexpected '%s'; a kernel's arguments are given with --arg", argv[i]);
        else if (i + 1 == argc)
            fail(2, "%s needs a value", argv[i]);
        else {
            apply_option(job, argv[i], argv[i + 1]);
            i++;
        }
    }
    if (!job->path)
        fail(2, "which PTX file?");
}

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

static void open_device(void) {
    CUdevice device;
    CUcontext context;
    check(cuInit(0), "cannot start the driver");
    check(cuDeviceGet(&device, 0), "cannot open the device");
    check(cuDevicePrimaryCtxRetain(&context, device), "cannot open the device");
    check(cuCtxSetCurrent(context), "cannot open the device");
}

/* For calls whose failure the driver itself reports: a fault, a launch that does not fit, PTX that it rejects. */
static void check_reported(CUresult result) {
    if (result != CUDA_SUCCESS)
        exit(1);
}

/* The driver gets the file's own path, so that its messages name it. */
static void load_module(struct job *job) {
    CUresult result = cuModuleLoad(&job->module, job->path);
    if (result == CUDA_ERROR_INVALID_PTX)
        check_reported(result);
    check(result, job->path);
}

static CUfunction *list_kernels(const struct job *job, unsigned *count) {
    check(cuModuleGetFunctionCount(count, job->module), job->path);
    CUfunction *functions = calloc(*count + 1, sizeof *functions);
    if (!functions)
        fail(1, "no memory for %u kernels", *count);
    check(cuModuleEnumerateFunctions(functions, *count, job->module), job->path);
    return functions;
}

static const char *name_of(CUfunction function) {
    const char *name = "?";
    check(cuFuncGetName(&name, function), "cannot name a kernel");
    return name;
}

static _Noreturn void refuse_kernel(const struct job *job, const CUfunction *functions, unsigned count) {
    char names[512] = "";
    struct base_nearest nearest = base_nearest_to(job->kernel ? job->kernel : "");
    for (unsigned i = 0; i < count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", name_of(functions[i]));
        base_nearest_offer(&nearest, name_of(functions[i]));
    }
    if (count == 0)
        fail(1, "%s has no kernel", job->path);
    if (!job->kernel)
        fail(2, "%s has %u kernels; choose one with --kernel: %s", job->path, count, names);
    if (nearest.best)
        fail(2, "%s has no kernel '%s'; did you mean '%s'?", job->path, job->kernel, nearest.best);
    fail(2, "%s has no kernel '%s'; it has: %s", job->path, job->kernel, names);
}

static void find_kernel(struct job *job) {
    unsigned count, i = 0;
    CUfunction *functions = list_kernels(job, &count);
    if (job->kernel) {
        while (i < count && strcmp(name_of(functions[i]), job->kernel) != 0)
            i++;
    }
    if (i == count || (!job->kernel && count != 1))
        refuse_kernel(job, functions, count);
    job->function = functions[i];
    job->kernel = name_of(job->function);
    free(functions);
}

/* The driver trusts its pointers, so a missing argument must not reach it. */
static void check_arguments(const struct job *job) {
    size_t offset, bytes;
    unsigned n = 0;
    while (cuFuncGetParamInfo(job->function, n, &offset, &bytes) == CUDA_SUCCESS) {
        if (n < job->n_arguments) {
            const struct host_argument *argument = &job->argument[n];
            size_t given = argument->is_buffer ? sizeof argument->device : argument->type->bytes;
            if (given != bytes)
                fail(2, "argument %u of kernel '%s' has %zu bytes, but --arg %s has %zu", n, job->kernel, bytes,
                     argument->text, given);
        }
        n++;
    }
    if (n != job->n_arguments)
        fail(2, "kernel '%s' takes %u argument%s, not %u; each one is an --arg", job->kernel, n, n == 1 ? "" : "s",
             job->n_arguments);
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

static void upload(struct job *job) {
    for (unsigned i = 0; i < job->n_arguments; i++) {
        struct host_argument *argument = &job->argument[i];
        if (!argument->is_buffer)
            continue;
        check(cuMemAlloc(&argument->device, host_argument_bytes(argument)), argument->text);
        check(cuMemcpyHtoD(argument->device, argument->data, host_argument_bytes(argument)), argument->text);
    }
}

static void launch(struct job *job) {
    void **values = calloc(job->n_arguments + 1, sizeof *values);
    if (!values)
        fail(1, "no memory for %u arguments", job->n_arguments);
    for (unsigned i = 0; i < job->n_arguments; i++)
        values[i] = job->argument[i].is_buffer ? (void *)&job->argument[i].device : job->argument[i].data;
    const unsigned *grid = job->grid, *block = job->block;
    if (job->shared_bytes)
        check(
            cuFuncSetAttribute(job->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)job->shared_bytes),
            "--shared is more than a block can have");
    check_reported(cuLaunchKernel(job->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                  job->shared_bytes, NULL, values, NULL));
    check_reported(cuCtxSynchronize());
    free(values);
}

static void print_results(struct job *job) {
    for (unsigned i = 0; i < job->n_arguments; i++) {
        struct host_argument *argument = &job->argument[i];
        if (!argument->is_printed)
            continue;
        check(cuMemcpyDtoH(argument->data, argument->device, host_argument_bytes(argument)), argument->text);
        host_argument_print(argument, i);
    }
    if (fflush(stdout) != 0)
        fail(1, "cannot write to standard output: %s", strerror(errno));
}

static void release(struct job *job) {
    for (unsigned i = 0; i < job->n_arguments; i++) {
        if (job->argument[i].is_buffer)
            check(cuMemFree(job->argument[i].device), job->argument[i].text);
        free(job->argument[i].data);
    }
    check(cuModuleUnload(job->module), job->path);
    free(job->argument);
}

int main(int argc, char **argv) {
    struct job job = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    job.argument = calloc(MOST_ARGUMENTS, sizeof *job.argument);
    if (!job.argument)
        fail(1, "no memory");
    parse_command_line(&job, argc, argv);
    open_device();
    load_module(&job);
    find_kernel(&job);
    check_arguments(&job);
    upload(&job);
    launch(&job);
    print_results(&job);
    release(&job);
    return 0;
}
