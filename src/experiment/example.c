/* Draws examples over time: one line per warp, one column per cycle. A letter shows that the warp issues, and dashes
 * show a long operation. */
#include <string.h>

#include "experiment/show.h"

static void draw_warp(FILE *file, const struct sched_example *example, uint32_t warp, const json_t *issued) {
    const char *next = example->warp[warp];
    uint32_t busy = 0;
    char line[SCHED_EXAMPLE_MAX_CYCLES + 1] = "";
    for (size_t cycle = 0; cycle < json_array_size(issued) && cycle < SCHED_EXAMPLE_MAX_CYCLES; cycle++) {
        bool is_issue = json_integer_value(json_array_get(issued, cycle)) == (json_int_t)warp;
        line[cycle] = is_issue ? *next : busy > 0 ? '-' : ' ';
        if (is_issue)
            busy = *next++ == 'L' ? example->long_cycles : example->short_cycles;
        busy -= busy > 0;
    }
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = '\0';
    fprintf(file, "  w%u %s\n", warp + 1, line);
}

void experiment_draw_examples(FILE *file, const struct experiment_grid *grid) {
    for (unsigned i = 0; i < experiment_count_cells(grid->experiment); i++) {
        struct experiment_cell cell = experiment_cell_of_number(grid->experiment, i);
        const struct experiment_trial *trial = experiment_grid_trial(grid, &cell, 0);
        if (!trial || !trial->settings.example || !trial->result)
            continue;
        const json_t *issued = json_object_get(trial->result, "issued");
        fprintf(file, "\n%s, %zu cycles\n", trial->stored.scheduler, json_array_size(issued));
        for (uint32_t warp = 0; warp < trial->settings.example->n_warps; warp++)
            draw_warp(file, trial->settings.example, warp, issued);
    }
}
