/* Exchanges through shared memory, and barriers with a result: for code that the whole block executes. In the kernel
 * %mine is the address of the thread's 8 bytes for exchanges. */
#include "program.h"

#include <stdio.h>

#include "layout.h"

static void emit_wait(struct program *p) {
    static const char *const waits[] = {"bar.sync 0", "barrier.sync 0", "bar.sync 1, 64", "barrier.sync.aligned 2",
                                        "bar.cta.sync 3"};
    program_line(p, "%s;", waits[random_below(&p->random, sizeof waits / sizeof *waits)]);
}

/* Sets %w0 to the address of another thread's 8 bytes. */
static void emit_partner(struct program *p) {
    unsigned k = random_below(&p->random, LAYOUT_BLOCK_THREADS);
    program_line(p, "mov.u32 %%w0, %%tid.x;");
    switch (random_below(&p->random, 3)) {
    case 0:
        program_line(p, "xor.b32 %%w0, %%w0, %u;", k);
        break;
    case 1:
        program_line(p, "add.u32 %%w0, %%w0, %u;", k);
        break;
    default:
        program_line(p, "mov.b32 %%w0, %%r%u;", program_pick_source(p, KIND_I32));
        break;
    }
    program_line(p, "and.b32 %%w0, %%w0, %u;", LAYOUT_BLOCK_THREADS - 1);
    program_line(p, "mov.u32 %%w1, block;");
    program_line(p, "mad.lo.u32 %%w0, %%w0, 8, %%w1;");
}

static void emit_exchange(struct program *p) {
    static const char *const puts[] = {"st.shared.b32 [%%mine], %.(r|f|x|y)", "st.shared.b64 [%%mine], %.(l|d)",
                                       "st.shared.b16 [%%mine], %.(h|e|b)", "st.shared.v2.b32 [%%mine], {%.r, %.f}"};
    static const char *const gets[] = {"ld.shared.b32 %=(r|f|x|y), [%%w0]", "ld.shared.b64 %=(l|d), [%%w0]",
                                       "ld.shared.b16 %=(h|e|b), [%%w0]", "ld.shared.v2.b32 {%=r, %=f}, [%%w0]"};
    unsigned k = random_below(&p->random, 4);
    p->uses_shared = true;
    program_emit(p, puts[k], false);
    emit_partner(p);
    emit_wait(p);
    program_emit(p, gets[k], false);
    emit_wait(p);
}

void program_emit_barrier(struct program *p) {
    static const char *const results[] = {"bar.red.popc.u32 %=r, 0, %!p", "bar.red.(and|or).pred %=p, 0, %!p",
                                          "barrier.red.popc.u32 %=r, 1, 64, %!p"};
    if (random_chance(&p->random, 70))
        emit_exchange(p);
    else
        program_emit(p, results[random_below(&p->random, 3)], false);
}
