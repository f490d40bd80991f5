/* Control flow: if and else, loops with trip counts from data, breaks and continues, switches through a table, calls
 * and threads that end early. Every loop ends: its counter is a register that no other code writes. %c<k> counts the
 * loop at depth k, %q is free for its condition, %w0 for indices. Conditions that are the same in a whole block depend
 * on the number of the block, so that a compiler cannot know them. */
#include "program.h"

#include <stdio.h>

enum { MAX_DEPTH = 3, MAX_TRIPS = 4, MAX_MULTIPLICITY = 16, MAX_CASES = 5 };

struct place {
    bool is_uniform;
    const char *mask;
};

static struct place enter(struct program *p, bool is_uniform, const char *mask) {
    struct place outside = {p->is_uniform, p->mask};
    p->is_uniform &= is_uniform;
    p->mask = mask;
    p->depth++;
    return outside;
}

static void leave(struct program *p, struct place outside) {
    p->is_uniform = outside.is_uniform && !p->has_exits;
    p->mask = p->has_exits ? NULL : outside.mask;
    p->depth--;
}

static unsigned new_label(struct program *p) { return p->n_labels++; }
static void set_label(struct program *p, unsigned label) { text_add(&p->body, "L%u:\n", label); }

static void emit_run(struct program *p) {
    for (unsigned n = 1 + random_below(&p->random, 4); n > 0 && !program_is_full(p); n--)
        program_emit_any(p);
}

/* Emits a branch condition in %q: often a new comparison, so that lanes diverge. %q is a copy that the compiler cannot
 * recognise: otherwise it assumes the predicate's value after a branch on it, even when a loop has changed it since. */
static void emit_condition(struct program *p) {
    if (random_chance(&p->random, 40))
        program_emit(p, "setp.(eq|ne|lt|le|gt|ge).(s32|u32) %=p, %.r, %r", false);
    program_line(p, "xor.pred %%q, %%p%u, %%never;", program_pick_source(p, KIND_PRED));
}

/* Emits a condition in %q that is the same in the whole block. */
static void emit_uniform_condition(struct program *p) {
    const char *comparison = random_chance(&p->random, 50) ? "eq" : "ne";
    program_line(p, "mov.u32 %%w0, %%ctaid.x;");
    program_line(p, "setp.%s.u32 %%q, %%w0, %u;", comparison, random_below(&p->random, 3));
}

static void emit_branch(struct program *p, unsigned label) {
    emit_condition(p);
    program_line(p, "@%s%%q bra L%u;", random_chance(&p->random, 50) ? "!" : "", label);
}

static void emit_if(struct program *p, unsigned budget) {
    unsigned other = new_label(p), end = new_label(p);
    bool has_else = random_chance(&p->random, 60), is_uniform = random_chance(&p->random, 20);
    bool is_counted = !is_uniform && p->is_uniform && random_chance(&p->random, 40);
    if (is_uniform)
        emit_uniform_condition(p);
    else
        emit_condition(p);
    if (is_counted) {
        program_line(p, "vote.sync.ballot.b32 %%here, %%q, -1;");
        program_line(p, "not.b32 %%there, %%here;");
    }
    const char *form = is_uniform && random_chance(&p->random, 50) ? "bra.uni" : "bra";
    program_line(p, "@!%%q %s L%u;", form, other);
    struct place outside = enter(p, is_uniform, is_counted ? "%here" : NULL);
    program_emit_block(p, has_else ? budget / 2 : budget);
    if (has_else)
        program_line(p, "bra L%u;", end);
    set_label(p, other);
    if (has_else) {
        p->mask = is_counted ? "%there" : NULL;
        program_emit_block(p, budget / 2);
        set_label(p, end);
    }
    leave(p, outside);
}

