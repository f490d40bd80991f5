/* The PTX front end: turns text into a checked and resolved module. It knows the language, but neither the results of
 * instructions nor their timing.
 *
 * ptx_parse() returns a module whose names are all resolved: operands hold register numbers, symbol pointers and
 * instruction indices. The structures are open, and readers walk them directly. Everything lives in the module's arena
 * and is freed with it. The language is that of the PTX ISA manual, versions 1.0 to 9.0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_type {
    PTX_NO_TYPE,
#define PTX_TYPE(id, text, bits, kind) PTX_##id,
#include "ptx/types.def"
#undef PTX_TYPE
    PTX_N_TYPES
};

/* How the bits of a type are interpreted. */
enum ptx_kind { PTX_KIND_NONE, PTX_KIND_U, PTX_KIND_S, PTX_KIND_F, PTX_KIND_B, PTX_KIND_P };

enum ptx_space {
    PTX_SPACE_GENERIC, /* no state space given */
    PTX_SPACE_REG,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST,
    PTX_SPACE_SHARED, /* .shared and .shared::cta */
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM, /* .param, .param::entry, .param::func */
    PTX_SPACE_TEX,   /* .texref, .samplerref, .surfref variables and .tex */
    PTX_N_SPACES
};

enum ptx_family {
    PTX_FAMILY_NONE,
    PTX_FAMILY_INTEGER,
    PTX_FAMILY_FLOAT,
    PTX_FAMILY_BITS,
    PTX_FAMILY_COMPARE,
    PTX_FAMILY_CONVERT,
    PTX_FAMILY_MOVE,
    PTX_FAMILY_MEMORY,
    PTX_FAMILY_ATOMIC,
    PTX_FAMILY_ASYNC, /* asynchronous copies, mbarriers, clusters, cache policies */
    PTX_FAMILY_TEXTURE,
    PTX_FAMILY_WARP,
    PTX_FAMILY_MATRIX,
    PTX_FAMILY_CONTROL,
    PTX_FAMILY_VIDEO,
    PTX_FAMILY_EXTENSION /* Heddle's own instructions: docs/extensions.md */
};

enum ptx_opcode {
#define PTX_OPCODE(id, text, family) PTX_OP_##id,
#include "ptx/opcodes.def"
#undef PTX_OPCODE
    PTX_N_OPCODES
};

enum ptx_modifier {
#define PTX_MODIFIER(id, text) PTX_MOD_##id,
#include "ptx/modifiers.def"
#undef PTX_MODIFIER
    PTX_N_MODIFIERS
};

enum ptx_special {
#define PTX_SPECIAL(id, name, component, bits) PTX_SPECIAL_##id,
#include "ptx/special.def"
#undef PTX_SPECIAL
    PTX_N_SPECIALS
};

enum { PTX_MODIFIER_WORDS = (PTX_N_MODIFIERS + 63) / 64, PTX_MAX_TYPES = 4, PTX_NO_INDEX = 0x7fffffff };

/* A position in the PTX text; lines and columns count from 1. */
struct ptx_location {
    uint32_t line, column;
};

/* A position in the CUDA source, from the nearest .loc before; file 0 means none. */
struct ptx_source_line {
    uint32_t file, line;
};

struct ptx_register {
    const char *name; /* with its %, e.g. "%r7" */
    enum ptx_type type;
};

/* An address inside an initialiser: the `bytes` at `offset` hold symbol's address + addend (generic(symbol) when
 * generic). */
struct ptx_relocation {
    uint64_t offset;
    uint32_t bytes;
    const char *symbol; /* a variable or a function of the module */
    int64_t addend;
    bool generic;
    struct ptx_variable *variable; /* the meaning of symbol: one of the two */
    struct ptx_function *function;
    uint32_t mask_shift; /* 0xFF00(symbol)-style byte selection: shift right by this many bits; 0 normally */
};

enum ptx_linkage { PTX_LINK_NONE, PTX_LINK_VISIBLE, PTX_LINK_EXTERN, PTX_LINK_WEAK, PTX_LINK_COMMON };

/* What a variable is to its owner. */
enum ptx_role { PTX_ROLE_PLAIN, PTX_ROLE_PARAMETER, PTX_ROLE_RESULT };

enum ptx_object { PTX_OBJECT_DATA, PTX_OBJECT_TEXREF, PTX_OBJECT_SAMPLERREF, PTX_OBJECT_SURFREF };

