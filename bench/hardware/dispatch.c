/* How fast a scheduler dispatches mixed code: operands from registers, which two banks deliver, products with results
 * of two words, units side by side, constants as operands, fragments of matrices, and copies in groups. The code has no
 * dependencies that several chains do not hide. In cycles per fragment and warp of a scheduler; the parameter is the
 * number of warps of the SM: 1 is a single warp, 4 one warp for each scheduler. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

enum { PER_ROUND = 96, CHAINS = 8, OTHERS = 4, FIRST = 20, SECOND = 30 };

/* In a fragment '$' is the chain, '~' and '^' are the numbers of other registers, which no fragment near it reads. */
struct mix {
    const char *name, *fragment[4]; /* which take turns */
};

#define FFMA3 "fma.rn.f32 %f$, %f~, %f^, %f$;"
#define FFMA1 "fma.rn.f32 %f$, %f$, %fa, %fb;"
#define FADD2 "add.rn.f32 %f$, %f$, %f~;"
#define IMAD3 "mad.lo.s32 %r$, %r~, %r^, %r$;"
#define LOP3 "lop3.b32 %r$, %r$, %r~, %r^, 0xe8;"
#define LOP2 "lop3.b32 %r$, %r$, %r~, %b, 0xe8;"
#define IADD2 "add.s32 %r$, %r$, %r~;"
#define SHF1 "shf.l.wrap.b32 %r$, %r$, %a, %b;"
#define WIDE "mov.b64 {%t, %r63}, %rd$;\nmad.wide.s32 %rd$, %r63, %r^, %rd~;"
#define PLACE "mov.b64 {%t, %r63}, %rd$;\nmad.wide.s32 %rd$, %r63, 20, %rd~;"
#define DFMA3 "fma.rn.f64 %d$, %d~, %d^, %d$;"
#define DFMA1 "fma.rn.f64 %d$, %d$, %da, %db;"

/* One register, and a constant in the instruction. */
#define FMULI "mul.rn.f32 %f$, %f$, 0f3F800001;"
#define IMULI "mul.lo.s32 %r$, %r$, %r20;"
#define SHFI "shf.l.wrap.b32 %r$, %r$, %r$, 7;"
#define WIDEI "mov.b64 {%t, %r63}, %rd$;\nmul.wide.u32 %rd$, %r63, 12345;"

