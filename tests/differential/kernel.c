/* The kernel around a random body: it loads registers from the thread's slice of memory and stores them at the end,
 * together with the thread's part of shared and local memory. */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#include "layout.h"

void program_add_header(struct text *module) { text_add(module, ".version 8.3\n.target sm_90\n.address_size 64\n"); }

static void add_declarations(const struct program *p, struct text *text) {
    text_add(text, "    .reg .pred %%q, %%isnan;\n    .reg .b16 %%half<2>;\n    .reg .b32 %%w<2>, %%c<4>, %%here, "
                   "%%there, %%thread;\n"
                   "    .reg .b32 %%mine, %%slice, %%pool, %%fold<8>;\n"
                   "    .reg .b64 %%a<2>, %%in, %%out, %%scratch, %%common, %%trace, %%value, %%number;\n");
    for (enum kind kind = 0; kind < N_KINDS; kind++)
        if (kind == KIND_PRED)
            text_add(text, "    .reg .pred %%p<%u>;\n", kinds[kind].count);
        else
            text_add(text, "    .reg .b%u %%%c<%u>;\n", kinds[kind].bits, kinds[kind].letter, kinds[kind].count);
    if (p->uses_shared)
        text_add(text, "    .shared .align 16 .b8 block[%u];\n", LAYOUT_SHARED_BYTES);
    if (p->uses_local)
        text_add(text, "    .local .align 16 .b8 array[%u];\n", LAYOUT_LOCAL);
}

static void add_constants(const struct program *p, struct text *text) {
    struct random random = random_stream(p->seed, p->number, 2);
    text_add(text, "    .const .align 16 .b32 table[%u] = {", LAYOUT_CONST / 4);
    for (unsigned i = 0; i < LAYOUT_CONST / 4; i++)
        text_add(text, "%s%u", i ? ", " : "", (unsigned)edge_value(&random, i % 2 ? KIND_I32 : KIND_F32));
    text_add(text, "};\n");
}

static void add_addresses(const struct program *p, struct text *text) {
    text_add(text,
             "    mov.u32 %%w0, %%ctaid.x;\n    mov.u32 %%w1, %%tid.x;\n    mad.lo.u32 %%thread, %%w0, %u, %%w1;\n"
             "    ld.param.u64 %%a0, [memory];\n    cvta.to.global.u64 %%a0, %%a0;\n"
             "    mad.wide.u32 %%in, %%thread, %u, %%a0;\n    add.u64 %%out, %%in, %u;\n"
             "    mad.wide.u32 %%scratch, %%thread, %u, %%a0;\n    add.u64 %%scratch, %%scratch, %u;\n"
             "    add.u64 %%common, %%a0, %u;\n",
             LAYOUT_BLOCK_THREADS, LAYOUT_REGISTERS, LAYOUT_AT_OUT - LAYOUT_AT_IN, LAYOUT_SCRATCH, LAYOUT_AT_SCRATCH,
             LAYOUT_AT_COMMON);
    if (p->is_traced)
        text_add(text, "    ld.param.u64 %%a1, [trace];\n    mad.wide.u32 %%trace, %%thread, %u, %%a1;\n",
                 LAYOUT_TRACE_ENTRIES * LAYOUT_TRACE_ENTRY);
}

/* Vectors of at most 16 bytes, 16-bit registers four at a time. */
static void add_registers(struct text *text, bool is_store) {
    for (enum kind kind = 0; kind < N_KINDS; kind++) {
        const struct kind_info *info = &kinds[kind];
        unsigned step = info->bits == 64 ? 2 : 4;
        if (kind == KIND_PRED)
            continue;
        for (unsigned i = 0; i < info->count; i += step) {
            struct text vector = {0};
            for (unsigned k = i; k < i + step; k++)
                text_add(&vector, "%s%%%c%u", k > i ? ", " : "", info->letter, k);
            unsigned offset = info->offset + i * info->bits / 8;
            if (is_store)
                text_add(text, "    st.global.v%u.b%u [%%out+%u], {%s};\n", step, info->bits, offset, vector.data);
            else
                text_add(text, "    ld.global.v%u.b%u {%s}, [%%in+%u];\n", step, info->bits, vector.data, offset);
            text_free(&vector);
        }
    }
}

