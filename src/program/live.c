/* See live.h. A small HTTP server: GET and HEAD of / and /state.json, one answer for each connection. A request must
 * name this host as 127.0.0.1 or localhost, so that a page from elsewhere cannot read the answers by giving its own
 * name this address. */
#define _GNU_SOURCE
#include "program/live.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "command/command.h"
#include "program/live_page.h"
#include "program/run_folder.h"

enum { MOST_CLIENTS = 16, MOST_REQUEST_BYTES = 4096, MOST_STATE_BYTES = 1 << 16, CLIENT_SECONDS = 5 };

struct client {
    int socket; /* -1: none */
    size_t n_bytes;
    time_t since;
    char request[MOST_REQUEST_BYTES + 1];
};

struct program_live {
    int socket;
    int wake[2]; /* a pipe: closing its end stops the thread */
    unsigned port;
    char address[40];
    const char *title, *file;
    _Atomic(const char *) final_page; /* NULL: the run continues */
    struct program_run_folder folder;
    pthread_t thread;
    struct client client[MOST_CLIENTS];
};

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

static void send_all(int socket, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t sent = send(socket, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        bytes += sent;
        n -= (size_t)sent;
    }
}

static void answer(int socket, const char *status, const char *type, const char *body, bool has_body) {
    char head[512];
    size_t length = strlen(body);
    int n =
        snprintf(head, sizeof head,
                 "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
                 "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
                 status, type, length);
    send_all(socket, head, (size_t)n);
    if (has_body)
        send_all(socket, body, length);
}

