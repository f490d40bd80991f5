/* Answers of a GPU: for each form, whether it was accepted and what it computed, and the file that holds them.
 *
 * The file is a text head (lines `name: value`, ended by an empty line) and then for each form its text with a
 * terminating zero, the status (1 byte), the hash of the inputs (8 bytes, little-endian), the number of bytes
 * (4 bytes) and the bytes, laid out as in form.h. Files may be compressed with zstd. */
#pragma once

#include "form.h"

enum answer_status { ANSWER_NONE, ANSWER_GIVEN, ANSWER_REFUSED, ANSWER_CRASHED };

struct answer {
    enum answer_status status;
    uint64_t inputs_hash;
    uint8_t *bytes; /* form_answer_bytes() of them */
};

struct answers {
    char gpu[128], driver[128], date[32];
    struct answer *answer; /* one for each form of the list */
};

bool answers_write(const struct answers *answers, const struct form_list *list, const char *path);

/* Drops forms of the file that the list lacks; forms that the file lacks are ANSWER_NONE. Returns false after a
 * message.
 */
bool answers_read(struct answers *answers, const struct form_list *list, const char *path);
void answers_free(struct answers *answers, const struct form_list *list);
