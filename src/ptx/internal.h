/* Internal to ptx/: tokens, names and scopes, and the parser. Nothing outside ptx/ includes this.
 *
 * The parser reads the text once. Names that may be defined later (labels, functions, module variables) leave a pending
 * reference, resolved when the scope or the module ends. Then check.c checks every instruction. Functions that return
 * bool return false after recording an error. The parser then drops the statement and continues after it. */
#pragma once

#include "base/arena.h"
#include "ptx/ptx.h"

enum {
    PTX_MAX_SCOPES = 64,           /* nested { } in a function */
    PTX_MAX_EXPRESSION_DEPTH = 64, /* nested operators and parentheses in a constant */
    PTX_MAX_DIMENSIONS = 16,
    PTX_MAX_SHOWN_ERRORS = 20,
    PTX_MAX_KEPT_ERRORS = 1000, /* more are only counted */
    PTX_SINK_ID = PTX_NO_INDEX - 1,
    PTX_WARP_SIZE = 32 /* WARP_SZ */
};
#define PTX_MAX_VARIABLE_BYTES (UINT64_C(1) << 32)
#define PTX_MAX_INITIALISED_BYTES (UINT64_C(1) << 28) /* of one module; they are kept in memory */
#define PTX_MAX_REGISTER_RANGE (UINT64_C(1) << 20)
#define PTX_MAX_TEXT_BYTES (UINT64_C(1) << 30)

/* ---- Tokens (lexer.c) ---- */

enum ptx_token_kind {
    TOKEN_END,
    TOKEN_BAD, /* already reported */
    TOKEN_NAME,
    TOKEN_DOT, /* .word, also .a::b; name holds the word without the dot */
    TOKEN_INTEGER,
    TOKEN_FLOAT32,
    TOKEN_FLOAT64,
    TOKEN_STRING,
    TOKEN_PUNCTUATION
};

/* Two-character operators; single characters stand for themselves. */
enum { PUNCT_SHIFT_LEFT = 256, PUNCT_SHIFT_RIGHT, PUNCT_LE, PUNCT_GE, PUNCT_EQ, PUNCT_NE, PUNCT_AND, PUNCT_OR };

struct ptx_token {
    enum ptx_token_kind kind;
    int punctuation;
    bool is_unsigned;      /* INTEGER with a U suffix, or too large for a signed number */
    bool is_first;         /* first token of its line */
    uint32_t length;       /* of text, in bytes */
    const char *text;      /* in the module's text */
    uint64_t value;        /* numbers: integer, or the bits of the float */
    struct ptx_name *name; /* NAME and DOT */
    struct ptx_location at;
};

struct ptx_lexer {
    const char *next, *end, *line_start;
    uint32_t line;
    bool at_line_start;
};

/* ---- Names and scopes (symbols.c) ---- */

enum ptx_suffix_kind { SUFFIX_NONE, SUFFIX_TYPE, SUFFIX_SPACE, SUFFIX_VECTOR, SUFFIX_MODIFIER, SUFFIX_UNSUPPORTED };

/* A distinct identifier of a module, with its current meaning. */
struct ptx_name {
    const char *text;
    uint32_t length, hash;
    struct ptx_name *chain;       /* next in its hash bucket */
    struct ptx_binding *binding;  /* innermost register, variable or function of that name */
    struct ptx_range *range;      /* innermost `.reg %r<n>` with this prefix */
    struct ptx_label *label;      /* innermost label, branch table or prototype */
    struct ptx_name *prefix;      /* the name without its number */
    uint32_t number;              /* that number */
    bool is_split;                /* prefix and number are valid */
    uint8_t suffix_kind;          /* enum ptx_suffix_kind */
    uint16_t suffix_value;        /* type, space, width or modifier */
    uint16_t opcode;              /* PTX_N_OPCODES if it is not an opcode */
    uint16_t special;             /* PTX_N_SPECIALS if it is not one; the first component of those with components */
    uint16_t special_number;      /* of %envreg and %pm */
    uint32_t undefined_in;        /* serial of the function in which it was reported as undefined */
    struct ptx_label *last_label; /* for jumps into an inner scope, see ptx_resolve_function() */
    uint32_t label_function;      /* the function serial last_label belongs to */
    bool is_label_ambiguous;
};

enum ptx_binding_kind { BINDING_REGISTER, BINDING_VARIABLE, BINDING_FUNCTION };

struct ptx_binding {
    enum ptx_binding_kind kind;
    struct ptx_name *name;
    struct ptx_binding *shadowed, *next_in_scope;
    struct ptx_location at;
    uint32_t scope;                /* depth */
    uint32_t serial;               /* later declarations have higher numbers */
    const struct ptx_range *range; /* a register that came from a range */
    uint32_t register_id;          /* the first one of a vector register */
    uint32_t width;                /* 1, or the elements of a vector register */
    struct ptx_variable *variable;
    struct ptx_function *function;
};

