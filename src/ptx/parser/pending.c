/* Resolves references to names that are defined later.
 *
 * A label belongs to the { } around it, because compilers paste inline assembly with the same labels many times, each
 * copy in braces. So when a scope ends, label references are resolved against its labels, and the rest move outwards.
 * Functions and module variables are resolved at the end of the module. */
#include "ptx/internal.h"

#include "base/text.h"

#include <string.h>

static const char *label_noun(enum ptx_pending_kind kind) {
    return kind == PENDING_TABLE ? ".branchtargets list" : kind == PENDING_PROTOTYPE ? "call prototype" : "label";
}

static bool wrong_label(struct ptx_parser *parser, const struct ptx_pending *pending) {
    return ptx_fail(parser, pending->at, "'%s' is not a %s", pending->name->text, label_noun(pending->kind));
}

static void resolve_label(struct ptx_parser *parser, const struct ptx_pending *pending, const struct ptx_label *label) {
    switch (pending->kind) {
    case PENDING_LABEL:
        if (label->kind != LABEL_CODE)
            wrong_label(parser, pending);
        *pending->target = label->target;
        break;
    case PENDING_TABLE: {
        struct ptx_instruction *branch = &parser->instructions.item[pending->instruction];
        branch->target = label->targets;
        branch->n_targets = label->n_targets;
        if (label->kind != LABEL_BRANCH_TARGETS)
            wrong_label(parser, pending);
        break;
    }
    default:
        pending->call->prototype = label->prototype;
        pending->call->candidate = label->candidate;
        pending->call->n_candidates = label->n_candidates;
        if (label->kind != LABEL_PROTOTYPE && label->kind != LABEL_CALL_TARGETS)
            wrong_label(parser, pending);
        break;
    }
}

void ptx_resolve_labels(struct ptx_parser *parser, struct ptx_scope *scope) {
    uint32_t kept = scope->first_pending;
    for (uint32_t i = kept; i < parser->labels.count; i++) {
        const struct ptx_pending *pending = &parser->labels.item[i];
        const struct ptx_label *label = pending->name->label;
        if (label && label->scope == parser->depth + 1) /* the scope has been left, but its labels are still bound */
            resolve_label(parser, pending, label);
        else
            parser->labels.item[kept++] = *pending;
    }
    parser->labels.count = kept;
}

static bool undefined_label(struct ptx_parser *parser, const struct ptx_pending *pending) {
    struct ptx_name *name = pending->name;
    if (name->undefined_in == parser->function_serial + 1)
        return false;
    name->undefined_in = parser->function_serial + 1;
    if (name->last_label && name->label_function == parser->function_serial)
        return ptx_fail(parser, pending->at, "label '%s' on line %u is inside braces and not visible here", name->text,
                        name->last_label->at.line);
    struct base_nearest nearest = base_nearest_to(name->text);
    uint32_t n_offers = 0;
    if (ptx_may_search(parser))
        for (uint32_t i = 0; i < parser->n_buckets && n_offers < 4000; i++)
            for (struct ptx_name *other = parser->bucket[i]; other; other = other->chain)
                if (other->last_label && other->label_function == parser->function_serial) {
                    n_offers++;
                    base_nearest_offer(&nearest, other->text);
                }
    if (nearest.best)
        return ptx_fail(parser, pending->at, "undefined %s '%s'; did you mean '%s'?", label_noun(pending->kind),
                        name->text, nearest.best);
    return ptx_fail(parser, pending->at, "undefined %s '%s'", label_noun(pending->kind), name->text);
}

void ptx_resolve_function(struct ptx_parser *parser) {
    for (uint32_t i = 0; i < parser->labels.count; i++)
        undefined_label(parser, &parser->labels.item[i]);
    parser->labels.count = 0;
}

static struct ptx_function *target_of(struct ptx_function *function) {
    return function->alias_of ? function->alias_of : function;
}

static void resolve_operand(struct ptx_operand *operand, const struct ptx_binding *binding) {
    if (binding->kind == BINDING_VARIABLE) {
        operand->kind = operand->register_id == PTX_SINK_ID ? PTX_OPERAND_ADDRESS : PTX_OPERAND_VARIABLE;
        operand->variable = binding->variable;
    } else {
        operand->kind = PTX_OPERAND_FUNCTION;
        operand->function = target_of(binding->function);
        operand->function->address_taken = true;
    }
    operand->register_id = PTX_NO_INDEX;
    operand->value = 0;
}

