/* Executes instructions. This module computes only values; gpu/ and sm/ decide which threads execute and when.
 *
 * A linked program is one array of 64-byte instructions. A program counter is an index into it. A row is 32
 * neighbouring threads of a block; its registers are arrays of 32 lanes. An operand is {base, offset}: the base is the
 * row's registers, the program's constants, the row itself (thread indices) or its block (block and grid indices), so
 * every operand is a pointer to 32 lanes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "exec/lanes/lanes.h"
#include "ptx/analysis.h"
#include "ptx/ptx.h"

enum { EXEC_MAX_OPERANDS = 8, EXEC_NO_PC = 0x7fffffff, EXEC_N_BARRIERS = 33, EXEC_MAX_ROWS = 64 };

/* Barriers 0 to 15 are those of bar. The next one is that of barrier.cluster, and those after it belong to groups of
 * four rows (wgmma.wait_group). */
enum { EXEC_CLUSTER_BARRIER = 16, EXEC_GROUP_BARRIER = 17, EXEC_GROUP_ROWS = 4 };

/* Generic addresses: three windows. Everything else is global memory. */
#define EXEC_SHARED_WINDOW 0x0000010000000000ull
#define EXEC_LOCAL_WINDOW 0x0000010100000000ull
#define EXEC_PARAM_WINDOW 0x0000010200000000ull
#define EXEC_CODE_WINDOW 0x0000010300000000ull /* function addresses: never read or written */
#define EXEC_WINDOW_BYTES 0x0000000100000000ull

/* An address of shared memory names another block of the cluster by its rank plus 1, from this bit on. With 0 there it
 * is one of the thread's own block. */
enum { EXEC_RANK_BIT = 24, EXEC_MAX_CLUSTER = 16 };

enum exec_base { EXEC_BASE_REGISTERS, EXEC_BASE_CONSTANTS, EXEC_BASE_ROW, EXEC_BASE_BLOCK };

struct exec_operand {
    uint32_t offset : 28; /* bytes from the base */
    uint32_t width : 2;   /* enum ptx_width */
    uint32_t base : 2;    /* enum exec_base */
};

enum exec_kind {
    EXEC_KIND_LANES,       /* a pure function: lanes() */
    EXEC_KIND_CONTEXT,     /* memory, atomics, textures: act() with the lanes' addresses */
    EXEC_KIND_WARP_MEMORY, /* cond_acc, wmma.load, ldmatrix, wgmma, ...: act() on a whole row, with the addresses of the
                              lanes in cx->touched */
    EXEC_KIND_WARP,        /* vote shfl match redux activemask tree_traverse mma: act() on a whole row */
    EXEC_KIND_BRANCH,
    EXEC_KIND_BRANCH_INDEXED,
    EXEC_KIND_CALL,
    EXEC_KIND_CALL_INDIRECT,
    EXEC_KIND_CALL_BUILTIN, /* vprintf, malloc, free, __assertfail: act() */
    EXEC_KIND_RETURN,
    EXEC_KIND_EXIT,
    EXEC_KIND_BARRIER,
    EXEC_KIND_NOTHING, /* fences, prefetches, hints: no value changes */
    EXEC_KIND_TRAP,    /* trap, brkpt */
    EXEC_N_KINDS
};

/* Returns whether all lanes of such an instruction must belong to one row. */
static inline bool exec_acts_on_row(unsigned kind) { return kind == EXEC_KIND_WARP || kind == EXEC_KIND_WARP_MEMORY; }
/* Returns whether such an instruction leaves addresses in the context. */
static inline bool exec_has_addresses(unsigned kind) {
    return kind == EXEC_KIND_CONTEXT || kind == EXEC_KIND_WARP_MEMORY;
}

