/* Paths and convergence barriers of a warp. See paths.h. */
#include "divergence/convergence/paths.h"

#include <stdlib.h>

#include "base/memory.h"

/* --- barriers --- */

static uint32_t new_join(struct divergence_paths *paths, struct divergence_join join) {
    if (paths->first_free == DIVERGENCE_NO_JOIN) {
        uint32_t from = paths->capacity;
        paths->capacity = from ? 2 * from : 8;
        paths->join = base_grow(paths->join, paths->capacity, sizeof *paths->join);
        for (uint32_t i = paths->capacity; i-- > from;) {
            paths->join[i] = (struct divergence_join){.parent = paths->first_free};
            paths->first_free = i;
        }
    }
    uint32_t at = paths->first_free;
    paths->first_free = paths->join[at].parent;
    join.is_used = true;
    join.since = paths->cycle;
    paths->join[at] = join;
    return at;
}

static void free_join(struct divergence_paths *paths, uint32_t at) {
    paths->join[at] = (struct divergence_join){.parent = paths->first_free};
    paths->first_free = at;
}

static void push(struct divergence_paths *paths, struct divergence_path path);

/* All participants that are left have arrived, or there are none left. */
static void complete(struct divergence_paths *paths, uint32_t at) {
    struct divergence_join join = paths->join[at];
    if (join.participants != join.arrived)
        return;
    free_join(paths, at);
    if (!join.participants)
        return;
    paths->n_reconverged += !join.is_call;
    uint32_t n_before = join.n_arrived && !join.is_call ? join.n_arrived - 1 : 0;
    push(paths, (struct divergence_path){.pc = join.pc,
                                         .mask = join.arrived,
                                         .join = join.parent,
                                         .n_arrived = (uint8_t)(n_before < UINT8_MAX ? n_before : UINT8_MAX)});
}

static void arrive(struct divergence_paths *paths, uint32_t at, uint32_t lanes, uint32_t n_paths) {
    paths->join[at].arrived |= lanes;
    paths->join[at].n_arrived += n_paths;
    paths->join[at].since = paths->cycle;
    complete(paths, at);
}

/* Lanes leave the barriers from `at` up to, and without, `end`. */
static void leave(struct divergence_paths *paths, uint32_t lanes, uint32_t at, uint32_t end) {
    while (at != end) {
        uint32_t parent = paths->join[at].parent;
        paths->join[at].participants &= ~lanes;
        complete(paths, at);
        at = parent;
    }
}

/* Lets the lanes that wait at a barrier continue without the others, for which it stays. */
static void release_arrived(struct divergence_paths *paths, uint32_t at) {
    struct divergence_join *join = &paths->join[at];
    struct divergence_path path = {.pc = join->pc, .mask = join->arrived, .join = join->parent};
    join->participants &= ~join->arrived;
    join->arrived = join->n_arrived = 0;
    join->since = paths->cycle;
    push(paths, path);
}

/* Returns the barrier nearest to a path at which lanes wait, or DIVERGENCE_NO_JOIN. */
static uint32_t nearest_wait(const struct divergence_paths *paths, const struct divergence_path *path) {
    uint32_t at = path->join;
    while (at != DIVERGENCE_NO_JOIN && !paths->join[at].arrived)
        at = paths->join[at].parent;
    return at;
}

/* --- paths --- */

static struct divergence_path pop(struct divergence_paths *paths) { return paths->path[--paths->n_paths]; }

static bool is_gathering(const struct divergence_paths *paths, uint32_t pc) {
    return paths->regions->next_gathering && paths->regions->next_gathering[pc] == pc;
}

/* Returns the innermost barrier that both paths are in. Lanes of different calls have none that counts: they leave all
 * barriers, and a return tells them apart. */
static uint32_t common_join(const struct divergence_paths *paths, uint32_t a, uint32_t b) {
    for (uint32_t x = a;; x = paths->join[x].parent) {
        for (uint32_t y = b;; y = paths->join[y].parent) {
            if (x == y)
                return x;
            if (y == DIVERGENCE_NO_JOIN || paths->join[y].is_call)
                break;
        }
        if (x == DIVERGENCE_NO_JOIN || paths->join[x].is_call)
            return DIVERGENCE_NO_JOIN;
    }
}