/* A function cannot be used in brackets: [f] reads no memory. */
static bool fits(const struct ptx_pending *pending, const struct ptx_binding *binding) {
    if (pending->kind == PENDING_FUNCTION)
        return binding->kind == BINDING_FUNCTION;
    bool is_address = pending->kind == PENDING_SYMBOL && pending->operand->register_id == PTX_SINK_ID;
    return !is_address || binding->kind == BINDING_VARIABLE;
}

static void resolve_symbol(struct ptx_parser *parser, const struct ptx_pending *pending) {
    const struct ptx_binding *binding = pending->name->binding;
    parser->function_serial = pending->function_serial;
    if (!binding) {
        ptx_undefined(parser, pending->name, pending->at, pending->kind == PENDING_FUNCTION ? "function" : "symbol");
    } else if (!fits(pending, binding)) {
        ptx_fail(parser, pending->at, "'%s' is not a %s", pending->name->text,
                 pending->kind == PENDING_FUNCTION ? "function" : "variable");
    } else if (pending->kind == PENDING_FUNCTION) {
        *pending->function = target_of(binding->function);
    } else if (pending->kind == PENDING_SYMBOL) {
        resolve_operand(pending->operand, binding);
    } else if (binding->kind == BINDING_FUNCTION) { /* its address is in an initialiser */
        target_of(binding->function)->address_taken = true;
    }
}

static void resolve_aliases(struct ptx_parser *parser) {
    for (uint32_t i = 0; i < parser->aliases.count; i++) {
        const struct ptx_alias *alias = &parser->aliases.item[i];
        const struct ptx_binding *name = alias->name->binding, *target = alias->target->binding;
        if (!name || name->kind != BINDING_FUNCTION)
            ptx_fail(parser, alias->at, "'%s' is not a declared function", alias->name->text);
        else if (!target || target->kind != BINDING_FUNCTION || !target->function->has_body)
            ptx_fail(parser, alias->at, "'%s' is not a function with a body", alias->target->text);
        else if (name->function->has_body)
            ptx_fail(parser, alias->at, "'%s' has a body and cannot be an alias", alias->name->text);
        else
            name->function->alias_of = target->function;
    }
}

/* Redirects functions that were named before their alias was known. */
static void redirect(struct ptx_operand *operand, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (operand[i].kind == PTX_OPERAND_FUNCTION && operand[i].function)
            operand[i].function = target_of(operand[i].function);
        redirect(operand[i].element, operand[i].n_elements);
    }
}

static void redirect_aliases(struct ptx_parser *parser) {
    for (uint32_t f = 0; f < parser->functions.count; f++) {
        const struct ptx_function *function = parser->functions.item[f];
        for (uint32_t i = 0; i < function->n_instructions; i++) {
            const struct ptx_instruction *instruction = &function->instruction[i];
            redirect(instruction->operand, instruction->n_operands);
            if (instruction->call)
                redirect(&instruction->call->target, 1);
        }
        if (function->alias_of && function->address_taken)
            function->alias_of->address_taken = true;
    }
}

/* Points the addresses in initialisers to the functions and variables that they name. Undefined names are already
 * reported. */
static void resolve_relocations(struct ptx_parser *parser, struct ptx_variable **variable, uint32_t count) {
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t i = 0; i < variable[v]->n_relocations; i++) {
            struct ptx_relocation *relocation = &variable[v]->relocation[i];
            const struct ptx_name *name = ptx_intern(parser, relocation->symbol, strlen(relocation->symbol));
            if (!name->binding)
                continue;
            relocation->variable = name->binding->variable;
            relocation->function = name->binding->function ? target_of(name->binding->function) : NULL;
        }
}

void ptx_resolve_module(struct ptx_parser *parser) {
    resolve_aliases(parser);
    for (uint32_t i = 0; i < parser->symbols.count; i++)
        resolve_symbol(parser, &parser->symbols.item[i]);
    resolve_relocations(parser, parser->module_variables.item, parser->module_variables.count);
    for (uint32_t i = 0; i < parser->functions.count; i++)
        resolve_relocations(parser, parser->functions.item[i]->variable, parser->functions.item[i]->n_variables);
    if (parser->aliases.count > 0)
        redirect_aliases(parser);
}
