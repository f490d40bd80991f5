/* Declarations used inside exec/: the host memory of the lanes' addresses, faults, call arguments, printf formatting.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "exec/scattered.h"

#define EXEC_INLINE static inline __attribute__((always_inline))

#define EXEC_FULL_MASK 0xffffffffu

/* Runs the next statement with l = each lane of mask, lowest first. */
#define EXEC_FOR_ACTIVE(l, mask)                                                                                       \
    for (uint32_t left_ = (mask), l; left_ && (l = (uint32_t)__builtin_ctz(left_), true); left_ &= left_ - 1)

/* Writes the bits of value to the active lanes of a predicate. */
static inline void exec_write_predicate(void *dst, uint32_t value, uint32_t mask) {
    uint32_t *bits = dst;
    *bits = (*bits & ~mask) | (value & mask);
}

/* For warp-wide instructions: removes the next group of lanes with the same member mask from *left and returns it.
 * Without members (NULL) all lanes are one group. */
static inline uint32_t exec_next_group(uint32_t *left, const uint32_t *members, uint32_t *participants) {
    uint32_t group = *left, member = EXEC_FULL_MASK;
    if (members) {
        uint32_t unlike = 0;
        member = members[__builtin_ctz(*left)];
        for (int i = 0; i < EXEC_LANES; i++)
            unlike |= members[i] ^ member;
        if (unlike) {
            group = 0;
            EXEC_FOR_ACTIVE(l, *left) group |= (uint32_t)(members[l] == member) << l;
        }
    }
    *left &= ~group;
    *participants = group & member;
    return group;
}

/* Returns the bytes of one lane in a register slot; 0 for predicates, which are masks. */
static inline unsigned exec_slot_bytes(struct exec_operand operand) {
    static const uint8_t bytes[PTX_N_WIDTHS] = {[PTX_WIDTH_16] = 2, [PTX_WIDTH_32] = 4, [PTX_WIDTH_64] = 8};
    return bytes[operand.width];
}

/* address.c: the host memory of the lanes' addresses. */

enum exec_pattern {
    EXEC_PATTERN_FAULT,       /* cx->fault is set */
    EXEC_PATTERN_LANES,       /* exec_place() of each active lane */
    EXEC_PATTERN_CONSECUTIVE, /* all lanes are active, lane l is at first + l * bytes */
    EXEC_PATTERN_UNIFORM,     /* every active lane is at first */
};

/* Lane l is at base + l * stride + offset[l] in host memory. */
struct exec_places {
    const uint64_t *offset;
    uintptr_t base;
    size_t stride;
};

static inline unsigned char *exec_place(struct exec_places places, size_t lane) {
    return (unsigned char *)(places.base + lane * places.stride + (uintptr_t)places.offset[lane]);
}

struct exec_view {
    enum exec_pattern pattern;
    bool is_global;            /* all lanes access the same allocation */
    unsigned char *first;      /* CONSECUTIVE, UNIFORM */
    struct exec_places places; /* LANES */
    uint64_t host[EXEC_LANES]; /* offsets, when every lane was looked up separately */
};

/* Resolves the addresses of a memory instruction: src[0] holds the base lanes, imm the offset, cx->insn->access the
 * space; each lane accesses `bytes` bytes (a power of two). Fills cx->address with the program's addresses: generic for
 * generic instructions, otherwise space-relative. Changes nothing in memory, so an instruction that faults has no
 * effect. */
enum exec_pattern exec_view_memory(struct exec_context *cx, const struct exec_operands *o, unsigned bytes,
                                   bool is_write, struct exec_view *view);

/* The same, with the view in the form of LANES for every pattern. Returns false after a fault. */
bool exec_view_lanes(struct exec_context *cx, const struct exec_operands *o, unsigned bytes, bool is_write,
                     struct exec_view *view);

/* Returns the host memory of one lane's access, or NULL after a fault if it is misaligned, out of bounds or a write to
 * read-only memory. */
unsigned char *exec_host_at(struct exec_context *cx, unsigned lane, enum ptx_space space, uint64_t address,
                            unsigned bytes, bool is_write);

/* The same for any number of bytes, at a multiple of `alignment`, a power of two. */
unsigned char *exec_range_at(struct exec_context *cx, unsigned lane, enum ptx_space space, uint64_t address,
                             uint32_t bytes, uint32_t alignment, bool is_write);