/* `.reg .b32 %r<9>`: a register is created at its first use, so the count costs nothing. */
struct ptx_range {
    struct ptx_name *prefix;
    struct ptx_range *shadowed, *next_in_scope;
    struct ptx_location at;
    uint32_t scope, serial, count, width;
    enum ptx_type type;
};

enum ptx_label_kind { LABEL_CODE, LABEL_BRANCH_TARGETS, LABEL_PROTOTYPE, LABEL_CALL_TARGETS };

struct ptx_label {
    enum ptx_label_kind kind;
    struct ptx_name *name;
    struct ptx_label *shadowed, *next_in_scope;
    struct ptx_location at;
    uint32_t scope;
    uint32_t target;   /* CODE: instruction index */
    uint32_t *targets; /* BRANCH_TARGETS */
    uint32_t n_targets;
    struct ptx_function *prototype;  /* PROTOTYPE */
    struct ptx_function **candidate; /* CALL_TARGETS */
    uint32_t n_candidates;
};

enum ptx_pending_kind {
    PENDING_LABEL,     /* *target = instruction index */
    PENDING_TABLE,     /* instruction `instruction` of the function gets its branch targets */
    PENDING_PROTOTYPE, /* *call gets its prototype */
    PENDING_SYMBOL,    /* *operand becomes a variable or function of the module */
    PENDING_FUNCTION,  /* *function = the function of the module */
    PENDING_RELOCATION /* the name must be a variable or function of the module */
};

struct ptx_pending {
    enum ptx_pending_kind kind;
    struct ptx_name *name;
    struct ptx_location at;
    uint32_t *target;
    uint32_t instruction;
    struct ptx_call *call;
    struct ptx_operand *operand;
    struct ptx_function **function;
    uint32_t function_serial; /* of its function, in which an undefined name is reported once */
};

struct ptx_scope {
    struct ptx_binding *bindings;
    struct ptx_range *ranges;
    struct ptx_label *labels;
    uint32_t first_pending; /* label references made in this scope start here */
};

/* ---- The parser ---- */

/* A growing array outside the arena. */
#define PTX_LIST(type)                                                                                                 \
    struct {                                                                                                           \
        type *item;                                                                                                    \
        uint32_t count, capacity;                                                                                      \
    }

struct ptx_error {
    struct ptx_location at;
    uint32_t order;
    const char *text;
};

struct ptx_parser {
    struct ptx_module *module;
    struct base_arena *arena;  /* the module's */
    struct base_arena scratch; /* freed after the parse */
    struct ptx_lexer lexer;
    struct ptx_token token; /* the current one */
    PTX_LIST(struct ptx_error) errors;
    uint32_t n_errors;
    bool has_lack;       /* as in struct ptx_messages */
    uint32_t n_searches; /* for nearest names; see ptx_may_search() */

    struct ptx_name **bucket;
    uint32_t n_buckets, n_names;
    struct ptx_scope scope[PTX_MAX_SCOPES];
    uint32_t depth; /* scope[0] is the module, scope[1] a function with its parameters */
    uint32_t next_serial;

    struct ptx_function *function; /* the one whose body is being parsed, or NULL */
    uint32_t function_serial;
    struct ptx_source_line source;
    uint64_t initialised_bytes;
    uint32_t expression_depth;
    uint32_t n_unresolved; /* operands of the current statement with a name that is not defined yet */
    uint32_t n_elements;   /* elements of arrays in it that have no address yet */
    struct ptx_location element_at;

    PTX_LIST(struct ptx_pending) labels;   /* resolved when a scope ends */
    PTX_LIST(struct ptx_pending) symbols;  /* resolved when the module ends */
    PTX_LIST(struct ptx_operand) operands; /* a stack: operands of the statement and of open vectors */
    PTX_LIST(struct ptx_instruction) instructions;
    PTX_LIST(struct ptx_register) registers;
    PTX_LIST(struct ptx_variable *) variables; /* of the function */
    PTX_LIST(struct ptx_variable *) module_variables;
    PTX_LIST(struct ptx_function *) functions;
    PTX_LIST(const char *) pragmas;
    bool has_nounroll; /* .pragma "nounroll" came since the last instruction */
    PTX_LIST(const char *) files;
    PTX_LIST(struct ptx_relocation) relocations;
    PTX_LIST(uint8_t) bytes;
    PTX_LIST(struct ptx_variable) parameters;
    PTX_LIST(struct ptx_alias) aliases;
};