enum exec_flag {
    EXEC_FLAG_GUARD_NEGATED = 1,
    EXEC_FLAG_ROUNDS = 2,      /* lanes() runs under the host rounding mode in `rounding` */
    EXEC_FLAG_READS_CLOCK = 4, /* row->clock is refreshed first */
    EXEC_FLAG_SAVES = 8,       /* a call that may recurse: it saves the caller's registers in its frame */
    EXEC_FLAG_UNIFORM = 16,    /* branch: same direction in the whole block */
    EXEC_FLAG_HOLDS_ROW = 32,  /* ld: DRAM should keep the row open for the next access */
    EXEC_FLAG_NEGATES = 64,    /* cond_acc, tree_traverse: the predicate is negated (!p) */
    EXEC_FLAG_AT_HOME = 128,   /* uses a register that threads do not carry with them (live.h) */
};

enum exec_barrier_mode {
    EXEC_BARRIER_SYNC,
    EXEC_BARRIER_ARRIVE,
    EXEC_BARRIER_WAIT, /* barrier.cluster.wait: waits for the barrier at which the thread has arrived */
    EXEC_BARRIER_POPC,
    EXEC_BARRIER_AND,
    EXEC_BARRIER_OR
};

/* A decoded memory access; the memory system reads it too. */
struct exec_access {
    uint8_t space;     /* enum ptx_space: GLOBAL, SHARED, LOCAL, PARAM (kernel parameters), CONST, GENERIC; REG: none */
    uint8_t bytes;     /* per element: 1, 2, 4, 8 */
    uint8_t n;         /* elements: 1, 2, 4 (8) */
    uint8_t is_signed; /* sign-extends into a wider register */
};

struct exec_context;
typedef void exec_act_fn(struct exec_context *cx, const struct exec_operands *o);

struct exec_insn {
    union {
        exec_lanes_fn *lanes;
        exec_act_fn *act;
    };
    struct exec_operand operand[EXEC_MAX_OPERANDS]; /* destinations first, then sources */
    union {
        uint32_t imm;       /* immediate of a modifier, or the address offset (int32_t) */
        uint32_t call_site; /* calls of any kind: index into the program's call_site */
    };
    union {
        uint32_t target;       /* branch, call: program counter */
        uint32_t branch_table; /* indexed branch: index into the program's branch_table */
        struct exec_access access;
    };
    union {
        uint32_t reconvergence; /* branch: program counter, EXEC_NO_PC at the function's end */
        uint32_t barrier_mode;  /* barrier: enum exec_barrier_mode */
        uint32_t matrix;        /* matrix instruction: index into the program's matrix */
        uint32_t extra;         /* memory, textures: number of the program's extra that holds more sources; 0: none */
    };
    struct exec_operand guard; /* predicate; offset 0 (never allocated) without a guard */
    uint8_t kind, n_dst, n_src, flags;
    uint8_t opcode;          /* enum ptx_opcode: for classes, messages, timing */
    uint8_t rounding;        /* enum exec_rounding */
    uint8_t combination;     /* of a reduction in memory: combine.h */
    bool is_simple : 1;      /* a pure function with one destination and up to three sources, without a rounding mode */
    bool is_short : 1;       /* an instruction with a context, one destination at most and up to three sources */
    bool is_texture : 1;     /* of textures or surfaces */
    bool goes_to_memory : 1; /* leaves addresses, and is not cvta, isspacep, progress or a group of cp.async */
};
_Static_assert(sizeof(struct exec_insn) == 64, "one instruction, one cache line");

enum exec_rounding { EXEC_ROUND_NEAREST, EXEC_ROUND_ZERO, EXEC_ROUND_DOWN, EXEC_ROUND_UP };

/* One argument or result of a call: it passes from a frame or register to another, at the call or the return. */
struct exec_passed {
    bool from_frame, to_frame;
    struct exec_operand from, to;    /* registers, when not in a frame */
    uint32_t from_offset, to_offset; /* in the caller's / the callee's frame (results: callee's / caller's) */
    uint32_t bytes;
};

struct exec_call_site {
    const struct ptx_instruction *insn;
    uint32_t caller; /* function number in the program */
    struct exec_passed *argument, *result;
    uint32_t n_arguments, n_results;
    struct exec_operand target; /* indirect: register with the function's address */
};

