/* The inputs of a form: edge cases in pairs, then edges and random bits mixed. They depend on the form's text alone.
 * The recorded answers belong to these values: after a change here or in tests/differential/edge.c they must be
 * recorded again (the hash in the file detects it). */
#include "form.h"

#include <string.h>

#include "differential/edge.h"
#include "text.h"

enum { N_EDGES = 11, WARP = 32 };

/* zeros, ones, limits, halves of the width */
static uint64_t integer_edge(unsigned bits, unsigned k) {
    const uint64_t top = 1ull << (bits - 1), half = 1ull << bits / 2;
    const uint64_t edges[N_EDGES] = {0,    1,        UINT64_MAX,          top, top - 1, top + 1, 2,
                                     half, half - 1, 0x5555555555555555u, bits};
    return edges[k];
}

/* zeros, ones, infinities, NaNs with payload, subnormals, the largest number */
static uint64_t float_edge(unsigned bits, unsigned mantissa, unsigned k) {
    const uint64_t sign = 1ull << (bits - 1), unit = 1ull << mantissa, infinity = (sign - 1) / unit * unit;
    const uint64_t one = infinity / 2 / unit * unit, quiet = unit / 2;
    const uint64_t edges[N_EDGES] = {0,
                                     sign,
                                     one,
                                     sign | one | quiet,
                                     infinity,
                                     sign | infinity,
                                     infinity | quiet | 0x15,
                                     sign | infinity | 0x2a,
                                     1,
                                     sign | (unit - 1),
                                     infinity - 1};
    return edges[k];
}

static uint64_t edge(enum form_class class, unsigned k, unsigned other) {
    switch (class) {
    case FORM_I16:
        return integer_edge(16, k);
    case FORM_I32:
        return integer_edge(32, k);
    case FORM_I64:
        return integer_edge(64, k);
    case FORM_F16:
        return float_edge(16, 10, k);
    case FORM_BF16:
        return float_edge(16, 7, k);
    case FORM_F32:
        return float_edge(32, 23, k);
    case FORM_F64:
        return float_edge(64, 52, k);
    case FORM_F16X2:
        return float_edge(16, 10, k) | float_edge(16, 10, other) << 16;
    case FORM_BF16X2:
        return float_edge(16, 7, k) | float_edge(16, 7, other) << 16;
    default:
        return k;
    }
}

static bool has_edges(enum form_class class) { return class <= FORM_BF16X2; }

static uint64_t mixed(struct random *random, enum form_class class) {
    static const enum kind kinds[] = {
        [FORM_I16] = KIND_I16,       [FORM_I32] = KIND_I32,        [FORM_I64] = KIND_I64, [FORM_F16] = KIND_F16,
        [FORM_BF16] = KIND_BF16,     [FORM_F32] = KIND_F32,        [FORM_F64] = KIND_F64, [FORM_F16X2] = KIND_F16X2,
        [FORM_BF16X2] = KIND_BF16X2, [FORM_PREDICATE] = KIND_PRED,
    };
    uint64_t clamp;
    switch (class) {
    case FORM_AMOUNT:
        return random_chance(random, 70) ? random_below(random, 70) : edge_value(random, KIND_I32);
    case FORM_CARRY:
        return random_below(random, 2);
    case FORM_LANE:
        return random_chance(random, 75) ? random_below(random, 40) : edge_value(random, KIND_I32);
    case FORM_CLAMP:
        if (random_chance(random, 40))
            return 0x1f;
        clamp = random_below(random, 32); /* a separate statement: the order of calls in an expression is unspecified */
        return clamp | random_below(random, 32) << 8;
    case FORM_COMPARE:
        return edge_value(random, KIND_I64);
    default:
        return edge_value(random, kinds[class]);
    }
}

/* In the first warps all lanes take part; in the others some do not. */
struct warp_plan {
    uint32_t mask;
    uint64_t key[3];
    unsigned votes; /* 0: all, 1: none, otherwise some */
};

static struct warp_plan plan_warp(struct random *random, unsigned warp) {
    struct warp_plan plan = {.mask = UINT32_MAX, .votes = warp % 4};
    while (warp >= 4) {
        plan.mask = (uint32_t)random_next(random);
        plan.mask |= (uint32_t)random_next(random) * (warp & 1);
        if (plan.mask)
            break;
    }
    for (unsigned i = 0; i < 3; i++)
        plan.key[i] = edge_value(random, KIND_I64);
    if (warp % 2 == 0)
        plan.key[1] = plan.key[2] = plan.key[0];
    return plan;
}

static uint64_t warp_value(struct random *random, enum form_class class, const struct warp_plan *plan) {
    uint64_t chosen = plan->key[random_below(random, 3)];
    switch (class) {
    case FORM_MASK:
        return plan->mask;
    case FORM_KEY:
        return chosen;
    case FORM_VOTE:
        return plan->votes < 2 ? plan->votes == 0 : random_below(random, 2);
    default:
        return mixed(random, class);
    }
}

/* The bits of -(a * b), so that a sum with the product cancels. */
static uint64_t cancelling(enum form_class class, const uint64_t *value) {
    uint64_t bits = 0;
    if (class == FORM_F64) {
        double a, b, c;
        memcpy(&a, &value[0], 8);
        memcpy(&b, &value[1], 8);
        c = -(a * b);
        memcpy(&bits, &c, 8);
        return c == c ? bits : 0;
    }
    float a, b, c;
    memcpy(&a, &value[0], 4);
    memcpy(&b, &value[1], 4);
    c = -(a * b);
    memcpy(&bits, &c, 4);
    return c == c ? bits : 0;
}

