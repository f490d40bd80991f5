/* The instructions that tests mention. The order of modifiers does not matter: add.ftz.rn.f32 is add.rn.ftz.f32. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { MENTION_KEY = 128 };

struct mentions {
    char (*key)[MENTION_KEY];
    size_t n, room;
};

/* Makes the key of an instruction: its opcode, its modifiers in alphabetical order, then its types as written. Returns
 * false when the text is too long. */
bool mentions_key(const char *mnemonic, size_t length, char key[MENTION_KEY]);

/* Adds every instruction of PTX text, except in comments. */
void mentions_add_ptx(struct mentions *mentions, const char *text);
/* Call after the last addition and before mentions_has(). */
void mentions_sort(struct mentions *mentions);
bool mentions_has(const struct mentions *mentions, const char key[MENTION_KEY]);
/* Whether any form of the opcode is mentioned. */
bool mentions_has_opcode(const struct mentions *mentions, const char *opcode);
void mentions_free(struct mentions *mentions);