struct exec_function {
    const struct ptx_function *ptx;
    struct ptx_analysis *analysis;
    uint32_t first_pc, n_insns;
    uint32_t register_offset[PTX_N_WIDTHS]; /* of slot 0 of each width, in the row's register block */
    uint32_t register_first, register_bytes;
    uint32_t frame_bytes; /* header, .local variables, call blocks, parameters, save area; a multiple of 16 */
    uint32_t save_offset; /* of the save area for a recursive caller's registers */
    bool is_recursive;
};

/* The first bytes of every frame. */
struct exec_frame_header {
    uint32_t return_pc;    /* EXEC_NO_PC in the kernel's own frame */
    uint32_t caller_frame; /* offset in the thread's local memory */
    uint32_t call_site;
    uint32_t depth;
};

struct exec_allocation {
    uint64_t address, bytes;
};

struct exec_live;
struct exec_matrix;
struct exec_regions;

/* Sources of 32 bits that do not fit into an instruction; only textures have any. */
enum { EXEC_MAX_EXTRA = 16 };
struct exec_extra {
    uint32_t n;
    struct exec_operand operand[EXEC_MAX_EXTRA];
};

struct exec_program {
    const char *name; /* the kernel's */
    const struct ptx_module *module;
    uint64_t code_address; /* of pc 0, for instruction caches; set by the device */
    struct exec_insn *code;
    uint32_t n_insns;
    const struct ptx_instruction **source; /* per pc */
    uint32_t *function_of;                 /* per pc */
    unsigned char *constants;              /* broadcast rows, 64-byte aligned */
    uint32_t constant_bytes;
    uint32_t register_bytes;        /* per row */
    struct exec_function *function; /* [0] is the kernel */
    uint32_t n_functions;
    uint32_t *function_number; /* by ptx_function.index: its index in function[], or PTX_NO_INDEX when not reachable */
    struct exec_call_site *call_site;
    uint32_t n_call_sites;
    struct exec_extra *extra; /* by number from 1 on */
    uint32_t n_extras;
    uint32_t **branch_table; /* brx: the number of targets, then the targets */
    uint32_t n_branch_tables;
    const struct exec_matrix **matrix; /* matrix instructions: their registers and places, matrix/matrix.h */
    uint32_t n_matrices;
    const struct ptx_instruction *first_multiplication; /* of matrices; NULL without one */
    struct exec_allocation *const_variable; /* .const variables of the module: global memory that is not .global */
    uint64_t *const_place; /* of each: its address in the bank of constants, where a compiler puts them side by side */
    uint32_t n_const_variables;
    uint32_t shared_bytes; /* static */
    uint32_t dynamic_shared_offset;
    uint32_t local_bytes; /* per thread without recursion and alloca */
    bool is_recursive, uses_alloca;
    uint32_t parameter_bytes;
    uint32_t registers_per_thread; /* estimate, 32-bit registers */
    bool uses_warps;               /* has instructions or special registers that depend on warps of 32 threads */
    exec_act_fn **unchecked;       /* per pc: with checks (check/check.h), the function that executes the instruction */
    uint32_t
        *moves; /* per pc, with checks: 1 + the load that only moves values (check/moves.c); also at their stores */
    uint32_t warp_size_wanted;          /* from the kernel's .pragma "heddle warp_size N"; 0 without one */
    const struct exec_live *live;       /* live.h */
    const struct exec_regions *regions; /* program/regions.h */
    struct base_arena *arena;
};