/* Returns the block of the lane's cluster to whose shared memory the offset belongs, which it reduces to one in that
 * block; NULL after a fault if there is no such block. */
const struct exec_block *exec_shared_block(struct exec_context *cx, unsigned lane, uint64_t *offset);

/* Returns the address of the same place in the memory of another block of the cluster. */
static inline uint64_t exec_of_rank(uint64_t offset, uint32_t rank) {
    return (offset & ((1u << EXEC_RANK_BIT) - 1)) | (uint64_t)(rank + 1) << EXEC_RANK_BIT;
}
/* copy.c: checks the blocks of a copy with .multicast::cluster, and leaves them for the timing model. Returns false
 * after a fault. */
bool exec_multicast_start(struct exec_context *cx, unsigned lane, uint32_t mask);
/* tensor.c */
void exec_rows_add(struct exec_rows *rows, uint64_t address, uint32_t bytes);

/* Returns the space of a generic address (SHARED, LOCAL, PARAM or GLOBAL) and sets *offset to the address in it. */
static inline enum ptx_space exec_generic_space(uint64_t address, uint64_t *offset) {
    *offset = address & (EXEC_WINDOW_BYTES - 1);
    switch (address & ~(EXEC_WINDOW_BYTES - 1)) {
    case EXEC_SHARED_WINDOW:
        return PTX_SPACE_SHARED;
    case EXEC_LOCAL_WINDOW:
        return PTX_SPACE_LOCAL;
    case EXEC_PARAM_WINDOW:
        return PTX_SPACE_PARAM;
    default:
        *offset = address;
        return PTX_SPACE_GLOBAL;
    }
}

/* The selectors that exec_select_memory() calls. */
exec_act_fn *exec_select_load(const struct exec_form *form);          /* load.c: ld ldu */
exec_act_fn *exec_select_store(const struct exec_form *form);         /* store.c: st */
exec_act_fn *exec_select_address_space(const struct exec_form *form); /* address_space.c: cvta isspacep */

exec_act_fn *exec_select_wide(const struct exec_form *form);        /* wide.c: ld st of eight elements */
exec_act_fn *exec_select_atomic_wide(const struct exec_form *form); /* atomic_wide.c: atom red of vectors, .b128 */
exec_act_fn *exec_select_stack(const struct exec_form *form);       /* stack.c: alloca stacksave stackrestore */

exec_lanes_fn *exec_select_cluster(const struct exec_form *form); /* cluster.c: mapa getctarank createpolicy */

/* texture.c and surface.c */

/* Returns the object with this handle, or NULL after a fault. */
const struct exec_texture *exec_texture_of(struct exec_context *cx, uint64_t handle, unsigned lane);
unsigned exec_texel_bytes(const struct exec_texture *texture);
exec_act_fn *exec_select_surface(const struct exec_form *form);           /* suld sust */
exec_act_fn *exec_select_surface_reduction(const struct exec_form *form); /* sured */
/* extra.c: one lane of the k-th extra operand of the context's instruction, which is not a predicate: its address, and
 * its value if it has 32 bits. */
void *exec_extra_at(const struct exec_context *cx, unsigned k, unsigned lane);
uint32_t exec_extra_value(const struct exec_context *cx, unsigned k, unsigned lane);

/* builtin.c: the k-th argument, or the result, of the context's call, for one lane; at most 8 bytes. */
uint64_t exec_call_argument(const struct exec_context *cx, uint32_t k, unsigned lane);
void exec_call_result(const struct exec_context *cx, uint64_t value, unsigned lane);

/* printf_format.c: device printf, one thread's call. */

struct exec_text {
    char *data; /* malloc'ed */
    size_t length, room;
    bool is_truncated; /* out of memory */
};

void exec_text_add(struct exec_text *text, const char *bytes, size_t length);
void exec_text_free(struct exec_text *text);

/* The source of a format's arguments. Both functions return false after a fault. */
struct exec_print_source {
    /* Reads the next argument, of 4 or 8 bytes, naturally aligned in the argument buffer. */
    bool (*next)(void *user, unsigned bytes, uint64_t *value);
    /* Appends a string of the program to text, at most `limit` bytes. */
    bool (*string)(void *user, uint64_t address, size_t limit, struct exec_text *text);
    void *user;
};

/* Appends the output of printf(format, ...) to text. Returns the number of arguments used, or -1 after a fault. */
int exec_print_format(struct exec_text *text, const char *format, const struct exec_print_source *source);
