/* Kernels with planted defects that --memcheck finds, and their clean neighbours. `memcheck KERNEL [MEMORY]` runs one
 * kernel with 64 threads on a buffer of 64 words from the given kind of memory. Kernels whose names begin alike differ
 * in one thing. Exit status 0, and the sum of the buffer on standard output. */
#include <stdio.h>
#include <string.h>

#include "cuda.h"

/* In every kernel: %r1 the thread, %r2 and %r3 its word and that of thread 63 - %r1 in shared memory, %d1 its word in
 * the buffer, %d2 the buffer, %p1 whether it is in the first warp. */
#define KERNEL(name, body) KERNEL_WITH(name, "", body)
#define KERNEL_WITH(name, attributes, body)                                                                            \
    ".visible .entry " name "(.param .u64 p) " attributes "{\n"                                                        \
    ".reg .b64 %d<8>; .reg .b32 %r<12>; .reg .b16 %h<2>; .reg .pred %p<4>;\n"                                          \
    ".shared .align 16 .b8 s[512];\n"                                                                                  \
    "ld.param.u64 %d2, [p]; mov.u32 %r1, %tid.x; mov.u32 %r9, s; mad.lo.u32 %r2, %r1, 4, %r9;\n"                       \
    "sub.u32 %r3, 63, %r1; mad.lo.u32 %r3, %r3, 4, %r9; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d1, %d2;\n"            \
    "setp.lt.u32 %p1, %r1, 32;\n" body "ret;\n}\n"

#define WRITE "st.shared.u32 [%r2], %r1;\n"
#define READ "ld.shared.u32 %r5, [%r3];\n"
#define OUT "st.global.u32 [%d1], %r5;\n"
#define BARRIER "bar.sync 0;\n"
/* Clusters of both blocks. %r10 is the other block's rank, and %r11 the word of thread %r1 there. */
#define OTHER "mov.u32 %r10, %cluster_ctarank; xor.b32 %r10, %r10, 1; mapa.shared::cluster.u32 %r11, %r2, %r10;\n"
#define CLUSTER_BARRIER "barrier.cluster.arrive; barrier.cluster.wait;\n"
#define READ_OTHER "ld.shared::cluster.u32 %r5, [%r11];\n"
#define SIGNAL                                                                                                         \
    "mapa.shared::cluster.u32 %r6, %r8, %r10; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n"
#define AWAIT(again) again ": mbarrier.test_wait.parity.shared.b64 %p3, [%r8], 0;\n@!%p3 bra " again ";\n"
#define PAIR(name, body) KERNEL_WITH(name, ".reqnctapercluster 2, 1, 1", OTHER body CLUSTER_BARRIER)
/* Thread t + 1 of the same warp, around. */
#define WRITE_NEXT                                                                                                     \
    "and.b32 %r6, %r1, 32; add.u32 %r7, %r1, 1; and.b32 %r7, %r7, 31; add.u32 %r7, %r7, %r6;\n"                        \
    "mad.lo.u32 %r3, %r7, 4, %r9;\n" WRITE
#define COPY "cp.async.ca.shared.global [%r2], [%d1], 4;\n"
#define MBARRIER                                                                                                       \
    "mov.u32 %r8, s; add.u32 %r8, %r8, 256; setp.eq.u32 %p2, %r1, 0;\n"                                                \
    "@%p2 mbarrier.init.shared.b64 [%r8], 64;\n"
#define ARRIVE "mbarrier.arrive.shared.b64 %d3, [%r8];\n"
#define WAIT "again: mbarrier.test_wait.shared.b64 %p3, [%r8], %d3;\n@!%p3 bra again;\n"
#define FIELDS "st.global.u8 [%d1], 1; st.global.u8 [%d1+2], 1;\n"

