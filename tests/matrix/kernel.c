/* Writes the kernels of matrix instructions. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

static const char names[] = "abce"; /* of the inputs' registers; d is the output */

void kernel_add_header(struct text *text, const struct form *form) {
    text_add(text, ".version 8.7\n.target %s\n.address_size 64\n", form->kind == FORM_WGMMA ? "sm_90a" : "sm_90");
}

static void add_declaration(struct text *text, const struct form_operand *operand, char name) {
    if (operand->n_registers)
        text_add(text, "    .reg .b%u %%%c<%u>;\n", operand->register_bits, name, operand->n_registers);
}

/* Loads or stores all registers of an operand, from byte `at` of the case's words on. */
static void add_transfer(struct text *text, const struct form_operand *operand, char name, unsigned at, bool is_load) {
    unsigned bytes = operand->register_bits / 8;
    text_add(text, "    mad.wide.u32 %%at, %%lane, %u, %%%s;\n", bytes, is_load ? "in" : "out");
    for (unsigned r = 0; r < operand->n_registers; r++)
        if (is_load)
            text_add(text, "    ld.global.b%u %%%c%u, [%%at+%u];\n", operand->register_bits, name, r,
                     at + 32 * bytes * r);
        else
            text_add(text, "    st.global.b%u [%%at+%u], %%%c%u;\n", operand->register_bits, at + 32 * bytes * r, name,
                     r);
}

static void add_vector(struct text *text, char name, unsigned n) {
    text_add(text, "{");
    for (unsigned r = 0; r < n; r++)
        text_add(text, "%s%%%c%u", r ? ", " : "", name, r);
    text_add(text, "}");
}

static unsigned offset_of(const struct form *form, unsigned input) {
    unsigned words = 0;
    for (unsigned i = 0; i < input; i++)
        words += form->input[i].n_words;
    return 4 * words;
}

static void add_mma(struct text *text, const struct form *form) {
    for (unsigned i = 0; i < form->n_inputs; i++)
        add_transfer(text, &form->input[i], names[i], offset_of(form, i), true);
    text_add(text, "    %s ", form->mnemonic);
    add_vector(text, 'd', form->output.n_registers);
    for (unsigned i = 0; i < 3; i++) {
        text_add(text, ", ");
        add_vector(text, names[i], form->input[i].n_registers);
    }
    if (form->is_sparse)
        text_add(text, ", %%e0, %u", form->selector);
    text_add(text, ";\n");
    add_transfer(text, &form->output, 'd', 0, false);
}

/* The mnemonic of a load or store of the form's shape. */
static void add_access(struct text *text, const struct form *form, const char *what, const char *layout,
                       enum form_type type) {
    text_add(text, "    wmma.%s.sync.aligned.%s.m%un%uk%u.global.%s ", what, layout, form->m, form->n, form->k,
             form_type_name(type));
}

static unsigned fragment_registers(const struct form *form, unsigned which, enum form_type type) {
    unsigned rows = which == 1 ? form->k : form->m, columns = which == 0 ? form->k : form->n;
    unsigned bits = form_type_bits(type), n = rows * columns * bits / 1024;
    if (which < 2 && type == FORM_F16)
        return 8;
    return bits == 64 ? n / 2 : n ? n : 1;
}

static void add_wmma(struct text *text, const struct form *form) {
    static const char *const loads[] = {"load.a", "load.b", "load.c"};
    const char *layout[] = {form->layout[0], form->layout[1], form->layout[0]};
    unsigned n[4];
    for (unsigned i = 0; i < 3; i++) {
        const struct form_operand *operand = &form->input[i];
        n[i] = fragment_registers(form, i, operand->type);
        text_add(text, "    .reg .b%u %%%c<%u>;\n", form_type_bits(operand->type) == 64 ? 64 : 32, names[i], n[i]);
        add_access(text, form, loads[i], layout[i], operand->type);
        add_vector(text, names[i], n[i]);
        text_add(text, ", [%%in+%u], %u;\n", offset_of(form, i), operand->stride);
    }
    n[3] = fragment_registers(form, 3, form->output.type);
    text_add(text, "    .reg .b%u %%d<%u>;\n    %s ", form_type_bits(form->output.type) == 64 ? 64 : 32, n[3],
             form->mnemonic);
    for (unsigned i = 0; i < 4; i++) {
        add_vector(text, "dabc"[i], n[(i + 3) % 4]);
        text_add(text, "%s", i < 3 ? ", " : ";\n");
    }
    add_access(text, form, "store.d", form->layout[1], form->output.type);
    text_add(text, "[%%out], ");
    add_vector(text, 'd', n[3]);
    text_add(text, ", %u;\n", form->output.stride);
}

