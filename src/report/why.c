/* Explains the difference between two runs. The cycles of each are divided by cause (causes.def), in proportion to the
 * cycles of its SMs, so the differences by cause add up to the difference of the runs. */
#include "report/why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"

enum { MOST_LAUNCHES = 12, MOST_LINES = 12, MOST_SHOWN_LINES = 5 };

static int64_t difference(uint64_t before, uint64_t after) { return (int64_t)after - (int64_t)before; }
static uint64_t size_of(int64_t value) { return value < 0 ? (uint64_t)-value : (uint64_t)value; }

/* ---- By cause ---------------------------------------------------------------------------------------------------- */

void report_cause_cycles(const struct stats_counters *counters, const struct report_target *target,
                         uint64_t cycles[REPORT_N_CAUSES]) {
    uint64_t part[REPORT_N_CAUSES], sum = 0, left = counters->cycles;
    double rest[REPORT_N_CAUSES];
    report_causes(counters, target, part);
    for (unsigned i = 0; i < REPORT_N_CAUSES; i++)
        sum += part[i];
    for (unsigned i = 0; i < REPORT_N_CAUSES; i++) {
        double exact = sum ? (double)part[i] / (double)sum * (double)counters->cycles : 0;
        cycles[i] = (uint64_t)exact;
        rest[i] = exact - (double)cycles[i];
        left -= cycles[i];
    }
    for (; left && sum; left--) { /* rounds up those that lost the most by rounding down */
        unsigned most = 0;
        for (unsigned i = 1; i < REPORT_N_CAUSES; i++)
            if (rest[i] > rest[most])
                most = i;
        cycles[most]++;
        rest[most] -= 1;
    }
}

/* ---- By launch --------------------------------------------------------------------------------------------------- */

static bool has_same_launches(const struct report_run *a, const struct report_run *b) {
    if (a->n_launches != b->n_launches)
        return false;
    for (unsigned i = 0; i < a->n_launches; i++)
        if (strcmp(a->launch[i].name, b->launch[i].name) != 0)
            return false;
    return true;
}

