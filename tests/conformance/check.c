/* Compares answers form by form and case by case. */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approx.h"
#include "text.h"

enum { MAX_REPORTS = 400 };

/* --- known deviations */

bool check_names_read(struct check_names *names, const char *path) {
    char *text = text_read_file(path);
    const char *at = text, *line;
    size_t length;
    *names = (struct check_names){0};
    if (!text) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    while (text_next_line(&at, &line, &length)) {
        while (length > 0 && line[length - 1] == ' ')
            length--;
        if (length == 0 || line[0] == '#')
            continue;
        names->name = text_resize(names->name, (names->n + 1) * sizeof *names->name);
        names->name[names->n] = text_resize(NULL, length + 1);
        memcpy(names->name[names->n], line, length);
        names->name[names->n++][length] = 0;
    }
    free(text);
    return true;
}

void check_names_free(struct check_names *names) {
    for (size_t i = 0; i < names->n; i++)
        free(names->name[i]);
    free(names->name);
    *names = (struct check_names){0};
}

static bool is_known(const struct check_names *names, const char *text) {
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->name[i], text) == 0)
            return true;
    return false;
}

/* --- one form */

struct comparison {
    unsigned n_wrong; /* cases */
    unsigned first;   /* a wrong case */
    bool is_approximate;
    struct approx_bound bound;    /* the widest that was asked for */
    double error, recorded_error; /* the largest, where a bound holds */
    unsigned n_equal, n_compared; /* approximate values */
};