static void emit_loop(struct program *p, unsigned budget) {
    unsigned start = new_label(p), next = new_label(p), end = new_label(p), counter = p->n_loops;
    bool is_uniform = random_chance(&p->random, 40), tests_first = random_chance(&p->random, 50);
    bool has_break = !is_uniform && random_chance(&p->random, 40);
    bool has_continue = !is_uniform && random_chance(&p->random, 30);
    if (is_uniform) {
        program_line(p, "mov.u32 %%w0, %%ctaid.x;");
        program_line(p, "add.u32 %%w0, %%w0, %u;", random_below(&p->random, MAX_TRIPS));
        program_line(p, "and.b32 %%c%u, %%w0, %u;", counter, MAX_TRIPS - 1);
    } else
        program_line(p, "and.b32 %%c%u, %%r%u, %u;", counter, program_pick_source(p, KIND_I32), MAX_TRIPS - 1);
    if (tests_first) {
        program_line(p, "setp.eq.u32 %%q, %%c%u, 0;", counter);
        program_line(p, "@%%q bra L%u;", end);
    }
    set_label(p, start);
    struct place outside = enter(p, is_uniform, NULL);
    unsigned multiplicity = p->multiplicity;
    p->multiplicity *= MAX_TRIPS;
    p->n_loops++;
    program_emit_block(p, budget / 2);
    if (has_break)
        emit_branch(p, end);
    if (has_continue)
        emit_branch(p, next);
    program_emit_block(p, budget / 3);
    set_label(p, next);
    program_line(p, "sub.u32 %%c%u, %%c%u, 1;", counter, counter);
    program_line(p, "setp.gt.s32 %%q, %%c%u, 0;", counter);
    program_line(p, "@%%q bra L%u;", start);
    set_label(p, end);
    p->n_loops--;
    p->multiplicity = multiplicity;
    leave(p, outside);
}

static void emit_switch(struct program *p, unsigned budget) {
    unsigned n = 2 + random_below(&p->random, MAX_CASES - 1), end = new_label(p), table = new_label(p);
    unsigned label[MAX_CASES];
    char targets[128];
    int length = 0;
    for (unsigned i = 0; i < n; i++) {
        label[i] = new_label(p);
        length += snprintf(targets + length, sizeof targets - (size_t)length, "%sL%u", i ? ", " : "", label[i]);
    }
    program_line(p, "rem.u32 %%w0, %%r%u, %u;", program_pick_source(p, KIND_I32), n);
    text_add(&p->body, "T%u: .branchtargets %s;\n", table, targets);
    program_line(p, "brx.idx %%w0, T%u;", table);
    struct place outside = enter(p, false, NULL);
    for (unsigned i = 0; i < n; i++) {
        set_label(p, label[i]);
        program_emit_block(p, budget / n);
        if (!random_chance(&p->random, 25)) /* otherwise falls through into the next case */
            program_line(p, "bra L%u;", end);
    }
    set_label(p, end);
    leave(p, outside);
}

/* Some threads end here. After that no place is uniform; in a loop neither are the places before it. */
static void emit_exit(struct program *p) {
    emit_condition(p);
    program_emit(p, "st.global.b32 [%%out+28], %.r", false);
    const char *negation = random_chance(&p->random, 50) ? "!" : "";
    program_line(p, "@%s%%q %s;", negation, random_chance(&p->random, 50) ? "exit" : "ret");
    p->has_exits = true;
    p->is_uniform = false;
    p->mask = NULL;
}

void program_emit_block(struct program *p, unsigned budget) {
    emit_run(p);
    for (unsigned used = 4; used < budget && !program_is_full(p); used += budget / 2 + 2) {
        unsigned choice = random_below(&p->random, 100);
        bool may_nest = p->depth < MAX_DEPTH && budget > 6;
        if (choice < 35 && may_nest)
            emit_if(p, budget / 2);
        else if (choice < 60 && may_nest && p->multiplicity * MAX_TRIPS <= MAX_MULTIPLICITY)
            emit_loop(p, budget / 2);
        else if (choice < 70 && may_nest)
            emit_switch(p, budget / 2);
        else if (choice < 80)
            program_emit_call(p);
        else if (choice < 84 && p->depth > 0 && p->n_loops == 0)
            emit_exit(p);
        emit_run(p);
    }
}
