/* Estimates a run from a sample of its sections, as surveys do (stratified sampling with ratio estimators; see any book
 * on sampling, such as Cochran's "Sampling Techniques", chapters 5 and 6).
 *
 * The driver has cut launches into sections, counted for each its instructions, also those of its longest row, and the
 * lines that it touched and missed in the L2, put it into a segment of a stratum, and timed some (gpu/sections.c). For
 * each counter, factors of the counts are fitted to the timed sections of a kernel, which predicts the counter for all
 * sections. If the functional run knows the counter, its value there is the prediction. In each segment the timed
 * sections show the ratio of truth and prediction, which corrects the others.
 *
 * The ratios of two timed sections that follow each other in a stratum differ by chance, or because the ratio changes
 * in time. Half of the mean square of these differences is the variance of one section (Wolter, "Introduction to
 * Variance Estimation", chapter 8), which is rather too large. If all ratios of a kernel vary no more than neighbours
 * do, they do not drift, and one ratio for all segments is the most exact. From the variance follows that of each sum,
 * and with Student's distribution the interval that contains the sum in 19 of 20 cases. No difference shows two errors
 * that all timed sections have, so the interval contains them in addition (doubt_of_family):
 * - Caches were warmed functionally, in another order than in a full run. In a timed section both orders are known, as
 *   both run from the same state: the lines that only one of them fetched are those that the order decides. A section
 *   does not depend on more lines than it finds in the L2.
 * - A window begins with an empty machine. How fast the machine gets used to its work shows how wrong the cycles still
 *   are. */
#include "report/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/fit.h"

enum { N_FEATURES = 6, MOST_GROWTH = 64, FEWEST_TYPICAL = 3 };

/* Sections that are estimated together: a segment of a stratum, with the segments that have no timed section. */
struct group {
    uint32_t stratum, segment, family;
    unsigned n, n_timed;
    double x, sx, sy;        /* predictions of all and of the timed ones, values of the timed ones */
    double far, later;       /* predictions of those in strata, and in segments, without a timed one */
    double squares, freedom; /* the variance of one section's ratio */
    double ratio, share;     /* that corrects the predictions, and how much of it is the group's own */
    bool is_typical;         /* its timed sections resemble others */
};

/* Sections with the same kernel and kind. */
struct family {
    double scale;     /* by how much residues are too small because the prediction was fitted to them */
    bool drifts;      /* each of its groups has its own ratio */
    double precision; /* of the common ratio: one by the variance */
};

struct sample {
    const struct report_run *run;
    unsigned n_families, n_groups;
    unsigned *group;  /* of each section */
    unsigned *family; /* of each section */
    bool *is_cold;    /* the kernel's first section, which finds cold caches */
    struct group *of;
    double *x, *y; /* of each section: prediction and value; y only of timed ones */
    struct family *in;
};

static double larger(double a, double b) { return a > b ? a : b; }

static bool is_timed(const struct sample *sample, unsigned i) { return sample->run->section[i].timed; }

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static const char *kernel_of(const struct report_run *run, unsigned i) {
    return run->launch[run->section[i].launch].name;
}

static void find_families(struct sample *sample, struct base_arena *arena) {
    const struct report_run *run = sample->run;
    unsigned *first = BASE_ARENA_ARRAY(arena, unsigned, run->n_sections);
    for (unsigned i = 0; i < run->n_sections; i++) {
        unsigned k = 0;
        bool is_new = true;
        for (; k < sample->n_families; k++) {
            bool is_same_kernel = strcmp(kernel_of(run, first[k]), kernel_of(run, i)) == 0;
            is_new &= !is_same_kernel;
            if (is_same_kernel && run->section[first[k]].kind == run->section[i].kind)
                break;
        }
        if (k == sample->n_families)
            first[sample->n_families++] = i;
        sample->is_cold[i] = is_new && k + 1 == sample->n_families && first[k] == i;
        sample->family[i] = k;
    }
}

static int by_segment(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    if (x->stratum != y->stratum)
        return x->stratum < y->stratum ? -1 : 1;
    return x->segment < y->segment ? -1 : x->segment > y->segment;
}

