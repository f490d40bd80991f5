/* Latency of arithmetic: one warp, one chain. Issue rate of a warp: eight chains. Throughput of an SM: 32 warps with
 * four chains each. Units side by side: chains of two kinds. All in cycles per fragment and warp. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

struct operation {
    const char *name, *chain, *fragment;
};

static const struct operation operation[] = {
#define OPERATION(name, chain, fragment) {name, chain, fragment},
#include "operations.def"
#undef OPERATION
};
enum { N_OPERATIONS = sizeof operation / sizeof *operation, PER_ROUND = 64, MOST_CHAINS = 8 };

static const struct operation *find(const char *name) {
    for (int i = 0; i < N_OPERATIONS; i++)
        if (!strcmp(operation[i].name, name))
            return &operation[i];
    return NULL;
}

static void add_setup(struct text *setup, const char *chain, unsigned number) {
    if (!strcmp(chain, "f"))
        text_add(setup, "add.u32 %%t, %%lane, %u;\ncvt.rn.f32.u32 %%f%u, %%t;\n", number, number);
    else if (!strcmp(chain, "d"))
        text_add(setup, "add.u32 %%t, %%lane, %u;\ncvt.rn.f64.u32 %%d%u, %%t;\n", number, number);
    else if (!strcmp(chain, "rd"))
        text_add(setup, "add.u32 %%t, %%lane, %u;\ncvt.u64.u32 %%rd%u, %%t;\n", number, number);
    else
        text_add(setup, "add.u32 %%r%u, %%lane, %u;\n", number, number);
}

static void add_tail(struct text *tail, const char *chain, unsigned number) {
    if (!strcmp(chain, "d") || !strcmp(chain, "rd"))
        text_add(tail, "mov.b64 {%%t, %%r63}, %%%s%u;\nxor.b32 %%sink, %%sink, %%t;\nxor.b32 %%sink, %%sink, %%r63;\n",
                 chain, number);
    else
        text_add(tail, "xor.b32 %%sink, %%sink, %%%s%u;\n", chain, number);
}

/* `second` may be NULL: then all chains are of the first kind, otherwise they take turns. */
static double measure(struct bench *bench, const struct operation *first, const struct operation *second,
                      unsigned chains, unsigned warps) {
    struct text setup = {0}, body = {0}, tail = {0};
    unsigned rounds = bench->is_quick ? 8 : 64;
    for (unsigned i = 0; i < chains; i++) {
        const struct operation *one = second && i % 2 ? second : first;
        add_setup(&setup, one->chain, i);
        add_tail(&tail, one->chain, i);
    }
    for (unsigned i = 0; i < PER_ROUND; i++)
        text_add_numbered(&body, (second && i % 2 ? second : first)->fragment, i % chains);
    struct bench_source source = {.setup = setup.at, .body = body.at, .tail = tail.at};
    struct bench_kernel kernel = bench_compile(bench, &source);
    double cycles =
        bench_run(bench, kernel, (struct bench_launch){.blocks = 1, .threads = warps * 32, .rounds = rounds}, NULL);
    bench_unload(kernel);
    text_free(&setup);
    text_free(&body);
    text_free(&tail);
    return cycles / (PER_ROUND * (double)rounds * warps);
}

static const char *const pair[][2] = {
    {"ffma", "iadd_xor"}, {"ffma", "imad"},        {"ffma", "dfma"},      {"ffma", "ex2_approx"},
    {"iadd_xor", "imad"}, {"ffma", "popc"},        {"iadd_xor", "popc"},  {"ex2_approx", "popc"},
    {"ffma", "shfl"},     {"dfma", "iadd_xor"},    {"ffma", "shf"},       {"ex2_approx", "i2f_f2i"},
    {"dadd", "dmul"},     {"dfma", "shf"},         {"dfma", "imad"},      {"dfma", "ex2_approx"},
    {"dfma", "shfl"},     {"shfl", "shf"},         {"shf", "ex2_approx"}, {"imad", "shf"},
    {"imad_wide", "shf"}, {"add_u64_xor", "ffma"}, {"warpid", "ffma"},    {"warpid", "imad"},
};

void bench_arithmetic(struct bench *bench) {
    char name[64];
    for (int i = 0; i < N_OPERATIONS; i++) {
        const struct operation *one = &operation[i];
        snprintf(name, sizeof name, "op_%s", one->name);
        if (!bench_wants(bench, name))
            continue;
        bench_print(name, "latency", measure(bench, one, NULL, 1, 1));
        bench_print(name, "one_warp", measure(bench, one, NULL, MOST_CHAINS, 1));
        bench_print(name, "full_sm", measure(bench, one, NULL, MOST_CHAINS / 2, 32));
    }
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        snprintf(name, sizeof name, "pair_%s+%s", pair[i][0], pair[i][1]);
        if (bench_wants(bench, name))
            bench_print(name, "full_sm", measure(bench, find(pair[i][0]), find(pair[i][1]), 4, 32));
    }
}
