/* Notices a program that polls memory which a waiting kernel would write. Work waits in the device until a call needs
 * it (waiting.c), so a loop without calls never ends. Heddle must not start the work by itself after a while, because
 * the cycles would then depend on the host's speed. It prints one line instead, once. A program may also just compute
 * for that long. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "cuda/internal.h"

enum { LOOK_EVERY_NS = 500000000 };
#define PATIENCE_NS UINT64_C(4000000000)

static void *watch(void *user) {
    struct cuda_watch *watched = user;
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_EVERY_NS}, NULL);
        uint64_t since = atomic_load(&watched->since_ns);
        if (!since || gpu_host_clock_ns() - since < PATIENCE_NS)
            continue;
        cuda_print("kernels wait for the program's next CUDA call; if it polls memory that they write, it must call "
                   "cudaStreamQuery");
        return NULL;
    }
}

/* The program's signals go to its own threads. */
static void start(struct cuda_watch *watched) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, watched) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cuda_watch_waiting(struct cuda_watch *watched, bool waits) {
    atomic_store(&watched->since_ns, waits ? gpu_host_clock_ns() : 0);
    if (waits && !watched->is_started) {
        watched->is_started = true;
        start(watched);
    }
}
