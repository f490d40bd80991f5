/* The page: one HTML file with everything that was measured, which a browser shows without a network. web/ contains its
 * sources. Two pages differ only in their data, a list of documents. */
#pragma once

#include <jansson.h>

#include "report/report.h"

/* Returns a document with one run, or with those of a comparison, as --json writes them. It contains time series of
 * only the longest launches and, if the run recorded them, the counts of threads and the source lines that listings
 * name. */
json_t *report_run_document(const struct report_run *run, struct base_arena *arena);
json_t *report_comparison_document(const struct report_comparison *comparison, struct base_arena *arena);
/* Completes a document read from a file in the same way. */
void report_complete_document(json_t *document, struct base_arena *arena);

/* Writes the page: `page` is the text of web/dist/page.html. Takes ownership of the documents. Returns false if writing
 * fails (errno). */
bool report_write_page(FILE *file, const char *page, const char *title, json_t *documents);
