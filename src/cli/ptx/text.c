/* The report of `heddle ptx` as text. */
#include <string.h>

#include "cli/ptx/view.h"
#include "report/report.h"

static void print_heading(FILE *file, const struct cli_ptx_view *view) {
    const struct ptx_module *module = view->module;
    unsigned n_kernels = 0;
    for (unsigned f = 0; f < view->n_functions; f++)
        n_kernels += view->function[f].function->is_entry;
    unsigned n_others = view->n_functions - n_kernels;
    fprintf(file, "%s: PTX %u.%u for %s, %u kernel%s", module->path, module->version_major, module->version_minor,
            module->target, n_kernels, n_kernels == 1 ? "" : "s");
    if (n_others > 0)
        fprintf(file, ", %u function%s", n_others, n_others == 1 ? "" : "s");
    if (view->global_bytes > 0)
        fprintf(file, ", %llu bytes of global variables", (unsigned long long)view->global_bytes);
    if (view->constant_bytes > 0)
        fprintf(file, ", %llu bytes of constants", (unsigned long long)view->constant_bytes);
    if (view->n_unsupported > 0)
        fprintf(file, ", %u instruction%s not supported", view->n_unsupported, view->n_unsupported == 1 ? "" : "s");
    fputs("\n\n", file);
}

/* ---- All functions ----------------------------------------------------------------------------------------------- */

static void print_summary(FILE *file, const struct cli_ptx_view *view, struct base_arena *arena) {
    static const char *const heading[] = {"kernel",       "registers", "virtual", "shared",   "local",    "params",
                                          "instructions", "blocks",    "loops",   "branches", "divergent"};
    enum { N_COLUMNS = sizeof heading / sizeof heading[0] };
    struct report_table table = report_table_new(arena, N_COLUMNS);
    for (unsigned c = 0; c < N_COLUMNS; c++)
        report_table_cell(&table, "%s", heading[c]);
    for (unsigned f = 0; f < view->n_functions; f++) {
        const struct cli_ptx_function *shown = &view->function[f];
        report_table_cell(&table, "%s%s", shown->function->name, shown->function->is_entry ? "" : " (function)");
        report_table_count(&table, cli_ptx_registers(shown));
        report_table_count(&table, shown->function->n_registers);
        if (shown->program)
            report_table_count(&table, shown->program->shared_bytes);
        else
            report_table_cell(&table, "-");
        report_table_count(&table, shown->local_bytes);
        report_table_count(&table, shown->function->parameter_bytes);
        report_table_count(&table, shown->function->n_instructions);
        report_table_count(&table, shown->analysis->n_blocks - 1);
        report_table_count(&table, shown->analysis->n_loops);
        report_table_count(&table, shown->n_branches);
        report_table_count(&table, shown->n_divergent);
    }
    report_table_print(&table, file, false);
}

/* ---- One function ------------------------------------------------------------------------------------------------ */

static void print_parameters(FILE *file, const struct ptx_function *function, struct base_arena *arena) {
    if (function->n_parameters == 0)
        return;
    struct report_table table = report_table_new(arena, 4);
    table.is_left[2] = table.is_left[3] = true;
    static const char *const heading[] = {"  offset", "bytes", "type", "parameter"};
    for (unsigned c = 0; c < 4; c++)
        report_table_cell(&table, "%s", heading[c]);
    for (uint32_t p = 0; p < function->n_parameters; p++) {
        const struct ptx_variable *parameter = &function->parameter[p];
        bool is_register = parameter->register_id != PTX_NO_INDEX;
        if (is_register)
            report_table_cell(&table, "  .reg");
        else
            report_table_cell(&table, "  %llu", (unsigned long long)parameter->offset);
        report_table_count(&table, parameter->size);
        report_table_cell(&table, "%s", ptx_type_name(parameter->type));
        report_table_cell(&table, "%s", parameter->name);
    }
    report_table_print(&table, file, false);
}

static void print_classes(FILE *file, const struct cli_ptx_function *shown) {
    fputs("  instructions:", file);
    const char *separator = " ";
    for (unsigned c = 0; c < CLI_PTX_N_CLASSES; c++) {
        if (shown->n_class[c] == 0)
            continue;
        fprintf(file, "%s%u %s", separator, shown->n_class[c], cli_ptx_class_name((enum cli_ptx_class)c));
        separator = ", ";
    }
    fputs(shown->function->n_instructions ? "\n" : " none\n", file);
}

static const char *line_text(struct base_arena *arena, const struct ptx_function *function, uint32_t instruction) {
    uint32_t line = cli_ptx_line(function, instruction);
    return line ? base_arena_printf(arena, "%u", line) : "end";
}

static const char *block_text(struct base_arena *arena, const struct ptx_analysis *analysis, uint32_t block) {
    if (block == PTX_NO_BLOCK)
        return "-";
    return block == analysis->n_blocks - 1 ? "exit" : base_arena_printf(arena, "%u", block);
}

