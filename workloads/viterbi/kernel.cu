// Viterbi decoding of packets, one packet per thread. The code is convolutional, of rate 1/2 and constraint length 3,
// with the generators 7 and 5 (octal): a data bit becomes two channel bits, and the encoder's state is the last two
// data bits. The thread walks through the trellis of four states with its metrics in registers and records in shared
// memory which of its two predecessors each state came from, four bits per step; then it walks back from state 0, where
// packets end.
#include <heddle/device.h>

enum { STATES = 4, STEPS_PER_NOTE = 8, STEPS_PER_WORD = 16, DATA_BITS_PER_WORD = 32, FAR = 1 << 20 };

// One step: a state's newest data bit is its bit 0; it can be reached from states (state >> 1) and (state >> 1) + 2.
// The four branch metrics are the channel bits that differ between the pair received and 00, 01, 10, 11. Returns the
// notes.
static __device__ __forceinline__ unsigned step(int metric[STATES], unsigned received) {
    int from_00 = __popc(received), from_01 = __popc(received ^ 1), from_10 = 2 - from_01, from_11 = 2 - from_00;
    int low[STATES] = {metric[0] + from_00, metric[0] + from_11, metric[1] + from_10, metric[1] + from_01};
    int high[STATES] = {metric[2] + from_11, metric[2] + from_00, metric[3] + from_01, metric[3] + from_10};
    unsigned notes = 0;
#pragma unroll
    for (int s = 0; s < STATES; s++) {
        notes |= high[s] < low[s] ? 1u << s : 0;
        metric[s] = min(low[s], high[s]);
    }
    return notes;
}

// Word k of packet i is at [k * n_packets + i] in `received` (two bits per step, the first step lowest) and in `data`.
// Dynamic shared memory: for each thread a word for each STEPS_PER_NOTE steps of the longest packet.
extern "C" __global__ void viterbi(const unsigned *received, const int *n_steps, unsigned *data, int n_packets) {
    extern __shared__ unsigned all_notes[];
    unsigned *notes = all_notes + threadIdx.x;
    int stride = blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_packets; i += gridDim.x * blockDim.x) {
        int n = n_steps[i], metric[STATES] = {0, FAR, FAR, FAR};
        unsigned symbols = 0, note = 0;
#pragma unroll 1
        for (int t = 0; t < n; t++) {
            if (t % STEPS_PER_WORD == 0)
                symbols = received[t / STEPS_PER_WORD * n_packets + i];
            note |= step(metric, symbols & 3) << 4 * (t % STEPS_PER_NOTE);
            symbols >>= 2;
            if (t % STEPS_PER_NOTE == STEPS_PER_NOTE - 1 || t == n - 1) {
                notes[t / STEPS_PER_NOTE * stride] = note;
                note = 0;
            }
        }
        unsigned state = 0, bits = 0;
#pragma unroll 1
        for (int t = n - 1; t >= 0; t--) {
            unsigned came_from_high = notes[t / STEPS_PER_NOTE * stride] >> (4 * (t % STEPS_PER_NOTE) + state) & 1;
            bits |= (state & 1) << t % DATA_BITS_PER_WORD;
            state = state >> 1 | came_from_high << 1;
            if (t % DATA_BITS_PER_WORD == 0) {
                data[t / DATA_BITS_PER_WORD * n_packets + i] = bits;
                bits = 0;
            }
        }
    }
}
