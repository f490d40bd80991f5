/* Names and scopes: the meaning of a name at a point of the text.
 *
 * Every distinct identifier is one struct ptx_name with a stack of bindings to registers, variables and functions,
 * innermost first. A lookup follows one pointer, and leaving a scope pops its bindings. */
#include "ptx/internal.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 1024, MAX_OFFERS = 4000 };

static uint32_t hash_of(const char *text, size_t length) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static void rehash(struct ptx_parser *parser) {
    uint32_t n_buckets = parser->n_buckets ? 2 * parser->n_buckets : FIRST_BUCKETS;
    struct ptx_name **bucket = BASE_ARENA_ARRAY(&parser->scratch, struct ptx_name *, n_buckets);
    for (uint32_t i = 0; i < parser->n_buckets; i++) {
        struct ptx_name *name = parser->bucket[i];
        while (name) {
            struct ptx_name *next = name->chain;
            name->chain = bucket[name->hash & (n_buckets - 1)];
            bucket[name->hash & (n_buckets - 1)] = name;
            name = next;
        }
    }
    parser->bucket = bucket;
    parser->n_buckets = n_buckets;
}

struct ptx_name *ptx_intern(struct ptx_parser *parser, const char *text, size_t length) {
    if (parser->n_names >= parser->n_buckets)
        rehash(parser);
    uint32_t hash = hash_of(text, length);
    struct ptx_name **bucket = &parser->bucket[hash & (parser->n_buckets - 1)];
    for (struct ptx_name *name = *bucket; name; name = name->chain)
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0)
            return name;
    struct ptx_name *name = BASE_ARENA_NEW(&parser->scratch, struct ptx_name);
    name->text = base_arena_copy(parser->arena, text, length); /* the module keeps names */
    name->length = (uint32_t)length;
    name->hash = hash;
    name->opcode = PTX_N_OPCODES;
    name->special = PTX_N_SPECIALS;
    name->chain = *bucket;
    *bucket = name;
    parser->n_names++;
    return name;
}

bool ptx_scope_open(struct ptx_parser *parser, struct ptx_location at) {
    if (parser->depth + 1 == PTX_MAX_SCOPES)
        return ptx_fail(parser, at, "scopes nested deeper than %d", PTX_MAX_SCOPES);
    parser->scope[++parser->depth] = (struct ptx_scope){.first_pending = parser->labels.count};
    return true;
}

void ptx_scope_close(struct ptx_parser *parser) {
    struct ptx_scope *scope = &parser->scope[parser->depth--];
    ptx_resolve_labels(parser, scope);
    for (struct ptx_binding *b = scope->bindings; b; b = b->next_in_scope)
        b->name->binding = b->shadowed;
    for (struct ptx_range *r = scope->ranges; r; r = r->next_in_scope)
        r->prefix->range = r->shadowed;
    for (struct ptx_label *l = scope->labels; l; l = l->next_in_scope)
        l->name->label = l->shadowed;
}

/* Splits %r12 into %r and 12. A number with a leading zero belongs to no range. */
static void split(struct ptx_parser *parser, struct ptx_name *name) {
    name->is_split = true;
    uint32_t n = name->length;
    while (n > 1 && name->text[n - 1] >= '0' && name->text[n - 1] <= '9')
        n--;
    uint32_t n_digits = name->length - n;
    if (n_digits == 0 || n_digits > 7 || (n_digits > 1 && name->text[n] == '0'))
        return;
    name->prefix = ptx_intern(parser, name->text, n);
    name->number = (uint32_t)strtoul(name->text + n, NULL, 10);
}

/* Returns the innermost range that declares the name, or NULL. */
static struct ptx_range *find_range(struct ptx_parser *parser, struct ptx_name *name) {
    if (!name->is_split)
        split(parser, name);
    struct ptx_range *range = name->prefix ? name->prefix->range : NULL;
    while (range && name->number >= range->count)
        range = range->shadowed;
    return range;
}

bool ptx_is_near_range(struct ptx_parser *parser, struct ptx_name *name) {
    if (!name->is_split)
        split(parser, name);
    return name->prefix && name->prefix->range;
}

static bool duplicate(struct ptx_parser *parser, const struct ptx_name *name, struct ptx_location at,
                      struct ptx_location first) {
    return ptx_fail(parser, at, "'%s' is declared twice; first on line %u", name->text, first.line);
}

