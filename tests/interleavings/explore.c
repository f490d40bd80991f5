/* See explore.h. */
#include "explore.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
    THREADS = 6,
    STACK_BYTES = 1 << 16,
    MEMORY_BYTES = 1 << 17,
    REGIONS = 16,
    YIELD_FRAME_BYTES = 256,
    UNUSED_BYTES = 1024
};

struct thread {
    void *(*body)(void *);
    void *user;
    int is_alive, is_asleep;
    const void *condition; /* on which it sleeps */
    const int *until;      /* it can run when this is 0; NULL: always */
    unsigned n_choices;
    unsigned char *low; /* its stack is from here to the end */
    const char *what;   /* its next operation */
    int line;
    jmp_buf resume;
};

/* What a state consists of, with the stacks and the watched memory. */
static struct {
    struct thread thread[THREADS];
    unsigned n_threads;
    size_t n_memory; /* bytes in use */
} world;
static _Alignas(64) unsigned char memory[MEMORY_BYTES];
static _Alignas(64) unsigned char stack[THREADS][STACK_BYTES];

static struct {
    unsigned char *begin;
    size_t bytes;
} region[REGIONS];
static unsigned n_regions;

static jmp_buf explorer;
static unsigned current, choice;
static char failure[256];

/* --- the side of the code under test --- */

/* Back to the explorer, which comes here again when it wants this thread to continue. */
static __attribute__((noinline)) void leave(void) {
    struct thread *self = &world.thread[current];
#if defined(__x86_64__)
    __asm__ volatile("mov %%rsp, %0" : "=r"(self->low));
#else
    self->low = (unsigned char *)__builtin_frame_address(0) - YIELD_FRAME_BYTES;
#endif
    if (_setjmp(self->resume) == 0)
        _longjmp(explorer, 1);
}

static void pause_until(const int *until, unsigned n_choices, const char *what, int line) {
    struct thread *self = &world.thread[current];
    self->until = until;
    self->n_choices = n_choices;
    self->what = what;
    self->line = line;
    leave();
}

void explore_check(bool holds, const char *file, int line, const char *text) {
    if (holds)
        return;
    snprintf(failure, sizeof failure, "%s:%d: does not hold: %s", file, line, text);
    _longjmp(explorer, 1);
}

void explore_point(const char *what, int line) { pause_until(NULL, 1, what, line); }

unsigned explore_choose(unsigned n, const char *what, int line) {
    pause_until(NULL, n, what, line);
    return choice;
}

void *explore_allocate(size_t bytes) {
    size_t begin = (world.n_memory + 63) & ~(size_t)63;
    if (begin + bytes > MEMORY_BYTES)
        abort();
    world.n_memory = begin + bytes;
    return memset(memory + begin, 0, bytes);
}

int explore_start(unsigned long *thread, void *(*body)(void *), void *user, int line) {
    explore_point("start a thread", line);
    if (world.n_threads == THREADS)
        abort();
    *thread = world.n_threads;
    world.thread[world.n_threads++] =
        (struct thread){.body = body, .user = user, .is_alive = 1, .n_choices = 1, .what = "begin"};
    return 0;
}

void explore_join(unsigned long thread, int line) {
    pause_until(&world.thread[thread].is_alive, 1, "wait for the end of a thread", line);
}

void explore_lock(int *mutex, int line) {
    pause_until(mutex, 1, "lock", line);
    *mutex = 1;
}

/* No point of its own: nothing that another thread can do before an unlock differs from doing it before the step that
 * leads to it. */
void explore_unlock(int *mutex) { *mutex = 0; }

void explore_wait(const void *condition, int *mutex, int line) {
    explore_point("sleep", line);
    struct thread *self = &world.thread[current];
    *mutex = 0;
    self->condition = condition;
    self->is_asleep = 1;
    pause_until(&self->is_asleep, 1, "wake up", line);
    explore_lock(mutex, line);
}

void explore_wake(const void *condition, int line) {
    explore_point("wake the others", line);
    for (unsigned i = 0; i < world.n_threads; i++)
        if (world.thread[i].condition == condition)
            world.thread[i].is_asleep = 0;
}

static void begin_thread(void) {
    struct thread *self = &world.thread[current];
    self->body(self->user);
    self = &world.thread[current];
    self->is_alive = 0;
    self->low = NULL;
    _longjmp(explorer, 1);
}

