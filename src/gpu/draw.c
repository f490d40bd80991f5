/* Stratified sampling of a sequence.
 *
 * The sections of a kernel form strata: sections of one kind whose work is equal within a factor of two. Work is the
 * time that the machine's peaks would allow. A stratum is cut into segments by time: its first section, the next two,
 * the next four... From each segment the same number of sections is drawn, one from each of as many equal parts
 * (selection sampling: Knuth, "The Art of Computer Programming", volume 2, algorithm 3.4.2 S). So everything that a
 * program does for the first time is timed, what it often does is timed again and again, and the number of timed
 * sections grows with the logarithm of the program's length. A stratum with hardly any of the work is timed once. */
#include "gpu/draw.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

enum { FIRST_SEED = 1, SMALL_SHARE = 500 };

struct stratum {
    const char *kernel;
    enum gpu_section_kind kind;
    int size; /* the exponent of its sections' work */
    double work;
    uint32_t segment, n_left, n_parts; /* the current segment, the sections and parts that it still has */
    uint32_t n_left_in_part, n_wanted; /* of the current part: sections that it still has, and those to draw */
};

struct gpu_draw {
    uint32_t draws, n_strata;
    struct stratum *stratum;
    double work; /* of all sections so far */
    uint64_t seed;
};

struct gpu_draw *gpu_draw_new(uint32_t draws) {
    struct gpu_draw *draw = base_allocate(1, sizeof *draw);
    draw->draws = draws;
    draw->seed = FIRST_SEED;
    return draw;
}

void gpu_draw_free(struct gpu_draw *draw) {
    if (draw)
        free(draw->stratum);
    free(draw);
}

/* The generator splitmix64 by Sebastiano Vigna. Returns a number below n. */
static uint32_t random_below(uint64_t *seed, uint32_t n) {
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)((z ^ z >> 31) % n);
}

static void begin_segment(struct gpu_draw *draw, struct stratum *stratum, uint32_t segment) {
    stratum->segment = segment;
    stratum->n_left = UINT32_C(1) << (segment < 31 ? segment : 31);
    stratum->n_parts = draw->draws < stratum->n_left ? draw->draws : stratum->n_left;
    stratum->n_left_in_part = stratum->n_wanted = 0;
}

/* Begins the next part, or segment, if the last one is complete. Sections that it could not draw are drawn now. */
static void advance(struct gpu_draw *draw, struct stratum *stratum) {
    if (!stratum->n_left)
        begin_segment(draw, stratum, stratum->segment + 1);
    if (stratum->n_left_in_part)
        return;
    stratum->n_left_in_part = stratum->n_left / stratum->n_parts--;
    stratum->n_wanted++;
}

static struct stratum *find_stratum(struct gpu_draw *draw, const char *kernel, const struct gpu_section *section) {
    int size;
    frexp(section->work, &size);
    for (uint32_t i = 0; i < draw->n_strata; i++) {
        struct stratum *stratum = &draw->stratum[i];
        if (stratum->kernel == kernel && stratum->kind == section->kind && stratum->size == size)
            return stratum;
    }
    draw->stratum = base_grow(draw->stratum, draw->n_strata + 1, sizeof *draw->stratum);
    struct stratum *stratum = &draw->stratum[draw->n_strata++];
    *stratum = (struct stratum){.kernel = kernel, .kind = section->kind, .size = size};
    begin_segment(draw, stratum, 0);
    return stratum;
}

bool gpu_draw_add(struct gpu_draw *draw, const char *kernel, struct gpu_section *section, bool is_possible) {
    struct stratum *stratum = find_stratum(draw, kernel, section);
    advance(draw, stratum);
    draw->work += section->work;
    stratum->work += section->work;
    section->stratum = (uint32_t)(stratum - draw->stratum);
    section->segment = stratum->segment;
    bool is_small = stratum->segment && stratum->work * SMALL_SHARE < draw->work;
    bool is_chosen = random_below(&draw->seed, stratum->n_left_in_part) < stratum->n_wanted;
    bool is_drawn = is_possible && !is_small && is_chosen;
    stratum->n_left_in_part--;
    stratum->n_left--;
    stratum->n_wanted -= is_drawn;
    return is_drawn;
}
