/* Launches of an empty kernel, for whoever counts their cycles from outside (a profiler, or the simulator's
 * statistics); the time from launch to launch; and the gap between a block's end and the start of the next one on its
 * SM. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

static const char empty[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty()\n{\nret;\n}\n";

static void empty_launches(struct bench *bench) {
    CUmodule module;
    CUfunction function;
    const unsigned blocks[] = {1, bench->n_sms, 8 * bench->n_sms, 64 * bench->n_sms};
    const unsigned threads[] = {32, 256, 1024};
    if (!bench_wants(bench, "launch"))
        return;
    CHECK(cuModuleLoadData(&module, empty));
    CHECK(cuModuleGetFunction(&function, module, "empty"));
    for (size_t b = 0; b < 4; b++)
        for (size_t t = 0; t < 3; t++) {
            enum { TIMES = 20 };
            CUevent first, last;
            float milliseconds;
            char parameter[48];
            CHECK(cuEventCreate(&first, 0));
            CHECK(cuEventCreate(&last, 0));
            CHECK(cuEventRecord(first, NULL));
            for (int i = 0; i < TIMES; i++)
                CHECK(cuLaunchKernel(function, blocks[b], 1, 1, threads[t], 1, 1, 0, NULL, NULL, NULL));
            CHECK(cuEventRecord(last, NULL));
            CHECK(cuEventSynchronize(last));
            CHECK(cuEventElapsedTime(&milliseconds, first, last));
            CHECK(cuEventDestroy(first));
            CHECK(cuEventDestroy(last));
            snprintf(parameter, sizeof parameter, "%ux%u", blocks[b], threads[t]);
            bench_print("launch_ns", parameter, (double)milliseconds * 1e6 / TIMES);
        }
    CHECK(cuModuleUnload(module));
}

static int by_start(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : 0;
}

/* Blocks that fill an SM one at a time (all of its threads with two blocks of 1024, here by shared memory): start, end
 * and SM of each. %smid takes the place of the warp's index, so that the host can sort. */
static void block_starts(struct bench *bench) {
    enum { WAVES = 8 };
    if (!bench_wants(bench, "block"))
        return;
    for (unsigned threads = 32; threads <= 1024; threads *= 32) {
        unsigned blocks = WAVES * bench->n_sms, warps = threads / 32;
        struct bench_time *times = calloc((size_t)blocks * warps, sizeof *times);
        uint64_t(*span)[3] = calloc(blocks, sizeof *span);
        if (!times || !span)
            abort();
        static const char setup[] = "mov.u32 %r50, %smid;\ncvt.u64.u32 %rd50, %r50;\nshl.b64 %rd50, %rd50, 48;\n";
        static const char body[] = "fma.rn.f32 %f0, %f0, %fa, %fb;\nfma.rn.f32 %f0, %f0, %fa, %fb;\n";
        /* the SM's number goes into the upper bits of the start */
        static const char tail[] = "mov.u32 %sink, %f0;\nand.b64 %start, %start, 0xffffffffffff;\n"
                                   "or.b64 %start, %start, %rd50;\n";
        struct bench_kernel kernel = bench_compile(
            bench,
            &(struct bench_source){
                .globals = ".extern .shared .align 16 .b8 memory[];\n", .setup = setup, .body = body, .tail = tail});
        CHECK(cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 160 << 10));
        struct bench_launch launch = {
            .blocks = blocks, .threads = threads, .rounds = 100, .passes = 1, .dynamic_shared_bytes = 160 << 10};
        bench_run(bench, kernel, launch, times);
        bench_run(bench, kernel, launch, times);
        for (unsigned b = 0; b < blocks; b++) {
            span[b][0] = UINT64_MAX;
            for (unsigned w = b * warps; w < (b + 1) * warps; w++) {
                uint64_t end = times[w].end & 0xffffffffffff;
                span[b][0] = times[w].start < span[b][0] ? times[w].start : span[b][0];
                span[b][1] = end > span[b][1] ? end : span[b][1];
            }
        }
        qsort(span, blocks, sizeof *span, by_start);
        double gap = 0, length = 0;
        unsigned n = 0;
        for (unsigned b = 0; b < blocks; b++) {
            length += (double)(span[b][1] - (span[b][0] & 0xffffffffffff));
            if (b + 1 < blocks && span[b][0] >> 48 == span[b + 1][0] >> 48) {
                gap += (double)(int64_t)((span[b + 1][0] & 0xffffffffffff) - span[b][1]);
                n++;
            }
        }
        bench_print_number("block_length", threads, length / blocks);
        bench_print_number("block_gap", threads, n ? gap / n : 0);
        bench_unload(kernel);
        free(times);
        free(span);
    }
}

