/* Compares answers form by form and case by case. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approx.h"
#include "text.h"

enum { MAX_REPORTS = 20, MAX_BOUNDS = 3 };

/* --- one form */

/* The errors of the values with the same bound. */
struct errors {
    struct approx_bound bound;
    double here, recorded; /* the largest */
    unsigned n_compared, n_equal;
};

struct comparison {
    unsigned n_wrong; /* cases */
    unsigned first;   /* a wrong case */
    bool is_approximate;
    struct errors errors[MAX_BOUNDS];
    unsigned n_bounds;
};

static struct errors *errors_of(struct comparison *comparison, const struct approx_bound *bound) {
    unsigned i = 0;
    while (i < comparison->n_bounds && strcmp(comparison->errors[i].bound.range, bound->range) != 0)
        i++;
    if (i == MAX_BOUNDS)
        abort();
    if (i == comparison->n_bounds)
        comparison->errors[comparison->n_bounds++] = (struct errors){.bound = *bound};
    return &comparison->errors[i];
}

/* One value of an approximate form. */
static bool is_near(const struct form *form, const uint64_t *inputs, uint64_t recorded, uint64_t got,
                    struct comparison *comparison) {
    unsigned n_parts = approx_parts(form), width = form_letter_bits(form->output[0].letter) / n_parts;
    bool is_good = true;
    for (unsigned part = 0; part < n_parts; part++) {
        uint64_t mask = width == 64 ? UINT64_MAX : (1ull << width) - 1;
        uint64_t r = recorded >> part * width & mask, g = got >> part * width & mask;
        struct approx_bound bound;
        if (!approx_bound_of(form, inputs, part, &bound)) {
            is_good = is_good && r == g;
            continue;
        }
        struct errors *errors = errors_of(comparison, &bound);
        double error = approx_error(form, inputs, part, g, r, &bound);
        errors->here = fmax(errors->here, error);
        errors->recorded = fmax(errors->recorded, approx_error(form, inputs, part, r, r, &bound));
        errors->n_compared++;
        errors->n_equal += r == g;
        is_good = is_good && (r == g || error <= bound.amount);
    }
    return is_good;
}

static struct comparison compare(const struct form *form, const struct answer *recorded, const struct answer *got) {
    struct comparison comparison = {.is_approximate = approx_is(form)};
    uint64_t *values = form_inputs(form);
    for (unsigned i = 0; i < form->n_cases; i++) {
        bool is_good = true;
        for (unsigned k = 0; k < form->n_outputs; k++) {
            uint64_t r = form_answer(form, recorded->bytes, k, i), g = form_answer(form, got->bytes, k, i);
            is_good = is_good &&
                      (comparison.is_approximate ? is_near(form, values + (size_t)i * form->n_inputs, r, g, &comparison)
                                                 : r == g);
        }
        if (!is_good && comparison.n_wrong++ == 0)
            comparison.first = i;
    }
    free(values);
    return comparison;
}

static void print_value(const struct form_value *value, uint64_t bits) {
    printf(" %0*llx", (int)(form_letter_bits(value->letter) + 3) / 4, (unsigned long long)bits);
}

static void print_answer(const struct form *form, const struct answer *answer, unsigned number) {
    for (unsigned k = 0; k < form->n_outputs; k++)
        print_value(&form->output[k], form_answer(form, answer->bytes, k, number));
}

static void print_case(const struct form *form, const uint64_t *values, unsigned number, const struct answer *recorded,
                       const struct answer *got) {
    printf("  %3u:", number);
    for (unsigned k = 0; k < form->n_inputs; k++)
        print_value(&form->input[k], values[(size_t)number * form->n_inputs + k]);
    if (recorded && recorded->status == ANSWER_GIVEN) {
        printf("  recorded");
        print_answer(form, recorded, number);
    }
    if (got->status == ANSWER_GIVEN) {
        printf("  got");
        print_answer(form, got, number);
    }
    printf("\n");
}

void check_print_cases(const struct form *form, const struct answer *recorded, const struct answer *got) {
    uint64_t *values = form_inputs(form);
    printf("%s\n", form->text);
    bool both = recorded && recorded->status == ANSWER_GIVEN && got->status == ANSWER_GIVEN;
    for (unsigned i = 0; i < form->n_cases; i++) {
        bool differs = false;
        for (unsigned k = 0; both && k < form->n_outputs; k++)
            differs = differs || form_answer(form, recorded->bytes, k, i) != form_answer(form, got->bytes, k, i);
        printf("%s", differs ? "*" : " ");
        print_case(form, values, i, recorded, got);
    }
    free(values);
}

/* --- all forms */