static unsigned find_group(const struct sample *sample, uint32_t stratum, uint32_t segment) {
    const struct group key = {.stratum = stratum, .segment = segment};
    const struct group *found = bsearch(&key, sample->of, sample->n_groups, sizeof key, by_segment);
    return (unsigned)(found - sample->of);
}

/* Returns the group that stands for one without a timed section: of the same stratum, otherwise of the same kind,
 * otherwise of the same kernel. */
static unsigned substitute(const struct sample *sample, unsigned group, const char *const *kernel) {
    const struct group *lost = &sample->of[group];
    unsigned best = group;
    double least = INFINITY;
    for (unsigned i = 0; i < sample->n_groups; i++) {
        const struct group *other = &sample->of[i];
        if (!other->n_timed || kernel[i] != kernel[group])
            continue;
        double far = other->stratum == lost->stratum ? fabs((double)other->segment - lost->segment)
                     : other->family == lost->family ? 100
                                                     : 200;
        far += far >= 100 ? fabs((double)other->stratum - lost->stratum) * 1e-9 : 0;
        if (far < least) {
            least = far;
            best = i;
        }
    }
    return best;
}

/* Returns false if a kernel has no timed section. */
static bool find_groups(struct sample *sample, struct base_arena *arena) {
    const struct report_run *run = sample->run;
    unsigned n = run->n_sections;
    struct group *all = BASE_ARENA_ARRAY(arena, struct group, n);
    for (unsigned i = 0; i < n; i++)
        all[i] = (struct group){.stratum = run->section[i].stratum, .segment = run->section[i].segment};
    qsort(all, n, sizeof *all, by_segment);
    for (unsigned i = 0; i < n; i++)
        if (!i || by_segment(&all[i], &all[sample->n_groups - 1]) != 0)
            all[sample->n_groups++] = all[i];
    sample->of = all;
    const char **kernel = BASE_ARENA_ARRAY(arena, const char *, sample->n_groups);
    for (unsigned i = 0; i < n; i++) {
        unsigned group = find_group(sample, run->section[i].stratum, run->section[i].segment);
        sample->group[i] = group;
        all[group].family = sample->family[i];
        all[group].n_timed += is_timed(sample, i);
        for (unsigned k = 0; k < sample->n_groups && !kernel[group]; k++) /* one pointer for each name */
            if (kernel[k] && strcmp(kernel[k], kernel_of(run, i)) == 0)
                kernel[group] = kernel[k];
        kernel[group] = kernel[group] ? kernel[group] : kernel_of(run, i);
    }
    for (unsigned i = 0; i < n; i++)
        if (!all[sample->group[i]].n_timed) {
            unsigned other = substitute(sample, sample->group[i], kernel);
            if (other == sample->group[i])
                return false;
            sample->group[i] = other;
        }
    return true;
}

static bool make_sample(struct sample *sample, const struct report_run *run, struct base_arena *arena) {
    unsigned n = run->n_sections;
    *sample = (struct sample){
        .run = run,
        .group = BASE_ARENA_ARRAY(arena, unsigned, n),
        .family = BASE_ARENA_ARRAY(arena, unsigned, n),
        .is_cold = BASE_ARENA_ARRAY(arena, bool, n),
        .x = BASE_ARENA_ARRAY(arena, double, n),
        .y = BASE_ARENA_ARRAY(arena, double, n),
        .in = BASE_ARENA_ARRAY(arena, struct family, n),
    };
    find_families(sample, arena);
    return find_groups(sample, arena);
}

/* ---- Predictions ------------------------------------------------------------------------------------------------- */

static void features_of(const struct report_section *section, double feature[N_FEATURES]) {
    feature[0] = 1;
    feature[1] = (double)section->counted.warp_instructions;
    feature[2] = (double)section->touched_lines;
    feature[3] = (double)section->missed_lines;
    feature[4] = (double)section->longest;
    feature[5] = section->work;
}

