/* Parses the mnemonics of forms.def: the numbers of elements and registers follow from shape and types, as the PTX ISA
 * manual states them for each shape. */
#include "form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/text.h"

static const char *const patterns[] = {
#define FORMS(pattern) pattern,
#include "forms.def"
#undef FORMS
};

static const struct {
    const char *name;
    unsigned bits;
} types[FORM_N_TYPES] = {
    [FORM_NO_TYPE] = {"", 32},
    [FORM_F16] = {"f16", 16},
    [FORM_BF16] = {"bf16", 16},
    [FORM_TF32] = {"tf32", 32},
    [FORM_F32] = {"f32", 32},
    [FORM_F64] = {"f64", 64},
    [FORM_E4M3] = {"e4m3", 8},
    [FORM_E5M2] = {"e5m2", 8},
    [FORM_S8] = {"s8", 8},
    [FORM_U8] = {"u8", 8},
    [FORM_S4] = {"s4", 4},
    [FORM_U4] = {"u4", 4},
    [FORM_B1] = {"b1", 1},
    [FORM_S32] = {"s32", 32},
    [FORM_METADATA_PAIRS] = {"", 32},
    [FORM_METADATA_SINGLE] = {"", 32},
    [FORM_OFFSETS] = {"", 32},
};

unsigned form_type_bits(enum form_type type) { return types[type].bits; }
const char *form_type_name(enum form_type type) { return types[type].name; }

/* Calls for each suffix: returns the number of the next part of the mnemonic, "" at the end. */
static const char *next_part(const char **at, char *part, size_t size) {
    size_t length = strcspn(*at, ".");
    if (length >= size)
        abort();
    memcpy(part, *at, length);
    part[length] = 0;
    *at += length + ((*at)[length] == '.');
    return part;
}

bool form_has(const struct form *form, const char *suffix) {
    char part[64];
    for (const char *at = form->mnemonic; *at;)
        if (strcmp(next_part(&at, part, sizeof part), suffix) == 0)
            return true;
    return false;
}

struct parts {
    enum form_type type[4];
    unsigned n_types, n_layouts;
};

static void parse_mnemonic(struct form *form, struct parts *parts) {
    char part[64];
    for (const char *at = form->mnemonic; *at;) {
        next_part(&at, part, sizeof part);
        if (sscanf(part, "m%un%uk%u", &form->m, &form->n, &form->k) == 3)
            continue;
        if ((strcmp(part, "row") == 0 || strcmp(part, "col") == 0) && parts->n_layouts < 2)
            memcpy(form->layout[parts->n_layouts++], part, 4);
        for (unsigned i = 1; i < FORM_N_TYPES; i++)
            if (*types[i].name && strcmp(part, types[i].name) == 0 && parts->n_types < 4)
                parts->type[parts->n_types++] = (enum form_type)i;
    }
}

static void set_registers(struct form_operand *operand, enum form_type type, unsigned n_elements) {
    unsigned bits = n_elements * types[type].bits;
    operand->type = type;
    operand->n_elements = n_elements;
    operand->register_bits = types[type].bits == 64 ? 64 : 32;
    operand->n_registers = (bits + 32 * operand->register_bits - 1) / (32 * operand->register_bits);
    operand->n_words = bits / 32;
}

/* lines: rows of a row-major matrix, otherwise columns. */
static void set_memory(struct form_operand *operand, enum form_type type, unsigned lines, unsigned length) {
    operand->type = type;
    operand->is_memory = true;
    operand->stride = length + FORM_PAD * 8 / types[type].bits;
    operand->n_elements = lines * operand->stride;
    operand->n_words = operand->n_elements * types[type].bits / 32;
}

static void set_matrix(struct form_operand *operand, enum form_type type, unsigned rows, unsigned columns,
                       bool is_row_major) {
    set_memory(operand, type, is_row_major ? rows : columns, is_row_major ? columns : rows);
}

static void set_mma(struct form *form, const struct parts *parts) {
    unsigned n_matrices = form->m == 8 && form->k == 4 && parts->type[1] == FORM_F16 ? 4 : 1;
    set_registers(&form->output, parts->type[0], n_matrices * form->m * form->n);
    set_registers(&form->input[0], parts->type[1], n_matrices * form->m * form->k / (form->is_sparse ? 2 : 1));
    set_registers(&form->input[1], parts->type[2], n_matrices * form->k * form->n);
    set_registers(&form->input[2], parts->type[3], n_matrices * form->m * form->n);
    form->n_inputs = 3;
    if (form->is_sparse)
        set_registers(&form->input[form->n_inputs++],
                      parts->type[1] == FORM_TF32 ? FORM_METADATA_SINGLE : FORM_METADATA_PAIRS, 32);
}

