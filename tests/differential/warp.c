/* Instructions that read other lanes, with all lanes of the warp active, or with exactly those of a mask that a vote
 * computed before the lanes diverged. */
#include "program.h"

#include <stdio.h>
#include <string.h>

void program_emit_warp(struct program *p) {
    static const char *const forms[] = {
        ("shfl.sync.(up|down|bfly|idx).b32 %=(r|f|x)(|^%=p), %.(r|f|x), (%#31|%.r), "
         "(0|31|%#31|6175|7199|7711|7967|8191|%.r), -1"),
        "shfl.sync.(down|bfly|idx).b32 %=(r|f|x)(|^%=p), %.(r|f|x), (%#31|%.r), 31, -1",
        "shfl.sync.up.b32 %=(r|f|x)(|^%=p), %.(r|f|x), (%#31|%.r), 0, -1",
        "vote.sync.(all|any|uni).pred %=p, %!p, -1",
        "vote.sync.ballot.b32 %=r, %!p, -1",
        "match.any.sync.b32 %=r, %.r, -1",
        "match.any.sync.b64 %=r, %.l, -1",
        "match.all.sync.b32 %=r(|^%=p), %.r, -1",
        "match.all.sync.b64 %=r(|^%=p), %.l, -1",
        "redux.sync.(add|min|max).(s32|u32) %=r, %.r, -1",
        "redux.sync.(and|or|xor).b32 %=r, %.r, -1",
    };
    program_emit(p, forms[random_below(&p->random, sizeof forms / sizeof *forms)], false);
}

/* Shuffles are left out: the value read from an inactive lane is undefined. */
void program_emit_masked(struct program *p) {
    static const char *const forms[] = {
        "vote.sync.(all|any|uni).pred %=p, %!p, %", "vote.sync.ballot.b32 %=r, %!p, %",
        "match.any.sync.b32 %=r, %.r, %",           "match.any.sync.b64 %=r, %.l, %",
        "match.all.sync.b32 %=r(|^%=p), %.r, %",    "redux.sync.(add|min|max).(s32|u32) %=r, %.r, %",
        "redux.sync.(and|or|xor).b32 %=r, %.r, %",
    };
    char text[TEMPLATE_ROOM];
    snprintf(text, sizeof text, "%s%s", forms[random_below(&p->random, sizeof forms / sizeof *forms)], p->mask);
    program_emit(p, text, false);
}