/* A variable of any state space but .reg; also the parameters of kernels and functions. */
struct ptx_variable {
    const char *name;
    struct ptx_location at;
    enum ptx_space space;
    enum ptx_type type; /* element type */
    enum ptx_object object;
    enum ptx_linkage linkage;
    enum ptx_role role; /* parameters and results are in the owner's own lists, plain ones in owner->variable */
    bool is_managed;    /* .attribute(.managed) */
    bool is_array;      /* declared with a dimension */
    uint32_t vector;    /* 1, 2 or 4 */
    uint32_t alignment; /* bytes, a power of two */
    uint64_t size;      /* bytes; 0 for `extern .shared x[]` */
    bool is_unsized;    /* declared with [] and no initialiser */
    uint8_t *data;      /* size bytes, or NULL when all zero */
    struct ptx_relocation *relocation;
    uint32_t n_relocations;
    uint32_t index;                /* its index in its owner's list */
    uint32_t register_id;          /* for a .reg parameter of a function: its register; otherwise PTX_NO_INDEX */
    struct ptx_function *owner;    /* NULL at module scope */
    const struct ptx_module *home; /* at module scope: the module whose text declares it */
    uint64_t offset;               /* for parameters: byte offset in the parameter block */
};

enum ptx_operand_kind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REGISTER,
    PTX_OPERAND_SINK,    /* _ */
    PTX_OPERAND_INTEGER, /* value holds the 64 bits */
    PTX_OPERAND_FLOAT32, /* value holds the 32 bits; the parser converts constants to the kind of the instruction's type
                          */
    PTX_OPERAND_FLOAT64, /* value holds the bits of the double */
    PTX_OPERAND_SPECIAL, /* special register */
    PTX_OPERAND_VARIABLE, /* a variable's address as a value, plus offset */
    PTX_OPERAND_FUNCTION, /* a function's address as a value */
    PTX_OPERAND_ADDRESS,  /* [register + offset], [variable + offset], [number] */
    PTX_OPERAND_LABEL,    /* an instruction index */
    PTX_OPERAND_VECTOR    /* {a, b, c, d}; [texture, sampler, {x, y}]: handles, then one VECTOR of coordinates */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    struct ptx_location at;
    bool is_element;  /* VARIABLE, only in the parser: written a[index]; register_id is the index, if it has one */
    bool is_sum;      /* REGISTER: written as register + constant, so no destination */
    bool is_negated;  /* !%p in setp, set, and, or, xor, vote and bar.red (others are rewritten); -%r in vmad */
    uint8_t selector; /* video byte/half selector: 0 none, 1..4 = .b0...b3, 5..6 = .h0 .h1; packed: see selector_mask */
    uint16_t
        selector_mask;    /* .b7610, .h10, destination mask .b20: 4-bit indices, low first; 0xf where none is written */
    uint32_t register_id; /* REGISTER; base of ADDRESS, or PTX_NO_INDEX */
    uint32_t pair_id;     /* the q of p|q (setp, shfl, match); PTX_NO_INDEX when absent; PTX_NO_INDEX-1 for `_` */
    uint64_t value;       /* immediates; envreg/pm number for SPECIAL */
    int64_t offset;       /* ADDRESS, VARIABLE; REGISTER only in the parser */
    enum ptx_special special;
    struct ptx_variable *variable;
    struct ptx_function *function;
    uint32_t target;             /* LABEL: instruction index in the function (may equal n_instructions: the end) */
    struct ptx_operand *element; /* VECTOR */
    uint32_t n_elements;
};

/* The operands of a call instruction. */
struct ptx_call {
    struct ptx_operand target;  /* FUNCTION (direct) or REGISTER (indirect) */
    struct ptx_operand *result; /* n_results: REGISTER, SINK or VARIABLE (a .param variable) */
    uint32_t n_results;
    struct ptx_operand *argument; /* REGISTER, immediate or VARIABLE */
    uint32_t n_arguments;
    const struct ptx_function *prototype; /* indirect: .callprototype, or the first of .calltargets */
    struct ptx_function **candidate;      /* indirect with .calltargets */
    uint32_t n_candidates;
};

struct ptx_instruction {
    struct ptx_location at;
    struct ptx_source_line source;
    enum ptx_opcode opcode;
    enum ptx_space space;        /* of ld, st, atom, cvta, isspacep, prefetch, ...; of cp, its destination's */
    enum ptx_space source_space; /* of cp: its source's */
    uint8_t vector;              /* 1, 2, 4 or 8 */
    uint8_t n_types, n_operands;
    bool guard_negated;
    bool has_nounroll;                 /* .pragma "nounroll" stands before it: its loop is not unrolled */
    uint32_t guard;                    /* predicate register of @p, or PTX_NO_INDEX */
    enum ptx_type type[PTX_MAX_TYPES]; /* in the order written: cvt.f32.s32 is {F32, S32} */
    uint64_t modifiers[PTX_MODIFIER_WORDS];
    struct ptx_operand *operand; /* in the order written, destination first */
    struct ptx_call *call;       /* CALL only */
    struct ptx_matrix *matrix;   /* matrix instructions only: matrix.h */
    uint32_t *target; /* brx.idx, whose one operand is the index: instruction indices of its .branchtargets */
    uint32_t n_targets;
    uint32_t text_length;
    const char *text; /* opcode and suffixes as written, text_length bytes of the module's text; not terminated */
    const char *unsupported; /* the first valid suffix or sign that Heddle does not support (".e4m3x2"), or NULL */
};