static void add_load(struct text *text, const struct form *form) {
    char mnemonic[FORMS_TEXT];
    const char *dot = strrchr(form->mnemonic, '.');
    snprintf(mnemonic, sizeof mnemonic, "%.*s.global%s", (int)(dot - form->mnemonic), form->mnemonic, dot);
    text_add(text, "    %s ", mnemonic);
    add_vector(text, 'd', form->output.n_registers);
    text_add(text, ", [%%in], %u;\n", form->input[0].stride);
    add_transfer(text, &form->output, 'd', 0, false);
}

/* Copies the 512 bytes of rows between global and shared memory, 16 bytes for each lane. */
static void add_copy(struct text *text, bool is_load) {
    text_add(text,
             "    mad.wide.u32 %%at, %%lane, 16, %%%s;\n    mul.lo.u32 %%offset, %%lane, 16;\n"
             "    mov.u32 %%base, rows;\n    add.u32 %%offset, %%offset, %%base;\n",
             is_load ? "in" : "out");
    text_add(text, is_load
                       ? "    ld.global.v4.b32 {%%w0, %%w1, %%w2, %%w3}, [%%at];\n"
                         "    st.shared.v4.b32 [%%offset], {%%w0, %%w1, %%w2, %%w3};\n    bar.warp.sync 0xffffffff;\n"
                       : "    bar.warp.sync 0xffffffff;\n    ld.shared.v4.b32 {%%w0, %%w1, %%w2, %%w3}, [%%offset];\n"
                         "    st.global.v4.b32 [%%at], {%%w0, %%w1, %%w2, %%w3};\n");
}

static void add_move(struct text *text, const struct form *form) {
    bool is_load = form->kind == FORM_LDMATRIX, is_store = form->kind == FORM_STMATRIX;
    if (is_load || is_store)
        text_add(text, "    .shared .align 16 .b8 rows[512];\n");
    if (is_load)
        add_copy(text, true);
    else
        add_transfer(text, &form->input[0], 'a', 0, true);
    if (is_load || is_store) {
        add_transfer(text, &form->input[1], 'b', offset_of(form, 1), true);
        text_add(text, "    mov.u32 %%base, rows;\n    add.u32 %%offset, %%base, %%b0;\n");
    }
    if (is_store) { /* rows that the instruction does not write are zero */
        text_add(text, "    mov.b32 %%w0, 0;\n    st.shared.v4.b32 [%%offset], {%%w0, %%w0, %%w0, %%w0};\n"
                       "    bar.warp.sync 0xffffffff;\n");
        text_add(text, "    %s [%%offset], ", form->mnemonic);
        add_vector(text, 'a', form->input[0].n_registers);
        text_add(text, ";\n");
        add_copy(text, false);
        return;
    }
    text_add(text, "    %s ", form->mnemonic);
    if (is_load) {
        add_vector(text, 'd', form->output.n_registers);
        text_add(text, ", [%%offset];\n");
    } else {
        text_add(text, "%%d0, %%a0;\n");
    }
    add_transfer(text, &form->output, 'd', 0, false);
}

/* --- wgmma: register r of thread t is the word 128 r + t --- */

static void add_group_transfer(struct text *text, const struct form_operand *operand, char name, unsigned at,
                               bool is_load) {
    text_add(text, "    mad.wide.u32 %%at, %%lane, 4, %%%s;\n", is_load ? "in" : "out");
    for (unsigned r = 0; r < operand->n_registers; r++)
        if (is_load)
            text_add(text, "    ld.global.b32 %%%c%u, [%%at+%u];\n", name, r, at + 512 * r);
        else
            text_add(text, "    st.global.b32 [%%at+%u], %%%c%u;\n", at + 512 * r, name, r);
}