/* Joins the paths that gather at this pc if they have all live lanes. They leave the barriers that not all are in. */
static void try_gather(struct divergence_paths *paths, uint32_t pc) {
    uint32_t lanes = 0;
    uint32_t common = DIVERGENCE_NO_JOIN;
    for (uint32_t i = 0; i < paths->n_paths; i++) {
        const struct divergence_path *path = &paths->path[i];
        if (path->state != DIVERGENCE_PATH_GATHERS || path->pc != pc)
            continue;
        common = lanes ? common_join(paths, common, path->join) : path->join;
        lanes |= path->mask;
    }
    if (!lanes || lanes != paths->row->live)
        return;
    struct divergence_path old[EXEC_LANES];
    uint32_t n_old = paths->n_paths; /* all of them gather here: they have all live lanes */
    for (uint32_t i = 0; i < n_old; i++)
        old[i] = paths->path[i];
    paths->n_paths = 0;
    for (uint32_t i = 0; i < n_old; i++)
        leave(paths, old[i].mask, old[i].join, common);
    paths->path[paths->n_paths++] = (struct divergence_path){.pc = pc, .mask = lanes, .join = common};
}

/* Adds a path; at its barrier's pc it arrives there instead. */
static void push(struct divergence_paths *paths, struct divergence_path path) {
    if (!path.mask)
        return;
    if (path.join != DIVERGENCE_NO_JOIN && paths->join[path.join].pc == path.pc && !paths->join[path.join].is_call) {
        arrive(paths, path.join, path.mask, 1u + path.n_arrived);
        return;
    }
    bool gathers = path.pc != EXEC_NO_PC && path.mask != paths->row->live && is_gathering(paths, path.pc);
    path.state = gathers ? DIVERGENCE_PATH_GATHERS : DIVERGENCE_PATH_RUNS;
    paths->path[paths->n_paths++] = path;
    if (gathers)
        try_gather(paths, path.pc);
}

/* --- leaving loops --- */

/* Returns the outermost loop that a thread leaves on its way from a loop to pc, or EXEC_NO_LOOP. */
static uint32_t loop_left(const struct exec_regions *regions, uint32_t loop, uint32_t pc) {
    uint32_t left = EXEC_NO_LOOP, to = pc == EXEC_NO_PC ? EXEC_NO_LOOP : regions->loop_of[pc];
    for (; loop != EXEC_NO_LOOP && !exec_is_loop_inside(regions, to, loop); loop = regions->loop[loop].parent)
        left = loop;
    return left;
}

/* Returns the barrier after a loop, for a path in it: the one where those of its lanes that leave the loop meet. Makes
 * it if it does not exist: around the barriers of the loop, whose participants have entered the loop together. Sets
 * *top to the outermost barrier of the loop, or DIVERGENCE_NO_JOIN. A branch without other lanes in the loop needs
 * none. */
static uint32_t join_after(struct divergence_paths *paths, struct divergence_path *path, uint32_t loop, bool has_others,
                           uint32_t *top) {
    const struct exec_loop *left = &paths->regions->loop[loop];
    uint32_t at = path->join;
    *top = DIVERGENCE_NO_JOIN;
    while (at != DIVERGENCE_NO_JOIN && !paths->join[at].is_call &&
           exec_is_loop_inside(paths->regions, paths->join[at].loop, loop)) {
        *top = at;
        at = paths->join[at].parent;
    }
    bool exists = at != DIVERGENCE_NO_JOIN && !paths->join[at].is_call && paths->join[at].pc == left->meeting &&
                  paths->join[at].loop == left->parent;
    if (exists || left->meeting == EXEC_NO_PC || (!has_others && *top == DIVERGENCE_NO_JOIN))
        return at;
    uint32_t participants = *top == DIVERGENCE_NO_JOIN ? path->mask : paths->join[*top].participants;
    at = new_join(paths, (struct divergence_join){
                             .pc = left->meeting, .participants = participants, .loop = left->parent, .parent = at});
    if (*top == DIVERGENCE_NO_JOIN)
        path->join = at;
    else
        paths->join[*top].parent = at;
    return at;
}

/* Adds the lanes of a path that a branch sends out of a loop to `pc`. The path keeps the others. */
static void send_out(struct divergence_paths *paths, struct divergence_path *path, uint32_t loop, uint32_t lanes,
                     uint32_t pc) {
    uint32_t top, inner = path->join;
    uint32_t after = join_after(paths, path, loop, path->mask != lanes, &top);
    path->mask &= ~lanes;
    if (top != DIVERGENCE_NO_JOIN)
        leave(paths, lanes, inner, paths->join[top].parent);
    push(paths, (struct divergence_path){.pc = pc, .mask = lanes, .join = after});
}

/* --- the interface --- */

