// Blackjack, one player against the dealer per thread, each pair with its own deck of 52 cards in shared memory. Rules:
// the dealer stands on every 17, a natural pays 3 to 2, the player may double on the first two cards, no splitting. The
// player follows the basic strategy for these rules. Half of a deck is dealt before all cards are returned to it.
#include <heddle/device.h>

enum { DECK = 52, RESHUFFLE_BELOW = 26, DECK_WORDS = DECK / 4, ACE = 1, TEN = 10, BLACKJACK = 21 };

// Cards are their values, an ace 1. Word k of thread t is at [k * blockDim.x + t], so that threads use different banks.
struct dealer {
    unsigned char *cards;
    unsigned stride;
    unsigned n_left;
    unsigned random;
};

static __device__ __forceinline__ unsigned char *card_at(const dealer &d, unsigned i) {
    return d.cards + (i >> 2) * d.stride + (i & 3);
}

// G. Marsaglia, Xorshift RNGs (2003).
static __device__ __forceinline__ unsigned next_random(unsigned &state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

// Draws one of the remaining cards and moves it after them: a step of the Fisher-Yates shuffle.
static __device__ __forceinline__ int draw(dealer &d) {
    unsigned char *chosen = card_at(d, __umulhi(next_random(d.random), d.n_left));
    unsigned char *last = card_at(d, --d.n_left);
    int card = *chosen;
    *chosen = *last;
    *last = (unsigned char)card;
    return card;
}

struct hand {
    int hard; // aces count 1
    bool has_ace;
};

static __device__ __forceinline__ void take(hand &h, int card) {
    h.hard += card;
    h.has_ace |= card == ACE;
}

static __device__ __forceinline__ bool is_soft(const hand &h) { return h.has_ace && h.hard <= 11; }
static __device__ __forceinline__ int value(const hand &h) { return is_soft(h) ? h.hard + 10 : h.hard; }

static __device__ __forceinline__ bool doubles(const hand &h, int shown) {
    if (h.has_ace)
        return false;
    if (h.hard == 11)
        return shown != ACE;
    if (h.hard == 10)
        return shown != ACE && shown != TEN;
    return h.hard == 9 && shown >= 3 && shown <= 6;
}

static __device__ __forceinline__ bool hits(const hand &h, int shown) {
    if (is_soft(h))
        return h.hard < 8 || (h.hard == 8 && (shown == ACE || shown >= 9));
    if (h.hard <= 11)
        return true;
    if (h.hard >= 17)
        return false;
    if (h.hard == 12)
        return shown < 4 || shown > 6;
    return shown == ACE || shown > 6;
}

// Returns what the player wins, in halves of the bet.
static __device__ __forceinline__ int play_round(dealer &d) {
    hand player = {0, false}, house = {0, false};
    take(player, draw(d));
    int shown = draw(d);
    take(house, shown);
    take(player, draw(d));
    take(house, draw(d));
    bool player_natural = value(player) == BLACKJACK, house_natural = value(house) == BLACKJACK;
    if (player_natural || house_natural)
        return player_natural == house_natural ? 0 : player_natural ? 3 : -2;

    int bet = 2;
    if (doubles(player, shown)) {
        bet = 4;
        take(player, draw(d));
    } else {
#pragma unroll 1
        while (hits(player, shown))
            take(player, draw(d));
    }
    if (player.hard > BLACKJACK)
        return -bet;
#pragma unroll 1
    while (value(house) < 17)
        take(house, draw(d));
    int difference = value(player) - value(house);
    if (house.hard > BLACKJACK || difference > 0)
        return bet;
    return difference < 0 ? -bet : 0;
}

// Dynamic shared memory: DECK_WORDS words per thread. `won` gets halves of a bet.
extern "C" __global__ void blackjack(const unsigned *seeds, int *won, int *n_rounds, int n_players, int n_decks) {
    extern __shared__ unsigned decks[];
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_players; i += gridDim.x * blockDim.x) {
        dealer d = {(unsigned char *)(decks + threadIdx.x), blockDim.x * 4, DECK, seeds[i]};
        int sum = 0, rounds = 0;
#pragma unroll 1
        for (int card = 0; card < DECK; card++)
            *card_at(d, card) = (unsigned char)min(card % 13 + 1, TEN);
#pragma unroll 1
        for (int deck = 0; deck < n_decks; deck++) {
#pragma unroll 1
            for (d.n_left = DECK; d.n_left >= RESHUFFLE_BELOW; rounds++)
                sum += play_round(d);
        }
        won[i] = sum;
        n_rounds[i] = rounds;
    }
}
