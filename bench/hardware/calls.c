/* Calls of functions: arguments, registers that a function saves; and how soon a warp issues
 * the next access to memory. */
#include "bench.h"

#include <stdio.h>
#include <string.h>

enum { PER_ROUND = 8, MOST_WARPS = 16 };

static const char setup[] = "add.u32 %r0, %lane, %a;\n";
static const char tail[] = "mov.b32 %sink, %r0;\n";

static unsigned rounds_of(const struct bench *bench) { return bench->is_quick ? 4 : 64; }

/* Runs the kernel with 1, 4 and 16 warps of an SM. */
static void run(struct bench *bench, const char *name, const struct bench_source *source, unsigned parameter,
                unsigned number, unsigned per_round) {
    struct bench_kernel kernel = bench_compile(bench, source);
    for (unsigned warps = 1; warps <= MOST_WARPS; warps *= 4) {
        struct bench_launch launch = {.blocks = 1, .threads = 32 * warps, .rounds = rounds_of(bench), .number = number};
        char full[64];
        snprintf(full, sizeof full, "%s_%u_warps", name, warps);
        bench_print_number(full, parameter,
                           bench_run(bench, kernel, launch, NULL) / ((double)per_round * launch.rounds));
    }
    bench_unload(kernel);
}

/* Adds a call of `callee`, a name or a register, that passes n words and puts the result into %r0. */
static void add_call(struct text *body, const char *callee, const char *prototype, unsigned n) {
    text_add(body, "{\n.param .b32 result;\n");
    for (unsigned i = 0; i < n; i++)
        text_add(body, ".param .b32 a%u;\n", i);
    for (unsigned i = 0; i < n; i++)
        text_add(body, "st.param.b32 [a%u], %s;\n", i, i == 0 ? "%r0" : i == 1 ? "%number" : "%r1");
    text_add(body, "call (result), %s, (", callee);
    for (unsigned i = 0; i < n; i++)
        text_add(body, "%sa%u", i ? ", " : "", i);
    text_add(body, ")%s%s;\nld.param.b32 %%r0, [result];\n}\n", *prototype ? ", " : "", prototype);
}

static void add_head(struct text *text, const char *name, unsigned n) {
    text_add(text, ".func (.param .b32 result) %s(", name);
    for (unsigned i = 0; i < n; i++)
        text_add(text, "%s.param .b32 p%u", i ? ", " : "", i);
    text_add(text, ")");
}

/* A function that adds its words. */
static void add_sum(struct text *text, const char *name, unsigned n) {
    add_head(text, name, n);
    text_add(text, "\n{\n.reg .b32 %%x<%u>;\nld.param.b32 %%x0, [p0];\n", n + 1);
    for (unsigned i = 1; i < n; i++)
        text_add(text, "ld.param.b32 %%x%u, [p%u];\nadd.u32 %%x0, %%x0, %%x%u;\n", i, i, i);
    text_add(text, "st.param.b32 [result], %%x0;\nret;\n}\n");
}

/* Calls of a function of 1, 4 and 8 words, by its name and through a pointer. */
static void arguments(struct bench *bench, const char *name, bool is_pointer) {
    if (!bench_wants(bench, name))
        return;
    for (unsigned n = 1; n <= 8; n = n == 1 ? 4 : 2 * n) {
        struct text globals = {0}, body = {0}, before = {0};
        add_sum(&globals, "add_up", n);
        text_add(&before, "%smov.b32 %%r1, %%lane;\n", setup);
        if (is_pointer) {
            add_sum(&globals, "add_more", n);
            text_add(&globals, ".global .align 8 .u64 sums[2] = {add_up, add_more};\n");
            text_add(&before, "cvt.u64.u32 %%rd0, %%number;\nmul.lo.u64 %%rd0, %%rd0, 8;\nmov.u64 %%rd1, sums;\n"
                              "add.u64 %%rd0, %%rd0, %%rd1;\nld.global.u64 %%rd2, [%%rd0];\nsum_of: .callprototype "
                              "(.param .b32 _) _ (");
            for (unsigned i = 0; i < n; i++)
                text_add(&before, "%s.param .b32 _", i ? ", " : "");
            text_add(&before, ");\n");
        }
        for (unsigned i = 0; i < PER_ROUND; i++)
            add_call(&body, is_pointer ? "%rd2" : "add_up", is_pointer ? "sum_of" : "", n);
        struct bench_source source = {.globals = globals.at, .setup = before.at, .body = body.at, .tail = tail};
        run(bench, name, &source, n, 0, PER_ROUND);
        text_free(&globals);
        text_free(&body);
        text_free(&before);
    }
}