static void set_wmma(struct form *form, const struct parts *parts) {
    bool is_short = parts->n_types == 2; /* of f16: d and c */
    enum form_type a = is_short ? FORM_F16 : parts->type[1], b = is_short ? FORM_F16 : parts->type[2];
    bool a_row = strcmp(form->layout[0], "row") == 0, b_row = strcmp(form->layout[1], "row") == 0;
    set_matrix(&form->input[0], a, form->m, form->k, a_row);
    set_matrix(&form->input[1], b, form->k, form->n, b_row);
    set_matrix(&form->input[2], parts->type[is_short ? 1 : 3], form->m, form->n, a_row);
    set_matrix(&form->output, parts->type[0], form->m, form->n, b_row);
    form->n_inputs = 3;
}

/* Fragments of A and B of 16-bit and 8-bit wmma shapes have as many registers as the manual says; for f16 each element
 * is there twice. */
static unsigned load_registers(const struct form *form, enum form_type type) {
    bool is_a = form_has(form, "a"), is_b = form_has(form, "b");
    unsigned rows = is_b ? form->k : form->m, columns = is_a ? form->k : form->n;
    unsigned n = (rows * columns * types[type].bits + 1023) / 1024;
    if (is_a || is_b) {
        if (type == FORM_F16)
            return 8;
        if (types[type].bits == 64)
            return 1;
    }
    return types[type].bits == 64 ? n / 2 : n;
}

static void set_load(struct form *form, const struct parts *parts) {
    bool is_a = form_has(form, "a"), is_b = form_has(form, "b");
    enum form_type type = parts->type[0];
    unsigned register_bits = types[type].bits == 64 ? 64 : 32;
    set_matrix(&form->input[0], type, is_b ? form->k : form->m, is_a ? form->k : form->n,
               strcmp(form->layout[0], "row") == 0);
    set_registers(&form->output, type, load_registers(form, type) * 32 * register_bits / types[type].bits);
    form->n_inputs = 1;
}

static void set_move(struct form *form) {
    unsigned n_matrices = form_has(form, "x4") ? 4 : form_has(form, "x2") ? 2 : 1;
    struct form_operand registers = {0}, memory = {0}, offsets = {0};
    set_registers(&registers, FORM_F16, 64 * n_matrices);
    set_registers(&offsets, FORM_OFFSETS, 32);
    memory = (struct form_operand){.type = FORM_F16, .is_memory = true, .n_elements = 256, .n_words = 128};
    if (form->kind == FORM_MOVMATRIX) {
        form->input[form->n_inputs++] = registers;
        form->output = registers;
        return;
    }
    form->input[form->n_inputs++] = form->kind == FORM_LDMATRIX ? memory : registers;
    form->input[form->n_inputs++] = offsets;
    form->output = form->kind == FORM_LDMATRIX ? registers : memory;
}

/* --- wgmma --- */

enum { GROUP_THREADS = 128, CORE_ROWS = 8, CORE_BYTES = 16 };

static void set_group_registers(struct form_operand *operand, enum form_type type, unsigned n_elements) {
    operand->type = type;
    operand->n_elements = n_elements;
    operand->register_bits = 32;
    operand->n_words = n_elements * types[type].bits / 32;
    operand->n_registers = operand->n_words / GROUP_THREADS;
}

/* Core matrices of 8 lines of 16 bytes, or with a swizzle 8 lines of 32, 64 or 128 bytes: those of one k after the
 * other, then those along m or n. */
static struct form_region region_of(const struct form *form, unsigned lines, unsigned k, unsigned bits,
                                    bool is_transposed) {
    unsigned swizzle = form->wgmma.swizzle_bytes, width = swizzle ? swizzle : CORE_BYTES, core = CORE_ROWS * width;
    unsigned k_cores = is_transposed ? k / CORE_ROWS : (k * bits / 8 + width - 1) / width;
    unsigned line_cores = is_transposed ? (lines * bits / 8 + width - 1) / width : lines / CORE_ROWS;
    struct form_region region = {core, core * k_cores, line_cores * core * k_cores};
    if (is_transposed && swizzle)
        region = (struct form_region){core * k_cores, core, region.bytes};
    region.bytes = (region.bytes + FORM_REGION_ALIGNMENT - 1) / FORM_REGION_ALIGNMENT * FORM_REGION_ALIGNMENT;
    return region;
}

