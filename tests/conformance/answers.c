/* The file of answers. */
#include "answers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef CONFORMANCE_ZSTD
#include <zstd.h>
#endif

#include "text.h"

static const char magic[] = "answers of a GPU to PTX instructions, 1";

struct bytes {
    uint8_t *data;
    size_t length, at;
};

static bool write_all(FILE *file, const struct answers *answers, const struct form_list *list) {
    fprintf(file, "%s\ngpu: %s\ndriver: %s\ndate: %s\n\n", magic, answers->gpu, answers->driver, answers->date);
    for (size_t i = 0; i < list->n; i++) {
        const struct answer *answer = &answers->answer[i];
        uint8_t status = (uint8_t)answer->status;
        uint32_t length = answer->status == ANSWER_GIVEN ? (uint32_t)form_answer_bytes(&list->form[i]) : 0;
        fwrite(list->form[i].text, 1, strlen(list->form[i].text) + 1, file);
        fwrite(&status, 1, 1, file);
        fwrite(&answer->inputs_hash, 1, 8, file);
        fwrite(&length, 1, 4, file);
        if (length)
            fwrite(answer->bytes, 1, length, file);
    }
    return !ferror(file);
}

bool answers_write(const struct answers *answers, const struct form_list *list, const char *path) {
    FILE *file = fopen(path, "wb");
    bool is_good = file && write_all(file, answers, list);
    if (file && fclose(file) != 0)
        is_good = false;
    if (!is_good)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return is_good;
}

static bool read_file(const char *path, struct bytes *bytes) {
    FILE *file = fopen(path, "rb");
    size_t room = 0, n = 1;
    *bytes = (struct bytes){0};
    while (file && n > 0) {
        if (room - bytes->length < 1 << 16)
            bytes->data = text_resize(bytes->data, room = 2 * room + (1 << 20));
        n = fread(bytes->data + bytes->length, 1, room - bytes->length, file);
        bytes->length += n;
    }
    bool is_good = file && !ferror(file);
    if (!is_good)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    if (file)
        fclose(file);
    return is_good;
}

static bool is_compressed(const struct bytes *bytes) {
    return bytes->length >= 4 && memcmp(bytes->data, "\x28\xb5\x2f\xfd", 4) == 0;
}

#ifdef CONFORMANCE_ZSTD
static bool decompress(struct bytes *bytes, const char *path) {
    unsigned long long size = ZSTD_getFrameContentSize(bytes->data, bytes->length);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > 1u << 30) {
        fprintf(stderr, "%s: compressed without its size, or damaged\n", path);
        return false;
    }
    uint8_t *plain = text_resize(NULL, (size_t)size + 1);
    size_t n = ZSTD_decompress(plain, (size_t)size, bytes->data, bytes->length);
    free(bytes->data);
    *bytes = (struct bytes){.data = plain, .length = ZSTD_isError(n) ? 0 : n};
    if (ZSTD_isError(n))
        fprintf(stderr, "%s: %s\n", path, ZSTD_getErrorName(n));
    return !ZSTD_isError(n);
}
#else
static bool decompress(struct bytes *bytes, const char *path) {
    (void)bytes;
    fprintf(stderr, "%s: compressed, and this program was built without zstd: try zstd -d first\n", path);
    return false;
}
#endif

/* Reads the value of `name: value` and consumes the line. */
static bool read_head_line(struct bytes *bytes, const char *name, char *value, size_t size) {
    const uint8_t *line = bytes->data + bytes->at, *end = memchr(line, '\n', bytes->length - bytes->at);
    size_t skipped = strlen(name);
    if (!end || (size_t)(end - line) < skipped || memcmp(line, name, skipped) != 0)
        return false;
    snprintf(value, size, "%.*s", (int)((size_t)(end - line) - skipped), (const char *)line + skipped);
    bytes->at += (size_t)(end - line) + 1;
    return true;
}

static int compare_text(const void *key, const void *form) { return strcmp(key, ((const struct form *)form)->text); }

static bool take(struct bytes *bytes, void *to, size_t length) {
    if (bytes->length - bytes->at < length)
        return false;
    memcpy(to, bytes->data + bytes->at, length);
    bytes->at += length;
    return true;
}

static bool read_record(struct bytes *bytes, const struct form_list *list, struct answers *answers) {
    const char *text = (const char *)bytes->data + bytes->at;
    const uint8_t *end = memchr(bytes->data + bytes->at, 0, bytes->length - bytes->at);
    uint8_t status;
    uint64_t hash;
    uint32_t length;
    if (!end)
        return false;
    bytes->at = (size_t)(end - bytes->data) + 1;
    if (!take(bytes, &status, 1) || !take(bytes, &hash, 8) || !take(bytes, &length, 4) ||
        length > bytes->length - bytes->at)
        return false;
    const struct form *form = bsearch(text, list->form, list->n, sizeof *list->form, compare_text);
    if (form && status == ANSWER_GIVEN && length == form_answer_bytes(form)) {
        struct answer *answer = &answers->answer[form - list->form];
        *answer = (struct answer){ANSWER_GIVEN, hash, text_resize(NULL, length + 1u)};
        memcpy(answer->bytes, bytes->data + bytes->at, length);
    } else if (form && status != ANSWER_GIVEN) {
        answers->answer[form - list->form] = (struct answer){.status = (enum answer_status)status, .inputs_hash = hash};
    }
    bytes->at += length;
    return true;
}

static bool read_all(struct bytes *bytes, const struct form_list *list, struct answers *answers, const char *path) {
    char rest[8];
    bool is_good = read_head_line(bytes, magic, rest, sizeof rest) &&
                   read_head_line(bytes, "gpu: ", answers->gpu, sizeof answers->gpu) &&
                   read_head_line(bytes, "driver: ", answers->driver, sizeof answers->driver) &&
                   read_head_line(bytes, "date: ", answers->date, sizeof answers->date) &&
                   read_head_line(bytes, "", rest, sizeof rest);
    while (is_good && bytes->at < bytes->length)
        is_good = read_record(bytes, list, answers);
    if (!is_good)
        fprintf(stderr, "%s: not a file of answers, or cut off at byte %zu\n", path, bytes->at);
    return is_good;
}

bool answers_read(struct answers *answers, const struct form_list *list, const char *path) {
    struct bytes bytes;
    *answers = (struct answers){.answer = calloc(list->n, sizeof *answers->answer)};
    bool is_good = answers->answer && read_file(path, &bytes);
    if (is_good && is_compressed(&bytes))
        is_good = decompress(&bytes, path);
    is_good = is_good && read_all(&bytes, list, answers, path);
    if (answers->answer)
        free(bytes.data);
    return is_good;
}

void answers_free(struct answers *answers, const struct form_list *list) {
    for (size_t i = 0; answers->answer && i < list->n; i++)
        free(answers->answer[i].bytes);
    free(answers->answer);
    *answers = (struct answers){0};
}
