/* The file of results. */
#include "recording.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef TEXTURES_ZSTD
#include <zstd.h>
#endif

#include "driver.h"
#include "text.h"

static const char magic[] = "results of texture accesses of a GPU, 1";

struct recording {
    char gpu[128], date[32];
    unsigned n_samples;
    struct recorded *item;
    size_t n;
};

struct recording *recording_new(unsigned n_samples) {
    struct recording *recording = text_resize(NULL, sizeof *recording);
    time_t now = time(NULL);
    CUdevice device;
    *recording = (struct recording){.n_samples = n_samples};
    DRIVER_REQUIRE(cuDeviceGet(&device, 0));
    DRIVER_REQUIRE(cuDeviceGetName(recording->gpu, sizeof recording->gpu, device));
    strftime(recording->date, sizeof recording->date, "%Y-%m-%d", gmtime(&now));
    return recording;
}

void recording_add(struct recording *recording, const char *name, const unsigned char *data, size_t bytes) {
    recording->item = text_resize(recording->item, (recording->n + 1) * sizeof *recording->item);
    struct recorded *added = &recording->item[recording->n++];
    *added = (struct recorded){
        .name = text_resize(NULL, strlen(name) + 1), .data = text_resize(NULL, bytes), .bytes = bytes};
    strcpy(added->name, name);
    if (bytes)
        memcpy(added->data, data, bytes);
}

bool recording_write(const struct recording *recording, const char *path) {
    FILE *file = fopen(path, "wb");
    if (file) {
        fprintf(file, "%s\ngpu: %s\ndate: %s\nsamples: %u\n\n", magic, recording->gpu, recording->date,
                recording->n_samples);
        for (size_t i = 0; i < recording->n; i++) {
            uint32_t bytes = (uint32_t)recording->item[i].bytes;
            fwrite(recording->item[i].name, 1, strlen(recording->item[i].name) + 1, file);
            fwrite(&bytes, 1, 4, file);
            fwrite(recording->item[i].data, 1, bytes, file);
        }
    }
    bool is_good = file && !ferror(file);
    if (file && fclose(file) != 0)
        is_good = false;
    if (!is_good)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return is_good;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static char *read_bytes(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    struct text text = {0};
    char block[1 << 14];
    size_t got;
    while (file && (got = fread(block, 1, sizeof block, file)) > 0)
        text_add_bytes(&text, block, got);
    if (!file || ferror(file))
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    if (file)
        fclose(file);
    *length = text.length;
    return text.data;
}

static char *decompress(char *data, size_t *length, const char *path) {
    if (*length < 4 || memcmp(data, "\x28\xb5\x2f\xfd", 4) != 0)
        return data;
#ifdef TEXTURES_ZSTD
    unsigned long long size = ZSTD_getFrameContentSize(data, *length);
    if (size != ZSTD_CONTENTSIZE_ERROR && size != ZSTD_CONTENTSIZE_UNKNOWN && size < 1u << 30) {
        char *plain = text_resize(NULL, (size_t)size + 1);
        size_t n = ZSTD_decompress(plain, (size_t)size, data, *length);
        free(data);
        *length = ZSTD_isError(n) ? 0 : n;
        return plain;
    }
#endif
    fprintf(stderr, "%s: cannot decompress it\n", path);
    *length = 0;
    return data;
}

/* Copies the value of a line `name: value` and moves past it. */
static bool head_line(const char **at, const char *end, const char *name, char *value, size_t size) {
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    size_t skipped = strlen(name);
    if (!stop || (size_t)(stop - *at) < skipped || memcmp(*at, name, skipped) != 0)
        return false;
    snprintf(value, size, "%.*s", (int)((size_t)(stop - *at) - skipped), *at + skipped);
    *at = stop + 1;
    return true;
}

static bool parse(struct recording *recording, const char *at, const char *end) {
    char rest[16];
    if (!head_line(&at, end, magic, rest, sizeof rest) ||
        !head_line(&at, end, "gpu: ", recording->gpu, sizeof recording->gpu) ||
        !head_line(&at, end, "date: ", recording->date, sizeof recording->date) ||
        !head_line(&at, end, "samples: ", rest, sizeof rest))
        return false;
    recording->n_samples = (unsigned)strtoul(rest, NULL, 10);
    if (!head_line(&at, end, "", rest, sizeof rest))
        return false;
    while (at < end) {
        const char *name = at, *zero = memchr(at, 0, (size_t)(end - at));
        uint32_t bytes;
        if (!zero || (size_t)(end - zero) < 5)
            return false;
        memcpy(&bytes, zero + 1, 4);
        at = zero + 5;
        if ((size_t)(end - at) < bytes)
            return false;
        recording_add(recording, name, (const unsigned char *)at, bytes);
        at += bytes;
    }
    return true;
}

struct recording *recording_read(const char *path) {
    size_t length;
    char *data = read_bytes(path, &length);
    if (!data)
        return NULL;
    data = decompress(data, &length, path);
    struct recording *recording = text_resize(NULL, sizeof *recording);
    *recording = (struct recording){0};
    if (!parse(recording, data, data + length)) {
        fprintf(stderr, "%s: not a recording of textures, or cut off\n", path);
        recording_free(recording);
        recording = NULL;
    }
    free(data);
    return recording;
}

const struct recorded *recording_find(const struct recording *recording, const char *name) {
    for (size_t i = 0; i < recording->n; i++)
        if (strcmp(recording->item[i].name, name) == 0)
            return &recording->item[i];
    return NULL;
}

unsigned recording_samples(const struct recording *recording) { return recording->n_samples; }
const char *recording_gpu(const struct recording *recording) { return recording->gpu; }
const char *recording_date(const struct recording *recording) { return recording->date; }

void recording_free(struct recording *recording) {
    for (size_t i = 0; i < recording->n; i++) {
        free(recording->item[i].name);
        free(recording->item[i].data);
    }
    free(recording->item);
    free(recording);
}