struct ptx_function {
    const char *name;
    struct ptx_location at;
    bool is_entry, has_body, is_noreturn, address_taken;
    bool is_open; /* cannot be compiled together with its callers: calls.c */
    enum ptx_linkage linkage;
    struct ptx_variable *parameter, *result; /* arrays */
    uint32_t n_parameters, n_results;
    uint64_t parameter_bytes;
    struct ptx_register *reg;
    uint32_t n_registers;
    struct ptx_variable *
        *variable; /* .local, .shared, .param (call argument blocks), .global, .const declared inside */
    uint32_t n_variables;
    struct ptx_instruction *instruction;
    uint32_t n_instructions;
    uint32_t max_threads[3], required_threads[3]; /* .maxntid, .reqntid; 0 when absent */
    uint32_t cluster[3], max_cluster_rank;        /* .reqnctapercluster, .maxclusterrank: blocks; 0 when absent */
    bool blocks_are_clusters;                     /* .blocksareclusters: a launch's grid is one of clusters */
    uint32_t min_blocks_per_sm, max_registers;
    uint32_t machine_registers; /* that a compiler gives to each thread; 0: not known */
    const char **pragma;
    uint32_t n_pragmas;
    uint32_t index;                /* index in module->function */
    struct ptx_function *alias_of; /* .alias: operands that name this function already hold the other one */
    const struct ptx_module *home; /* whose text declares it: the module itself, or a part of a linked one */
};

struct ptx_module {
    uint32_t version_major, version_minor;
    const char *target; /* e.g. "sm_70" */
    uint32_t address_size;
    struct ptx_function **function;
    uint32_t n_functions;
    struct ptx_variable **variable; /* module scope */
    uint32_t n_variables;
    const char **file; /* .file table, index = number; entries may be NULL */
    uint32_t n_files;
    const char *path; /* name used in messages */
    const char *text; /* the module's own copy of the source */
    size_t text_length;
    struct base_arena *arena;
    struct ptx_module **part; /* ptx_link(): the modules it was linked from, freed with it */
    uint32_t n_parts;
};

/* Messages of one load in the order of the text, ready to print: the first twenty, each with its source line and a
 * caret, and the number of the others. */
struct ptx_messages {
    char *text; /* malloc'ed; NULL when there are none */
    unsigned n_errors;
    bool has_lack; /* the text needs a feature that Heddle lacks; otherwise every compiler refuses it */
};

/* Parses `length` bytes of PTX. Returns NULL on errors, which `messages` then lists. Never crashes, whatever the
 * bytes. */
struct ptx_module *ptx_parse(const char *path, const char *text, size_t length, struct ptx_messages *messages);
void ptx_module_free(struct ptx_module *module);
/* Links parts into one module, as after separate compilation: extern declarations become the definitions of other
 * parts, and one of several weak or common definitions of a name is kept. The new module owns the parts; on errors they
 * are freed. Declarations without a definition stay as they are. */
struct ptx_module *ptx_link(const char *path, struct ptx_module **part, uint32_t n_parts,
                            struct ptx_messages *messages);
void ptx_messages_free(struct ptx_messages *messages);
/* Adds `path:line:col: error: text` with the source line and a caret. */
void ptx_error_at(struct ptx_messages *messages, const struct ptx_module *module, struct ptx_location at,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

struct ptx_function *ptx_find_function(const struct ptx_module *module, const char *name);
struct ptx_variable *ptx_find_variable(const struct ptx_module *module, const char *name);

/* Writes the instruction as in the source, without operands: "add.rn.ftz.f32". Returns buffer. */
const char *ptx_instruction_name(const struct ptx_instruction *instruction, char *buffer, size_t size);

/* Returns whether the instruction is supported: its opcode has a family and all its suffixes are supported. */
bool ptx_instruction_is_supported(const struct ptx_instruction *instruction);

const char *ptx_type_name(enum ptx_type type); /* "u32" */
unsigned ptx_type_bits(enum ptx_type type);    /* 1 for predicates */
enum ptx_kind ptx_type_kind(enum ptx_type type);
const char *ptx_opcode_name(enum ptx_opcode opcode);
enum ptx_family ptx_opcode_family(enum ptx_opcode opcode);
const char *ptx_modifier_name(enum ptx_modifier modifier);
const char *ptx_space_name(enum ptx_space space);

/* Returns the type of the k-th operand as written (0 is the destination), e.g. .u32 for shift amounts. For vectors: of
 * each element. */
enum ptx_type ptx_operand_type(const struct ptx_instruction *instruction, unsigned k);

static inline bool ptx_has(const struct ptx_instruction *instruction, enum ptx_modifier modifier) {
    return instruction->modifiers[modifier / 64] >> (modifier % 64) & 1;
}
