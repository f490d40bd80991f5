/* The instructions that tests mention, whatever the order of their modifiers: add.ftz.rn.f32 is add.rn.ftz.f32. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { MENTION_KEY = 128 };

struct mentions {
    char (*key)[MENTION_KEY];
    size_t n, room;
};

/* The opcode, its modifiers in alphabetical order, then its types as written. False when the text is too long. */
bool mentions_key(const char *mnemonic, size_t length, char key[MENTION_KEY]);

/* Adds every instruction of PTX text, comments left out; and of a table's ops. */
void mentions_add_ptx(struct mentions *mentions, const char *text);
/* After the last addition, before the first question. */
void mentions_sort(struct mentions *mentions);
bool mentions_has(const struct mentions *mentions, const char key[MENTION_KEY]);
/* Whether any form of the opcode is mentioned. */
bool mentions_has_opcode(const struct mentions *mentions, const char *opcode);
void mentions_free(struct mentions *mentions);