/* Fits a counter to the counts of one family's timed sections. */
static struct stats_fit fit(const struct sample *sample, unsigned at, unsigned family) {
    struct stats_fit fit = {.n_features = N_FEATURES};
    double feature[N_FEATURES];
    for (unsigned i = 0; i < sample->run->n_sections; i++) {
        const struct report_section *section = &sample->run->section[i];
        if (sample->family[i] != family || sample->is_cold[i] || !section->timed)
            continue;
        features_of(section, feature);
        stats_fit_add(&fit, feature, (double)section->timed->value[at]);
    }
    stats_fit_solve(&fit);
    return fit;
}

/* Fills in x, y and the families' scale for counter number `at`. */
static void predict(struct sample *sample, unsigned at) {
    const struct report_run *run = sample->run;
    double feature[N_FEATURES];
    bool is_counted = stats_list[at].when == STATS_ALWAYS;
    for (unsigned family = 0; family < sample->n_families; family++) {
        struct stats_fit fitted = {0};
        if (!is_counted)
            fitted = fit(sample, at, family);
        sample->in[family].scale = stats_fit_scale(&fitted);
        for (unsigned i = 0; i < run->n_sections; i++) {
            const struct report_section *section = &run->section[i];
            if (sample->family[i] != family)
                continue;
            features_of(section, feature);
            sample->x[i] = is_counted      ? (double)section->counted.value[at]
                           : fitted.n_used ? stats_fit_predict(&fitted, feature)
                                           : section->work;
            sample->y[i] = section->timed ? (double)section->timed->value[at] : 0;
        }
    }
}

/* ---- Intervals --------------------------------------------------------------------------------------------------- */

/* Between the numbers of the table, its logarithm is about linear in 1 / freedom. Beyond it: Cornish and Fisher's
 * expansion. */
double report_student(double freedom) {
    static const double exact[] = {0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447};
    const double z = 1.959964;
    if (freedom < 1)
        return exact[1];
    if (freedom < 6) {
        unsigned i = (unsigned)freedom;
        double part = (1.0 / i - 1 / freedom) * i * (i + 1);
        return exact[i] * pow(exact[i + 1] / exact[i], part);
    }
    return z + (z * z * z + z) / (4 * freedom) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * freedom * freedom);
}

/* Adds up x and y in each group. */
static void add_up(struct sample *sample) {
    for (unsigned i = 0; i < sample->n_groups; i++) {
        struct group *group = &sample->of[i];
        group->n = group->n_timed = 0;
        group->x = group->far = group->sx = group->sy = 0;
    }
    for (unsigned i = 0; i < sample->run->n_sections; i++) {
        struct group *group = &sample->of[sample->group[i]];
        group->n++;
        group->x += sample->x[i];
        group->far += group->stratum != sample->run->section[i].stratum ? sample->x[i] : 0;
        if (is_timed(sample, i)) {
            group->n_timed++;
            group->sx += sample->x[i];
            group->sy += sample->y[i];
        }
    }
}

static double estimate_of(const struct sample *sample, unsigned i) {
    const struct group *group = &sample->of[sample->group[i]];
    return group->ratio * sample->x[i];
}

/* Of a stratum or several: half of the squared differences of neighbours, and their number. Of n numbers that vary by
 * chance, the differences have two thirds of the freedom that their deviations from the mean would have. */
struct differences {
    double squares, n, last;
    unsigned family;
    bool has_last;
    double n_timed, n_distinct; /* timed sections, and those whose cycles no earlier one had; of several strata, one
                                   less for each */
};

static double variance_of(const struct differences *differences) {
    return differences->n > 0 ? differences->squares / differences->n : 0;
}

/* A full run takes each launch from another state of the machine, and even equal launches differ. A copy may find the
 * state of an earlier copy, so that it only repeats its cycles. Returns whether timed section i does not. */
static bool is_distinct(const struct report_run *run, unsigned i) {
    for (unsigned k = 0; k < i; k++)
        if (run->section[k].timed && run->section[k].stratum == run->section[i].stratum &&
            run->section[k].timed->cycles == run->section[i].timed->cycles)
            return false;
    return true;
}

