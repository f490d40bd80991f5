/* Ctrl-C while a kernel runs: the launch ends early, its counters are written with the others, then the signal ends the
 * process as usual. A process that still runs a little later is killed, because a hook of a plug-in that never returns
 * would keep it alive, and `heddle` may have died in the meantime. Active only under `heddle run` (HEDDLE_CONFIG
 * "interruptible"), and only if the program has no handler of its own. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "cuda/internal.h"

/* A signal handler can use only objects like these. */
static volatile sig_atomic_t caught_signal, is_launching;
static timer_t killer;
static volatile sig_atomic_t has_killer;

static const struct itimerspec patience = {.it_value.tv_sec = 8}; /* more than `heddle` has (program/child.c) */

static void handle(int signal_number) {
    if (is_launching || caught_signal) { /* after a second Ctrl-C `heddle` ends everything at once */
        if (has_killer && !caught_signal)
            timer_settime(killer, 0, &patience, NULL);
        caught_signal = signal_number;
        return;
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

const volatile sig_atomic_t *cuda_interrupt_catch(void) {
    const int signals[] = {SIGINT, SIGTERM};
    struct sigevent kill = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    has_killer = timer_create(CLOCK_MONOTONIC, &kill, &killer) == 0;
    for (int i = 0; i < 2; i++) {
        struct sigaction old, ours = {.sa_handler = handle};
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
    }
    return &caught_signal;
}

void cuda_interrupt_defer(bool is_running) { is_launching = is_running; }

_Noreturn void cuda_interrupt_end(void) {
    signal(caught_signal, SIG_DFL);
    raise(caught_signal);
    abort(); /* not reached: the default action ends the process */
}