static const struct mix mix[] = {
    {"fmuli", {FMULI}},
    {"imuli", {IMULI}},
    {"shfi", {SHFI}},
    {"widei", {WIDEI}},
    {"fmuli_imuli", {FMULI, IMULI}},
    {"fmuli_fmuli_imuli", {FMULI, FMULI, IMULI}},
    {"fmuli_fmuli_fmuli_imuli", {FMULI, FMULI, FMULI, IMULI}},
    {"imuli_shfi", {IMULI, SHFI}},
    {"fmuli_shfi", {FMULI, SHFI}},
    {"fmuli_imuli_shfi", {FMULI, IMULI, SHFI}},
    {"widei_fmuli", {WIDEI, FMULI}},
    {"widei_fmuli_fmuli", {WIDEI, FMULI, FMULI}},
    {"widei_fmuli_fmuli_fmuli", {WIDEI, FMULI, FMULI, FMULI}},
    {"widei_imuli", {WIDEI, IMULI}},
    {"widei_shfi", {WIDEI, SHFI}},
    {"widei_shfi_shfi", {WIDEI, SHFI, SHFI}},
    {"ffma3", {FFMA3}},
    {"ffma2", {"fma.rn.f32 %f$, %f~, %fa, %f$;"}},
    {"fadd2", {FADD2}},
    {"imad3", {IMAD3}},
    {"imad2", {"mad.lo.s32 %r$, %r~, %a, %r$;"}},
    {"lop3", {LOP3}},
    {"lop2", {LOP2}},
    {"iadd3", {"add.s32 %t, %r~, %r^;\nadd.s32 %r$, %r$, %t;"}},
    {"iadd2", {IADD2}},
    {"shf3", {"shf.l.wrap.b32 %r$, %r$, %r~, %r^;"}},
    {"dfma3", {DFMA3}},
    {"dadd2", {"add.rn.f64 %d$, %d$, %d~;"}},
    {"hfma3", {"fma.rn.f16x2 %r$, %r~, %r^, %r$;"}},
    {"wide", {WIDE}},
    {"place", {PLACE}},
    {"imul_hi", {"mul.hi.s32 %r$, %r$, %r~;"}},
    {"add64", {"add.s64 %rd$, %rd$, %rd~;"}},
    {"ffma3_lop3", {FFMA3, LOP3}},
    {"ffma3_imad3", {FFMA3, IMAD3}},
    {"ffma3_lop3_imad3", {FFMA3, LOP3, IMAD3}},
    {"ffma3_fadd2", {FFMA3, FADD2}},
    {"ffma3_ffma1", {FFMA3, FFMA1}},
    {"imad3_lop3", {IMAD3, LOP3}},
    {"imad3_lop2", {IMAD3, LOP2}},
    {"ffma3_shf1", {FFMA3, SHF1}},
    {"wide_ffma1", {WIDE, FFMA1}},
    {"wide_ffma1_ffma1", {WIDE, FFMA1, FFMA1}},
    {"wide_ffma1_ffma1_ffma1", {WIDE, FFMA1, FFMA1, FFMA1}},
    {"wide_shf1", {WIDE, SHF1}},
    {"place_lop2", {PLACE, LOP2}},
    {"place_ffma3", {PLACE, FFMA3}},
    {"place_ffma3_iadd2", {PLACE, FFMA3, IADD2}},
    {"place_fadd2_fadd2", {PLACE, FADD2, FADD2}},
    {"dfma3_ffma3", {DFMA3, FFMA3}},
    {"dfma1_ffma1", {DFMA1, FFMA1}},
    {"dfma3_imad3", {DFMA3, IMAD3}},
    {"dfma1_shf1", {DFMA1, SHF1}},
    {"dfma3_ffma3_ffma3_ffma3", {DFMA3, FFMA3, FFMA3, FFMA3}},
    {"fsetp_fsel", {"setp.lt.f32 %p0, %f~, %f^;\nselp.f32 %f$, %f$, %f~, %p0;"}},
    {"fmnmx_ffma3", {"min.f32 %f$, %f$, %f~;", FFMA3}},
    {"isetp_guarded", {"setp.lt.s32 %p0, %r~, %r^;\n@%p0 add.s32 %r$, %r$, %r~;"}},
    {"ex2_ffma3_x3", {"ex2.approx.ftz.f32 %f$, %f$;", FFMA3, FFMA3, FFMA3}},
    {"i2f", {"cvt.rn.f32.s32 %f16, %r$;\nadd.s32 %r$, %r$, %r~;\nadd.rn.f32 %f$, %f$, %f16;"}},
    {"f2i", {"cvt.rzi.s32.f32 %r16, %f$;\nadd.rn.f32 %f$, %f$, %f~;\nxor.b32 %r$, %r$, %r16;"}},
    {"round", {"cvt.rni.f32.f32 %f16, %f$;\nadd.rn.f32 %f$, %f16, %f~;"}},
    {"short", {"cvt.u32.u16 %r16, %h0;\ncvt.u16.u32 %h0, %r$;\nadd.s32 %r$, %r$, %r16;"}},
    {"half_to_single",
     {"mov.b32 {%h0, %h1}, %r$;\ncvt.f32.f16 %f16, %h0;\nadd.rn.f32 %f$, %f$, %f16;\nadd.s32 %r$, %r$, %r~;"}},
    {"single_to_half",
     {"cvt.rn.f16.f32 %h0, %f$;\ncvt.u32.u16 %r16, %h0;\nxor.b32 %r$, %r$, %r16;\nadd.rn.f32 %f$, %f$, %f~;"}},
};

