/* Writes the kernels of forms. Registers are plain bits of the form's widths. */
#include "kernel.h"

#include <string.h>

void kernel_add_header(struct text *text) {
    text_add(text,
             ".version 8.3\n.target sm_90\n.address_size 64\n"
             ".const .align 32 .b8 constant_region[%d] = {",
             KERNEL_THREADS * KERNEL_REGION);
    for (unsigned i = 0; i < KERNEL_THREADS * KERNEL_REGION; i++)
        text_add(text, "%s%u", i ? "," : "", (i * 197 + 31 + i / 256) & 255);
    text_add(text, "};\n");
}

static void add_register(struct text *text, char letter, char role, unsigned k) {
    if (letter == 'p')
        text_add(text, "    .reg .pred %%%c%u;\n", role, k);
    else
        text_add(text, "    .reg .b%u %%%c%u;\n", form_letter_bits(letter), role, k);
}

static void add_declarations(struct text *text, const struct form *form) {
    text_add(text, "    .reg .b64 %%in, %%out, %%memory, %%address, %%wide, %%space<4>;\n"
                   "    .reg .b32 %%case, %%thread, %%word;\n    .reg .pred %%runs, %%spare;\n");
    for (unsigned k = 0; k < form->n_inputs; k++)
        add_register(text, form->input[k].letter, 'i', k);
    for (unsigned k = 0; k < form->n_outputs; k++)
        add_register(text, form->output[k].letter, 'o', k);
    if (strcmp(form_space(form), "shared") == 0 || form->category == FORM_SPACE || form->category == FORM_REDUCE)
        text_add(text, "    .shared .align 32 .b8 shared_region[%d];\n", KERNEL_THREADS * KERNEL_REGION);
    if (strcmp(form_space(form), "local") == 0 || form->category == FORM_SPACE)
        text_add(text, "    .local .align 32 .b8 local_region[%d];\n", KERNEL_REGION);
}

static void add_start(struct text *text, const struct form *form) {
    text_add(text,
             "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%out, [out];\n    ld.param.u64 %%memory, [memory];\n"
             "    mov.u32 %%case, %%ctaid.x;\n    mov.u32 %%thread, %%tid.x;\n"
             "    mad.lo.u32 %%case, %%case, %d, %%thread;\n"
             "    mad.wide.u32 %%in, %%case, %u, %%in;\n    mad.wide.u32 %%out, %%case, %u, %%out;\n"
             "    mad.wide.u32 %%memory, %%case, %d, %%memory;\n",
             KERNEL_THREADS, 8 * form->n_inputs, 8 * form->n_outputs, KERNEL_REGION);
    for (unsigned k = 0; k < form->n_inputs; k++)
        if (form->input[k].letter == 'p')
            text_add(text, "    ld.global.b32 %%word, [%%in+%u];\n    setp.ne.u32 %%i%u, %%word, 0;\n", 8 * k, k);
        else
            text_add(text, "    ld.global.b%u %%i%u, [%%in+%u];\n", form_letter_bits(form->input[k].letter), k, 8 * k);
}

static void add_end(struct text *text, const struct form *form) {
    for (unsigned k = 0; k < form->n_outputs; k++)
        if (form->output[k].letter == 'p')
            text_add(text, "    selp.u32 %%word, 1, 0, %%o%u;\n    st.global.b32 [%%out+%u], %%word;\n", k, 8 * k);
        else
            text_add(text, "    st.global.b%u [%%out+%u], %%o%u;\n", form_letter_bits(form->output[k].letter), 8 * k,
                     k);
}

