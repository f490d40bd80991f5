/* The report of `heddle ptx` as JSON. Lines count from 1; null means none (the end of a function, no block). */
#include <jansson.h>

#include "cli/ptx/view.h"

static json_t *number_or_null(bool is_known, uint32_t number) {
    return is_known ? json_integer((json_int_t)number) : json_null();
}

static json_t *line_json(const struct ptx_function *function, uint32_t instruction) {
    uint32_t line = cli_ptx_line(function, instruction);
    return number_or_null(line != 0, line);
}

static json_t *parameters_json(const struct ptx_function *function) {
    json_t *array = json_array();
    for (uint32_t p = 0; p < function->n_parameters; p++) {
        const struct ptx_variable *parameter = &function->parameter[p];
        json_array_append_new(array, json_pack("{s:s, s:s, s:I, s:I, s:b}", "name", parameter->name, "type",
                                               ptx_type_name(parameter->type), "bytes", (json_int_t)parameter->size,
                                               "offset", (json_int_t)parameter->offset, "register",
                                               parameter->register_id != PTX_NO_INDEX));
    }
    return array;
}

static json_t *instructions_json(const struct cli_ptx_function *shown) {
    json_t *object = json_object();
    for (unsigned c = 0; c < CLI_PTX_N_CLASSES; c++)
        if (shown->n_class[c] > 0)
            json_object_set_new(object, cli_ptx_class_name((enum cli_ptx_class)c), json_integer(shown->n_class[c]));
    return object;
}

/* The exit is the block after the last one. */
static json_t *blocks_json(const struct ptx_analysis *analysis) {
    json_t *array = json_array();
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        const struct ptx_block *block = &analysis->block[b];
        json_t *successors = json_array();
        for (uint32_t s = 0; s < block->n_successors; s++)
            json_array_append_new(successors, json_integer(block->successor[s]));
        json_array_append_new(
            array,
            json_pack("{s:i, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:b}", "id", (int)b, "first_line",
                      line_json(analysis->function, block->first), "last_line",
                      line_json(analysis->function, block->first + block->count - 1), "instructions", (int)block->count,
                      "loop_depth", (int)block->loop_depth, "successors", successors, "dominator",
                      number_or_null(block->dominator != PTX_NO_BLOCK, block->dominator), "post_dominator",
                      number_or_null(block->post_dominator != PTX_NO_BLOCK, block->post_dominator), "reachable",
                      block->is_reachable));
    }
    return array;
}

static json_t *branches_json(const struct cli_ptx_function *shown) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < shown->function->n_instructions; i++) {
        if (shown->analysis->reconvergence[i] == PTX_NO_INDEX)
            continue;
        char name[160];
        const struct ptx_instruction *instruction = &shown->function->instruction[i];
        json_array_append_new(array,
                              json_pack("{s:i, s:s, s:o, s:b}", "line", (int)instruction->at.line, "instruction",
                                        ptx_instruction_name(instruction, name, sizeof name), "reconvergence_line",
                                        line_json(shown->function, shown->analysis->reconvergence[i]), "uniform",
                                        shown->analysis->is_uniform_branch[i]));
    }
    return array;
}

static json_t *loops_json(const struct ptx_analysis *analysis) {
    json_t *array = json_array();
    for (uint32_t l = 0; l < analysis->n_loops; l++) {
        const struct ptx_loop *loop = &analysis->loop[l];
        json_array_append_new(array, json_pack("{s:i, s:o, s:i, s:i, s:o}", "header", (int)loop->header, "line",
                                               line_json(analysis->function, analysis->block[loop->header].first),
                                               "depth", (int)loop->depth, "blocks", (int)loop->n_blocks, "parent",
                                               number_or_null(loop->parent != PTX_NO_INDEX, loop->parent)));
    }
    return array;
}

static json_t *refusals_json(const struct cli_ptx_refusals *refusals) {
    json_t *array = json_array();
    for (unsigned i = 0; i < refusals->count; i++)
        json_array_append_new(array,
                              json_pack("{s:s, s:s}", "who", refusals->item[i].who, "why", refusals->item[i].why));
    return array;
}

static json_t *function_json(const struct cli_ptx_function *shown) {
    const struct ptx_function *function = shown->function;
    const struct ptx_analysis *analysis = shown->analysis;
    const struct exec_program *program = shown->program;
    return json_pack(
        "{s:s, s:b, s:i, s:i, s:i, s:{s:i, s:i, s:i, s:i}, s:o, s:b, s:I, s:I, s:o, s:i, s:o, s:o, s:o, s:o, s:o}",
        "name", function->name, "kernel", function->is_entry, "line", (int)function->at.line, "registers",
        (int)cli_ptx_registers(shown), "virtual_registers", (int)function->n_registers, "slots", "predicate",
        (int)analysis->n_slots[PTX_WIDTH_PRED], "b16", (int)analysis->n_slots[PTX_WIDTH_16], "b32",
        (int)analysis->n_slots[PTX_WIDTH_32], "b64", (int)analysis->n_slots[PTX_WIDTH_64], "shared_bytes",
        number_or_null(program, program ? program->shared_bytes : 0), "dynamic_shared", shown->has_dynamic_shared,
        "local_bytes", (json_int_t)shown->local_bytes, "parameter_bytes", (json_int_t)function->parameter_bytes,
        "parameters", parameters_json(function), "instructions", (int)function->n_instructions, "classes",
        instructions_json(shown), "blocks", blocks_json(analysis), "branches", branches_json(shown), "loops",
        loops_json(analysis), "refused_by", refusals_json(&shown->refusals));
}

bool cli_ptx_write_json(FILE *file, const struct cli_ptx_view *view) {
    const struct ptx_module *module = view->module;
    json_t *functions = json_array();
    for (unsigned f = 0; f < view->n_functions; f++)
        json_array_append_new(functions, function_json(&view->function[f]));
    char version[32];
    snprintf(version, sizeof version, "%u.%u", module->version_major, module->version_minor);
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:i, s:s, s:o}", "heddle", HEDDLE_VERSION, "file", module->path,
                  "version", version, "target", module->target, "global_bytes", (json_int_t)view->global_bytes,
                  "constant_bytes", (json_int_t)view->constant_bytes, "n_unsupported", (int)view->n_unsupported,
                  "unsupported", view->unsupported, "functions", functions);
    bool is_good = object && json_dumpf(object, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF;
    json_decref(object);
    return is_good;
}