/* A function that calls itself DEPTH times, and needs n words after that. */
static void recursion(struct bench *bench) {
    enum { DEPTH = 16 };
    static const unsigned words[] = {0, 4, 8}; /* more exceed the stack, 1 KB */
    if (!bench_wants(bench, "calls_recursion"))
        return;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        unsigned n = words[k];
        struct text globals = {0}, body = {0};
        add_head(&globals, "again", 2);
        text_add(&globals, ";\n");
        add_head(&globals, "again", 2);
        text_add(&globals, "\n{\n.reg .b32 %%x, %%d, %%y, %%e, %%r, %%v<%u>;\n.reg .pred %%p;\n", n + 1);
        text_add(&globals, "ld.param.b32 %%x, [p0];\nld.param.b32 %%d, [p1];\nmov.b32 %%r, %%x;\n"
                           "setp.eq.u32 %%p, %%d, 0;\n@%%p bra END;\nadd.u32 %%y, %%x, 1;\nsub.u32 %%e, %%d, 1;\n");
        for (unsigned i = 0; i < n; i++)
            text_add(&globals, "mad.lo.u32 %%v%u, %%x, %u, %%d;\n", i, 2 * i + 3);
        text_add(&globals, "{\n.param .b32 a;\n.param .b32 b;\n.param .b32 c;\nst.param.b32 [a], %%y;\n"
                           "st.param.b32 [b], %%e;\ncall (c), again, (a, b);\nld.param.b32 %%r, [c];\n}\n");
        for (unsigned i = 0; i < n; i++)
            text_add(&globals, "xor.b32 %%r, %%r, %%v%u;\n", i);
        text_add(&globals, "END:\nst.param.b32 [result], %%r;\nret;\n}\n");
        add_call(&body, "again", "", 2);
        struct bench_source source = {.globals = globals.at, .setup = setup, .body = body.at, .tail = tail};
        run(bench, "calls_recursion", &source, n, DEPTH, DEPTH);
        text_free(&globals);
        text_free(&body);
    }
}

/* n independent accesses of a warp that follow each other directly. */
static void accesses(struct bench *bench) {
    static const struct {
        const char *name, *access, *value;
    } kind[] = {{"row_load_shared", "ld.shared.u32", NULL},      {"row_load_local", "ld.local.u32", NULL},
                {"row_load_global", "ld.global.u32", NULL},      {"row_store_shared", "st.shared.u32", "%r0"},
                {"row_store_local", "st.local.u32", "%r0"},      {"row_load16_shared", "ld.shared.v4.u32", NULL},
                {"row_load16_global", "ld.global.v4.u32", NULL}, {"row_store_global", "st.global.u32", "%r0"}};
    enum { STRIDE = 1024 };
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        if (!bench_wants(bench, kind[k].name))
            continue;
        bool is_wide = strstr(kind[k].name, "16"), is_local = strstr(kind[k].name, "local");
        for (unsigned n = 4; n <= (is_wide ? 8 : 32); n *= 2) {
            struct text body = {0}, before = {0};
            const char *base = is_local                         ? "mov.u64 %rd0, own;\n"
                               : strstr(kind[k].name, "global") ? "mov.u64 %rd0, %data;\n"
                                                                : "mov.u64 %rd0, area;\n";
            text_add(&before, "%s.local .align 16 .b8 own[%u];\n%s", setup, 32 * 16, base);
            if (!is_local)
                text_add(&before, "mul.wide.u32 %%rd1, %%lane, %u;\nadd.u64 %%rd0, %%rd0, %%rd1;\n", is_wide ? 16 : 4);
            text_add(&before, "cvt.u64.u32 %%rd2, %%number;\n");
            for (unsigned i = 0; is_local && i < n; i++)
                text_add(&before, "st.local.u32 [%%rd0+%u], %%r0;\n", 16 * i);
            text_add(&body, "add.u64 %%rd0, %%rd0, %%rd2;\n");
            for (unsigned i = 0; i < n; i++) {
                unsigned offset = i * (is_local ? 16 : STRIDE);
                if (kind[k].value)
                    text_add(&body, "%s [%%rd0+%u], %s;\n", kind[k].access, offset, kind[k].value);
                else if (is_wide)
                    text_add(&body, "%s {%%r%u, %%r%u, %%r%u, %%r%u}, [%%rd0+%u];\n", kind[k].access, 4 * i + 1,
                             4 * i + 2, 4 * i + 3, 4 * i + 4, offset);
                else
                    text_add(&body, "%s %%r%u, [%%rd0+%u];\n", kind[k].access, i + 1, offset);
            }
            for (unsigned i = 0; !kind[k].value && i < n; i++)
                text_add(&body, "xor.b32 %%r0, %%r0, %%r%u;\n", is_wide ? 4 * i + 1 : i + 1);
            struct bench_source source = {
                .globals = ".shared .align 16 .b8 area[33792];\n", .setup = before.at, .body = body.at, .tail = tail};
            run(bench, kind[k].name, &source, n, 0, 1);
            text_free(&body);
            text_free(&before);
        }
    }
}

void bench_calls(struct bench *bench) {
    arguments(bench, "calls_name", false);
    arguments(bench, "calls_pointer", true);
    recursion(bench);
    accesses(bench);
}
