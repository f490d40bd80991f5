/* Resolves the addresses of a memory instruction: state spaces, generic windows, bounds and alignment.
 *
 * One pass over all 32 addresses (lanes/span.c) finds the two common patterns, consecutive elements and one address for
 * all, and the lowest and highest address. Then a single bounds check against one segment (the last allocation
 * accessed, the block's shared memory, the parameters) serves the whole row. If that check fails, each lane is looked
 * up separately, which also finds the lowest faulting lane.
 *
 * Spaces, alignment and generic windows follow the PTX ISA manual ("State Spaces", "Generic Addressing"). Accesses must
 * be aligned to their full size, vectors included. Left out: write protection of constant variables, which are in
 * device memory here. */
#include "exec/internal.h"

#include <stdarg.h>

#include "exec/memory/stores.h"
#include "exec/run/run.h"

void exec_fault_set(struct exec_context *cx, enum exec_fault_kind kind, unsigned lane, uint64_t address, uint32_t bytes,
                    const char *format, ...) {
    struct exec_fault *fault = &cx->fault;
    if (fault->kind != EXEC_FAULT_NONE)
        return;
    fault->kind = kind;
    fault->lane = lane;
    fault->address = address;
    fault->bytes = bytes;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->detail, sizeof(fault->detail), format, arguments);
    va_end(arguments);
}

/* Returns the allocation that contains the address, or NULL. */
static const struct exec_allocation *find_allocation(const struct exec_memory *memory, uint64_t address) {
    uint32_t low = 0, n = memory->n_allocations;
    while (n > 1) {
        uint32_t half = n / 2;
        low = memory->allocation[low + half].address <= address ? low + half : low;
        n -= half;
    }
    if (n == 0)
        return NULL;
    const struct exec_allocation *found = &memory->allocation[low];
    return address - found->address < found->bytes ? found : NULL;
}

/* Returns the allocation that the instruction, or another one in the same place of the cache, accessed last. */
static inline struct exec_allocation *last_allocation(struct exec_context *cx) {
    return &cx->last[(uintptr_t)cx->insn / sizeof(struct exec_insn) % EXEC_LAST_ALLOCATIONS];
}

static bool refresh_cache(struct exec_context *cx, uint64_t address) {
    const struct exec_allocation *found = find_allocation(cx->grid->memory, address);
    if (found)
        *last_allocation(cx) = *found;
    return found;
}

void exec_forget_allocations(struct exec_context *cx) { memset(cx->last, 0, sizeof cx->last); }

static void fault_global(struct exec_context *cx, uint64_t address, uint32_t bytes, unsigned lane) {
    const struct exec_memory *memory = cx->grid->memory;
    char text[sizeof(cx->fault.detail)];
    if (memory->explain) {
        text[0] = 0;
        enum exec_fault_kind kind = memory->explain(memory->user, address, bytes, text, sizeof(text));
        exec_fault_set(cx, kind, lane, address, bytes, "%s", text);
        return;
    }
    const struct exec_allocation *around = find_allocation(memory, address);
    if (around)
        snprintf(text, sizeof(text), "out of bounds: it ends past the %llu bytes at 0x%llx",
                 (unsigned long long)around->bytes, (unsigned long long)around->address);
    else
        snprintf(text, sizeof(text), "out of bounds: in no allocation");
    exec_fault_set(cx, EXEC_FAULT_ILLEGAL_ADDRESS, lane, address, bytes, "%s", text);
}

static bool is_inside(uint64_t offset, uint64_t size, uint32_t bytes) {
    return offset < size && size - offset >= bytes;
}

unsigned char *exec_global(struct exec_context *cx, uint64_t address, uint32_t bytes, unsigned lane) {
    const struct exec_allocation *last = last_allocation(cx);
    if (!is_inside(address - last->address, last->bytes, bytes) &&
        (!refresh_cache(cx, address) || !is_inside(address - last->address, last->bytes, bytes))) {
        const struct exec_memory *memory = cx->grid->memory;
        if (!memory->allows_stray || !memory->allows_stray(memory->user, cx, address, bytes, lane)) {
            fault_global(cx, address, bytes, lane);
            return NULL;
        }
    }
    return (unsigned char *)(uintptr_t)(address + (uint64_t)cx->grid->memory->delta);
}

