/* Finds the functions that a compiler cannot compile together with their callers: it does not know who calls them, or
 * they run several times at once. They keep to a convention, which says where arguments and results are, and which
 * registers they leave as they were. A function that such a function calls keeps to it too. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ptx/internal.h"

struct search {
    const struct ptx_module *module;
    bool *is_found;     /* per function */
    uint32_t *found, n; /* those whose callees are still to be found are at the end */
};

static void add(struct search *search, const struct ptx_function *function) {
    if (!function->has_body || search->is_found[function->index])
        return;
    search->is_found[function->index] = true;
    search->found[search->n++] = function->index;
}

static void add_callees(struct search *search, const struct ptx_function *function) {
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct ptx_instruction *insn = &function->instruction[i];
        if (insn->opcode == PTX_OP_CALL && insn->call->target.kind == PTX_OPERAND_FUNCTION)
            add(search, insn->call->target.function);
    }
}

/* Adds everything that the functions found so far call, at once or through others. */
static void add_all_callees(struct search *search) {
    for (uint32_t next = 0; next < search->n; next++)
        add_callees(search, search->module->function[search->found[next]]);
}

static bool calls_itself(struct search *search, const struct ptx_function *function) {
    memset(search->is_found, 0, search->module->n_functions * sizeof *search->is_found);
    search->n = 0;
    add_callees(search, function);
    add_all_callees(search);
    return search->is_found[function->index];
}

void ptx_find_open_functions(struct ptx_module *module) {
    struct search search = {.module = module};
    search.is_found = base_allocate(module->n_functions + 1, sizeof *search.is_found);
    search.found = base_allocate(module->n_functions + 1, sizeof *search.found);
    bool has_open = false;
    for (uint32_t f = 0; f < module->n_functions; f++) {
        struct ptx_function *function = module->function[f];
        function->is_open =
            function->has_body && !function->is_entry && (function->address_taken || calls_itself(&search, function));
        has_open |= function->is_open;
    }
    memset(search.is_found, 0, module->n_functions * sizeof *search.is_found);
    search.n = 0;
    for (uint32_t f = 0; has_open && f < module->n_functions; f++)
        if (module->function[f]->is_open)
            add(&search, module->function[f]);
    add_all_callees(&search);
    for (uint32_t k = 0; k < search.n; k++)
        module->function[search.found[k]]->is_open = true;
    free(search.is_found);
    free(search.found);
}
