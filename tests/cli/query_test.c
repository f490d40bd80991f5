/* `heddle query`: its rows are those that a loop finds, and those of SQLite if it is installed. */
#define _GNU_SOURCE
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

enum { N_ROWS = 700, N_COLUMNS = 3 };
static const char *const names[N_COLUMNS] = {"id", "v", "g"};

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* id is each number from 0 to 699 once, v is small and may be negative, g also has the extreme values. */
static int value(unsigned row, unsigned column) {
    uint32_t state = row;
    if (column == 0)
        return (int)(row * 37 % N_ROWS);
    next_random(&state);
    if (column == 1)
        return (int)(next_random(&state) % 201) - 100;
    return row % 50 == 0 ? INT_MAX : row % 51 == 0 ? INT_MIN : (int)(next_random(&state) % 4);
}

/* Unless is_plain, with an unusual header, signs, spaces and an empty line, which SQLite would read as a row. */
static void write_table(const char *path, bool is_plain) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(is_plain ? "id,v,g\n" : "id, \"v\" ,g\r\n", file);
    for (unsigned i = 0; i < N_ROWS; i++) {
        const char *sign = !is_plain && value(i, 1) > 90 ? "+" : "", *space = is_plain ? "" : " ";
        fprintf(file, "%d,%s%d,%s%d\n%s", value(i, 0), sign, value(i, 1), space, value(i, 2),
                !is_plain && i == 3 ? "\n" : "");
    }
    fclose(file);
}

static const char *table_path(void) {
    static char path[512];
    if (!*path) {
        snprintf(path, sizeof path, "%s/table.csv", scratch());
        write_table(path, false);
    }
    return path;
}

/* ---- Random queries ---------------------------------------------------------------------------------------------- */

struct comparison {
    unsigned column, op;
    long long number, other;
};

struct query {
    char text[512];
    bool has_functions;
    unsigned n_items, n_comparisons;
    struct {
        unsigned function, column;
    } item[3];
    struct comparison comparison[3];
};

static const char *const functions[] = {"count", "sum", "min", "max"};
static const char *const operators[] = {"=", "<", ">", "<=", ">=", "<>", "BETWEEN"};
enum { BETWEEN = 6 };

static long long random_number(uint32_t *state, unsigned column) {
    static const long long extreme[] = {INT_MAX, INT_MIN, INT_MAX + 1LL, INT_MIN - 1LL, 9000000000000000000LL};
    if (next_random(state) % 8 == 0)
        return extreme[next_random(state) % 5];
    return value(next_random(state) % N_ROWS, column);
}

static void make_query(struct query *query, uint32_t *state) {
    *query = (struct query){.has_functions = next_random(state) % 3 == 0, .n_items = next_random(state) % 3 + 1};
    size_t n = (size_t)sprintf(query->text, "SELECT ");
    for (unsigned i = 0; i < query->n_items; i++) {
        query->item[i].function = next_random(state) % 4;
        query->item[i].column = next_random(state) % N_COLUMNS;
        const char *comma = i ? ", " : "", *column = names[query->item[i].column];
        if (query->has_functions)
            n += (size_t)sprintf(query->text + n, "%s%s(%s)", comma, functions[query->item[i].function], column);
        else
            n += (size_t)sprintf(query->text + n, "%s%s", comma, column);
    }
    n += (size_t)sprintf(query->text + n, " FROM t");
    query->n_comparisons = next_random(state) % 4;
    for (unsigned i = 0; i < query->n_comparisons; i++) {
        struct comparison *c = &query->comparison[i];
        c->column = next_random(state) % N_COLUMNS;
        c->op = next_random(state) % 7;
        c->number = random_number(state, c->column);
        c->other = random_number(state, c->column);
        n += (size_t)sprintf(query->text + n, "%s%s %s %lld", i ? " AND " : " WHERE ", names[c->column],
                             operators[c->op], c->number);
        if (c->op == BETWEEN)
            n += (size_t)sprintf(query->text + n, " AND %lld", c->other);
    }
}

