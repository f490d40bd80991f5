/* Estimates a run from a sample of its launches, as surveys do (stratified sampling with ratio estimators; see any book
 * on sampling, such as Cochran's "Sampling Techniques", chapters 5 and 6).
 *
 * A run that only counts has told for each launch its instructions, and the lines that it touched and missed in the L2.
 * From these follows its work: the cycles that the machine's peaks would allow. The launches of a kernel are sorted by
 * work and cut into strata of similar launches. The first launch, and launches with much work, are strata of their own
 * and always timed. From each other stratum at least two launches are drawn, spread over the program's time. For a
 * launch that was not drawn, a counter is the stratum's ratio times the launch's work. If the run that counted knows
 * the counter, its value there takes the place of the work.
 *
 * The deviations of the drawn launches from their ratios give the variance of each sum, and Student's distribution the
 * interval that contains the sum in 19 of 20 cases. */
#include "report/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEWEST = 12,       /* launches drawn of a kernel, if there are as many */
    MOST = 48,         /* at first */
    ONE_IN = 20,       /* of many launches of a kernel, this part is drawn */
    WHOLE_STRATUM = 3, /* strata of up to as many launches are timed whole */
    RESULT_CYCLES = 8, /* from an instruction to the next that needs its result, roughly */
    FIRST_SEED = 1,
};

/* ---- Work -------------------------------------------------------------------------------------------------------- */

static double larger(double a, double b) { return a > b ? a : b; }