/* Blocks as above, which store their times and then go on for a while: what they wait for at their end are no stores.
 * The third word is the time at which the block ends. */
static void block_ends(struct bench *bench) {
    enum { WAVES = 8, CHAIN = 256 };
    struct text text = {0};
    CUmodule module;
    CUfunction function;
    unsigned blocks = WAVES * bench->n_sms;
    uint64_t(*span)[3] = calloc(blocks, sizeof *span);
    if (!span)
        abort();
    if (!bench_wants(bench, "block_end")) {
        free(span);
        return;
    }
    text_add(&text, ".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .align 16 .b8 memory[];\n"
                    ".visible .entry ends(.param .u64 p, .param .u32 n)\n{\n.reg .b32 %%r<8>, %%f<4>;\n"
                    ".reg .b64 %%rd<8>;\n.reg .pred %%p0;\n"
                    "ld.param.u64 %%rd0, [p];\nld.param.u32 %%r0, [n];\nmov.u64 %%rd1, %%clock64;\n"
                    "mov.u32 %%r1, %%smid;\nmov.u32 %%r2, %%ctaid.x;\nmul.wide.u32 %%rd2, %%r2, 24;\n"
                    "add.u64 %%rd0, %%rd0, %%rd2;\ncvt.u64.u32 %%rd3, %%r1;\nst.global.u64 [%%rd0], %%rd3;\n"
                    "st.global.u64 [%%rd0+8], %%rd1;\nmov.u64 %%rd4, %%clock64;\nst.global.u64 [%%rd0+16], %%rd4;\n"
                    "cvt.rn.f32.u32 %%f0, %%r0;\nbar.sync 0;\n");
    for (unsigned i = 0; i < CHAIN; i++)
        text_add(&text, "fma.rn.f32 %%f0, %%f0, %%f0, %%f0;\n");
    text_add(&text, "setp.ne.u32 %%p0, %%f0, 0;\n@%%p0 trap;\nret;\n}\n");
    CHECK(cuModuleLoadData(&module, text.at));
    CHECK(cuModuleGetFunction(&function, module, "ends"));
    CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 160 << 10));
    for (unsigned threads = 32; threads <= 1024; threads *= 32) {
        unsigned zero = 0, n = 0;
        double gap = 0;
        for (int times = 0; times < 2; times++)
            CHECK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 160 << 10, NULL,
                                 (void *[]){&bench->times, &zero}, NULL));
        CHECK(cuMemcpyDtoH(span, bench->times, blocks * sizeof *span));
        for (unsigned b = 0; b < blocks; b++)
            span[b][0] = span[b][0] << 48 | span[b][1];
        qsort(span, blocks, sizeof *span, by_start);
        for (unsigned b = 0; b + 1 < blocks; b++)
            if (span[b][0] >> 48 == span[b + 1][0] >> 48) {
                gap += (double)(span[b + 1][1] - span[b][2]);
                n++;
            }
        bench_print_number("block_end", threads, gap / n);
    }
    CHECK(cuModuleUnload(module));
    text_free(&text);
    free(span);
}

/* Launches of kernels that do one thing once: what is cold after a launch shows in their cycles, which are counted from
 * outside. The kernels are named after it. Each is launched with 1 block and a block for each SM, of 1 and 8 warps,
 * three times in a row. */
