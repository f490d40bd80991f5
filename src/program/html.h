/* --html: the page of a command's results (report/page.h). */
#pragma once

#include <stdio.h>

#include "program/execute.h"
#include "report/page.h"

#define PROGRAM_HTML_ROW(field)                                                                                        \
    {                                                                                                                  \
        "--html", 0, COMMAND_TEXT, "FILE", "write a page with charts, which a browser shows; one file, no network",    \
            field, 0, 0                                                                                                \
    }

/* A page to be written. It is opened before the runs, so that a page that cannot be written wastes none. */
struct program_html {
    const char *path; /* NULL: none */
    FILE *file;
    const char *page; /* the template that the data is put into */
};

/* Does nothing if `path` is NULL. Returns COMMAND_DONE, or the exit status after one line. */
int program_html_open(struct program_html *html, const char *path, struct base_arena *arena);
/* Records the data that a page shows in addition to the statistics: time series and lines. The run marks those that the
 * user did not ask for, which --json leaves out. */
void program_html_record(struct program_execution *execution, struct report_run *run);
/* Returns the page as a text, or NULL after one line. Takes ownership of the documents. */
const char *program_page_text(const char *title, json_t *documents, struct base_arena *arena);
/* Writes the page, and takes ownership of the documents. Returns false after one line. */
bool program_html_write(struct program_html *html, const char *title, json_t *documents);
