/* Which bytes of device memory have been written: one bit for each byte, in host memory that the system provides when
 * it is touched. Only memory that the device asks to watch is checked: a read of other memory is always right. */
#pragma once

#include "exec/exec.h"

struct exec_written {
    uint64_t base, limit; /* device addresses */
    uint64_t *bits;
    struct exec_allocation *watched; /* sorted by address */
    uint32_t n_watched, capacity;
};

/* Returns false if the host has no address space for it. */
bool exec_written_open(struct exec_written *written, uint64_t base, uint64_t limit);
void exec_written_close(struct exec_written *written);
/* New memory: nothing in it is written. */
void exec_written_watch(struct exec_written *written, uint64_t address, uint64_t bytes);
/* The memory at this address is freed. Nothing happens if it was not watched. */
void exec_written_release(struct exec_written *written, uint64_t address);
void exec_written_mark(struct exec_written *written, uint64_t address, uint64_t bytes);
/* Returns whether one of the bytes has been written, or is not watched. */
bool exec_written_any(struct exec_written *written, uint64_t address, uint32_t bytes);