static void add_fragment(struct text *body, const char *fragment, unsigned i) {
    for (const char *c = fragment; *c; c++)
        if (*c == '$')
            text_add(body, "%u", i % CHAINS);
        else if (*c == '~')
            text_add(body, "%u", FIRST + (i + i / 4) % OTHERS);
        else if (*c == '^')
            text_add(body, "%u", SECOND + (i * 3 + i / 16) % OTHERS);
        else
            text_add(body, "%c", *c);
    text_add(body, "\n");
}

/* Registers of the kinds that the fragment names. */
static void add_registers(const char *fragment, struct text *setup, struct text *tail) {
    bool has_words = strstr(fragment, "%r$") || strstr(fragment, "%r~") || strstr(fragment, "%r^") ||
                     strstr(fragment, "%r2") || strstr(fragment, "%r0"),
         has_pairs = strstr(fragment, "%rd"), has_singles = strstr(fragment, "%f"),
         has_doubles = strstr(fragment, "%d");
    text_add(setup, "mov.u16 %%h0, 3;\n");
    for (unsigned i = 0; i < SECOND + OTHERS; i++) {
        bool is_chain = i < CHAINS;
        if (!is_chain && (i < FIRST || (i >= FIRST + OTHERS && i < SECOND)))
            continue;
        text_add(setup, "mad.lo.u32 %%t, %%lane, %u, %%a;\n", i);
        if (has_words)
            text_add(setup, "mov.u32 %%r%u, %%t;\n", i);
        if (has_pairs)
            text_add(setup, "mad.wide.u32 %%rd%u, %%t, %%gtid, %%times;\n", i);
        if (has_singles)
            text_add(setup, "cvt.rn.f32.u32 %%f%u, %%t;\n", i);
        if (has_doubles)
            text_add(setup, "cvt.rn.f64.u32 %%d%u, %%t;\n", i);
        if (has_words && is_chain)
            text_add(tail, "xor.b32 %%sink, %%sink, %%r%u;\n", i);
        if (has_pairs && is_chain)
            text_add(tail,
                     "mov.b64 {%%t, %%r63}, %%rd%u;\nxor.b32 %%sink, %%sink, %%t;\nxor.b32 %%sink, %%sink, %%r63;\n",
                     i);
        if (has_singles && is_chain)
            text_add(tail, "xor.b32 %%sink, %%sink, %%f%u;\n", i);
        if (has_doubles && is_chain)
            text_add(tail,
                     "mov.b64 {%%t, %%r63}, %%d%u;\nxor.b32 %%sink, %%sink, %%t;\nxor.b32 %%sink, %%sink, %%r63;\n", i);
    }
}

static void run_warps(struct bench *bench, const char *name, const struct bench_source *source, unsigned n) {
    unsigned rounds = bench->is_quick ? 4 : 32;
    struct bench_kernel kernel = bench_compile(bench, source);
    for (unsigned warps = 1; warps <= 32; warps = warps < 4 ? 4 : 4 * warps > 32 && warps < 32 ? 32 : 4 * warps) {
        struct bench_launch launch = {.blocks = 1, .threads = warps * 32, .rounds = rounds};
        unsigned of_scheduler = warps < 4 ? 1 : warps / 4;
        bench_print_number(name, warps, bench_run(bench, kernel, launch, NULL) / ((double)n * rounds * of_scheduler));
    }
    bench_unload(kernel);
}

