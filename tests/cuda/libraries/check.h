/* Calls that must succeed, comparisons that count failures, memory of the device, and numbers that look random. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __NVCC__
#include <cuda_runtime.h>
#else
#include "cuda_runtime_api.h"
#endif

static int n_failures, n_checks;

static void need(int line, const char *what, int status) {
    if (status) {
        fprintf(stderr, "line %d: %s returned %d\n", line, what, status);
        exit(1);
    }
}
#define NEED(call) need(__LINE__, #call, (int)(call))

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        n_checks++;                                                                                                    \
        if (!(condition) && n_failures++ < 10)                                                                         \
            fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition);                                          \
    } while (0)

/* Whether the libraries are NVIDIA's, on a card: then the argument is "card". They lack some products that ours have.
 */
static inline int is_on_card(int argc, char **argv) { return argc > 1 && !strcmp(argv[1], "card"); }

/* The end of main(). */
static inline int finish(const char *name) {
    printf("%s: %d checks, %d failures\n", name, n_checks, n_failures);
    return n_failures ? 1 : 0;
}

static uint32_t random_state = 12345;
static inline uint32_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    return random_state ^= random_state << 5;
}
/* Multiples of 1/64 between -1 and 1, which every type of 16 bits has too. */
static inline double next_number(void) { return ((int)(next_random() % 129) - 64) / 64.0; }

static inline void *to_device(const void *from, size_t bytes) {
    void *memory;
    NEED(cudaMalloc(&memory, bytes ? bytes : 1));
    NEED(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice));
    return memory;
}

static inline void from_device(void *to, const void *from, size_t bytes) {
    NEED(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}