const struct exec_block *exec_shared_block(struct exec_context *cx, unsigned lane, uint64_t *offset) {
    const struct exec_block *own = exec_row_at(cx, lane)->block;
    uint64_t rank = *offset >> EXEC_RANK_BIT;
    if (!rank)
        return own;
    uint32_t n = own->cluster ? own->cluster->n_blocks : 1;
    const struct exec_block *block = rank == own->rank + 1 ? own
                                     : rank <= n && n > 1  ? own->cluster->block[rank - 1]
                                                           : NULL;
    if (!block)
        exec_fault_set(cx, EXEC_FAULT_SHARED_BOUNDS, lane, *offset, 0,
                       rank <= n ? "block %u of the cluster has ended" : "rank %u; the cluster has %u blocks",
                       (unsigned)(rank - 1), n);
    *offset &= (1u << EXEC_RANK_BIT) - 1;
    return block;
}

static unsigned char *shared_at(struct exec_context *cx, unsigned lane, uint64_t offset, unsigned bytes) {
    const struct exec_block *block = exec_shared_block(cx, lane, &offset);
    if (!block)
        return NULL;
    if (!is_inside(offset, cx->grid->shared_bytes, bytes)) {
        exec_fault_set(cx, EXEC_FAULT_SHARED_BOUNDS, lane, offset, bytes, "the block has %u bytes of shared memory",
                       cx->grid->shared_bytes);
        return NULL;
    }
    return block->shared + offset;
}

static unsigned char *local_at(struct exec_context *cx, unsigned lane, uint64_t offset, unsigned bytes) {
    uint32_t size = cx->grid->local_bytes;
    if (!is_inside(offset, size, bytes)) {
        exec_fault_set(cx, EXEC_FAULT_LOCAL_BOUNDS, lane, offset, bytes, "the thread has %u bytes of local memory",
                       size);
        return NULL;
    }
    return exec_row_at(cx, lane)->local + (size_t)exec_lane_at(cx, lane) * size + offset;
}

static unsigned char *parameter_at(struct exec_context *cx, unsigned lane, uint64_t offset, unsigned bytes,
                                   bool is_write) {
    if (is_write) {
        exec_fault_set(cx, EXEC_FAULT_READ_ONLY, lane, offset, bytes, "kernel parameters cannot be written");
        return NULL;
    }
    if (!is_inside(offset, cx->grid->parameter_bytes, bytes)) {
        exec_fault_set(cx, EXEC_FAULT_ILLEGAL_ADDRESS, lane, offset, bytes,
                       "out of bounds: the kernel has %u bytes of parameters", cx->grid->parameter_bytes);
        return NULL;
    }
    /* The result is not const because callers also write through pointers to other spaces. */
    return (unsigned char *)(uintptr_t)(cx->grid->parameters + offset);
}

unsigned char *exec_host_at(struct exec_context *cx, unsigned lane, enum ptx_space space, uint64_t address,
                            unsigned bytes, bool is_write) {
    return exec_range_at(cx, lane, space, address, bytes, bytes, is_write);
}

unsigned char *exec_range_at(struct exec_context *cx, unsigned lane, enum ptx_space space, uint64_t address,
                             uint32_t bytes, uint32_t alignment, bool is_write) {
    if (address & (alignment - 1)) {
        exec_fault_set(cx, EXEC_FAULT_MISALIGNED, lane, address, bytes, "an access of %u bytes needs a multiple of %u",
                       bytes, alignment);
        return NULL;
    }
    uint64_t offset = address;
    if (space == PTX_SPACE_GENERIC)
        space = exec_generic_space(address, &offset);
    switch (space) {
    case PTX_SPACE_SHARED:
        return shared_at(cx, lane, offset, bytes);
    case PTX_SPACE_LOCAL:
        return local_at(cx, lane, offset, bytes);
    case PTX_SPACE_PARAM:
        return parameter_at(cx, lane, offset, bytes, is_write);
    default:
        return exec_global(cx, address, bytes, lane);
    }
}