static void mixes(struct bench *bench) {
    for (size_t k = 0; k < sizeof mix / sizeof *mix; k++) {
        char name[64];
        struct text setup = {0}, body = {0}, tail = {0};
        unsigned n = 0;
        snprintf(name, sizeof name, "mix_%s", mix[k].name);
        if (!bench_wants(bench, name))
            continue;
        while (n < 4 && mix[k].fragment[n])
            n++;
        struct text all = {0};
        for (unsigned i = 0; i < n; i++)
            text_add(&all, "%s", mix[k].fragment[i]);
        add_registers(all.at, &setup, &tail);
        text_free(&all);
        for (unsigned i = 0; i < PER_ROUND; i++)
            add_fragment(&body, mix[k].fragment[i % n], i);
        run_warps(
            bench, name,
            &(struct bench_source){.directives = ".maxntid 1024", .setup = setup.at, .body = body.at, .tail = tail.at},
            PER_ROUND);
        text_free(&setup);
        text_free(&body);
        text_free(&tail);
    }
}

/* Latencies: one chain, one warp. */
static void chains(struct bench *bench) {
    static const struct {
        const char *name, *fragment;
    } chain[] = {
        {"wide_sum", "mov.b64 {%t, %r63}, %rd0;\nmad.wide.s32 %rd0, %r63, %r20, %rd20;"},
        {"wide_factor", "mov.b64 {%t, %r63}, %rd0;\nmul.wide.u32 %rd0, %r63, %r20;"},
        {"imul_hi", "mul.hi.u32 %r0, %r0, %r20;"},
        {"add64", "add.s64 %rd0, %rd0, %rd20;"},
        {"fmin", "min.f32 %f0, %f0, %f20;\nmax.f32 %f0, %f0, %f30;"},
        {"lop", "lop3.b32 %r0, %r0, %r20, %r30, 0xe8;"},
        {"ffma_fmin", "fma.rn.f32 %f0, %f0, %f20, %f30;\nmin.f32 %f0, %f0, %f30;"},
        {"hadd", "add.rn.f16x2 %r0, %r0, %r20;"},
        {"i2f_f2i", "cvt.rn.f32.s32 %f0, %r0;\ncvt.rzi.s32.f32 %r0, %f0;"},
        {"round", "cvt.rni.f32.f32 %f0, %f0;\nadd.rn.f32 %f0, %f0, %f20;"},
        {"selp", "setp.lt.f32 %p0, %f0, %f20;\nselp.f32 %f0, %f30, %f0, %p0;"},
        {"dsetp", "setp.lt.f64 %p0, %d0, %d20;\n@%p0 add.rn.f64 %d0, %d0, %d30;"},
    };
    for (size_t k = 0; k < sizeof chain / sizeof *chain; k++) {
        char name[64];
        struct text setup = {0}, body = {0}, tail = {0};
        unsigned rounds = bench->is_quick ? 4 : 32;
        snprintf(name, sizeof name, "chain_%s", chain[k].name);
        if (!bench_wants(bench, name))
            continue;
        add_registers(chain[k].fragment, &setup, &tail);
        for (unsigned i = 0; i < PER_ROUND; i++)
            text_add(&body, "%s\n", chain[k].fragment);
        struct bench_kernel kernel =
            bench_compile(bench, &(struct bench_source){.setup = setup.at, .body = body.at, .tail = tail.at});
        struct bench_launch launch = {.blocks = 1, .threads = 32, .rounds = rounds};
        bench_print_number(name, 1, bench_run(bench, kernel, launch, NULL) / (PER_ROUND * rounds));
        bench_unload(kernel);
        text_free(&setup);
        text_free(&body);
        text_free(&tail);
    }
}

