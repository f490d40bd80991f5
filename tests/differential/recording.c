/* Files of digests. */
#include "recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static const char title[] = "heddle random programs\n";

static void fail(const char *path, const char *why) {
    fprintf(stderr, "%s: %s\n", path, why);
    exit(1);
}

static void put_word(FILE *file, uint64_t word) {
    for (unsigned i = 0; i < 8; i++)
        putc((int)(word >> 8 * i & 0xff), file);
}

static uint64_t get_word(FILE *file, const char *path) {
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) {
        int c = getc(file);
        if (c == EOF)
            fail(path, "fewer digests than its head says");
        word |= (uint64_t)c << 8 * i;
    }
    return word;
}

void recording_write(const char *path, const struct recording *recording) {
    FILE *file = fopen(path, "wb");
    if (!file)
        fail(path, strerror(errno));
    fprintf(file, "%sgenerator %d\nseed %llu\nfirst %llu\ncount %llu\nwords %llu\nmachine %s\ndate %s\n\n", title,
            GENERATOR_VERSION, (unsigned long long)recording->seed, (unsigned long long)recording->first,
            (unsigned long long)recording->count, (unsigned long long)recording->words, recording->machine,
            recording->date);
    for (uint64_t i = 0; i < recording->count * recording->words; i++)
        put_word(file, recording->digest[i]);
    if (fclose(file))
        fail(path, strerror(errno));
}

static uint64_t number_after(const char *line, const char *word, uint64_t otherwise) {
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && line[length] == ' ' ? strtoull(line + length, NULL, 10) : otherwise;
}

static void text_after(const char *line, const char *word, char *text) {
    size_t length = strlen(word);
    if (strncmp(line, word, length) == 0 && line[length] == ' ')
        snprintf(text, RECORDING_TEXT, "%.*s", (int)strcspn(line + length + 1, "\n"), line + length + 1);
}

void recording_read(const char *path, struct recording *recording) {
    char line[2 * RECORDING_TEXT];
    uint64_t version = 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path, strerror(errno));
    *recording = (struct recording){.words = 1};
    if (!fgets(line, sizeof line, file) || strcmp(line, title) != 0)
        fail(path, "not a recording of random programs");
    while (fgets(line, sizeof line, file) && line[0] != '\n') {
        version = number_after(line, "generator", version);
        recording->seed = number_after(line, "seed", recording->seed);
        recording->first = number_after(line, "first", recording->first);
        recording->count = number_after(line, "count", recording->count);
        recording->words = number_after(line, "words", recording->words);
        text_after(line, "machine", recording->machine);
        text_after(line, "date", recording->date);
    }
    if (version != GENERATOR_VERSION)
        fail(path, "made by another version of the generator: record it again");
    if (recording->count > 100000000 || recording->words == 0 || recording->words > MAX_TRACED)
        fail(path, "its head is invalid");
    recording->digest = text_resize(NULL, recording->count * recording->words * sizeof(uint64_t));
    for (uint64_t i = 0; i < recording->count * recording->words; i++)
        recording->digest[i] = get_word(file, path);
    fclose(file);
}
