/* Writes the PTX that runs a table. Registers have the types of the table, except a register that is both an input and
 * an output: it is declared as plain bits, which every instruction accepts. */
#include "table_module.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The name of each register of an op in one kernel. */
struct naming {
    char as[TABLE_MAX_REGISTERS][VALUE_TEXT];
    bool is_declared[TABLE_MAX_REGISTERS]; /* under its own name */
    bool is_untyped[TABLE_MAX_REGISTERS];
};

static unsigned slot_bits(const struct value_type *type) {
    return type->kind == VALUE_PREDICATE ? 1 : type->bits == 8 && type->kind != VALUE_BITS ? 16 : type->bits;
}

const char *table_variant_name(enum variant variant) {
    static const char *const names[N_VARIANTS] = {"plain", "guarded", "over_first", "over_last", "immediates"};
    return names[variant];
}

uint64_t table_preset(const struct table_register *reg, unsigned lane) {
    return reg->type->kind == VALUE_PREDICATE ? lane >> 1 & 1 : value_cut(reg->type, 0x5aa5c33c96692d5aull);
}

static unsigned first_output(const struct table_op *op) {
    unsigned i = 0;
    while (!op->reg[i].is_output)
        i++;
    return i;
}

/* Returns the input whose register is also the first output's, or -1. */
static int shared_input(const struct table_op *op, enum variant variant) {
    unsigned output = first_output(op);
    int found = -1;
    bool is_one_instruction = strchr(op->text, ';') == op->text + strlen(op->text) - 1;
    if (!is_one_instruction || op->reg[output].is_input)
        return -1;
    for (unsigned i = 0; i < op->n_registers; i++) {
        bool is_alike = op->reg[i].is_input && !op->reg[i].is_output &&
                        slot_bits(op->reg[i].type) == slot_bits(op->reg[output].type);
        if (is_alike && (variant == VARIANT_OVER_LAST || found < 0))
            found = (int)i;
    }
    return found;
}

/* Returns whether a reference is inside the braces of a vector. */
static bool is_in_vector(const struct table_op *op, const struct table_reference *reference) {
    int depth = 0;
    size_t at = 0;
    for (const struct table_reference *next = op->reference; next <= reference; at = next++->end)
        for (; at < next->first; at++)
            depth += op->text[at] == '{' ? 1 : op->text[at] == '}' ? -1 : 0;
    return depth > 0;
}

/* Returns whether a reference is neither negated nor followed by a selector (a.b0). */
static bool is_plain(const struct table_op *op, const struct table_reference *reference) {
    size_t first = reference->first;
    while (first > 0 && isspace((unsigned char)op->text[first - 1]))
        first--;
    return first > 0 && op->text[first - 1] == ',' && strchr(",; ", op->text[reference->end]);
}

/* Instructions on half-precision and packed values, and the video instructions, take registers only. */
static bool takes_immediates(const struct table_op *op) {
    size_t length = strcspn(op->text, " \t");
    for (const char *c = op->text; c < op->text + length; c++)
        if (strncmp(c, "f16", 3) == 0 || strncmp(c, "x2", 2) == 0)
            return false;
    return op->text[0] != 'v' && op->n_cases > 0;
}

/* PTX has no immediates of some types, in vectors and under selectors. */
static bool may_be_immediate(const struct table_op *op, unsigned reg) {
    char buffer[VALUE_TEXT];
    if (!op->reg[reg].is_input || op->reg[reg].is_output || !takes_immediates(op) ||
        !value_immediate(op->reg[reg].type, 0, buffer))
        return false;
    for (unsigned i = 0; i < op->n_references; i++) {
        const struct table_reference *reference = &op->reference[i];
        if (reference->reg == reg && (is_in_vector(op, reference) || !is_plain(op, reference)))
            return false;
    }
    return true;
}

bool table_has_variant(const struct table_op *op, enum variant variant) {
    switch (variant) {
    case VARIANT_PLAIN:
        return true;
    case VARIANT_GUARDED:
        return op->text[0] != '@';
    case VARIANT_OVER_FIRST:
        return shared_input(op, variant) >= 0;
    case VARIANT_OVER_LAST:
        return shared_input(op, variant) != shared_input(op, VARIANT_OVER_FIRST);
    default:
        for (unsigned i = 0; i < op->n_registers; i++)
            if (may_be_immediate(op, i))
                return true;
        return false;
    }
}

static void name_registers(const struct table_op *op, enum variant variant, struct naming *naming) {
    *naming = (struct naming){0};
    for (unsigned i = 0; i < op->n_registers; i++) {
        snprintf(naming->as[i], VALUE_TEXT, "%%v_%s", op->reg[i].name);
        naming->is_declared[i] = true;
    }
    if (variant == VARIANT_OVER_FIRST || variant == VARIANT_OVER_LAST) {
        unsigned input = (unsigned)shared_input(op, variant), output = first_output(op);
        memcpy(naming->as[output], naming->as[input], VALUE_TEXT);
        naming->is_declared[output] = false;
        naming->is_untyped[input] = true;
    }
    if (variant == VARIANT_IMMEDIATES)
        for (unsigned i = 0; i < op->n_registers; i++)
            if (may_be_immediate(op, i)) {
                value_immediate(op->reg[i].type, op->cases[0].input[i].bits, naming->as[i]);
                naming->is_declared[i] = false;
            }
}

