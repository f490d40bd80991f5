/* Layout: the magic, the header (struct start and the identity), then records (struct head and a zstd frame). */
#include "gpu/checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/hash.h"
#include "base/memory.h"

/* LEVEL: the fastest level packs sparse pages nearly as well as slower ones. */
enum { FORMAT = 1, LEVEL = 1, MOST_IDENTITY = 1 << 20 };
static const char magic[16] = "heddle-resume-1";

struct start {
    char magic[sizeof magic];
    uint64_t format, identity_bytes, identity_hash;
};

struct head {
    uint64_t number, plain_bytes, packed_bytes, packed_hash;
    uint64_t head_hash; /* of the members above */
};

struct gpu_checkpoint_file {
    int file;
    char *path, *identity;
    uint64_t *record; /* offset of each */
    uint32_t n_records, capacity;
    uint64_t end;
    time_t synced; /* when the host was last asked to write */
    struct base_bytes packed;
};

static bool refuse(char *error, const char *path, const char *what) {
    snprintf(error, GPU_CHECKPOINT_ERROR, "'%.300s' %s", path, what);
    return false;
}

static bool fail(char *error, const char *path, const char *verb) {
    snprintf(error, GPU_CHECKPOINT_ERROR, "cannot %s '%.300s': %s", verb, path, strerror(errno));
    return false;
}

static uint64_t hash_of(const struct head *head) { return base_hash(head, offsetof(struct head, head_hash), 0); }