/* --- states --- */

struct node {
    uint32_t parent;
    uint8_t thread, choice;
    bool ends; /* the end can be reached from here */
    unsigned char *snapshot;
};

static struct node *node;
static size_t n_nodes, n_node_capacity;
static struct edge { uint32_t from, to; } * edge;
static size_t n_edges, n_edge_capacity;
static struct entry {
    uint64_t key[2];
    uint32_t node; /* + 1 */
} * table;
static size_t n_table;

/* Calls visit() for all bytes of the state. */
static void visit_state(void (*visit)(void *user, void *bytes, size_t n), void *user) {
    visit(user, &world, sizeof world); /* first: the rest depends on it */
    visit(user, memory, world.n_memory);
    for (unsigned i = 0; i < n_regions; i++)
        visit(user, region[i].begin, region[i].bytes);
    for (unsigned i = 0; i < world.n_threads; i++)
        if (world.thread[i].low)
            visit(user, world.thread[i].low, (size_t)(stack[i] + STACK_BYTES - world.thread[i].low));
}

static void count_bytes(void *user, void *bytes, size_t n) {
    (void)bytes;
    *(size_t *)user += n;
}

static void save_bytes(void *user, void *bytes, size_t n) {
    unsigned char **to = user;
    memcpy(*to, bytes, n);
    *to += n;
}

static void restore_bytes(void *user, void *bytes, size_t n) {
    const unsigned char **from = user;
    memcpy(bytes, *from, n);
    *from += n;
}

static void hash_bytes(void *user, void *bytes, size_t n) {
    uint64_t *key = user;
    key[0] = base_hash(bytes, n, key[0]);
    key[1] = base_hash(bytes, n, key[1]);
}

static void *grow(void *array, size_t n, size_t *capacity, size_t bytes) {
    if (n < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : 1024;
    return base_grow(array, *capacity, bytes);
}

static struct entry *find(const uint64_t key[2]) {
    size_t i = key[0] & (n_table - 1);
    while (table[i].node && (table[i].key[0] != key[0] || table[i].key[1] != key[1]))
        i = (i + 1) & (n_table - 1);
    return &table[i];
}

static void grow_table(void) {
    struct entry *old = table;
    size_t n_old = n_table;
    n_table = n_old ? 2 * n_old : 4096;
    table = base_allocate(n_table, sizeof *table);
    for (size_t i = 0; i < n_old; i++)
        if (old[i].node)
            *find(old[i].key) = old[i];
    free(old);
}

/* Adds the present state unless it is known. Returns its number. */
static uint32_t add_state(uint32_t parent, unsigned thread, unsigned with) {
    uint64_t key[2] = {1, 2};
    visit_state(hash_bytes, key);
    if (2 * n_nodes >= n_table)
        grow_table();
    struct entry *entry = find(key);
    if (!entry->node) {
        *entry = (struct entry){{key[0], key[1]}, (uint32_t)n_nodes + 1};
        node = grow(node, n_nodes, &n_node_capacity, sizeof *node);
        size_t bytes = 0;
        visit_state(count_bytes, &bytes);
        unsigned char *snapshot = base_allocate(bytes, 1), *to = snapshot;
        visit_state(save_bytes, &to);
        node[n_nodes++] = (struct node){parent, (uint8_t)thread, (uint8_t)with, false, snapshot};
    }
    return entry->node - 1;
}

static void restore(const unsigned char *snapshot) {
    const unsigned char *from = snapshot;
    visit_state(restore_bytes, &from);
}

/* Lets a thread do its next step. Returns false if a check has failed. */
static bool step(unsigned thread, unsigned with) {
    current = thread;
    choice = with;
    failure[0] = '\0';
    /* Variables that the step leaves unset must not make two states of one. */
    unsigned char *end = world.thread[thread].low ? world.thread[thread].low : stack[thread] + STACK_BYTES;
    memset(end - UNUSED_BYTES, 0, UNUSED_BYTES);
    if (_setjmp(explorer) == 0) {
        if (world.thread[thread].low)
            _longjmp(world.thread[thread].resume, 1);
        static ucontext_t start;
        getcontext(&start);
        start.uc_stack.ss_sp = stack[thread];
        start.uc_stack.ss_size = STACK_BYTES;
        makecontext(&start, begin_thread, 0);
        setcontext(&start);
    }
    return !failure[0];
}

static bool can_run(const struct thread *thread) { return thread->is_alive && !(thread->until && *thread->until); }

/* --- the search --- */

static void print_step(unsigned thread, unsigned with) {
    fprintf(stderr, "  thread %u, line %d: %s%s\n", thread, world.thread[thread].line, world.thread[thread].what,
            with ? ", fails for no reason" : "");
}

/* Repeats the way to a state and prints it. */
static void print_way(uint32_t to) {
    if (to == 0) {
        restore(node[0].snapshot);
        return;
    }
    print_way(node[to].parent);
    print_step(node[to].thread, node[to].choice);
    step(node[to].thread, node[to].choice);
}

/* Keeps the failure, and prints it with the way to it unless it is expected. */
static void report(const char *what, uint32_t at, bool is_expected) {
    static char text[sizeof failure];
    snprintf(text, sizeof text, "%s", what);
    if (!is_expected) {
        fprintf(stderr, "%s\n", text);
        print_way(at);
    }
    memcpy(failure, text, sizeof failure); /* repeating the way has cleared it */
}

/* Marks the states from which the end can be reached. Returns one from which it cannot, or 0. */
static uint32_t find_endless(void) {
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t i = n_edges; i-- > 0;)
            if (node[edge[i].to].ends && !node[edge[i].from].ends)
                node[edge[i].from].ends = has_changed = true;
    }
    for (uint32_t i = 0; i < n_nodes; i++)
        if (!node[i].ends)
            return i + 1;
    return 0;
}