static void add_start(const struct program *p, struct text *text) {
    add_registers(text, false);
    text_add(text, "    ld.global.b32 %%w0, [%%in+%u];\n", kinds[KIND_PRED].offset);
    for (unsigned i = 0; i < kinds[KIND_PRED].count; i++)
        text_add(text, "    and.b32 %%w1, %%w0, %u;\n    setp.ne.u32 %%p%u, %%w1, 0;\n", 1u << i, i);
    if (p->uses_local)
        text_add(text, "    st.local.v4.b32 [array], {%%r0, %%r1, %%f0, %%x0};\n"
                       "    st.local.v4.b32 [array+16], {%%r2, %%r3, %%f1, %%y0};\n");
    if (!p->uses_shared)
        return;
    text_add(
        text,
        "    mov.u32 %%w0, block;\n    mov.u32 %%w1, %%tid.x;\n    mad.lo.u32 %%mine, %%w1, 8, %%w0;\n"
        "    mad.lo.u32 %%slice, %%w1, %u, %%w0;\n    add.u32 %%slice, %%slice, %u;\n    add.u32 %%pool, %%w0, %u;\n"
        "    st.shared.v4.b32 [%%slice], {%%r4, %%f2, %%r5, %%x1};\n    st.shared.b64 [%%mine], %%l0;\n"
        "    setp.lt.u32 %%q, %%w1, %u;\n    mad.lo.u32 %%w1, %%w1, 4, %%pool;\n    @%%q st.shared.b32 [%%w1], %%r6;\n"
        "    bar.sync 0;\n",
        LAYOUT_SHARED_SLICE, LAYOUT_SHARED_AT_SLICES, LAYOUT_SHARED_AT_COMMON, LAYOUT_SHARED_COMMON / 4);
}

static void add_end(const struct program *p, struct text *text) {
    add_registers(text, true);
    text_add(text, "    mov.u32 %%w0, 0;\n");
    for (unsigned i = 0; i < kinds[KIND_PRED].count; i++)
        text_add(text, "    selp.u32 %%w1, %u, 0, %%p%u;\n    or.b32 %%w0, %%w0, %%w1;\n", 1u << i, i);
    text_add(text, "    st.global.b32 [%%out+%u], %%w0;\n", kinds[KIND_PRED].offset);
    if (p->uses_local) {
        text_add(text, "    ld.local.v4.b32 {%%fold0, %%fold1, %%fold2, %%fold3}, [array];\n"
                       "    ld.local.v4.b32 {%%fold4, %%fold5, %%fold6, %%fold7}, [array+16];\n");
        for (unsigned i = 0; i < 4; i++)
            text_add(text, "    mad.lo.u32 %%fold%u, %%fold%u, 3, %%fold%u;\n", i, i, i + 4);
        text_add(text, "    st.global.v4.b32 [%%scratch+%u], {%%fold0, %%fold1, %%fold2, %%fold3};\n", LAYOUT_OPEN);
    }
    if (p->uses_shared && !p->has_exits && !p->has_recursion)
        text_add(text,
                 "    bar.sync 0;\n    ld.shared.v4.b32 {%%fold0, %%fold1, %%fold2, %%fold3}, [%%slice];\n"
                 "    mov.u32 %%w1, %%tid.x;\n    and.b32 %%w1, %%w1, %u;\n    mad.lo.u32 %%w1, %%w1, 4, %%pool;\n"
                 "    ld.shared.b32 %%fold4, [%%w1];\n    mad.lo.u32 %%fold0, %%fold0, 3, %%fold4;\n"
                 "    st.global.v4.b32 [%%scratch+%u], {%%fold0, %%fold1, %%fold2, %%fold3};\n",
                 LAYOUT_SHARED_COMMON / 4 - 1, LAYOUT_OPEN + 16);
    text_add(text, "    ret;\n}\n");
}

static void make_body(struct program *p) {
    bool is_structured = random_chance(&p->random, 40);
    if (is_structured)
        program_add_functions(p);
    p->is_uniform = !p->has_recursion;
    for (enum kind kind = 0; kind < N_KINDS; kind++) {
        p->count[kind] = kinds[kind].count;
        p->unread[kind] = (1u << kinds[kind].count) - 1;
    }
    program_emit_nothing(p);
    if (is_structured) {
        program_emit_block(p, 12 + random_below(&p->random, 20));
        return;
    }
    for (unsigned n = 10 + random_below(&p->random, 26); n > 0; n--)
        program_emit_any(p);
}

void program_make(struct program *p, uint64_t seed, uint64_t number, bool is_traced, struct text *module) {
    *p = (struct program){.seed = seed,
                          .number = number,
                          .random = random_stream(seed, number, 0),
                          .is_traced = is_traced,
                          .multiplicity = 1,
                          .traced = text_resize(NULL, MAX_TRACED * sizeof *p->traced)};
    make_body(p);
    if (p->functions.data)
        text_add_bytes(module, p->functions.data, p->functions.length);
    text_add(module, ".visible .entry k%llu(.param .u64 memory, .param .u64 trace)\n{\n", (unsigned long long)number);
    add_declarations(p, module);
    if (p->uses_const)
        add_constants(p, module);
    add_addresses(p, module);
    add_start(p, module);
    text_add_bytes(module, p->body.data, p->body.length);
    add_end(p, module);
}

void program_free(struct program *p) {
    for (unsigned i = 0; i < p->n_traced; i++)
        free(p->traced[i].text);
    free(p->traced);
    text_free(&p->functions);
    text_free(&p->body);
}
