// The part of SQL that `heddle query` understands:
//
//     SELECT * | column {, column} | function(column) {, function(column)}   function: count, sum, min, max; count(*)
//     FROM name [WHERE comparison {AND comparison}] [;]
//     comparison: column = | < | > | <= | >= | <> number, column BETWEEN number AND number
#pragma once

#include "table.h"

enum { SQL_MOST_ITEMS = 64, SQL_MOST_COMPARISONS = 8 };

enum sql_function { SQL_COUNT, SQL_SUM, SQL_MIN, SQL_MAX };

struct sql_item {
    enum sql_function function; // where the query has functions
    unsigned column;            // unused for count(*)
};

enum sql_operator { SQL_EQ, SQL_LT, SQL_GT, SQL_LE, SQL_GE, SQL_NE, SQL_BETWEEN };

struct sql_comparison {
    enum sql_operator op;
    unsigned column;
    int64_t number, other; // the second of BETWEEN
};

struct sql_query {
    bool has_functions;
    struct sql_item item[SQL_MOST_ITEMS];
    struct sql_comparison comparison[SQL_MOST_COMPARISONS];
    unsigned n_items, n_comparisons;
};

// Parses a query. On a mistake it ends the program with one line and a caret at its place.
struct sql_query sql_parse(const struct workload *w, const char *text, const struct table *table);