void divergence_paths_start(struct divergence_paths *paths, const struct exec_regions *regions, struct exec_row *row,
                            uint32_t pc) {
    paths->regions = regions;
    paths->row = row;
    paths->n_reconverged = 0;
    paths->nests = false;
    paths->cycle = 0;
    paths->first_free = DIVERGENCE_NO_JOIN;
    for (uint32_t i = paths->capacity; i-- > 0;) {
        paths->join[i] = (struct divergence_join){.parent = paths->first_free};
        paths->first_free = i;
    }
    paths->path[0] = (struct divergence_path){.pc = pc, .mask = row->threads, .join = DIVERGENCE_NO_JOIN};
    paths->n_paths = 1;
}

void divergence_paths_free(struct divergence_paths *paths) {
    free(paths->join);
    *paths = (struct divergence_paths){.join = NULL};
}

static void move_to_end(struct divergence_paths *paths, uint32_t from) {
    struct divergence_path path = paths->path[from];
    for (; from + 1 < paths->n_paths; from++)
        paths->path[from] = paths->path[from + 1];
    paths->path[from] = path;
}

/* See the proof in paths.h. */
static bool unblock(struct divergence_paths *paths) {
    for (uint32_t i = paths->n_paths; i-- > 0;) {
        uint32_t at = nearest_wait(paths, &paths->path[i]);
        if (at == DIVERGENCE_NO_JOIN)
            continue;
        release_arrived(paths, at);
        return true;
    }
    return false;
}

bool divergence_paths_select(struct divergence_paths *paths) {
    do {
        for (uint32_t i = paths->n_paths; i-- > 0;)
            if (paths->path[i].state == DIVERGENCE_PATH_RUNS) {
                move_to_end(paths, i);
                return true;
            }
    } while (unblock(paths));
    return false;
}

uint32_t divergence_paths_next_stop(const struct divergence_paths *paths, const struct divergence_path *path) {
    const struct divergence_join *join = path->join == DIVERGENCE_NO_JOIN ? NULL : &paths->join[path->join];
    uint32_t stop = join && !join->is_call ? join->pc : EXEC_NO_PC;
    if (!paths->regions->next_gathering || path->mask == paths->row->live)
        return stop;
    uint32_t gathering = paths->regions->next_gathering[path->pc];
    return stop < path->pc || gathering < stop ? gathering : stop; /* only a branch leads back */
}

void divergence_paths_reach(struct divergence_paths *paths, uint32_t pc) {
    struct divergence_path path = pop(paths);
    path.pc = pc;
    push(paths, path);
}

void divergence_paths_go(struct divergence_paths *paths, uint32_t from, uint32_t pc) {
    struct divergence_path path = pop(paths);
    uint32_t left = EXEC_NO_LOOP;
    path.pc = pc;
    if (path.join != DIVERGENCE_NO_JOIN)
        left = loop_left(paths->regions, paths->regions->loop_of[from], pc);
    if (left != EXEC_NO_LOOP)
        send_out(paths, &path, left, path.mask, pc);
    else
        push(paths, path);
}

/* Takes the lanes of the path that go to the pc of the first one out of `left`. */
static uint32_t take_target(const uint32_t next[EXEC_LANES], uint32_t *left, uint32_t *pc) {
    uint32_t same = 0;
    *pc = next[__builtin_ctz(*left)];
    for (uint32_t rest = *left; rest; rest &= rest - 1)
        same |= (uint32_t)(next[__builtin_ctz(rest)] == *pc) << __builtin_ctz(rest);
    *left &= ~same;
    return same;
}

/* Sends out of their loops those lanes of a path that leave any, the outermost loop first. */
static void send_all_out(struct divergence_paths *paths, struct divergence_path *path, uint32_t from,
                         const uint32_t next[EXEC_LANES]) {
    uint32_t loop = paths->regions->loop_of[from], pc;
    while (loop != EXEC_NO_LOOP) {
        uint32_t outermost = EXEC_NO_LOOP;
        for (uint32_t left = path->mask; left;) {
            take_target(next, &left, &pc);
            uint32_t out = loop_left(paths->regions, loop, pc);
            if (out != EXEC_NO_LOOP &&
                (outermost == EXEC_NO_LOOP || exec_is_loop_inside(paths->regions, outermost, out)))
                outermost = out;
        }
        if (outermost == EXEC_NO_LOOP)
            return;
        for (uint32_t left = path->mask; left;) {
            uint32_t same = take_target(next, &left, &pc);
            if (loop_left(paths->regions, loop, pc) == outermost)
                send_out(paths, path, outermost, same, pc);
        }
    }
}