static bool meets(const struct comparison *c, long long number) {
    const bool outcome[] = {number == c->number, number<c->number, number> c->number,
                            number <= c->number, number >= c->number,
                            number != c->number, number >= c->number && number <= c->other};
    return outcome[c->op];
}

static bool passes(const struct query *query, unsigned row) {
    for (unsigned i = 0; i < query->n_comparisons; i++)
        if (!meets(&query->comparison[i], value(row, query->comparison[i].column)))
            return false;
    return true;
}

static void print_functions(FILE *file, const struct query *query) {
    for (unsigned i = 0; i < query->n_items; i++) {
        long long count = 0, sum = 0, least = LLONG_MAX, most = LLONG_MIN;
        for (unsigned row = 0; row < N_ROWS; row++) {
            if (!passes(query, row))
                continue;
            long long number = value(row, query->item[i].column);
            count++;
            sum += number;
            least = number < least ? number : least;
            most = number > most ? number : most;
        }
        const long long result[] = {count, sum, least, most};
        if (count || query->item[i].function == 0)
            fprintf(file, "%lld", result[query->item[i].function]);
        fputc(i + 1 < query->n_items ? ',' : '\n', file);
    }
}

/* Returns the query's result, as CSV. */
static char *evaluate(const struct query *query) {
    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    if (query->has_functions)
        print_functions(file, query);
    for (unsigned row = 0; row < N_ROWS && !query->has_functions; row++)
        if (passes(query, row))
            for (unsigned i = 0; i < query->n_items; i++)
                fprintf(file, "%d%c", value(row, query->item[i].column), i + 1 < query->n_items ? ',' : '\n');
    fclose(file);
    return text;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void compare_outputs(const char *query, const char *who, const char *got, const char *expected) {
    if (strcmp(got, expected) != 0)
        fail_msg("%s returns for %s\n%s\nand not\n%s", who, query, got, expected);
}

/* Three of four with an index, every second with Heddle's own instructions. */
static void random_queries_return_what_a_loop_finds(void **state) {
    (void)state;
    uint32_t random = 7;
    for (unsigned i = 0; i < 60; i++) {
        struct query query;
        make_query(&query, &random);
        char *expected = evaluate(&query);
        struct outcome outcome = heddle("query \"%s\" %s --code %s %s", query.text, table_path(),
                                        i % 2 ? "extended" : "plain", i % 4 ? "--index g" : "");
        expect_status(&outcome, 0);
        compare_outputs(query.text, "heddle", outcome.out, expected);
        expect_text(outcome.err, " cycles on gtx480: query_fi");
        outcome_free(&outcome);
        free(expected);
    }
}

static char *sqlite(const char *query, const char *path) {
    char command[2048], *text = NULL;
    snprintf(command, sizeof command,
             "sqlite3 -csv :memory: 'CREATE TABLE t(id INTEGER, v INTEGER, g INTEGER)' "
             "'.import --csv --skip 1 %s t' '%s'",
             path, query);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t capacity = 0;
    if (getdelim(&text, &capacity, '\0', pipe) < 0) {
        free(text);
        text = strdup("");
    }
    assert_int_equal(pclose(pipe), 0);
    for (char *from = text, *to = text; (*to = *from); from++)
        to += *from != '\r';
    return text;
}

static void random_queries_return_what_sqlite_returns(void **state) {
    (void)state;
    if (system("command -v sqlite3 >/dev/null") != 0) {
        print_message("skipped: sqlite3 is not installed\n");
        skip();
    }
    char path[512];
    snprintf(path, sizeof path, "%s/plain.csv", scratch());
    write_table(path, true);
    uint32_t random = 7;
    for (unsigned i = 0; i < 60; i++) {
        struct query query;
        make_query(&query, &random);
        char *expected = evaluate(&query), *got = sqlite(query.text, path);
        compare_outputs(query.text, "SQLite", got, expected);
        free(got);
        free(expected);
    }
}

static void an_index_finds_every_value_and_no_other(void **state) {
    (void)state;
    static const int numbers[] = {0, 1, 29, 30, 350, 699, 700, -1};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char expected[32] = "";
        struct outcome outcome =
            heddle("query 'SELECT id FROM t WHERE id = %d' %s --index ID", numbers[i], table_path());
        expect_status(&outcome, 0);
        if (numbers[i] >= 0 && numbers[i] < N_ROWS)
            snprintf(expected, sizeof expected, "%d\n", numbers[i]);
        assert_string_equal(outcome.out, expected);
        expect_text(outcome.err, "query_find ");
        outcome_free(&outcome);
    }
}

