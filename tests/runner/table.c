/* Reads value tables of instructions; table.h has the format. */
#include "table.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

struct reader {
    struct table *table;
    unsigned line;
    struct tolerance tolerance; /* for the next op */
    bool skips_cases;           /* the last op could not be read */
};

__attribute__((format(printf, 2, 3))) static bool fail(struct reader *reader, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%u: ", reader->table->path, reader->line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    reader->table->n_errors++;
    return false;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static int find_register(const struct table_op *op, const char *name, size_t length) {
    for (unsigned i = 0; i < op->n_registers; i++)
        if (strlen(op->reg[i].name) == length && memcmp(op->reg[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

static bool add_register(struct reader *reader, struct table_op *op, char mark, const char *name, size_t name_length,
                         const char *type, size_t type_length) {
    struct table_register *reg = &op->reg[op->n_registers];
    if (op->n_registers == TABLE_MAX_REGISTERS || name_length >= TABLE_NAME)
        return fail(reader, "too many registers, or a name of more than %d characters", TABLE_NAME - 1);
    *reg = (struct table_register){.type = value_type_named(type, type_length)};
    if (!reg->type)
        return fail(reader, "no type '%.*s'", (int)type_length, type);
    memcpy(reg->name, name, name_length);
    reg->is_input = mark != '=';
    reg->is_output = mark == '=' || mark == '+';
    op->n_inputs += reg->is_input;
    op->n_outputs += reg->is_output;
    op->n_registers++;
    return true;
}

/* At a brace: reads a register if it is {name}, {name:type} or one of these with a mark. */
static bool read_reference(struct reader *reader, struct table_op *op, size_t *at) {
    const char *text = op->text, *c = text + *at + 1;
    char mark = *c == '=' || *c == '+' ? *c++ : ' ';
    const char *name = c;
    while (is_name(*c))
        c++;
    size_t name_length = (size_t)(c - name), type_length = 0;
    const char *type = c;
    if (*c == ':') {
        type = ++c;
        while (is_name(*c))
            c++;
        type_length = (size_t)(c - type);
    }
    if (name_length == 0 || *c != '}') { /* the brace of a vector */
        ++*at;
        return mark == ' ' || fail(reader, "a register is written {=name:type}");
    }
    int known = find_register(op, name, name_length);
    if (known < 0 && type_length == 0)
        return fail(reader, "register '%.*s' has no type", (int)name_length, name);
    if (known >= 0 && type_length > 0)
        return fail(reader, "register '%.*s' was declared before; write {%.*s}", (int)name_length, name,
                    (int)name_length, name);
    if (known < 0 && !add_register(reader, op, mark, name, name_length, type, type_length))
        return false;
    if (op->n_references == TABLE_MAX_REFERENCES)
        return fail(reader, "more than %d operands", TABLE_MAX_REFERENCES);
    unsigned reg = known < 0 ? op->n_registers - 1 : (unsigned)known;
    op->reference[op->n_references++] =
        (struct table_reference){.first = *at, .end = (size_t)(c - text) + 1, .reg = reg};
    *at = (size_t)(c - text) + 1;
    return true;
}

static bool read_op(struct reader *reader, const char *text, size_t length) {
    struct table *table = reader->table;
    if (table->n_ops > 0 && table->op[table->n_ops - 1].n_cases == 0 && !reader->skips_cases)
        fail(reader, "the op before, in line %u, has no cases", table->op[table->n_ops - 1].line);
    table->op = text_resize(table->op, (table->n_ops + 1) * sizeof *table->op);
    struct table_op *op = &table->op[table->n_ops++];
    *op = (struct table_op){.line = reader->line, .tolerance = reader->tolerance};
    op->text = text_resize(NULL, length + 1);
    memcpy(op->text, text, length);
    op->text[length] = 0;
    reader->tolerance = (struct tolerance){.kind = TOLERANCE_NONE};
    reader->skips_cases = true;
    for (size_t at = 0; at < length;)
        if (op->text[at] != '{')
            at++;
        else if (!read_reference(reader, op, &at))
            return false;
    if (op->n_outputs == 0)
        return fail(reader, "the op has no output; outputs are written {=name:type}");
    if (length == 0 || op->text[length - 1] != ';')
        return fail(reader, "an op ends with a semicolon");
    reader->skips_cases = false;
    return true;
}

static bool read_tolerance(struct reader *reader, const char *text, size_t length) {
    char word[32], unit[16] = "";
    double amount;
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    if (sscanf(word, "%lf%15s", &amount, unit) == 2 && strcmp(unit, "ulp") == 0)
        reader->tolerance = (struct tolerance){TOLERANCE_ULP, amount};
    else if (sscanf(word, "abs %lf", &amount) == 1)
        reader->tolerance = (struct tolerance){TOLERANCE_ABSOLUTE, amount};
    else if (sscanf(word, "rel %lf", &amount) == 1)
        reader->tolerance = (struct tolerance){TOLERANCE_RELATIVE, amount};
    else
        return fail(reader, "a tolerance is `2ulp`, `abs 1e-7` or `rel 1e-6`");
    return true;
}

/* Reads the values of the inputs, or of the outputs, in the order of the registers. */
static bool read_values(struct reader *reader, const struct table_op *op, bool is_output, const char *text,
                        const char *end, struct value *values) {
    const char *word;
    size_t length;
    const char *side = is_output ? "after the arrow" : "before the arrow";
    for (unsigned i = 0; i < op->n_registers; i++) {
        const struct table_register *reg = &op->reg[i];
        if (!(is_output ? reg->is_output : reg->is_input))
            continue;
        if (!text_next_word(&text, end, &word, &length))
            return fail(reader, "too few values %s: none for '%s'", side, reg->name);
        if (!value_parse(reg->type, word, length, &values[i]) || (!is_output && values[i].is_ignored))
            return fail(reader, "'%.*s' is not a value of .%s, the type of '%s'", (int)length, word, reg->type->name,
                        reg->name);
    }
    if (text_next_word(&text, end, &word, &length))
        return fail(reader, "too many values %s: '%.*s' is one more than there are registers", side, (int)length, word);
    return true;
}

static bool read_case(struct reader *reader, const char *text, size_t length) {
    struct table *table = reader->table;
    if (reader->skips_cases)
        return false;
    if (table->n_ops == 0)
        return fail(reader, "a case before the first op");
    const char *arrow = text, *end = text + length;
    while (arrow + 1 < end && !(arrow[0] == '-' && arrow[1] == '>'))
        arrow++;
    if (arrow + 1 >= end)
        return fail(reader, "a case is written `inputs -> outputs`");
    struct table_op *op = &table->op[table->n_ops - 1];
    op->cases = text_resize(op->cases, (op->n_cases + 1) * sizeof *op->cases);
    struct table_case *c = &op->cases[op->n_cases];
    *c = (struct table_case){.line = reader->line};
    if (!read_values(reader, op, false, text, arrow, c->input) ||
        !read_values(reader, op, true, arrow + 2, end, c->output))
        return false;
    op->n_cases++;
    table->n_cases++;
    return true;
}

static bool starts_with_word(const char *line, size_t length, const char *word) {
    size_t n = strlen(word);
    return length > n && memcmp(line, word, n) == 0 && isspace((unsigned char)line[n]);
}

static void read_line(struct reader *reader, const char *line, size_t length) {
    const char *comment = memchr(line, '#', length);
    if (comment)
        length = (size_t)(comment - line);
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        length--;
    while (length > 0 && isspace((unsigned char)*line))
        line++, length--;
    if (length == 0)
        return;
    if (starts_with_word(line, length, "op"))
        read_op(reader, line + 3, length - 3);
    else if (starts_with_word(line, length, "tolerance"))
        read_tolerance(reader, line + 10, length - 10);
    else
        read_case(reader, line, length);
}

bool table_read(struct table *table, const char *path) {
    *table = (struct table){.path = path};
    struct reader reader = {.table = table};
    char *text = text_read_file(path);
    if (!text) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        table->n_errors = 1;
        return false;
    }
    const char *at = text, *line;
    size_t length;
    while (text_next_line(&at, &line, &length)) {
        reader.line++;
        read_line(&reader, line, length);
    }
    free(text);
    if (table->n_ops == 0)
        fail(&reader, "the file has no op");
    else if (table->op[table->n_ops - 1].n_cases == 0 && !reader.skips_cases)
        fail(&reader, "the last op has no cases");
    return table->n_errors == 0;
}

void table_free(struct table *table) {
    for (unsigned i = 0; i < table->n_ops; i++) {
        free(table->op[i].text);
        free(table->op[i].cases);
    }
    free(table->op);
    *table = (struct table){.path = table->path};
}