enum exec_fault_kind {
    EXEC_FAULT_NONE,
    EXEC_FAULT_ILLEGAL_ADDRESS, /* outside every allocation */
    EXEC_FAULT_USE_AFTER_FREE,
    EXEC_FAULT_STRAY, /* outside allocations, but allowed: never left in a context */
    EXEC_FAULT_MISALIGNED,
    EXEC_FAULT_SHARED_BOUNDS,
    EXEC_FAULT_LOCAL_BOUNDS,
    EXEC_FAULT_READ_ONLY, /* store to const or param space */
    EXEC_FAULT_STACK_OVERFLOW,
    EXEC_FAULT_ASSERT,
    EXEC_FAULT_TRAP,
    EXEC_FAULT_BAD_CALL,     /* indirect call to an address that is not a function's */
    EXEC_FAULT_BAD_TEXTURE,  /* no such texture or surface object */
    EXEC_FAULT_BAD_NODE,     /* tree_traverse: a node size that is not a power of two */
    EXEC_FAULT_PARTIAL_WARP, /* a matrix instruction without all lanes of its warp */
    EXEC_FAULT_BARRIER,      /* deadlock, bad barrier number or count */
    EXEC_FAULT_LIMIT,        /* instruction limit */
};

struct exec_fault {
    enum exec_fault_kind kind;
    uint32_t lane;
    uint64_t address;
    uint32_t bytes;
    char detail[200]; /* the nearest allocation, the assertion's text, ... */
};

/* The configuration of a launch. Whoever makes a launch fills it in: a call of the driver, a graph, a kernel.
 * Everything below the driver carries it unchanged. */
struct exec_shape {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes; /* of each block */
    bool is_cooperative;           /* all blocks must be resident at once */
    uint32_t cluster[3];           /* blocks of a cluster; 0 where a launch does not name them: 1 */
};

static inline uint64_t exec_shape_blocks(const struct exec_shape *shape) {
    return (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];
}

/* Blocks of a cluster along one axis, and all of them. */
static inline uint32_t exec_shape_cluster_dim(const struct exec_shape *shape, int axis) {
    return shape->cluster[axis] ? shape->cluster[axis] : 1;
}
static inline uint32_t exec_shape_cluster(const struct exec_shape *shape) {
    return exec_shape_cluster_dim(shape, 0) * exec_shape_cluster_dim(shape, 1) * exec_shape_cluster_dim(shape, 2);
}

/* Threads of a block. */
static inline uint32_t exec_shape_threads(const struct exec_shape *shape) {
    return shape->block[0] * shape->block[1] * shape->block[2];
}

/* A launch from a kernel. */
struct exec_child {
    uint64_t function; /* its address */
    struct exec_shape shape;
};

/* A copy or, if is_fill, a memset that a kernel asks for. */
struct exec_child_copy {
    uint64_t to, from, bytes, stream;
    uint8_t value;
    bool is_fill;
};

/* Device memory as exec sees it: one arena of host memory and the live allocations in it, sorted by address. */
struct exec_memory {
    uint64_t base, limit; /* device addresses of the arena */
    ptrdiff_t delta;      /* host address = device address + delta */
    const struct exec_allocation *allocation;
    uint32_t n_allocations;
    /* Explains a bad address in the message (freed block, nearest allocation). May be NULL. */
    enum exec_fault_kind (*explain)(void *user, uint64_t address, uint32_t bytes, char *text, size_t size);
    /* Device-side malloc and free. malloc returns 0 if the heap is full; free returns false for a pointer that malloc
     * did not return. */
    uint64_t (*malloc_)(void *user, uint64_t bytes);
    bool (*free_)(void *user, uint64_t address);
    /* Launches from a kernel (device_runtime.c). new_child returns memory for its parameters, or 0 if it cannot be
     * launched. launch_child returns false if there is no launch with these parameters. */
    uint64_t (*new_child)(void *user, const struct exec_program *program, const struct exec_child *child);
    bool (*launch_child)(void *user, uint32_t block, uint64_t parameters, uint64_t stream);
    void (*copy_child)(void *user, uint32_t block, const struct exec_child_copy *passed);
    /* Decides about an access outside all allocations: true if it goes through, as on a GPU, which maps memory in large
     * pieces. Called by several host threads. NULL: none goes through. */
    bool (*allows_stray)(void *user, struct exec_context *cx, uint64_t address, uint32_t bytes, unsigned lane);
    /* Returns the texture or surface with this handle, or NULL. */
    const struct exec_texture *(*texture)(void *user, uint64_t handle);
    /* Prints the formatted text of a device printf. */
    void (*print)(void *user, const char *text, size_t length);
    void *user;
};