/* The instruction with its registers: outputs and inputs in the order of their letters, $ the address. */
static void add_instruction(struct text *text, const struct form *form) {
    unsigned n_outputs = 0, n_inputs = 0;
    bool is_first = form->category != FORM_STORE && strcmp(form->word[0], "red") != 0;
    int depth = 0;
    size_t mnemonic = strcspn(form->text, " ");
    text_add(text, "    %.*s", (int)mnemonic, form->text);
    for (const char *c = form->text + mnemonic; *c; c++) {
        depth += *c == '{' ? 1 : *c == '}' ? -1 : 0;
        if (*c == ',' && depth == 0)
            is_first = false;
        if (*c == '$')
            text_add(text, "%%address");
        else if (!strchr("hrwp", *c) || !strchr(" |{[!-", c[-1]))
            text_add_bytes(text, c, 1);
        else if (is_first)
            text_add(text, "%%o%u", n_outputs++);
        else
            text_add(text, "%%i%u", n_inputs++);
    }
    text_add(text, ";\n");
}

/* Instructions of the same direction set the carry flag before and read it afterwards. */
static void add_lanes(struct text *text, const struct form *form) {
    if (form->reads_carry && form->subtracts)
        text_add(text, "    sub.cc.u32 %%word, 0, %%i%u;\n", form->first_hidden);
    else if (form->reads_carry)
        text_add(text, "    add.cc.u32 %%word, %%i%u, 0xffffffff;\n", form->first_hidden);
    add_instruction(text, form);
    if (form->writes_carry)
        text_add(text, "    %s.u32 %%o%u, 0, 0;\n", form->subtracts ? "subc" : "addc", form->n_outputs - 1);
}

/* Lanes outside the mask jump over the instruction and keep their outputs. */
static void add_warp(struct text *text, const struct form *form, unsigned number) {
    unsigned mask = 0;
    while (form->input[mask].class != FORM_MASK)
        mask++;
    for (unsigned k = 0; k < form->n_outputs; k++)
        if (form->output[k].letter == 'p')
            text_add(text, "    setp.ne.u32 %%o%u, 0, 0;\n", k);
        else
            text_add(text, "    mov.b%u %%o%u, 0x5eed;\n", form_letter_bits(form->output[k].letter), k);
    text_add(text,
             "    shr.u32 %%word, %%i%u, %%thread;\n    and.b32 %%word, %%word, 1;\n"
             "    setp.ne.u32 %%runs, %%word, 0;\n    @!%%runs bra after%u;\n",
             mask, number);
    add_instruction(text, form);
    text_add(text, "after%u:\n", number);
}

/* Sets %address to this thread's place in the space and fills it with the region's words; global memory is filled
 * before the launch. */
static void add_region(struct text *text, const struct form *form, const char *space) {
    if (strcmp(space, "shared") == 0 || strcmp(space, "const") == 0)
        text_add(text, "    mov.u64 %%address, %s_region;\n    mad.wide.u32 %%address, %%thread, %d, %%address;\n",
                 strcmp(space, "const") == 0 ? "constant" : space, KERNEL_REGION);
    else if (strcmp(space, "local") == 0)
        text_add(text, "    mov.u64 %%address, local_region;\n");
    else
        text_add(text, "    mov.u64 %%address, %%memory;\n");
    if (strcmp(space, "shared") == 0 || strcmp(space, "local") == 0)
        for (unsigned k = 0; k < form->region_words; k++)
            text_add(text, "    st.%s.b64 [%%address+%u], %%i%u;\n", space, 8 * k, form->first_hidden + k);
}

static void add_offset(struct text *text, const struct form *form) {
    text_add(text, "    cvt.u64.u32 %%wide, %%i%u;\n    add.u64 %%address, %%address, %%wide;\n", form->n_inputs - 1);
}

static void add_memory(struct text *text, const struct form *form) {
    const char *space = form_space(form), *dot = *space ? "." : "";
    add_region(text, form, space);
    add_offset(text, form);
    add_instruction(text, form);
    if (form->category == FORM_LOAD)
        return;
    text_add(text, "    sub.u64 %%address, %%address, %%wide;\n");
    for (unsigned k = 0; k < form->region_words; k++)
        text_add(text, "    ld%s%s.b64 %%o%u, [%%address+%u];\n", dot, space, form->n_outputs - form->region_words + k,
                 8 * k);
}

