/* Hashes that tell runs, builds and programs apart: 128 bits as 32 hexadecimal digits. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct experiment_hash {
    uint64_t a, b;
};

struct experiment_hash experiment_hash_start(void);
void experiment_hash_add(struct experiment_hash *hash, const void *data, size_t n);
const char *experiment_hash_text(const struct experiment_hash *hash, struct base_arena *arena);

/* A hash of a file's content; NULL if it cannot be read (errno). Of an executable or a library it covers the code and
 * data alone. Stripping or installing a build, which removes debug information and changes the run path, leaves the
 * hash as it is. */
const char *experiment_hash_file(const char *path, struct base_arena *arena);
