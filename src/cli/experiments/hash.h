/* Hashes that tell runs, builds and programs apart: 128 bits as 32 hexadecimal digits. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct cli_hash {
    uint64_t a, b;
};

struct cli_hash cli_hash_start(void);
void cli_hash_add(struct cli_hash *hash, const void *data, size_t n);
const char *cli_hash_text(const struct cli_hash *hash, struct base_arena *arena);

/* A hash of a file's content; NULL if it cannot be read (errno). Of an executable or a library it covers the code and
 * data alone. Stripping or installing a build, which removes debug information and changes the run path, leaves the
 * hash as it is. */
const char *cli_hash_file(const char *path, struct base_arena *arena);