static struct ptx_binding *new_binding(struct ptx_parser *parser, struct ptx_name *name, struct ptx_location at,
                                       uint32_t scope) {
    struct ptx_binding *binding = BASE_ARENA_NEW(&parser->scratch, struct ptx_binding);
    binding->name = name;
    binding->at = at;
    binding->scope = scope;
    binding->serial = ++parser->next_serial;
    binding->register_id = PTX_NO_INDEX;
    binding->width = 1;
    binding->shadowed = name->binding;
    binding->next_in_scope = parser->scope[scope].bindings;
    parser->scope[scope].bindings = binding;
    name->binding = binding;
    return binding;
}

static bool is_free(struct ptx_parser *parser, struct ptx_name *name, struct ptx_location at) {
    if (name->binding && name->binding->scope == parser->depth)
        return duplicate(parser, name, at, name->binding->at);
    const struct ptx_range *range = find_range(parser, name);
    if (range && range->scope == parser->depth)
        return duplicate(parser, name, at, range->at);
    return true;
}

bool ptx_bind_variable(struct ptx_parser *parser, struct ptx_name *name, struct ptx_variable *variable) {
    if (!is_free(parser, name, variable->at))
        return false;
    struct ptx_binding *binding = new_binding(parser, name, variable->at, parser->depth);
    binding->kind = BINDING_VARIABLE;
    binding->variable = variable;
    return true;
}

bool ptx_bind_function(struct ptx_parser *parser, struct ptx_name *name, struct ptx_function *function) {
    if (!is_free(parser, name, function->at))
        return false;
    struct ptx_binding *binding = new_binding(parser, name, function->at, parser->depth);
    binding->kind = BINDING_FUNCTION;
    binding->function = function;
    return true;
}

/* Adds virtual registers, one per element: %v.x, %v.y for a vector. Returns the first id. */
static uint32_t add_registers(struct ptx_parser *parser, const char *name, enum ptx_type type, uint32_t width) {
    uint32_t first = parser->registers.count;
    for (uint32_t i = 0; i < width; i++) {
        struct ptx_register reg = {.name = name, .type = type};
        if (width > 1)
            reg.name = base_arena_printf(parser->arena, "%s.%c", name, "xyzw"[i]);
        PTX_PUSH(&parser->registers, reg);
    }
    return first;
}

bool ptx_bind_register(struct ptx_parser *parser, struct ptx_name *name, struct ptx_location at, enum ptx_type type,
                       uint32_t width, uint32_t *register_id) {
    if (!is_free(parser, name, at))
        return false;
    struct ptx_binding *binding = new_binding(parser, name, at, parser->depth);
    binding->kind = BINDING_REGISTER;
    binding->width = width;
    binding->register_id = add_registers(parser, name->text, type, width);
    if (register_id)
        *register_id = binding->register_id;
    return true;
}

bool ptx_bind_range(struct ptx_parser *parser, struct ptx_name *prefix, struct ptx_location at, enum ptx_type type,
                    uint32_t width, uint32_t count) {
    for (struct ptx_range *range = prefix->range; range; range = range->shadowed)
        if (range->scope == parser->depth)
            return ptx_fail(parser, at, "'%s<%u>' is declared twice; first on line %u", prefix->text, count,
                            range->at.line);
    struct ptx_range *range = BASE_ARENA_NEW(&parser->scratch, struct ptx_range);
    *range = (struct ptx_range){.prefix = prefix,
                                .shadowed = prefix->range,
                                .next_in_scope = parser->scope[parser->depth].ranges,
                                .at = at,
                                .scope = parser->depth,
                                .serial = ++parser->next_serial,
                                .count = count,
                                .width = width,
                                .type = type};
    parser->scope[parser->depth].ranges = range;
    prefix->range = range;
    return true;
}

bool ptx_bind_label(struct ptx_parser *parser, const struct ptx_label *label) {
    struct ptx_name *name = label->name;
    if (name->label && name->label->scope == parser->depth)
        return ptx_fail(parser, label->at, "label '%s' is defined twice; first on line %u", name->text,
                        name->label->at.line);
    struct ptx_label *kept = BASE_ARENA_NEW(&parser->scratch, struct ptx_label);
    *kept = *label;
    kept->scope = parser->depth;
    kept->shadowed = name->label;
    kept->next_in_scope = parser->scope[parser->depth].labels;
    parser->scope[parser->depth].labels = kept;
    name->label = kept;
    name->last_label = kept;
    name->label_function = parser->function_serial;
    return true;
}

