/* @NAME@: a warp scheduler of your own. heddle/scheduler.h says what each hook is for and what a scheduler may look at.
 *
 *     make                      builds @NAME@.so; so does
 *     cc -O2 -shared -fPIC -I @INCLUDE@ @NAME@.c -o @NAME@.so
 *     heddle check ./@NAME@.so     tries it on random programs
 *     heddle compare bfs -s lrr -s gto -s ./@NAME@.so:length=8
 *
 * To start with: round robin in which a warp issues up to `length` instructions in a row. */
#include <heddle/scheduler.h>

/* What a user may set: -s ./@NAME@.so:length=8. */
struct options {
    uint32_t length;
};

static const struct config_plugin_option option_table[] = {
    {"length", CONFIG_PLUGIN_UINT, offsetof(struct options, length), 4, 1, 1000000, NULL,
     "instructions that a warp issues in a row"},
    {0},
};

/* What it remembers; one for each scheduler of each SM, zeroed before start(). */
struct state {
    uint32_t length;
    uint32_t turn; /* the slot that issued last */
    uint32_t left; /* what it may issue before the next */
};

static void start(void *memory, const void *options, uint32_t n_slots) {
    struct state *state = memory;
    (void)n_slots;
    state->length = ((const struct options *)options)->length;
    state->turn = SCHED_MAX_SLOTS - 1; /* slot 0 is next */
}

/* A new warp in the slot does not inherit the rest. */
static void leave(void *memory, const struct sched_view *view, uint32_t slot) {
    struct state *state = memory;
    (void)view;
    if (slot == state->turn)
        state->left = 0;
}

/* Returns one of the candidates, which are never empty. */
static int pick(void *memory, const struct sched_view *view, const struct sched_set *candidates) {
    const struct state *state = memory;
    (void)view;
    if (state->left && sched_has(candidates, state->turn))
        return (int)state->turn;
    return sched_next(candidates, state->turn + 1);
}

static void issued(void *memory, const struct sched_view *view, uint32_t slot) {
    struct state *state = memory;
    (void)view;
    state->left = slot == state->turn && state->left ? state->left - 1 : state->length - 1;
    state->turn = slot;
}

static const struct sched_ops table = {
    .name = "@NAME@",
    .help = "round robin in which a warp issues several instructions in a row",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .state_bytes = sizeof(struct state),
    .start = start,
    .leave = leave,
    .pick = pick,
    .issued = issued,
    .sm_bits = 7 + 20, /* storage, for `heddle cost`: the turn, and how many are left; .warp_bits: more for each warp */
};

HEDDLE_SCHEDULER(table);