/* Marks the timed sections that show how sections vary. The first section of a stratum stands for itself, and what
 * happens for the first time is often not typical. It counts only if the family has hardly any others. */
static void find_typical(const struct sample *sample, bool *is_typical, struct base_arena *arena) {
    unsigned *n_later = BASE_ARENA_ARRAY(arena, unsigned, sample->n_families);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < sample->run->n_sections; i++) {
            bool is_usable = is_timed(sample, i) && !sample->is_cold[i] && sample->x[i] > 0;
            bool is_later = sample->run->section[i].segment > 0;
            if (pass)
                is_typical[i] = is_usable && (is_later || n_later[sample->family[i]] < FEWEST_TYPICAL);
            else
                n_later[sample->family[i]] += is_usable && is_later;
        }
}

/* Finds the differences between the parts of timed sections that follow each other in a stratum. part: of each timed
 * section, relative to its prediction. */
static void find_differences(const struct sample *sample, const double *part, const bool *is_typical,
                             struct differences *stratum) {
    for (unsigned i = 0; i < sample->run->n_sections; i++) {
        struct differences *own = &stratum[sample->run->section[i].stratum];
        own->family = sample->family[i];
        if (!is_typical[i])
            continue;
        own->n_timed++;
        own->n_distinct += is_distinct(sample->run, i);
        double difference = own->has_last ? part[i] - own->last : 0;
        double square = difference * difference / 2 * sample->in[own->family].scale;
        own->squares += square;
        own->n += own->has_last;
        own->last = part[i];
        own->has_last = true;
    }
}

/* Neighbours may be alike by chance. No stratum deviates less than all strata of its family do together, or if these
 * have no neighbours, all strata. Returns the variance of the whole family. */
static double pool(struct sample *sample, unsigned family, const struct differences *stratum, unsigned n_strata) {
    struct differences all = {0}, together = {0};
    for (unsigned i = 0; i < n_strata; i++) {
        all.squares += stratum[i].squares;
        all.n += stratum[i].n;
        together.squares += stratum[i].family == family ? stratum[i].squares : 0;
        together.n += stratum[i].family == family ? stratum[i].n : 0;
        all.n_distinct += fmax(stratum[i].n_distinct - 1, 0);
        together.n_distinct += stratum[i].family == family ? fmax(stratum[i].n_distinct - 1, 0) : 0;
    }
    together = together.n > 0 ? together : all;
    for (unsigned i = 0; i < sample->n_groups; i++) {
        struct group *group = &sample->of[i];
        if (group->family != family)
            continue;
        const struct differences *own = &stratum[group->stratum];
        bool is_own = variance_of(own) > variance_of(&together);
        double n_repeated = own->n_distinct > 0 ? own->n_timed / own->n_distinct : 1;
        group->squares = (is_own ? variance_of(own) : variance_of(&together)) * n_repeated;
        group->freedom = fmax(is_own ? own->n_distinct - 1 : together.n_distinct, 1) * 2 / 3;
    }
    return variance_of(&together);
}

/* Returns how much timed section i stands for. */
static double weight_of(const struct sample *sample, unsigned i) {
    const struct group *group = &sample->of[sample->group[i]];
    return group->n_timed ? group->x / group->n_timed : 0;
}

/* Returns whether the parts of a family vary more than its neighbours do. Each counts as much as the sections that it
 * stands for: many sections are timed at the begin, where there has been little time to drift. */
static bool has_drifted(const struct sample *sample, unsigned family, const double *part, const bool *is_typical,
                        double variance) {
    double n = 0, weights = 0, sum = 0, squares = 0;
    for (unsigned i = 0; i < sample->run->n_sections; i++)
        if (is_typical[i] && sample->family[i] == family) {
            double weight = weight_of(sample, i);
            n++;
            weights += weight;
            sum += weight * part[i];
            squares += weight * part[i] * part[i];
        }
    if (n < 2 || !(weights > 0))
        return true;
    double mean = sum / weights;
    return (squares / weights - mean * mean) * n / (n - 1) * sample->in[family].scale > variance;
}