static const char ptx[] = ".version 7.8\n.target sm_80\n.address_size 64\n.file 1 \"planted.cu\"\n"
    /* write, then read another thread's word */
    KERNEL("read", ".loc 1 7 0\n" WRITE ".loc 1 9 0\n" READ OUT) KERNEL("read_barrier", WRITE BARRIER READ OUT)
        KERNEL("read_reduced", WRITE "bar.red.popc.u32 %r6, 0, %p1;\n" READ OUT)
            KERNEL("read_byte", "cvt.u16.u32 %h1, %r1; add.u32 %r3, %r9, %r1; st.shared.u8 [%r3], %h1;\n"
                                "ld.shared.u8 %h1, [%r3]; cvt.u32.u16 %r5, %h1;\n" OUT)
    /* all read a word, then a thread writes it */
    KERNEL("write_after", WRITE BARRIER "ld.shared.u32 %r5, [s];\nsetp.eq.u32 %p2, %r1, 40;\n"
                                        "@%p2 st.shared.u32 [s], 9;\n" OUT)
        KERNEL("write_after_barrier", WRITE BARRIER "ld.shared.u32 %r5, [s];\n" BARRIER
                                                    "setp.eq.u32 %p2, %r1, 40;\n@%p2 st.shared.u32 [s], 9;\n" OUT)
    /* all write a word */
    KERNEL("write", "st.shared.u32 [s], %r1;\n" BARRIER "ld.shared.u32 %r5, [s];\n" OUT)
        KERNEL("write_same", "st.shared.u32 [s], 5;\n" BARRIER "ld.shared.u32 %r5, [s];\n" OUT)
            KERNEL("write_atomic", WRITE BARRIER "atom.shared.add.u32 %r5, [s], 1;\n" OUT)
                KERNEL("write_atomic_plain",
                       WRITE BARRIER "@%p1 atom.shared.add.u32 %r5, [s], 1;\n@!%p1 ld.shared.u32 %r5, [s];\n" OUT)
    /* threads of one warp */
    KERNEL("warp", WRITE_NEXT READ OUT) KERNEL("warp_sync", WRITE_NEXT "bar.warp.sync 0xffffffff;\n" READ OUT)
        KERNEL("warp_sync_other", WRITE "bar.warp.sync 0xffffffff;\n" READ OUT)
    /* the first warp writes, the second reads */
    KERNEL("named",
           "@!%p1 bra consume;\n" WRITE "bar.arrive 1, 64;\nbra done;\nconsume: bar.sync 1, 64;\n" READ "done:\n")
        KERNEL("named_apart",
               "@!%p1 bra consume;\n" WRITE "bar.sync 1, 32;\nbra done;\nconsume: bar.sync 2, 32;\n" READ "done:\n")
            KERNEL("named_early", "@!%p1 bra consume;\n" WRITE "bar.arrive 1, 64;\nst.shared.u32 [%r2], 7;\nbra done;\n"
                                  "consume: bar.sync 1, 64;\n" READ "done:\n")
    /* asynchronous copies */
    KERNEL("copy", COPY "cp.async.wait_all;\n" BARRIER READ OUT)
        KERNEL("copy_group", COPY "cp.async.commit_group;\ncp.async.wait_group 0;\n" BARRIER READ OUT)
            KERNEL("copy_no_wait", COPY "cp.async.commit_group;\n" BARRIER READ OUT)
                KERNEL("copy_early", COPY "cp.async.commit_group;\ncp.async.wait_group 1;\n" BARRIER READ OUT)
                    KERNEL("copy_own", COPY "ld.shared.u32 %r5, [%r2];\n" OUT)
                        KERNEL("copy_no_barrier", COPY "cp.async.wait_all;\n" READ OUT)
                            KERNEL("copy_mbarrier",
                                   MBARRIER BARRIER COPY "cp.async.mbarrier.arrive.noinc.shared.b64 [%r8];\n"
                                                         "again: mbarrier.test_wait.parity.shared.b64 %p3, [%r8], 0;\n"
                                                         "@!%p3 bra again;\n" READ OUT)
    /* mbarriers */
    KERNEL("mbarrier", MBARRIER BARRIER WRITE ARRIVE WAIT READ OUT)
        KERNEL("mbarrier_no_wait", MBARRIER BARRIER WRITE ARRIVE READ OUT)
    /* uninitialised reads */
    KERNEL("global", ".loc 1 20 0\nld.global.u32 %r5, [%d1];\nadd.u32 %r5, %r5, 1;\n" OUT)
        KERNEL("shared", "@%p1 st.shared.u32 [%r2], %r1;\n" BARRIER "ld.shared.u32 %r5, [%r2];\n" OUT)
            KERNEL("shared_moved", "@%p1 st.shared.u32 [%r2], %r1;\n" BARRIER
                                   "ld.shared.u32 %r6, [%r2];\nst.shared.u32 [%r2+256], %r6;\n")
                KERNEL("shared_moved_used", "@%p1 st.shared.u32 [%r2], %r1;\n" BARRIER
                                            "ld.shared.u32 %r6, [%r2];\nst.shared.u32 [%r2+256], %r6;\n"
                                            "ld.shared.u32 %r5, [%r2+256];\n" OUT)
    /* members at bytes 0 and 2, copied as a word */
    KERNEL("padding", FIELDS "ld.global.u32 %r5, [%d1];\nst.shared.u32 [%r2], %r5;\nld.shared.u32 %r5, [%r2];\n" OUT);

