/* `heddle ptx FILE`: checks a PTX file and shows its contents, without running it. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/ptx/view.h"
#include "command/output.h"
#include "gpu/gpu.h"

struct ptx_options {
    const char *kernel, *json, *dot, *target;
    bool is_verbose;
};

#define FIELD(name) offsetof(struct ptx_options, name)

static const struct command_option options[] = {
    {"--kernel", 0, COMMAND_TEXT, "NAME", "show this kernel or function only", FIELD(kernel), 0, 0},
    {"--verbose", 'v', COMMAND_FLAG, NULL, "basic blocks, branches and loops too", FIELD(is_verbose), 0, 0},
    {"--target", 0, COMMAND_TEXT, "TARGET",
     "machine instructions that each line becomes on a target, such as sm_90, instead", FIELD(target), 0, 0},
    {"--json", 0, COMMAND_TEXT, "FILE|-", "write all of it as one JSON object", FIELD(json), 0, 0},
    {"--dot", 0, COMMAND_TEXT, "FILE|-", "write the flow graphs for Graphviz", FIELD(dot), 0, 0},
};

const struct command cli_ptx_command = {
    .name = "ptx",
    .summary = "check a PTX file and show its kernels",
    .usage = "ptx FILE.ptx [options]",
    .text = "Shows the parameters, memory and registers of every kernel, what its instructions do, and where\n"
            "its branches diverge and reconverge. 'registers' is the largest number of 32-bit registers that\n"
            "are live at once, an estimate of what a compiler would use; 'virtual' is the number that the PTX\n"
            "text names. A branch is divergent if threads of a block may go different ways there.\n"
            "\n"
            "With --target, the listing of each kernel shows how many machine instructions each PTX instruction\n"
            "becomes, by general rules of compilers: 0 if it is folded into another one, a fraction if a loop\n"
            "is unrolled. The rules were found for sm_90 and are also used for sm_80 and sm_89.\n"
            "\n"
            "Exit status: 0 the file can run; 1 it contains an error or something that Heddle does not support.\n",
    .examples = "  heddle ptx saxpy.ptx\n"
                "  heddle ptx saxpy.ptx --kernel saxpy -v\n"
                "  heddle ptx saxpy.ptx --target sm_90\n"
                "  heddle ptx saxpy.ptx --dot - | dot -Tsvg > saxpy.svg\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_ptx,
};

/* ---- Facts ------------------------------------------------------------------------------------------------------- */

const char *cli_ptx_class_name(enum cli_ptx_class class) {
    static const char *const names[] = {
#define CLI_PTX_CLASS(id, name) [CLI_PTX_##id] = name,
#include "cli/ptx/classes.def"
#undef CLI_PTX_CLASS
    };
    return names[class];
}

uint32_t cli_ptx_registers(const struct cli_ptx_function *shown) {
    return shown->program ? shown->program->registers_per_thread : shown->analysis->register_count;
}

uint32_t cli_ptx_line(const struct ptx_function *function, uint32_t instruction) {
    return instruction < function->n_instructions ? function->instruction[instruction].at.line : 0;
}

static enum cli_ptx_class class_of(const struct ptx_instruction *instruction) {
    bool is_float = instruction->n_types > 0 && ptx_type_kind(instruction->type[0]) == PTX_KIND_F;
    switch (ptx_opcode_family(instruction->opcode)) {
    case PTX_FAMILY_INTEGER:
    case PTX_FAMILY_FLOAT:
        return is_float ? CLI_PTX_FLOAT : CLI_PTX_INTEGER;
    case PTX_FAMILY_BITS:
        return CLI_PTX_BITS;
    case PTX_FAMILY_COMPARE:
        return CLI_PTX_COMPARE;
    case PTX_FAMILY_CONVERT:
        return CLI_PTX_CONVERT;
    case PTX_FAMILY_MOVE:
        return CLI_PTX_MOVE;
    case PTX_FAMILY_MEMORY:
        return CLI_PTX_MEMORY;
    case PTX_FAMILY_ATOMIC:
        return CLI_PTX_ATOMIC;
    case PTX_FAMILY_ASYNC:
        return CLI_PTX_ASYNC;
    case PTX_FAMILY_TEXTURE:
        return CLI_PTX_TEXTURE;
    case PTX_FAMILY_WARP:
        return CLI_PTX_WARP;
    case PTX_FAMILY_MATRIX:
        return CLI_PTX_MATRIX;
    case PTX_FAMILY_CONTROL:
        return CLI_PTX_CONTROL;
    case PTX_FAMILY_VIDEO:
        return CLI_PTX_VIDEO;
    case PTX_FAMILY_EXTENSION:
        return CLI_PTX_EXTENSION;
    case PTX_FAMILY_NONE:
        break;
    }
    return CLI_PTX_OTHER;
}