/* Makes the second operand equal to the first, its negation or its neighbour; or the third one cancel a product. */
static void relate(struct random *random, const struct form *form, uint64_t *value) {
    bool is_pair = form->first_hidden >= 2 && form->input[0].class == form->input[1].class;
    bool is_triple = is_pair && form->first_hidden >= 3 && form->input[2].class == form->input[0].class;
    enum form_class class = form->input[0].class;
    uint64_t sign = 1ull << (form_letter_bits(form->input[0].letter) - 1);
    switch (random_below(random, 12)) {
    case 0:
    case 1:
        if (is_pair)
            value[1] = value[0];
        break;
    case 2:
        if (is_pair)
            value[1] = value[0] ^ sign;
        break;
    case 3:
        if (is_pair)
            value[1] = value[0] + random_below(random, 3) - 1;
        break;
    case 4:
        if (is_triple && (class == FORM_F32 || class == FORM_F64))
            value[2] = cancelling(class, value);
        break;
    default:
        break;
    }
}

/* The elements of memory before an operation. */
struct elements {
    enum form_class class;
    unsigned bits;
    bool are_edges, are_equal; /* are_equal: all edges of a word are the same */
};

/* Returns a word of elements; `place` is the first one's edge. */
static uint64_t word_of(struct random *random, struct elements elements, unsigned place) {
    unsigned bits = elements.bits;
    uint64_t word = 0;
    for (unsigned at = 0, k = 0; at < 64; at += bits, k += !elements.are_equal) {
        uint64_t element = elements.are_edges
                               ? edge(elements.class, (place + k) % N_EDGES, random_below(random, N_EDGES))
                               : mixed(random, elements.class);
        word |= (bits == 64 ? element : element & ((1ull << bits) - 1)) << at;
    }
    return word;
}

/* Sets the words in memory before an atomic operation, and the operand of cas that equals it. */
static void fill_memory(struct random *random, const struct form *form, unsigned number, uint64_t *value) {
    unsigned memory = form->first_hidden, n_elements = form_n_elements(form);
    bool has_result = form->n_outputs > form->region_words;
    enum form_class class = has_result ? form->output[0].class : form->input[0].class;
    struct elements elements = {.class = class == FORM_COMPARE ? FORM_I64 : class,
                                .bits = form->access_bytes * 8 / n_elements,
                                .are_edges = number < N_EDGES * N_EDGES,
                                .are_equal = n_elements == 1};
    for (unsigned k = 0; k < form->region_words; k++)
        value[memory + k] = word_of(random, elements, number / N_EDGES + k * n_elements / form->region_words);
    if (form->input[0].class == FORM_COMPARE && random_chance(random, 60))
        value[0] = value[memory] >> value[memory + 1] * 8;
}

/* Sets the words that a bulk reduction reads and those that it changes. */
static void fill_reduction(struct random *random, const struct form *form, unsigned number, uint64_t *value) {
    struct elements elements = {
        .class = form->element_class, .bits = form->element_bits, .are_edges = number < N_EDGES * N_EDGES};
    for (unsigned k = 0; k < 2 * form->region_words; k++)
        value[k] = word_of(random, elements, k < form->region_words ? number : number / N_EDGES);
}

static void fill_case(struct random *random, const struct form *form, unsigned number, const struct warp_plan *plan,
                      uint64_t *value) {
    unsigned n_edge_cases = form->first_hidden >= 2 && has_edges(form->input[1].class) ? N_EDGES * N_EDGES : N_EDGES;
    bool is_edge_case = form->category == FORM_LANES ? number < n_edge_cases
                                                     : form->category == FORM_ATOMIC && number < N_EDGES * N_EDGES;
    unsigned place[3] = {number % N_EDGES, number / N_EDGES % N_EDGES, random_below(random, N_EDGES)};
    for (unsigned k = 0; k < form->n_inputs; k++) {
        enum form_class class = form->input[k].class;
        if (form->category == FORM_WARP || class == FORM_VOTE)
            value[k] = warp_value(random, class, plan);
        else if (class == FORM_OFFSET)
            value[k] = random_below(random, form->region_words * 8 / form->access_bytes) * form->access_bytes;
        else if (is_edge_case && has_edges(class))
            value[k] = edge(class, place[k < 2 ? k : 2], random_below(random, N_EDGES));
        else
            value[k] = mixed(random, class);
    }
    if (!is_edge_case && form->category == FORM_LANES)
        relate(random, form, value);
    if (form->category == FORM_ATOMIC)
        fill_memory(random, form, number, value);
    if (form->category == FORM_REDUCE)
        fill_reduction(random, form, number, value);
    for (unsigned k = 0; k < form->n_inputs; k++)
        if (form->input[k].letter != 'w')
            value[k] &= (1ull << form_letter_bits(form->input[k].letter)) - 1;
}

static uint64_t text_hash(const char *text) {
    uint64_t hash = 0;
    for (; *text; text++)
        hash = random_hash(hash, (uint8_t)*text + 1u);
    return hash;
}

uint64_t *form_inputs(const struct form *form) {
    struct random random = random_stream(1, text_hash(form->text), 0);
    uint64_t *values = text_resize(NULL, ((size_t)form->n_cases * form->n_inputs + 1) * sizeof *values);
    struct warp_plan plan = {0};
    for (unsigned number = 0; number < form->n_cases; number++) {
        if (number % WARP == 0)
            plan = plan_warp(&random, number / WARP);
        fill_case(&random, form, number, &plan, values + (size_t)number * form->n_inputs);
    }
    return values;
}

uint64_t form_inputs_hash(const struct form *form, const uint64_t *values) {
    uint64_t hash = form->n_inputs;
    for (size_t i = 0; i < (size_t)form->n_cases * form->n_inputs; i++)
        hash = random_hash(hash, values[i]);
    return hash;
}
