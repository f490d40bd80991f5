/* `heddle report RESULTS... -o PAGE`: writes a page of results. They come from files that earlier runs wrote with
 * --json, or from a result store. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "program/html.h"

struct report_options {
    const char *output, *title, *where;
};

#define FIELD(name) offsetof(struct report_options, name)

static const struct command_option options[] = {
    {"--output", 'o', COMMAND_TEXT, "FILE|-", "the page", FIELD(output), 0, 0},
    {"--title", 't', COMMAND_TEXT, "TEXT", "its title, default the name of the results", FIELD(title), 0, 0},
    {"--where", 0, COMMAND_TEXT, "SQL", "of a store, only the runs that meet this expression over its columns",
     FIELD(where), 0, 0},
};

const struct command cli_report_command = {
    .name = "report",
    .summary = "make a page with charts of results, which a browser shows",
    .usage = "report RESULTS... -o PAGE.html",
    .text = "RESULTS is a file that run, compare, paper or sweep wrote with --json, or a store of results that\n"
            "paper and sweep fill (--store). Several are shown together. If a store contains a run for several\n"
            "versions of the simulator, the latest is shown. The page is one file and needs no network. It\n"
            "shows charts, time series, threads and lines, if the results contain them, and a table of all\n"
            "numbers. --html of those commands writes the same page and records everything that it shows.\n",
    .examples =
        "  heddle compare bfs nn -d \"stack dws\" --json models.json\n"
        "  heddle report models.json -o models.html\n"
        "  heddle report monday.json tuesday.json -o both.html --title \"Before and after\"\n"
        "  heddle report ~/.local/share/heddle/results.db --where \"size = 'small' AND program = 'bfs'\" -o bfs.html\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_report,
};

/* Returns the file's name without folder and ending. */
static const char *name_of(const char *path, struct base_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return base_arena_copy(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static int run(const struct report_options *given, const struct command_words *words, struct base_arena *arena) {
    struct program_html html;
    if (words->count == 0)
        return command_fail(COMMAND_USAGE, "report needs results: heddle report RESULTS -o PAGE.html");
    if (!given->output)
        return command_fail(COMMAND_USAGE, "report needs a file for the page: -o PAGE.html");
    json_t *documents = json_array();
    for (unsigned i = 0; i < words->count; i++) {
        json_t *document = cli_read_results(words->item[i], given->where, arena);
        if (document && !json_object_get(document, "experiments"))
            report_complete_document(document, arena);
        if (!document) {
            json_decref(documents);
            return COMMAND_ERROR;
        }
        json_array_append_new(documents, document);
    }
    int status = program_html_open(&html, given->output, arena);
    if (status != COMMAND_DONE) {
        json_decref(documents);
        return status;
    }
    const char *title = given->title ? given->title : name_of(words->item[0], arena);
    return program_html_write(&html, title, documents) ? COMMAND_DONE : COMMAND_ERROR;
}

int cli_report(int argc, char **argv) {
    struct base_arena arena = {0};
    struct report_options given = {0};
    struct command_words words = {0};
    int status = COMMAND_DONE;
    if (command_parse(&cli_report_command, argc, argv, &given, &words, &arena, &status))
        status = run(&given, &words, &arena);
    base_arena_free(&arena);
    return status;
}
