/* Splits text into tokens: names, .words, numbers, strings and punctuation, by the lexical chapter of the PTX ISA
 * manual.
 *
 * An instruction and its suffixes are separate tokens (add .rn .f32), and so are a register and its component. Lines
 * that start with @@ are debug information of PTX 1 and 2 and count as blanks. */
#include "ptx/internal.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word_char(char c) { return is_letter(c) || is_digit(c); }

static int hex_digit(char c) {
    if (is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static struct ptx_location here(const struct ptx_lexer *lexer, const char *at) {
    return (struct ptx_location){lexer->line, (uint32_t)(at - lexer->line_start) + 1};
}

void ptx_lexer_start(struct ptx_parser *parser) {
    const char *text = parser->module->text;
    parser->lexer = (struct ptx_lexer){
        .next = text, .end = text + parser->module->text_length, .line_start = text, .line = 1, .at_line_start = true};
    ptx_advance(parser);
}

static void newline(struct ptx_lexer *lexer) {
    lexer->next++;
    lexer->line++;
    lexer->line_start = lexer->next;
    lexer->at_line_start = true;
}

static void skip_line(struct ptx_lexer *lexer) {
    const char *end = memchr(lexer->next, '\n', (size_t)(lexer->end - lexer->next));
    lexer->next = end ? end : lexer->end;
}

/* Returns false when the comment has no end. */
static bool skip_comment(struct ptx_lexer *lexer) {
    lexer->next += 2;
    while (lexer->next < lexer->end) {
        if (*lexer->next == '\n') {
            newline(lexer);
        } else if (lexer->next[0] == '*' && lexer->next[1] == '/') {
            lexer->next += 2;
            return true;
        } else {
            lexer->next++;
        }
    }
    return false;
}

/* Returns whether the text starts with # 5 "a.cu" or #line 5 "a.cu", which preprocessors leave. */
static bool is_line_marker(const char *c) {
    c++;
    if (strncmp(c, "line", 4) == 0)
        c += 4;
    c += strspn(c, " \t");
    size_t n_digits = strspn(c, "0123456789");
    c += n_digits;
    return n_digits > 0 && c[strspn(c, " \t")] == '"';
}

/* Advances to the next token. Returns the start of an unterminated comment, or NULL. The text's last byte is followed
 * by a NUL, so looking one character ahead is safe. */
static const char *skip_blanks(struct ptx_lexer *lexer, struct ptx_location *at) {
    while (lexer->next < lexer->end) {
        char c = *lexer->next;
        if (c == '\n') {
            newline(lexer);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->next++;
        } else if (c == '/' && lexer->next[1] == '/') {
            skip_line(lexer);
        } else if (c == '@' && lexer->next[1] == '@' && lexer->at_line_start) {
            skip_line(lexer);
        } else if (c == '#' && lexer->at_line_start && is_line_marker(lexer->next)) {
            skip_line(lexer);
        } else if (c == '/' && lexer->next[1] == '*') {
            const char *start = lexer->next;
            *at = here(lexer, start);
            if (!skip_comment(lexer))
                return start;
        } else {
            break;
        }
    }
    return NULL;
}

static bool bad_token(struct ptx_parser *parser, const char *message) {
    struct ptx_token *token = &parser->token;
    token->kind = TOKEN_BAD;
    int length = token->length < 40 ? (int)token->length : 40;
    return ptx_fail(parser, token->at, "%s '%.*s'", message, length, token->text);
}

static bool is_exponent(const char *c) {
    if (*c != 'e' && *c != 'E')
        return false;
    c++;
    return is_digit(*c) || ((*c == '+' || *c == '-') && is_digit(c[1]));
}

/* A decimal number with a point or an exponent, converted by strtod. */
static bool decimal_float(struct ptx_parser *parser, const char *start) {
    struct ptx_lexer *lexer = &parser->lexer;
    while (is_digit(*lexer->next))
        lexer->next++;
    if (*lexer->next == '.')
        for (lexer->next++; is_digit(*lexer->next);)
            lexer->next++;
    if (is_exponent(lexer->next))
        for (lexer->next += 2; is_digit(*lexer->next);)
            lexer->next++;
    struct ptx_token *token = &parser->token;
    bool is_wrong = is_word_char(*lexer->next);
    while (is_word_char(*lexer->next))
        lexer->next++;
    token->length = (uint32_t)(lexer->next - start);
    if (is_wrong)
        return bad_token(parser, "malformed number");
    char text[128];
    if (token->length >= sizeof text)
        return bad_token(parser, "number with too many digits:");
    memcpy(text, start, token->length);
    text[token->length] = '\0';
    /* The program may have set a locale with a decimal comma: strtod needs that instead of the point. */
    char *point = strchr(text, '.');
    if (point)
        *point = localeconv()->decimal_point[0];
    double value = strtod(text, NULL);
    if (isinf(value))
        return bad_token(parser, "number larger than any .f64:");
    memcpy(&token->value, &value, sizeof value);
    token->kind = TOKEN_FLOAT64;
    return true;
}

/* 0f and 8 hexadecimal digits, 0d and 16. */
static bool float_bits(struct ptx_parser *parser, const char *start, unsigned n_digits) {
    struct ptx_token *token = &parser->token;
    const char *c = start + 2;
    unsigned n = 0;
    for (; hex_digit(*c) >= 0; c++, n++)
        token->value = token->value << 4 | (unsigned)hex_digit(*c);
    while (is_word_char(*c))
        c++, n = 0;
    parser->lexer.next = c;
    token->length = (uint32_t)(c - start);
    token->kind = n_digits == 8 ? TOKEN_FLOAT32 : TOKEN_FLOAT64;
    if (n != n_digits)
        return bad_token(parser, n_digits == 8 ? "expected 0f and 8 hexadecimal digits, got"
                                               : "expected 0d and 16 hexadecimal digits, got");
    return true;
}

static bool integer(struct ptx_parser *parser, const char *start, const char *digits, unsigned radix) {
    struct ptx_token *token = &parser->token;
    const char *c = digits;
    bool overflows = false, is_wrong = false;
    for (; hex_digit(*c) >= 0; c++) {
        unsigned digit = (unsigned)hex_digit(*c);
        is_wrong |= digit >= radix;
        overflows |= __builtin_mul_overflow(token->value, (uint64_t)radix, &token->value);
        overflows |= __builtin_add_overflow(token->value, (uint64_t)digit, &token->value);
    }
    is_wrong |= c == digits;
    if (*c == 'U' || *c == 'u') {
        token->is_unsigned = true;
        c++;
    }
    while (is_word_char(*c))
        c++, is_wrong = true;
    parser->lexer.next = c;
    token->length = (uint32_t)(c - start);
    token->kind = TOKEN_INTEGER;
    token->is_unsigned |= token->value >> 63;
    if (is_wrong)
        return bad_token(parser, "malformed number");
    if (overflows)
        return bad_token(parser, "number larger than 64 bits:");
    return true;
}

static bool number(struct ptx_parser *parser) {
    const char *start = parser->lexer.next;
    char second = start[0] == '0' ? (char)(start[1] | 0x20) : '\0';
    if (second == 'f')
        return float_bits(parser, start, 8);
    if (second == 'd')
        return float_bits(parser, start, 16);
    if (second == 'x')
        return integer(parser, start, start + 2, 16);
    if (second == 'b')
        return integer(parser, start, start + 2, 2);
    const char *c = start;
    while (is_digit(*c))
        c++;
    if ((*c == '.' && (is_digit(c[1]) || is_exponent(c + 1) || !is_letter(c[1]))) || is_exponent(c))
        return decimal_float(parser, start);
    return integer(parser, start, start, start[0] == '0' && is_digit(start[1]) ? 8 : 10);
}

static void name_token(struct ptx_parser *parser, const char *start) {
    const char *c = start + 1;
    while (is_word_char(*c))
        c++;
    parser->lexer.next = c;
    parser->token.kind = TOKEN_NAME;
    parser->token.length = (uint32_t)(c - start);
    if (parser->token.length == 7 && memcmp(start, "WARP_SZ", 7) == 0) { /* PTX's one predefined constant */
        parser->token.kind = TOKEN_INTEGER;
        parser->token.value = PTX_WARP_SIZE;
        return;
    }
    parser->token.name = ptx_intern(parser, start, parser->token.length);
}

static void dot_token(struct ptx_parser *parser, const char *start) {
    const char *c = start + 1;
    while (is_word_char(*c) || (c[0] == ':' && c[1] == ':' && is_word_char(c[2])))
        c += *c == ':' ? 2 : 1;
    parser->lexer.next = c;
    parser->token.kind = TOKEN_DOT;
    parser->token.length = (uint32_t)(c - start);
    parser->token.name = ptx_intern(parser, start + 1, parser->token.length - 1);
}

static void string_token(struct ptx_parser *parser, const char *start) {
    const char *end = parser->lexer.end, *c = start + 1;
    while (c < end && *c != '"' && *c != '\n')
        c += *c == '\\' && c + 1 < end && c[1] != '\n' ? 2 : 1;
    parser->token.length = (uint32_t)(c - start);
    if (c >= end || *c != '"') {
        parser->lexer.next = c < end ? c : end;
        bad_token(parser, "string without a closing quote:");
        return;
    }
    parser->lexer.next = c + 1;
    parser->token.kind = TOKEN_STRING; /* text and length exclude the quotes */
    parser->token.text = start + 1;
    parser->token.length--;
}

static int two_character_operator(const char *c) {
    static const struct {
        char text[3];
        int punctuation;
    } operators[] = {{"<<", PUNCT_SHIFT_LEFT}, {">>", PUNCT_SHIFT_RIGHT}, {"<=", PUNCT_LE},  {">=", PUNCT_GE},
                     {"==", PUNCT_EQ},         {"!=", PUNCT_NE},          {"&&", PUNCT_AND}, {"||", PUNCT_OR}};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (c[0] == operators[i].text[0] && c[1] == operators[i].text[1])
            return operators[i].punctuation;
    return 0;
}

static void punctuation_token(struct ptx_parser *parser, const char *start) {
    struct ptx_token *token = &parser->token;
    int two = two_character_operator(start);
    token->kind = TOKEN_PUNCTUATION;
    token->length = two ? 2 : 1;
    token->punctuation = two ? two : *start;
    parser->lexer.next = start + token->length;
    if (*start <= ' ' || *start > '~' || !strchr("(){}[]<>,;:=+-*/%&|^!~?@", *start)) {
        token->kind = TOKEN_BAD;
        if (*start > ' ' && *start <= '~')
            ptx_fail(parser, token->at, "stray character '%c'", *start);
        else
            ptx_fail(parser, token->at, "stray byte 0x%02x", (unsigned char)*start);
    }
}

void ptx_advance(struct ptx_parser *parser) {
    struct ptx_lexer *lexer = &parser->lexer;
    struct ptx_location comment_at;
    const char *comment = skip_blanks(lexer, &comment_at);
    if (comment)
        ptx_fail(parser, comment_at, "unterminated comment");
    const char *start = lexer->next;
    parser->token = (struct ptx_token){.text = start, .at = here(lexer, start), .is_first = lexer->at_line_start};
    lexer->at_line_start = false;
    if (start >= lexer->end)
        parser->token.kind = TOKEN_END;
    else if (is_letter(*start) || (*start == '%' && is_word_char(start[1]) && !is_digit(start[1])))
        name_token(parser, start);
    else if (is_digit(*start))
        number(parser);
    else if (*start == '.' && is_digit(start[1]) && !(start > parser->module->text && is_word_char(start[-1])))
        decimal_float(parser, start); /* .5, unlike the suffix in tex.1d */
    else if (*start == '.' && is_word_char(start[1]))
        dot_token(parser, start);
    else if (*start == '"')
        string_token(parser, start);
    else
        punctuation_token(parser, start);
}

char ptx_peek(const struct ptx_parser *parser) {
    struct ptx_lexer ahead = parser->lexer;
    struct ptx_location at;
    skip_blanks(&ahead, &at);
    return ahead.next < ahead.end ? *ahead.next : '\0';
}

bool ptx_is_punctuation(const struct ptx_parser *parser, int punctuation) {
    return parser->token.kind == TOKEN_PUNCTUATION && parser->token.punctuation == punctuation;
}

bool ptx_is_word(const struct ptx_parser *parser, const char *word) {
    return parser->token.name && strcmp(parser->token.name->text, word) == 0;
}

bool ptx_is_dot(const struct ptx_parser *parser, const char *word) {
    return parser->token.kind == TOKEN_DOT && strcmp(parser->token.name->text, word) == 0;
}

bool ptx_accept(struct ptx_parser *parser, int punctuation) {
    if (!ptx_is_punctuation(parser, punctuation))
        return false;
    ptx_advance(parser);
    return true;
}

bool ptx_accept_dot(struct ptx_parser *parser, const char *word) {
    if (!ptx_is_dot(parser, word))
        return false;
    ptx_advance(parser);
    return true;
}

/* Returns "'%r3'" or "end of file"; cuts a long token. */
static const char *describe(const struct ptx_token *token, char *buffer, size_t size) {
    if (token->kind == TOKEN_END)
        return "end of file";
    bool is_long = token->length > 40;
    snprintf(buffer, size, token->kind == TOKEN_STRING ? "string \"%.*s%s\"" : "'%.*s%s'",
             is_long ? 40 : (int)token->length, token->text, is_long ? "..." : "");
    for (char *c = buffer; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return buffer;
}

bool ptx_unexpected(struct ptx_parser *parser, const char *what) {
    if (parser->token.kind == TOKEN_BAD)
        return false; /* already reported */
    char buffer[64];
    return ptx_fail(parser, parser->token.at, "expected %s, got %s", what,
                    describe(&parser->token, buffer, sizeof buffer));
}

bool ptx_expect(struct ptx_parser *parser, char punctuation, const char *where) {
    if (ptx_accept(parser, punctuation))
        return true;
    char what[128];
    snprintf(what, sizeof what, "'%c' %s", punctuation, where);
    return ptx_unexpected(parser, what);
}