static void set_region(struct form *form, unsigned which, enum form_type type, unsigned lines, unsigned k) {
    struct form_region region = region_of(form, lines, k, types[type].bits, form->wgmma.is_transposed[which]);
    form->wgmma.region[which] = region;
    form->input[which] = (struct form_operand){.type = type,
                                               .is_memory = true,
                                               .n_elements = region.bytes * 8 / types[type].bits,
                                               .n_words = region.bytes / 4};
}

static bool has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = strchr(text, ' '); at; at = strchr(at + 1, ' '))
        if (strncmp(at + 1, word, length) == 0 && (at[1 + length] == ' ' || !at[1 + length]))
            return true;
    return false;
}

static void set_wgmma(struct form *form, const struct parts *parts) {
    struct form_wgmma *wgmma = &form->wgmma;
    unsigned a_k = form->is_sparse ? form->k / 2 : form->k;
    *wgmma = (struct form_wgmma){.a_is_shared = has_word(form->text, "shared"),
                                 .swizzle_bytes = has_word(form->text, "swizzle32")    ? 32
                                                  : has_word(form->text, "swizzle64")  ? 64
                                                  : has_word(form->text, "swizzle128") ? 128
                                                                                       : 0,
                                 .is_transposed = {has_word(form->text, "trans-a"), has_word(form->text, "trans-b")},
                                 .is_negated = {has_word(form->text, "neg-a"), has_word(form->text, "neg-b")},
                                 .is_fresh = has_word(form->text, "fresh")};
    form->selector = has_word(form->text, "1");
    if (wgmma->a_is_shared)
        set_region(form, 0, parts->type[1], form->m, a_k);
    else
        set_group_registers(&form->input[0], parts->type[1], form->m * a_k);
    set_region(form, 1, parts->type[2], form->n, form->k);
    set_group_registers(&form->input[2], parts->type[0], form->m * form->n);
    set_group_registers(&form->output, parts->type[0], form->m * form->n);
    form->n_inputs = 3;
    if (form->is_sparse)
        set_group_registers(&form->input[form->n_inputs++],
                            parts->type[1] == FORM_TF32 ? FORM_METADATA_SINGLE : FORM_METADATA_PAIRS, GROUP_THREADS);
}

unsigned form_threads(const struct form *form) { return form->kind == FORM_WGMMA ? GROUP_THREADS : 32; }
unsigned form_chunk_cases(const struct form *form) { return form->kind == FORM_WGMMA ? 16 : 64; }

static enum form_kind kind_of(const char *text) {
    return strncmp(text, "mma.", 4) == 0        ? FORM_MMA
           : strncmp(text, "wgmma", 5) == 0     ? FORM_WGMMA
           : strncmp(text, "wmma.mma", 8) == 0  ? FORM_WMMA
           : strncmp(text, "wmma.load", 9) == 0 ? FORM_WMMA_LOAD
           : strncmp(text, "ldmatrix", 8) == 0  ? FORM_LDMATRIX
           : strncmp(text, "stmatrix", 8) == 0  ? FORM_STMATRIX
                                                : FORM_MOVMATRIX;
}

static void add_form(void *context, const char *text) {
    struct form_list *list = context;
    list->form = text_resize(list->form, (list->n + 1) * sizeof *list->form);
    struct form *form = &list->form[list->n++];
    struct parts parts = {0};
    *form = (struct form){.kind = kind_of(text), .is_sparse = strstr(text, "mma.sp") || strstr(text, "mma_async.sp")};
    snprintf(form->text, sizeof form->text, "%s", text);
    snprintf(form->mnemonic, sizeof form->mnemonic, "%.*s", (int)strcspn(text, " "), text);
    if (strchr(text, ' '))
        form->selector = (unsigned)strtoul(strchr(text, ' '), NULL, 10);
    parse_mnemonic(form, &parts);
    if (form->kind == FORM_WGMMA)
        set_wgmma(form, &parts);
    else if (form->kind == FORM_MMA)
        set_mma(form, &parts);
    else if (form->kind == FORM_WMMA)
        set_wmma(form, &parts);
    else if (form->kind == FORM_WMMA_LOAD)
        set_load(form, &parts);
    else
        set_move(form);
    for (unsigned i = 0; i < form->n_inputs; i++)
        form->n_input_words += form->input[i].n_words;
}

struct form_list form_list_all(void) {
    struct form_list list = {0};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        forms_expand(patterns[i], FORMS_PLAIN, add_form, &list);
    return list;
}

void form_list_free(struct form_list *list) { free(list->form); }