enum exec_texel {
    EXEC_TEXEL_U8,
    EXEC_TEXEL_U16,
    EXEC_TEXEL_U32,
    EXEC_TEXEL_S8,
    EXEC_TEXEL_S16,
    EXEC_TEXEL_S32,
    EXEC_TEXEL_F16,
    EXEC_TEXEL_F32
};
enum exec_wrap { EXEC_WRAP_REPEAT, EXEC_WRAP_CLAMP, EXEC_WRAP_MIRROR, EXEC_WRAP_BORDER };

/* Lines of texels, and slices of lines: the third dimension, the layers or the faces of cubes, six for each. */
struct exec_level {
    uint64_t address;
    uint64_t pitch, slice; /* bytes from one line and one slice to the next */
};

enum { EXEC_MAX_LEVELS = 17 };

/* A texture or surface: texels in device memory. height 0: one dimension; depth 0: no third one; layers 0: none. */
struct exec_texture {
    uint64_t address;
    uint64_t pitch, slice; /* of level 0, as in struct exec_level */
    uint32_t width, height, depth, layers;
    enum exec_texel texel;
    uint32_t channels; /* 1, 2, 4 */
    enum exec_wrap wrap[3];
    bool is_linear; /* blends neighbouring texels */
    bool is_normalized_coords;
    bool reads_normalized;     /* integer texels read as floats in [0,1] or [-1,1] */
    bool is_srgb;              /* with reads_normalized: colours are on the sRGB curve and read as linear values */
    bool is_buffer;            /* plain linear memory, fetched by integer index */
    bool is_cube, is_seamless; /* is_seamless: a cube is filtered across its edges */
    float border[4];
    /* Mip levels after the first, each half the size of the one before. */
    uint32_t n_levels; /* 0 and 1: only level 0 */
    struct exec_level level[EXEC_MAX_LEVELS];
    bool is_mip_linear; /* blends two levels */
    float level_bias, min_level, max_level;
};

/* Returns whether the threads' local memory needs room for a stack: a number of frames, or memory, not known in
 * advance. */
static inline bool exec_needs_stack(const struct exec_program *program) {
    return program->is_recursive || program->uses_alloca;
}

struct exec_grid {
    const struct exec_program *program;
    const struct exec_memory *memory;
    const unsigned char *parameters;
    uint32_t parameter_bytes;
    struct exec_shape shape;
    uint32_t shared_bytes; /* static + dynamic */
    uint32_t local_bytes;  /* per thread, with the stack limit for recursion and alloca */
    uint64_t grid_id;
    uint64_t workspace;   /* address of a cooperative grid's workspace; 0: the grid is not cooperative */
    uint64_t timer_shift; /* cycles of the device's timeline when the clock of the SMs is 0 */
    double cycles_per_ns; /* 0: without timing, %globaltimer counts as the clock does */
    uint32_t n_sms, warps_per_sm;
    uint32_t warp_size;           /* threads in a row: 32, or fewer on machines with narrower warps */
    struct exec_profile *profile; /* profile.h; NULL: no profile */
    struct exec_check *check;     /* check/check.h; NULL: no checks */
};

/* A cluster of several blocks in execution, by rank; NULL: the block has ended. */
struct exec_cluster {
    uint32_t n_blocks, n_live;
    struct exec_block *block[EXEC_MAX_CLUSTER];
};

