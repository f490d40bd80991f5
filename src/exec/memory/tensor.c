/* cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, tensormap.replace and tensormap.cp_fenceproxy: copies of boxes
 * between a tensor in global memory and shared memory, as a tensor map describes them.
 *
 * From the PTX ISA manual ("Tensors", "Data Movement and Conversion Instructions: Tensor copy") and, where the manual
 * leaves details open, as recorded on an H200 (tests/tensor). As for all copies, the data arrives when the instruction
 * executes, and sm/copies.c decides when a wait for it ends.
 *
 * Sources: the address in shared memory as a base and an offset, the map's address and, for loads, the mbarrier's base
 * and offset.
 * The coordinates, the offsets of im2col and the mask of .multicast::cluster are extra operands; imm says which there
 * are. A box lies in shared memory element by element, the first dimension first. A swizzle exchanges its pieces of 16
 * bytes by bits of their addresses, and without an interleave its rows are as far apart as its span is long. Elements
 * outside the tensor are 0 or NaN in a load, and a store leaves them out. An element of an interleaved tensor is a
 * slice of 16 or 32 bytes of channels, whatever the type. A store writes whole pieces of 16 bytes, also beyond the
 * tensor's first dimension. Its spatial dimensions come first, then the slices, of which a copy takes one, and the
 * images. A load rounds tf32, and no load flushes subnormal numbers. On the H200 a store with a negative coordinate is
 * an illegal instruction; here it is a fault, as an unaligned one. */
#include "exec/memory/tensor.h"

#include "base/memory.h"
#include "exec/memory/combine.h"
#include "exec/memory/mbarrier.h"
#include "exec/tensor_map.h"

enum { PIECE = 16, SHARED_ALIGNMENT = 128 };

/* A copy of one lane. */
struct job {
    struct exec_context *cx;
    unsigned lane;
    struct exec_tensor_map map;
    int32_t at[EXEC_TENSOR_DIMS];
    uint32_t offset[EXEC_TENSOR_DIMS]; /* im2col; 0 in other dimensions */
    uint32_t n[EXEC_TENSOR_DIMS];      /* elements of the box in each dimension; of im2col: channels, then pixels */
    uint32_t bytes, pitch;             /* of an element; from one row of the box to the next in shared memory */
    uint64_t shared;                   /* the box's offset in the memory of its block */
    unsigned char *block_shared;       /* of that block */
    exec_combine_fn *combine;          /* NULL: no reduction */
    bool is_load;
};

/* --- elements --- */

/* Returns the swizzled offset of a piece of 16 bytes. */
static uint64_t swizzled(const struct job *job, uint64_t offset) {
    uint64_t span = (1u << job->map.swizzle) - 1; /* pieces that are exchanged: 0, 1, 3 or 7 */
    return offset ^ ((offset >> 7 & span) << 4);
}

static unsigned char *place_of(const struct job *job, uint64_t position) {
    uint64_t offset = job->shared + position;
    return job->block_shared + (swizzled(job, offset & ~(uint64_t)(PIECE - 1)) | offset % PIECE);
}

/* Rounds numbers to tf32. */
static void convert(unsigned char *piece) {
    for (unsigned i = 0; i < PIECE; i += 4) {
        uint32_t bits;
        memcpy(&bits, piece + i, sizeof bits);
        bool is_number = (bits & 0x7f800000) != 0x7f800000;
        bits = is_number ? (bits + 0x1000) & ~0x1fffu : bits & 0x7fffff ? 0x7fffe000 : bits;
        memcpy(piece + i, &bits, sizeof bits);
    }
}

/* Returns the bits of an element outside the tensor: each half of a number is 7ff7. */
static uint64_t fill_of(const struct exec_tensor_map *map) { return map->fill ? 0x7ff77ff77ff77ff7 : 0; }

static void reduce(const struct job *job, unsigned char *to, const unsigned char *from, uint32_t bytes) {
    const uint32_t each = exec_tensor_type_bytes(job->map.type);
    for (uint32_t at = 0; at < bytes; at += each) {
        uint64_t old = 0, operand = 0;
        memcpy(&old, to + at, each);
        memcpy(&operand, from + at, each);
        uint64_t next = job->combine(old, operand);
        memcpy(to + at, &next, each);
    }
}