/* Constants as operands: each fragment reads another word of the first `bytes` of a bank. */
static void constant_operands(struct bench *bench) {
    for (unsigned bytes = 64; bench_wants(bench, "constant_operand") && bytes <= 8192; bytes *= 2) {
        struct text setup = {0}, body = {0}, tail = {0};
        char name[64];
        unsigned n = bytes / 4 < PER_ROUND ? PER_ROUND / (bytes / 4) * (bytes / 4) : bytes / 4;
        snprintf(name, sizeof name, "constant_operand_%u_bytes", bytes);
        add_registers("%f", &setup, &tail);
        for (unsigned i = 0; i < n; i++)
            text_add(&body, "ld.const.f32 %%f16, [table+%u];\nfma.rn.f32 %%f%u, %%f%u, %%f16, %%f20;\n", i * 4 % bytes,
                     i % CHAINS, i % CHAINS);
        run_warps(bench, name,
                  &(struct bench_source){
                      .globals = ".const .b32 table[4096];\n", .setup = setup.at, .body = body.at, .tail = tail.at},
                  n);
        text_free(&setup);
        text_free(&body);
        text_free(&tail);
    }
}

/* Fragments of matrices, and what a tile of a product does. */
static const char tile[] = ".shared .align 128 .b8 tile[32768];\n";
static const char tile_start[] =
    "mov.u32 %r40, tile;\nand.b32 %r42, %gtid, 992;\nshl.b32 %r42, %r42, 4;\n"
    "add.u32 %r40, %r40, %r42;\ncvt.u64.u32 %rd42, %r42;\nadd.u64 %rd40, %data, %rd42;\n"
    "shl.b32 %r41, %lane, 4;\nadd.u32 %r41, %r41, %r40;\n"
    "cvt.u64.u32 %rd41, %r41;\nshl.b32 %t, %thread, 4;\ncvt.u64.u32 %rd43, %t;\n"
    "add.u64 %rd43, %rd43, %data;\nand.b32 %r45, %number, 0x40000000;\ncvt.u64.u32 %rd45, %r45;\n"
    "mov.u32 %r44, tile;\nadd.u32 %r44, %r44, %t;\n"
    "mov.f32 %f40, 0f00000000;\nmov.f32 %f41, %f40;\nmov.f32 %f42, %f40;\nmov.f32 %f43, %f40;\n"
    "mov.f32 %f44, %f40;\nmov.f32 %f45, %f40;\nmov.f32 %f46, %f40;\nmov.f32 %f47, %f40;\n"
    "mov.u32 %r50, 0;\nmov.u32 %r51, 0;\nmov.u32 %r52, 0;\nmov.u32 %r53, 0;\n"
    "mov.u32 %r54, 0;\nmov.u32 %r55, 0;\nmov.u32 %r56, 0;\nmov.u32 %r57, 0;\n";
static const char tile_end[] = "xor.b32 %sink, %r20, %r21;\nxor.b32 %sink, %sink, %r28;\nxor.b32 %sink, %sink, %f40;\n"
                               "xor.b32 %sink, %sink, %f47;\nxor.b32 %sink, %sink, %r40;\n";

#define EIGHT "{%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}"
#define SUMS "{%f40,%f41,%f42,%f43,%f44,%f45,%f46,%f47}"
#define ALL_OF_IT                                                                                                      \
    "xor.b32 %r28, %r20, %r21;\nxor.b32 %r29, %r22, %r23;\nxor.b32 %r28, %r28, %r24;\nxor.b32 %r29, %r29, %r25;\n"     \
    "xor.b32 %r28, %r28, %r26;\nxor.b32 %r29, %r29, %r27;\nxor.b32 %r28, %r28, %r29;\n"
#define NEXT_GLOBAL "and.b32 %r28, %r28, %r45;\ncvt.u64.u32 %rd41, %r28;\nadd.u64 %rd40, %rd40, %rd41;"
#define NEXT_SHARED "and.b32 %r28, %r28, %r45;\nadd.u32 %r40, %r40, %r28;"
#define PRODUCT "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " SUMS ", " EIGHT ", " EIGHT ", " SUMS ";"
#define STEP_GLOBAL "add.u64 %rd40, %rd40, %rd45;"
#define STEP_SHARED "add.u32 %r40, %r40, %r45;"
#define COPY(at, kind, bytes) "cp.async." kind ".shared.global [%r44+" at "], [%rd43+" at "], " bytes ";\n"