/* Returns whether two of the path's targets are not this pc. */
static bool has_two_sides(const struct divergence_path *path, const uint32_t next[EXEC_LANES], uint32_t pc) {
    uint32_t n = 0, target;
    for (uint32_t left = path->mask; left && n < 2;) {
        take_target(next, &left, &target);
        n += target != pc;
    }
    return n == 2;
}

/* The paths of a branch that stay in its loop get a barrier, unless the innermost one is where they meet. */
static void add_join(struct divergence_paths *paths, struct divergence_path *path, uint32_t pc,
                     const uint32_t next[EXEC_LANES]) {
    uint32_t meeting = paths->regions->meeting[pc], loop = paths->regions->loop_of[pc];
    const struct divergence_join *around = path->join == DIVERGENCE_NO_JOIN ? NULL : &paths->join[path->join];
    bool is_same = around && !around->is_call && around->pc == meeting && around->loop == loop;
    if (meeting == EXEC_NO_PC || (is_same && !(paths->nests && has_two_sides(path, next, meeting))))
        return;
    path->join = new_join(
        paths, (struct divergence_join){.pc = meeting, .participants = path->mask, .loop = loop, .parent = path->join});
}

void divergence_paths_diverge(struct divergence_paths *paths, uint32_t pc, const uint32_t next[EXEC_LANES]) {
    struct divergence_path path = pop(paths);
    send_all_out(paths, &path, pc, next);
    if (!path.mask)
        return;
    uint32_t left = path.mask, target, later = 0;
    if (take_target(next, &left, &target) != path.mask)
        add_join(paths, &path, pc, next);
    for (uint32_t rest = path.mask; rest; rest &= rest - 1)
        later |= (uint32_t)(next[__builtin_ctz(rest)] == pc + 1) << __builtin_ctz(rest);
    push(paths, (struct divergence_path){.pc = pc + 1, .mask = later, .join = path.join});
    for (left = path.mask & ~later; left;) {
        uint32_t same = take_target(next, &left, &target);
        push(paths, (struct divergence_path){.pc = target, .mask = same, .join = path.join});
    }
}

void divergence_paths_call(struct divergence_paths *paths, uint32_t pc, uint32_t taken,
                           const uint32_t next[EXEC_LANES]) {
    struct divergence_path path = pop(paths);
    uint32_t call = new_join(paths, (struct divergence_join){.pc = pc + 1,
                                                             .participants = path.mask,
                                                             .arrived = path.mask & ~taken,
                                                             .loop = EXEC_NO_LOOP,
                                                             .parent = path.join,
                                                             .is_call = true});
    for (uint32_t left = taken, target; left;) {
        uint32_t same = take_target(next, &left, &target);
        push(paths, (struct divergence_path){.pc = target, .mask = same, .join = call});
    }
}

void divergence_paths_return(struct divergence_paths *paths, uint32_t pc, uint32_t taken,
                             const uint32_t next[EXEC_LANES]) {
    struct divergence_path path = pop(paths);
    uint32_t call = path.join;
    while (call != DIVERGENCE_NO_JOIN && !paths->join[call].is_call)
        call = paths->join[call].parent;
    leave(paths, taken, path.join, call);
    if (call != DIVERGENCE_NO_JOIN)
        arrive(paths, call, taken, 1);
    for (uint32_t left = call == DIVERGENCE_NO_JOIN ? taken : 0, target; left;) {
        uint32_t same = take_target(next, &left, &target);
        push(paths, (struct divergence_path){.pc = target, .mask = same, .join = DIVERGENCE_NO_JOIN});
    }
    path.pc = pc + 1;
    path.mask &= ~taken;
    push(paths, path);
}

void divergence_paths_end(struct divergence_paths *paths, uint32_t pc, uint32_t taken) {
    struct divergence_path path = pop(paths);
    leave(paths, taken, path.join, DIVERGENCE_NO_JOIN);
    path.pc = pc + 1;
    path.mask &= ~taken;
    push(paths, path);
    for (uint32_t i = 0; i < paths->n_paths; i++)
        if (paths->path[i].state == DIVERGENCE_PATH_GATHERS) {
            try_gather(paths, paths->path[i].pc);
            return; /* at most one place can have all live lanes */
        }
}