static void names_have_no_case_and_may_have_quotes(void **state) {
    (void)state;
    struct outcome outcome =
        heddle("query 'select Count( * ) ,MAX(\"ID\") from \"T\" where\n  ID<=+9 ;' %s -q", table_path());
    expect_status(&outcome, 0);
    assert_string_equal(outcome.out, "10,9\n");
    assert_string_equal(outcome.err, "");
    outcome_free(&outcome);
}

/* The message is one line, followed by the query and a mark below the word. */
static void refused(const char *sql, const char *message, unsigned column, unsigned length) {
    char expected[1024], mark[64] = "^";
    for (unsigned i = 1; i < length; i++)
        strcat(mark, "~");
    snprintf(expected, sizeof expected, "query: %s\n  %s\n  %*s%s\n", message, sql, (int)column, "", mark);
    struct outcome outcome = heddle("query '%s' %s", sql, table_path());
    expect_status(&outcome, 2);
    assert_string_equal(outcome.out, "");
    assert_string_equal(outcome.err, expected);
    outcome_free(&outcome);
}

static void a_wrong_word_is_marked(void **state) {
    (void)state;
    refused("SELECT v FRM t", "FROM is expected here", 9, 3);
    refused("UPDATE t", "SELECT is expected here", 0, 6);
    refused("SELECT v", "FROM is expected here", 8, 1);
    refused("SELECT w FROM t", "no column 'w'; the table has id, v, g", 7, 1);
    refused("SELECT \"v FROM t", "this quote is not closed", 7, 9);
    refused("SELECT avg(v) FROM t", "the functions are count, sum, min and max", 7, 3);
    refused("SELECT v, max(v) FROM t", "columns and functions cannot be selected together", 10, 3);
    refused("SELECT sum(*) FROM t", "the name of a column is expected here", 11, 1);
    refused("SELECT max(v FROM t", "a closing parenthesis is expected here", 13, 4);
    refused("SELECT v FROM 5", "a name for the table is expected here", 14, 1);
    refused("SELECT v FROM t ORDER BY v", "WHERE or the end of the query is expected here", 16, 5);
    refused("SELECT v FROM t WHERE 5 < v", "the name of a column is expected here", 22, 1);
    refused("SELECT v FROM t WHERE v LIKE 5", "=, <, >, <=, >=, <> or BETWEEN is expected here", 24, 4);
    refused("SELECT v FROM t WHERE v < 5.5", "a whole number is expected here", 26, 3);
    refused("SELECT v FROM t WHERE v < g", "a whole number is expected here", 26, 1);
    refused("SELECT v FROM t WHERE v < 9999999999999999999", "this number has more than 64 bits", 26, 19);
    refused("SELECT v FROM t WHERE v BETWEEN 1 OR 2", "AND is expected here", 34, 2);
    refused("SELECT v FROM t WHERE v = 1 OR v = 2", "AND or the end of the query is expected here", 28, 2);
}

static void expect_error(int status, const char *words, const char *message) {
    struct outcome outcome = heddle("query %s", words);
    expect_status(&outcome, status);
    assert_string_equal(outcome.out, "");
    expect_line(&outcome, message);
    outcome_free(&outcome);
}

