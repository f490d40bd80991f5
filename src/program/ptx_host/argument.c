/* Reads and prints the arguments of a kernel. An integer that does not fit its type is an error. */
#include "argument.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct host_type types[] = {
    {"u8", 'u', 1},  {"u16", 'u', 2}, {"u32", 'u', 4}, {"u64", 'u', 8}, {"s8", 's', 1},
    {"s16", 's', 2}, {"s32", 's', 4}, {"s64", 's', 8}, {"b8", 'b', 1},  {"b16", 'b', 2},
    {"b32", 'b', 4}, {"b64", 'b', 8}, {"f32", 'f', 4}, {"f64", 'f', 8},
};

static const uint64_t most_bytes = 1ull << 36;

static const struct host_type *find_type(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == length && strncmp(types[i].name, name, length) == 0)
            return &types[i];
    return NULL;
}

size_t host_argument_bytes(const struct host_argument *argument) { return argument->count * argument->type->bytes; }

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static bool store_float(const struct host_type *type, double value, unsigned char *to) {
    float single = (float)value;
    if (type->bytes == 4)
        memcpy(to, &single, 4);
    else
        memcpy(to, &value, 8);
    return true;
}

/* b accepts the values of u and s. */
static bool store_integer(const struct host_type *type, const char *text, const char **end, unsigned char *to) {
    bool is_negative = text[0] == '-';
    char *rest;
    errno = 0;
    uint64_t magnitude = strtoull(text + is_negative, &rest, 0);
    uint64_t half = 1ull << (8 * type->bytes - 1), largest = half + (half - 1);
    uint64_t limit = is_negative ? (type->kind == 'u' ? 0 : half) : type->kind == 's' ? half - 1 : largest;
    bool is_number = rest != text + is_negative && text[is_negative] >= '0' && text[is_negative] <= '9';
    if (!is_number || errno || magnitude > limit)
        return false;
    uint64_t bits = is_negative ? 0 - magnitude : magnitude;
    memcpy(to, &bits, type->bytes);
    *end = rest;
    return true;
}

static bool store_number(const struct host_type *type, const char *text, const char **end, unsigned char *to) {
    if (type->kind != 'f')
        return store_integer(type, text, end, to);
    char *rest;
    double value = type->bytes == 4 ? (double)strtof(text, &rest) : strtod(text, &rest);
    *end = rest;
    return rest != text && store_float(type, value, to);
}

/* ---- Contents of buffers ----------------------------------------------------------------------------------------- */

static void fill_iota(struct host_argument *argument) {
    const struct host_type *type = argument->type;
    for (uint64_t i = 0; i < argument->count; i++) {
        unsigned char *to = argument->data + i * type->bytes;
        if (type->kind == 'f')
            store_float(type, (double)i, to);
        else
            memcpy(to, &i, type->bytes);
    }
}

/* The 64-bit generator from L'Ecuyer's table of multipliers (Math. Comp. 68, 1999), upper half. Floats lie in [0,
 * 1). */
static void fill_random(struct host_argument *argument) {
    const struct host_type *type = argument->type;
    uint64_t state = 12345;
    for (size_t i = 0; i < argument->count; i++) {
        unsigned char *to = argument->data + i * type->bytes;
        state = state * 2862933555777941757u + 3037000493u;
        uint64_t bits = state >> 32;
        state = state * 2862933555777941757u + 3037000493u;
        bits |= state >> 32 << 32;
        if (type->kind == 'f')
            store_float(type, (double)(bits >> 40) * 0x1p-24, to);
        else
            memcpy(to, &bits, type->bytes);
    }
}

/* A shorter list repeats its last number. */
static bool fill_list(struct host_argument *argument, const char *text, char mistake[256]) {
    const struct host_type *type = argument->type;
    size_t n = 0;
    for (const char *end; *text; text = end + (*end == ',')) {
        if (n == argument->count) {
            snprintf(mistake, 256, "there are more numbers than the %zu of %s", n, argument->text);
            return false;
        }
        if (!store_number(type, text, &end, argument->data + n * type->bytes) || (*end && *end != ',')) {
            snprintf(mistake, 256, "'%.*s' in --arg %s is no %s", (int)strcspn(text, ","), text, argument->text,
                     type->name);
            return false;
        }
        n++;
    }
    for (; n > 0 && n < argument->count; n++)
        memcpy(argument->data + n * type->bytes, argument->data + (n - 1) * type->bytes, type->bytes);
    return true;
}

