// An inverted index of documents, one document per thread: for each term a row of bits, one for each document that
// contains it. A thread reads its document letter by letter and looks each word's hash up in the dictionary. Words that
// are not in it are skipped.
#include "../common/words.cuh"

// Returns the number of a term, or -1.
static __device__ __forceinline__ int find_term(const unsigned *keys, const int *terms, unsigned shift, unsigned hash) {
    unsigned slot = hash >> shift, key;
#pragma unroll 1
    while ((key = keys[slot]) != hash && key != 0)
        slot = slot_after(slot, shift);
    return key ? terms[slot] : -1;
}

// start[i]: where document i begins; it ends before start[i + 1], with a 0.
extern "C" __global__ void ii(const unsigned char *text, const int *start, const unsigned *keys, const int *terms,
                              unsigned shift, unsigned *index, int n_documents) {
    int row_words = (n_documents + 31) / 32;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_documents; i += gridDim.x * blockDim.x) {
        const unsigned char *next = text + start[i];
        unsigned letter;
#pragma unroll 1
        while ((letter = *next) != 0) {
            if (!is_letter(letter)) {
                next++;
                continue;
            }
            int term = find_term(keys, terms, shift, read_word(next, letter));
            if (term >= 0)
                atomicOr(&index[term * row_words + i / 32], 1u << i % 32);
        }
    }
}
