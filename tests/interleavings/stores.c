/* Runs the claims of exec/memory/stores.c under every interleaving. Three SMs store at the same time. Then they write
 * the stores whose order does not matter, again at the same time, and finally the rest in the order (cycle, SM). Memory
 * must be as if all stores had been written in that order. */
#include <stdint.h>
#include <stdio.h>

#include "base/memory.h"
#include "exec/internal.h"
#include "threads.h"

#include "exec/memory/stores.c"

#ifdef SPLIT_EXCHANGE /* a defect; two SMs show it */
enum { SMS = 2 };
#else
enum { SMS = 3 };
#endif
enum { STORES = 3, LANES = 2, WORDS = 3 * 32, ADDRESS = 1 << 16, CYCLES = 4 };

/* One store: lane l writes `value` to word[l]; a word of the same 128 bytes is in the same chunk. */
struct plan {
    uint32_t cycle, word[LANES], value;
};

/* Some meet at word 0, others only in the chunk of words 32 to 63, and SM 0 stores over its own store. */
static const struct plan plans[3][STORES] = {
    {{0, {0, 32}, 1}, {1, {32, 64}, 2}, {2, {64, 65}, 3}},
    {{0, {0, 0}, 4}, {1, {40, 40}, 5}},
    {{1, {0, 1}, 6}},
};

static uint32_t word[WORDS];
static struct exec_memory device;
static struct exec_grid grid;
static struct exec_context context[SMS];
static struct exec_stores own[SMS];
static struct exec_claims claims;

/* A fixed place for each: the growing arrays of exec_stores would be memory that the explorer does not keep. */
static struct exec_store room[SMS][STORES];
static unsigned char values[SMS][STORES * 1024];

static void *store_all(void *user) {
    struct exec_context *cx = user;
    uint32_t sm = cx->stores->sm;
    for (uint32_t i = 0; i < STORES && plans[sm][i].value; i++) {
        struct exec_view view = {.pattern = EXEC_PATTERN_LANES};
        for (uint32_t l = 0; l < LANES; l++)
            cx->address[l] = ADDRESS + 4 * plans[sm][i].word[l];
        cx->time = plans[sm][i].cycle;
        exec_stores_view(cx, 3, 3, 4, true, &view);
        for (uint32_t l = 0; l < LANES; l++)
            *(uint32_t *)exec_place(view.places, l) = plans[sm][i].value;
    }
    return NULL;
}

static void *apply_free(void *user) {
    struct exec_context *cx = user;
    exec_stores_apply_free(cx->stores, &device);
    return NULL;
}

/* Runs body() for each SM, all at the same time. */
static void run_all(void *(*body)(void *)) {
    unsigned long thread[SMS];
    for (uint32_t i = 1; i < SMS; i++)
        explore_start(&thread[i], body, &context[i], __LINE__);
    body(&context[0]);
    for (uint32_t i = 1; i < SMS; i++)
        explore_join(thread[i], __LINE__);
}

static void expect(uint32_t *expected) {
    memset(expected, 0, sizeof word);
    for (uint32_t cycle = 0; cycle < CYCLES; cycle++)
        for (uint32_t sm = 0; sm < SMS; sm++)
            for (uint32_t i = 0; i < STORES; i++)
                for (uint32_t l = 0; l < LANES; l++)
                    if (plans[sm][i].value && plans[sm][i].cycle == cycle)
                        expected[plans[sm][i].word[l]] = plans[sm][i].value;
}

static void store_at_once(void) {
    uint32_t expected[WORDS];
    run_all(store_all);
    run_all(apply_free);
    for (uint32_t cycle = 0; cycle < CYCLES; cycle++)
        for (uint32_t sm = 0; sm < SMS; sm++)
            exec_stores_apply(&own[sm], &device, cycle);
    expect(expected);
    for (uint32_t i = 0; i < WORDS; i++)
        EXPLORE_CHECK(word[i] == expected[i]);
}

static void watch_claim(uint32_t first_word) {
    explore_watch(claim_at(&claims, (ADDRESS + 4 * first_word) >> CHUNK_SHIFT), sizeof(atomic_uint));
}

int main(void) {
    device.delta = (ptrdiff_t)((uintptr_t)word - ADDRESS);
    grid.memory = &device;
    claims.round = 1;
    for (uint32_t i = 0; i < SMS; i++) {
        own[i] = (struct exec_stores){.claims = &claims,
                                      .sm = i,
                                      .capacity = STORES,
                                      .store = room[i],
                                      .data = values[i],
                                      .data_capacity = sizeof values[i]};
        context[i].grid = &grid;
        context[i].stores = &own[i];
        explore_watch(context[i].address, LANES * sizeof *context[i].address);
    }
    explore_watch(word, sizeof word);
    explore_watch(own, sizeof own);
    explore_watch(room, sizeof room);
    explore_watch(values, sizeof values);
    for (uint32_t i = 0; i < WORDS; i += 32)
        watch_claim(i);
    bool fails = SMS == 2;
    struct explore_result result = explore(store_at_once, fails);
    printf("%zu states, %zu steps: %s\n", result.n_states, result.n_steps,
           result.failure ? result.failure : "all hold");
    return !result.failure != fails ? 0 : 1;
}
