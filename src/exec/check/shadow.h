/* The shadow of a block's shared memory: which bytes have been written, and which accesses may still race with a later
 * one.
 *
 * Two accesses race if different threads touch the same byte, at least one writes, no synchronisation orders them
 * (clocks.h), and they are not both atomic. Two writes of the same value do not count, as in compute-sanitizer.
 *
 * The shadow keeps a list of accesses for every four bytes. An access leaves the list when a later one takes its place:
 * one that comes after it and races with everything that it races with. A barrier of all threads empties all lists. */
#pragma once

#include "exec/check/clocks.h"

enum exec_touch { EXEC_TOUCH_READ, EXEC_TOUCH_WRITE, EXEC_TOUCH_ATOMIC };

/* One lane's access. */
struct exec_toucher {
    uint32_t thread;    /* that executes the instruction */
    uint32_t id, stamp; /* of the access (clocks.h): the thread itself, its twin or bulk copies */
    uint32_t pc;
    enum exec_touch touch;
};

/* An earlier access that races with the one that has just been made. */
struct exec_race {
    uint32_t id, pc, offset;
    enum exec_touch touch;
};

struct exec_shadow_word;
struct exec_shadow_access;
struct exec_shadow_copy;

struct exec_shadow {
    uint32_t n_words;
    struct exec_shadow_word *word;
    struct exec_shadow_access *access; /* entry 0 is not used: it ends a list */
    uint32_t n_accesses, capacity, spare;
    uint32_t round;                /* lists of earlier rounds are empty */
    struct exec_shadow_copy *copy; /* asynchronous ones that may not be complete: a barrier does not order them */
    uint32_t n_copies, copy_capacity;
};

void exec_shadow_open(struct exec_shadow *shadow, uint32_t shared_bytes);
void exec_shadow_close(struct exec_shadow *shadow);
/* A new block: nothing is written. */
void exec_shadow_start(struct exec_shadow *shadow);

/* Returns whether one of the bytes has been written. */
bool exec_shadow_is_written(const struct exec_shadow *shadow, uint32_t offset, uint32_t bytes);
/* The bytes have been written, by an access that is not watched for races. */
void exec_shadow_write(struct exec_shadow *shadow, uint32_t offset, uint32_t bytes);
/* The bytes that have just been written came from unwritten ones. */
void exec_shadow_unwrite(struct exec_shadow *shadow, uint32_t offset, uint32_t bytes);
/* Adds an access to the bytes at this offset; `value` are the bytes that a write writes, otherwise NULL. Returns true
 * with an earlier access in *race if they race. */
bool exec_shadow_touch(struct exec_shadow *shadow, const struct exec_clocks *clocks, const struct exec_toucher *toucher,
                       uint32_t offset, uint32_t bytes, const unsigned char *value, struct exec_race *race);
/* All threads of the block that have not ended have met at a barrier; `thread` is one of them. */
void exec_shadow_forget(struct exec_shadow *shadow, const struct exec_clocks *clocks, uint32_t thread);