static void tiles(struct bench *bench) {
    static const struct {
        const char *name, *fragment;
    } kind[] = {
        {"wmma_load_global_16",
         "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " EIGHT ", [%rd40], 16;\n" ALL_OF_IT NEXT_GLOBAL},
        {"wmma_load_global_256",
         "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " EIGHT ", [%rd40], 256;\n" ALL_OF_IT NEXT_GLOBAL},
        {"wmma_load_global_1024",
         "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " EIGHT ", [%rd40], 1024;\n" ALL_OF_IT NEXT_GLOBAL},
        {"wmma_load_global_turned_256",
         "wmma.load.b.sync.aligned.row.m16n16k16.global.f16 " EIGHT ", [%rd40], 256;\n" ALL_OF_IT NEXT_GLOBAL},
        {"wmma_load_shared_16",
         "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " EIGHT ", [%r40], 16;\n" ALL_OF_IT NEXT_SHARED},
        {"wmma_load_shared_24",
         "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " EIGHT ", [%r40], 24;\n" ALL_OF_IT NEXT_SHARED},
        {"wmma_load_shared_64",
         "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " EIGHT ", [%r40], 64;\n" ALL_OF_IT NEXT_SHARED},
        {"wmma_load_shared_turned_64",
         "wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 " EIGHT ", [%r40], 64;\n" ALL_OF_IT NEXT_SHARED},
        {"wmma_sums_shared_16",
         "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 " EIGHT ", [%r40], 16;\n" ALL_OF_IT NEXT_SHARED},
        {"wmma_sums_global_256",
         "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 " EIGHT ", [%rd40], 256;\n" ALL_OF_IT NEXT_GLOBAL},
        {"wmma_store_shared_16", "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r40], " SUMS ", 16;"},
        {"wmma_store_global_256", "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd40], " SUMS ", 256;"},
        {"ldmatrix", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20,%r21,%r22,%r23}, [%r41];\n"
                     "xor.b32 %r28, %r20, %r21;\nxor.b32 %r29, %r22, %r23;\nxor.b32 %r28, %r28, %r29;\n"
                     "and.b32 %r28, %r28, %r45;\nadd.u32 %r41, %r41, %r28;"},
        {"ldmatrix_turned", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r20,%r21,%r22,%r23}, [%r41];\n"
                            "xor.b32 %r28, %r20, %r21;\nxor.b32 %r29, %r22, %r23;\nxor.b32 %r28, %r28, %r29;\n"
                            "and.b32 %r28, %r28, %r45;\nadd.u32 %r41, %r41, %r28;"},
        {"wmma_step_global_256",
         "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " EIGHT ", [%rd40], 256;\n" PRODUCT "\n" STEP_GLOBAL},
        {"wmma_step_shared_64",
         "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " EIGHT ", [%r40], 64;\n" PRODUCT "\n" STEP_SHARED},
        {"copy_group_1", COPY("0", "cg", "16") "cp.async.commit_group;\ncp.async.wait_group 0;"},
        {"copy_group_2",
         COPY("0", "cg", "16") COPY("16384", "cg", "16") "cp.async.commit_group;\ncp.async.wait_group 0;"},
        {"copy_group_1_ca", COPY("0", "ca", "4") "cp.async.commit_group;\ncp.async.wait_group 0;"},
        {"copy_group_behind", COPY("0", "cg", "16") "cp.async.commit_group;\ncp.async.wait_group 1;"},
        {"copy_group_barrier", COPY("0", "cg", "16") "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;"},
        {"copy_group_barrier_behind",
         COPY("0", "cg", "16") "cp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;"},
    };
    enum { STEPS = 16 };
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        char name[64];
        struct text setup = {0}, body = {0};
        snprintf(name, sizeof name, "tile_%s", kind[k].name);
        if (!bench_wants(bench, name))
            continue;
        text_add(&setup, "%s", tile_start);
        for (unsigned r = 20; r < 30; r++)
            text_add(&setup, "mov.u32 %%r%u, 0;\n", r);
        for (unsigned i = 0; i < STEPS; i++)
            text_add(&body, "%s\n", kind[k].fragment);
        run_warps(bench, name,
                  &(struct bench_source){.version = "7.8",
                                         .target = "sm_80",
                                         .globals = tile,
                                         .setup = setup.at,
                                         .body = body.at,
                                         .tail = tile_end},
                  STEPS);
        text_free(&setup);
        text_free(&body);
    }
}

