// blackjack: the winnings of players who follow the basic strategy.
//
// The reference plays the same decks differently: hands are lists of cards that are counted each time, and the strategy
// is a table. Results are whole halves of a bet, so the check asks for equality.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

enum { DECK = 52, HALF_DECK = DECK / 2, DECK_WORDS = DECK / 4, MOST_CARDS = 21 };

static const struct workload_info info = {
    .name = "blackjack",
    .summary = "blackjack by the basic strategy, one player with a deck of cards per thread",
    .sizes = {"512 players, 1 deck each", "1,024 players, 16 decks each", "1,024 players, 128 decks each"},
};

// ---- Reference ----------------------------------------------------------------------------------------------------

struct table {
    uint32_t random;
    int n_left;
    int cards[DECK];
};

static int deal(struct table *t) {
    t->random ^= t->random << 13;
    t->random ^= t->random >> 17;
    t->random ^= t->random << 5;
    int chosen = (int)((uint64_t)t->random * (uint64_t)t->n_left >> 32), card = t->cards[chosen];
    t->cards[chosen] = t->cards[--t->n_left];
    t->cards[t->n_left] = card;
    return card;
}

struct cards {
    int n;
    int at[MOST_CARDS];
};

static void give(struct table *t, struct cards *c) { c->at[c->n++] = deal(t); }

// The best value of a hand; `soft` says whether an ace counts 11 in it.
static int count(const struct cards *c, bool *soft) {
    int sum = 0, n_aces = 0;
    for (int i = 0; i < c->n; i++) {
        sum += c->at[i] == 1 ? 11 : c->at[i];
        n_aces += c->at[i] == 1;
    }
    for (; sum > 21 && n_aces; n_aces--)
        sum -= 10;
    *soft = n_aces > 0;
    return sum;
}

static int points(const struct cards *c) {
    bool soft;
    return count(c, &soft);
}

// Columns: the dealer shows ace, 2, ..., 10. D doubles with two cards and hits with more.
static char advice(const struct cards *c, int shown) {
    static const char *const hard[] = {
        [9] = "HHDDDDHHHH",  [10] = "HDDDDDDDDH", [11] = "HDDDDDDDDD", [12] = "HHHSSSHHHH",
        [13] = "HSSSSSHHHH", [14] = "HSSSSSHHHH", [15] = "HSSSSSHHHH", [16] = "HSSSSSHHHH",
    };
    static const char *const soft_18 = "HSSSSSSSHH";
    bool soft;
    int total = count(c, &soft);
    if (soft)
        return total < 18 ? 'H' : total == 18 ? soft_18[shown - 1] : 'S';
    if (total < 9)
        return 'H';
    return total > 16 ? 'S' : hard[total][shown - 1];
}

// Returns the winnings, in halves of a bet.
static int round_reference(struct table *t) {
    struct cards player = {0}, house = {0};
    for (int i = 0; i < 2; i++) {
        give(t, &player);
        give(t, &house);
    }
    int player_natural = points(&player) == 21, house_natural = points(&house) == 21;
    if (player_natural + house_natural)
        return player_natural * 3 * (1 - house_natural) - house_natural * 2 * (1 - player_natural);
    int shown = house.at[0], bet = 2;
    for (char next = advice(&player, shown); next != 'S'; next = advice(&player, shown)) {
        bool is_last = next == 'D' && player.n == 2;
        give(t, &player);
        if (is_last) {
            bet = 4;
            break;
        }
    }
    if (points(&player) > 21)
        return -bet;
    while (points(&house) < 17)
        give(t, &house);
    int house_points = points(&house) > 21 ? 0 : points(&house);
    return bet * ((points(&player) > house_points) - (points(&player) < house_points));
}

// Adds the winnings and the number of rounds.
static void play_reference(uint32_t seed, int n_decks, int *won, int *n_rounds) {
    struct table t = {.random = seed};
    for (int card = 0; card < DECK; card++)
        t.cards[card] = card % 13 < 9 ? card % 13 + 1 : 10;
    for (int deck = 0; deck < n_decks; deck++)
        for (t.n_left = DECK; t.n_left >= HALF_DECK; ++*n_rounds)
            *won += round_reference(&t);
}

// ---- Device -------------------------------------------------------------------------------------------------------

// `results` gets each player's winnings, then each player's number of rounds.
static void play(const struct workload *w, const uint32_t *seeds, struct workload_shape shape, int n_players,
                 int n_decks, int *results) {
    size_t bytes = (size_t)n_players * sizeof(int);
    CUdeviceptr device_seeds = workload_upload(w, seeds, bytes), won = workload_device_alloc(w, 2 * bytes);
    CUdeviceptr n_rounds = won + bytes;
    unsigned shared_bytes = DECK_WORDS * (unsigned)sizeof(uint32_t) * shape.threads;
    workload_launch(w, "blackjack", (struct workload_grid){shape.blocks, 1, shape.threads, 1, shared_bytes},
                    (void *[]){&device_seeds, &won, &n_rounds, &n_players, &n_decks});
    workload_download(w, results, won, 2 * bytes);
    workload_device_free(w, device_seeds);
    workload_device_free(w, won);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    const int n_players = (int)workload_pick(&w, 512, 1024, 1024);
    const int n_decks = (int)workload_pick(&w, 1, 16, 128);
    size_t count_of_players = (size_t)n_players;
    uint32_t *seeds = workload_array(&w, count_of_players, sizeof *seeds);
    int *results = workload_array(&w, 2 * count_of_players, sizeof *results);
    int *expected = workload_array(&w, 2 * count_of_players, sizeof *expected);
    for (size_t i = 0; i < count_of_players; i++)
        seeds[i] = workload_random(&w) << 8 | 1; // the generator would stay at 0
    struct workload_shape shape = workload_shape(&w, count_of_players, 256);
    play(&w, seeds, shape, n_players, n_decks, results);

    struct workload_diff diff = {0};
    if (w.check) {
        for (size_t i = 0; i < count_of_players; i++)
            play_reference(seeds[i], n_decks, &expected[i], &expected[count_of_players + i]);
        diff = workload_diff_i32(results, expected, 2 * count_of_players);
    }
    long long won = 0, n_rounds = 0;
    for (size_t i = 0; i < count_of_players; i++) {
        won += results[i];
        n_rounds += results[count_of_players + i];
    }
    free(seeds);
    free(results);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%lld rounds, the players win %.2f %%, %u blocks of %u threads",
                           n_rounds, 50.0 * (double)won / (double)n_rounds, shape.blocks, shape.threads);
}
