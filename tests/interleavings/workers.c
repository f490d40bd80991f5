/* Runs gpu/workers.c under every interleaving. In each round every task runs once, with that round's work and
 * argument, and has ended when gpu_workers_run() returns. Threads that sleep are woken, and all threads end. */
#include <stdint.h>
#include <stdio.h>

#include "threads.h"

/* Small numbers, so that the loops that poll have few states. Their order is that of the real ones. */
#define POLLS 2
#define YIELDS 1
#define IDLE_POLLS 1
#define PATIENT_POLLS 1
#define SEVERAL 2

#include "gpu/workers.c"

enum { MOST_ROUNDS = 3, MOST_PIECES = 8 };

/* One way of using the pool. */
static struct plan { uint32_t n_threads, n_rounds, count[MOST_ROUNDS]; } plan;

/* What a round has seen; part of the state. */
struct seen {
    uint32_t number, is_open;
    uint32_t n_begun[MOST_PIECES], n_ended[MOST_PIECES];
};

static void run_piece(void *user, uint32_t i, uint32_t thread) {
    struct seen *seen = user;
    EXPLORE_CHECK(thread < plan.n_threads);
    EXPLORE_CHECK(seen->is_open);
    EXPLORE_CHECK(i < plan.count[seen->number]);
    EXPLORE_CHECK(++seen->n_begun[i] == 1);
    explore_point("in a piece", __LINE__);
    EXPLORE_CHECK(seen->is_open);
    seen->n_ended[i]++;
}

static void use_pool(void) {
    struct gpu_workers *workers = gpu_workers_new(plan.n_threads);
    struct seen *seen = explore_allocate(MOST_ROUNDS * sizeof *seen);
    for (uint32_t r = 0; r < plan.n_rounds; r++) {
        seen[r].number = r;
        seen[r].is_open = 1;
        gpu_workers_run(workers, run_piece, &seen[r], plan.count[r]);
        for (uint32_t i = 0; i < plan.count[r]; i++)
            EXPLORE_CHECK(seen[r].n_ended[i] == 1);
        seen[r].is_open = 0;
    }
    gpu_workers_free(workers);
}

static bool explore_plan(bool fails) {
    struct explore_result result = explore(use_pool, fails);
    printf("%u threads, rounds of", plan.n_threads);
    for (uint32_t r = 0; r < plan.n_rounds; r++)
        printf(" %u", plan.count[r]);
    printf(" pieces: %zu states, %zu steps: %s\n", result.n_states, result.n_steps,
           result.failure ? result.failure : "all hold");
    return !result.failure != fails;
}

/* The plans of the suite. With three rounds a thread can sleep through a whole one. */
static const struct plan plans[] = {{2, 3, {2, 0, 3}}, {2, 3, {3, 1, 4}}, {3, 1, {4}}};

/* workers THREADS PIECES...: another plan. More pieces on three threads take minutes. */
int main(int argc, char **argv) {
    bool is_good = true, fails = false;
#if defined(SPLIT_EXCHANGE) || defined(NO_WAKING)
    fails = true;
#endif
    if (argc > 2) {
        plan = (struct plan){(uint32_t)atoi(argv[1]), 0, {0}};
        for (int i = 2; i < argc && plan.n_rounds < MOST_ROUNDS; i++)
            plan.count[plan.n_rounds++] = (uint32_t)atoi(argv[i]);
        return explore_plan(fails) ? 0 : 1;
    }
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        plan = plans[i];
        is_good &= explore_plan(fails);
    }
    return is_good ? 0 : 1;
}