/* Shared memory at places without order among `words`: loads, stores and atomics that count. */
static void random_places(struct bench *bench) {
    static const struct {
        const char *name, *fragment;
    } kind[] = {
        {"load", "ld.shared.u32 %r$, [%r61];\nxor.b32 %r60, %r60, %r$;"},
        {"store", "st.shared.u32 [%r61], %r60;"},
        {"count", "red.shared.add.u32 [%r61], 1;"},
        {"add", "red.shared.add.u32 [%r61], %a;"},
        {"add_read", "atom.shared.add.u32 %r$, [%r61], %a;\nxor.b32 %r60, %r60, %r$;"},
    };
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        for (unsigned words = 16; words <= 4096; words *= 16) {
            char name[64];
            struct text body = {0};
            snprintf(name, sizeof name, "random_shared_%s_%u", kind[k].name, words);
            if (!bench_wants(bench, name))
                continue;
            for (unsigned i = 0; i < 16; i++) {
                text_add(&body,
                         "mad.lo.u32 %%r62, %%r62, 1664525, 1013904223;\nshr.u32 %%r61, %%r62, 18;\n"
                         "and.b32 %%r61, %%r61, %u;\nadd.u32 %%r61, %%r61, %%r59;\n",
                         (words - 1) * 4);
                text_add_numbered(&body, kind[k].fragment, i % 8);
            }
            run_warps(bench, name,
                      &(struct bench_source){.globals = tile,
                                             .setup = "mov.u32 %r60, 0;\nmov.u32 %r59, tile;\n"
                                                      "mul.lo.u32 %r62, %gtid, 747796405;\n",
                                             .body = body.at,
                                             .tail = "xor.b32 %sink, %r60, %r62;\n"},
                      16);
            text_free(&body);
        }
}

/* Straight code that runs for the first time, on all SMs; cycles from its start to its end. */
static void first_straight(struct bench *bench) {
    for (unsigned n = 256; n <= 1024; n *= 4)
        for (unsigned warps = 1; warps <= 32; warps *= 2) {
            struct text body = {0}, setup = {0}, tail = {0};
            char name[64];
            snprintf(name, sizeof name, "straight_%u", n);
            if (!bench_wants(bench, name))
                break;
            add_registers("%f", &setup, &tail);
            for (unsigned i = 0; i < n; i++)
                text_add(&body, "fma.rn.f32 %%f%u, %%f%u, %%fa, %%fb;\n", i % CHAINS, i % CHAINS);
            struct bench_kernel kernel =
                bench_compile(bench, &(struct bench_source){.setup = setup.at, .body = body.at, .tail = tail.at});
            struct bench_launch launch = {.blocks = bench->n_sms, .threads = warps * 32, .rounds = 1, .passes = 1};
            bench_print_number(name, warps, bench_run(bench, kernel, launch, NULL));
            snprintf(name, sizeof name, "again_straight_%u", n);
            bench_print_number(name, warps, bench_run(bench, kernel, launch, NULL));
            bench_unload(kernel);
            text_free(&body);
            text_free(&setup);
            text_free(&tail);
        }
}

void bench_dispatch(struct bench *bench) {
    mixes(bench);
    chains(bench);
    constant_operands(bench);
    tiles(bench);
    random_places(bench);
    first_straight(bench);
}
