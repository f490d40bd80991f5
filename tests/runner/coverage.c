/* Checks that every opcode and every instruction form that Heddle implements is mentioned in a test.
 *
 *     coverage [--list] TEST...
 *
 * The opcodes are those of opcodes.def that have a family: each needs a form that is implemented and tested, or a line
 * in kernel_opcodes.def and a kernel. The forms are those of forms.def, extensions.def and kernel_forms.def; the linker
 * decides whether one is implemented, as when a module is loaded. TEST is a value table (NAME.txt) or a kernel
 * (NAME.ptx). Prints what no test mentions; the status is 1 if there is anything. --list prints every form and its
 * state. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/exec.h"
#include "forms.h"
#include "mentions.h"
#include "ptx/ptx.h"
#include "text.h"

struct coverage {
    const struct mentions *mentions;
    bool lists;
    unsigned n_forms, n_implemented, n_covered;
    bool has_form[PTX_N_OPCODES]; /* that is implemented and covered */
    /* of the current form, over its alternatives */
    bool is_implemented, is_covered;
    char example[FORMS_TEXT]; /* an alternative that is implemented */
};

/* Writes the form as PTX: every operand letter becomes a different register. */
static void add_instruction(struct text *ptx, const char *form) {
    size_t mnemonic = strcspn(form, " ");
    unsigned n = 0;
    text_add_bytes(ptx, form, mnemonic);
    for (const char *c = form + mnemonic; *c; c++)
        if (strchr("hrwp", *c) && strchr(" |{[!-", c[-1]))
            text_add(ptx, "%%%c%u", *c, n++);
        else if (*c == '$')
            text_add(ptx, "%%w9");
        else
            text_add_bytes(ptx, c, 1);
    text_add(ptx, ";\n");
}

static bool is_implemented(const char *form) {
    struct text ptx = {0};
    struct ptx_messages messages = {0};
    text_add(&ptx, ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                   ".reg .b16 %%h<10>;\n.reg .b32 %%r<10>;\n.reg .b64 %%w<10>;\n.reg .pred %%p<10>;\n");
    add_instruction(&ptx, form);
    text_add(&ptx, "ret;\n}\n");
    struct ptx_module *module = ptx_parse("form", ptx.data, ptx.length, &messages);
    bool is_known = module && exec_find_unsupported(module, &messages) == 0;
    if (module)
        ptx_module_free(module);
    ptx_messages_free(&messages);
    text_free(&ptx);
    return is_known;
}

static void visit_alternative(void *context, const char *form) {
    struct coverage *coverage = context;
    char key[MENTION_KEY];
    if (coverage->is_covered || !is_implemented(form))
        return;
    if (!coverage->is_implemented)
        snprintf(coverage->example, sizeof coverage->example, "%s", form);
    coverage->is_implemented = true;
    coverage->is_covered = mentions_key(form, strcspn(form, " "), key) && mentions_has(coverage->mentions, key);
}

static void note_opcode(struct coverage *coverage, const char *form) {
    size_t length = strcspn(form, ". ");
    for (unsigned i = 0; i < PTX_N_OPCODES; i++) {
        const char *name = ptx_opcode_name((enum ptx_opcode)i);
        if (strlen(name) == length && memcmp(name, form, length) == 0)
            coverage->has_form[i] = true;
    }
}

static void visit_form(void *context, const char *form) {
    struct coverage *coverage = context;
    coverage->is_implemented = coverage->is_covered = false;
    forms_expand(form, FORMS_STARRED, visit_alternative, coverage);
    coverage->n_forms++;
    coverage->n_implemented += coverage->is_implemented;
    coverage->n_covered += coverage->is_covered;
    if (coverage->is_covered)
        note_opcode(coverage, coverage->example);
    if (coverage->is_implemented && !coverage->is_covered)
        printf("no test: %s\n", coverage->example);
    else if (coverage->lists)
        printf("%s: %s\n", coverage->is_covered ? "tested" : "not implemented", form);
}

/* ---- Opcodes ---- */

static bool is_for_kernels(const char *opcode) {
    static const char *const names[] = {
#define KERNEL_OPCODE(text) text,
#include "kernel_opcodes.def"
#undef KERNEL_OPCODE
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], opcode) == 0)
            return true;
    return false;
}

/* Tells of every opcode that has a meaning and no test; how many there are. */
static unsigned check_opcodes(const struct coverage *coverage) {
    unsigned n_missing = 0;
    for (unsigned i = 0; i < PTX_N_OPCODES; i++) {
        const char *name = ptx_opcode_name((enum ptx_opcode)i);
        if (ptx_opcode_family((enum ptx_opcode)i) == PTX_FAMILY_NONE || coverage->has_form[i])
            continue;
        bool is_kernels = is_for_kernels(name);
        if (is_kernels && mentions_has_opcode(coverage->mentions, name))
            continue;
        n_missing++;
        if (is_kernels)
            printf("no test: no kernel has the opcode %s\n", name);
        else
            printf("no test: the opcode %s has no form in tests/runner/forms.def or extensions.def that is implemented "
                   "and tested\n",
                   name);
    }
    return n_missing;
}

/* ---- Tests ---- */

/* Adds the lines of a table that begin with `op`, without that word. */
static void add_table(struct mentions *mentions, const char *text) {
    const char *line;
    size_t length;
    while (text_next_line(&text, &line, &length)) {
        struct text op = {0};
        if (length < 4 || strncmp(line, "op ", 3) != 0)
            continue;
        text_add_bytes(&op, line + 3, length - 3);
        mentions_add_ptx(mentions, op.data);
        text_free(&op);
    }
}

static bool add_file(struct mentions *mentions, const char *path) {
    char *text = text_read_file(path);
    if (!text) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    const char *ending = strrchr(path, '.');
    if (ending && strcmp(ending, ".txt") == 0)
        add_table(mentions, text);
    else
        mentions_add_ptx(mentions, text);
    free(text);
    return true;
}

int main(int argc, char **argv) {
    struct mentions mentions = {0};
    struct coverage coverage = {.mentions = &mentions};
    int i = 1;
    if (i < argc && strcmp(argv[i], "--list") == 0) {
        coverage.lists = true;
        i++;
    }
    if (i == argc) {
        fprintf(stderr, "usage: coverage [--list] TEST...\n");
        return 2;
    }
    for (; i < argc; i++)
        if (!add_file(&mentions, argv[i]))
            return 1;
    mentions_sort(&mentions);
    for (size_t k = 0; k < forms_n_patterns(); k++)
        forms_expand(forms_pattern(k), FORMS_PLAIN, visit_form, &coverage);
    for (size_t k = 0; k < forms_n_extensions(); k++)
        forms_expand(forms_extension(k), FORMS_PLAIN, visit_form, &coverage);
    printf("%u forms, %u implemented, %u of them tested\n", coverage.n_forms, coverage.n_implemented,
           coverage.n_covered);
    unsigned n_missing = check_opcodes(&coverage);
    mentions_free(&mentions);
    return coverage.n_covered != coverage.n_implemented || n_missing > 0;
}
