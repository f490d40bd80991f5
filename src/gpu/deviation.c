/* The deviation of timed sections from their prediction. See deviation.h. */
#include "gpu/deviation.h"

#include <math.h>

#include "stats/fit.h"

enum { N_FEATURES = 6, FEWEST_TYPICAL = 3 };

static void features_of(const struct gpu_section *section, double *feature) {
    feature[0] = 1;
    feature[1] = (double)section->counted.warp_instructions;
    feature[2] = (double)section->warmed.touched_lines;
    feature[3] = (double)section->warmed.missed_lines;
    feature[4] = (double)section->longest;
    feature[5] = section->work;
}

/* Returns whether a section is of this kernel and kind. */
static bool is_of(const struct gpu *gpu, const struct gpu_section *section, const char *kernel,
                  enum gpu_section_kind kind) {
    return section->kind == kind && gpu->launch[section->launch].kernel == kernel;
}

/* Returns whether a section shows how sections vary, as in report/sample.c. n_later: timed ones that are not the first
 * of their stratum. */
static bool is_typical(const struct gpu_section *section, double n_later) {
    return section->timed && (section->segment > 0 || n_later < FEWEST_TYPICAL);
}

static double ratio_of(const struct gpu_section *section, const struct stats_fit *fit) {
    double feature[N_FEATURES];
    features_of(section, feature);
    return (double)section->timed->cycles / stats_fit_predict(fit, feature);
}

struct gpu_deviation gpu_deviation_of(const struct gpu *gpu, const struct gpu_section *all, uint32_t n_sections,
                                      const char *kernel, enum gpu_section_kind kind) {
    struct stats_fit fit = {.n_features = N_FEATURES};
    double feature[N_FEATURES], squares = 0, freedom = 0, n_later = 0, n = 0, sum = 0, all_squares = 0;
    for (uint32_t i = 0; i < n_sections; i++)
        if (is_of(gpu, &all[i], kernel, kind) && all[i].timed) {
            features_of(&all[i], feature);
            stats_fit_add(&fit, feature, (double)all[i].timed->cycles);
            n_later += all[i].segment > 0;
        }
    stats_fit_solve(&fit);
    for (uint32_t i = 0; i < n_sections; i++) {
        const struct gpu_section *section = &all[i];
        if (!is_of(gpu, &all[i], kernel, kind) || !is_typical(section, n_later))
            continue;
        double ratio = ratio_of(section, &fit);
        n++;
        sum += ratio;
        all_squares += ratio * ratio;
        for (uint32_t k = i; k-- > 0;) { /* the one before it in the stratum */
            const struct gpu_section *before = &all[k];
            if (before->stratum != section->stratum || !is_typical(before, n_later))
                continue;
            double difference = ratio - ratio_of(before, &fit);
            squares += difference * difference / 2;
            freedom++;
            break;
        }
    }
    double scale = stats_fit_scale(&fit), variance = freedom > 0 ? squares / freedom : 0;
    double total = n > 1 ? (all_squares - sum * sum / n) / (n - 1) : 0;
    return (struct gpu_deviation){sqrt(scale * variance), sqrt(fmax(total - variance, 0) * scale), freedom};
}
