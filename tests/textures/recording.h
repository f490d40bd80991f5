/* A file of results of the texture suite: a text head (`name: value`, ended by an empty line), then for each case its
 * name with a terminating zero, the number of bytes (4 bytes, little-endian; 0: refused) and the bytes. It may be
 * compressed with zstd. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct recorded {
    char *name;
    unsigned char *data;
    size_t bytes;
};

struct recording;

struct recording *recording_new(unsigned n_samples); /* of the current GPU and day */
void recording_add(struct recording *recording, const char *name, const unsigned char *data, size_t bytes);
bool recording_write(const struct recording *recording, const char *path);

struct recording *recording_read(const char *path); /* NULL after a message */
const struct recorded *recording_find(const struct recording *recording, const char *name);
unsigned recording_samples(const struct recording *recording);
const char *recording_gpu(const struct recording *recording);
const char *recording_date(const struct recording *recording);
void recording_free(struct recording *recording);
