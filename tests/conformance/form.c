/* Parses forms from the text of forms.def: the registers that an instruction reads and writes, and their types. The
 * rules are those of the operand descriptions of the PTX ISA manual. */
#include "form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "values.h"

enum { LANE_CASES = 512, ATOMIC_CASES = 256, MEMORY_CASES = 64 };

static bool is_opcode(const struct form *form, const char *opcode) { return strcmp(form->word[0], opcode) == 0; }

bool form_has(const struct form *form, const char *suffix) {
    for (unsigned i = 1; i < form->n_words; i++)
        if (strcmp(form->word[i], suffix) == 0)
            return true;
    return false;
}

const char *form_space(const struct form *form) {
    static const char *const spaces[] = {"global", "shared", "local", "const"};
    for (unsigned i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (form_has(form, spaces[i]))
            return spaces[i];
    return "";
}

static bool is_type(const char *word) { return value_type_named(word, strlen(word)) != NULL; }

unsigned form_n_types(const struct form *form) {
    unsigned n = 0;
    for (unsigned i = 1; i < form->n_words; i++)
        n += is_type(form->word[i]);
    return n;
}

const char *form_type(const struct form *form, unsigned k) {
    for (unsigned i = 1; i < form->n_words; i++)
        if (is_type(form->word[i]) && k-- == 0)
            return form->word[i];
    return "";
}

unsigned form_letter_bits(char letter) {
    switch (letter) {
    case 'p':
        return 1;
    case 'h':
        return 16;
    case 'r':
        return 32;
    default:
        return 64;
    }
}

static void split_mnemonic(struct form *form) {
    size_t length = strcspn(form->text, " ");
    for (size_t at = 0; at < length;) {
        size_t part = strcspn(form->text + at, ". ");
        if (at + part > length)
            part = length - at;
        if (part >= FORM_WORD || form->n_words == FORM_MAX_WORDS)
            abort();
        memcpy(form->word[form->n_words++], form->text + at, part);
        at += part + 1;
    }
}

static enum form_category category_of(const struct form *form) {
    static const struct {
        const char *opcode;
        enum form_category category;
    } rows[] = {
        {"shfl", FORM_WARP},         {"vote", FORM_WARP},          {"match", FORM_WARP},
        {"redux", FORM_WARP},        {"activemask", FORM_WARP},    {"ld", FORM_LOAD},
        {"ldu", FORM_LOAD},          {"st", FORM_STORE},           {"atom", FORM_ATOMIC},
        {"red", FORM_ATOMIC},        {"cvta", FORM_CONVERT},       {"isspacep", FORM_SPACE},
        {"prefetch", FORM_PREFETCH}, {"prefetchu", FORM_PREFETCH}, {"elect", FORM_WARP},
        {"cp", FORM_REDUCE},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (is_opcode(form, rows[i].opcode))
            return rows[i].category;
    return FORM_LANES;
}

static enum form_class class_of_letter(char letter) {
    switch (letter) {
    case 'p':
        return FORM_PREDICATE;
    case 'h':
        return FORM_I16;
    case 'r':
        return FORM_I32;
    default:
        return FORM_I64;
    }
}

static char letter_of_bits(unsigned bits) { return bits == 16 ? 'h' : bits == 32 ? 'r' : 'w'; }

static enum form_class class_of_type(const char *type, char letter) {
    static const struct {
        const char *type;
        char letter;
        enum form_class class;
    } rows[] = {
        {"f16", 'h', FORM_F16},     {"bf16", 'h', FORM_BF16},     {"f32", 'r', FORM_F32}, {"tf32", 'r', FORM_F32},
        {"f16x2", 'r', FORM_F16X2}, {"bf16x2", 'r', FORM_BF16X2}, {"f64", 'w', FORM_F64},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].letter == letter && strcmp(rows[i].type, type) == 0)
            return rows[i].class;
    return class_of_letter(letter);
}

/* Returns the first input of a bit-field instruction that is a position or a length. */
static unsigned first_amount(const struct form *form) {
    static const struct {
        const char *opcode;
        unsigned first;
    } rows[] = {{"shl", 1}, {"shr", 1},  {"shf", 2},   {"bfe", 1},  {"bfi", 2},
                {"fns", 1}, {"bmsk", 0}, {"szext", 1}, {"vshl", 1}, {"vshr", 1}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (is_opcode(form, rows[i].opcode))
            return rows[i].first;
    return FORM_MAX_INPUTS;
}

static enum form_class warp_class(const struct form *form, unsigned k, char letter) {
    static const enum form_class shuffle[] = {FORM_I32, FORM_LANE, FORM_CLAMP, FORM_MASK};
    if (is_opcode(form, "shfl"))
        return shuffle[k];
    if (k == 1 || is_opcode(form, "elect"))
        return FORM_MASK;
    return is_opcode(form, "vote") ? FORM_VOTE : is_opcode(form, "match") ? FORM_KEY : class_of_letter(letter);
}

static enum form_class class_of_input(const struct form *form, unsigned k, char letter) {
    unsigned n_types = form_n_types(form);
    if (form->category == FORM_WARP)
        return warp_class(form, k, letter);
    if (is_opcode(form, "bar") || is_opcode(form, "barrier"))
        return FORM_VOTE;
    if (form_has(form, "cas") && k == 0)
        return FORM_COMPARE;
    if (k >= first_amount(form) && !(k > 1 && form->word[0][0] == 'v')) /* c of a video shift is a value */
        return FORM_AMOUNT;
    if (is_opcode(form, "slct"))
        return class_of_type(form_type(form, k == 2 ? 1 : 0), letter);
    return class_of_type(n_types ? form_type(form, n_types - 1) : "", letter);
}

static void add_input(struct form *form, char letter, enum form_class class) {
    if (form->n_inputs == FORM_MAX_INPUTS)
        abort();
    form->input[form->n_inputs++] = (struct form_value){letter, class};
}

static void add_output(struct form *form, char letter, enum form_class class) {
    if (form->n_outputs == FORM_MAX_OUTPUTS)
        abort();
    form->output[form->n_outputs++] = (struct form_value){letter, class};
}

/* The register letters of the operands; the first operand is written unless the instruction has no result. */
static void read_operands(struct form *form) {
    bool is_first = !is_opcode(form, "st") && !is_opcode(form, "red");
    int depth = 0;
    for (const char *c = strchr(form->text, ' '); c && *c; c++) {
        depth += *c == '{' ? 1 : *c == '}' ? -1 : 0;
        if (*c == ',' && depth == 0)
            is_first = false;
        if (!strchr("hrwp", *c) || !strchr(" |{[!-", c[-1]))
            continue;
        if (is_first) {
            const char *type = form_n_types(form) ? form_type(form, 0) : "";
            add_output(form, *c, class_of_type(type, *c));
        } else {
            add_input(form, *c, class_of_input(form, form->n_inputs, *c));
        }
    }
}

unsigned form_n_elements(const struct form *form) {
    return form_has(form, "v2") ? 2 : form_has(form, "v4") ? 4 : form_has(form, "v8") ? 8 : 1;
}

static unsigned type_bytes(const struct form *form) {
    const char *type = form_n_types(form) ? form_type(form, 0) : "b64";
    unsigned bits = value_type_named(type, strlen(type))->bits;
    return bits / 8;
}

static void add_region(struct form *form) {
    for (unsigned i = 0; i < form->region_words; i++)
        add_input(form, 'w', FORM_I64);
    add_input(form, 'r', FORM_OFFSET);
}

static void add_region_outputs(struct form *form) {
    for (unsigned i = 0; i < form->region_words; i++)
        add_output(form, 'w', FORM_I64);
}

/* Adds the inputs that the kernel needs besides the operands. */
static void add_hidden(struct form *form) {
    form->first_hidden = form->n_inputs;
    switch (form->category) {
    case FORM_WARP:
        if (is_opcode(form, "activemask"))
            add_input(form, 'r', FORM_MASK);
        break;
    case FORM_LOAD:
    case FORM_CONVERT:
    case FORM_PREFETCH:
        add_region(form);
        if (form->category != FORM_LOAD) {
            form->n_outputs = 0;
            add_output(form, 'w', FORM_I64);
        }
        break;
    case FORM_STORE:
        add_region(form);
        add_region_outputs(form);
        break;
    case FORM_ATOMIC:
        for (unsigned i = 0; i < form->region_words; i++)
            add_input(form, 'w', class_of_type(form_type(form, 0), 'w'));
        add_input(form, 'r', FORM_OFFSET);
        add_region_outputs(form);
        break;
    case FORM_REDUCE: /* the operands are in memory as well */
        for (unsigned i = 0; i < 2 * form->region_words; i++)
            add_input(form, 'w', FORM_I64);
        form->first_hidden = form->region_words;
        form->element_bits = 8 * type_bytes(form);
        form->element_class = class_of_type(form_type(form, 0), letter_of_bits(form->element_bits));
        add_region_outputs(form);
        break;
    default:
        if (form->reads_carry)
            add_input(form, 'r', FORM_CARRY);
        if (form->writes_carry)
            add_output(form, 'r', FORM_I32);
        break;
    }
}

/* Returns false for forms whose registers have other widths than their types; some combinations of choices do. */
static bool has_matching_registers(const struct form *form) {
    unsigned n_types = form_n_types(form), n_elements = 1;
    if (is_opcode(form, "set") || (is_opcode(form, "cvt") && !form_has(form, "pack"))) {
        const char *to = form_type(form, 0), *from = form_type(form, n_types - 1);
        unsigned to_bits = value_type_named(to, strlen(to))->bits,
                 from_bits = value_type_named(from, strlen(from))->bits;
        return form_letter_bits(form->output[0].letter) == (to_bits == 8 ? 16 : to_bits) &&
               form_letter_bits(form->input[0].letter) == (from_bits == 8 ? 16 : from_bits);
    }
    if (form->category != FORM_LOAD && form->category != FORM_STORE)
        return true;
    n_elements = form_n_elements(form);
    return (form->category == FORM_LOAD ? form->n_outputs : form->n_inputs) == n_elements;
}

static bool form_read(struct form *form, const char *text, size_t pattern) {
    *form = (struct form){.pattern = pattern};
    snprintf(form->text, sizeof form->text, "%s", text);
    split_mnemonic(form);
    form->category = category_of(form);
    form->writes_carry = form_has(form, "cc");
    form->reads_carry = is_opcode(form, "addc") || is_opcode(form, "subc") || is_opcode(form, "madc");
    form->subtracts = strncmp(form->word[0], "sub", 3) == 0;
    form->n_cases = form->category == FORM_LANES || form->category == FORM_WARP      ? LANE_CASES
                    : form->category == FORM_ATOMIC || form->category == FORM_REDUCE ? ATOMIC_CASES
                                                                                     : MEMORY_CASES;
    if (form->category != FORM_CONVERT && form->category != FORM_SPACE)
        read_operands(form);
    else if (form->category == FORM_SPACE)
        add_output(form, 'p', FORM_PREDICATE);
    form->access_bytes = form->category == FORM_REDUCE ? 16 : type_bytes(form) * form_n_elements(form);
    form->region_words = form->category == FORM_ATOMIC   ? (form->access_bytes + 7) / 8
                         : form->category == FORM_REDUCE ? 2
                                                         : FORM_REGION_WORDS;
    if (!has_matching_registers(form))
        return false;
    add_hidden(form);
    return true;
}

struct collection {
    struct form_list list;
    size_t room, pattern;
};

static void collect_one(void *context, const char *text) {
    struct collection *collection = context;
    struct form_list *list = &collection->list;
    if (list->n == collection->room) {
        collection->room = 2 * collection->room + 1024;
        list->form = text_resize(list->form, collection->room * sizeof *list->form);
    }
    if (form_read(&list->form[list->n], text, collection->pattern))
        list->n++;
}

static void collect(void *context, const char *text) { forms_expand(text, FORMS_STARRED, collect_one, context); }

static int compare_forms(const void *a, const void *b) {
    const struct form *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : x->pattern < y->pattern ? -1 : x->pattern > y->pattern;
}

struct form_list form_list_all(void) {
    struct collection collection = {0};
    for (; collection.pattern < forms_n_patterns(); collection.pattern++)
        forms_expand(forms_pattern(collection.pattern), FORMS_PLAIN, collect, &collection);
    struct form_list list = collection.list;
    size_t n = 0;
    qsort(list.form, list.n, sizeof *list.form, compare_forms);
    for (size_t i = 0; i < list.n; i++)
        if (i == 0 || strcmp(list.form[i].text, list.form[n - 1].text) != 0)
            list.form[n++] = list.form[i];
    list.n = n;
    return list;
}

void form_list_free(struct form_list *list) {
    free(list->form);
    *list = (struct form_list){0};
}

/* --- answers */

static size_t output_bytes(const struct form *form, unsigned output) {
    return (size_t)form->n_cases * form_letter_bits(form->output[output].letter) / 8;
}

static size_t output_start(const struct form *form, unsigned output) {
    size_t start = 0;
    for (unsigned i = 0; i < output; i++)
        start += output_bytes(form, i);
    return start;
}

size_t form_answer_bytes(const struct form *form) { return output_start(form, form->n_outputs); }

uint64_t form_answer(const struct form *form, const uint8_t *answers, unsigned output, unsigned number) {
    const uint8_t *column = answers + output_start(form, output);
    unsigned bits = form_letter_bits(form->output[output].letter);
    uint64_t value = 0;
    if (bits == 1)
        return column[number / 8] >> number % 8 & 1;
    memcpy(&value, column + (size_t)number * bits / 8, bits / 8);
    return value;
}

void form_set_answer(const struct form *form, uint8_t *answers, unsigned output, unsigned number, uint64_t value) {
    uint8_t *column = answers + output_start(form, output);
    unsigned bits = form_letter_bits(form->output[output].letter);
    if (bits == 1)
        column[number / 8] |= (uint8_t)((value & 1) << number % 8);
    else
        memcpy(column + (size_t)number * bits / 8, &value, bits / 8);
}
