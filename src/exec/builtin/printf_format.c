/* Formats one thread's call of device printf, with the conversions of C.
 *
 * From the CUDA C++ Programming Guide ("Formatted Output"): flags "-+ #0", width and precision (also *), sizes hh h l
 * ll, conversions % d i u o x X c s p e E f F g G a A. Sizes are those of a 64-bit Linux host; z, j and t are accepted
 * too. Anything else is printed unchanged and uses no argument. Width and precision are limited to MAX_WIDTH. */
#include "exec/internal.h"

#include <stdarg.h>
#include <stdlib.h>

enum { MAX_WIDTH = 1 << 20 };

void exec_text_add(struct exec_text *text, const char *bytes, size_t length) {
    if (text->is_truncated)
        return;
    if (text->length + length + 1 > text->room) {
        size_t room = 2 * (text->length + length) + 64;
        char *data = realloc(text->data, room);
        if (!data) {
            text->is_truncated = true;
            return;
        }
        text->data = data;
        text->room = room;
    }
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void exec_text_free(struct exec_text *text) {
    free(text->data);
    *text = (struct exec_text){0};
}

/* A parsed conversion specification. */
struct directive {
    char flags[8];
    int width, precision; /* precision -1: none */
    bool takes_width, takes_precision;
    char size[3]; /* "", "hh", "h", "l", "ll", "z", "j", "t", "L" */
    char conversion;
};

static const char *parse_number(const char *p, int *number) {
    for (*number = 0; *p >= '0' && *p <= '9'; p++)
        *number = *number < MAX_WIDTH ? *number * 10 + (*p - '0') : MAX_WIDTH;
    *number = *number > MAX_WIDTH ? MAX_WIDTH : *number;
    return p;
}

/* Parses the conversion after the %. Returns the first character after it. */
static const char *parse_directive(const char *p, struct directive *d) {
    *d = (struct directive){.precision = -1};
    size_t n_flags = 0;
    for (; *p && strchr("-+ #0", *p); p++)
        if (!strchr(d->flags, *p) && n_flags < sizeof(d->flags) - 1)
            d->flags[n_flags++] = *p;
    if (*p == '*') {
        d->takes_width = true;
        p++;
    } else {
        p = parse_number(p, &d->width);
    }
    if (*p == '.') {
        p++;
        d->takes_precision = *p == '*';
        p = d->takes_precision ? p + 1 : parse_number(p, &d->precision);
    }
    for (size_t n = 0; *p && strchr("hlzjtL", *p) && n < 2; n++)
        d->size[n] = *p++;
    d->conversion = *p;
    return *p ? p + 1 : p;
}

/* Adds one value as host printf writes it; `type` is the conversion with the host's size, such as "lld". */
static void add_value(struct exec_text *text, const struct directive *d, const char *type, ...) {
    char format[48], small[256], precision[16] = "";
    if (d->precision >= 0)
        snprintf(precision, sizeof(precision), ".%d", d->precision);
    snprintf(format, sizeof(format), d->width ? "%%%s%d%s%s" : "%%%s%.0d%s%s", d->flags, d->width, precision, type);
    va_list arguments, again;
    va_start(arguments, type);
    va_copy(again, arguments);
    int length = vsnprintf(small, sizeof(small), format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof(small)) {
        char *large = malloc((size_t)length + 1);
        if (large) {
            vsnprintf(large, (size_t)length + 1, format, again);
            exec_text_add(text, large, (size_t)length);
        } else {
            text->is_truncated = true;
        }
        free(large);
    } else if (length > 0) {
        exec_text_add(text, small, (size_t)length);
    }
    va_end(again);
}

static bool add_integer(struct exec_text *text, const struct directive *d, const struct exec_print_source *source) {
    bool is_wide = d->size[0] == 'l' || d->size[0] == 'z' || d->size[0] == 'j' || d->size[0] == 't';
    uint64_t value;
    if (!source->next(source->user, is_wide ? 8 : 4, &value))
        return false;
    unsigned bits = is_wide ? 64 : d->size[0] != 'h' ? 32 : d->size[1] == 'h' ? 8 : 16;
    char type[4] = {'l', 'l', d->conversion, 0};
    if (d->conversion == 'd' || d->conversion == 'i')
        add_value(text, d, type, (long long)(int64_t)(value << (64 - bits)) >> (64 - bits));
    else
        add_value(text, d, type, (unsigned long long)(value << (64 - bits) >> (64 - bits)));
    return true;
}

static bool add_floating(struct exec_text *text, const struct directive *d, const struct exec_print_source *source) {
    uint64_t bits;
    if (!source->next(source->user, 8, &bits))
        return false;
    double value;
    memcpy(&value, &bits, sizeof(value));
    add_value(text, d, (char[]){d->conversion, 0}, value);
    return true;
}

static bool add_string(struct exec_text *text, const struct directive *d, const struct exec_print_source *source) {
    uint64_t address;
    if (!source->next(source->user, 8, &address))
        return false;
    struct exec_text string = {0};
    size_t limit = d->precision >= 0 ? (size_t)d->precision : SIZE_MAX;
    bool is_read = true;
    if (address == 0)
        exec_text_add(&string, "(null)", 6);
    else
        is_read = source->string(source->user, address, limit, &string);
    if (is_read)
        add_value(text, d, "s", string.data ? string.data : "");
    exec_text_free(&string);
    return is_read;
}

static bool add_directive(struct exec_text *text, const struct directive *d, const struct exec_print_source *source) {
    uint64_t value;
    switch (d->conversion) {
    case 'c':
        if (!source->next(source->user, 4, &value))
            return false;
        add_value(text, d, "c", (int)value);
        return true;
    case 'p':
        if (!source->next(source->user, 8, &value))
            return false;
        add_value(text, d, "p", (void *)(uintptr_t)value);
        return true;
    case 's':
        return add_string(text, d, source);
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        return add_integer(text, d, source);
    default:
        return add_floating(text, d, source);
    }
}

/* Reads a width or precision written as *: a negative width means left-aligned, a negative precision means none. */
static bool read_stars(struct directive *d, const struct exec_print_source *source, int *n_used) {
    uint64_t value;
    if (d->takes_width) {
        if (!source->next(source->user, 4, &value))
            return false;
        int64_t width = (int32_t)value;
        if (width < 0 && !strchr(d->flags, '-'))
            strcat(d->flags, "-");
        width = width < 0 ? -width : width;
        d->width = width > MAX_WIDTH ? MAX_WIDTH : (int)width;
        ++*n_used;
    }
    if (d->takes_precision) {
        if (!source->next(source->user, 4, &value))
            return false;
        int32_t precision = (int32_t)value;
        d->precision = precision < 0 ? -1 : precision > MAX_WIDTH ? MAX_WIDTH : precision;
        ++*n_used;
    }
    return true;
}

int exec_print_format(struct exec_text *text, const char *format, const struct exec_print_source *source) {
    int n_used = 0;
    while (*format) {
        size_t plain = strcspn(format, "%");
        exec_text_add(text, format, plain);
        format += plain;
        if (!*format)
            break;
        struct directive d;
        const char *after = parse_directive(format + 1, &d);
        if (d.conversion == '%') {
            exec_text_add(text, "%", 1);
        } else if (!d.conversion || !strchr("diuoxXcspeEfFgGaA", d.conversion)) {
            exec_text_add(text, format, (size_t)(after - format));
        } else {
            if (!read_stars(&d, source, &n_used) || !add_directive(text, &d, source))
                return -1;
            n_used++;
        }
        format = after;
    }
    return n_used;
}