static void cold_launches(struct bench *bench) {
    static const struct {
        const char *name, *text;
    } kind[] = {
        {"cold_empty", ""},
        {"cold_parameter", "setp.ne.u32 %p0, %r0, 0;\n@%p0 trap;\n"},
        {"cold_store", "st.global.u32 [%rd0], %r0;\n"},
        {"cold_load", "ld.global.u32 %r1, [%rd0];\nsetp.ne.u32 %p0, %r0, %r1;\n@%p0 trap;\n"},
        {"cold_load_twice", "ld.global.u32 %r1, [%rd0];\ncvt.u64.u32 %rd1, %r1;\nadd.u64 %rd0, %rd0, %rd1;\n"
                            "ld.global.u32 %r1, [%rd0+65536];\nsetp.ne.u32 %p0, %r0, %r1;\n@%p0 trap;\n"},
        {"cold_load_far", "ld.global.u32 %r1, [%rd0];\ncvt.u64.u32 %rd1, %r1;\nadd.u64 %rd0, %rd0, %rd1;\n"
                          "ld.global.u32 %r1, [%rd0+33554432];\nsetp.ne.u32 %p0, %r0, %r1;\n@%p0 trap;\n"},
        {"cold_load_store", "ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd0], %r1;\n"},
        {"cold_barrier", "bar.sync 0;\n"},
        {"cold_shared", "st.shared.u32 [shared], %r0;\nbar.sync 0;\n"},
    };
    static const unsigned lengths[] = {16, 64, 256, 1024};
    enum { KINDS = sizeof kind / sizeof *kind, LENGTHS = sizeof lengths / sizeof *lengths };
    struct text text = {0};
    CUmodule module;
    if (!bench_wants(bench, "cold"))
        return;
    text_add(&text, ".version 7.0\n.target sm_70\n.address_size 64\n.shared .b32 shared;\n");
    for (size_t k = 0; k < KINDS + LENGTHS; k++) {
        text_add(&text, ".visible .entry %s", k < KINDS ? kind[k].name : "cold_code_");
        if (k >= KINDS)
            text_add(&text, "%u", lengths[k - KINDS]);
        text_add(&text, "(.param .u64 p, .param .u32 n)\n{\n.reg .b32 %%r<4>, %%f<4>;\n.reg .b64 %%rd<4>;\n"
                        ".reg .pred %%p0;\nld.param.u64 %%rd0, [p];\nld.param.u32 %%r0, [n];\n");
        if (k >= KINDS) {
            text_add(&text, "cvt.rn.f32.u32 %%f0, %%r0;\n");
            for (unsigned i = 0; i < lengths[k - KINDS]; i++)
                text_add(&text, "fma.rn.f32 %%f0, %%f0, %%f0, %%f0;\n");
            text_add(&text, "setp.ne.u32 %%p0, %%f0, 0;\n@%%p0 trap;\n");
        } else {
            text_add(&text, "%s", kind[k].text);
        }
        text_add(&text, "ret;\n}\n");
    }
    CHECK(cuMemsetD8(bench->data, 0, 64 << 20));
    CHECK(cuModuleLoadData(&module, text.at));
    for (size_t k = 0; k < KINDS + LENGTHS; k++) {
        CUfunction function;
        unsigned zero = 0;
        char name[32];
        if (k < KINDS)
            snprintf(name, sizeof name, "%s", kind[k].name);
        else
            snprintf(name, sizeof name, "cold_code_%u", lengths[k - KINDS]);
        CHECK(cuModuleGetFunction(&function, module, name));
        for (unsigned blocks = 1; blocks <= bench->n_sms; blocks += bench->n_sms - 1)
            for (unsigned threads = 32; threads <= 256; threads *= 8)
                for (int times = 0; times < 3; times++)
                    CHECK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL,
                                         (void *[]){&bench->data, &zero}, NULL));
        CHECK(cuCtxSynchronize());
    }
    CHECK(cuModuleUnload(module));
    text_free(&text);
}

/* Launches of kernels that access memory once, by the number of blocks: what a launch waits for at its end. Cycles are
 * counted from outside. */