static int compare_launches(const void *a, const void *b) {
    const struct report_why_launch *x = a, *y = b;
    uint64_t left = size_of(difference(x->before, x->after)), right = size_of(difference(y->before, y->after));
    if (left != right)
        return left > right ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void add_kernels(struct report_why *why, const struct report_run *run, bool is_after, struct base_arena *arena) {
    unsigned n;
    const struct report_kernel *kernel = report_by_name(run, arena, &n);
    for (unsigned i = 0; i < n; i++) {
        unsigned k = 0;
        while (k < why->n_launches && strcmp(why->launch[k].kernel, kernel[i].name) != 0)
            k++;
        if (k == why->n_launches)
            why->launch[why->n_launches++] = (struct report_why_launch){.kernel = kernel[i].name};
        *(is_after ? &why->launch[k].after : &why->launch[k].before) = kernel[i].counters.cycles;
    }
}

static void explain_launches(struct report_why *why, struct base_arena *arena) {
    const struct report_run *a = why->baseline, *b = why->run;
    why->launch = BASE_ARENA_ARRAY(arena, struct report_why_launch, a->n_launches + b->n_launches);
    if (has_same_launches(a, b)) {
        for (unsigned i = 0; i < a->n_launches; i++)
            why->launch[why->n_launches++] = (struct report_why_launch){
                a->launch[i].name, i + 1, a->launch[i].counters.cycles, b->launch[i].counters.cycles};
    } else {
        add_kernels(why, a, false, arena);
        add_kernels(why, b, true, arena);
    }
    qsort(why->launch, why->n_launches, sizeof *why->launch, compare_launches);
    if (why->n_launches > MOST_LAUNCHES)
        why->n_launches = MOST_LAUNCHES;
}

/* ---- By line ----------------------------------------------------------------------------------------------------- */

static uint64_t group_cycles(const struct stats_line *line) { return line->executed + stats_line_stall_cycles(line); }

static int64_t line_difference(const struct report_why_line *line) {
    return difference(group_cycles(&line->before), group_cycles(&line->after));
}

static int64_t counter_difference(const struct report_why_line *line, unsigned at) {
    return difference(line->before.value[at], line->after.value[at]);
}

/* Two schedulers differ in the loads that they hide, two divergence models in the instructions that issue for the same
 * threads. */
static int64_t change_of(const struct report_why_line *line, enum report_why_kind kind) {
    return kind == REPORT_WHY_LOADS   ? counter_difference(line, STATS_LINE_AT_stall_memory)
           : kind == REPORT_WHY_LANES ? counter_difference(line, STATS_LINE_AT_executed)
                                      : line_difference(line);
}

static int compare_by(const struct report_why_line *x, const struct report_why_line *y, enum report_why_kind kind) {
    uint64_t left = size_of(change_of(x, kind)), right = size_of(change_of(y, kind));
    if (left != right)
        return left > right ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static int compare_cycles(const void *a, const void *b) { return compare_by(a, b, REPORT_WHY_CYCLES); }
static int compare_loads(const void *a, const void *b) { return compare_by(a, b, REPORT_WHY_LOADS); }
static int compare_lanes(const void *a, const void *b) { return compare_by(a, b, REPORT_WHY_LANES); }

static enum report_why_kind kind_of(const struct report_target *a, const struct report_target *b) {
    bool has_models = strcmp(a->divergence, b->divergence) != 0,
         has_schedulers = strcmp(a->scheduler, b->scheduler) != 0;
    if (strcmp(a->machine, b->machine) != 0 || has_models == has_schedulers)
        return REPORT_WHY_CYCLES;
    return has_models ? REPORT_WHY_LANES : REPORT_WHY_LOADS;
}

static bool is_same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static struct report_why_line *line_at(struct report_why *why, const char *kernel, const struct report_line *line) {
    const char *file = line->source_line ? line->file : NULL;
    uint32_t number = file ? line->source_line : line->line;
    for (unsigned i = why->n_lines; i-- > 0;)
        if (why->line[i].line == number && is_same_text(why->line[i].file, file) &&
            strcmp(why->line[i].kernel, kernel) == 0)
            return &why->line[i];
    why->line[why->n_lines] = (struct report_why_line){.kernel = kernel, .file = file, .line = number};
    return &why->line[why->n_lines++];
}

static unsigned count_lines(const struct report_run *run) {
    unsigned n = 0;
    for (unsigned i = 0; i < run->n_listings; i++)
        n += run->listing[i].n_lines;
    return n;
}

static void add_lines(struct report_why *why, const struct report_run *run, bool is_after) {
    for (unsigned i = 0; i < run->n_listings; i++)
        for (unsigned k = 0; k < run->listing[i].n_lines; k++) {
            const struct report_line *from = &run->listing[i].line[k];
            if (!group_cycles(&from->counters))
                continue;
            struct report_why_line *line = line_at(why, run->listing[i].kernel, from);
            stats_add_line(is_after ? &line->after : &line->before, &from->counters);
        }
}

static unsigned largest_change(const struct report_why_line *line) {
    unsigned largest = 0;
    uint64_t most = 0;
    for (unsigned i = 0; i < STATS_N_LINE_STALLS; i++) {
        unsigned at = stats_line_stalls[i].at;
        uint64_t change = size_of(difference(line->before.value[at], line->after.value[at]));
        if (change > most) {
            most = change;
            largest = i;
        }
    }
    return largest;
}

static void explain_lines(struct report_why *why, struct base_arena *arena) {
    unsigned most = count_lines(why->baseline) + count_lines(why->run);
    if (!why->baseline->n_listings || !why->run->n_listings)
        return;
    why->line = BASE_ARENA_ARRAY(arena, struct report_why_line, most);
    add_lines(why, why->baseline, false);
    add_lines(why, why->run, true);
    qsort(why->line, why->n_lines, sizeof *why->line,
          why->kind == REPORT_WHY_LOADS   ? compare_loads
          : why->kind == REPORT_WHY_LANES ? compare_lanes
                                          : compare_cycles);
    while (why->n_lines && (why->n_lines > MOST_LINES || change_of(&why->line[why->n_lines - 1], why->kind) == 0))
        why->n_lines--;
    for (unsigned i = 0; i < why->n_lines; i++)
        why->line[i].stall = largest_change(&why->line[i]);
}

struct report_why report_explain(const struct report_run *baseline, const struct report_run *run,
                                 struct base_arena *arena) {
    struct report_why why = {.baseline = baseline, .run = run, .kind = kind_of(baseline->target, run->target)};
    uint64_t before[REPORT_N_CAUSES], after[REPORT_N_CAUSES];
    report_cause_cycles(&baseline->total.counters, baseline->target, before);
    report_cause_cycles(&run->total.counters, run->target, after);
    for (unsigned i = 0; i < REPORT_N_CAUSES; i++)
        why.cause[i] = difference(before[i], after[i]);
    explain_launches(&why, arena);
    explain_lines(&why, arena);
    return why;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Returns a number with its sign, and a comma before every three digits. */
static const char *signed_text(int64_t value, struct base_arena *arena) {
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, size_of(value));
    char *text = base_arena_alloc(arena, 32, 1), *to = text;
    *to++ = value < 0 ? '-' : '+';
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

/* Sorts the causes by the size of their difference. Returns how many are worth a word: at least a hundredth of the
 * baseline's cycles, or the largest. */
static unsigned rank(const struct report_why *why, unsigned order[REPORT_N_CAUSES]) {
    uint64_t least = why->baseline->total.counters.cycles / 100;
    unsigned n = 0;
    for (unsigned i = 0; i < REPORT_N_CAUSES; i++) {
        unsigned at = i;
        for (; at > 0 && size_of(why->cause[i]) > size_of(why->cause[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    while (n < REPORT_N_CAUSES && why->cause[order[n]] && (n == 0 || size_of(why->cause[order[n]]) >= least))
        n++;
    return n;
}

static int64_t whole(const struct report_why *why) {
    return difference(why->baseline->total.counters.cycles, why->run->total.counters.cycles);
}

static const char *name_of(const struct report_why *why, const struct report_run *run, struct base_arena *arena) {
    const struct report_target *a = why->baseline->target, *b = why->run->target, *own = run->target;
    const char *name = "";
    if (strcmp(a->machine, b->machine) != 0)
        name = own->machine;
    if (strcmp(a->scheduler, b->scheduler) != 0)
        name = base_arena_printf(arena, "%s%s%s", name, *name ? ", " : "", own->scheduler);
    if (strcmp(a->divergence, b->divergence) != 0)
        name = base_arena_printf(arena, "%s%s%s", name, *name ? ", " : "", own->divergence);
    return *name ? name : run == why->baseline ? "the first run" : "the second run";
}

const char *report_why_sentence(const struct report_why *why, struct base_arena *arena) {
    unsigned order[REPORT_N_CAUSES], n = rank(why, order);
    double before = (double)why->baseline->total.counters.cycles;
    const char *text =
        base_arena_printf(arena, "%s takes %s cycles %s than %s (%+.1f %%)", name_of(why, why->run, arena),
                          signed_text(whole(why), arena) + 1, whole(why) < 0 ? "less" : "more",
                          name_of(why, why->baseline, arena), 100 * (double)whole(why) / before);
    for (unsigned i = 0; i < n && i < 3; i++)
        text = base_arena_printf(arena, "%s%s %s %s", text, i ? "," : ":", report_cause_word(order[i]),
                                 signed_text(why->cause[order[i]], arena));
    return text;
}

/* ---- The terminal ------------------------------------------------------------------------------------------------ */

static const char *bar_of(int64_t value, uint64_t most, struct report_style style, struct base_arena *arena) {
    unsigned n = most ? (unsigned)((double)size_of(value) / (double)most * style.bar_width + 0.5) : 0;
    const char *color = style.is_colored ? value < 0 ? "\033[32m" : "\033[31m" : "";
    const char *text = "";
    for (unsigned i = 0; i < n; i++)
        text = base_arena_printf(arena, "%s%s", text, style.has_blocks ? "\u2588" : value < 0 ? "-" : "+");
    return base_arena_printf(arena, "%s%s%s", color, text, *color ? "\033[0m" : "");
}

static void add_step(struct report_table *table, const char *name, int64_t value, uint64_t most,
                     struct report_style style, struct base_arena *arena) {
    report_table_cell(table, "  %s", name);
    report_table_cell(table, "%s", signed_text(value, arena));
    report_table_cell(table, "%s", bar_of(value, most, style, arena));
}

static void print_waterfall(FILE *file, const struct report_why *why, struct report_style style,
                            struct base_arena *arena) {
    unsigned order[REPORT_N_CAUSES], n = rank(why, order);
    uint64_t most = n ? size_of(why->cause[order[0]]) : 0;
    struct report_table table = report_table_new(arena, 3);
    int64_t rest = whole(why);
    table.is_left[2] = true;
    report_table_cell(&table, "  cause");
    report_table_cell(&table, "cycles");
    report_table_cell(&table, "%s", "");
    for (unsigned i = 0; i < n; i++) {
        add_step(&table, report_cause_word(order[i]), why->cause[order[i]], most, style, arena);
        rest -= why->cause[order[i]];
    }
    if (rest)
        add_step(&table, "other", rest, most, style, arena);
    report_table_print(&table, file, style.is_colored);
}

static double lanes_of(const struct stats_line *line) {
    return line->executed ? (double)line->active_lanes / (double)line->executed : 0;
}

static void print_line(FILE *file, const struct report_why_line *line, enum report_why_kind kind,
                       struct base_arena *arena) {
    const struct stats_stall *stall =
        &stats_line_stalls[kind == REPORT_WHY_LOADS ? STATS_LINE_STALL_memory : line->stall];
    const char *slash = line->file ? strrchr(line->file, '/') : NULL;
    const char *name = slash ? slash + 1 : line->file ? line->file : line->kernel;
    fprintf(file, "  %s %u of %s: ", line->file ? "line" : "PTX line", line->line, name);
    if (kind == REPORT_WHY_LANES)
        fprintf(file, "%s instructions, with %.1f instead of %.1f lanes at work\n",
                signed_text(counter_difference(line, STATS_LINE_AT_executed), arena), lanes_of(&line->after),
                lanes_of(&line->before));
    else
        fprintf(file, "groups wait %s cycles for %s\n", signed_text(counter_difference(line, stall->at), arena),
                kind == REPORT_WHY_LOADS ? "its operands from memory" : stall->word);
}

static void print_lines(FILE *file, const struct report_why *why, struct base_arena *arena) {
    static const char *const titles[] = {[REPORT_WHY_CYCLES] = "lines whose cycles changed most",
                                         [REPORT_WHY_LOADS] = "loads that were hidden (-) or exposed (+)",
                                         [REPORT_WHY_LANES] = "lines that won (-) or lost (+) lanes"};
    if (why->n_lines)
        fprintf(file, "  %s:\n", titles[why->kind]);
    for (unsigned i = 0; i < why->n_lines && i < MOST_SHOWN_LINES; i++)
        print_line(file, &why->line[i], why->kind, arena);
}

void report_print_why(FILE *file, const struct report_why *why, struct report_style style, struct base_arena *arena) {
    fprintf(file, "\n%s: %s\n", why->run->program, report_why_sentence(why, arena));
    print_waterfall(file, why, style, arena);
    for (unsigned i = 0; i < why->n_launches && i < 3 && why->n_launches > 1; i++)
        fprintf(file, "  %s%s: %s cycles\n", why->launch[i].kernel,
                why->launch[i].number ? base_arena_printf(arena, ", launch %u", why->launch[i].number) : "",
                signed_text(difference(why->launch[i].before, why->launch[i].after), arena));
    print_lines(file, why, arena);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *integer(uint64_t value) { return json_integer((json_int_t)value); }

static json_t *line_json(const struct report_why_line *line) {
    json_t *object = json_pack("{s:s}", "kernel", line->kernel);
    unsigned at = stats_line_stalls[line->stall].at;
    if (line->file)
        json_object_set_new(object, "file", json_string(line->file));
    json_object_set_new(object, line->file ? "source_line" : "line", json_integer(line->line));
    json_object_set_new(object, "before", integer(group_cycles(&line->before)));
    json_object_set_new(object, "after", integer(group_cycles(&line->after)));
    json_object_set_new(object, "stall", json_string(stats_line_stalls[line->stall].word));
    json_object_set_new(object, "stall_before", integer(line->before.value[at]));
    json_object_set_new(object, "stall_after", integer(line->after.value[at]));
    json_object_set_new(object, "executed_before", integer(line->before.executed));
    json_object_set_new(object, "executed_after", integer(line->after.executed));
    json_object_set_new(object, "lanes_before", json_real(lanes_of(&line->before)));
    json_object_set_new(object, "lanes_after", json_real(lanes_of(&line->after)));
    return object;
}

json_t *report_why_json(const struct report_why *why) {
    static const char *const words[] = {
        [REPORT_WHY_CYCLES] = "cycles", [REPORT_WHY_LOADS] = "loads", [REPORT_WHY_LANES] = "lanes"};
    struct base_arena arena = {0};
    json_t *causes = json_object(), *launches = json_array(), *lines = json_array();
    for (unsigned i = 0; i < REPORT_N_CAUSES; i++)
        json_object_set_new(causes, report_cause_word(i), json_integer((json_int_t)why->cause[i]));
    for (unsigned i = 0; i < why->n_launches; i++) {
        const struct report_why_launch *launch = &why->launch[i];
        json_t *object = json_pack("{s:s, s:o, s:o}", "kernel", launch->kernel, "before", integer(launch->before),
                                   "after", integer(launch->after));
        if (launch->number)
            json_object_set_new(object, "launch", json_integer(launch->number));
        json_array_append_new(launches, object);
    }
    for (unsigned i = 0; i < why->n_lines; i++)
        json_array_append_new(lines, line_json(&why->line[i]));
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:s, s:o}", "by", words[why->kind], "before",
                  integer(why->baseline->total.counters.cycles), "after", integer(why->run->total.counters.cycles),
                  "causes", causes, "sentence", report_why_sentence(why, &arena), "launches", launches);
    if (why->n_lines)
        json_object_set(object, "lines", lines);
    json_decref(lines);
    base_arena_free(&arena);
    return object;
}