static void print_blocks(FILE *file, const struct ptx_analysis *analysis, struct base_arena *arena) {
    struct report_table table = report_table_new(arena, 6);
    table.is_left[5] = true;
    static const char *const heading[] = {"  block", "lines", "length", "depth", "meets at", "leads to"};
    for (unsigned c = 0; c < 6; c++)
        report_table_cell(&table, "%s", heading[c]);
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        const struct ptx_block *block = &analysis->block[b];
        const char *successors = "";
        for (uint32_t s = 0; s < block->n_successors; s++)
            successors = base_arena_printf(arena, "%s%s%s", successors, s ? " " : "",
                                           block_text(arena, analysis, block->successor[s]));
        report_table_cell(&table, "  %u", b);
        report_table_cell(&table, "%u-%u", cli_ptx_line(analysis->function, block->first),
                          cli_ptx_line(analysis->function, block->first + block->count - 1));
        report_table_count(&table, block->count);
        report_table_count(&table, block->loop_depth);
        report_table_cell(&table, "%s", block_text(arena, analysis, block->post_dominator));
        report_table_cell(&table, "%s%s", successors, block->is_reachable ? "" : " (unreachable)");
    }
    fputc('\n', file);
    report_table_print(&table, file, false);
}

static void print_branches(FILE *file, const struct cli_ptx_function *shown, struct base_arena *arena) {
    const struct ptx_analysis *analysis = shown->analysis;
    if (shown->n_branches == 0)
        return;
    struct report_table table = report_table_new(arena, 4);
    table.is_left[1] = table.is_left[3] = true;
    static const char *const heading[] = {"  line", "branch", "meets at line", "threads"};
    for (unsigned c = 0; c < 4; c++)
        report_table_cell(&table, "%s", heading[c]);
    for (uint32_t i = 0; i < shown->function->n_instructions; i++) {
        if (analysis->reconvergence[i] == PTX_NO_INDEX)
            continue;
        const struct ptx_instruction *instruction = &shown->function->instruction[i];
        char name[160];
        const char *guard = instruction->guard == PTX_NO_INDEX
                                ? ""
                                : base_arena_printf(arena, "@%s%s ", instruction->guard_negated ? "!" : "",
                                                    shown->function->reg[instruction->guard].name);
        report_table_cell(&table, "  %u", instruction->at.line);
        report_table_cell(&table, "%s%s", guard, ptx_instruction_name(instruction, name, sizeof name));
        report_table_cell(&table, "%s", line_text(arena, shown->function, analysis->reconvergence[i]));
        report_table_cell(&table, analysis->is_uniform_branch[i] ? "uniform" : "divergent");
    }
    fputc('\n', file);
    report_table_print(&table, file, false);
}

static void print_loops(FILE *file, const struct ptx_analysis *analysis, struct base_arena *arena) {
    if (analysis->n_loops == 0)
        return;
    struct report_table table = report_table_new(arena, 4);
    static const char *const heading[] = {"  loop at line", "depth", "blocks", "inside"};
    for (unsigned c = 0; c < 4; c++)
        report_table_cell(&table, "%s", heading[c]);
    for (uint32_t l = 0; l < analysis->n_loops; l++) {
        const struct ptx_loop *loop = &analysis->loop[l];
        report_table_cell(&table, "  %u", cli_ptx_line(analysis->function, analysis->block[loop->header].first));
        report_table_count(&table, loop->depth);
        report_table_count(&table, loop->n_blocks);
        if (loop->parent == PTX_NO_INDEX)
            report_table_cell(&table, "-");
        else
            report_table_cell(
                &table, "%u",
                cli_ptx_line(analysis->function, analysis->block[analysis->loop[loop->parent].header].first));
    }
    fputc('\n', file);
    report_table_print(&table, file, false);
}

static void print_function(FILE *file, const struct cli_ptx_function *shown, bool is_verbose,
                           struct base_arena *arena) {
    const uint32_t *n_slots = shown->analysis->n_slots;
    fprintf(file, "\n%s (line %u)\n", shown->function->name, shown->function->at.line);
    print_parameters(file, shown->function, arena);
    print_classes(file, shown);
    if (shown->has_dynamic_shared)
        fputs("  uses dynamic shared memory: the launch sets its size\n", file);
    for (unsigned i = 0; i < shown->refusals.count; i++)
        fprintf(file, "  refused by %s%s: %s\n", shown->refusals.item[i].who,
                strcmp(shown->refusals.item[i].who, "machines") == 0 ? " without it" : "", shown->refusals.item[i].why);
    if (!is_verbose)
        return;
    fprintf(file, "  register slots: %u predicate, %u of 16 bits, %u of 32 bits, %u of 64 bits\n",
            n_slots[PTX_WIDTH_PRED], n_slots[PTX_WIDTH_16], n_slots[PTX_WIDTH_32], n_slots[PTX_WIDTH_64]);
    print_blocks(file, shown->analysis, arena);
    print_branches(file, shown, arena);
    print_loops(file, shown->analysis, arena);
}

void cli_ptx_print(FILE *file, const struct cli_ptx_view *view, bool is_verbose, struct base_arena *arena) {
    print_heading(file, view);
    if (view->n_functions > 0)
        print_summary(file, view, arena);
    for (unsigned f = 0; f < view->n_functions; f++)
        print_function(file, &view->function[f], is_verbose, arena);
}