/* Converts an address of the space to generic, and with .to back again. */
static void add_convert(struct text *text, const struct form *form) {
    const char *space = form_space(form);
    bool is_back = form_has(form, "to");
    add_region(text, form, space);
    add_offset(text, form);
    text_add(text, "    cvta.%s.u64 %%wide, %%address;\n", space);
    if (is_back)
        text_add(text, "    cvta.to.%s.u64 %%wide, %%wide;\n", space);
    text_add(text, "    ld%s%s.b64 %%o0, [%%wide];\n", is_back ? "." : "", is_back ? space : "");
}

/* Cases use generic addresses of the four spaces in turn. */
static void add_space(struct text *text, const struct form *form) {
    text_add(text,
             "    mov.u64 %%space0, %%memory;\n"
             "    mov.u64 %%wide, shared_region;\n    cvta.shared.u64 %%space1, %%wide;\n"
             "    mov.u64 %%wide, local_region;\n    cvta.local.u64 %%space2, %%wide;\n"
             "    mov.u64 %%wide, constant_region;\n    cvta.const.u64 %%space3, %%wide;\n"
             "    and.b32 %%word, %%case, 1;\n    setp.ne.u32 %%runs, %%word, 0;\n"
             "    and.b32 %%word, %%case, 2;\n    setp.ne.u32 %%spare, %%word, 0;\n"
             "    selp.b64 %%space0, %%space1, %%space0, %%runs;\n"
             "    selp.b64 %%space2, %%space3, %%space2, %%runs;\n"
             "    selp.b64 %%address, %%space2, %%space0, %%spare;\n"
             "    isspacep.%s %%o0, %%address;\n",
             form_space(form));
}

static void add_prefetch(struct text *text, const struct form *form) {
    add_region(text, form, "global");
    add_offset(text, form);
    add_instruction(text, form);
    text_add(text, "    ld.global.b64 %%o0, [%%address];\n");
}

/* A bulk reduction from the thread's place in shared memory. The asynchronous proxy reads what was written before its
 * fence, and the wait makes its writes visible. */
static void add_reduce(struct text *text, const struct form *form) {
    text_add(text,
             "    mov.u64 %%wide, shared_region;\n    mad.wide.u32 %%wide, %%thread, %d, %%wide;\n"
             "    mov.u64 %%address, %%memory;\n",
             KERNEL_REGION);
    for (unsigned k = 0; k < form->region_words; k++)
        text_add(text, "    st.shared.b64 [%%wide+%u], %%i%u;\n", 8 * k, k);
    text_add(text, "    fence.proxy.async;\n    %.*s [%%address], [%%wide], 16;\n", (int)strcspn(form->text, " "),
             form->text);
    text_add(text, "    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\n    fence.proxy.async;\n");
    for (unsigned k = 0; k < form->region_words; k++)
        text_add(text, "    ld.global.b64 %%o%u, [%%address+%u];\n", k, 8 * k);
}

void kernel_add(struct text *text, const struct form *form, unsigned number) {
    text_add(text, "\n// %s\n.visible .entry form%u(.param .u64 in, .param .u64 out, .param .u64 memory)\n{\n",
             form->text, number);
    add_declarations(text, form);
    add_start(text, form);
    switch (form->category) {
    case FORM_LANES:
        add_lanes(text, form);
        break;
    case FORM_WARP:
        add_warp(text, form, number);
        break;
    case FORM_CONVERT:
        add_convert(text, form);
        break;
    case FORM_SPACE:
        add_space(text, form);
        break;
    case FORM_PREFETCH:
        add_prefetch(text, form);
        break;
    case FORM_REDUCE:
        add_reduce(text, form);
        break;
    default:
        add_memory(text, form);
        break;
    }
    add_end(text, form);
    text_add(text, "    ret;\n}\n");
}