static void file_is_refused(const char *content, const char *message) {
    char path[512], words[600];
    snprintf(path, sizeof path, "%s/wrong.csv", scratch());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
    snprintf(words, sizeof words, "'SELECT * FROM t' %s", path);
    expect_error(1, words, message);
}

static void a_bad_table_is_named_with_the_line(void **state) {
    (void)state;
    file_is_refused("", "wrong.csv' has no line with the names of its columns");
    file_is_refused("a,,b\n", "wrong.csv:1: column 2 has no name");
    file_is_refused("a,A\n", "wrong.csv:1: two columns are named 'A'");
    file_is_refused("a,b\n1,2\n3\n", "wrong.csv:3: 1 values, not 2");
    file_is_refused("a,b\n1,2,3\n", "wrong.csv:2: more than 2 values");
    file_is_refused("a\n1.5\n", "wrong.csv:2: '1.5' in column a is no whole number from -2147483648 to 2147483647");
    file_is_refused("a\n\n2147483648\n", "wrong.csv:3: '2147483648' in column a is no whole number");
    expect_error(1, "'SELECT v FROM t' /nowhere/t.csv",
                 "query: cannot read '/nowhere/t.csv': No such file or directory");
}

static void a_table_without_rows_is_a_table(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s/empty.csv", scratch());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a,b\n", file);
    fclose(file);
    struct outcome outcome = heddle("query 'SELECT count(*), min(a) FROM t WHERE a = 1' %s --index a -q", path);
    expect_status(&outcome, 0);
    assert_string_equal(outcome.out, "0,\n");
    outcome_free(&outcome);
    outcome = heddle("query 'SELECT * FROM t' %s -q", path);
    expect_status(&outcome, 0);
    assert_string_equal(outcome.out, "");
    outcome_free(&outcome);
}

static void an_index_that_serves_no_comparison_is_mentioned(void **state) {
    (void)state;
    static const char note[] = "heddle: the index on v was not used, and the table scanned: it serves WHERE v = NUMBER";
    static const char *const where[] = {"", "WHERE v < 5", "WHERE v <> 5", "WHERE id = 5", "WHERE v = 2147483647"};
    for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
        struct outcome outcome = heddle("query 'SELECT count(*) FROM t %s' %s --index v", where[i], table_path());
        expect_status(&outcome, 0);
        expect_text(outcome.err, note);
        outcome_free(&outcome);
    }
    struct outcome outcome = heddle("query 'SELECT count(*) FROM t WHERE v = 5' %s --index v", table_path());
    expect_status(&outcome, 0);
    assert_null(strstr(outcome.err, "was not used"));
    outcome_free(&outcome);
    outcome = heddle("query 'SELECT count(*) FROM t WHERE v < 5' %s --index v -q", table_path());
    assert_string_equal(outcome.err, "");
    outcome_free(&outcome);
}

static void wrong_usage_is_reported(void **state) {
    (void)state;
    char words[600];
    expect_error(2, "'SELECT v FROM t'", "query takes a query in quotes and a CSV file");
    snprintf(words, sizeof words, "'SELECT v FROM t' %s --index x", table_path());
    expect_error(2, words, "query: --index: no column 'x' in ");
    snprintf(words, sizeof words, "'SELECT v FROM t' %s --code fast", table_path());
    expect_error(2, words, "--code takes plain|extended, not 'fast'");
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_queries_return_what_a_loop_finds),
        cmocka_unit_test(random_queries_return_what_sqlite_returns),
        cmocka_unit_test(an_index_finds_every_value_and_no_other),
        cmocka_unit_test(names_have_no_case_and_may_have_quotes),
        cmocka_unit_test(a_wrong_word_is_marked),
        cmocka_unit_test(a_bad_table_is_named_with_the_line),
        cmocka_unit_test(a_table_without_rows_is_a_table),
        cmocka_unit_test(an_index_that_serves_no_comparison_is_mentioned),
        cmocka_unit_test(wrong_usage_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