/* Every lane has the same address, which is known in advance. */
static void set_addresses(struct exec_context *cx, uint64_t address) {
    for (int i = 0; i < EXEC_LANES; i++)
        cx->address[i] = address;
    cx->span = (struct exec_span){address, address, (uint32_t)address, false};
}

static inline bool are_few(uint32_t mask) {
    for (int i = 0; i < 6; i++)
        mask &= mask - 1;
    return !mask;
}

/* A few lanes are faster one by one than all together. */
static void compute_few_addresses(struct exec_context *cx, const struct exec_operands *o, bool is_narrow) {
    const uint32_t *narrow = o->src[0];
    const uint64_t *wide = o->src[0];
    uint64_t offset = (uint64_t)(int64_t)(int32_t)o->imm, low = UINT64_MAX, high = 0, bits = 0;
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t address = is_narrow ? narrow[l] + o->imm : wide[l] + offset;
        cx->address[l] = address;
        low = address < low ? address : low;
        high = address > high ? address : high;
        bits |= address;
    }
    cx->address[0] = cx->address[__builtin_ctz(o->mask)];
    cx->span = (struct exec_span){low, high, (uint32_t)bits, false};
}

/* Fills cx->address, for lane 0 in any case, and cx->span. */
static void compute_addresses(struct exec_context *cx, const struct exec_operands *o, struct exec_operand operand,
                              unsigned bytes) {
    const uint32_t *narrow = o->src[0];
    const uint64_t *wide = o->src[0];
    uint64_t offset = (uint64_t)(int64_t)(int32_t)o->imm;
    if (cx->row && exec_is_broadcast(operand, narrow))
        set_addresses(cx, operand.width == PTX_WIDTH_32 ? narrow[0] + o->imm : wide[0] + offset);
    else if (are_few(o->mask))
        compute_few_addresses(cx, o, operand.width == PTX_WIDTH_32);
    else if (operand.width == PTX_WIDTH_32)
        cx->lanes->span_32(narrow, o->imm, bytes, o->mask, cx->address, &cx->span);
    else
        cx->lanes->span_64(wide, offset, bytes, o->mask, cx->address, &cx->span);
}

static inline enum exec_pattern pattern_of(const struct exec_span *span) {
    return span->is_unit             ? EXEC_PATTERN_CONSECUTIVE
           : span->low == span->high ? EXEC_PATTERN_UNIFORM
                                     : EXEC_PATTERN_LANES;
}

/* Addresses [low, low + bytes) that are contiguous in host memory. */
struct segment {
    uint64_t low, bytes;
    unsigned char *host;
};

/* Returns whether all lanes' accesses lie inside the segment and are aligned. */
EXEC_INLINE bool are_lanes_inside(const struct segment *s, const struct exec_span *span, unsigned bytes) {
    return span->low >= s->low && s->bytes >= bytes && span->high - s->low <= s->bytes - bytes &&
           !(span->bits & (bytes - 1));
}

EXEC_INLINE bool view_segment(const struct exec_context *cx, const struct segment *s, unsigned bytes,
                              struct exec_view *view) {
    if (!are_lanes_inside(s, &cx->span, bytes))
        return false;
    view->first = s->host + (cx->span.low - s->low);
    view->places = (struct exec_places){cx->address, (uintptr_t)s->host - (uintptr_t)s->low, 0};
    return true;
}

static inline bool view_allocation(struct exec_context *cx, unsigned bytes, struct exec_view *view) {
    const struct exec_allocation *last = last_allocation(cx);
    struct segment s = {last->address, last->bytes,
                        (unsigned char *)(uintptr_t)(last->address + (uint64_t)cx->grid->memory->delta)};
    view->is_global = view_segment(cx, &s, bytes, view);
    return view->is_global;
}

static inline bool view_global(struct exec_context *cx, unsigned bytes, struct exec_view *view) {
    return view_allocation(cx, bytes, view) || (refresh_cache(cx, cx->address[0]) && view_allocation(cx, bytes, view));
}

static bool view_shared(const struct exec_context *cx, uint64_t low, unsigned bytes, struct exec_view *view) {
    if (!cx->row)
        return false;
    struct segment s = {low, cx->grid->shared_bytes, cx->row->block->shared};
    return view_segment(cx, &s, bytes, view);
}