/* Returns how far the ratios of a family's groups are apart, as the variance of one of them relative to their mean; 1
 * if there is only one. */
static double variance_of_ratios(const struct sample *sample, unsigned family) {
    double n = 0, sum = 0, squares = 0;
    for (unsigned i = 0; i < sample->n_groups; i++) {
        const struct group *group = &sample->of[i];
        double ratio = group->sx > 0 ? group->sy / group->sx : 0;
        if (group->family != family || !group->n_timed)
            continue;
        n++;
        sum += ratio;
        squares += ratio * ratio;
    }
    double mean = n > 0 ? sum / n : 0;
    return n > 1 && mean > 0 ? larger(squares / n - mean * mean, 0) * n / (n - 1) / (mean * mean) : 1;
}

/* Finds the ratio of each group of a family. Equal ratios get a little variance, so that they can be weighed. */
static void find_ratios(struct sample *sample, unsigned family) {
    double sum = 0, precision = 0;
    for (unsigned i = 0; i < sample->n_groups && !sample->in[family].drifts; i++) {
        const struct group *group = &sample->of[i];
        if (group->family != family || !group->is_typical || !(group->sx > 0))
            continue;
        double weight = 1 / larger(group->squares / group->n_timed, 1e-18);
        sum += group->sy / group->sx * weight;
        precision += weight;
    }
    sample->in[family].precision = precision;
    sample->in[family].drifts |= !(precision > 0);
    for (unsigned i = 0; i < sample->n_groups; i++) {
        struct group *group = &sample->of[i];
        if (group->family != family || !group->n_timed)
            continue;
        double own = group->sx > 0 ? group->sy / group->sx : 0;
        group->ratio = sample->in[family].drifts || !(group->sx > 0) ? own : sum / precision;
    }
}

/* Finds how sections vary and the ratios of all groups. part: of each timed section, its value relative to its
 * prediction. */
static void compare_sections(struct sample *sample, const double *part, struct base_arena *arena) {
    unsigned n_strata = 0;
    for (unsigned i = 0; i < sample->n_groups; i++)
        n_strata = sample->of[i].stratum >= n_strata ? sample->of[i].stratum + 1 : n_strata;
    struct differences *stratum = BASE_ARENA_ARRAY(arena, struct differences, n_strata);
    bool *is_typical = BASE_ARENA_ARRAY(arena, bool, sample->run->n_sections);
    find_typical(sample, is_typical, arena);
    find_differences(sample, part, is_typical, stratum);
    for (unsigned i = 0; i < sample->n_groups; i++)
        sample->of[i].is_typical = false;
    for (unsigned i = 0; i < sample->run->n_sections; i++)
        sample->of[sample->group[i]].is_typical |= is_typical[i];
    for (unsigned family = 0; family < sample->n_families; family++) {
        double variance = pool(sample, family, stratum, n_strata);
        sample->in[family].drifts = has_drifted(sample, family, part, is_typical, variance);
        find_ratios(sample, family);
    }
}

/* Returns the variance of the sum over a family, and sets the freedom that it is known with: the sections that were not
 * timed vary, and so do those that their ratio was computed from. */
static double variance_of_family(const struct sample *sample, unsigned family, double *freedom) {
    double variance = 0, common = 0, weighted = 0;
    bool drifts = sample->in[family].drifts;
    for (unsigned i = 0; i < sample->n_groups; i++) {
        const struct group *group = &sample->of[i];
        if (group->family != family || !group->n_timed || group->n_timed == group->n)
            continue;
        double rest = larger(group->x - group->sx, 0);
        double own = rest * rest * group->squares / (group->n - group->n_timed);
        own += drifts ? rest * rest * group->squares / group->n_timed : 0;
        own += group->far * group->far * variance_of_ratios(sample, family);
        common += rest;
        variance += own;
        weighted += own * group->freedom;
        *freedom = group->freedom;
    }
    *freedom = variance > 0 ? weighted / variance : *freedom;
    return variance + (drifts ? 0 : common * common / sample->in[family].precision);
}

