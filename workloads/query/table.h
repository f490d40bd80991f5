// A table of whole numbers from a CSV file.
#pragma once

#include "../common/workload.h"

struct table {
    char *text; // the file; names are inside
    unsigned n_columns, n_rows;
    char **name;
    int32_t **column;
};

// Reads a line of names, then lines of as many numbers. Ends the program with one line if the file is no such table.
struct table table_read(const struct workload *w, const char *path);
// Returns the column of that name, ignoring case, or -1.
int table_find(const struct table *table, const char *name, size_t length);
void table_free(struct table *table);
