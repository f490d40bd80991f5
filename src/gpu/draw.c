/* Stratified sampling of a sequence.
 *
 * The sections of a kernel form strata: sections of one kind whose work is equal within a factor of two. Work is the
 * time that the machine's peaks would allow. A stratum is cut into segments by time: its first section, the next two,
 * the next four... A segment is cut into as many equal parts as it has draws, and of each part one section is drawn, at
 * random. So the first occurrence of everything is timed, frequent work is timed again and again, and the number of
 * timed sections grows with the logarithm of the program's length. A stratum with hardly any of the work is timed once.
 * The number of sections that a launch still has is known. So the second segment of a stratum that begins in a long
 * launch covers up to a third of the remaining sections.
 *
 * Where sections deviate from their prediction, more are drawn. The variance of a sum over strata is least if their
 * draws are in proportion to work and deviation (Neyman's allocation: Cochran, "Sampling Techniques", section 5.5). A
 * segment gets the draws that its stratum needs and does not have yet. If the deviations drift, earlier draws say less
 * about later sections. Then n of them count as n', where 1 / n' = 1 / n + drift^2 / deviation^2.
 *
 * If a small part of one draw would be enough for a stratum, one section of each further segment is drawn, to notice a
 * change. Long launches are an exception: a few windows would resemble each other more than they resemble the launch.
 * */
#include "gpu/draw.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
    SMALL_SHARE = 500,
    GROWTH_BITS = 1,  /* of the size of segments, from one to the next */
    FEWEST_KNOWN = 4, /* degrees of freedom, to know how sections deviate; with fewer at most a part of a long segment
                         is drawn: */
    LARGEST_PART = 4,
    CERTAIN_PART = 20,  /* of a draw: a stratum that needs less is drawn once in a segment */
    FEWEST_CERTAIN = 2, /* degrees of freedom, to know that */
    FIRST_PART = 3,     /* of the launch that the second segment has, at most */
};

struct stratum {
    const char *kernel;
    enum gpu_section_kind kind;
    int size; /* the exponent of its sections' work */
    double work, deviation;
    uint32_t number, n_drawn;
    uint32_t n_left_out;                        /* sizes of segments, after the first */
    uint32_t segment, n_left, n_parts;          /* the current segment, the sections and parts that it still has */
    uint32_t n_part, n_left_in_part, n_skipped; /* of the current part: sections, those still to come, those before the
                                                   one that is drawn */
    uint32_t n_wanted;                          /* draws due in this part; more than 1: some were not possible */
};

struct gpu_draw {
    uint32_t draws, n_strata, capacity;
    double error;
    struct gpu_deviation (*deviation)(void *user, const char *kernel, enum gpu_section_kind kind);
    void *user;
    struct stratum *stratum;
    double work; /* of all sections so far */
};

struct gpu_draw *gpu_draw_new(uint32_t draws, double error,
                              struct gpu_deviation (*deviation)(void *user, const char *kernel,
                                                                enum gpu_section_kind kind),
                              void *user) {
    struct gpu_draw *draw = base_allocate(1, sizeof *draw);
    *draw = (struct gpu_draw){.draws = draws, .error = error, .deviation = deviation, .user = user};
    return draw;
}

void gpu_draw_free(struct gpu_draw *draw) {
    if (draw)
        free(draw->stratum);
    free(draw);
}

/* The generator splitmix64 by Sebastiano Vigna, as a function of its state. Returns a number below n. */
static uint32_t random_below(uint64_t state, uint32_t n) {
    uint64_t z = state * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)((z ^ z >> 31) % n);
}

/* Returns how many sections of a segment are drawn at least: one more of long segments, as there are fewer. */
static uint32_t least_draws(const struct gpu_draw *draw, const struct stratum *stratum) {
    return draw->draws + (stratum->n_left_out > 0);
}

static uint32_t size_of(const struct stratum *stratum, uint32_t segment) {
    uint32_t bits = segment ? GROWTH_BITS * (segment + stratum->n_left_out) : 0;
    return UINT32_C(1) << (bits < 30 ? bits : 30);
}

static void begin_segment(struct stratum *stratum, uint32_t segment, uint32_t draws) {
    stratum->segment = segment;
    stratum->n_left = size_of(stratum, segment);
    stratum->n_parts = draws < stratum->n_left ? draws : stratum->n_left;
    stratum->n_left_in_part = stratum->n_wanted = 0;
}