/* Moves `bytes` within one piece, between the tensor and `position` of the box. */
static void move_piece(const struct job *job, uint64_t position, unsigned char *global, uint32_t bytes) {
    unsigned char *place = place_of(job, position), piece[PIECE];
    if (job->is_load) {
        memcpy(piece, global, bytes);
        if (job->map.type == EXEC_TENSOR_TF32 || job->map.type == EXEC_TENSOR_TF32_FTZ)
            convert(piece);
        memcpy(place, piece, bytes);
    } else if (job->combine) {
        reduce(job, global, place, bytes);
    } else {
        memcpy(global, place, bytes);
    }
}

static void move(const struct job *job, uint64_t position, unsigned char *global, uint32_t bytes) {
    while (bytes) {
        uint32_t part = PIECE - (uint32_t)(position % PIECE);
        part = part < bytes ? part : bytes;
        move_piece(job, position, global, part);
        position += part;
        global += part;
        bytes -= part;
    }
}

static void fill(const struct job *job, uint64_t position, uint32_t bytes) {
    const uint32_t each = exec_tensor_type_bytes(job->map.type);
    uint64_t value = fill_of(&job->map);
    for (uint32_t at = 0; job->is_load && at < bytes; at += each)
        memcpy(place_of(job, position + at), &value, each);
}

/* --- rows --- */

void exec_rows_add(struct exec_rows *rows, uint64_t address, uint32_t bytes) {
    if (rows->n == rows->room) {
        rows->room = rows->room ? 2 * rows->room : 256;
        rows->row = base_grow(rows->row, rows->room, sizeof *rows->row);
    }
    rows->row[rows->n++] = (struct exec_row_of_box){address, bytes};
}

/* Moves n elements of the first dimension from coordinate `first` on, `step` apart; `base` is the address of coordinate
 * 0, and the row is outside the tensor if is_outside. Returns false after a fault. */
static bool move_row(struct job *job, uint64_t position, uint64_t base, int64_t first, uint32_t n, uint32_t step,
                     bool is_outside) {
    int64_t last = job->map.last[0];
    if (!job->is_load && !job->map.interleave) /* whole pieces, as the H200 */
        last = ((last + 1) * job->bytes + PIECE - 1) / PIECE * PIECE / job->bytes - 1;
    if (step != 1) { /* one by one */
        for (uint32_t i = 0; i < n; i++)
            if (!move_row(job, position + (uint64_t)i * job->bytes, base, first + (int64_t)i * step, 1, 1, is_outside))
                return false;
        return true;
    }
    int64_t low = first < 0 ? 0 : first, high = first + n - 1 < last ? first + n - 1 : last;
    if (is_outside || low > high) {
        fill(job, position, n * job->bytes);
        return true;
    }
    uint32_t before = (uint32_t)(low - first) * job->bytes, bytes = (uint32_t)(high - low + 1) * job->bytes;
    uint64_t address = base + (uint64_t)low * job->bytes;
    unsigned char *global = exec_range_at(job->cx, job->lane, PTX_SPACE_GLOBAL, address, bytes, 1, !job->is_load);
    if (!global)
        return false;
    exec_rows_add(&job->cx->async.rows, address, bytes);
    fill(job, position, before);
    move(job, position + before, global, bytes);
    fill(job, position + before + bytes, n * job->bytes - before - bytes);
    return true;
}

static bool is_inside(const struct job *job, unsigned i, int64_t coordinate) {
    return coordinate >= 0 && coordinate <= (int64_t)job->map.last[i];
}

static uint32_t first_step(const struct job *job) { return job->map.interleave ? job->map.step[0] : 1; }

