// A recursive-descent parser; see sql.h.
#include "sql.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { EXIT_USAGE = 2 };

struct parser {
    const struct workload *w;
    const char *text;
    const struct table *table;
    const char *word; // the next one; the end of the text where its length is 0
    size_t length;
    struct sql_query query;
};

// ---- Words --------------------------------------------------------------------------------------------------------

static bool is_name_part(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t word_length(const char *at) {
    size_t n = 1;
    if (!*at)
        return 0;
    if (*at == '"')
        return strcspn(at + 1, "\"") + (strchr(at + 1, '"') ? 2 : 1);
    if (strncmp(at, "<=", 2) == 0 || strncmp(at, ">=", 2) == 0 || strncmp(at, "<>", 2) == 0)
        return 2;
    bool is_number = isdigit((unsigned char)*at) || (strchr("+-", *at) && isdigit((unsigned char)at[1]));
    if (is_number || is_name_part(*at))
        while (is_name_part(at[n]) || (is_number && at[n] == '.'))
            n++;
    return n;
}

static void advance(struct parser *p) {
    p->word += p->length;
    p->word += strspn(p->word, " \t\r\n");
    p->length = word_length(p->word);
}

static _Noreturn void refuse(const struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static _Noreturn void refuse(const struct parser *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", p->w->info->name);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\n  ", stderr);
    for (const char *at = p->text; *at; at++)
        fputc(isspace((unsigned char)*at) ? ' ' : *at, stderr);
    fprintf(stderr, "\n  %*s^", (int)(p->word - p->text), "");
    for (size_t i = 1; i < p->length; i++)
        fputc('~', stderr);
    fputc('\n', stderr);
    exit(EXIT_USAGE);
}

static bool is_word(const struct parser *p, const char *word) {
    return p->length == strlen(word) && strncasecmp(p->word, word, p->length) == 0;
}

static bool accept(struct parser *p, const char *word) {
    bool is_match = is_word(p, word);
    if (is_match)
        advance(p);
    return is_match;
}

// what: how the message names it.
static void expect(struct parser *p, const char *word, const char *what) {
    if (!accept(p, word))
        refuse(p, "%s is expected here", what);
}

static bool is_name(const struct parser *p) {
    return p->length > 0 && (*p->word == '"' || isalpha((unsigned char)*p->word) || *p->word == '_');
}

// ---- Names and numbers --------------------------------------------------------------------------------------------

static void name_columns(const struct table *table, char *text, size_t size) {
    size_t n = 0;
    for (unsigned c = 0; c < table->n_columns && n < size; c++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", c ? ", " : "", table->name[c]);
}

static unsigned parse_column(struct parser *p) {
    char names[200];
    bool is_quoted = p->length > 0 && *p->word == '"';
    if (!is_name(p))
        refuse(p, "the name of a column is expected here");
    if (is_quoted && (p->length == 1 || p->word[p->length - 1] != '"'))
        refuse(p, "this quote is not closed");
    int column =
        is_quoted ? table_find(p->table, p->word + 1, p->length - 2) : table_find(p->table, p->word, p->length);
    if (column < 0) {
        name_columns(p->table, names, sizeof names);
        refuse(p, "no column '%.*s'; the table has %s", (int)p->length, p->word, names);
    }
    advance(p);
    return (unsigned)column;
}

static int64_t parse_number(struct parser *p) {
    char *rest;
    errno = 0;
    int64_t number = strtoll(p->word, &rest, 10);
    bool is_number = p->length > 0 && (isdigit((unsigned char)*p->word) || (p->length > 1 && strchr("+-", *p->word)));
    if (!is_number || rest != p->word + p->length)
        refuse(p, "a whole number is expected here");
    if (errno)
        refuse(p, "this number has more than 64 bits");
    advance(p);
    return number;
}

// ---- Clauses ------------------------------------------------------------------------------------------------------

// Returns whether the next word is a function with its parenthesis; column names may be the same words.
static bool is_function(const struct parser *p, enum sql_function *function) {
    static const char *const names[] = {"count", "sum", "min", "max"};
    const char *after = p->word + p->length;
    if (after[strspn(after, " \t\r\n")] != '(')
        return false;
    for (int i = 0; i < 4; i++)
        if (is_word(p, names[i])) {
            *function = (enum sql_function)i;
            return true;
        }
    refuse(p, "the functions are count, sum, min and max");
}

static void parse_item(struct parser *p) {
    struct sql_query *query = &p->query;
    if (query->n_items == SQL_MOST_ITEMS)
        refuse(p, "more than %d columns are selected", SQL_MOST_ITEMS);
    struct sql_item *item = &query->item[query->n_items];
    bool has_function = is_name(p) && is_function(p, &item->function);
    if (query->n_items++ == 0)
        query->has_functions = has_function;
    if (query->has_functions != has_function)
        refuse(p, "columns and functions cannot be selected together");
    if (!has_function) {
        item->column = parse_column(p);
        return;
    }
    advance(p);
    advance(p); // the parenthesis
    if (item->function != SQL_COUNT || !accept(p, "*"))
        item->column = parse_column(p);
    expect(p, ")", "a closing parenthesis");
}

static void parse_items(struct parser *p) {
    if (accept(p, "*")) {
        if (p->table->n_columns > SQL_MOST_ITEMS)
            refuse(p, "the table has more than %d columns: name those that you want", SQL_MOST_ITEMS);
        for (unsigned c = 0; c < p->table->n_columns; c++)
            p->query.item[p->query.n_items++].column = c;
        return;
    }
    do
        parse_item(p);
    while (accept(p, ","));
}

static void parse_comparison(struct parser *p) {
    static const char *const operators[] = {"=", "<", ">", "<=", ">=", "<>", "between"};
    if (p->query.n_comparisons == SQL_MOST_COMPARISONS)
        refuse(p, "more than %d comparisons", SQL_MOST_COMPARISONS);
    struct sql_comparison *comparison = &p->query.comparison[p->query.n_comparisons++];
    comparison->column = parse_column(p);
    int i = 0;
    while (i <= SQL_BETWEEN && !is_word(p, operators[i]))
        i++;
    if (i > SQL_BETWEEN)
        refuse(p, "=, <, >, <=, >=, <> or BETWEEN is expected here");
    advance(p);
    comparison->op = (enum sql_operator)i;
    comparison->number = parse_number(p);
    if (i == SQL_BETWEEN) {
        expect(p, "and", "AND");
        comparison->other = parse_number(p);
    }
}

struct sql_query sql_parse(const struct workload *w, const char *text, const struct table *table) {
    struct parser p = {.w = w, .text = text, .table = table, .word = text};
    advance(&p);
    expect(&p, "select", "SELECT");
    parse_items(&p);
    expect(&p, "from", "FROM");
    if (!is_name(&p) || is_word(&p, "where"))
        refuse(&p, "a name for the table is expected here");
    advance(&p);
    if (accept(&p, "where"))
        do
            parse_comparison(&p);
        while (accept(&p, "and"));
    accept(&p, ";");
    if (p.length)
        refuse(&p, p.query.n_comparisons ? "AND or the end of the query is expected here"
                                         : "WHERE or the end of the query is expected here");
    return p.query;
}
