/* Collects bytes before they are written to a file, and reads them back. */
#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned char *base_bytes_grow(struct base_bytes *bytes, size_t n) {
    if (n > bytes->capacity - bytes->n) {
        size_t capacity = 2 * bytes->capacity > bytes->n + n ? 2 * bytes->capacity : bytes->n + n;
        unsigned char *larger = realloc(bytes->data, capacity);
        if (!larger) {
            fprintf(stderr, "heddle: out of memory (%zu bytes wanted)\n", capacity);
            exit(1);
        }
        bytes->data = larger;
        bytes->capacity = capacity;
    }
    unsigned char *place = bytes->data + bytes->n;
    bytes->n += n;
    return n ? memset(place, 0, n) : place;
}

void base_bytes_put(struct base_bytes *bytes, const void *data, size_t n) {
    unsigned char *place = base_bytes_grow(bytes, n);
    if (n)
        memcpy(place, data, n);
}

const unsigned char *base_bytes_skip(struct base_bytes *bytes, uint64_t n) {
    bytes->is_short |= n > bytes->n - bytes->at;
    if (bytes->is_short)
        return NULL;
    bytes->at += n;
    return bytes->data + bytes->at - n;
}

void base_bytes_take(struct base_bytes *bytes, void *data, size_t n) {
    const unsigned char *from = base_bytes_skip(bytes, n);
    if (from && n)
        memcpy(data, from, n);
    else if (n)
        memset(data, 0, n);
}

void base_bytes_free(struct base_bytes *bytes) {
    free(bytes->data);
    *bytes = (struct base_bytes){0};
}
