/* See pace.h. */
#include "gpu/pace.h"

enum {
    PAIRS = 4,       /* windows of each number of threads in a comparison */
    WINS = 3,        /* of these the other number must have won, to be chosen */
    LEAST_ROUNDS = 4 /* in a window */
};
static const double WINDOW_SECONDS = 0.002, REST_SECONDS = 0.05, MOST_REST_SECONDS = 1.6, GAIN = 1.03;

void gpu_pace_init(struct gpu_pace *pace, uint32_t most) {
    *pace = (struct gpu_pace){0};
    for (uint32_t n = 1; n < most && pace->n_levels < GPU_PACE_LEVELS - 1; n *= 2)
        pace->level[pace->n_levels++] = n;
    pace->level[pace->n_levels++] = most;
    pace->best = pace->other = pace->n_levels - 1;
}

/* Begins a comparison with the next number of threads, in the other direction if there is none in this one. */
static void begin_comparison(struct gpu_pace *pace) {
    if (pace->best + 1 == pace->n_levels)
        pace->goes_up = false;
    else if (pace->best == 0)
        pace->goes_up = true;
    pace->other = pace->goes_up ? pace->best + 1 : pace->best - 1;
    pace->is_other = true;
    pace->n_windows = pace->n_wins = 0;
    pace->rate[0] = pace->rate[1] = 0;
}

static void end_comparison(struct gpu_pace *pace) {
    bool has_won = pace->n_wins >= WINS && pace->rate[1] > GAIN * pace->rate[0];
    if (has_won) {
        pace->best = pace->other;
        pace->n_losses = 0;
        pace->rest = 0; /* one further may be better still */
    } else {
        pace->goes_up = !pace->goes_up;
        double rest = REST_SECONDS;
        for (uint32_t i = 0; i < pace->n_losses / 2 && rest < MOST_REST_SECONDS; i++)
            rest *= 2;
        pace->rest = rest;
        pace->n_losses++;
    }
    pace->other = pace->best;
    pace->is_other = false;
}

/* Adds a window to the comparison. The other number runs first in each pair. */
static void add_window(struct gpu_pace *pace, double rate) {
    pace->rate[pace->is_other] += rate;
    pace->n_wins += !pace->is_other && pace->last_rate > rate;
    pace->last_rate = rate;
    pace->is_other = !pace->is_other;
    if (++pace->n_windows == 2 * PAIRS)
        end_comparison(pace);
}

bool gpu_pace_add(struct gpu_pace *pace, uint32_t n_rounds, double work, double seconds) {
    uint32_t before = gpu_pace_threads(pace);
    pace->n_rounds += n_rounds;
    pace->work += work;
    pace->seconds += seconds;
    if (pace->n_levels == 1 || pace->n_rounds < LEAST_ROUNDS || pace->seconds < WINDOW_SECONDS)
        return false;
    if (pace->other != pace->best)
        add_window(pace, pace->work / pace->seconds);
    else
        pace->rest -= pace->seconds;
    if (pace->other == pace->best && pace->rest <= 0)
        begin_comparison(pace);
    pace->n_rounds = 0;
    pace->work = pace->seconds = 0;
    return gpu_pace_threads(pace) != before;
}