/* Reads the driver's file; before it exists, the run is starting. */
static void read_state(const struct program_live *live, char *text, size_t size) {
    FILE *file = fopen(live->file, "re");
    size_t n = file ? fread(text, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    const char *rest = n > 1 && text[0] == '{' ? text : "{\"state\":\"starting\",\"ended\":[]}";
    if (atomic_load(&live->final_page)) { /* whatever the driver has written last */
        const char *ended = strstr(rest, "\"ended\":");
        char *copy = strdup(ended ? ended : "\"ended\":[]}");
        snprintf(text, size, "{\"state\":\"done\",%s", copy);
        free(copy);
    } else if (rest != text) {
        snprintf(text, size, "%s", rest);
    }
}

/* Returns the value of a header in lower case, or "" if there is none. */
static void find_header(const char *request, const char *name, char *value, size_t size) {
    value[0] = '\0';
    for (const char *line = strstr(request, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        size_t length = strlen(name);
        if (strncasecmp(line + 2, name, length) != 0 || line[2 + length] != ':')
            continue;
        const char *from = line + 3 + length;
        from += strspn(from, " \t");
        size_t n = strcspn(from, "\r\n");
        snprintf(value, size, "%.*s", (int)(n < size ? n : size - 1), from);
        return;
    }
}

static bool is_this_host(const struct program_live *live, const char *request) {
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char host[80], expected[80];
    find_header(request, "Host", host, sizeof host);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(expected, sizeof expected, "%s:%u", names[i], live->port);
        if (strcasecmp(host, expected) == 0 || (live->port == 80 && strcasecmp(host, names[i]) == 0))
            return true;
    }
    return false;
}

static void answer_request(const struct program_live *live, int socket, const char *request) {
    bool is_get = strncmp(request, "GET ", 4) == 0, is_head = strncmp(request, "HEAD ", 5) == 0;
    const char *path = request + (is_head ? 5 : 4);
    size_t length = strcspn(path, " ?\r\n");
    const char *final_page = atomic_load(&live->final_page);
    if (!is_get && !is_head) {
        answer(socket, "405 Method Not Allowed", "text/plain", "only GET and HEAD\n", true);
    } else if (!is_this_host(live, request)) {
        answer(socket, "403 Forbidden", "text/plain", "this page is for 127.0.0.1 alone\n", is_get);
    } else if (length == 1 && *path == '/') {
        answer(socket, "200 OK", "text/html", final_page && *final_page ? final_page : program_live_page, is_get);
    } else if (length == 11 && strncmp(path, "/state.json", 11) == 0) {
        char *state = base_allocate(MOST_STATE_BYTES, 1);
        read_state(live, state, MOST_STATE_BYTES);
        answer(socket, "200 OK", "application/json", state, is_get);
        free(state);
    } else {
        answer(socket, "404 Not Found", "text/plain", "there is / and /state.json\n", is_get);
    }
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

static void drop(struct client *client) {
    close(client->socket);
    client->socket = -1;
}

static void accept_client(struct program_live *live) {
    struct timeval limit = {.tv_sec = CLIENT_SECONDS};
    int socket = accept4(live->socket, NULL, NULL, SOCK_CLOEXEC);
    unsigned i = 0;
    while (i < MOST_CLIENTS && live->client[i].socket >= 0)
        i++;
    if (socket < 0)
        return;
    if (i == MOST_CLIENTS) {
        close(socket);
        return;
    }
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    live->client[i].socket = socket;
    live->client[i].n_bytes = 0;
    live->client[i].since = time(NULL);
}

/* Takes what has arrived, and answers when the request is complete. */
static void serve(struct program_live *live, struct client *client) {
    ssize_t n =
        recv(client->socket, client->request + client->n_bytes, MOST_REQUEST_BYTES - client->n_bytes, MSG_DONTWAIT);
    if (n <= 0) {
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            drop(client);
        return;
    }
    client->n_bytes += (size_t)n;
    client->request[client->n_bytes] = '\0';
    if (strstr(client->request, "\r\n\r\n"))
        answer_request(live, client->socket, client->request);
    else if (client->n_bytes < MOST_REQUEST_BYTES)
        return;
    else
        answer(client->socket, "431 Request Header Fields Too Large", "text/plain", "too long\n", true);
    drop(client);
}

static void *run_server(void *context) {
    struct program_live *live = context;
    for (;;) {
        struct pollfd wait[2 + MOST_CLIENTS] = {{live->wake[0], POLLIN, 0}, {live->socket, POLLIN, 0}};
        for (unsigned i = 0; i < MOST_CLIENTS; i++)
            wait[2 + i] = (struct pollfd){live->client[i].socket, POLLIN, 0}; /* poll() skips -1 */
        poll(wait, 2 + MOST_CLIENTS, 1000);
        if (wait[0].revents)
            break;
        for (unsigned i = 0; i < MOST_CLIENTS; i++) {
            struct client *client = &live->client[i];
            if (client->socket >= 0 && wait[2 + i].revents)
                serve(live, client);
            else if (client->socket >= 0 && time(NULL) - client->since > CLIENT_SECONDS)
                drop(client);
        }
        if (wait[1].revents)
            accept_client(live);
    }
    for (unsigned i = 0; i < MOST_CLIENTS; i++)
        if (live->client[i].socket >= 0)
            drop(&live->client[i]);
    return NULL;
}

/* ---- The life of a server ---------------------------------------------------------------------------------------- */

static bool open_socket(struct program_live *live, uint64_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof address;
    int yes = 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    live->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (live->socket < 0)
        return false;
    setsockopt(live->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(live->socket, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(live->socket, MOST_CLIENTS) != 0 || getsockname(live->socket, (struct sockaddr *)&address, &size) != 0) {
        int error = errno;
        close(live->socket);
        errno = error;
        return false;
    }
    live->port = ntohs(address.sin_port);
    return true;
}

/* The thread takes no signals: they are for the thread that waits for the program. */
static bool start_thread(struct program_live *live) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&live->thread, NULL, run_server, live);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0;
}

struct program_live *program_live_start(uint64_t port, const char *title, struct base_arena *arena) {
    struct program_live *live = BASE_ARENA_NEW(arena, struct program_live);
    live->title = title;
    for (unsigned i = 0; i < MOST_CLIENTS; i++)
        live->client[i].socket = -1;
    if (!program_run_folder_make(&live->folder, arena))
        return NULL;
    live->file = base_arena_printf(arena, "%s/state.json", live->folder.path);
    bool is_open = open_socket(live, port);
    bool is_started = is_open && pipe2(live->wake, O_CLOEXEC) == 0 && start_thread(live);
    if (!is_started) {
        command_fail(COMMAND_ERROR, "--live: cannot serve on 127.0.0.1 port %u: %s", (unsigned)port, strerror(errno));
        if (is_open)
            close(live->socket);
        program_run_folder_remove(&live->folder, arena);
        return NULL;
    }
    snprintf(live->address, sizeof live->address, "http://127.0.0.1:%u/", live->port);
    return live;
}

const char *program_live_file(const struct program_live *live) { return live->file; }
const char *program_live_address(const struct program_live *live) { return live->address; }
void program_live_finish(struct program_live *live, const char *page) { atomic_store(&live->final_page, page); }

void program_live_wait(void) {
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigwait(&set, &number);
}

void program_live_stop(struct program_live *live, struct base_arena *arena) {
    if (!live)
        return;
    close(live->wake[1]);
    pthread_join(live->thread, NULL);
    close(live->wake[0]);
    close(live->socket);
    unlink(live->file);
    unlink(base_arena_printf(arena, "%s.new", live->file));
    program_run_folder_remove(&live->folder, arena);
}
