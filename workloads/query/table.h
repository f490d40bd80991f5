// A table of whole numbers from a CSV file.
#pragma once

#include "../common/workload.h"

struct table {
    char *text; // the file; names are inside
    unsigned n_columns, n_rows;
    char **name;
    int32_t **column;
};

// Ends the program with one line when the file is no such table: a line of names, then lines of as many numbers.
struct table table_read(const struct workload *w, const char *path);
// The column of that name, capitals or not; -1: there is none.
int table_find(const struct table *table, const char *name, size_t length);
void table_free(struct table *table);