/* Binds a register of a range as if it were declared where the range is. */
static struct ptx_binding *bind_from_range(struct ptx_parser *parser, struct ptx_name *name,
                                           const struct ptx_range *range) {
    if (name->binding && name->binding->scope == range->scope)
        duplicate(parser, name, range->at, name->binding->at);
    struct ptx_binding *binding = new_binding(parser, name, range->at, range->scope);
    binding->kind = BINDING_REGISTER;
    binding->serial = range->serial;
    binding->range = range;
    binding->width = range->width;
    binding->register_id = add_registers(parser, name->text, range->type, range->width);
    return binding;
}

struct ptx_binding *ptx_lookup(struct ptx_parser *parser, struct ptx_name *name) {
    struct ptx_binding *binding = name->binding;
    const struct ptx_range *range = find_range(parser, name);
    if (range && (!binding || binding->serial < range->serial))
        return bind_from_range(parser, name, range);
    return binding;
}

bool ptx_may_search(struct ptx_parser *parser) {
    enum { MAX_SEARCHES = 2 * PTX_MAX_SHOWN_ERRORS };
    return parser->n_searches++ < MAX_SEARCHES;
}

/* Returns the nearest name that is bound now. */
static const char *nearest_bound(struct ptx_parser *parser, const char *wanted) {
    if (!ptx_may_search(parser))
        return NULL;
    struct base_nearest nearest = base_nearest_to(wanted);
    uint32_t n_offers = 0;
    for (uint32_t depth = parser->depth + 1; depth-- > 0;)
        for (struct ptx_binding *b = parser->scope[depth].bindings; b && n_offers < MAX_OFFERS; b = b->next_in_scope) {
            n_offers++;
            base_nearest_offer(&nearest, b->name->text);
        }
    if (wanted[0] == '%' && wanted[1] != '\0')
        for (unsigned i = 0; i < PTX_N_SPECIALS; i++)
            if (base_edit_distance(wanted + 1, ptx_special_name(i)) < nearest.best_distance)
                return base_arena_printf(&parser->scratch, "%%%s", ptx_special_name(i));
    return nearest.best;
}

bool ptx_undefined(struct ptx_parser *parser, struct ptx_name *name, struct ptx_location at, const char *what) {
    if (name->undefined_in == parser->function_serial + 1)
        return false; /* already reported in this function */
    name->undefined_in = parser->function_serial + 1;
    if (!name->is_split)
        split(parser, name);
    const struct ptx_range *range = name->prefix ? name->prefix->range : NULL;
    if (range)
        return ptx_fail(parser, at, "undefined %s '%s'; '%s<%u>' on line %u declares %s0 to %s%u", what, name->text,
                        range->prefix->text, range->count, range->at.line, range->prefix->text, range->prefix->text,
                        range->count - 1);
    const char *nearest = nearest_bound(parser, name->text);
    if (nearest)
        return ptx_fail(parser, at, "undefined %s '%s'; did you mean '%s'?", what, name->text, nearest);
    return ptx_fail(parser, at, "undefined %s '%s'", what, name->text);
}

void *ptx_list_grow(void *item, uint32_t count, uint32_t *capacity, uint32_t more, size_t bytes) {
    if (more <= *capacity - count)
        return item;
    uint64_t wanted = 2 * (uint64_t)*capacity + 16;
    if (wanted < (uint64_t)count + more)
        wanted = (uint64_t)count + more;
    void *grown = wanted <= UINT32_MAX ? realloc(item, wanted * bytes) : NULL;
    if (!grown)
        abort();
    *capacity = (uint32_t)wanted;
    return grown;
}

void ptx_list_free(void *item) { free(item); }

void *ptx_list_keep(struct base_arena *arena, const void *item, uint32_t first, uint32_t count, size_t bytes) {
    if (count <= first)
        return NULL;
    void *kept = base_arena_alloc_array(arena, count - first, bytes, _Alignof(max_align_t));
    return memcpy(kept, (const char *)item + first * bytes, (count - first) * bytes);
}
