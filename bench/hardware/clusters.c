/* Clusters: shared memory of the next block, barriers of the cluster, and threads of two blocks that signal each other.
 * Every word of a block's table holds its own address in the cluster, so that a load's result is the address of the
 * next one. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 16 };

static const char globals[] = ".shared .align 1024 .b32 table[4096];\n.shared .align 8 .b64 bar;\n";

/* %r50: the next block's rank; %t: the lane's word of that block's table, 4 * %number bytes apart. */
static const char fill[] =
    "mov.u32 %r55, %cluster_ctarank;\nmov.u32 %r56, %cluster_nctarank;\nmov.u32 %r60, table;\n"
    "mapa.shared::cluster.u32 %r57, %r60, %r55;\nmov.u32 %r61, %thread;\nmov.u32 %r62, %ntid.x;\n"
    "FILL:\nshl.b32 %t, %r61, 2;\nadd.u32 %r58, %t, %r60;\nadd.u32 %r59, %t, %r57;\nst.shared.u32 [%r58], %r59;\n"
    "add.u32 %r61, %r61, %r62;\nsetp.lt.u32 %q, %r61, 4096;\n@%q bra FILL;\n"
    "add.u32 %r50, %r55, 1;\nsetp.ge.u32 %q, %r50, %r56;\n@%q mov.u32 %r50, 0;\n"
    "mapa.shared::cluster.u32 %r57, %r60, %r50;\n"
    "mul.lo.u32 %t, %thread, %number;\nand.b32 %t, %t, 4095;\nshl.b32 %t, %t, 2;\nadd.u32 %t, %t, %r57;\n"
    "and.b32 %r40, %number, 0x40000000;\nmov.u32 %r41, %r40;\nmov.u32 %r42, %r40;\nmov.u32 %r43, %r40;\n"
    "mov.u32 %r48, 0;\n"
    "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";
static const char meet[] = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n";

/* Returns the cycles of one fragment. */
static double measure(struct bench *bench, const char *fragment, unsigned cluster, unsigned chains, unsigned warps,
                      unsigned stride) {
    struct text setup = {0}, body = {0}, tail = {0};
    unsigned rounds = bench->is_quick ? 4 : 32;
    text_add(&setup, "%s", fill);
    for (unsigned i = 0; i < chains; i++) {
        text_add(&setup, "mov.u32 %%r%u, %%t;\nmov.u32 %%r%u, 0;\n", i, i + 16);
        text_add(&tail, "xor.b32 %%sink, %%sink, %%r%u;\nxor.b32 %%sink, %%sink, %%r%u;\n", i, i + 16);
    }
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, fragment, i % chains);
    struct bench_kernel kernel = bench_compile(bench, &(struct bench_source){.version = "8.3",
                                                                             .target = "sm_90",
                                                                             .globals = globals,
                                                                             .setup = setup.at,
                                                                             .body = body.at,
                                                                             .tail = tail.at,
                                                                             .last = meet,
                                                                             .cluster = cluster});
    struct bench_launch launch = {.blocks = cluster, .threads = warps * 32, .rounds = rounds, .number = stride};
    double cycles = bench_run(bench, kernel, launch, NULL);
    bench_unload(kernel);
    text_free(&setup);
    text_free(&body);
    text_free(&tail);
    return cycles / (PER_ROUND * (double)rounds);
}

/* Loads, stores and atomics of every block in the next block's memory. Rates are cycles for each warp's access. */
static void accesses(struct bench *bench) {
    static const struct {
        const char *name, *fragment;
        unsigned chains, warps, stride;
    } kind[] = {
        {"cluster_load_latency", "ld.shared::cluster.u32 %r$, [%r$];", 1, 1, 1},
        {"cluster_load_one_warp", "ld.shared::cluster.u32 %r$, [%r$];", 8, 1, 1},
        {"cluster_load_rate", "ld.shared::cluster.u32 %r$, [%r$];", 4, 32, 1},
        {"cluster_load16_rate", "ld.shared::cluster.v4.u32 {%r$, %r1$, %r2$, %r3$}, [%r$];", 4, 32, 4},
        {"cluster_load_stride2", "ld.shared::cluster.u32 %r$, [%r$];", 4, 32, 2},
        {"cluster_load_stride32", "ld.shared::cluster.u32 %r$, [%r$];", 4, 32, 32},
        {"cluster_load_same", "ld.shared::cluster.u32 %r$, [%r$];", 4, 32, 0},
        {"cluster_store_one_warp", "st.volatile.shared::cluster.u32 [%r$], %r$;", 1, 1, 1},
        {"cluster_store_rate", "st.volatile.shared::cluster.u32 [%r$], %r$;", 1, 32, 1},
        {"cluster_store16_rate", "st.volatile.shared::cluster.v4.u32 [%r$], {%r$, %r40, %r40, %r40};", 1, 32, 4},
        {"cluster_store_stride32", "st.volatile.shared::cluster.u32 [%r$], %r$;", 1, 32, 32},
        {"cluster_atomic_latency", "atom.shared::cluster.or.b32 %r$, [%r$], %r40;", 1, 1, 1},
        {"cluster_atomic_rate", "atom.shared::cluster.add.u32 %r1$, [%r$], %r40;\nxor.b32 %sink, %sink, %r1$;", 4, 32,
         1},
        {"cluster_atomic_same_latency", "atom.shared::cluster.or.b32 %r$, [%r$], %r40;", 1, 1, 0},
        {"cluster_red_rate", "red.shared::cluster.add.u32 [%r$], %r40;", 1, 32, 1},
        {"cluster_generic_latency", "cvt.u64.u32 %rd1, %r$;\ncvta.shared::cluster.u64 %rd1, %rd1;\nld.u32 %r$, [%rd1];",
         1, 1, 1},
    };
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (unsigned cluster = 1; cluster <= 8 && bench_wants(bench, kind[k].name); cluster *= 2)
            bench_print_number(
                kind[k].name, cluster,
                measure(bench, kind[k].fragment, cluster, kind[k].chains, kind[k].warps, kind[k].stride) /
                    (kind[k].warps));
}

