/* The post-dominator stack. See pdom.h. The code that runs at every branch is compiled twice, for one row and for any
 * number of rows. With one row the loops over masks disappear. */
#include "divergence/parts/pdom.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

static struct divergence_entry *push(struct divergence_stack *stack, uint32_t level, uint32_t pc,
                                     const uint32_t *mask) {
    size_t size = divergence_entry_bytes(stack->n_rows), used = stack->depth * size;
    uint32_t copy[EXEC_MAX_ROWS];
    memcpy(copy, mask, stack->n_rows * sizeof *mask);
    if (used + size > stack->capacity) {
        stack->capacity = stack->capacity ? 2 * stack->capacity : 8 * size;
        stack->bytes = base_grow(stack->bytes, stack->capacity, 1);
    }
    stack->depth++;
    struct divergence_entry *entry = divergence_stack_top(stack);
    memset(entry, 0, size);
    entry->level = level;
    entry->pc = pc;
    entry->reconvergence = EXEC_NO_PC;
    memcpy(entry->mask, copy, stack->n_rows * sizeof *mask);
    return entry;
}

void divergence_stack_start(struct divergence_stack *stack, struct exec_row *rows, uint32_t n_rows, uint32_t pc) {
    uint32_t mask[EXEC_MAX_ROWS];
    for (uint32_t i = 0; i < n_rows; i++)
        mask[i] = rows[i].threads;
    stack->depth = 0;
    stack->n_rows = n_rows;
    stack->row = rows;
    push(stack, 0, pc, mask);
}

void divergence_stack_start_lanes(struct divergence_stack *stack, uint32_t mask, uint32_t pc) {
    stack->depth = 0;
    stack->n_rows = 1;
    stack->row = NULL;
    push(stack, 0, pc, &mask);
}

void divergence_stack_free(struct divergence_stack *stack) {
    free(stack->bytes);
    *stack = (struct divergence_stack){.bytes = NULL};
}

ALWAYS_INLINE struct divergence_entry *at(const struct divergence_stack *stack, uint32_t index, uint32_t n_rows) {
    return (struct divergence_entry *)(stack->bytes + index * divergence_entry_bytes(n_rows));
}

ALWAYS_INLINE void pop_finished(struct divergence_stack *stack, uint32_t n_rows) {
    while (stack->depth) {
        struct divergence_entry *top = at(stack, stack->depth - 1, n_rows);
        bool is_running = top->pc != top->reconvergence || top->is_waiting;
        if (is_running && !divergence_masks_are_empty(top->mask, n_rows)) {
            top->is_join = false; /* all its paths have reconverged */
            return;
        }
        stack->depth--;
    }
}

void divergence_stack_pop_finished(struct divergence_stack *stack) {
    if (stack->n_rows == 1)
        pop_finished(stack, 1);
    else
        pop_finished(stack, stack->n_rows);
}

bool divergence_stack_take_out(struct divergence_stack *stack, const uint32_t *mask, bool stops_at_call) {
    uint32_t level = stack->depth ? divergence_stack_top(stack)->level : 0;
    for (uint32_t i = stack->depth; i-- > 0;) {
        struct divergence_entry *entry = divergence_stack_at(stack, i);
        if (entry->level != level)
            continue; /* the top does not stand on it */
        divergence_masks_remove(entry->mask, mask, stack->n_rows);
        if (stops_at_call && entry->is_call)
            return true;
        level--;
    }
    return false;
}

void divergence_stack_remove(struct divergence_stack *stack, const uint32_t *mask, bool stops_at_call) {
    divergence_stack_take_out(stack, mask, stops_at_call);
    divergence_stack_pop_finished(stack);
}

void divergence_stack_push_path(struct divergence_stack *stack, uint32_t level, uint32_t pc, uint32_t reconvergence,
                                const uint32_t *mask) {
    struct divergence_entry *path = push(stack, level, pc, mask);
    path->reconvergence = reconvergence;
    path->is_path = true;
}

void divergence_stack_push_call(struct divergence_stack *stack, uint32_t level, uint32_t pc, const uint32_t *mask) {
    push(stack, level, pc, mask)->is_call = true;
}

uint32_t divergence_stack_make_join(struct divergence_stack *stack, uint32_t reconvergence) {
    struct divergence_entry *top = divergence_stack_top(stack);
    top->pc = reconvergence;
    top->is_join = true;
    return top->level + 1;
}

void divergence_stack_add_bottom(struct divergence_stack *stack) {
    for (uint32_t i = 0; i < stack->depth; i++)
        divergence_stack_at(stack, i)->level++;
    push(stack, 0, 0, divergence_stack_at(stack, 0)->mask);
    memmove(divergence_stack_at(stack, 1), divergence_stack_at(stack, 0),
            (stack->depth - 1) * divergence_entry_bytes(stack->n_rows));
    struct divergence_entry *bottom = divergence_stack_at(stack, 0); /* only its level has changed */
    bottom->level = 0;
    bottom->pc = bottom->reconvergence;
    bottom->is_path = false;
    bottom->is_join = true;
}

ALWAYS_INLINE void diverge(struct divergence_stack *stack, uint32_t n_rows, uint32_t reconvergence, uint32_t first_pc,
                           const uint32_t *first, uint32_t second_pc) {
    struct divergence_entry *top = at(stack, stack->depth - 1, n_rows);
    uint32_t second[EXEC_MAX_ROWS];
    for (uint32_t i = 0; i < n_rows; i++)
        second[i] = top->mask[i] & ~first[i];
    bool is_first_there = first_pc == reconvergence, is_second_there = second_pc == reconvergence;
    if (reconvergence == top->reconvergence && reconvergence != EXEC_NO_PC && (is_first_there || is_second_there)) {
        /* The join below waits already: loops do not grow the stack. */
        memcpy(top->mask, is_first_there ? second : first, n_rows * sizeof *first);
        top->pc = is_first_there ? second_pc : first_pc;
        return;
    }
    uint32_t level = divergence_stack_make_join(stack, reconvergence);
    if (!is_second_there) /* threads that go straight to the reconvergence pc wait in the join */
        divergence_stack_push_path(stack, level, second_pc, reconvergence, second);
    if (!is_first_there)
        divergence_stack_push_path(stack, level, first_pc, reconvergence, first);
}