/* A block in execution. Special registers read the lane arrays. */
struct exec_block {
    const struct exec_grid *grid;
    unsigned char *shared;
    uint32_t index; /* linear block number */
    uint32_t n_rows;
    uint32_t ctaid[3][EXEC_LANES], nctaid[3][EXEC_LANES], ntid[3][EXEC_LANES];
    uint32_t smid[EXEC_LANES], nsmid[EXEC_LANES], nwarpid[EXEC_LANES];
    uint32_t dynamic_shared[EXEC_LANES], total_shared[EXEC_LANES];
    uint64_t gridid[EXEC_LANES];
    uint32_t workspace[2][EXEC_LANES]; /* its address: high half, low half */
    struct exec_cluster *cluster;      /* NULL: a cluster of one block */
    uint32_t rank;                     /* in its cluster */
    uint32_t clusterid[3][EXEC_LANES], nclusterid[3][EXEC_LANES];
    uint32_t cluster_ctaid[3][EXEC_LANES], cluster_nctaid[3][EXEC_LANES];
    uint32_t cluster_ctarank[EXEC_LANES], cluster_nctarank[EXEC_LANES];
    uint32_t is_explicit_cluster;   /* a predicate: a mask */
    struct exec_check_block *check; /* check/check.h; NULL: no checks */
};

/* Neighbouring threads of a block, one in each lane. */
struct exec_row {
    unsigned char
        *base[4]; /* by enum exec_base: registers (program->register_bytes, 64-byte aligned), constants, row, block */
    unsigned char *local; /* lane l's local memory begins at local + l * grid->local_bytes */
    struct exec_block *block;
    uint32_t index;                        /* row number in the block */
    uint32_t threads;                      /* lanes that hold a thread */
    uint32_t live;                         /* lanes whose thread has not exited */
    uint32_t progress;                     /* the last value of the progress instruction, 0 before it */
    uint32_t frame[EXEC_LANES];            /* each thread's current frame: offset in its local memory */
    uint32_t taken[EXEC_LANES];            /* bytes after that frame which alloca has taken */
    uint32_t n_copy_groups[2][EXEC_LANES]; /* each thread's groups of cp.async and cp.async.bulk so far */
    uint32_t tid[3][EXEC_LANES];
    uint32_t warpid[EXEC_LANES];
    uint32_t clock[EXEC_LANES], clock_hi[EXEC_LANES]; /* refreshed before an instruction that reads them */
    uint64_t clock64[EXEC_LANES], globaltimer[EXEC_LANES];
    uint32_t globaltimer_lo[EXEC_LANES], globaltimer_hi[EXEC_LANES];
};

struct exec_threads;
struct exec_stores;

enum { EXEC_NO_MBARRIER = 0xffffffff };

/* Contiguous pieces of global memory. */
struct exec_row_of_box {
    uint64_t address;
    uint32_t bytes;
};
struct exec_rows {
    struct exec_row_of_box *row; /* grows; whoever owns the context frees it */
    uint32_t n, room;
};

/* What an asynchronous copy or an mbarrier instruction leaves for the timing model, per active lane. */
struct exec_async {
    uint32_t bytes[EXEC_LANES]; /* cp: bytes read or written in global memory, from cx->address on */
    /* cp, st.async, red.async: the mbarrier that it signals; mbarrier.test_wait and .try_wait: the one whose phase is
     * complete. The value is its offset in the block's shared memory, with the phase in bit 0; EXEC_NO_MBARRIER:
     * none. */
    uint32_t mbarrier[EXEC_LANES];
    const struct exec_block *mbarrier_block[EXEC_LANES]; /* whose memory contains it */
    uint32_t multicast[EXEC_LANES]; /* cp with .multicast::cluster: the ranks of its blocks, as a set; otherwise 0 */
    /* Tensor copies: the rows of each lane's box that are in the tensor. */
    struct exec_rows rows;
    uint32_t first_row[EXEC_LANES], n_rows[EXEC_LANES];
};

/* Without cycles, a loop that waits for the clock would execute one instruction for each cycle that it should wait. If
 * one instruction reads the clock again and again, with few instructions in between, the clock advances faster and
 * faster, by up to `max_step` a reading. max_step is 0 where time is exact. */
struct exec_spin {
    const struct exec_insn *reader; /* the last instruction that read the clock */
    uint64_t read_at, step, max_step;
};

enum { EXEC_LAST_ALLOCATIONS = 16 };

