/* Threads that wait for others through memory: a flag that goes from block to block, and loads of a word on which other
 * threads work by atomics. */
#include "bench.h"

#include <stdio.h>

/* Block b waits for flag b, and sets flag b + 1; the first one waits for the last flag in the end. The number of the
 * pass is what a flag must reach. */
static void hand_over(struct bench *bench, const char *name, const char *fence) {
    struct text body = {0};
    if (!bench_wants(bench, name))
        return;
    text_add(&body,
             "setp.ne.u32 %%p0, %%thread, 0;\n@%%p0 bra DONE;\n"
             "add.u32 %%r1, %%r1, 1;\nsetp.eq.u32 %%p1, %%r0, 0;\n@%%p1 bra SET;\n"
             "WAIT: ld.volatile.global.u32 %%r2, [%%rd0];\nsetp.lt.u32 %%p1, %%r2, %%r1;\n@%%p1 bra WAIT;\n"
             "SET: %s st.volatile.global.u32 [%%rd0+1024], %%r1;\nsetp.ne.u32 %%p1, %%r0, 0;\n@%%p1 bra DONE;\n"
             "LAST: ld.volatile.global.u32 %%r2, [%%rd1];\nsetp.lt.u32 %%p1, %%r2, %%r1;\n@%%p1 bra LAST;\n"
             "DONE: xor.b32 %%sink, %%sink, %%r2;\n",
             fence);
    struct bench_source source = {
        .setup = "mov.u32 %r0, %ctaid.x;\nmul.wide.u32 %rd0, %r0, 1024;\nadd.u64 %rd0, %rd0, %data;\n"
                 "mov.u32 %t, %nctaid.x;\nmul.wide.u32 %rd1, %t, 1024;\nadd.u64 %rd1, %rd1, %data;\n"
                 "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n",
        .body = body.at};
    struct bench_kernel kernel = bench_compile(bench, &source);
    for (unsigned blocks = 2; blocks <= 128; blocks *= 4) {
        struct bench_time *none = NULL;
        struct bench_launch launch = {.blocks = blocks, .threads = 32, .rounds = 4, .passes = 1};
        CHECK(cuMemsetD8(bench->data, 0, 1 << 20));
        bench_print_number(name, blocks, bench_run(bench, kernel, launch, none) / (launch.rounds * (double)blocks));
    }
    bench_unload(kernel);
    text_free(&body);
}

/* All blocks but the first work on one word; the first one loads it, or another word of its sector, or of its slice. */
static void beside_atomics(struct bench *bench, const char *name, const char *atomic) {
    struct text body = {0};
    if (!bench_wants(bench, name))
        return;
    text_add(&body,
             "setp.eq.u32 %%p0, %%r0, 0;\n@%%p0 bra LOAD;\n%s\nbra DONE;\n"
             "LOAD: ld.volatile.global.u32 %%r2, [%%rd1];\nadd.u32 %%r3, %%r3, %%r2;\n"
             "and.b32 %%r2, %%r2, 0;\ncvt.u64.u32 %%rd2, %%r2;\nadd.u64 %%rd1, %%rd1, %%rd2;\n"
             "DONE: xor.b32 %%sink, %%sink, %%r3;\n",
             atomic);
    struct bench_source source = {
        .setup =
            "mov.u32 %r0, %ctaid.x;\ncvt.u64.u32 %rd1, %number;\nadd.u64 %rd1, %rd1, %data;\nmov.u64 %rd0, %data;\n"
            "mov.u32 %r3, 0;\nmov.u32 %r4, 1;\n",
        .body = body.at};
    struct bench_kernel kernel = bench_compile(bench, &source);
    static const unsigned place[] = {0, 4, 32, 256, 512, 65536};
    for (unsigned threads = 32; threads <= 256; threads *= 8)
        for (size_t k = 0; k < sizeof place / sizeof *place; k++) {
            static struct bench_time times[BENCH_MOST_WARPS];
            char label[96];
            struct bench_launch launch = {
                .blocks = bench->n_sms, .threads = threads, .rounds = 32, .number = place[k], .passes = 1};
            CHECK(cuMemsetD8(bench->data, 0, 1 << 20));
            double all = bench_run(bench, kernel, launch, times);
            snprintf(label, sizeof label, "%s_%u_threads_load", name, threads);
            bench_print_number(label, place[k], (double)(times[0].end - times[0].start) / launch.rounds);
            snprintf(label, sizeof label, "%s_%u_threads", name, threads);
            bench_print_number(label, place[k], all / launch.rounds);
        }
    bench_unload(kernel);
    text_free(&body);
}

/* Accesses that order others. Lane 0 of each warp accesses a word of its own, 1 KB from the next warp's. Cycles of one
 * access, by the number of warps. */
