/* Chooses the statements of a random program. See program.h. */
#include "program.h"

#include <stdlib.h>

#include "differential/random.h"

enum { MAX_DEPTH = 4, MAX_LOOPS = 2, MOST_STATEMENTS = 5 };

/* A place in the program to which statements are added. */
struct place {
    struct program *program;
    struct random *random;
    unsigned depth, n_loops;
    bool is_uniform;
    bool may_break;    /* a loop around it need not be uniform */
    bool in_function;  /* with the number: */
    unsigned function; /* calls go to later ones only */
    bool may_recurse;
};

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (!memory)
        abort();
    return memory;
}

static struct statement *add_block(struct place place);

static void add_bodies(struct statement *statement, struct place place, unsigned n) {
    statement->n_bodies = n;
    place.depth++;
    for (unsigned i = 0; i < n; i++)
        statement->body[i] = add_block(place);
}

static void fill(struct statement *statement, struct place place) {
    struct random *random = place.random;
    switch (statement->kind) {
    case IF:
        statement->is_uniform = random_chance(random, 25) || place.program->is_single_path;
        place.is_uniform &= statement->is_uniform;
        add_bodies(statement, place, 1 + random_below(random, 2));
        break;
    case LOOP:
        statement->is_uniform = (place.is_uniform && random_chance(random, 50)) || place.program->is_single_path;
        place.is_uniform &= statement->is_uniform;
        place.may_break = !statement->is_uniform;
        place.n_loops++;
        place.may_recurse = false;
        add_bodies(statement, place, 1);
        break;
    case SWITCH:
        place.is_uniform = place.may_recurse = false;
        add_bodies(statement, place, 2 + random_below(random, MAX_BODIES - 1));
        break;
    case GRAPH:
        place.is_uniform = place.may_recurse = false;
        place.may_break = true;
        place.n_loops++;
        add_bodies(statement, place, 3 + random_below(random, MAX_BODIES - 2));
        break;
    default:
        break;
    }
}

/* How often each kind is tried, of 100. */
static const struct {
    enum statement_kind kind;
    unsigned weight;
} weights[] = {{COMPUTE, 15}, {MEMORY, 16}, {ATOMIC, 6},  {IF, 17},  {LOOP, 9},   {BREAK, 5},
               {CONTINUE, 3}, {SWITCH, 4},  {GRAPH, 4},   {EXIT, 4}, {CALL, 4},   {CALL_INDIRECT, 2},
               {RECURSE, 1},  {RETURN, 2},  {BARRIER, 3}, {WARP, 3}, {MASKED, 1}, {SPLIT_BARRIER, 1}};

static enum statement_kind draw_kind(struct random *random) {
    unsigned draw = random_below(random, 100);
    for (unsigned i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        if (draw < weights[i].weight)
            return weights[i].kind;
        draw -= weights[i].weight;
    }
    return COMPUTE;
}

static bool is_allowed(enum statement_kind kind, const struct place *place) {
    const struct program *program = place->program;
    bool may_nest = place->depth < MAX_DEPTH;
    if (program->is_single_path && kind != IF && kind != LOOP && kind != CALL)
        return kind == COMPUTE || kind == MEMORY || kind == ATOMIC;
    switch (kind) {
    case IF:
    case SWITCH:
        return may_nest;
    case LOOP:
    case GRAPH:
        return may_nest && place->n_loops < (place->in_function ? 1 : MAX_LOOPS);
    case BREAK:
    case CONTINUE:
        return place->may_break;
    case EXIT:
        return program->may_end_anywhere || (program->may_end_outside && place->depth == 0);
    case CALL:
        return place->function < program->n_functions;
    case CALL_INDIRECT:
        return place->function + 1 < program->n_functions;
    case RECURSE:
        return place->in_function && place->may_recurse;
    case RETURN:
        return place->in_function;
    case BARRIER:
    case SPLIT_BARRIER:
        return place->is_uniform && !place->in_function;
    case WARP:
    case MASKED:
        return place->is_uniform && !place->in_function && program->uses_warps;
    default:
        return true;
    }
}

