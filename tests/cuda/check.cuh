/* What every program here begins with: calls that must succeed, comparisons that count failures, numbers that look
 * random and are the same everywhere. */
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error_));                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Numerical Recipes' linear congruential generator; the high bits are used. */
struct Random {
    unsigned state;
    explicit Random(unsigned seed) : state(seed) {}
    unsigned next() { return (state = state * 1664525u + 1013904223u) >> 8; }
    unsigned below(unsigned n) { return next() % n; }
    float uniform() { return static_cast<float>(next()) / 16777216.0f; }
};

/* Device memory that goes with its scope. */
template <class T> struct Device {
    T *data;
    size_t count;
    explicit Device(size_t n) : count(n) { CUDA(cudaMalloc(&data, n * sizeof(T))); }
    explicit Device(const std::vector<T> &from) : Device(from.size()) { put(from); }
    Device(const Device &) = delete;
    ~Device() { cudaFree(data); }
    operator T *() const { return data; }
    void put(const std::vector<T> &from) {
        CUDA(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> get() const {
        std::vector<T> to(count);
        CUDA(cudaGetLastError());
        CUDA(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
};

template <class T> void expect_equal(const std::vector<T> &got, const std::vector<T> &expected) {
    EXPECT(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); i++)
        if (!(got[i] == expected[i])) {
            fprintf(stderr, "element %zu is %g, expected %g\n", i, double(got[i]), double(expected[i]));
            exit(1);
        }
}

template <class T> void expect_near(const std::vector<T> &got, const std::vector<T> &expected, double tolerance) {
    EXPECT(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); i++)
        if (!(std::fabs(double(got[i]) - double(expected[i])) <= tolerance * (1 + std::fabs(double(expected[i]))))) {
            fprintf(stderr, "element %zu is %.9g, expected %.9g\n", i, double(got[i]), double(expected[i]));
            exit(1);
        }
}

static inline unsigned blocks_of(size_t n, unsigned threads) {
    return static_cast<unsigned>((n + threads - 1) / threads);
}
