/* The inputs of a case: elements chosen without regard to their place, by one of several plans, so that every product
 * and the addend meet terms of every size: all bits, wide and narrow ranges of exponents, sums that cancel, few terms,
 * powers of two, subnormals, overflow, infinities and NaNs. */
#include <string.h>

#include "form.h"

enum plan {
    PLAN_BITS,
    PLAN_FINITE,
    PLAN_NEAR_ONE,
    PLAN_WIDE,
    PLAN_CANCEL,
    PLAN_CANCEL_WIDE,
    PLAN_FEW,
    PLAN_POWERS,
    PLAN_POWERS_FEW,
    PLAN_SUBNORMAL,
    PLAN_SPECIAL,
    PLAN_RARE_SPECIAL,
    PLAN_OVERFLOW,
    PLAN_ONES,
    PLAN_POSITIVE,
    PLAN_SMALL,
    N_PLANS
};

struct random {
    uint64_t state;
};

static uint64_t next(struct random *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static unsigned below(struct random *random, unsigned n) { return (unsigned)((next(random) >> 32) * n >> 32); }
static int between(struct random *random, int low, int high) {
    return low + (int)below(random, (unsigned)(high - low + 1));
}

struct format {
    int exponent_bits, mantissa_bits;
};

static struct format format_of(enum form_type type) {
    switch (type) {
    case FORM_F16:
        return (struct format){5, 10};
    case FORM_BF16:
        return (struct format){8, 7};
    case FORM_E4M3:
        return (struct format){4, 3};
    case FORM_E5M2:
        return (struct format){5, 2};
    case FORM_F64:
        return (struct format){11, 52};
    case FORM_TF32:
    case FORM_F32:
        return (struct format){8, 23};
    default:
        return (struct format){0, 0};
    }
}

/* What the elements of a case share. */
struct scene {
    enum plan plan;
    int center[3]; /* exponents of A, B and C */
    int width;     /* of the window of exponents */
    uint64_t mantissa;
    unsigned gap;
};

static int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

static uint64_t compose(struct format f, bool is_negative, int exponent, uint64_t mantissa) {
    int bias = (1 << (f.exponent_bits - 1)) - 1, field = clamp(exponent + bias, 0, (1 << f.exponent_bits) - 2);
    uint64_t bits = (uint64_t)field << f.mantissa_bits | (mantissa >> (64 - f.mantissa_bits));
    return bits | (uint64_t)is_negative << (f.exponent_bits + f.mantissa_bits);
}

static uint64_t special(struct format f, struct random *random) {
    uint64_t top = ((1ull << f.exponent_bits) - 1) << f.mantissa_bits, ones = (1ull << f.mantissa_bits) - 1;
    uint64_t sign = (next(random) & 1) << (f.exponent_bits + f.mantissa_bits);
    switch (below(random, 8)) {
    case 0:
    case 1:
        return sign;
    case 2:
    case 3:
        return sign | top;
    case 4:
        return sign | top | (next(random) & ones);
    case 5:
        return sign | (top - 1 - ones + ones); /* the largest number */
    case 6:
        return sign | 1;
    default:
        return sign | ones;
    }
}

/* operand: 0 A, 1 B, 2 C */
static uint64_t float_element(struct format f, const struct scene *scene, unsigned operand, struct random *random) {
    uint64_t bits = next(random), mantissa = next(random);
    bool is_negative = bits & 1;
    int center = scene->center[operand], e = center + between(random, -scene->width, scene->width);
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    switch (scene->plan) {
    case PLAN_BITS:
        return bits >> 8 & ((1ull << (f.exponent_bits + f.mantissa_bits)) * 2 - 1);
    case PLAN_FINITE:
        return compose(f, is_negative, between(random, -bias, bias), mantissa);
    case PLAN_NEAR_ONE:
        return compose(f, is_negative, between(random, -3, 2), mantissa);
    case PLAN_CANCEL:
    case PLAN_CANCEL_WIDE:
        if (operand == 1) /* factors that leave A as it is, or make it smaller */
            return compose(f, is_negative, below(random, 4) ? center : e, scene->plan == PLAN_CANCEL ? 0 : mantissa);
        if (below(random, 8) == 0)
            return 0;
        if (below(random, 3)) /* equal in size, or nearly so */
            return compose(f, is_negative, center, scene->mantissa) ^ (below(random, 4) == 0);
        return compose(f, is_negative, center - (int)below(random, scene->gap + 1), mantissa);
    case PLAN_FEW:
        return below(random, 4) ? 0 : compose(f, is_negative, e, mantissa);
    case PLAN_POWERS:
        return compose(f, is_negative, e, 0);
    case PLAN_POWERS_FEW:
        return below(random, 3) ? 0 : compose(f, is_negative, e, 0);
    case PLAN_SUBNORMAL:
        return compose(f, is_negative, between(random, -bias, -bias + 3), mantissa);
    case PLAN_SPECIAL:
        return below(random, 8) ? compose(f, is_negative, e, mantissa) : special(f, random);
    case PLAN_RARE_SPECIAL:
        return below(random, 150) ? compose(f, is_negative, e, mantissa) : special(f, random);
    case PLAN_OVERFLOW:
        return compose(f, is_negative, between(random, bias - 3, bias), mantissa);
    case PLAN_ONES:
        return compose(f, is_negative, e, below(random, 4) ? UINT64_MAX << below(random, 4) : 0);
    case PLAN_POSITIVE:
        return compose(f, false, e, mantissa);
    case PLAN_SMALL:
        return compose(f, is_negative, between(random, 0, 2), mantissa & 7ull << 61);
    default:
        return compose(f, is_negative, e, mantissa);
    }
}

/* Integers: all bits, the limits, small numbers; the addend near overflow. */
static uint64_t integer_element(enum form_type type, const struct scene *scene, struct random *random) {
    uint64_t bits = next(random);
    if (type == FORM_S32)
        switch (scene->plan % 4) {
        case 0:
            return bits;
        case 1:
            return 0x7fffffffu - below(random, 4096);
        case 2:
            return 0x80000000u + below(random, 4096);
        default:
            return (uint64_t)between(random, -100000, 100000);
        }
    switch (scene->plan) {
    case PLAN_CANCEL:
        return UINT64_MAX;
    case PLAN_OVERFLOW:
        return form_type_bits(type) == 1 ? bits : 1ull << (form_type_bits(type) - 1);
    case PLAN_ONES:
        return form_type_bits(type) == 1 ? UINT64_MAX : UINT64_MAX >> (65 - form_type_bits(type));
    case PLAN_FEW:
        return below(random, 4) ? 0 : bits;
    default:
        return bits;
    }
}

static uint64_t metadata(enum form_type type, struct random *random) {
    static const uint8_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe}, singles[] = {0x4, 0xe};
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)(type == FORM_METADATA_SINGLE ? singles[below(random, 2)] : pairs[below(random, 6)]) << 4 * i;
    return word;
}

