/* How much of an SM's memory is cache beside a block's shared memory: pointer chases of one warp. */
#include "bench.h"

#include <stdio.h>

enum { PER_ROUND = 16, LINE = 128 };

void bench_split(struct bench *bench) {
    static const unsigned shared_kilobytes[] = {0, 4, 8, 16, 32, 64, 100, 132, 164, 196, 227};
    static const unsigned footprints[] = {16, 24, 56, 90, 122, 154, 186, 208, 222, 250};
    struct text body = {0};
    static uint64_t chain[(256 << 10) / 8];
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add(&body, "ld.global.ca.u64 %%rd0, [%%rd0];\n");
    struct bench_source source = {.globals = ".extern .shared .align 16 .b8 memory[];\n",
                                  .setup = "mov.u64 %rd0, %data;\n",
                                  .body = body.at,
                                  .tail = "mov.u32 %t, memory;\nsetp.eq.u32 %p0, %number, 77;\n"
                                          "@%p0 ld.shared.u32 %t, [%t];\nadd.u32 %sink, %t, %number;\n"
                                          "cvt.u32.u64 %t, %rd0;\nadd.u32 %sink, %sink, %t;\n"};
    for (size_t f = 0; f < sizeof footprints / sizeof *footprints; f++) {
        unsigned lines = (footprints[f] << 10) / LINE;
        for (unsigned i = 0; i < lines; i++)
            chain[i * (LINE / 8)] = bench->data + (uint64_t)(i + 1) % lines * LINE;
        bench_upload(bench, chain, sizeof chain);
        for (size_t s = 0; s < sizeof shared_kilobytes / sizeof *shared_kilobytes; s++)
            for (unsigned warps = 1; warps <= 32; warps *= 32) {
                char name[64];
                unsigned bytes = shared_kilobytes[s] << 10;
                snprintf(name, sizeof name, "l1_beside_shared_%u_%u_warps", shared_kilobytes[s], warps);
                if (!bench_wants(bench, name))
                    continue;
                struct bench_kernel kernel = bench_compile(bench, &source);
                CHECK(cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes));
                struct bench_launch launch = {
                    .blocks = 1, .threads = warps * 32, .rounds = 256, .dynamic_shared_bytes = bytes};
                bench_print_number(name, footprints[f] << 10,
                                   bench_run(bench, kernel, launch, NULL) / (launch.rounds * (double)PER_ROUND));
                bench_unload(kernel);
            }
    }
    text_free(&body);
}