/* Returns the half width of the interval of the sum over all sections. */
static double halfwidth_of(const struct sample *sample) {
    double variance = 0, squares = 0;
    for (unsigned family = 0; family < sample->n_families; family++) {
        double freedom = 1, own = variance_of_family(sample, family, &freedom);
        variance += own;
        squares += own * own / freedom;
    }
    return variance > 0 && squares > 0 ? report_student(variance * variance / squares) * sqrt(variance) : 0;
}

/* ---- Estimates --------------------------------------------------------------------------------------------------- */

/* Estimates one counter of all launches. Returns the half width of its sum's interval. */
static double estimate_counter(struct sample *sample, struct report_run *run, unsigned at, double *part,
                               struct base_arena *arena) {
    predict(sample, at);
    add_up(sample);
    for (unsigned i = 0; i < run->n_sections; i++)
        part[i] = run->section[i].timed && sample->x[i] > 0 ? sample->y[i] / sample->x[i] : 0;
    compare_sections(sample, part, arena);
    double sum = 0, rounded = 0; /* launches are rounded so that their sum is the rounded sum */
    for (unsigned i = 0; i < run->n_sections; i++) {
        const struct report_section *section = &run->section[i];
        struct report_kernel *launch = &run->launch[section->launch];
        if (section->timed) {
            launch->counters.value[at] += section->timed->value[at];
            continue;
        }
        sum += estimate_of(sample, i);
        launch->counters.value[at] += (uint64_t)(floor(sum + 0.5) - rounded);
        rounded = floor(sum + 0.5);
    }
    return halfwidth_of(sample);
}

/* Returns by how much windows are still wrong, relative to their cycles: `early` are their mean cycles with no blocks
 * and with half as many blocks before the section. If a machine that begins empty approaches its final speed by the
 * same factor in equal times, this is the rest of the geometric series (Aitken). */
static double error_of_windows(const double early[2]) {
    double first = early[0] - early[1], second = early[1] - 1;
    if (fabs(second) >= fabs(first))
        return fabs(second);
    return fabs(second * second / (first - second));
}

/* Returns how many cycles the sum over a family may be wrong, for reasons that all its timed sections share. Sections
 * that found the caches of a full run have no such error. */
static double doubt_of_family(const struct sample *sample, unsigned family) {
    double all = 0, cycles = 0, lines = 0, early[2] = {0}, n = 0;
    for (unsigned i = 0; i < sample->run->n_sections; i++) {
        const struct report_section *section = &sample->run->section[i];
        if (sample->family[i] != family || section->has_true_caches)
            continue;
        all += section->timed ? sample->y[i] : estimate_of(sample, i);
        if (!section->timed || !section->timed->cycles)
            continue;
        double fetched = (double)section->timed->l2_misses - (double)section->timed->l2_merges;
        cycles += sample->y[i];
        double n_found = (double)section->touched_lines - (double)section->missed_lines;
        lines += section->line_cycles * fmin(fabs(fetched - (double)section->missed_lines), n_found);
        if (section->kind != REPORT_SECTION_MIDDLE)
            continue;
        n++;
        early[0] += ((double)section->early_cycles[0] / sample->y[i] - early[0]) / n;
        early[1] += ((double)section->early_cycles[1] / sample->y[i] - early[1]) / n;
    }
    return cycles > 0 ? all * (lines / cycles + (n > 0 ? error_of_windows(early) : 0)) : 0;
}