struct ptx_alias {
    struct ptx_name *name, *target;
    struct ptx_location at;
};

/* Makes room for `more` items and returns the (possibly moved) array. */
void *ptx_list_grow(void *item, uint32_t count, uint32_t *capacity, uint32_t more, size_t bytes);
#define PTX_RESERVE(list, more)                                                                                        \
    ((list)->item = ptx_list_grow((list)->item, (list)->count, &(list)->capacity, (more), sizeof *(list)->item))
#define PTX_PUSH(list, value) (PTX_RESERVE(list, 1), (list)->item[(list)->count++] = (value))
void ptx_list_free(void *item);
/* Copies items `first` and up to the arena. NULL when there are none. */
void *ptx_list_keep(struct base_arena *arena, const void *item, uint32_t first, uint32_t count, size_t bytes);
#define PTX_KEEP(arena, list, first) ptx_list_keep((arena), (list)->item, (first), (list)->count, sizeof *(list)->item)

/* messages.c */
bool ptx_fail(struct ptx_parser *parser, struct ptx_location at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void ptx_report(struct ptx_parser *parser, struct ptx_messages *messages);

/* lexer.c */
void ptx_lexer_start(struct ptx_parser *parser);
void ptx_advance(struct ptx_parser *parser);
char ptx_peek(const struct ptx_parser *parser); /* the first character after the current token and blanks */
bool ptx_is_punctuation(const struct ptx_parser *parser, int punctuation);
bool ptx_is_word(const struct ptx_parser *parser, const char *word); /* a NAME or the word of a DOT */
bool ptx_is_dot(const struct ptx_parser *parser, const char *word);
bool ptx_accept(struct ptx_parser *parser, int punctuation);
bool ptx_accept_dot(struct ptx_parser *parser, const char *word);
/* Reports "expected ';' after operand, got '%r3'"; `where` is "after operand". */
bool ptx_expect(struct ptx_parser *parser, char punctuation, const char *where);
/* Reports "expected WHAT, got '...'". Always returns false. */
bool ptx_unexpected(struct ptx_parser *parser, const char *what);

/* names.c: the fixed vocabulary. */
void ptx_names_start(struct ptx_parser *parser);
const char *ptx_special_name(enum ptx_special special);
int ptx_special_component(enum ptx_special special);
unsigned ptx_special_bits(enum ptx_special special);
/* NULL when none is near, or after too many searches. */
const char *ptx_nearest_opcode(struct ptx_parser *parser, const char *wanted);
const char *ptx_nearest_suffix(struct ptx_parser *parser, const char *wanted);

/* symbols.c */
struct ptx_name *ptx_intern(struct ptx_parser *parser, const char *text, size_t length);
bool ptx_scope_open(struct ptx_parser *parser, struct ptx_location at);
void ptx_scope_close(struct ptx_parser *parser);
bool ptx_bind_variable(struct ptx_parser *parser, struct ptx_name *name, struct ptx_variable *variable);
bool ptx_bind_function(struct ptx_parser *parser, struct ptx_name *name, struct ptx_function *function);
bool ptx_bind_register(struct ptx_parser *parser, struct ptx_name *name, struct ptx_location at, enum ptx_type type,
                       uint32_t width, uint32_t *register_id);
bool ptx_bind_range(struct ptx_parser *parser, struct ptx_name *prefix, struct ptx_location at, enum ptx_type type,
                    uint32_t width, uint32_t count);
bool ptx_bind_label(struct ptx_parser *parser, const struct ptx_label *label);
struct ptx_binding *ptx_lookup(struct ptx_parser *parser, struct ptx_name *name);
/* Limits the number of searches for the nearest name, because they take time and a file may be full of errors. */
bool ptx_may_search(struct ptx_parser *parser);
/* Returns whether a declared range has the name's prefix, even if not its number. */
bool ptx_is_near_range(struct ptx_parser *parser, struct ptx_name *name);
bool ptx_undefined(struct ptx_parser *parser, struct ptx_name *name, struct ptx_location at, const char *what);

/* pending.c: references to names that are defined later. */
void ptx_resolve_labels(struct ptx_parser *parser, struct ptx_scope *scope);
void ptx_resolve_function(struct ptx_parser *parser);
void ptx_resolve_module(struct ptx_parser *parser);

/* parser/expression.c */
enum ptx_value_kind { VALUE_INTEGER, VALUE_FLOAT32, VALUE_FLOAT64, VALUE_ADDRESS };

struct ptx_value {
    enum ptx_value_kind kind;
    struct ptx_location at;
    bool is_unsigned;
    uint64_t bits;           /* INTEGER and floats; the addend of an ADDRESS */
    struct ptx_name *symbol; /* ADDRESS */
    bool is_generic;
    bool is_masked;      /* 0xFF00(symbol) */
    unsigned mask_shift; /* of the byte that the mask selects */
};

bool ptx_parse_value(struct ptx_parser *parser, struct ptx_value *value);
/* Parses a constant that must be an integer from 0 to `largest`; `what` names it in the message. */
bool ptx_parse_count(struct ptx_parser *parser, uint64_t largest, const char *what, uint64_t *count);
double ptx_value_double(const struct ptx_value *value); /* of a number of any kind */

/* parser/variable.c */
/* Parses the alignment of `.align 8 .global .u32 name;`, where it comes before the state space; otherwise 0. */
bool ptx_parse_leading_alignment(struct ptx_parser *parser, uint32_t *alignment);
/* Parses `type name[3] = ..., name;` after the state space. */
bool ptx_parse_variables(struct ptx_parser *parser, enum ptx_space space, enum ptx_linkage linkage, uint32_t alignment);
bool ptx_parse_registers(struct ptx_parser *parser);
/* Parses ( .param .b32 a, ... ) into an arena array; the opening parenthesis is the current token. */
bool ptx_parse_parameters(struct ptx_parser *parser, struct ptx_function *owner, enum ptx_role role,
                          struct ptx_variable **list, uint32_t *count, uint64_t *bytes);
bool ptx_skip_attribute(struct ptx_parser *parser, bool *is_managed);

/* parser/function.c */
bool ptx_parse_function(struct ptx_parser *parser, bool is_entry, enum ptx_linkage linkage);
/* .branchtargets, .calltargets or .callprototype after `name:`. */
bool ptx_parse_label_directive(struct ptx_parser *parser, struct ptx_name *name, struct ptx_location at);

/* parser/module.c */
bool ptx_parse_file(struct ptx_parser *parser);
bool ptx_parse_loc(struct ptx_parser *parser);
bool ptx_parse_pragma(struct ptx_parser *parser);
bool ptx_parse_linkage(struct ptx_parser *parser, enum ptx_linkage *linkage);
bool ptx_skip_section(struct ptx_parser *parser);
void ptx_parse_module(struct ptx_parser *parser);
enum ptx_space ptx_variable_space(const struct ptx_parser *parser); /* of the DOT token; GENERIC if it names none */

/* parser/instruction.c */
bool ptx_parse_instruction(struct ptx_parser *parser);
/* parser/matrix.c: the suffixes that only matrix instructions have. They return false for another suffix. */
struct ptx_matrix *ptx_matrix_new(struct ptx_parser *parser, enum ptx_opcode opcode);
bool ptx_parse_matrix_suffix(const char *text, struct ptx_matrix *matrix);
bool ptx_is_later_matrix_suffix(const char *text);
/* parser/call.c: the rest of a call after its suffixes. */
bool ptx_parse_call(struct ptx_parser *parser, struct ptx_instruction *instruction);

/* parser/operand.c */
bool ptx_parse_operand(struct ptx_parser *parser, struct ptx_operand *operand);
/* Parses the rest of register + constant after the operand, if there is any. */
bool ptx_parse_addend(struct ptx_parser *parser, struct ptx_operand *operand);
/* Parses a guard, a pair or an index: the name must be a register; `what` describes it in messages. */
bool ptx_parse_register(struct ptx_parser *parser, const char *what, uint32_t *register_id);
/* Records the pending names among operands that are at their final address. */
void ptx_note_unresolved(struct ptx_parser *parser, struct ptx_operand *operand, uint32_t count);
/* Returns the name of an operand that is still pending. */
struct ptx_name *ptx_operand_name(const struct ptx_operand *operand);

/* parser/element.c */
/* Parses the [index] after an array; '[' is the current token. */
bool ptx_parse_element(struct ptx_parser *parser, struct ptx_operand *operand);
/* Turns the elements of arrays among the operands into addresses. */
bool ptx_place_elements(struct ptx_parser *parser, struct ptx_instruction *instruction);
/* Adds the constants of operands that are register + constant, before the instruction. */
bool ptx_place_sums(struct ptx_parser *parser, struct ptx_instruction *instruction);

/* old.c: adds the suffixes that PTX 1.x leaves out. */
void ptx_complete_old(const struct ptx_module *module, struct ptx_instruction *instruction);
/* Reads of special registers with 16 bits become reads with 32. */
void ptx_widen_special(struct ptx_instruction *instruction);

/* check.c */
void ptx_check_function(struct ptx_parser *parser, const struct ptx_function *function);

/* ---- Calls (calls.c) ---- */

/* Sets is_open of all functions. */
void ptx_find_open_functions(struct ptx_module *module);