/* Nothing runs, so any address that is aligned for every type will do. */
static uint64_t any_address(void *user, const struct ptx_variable *variable) {
    (void)user, (void)variable;
    return 1u << 20;
}

/* If the program cannot be linked, the report on unsupported instructions says why. */
static struct exec_program *try_to_link(const struct ptx_module *module, const struct ptx_function *function) {
    struct ptx_messages messages = {0};
    struct exec_program *program =
        function->is_entry ? exec_link(module, function, any_address, NULL, &messages) : NULL;
    ptx_messages_free(&messages);
    return program;
}

static bool is_dynamic_shared(const struct ptx_operand *operand) {
    for (uint32_t e = 0; operand->kind == PTX_OPERAND_VECTOR && e < operand->n_elements; e++)
        if (is_dynamic_shared(&operand->element[e]))
            return true;
    const struct ptx_variable *variable = operand->variable;
    return variable && variable->space == PTX_SPACE_SHARED && variable->is_unsized;
}

static void add_memory(struct cli_ptx_function *shown, const struct ptx_function *function) {
    for (uint32_t v = 0; v < function->n_variables; v++)
        if (function->variable[v]->space == PTX_SPACE_LOCAL)
            shown->local_bytes += function->variable[v]->size;
    for (uint32_t i = 0; i < function->n_instructions; i++)
        for (uint32_t k = 0; k < function->instruction[i].n_operands; k++)
            shown->has_dynamic_shared |= is_dynamic_shared(&function->instruction[i].operand[k]);
}

static struct cli_ptx_function examine(const struct ptx_module *module, const struct ptx_function *function,
                                       struct base_arena *arena) {
    struct cli_ptx_function shown = {
        .function = function, .analysis = ptx_analyze(function), .program = try_to_link(module, function)};
    for (uint32_t f = 0; shown.program && f < shown.program->n_functions; f++)
        add_memory(&shown, shown.program->function[f].ptx);
    if (shown.program)
        shown.refusals = cli_ptx_find_refusals(shown.program, arena);
    else
        add_memory(&shown, function);
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        shown.n_class[class_of(&function->instruction[i])]++;
        bool is_branch = shown.analysis->reconvergence[i] != PTX_NO_INDEX;
        shown.n_branches += is_branch;
        shown.n_divergent += is_branch && !shown.analysis->is_uniform_branch[i];
    }
    return shown;
}

/* Loads the text as a run would, and links every kernel. The messages contain everything for which a run would refuse
 * to start. */
static void load_on_device(const struct base_source *source, struct ptx_messages *messages) {
    struct gpu_error error;
    struct gpu_config config = gpu_default_config();
    struct gpu *gpu = gpu_new(&config, &error);
    if (!gpu)
        return; /* the host has no memory for a device, so nothing is known */
    struct gpu_module *module = gpu_module_load(gpu, source->name, source->text, source->length, messages);
    const struct ptx_module *ptx = module ? gpu_module_ptx(module) : NULL;
    for (uint32_t f = 0; ptx && f < ptx->n_functions; f++)
        if (ptx->function[f]->is_entry)
            gpu_module_kernel(module, ptx->function[f]->name, messages);
    gpu_free(gpu);
}

static unsigned count_unsupported(const struct ptx_module *module) {
    struct ptx_messages messages = {0};
    unsigned n = exec_find_unsupported(module, &messages);
    ptx_messages_free(&messages);
    return n;
}

static struct cli_ptx_view make_view(const struct ptx_module *module, const struct base_source *source,
                                     const char *kernel, struct ptx_messages *messages, struct base_arena *arena) {
    struct cli_ptx_view view = {.module = module,
                                .function = BASE_ARENA_ARRAY(arena, struct cli_ptx_function, module->n_functions)};
    view.n_unsupported = count_unsupported(module);
    load_on_device(source, messages);
    view.n_errors = messages->n_errors;
    view.unsupported = messages->text ? messages->text : "";
    for (uint32_t v = 0; v < module->n_variables; v++) {
        const struct ptx_variable *variable = module->variable[v];
        view.global_bytes += variable->space == PTX_SPACE_GLOBAL ? variable->size : 0;
        view.constant_bytes += variable->space == PTX_SPACE_CONST ? variable->size : 0;
    }
    for (uint32_t f = 0; f < module->n_functions; f++) {
        const struct ptx_function *function = module->function[f];
        if (function->has_body && (!kernel || strcmp(function->name, kernel) == 0))
            view.function[view.n_functions++] = examine(module, function, arena);
    }
    return view;
}

