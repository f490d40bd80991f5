// viterbi: decoding of a convolutional code after a channel that flips one bit in 32.
//
// More than one message can be equally likely, so the check does not compare bits: the decoded message, encoded again,
// must end in state 0 and differ from the received bits in as few bits as possible. That least distance comes from a
// search over the trellis from its end to its beginning.
#include "../common/workload.h"

#include <stdlib.h>

enum { STEPS_PER_WORD = 16, STEPS_PER_NOTE = 8, DATA_BITS_PER_WORD = 32 }; // as in kernel.cu
enum {
    SHORTEST = 128,
    LONGEST = 256,
    TAIL = 2,
    STATES = 4,
    WORDS = LONGEST / STEPS_PER_WORD,
    DATA_WORDS = LONGEST / 32
};
enum { BITS_OPTION = 0 };

static const struct workload_info info = {
    .name = "viterbi",
    .summary = "Viterbi decoding of packets, one packet per thread",
    .sizes = {"32,768 encoded bits", "524,288 encoded bits", "4,194,304 encoded bits"},
    .options = {[BITS_OPTION] = {"--bits", "N", "encoded bits", 2, 1 << 26}},
};

// Word k of packet i is at [k * n + i].
struct packets {
    int n;
    int *n_steps;       // a step is a data bit, of which the last TAIL are 0, or two encoded bits
    uint32_t *sent;     // data bits, the first lowest
    uint32_t *received; // pairs of encoded bits
};

// The pair of channel bits for a data bit when the two bits before it were `state`, the newer one in bit 0.
static unsigned encode(unsigned state, unsigned bit) {
    unsigned newer = state & 1, older = state >> 1;
    return (bit ^ newer ^ older) << 1 | (bit ^ older);
}

static unsigned noise(struct workload *w) { return workload_random(w) >> 8 & 31 ? 0 : 1; }

static unsigned bits_at(const uint32_t *words, const struct packets *p, int i, int first, unsigned n_bits) {
    return words[first / 32 * p->n + i] >> first % 32 & ((1u << n_bits) - 1);
}

static void send_packet(struct workload *w, struct packets *p, int i) {
    unsigned state = 0;
    for (int t = 0; t < p->n_steps[i]; t++) {
        unsigned bit = t < p->n_steps[i] - TAIL ? workload_random(w) >> 12 & 1 : 0;
        unsigned pair = encode(state, bit) ^ (noise(w) << 1 | noise(w));
        p->sent[t / 32 * p->n + i] |= bit << t % 32;
        p->received[t / STEPS_PER_WORD * p->n + i] |= pair << 2 * (t % STEPS_PER_WORD);
        state = (state << 1 | bit) & (STATES - 1);
    }
}

// Makes packets of random length until n_steps are used up; the last takes the rest.
static struct packets make_packets(struct workload *w, int n_steps) {
    size_t most = (size_t)(n_steps / SHORTEST + 1);
    struct packets p = {0, workload_array(w, most, sizeof *p.n_steps), NULL, NULL};
    while (n_steps > 0) {
        int length = SHORTEST + (int)(workload_random(w) >> 8) % (LONGEST - SHORTEST + 1);
        p.n_steps[p.n] = length < n_steps ? length : n_steps;
        n_steps -= p.n_steps[p.n++];
    }
    p.sent = workload_array(w, (size_t)p.n * DATA_WORDS, sizeof *p.sent);
    p.received = workload_array(w, (size_t)p.n * WORDS, sizeof *p.received);
    for (int i = 0; i < p.n; i++)
        send_packet(w, &p, i);
    return p;
}

static void decode(const struct workload *w, struct packets *p, struct workload_shape shape, uint32_t *data) {
    size_t n = (size_t)p->n, data_bytes = n * DATA_WORDS * sizeof *data;
    CUdeviceptr received = workload_upload(w, p->received, n * WORDS * sizeof *p->received);
    CUdeviceptr n_steps = workload_upload(w, p->n_steps, n * sizeof *p->n_steps);
    CUdeviceptr device_data = workload_device_alloc(w, data_bytes);
    unsigned shared_bytes = LONGEST / STEPS_PER_NOTE * (unsigned)sizeof(uint32_t) * shape.threads;
    WORKLOAD_CUDA(w, cuMemsetD8(device_data, 0, data_bytes));
    workload_launch(w, "viterbi", (struct workload_grid){shape.blocks, 1, shape.threads, 1, shared_bytes},
                    (void *[]){&received, &n_steps, &device_data, &p->n});
    workload_download(w, data, device_data, data_bytes);
    workload_device_free(w, received);
    workload_device_free(w, n_steps);
    workload_device_free(w, device_data);
}

// Returns the number of received bits that differ from this message, encoded; -1 if it does not end in state 0.
static int distance_of(const struct packets *p, const uint32_t *data, int i) {
    unsigned state = 0;
    int distance = 0;
    for (int t = 0; t < p->n_steps[i]; t++) {
        unsigned bit = bits_at(data, p, i, t, 1);
        distance += __builtin_popcount(encode(state, bit) ^ bits_at(p->received, p, i, 2 * t, 2));
        state = (state << 1 | bit) & (STATES - 1);
    }
    return state ? -1 : distance;
}

// The least number of differing bits from each state at step t to state 0 at the end, for t from the end back to 0.
static int least_distance(const struct packets *p, int i) {
    int cost[STATES] = {0, LONGEST * 2, LONGEST * 2, LONGEST * 2};
    for (int t = p->n_steps[i] - 1; t >= 0; t--) {
        int before[STATES];
        unsigned pair = bits_at(p->received, p, i, 2 * t, 2);
        for (unsigned s = 0; s < STATES; s++) {
            int with_0 = cost[s << 1 & 3] + __builtin_popcount(encode(s, 0) ^ pair);
            int with_1 = cost[(s << 1 & 3) | 1] + __builtin_popcount(encode(s, 1) ^ pair);
            before[s] = with_0 < with_1 ? with_0 : with_1;
        }
        for (int s = 0; s < STATES; s++)
            cost[s] = before[s];
    }
    return cost[0];
}

static struct workload_diff compare(const struct workload *w, const struct packets *p, const uint32_t *data) {
    size_t n = (size_t)p->n;
    int *got = workload_array(w, n, sizeof *got), *expected = workload_array(w, n, sizeof *expected);
    for (int i = 0; i < p->n; i++) {
        got[i] = distance_of(p, data, i);
        expected[i] = least_distance(p, i);
    }
    struct workload_diff diff = workload_diff_i32(got, expected, n);
    free(got);
    free(expected);
    return diff;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n_steps = (int)workload_pick(&w, 1 << 14, 1 << 18, 1 << 21);
    if (w.option[BITS_OPTION].text)
        n_steps = (int)(w.option[BITS_OPTION].number / 2);
    struct packets p = make_packets(&w, n_steps);
    uint32_t *data = workload_array(&w, (size_t)p.n * DATA_WORDS, sizeof *data);
    struct workload_shape shape = workload_shape(&w, (size_t)p.n, 128);
    decode(&w, &p, shape, data);

    struct workload_diff diff = {0};
    if (w.check)
        diff = compare(&w, &p, data);
    int n_wrong = 0;
    for (size_t k = 0; k < (size_t)p.n * DATA_WORDS; k++)
        n_wrong += __builtin_popcount(data[k] ^ p.sent[k]);
    free(p.n_steps);
    free(p.sent);
    free(p.received);
    free(data);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%d packets, %d of %d data bits not as sent, %u blocks of %u threads", p.n, n_wrong, n_steps,
                           shape.blocks, shape.threads);
}