enum verdict {
    VERDICT_EQUAL,
    VERDICT_NEAR, /* approximate, within the bound */
    VERDICT_DIFFERENT,
    VERDICT_UNRECORDED,  /* answered here, refused by the GPU or not recorded */
    VERDICT_STALE,       /* recorded with other inputs */
    VERDICT_UNSUPPORTED, /* recorded, refused here */
    VERDICT_NOT_PTX,     /* refused here and by the GPU */
    N_VERDICTS
};

static bool is_implemented(enum verdict verdict) { return verdict < VERDICT_UNSUPPORTED; }

static enum verdict judge(const struct form *form, const struct answer *recorded, const struct answer *got,
                          struct comparison *comparison) {
    *comparison = (struct comparison){0};
    if (got->status == ANSWER_CRASHED)
        return VERDICT_DIFFERENT;
    if (recorded->status == ANSWER_GIVEN && recorded->inputs_hash != got->inputs_hash)
        return VERDICT_STALE;
    if (got->status != ANSWER_GIVEN)
        return recorded->status == ANSWER_GIVEN ? VERDICT_UNSUPPORTED : VERDICT_NOT_PTX;
    if (recorded->status != ANSWER_GIVEN)
        return VERDICT_UNRECORDED;
    *comparison = compare(form, recorded, got);
    if (comparison->n_wrong)
        return VERDICT_DIFFERENT;
    return comparison->is_approximate ? VERDICT_NEAR : VERDICT_EQUAL;
}

static void report(const struct form *form, enum verdict verdict, const struct comparison *comparison,
                   const struct answer *recorded, const struct answer *got) {
    if (got->status == ANSWER_CRASHED)
        printf("crashed: %s\n", form->text);
    else if (verdict == VERDICT_UNRECORDED)
        printf("no answer recorded: %s\n", form->text);
    else if (verdict == VERDICT_STALE)
        printf("recorded with other inputs, record again: %s\n", form->text);
    if (got->status == ANSWER_CRASHED || verdict != VERDICT_DIFFERENT)
        return;
    uint64_t *values = form_inputs(form);
    printf("different: %s (%u of %u cases)\n", form->text, comparison->n_wrong, form->n_cases);
    print_case(form, values, comparison->first, recorded, got);
    free(values);
}

static void print_error_rows(const struct form *form, const struct comparison *comparison) {
    static const char *const measures[] = {"ulp", "relative", "absolute"};
    for (unsigned i = 0; i < comparison->n_bounds; i++) {
        const struct errors *errors = &comparison->errors[i];
        const struct approx_bound *bound = &errors->bound;
        printf("| `%.*s` | %s | %.3g %s%s | ", (int)strcspn(form->text, " "), form->text, bound->range, bound->amount,
               measures[bound->measure], bound->is_stated ? "" : " (ours)");
        if (bound->against_recorded)
            printf("| %.3g from the GPU's", errors->here);
        else
            printf("%.3g | %.3g", errors->recorded, errors->here);
        printf(" | %.0f %% |\n", 100.0 * errors->n_equal / errors->n_compared);
    }
}

struct counts {
    unsigned of[N_VERDICTS], n_implemented;
    size_t n_cases; /* recorded, of forms that are implemented */
};

static struct counts count_verdicts(const struct form_list *list, const struct answers *recorded,
                                    const struct answers *got) {
    struct counts counts = {{0}, 0, 0};
    for (size_t i = 0; i < list->n; i++) {
        struct comparison comparison;
        enum verdict verdict = judge(&list->form[i], &recorded->answer[i], &got->answer[i], &comparison);
        counts.of[verdict]++;
        counts.n_implemented += is_implemented(verdict);
        if (is_implemented(verdict) && recorded->answer[i].status == ANSWER_GIVEN)
            counts.n_cases += list->form[i].n_cases;
    }
    return counts;
}

static void print_counts(const struct counts *counts, const struct answers *recorded) {
    printf("Recorded on %s, driver %s, %s.\n\n", recorded->gpu, recorded->driver, recorded->date);
    printf("| | forms |\n|---|---|\n| implemented | %u |\n| equal bit for bit | %u |\n"
           "| approximate, within the bound | %u |\n| different | %u |\n| without a recorded answer | %u |\n"
           "| recorded, not implemented | %u |\n\n%zu recorded cases of implemented forms\n",
           counts->n_implemented, counts->of[VERDICT_EQUAL], counts->of[VERDICT_NEAR], counts->of[VERDICT_DIFFERENT],
           counts->of[VERDICT_UNRECORDED] + counts->of[VERDICT_STALE], counts->of[VERDICT_UNSUPPORTED],
           counts->n_cases);
}