bool report_sample_estimate(struct report_run *run, unsigned n_runs, struct base_arena *arena) {
    struct sample sample;
    if (!run->n_sections || !make_sample(&sample, run, arena))
        return false;
    struct report_estimate *estimate = BASE_ARENA_NEW(arena, struct report_estimate);
    double *part = BASE_ARENA_ARRAY(arena, double, run->n_sections), work = 0, timed_work = 0;
    for (unsigned i = 0; i < run->n_launches; i++) {
        run->launch[i].n_untimed = 0;
        run->launch[i].is_estimated = false;
        run->launch[i].counters = (struct stats_counters){0};
    }
    for (unsigned at = 0; at < STATS_N_COUNTERS; at++) {
        estimate->halfwidth[at] = estimate_counter(&sample, run, at, part, arena);
        if (at == STATS_AT_cycles)
            for (unsigned family = 0; family < sample.n_families; family++)
                estimate->doubt += doubt_of_family(&sample, family);
    }
    for (unsigned i = 0; i < run->n_sections; i++) {
        bool was_timed = run->section[i].timed;
        estimate->n_timed += was_timed;
        work += run->section[i].work;
        timed_work += was_timed ? run->section[i].work : 0;
        bool is_whole = run->section[i].kind == REPORT_SECTION_WHOLE || run->section[i].kind == REPORT_SECTION_NEW;
        run->launch[run->section[i].launch].is_estimated |= !was_timed || !is_whole;
    }
    run->total.n_untimed = 0;
    run->total.counters = (struct stats_counters){0};
    for (unsigned i = 0; i < run->n_launches; i++)
        stats_add(&run->total.counters, &run->launch[i].counters);
    estimate->doubt /= run->total.counters.cycles ? (double)run->total.counters.cycles : 1;
    for (unsigned at = 0; at < STATS_N_COUNTERS; at++)
        if (stats_list[at].when != STATS_ALWAYS)
            estimate->halfwidth[at] += estimate->doubt * (double)run->total.counters.value[at];
    estimate->n_sections = run->n_sections;
    estimate->n_launches = run->n_launches;
    estimate->n_runs = n_runs;
    estimate->timed_work = timed_work / work;
    run->estimate = estimate;
    return true;
}

double report_sample_growth(const struct report_run *run, double error) {
    const struct report_estimate *estimate = run->estimate;
    double cycles = (double)run->total.counters.cycles;
    if (!estimate || !(cycles > 0))
        return 1;
    double ratio = (estimate->halfwidth[STATS_AT_cycles] / cycles - estimate->doubt) / error;
    return ratio > 0 ? fmin(ratio * ratio, MOST_GROWTH) : 0;
}

/* ---- Two runs ---------------------------------------------------------------------------------------------------- */

static bool have_same_sections(const struct report_run *a, const struct report_run *b) {
    if (a->n_sections != b->n_sections)
        return false;
    for (unsigned i = 0; i < a->n_sections; i++) {
        const struct report_section *x = &a->section[i], *y = &b->section[i];
        if (x->launch != y->launch || x->first_block != y->first_block || x->n_blocks != y->n_blocks ||
            x->stratum != y->stratum || x->segment != y->segment || !x->timed != !y->timed)
            return false;
    }
    return true;
}

double report_sample_difference(const struct report_run *a, const struct report_run *b, struct base_arena *arena) {
    double cycles_a = (double)a->total.counters.cycles, cycles_b = (double)b->total.counters.cycles;
    if (!a->estimate || !b->estimate || !(cycles_a > 0) || !(cycles_b > 0))
        return NAN;
    if (!have_same_sections(a, b))
        return hypot(a->estimate->halfwidth[STATS_AT_cycles] / cycles_a,
                     b->estimate->halfwidth[STATS_AT_cycles] / cycles_b);
    struct sample sample_a, sample_b;
    if (!make_sample(&sample_a, a, arena) || !make_sample(&sample_b, b, arena))
        return NAN;
    double *part = BASE_ARENA_ARRAY(arena, double, a->n_sections);
    predict(&sample_a, STATS_AT_cycles);
    predict(&sample_b, STATS_AT_cycles);
    for (unsigned i = 0; i < a->n_sections; i++)
        part[i] = a->section[i].timed && sample_a.x[i] > 0
                      ? (sample_a.y[i] - sample_b.y[i] / cycles_b * cycles_a) / sample_a.x[i]
                      : 0;
    for (unsigned i = 0; i < a->n_sections; i++)
        sample_a.x[i] /= cycles_a;
    add_up(&sample_a);
    compare_sections(&sample_a, part, arena);
    return halfwidth_of(&sample_a);
}