/* Everything that act() may read. For a contiguous bundle `row` is its row. For a scattered one `row` is NULL and
 * `threads` (scattered.h) execute. */
struct exec_context {
    const struct exec_insn *insn;
    const struct exec_grid *grid;
    struct exec_row *row;
    const struct exec_threads *threads;
    uint64_t time;                /* for clock registers: cycles; a count of instructions in functional mode */
    struct exec_spin spin;        /* functional mode: of loops that wait for the clock */
    struct exec_fault fault;      /* its lane is one of `row` or, if that is NULL, of `threads` */
    uint64_t address[EXEC_LANES]; /* of the last memory instruction, per active lane: generic or space-relative */
    struct exec_span span;        /* of the addresses of the last ld or st */
    uint32_t texel_bytes;         /* of the last texture or surface access: bytes that a lane reads */
    struct exec_async async;
    uint32_t touched; /* WARP_MEMORY only: the active lanes that accessed their address */
    bool waits;       /* an mbarrier's phase was not complete for any lane; set, but never cleared here */
    bool has_changed; /* an atomic has changed a value in memory; set, but never cleared here */
    /* The allocations that were accessed last, by instruction: most instructions access only one. 0, 0: none. */
    struct exec_allocation last[EXEC_LAST_ALLOCATIONS];
    struct exec_stores *stores; /* stores.h; NULL: stores go to memory at once */
    const struct exec_lanes_table *lanes;
    _Alignas(64) unsigned char scratch[EXEC_MAX_DST + EXEC_MAX_SRC][EXEC_LANES * 8];
};

/* Returns the lane functions for the best level of the host's instruction set; the environment variable
 * HEDDLE_HOST_LEVEL (base, v3, v4) overrides the choice for tests. */
const struct exec_lanes_table *exec_level_table(void);

/* Returns the host rounding mode under which the lane function of a form must run: NEAREST for functions that round by
 * themselves. */
enum exec_rounding exec_form_rounding(const struct exec_form *form);

/* Selectors of the functions with a context (memory.c, atomic.c, warp.c, texture.c, extension.c, builtin.c). They
 * return NULL for an unsupported form. */
exec_act_fn *exec_select_memory(const struct exec_form *form);
exec_act_fn *exec_select_atomic(const struct exec_form *form);
exec_act_fn *exec_select_warp(const struct exec_form *form);
exec_act_fn *exec_select_texture(const struct exec_form *form);
/* Returns lane functions in *lanes instead. */
exec_act_fn *exec_select_async(const struct exec_form *form, exec_lanes_fn **lanes);
exec_act_fn *exec_select_extension(const struct exec_form *form);
exec_act_fn *exec_select_matrix(const struct ptx_instruction *insn);
enum exec_kind exec_matrix_kind(const struct ptx_instruction *insn);
enum exec_kind exec_extension_kind(enum ptx_opcode opcode);
/* Returns a function that the runtime provides (vprintf, malloc, free, __assertfail, launches), or NULL for another
 * name. The instruction's call site holds its arguments. */
exec_act_fn *exec_select_builtin(const char *name);
exec_act_fn *exec_select_device_runtime(const char *name); /* device_runtime.c */

/* Returns the address of a function as a value. */
static inline uint64_t exec_function_address(const struct ptx_function *function) {
    return EXEC_CODE_WINDOW + 16ull * function->index;
}

