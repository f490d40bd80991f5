/* The file of a checkpoint: the run it belongs to, and one record after each of its launches.
 *
 * A file is created whole (a temporary one, fsync, rename). Records are appended, each with its length and a hash. A
 * process that is killed while it writes leaves an incomplete last record, which readers ignore. Numbers have the
 * format of the host that wrote them: the identity names its build. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct gpu_checkpoint_file;

enum { GPU_CHECKPOINT_ERROR = 512 };

/* Creates a file without records. On failure returns false and one line in error. */
bool gpu_checkpoint_file_create(const char *path, const char *identity, char error[GPU_CHECKPOINT_ERROR]);
/* Opens the file to read and append. Only one process at a time can. Returns NULL and one line if it is not a
 * checkpoint, has another format, is damaged before its last record, or is open elsewhere. */
struct gpu_checkpoint_file *gpu_checkpoint_file_open(const char *path, char error[GPU_CHECKPOINT_ERROR]);
void gpu_checkpoint_file_close(struct gpu_checkpoint_file *file);
/* As given to create(). */
const char *gpu_checkpoint_file_identity(const struct gpu_checkpoint_file *file);
uint32_t gpu_checkpoint_file_count(const struct gpu_checkpoint_file *file); /* of records */
/* Reads a record, counted from 0, into `record`. */
bool gpu_checkpoint_file_read(struct gpu_checkpoint_file *file, uint32_t number, struct base_bytes *record,
                              char error[GPU_CHECKPOINT_ERROR]);
/* Appends a record. It survives the end of this process at once, and that of the host after at most a second. */
bool gpu_checkpoint_file_append(struct gpu_checkpoint_file *file, const struct base_bytes *record,
                                char error[GPU_CHECKPOINT_ERROR]);