static void fill_offsets(struct random *random, uint32_t *words) {
    for (unsigned i = 0; i < FORM_MATRIX_ROWS; i++) {
        unsigned j = below(random, i + 1);
        words[i] = words[j];
        words[j] = 16 * i;
    }
}

static struct scene choose_scene(const struct form *form, unsigned number, struct random *random) {
    struct scene scene = {.plan = (enum plan)(number % N_PLANS), .mantissa = next(random)};
    struct format a = format_of(form->input[0].type), b = format_of(form->input[1].type);
    int a_bias = (1 << (a.exponent_bits - (a.exponent_bits > 0))) - 1,
        b_bias = (1 << (b.exponent_bits - (b.exponent_bits > 0))) - 1;
    int spread = clamp(a_bias / 2, 0, 40);
    scene.center[0] = between(random, -clamp(a_bias / 2, 0, 20), clamp(a_bias / 2, 0, 20));
    scene.center[1] = between(random, -clamp(b_bias / 2, 0, 20), clamp(b_bias / 2, 0, 20));
    scene.center[2] = scene.center[0] + scene.center[1] + between(random, -4, 4);
    scene.width = between(random, 0, spread);
    scene.gap = (unsigned)between(random, 1, 2 * spread + 1);
    if (scene.plan == PLAN_CANCEL || scene.plan == PLAN_CANCEL_WIDE) {
        scene.center[1] = below(random, 2) ? 0 : scene.center[1];
        scene.center[2] = scene.center[0] + scene.center[1];
    }
    return scene;
}

static void fill_operand(const struct form_operand *operand, const struct scene *scene, unsigned place, bool is_index,
                         struct random *random, uint32_t *words) {
    unsigned bits = form_type_bits(operand->type);
    struct format format = format_of(operand->type);
    memset(words, 0, operand->n_words * sizeof *words);
    if (operand->type == FORM_OFFSETS) {
        fill_offsets(random, words);
        return;
    }
    for (unsigned i = 0; i < operand->n_elements; i++) {
        uint64_t value;
        if (is_index)
            value = i;
        else if (operand->type == FORM_METADATA_PAIRS || operand->type == FORM_METADATA_SINGLE)
            value = metadata(operand->type, random);
        else if (format.exponent_bits)
            value = float_element(format, scene, place, random);
        else
            value = integer_element(operand->type, scene, random);
        if (bits == 64) {
            words[2 * i] = (uint32_t)value;
            words[2 * i + 1] = (uint32_t)(value >> 32);
        } else {
            uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
            words[i * bits / 32] |= ((uint32_t)value & mask) << i * bits % 32;
        }
    }
}

void form_fill_case(const struct form *form, unsigned number, uint32_t *words) {
    struct random random = {0x243f6a8885a308d3u + number};
    for (const char *c = form->text; *c; c++)
        random.state = (random.state ^ (unsigned char)*c) * 0x100000001b3u;
    struct scene scene = choose_scene(form, number, &random);
    bool moves = form->kind != FORM_MMA && form->kind != FORM_WMMA && form->kind != FORM_WGMMA;
    for (unsigned i = 0; i < form->n_inputs; i++) {
        fill_operand(&form->input[i], &scene, i, moves && number == 0, &random, words);
        words += form->input[i].n_words;
    }
}