static struct statement *add_statement(struct place *place) {
    enum statement_kind kind;
    do
        kind = draw_kind(place->random);
    while (!is_allowed(kind, place));
    struct statement *statement = allocate(sizeof *statement);
    statement->kind = kind;
    statement->seed = random_next(place->random);
    if (kind == RECURSE)
        place->may_recurse = false;
    fill(statement, *place);
    if (kind == IF || kind == SWITCH || kind == LOOP || kind == GRAPH)
        place->may_recurse = false; /* at most one recursive call on any path through the function */
    return statement;
}

static struct statement *add_block(struct place place) {
    struct statement *first = NULL, **end = &first;
    unsigned most = place.depth ? MOST_STATEMENTS - place.depth : 2 * MOST_STATEMENTS;
    for (unsigned n = 1 + random_below(place.random, most); n > 0; n--) {
        *end = add_statement(&place);
        end = &(*end)->next;
    }
    return first;
}

static void choose_shape(struct program *program, struct random *random) {
    static const uint32_t sizes[] = {1, 7, 16, 31, 32, 33, 40, 48, 63, 64, 64, 65, 95, 96, 100, 128};
    program->block[0] = sizes[random_below(random, sizeof sizes / sizeof sizes[0])];
    program->block[1] = program->block[2] = 1;
    if (random_chance(random, 20)) {
        program->block[0] = 5 + random_below(random, 8);
        program->block[1] = 1 + random_below(random, 5);
    }
    program->grid = 1 + random_below(random, 6);
}

static void add_statements(struct program *program, struct random *random) {
    program->n_functions = random_chance(random, 60) ? 1 + random_below(random, MAX_FUNCTIONS) : 0;
    struct place place = {.program = program, .random = random, .is_uniform = true};
    program->kernel = add_block(place);
    for (unsigned i = 0; i < program->n_functions; i++) {
        struct place in = {.program = program,
                           .random = random,
                           .depth = 1,
                           .in_function = true,
                           .function = i + 1,
                           .may_recurse = true};
        program->function[i] = add_block(in);
    }
}

void program_make(struct program *program, uint64_t seed, uint64_t number) {
    struct random random = random_stream(seed, number, 0);
    *program = (struct program){.seed = seed, .number = number};
    program->uses_shared = random_chance(&random, 40);
    program->uses_warps = random_chance(&random, 50);
    program->may_end_anywhere = random_chance(&random, 30);
    program->may_end_outside = random_chance(&random, 30);
    choose_shape(program, &random);
    add_statements(program, &random);
}

void program_make_single_path(struct program *program, uint64_t seed, uint64_t number) {
    struct random random = random_stream(seed, number, 4);
    *program = (struct program){.seed = seed, .number = number, .is_single_path = true};
    program->block[0] = 32 * (1 + random_below(&random, 3));
    program->block[1] = program->block[2] = 1;
    program->grid = 1 + random_below(&random, 6);
    add_statements(program, &random);
}

uint32_t program_threads(const struct program *program) {
    return program->block[0] * program->block[1] * program->block[2];
}

/* --- the tree --- */

static void free_block(struct statement *statement) {
    while (statement) {
        struct statement *next = statement->next;
        for (unsigned i = 0; i < statement->n_bodies; i++)
            free_block(statement->body[i]);
        free(statement);
        statement = next;
    }
}

void program_free(struct program *program) {
    free_block(program->kernel);
    for (unsigned i = 0; i < program->n_functions; i++)
        free_block(program->function[i]);
}

/* Counts the remaining statements; stops at number *left. */
static struct statement *walk(struct statement *statement, unsigned *left) {
    for (; statement; statement = statement->next) {
        if (statement->is_dropped)
            continue;
        if ((*left)-- == 0)
            return statement;
        for (unsigned i = 0; i < statement->n_bodies; i++) {
            struct statement *found = walk(statement->body[i], left);
            if (found)
                return found;
        }
    }
    return NULL;
}

static struct statement *walk_all(const struct program *program, unsigned *left) {
    struct statement *found = walk(program->kernel, left);
    for (unsigned i = 0; i < program->n_functions && !found; i++)
        found = walk(program->function[i], left);
    return found;
}

unsigned program_count(const struct program *program) {
    unsigned left = UINT32_MAX;
    walk_all(program, &left);
    return UINT32_MAX - left;
}

struct statement *program_statement(const struct program *program, unsigned number) {
    return walk_all(program, &number);
}