static bool view_parameters(const struct exec_context *cx, uint64_t low, unsigned bytes, bool is_write,
                            struct exec_view *view) {
    struct segment s = {low, cx->grid->parameter_bytes, (unsigned char *)(uintptr_t)cx->grid->parameters};
    return !is_write && view_segment(cx, &s, bytes, view);
}

/* In local memory the same offset is a different place for each lane. */
static bool view_local(const struct exec_context *cx, uint64_t low, unsigned bytes, struct exec_view *view) {
    struct segment s = {low, cx->grid->local_bytes, NULL};
    if (!cx->row || !are_lanes_inside(&s, &cx->span, bytes))
        return false;
    view->pattern = EXEC_PATTERN_LANES;
    view->places = (struct exec_places){cx->address, (uintptr_t)cx->row->local - (uintptr_t)low, cx->grid->local_bytes};
    return true;
}

/* A generic address inside an allocation is in no window: allocations do not overlap windows. */
static bool view_generic(struct exec_context *cx, unsigned bytes, bool is_write, struct exec_view *view) {
    if (view_allocation(cx, bytes, view))
        return true;
    uint64_t offset;
    switch (exec_generic_space(cx->address[0], &offset)) {
    case PTX_SPACE_SHARED:
        return view_shared(cx, EXEC_SHARED_WINDOW, bytes, view);
    case PTX_SPACE_LOCAL:
        return view_local(cx, EXEC_LOCAL_WINDOW, bytes, view);
    case PTX_SPACE_PARAM:
        return view_parameters(cx, EXEC_PARAM_WINDOW, bytes, is_write, view);
    default:
        return view_global(cx, bytes, view);
    }
}

static bool view_row(struct exec_context *cx, enum ptx_space space, unsigned bytes, bool is_write,
                     struct exec_view *view) {
    switch (space) {
    case PTX_SPACE_SHARED:
        return view_shared(cx, 0, bytes, view);
    case PTX_SPACE_LOCAL:
        return view_local(cx, 0, bytes, view);
    case PTX_SPACE_PARAM:
        return view_parameters(cx, 0, bytes, is_write, view);
    case PTX_SPACE_GENERIC:
        return view_generic(cx, bytes, is_write, view);
    default:
        return view_global(cx, bytes, view);
    }
}

enum exec_pattern exec_view_memory(struct exec_context *cx, const struct exec_operands *o, unsigned bytes,
                                   bool is_write, struct exec_view *view) {
    const struct exec_insn *insn = cx->insn;
    enum ptx_space space = insn->access.space;
    compute_addresses(cx, o, insn->operand[insn->n_dst], bytes);
    view->pattern = pattern_of(&cx->span);
    view->is_global = false;
    if (view_row(cx, space, bytes, is_write, view)) {
        if (cx->stores && view->is_global)
            exec_stores_view(cx, o->mask, o->mask, bytes, is_write, view);
        return view->pattern;
    }
    uint32_t global_lanes = 0;
    view->pattern = EXEC_PATTERN_LANES;
    view->places = (struct exec_places){view->host, 0, 0};
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t offset;
        enum ptx_space own = space == PTX_SPACE_GENERIC ? exec_generic_space(cx->address[l], &offset) : space;
        view->host[l] = (uintptr_t)exec_host_at(cx, l, space, cx->address[l], bytes, is_write);
        if (!view->host[l])
            return view->pattern = EXEC_PATTERN_FAULT;
        global_lanes |= (uint32_t)(own == PTX_SPACE_GLOBAL || own == PTX_SPACE_CONST) << l;
    }
    if (cx->stores && global_lanes)
        exec_stores_view(cx, o->mask, global_lanes, bytes, is_write, view);
    return view->pattern;
}

bool exec_view_lanes(struct exec_context *cx, const struct exec_operands *o, unsigned bytes, bool is_write,
                     struct exec_view *view) {
    enum exec_pattern pattern = exec_view_memory(cx, o, bytes, is_write, view);
    if (pattern == EXEC_PATTERN_CONSECUTIVE || pattern == EXEC_PATTERN_UNIFORM)
        view->places = (struct exec_places){cx->address, (uintptr_t)view->first - (uintptr_t)cx->address[0], 0};
    return pattern != EXEC_PATTERN_FAULT;
}
