/* The shadow of shared memory. See shadow.h. */
#include "exec/check/shadow.h"

#include "base/memory.h"
#include "exec/internal.h"

enum { WORD_BYTES = 4 };

struct exec_shadow_word {
    uint32_t first; /* access; 0: none */
    uint32_t round;
    uint8_t written; /* bytes, as a mask */
};

/* Accesses of lanes of one row with the same stamp, to the same bytes of a word. Writes have one lane, and its value.
 */
struct exec_shadow_access {
    uint32_t next, stamp, pc, value, lanes;
    uint16_t row; /* id / 32: twins and bulk copies follow the block's own rows */
    uint8_t touch, bytes;
};

struct exec_shadow_copy {
    struct exec_toucher toucher;
    uint32_t offset, bytes;
};

void exec_shadow_open(struct exec_shadow *shadow, uint32_t shared_bytes) {
    *shadow = (struct exec_shadow){.n_words = (shared_bytes + WORD_BYTES - 1) / WORD_BYTES};
    shadow->word = base_allocate(shadow->n_words, sizeof *shadow->word);
}

void exec_shadow_close(struct exec_shadow *shadow) {
    free(shadow->word);
    free(shadow->access);
    free(shadow->copy);
}

static void empty(struct exec_shadow *shadow) {
    shadow->round++;
    shadow->n_accesses = 1;
    shadow->spare = 0;
}

void exec_shadow_start(struct exec_shadow *shadow) {
    memset(shadow->word, 0, shadow->n_words * sizeof *shadow->word);
    shadow->round = shadow->n_copies = 0;
    empty(shadow);
}

/* The bytes of word number `word` that an access touches, as a mask. */
static uint8_t bytes_in(uint32_t word, uint32_t offset, uint32_t bytes) {
    uint32_t begin = word * WORD_BYTES, end = begin + WORD_BYTES;
    uint32_t low = offset > begin ? offset - begin : 0,
             high = offset + bytes < end ? offset + bytes - begin : WORD_BYTES;
    return (uint8_t)((1u << high) - (1u << low));
}

bool exec_shadow_is_written(const struct exec_shadow *shadow, uint32_t offset, uint32_t bytes) {
    for (uint32_t w = offset / WORD_BYTES; w <= (offset + bytes - 1) / WORD_BYTES; w++)
        if (shadow->word[w].written & bytes_in(w, offset, bytes))
            return true;
    return false;
}

void exec_shadow_write(struct exec_shadow *shadow, uint32_t offset, uint32_t bytes) {
    for (uint32_t w = offset / WORD_BYTES; w <= (offset + bytes - 1) / WORD_BYTES; w++)
        shadow->word[w].written |= bytes_in(w, offset, bytes);
}

void exec_shadow_unwrite(struct exec_shadow *shadow, uint32_t offset, uint32_t bytes) {
    for (uint32_t w = offset / WORD_BYTES; w <= (offset + bytes - 1) / WORD_BYTES; w++)
        shadow->word[w].written &= (uint8_t)~bytes_in(w, offset, bytes);
}

/* --- lists --- */

static uint32_t new_access(struct exec_shadow *shadow) {
    uint32_t at = shadow->spare;
    if (at) {
        shadow->spare = shadow->access[at].next;
        return at;
    }
    if (shadow->n_accesses >= shadow->capacity) {
        shadow->capacity = shadow->capacity ? 2 * shadow->capacity : 256;
        shadow->access = base_grow(shadow->access, shadow->capacity, sizeof *shadow->access);
    }
    return shadow->n_accesses++;
}

static bool conflict(enum exec_touch a, enum exec_touch b) {
    return a != b || a == EXEC_TOUCH_WRITE; /* reads do not conflict with reads, atomics not with atomics */
}

/* Returns whether an access of kind a conflicts with all that b conflicts with. */
static bool covers(enum exec_touch a, enum exec_touch b) { return a == EXEC_TOUCH_WRITE || a == b; }

static uint32_t mask_of_bytes(unsigned bytes) {
    static const uint32_t nibble[16] = {0,          0xff,       0xff00,     0xffff,     0xff0000,   0xff00ff,
                                        0xffff00,   0xffffff,   0xff000000, 0xff0000ff, 0xff00ff00, 0xff00ffff,
                                        0xffff0000, 0xffff00ff, 0xffffff00, 0xffffffff};
    return nibble[bytes];
}

static bool write_the_same(const struct exec_shadow_access *old, const struct exec_shadow_access *new) {
    return old->touch == EXEC_TOUCH_WRITE && new->touch == EXEC_TOUCH_WRITE &&
           !((old->value ^ new->value) & mask_of_bytes(old->bytes & new->bytes));
}

/* Returns the lanes of an earlier access that are not ordered with the thread's next one. */
static uint32_t unordered(const struct exec_clocks *clocks, const struct exec_shadow_access *old, uint32_t thread) {
    uint32_t found = 0;
    EXEC_FOR_ACTIVE(lane, old->lanes)
    found |= (uint32_t)!exec_clocks_knows(clocks, thread, old->row * (uint32_t)EXEC_LANES + lane, old->stamp) << lane;
    return found;
}