static void free_view(struct cli_ptx_view *view) {
    for (unsigned f = 0; f < view->n_functions; f++) {
        ptx_analysis_free(view->function[f].analysis);
        if (view->function[f].program)
            exec_program_free(view->function[f].program);
    }
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int refuse_kernel(const struct ptx_module *module, const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (uint32_t f = 0; f < module->n_functions; f++)
        if (module->function[f]->has_body)
            base_nearest_offer(&nearest, module->function[f]->name);
    if (nearest.best)
        return command_fail(COMMAND_USAGE, "%s has no kernel '%s'; did you mean '%s'?", module->path, name,
                            nearest.best);
    return command_fail(COMMAND_USAGE, "%s has no kernel '%s'; 'heddle ptx %s' lists them", module->path, name,
                        module->path);
}

enum format { FORMAT_JSON, FORMAT_DOT };

/* Writes one of the formats to a file or to standard output. */
static bool write_file(const char *path, enum format format, const struct cli_ptx_view *view) {
    if (!path)
        return true;
    FILE *file;
    bool is_good = true;
    if (!command_open_output(path, &file))
        return false;
    if (format == FORMAT_JSON)
        is_good = cli_ptx_write_json(file, view);
    else
        cli_ptx_write_dot(file, view);
    return command_close_output(path, file, is_good && fflush(file) == 0 && !ferror(file));
}

static int show_module(const struct ptx_module *module, const struct base_source *source,
                       const struct ptx_options *given, struct base_arena *arena) {
    struct ptx_messages messages = {0};
    struct cli_ptx_view view = make_view(module, source, given->kernel, &messages, arena);
    int status = view.n_errors > 0 ? COMMAND_ERROR : COMMAND_DONE;
    if (given->kernel && view.n_functions == 0) {
        status = refuse_kernel(module, given->kernel);
    } else {
        if (given->target)
            cli_ptx_print_machine(stdout, &view, isa_find_target(given->target));
        else if (!command_is_stdout(given->json) && !command_is_stdout(given->dot))
            cli_ptx_print(stdout, &view, given->is_verbose, arena);
        if (!write_file(given->json, FORMAT_JSON, &view) || !write_file(given->dot, FORMAT_DOT, &view))
            status = COMMAND_ERROR;
        fflush(stdout);
        fputs(view.unsupported, stderr);
    }
    free_view(&view);
    ptx_messages_free(&messages);
    return status;
}

static int read_and_show(const char *path, const struct ptx_options *given, struct base_arena *arena) {
    struct base_source source;
    struct base_diag diag = {0};
    if (!base_source_read(&source, arena, path, &diag)) {
        static const char prefix[] = "error: ";
        diag.text[strcspn(diag.text, "\n")] = '\0';
        return command_fail(COMMAND_ERROR, "%s",
                            diag.text + (strncmp(diag.text, prefix, strlen(prefix)) ? 0 : strlen(prefix)));
    }
    struct ptx_messages messages = {0};
    struct ptx_module *module = ptx_parse(source.name, source.text, source.length, &messages);
    if (messages.text)
        fputs(messages.text, stderr);
    ptx_messages_free(&messages);
    int status = module ? show_module(module, &source, given, arena) : COMMAND_ERROR;
    ptx_module_free(module);
    return status;
}

static bool is_target(const char *name) {
    const struct isa_target *target = isa_find_target(name);
    return target && isa_is_compiled(target);
}

/* "sm_80, sm_89 and sm_90" */
static const char *list_targets(struct base_arena *arena) {
    const char *text = "";
    size_t count;
    const struct isa_target *const *target = isa_targets(&count);
    for (size_t i = 0; i < count; i++)
        if (isa_is_compiled(target[i]))
            text = base_arena_printf(arena, "%s%s%s", text,
                                     !*text          ? ""
                                     : i + 1 < count ? ", "
                                                     : " and ",
                                     isa_target_name(target[i]));
    return text;
}

int cli_ptx(int argc, char **argv) {
    struct base_arena arena = {0};
    struct ptx_options given = {0};
    struct command_words words = {0};
    int status = COMMAND_DONE;
    if (command_parse(&cli_ptx_command, argc, argv, &given, &words, &arena, &status)) {
        if (words.count != 1)
            status = command_fail(COMMAND_USAGE, "ptx takes one file; see 'heddle help ptx'");
        else if (command_is_stdout(given.json) && command_is_stdout(given.dot))
            status = command_fail(COMMAND_USAGE, "--json and --dot cannot both write to standard output");
        else if (given.target && !is_target(given.target))
            status = command_fail(COMMAND_USAGE, "no target '%s' for --target; there are %s", given.target,
                                  list_targets(&arena));
        else
            status = read_and_show(words.item[0], &given, &arena);
    }
    base_arena_free(&arena);
    return status;
}
