// Counts the words of a text, one stretch of it per thread. The words that begin in its stretch are the thread's. It
// hashes a word letter by letter and counts it in a hash table, in which the first to meet a word claims a slot.
#include "../common/words.cuh"

static __device__ __forceinline__ void count(unsigned *keys, unsigned *counts, unsigned shift, unsigned hash) {
    unsigned slot = hash >> shift;
#pragma unroll 1
    while (keys[slot] != hash) {
        unsigned found = atomicCAS(&keys[slot], 0u, hash);
        if (found == 0 || found == hash)
            break;
        slot = slot_after(slot, shift);
    }
    atomicAdd(&counts[slot], 1u);
}

// The text ends with a 0.
extern "C" __global__ void wc(const unsigned char *text, unsigned *keys, unsigned *counts, unsigned shift,
                              int n_stretches, int stretch, int bytes) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_stretches; i += gridDim.x * blockDim.x) {
        const unsigned char *next = text + i * stretch;
        const unsigned char *end = i + 1 < n_stretches ? next + stretch : text + bytes - 1;
        if (i > 0) // the rest of a word that began before
#pragma unroll 1
            while (next < end && is_letter(next[-1]))
                next++;
#pragma unroll 1
        while (next < end) {
            unsigned letter = *next;
            if (is_letter(letter))
                count(keys, counts, shift, read_word(next, letter));
            else
                next++;
        }
    }
}
