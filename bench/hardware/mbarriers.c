/* mbarriers: a wait for a phase that is complete, and arrivals, by one lane of a warp and by all, each warp on an
 * mbarrier of its own or all on one. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 16, MOST_ARRIVALS = (1 << 20) - 1 };

static const struct {
    const char *name, *fragment; /* %r50: the mbarrier; %p2: the first lane */
} kind[] = {
    {"wait", "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r50], 1;\nselp.u32 %r51, 0, 8, %p1;\n"
             "add.u32 %r50, %r50, %r51;"},
    {"wait_lane", "@%p2 mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r50], 1;\nselp.u32 %r51, 0, 8, %p1;\n"
                  "add.u32 %r50, %r50, %r51;"},
    {"arrive_lane", "@%p2 mbarrier.arrive.shared::cta.b64 %rd50, [%r50];"},
    {"arrive", "mbarrier.arrive.shared::cta.b64 %rd50, [%r50];"},
    {"expect_lane", "@%p2 mbarrier.arrive.expect_tx.shared::cta.b64 %rd50, [%r50], 0;"},
};

static double measure(struct bench *bench, const char *fragment, unsigned warps, bool is_common) {
    struct text setup = {0}, body = {0};
    unsigned rounds = bench->is_quick ? 2 : 32;
    text_add(&setup,
             "mov.u32 %%r50, bars;\nshr.u32 %%r52, %%thread, 5;\nmad.lo.u32 %%r50, %%r52, %u, %%r50;\n"
             "setp.eq.u32 %%p2, %%lane, 0;\nsetp.eq.u32 %%p1, %%lane, %%lane;\n"
             "@%%p2 mbarrier.init.shared::cta.b64 [%%r50], %u;\nbar.sync 0;\n",
             is_common ? 0 : 8, MOST_ARRIVALS);
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "%s\n", fragment);
    struct bench_source source = {.version = "8.0",
                                  .target = "sm_90",
                                  .globals = ".shared .align 8 .b64 bars[64];\n",
                                  .setup = setup.at,
                                  .body = body.at,
                                  .tail = "xor.b32 %sink, %sink, %r50;\n"};
    struct bench_kernel kernel = bench_compile(bench, &source);
    double cycles =
        bench_run(bench, kernel, (struct bench_launch){.blocks = 1, .threads = warps * 32, .rounds = rounds}, NULL);
    bench_unload(kernel);
    text_free(&setup);
    text_free(&body);
    return cycles / (PER_ROUND * (double)rounds);
}

/* The cycles of an instruction in each warp: of one warp, and of eight with mbarriers of their own and with one. */
void bench_mbarriers(struct bench *bench) {
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        char name[64];
        snprintf(name, sizeof name, "mbarrier_%s", kind[k].name);
        if (!bench_wants(bench, name))
            continue;
        bench_print(name, "one_warp", measure(bench, kind[k].fragment, 1, false));
        bench_print(name, "eight_warps", measure(bench, kind[k].fragment, 8, false));
        bench_print(name, "eight_warps_on_one", measure(bench, kind[k].fragment, 8, true));
    }
}