static bool fill(struct host_argument *argument, const char *content, char mistake[256]) {
    if (strcmp(content, "iota") == 0)
        fill_iota(argument);
    else if (strcmp(content, "random") == 0)
        fill_random(argument);
    else
        return fill_list(argument, content, mistake);
    return true;
}

/* ---- Parsing ----------------------------------------------------------------------------------------------------- */

static bool refuse(const char *text, char mistake[256]) {
    snprintf(
        mistake, 256,
        "--arg %s is not an argument; examples: u32:5, f32:1.5, buf:BYTES, buf:f32[N], buf:f32[N]=iota, out:u32[N]",
        text);
    return false;
}

static bool make_room(struct host_argument *argument, char mistake[256]) {
    bool fits = argument->count <= most_bytes / argument->type->bytes;
    argument->data = fits ? calloc(argument->count ? argument->count : 1, argument->type->bytes) : NULL;
    if (!argument->data)
        snprintf(mistake, 256, "--arg %s does not fit into memory", argument->text);
    return argument->data != NULL;
}

/* Parses the text after `buf:` or `out:`: BYTES, or TYPE[N] with or without =CONTENT. */
static bool parse_buffer(struct host_argument *argument, const char *text, char mistake[256]) {
    size_t length = strcspn(text, "[");
    const char *number = text + length + 1, *content = NULL;
    argument->type = find_type(text, length);
    if (text[length] == '\0') {
        argument->type = find_type("b8", 2);
        number = text;
    }
    char *rest;
    errno = 0;
    argument->count = strtoull(number, &rest, 0);
    bool is_number = *number >= '0' && *number <= '9' && !errno;
    if (text[length] == '[' && *rest == ']')
        rest++;
    else if (text[length] == '[')
        is_number = false;
    if (*rest == '=')
        content = rest + 1;
    if (!argument->type || !is_number || argument->count == 0 || (*rest && !content))
        return refuse(argument->text, mistake);
    return make_room(argument, mistake) && (!content || fill(argument, content, mistake));
}

static bool parse_number(struct host_argument *argument, const char *text, char mistake[256]) {
    const char *end;
    argument->count = 1;
    if (!make_room(argument, mistake))
        return false;
    if (store_number(argument->type, text, &end, argument->data) && *end == '\0')
        return true;
    snprintf(mistake, 256, "'%s' in --arg %s is no %s", text, argument->text, argument->type->name);
    return false;
}

bool host_argument_parse(struct host_argument *argument, const char *text, char mistake[256]) {
    *argument = (struct host_argument){.text = text};
    size_t length = strcspn(text, ":");
    if (text[length] != ':')
        return refuse(text, mistake);
    argument->is_printed = length == 3 && strncmp(text, "out", 3) == 0;
    argument->is_buffer = argument->is_printed || (length == 3 && strncmp(text, "buf", 3) == 0);
    if (argument->is_buffer)
        return parse_buffer(argument, text + length + 1, mistake);
    argument->type = find_type(text, length);
    return argument->type ? parse_number(argument, text + length + 1, mistake) : refuse(text, mistake);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void print_float(const struct host_type *type, const unsigned char *from) {
    float single;
    double value;
    memcpy(&single, from, sizeof single);
    if (type->bytes == 4) {
        printf(" %.9g", (double)single);
    } else {
        memcpy(&value, from, sizeof value);
        printf(" %.17g", value);
    }
}

static void print_number(const struct host_type *type, const unsigned char *from) {
    uint64_t bits = 0;
    unsigned unused = 64 - 8 * type->bytes;
    memcpy(&bits, from, type->bytes);
    switch (type->kind) {
    case 'f':
        print_float(type, from);
        break;
    case 's':
        printf(" %" PRId64, (int64_t)(bits << unused) >> unused);
        break;
    case 'u':
        printf(" %" PRIu64, bits);
        break;
    default:
        printf(" 0x%0*" PRIx64, (int)(2 * type->bytes), bits);
    }
}

void host_argument_print(const struct host_argument *argument, unsigned place) {
    enum { PER_LINE = 8 };
    printf("argument %u, %s[%zu]:", place, argument->type->name, argument->count);
    for (size_t i = 0; i < argument->count; i++) {
        if (i % PER_LINE == 0)
            printf("\n%6zu:", i);
        print_number(argument->type, argument->data + i * argument->type->bytes);
    }
    putchar('\n');
}
