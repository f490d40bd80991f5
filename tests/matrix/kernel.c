/* Writes the kernels of matrix instructions. */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

static const char names[] = "abce"; /* of the inputs' registers; d is the output */

void kernel_add_header(struct text *text) { text_add(text, ".version 8.7\n.target sm_90\n.address_size 64\n"); }

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