static bool move_box(struct job *job) {
    const struct exec_tensor_map *map = &job->map;
    uint32_t index[EXEC_TENSOR_DIMS] = {0};
    uint64_t position = 0;
    for (;;) {
        uint64_t base = map->address;
        bool is_outside = false;
        for (unsigned i = 1; i < map->rank; i++) {
            int64_t coordinate = job->at[i] + (int64_t)index[i] * map->step[i];
            is_outside |= !is_inside(job, i, coordinate);
            base += (uint64_t)coordinate * map->stride[i - 1];
        }
        if (!move_row(job, position, base, job->at[0], job->n[0], first_step(job), is_outside))
            return false;
        position += job->pitch;
        unsigned i = 1;
        while (i < map->rank && ++index[i] == job->n[i])
            index[i++] = 0;
        if (i >= map->rank)
            return true;
    }
}

/* im2col: pixel after pixel of the bounding box, from the coordinates on, and of the next image after its end. */
static bool move_column(struct job *job) {
    const struct exec_tensor_map *map = &job->map;
    const unsigned n_spatial = map->rank - 2u, first = map->interleave ? 0 : 1;
    const unsigned channel = map->interleave ? map->rank - 2u : 0;
    int64_t at[EXEC_TENSOR_DIMS];
    uint64_t position = 0;
    for (unsigned i = 0; i < map->rank; i++)
        at[i] = job->at[i];
    for (uint32_t pixel = 0; pixel < map->pixels; pixel++) {
        uint64_t base = map->address;
        bool is_outside = false;
        for (unsigned i = 0; i < map->rank; i++) {
            int64_t coordinate = at[i] + job->offset[i];
            if (i == 0 && channel == 0)
                continue;
            is_outside |= !is_inside(job, i, coordinate);
            base += i ? (uint64_t)coordinate * map->stride[i - 1] : (uint64_t)coordinate * job->bytes;
        }
        if (channel == 0 && !move_row(job, position, base, at[0], map->channels, 1, is_outside))
            return false;
        if (channel != 0) { /* one slice of channels; the first coordinate is in `base` already */
            struct job one = *job;
            one.map.last[0] = 0;
            if (!move_row(&one, position, base, 0, 1, 1, is_outside))
                return false;
        }
        position += job->pitch;
        unsigned i = 0;
        for (; i < n_spatial; i++) {
            at[first + i] += map->step[first + i];
            if (at[first + i] <= (int64_t)map->last[first + i] + map->upper[i])
                break;
            at[first + i] = map->lower[i];
        }
        if (i == n_spatial)
            at[map->rank - 1] += map->step[map->rank - 1];
    }
    return true;
}

/* --- instructions --- */

static bool fault(struct job *job, uint64_t address, const char *what) {
    exec_fault_set(job->cx, EXEC_FAULT_MISALIGNED, job->lane, address, EXEC_TENSOR_MAP_BYTES, "%s", what);
    return false;
}

/* Reads the map and the operands. */
static bool start_job(struct exec_context *cx, const struct exec_operands *o, unsigned lane, struct job *job) {
    const uint32_t imm = o->imm;
    const unsigned rank = imm & 7;
    uint64_t map_at = ((const uint64_t *)o->src[2])[lane];
    *job = (struct job){.cx = cx, .lane = lane, .is_load = imm & EXEC_TENSOR_LOAD};
    const unsigned char *map = exec_range_at(cx, lane, PTX_SPACE_GENERIC, map_at, EXEC_TENSOR_MAP_BYTES, 64, false);
    if (!map)
        return false;
    memcpy(&job->map, map, sizeof job->map);
    if (job->map.magic != EXEC_TENSOR_MAGIC)
        return fault(job, map_at, "this is not a tensor map");
    if (job->map.rank != rank || job->map.is_column != !!(imm & EXEC_TENSOR_COLUMN))
        return fault(job, map_at, "the tensor map has another rank or mode than the instruction");
    job->bytes = job->map.interleave ? 16u * job->map.interleave : exec_tensor_type_bytes(job->map.type);
    for (unsigned i = 0; i < rank; i++) {
        job->at[i] = (int32_t)exec_extra_value(cx, i, lane);
        uint32_t step = i || job->map.interleave ? job->map.step[i] : 1;
        job->n[i] = (job->map.box[i] + step - 1) / (step ? step : 1);
    }
    if (job->map.is_column) {
        job->n[0] = job->map.interleave ? 1 : job->map.channels;
        job->n[1] = job->map.pixels;
    } else if (job->map.interleave) {
        job->n[rank - 2] = 1; /* a slice of channels */
    }
    job->pitch = job->n[0] * job->bytes;
    if (!job->map.interleave && job->map.swizzle)
        job->pitch = (uint32_t)PIECE << job->map.swizzle;
    for (unsigned i = 0; imm & EXEC_TENSOR_OFFSETS && i + 2 < rank; i++)
        job->offset[i + !job->map.interleave] = *(const uint16_t *)exec_extra_at(cx, rank + i, lane);
    for (unsigned i = 0; !job->is_load && !job->map.is_column && i < rank; i++)
        if (job->at[i] < 0)
            return fault(job, map_at, "a box that is stored begins at a negative coordinate");
    if (!job->map.interleave && (int64_t)job->at[0] * job->bytes % PIECE)
        return fault(job, map_at, "a box begins at a multiple of 16 bytes");
    job->combine = imm >> EXEC_TENSOR_REDUCTION_BIT
                       ? exec_combine_tensor((enum ptx_modifier)(imm >> EXEC_TENSOR_REDUCTION_BIT), job->map.type)
                       : NULL;
    if (imm >> EXEC_TENSOR_REDUCTION_BIT && !job->combine)
        return fault(job, map_at, "the tensor's type has no such reduction");
    return true;
}