static const char clusters[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n" PAIR("cluster_read", WRITE CLUSTER_BARRIER READ_OTHER OUT)
        PAIR("cluster_unwritten", CLUSTER_BARRIER READ_OTHER OUT)
            PAIR("cluster_write", "st.shared::cluster.u32 [%r11], %r1;\n" CLUSTER_BARRIER READ OUT)
                PAIR("cluster_race", WRITE READ OUT)
    /* a copy of block 0 writes to both */
    PAIR("cluster_copy",
         "add.u32 %r8, %r9, 256; setp.eq.u32 %p2, %r1, 0; @%p2 mbarrier.init.shared.b64 [%r8], 1;\n"
         "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r8], 256;\n" CLUSTER_BARRIER
         "setp.eq.and.u32 %p2, %r10, 1, %p2; mov.u16 %h1, 3;\n"
         "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r9], [%d2], 256, "
         "[%r8], %h1;\n" AWAIT("first") READ OUT)
    /* a block tells the other one, which tells it back */
    PAIR("cluster_signals", MBARRIER CLUSTER_BARRIER "setp.eq.u32 %p2, %r10, 0;\n@%p2 bra second;\n" WRITE SIGNAL AWAIT(
                                "first") READ OUT "bra done;\n" AWAIT("second") SIGNAL "done:\n")
        PAIR("cluster_silence",
             MBARRIER CLUSTER_BARRIER "setp.eq.u32 %p2, %r10, 0;\n@%p2 bra second;\n" WRITE SIGNAL READ OUT
                                      "bra done;\n" AWAIT("second") SIGNAL "done:\n");

enum { WORDS = 64, BYTES = 4 * WORDS };

/* Returns memory of this kind: "new" is never written. */
static int allocate(const char *kind, CUdeviceptr *buffer) {
    static unsigned words[WORDS];
    void *host;
    size_t pitch;
    if (strcmp(kind, "managed") == 0)
        return (int)cuMemAllocManaged(buffer, BYTES, CU_MEM_ATTACH_GLOBAL);
    if (strcmp(kind, "mapped") == 0)
        return cuMemHostAlloc(&host, BYTES, CU_MEMHOSTALLOC_DEVICEMAP) || cuMemHostGetDevicePointer(buffer, host, 0);
    if (strcmp(kind, "pool") == 0)
        return cuMemAllocAsync(buffer, BYTES, NULL) || cuMemsetD8Async(*buffer, 0, BYTES, NULL);
    if (strcmp(kind, "new-pool") == 0)
        return (int)cuMemAllocAsync(buffer, BYTES, NULL);
    if (strcmp(kind, "box") == 0) { /* two lines of 32 words each, into lines without a gap */
        CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = words,
                              .srcPitch = BYTES / 2,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstPitch = BYTES / 2,
                              .WidthInBytes = BYTES / 2,
                              .Height = 2};
        if (cuMemAlloc(buffer, BYTES))
            return 1;
        copy.dstDevice = *buffer;
        return (int)cuMemcpy2D(&copy);
    }
    if (strcmp(kind, "gap") == 0) { /* only the first 16 words of the line are written */
        CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = words,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .WidthInBytes = BYTES / 4,
                              .Height = 1};
        if (cuMemAllocPitch(buffer, &pitch, BYTES, 1, 4))
            return 1;
        copy.dstDevice = *buffer;
        copy.dstPitch = pitch;
        return (int)cuMemcpy2D(&copy);
    }
    if (cuMemAlloc(buffer, BYTES))
        return 1;
    return strcmp(kind, "new") == 0 ? 0 : (int)cuMemcpyHtoD(*buffer, words, BYTES);
}

int main(int argc, char **argv) {
    CUcontext context;
    CUmodule module;
    CUfunction kernel, first;
    CUdeviceptr buffer;
    unsigned words[WORDS], sum = 0;
    const char *kind = argc > 2 ? argv[2] : "copied";
    int is_pair = argc > 1 && strncmp(argv[1], "cluster", 7) == 0;
    if (argc < 2 || cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) ||
        cuModuleLoadData(&module, is_pair ? clusters : ptx) || cuModuleGetFunction(&kernel, module, argv[1]) ||
        (!is_pair && cuModuleGetFunction(&first, module, "write_same")) ||
        allocate(strcmp(kind, "kernel") == 0 ? "new" : kind, &buffer))
        return 9;
    void *parameters[] = {&buffer};
    if (strcmp(kind, "kernel") == 0 && cuLaunchKernel(first, 1, 1, 1, WORDS, 1, 1, 0, NULL, parameters, NULL))
        return 9;
    for (int i = 0; i < 2; i++)
        if (cuLaunchKernel(kernel, 2, 1, 1, WORDS, 1, 1, 0, NULL, parameters, NULL) || cuCtxSynchronize())
            return 9;
    if (cuMemcpyDtoH(words, buffer, BYTES))
        return 9;
    for (int i = 0; i < WORDS; i++)
        sum += words[i];
    printf("sum %u\n", sum);
    return 0;
}