static void add_declarations(struct text *text, const struct table_op *op, const struct naming *naming,
                             enum variant variant) {
    unsigned in_bytes = variant == VARIANT_IMMEDIATES ? 0 : 8 * op->n_inputs; /* every thread runs the first case */
    text_add(text, "    .reg .pred %%guard, %%second;\n    .reg .b32 %%lane, %%word;\n    .reg .b64 %%in, %%out;\n");
    for (unsigned i = 0; i < op->n_registers; i++) {
        const struct value_type *type = op->reg[i].type;
        if (!naming->is_declared[i])
            continue;
        if (naming->is_untyped[i] && type->kind != VALUE_PREDICATE)
            text_add(text, "    .reg .b%u %s;\n", slot_bits(type), naming->as[i]);
        else
            text_add(text, "    .reg .%s %s;\n", type->register_type, naming->as[i]);
    }
    text_add(
        text,
        "    ld.param.u64 %%in, [in];\n    ld.param.u64 %%out, [out];\n"
        "    mov.u32 %%lane, %%ctaid.x;\n    mov.u32 %%word, %%tid.x;\n    mad.lo.u32 %%lane, %%lane, 32, %%word;\n"
        "    mad.wide.u32 %%in, %%lane, %u, %%in;\n    mad.wide.u32 %%out, %%lane, %u, %%out;\n",
        in_bytes, 8 * op->n_outputs);
}

static void add_load(struct text *text, const struct value_type *type, const char *name, unsigned slot) {
    if (type->kind == VALUE_PREDICATE)
        text_add(text, "    ld.global.u32 %%word, [%%in+%u];\n    setp.ne.u32 %s, %%word, 0;\n", 8 * slot, name);
    else if (type->bits == 8)
        text_add(text, "    ld.global.%s %s, [%%in+%u];\n", type->name, name, 8 * slot);
    else
        text_add(text, "    ld.global.b%u %s, [%%in+%u];\n", type->bits, name, 8 * slot);
}

static void add_store(struct text *text, const struct value_type *type, const char *name, unsigned slot) {
    if (type->kind == VALUE_PREDICATE)
        text_add(text, "    selp.u32 %%word, 1, 0, %s;\n    st.global.u32 [%%out+%u], %%word;\n", name, 8 * slot);
    else
        text_add(text, "    st.global.b%u [%%out+%u], %s;\n", type->bits, 8 * slot, name);
}

static void add_presets(struct text *text, const struct table_op *op, const struct naming *naming) {
    text_add(text, "    and.b32 %%word, %%lane, 1;\n    setp.ne.u32 %%guard, %%word, 0;\n"
                   "    and.b32 %%word, %%lane, 2;\n    setp.ne.u32 %%second, %%word, 0;\n");
    for (unsigned i = 0; i < op->n_registers; i++) {
        const struct table_register *reg = &op->reg[i];
        if (!reg->is_output || reg->is_input)
            continue;
        if (reg->type->kind == VALUE_PREDICATE)
            text_add(text, "    mov.pred %s, %%second;\n", naming->as[i]);
        else if (slot_bits(reg->type) == 8)
            text_add(text, "    cvt.u8.u32 %s, 0x%llx;\n", naming->as[i], (unsigned long long)table_preset(reg, 0));
        else
            text_add(text, "    mov.b%u %s, 0x%llx;\n", slot_bits(reg->type), naming->as[i],
                     (unsigned long long)table_preset(reg, 0));
    }
}

/* Writes the op with its registers, one instruction per line, each with the guard if there is one. */
static void add_body(struct text *text, const struct table_op *op, const struct naming *naming, bool is_guarded) {
    struct text body = {0};
    size_t at = 0;
    for (unsigned i = 0; i < op->n_references; i++) {
        const struct table_reference *reference = &op->reference[i];
        text_add_bytes(&body, op->text + at, reference->first - at);
        text_add(&body, "%s", naming->as[reference->reg]);
        at = reference->end;
    }
    text_add(&body, "%s", op->text + at);
    const char *c = body.data;
    while (*(c += strspn(c, " \t"))) {
        size_t length = strcspn(c, ";") + 1;
        text_add(text, "    %s%.*s\n", is_guarded ? "@!%guard " : "", (int)length, c);
        c += length;
    }
    text_free(&body);
}

void table_add_header(struct text *text) { text_add(text, ".version 8.3\n.target sm_90\n.address_size 64\n"); }

void table_add_kernel(struct text *text, const struct table_op *op, unsigned number, enum variant variant) {
    struct naming naming;
    name_registers(op, variant, &naming);
    text_add(text, "\n// line %u\n.visible .entry op%u_%s(.param .u64 in, .param .u64 out)\n{\n", op->line, number,
             table_variant_name(variant));
    add_declarations(text, op, &naming, variant);
    for (unsigned i = 0, slot = 0; i < op->n_registers; i++)
        if (op->reg[i].is_input && slot++ < op->n_inputs && naming.is_declared[i])
            add_load(text, op->reg[i].type, naming.as[i], slot - 1);
    if (variant == VARIANT_GUARDED)
        add_presets(text, op, &naming);
    add_body(text, op, &naming, variant == VARIANT_GUARDED);
    for (unsigned i = 0, slot = 0; i < op->n_registers; i++)
        if (op->reg[i].is_output)
            add_store(text, op->reg[i].type, naming.as[i], slot++);
    text_add(text, "    ret;\n}\n");
}
