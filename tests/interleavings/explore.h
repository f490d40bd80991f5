/* Runs a few threads under every interleaving of their steps.
 *
 * The code under test is the real source file: threads.h replaces the operations of <stdatomic.h> and <pthread.h> by
 * those below, and a test then includes the file. The threads are coroutines on one host thread. A step is one such
 * operation with the code up to the next one. The explorer keeps the memory and the stacks of every state that it
 * meets, continues from it with each thread that can run, and does not continue from a state it has met before. Loops
 * that poll therefore end, and every reachable state is visited.
 *
 * It reports a check that fails, a state in which no thread can run although some have not ended (a deadlock), and a
 * state from which the end cannot be reached (threads that poll for ever). The shortest way there comes with it.
 *
 * The interleavings are those of sequentially consistent operations. C promises no others to a program whose atomic
 * operations are all sequentially consistent and that has no data race; ThreadSanitizer looks for those (tools/gate
 * tsan). For relaxed operations the order of each single word is exact, and nothing beyond it is. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct explore_result {
    size_t n_states, n_steps;
    const char *failure; /* NULL: none */
};

/* Runs main_thread() and the threads that it starts. Prints the way to a failure unless one is expected. */
struct explore_result explore(void (*main_thread)(void), bool is_expected);
/* Part of every state, besides stacks and explore_allocate(). Call it before explore(), which forgets it. */
void explore_watch(void *memory, size_t bytes);

/* For the code under test, and what threads.h makes of it. */
#define EXPLORE_CHECK(holds) explore_check((holds), __FILE__, __LINE__, #holds)
void explore_check(bool holds, const char *file, int line, const char *text);
void explore_point(const char *what, int line);                  /* other threads may run before the next operation */
unsigned explore_choose(unsigned n, const char *what, int line); /* every number below n, each in its turn */
void *explore_allocate(size_t bytes);                            /* zeroed; nothing is ever freed */
int explore_start(unsigned long *thread, void *(*body)(void *), void *user, int line);
void explore_join(unsigned long thread, int line);
void explore_lock(int *mutex, int line);
void explore_unlock(int *mutex);
void explore_wait(const void *condition, int *mutex, int line);
void explore_wake(const void *condition, int line);
