/* What all benchmarks share: the text of a kernel, its launch, and the results. */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

static void make_room(struct text *text, size_t more) {
    if (text->length + more + 1 <= text->room)
        return;
    text->room = 2 * (text->length + more + 1);
    text->at = realloc(text->at, text->room);
    if (!text->at)
        abort();
}

void text_add(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    make_room(text, (size_t)length);
    va_start(arguments, format);
    vsnprintf(text->at + text->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void text_add_numbered(struct text *text, const char *fragment, unsigned number) {
    for (const char *c = fragment; *c; c++)
        if (*c == '$')
            text_add(text, "%u", number);
        else
            text_add(text, "%c", *c);
    text_add(text, "\n");
}

void text_free(struct text *text) {
    free(text->at);
    *text = (struct text){0};
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static const char start[] =
    ".visible .entry run(.param .u64 p_times, .param .u64 p_data, .param .u32 p_rounds, .param .u32 p_number,\n"
    "    .param .u32 p_passes)\n";
static const char registers[] =
    "{\n"
    ".reg .b32 %r<64>, %f<64>, %a, %b, %t, %fa, %fb, %gtid, %lane, %number, %sink, %rounds, %passes, %left, %thread;\n"
    ".reg .b64 %rd<64>, %d<64>, %rda, %rdb, %da, %db, %rdt, %times, %data, %start, %end, %place;\n"
    ".reg .pred %p<16>, %q;\n.reg .b16 %h<4>;\n"
    "ld.param.u64 %times, [p_times];\nld.param.u64 %data, [p_data];\nld.param.u32 %rounds, [p_rounds];\n"
    "ld.param.u32 %number, [p_number];\nld.param.u32 %passes, [p_passes];\n"
    "cvta.to.global.u64 %times, %times;\ncvta.to.global.u64 %data, %data;\n"
    "mov.u32 %thread, %tid.x;\nmov.u32 %t, %ctaid.x;\nmov.u32 %a, %ntid.x;\nmad.lo.u32 %gtid, %t, %a, %thread;\n"
    "and.b32 %lane, %thread, 31;\n"
    "add.u32 %a, %number, 5;\nadd.u32 %b, %number, 11;\n"
    "cvt.rn.f32.u32 %fa, %a;\ncvt.rn.f32.u32 %fb, %b;\ncvt.rn.f64.u32 %da, %a;\ncvt.rn.f64.u32 %db, %b;\n"
    "cvt.u64.u32 %rda, %a;\ncvt.u64.u32 %rdb, %b;\nmov.u32 %sink, 0;\n";

static const char before_rounds[] = "PASS:\n"
                                    "bar.sync 0;\n"
                                    "mov.u32 %left, %rounds;\n"
                                    "mov.u64 %start, %clock64;\n"
                                    "ROUND:\n"
                                    ".pragma \"nounroll\";\n";

/* What is left in %sink decides over a store before the clock is read: the results have arrived by then. */
static const char after_rounds[] = "sub.u32 %left, %left, 1;\n"
                                   "setp.ne.u32 %q, %left, 0;\n"
                                   "@%q bra ROUND;\n";
static const char finish[] = "setp.eq.u32 %q, %sink, 1234567891;\n"
                             "@%q st.global.u32 [%times], %sink;\n"
                             "mov.u64 %end, %clock64;\n"
                             "sub.u32 %passes, %passes, 1;\n"
                             "setp.ne.u32 %q, %passes, 0;\n"
                             "@%q bra PASS;\n"
                             "shr.u32 %t, %gtid, 5;\n"
                             "mul.wide.u32 %place, %t, 16;\n"
                             "add.u64 %place, %place, %times;\n"
                             "setp.eq.u32 %q, %lane, 0;\n"
                             "@%q st.global.u64 [%place], %start;\n"
                             "@%q st.global.u64 [%place+8], %end;\n";

/* Writes the kernel to FOLDER/NUMBER.ptx. */
static void keep(const char *folder, const struct text *text) {
    static unsigned n_kept;
    char path[4096];
    snprintf(path, sizeof path, "%s/%u.ptx", folder, n_kept++);
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    fputs(text->at, file);
    fclose(file);
}

struct bench_kernel bench_compile(const struct bench *bench, const struct bench_source *source) {
    struct text text = {0};
    struct bench_kernel kernel;
    text_add(&text, ".version %s\n.target %s\n.address_size 64\n", source->version ? source->version : "7.1",
             source->target ? source->target : "sm_70");
    text_add(&text, "%s%s", source->globals ? source->globals : "", start);
    if (source->cluster)
        text_add(&text, ".explicitcluster\n.reqnctapercluster %u\n", source->cluster);
    if (source->directives)
        text_add(&text, "%s\n", source->directives);
    text_add(&text, "%s%s%s%s%s%s", registers, source->setup ? source->setup : "", before_rounds, source->body,
             after_rounds, source->tail ? source->tail : "");
    text_add(&text, "%s%sret;\n}\n", finish, source->last ? source->last : "");
    if (bench->keep_folder)
        keep(bench->keep_folder, &text);
    CHECK(cuModuleLoadData(&kernel.module, text.at));
    CHECK(cuModuleGetFunction(&kernel.function, kernel.module, "run"));
    text_free(&text);
    return kernel;
}

void bench_unload(struct bench_kernel kernel) { CHECK(cuModuleUnload(kernel.module)); }

double bench_run(struct bench *bench, struct bench_kernel kernel, struct bench_launch launch,
                 struct bench_time *times) {
    unsigned warps = launch.threads / 32, n = launch.blocks * warps, passes = launch.passes ? launch.passes : 2;
    if (launch.threads % 32 || n > BENCH_MOST_WARPS)
        abort();
    void *arguments[] = {&bench->times, &bench->data, &launch.rounds, &launch.number, &passes};
    CHECK(cuLaunchKernel(kernel.function, launch.blocks, 1, 1, launch.threads, 1, 1,
                         (unsigned)launch.dynamic_shared_bytes, NULL, arguments, NULL));
    CHECK(cuCtxSynchronize());
    struct bench_time *got = calloc(n, sizeof *got);
    if (!got)
        abort();
    CHECK(cuMemcpyDtoH(got, bench->times, n * sizeof *got));
    uint64_t longest = 0;
    for (unsigned block = 0; block < launch.blocks; block++) {
        uint64_t first = UINT64_MAX, last = 0;
        for (unsigned w = block * warps; w < (block + 1) * warps; w++) {
            first = got[w].start < first ? got[w].start : first;
            last = got[w].end > last ? got[w].end : last;
        }
        longest = last - first > longest ? last - first : longest;
    }
    if (times)
        memcpy(times, got, n * sizeof *got);
    free(got);
    return (double)longest;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

bool bench_wants(const struct bench *bench, const char *name) {
    return !strncmp(name, bench->only, strlen(bench->only));
}

void bench_print(const char *name, const char *parameter, double value) {
    printf("%s,%s,%.3f\n", name, parameter, value);
    fflush(stdout);
}

void bench_print_number(const char *name, unsigned long long parameter, double value) {
    char text[24];
    snprintf(text, sizeof text, "%llu", parameter);
    bench_print(name, text, value);
}

void bench_upload(struct bench *bench, const void *host, size_t bytes) {
    if (bytes > bench->data_bytes)
        abort();
    CHECK(cuMemcpyHtoD(bench->data, host, bytes));
}

void bench_check(CUresult result, const char *call, const char *file, int line) {
    const char *name = "an unknown error";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "hardware: %s: %s at %s:%d\n", call, name, file, line);
    exit(1);
}
