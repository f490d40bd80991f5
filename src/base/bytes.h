/* A growing array of bytes, written at its end and read from its start. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: an empty array. */
struct base_bytes {
    unsigned char *data;
    size_t n, capacity;
    size_t at;     /* the next byte to read */
    bool is_short; /* a read went past the end; it and all later reads returned zeros */
};

/* Appends zeroed bytes and returns their address, valid until the next append. Out of memory ends the process. */
unsigned char *base_bytes_grow(struct base_bytes *bytes, size_t n);
void base_bytes_put(struct base_bytes *bytes, const void *data, size_t n);
/* Reads the next n bytes. */
void base_bytes_take(struct base_bytes *bytes, void *data, size_t n);
/* Returns the next n bytes in place and skips them. If there are fewer, returns NULL and sets is_short. */
const unsigned char *base_bytes_skip(struct base_bytes *bytes, uint64_t n);
void base_bytes_free(struct base_bytes *bytes);

static inline void base_bytes_put_u64(struct base_bytes *bytes, uint64_t value) {
    base_bytes_put(bytes, &value, sizeof value);
}

static inline uint64_t base_bytes_take_u64(struct base_bytes *bytes) {
    uint64_t value;
    base_bytes_take(bytes, &value, sizeof value);
    return value;
}
