/* Starts programs and waits for them. Signals are taken one by one from a queue (sigtimedwait), so there is no handler.
 *
 * At the time limit the driver ends the kernel by itself, and the program can report it. A program that still runs a
 * little later gets SIGTERM. A program that was asked to end, in this way or by the user, and has not ended a little
 * later, gets SIGKILL, because a plug-in's hook that never returns cannot be asked to end. */
#define _GNU_SOURCE
#include "program/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"

static const double grace_seconds = 2, stop_seconds = 5, wait_seconds = 0.2;

double program_now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- The child's side -------------------------------------------------------------------------------------------- */

/* Puts `first` at the front of a colon-separated list in the environment. */
static bool prepend(const char *variable, const char *first) {
    const char *old = getenv(variable);
    char *text;
    if (!old || !*old)
        return setenv(variable, first, 1) == 0;
    if (asprintf(&text, "%s:%s", first, old) < 0)
        return false;
    bool is_set = setenv(variable, text, 1) == 0;
    free(text);
    return is_set;
}

/* AddressSanitizer wants to be first in a program's list of libraries, but also works if it is not. */
static bool set_preload(const char *library) {
    return prepend("LD_PRELOAD", library) && prepend("ASAN_OPTIONS", "verify_asan_link_order=0");
}

static bool set_environment(const struct program_child *child) {
    return prepend("LD_LIBRARY_PATH", child->cuda) && (!child->preload || set_preload(child->preload)) &&
           setenv("HEDDLE_CONFIG", child->config, 1) == 0 && setenv("HEDDLE_RESULTS", child->results, 1) == 0;
}

/* Opens a file again, so that no other process moves its read position. */
static bool redirect_input(void) {
    struct stat about;
    bool is_file = fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode);
    int file = open(is_file ? "/proc/self/fd/0" : "/dev/null", O_RDONLY | O_CLOEXEC);
    if (file < 0 || (is_file && lseek(file, lseek(STDIN_FILENO, 0, SEEK_CUR), SEEK_SET) < 0))
        return false;
    return dup2(file, STDIN_FILENO) >= 0;
}

static bool redirect_output(const struct program_child *child) {
    if (child->errors) {
        int file = open(child->errors, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (file < 0 || dup2(file, STDERR_FILENO) < 0)
            return false;
    }
    if (child->output == PROGRAM_OUTPUT_AS_IS)
        return true;
    if (child->output == PROGRAM_OUTPUT_TO_STDERR)
        return dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return null >= 0 && dup2(null, STDOUT_FILENO) >= 0;
}

/* Returns only on failure. A program does not outlive the command that would have shown its results. */
static void execute_program(const struct program_child *child, const sigset_t *mask, pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
        return;
    if (child->is_apart && (setpgid(0, 0) != 0 || !redirect_input()))
        return;
    if (!set_environment(child) || !redirect_output(child))
        return;
    if (child->has_fixed_addresses) /* some containers do not allow it; most programs do not need it */
        personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(child->path, (char *const *)child->argv);
}

/* ---- The command's side ------------------------------------------------------------------------------------------ */

/* A running child; pid 0: a free entry. */
struct running {
    unsigned number;
    pid_t pid;
    bool is_apart, is_asked; /* is_asked: to end */
    double deadline;         /* INFINITY: none */
    struct program_end end;
};

struct supervisor {
    const struct program_children *children;
    struct running *running;
    unsigned n_running, next;
    int interrupt;          /* the first signal; 0: none yet */
    double interrupted_at;  /* when it came */
    double deadline;        /* of the time limit; INFINITY: none */
    sigset_t taken, before; /* taken: signals that this process waits for; before: the mask that children get */
};

/* The signals that this process waits for. An ignored one, such as SIGINT in background jobs of scripts, stays
 * ignored. */
static sigset_t signals_to_take(void) {
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};
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

/* Returns the process, or 0 with the reason in *error. */
static pid_t start_child(const struct program_child *child, const sigset_t *mask, int *error) {
    int failure[2]; /* carries errno out of a child whose exec failed */
    if (pipe2(failure, O_CLOEXEC) != 0) {
        *error = errno;
        return 0;
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        execute_program(child, mask, parent);
        int reason = errno;
        ssize_t written = write(failure[1], &reason, sizeof reason);
        _exit(written == sizeof reason ? 127 : 126);
    }
    close(failure[1]);
    if (pid < 0) {
        *error = errno;
        pid = 0;
    } else if (read(failure[0], error, sizeof *error) == sizeof *error) {
        waitpid(pid, NULL, 0);
        pid = 0;
    }
    close(failure[0]);
    return pid;
}

static void start_next(struct supervisor *supervisor, struct running *place) {
    const struct program_children *children = supervisor->children;
    struct program_child child = {0};
    *place = (struct running){.number = supervisor->next++, .deadline = INFINITY};
    if (!children->start(children->context, place->number, &child))
        return;
    place->pid = start_child(&child, &supervisor->before, &place->end.start_error);
    if (!place->pid) {
        children->end(children->context, place->number, &place->end);
        return;
    }
    place->is_apart = child.is_apart;
    if (child.timeout_seconds > 0)
        place->deadline = program_now_seconds() + child.timeout_seconds + grace_seconds;
    supervisor->n_running++;
}

static void fill_places(struct supervisor *supervisor) {
    const struct program_children *children = supervisor->children;
    for (unsigned i = 0; i < children->at_once; i++)
        while (!supervisor->running[i].pid && supervisor->next < children->count && !supervisor->interrupt)
            start_next(supervisor, &supervisor->running[i]);
}

static void send_signal(const struct running *running, int number) {
    kill(running->is_apart ? -running->pid : running->pid, number);
}

/* Reaps the child if it has ended. The rest of its process group is killed while the leader still holds the number. */
static bool reap(struct running *running, struct rusage *usage) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)running->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != running->pid)
        return false;
    if (running->is_apart)
        send_signal(running, SIGKILL);
    return wait4(running->pid, &running->end.wait_status, 0, usage) == running->pid;
}

