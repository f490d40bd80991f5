/* --html: the page of a command's results (report/page.h). */
#pragma once

#include <stdio.h>

#include "cli/program/execute.h"
#include "report/page.h"

#define CLI_HTML_ROW(field)                                                                                            \
    {                                                                                                                  \
        "--html", 0, CLI_TEXT, "FILE", "write a page with charts, which a browser shows; one file, no network", field, \
            0, 0                                                                                                       \
    }

/* A page to be written: opened before the runs, so that what cannot be written costs none. */
struct cli_html {
    const char *path; /* NULL: none */
    FILE *file;
    const char *page; /* the text that the data goes into */
};

/* Does nothing if `path` is NULL. Returns CLI_DONE, or the exit status after one line. */
int cli_html_open(struct cli_html *html, const char *path, struct base_arena *arena);
/* Records what a page shows besides the statistics: time series and lines. The run notes what was not asked for
 * otherwise, which --json does not have. */
void cli_html_record(struct cli_execution *execution, struct report_run *run);
/* Writes the page, and takes the documents over. Returns false after one line. */
bool cli_html_write(struct cli_html *html, const char *title, json_t *documents);
