/* Repeats the runs that show why claims do not hold (`shown_by` in an experiment's file), and says which of them still
 * show it. */
#include "cli/experiments/reasons.h"

#include <math.h>

#include "cli/cli.h"
#include "cli/experiments/matrix.h"
#include "cli/experiments/values.h"

struct reason {
    const struct cli_experiment *experiment;
    const struct cli_claim *claim;
    const struct cli_shown *shown;
    struct cli_grid grid;
};

struct cli_reasons {
    struct reason *reason;
    unsigned count;
};

static unsigned count_shown(const struct cli_experiment *const *experiment, unsigned count) {
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < experiment[i]->n_claims; k++)
            n += experiment[i]->claim[k].n_shown;
    return n;
}

static int plan_one(struct cli_plan *plan, struct reason *reason) {
    const struct cli_experiment *experiment = reason->shown->experiment;
    bool *is_needed = BASE_ARENA_ARRAY(plan->arena, bool, cli_count_cells(experiment));
    cli_mark_needed(experiment, reason->shown->check, is_needed);
    return cli_plan_experiment(plan, &reason->grid, experiment, is_needed);
}

int cli_plan_reasons(struct cli_reasons **made, struct cli_plan *plan, const struct cli_experiment *const *experiment,
                     unsigned count) {
    struct cli_reasons *reasons = *made = BASE_ARENA_NEW(plan->arena, struct cli_reasons);
    reasons->reason = BASE_ARENA_ARRAY(plan->arena, struct reason, count_shown(experiment, count) + 1);
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < experiment[i]->n_claims; k++) {
            const struct cli_claim *claim = &experiment[i]->claim[k];
            for (unsigned s = 0; s < claim->n_shown; s++) {
                struct reason *reason = &reasons->reason[reasons->count++];
                *reason = (struct reason){.experiment = experiment[i], .claim = claim, .shown = &claim->shown[s]};
                int status = plan_one(plan, reason);
                if (status != CLI_DONE)
                    return status;
            }
        }
    return CLI_DONE;
}

/* ---- What they are worth ----------------------------------------------------------------------------------------- */

struct printer {
    FILE *file;
    const struct cli_grid *grid;
    unsigned n; /* values so far */
    struct base_arena *arena;
};

/* Prints the value of each cell of a product. */
static void print_values(void *context, unsigned measure, const struct cli_cells *cells) {
    struct printer *printer = context;
    const struct cli_experiment *experiment = printer->grid->experiment;
    unsigned n = 1;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        n *= cells->n[a];
    for (unsigned i = 0; i < n; i++) {
        struct cli_cell cell;
        for (unsigned a = experiment->n_axes, left = i; a-- > 0; left /= cells->n[a])
            cell.at[a] = cells->at[a][left % cells->n[a]];
        fprintf(printer->file, "%s%s[%s] is %s", printer->n++ ? ", " : "              ",
                experiment->measure[measure].name, cli_cell_name(experiment, &cell, printer->arena),
                cli_value_text(printer->grid, measure, &cell, printer->arena));
    }
}

static bool judge(FILE *file, const struct reason *reason, struct base_arena *arena) {
    double result = cli_check_on_means(&reason->grid, reason->shown->check);
    const char *with = cli_settings_text(&reason->shown->with, arena);
    struct printer printer = {file, &reason->grid, 0, arena};
    fprintf(file, "    %-9s  %s%s%s\n",
            isnan(result) ? "not known"
            : result != 0 ? "shown"
                          : "not shown",
            reason->shown->text, *with ? "   with " : "", with);
    cli_visit_cells(reason->shown->check, &printer, print_values);
    fputc('\n', file);
    return result == 1;
}

static bool print_claim(FILE *file, const struct cli_reasons *reasons, const struct cli_claim *claim,
                        struct base_arena *arena) {
    bool is_good = true;
    fprintf(file, "  %s\n", claim->says);
    if (claim->n_shown == 0)
        fputs("    open       no run shows the reason that the file gives\n", file);
    for (unsigned i = 0; i < reasons->count; i++)
        if (reasons->reason[i].claim == claim)
            is_good &= judge(file, &reasons->reason[i], arena);
    return is_good;
}

int cli_print_reasons(FILE *file, const struct cli_reasons *reasons, const struct cli_experiment *const *experiment,
                      unsigned count, struct base_arena *arena) {
    unsigned n_claims = 0, n_open = 0, n_wrong = 0;
    for (unsigned i = 0; i < count; i++) {
        bool is_named = false;
        for (unsigned k = 0; k < experiment[i]->n_claims; k++) {
            const struct cli_claim *claim = &experiment[i]->claim[k];
            if (!claim->reason)
                continue;
            if (!is_named)
                fprintf(file, "%s: %s\n", experiment[i]->name, experiment[i]->title);
            is_named = true;
            n_claims++;
            n_open += claim->n_shown == 0;
            n_wrong += !print_claim(file, reasons, claim, arena);
        }
    }
    fprintf(file, "%u reasons: %u shown, %u not shown, %u open\n", n_claims, n_claims - n_wrong - n_open, n_wrong,
            n_open);
    return n_wrong ? cli_fail(CLI_CHECK_FAILED, "%u reasons are not shown by the runs that their files name", n_wrong)
                   : CLI_DONE;
}