static uint32_t box_bytes(const struct job *job) {
    uint32_t bytes = job->bytes;
    for (unsigned i = 0; i < (job->map.is_column ? 2u : job->map.rank); i++)
        bytes *= job->n[i];
    return bytes;
}

/* Returns the bytes that the box takes in shared memory. */
static uint32_t extent(const struct job *job) {
    uint32_t row = job->n[0] * job->bytes;
    return (box_bytes(job) / row - 1) * job->pitch + row;
}

/* Copies the box to or from the shared memory of the block that the address names. */
static bool run_job(struct job *job, uint64_t shared) {
    if (!exec_range_at(job->cx, job->lane, PTX_SPACE_SHARED, shared, extent(job), SHARED_ALIGNMENT, job->is_load))
        return false;
    const struct exec_block *block = exec_shared_block(job->cx, job->lane, &shared);
    job->shared = shared;
    job->block_shared = block->shared;
    return job->map.is_column ? move_column(job) : move_box(job);
}

static void copy_tensor(struct exec_context *cx, const struct exec_operands *o) {
    cx->async.rows.n = 0;
    EXEC_FOR_ACTIVE(l, o->mask) {
        struct job job = {.cx = cx};
        uint64_t shared = exec_based_address(cx, o, 0, l);
        uint32_t mask = 0;
        cx->async.first_row[l] = cx->async.rows.n;
        cx->async.mbarrier[l] = EXEC_NO_MBARRIER;
        cx->async.multicast[l] = 0;
        if (!start_job(cx, o, l, &job))
            return;
        if (o->imm & EXEC_TENSOR_MULTICAST) {
            unsigned n_offsets = o->imm & EXEC_TENSOR_OFFSETS ? job.map.rank - 2u : 0;
            mask = *(const uint16_t *)exec_extra_at(cx, job.map.rank + n_offsets, l);
        }
        if (!exec_multicast_start(cx, l, mask))
            return;
        uint64_t mbarrier = job.is_load ? exec_based_address(cx, o, 3, l) : 0;
        for (uint32_t left = mask ? mask : 1; left; left &= left - 1) {
            uint32_t rank = (uint32_t)__builtin_ctz(left);
            uint32_t n = cx->async.rows.n;
            if (!run_job(&job, mask ? exec_of_rank(shared, rank) : shared))
                return;
            if (left != (mask ? mask : 1)) /* the data is read once */
                cx->async.rows.n = n;
            if (job.is_load &&
                !exec_mbarrier_complete(cx, l, mask ? exec_of_rank(mbarrier, rank) : mbarrier, box_bytes(&job)))
                return;
        }
        cx->address[l] = job.map.address;
        cx->async.bytes[l] = box_bytes(&job);
        cx->async.n_rows[l] = cx->async.rows.n - cx->async.first_row[l];
    }
}