void check_print_errors(const struct form_list *list, const struct answers *recorded, const struct answers *got) {
    struct counts counts = count_verdicts(list, recorded, got);
    print_counts(&counts, recorded);
    printf("\n| form | operands | bound | largest error, GPU | largest error, Heddle | equal bits |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < list->n; i++) {
        struct comparison comparison;
        if (is_implemented(judge(&list->form[i], &recorded->answer[i], &got->answer[i], &comparison)) &&
            comparison.is_approximate)
            print_error_rows(&list->form[i], &comparison);
    }
}

bool check_answers(const struct form_list *list, const struct answers *recorded, const struct answers *got) {
    unsigned n_reports = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct comparison comparison;
        enum verdict verdict = judge(&list->form[i], &recorded->answer[i], &got->answer[i], &comparison);
        bool is_worth = verdict >= VERDICT_DIFFERENT && is_implemented(verdict);
        if (is_worth && n_reports++ < MAX_REPORTS)
            report(&list->form[i], verdict, &comparison, &recorded->answer[i], &got->answer[i]);
    }
    if (n_reports > MAX_REPORTS)
        printf("and %u more\n", n_reports - MAX_REPORTS);
    check_print_errors(list, recorded, got);
    struct counts counts = count_verdicts(list, recorded, got);
    return counts.of[VERDICT_DIFFERENT] + counts.of[VERDICT_STALE] == 0 &&
           counts.of[VERDICT_UNRECORDED] * 100 <= counts.n_implemented;
}

/* --- the table of supported instructions */

static const struct {
    const char *name, *family;
} opcodes[] = {
#define PTX_OPCODE(id, text, family) {text, #family},
#include "ptx/opcodes.def"
#undef PTX_OPCODE
};

struct row {
    char text[FORMS_TEXT]; /* the pattern without its operands */
    unsigned n_forms, n_implemented, n_recorded, n_agree;
};

/* Patterns that differ only in their operands are one row. */
static struct row *find_row(struct row *rows, size_t *n, const char *pattern) {
    char text[FORMS_TEXT];
    size_t length = 0;
    for (const char *c = pattern; *c != ' '; c++)
        if (*c != '*' || c[-1] != '<')
            text[length++] = *c;
    text[length] = 0;
    for (size_t i = 0; i < *n; i++)
        if (strcmp(rows[i].text, text) == 0)
            return &rows[i];
    rows[*n] = (struct row){.n_forms = 0};
    memcpy(rows[*n].text, text, length + 1);
    return &rows[(*n)++];
}

static void print_row(const struct row *row) {
    if (row->n_forms == 0)
        return;
    printf("| `");
    for (const char *c = row->text; *c; c++)
        printf(*c == '|' ? "\\|" : "%c", *c);
    printf("` | %u | %u | %u | %u |\n", row->n_forms, row->n_implemented, row->n_recorded, row->n_agree);
}

static bool has_forms(const struct form_list *list, const char *opcode) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->form[i].word[0], opcode) == 0)
            return true;
    return false;
}

/* Only PTX's own opcodes: a GPU cannot confirm Heddle's extensions. */
static void print_opcodes(const struct form_list *list, bool is_supported) {
    const char *separator = "";
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++) {
        bool is_ptx = strcmp(opcodes[i].family, "EXTENSION") != 0;
        if (is_ptx && (strcmp(opcodes[i].family, "NONE") != 0) == is_supported && !has_forms(list, opcodes[i].name)) {
            printf("%s`%s`", separator, opcodes[i].name);
            separator = " ";
        }
    }
    printf("\n");
}

void check_print_table(const struct form_list *list, const struct answers *recorded, const struct answers *got) {
    size_t n_rows = 0;
    struct row *rows = text_resize(NULL, forms_n_patterns() * sizeof *rows);
    for (size_t pattern = 0; pattern < forms_n_patterns(); pattern++) {
        struct row *row = find_row(rows, &n_rows, forms_pattern(pattern));
        for (size_t i = 0; i < list->n; i++) {
            struct comparison comparison;
            if (list->form[i].pattern != pattern)
                continue;
            enum verdict verdict = judge(&list->form[i], &recorded->answer[i], &got->answer[i], &comparison);
            row->n_forms += verdict != VERDICT_NOT_PTX;
            row->n_implemented += is_implemented(verdict);
            row->n_recorded += is_implemented(verdict) && verdict != VERDICT_UNRECORDED;
            row->n_agree += verdict <= VERDICT_NEAR;
        }
    }
    printf("| instructions | forms | implemented | recorded | agree |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < n_rows; i++)
        print_row(&rows[i]);
    printf("\nSupported, and tested by whole kernels (`tests/kernels`) rather than by recorded answers:\n\n");
    print_opcodes(list, true);
    printf("\nKnown and not supported; a module that uses one is refused with its line:\n\n");
    print_opcodes(list, false);
    free(rows);
}