static void ordered(struct bench *bench) {
    enum { PER_ROUND = 8 };
    /* the result, a zero, becomes part of the next address */
    static const char next[] = "cvt.u64.u32 %rd2, %r1;\nadd.u64 %rd0, %rd0, %rd2;\n";
    static const struct {
        const char *name, *fragment;
        bool has_result;
    } kind[] = {
        {"ordered_load_relaxed", "ld.relaxed.gpu.global.u32 %r1, [%rd0];", true},
        {"ordered_load_acquire", "ld.acquire.gpu.global.u32 %r1, [%rd0];", true},
        {"ordered_atom_relaxed", "atom.relaxed.gpu.global.add.u32 %r1, [%rd0], 0;", true},
        {"ordered_atom_acquire", "atom.acquire.gpu.global.add.u32 %r1, [%rd0], 0;", true},
        {"ordered_atom_release", "atom.release.gpu.global.add.u32 %r1, [%rd0], 0;", true},
        {"ordered_atom_both", "atom.acq_rel.gpu.global.add.u32 %r1, [%rd0], 0;", true},
        {"ordered_red_release", "red.release.gpu.global.add.u32 [%rd0], 0;", false},
        {"ordered_store_relaxed", "st.relaxed.gpu.global.u32 [%rd0], 0;", false},
        {"ordered_store_release", "st.release.gpu.global.u32 [%rd0], 0;", false},
        {"ordered_fence", "fence.acq_rel.gpu;", false},
        {"ordered_fence_sc", "fence.sc.gpu;", false},
        {"ordered_fence_cluster", "fence.acq_rel.cluster;", false},
        {"ordered_store_fence", "st.global.u32 [%rd0], 0;\nfence.acq_rel.gpu;", false},
        {"ordered_store_fence_cluster", "st.global.u32 [%rd0], 0;\nfence.acq_rel.cluster;", false},
        {"ordered_red_fence", "red.relaxed.gpu.global.add.u32 [%rd0], 0;\nfence.acq_rel.gpu;", false},
        {"ordered_atom_system", "atom.relaxed.sys.global.add.u32 %r1, [%rd0], 0;", true},
        {"ordered_fence_system", "fence.acq_rel.sys;", false},
        {"ordered_store_fence_system", "st.global.u32 [%rd0], 0;\nfence.acq_rel.sys;", false},
        {"ordered_load_fence", "ld.global.cg.u32 %r1, [%rd0];\nfence.acq_rel.gpu;", true},
    };
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        struct text body = {0};
        if (!bench_wants(bench, kind[k].name))
            continue;
        text_add(&body, "setp.ne.u32 %%p0, %%lane, 0;\n@%%p0 bra DONE;\n");
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add(&body, "%s\n%s", kind[k].fragment, kind[k].has_result ? next : "");
        text_add(&body, "DONE:\n");
        struct bench_source source = {
            .version = "8.3",
            .target = "sm_90",
            .setup = "shr.u32 %t, %gtid, 5;\nmul.wide.u32 %rd0, %t, 1024;\nadd.u64 %rd0, %rd0, %data;\n",
            .body = body.at,
            .tail = "cvt.u32.u64 %sink, %rd0;\n"};
        struct bench_kernel kernel = bench_compile(bench, &source);
        for (unsigned warps = 1; warps <= 32; warps *= 2) {
            struct bench_launch launch = {.blocks = 1, .threads = 32 * warps, .rounds = bench->is_quick ? 4 : 16};
            CHECK(cuMemsetD8(bench->data, 0, 1 << 20));
            bench_print_number(kind[k].name, warps,
                               bench_run(bench, kernel, launch, NULL) / (PER_ROUND * (double)launch.rounds));
        }
        for (unsigned warps = 1; warps <= 16; warps *= 4) {
            struct bench_launch launch = {
                .blocks = bench->n_sms, .threads = 32 * warps, .rounds = bench->is_quick ? 4 : 16};
            char name[64];
            snprintf(name, sizeof name, "%s_all_sms", kind[k].name);
            CHECK(cuMemsetD8(bench->data, 0, 4 << 20));
            bench_print_number(name, warps,
                               bench_run(bench, kernel, launch, NULL) / (PER_ROUND * (double)launch.rounds));
        }
        bench_unload(kernel);
        text_free(&body);
    }
}

void bench_waiting(struct bench *bench) {
    ordered(bench);
    hand_over(bench, "hand_over", "");
    hand_over(bench, "hand_over_fenced", "membar.gl;\n");
    beside_atomics(bench, "beside_red", "red.global.add.u32 [%rd0], 1;");
    beside_atomics(bench, "beside_atom", "atom.global.add.u32 %r3, [%rd0], 1;");
    beside_atomics(bench, "beside_cas", "atom.global.cas.b32 %r3, [%rd0], %r3, %r4;");
}