/* Records a fault of `lane`, unless there is one already. */
void exec_fault_set(struct exec_context *cx, enum exec_fault_kind kind, unsigned lane, uint64_t address, uint32_t bytes,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Must be called when memory is allocated or freed: an instruction looks an allocation up only if it accessed another
 * one before. */
void exec_forget_allocations(struct exec_context *cx);

/* Returns the host memory of [address, address + bytes) in global memory, or NULL after a fault of `lane` if the range
 * is not inside one live allocation. */
unsigned char *exec_global(struct exec_context *cx, uint64_t address, uint32_t bytes, unsigned lane);

/* Links the kernel and everything it can call into a program. Reports all unsupported instructions through messages
 * (with name and line) and then returns NULL. symbol_address returns the device address of a module variable. */
struct exec_program *exec_link(const struct ptx_module *module, const struct ptx_function *kernel,
                               uint64_t (*symbol_address)(void *user, const struct ptx_variable *variable), void *user,
                               struct ptx_messages *messages);
void exec_program_free(struct exec_program *program);

/* Reports the unsupported instructions of the module, each form once. Returns their total number. */
unsigned exec_find_unsupported(const struct ptx_module *module, struct ptx_messages *messages);

/* frame.c: entering and leaving functions, for the lanes in mask. Enter may set a stack overflow fault. */
void exec_enter_function(struct exec_context *cx, struct exec_row *row, uint32_t pc, uint32_t callee, uint32_t mask);
void exec_leave_function(struct exec_context *cx, struct exec_row *row, uint32_t mask);
/* Returns the index in program->function of the function with this address, or PTX_NO_INDEX. */
uint32_t exec_function_at(const struct exec_program *program, uint64_t address);

/* barrier.c: one of a block's sixteen barriers. It counts threads. A row whose live threads have all arrived counts as
 * a full warp, as in hardware. */
struct exec_barrier {
    uint32_t expected; /* number of threads; 0: the whole block */
    uint32_t arrived[EXEC_MAX_ROWS];
    uint32_t n_true; /* bar.red: threads that arrived with a true predicate */
    uint32_t n_arrived;
    bool is_open;
};
/* Returns false if the expected count differs from that of earlier arrivals. */
bool exec_barrier_arrive(struct exec_barrier *barrier, uint32_t row, uint32_t mask, uint32_t predicate,
                         uint32_t expected);
bool exec_barrier_is_complete(const struct exec_barrier *barrier, const uint32_t *live, uint32_t n_rows,
                              uint32_t warp_size);
/* Returns the value that bar.red writes for every thread. */
uint32_t exec_barrier_result(const struct exec_barrier *barrier, enum exec_barrier_mode mode);
void exec_barrier_reset(struct exec_barrier *barrier);

/* Executes one LANES, CONTEXT, WARP or CALL_BUILTIN instruction for the lanes in mask, which is not 0. The caller has
 * applied the guard. */
void exec_row_insn(struct exec_context *cx, struct exec_row *row, const struct exec_insn *insn, uint32_t mask);
/* The same for the threads in these lanes of cx->threads. Not for WARP instructions. */
void exec_scattered_insn(struct exec_context *cx, const struct exec_insn *insn, uint32_t mask);
/* Executes the instructions from pc on, up to `end` or the first one that is not simple, for the lanes in `active`
 * whose guards hold. Returns its pc. Adds the instructions that any lane executed to cx->time, and their lanes to
 * *n_threads.
 */
uint32_t exec_row_straight(struct exec_context *cx, struct exec_row *row, uint32_t pc, uint32_t end, uint32_t active,
                           uint64_t *n_threads);
/* Returns whether the instruction is an access of a whole row beyond shared memory. Its threads must come together as
 * one group, because the memory system sees one access. For shared memory it is enough that the last of them executes
 * it. */
static inline bool exec_is_row_access(const struct exec_insn *insn) {
    bool is_shared = insn->opcode == PTX_OP_LDMATRIX || insn->opcode == PTX_OP_STMATRIX ||
                     (insn->opcode == PTX_OP_WMMA && insn->access.space == PTX_SPACE_SHARED);
    return insn->kind == EXEC_KIND_WARP_MEMORY && !is_shared;
}
/* Returns the space that a memory instruction has just accessed for the lanes in mask: that of the first lane for a
 * generic access, global for a texture. Sets *lanes to the lanes that accessed it, none for a cond_acc without a true
 * predicate. */
enum ptx_space exec_accessed_space(const struct exec_context *cx, const struct exec_insn *insn, uint32_t mask,
                                   uint32_t *lanes);