/* Reports the children that have ended. Returns true if there was one. */
static bool collect(struct supervisor *supervisor) {
    const struct program_children *children = supervisor->children;
    bool has_ended = false;
    for (unsigned i = 0; i < children->at_once; i++) {
        struct running *running = &supervisor->running[i];
        struct rusage usage;
        if (!running->pid || !reap(running, &usage))
            continue;
        running->end.peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
        running->end.cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
        running->pid = 0;
        supervisor->n_running--;
        has_ended = true;
        children->end(children->context, running->number, &running->end);
    }
    return has_ended;
}

static int take_signal(const struct supervisor *supervisor, siginfo_t *info) {
    double now = program_now_seconds(), until = supervisor->children->wait ? now + wait_seconds : INFINITY;
    if (!supervisor->interrupt)
        until = fmin(until, supervisor->deadline);
    for (unsigned i = 0; i < supervisor->children->at_once; i++)
        if (supervisor->running[i].pid)
            until = fmin(until, supervisor->running[i].deadline);
    if (!isfinite(until))
        return sigwaitinfo(&supervisor->taken, info);
    static const double most_seconds = 86400; /* time_t has an upper bound, --timeout has none */
    double left = fmin(fmax(until - now, 0), most_seconds);
    struct timespec limit = {.tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9)};
    return sigtimedwait(&supervisor->taken, info, &limit);
}

/* A signal from the keyboard has gone to the whole process group, including the programs in it. A second one kills
 * them, unless it comes so soon that it is the same request sent twice, to this process and to its group, as timeout(1)
 * does. */
static void pass_on(struct supervisor *supervisor, const siginfo_t *info) {
    static const double same_request_seconds = 0.5;
    bool is_first = supervisor->interrupt == 0;
    bool is_urgent = !is_first && program_now_seconds() - supervisor->interrupted_at > same_request_seconds;
    if (is_first)
        supervisor->interrupted_at = program_now_seconds();
    supervisor->interrupt = info->si_signo;
    for (unsigned i = 0; i < supervisor->children->at_once; i++) {
        struct running *running = &supervisor->running[i];
        if (!running->pid)
            continue;
        running->end.interrupt = info->si_signo;
        if (is_first) {
            running->is_asked = true;
            running->deadline = supervisor->interrupted_at + stop_seconds;
        }
        if (is_urgent)
            send_signal(running, SIGKILL);
        else if (is_first && (running->is_apart || info->si_code != SI_KERNEL))
            send_signal(running, info->si_signo);
    }
}

static void end_at_time_limit(struct supervisor *supervisor) {
    if (supervisor->interrupt || program_now_seconds() < supervisor->deadline)
        return;
    pass_on(supervisor, &(siginfo_t){.si_signo = SIGTERM, .si_code = SI_USER});
    supervisor->interrupt = SIGALRM;
}

static void signal_programs_apart(const struct supervisor *supervisor, int number) {
    for (unsigned i = 0; i < supervisor->children->at_once; i++)
        if (supervisor->running[i].pid && supervisor->running[i].is_apart)
            send_signal(&supervisor->running[i], number);
}

/* Ctrl-Z reaches only this process's own group. */
static void stop_with_programs(const struct supervisor *supervisor) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGTSTP);
    signal_programs_apart(supervisor, SIGSTOP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &only, NULL); /* here it stops, and later continues */
    sigprocmask(SIG_BLOCK, &only, NULL);
    signal_programs_apart(supervisor, SIGCONT);
}

static void end_overdue_programs(struct supervisor *supervisor) {
    double now = program_now_seconds();
    for (unsigned i = 0; i < supervisor->children->at_once; i++) {
        struct running *running = &supervisor->running[i];
        if (!running->pid || now < running->deadline)
            continue;
        send_signal(running, running->is_asked ? SIGKILL : SIGTERM);
        running->end.is_killed = running->is_asked;
        running->end.is_timed_out |= !running->is_asked;
        running->is_asked = true;
        running->deadline = now + grace_seconds;
    }
}

static void handle_next_event(struct supervisor *supervisor) {
    siginfo_t info;
    int taken = take_signal(supervisor, &info);
    if (taken == SIGTSTP)
        stop_with_programs(supervisor);
    else if (taken > 0 && taken != SIGCHLD)
        pass_on(supervisor, &info);
    else if (taken < 0 && errno == EAGAIN)
        end_overdue_programs(supervisor);
    end_at_time_limit(supervisor);
    if (supervisor->children->wait)
        supervisor->children->wait(supervisor->children->context);
}

int program_children_run(const struct program_children *children) {
    struct base_arena arena = {0};
    struct supervisor supervisor = {.children = children, .taken = signals_to_take(), .deadline = INFINITY};
    if (children->time_limit_seconds > 0)
        supervisor.deadline = program_now_seconds() + children->time_limit_seconds;
    supervisor.running = BASE_ARENA_ARRAY(&arena, struct running, children->at_once);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &supervisor.taken, &supervisor.before);
    fill_places(&supervisor);
    while (supervisor.n_running) {
        if (collect(&supervisor))
            fill_places(&supervisor);
        else
            handle_next_event(&supervisor);
    }
    sigprocmask(SIG_SETMASK, &supervisor.before, NULL);
    base_arena_free(&arena);
    return supervisor.interrupt;
}
