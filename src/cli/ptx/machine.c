/* `heddle ptx --target`: each line of the PTX with the machine instructions that it becomes. */
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/view.h"
#include "isa/isa.h"

/* Returns a line of the module's text. */
static const char *line_at(const struct ptx_module *module, uint32_t line, int *length) {
    const char *at = module->text, *end = module->text + module->text_length;
    while (--line && at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    const char *last = memchr(at, '\n', (size_t)(end - at));
    *length = (int)((last ? last : end) - at);
    return at;
}

void cli_ptx_print_machine(FILE *file, const struct cli_ptx_view *view, const struct isa_target *target) {
    for (unsigned f = 0; f < view->n_functions; f++) {
        const struct ptx_function *function = view->function[f].function;
        struct isa_insn *insn = isa_lower(target, view->function[f].analysis);
        uint32_t sum = 0;
        for (uint32_t i = 0; i < function->n_instructions; i++)
            sum += insn[i].parts;
        fprintf(file, "%s%s: %u PTX instructions, %.1f machine instructions\n", f ? "\n" : "", function->name,
                function->n_instructions, (double)sum / ISA_PARTS);
        for (uint32_t i = 0; i < function->n_instructions; i++) {
            int length;
            const char *text = line_at(view->module, function->instruction[i].at.line, &length);
            fprintf(file, "%6.2f  %5u  %.*s\n", (double)insn[i].parts / ISA_PARTS, function->instruction[i].at.line,
                    length, text);
        }
        free(insn);
    }
}