void divergence_stack_diverge(struct divergence_stack *stack, uint32_t reconvergence, uint32_t first_pc,
                              const uint32_t *first, uint32_t second_pc) {
    if (stack->n_rows == 1)
        diverge(stack, 1, reconvergence, first_pc, first, second_pc);
    else
        diverge(stack, stack->n_rows, reconvergence, first_pc, first, second_pc);
}

/* --- paths that wait or spin --- */

/* Returns the highest entry of this level: the top stands on it, or is it. */
static uint32_t ancestor(const struct divergence_stack *stack, uint32_t level) {
    uint32_t index = stack->depth - 1;
    while (divergence_stack_at(stack, index)->level > level)
        index--;
    return index;
}

/* Returns the index of the lowest sibling of an entry, or of the entry itself if it has none. */
static uint32_t first_sibling(const struct divergence_stack *stack, uint32_t index) {
    uint32_t level = divergence_stack_at(stack, index)->level, lowest = index;
    for (; index > 0 && divergence_stack_at(stack, index - 1)->level >= level; index--)
        if (divergence_stack_at(stack, index - 1)->level == level)
            lowest = index - 1;
    return lowest;
}

/* Moves the top below the entry number `lowest`. */
static void sink_top(struct divergence_stack *stack, uint32_t lowest) {
    size_t size = divergence_entry_bytes(stack->n_rows);
    _Alignas(struct divergence_entry) unsigned char
        top[sizeof(struct divergence_entry) + 2 * EXEC_MAX_ROWS * sizeof(uint32_t)];
    memcpy(top, divergence_stack_top(stack), size);
    memmove(divergence_stack_at(stack, lowest + 1), divergence_stack_at(stack, lowest),
            (stack->depth - 1 - lowest) * size);
    memcpy(divergence_stack_at(stack, lowest), top, size);
}

/* Moves an entry, and all that stand on it, below its siblings. They must be the topmost ones. */
static void rotate(struct divergence_stack *stack, uint32_t index) {
    uint32_t lowest = first_sibling(stack, index);
    for (uint32_t n = lowest < index ? stack->depth - index : 0; n > 0; n--)
        sink_top(stack, lowest);
}

/* Removes an entry; those above it move down. */
static void drop(struct divergence_stack *stack, uint32_t index) {
    stack->depth--;
    memmove(divergence_stack_at(stack, index), divergence_stack_at(stack, index + 1),
            (stack->depth - index) * divergence_entry_bytes(stack->n_rows));
}

/* Brings a path that does not wait to the top, from those that stand on the same entry as the one at `level` does, or
 * on one of them: first from those that stand on the topmost one. Returns false, and has changed nothing, if all
 * wait. */
static bool find_running(struct divergence_stack *stack, uint32_t level) {
    uint32_t first = ancestor(stack, level), lowest = first_sibling(stack, first), n_siblings = 0;
    for (uint32_t i = lowest; i < stack->depth; i++)
        n_siblings += divergence_stack_at(stack, i)->level == level;
    for (; n_siblings > 0; n_siblings--) {
        const struct divergence_entry *top = divergence_stack_top(stack);
        if (top->level == level ? !top->is_waiting : find_running(stack, level + 1))
            return true;
        rotate(stack, ancestor(stack, level));
    }
    return false;
}

bool divergence_stack_yield(struct divergence_stack *stack) {
    do {
        if (!find_running(stack, 0))
            return false;
        divergence_stack_pop_finished(stack); /* it may have been released at the end of its path */
    } while (divergence_stack_top(stack)->is_waiting);
    return true;
}

void divergence_stack_break_join(struct divergence_stack *stack) {
    uint32_t level = divergence_stack_top(stack)->level, path = stack->depth - 1;
    while (level > 0 && !divergence_stack_at(stack, path)->is_path) /* the caller's path spins */
        path = ancestor(stack, --level);
    uint32_t lowest = first_sibling(stack, path);
    struct divergence_entry *join = lowest > 0 ? divergence_stack_at(stack, lowest - 1) : NULL;
    if (join && join->is_join) {
        uint32_t outer = join->reconvergence;
        for (uint32_t i = lowest; i < stack->depth; i++) {
            struct divergence_entry *entry = divergence_stack_at(stack, i);
            if (entry->level-- != level)
                continue;
            divergence_masks_remove(join->mask, entry->mask, stack->n_rows);
            entry->reconvergence = outer;
            entry->is_call |= join->is_call;
        }
        join->is_join = false;
        join->is_path = true;
        /* No thread waits there, or those that do wait already at the next join. */
        if (divergence_masks_are_empty(join->mask, stack->n_rows) || join->pc == outer) {
            drop(stack, lowest - 1);
            path--;
        }
    }
    rotate(stack, path);
    divergence_stack_pop_finished(stack);
}

bool divergence_stack_spins(struct divergence_watch *watch, const struct divergence_stack *stack, uint32_t pc) {
    bool is_diverged = stack->depth > 1;
    return divergence_spins(watch, is_diverged, is_diverged && divergence_stack_top(stack)->is_waiting, pc);
}