/* Only the first block accesses, the others wait at the barrier in the end. */
static void one_block(struct bench *bench) {
    static const char load[] = "@%p5 ld.shared::cluster.v4.u32 {%r$, %r1$, %r2$, %r3$}, [%r$];";
    char name[] = "cluster_load16_one_block";
    if (!bench_wants(bench, name))
        return;
    struct text body = {0};
    text_add(&body, "setp.eq.u32 %%p5, %%r55, 0;\n%s", load);
    for (unsigned cluster = 2; cluster <= 8; cluster *= 2)
        bench_print_number(name, cluster, measure(bench, body.at, cluster, 4, 32, 4) / 32);
    text_free(&body);
}

static void barriers(struct bench *bench) {
    static const struct {
        const char *name, *fragment;
    } kind[] = {
        {"cluster_barrier", "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"},
        {"cluster_barrier_relaxed", "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;"},
    };
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (unsigned warps = 1; warps <= 32; warps *= 8 / (1 + (warps == 8))) {
            char name[64];
            snprintf(name, sizeof name, "%s_%u_warps", kind[k].name, warps);
            for (unsigned cluster = 1; cluster <= 8 && bench_wants(bench, name); cluster *= 2)
                bench_print_number(name, cluster, measure(bench, kind[k].fragment, cluster, 1, warps, 1));
        }
}

/* Two blocks signal each other by an mbarrier in the other's memory. A fragment is there and back. */
static void signals(struct bench *bench) {
    static const char wait[] =
        "W$:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], %r48;\n@!%p1 bra W$;\nxor.b32 %r48, %r48, 1;\n";
    static const char setup[] =
        "mov.u32 %r51, bar;\nmapa.shared::cluster.u32 %r52, %r51, %r50;\nadd.u32 %r53, %r57, 8192;\n"
        "setp.eq.u32 %p2, %thread, 0;\n@%p2 mbarrier.init.shared::cta.b64 [bar], 1;\n"
        "fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "setp.eq.u32 %p3, %r55, 0;\n";
    static const struct {
        const char *name, *signal;
        bool counts_bytes;
    } kind[] = {
        {"cluster_arrive", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r52];", false},
        {"cluster_store_async", "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r53], %r48, [%r52];",
         true},
        {"cluster_copy",
         "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r53], [%r60], 16, [%r52];", true},
    };
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        struct text all = {0}, body = {0};
        if (!bench_wants(bench, kind[k].name))
            continue;
        const char *expect =
            kind[k].counts_bytes ? "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r49;\n" : "";
        text_add(&all, "%s%smov.u32 %%r49, %d;\n", fill, setup, k == 2 ? 16 : 4);
        /* The first block signals and waits; the other one waits and signals. */
        for (unsigned i = 0; i < PER_ROUND; i++) {
            text_add(&body, "%s@!%%p3 bra B%u;\n@%%p2 %s\nB%u:\n", expect, i, kind[k].signal, i);
            text_add_numbered(&body, wait, i);
            text_add(&body, "@%%p3 bra C%u;\n@%%p2 %s\nC%u:\n", i, kind[k].signal, i);
        }
        struct bench_kernel kernel = bench_compile(bench, &(struct bench_source){.version = "8.3",
                                                                                 .target = "sm_90",
                                                                                 .globals = globals,
                                                                                 .setup = all.at,
                                                                                 .body = body.at,
                                                                                 .last = meet,
                                                                                 .cluster = 2});
        unsigned rounds = bench->is_quick ? 2 : 16;
        struct bench_launch launch = {.blocks = 2, .threads = 32, .rounds = rounds, .number = 1};
        bench_print(kind[k].name, "there_and_back",
                    bench_run(bench, kernel, launch, NULL) / (PER_ROUND * (double)rounds));
        bench_unload(kernel);
        text_free(&all);
        text_free(&body);
    }
}

void bench_clusters(struct bench *bench) {
    accesses(bench);
    one_block(bench);
    barriers(bench);
    signals(bench);
}