/* One value of an approximate form. */
static bool is_near(const struct form *form, const uint64_t *inputs, uint64_t recorded, uint64_t got,
                    struct comparison *comparison) {
    unsigned n_parts = approx_parts(form), width = form_letter_bits(form->output[0].letter) / n_parts;
    bool is_good = true;
    for (unsigned part = 0; part < n_parts; part++) {
        uint64_t mask = width == 64 ? UINT64_MAX : (1ull << width) - 1;
        uint64_t r = recorded >> part * width & mask, g = got >> part * width & mask;
        struct approx_bound bound;
        comparison->n_compared++;
        comparison->n_equal += r == g;
        if (!approx_bound_of(form, inputs, part, &bound)) {
            is_good = is_good && r == g;
            continue;
        }
        double error = approx_error(form, inputs, part, g, r, &bound);
        double recorded_error = approx_error(form, inputs, part, r, r, &bound);
        if (error > comparison->error)
            comparison->error = error;
        if (recorded_error > comparison->recorded_error)
            comparison->recorded_error = recorded_error;
        if (bound.amount > comparison->bound.amount)
            comparison->bound = bound;
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

void check_print_cases(const struct form *form, const struct answer *recorded, const struct answer *got, bool all) {
    uint64_t *values = form_inputs(form);
    printf("%s\n", form->text);
    bool both = recorded && recorded->status == ANSWER_GIVEN && got->status == ANSWER_GIVEN;
    for (unsigned i = 0; i < form->n_cases; i++) {
        bool differs = false;
        for (unsigned k = 0; both && k < form->n_outputs; k++)
            differs = differs || form_answer(form, recorded->bytes, k, i) != form_answer(form, got->bytes, k, i);
        if (all || differs) {
            printf("%s", differs ? "*" : " ");
            print_case(form, values, i, recorded, got);
        }
    }
    free(values);
}

/* --- all forms */

enum verdict {
    VERDICT_EQUAL,
    VERDICT_NEAR,        /* approximate, within the bound */
    VERDICT_DIFFERENT,   /* and not known */
    VERDICT_DEVIATES,    /* known */
    VERDICT_REPAIRED,    /* known, but equal now */
    VERDICT_UNSUPPORTED, /* recorded, refused here */
    VERDICT_NOT_PTX,     /* refused here and there */
    VERDICT_UNRECORDED,  /* answered here, refused there or not recorded */
    VERDICT_STALE,       /* recorded with other inputs */
    N_VERDICTS
};

static enum verdict judge(const struct form *form, const struct answer *recorded, const struct answer *got,
                          const struct check_names *deviations, struct comparison *comparison) {
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
    bool deviates = is_known(deviations, form->text);
    if (comparison->n_wrong)
        return deviates ? VERDICT_DEVIATES : VERDICT_DIFFERENT;
    if (deviates)
        return VERDICT_REPAIRED;
    return comparison->is_approximate ? VERDICT_NEAR : VERDICT_EQUAL;
}

static void report(const struct form *form, enum verdict verdict, const struct comparison *comparison,
                   const struct answer *recorded, const struct answer *got) {
    static const char *const words[N_VERDICTS] = {
        [VERDICT_DIFFERENT] = "different",
        [VERDICT_REPAIRED] = "listed as a deviation, but equal",
        [VERDICT_UNRECORDED] = "no answer recorded",
        [VERDICT_STALE] = "recorded with other inputs: record again",
    };
    if (got->status == ANSWER_CRASHED) {
        printf("crashed: %s\n", form->text);
        return;
    }
    printf("%s: %s", words[verdict], form->text);
    if (verdict != VERDICT_DIFFERENT) {
        printf("\n");
        return;
    }
    uint64_t *values = form_inputs(form);
    printf(" (%u of %u cases)\n", comparison->n_wrong, form->n_cases);
    print_case(form, values, comparison->first, recorded, got);
    free(values);
}

static void print_error_row(const struct form *form, const struct comparison *comparison) {
    static const char *const measures[] = {"ulp", "relative", "absolute"};
    const struct approx_bound *bound = &comparison->bound;
    printf("| `%.*s` | %.3g %s%s | %.3g | %.3g | %.0f %% |\n", (int)strcspn(form->text, " "), form->text, bound->amount,
           measures[bound->measure], bound->is_stated ? "" : " (ours)", comparison->recorded_error, comparison->error,
           100.0 * comparison->n_equal / comparison->n_compared);
}

static size_t n_vectors(const struct form_list *list, const struct answers *recorded) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += recorded->answer[i].status == ANSWER_GIVEN ? list->form[i].n_cases : 0;
    return n;
}

bool check_answers(const struct form_list *list, const struct answers *recorded, const struct answers *got,
                   const struct check_names *deviations) {
    unsigned count[N_VERDICTS] = {0}, n_reports = 0;
    struct comparison comparison;
    printf("recorded on %s, driver %s, %s\n", recorded->gpu, recorded->driver, recorded->date);
    for (size_t i = 0; i < list->n; i++) {
        enum verdict verdict = judge(&list->form[i], &recorded->answer[i], &got->answer[i], deviations, &comparison);
        count[verdict]++;
        bool is_worth = verdict == VERDICT_DIFFERENT || verdict == VERDICT_REPAIRED || verdict == VERDICT_UNRECORDED ||
                        verdict == VERDICT_STALE;
        if (is_worth && n_reports++ < MAX_REPORTS)
            report(&list->form[i], verdict, &comparison, &recorded->answer[i], &got->answer[i]);
    }
    if (n_reports > MAX_REPORTS)
        printf("and %u more\n", n_reports - MAX_REPORTS);
    printf("\nlargest errors of the approximate forms, against the exact result\n\n"
           "| form | bound | GPU | here | equal bits |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < list->n; i++)
        if (judge(&list->form[i], &recorded->answer[i], &got->answer[i], deviations, &comparison) <= VERDICT_DEVIATES &&
            comparison.is_approximate)
            print_error_row(&list->form[i], &comparison);
    unsigned n_here = count[VERDICT_EQUAL] + count[VERDICT_NEAR] + count[VERDICT_DIFFERENT] + count[VERDICT_DEVIATES] +
                      count[VERDICT_REPAIRED] + count[VERDICT_UNRECORDED] + count[VERDICT_STALE];
    printf("\n%u forms are implemented; %u are equal bit for bit, %u approximate ones within their bounds, %u known "
           "deviations, %u different, %u without a recorded answer, %u recorded with other inputs\n"
           "%u forms are recorded and not implemented, %u are refused by both; %zu recorded cases\n",
           n_here, count[VERDICT_EQUAL], count[VERDICT_NEAR], count[VERDICT_DEVIATES],
           count[VERDICT_DIFFERENT] + count[VERDICT_REPAIRED], count[VERDICT_UNRECORDED], count[VERDICT_STALE],
           count[VERDICT_UNSUPPORTED], count[VERDICT_NOT_PTX], n_vectors(list, recorded));
    return count[VERDICT_DIFFERENT] + count[VERDICT_REPAIRED] + count[VERDICT_STALE] == 0 &&
           count[VERDICT_UNRECORDED] * 100 <= n_here;
}

void check_print_table(const struct form_list *list, const struct answers *recorded, const struct answers *got,
                       const struct check_names *deviations) {
    printf("| instructions | forms | implemented | recorded | agree |\n|---|---|---|---|---|\n");
    for (size_t pattern = 0; pattern < forms_n_patterns(); pattern++) {
        unsigned n_forms = 0, n_here = 0, n_recorded = 0, n_agree = 0;
        for (size_t i = 0; i < list->n; i++) {
            struct comparison comparison;
            if (list->form[i].pattern != pattern)
                continue;
            enum verdict verdict =
                judge(&list->form[i], &recorded->answer[i], &got->answer[i], deviations, &comparison);
            if (verdict == VERDICT_NOT_PTX)
                continue;
            n_forms++;
            n_here += verdict != VERDICT_UNSUPPORTED;
            n_recorded += verdict != VERDICT_UNSUPPORTED && verdict != VERDICT_UNRECORDED;
            n_agree += verdict == VERDICT_EQUAL || verdict == VERDICT_NEAR;
        }
        if (n_forms == 0)
            continue;
        printf("| `");
        for (const char *c = forms_pattern(pattern); *c; c++) {
            if (*c == '*' && c[-1] == '<')
                continue;
            printf(*c == '|' ? "\\|" : "%c", *c);
        }
        printf("` | %u | %u | %u | %u |\n", n_forms, n_here, n_recorded, n_agree);
    }
}