void divergence_paths_wait(struct divergence_paths *paths, uint32_t pc, uint32_t waiting) {
    struct divergence_path path = pop(paths);
    uint32_t others = path.mask & ~waiting;
    paths->path[paths->n_paths++] =
        (struct divergence_path){.pc = pc + 1, .mask = waiting, .join = path.join, .state = DIVERGENCE_PATH_WAITS};
    push(paths, (struct divergence_path){.pc = pc + 1, .mask = others, .join = path.join});
}

bool divergence_paths_yield(struct divergence_paths *paths) {
    for (uint32_t i = 0; i + 1 < paths->n_paths; i++)
        if (paths->path[i].state == DIVERGENCE_PATH_RUNS) {
            struct divergence_path path = pop(paths);
            for (uint32_t j = paths->n_paths++; j > 0; j--)
                paths->path[j] = paths->path[j - 1];
            paths->path[0] = path;
            return true;
        }
    return divergence_paths_release_nearest(paths);
}

bool divergence_paths_release_nearest(struct divergence_paths *paths) {
    uint32_t at = nearest_wait(paths, divergence_paths_top(paths));
    if (at == DIVERGENCE_NO_JOIN)
        return unblock(paths);
    release_arrived(paths, at);
    return true;
}

void divergence_paths_release_join(struct divergence_paths *paths, uint32_t join) { release_arrived(paths, join); }

void divergence_paths_merge(struct divergence_paths *paths, uint32_t into, uint32_t from) {
    paths->path[into].mask |= paths->path[from].mask;
    paths->n_paths--;
    for (uint32_t i = from; i < paths->n_paths; i++)
        paths->path[i] = paths->path[i + 1];
}

void divergence_paths_send_back(struct divergence_paths *paths, uint32_t n) {
    struct divergence_path path[EXEC_LANES];
    uint32_t others = paths->n_paths - n;
    for (uint32_t i = 0; i < n; i++) /* the one that runs last comes first */
        path[i] = paths->path[paths->n_paths - 1 - i];
    for (uint32_t i = others; i-- > 0;)
        paths->path[i + n] = paths->path[i];
    for (uint32_t i = 0; i < n; i++)
        paths->path[i] = path[i];
}

void divergence_paths_release(struct divergence_paths *paths, uint32_t released, uint32_t pc) {
    struct divergence_path ready[EXEC_LANES];
    uint32_t n_ready = 0, n = 0;
    for (uint32_t i = 0; i < paths->n_paths; i++) {
        struct divergence_path path = paths->path[i];
        uint32_t lanes = path.state == DIVERGENCE_PATH_WAITS && path.pc == pc ? path.mask & released : 0;
        path.mask &= ~lanes;
        if (path.mask)
            paths->path[n++] = path;
        if (!lanes)
            continue;
        uint32_t j = 0; /* those that take part in the same barriers continue together */
        while (j < n_ready && ready[j].join != path.join)
            j++;
        ready[j] =
            (struct divergence_path){.pc = pc, .mask = j < n_ready ? ready[j].mask | lanes : lanes, .join = path.join};
        n_ready += j == n_ready;
    }
    paths->n_paths = n;
    for (uint32_t j = 0; j < n_ready; j++)
        push(paths, ready[j]);
}

void divergence_paths_continue(struct divergence_paths *paths, uint32_t mask) {
    uint32_t i = 0;
    while (paths->path[i].mask != mask)
        i++;
    move_to_end(paths, i);
}

void divergence_paths_switch(struct divergence_paths *paths, uint32_t pc, uint32_t index) {
    divergence_paths_top(paths)->pc = pc;
    move_to_end(paths, index);
}

/* --- barriers at post-dominators --- */

struct exec_regions *divergence_postdominators(const struct exec_program *program) {
    struct exec_regions *regions = base_allocate(1, sizeof *regions);
    regions->loop_of = base_allocate(program->n_insns, sizeof *regions->loop_of);
    regions->meeting = base_allocate(program->n_insns, sizeof *regions->meeting);
    regions->next_gathering = program->regions->next_gathering;
    for (uint32_t pc = 0; pc < program->n_insns; pc++) {
        const struct exec_insn *insn = &program->code[pc];
        bool is_branch = insn->kind == EXEC_KIND_BRANCH || insn->kind == EXEC_KIND_BRANCH_INDEXED;
        regions->loop_of[pc] = EXEC_NO_LOOP;
        regions->meeting[pc] = is_branch ? insn->reconvergence : EXEC_NO_PC;
    }
    return regions;
}

void divergence_postdominators_free(struct exec_regions *regions) {
    if (!regions)
        return;
    free(regions->loop_of);
    free(regions->meeting);
    free(regions);
}