static void drains(struct bench *bench) {
    static const char *const kind[][2] = {
        {"drain_none", ""},
        {"drain_store", "st.global.u32 [%rd0], %r0;\n"},
        {"drain_load", "ld.global.u32 %r1, [%rd0];\nsetp.ne.u32 %p0, %r0, %r1;\n@%p0 trap;\n"},
        {"drain_both", "ld.global.u32 %r1, [%rd0];\nst.global.u32 [%rd0], %r1;\n"},
    };
    static const unsigned blocks[] = {1, 2, 4, 8, 16, 32, 66, 132, 528, 1056};
    struct text text = {0};
    CUmodule module;
    if (!bench_wants(bench, "drain"))
        return;
    text_add(&text, ".version 7.0\n.target sm_70\n.address_size 64\n");
    for (size_t k = 0; k < 4; k++)
        text_add(&text,
                 ".visible .entry %s(.param .u64 p, .param .u32 n)\n{\n.reg .b32 %%r<4>;\n.reg .b64 %%rd<4>;\n"
                 ".reg .pred %%p0;\nld.param.u64 %%rd0, [p];\nld.param.u32 %%r0, [n];\nmov.u32 %%r1, %%ctaid.x;\n"
                 "mov.u32 %%r2, %%ntid.x;\nmov.u32 %%r3, %%tid.x;\nmad.lo.u32 %%r1, %%r1, %%r2, %%r3;\n"
                 "mul.wide.u32 %%rd1, %%r1, 4;\nadd.u64 %%rd0, %%rd0, %%rd1;\n%sret;\n}\n",
                 kind[k][0], kind[k][1]);
    CHECK(cuMemsetD8(bench->data, 0, 4 << 20));
    CHECK(cuModuleLoadData(&module, text.at));
    for (size_t k = 0; k < 4; k++) {
        CUfunction function;
        unsigned zero = 0;
        CHECK(cuModuleGetFunction(&function, module, kind[k][0]));
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
            for (int times = 0; times < 4; times++)
                CHECK(cuLaunchKernel(function, blocks[b], 1, 1, 256, 1, 1, 0, NULL, (void *[]){&bench->data, &zero},
                                     NULL));
        CHECK(cuCtxSynchronize());
    }
    CHECK(cuModuleUnload(module));
    text_free(&text);
}

/* Code of `n` instructions in a module of its own, launched three times: only the first launch finds the code neither
 * in the caches of the SMs nor in the L2. `code_four` has four chains of sums, `code_chain` one, and `code_jump`
 * executes the first eight of every 64 instructions. Cycles are counted from outside. */
static void code_launches(struct bench *bench) {
    static const struct {
        const char *name;
        unsigned n, chains, jump;
    } kind[] = {{"code_four", 16, 4, 0},   {"code_four", 128, 4, 0},  {"code_four", 512, 4, 0},
                {"code_four", 2048, 4, 0}, {"code_chain", 128, 1, 0}, {"code_chain", 512, 1, 0},
                {"code_jump", 1024, 4, 64}};
    for (size_t k = 0; bench_wants(bench, "code") && k < sizeof kind / sizeof *kind; k++)
        for (unsigned blocks = 1; blocks <= bench->n_sms; blocks += bench->n_sms - 1)
            for (unsigned threads = 32; threads <= 256; threads *= 8) {
                struct text text = {0};
                CUmodule module;
                CUfunction function;
                unsigned zero = 0;
                char name[32];
                snprintf(name, sizeof name, "%s_%u", kind[k].name, kind[k].n);
                text_add(&text,
                         ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry %s(.param .u32 n)\n{\n"
                         ".reg .b32 %%r<4>;\n.reg .f32 %%f<4>;\n.reg .pred %%p0;\nld.param.u32 %%r0, [n];\n",
                         name);
                for (unsigned i = 0; i < 4; i++)
                    text_add(&text, "cvt.rn.f32.u32 %%f%u, %%r0;\n", i);
                for (unsigned i = 0; i < kind[k].n; i++) {
                    if (kind[k].jump && i % kind[k].jump == 8)
                        text_add(&text, "setp.eq.f32 %%p0, %%f0, 0f00000000;\n@%%p0 bra L%u;\n", i);
                    text_add(&text, "fma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", i % kind[k].chains, i % kind[k].chains,
                             i % kind[k].chains, i % kind[k].chains);
                    if (kind[k].jump && i % kind[k].jump == kind[k].jump - 1)
                        text_add(&text, "L%u:\n", i - (kind[k].jump - 9));
                }
                text_add(&text, "add.f32 %%f0, %%f0, %%f1;\nadd.f32 %%f2, %%f2, %%f3;\nadd.f32 %%f0, %%f0, %%f2;\n"
                                "setp.ne.f32 %%p0, %%f0, 0f00000000;\n@%%p0 trap;\nret;\n}\n");
                CHECK(cuModuleLoadData(&module, text.at));
                CHECK(cuModuleGetFunction(&function, module, name));
                for (int times = 0; times < 3; times++)
                    CHECK(cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, NULL, (void *[]){&zero}, NULL));
                CHECK(cuCtxSynchronize());
                CHECK(cuModuleUnload(module));
                text_free(&text);
            }
}

void bench_launches(struct bench *bench) {
    cold_launches(bench);
    drains(bench);
    code_launches(bench);
    block_starts(bench);
    block_ends(bench);
    empty_launches(bench);
}
