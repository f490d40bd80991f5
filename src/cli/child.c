/* Starts a program and waits for it. Signals are taken one by one from a queue (sigtimedwait), so there is no handler.
 *
 * The driver ends a kernel at the time limit by itself and the program gets to report it; a program that is still there
 * a little later is ended from here, first politely. */
#define _GNU_SOURCE
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double grace_seconds = 2;

/* ---- The child's side -------------------------------------------------------------------------------------------- */

static bool lead_library_path(const char *folder) {
    const char *old = getenv("LD_LIBRARY_PATH");
    char *text;
    if (!old || !*old)
        return setenv("LD_LIBRARY_PATH", folder, 1) == 0;
    if (asprintf(&text, "%s:%s", folder, old) < 0)
        return false;
    bool is_set = setenv("LD_LIBRARY_PATH", text, 1) == 0;
    free(text);
    return is_set;
}

static bool redirect_output(enum cli_output output) {
    if (output == CLI_OUTPUT_AS_IS)
        return true;
    if (output == CLI_OUTPUT_TO_STDERR)
        return dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return null >= 0 && dup2(null, STDOUT_FILENO) >= 0;
}

/* Comes back only when something failed. A program does not outlive the command that would have shown its results. */
static void become(const struct cli_child *child, const sigset_t *mask, pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
        return;
    if (!lead_library_path(child->cuda) || setenv("HEDDLE_CONFIG", child->config, 1) != 0 ||
        setenv("HEDDLE_RESULTS", child->results, 1) != 0 || !redirect_output(child->output))
        return;
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(child->path, (char *const *)child->argv);
}

/* ---- The command's side ------------------------------------------------------------------------------------------ */

/* What the parent listens for. A signal that is ignored, as SIGINT is in scripts' background jobs, stays ignored. */
static sigset_t signals_to_take(void) {
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++) {
        struct sigaction action;
        if (sigaction(passed_on[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, passed_on[i]);
    }
    return set;
}

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int take_signal(const sigset_t *set, double deadline, siginfo_t *info) {
    if (!isfinite(deadline))
        return sigwaitinfo(set, info);
    double left = fmax(deadline - now_seconds(), 0);
    struct timespec limit = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9)};
    return sigtimedwait(set, info, &limit);
}

/* A signal from the keyboard has gone to the whole group of processes, the program included. A second one ends it for
 * good, unless it comes so soon that it is the same request twice: to this process and to its group, as timeout(1)
 * does. */
static void pass_on(pid_t pid, const siginfo_t *info, struct cli_end *end, double *first) {
    static const double same_request_seconds = 0.5;
    if (end->interrupt && now_seconds() - *first > same_request_seconds)
        kill(pid, SIGKILL);
    else if (!end->interrupt && info->si_code != SI_KERNEL)
        kill(pid, info->si_signo);
    if (!end->interrupt)
        *first = now_seconds();
    end->interrupt = info->si_signo;
}

static void wait_for(pid_t pid, const struct cli_child *child, const sigset_t *set, struct cli_end *end) {
    double deadline = child->timeout_seconds > 0 ? now_seconds() + child->timeout_seconds + grace_seconds : INFINITY;
    double first = 0; /* when the first signal came */
    for (;;) {
        siginfo_t info;
        pid_t ended = waitpid(pid, &end->wait_status, WNOHANG);
        if (ended == pid)
            return;
        int taken = take_signal(set, deadline, &info);
        if (taken > 0 && taken != SIGCHLD) {
            pass_on(pid, &info, end, &first);
        } else if (taken < 0 && errno == EAGAIN) {
            kill(pid, end->is_timed_out ? SIGKILL : SIGTERM);
            end->is_timed_out = true;
            deadline = now_seconds() + grace_seconds;
        }
    }
}

struct cli_end cli_child_run(const struct cli_child *child) {
    struct cli_end end = {0};
    sigset_t taken = signals_to_take(), old;
    int failure[2]; /* carries errno out of a child that could not become the program */
    if (pipe2(failure, O_CLOEXEC) != 0) {
        end.start_error = errno;
        return end;
    }
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &taken, &old);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        become(child, &old, parent);
        int error = errno;
        ssize_t written = write(failure[1], &error, sizeof error);
        _exit(written == sizeof error ? 127 : 126);
    }
    close(failure[1]);
    if (pid < 0)
        end.start_error = errno;
    else if (read(failure[0], &end.start_error, sizeof end.start_error) == sizeof end.start_error)
        waitpid(pid, &end.wait_status, 0);
    else
        wait_for(pid, child, &taken, &end);
    close(failure[0]);
    sigprocmask(SIG_SETMASK, &old, NULL);
    return end;
}
