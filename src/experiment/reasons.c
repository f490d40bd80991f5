/* Repeats the runs that show why claims do not hold (`shown_by` in an experiment's file), and reports which of these
 * runs still show the reason. */
#include "experiment/reasons.h"

#include <math.h>

#include "command/command.h"
#include "experiment/matrix.h"
#include "experiment/values.h"

struct reason {
    const struct experiment *experiment;
    const struct experiment_claim *claim;
    const struct experiment_shown *shown;
    struct experiment_grid grid;
};

struct experiment_reasons {
    struct reason *reason;
    unsigned count;
};

static unsigned count_shown(const struct experiment *const *experiment, unsigned count) {
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < experiment[i]->n_claims; k++)
            n += experiment[i]->claim[k].n_shown;
    return n;
}

static int plan_one(struct experiment_plan *plan, struct reason *reason) {
    const struct experiment *experiment = reason->shown->experiment;
    bool *is_needed = BASE_ARENA_ARRAY(plan->arena, bool, experiment_count_cells(experiment));
    experiment_mark_needed(experiment, reason->shown->check, is_needed);
    return experiment_plan_add(plan, &reason->grid, experiment, is_needed);
}

int experiment_plan_reasons(struct experiment_reasons **made, struct experiment_plan *plan,
                            const struct experiment *const *experiment, unsigned count) {
    struct experiment_reasons *reasons = *made = BASE_ARENA_NEW(plan->arena, struct experiment_reasons);
    reasons->reason = BASE_ARENA_ARRAY(plan->arena, struct reason, count_shown(experiment, count) + 1);
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < experiment[i]->n_claims; k++) {
            const struct experiment_claim *claim = &experiment[i]->claim[k];
            for (unsigned s = 0; s < claim->n_shown; s++) {
                struct reason *reason = &reasons->reason[reasons->count++];
                *reason = (struct reason){.experiment = experiment[i], .claim = claim, .shown = &claim->shown[s]};
                int status = plan_one(plan, reason);
                if (status != COMMAND_DONE)
                    return status;
            }
        }
    return COMMAND_DONE;
}

/* ---- What they are worth ----------------------------------------------------------------------------------------- */

struct printer {
    FILE *file;
    const struct experiment_grid *grid;
    unsigned n; /* values so far */
    struct base_arena *arena;
};

/* Prints the value of each cell of a product. */
static void print_values(void *context, unsigned measure, const struct experiment_cells *cells) {
    struct printer *printer = context;
    const struct experiment *experiment = printer->grid->experiment;
    unsigned n = 1;
    for (unsigned a = 0; a < experiment->n_axes; a++)
        n *= cells->n[a];
    for (unsigned i = 0; i < n; i++) {
        struct experiment_cell cell;
        for (unsigned a = experiment->n_axes, left = i; a-- > 0; left /= cells->n[a])
            cell.at[a] = cells->at[a][left % cells->n[a]];
        fprintf(printer->file, "%s%s[%s] is %s", printer->n++ ? ", " : "              ",
                experiment->measure[measure].name, experiment_cell_name(experiment, &cell, printer->arena),
                experiment_value_text(printer->grid, measure, &cell, printer->arena));
    }
}

static bool judge(FILE *file, const struct reason *reason, struct base_arena *arena) {
    double result = experiment_check_on_means(&reason->grid, reason->shown->check);
    const char *with = experiment_settings_text(&reason->shown->with, arena);
    struct printer printer = {file, &reason->grid, 0, arena};
    fprintf(file, "    %-9s  %s%s%s\n",
            isnan(result) ? "not known"
            : result != 0 ? "shown"
                          : "not shown",
            reason->shown->text, *with ? "   with " : "", with);
    experiment_visit_cells(reason->shown->check, &printer, print_values);
    fputc('\n', file);
    return result == 1;
}

static bool print_claim(FILE *file, const struct experiment_reasons *reasons, const struct experiment_claim *claim,
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

int experiment_print_reasons(FILE *file, const struct experiment_reasons *reasons,
                             const struct experiment *const *experiment, unsigned count, struct base_arena *arena) {
    unsigned n_claims = 0, n_open = 0, n_wrong = 0;
    for (unsigned i = 0; i < count; i++) {
        bool is_named = false;
        for (unsigned k = 0; k < experiment[i]->n_claims; k++) {
            const struct experiment_claim *claim = &experiment[i]->claim[k];
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
    return n_wrong ? command_fail(COMMAND_CHECK_FAILED, "%u reasons are not shown by the runs that their files name",
                                  n_wrong)
                   : COMMAND_DONE;
}