/* Copies a matrix to shared memory and makes its descriptor, %name. */
static void add_region(struct text *text, const struct form *form, unsigned which, unsigned at) {
    static const unsigned modes[] = {0, 3, 2, 0, 1}; /* of no swizzle, 32, 64 and 128 bytes */
    const struct form_region *region = &form->wgmma.region[which];
    unsigned first = which && form->wgmma.a_is_shared ? form->wgmma.region[0].bytes : 0;
    unsigned long long descriptor = (unsigned long long)(region->leading_bytes / 16) << 16 |
                                    (unsigned long long)(region->stride_bytes / 16) << 32 |
                                    (unsigned long long)modes[form->wgmma.swizzle_bytes / 32] << 62;
    text_add(text,
             "    mov.u32 %%base, matrices;\n    add.u32 %%base, %%base, %u;\n    mov.u32 %%w0, %%lane;\n"
             "COPY%u:\n    mad.wide.u32 %%at, %%w0, 4, %%in;\n    mad.lo.u32 %%offset, %%w0, 4, %%base;\n"
             "    ld.global.b32 %%w1, [%%at+%u];\n    st.shared.b32 [%%offset], %%w1;\n    add.u32 %%w0, %%w0, 128;\n"
             "    setp.lt.u32 %%p, %%w0, %u;\n    @%%p bra COPY%u;\n"
             "    shr.u32 %%base, %%base, 4;\n    cvt.u64.u32 %%desc%u, %%base;\n    or.b64 %%desc%u, %%desc%u, "
             "0x%llx;\n",
             first, which, at, region->bytes / 4, which, which, which, which, descriptor);
}

static void add_wgmma(struct text *text, const struct form *form) {
    const struct form_wgmma *wgmma = &form->wgmma;
    bool is_float = form->output.type != FORM_S32, has_transposes = form_type_bits(form->input[0].type) == 16;
    unsigned bytes = wgmma->region[0].bytes + wgmma->region[1].bytes;
    text_add(text, "    .reg .b64 %%desc<2>;\n    .reg .pred %%p, %%adds;\n    .shared .align %u .b8 matrices[%u];\n",
             FORM_REGION_ALIGNMENT, bytes);
    if (wgmma->a_is_shared)
        add_region(text, form, 0, 0);
    else
        add_group_transfer(text, &form->input[0], 'a', 0, true);
    add_region(text, form, 1, offset_of(form, 1));
    add_group_transfer(text, &form->input[2], 'd', offset_of(form, 2), true);
    if (form->is_sparse)
        add_group_transfer(text, &form->input[3], 'e', offset_of(form, 3), true);
    text_add(text,
             "    setp.eq.u32 %%adds, %u, 0;\n    fence.proxy.async;\n    bar.sync 0;\n"
             "    wgmma.fence.sync.aligned;\n    %s ",
             wgmma->is_fresh, form->mnemonic);
    add_vector(text, 'd', form->output.n_registers);
    text_add(text, ", ");
    if (wgmma->a_is_shared)
        text_add(text, "%%desc0");
    else
        add_vector(text, 'a', form->input[0].n_registers);
    text_add(text, ", %%desc1");
    if (form->is_sparse)
        text_add(text, ", %%e0, %u", form->selector);
    text_add(text, ", %%adds");
    if (is_float)
        text_add(text, ", %d, %d", wgmma->is_negated[0] ? -1 : 1, wgmma->is_negated[1] ? -1 : 1);
    if (has_transposes && wgmma->a_is_shared)
        text_add(text, ", %d", wgmma->is_transposed[0]);
    if (has_transposes)
        text_add(text, ", %d", wgmma->is_transposed[1]);
    text_add(text, ";\n    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n");
    add_group_transfer(text, &form->output, 'd', 0, false);
}

void kernel_add(struct text *text, const struct form *form, unsigned number) {
    text_add(text,
             "\n// %s\n.visible .entry form%u(.param .u64 in, .param .u64 out)\n{\n"
             "    .reg .b64 %%in, %%out, %%at;\n    .reg .b32 %%lane, %%case, %%offset, %%base, %%w<4>;\n",
             form->text, number);
    for (unsigned i = 0; i < form->n_inputs; i++)
        add_declaration(text, &form->input[i], names[i]);
    add_declaration(text, &form->output, 'd');
    text_add(text,
             "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%out, [out];\n    mov.u32 %%case, %%ctaid.x;\n"
             "    mov.u32 %%lane, %%tid.x;\n    mad.wide.u32 %%in, %%case, %u, %%in;\n    mad.wide.u32 %%out, %%case, "
             "%u, %%out;\n",
             4 * form->n_input_words, 4 * form->output.n_words);
    switch (form->kind) {
    case FORM_MMA:
        add_mma(text, form);
        break;
    case FORM_WGMMA:
        add_wgmma(text, form);
        break;
    case FORM_WMMA:
        add_wmma(text, form);
        break;
    case FORM_WMMA_LOAD:
        add_load(text, form);
        break;
    default:
        add_move(text, form);
        break;
    }
    text_add(text, "    ret;\n}\n");
}