exec_act_fn *exec_select_tensor_copy(const struct exec_form *form) {
    (void)form;
    return copy_tensor;
}

/* --- tensormap --- */

/* Sources: the map's address, then the number of the dimension, if there is one, and the value. imm is the address's
 * offset, and the field is the instruction's combination. */
static void replace_field(struct exec_context *cx, const struct exec_operands *o) {
    /* The manual numbers types in another order than the driver. */
    static const uint8_t types[EXEC_TENSOR_N_TYPES] = {0,
                                                       1,
                                                       2,
                                                       3,
                                                       4,
                                                       5,
                                                       6,
                                                       7,
                                                       EXEC_TENSOR_F32_FTZ,
                                                       EXEC_TENSOR_F64,
                                                       EXEC_TENSOR_BF16,
                                                       EXEC_TENSOR_TF32,
                                                       EXEC_TENSOR_TF32_FTZ};
    struct exec_view view;
    const unsigned n_src = cx->insn->n_src;
    if (!exec_view_lanes(cx, o, EXEC_TENSOR_MAP_BYTES, true, &view))
        return;
    EXEC_FOR_ACTIVE(l, o->mask) {
        struct exec_tensor_map map;
        unsigned char *place = exec_place(view.places, l);
        bool is_wide = cx->insn->operand[n_src - 1].width == PTX_WIDTH_64;
        uint64_t value = is_wide ? ((const uint64_t *)o->src[n_src - 1])[l] : ((const uint32_t *)o->src[n_src - 1])[l];
        uint32_t i = n_src > 2 ? ((const uint32_t *)o->src[1])[l] : 0;
        memcpy(&map, place, sizeof map);
        i = i < EXEC_TENSOR_DIMS ? i : EXEC_TENSOR_DIMS - 1;
        map.magic = EXEC_TENSOR_MAGIC;
        switch ((enum exec_tensor_field)cx->insn->combination) {
        case EXEC_FIELD_ADDRESS:
            map.address = value;
            break;
        case EXEC_FIELD_RANK:
            map.rank = (uint8_t)(value + 1);
            break;
        case EXEC_FIELD_BOX:
            map.box[i] = (uint16_t)value;
            break;
        case EXEC_FIELD_DIM:
            map.last[i] = (uint32_t)value - 1;
            break;
        case EXEC_FIELD_STRIDE:
            map.stride[i < EXEC_TENSOR_DIMS - 1 ? i : 0] = value;
            break;
        case EXEC_FIELD_STEP:
            map.step[i] = (uint8_t)value;
            break;
        case EXEC_FIELD_TYPE:
            map.type = value < EXEC_TENSOR_N_TYPES ? types[value] : (uint8_t)value;
            break;
        case EXEC_FIELD_INTERLEAVE:
            map.interleave = (uint8_t)value;
            break;
        case EXEC_FIELD_SWIZZLE:
            map.swizzle = (uint8_t)value;
            break;
        case EXEC_FIELD_FILL:
            map.fill = (uint8_t)value;
            break;
        }
        memcpy(place, &map, sizeof map);
    }
}

/* All lanes copy the same map from shared to global memory. */
static void publish(struct exec_context *cx, const struct exec_operands *o) {
    EXEC_FOR_ACTIVE(l, o->mask) {
        uint64_t to = exec_based_address(cx, o, 0, l), from = exec_based_address(cx, o, 2, l);
        unsigned char *place = exec_range_at(cx, l, PTX_SPACE_GLOBAL, to, EXEC_TENSOR_MAP_BYTES, 128, true);
        const unsigned char *map = exec_range_at(cx, l, PTX_SPACE_SHARED, from, EXEC_TENSOR_MAP_BYTES, 128, false);
        if (!place || !map)
            return;
        memcpy(place, map, EXEC_TENSOR_MAP_BYTES);
        cx->address[l] = to;
    }
}

exec_act_fn *exec_select_tensor_map(const struct exec_form *form) {
    return ptx_has(form->insn, PTX_MOD_REPLACE) ? replace_field : publish;
}
