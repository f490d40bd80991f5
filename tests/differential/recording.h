/* A file of digests: the final memory of programs first ... first + count - 1 of a seed, on some machine.
 *
 * Lines of text up to an empty one, then `words` times 8 bytes per program, little end first:
 *     heddle random programs
 *     generator 1
 *     seed 1
 *     first 0
 *     count 10000
 *     words 1
 *     machine NVIDIA H200, driver 580.159
 *     date 2026-11-15                                                                                            */
#pragma once

#include <stdint.h>

enum { RECORDING_TEXT = 128 };

struct recording {
    uint64_t seed, first, count, words;
    char machine[RECORDING_TEXT], date[RECORDING_TEXT];
    uint64_t *digest; /* malloc'ed, count * words */
};

/* Both end the program with one line when they fail. */
void recording_write(const char *path, const struct recording *recording);
void recording_read(const char *path, struct recording *recording);