/* Continues from a state with every thread that can run. */
static bool expand(uint32_t at, bool is_expected) {
    unsigned n_run = 0, n_alive = 0, n_threads;
    restore(node[at].snapshot);
    n_threads = world.n_threads;
    for (unsigned t = 0; t < n_threads; t++) {
        restore(node[at].snapshot);
        n_alive += world.thread[t].is_alive != 0;
        if (!can_run(&world.thread[t]))
            continue;
        n_run++;
        for (unsigned c = 0, n = world.thread[t].n_choices; c < n; c++) {
            restore(node[at].snapshot);
            if (!step(t, c)) {
                report(failure, at, is_expected);
                restore(node[at].snapshot);
                if (!is_expected)
                    print_step(t, c);
                return false;
            }
            uint32_t to = add_state(at, t, c);
            edge = grow(edge, n_edges, &n_edge_capacity, sizeof *edge);
            edge[n_edges++] = (struct edge){at, to};
        }
    }
    if (!n_run && n_alive) {
        report("a deadlock: no thread can run", at, is_expected);
        return false;
    }
    node[at].ends = !n_alive;
    return true;
}

static void *run_main(void *user) {
    void (*const *main_thread)(void) = user;
    (*main_thread)();
    return NULL;
}

void explore_watch(void *bytes, size_t n) {
    if (n_regions == REGIONS)
        abort();
    region[n_regions].begin = bytes;
    region[n_regions++].bytes = n;
}

struct explore_result explore(void (*main_thread)(void), bool is_expected) {
    static void (*body)(void);
    body = main_thread;
    n_nodes = n_edges = 0;
    if (table)
        memset(table, 0, n_table * sizeof *table);
    memset(&world, 0, sizeof world);
    world.n_threads = 1;
    world.thread[0] = (struct thread){.body = run_main, .user = &body, .is_alive = 1, .n_choices = 1, .what = "begin"};
    failure[0] = '\0';
    add_state(0, 0, 0);
    size_t i = 0;
    while (i < n_nodes && expand((uint32_t)i, is_expected)) {
        if (i > 0) { /* the first is needed to print a way */
            free(node[i].snapshot);
            node[i].snapshot = NULL;
        }
        i++;
    }
    uint32_t endless = failure[0] ? 0 : find_endless();
    if (endless)
        report("threads that never end: from here the end cannot be reached", endless - 1, is_expected);
    struct explore_result result = {n_nodes, n_edges, failure[0] ? failure : NULL};
    for (i = 0; i < n_nodes; i++)
        free(node[i].snapshot);
    n_regions = 0;
    return result;
}
