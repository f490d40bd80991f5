/* The page: one HTML file with all that was measured, which a browser shows without a network. web/ has its sources;
 * what differs between two pages is the data, a list of documents. */
#pragma once

#include <jansson.h>

#include "report/report.h"

/* A document with one run, or with those of a comparison, as --json has them; time series only of the longest launches,
 * and with the counts of threads and the lines of the source that listings name, where the run recorded them. */
json_t *report_run_document(const struct report_run *run, struct base_arena *arena);
json_t *report_comparison_document(const struct report_comparison *comparison, struct base_arena *arena);
/* The same for a document that was read from a file. */
void report_complete_document(json_t *document, struct base_arena *arena);

/* Writes the page: `page` is the text of web/dist/page.html. Takes the documents over. Returns false when writing fails
 * (errno). */
bool report_write_page(FILE *file, const char *page, const char *title, json_t *documents);