/* The machine's peaks let a launch take this many cycles: it issues, moves lines, or waits for its own results. */
static double work_of(const struct report_kernel *launch, const struct report_target *target) {
    const struct report_peaks *peaks = &target->peaks;
    double instructions = (double)launch->untimed->warp_instructions;
    double warps = larger(1, (double)launch->untimed->threads / target->lanes);
    double waves = ceil(warps / larger(1, (double)peaks->sms * peaks->warps));
    double work = instructions / larger(1, peaks->per_cycle[REPORT_ISSUE]);
    work = larger(work, instructions / warps * waves * RESULT_CYCLES);
    double touched = (double)launch->touched_lines * peaks->line_bytes;
    double missed = (double)launch->missed_lines * peaks->line_bytes;
    if (peaks->bytes_per_cycle[REPORT_LEVEL_L2] > 0)
        work = larger(work, touched / peaks->bytes_per_cycle[REPORT_LEVEL_L2]);
    if (peaks->bytes_per_cycle[REPORT_LEVEL_DRAM] > 0)
        work = larger(work, missed / peaks->bytes_per_cycle[REPORT_LEVEL_DRAM]);
    return work + 1;
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

/* The generator splitmix64 by Sebastiano Vigna. Returns a number below n. */
static unsigned random_below(uint64_t *seed, unsigned n) {
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (unsigned)((z ^ z >> 31) % n);
}

struct member {
    double work;
    unsigned launch;
};

static int by_work(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    if (x->work != y->work)
        return x->work < y->work ? 1 : -1; /* the largest first */
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

static int by_launch(const void *a, const void *b) {
    const struct member *x = a, *y = b;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

static void choose(struct report_sample *sample, unsigned launch) {
    sample->launch[launch].is_chosen = true;
    sample->n_chosen[sample->launch[launch].stratum]++;
}

/* Makes a stratum of these launches and draws `n` of them, one from each of n equal parts of the program's time. */
static void add_stratum(struct report_sample *sample, struct member *member, unsigned n_members, unsigned n) {
    unsigned stratum = sample->n_strata++;
    sample->n_members[stratum] = n_members;
    qsort(member, n_members, sizeof *member, by_launch);
    for (unsigned i = 0; i < n_members; i++)
        sample->launch[member[i].launch].stratum = stratum;
    if (n_members <= WHOLE_STRATUM || n > n_members)
        n = n_members;
    for (unsigned i = 0; i < n; i++) {
        unsigned first = (unsigned)((uint64_t)n_members * i / n), end = (unsigned)((uint64_t)n_members * (i + 1) / n);
        choose(sample, member[first + random_below(&sample->seed, end - first)].launch);
    }
}

/* Cuts the launches of one kernel, by descending work, into strata. */
static void draw_kernel(struct report_sample *sample, struct member *member, unsigned n) {
    unsigned wanted = n / ONE_IN < FEWEST ? FEWEST : n / ONE_IN > MOST ? MOST : n / ONE_IN;
    double left = 0;
    for (unsigned i = 0; i < n; i++)
        left += member[i].work;
    unsigned first = 0;
    double all = left;
    for (; first < n && member[first].work > all / wanted; first++) { /* with much work */
        add_stratum(sample, &member[first], 1, 1);
        left -= member[first].work;
    }
    unsigned n_strata = wanted / 2;
    for (unsigned i = 0; i < n_strata && first < n; i++) {
        double share = left / (n_strata - i), sum = 0;
        unsigned end = first;
        while (end < n && (sum < share || end - first < 2 || i + 1 == n_strata))
            sum += member[end++].work;
        add_stratum(sample, &member[first], end - first, 2);
        first = end;
        left -= sum;
    }
}

struct report_sample report_sample_new(const struct report_run *counted, const struct report_target *target,
                                       struct base_arena *arena) {
    unsigned n = counted->n_launches;
    struct report_sample sample = {
        .n_launches = n,
        .launch = BASE_ARENA_ARRAY(arena, struct report_drawn, n),
        .n_members = BASE_ARENA_ARRAY(arena, unsigned, n),
        .n_chosen = BASE_ARENA_ARRAY(arena, unsigned, n),
        .seed = FIRST_SEED,
    };
    struct member *member = BASE_ARENA_ARRAY(arena, struct member, n);
    bool *is_done = BASE_ARENA_ARRAY(arena, bool, n);
    for (unsigned i = 0; i < n; i++) {
        const struct report_kernel *launch = &counted->launch[i];
        const double feature[REPORT_N_FEATURES] = {1, (double)launch->untimed->warp_instructions,
                                                   (double)launch->touched_lines, (double)launch->missed_lines};
        sample.launch[i].work = work_of(launch, target);
        memcpy(sample.launch[i].feature, feature, sizeof feature);
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned n_members = 0;
        for (unsigned k = i; k < n && !is_done[i]; k++)
            if (!is_done[k] && strcmp(counted->launch[k].name, counted->launch[i].name) == 0) {
                is_done[k] = k != i;
                sample.launch[k].kernel = sample.n_kernels;
                member[n_members++] = (struct member){sample.launch[k].work, k};
            }
        if (is_done[i])
            continue;
        is_done[i] = sample.launch[i].is_first = true;
        sample.n_kernels++;
        add_stratum(&sample, member, 1, 1); /* the first launch finds cold caches: it is like no other */
        qsort(member + 1, n_members - 1, sizeof *member, by_work);
        draw_kernel(&sample, member + 1, n_members - 1);
    }
    return sample;
}

/* ---- Estimates --------------------------------------------------------------------------------------------------- */

/* Of a stratum: sums over its members (x) and over the drawn ones (sx, sy), and the variance of the sum of y. */
struct sums {
    double x, sx, sy, squares, variance;
    unsigned n, n_drawn, kernel;
};

/* Beyond the table: Cornish and Fisher's expansion. */
double report_student(double freedom) {
    static const double exact[] = {0, 12.706, 4.303, 3.182, 2.776, 2.571};
    const double z = 1.959964;
    if (freedom < 1)
        return exact[1];
    if (freedom < 6)
        return exact[(unsigned)freedom];
    return z + (z * z * z + z) / (4 * freedom) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * freedom * freedom);
}

/* A drawn launch and all others of its stratum: the ratio's deviations show how far the others may be off. */
static void find_variance(struct sums *sums) {
    if (sums->n_drawn == sums->n || sums->n_drawn < 2 || !(sums->sx > 0)) {
        sums->variance = 0;
        return;
    }
    double n = sums->n_drawn, scale = sums->x / (sums->sx / n); /* as many drawn launches as the stratum has work */
    sums->variance = scale * scale * (1 - n / sums->n) * (sums->squares / (n - 1)) / n;
}

/* Returns the half width of the interval of the sum over all strata. */
static double halfwidth_of(const struct sums *sums, unsigned n_strata) {
    double variance = 0, squares = 0;
    for (unsigned i = 0; i < n_strata; i++) {
        variance += sums[i].variance;
        if (sums[i].n_drawn > 1)
            squares += sums[i].variance * sums[i].variance / (sums[i].n_drawn - 1);
    }
    return variance > 0 ? report_student(variance * variance / squares) * sqrt(variance) : 0;
}

static bool is_timed(const struct report_sample *sample, const struct report_run *run, unsigned i) {
    return sample->launch[i].is_chosen && !run->launch[i].n_untimed;
}

/* Fits, for one kernel, factors of the features to the counter's values in the drawn launches: least squares of the
 * relative deviations, factor by factor, none below 0. Returns how many factors are above 0. */
static unsigned fit(const struct report_sample *sample, const struct report_run *run, unsigned at, unsigned kernel,
                    double factor[REPORT_N_FEATURES], unsigned *n_drawn) {
    enum { STEPS = 60 };
    double product[REPORT_N_FEATURES][REPORT_N_FEATURES] = {{0}}, right[REPORT_N_FEATURES] = {0};
    *n_drawn = 0;
    for (unsigned i = 0; i < sample->n_launches; i++) {
        const struct report_drawn *drawn = &sample->launch[i];
        double y = (double)run->launch[i].counters.value[at];
        if (drawn->kernel != kernel || drawn->is_first || !is_timed(sample, run, i))
            continue;
        ++*n_drawn;
        double weight = 1 / ((y + 1) * (y + 1));
        for (unsigned a = 0; a < REPORT_N_FEATURES; a++) {
            right[a] += weight * drawn->feature[a] * y;
            for (unsigned b = 0; b < REPORT_N_FEATURES; b++)
                product[a][b] += weight * drawn->feature[a] * drawn->feature[b];
        }
    }
    memset(factor, 0, REPORT_N_FEATURES * sizeof *factor);
    for (unsigned step = 0; step < STEPS; step++)
        for (unsigned a = 0; a < REPORT_N_FEATURES; a++) {
            double rest = right[a];
            for (unsigned b = 0; b < REPORT_N_FEATURES; b++)
                rest -= b == a ? 0 : product[a][b] * factor[b];
            factor[a] = product[a][a] > 0 && rest > 0 ? rest / product[a][a] : 0;
        }
    unsigned n = 0;
    for (unsigned a = 0; a < REPORT_N_FEATURES; a++)
        n += factor[a] > 0;
    return n;
}

/* Writes the prediction of counter number `at` for each launch to x, and to scale[kernel] by how much the deviations of
 * the drawn launches are too small because the prediction was fitted to them. */
static void predict(const struct report_sample *sample, const struct report_run *counted, const struct report_run *run,
                    unsigned at, double *x, double *scale) {
    double factor[REPORT_N_FEATURES];
    bool is_counted = counted && stats_list[at].when == STATS_ALWAYS;
    for (unsigned kernel = 0; kernel < sample->n_kernels; kernel++) {
        unsigned n_drawn = 0, n = is_counted ? 1 : fit(sample, run, at, kernel, factor, &n_drawn);
        scale[kernel] = n_drawn > n ? (double)n_drawn / (n_drawn - n) : n_drawn ? n_drawn : 1;
        for (unsigned i = 0; i < sample->n_launches; i++) {
            const struct report_drawn *drawn = &sample->launch[i];
            if (drawn->kernel != kernel)
                continue;
            x[i] = is_counted ? (double)counted->launch[i].untimed->value[at] : n ? 0 : drawn->work;
            for (unsigned a = 0; !is_counted && a < REPORT_N_FEATURES; a++)
                x[i] += factor[a] * drawn->feature[a];
        }
    }
}

/* Numbers of one counter. */
struct room {
    struct sums *sums;
    double *x, *y; /* of each launch: prediction and value; y only of launches that were timed */
    double *scale; /* of each kernel: see predict() */
};

static struct room room_for(const struct report_sample *sample, struct base_arena *arena) {
    return (struct room){.sums = BASE_ARENA_ARRAY(arena, struct sums, sample->n_strata),
                         .x = BASE_ARENA_ARRAY(arena, double, sample->n_launches),
                         .y = BASE_ARENA_ARRAY(arena, double, sample->n_launches),
                         .scale = BASE_ARENA_ARRAY(arena, double, sample->n_kernels)};
}

/* The two or three launches of a stratum may be alike by chance. No stratum deviates less, relative to its mean, than
 * all strata of its kernel do together. */
static void pool_deviations(const struct report_sample *sample, const struct room *room) {
    for (unsigned kernel = 0; kernel < sample->n_kernels; kernel++) {
        double squares = 0, freedom = 0;
        for (unsigned i = 0; i < sample->n_strata; i++) {
            const struct sums *sum = &room->sums[i];
            double mean = sum->n_drawn ? sum->sy / sum->n_drawn : 0;
            if (sum->kernel == kernel && sum->n_drawn > 1 && mean > 0) {
                squares += sum->squares / (mean * mean);
                freedom += sum->n_drawn - 1;
            }
        }
        for (unsigned i = 0; i < sample->n_strata && freedom > 0; i++) {
            struct sums *sum = &room->sums[i];
            double mean = sum->n_drawn ? sum->sy / sum->n_drawn : 0;
            if (sum->kernel == kernel && sum->n_drawn > 1)
                sum->squares = larger(sum->squares, squares / freedom * mean * mean * (sum->n_drawn - 1));
        }
    }
}

/* Fills in the sums of every stratum from x, y and scale. */
static void add_up(const struct report_sample *sample, const struct report_run *run, const struct room *room) {
    memset(room->sums, 0, sample->n_strata * sizeof *room->sums);
    for (unsigned i = 0; i < sample->n_launches; i++) {
        struct sums *sum = &room->sums[sample->launch[i].stratum];
        sum->n++;
        sum->kernel = sample->launch[i].kernel;
        sum->x += room->x[i];
        if (is_timed(sample, run, i)) {
            sum->n_drawn++;
            sum->sx += room->x[i];
            sum->sy += room->y[i];
        }
    }
    for (unsigned i = 0; i < sample->n_launches; i++) {
        struct sums *sum = &room->sums[sample->launch[i].stratum];
        if (!is_timed(sample, run, i) || !(sum->sx > 0))
            continue;
        double rest = room->y[i] - sum->sy / sum->sx * room->x[i];
        sum->squares += rest * rest * room->scale[sample->launch[i].kernel];
    }
}

static void find_variances(const struct report_sample *sample, const struct room *room) {
    for (unsigned i = 0; i < sample->n_strata; i++)
        find_variance(&room->sums[i]);
}

/* Fills in the sums of every stratum for one counter. */
static void sum_up(const struct report_sample *sample, const struct report_run *counted, const struct report_run *run,
                   unsigned at, const struct room *room) {
    predict(sample, counted, run, at, room->x, room->scale);
    for (unsigned i = 0; i < sample->n_launches; i++)
        room->y[i] = (double)run->launch[i].counters.value[at];
    add_up(sample, run, room);
    pool_deviations(sample, room);
    find_variances(sample, room);
}

/* Returns whether the run made the launches of the one that counted, and timed one of each stratum. */
static bool fits(const struct report_sample *sample, const struct report_run *counted, const struct report_run *run,
                 struct base_arena *arena) {
    if (run->n_launches != sample->n_launches || counted->n_launches != sample->n_launches)
        return false;
    unsigned *n_timed = BASE_ARENA_ARRAY(arena, unsigned, sample->n_strata);
    for (unsigned i = 0; i < sample->n_launches; i++) {
        const struct report_kernel *a = &run->launch[i], *b = &counted->launch[i];
        if (strcmp(a->name, b->name) != 0 || memcmp(a->grid, b->grid, sizeof a->grid) != 0)
            return false;
        n_timed[sample->launch[i].stratum] += is_timed(sample, run, i);
    }
    for (unsigned i = 0; i < sample->n_strata; i++)
        if (!n_timed[i])
            return false;
    return true;
}

bool report_sample_estimate(const struct report_sample *sample, const struct report_run *counted, unsigned n_runs,
                            struct report_run *run, struct base_arena *arena) {
    if (!sample->n_launches || !fits(sample, counted, run, arena))
        return false;
    struct room room = room_for(sample, arena);
    struct report_estimate *estimate = BASE_ARENA_NEW(arena, struct report_estimate);
    double work = 0, timed_work = 0;
    for (unsigned at = 0; at < STATS_N_COUNTERS; at++) {
        sum_up(sample, counted, run, at, &room);
        estimate->halfwidth[at] = halfwidth_of(room.sums, sample->n_strata);
        double sum = 0, rounded = 0; /* launches are rounded so that their sum is the rounded sum */
        for (unsigned i = 0; i < sample->n_launches; i++) {
            struct report_kernel *launch = &run->launch[i];
            const struct sums *of = &room.sums[sample->launch[i].stratum];
            if (launch->n_untimed) {
                sum += of->sx > 0 ? of->sy / of->sx * room.x[i] : 0;
                launch->counters.value[at] = (uint64_t)(floor(sum + 0.5) - rounded);
                rounded = floor(sum + 0.5);
            }
        }
    }
    run->total.n_untimed = 0;
    run->total.counters = (struct stats_counters){0};
    for (unsigned i = 0; i < sample->n_launches; i++) {
        bool was_timed = !run->launch[i].n_untimed;
        estimate->n_timed += was_timed;
        work += sample->launch[i].work;
        timed_work += was_timed ? sample->launch[i].work : 0;
        run->launch[i].is_estimated = !was_timed;
        stats_add(&run->total.counters, &run->launch[i].counters);
    }
    for (unsigned i = 0; i < sample->n_launches; i++)
        run->launch[i].n_untimed = 0;
    estimate->n_launches = sample->n_launches;
    estimate->n_runs = n_runs;
    estimate->timed_work = timed_work / work;
    run->estimate = estimate;
    return true;
}

/* ---- A larger sample --------------------------------------------------------------------------------------------- */

/* Adds n random launches of the stratum. */
static void draw_more(struct report_sample *sample, unsigned stratum, unsigned n, const unsigned *member,
                      unsigned n_members) {
    for (; n && sample->n_chosen[stratum] < n_members; n--) {
        unsigned number = random_below(&sample->seed, n_members - sample->n_chosen[stratum]);
        for (unsigned i = 0; i < n_members; i++)
            if (!sample->launch[member[i]].is_chosen && number-- == 0) {
                choose(sample, member[i]);
                break;
            }
    }
}

/* Returns the members of a stratum times the standard deviation of one of them. */
static double spread_of(const struct sums *sums) {
    return sums->variance > 0 ? sqrt(sums->variance * sums->n_drawn / (1 - (double)sums->n_drawn / sums->n)) : 0;
}

unsigned report_sample_more(struct report_sample *sample, const struct report_run *run, double error,
                            struct base_arena *arena) {
    struct room room = room_for(sample, arena);
    struct sums *sums = room.sums;
    unsigned *member = BASE_ARENA_ARRAY(arena, unsigned, sample->n_launches), n_added = 0;
    sum_up(sample, NULL, run, STATS_AT_cycles, &room);
    double total = 0, spread = 0, squares = 0;
    for (unsigned i = 0; i < sample->n_strata; i++) {
        double own = spread_of(&sums[i]);
        total += sums[i].sx > 0 ? sums[i].sy / sums[i].sx * sums[i].x : 0;
        spread += own;
        squares += own * own / sums[i].n;
    }
    double allowed = error * total / report_student(30);
    if (halfwidth_of(sums, sample->n_strata) <= error * total)
        return 0;
    for (unsigned i = 0; i < sample->n_strata; i++) {
        if (!(sums[i].variance > 0))
            continue;
        double wanted = ceil(spread_of(&sums[i]) * spread / (allowed * allowed + squares)); /* Neyman's allocation */
        double least = sums[i].n_drawn + 1.0; /* two deviate too little to trust them */
        unsigned n = (unsigned)fmin(larger(wanted, least), sums[i].n) - sums[i].n_drawn, n_members = 0;
        for (unsigned k = 0; k < sample->n_launches; k++)
            if (sample->launch[k].stratum == i)
                member[n_members++] = k;
        draw_more(sample, i, n, member, n_members);
        n_added += n;
    }
    return n_added;
}

/* ---- Two runs ---------------------------------------------------------------------------------------------------- */

double report_sample_difference(const struct report_sample *sample, const struct report_run *a,
                                const struct report_run *b, struct base_arena *arena) {
    struct room room = room_for(sample, arena);
    double cycles_a = (double)a->total.counters.cycles, cycles_b = (double)b->total.counters.cycles;
    if (!(cycles_a > 0) || !(cycles_b > 0))
        return NAN;
    for (unsigned i = 0; i < sample->n_kernels; i++)
        room.scale[i] = 1;
    for (unsigned i = 0; i < sample->n_launches; i++) {
        room.x[i] = sample->launch[i].work;
        room.y[i] = (double)a->launch[i].counters.cycles / cycles_a - (double)b->launch[i].counters.cycles / cycles_b;
    }
    add_up(sample, a, &room);
    find_variances(sample, &room);
    return halfwidth_of(room.sums, sample->n_strata);
}
