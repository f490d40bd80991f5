/* Reads the comments of kernel tests; kernel_test.h has the format. */
#include "kernel_test.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

struct reader {
    struct kernel_file *file;
    struct kernel_test *test; /* the one being read */
    unsigned line;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct reader *reader, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%u: ", reader->file->path, reader->line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    reader->file->n_errors++;
    return false;
}

static void add_test(struct reader *reader) {
    struct kernel_file *file = reader->file;
    file->test = text_resize(file->test, (file->n_tests + 1) * sizeof *file->test);
    reader->test = &file->test[file->n_tests++];
    *reader->test = (struct kernel_test){.line = reader->line, .grid = {1, 1, 1}, .block = {32, 1, 1}};
}

static bool is_word(const char *word, size_t length, const char *text) {
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static bool read_kernel(struct reader *reader, const char *text, const char *end) {
    const char *word;
    size_t length;
    if (reader->test->kernel[0])
        add_test(reader);
    if (!text_next_word(&text, end, &word, &length) || length >= KERNEL_NAME)
        return fail(reader, "kernel: takes a name");
    memcpy(reader->test->kernel, word, length);
    return true;
}

static bool read_number(const char **at, const char *end, unsigned *number) {
    const char *word;
    char *after;
    size_t length;
    if (!text_next_word(at, end, &word, &length))
        return false;
    unsigned long value = strtoul(word, &after, 0);
    *number = (unsigned)value;
    return after == word + length;
}

static bool read_launch(struct reader *reader, const char *text, const char *end) {
    const char *word;
    size_t length;
    while (text_next_word(&text, end, &word, &length)) {
        unsigned *into = is_word(word, length, "grid")     ? reader->test->grid
                         : is_word(word, length, "block")  ? reader->test->block
                         : is_word(word, length, "shared") ? &reader->test->shared_bytes
                                                           : NULL;
        for (unsigned i = 0; into && i < (into == &reader->test->shared_bytes ? 1u : 3u); i++)
            if (!read_number(&text, end, &into[i]))
                into = NULL;
        if (!into)
            return fail(reader, "a launch is written `grid X Y Z block X Y Z shared BYTES`");
    }
    return true;
}

/* type, type[N], typexC[W] or typexC[WxH] */
static bool read_type(struct kernel_argument *argument, const char *word, size_t length) {
    const char *bracket = memchr(word, '[', length), *end = word + length;
    size_t name_length = (size_t)((bracket ? bracket : end) - word);
    argument->type = value_type_named(word, name_length);
    argument->channels = 1;
    if (!argument->type && name_length > 2 && word[name_length - 2] == 'x') {
        argument->channels = (unsigned)(word[name_length - 1] - '0');
        argument->type = value_type_named(word, name_length - 2);
    }
    argument->kind = bracket ? ARGUMENT_BUFFER : ARGUMENT_SCALAR;
    argument->width = 1;
    if (bracket) {
        char *after;
        argument->width = strtoul(bracket + 1, &after, 10);
        if (*after == 'x')
            argument->height = strtoul(after + 1, &after, 10);
        if (after + 1 != end || *after != ']' || argument->width == 0)
            return false;
    }
    argument->count = argument->width * (argument->height ? argument->height : 1) * argument->channels;
    return argument->type && argument->type->kind != VALUE_PREDICATE &&
           (argument->channels == 1 || argument->channels == 2 || argument->channels == 4);
}

static bool read_option(struct kernel_argument *argument, const char *word, size_t length) {
    static const char *const wraps[] = {"wrap", "clamp", "mirror", "border"};
    if (is_word(word, length, "by-value")) {
        argument->kind = ARGUMENT_STRUCT;
        return true;
    }
    if (argument->kind != ARGUMENT_TEXTURE)
        return false;
    for (unsigned i = 0; i < 4; i++)
        if (is_word(word, length, wraps[i])) {
            argument->wrap = (enum texture_wrap)i;
            return true;
        }
    bool *flag = is_word(word, length, "linear")            ? &argument->is_linear
                 : is_word(word, length, "normalized")      ? &argument->is_normalized
                 : is_word(word, length, "read-normalized") ? &argument->reads_normalized
                 : is_word(word, length, "buffer")          ? &argument->is_buffer
                                                            : NULL;
    if (flag)
        *flag = true;
    return flag != NULL;
}

static bool read_values(struct reader *reader, struct value_list *list, const struct value_type *type, const char *text,
                        const char *end, size_t wanted) {
    const char *bad;
    if (!value_list_parse(list, type, text, end, &bad))
        return fail(reader, "no value of .%s: '%.*s'", type->name, (int)(end - bad < 20 ? end - bad : 20), bad);
    if (wanted && list->length != wanted)
        return fail(reader, "%zu values, but %zu are needed", list->length, wanted);
    return true;
}

static bool read_argument(struct reader *reader, const char *text, const char *end) {
    const char *word;
    size_t length;
    if (reader->test->n_arguments == KERNEL_MAX_ARGUMENTS)
        return fail(reader, "more than %d arguments", KERNEL_MAX_ARGUMENTS);
    struct kernel_argument *argument = &reader->test->argument[reader->test->n_arguments++];
    *argument = (struct kernel_argument){.wrap = TEXTURE_CLAMP};
    if (!text_next_word(&text, end, &word, &length) || length >= KERNEL_NAME)
        return fail(reader, "an argument is written `name type[count] = values`");
    memcpy(argument->name, word, length);
    bool has_word = text_next_word(&text, end, &word, &length);
    bool is_texture = has_word && is_word(word, length, "texture"),
         is_surface = has_word && is_word(word, length, "surface");
    if (is_texture || is_surface)
        has_word = text_next_word(&text, end, &word, &length);
    if (!has_word || !read_type(argument, word, length))
        return fail(reader, "argument '%s' has no type such as u32 or f32[64]", argument->name);
    if (is_texture || is_surface)
        argument->kind = is_texture ? ARGUMENT_TEXTURE : ARGUMENT_SURFACE;
    while (text_next_word(&text, end, &word, &length) && !is_word(word, length, "="))
        if (!read_option(argument, word, length))
            return fail(reader, "'%.*s' is not an option of argument '%s'", (int)length, word, argument->name);
    bool has_values = length > 0;
    if (!has_values)
        return argument->kind != ARGUMENT_SCALAR || fail(reader, "scalar '%s' has no value", argument->name);
    return read_values(reader, &argument->values, argument->type, text, end, argument->count);
}

static struct kernel_expectation *add_expectation(struct reader *reader, enum expectation_kind kind) {
    if (reader->test->n_expectations == KERNEL_MAX_EXPECTATIONS) {
        fail(reader, "more than %d expectations", KERNEL_MAX_EXPECTATIONS);
        return NULL;
    }
    struct kernel_expectation *expectation = &reader->test->expectation[reader->test->n_expectations++];
    *expectation = (struct kernel_expectation){.kind = kind, .line = reader->line};
    return expectation;
}

static bool read_expectation(struct reader *reader, const char *text, const char *end) {
    const char *word;
    size_t length;
    struct kernel_expectation *expectation = add_expectation(reader, EXPECT_VALUES);
    if (!expectation || !text_next_word(&text, end, &word, &length))
        return expectation ? fail(reader, "expect: is written `name = values`") : false;
    const char *bracket = memchr(word, '[', length);
    if (bracket)
        expectation->first = strtoul(bracket + 1, NULL, 10);
    size_t name_length = bracket ? (size_t)(bracket - word) : length, i = 0;
    while (i < reader->test->n_arguments && !is_word(word, name_length, reader->test->argument[i].name))
        i++;
    if (i == reader->test->n_arguments)
        return fail(reader, "no argument '%.*s'", (int)name_length, word);
    const struct kernel_argument *argument = &reader->test->argument[i];
    if (argument->kind != ARGUMENT_BUFFER && argument->kind != ARGUMENT_SURFACE)
        return fail(reader, "'%s' is not a buffer", argument->name);
    if (!text_next_word(&text, end, &word, &length) || !is_word(word, length, "="))
        return fail(reader, "expect: is written `name = values`");
    expectation->argument = (unsigned)i;
    if (!read_values(reader, &expectation->values, argument->type, text, end, bracket ? 0 : argument->count))
        return false;
    return expectation->first + expectation->values.length <= argument->count ||
           fail(reader, "'%s' has only %zu elements", argument->name, argument->count);
}

static char *copy_text(const char *text, const char *end) {
    size_t length = (size_t)(end - text);
    char *copy = text_resize(NULL, length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

static bool read_text(struct reader *reader, enum expectation_kind kind, const char *text, const char *end) {
    struct kernel_expectation *expectation = add_expectation(reader, kind);
    if (!expectation || text == end)
        return expectation ? fail(reader, "the expected text is missing") : false;
    expectation->text = copy_text(text, end);
    return true;
}

static bool read_error(struct reader *reader, const char *text, const char *end) {
    const char *word;
    size_t length;
    if (!text_next_word(&text, end, &word, &length) || length >= KERNEL_NAME || strncmp(word, "CUDA_ERROR_", 11) != 0)
        return fail(reader, "expect-error: takes a name such as CUDA_ERROR_ILLEGAL_ADDRESS");
    memcpy(reader->test->error, word, length);
    return true;
}

static bool read_config(struct reader *reader, const char *text, const char *end) {
    free(reader->test->config);
    reader->test->config = copy_text(text, end);
    return true;
}

static bool read_real_gpu(struct reader *reader, const char *text, const char *end) {
    const char *word;
    size_t length;
    if (!text_next_word(&text, end, &word, &length) || !is_word(word, length, "no"))
        return fail(reader, "real-gpu: takes `no`");
    reader->test->is_simulated_only = true;
    return true;
}

/* A comment without its slashes; one that begins with a known word and a colon is a directive. */
static bool read_directive(struct reader *reader, const char *text, const char *end) {
    const char *colon = memchr(text, ':', (size_t)(end - text));
    size_t length = colon ? (size_t)(colon - text) : 0;
    const char *rest = colon ? colon + 1 : end;
    while (rest < end && isspace((unsigned char)*rest))
        rest++;
    if (is_word(text, length, "kernel"))
        return read_kernel(reader, rest, end);
    if (is_word(text, length, "launch"))
        return read_launch(reader, rest, end);
    if (is_word(text, length, "arg"))
        return read_argument(reader, rest, end);
    if (is_word(text, length, "expect"))
        return read_expectation(reader, rest, end);
    if (is_word(text, length, "expect-error"))
        return read_error(reader, rest, end);
    if (is_word(text, length, "expect-message"))
        return read_text(reader, EXPECT_MESSAGE, rest, end);
    if (is_word(text, length, "expect-stdout"))
        return read_text(reader, EXPECT_STDOUT, rest, end);
    if (is_word(text, length, "config"))
        return read_config(reader, rest, end);
    if (is_word(text, length, "real-gpu"))
        return read_real_gpu(reader, rest, end);
    if (length >= 3 && (strncmp(text, "exp", 3) == 0 || strncmp(text, "arg", 3) == 0) && !memchr(text, ' ', length))
        return fail(reader, "unknown word '%.*s'", (int)length, text);
    return true;
}

/* Collects the lines of one directive, then reads it. Comment lines only. */
static bool read_comment(struct reader *reader, struct text *joined, const char *line, size_t length) {
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        length--;
    line += 2, length -= 2;
    while (length > 0 && isspace((unsigned char)*line))
        line++, length--;
    bool goes_on = length > 0 && line[length - 1] == '\\';
    text_add_bytes(joined, line, goes_on ? length - 1 : length);
    if (goes_on)
        return true;
    bool is_good = read_directive(reader, joined->data, joined->data + joined->length);
    text_free(joined);
    return is_good;
}

bool kernel_file_read(struct kernel_file *file, const char *path) {
    *file = (struct kernel_file){.path = path};
    struct reader reader = {.file = file, .line = 1};
    struct text joined = {0};
    file->ptx = text_read_file(path);
    if (!file->ptx) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        file->n_errors = 1;
        return false;
    }
    add_test(&reader);
    const char *at = file->ptx, *line;
    size_t length;
    for (; text_next_line(&at, &line, &length); reader.line++)
        if (length >= 2 && line[0] == '/' && line[1] == '/')
            read_comment(&reader, &joined, line, length);
        else if (length > 0)
            break; /* the PTX begins */
    text_free(&joined);
    for (unsigned i = 0; i < file->n_tests; i++) {
        const struct kernel_test *test = &file->test[i];
        reader.line = test->line;
        if (test->n_expectations == 0 && !test->error[0])
            fail(&reader, "the test expects nothing");
    }
    return file->n_errors == 0;
}

static void free_test(struct kernel_test *test) {
    for (unsigned i = 0; i < test->n_arguments; i++)
        value_list_free(&test->argument[i].values);
    for (unsigned i = 0; i < test->n_expectations; i++) {
        value_list_free(&test->expectation[i].values);
        free(test->expectation[i].text);
    }
    free(test->config);
}

void kernel_file_free(struct kernel_file *file) {
    for (unsigned i = 0; i < file->n_tests; i++)
        free_test(&file->test[i]);
    free(file->test);
    free(file->ptx);
    *file = (struct kernel_file){.path = file->path};
}