/* Adds the access to a word's list. Returns true if it races with one there. */
static bool add(struct exec_shadow *shadow, const struct exec_clocks *clocks, uint32_t thread, uint32_t word,
                const struct exec_shadow_access *access, struct exec_race *race) {
    struct exec_shadow_word *head = &shadow->word[word];
    bool has_raced = false, is_merged = false;
    if (head->round != shadow->round) {
        head->round = shadow->round;
        head->first = 0;
    }
    for (uint32_t *link = &head->first; *link;) {
        uint32_t at = *link;
        struct exec_shadow_access *old = &shadow->access[at];
        bool is_alike = old->row == access->row && old->stamp == access->stamp && old->touch == access->touch &&
                        old->bytes == access->bytes && access->touch != EXEC_TOUCH_WRITE;
        bool has_conflict = (old->bytes & access->bytes) && conflict(old->touch, access->touch);
        bool is_covered = !is_alike && !(old->bytes & ~access->bytes) && covers(access->touch, old->touch);
        uint32_t open = has_conflict || is_covered ? unordered(clocks, old, thread) : 0;
        if (is_alike) {
            old->lanes |= access->lanes;
            is_merged = true;
        }
        if (has_conflict && open && !has_raced && !write_the_same(old, access)) {
            *race =
                (struct exec_race){.id = old->row * (uint32_t)EXEC_LANES + (uint32_t)__builtin_ctz(open),
                                   .pc = old->pc,
                                   .offset = word * WORD_BYTES + (uint32_t)__builtin_ctz(old->bytes & access->bytes),
                                   .touch = (enum exec_touch)old->touch};
            has_raced = true;
        }
        if (is_covered && !open) {
            *link = old->next;
            old->next = shadow->spare;
            shadow->spare = at;
        } else {
            link = &old->next;
        }
    }
    if (is_merged)
        return has_raced;
    uint32_t at = new_access(shadow);
    shadow->access[at] = *access;
    shadow->access[at].next = head->first;
    head->first = at;
    return has_raced;
}

static bool touch(struct exec_shadow *shadow, const struct exec_clocks *clocks, const struct exec_toucher *toucher,
                  uint32_t offset, uint32_t bytes, const unsigned char *value, struct exec_race *race) {
    bool has_raced = false;
    for (uint32_t w = offset / WORD_BYTES; w <= (offset + bytes - 1) / WORD_BYTES; w++) {
        struct exec_shadow_access access = {.stamp = toucher->stamp,
                                            .pc = toucher->pc,
                                            .lanes = 1u << toucher->id % EXEC_LANES,
                                            .row = (uint16_t)(toucher->id / EXEC_LANES),
                                            .touch = (uint8_t)toucher->touch,
                                            .bytes = bytes_in(w, offset, bytes)};
        for (uint32_t b = 0; value && b < WORD_BYTES; b++)
            if (access.bytes >> b & 1)
                access.value |= (uint32_t)value[w * WORD_BYTES + b - offset] << 8 * b;
        struct exec_race found;
        if (add(shadow, clocks, toucher->thread, w, &access, &found) && !has_raced) {
            *race = found;
            has_raced = true;
        }
    }
    return has_raced;
}

/* --- copies --- */

static bool is_complete(const struct exec_clocks *clocks, const struct exec_shadow_copy *copy) {
    return exec_clocks_knows(clocks, copy->toucher.thread, copy->toucher.id, copy->toucher.stamp);
}

static void keep_copy(struct exec_shadow *shadow, const struct exec_clocks *clocks, const struct exec_toucher *toucher,
                      uint32_t offset, uint32_t bytes) {
    if (shadow->n_copies == shadow->copy_capacity) { /* drop the complete ones before growing */
        uint32_t n = 0;
        for (uint32_t i = 0; i < shadow->n_copies; i++)
            if (!is_complete(clocks, &shadow->copy[i]))
                shadow->copy[n++] = shadow->copy[i];
        shadow->n_copies = n;
        if (n >= shadow->copy_capacity / 2) {
            shadow->copy_capacity = shadow->copy_capacity ? 2 * shadow->copy_capacity : 256;
            shadow->copy = base_grow(shadow->copy, shadow->copy_capacity, sizeof *shadow->copy);
        }
    }
    shadow->copy[shadow->n_copies++] = (struct exec_shadow_copy){*toucher, offset, bytes};
}

void exec_shadow_forget(struct exec_shadow *shadow, const struct exec_clocks *clocks, uint32_t thread) {
    uint32_t n = 0;
    struct exec_race race;
    empty(shadow);
    for (uint32_t i = 0; i < shadow->n_copies; i++) {
        struct exec_shadow_copy copy = shadow->copy[i];
        if (exec_clocks_knows(clocks, thread, copy.toucher.id, copy.toucher.stamp))
            continue;
        shadow->copy[n++] = copy;
        touch(shadow, clocks, &copy.toucher, copy.offset, copy.bytes, NULL, &race);
    }
    shadow->n_copies = n;
}

/* --- the interface --- */

bool exec_shadow_touch(struct exec_shadow *shadow, const struct exec_clocks *clocks, const struct exec_toucher *toucher,
                       uint32_t offset, uint32_t bytes, const unsigned char *value, struct exec_race *race) {
    if (toucher->touch != EXEC_TOUCH_READ)
        exec_shadow_write(shadow, offset, bytes);
    if (toucher->id != toucher->thread)
        keep_copy(shadow, clocks, toucher, offset, bytes);
    return touch(shadow, clocks, toucher, offset, bytes, value, race);
}
