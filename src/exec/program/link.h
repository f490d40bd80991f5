/* Declarations used by the linker's files. */
#pragma once

#include "exec/exec.h"

struct base_arena;

enum exec_flat_role {
    EXEC_FLAT_PLAIN,
    EXEC_FLAT_PAIR,
    EXEC_FLAT_CARRY,
    EXEC_FLAT_ADDRESS, /* its offset is the instruction's imm */
    EXEC_FLAT_BASE,    /* an address whose offset is the next operand: instructions with several addresses */
    EXEC_FLAT_OFFSET,
};

/* One lane array that an instruction reads or writes. */
struct exec_flat_operand {
    const struct ptx_operand *operand; /* NULL for the carry */
    enum ptx_type type;
    enum exec_flat_role role;
};

/* An instruction with its vectors flattened, an explicit carry and the immediates of modifiers removed. */
struct exec_flat {
    struct exec_flat_operand dst[EXEC_MAX_DST], src[EXEC_MAX_SRC];
    struct exec_flat_operand extra[EXEC_MAX_EXTRA]; /* without room: sources, or all elements of wide vectors */
    unsigned n_dst, n_src, n_extra;
    uint32_t imm;
    uint8_t combination; /* of a reduction in memory: combine.h */
    bool overflows;      /* more operands than an instruction can hold */
};

/* An instruction's kind and function, before its operands have places. */
struct exec_selection {
    enum exec_kind kind;
    exec_lanes_fn *lanes;
    exec_act_fn *act;
    enum exec_rounding rounding;
    struct exec_flat flat;
};

/* wide.c: returns whether the elements of the instruction's vectors are extra operands. */
bool exec_is_wide(const struct ptx_instruction *insn);

/* Returns false for an unsupported instruction. */
bool exec_select(const struct ptx_function *function, const struct ptx_instruction *insn,
                 struct exec_selection *selection);
enum ptx_width exec_operand_width(const struct ptx_function *function, const struct exec_flat_operand *flat);

/* texture/texture.c: the number of a texture instruction's coordinates, with the layer, and its imm. */
unsigned exec_texture_coordinates(const struct ptx_instruction *insn);
uint32_t exec_texture_imm(const struct ptx_instruction *insn);

/* constants.c: broadcast rows, one per value. */
struct exec_constants;
struct exec_constants *exec_constants_new(struct base_arena *arena);
uint32_t exec_constants_broadcast(struct exec_constants *pool, uint64_t value, enum ptx_width width); /* byte offset */
uint32_t exec_constants_row(struct exec_constants *pool, const uint32_t lane[EXEC_LANES]);
unsigned char *exec_constants_finish(struct exec_constants *pool, uint32_t *bytes); /* 64-byte aligned, in the arena */
void exec_constants_free(struct exec_constants *pool);

/* The place of a .shared variable in the block's shared memory. */
struct exec_shared_place {
    const struct ptx_variable *variable;
    uint32_t offset;
};

struct exec_linker {
    struct exec_program *program;
    struct base_arena *arena;
    const struct ptx_module *module;
    struct ptx_messages *messages;
    struct exec_constants *constants;
    uint64_t (*symbol_address)(void *user, const struct ptx_variable *variable);
    void *user;
    struct exec_shared_place *shared;
    uint32_t n_shared, shared_capacity;
    uint32_t **frame_offset; /* by function number: offsets of results, parameters and variables */
};

/* decode.c: decodes one instruction. Reports those that cannot be decoded. */
void exec_decode(struct exec_linker *linker, uint32_t function_number, const struct ptx_instruction *insn,
                 struct exec_insn *out);
/* call.c: the arguments and results of a call. */
/* Finds the frame offsets of a function's results, then parameters (PTX_NO_INDEX for registers and for the parameters
 * of a kernel). Returns the frame's size so far. */
uint32_t exec_place_formals(const struct ptx_function *function, uint32_t *offset);
/* matrix/select.c: the registers of a matrix instruction. */
void exec_link_matrix(struct exec_linker *linker, uint32_t function_number, const struct ptx_instruction *insn,
                      struct exec_insn *out);
uint32_t exec_link_call_site(struct exec_linker *linker, uint32_t function_number, const struct ptx_instruction *insn);
struct exec_operand exec_register_operand(const struct exec_function *function, uint32_t register_id);
struct exec_operand exec_value_operand(struct exec_linker *linker, uint32_t function_number,
                                       const struct exec_flat_operand *flat);
/* Returns the frame offset of a .local variable, call block, or .param formal of a function that is not a kernel;
 * PTX_NO_INDEX for other variables. */
uint32_t exec_frame_offset(const struct exec_linker *linker, uint32_t function_number,
                           const struct ptx_variable *variable);
bool exec_is_kernel_parameter(const struct ptx_variable *variable);
uint32_t exec_shared_offset(struct exec_linker *linker, const struct ptx_variable *variable);

enum { EXEC_CARRY_OFFSET = 0, EXEC_TRASH_OFFSET = 64, EXEC_FIRST_REGISTER = 64 + 256 };