/* Returns how many sections to draw from the stratum's next segment. */
static uint32_t draws_for(const struct gpu_draw *draw, struct stratum *stratum) {
    uint32_t least = least_draws(draw, stratum);
    if (!(draw->error > 0))
        return least;
    struct gpu_deviation deviation = draw->deviation(draw->user, stratum->kernel, stratum->kind);
    if (!(deviation.freedom > 0))
        return least;
    stratum->deviation = deviation.relative;
    double own = stratum->work * stratum->deviation, sum = own, n_drawn = stratum->n_drawn;
    for (uint32_t i = 0; i < draw->n_strata; i++)
        sum += i == stratum->number ? 0 : draw->stratum[i].work * draw->stratum[i].deviation;
    double t = 2 + 4 / deviation.freedom; /* roughly Student's, but not as wide where hardly anything is known */
    double square = stratum->deviation * stratum->deviation, drift = deviation.drift * deviation.drift;
    double n = t * t * own * sum / (draw->error * draw->error * draw->work * draw->work);
    if (deviation.freedom >= FEWEST_CERTAIN && n * CERTAIN_PART < 1 && !stratum->n_left_out)
        return 1;
    n -= square > 0 ? n_drawn * square / (square + n_drawn * drift) : 0;
    if (deviation.freedom < FEWEST_KNOWN)
        n = fmin(n, fmax((double)size_of(stratum, stratum->segment + 1) / LARGEST_PART, LARGEST_PART));
    return n > least ? (uint32_t)fmin(ceil(n), 1e9) : least;
}

/* Begins the next part of the segment if the last one is complete. Sections that it could not draw
 * are drawn now. */
static void begin_part(struct stratum *stratum) {
    if (stratum->n_left_in_part)
        return;
    uint64_t state = ((uint64_t)stratum->number << 32 | stratum->segment << 26) + stratum->n_parts;
    stratum->n_part = stratum->n_left_in_part = stratum->n_left / stratum->n_parts--;
    stratum->n_skipped = stratum->segment == 0 ? 0 : random_below(state, stratum->n_part);
    stratum->n_wanted++;
}

/* Takes the next section of the current part. Returns whether it is drawn. */
static bool take(const struct gpu_draw *draw, struct stratum *stratum, bool is_possible) {
    bool is_small = stratum->segment && stratum->work * SMALL_SHARE < draw->work;
    bool is_due = stratum->n_part - stratum->n_left_in_part >= stratum->n_skipped || stratum->n_wanted > 1;
    bool is_drawn = is_possible && !is_small && is_due && stratum->n_wanted;
    stratum->n_left_in_part--;
    stratum->n_left--;
    stratum->n_wanted -= is_drawn;
    stratum->n_drawn += is_drawn;
    return is_drawn;
}

static struct stratum *find_stratum(const struct gpu_draw *draw, const char *kernel, enum gpu_section_kind kind,
                                    double work) {
    int size;
    frexp(work, &size);
    for (uint32_t i = 0; i < draw->n_strata; i++) {
        struct stratum *stratum = &draw->stratum[i];
        if (stratum->kernel == kernel && stratum->kind == kind && stratum->size == size)
            return stratum;
    }
    return NULL;
}

static struct stratum *add_stratum(struct gpu_draw *draw, const char *kernel, const struct gpu_section *section) {
    draw->stratum = base_grow(draw->stratum, draw->n_strata + 1, sizeof *draw->stratum);
    struct stratum *stratum = &draw->stratum[draw->n_strata];
    *stratum = (struct stratum){.kernel = kernel, .kind = section->kind, .number = draw->n_strata++};
    frexp(section->work, &stratum->size);
    while (size_of(stratum, 1) * FIRST_PART * (1 << GROWTH_BITS) <= section->n_later)
        stratum->n_left_out++;
    begin_segment(stratum, 0, draw->draws);
    return stratum;
}

bool gpu_draw_add(struct gpu_draw *draw, const char *kernel, struct gpu_section *section, bool is_possible) {
    struct stratum *stratum = find_stratum(draw, kernel, section->kind, section->work);
    if (!stratum)
        stratum = add_stratum(draw, kernel, section);
    if (!stratum->n_left)
        begin_segment(stratum, stratum->segment + 1, draws_for(draw, stratum));
    begin_part(stratum);
    draw->work += section->work;
    stratum->work += section->work;
    section->stratum = stratum->number;
    section->segment = stratum->segment;
    return take(draw, stratum, is_possible);
}

void gpu_draw_add_timed(struct gpu_draw *draw, struct gpu_section *section) {
    struct stratum *stratum = add_stratum(draw, NULL, section);
    draw->work += section->work;
    stratum->work = section->work;
    section->stratum = stratum->number;
    section->segment = 0;
}

bool gpu_draw_expects(const struct gpu_draw *draw, const char *kernel, enum gpu_section_kind kind, double work,
                      uint32_t ahead) {
    const struct stratum *found = find_stratum(draw, kernel, kind, work);
    if (!found)
        return true;
    struct stratum stratum = *found;
    bool is_drawn = false;
    for (uint32_t i = 0; i <= ahead; i++) {
        if (!stratum.n_left)
            begin_segment(&stratum, stratum.segment + 1, draws_for(draw, &stratum));
        begin_part(&stratum);
        is_drawn = take(draw, &stratum, true);
    }
    return is_drawn;
}