static bool write_all(int file, const void *data, size_t n, uint64_t at) {
    for (const char *from = data; n;) {
        ssize_t written = pwrite(file, from, n, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        at += (uint64_t)written;
        n -= (size_t)written;
    }
    return true;
}

static bool read_all(int file, void *data, size_t n, uint64_t at) {
    for (char *to = data; n;) {
        ssize_t got = pread(file, to, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

/* --- creating --- */

static bool write_start(int file, const char *identity) {
    struct start start = {.format = FORMAT, .identity_bytes = strlen(identity)};
    memcpy(start.magic, magic, sizeof magic);
    start.identity_hash = base_hash(identity, start.identity_bytes, 0);
    return write_all(file, &start, sizeof start, 0) && write_all(file, identity, start.identity_bytes, sizeof start) &&
           fsync(file) == 0;
}

bool gpu_checkpoint_file_create(const char *path, const char *identity, char error[GPU_CHECKPOINT_ERROR]) {
    size_t size = strlen(path) + 32;
    char *temporary = base_allocate(size, 1);
    snprintf(temporary, size, "%s.%ld.tmp", path, (long)getpid());
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool is_good = file >= 0 && write_start(file, identity);
    if (file >= 0)
        is_good = close(file) == 0 && is_good;
    is_good = is_good && rename(temporary, path) == 0;
    if (!is_good) {
        fail(error, path, "write");
        unlink(temporary);
    }
    free(temporary);
    return is_good;
}

/* --- opening --- */

static bool read_start(struct gpu_checkpoint_file *file, char *error) {
    struct start start;
    if (!read_all(file->file, &start, sizeof start, 0) || memcmp(start.magic, magic, sizeof magic) != 0)
        return refuse(error, file->path, "is no checkpoint of heddle");
    if (start.format != FORMAT)
        return refuse(error, file->path, "is a checkpoint of another version of heddle");
    if (start.identity_bytes > MOST_IDENTITY)
        return refuse(error, file->path, "is damaged in its first bytes");
    file->identity = base_allocate(start.identity_bytes + 1, 1);
    file->end = sizeof start + start.identity_bytes;
    if (!read_all(file->file, file->identity, start.identity_bytes, sizeof start) ||
        base_hash(file->identity, start.identity_bytes, 0) != start.identity_hash)
        return refuse(error, file->path, "is damaged in its first bytes");
    return true;
}

static void note_record(struct gpu_checkpoint_file *file, uint64_t packed_bytes) {
    if (file->n_records == file->capacity) {
        file->capacity = file->capacity ? 2 * file->capacity : 64;
        file->record = realloc(file->record, file->capacity * sizeof *file->record);
        if (!file->record)
            abort();
    }
    file->record[file->n_records++] = file->end;
    file->end += sizeof(struct head) + packed_bytes;
}

static bool is_zero(const struct head *head) {
    static const struct head zero;
    return memcmp(head, &zero, sizeof zero) == 0;
}

/* Reads a record's head and its packed bytes. */
static bool read_packed(struct gpu_checkpoint_file *file, uint64_t at, struct head *head) {
    if (!read_all(file->file, head, sizeof *head, at) || head->head_hash != hash_of(head))
        return false;
    file->packed.n = 0;
    unsigned char *packed = base_bytes_grow(&file->packed, head->packed_bytes);
    return read_all(file->file, packed, head->packed_bytes, at + sizeof *head) &&
           base_hash(packed, head->packed_bytes, head->number) == head->packed_hash;
}

/* Finds all records. Returns false if one other than the last is damaged. A killed process leaves the first part of a
 * record or, if the host itself went down, zeros. */
static bool find_records(struct gpu_checkpoint_file *file, uint64_t file_bytes, char *error) {
    struct head head;
    while (file_bytes - file->end >= sizeof head) {
        uint64_t left = file_bytes - file->end - sizeof head;
        if (!read_all(file->file, &head, sizeof head, file->end))
            return fail(error, file->path, "read");
        if (is_zero(&head) || (head.head_hash == hash_of(&head) && head.packed_bytes > left))
            break;
        bool is_last = head.head_hash == hash_of(&head) && head.packed_bytes == left;
        if (head.head_hash != hash_of(&head) || head.number != file->n_records ||
            !read_packed(file, file->end, &head)) {
            if (is_last)
                break;
            snprintf(error, GPU_CHECKPOINT_ERROR, "'%.300s' is damaged after launch %" PRIu32, file->path,
                     file->n_records);
            return false;
        }
        note_record(file, head.packed_bytes);
    }
    return true;
}

/* Cuts off an incomplete record. */
static bool cut(const struct gpu_checkpoint_file *file, char *error) {
    return ftruncate(file->file, (off_t)file->end) == 0 || fail(error, file->path, "write");
}

struct gpu_checkpoint_file *gpu_checkpoint_file_open(const char *path, char error[GPU_CHECKPOINT_ERROR]) {
    struct gpu_checkpoint_file *file = base_allocate(1, sizeof *file);
    struct stat about;
    file->path = strdup(path);
    file->file = open(path, O_RDWR | O_CLOEXEC);
    bool is_good = file->path && file->file >= 0 && fstat(file->file, &about) == 0;
    if (!is_good)
        fail(error, path, "open");
    else if (flock(file->file, LOCK_EX | LOCK_NB) != 0)
        is_good = refuse(error, path, "is in use by another run");
    else
        is_good = read_start(file, error) && find_records(file, (uint64_t)about.st_size, error) && cut(file, error);
    if (is_good)
        return file;
    gpu_checkpoint_file_close(file);
    return NULL;
}

void gpu_checkpoint_file_close(struct gpu_checkpoint_file *file) {
    if (!file)
        return;
    if (file->file >= 0)
        close(file->file);
    base_bytes_free(&file->packed);
    free(file->record);
    free(file->identity);
    free(file->path);
    free(file);
}

const char *gpu_checkpoint_file_identity(const struct gpu_checkpoint_file *file) { return file->identity; }
uint32_t gpu_checkpoint_file_count(const struct gpu_checkpoint_file *file) { return file->n_records; }

/* --- records --- */

bool gpu_checkpoint_file_read(struct gpu_checkpoint_file *file, uint32_t number, struct base_bytes *record,
                              char error[GPU_CHECKPOINT_ERROR]) {
    struct head head;
    if (number >= file->n_records || !read_packed(file, file->record[number], &head))
        return fail(error, file->path, "read");
    record->n = record->at = 0;
    record->is_short = false;
    unsigned char *plain = base_bytes_grow(record, head.plain_bytes);
    size_t got = ZSTD_decompress(plain, head.plain_bytes, file->packed.data, head.packed_bytes);
    return got == head.plain_bytes || refuse(error, file->path, "has a record that cannot be unpacked");
}

bool gpu_checkpoint_file_append(struct gpu_checkpoint_file *file, const struct base_bytes *record,
                                char error[GPU_CHECKPOINT_ERROR]) {
    struct head head = {.number = file->n_records, .plain_bytes = record->n};
    size_t bound = ZSTD_compressBound(record->n);
    file->packed.n = 0;
    unsigned char *place = base_bytes_grow(&file->packed, sizeof head + bound), *packed = place + sizeof head;
    head.packed_bytes = ZSTD_compress(packed, bound, record->data, record->n, LEVEL);
    if (ZSTD_isError(head.packed_bytes))
        return refuse(error, file->path, "cannot be written: zstd has failed");
    head.packed_hash = base_hash(packed, head.packed_bytes, head.number);
    head.head_hash = hash_of(&head);
    memcpy(place, &head, sizeof head);
    if (!write_all(file->file, place, sizeof head + head.packed_bytes, file->end)) {
        fail(error, file->path, "write");
        char other[GPU_CHECKPOINT_ERROR];
        cut(file, other);
        return false;
    }
    note_record(file, head.packed_bytes);
    time_t now = time(NULL);
    if (now != file->synced && fdatasync(file->file) == 0)
        file->synced = now;
    return true;
}
