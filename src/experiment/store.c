/* The result store. With the write-ahead log, readers and a writer do not block each other, and committed results
 * survive however the process ends. The log needs a writable folder. A store in a folder that is not writable, for
 * example another user's, is read without the log. */
#define _GNU_SOURCE
#include "experiment/store.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "command/command.h"
#include "experiment/hash.h"
#include "stats/counters.h"

enum { SCHEMA = 1, BUSY_MILLISECONDS = 60000 };

struct experiment_store {
    sqlite3 *database;
    const char *path;
    bool is_read_only;
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS runs ("
    "  key TEXT PRIMARY KEY, version TEXT NOT NULL, program TEXT NOT NULL, input TEXT NOT NULL,"
    "  arguments TEXT NOT NULL, size TEXT NOT NULL, machine TEXT NOT NULL,"
    "  scheduler TEXT NOT NULL, divergence TEXT NOT NULL, configuration TEXT NOT NULL,"
    "  records TEXT NOT NULL, seconds REAL NOT NULL, ended TEXT NOT NULL,"
    "  statistics TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS claims ("
    "  experiment TEXT NOT NULL, claim TEXT NOT NULL, size TEXT NOT NULL, state TEXT NOT NULL,"
    "  judged TEXT NOT NULL, PRIMARY KEY (experiment, claim));"
    "PRAGMA user_version = 1;";

static int fail_store(const struct experiment_store *store) {
    return command_fail(COMMAND_ERROR, "the store of results '%s': %s; --store FILE names another", store->path,
                        sqlite3_errmsg(store->database));
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static int user_version(const struct experiment_store *store) {
    sqlite3_stmt *query;
    int version = -1;
    if (sqlite3_prepare_v2(store->database, "PRAGMA user_version", -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        version = sqlite3_column_int(query, 0);
    sqlite3_finalize(query);
    return version;
}

static bool execute(const struct experiment_store *store, const char *text) {
    return sqlite3_exec(store->database, text, NULL, NULL, NULL) == SQLITE_OK;
}

/* The runs as plain columns, for those who read the file without Heddle: one for each counter. For the caller to free.
 */
static char *view_text(void) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        abort();
    fputs("CREATE VIEW results AS SELECT program, arguments, size, machine, scheduler, divergence, seconds, ended, "
          "json_extract(statistics, '$.total.launches') AS launches",
          file);
    for (unsigned i = 0; i < STATS_N_COUNTERS; i++)
        fprintf(file, ", json_extract(statistics, '$.total.%s') AS %s", stats_list[i].name, stats_list[i].name);
    fputs(" FROM runs", file);
    fclose(file);
    return text;
}

/* Another release may have other counters. */
static bool make_view(const struct experiment_store *store) {
    char *text = view_text();
    sqlite3_stmt *query;
    bool is_there = false;
    if (sqlite3_prepare_v2(store->database, "SELECT sql FROM sqlite_master WHERE name = 'results'", -1, &query, NULL) ==
            SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW)
        is_there = strcmp((const char *)sqlite3_column_text(query, 0), text) == 0;
    sqlite3_finalize(query);
    bool is_made = is_there || (execute(store, "BEGIN IMMEDIATE; DROP VIEW IF EXISTS results;") &&
                                execute(store, text) && execute(store, "COMMIT"));
    free(text);
    return is_made;
}

/* For experiment_store_seconds(), which is asked for thousands of runs. */
static bool make_index(const struct experiment_store *store) {
    return execute(store, "CREATE INDEX IF NOT EXISTS runs_by_program ON runs "
                          "(program, arguments, machine, scheduler, divergence, seconds)");
}

/* Waits if another process is also making the tables. */
static int prepare(struct experiment_store *store) {
    sqlite3_busy_timeout(store->database, BUSY_MILLISECONDS);
    int version = user_version(store);
    if (version < 0)
        return fail_store(store);
    if (version > SCHEMA)
        return command_fail(COMMAND_ERROR, "the store of results '%s' is of a newer Heddle; --store FILE names another",
                            store->path);
    bool is_made = version == SCHEMA ||
                   (execute(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE;") &&
                    execute(store, schema) && execute(store, "COMMIT"));
    return is_made && make_index(store) && make_view(store) ? COMMAND_DONE : fail_store(store);
}

static struct experiment_store *new_store(const char *path) {
    struct experiment_store *store = calloc(1, sizeof *store);
    if (!store)
        abort();
    store->path = path;
    return store;
}

/* Makes the folders above the file; a failure shows when the file is opened. */
static void make_folders(const char *path) {
    char *copy = strdup(path);
    if (!copy)
        abort();
    for (char *slash = copy; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(copy, 0777);
        *slash = '/';
    }
    free(copy);
}

/* A path as a URI of SQLite, for the caller to free. */
static char *uri(const char *path, const char *parameters) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        abort();
    fputs("file:", file);
    for (; *path; path++)
        if (strchr("?#%", *path))
            fprintf(file, "%%%02x", (unsigned)*path);
        else
            fputc(*path, file);
    fprintf(file, "?%s", parameters);
    fclose(file);
    return text;
}

static bool try_to_read(struct experiment_store *store, const char *parameters) {
    char *name = uri(store->path, parameters);
    sqlite3_close(store->database);
    bool is_open = sqlite3_open_v2(name, &store->database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) == SQLITE_OK;
    free(name);
    sqlite3_busy_timeout(store->database, BUSY_MILLISECONDS);
    return is_open && user_version(store) == SCHEMA;
}

/* Without the log, only what is in the file itself can be read: all of it, unless a writer has left a log. */
static bool has_log(const char *path) {
    struct base_arena arena = {0};
    struct stat about;
    bool is_there = stat(base_arena_printf(&arena, "%s-wal", path), &about) == 0 && about.st_size > 0;
    base_arena_free(&arena);
    return is_there;
}

static bool open_read_only(struct experiment_store *store) {
    store->is_read_only = true;
    return try_to_read(store, "mode=ro") || (!has_log(store->path) && try_to_read(store, "mode=ro&immutable=1"));
}

/* True if the file, or the folder in which SQLite makes its log, cannot be written to. */
static bool is_protected(const struct experiment_store *store) {
    struct base_arena arena = {0};
    const char *slash = strrchr(store->path, '/');
    const char *folder =
        slash ? base_arena_copy(&arena, store->path, slash > store->path ? (size_t)(slash - store->path) : 1) : ".";
    bool is = access(store->path, R_OK) == 0 && (access(store->path, W_OK) != 0 || access(folder, W_OK) != 0);
    base_arena_free(&arena);
    return is;
}

static int open_to_write(struct experiment_store *store) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(store->path, &store->database, flags, NULL) == SQLITE_OK)
        return prepare(store);
    return command_fail(COMMAND_ERROR, "the store of results '%s' cannot be opened: %s; --store FILE names another",
                        store->path, strerror(sqlite3_system_errno(store->database)));
}

static int open_or_make(struct experiment_store *store) {
    if (!is_protected(store))
        return open_to_write(store);
    if (!open_read_only(store))
        return command_fail(
            COMMAND_ERROR,
            "the store of results '%s' can be read, but not written to, and is of another Heddle or in use; "
            "--store FILE names another",
            store->path);
    fprintf(stderr,
            "heddle: the store of results '%s' is read-only: new runs are not kept; --store FILE names another\n",
            store->path);
    return COMMAND_DONE;
}

int experiment_store_open(struct experiment_store **store, const char *path) {
    *store = new_store(path);
    make_folders(path);
    int status = open_or_make(*store);
    if (status != COMMAND_DONE) {
        experiment_store_close(*store);
        *store = NULL;
    }
    return status;
}

void experiment_store_open_to_read(struct experiment_store **store, const char *path) {
    *store = new_store(path);
    if (open_read_only(*store))
        return;
    experiment_store_close(*store);
    *store = NULL;
}

bool experiment_store_is_read_only(const struct experiment_store *store) { return store->is_read_only; }

void experiment_store_close(struct experiment_store *store) {
    if (!store)
        return;
    sqlite3_close(store->database);
    free(store);
}

/* The user's folder; NULL: unknown. */
static const char *home_folder(void) {
    const char *home = getenv("HOME");
    if (home && *home)
        return home;
    const struct passwd *user = getpwuid(getuid());
    return user ? user->pw_dir : NULL;
}

const char *experiment_store_path(const char *given, struct base_arena *arena) {
    const char *variable = getenv("HEDDLE_STORE"), *data = getenv("XDG_DATA_HOME"), *home = home_folder();
    if (given)
        return given;
    if (variable && *variable)
        return variable;
    if (data && *data == '/') /* others are to be ignored: XDG Base Directory Specification 0.8 */
        return base_arena_printf(arena, "%s/heddle/results.db", data);
    return base_arena_printf(arena, "%s/.local/share/heddle/results.db", home ? home : "");
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static bool starts_with(const char *line, const char *start) { return strncmp(line, start, strlen(start)) == 0; }

/* The lines of a machine, as YAML, that can change a statistic. */
static const char *effective_lines(const char *yaml, bool reads_device, struct base_arena *arena) {
    char *text = base_arena_copy(arena, yaml, strlen(yaml)), *to = text;
    bool is_device = false; /* inside the group device: */
    for (size_t n; *yaml; yaml += n) {
        n = strcspn(yaml, "\n") + (yaml[strcspn(yaml, "\n")] == '\n');
        is_device = starts_with(yaml, "device:") || (is_device && *yaml == ' ');
        if (starts_with(yaml, "name:") || starts_with(yaml, "description:") || (is_device && !reads_device))
            continue;
        memmove(to, yaml, n);
        to += n;
    }
    *to = '\0';
    return text;
}

/* Includes the zero at the end of each text, so that different splits into texts differ. */
const char *experiment_store_key(const struct experiment_stored_run *run, struct base_arena *arena) {
    const char *configuration = effective_lines(run->configuration, run->reads_device, arena);
    const char *const part[] = {run->version, run->input, run->arguments, configuration, run->records};
    struct experiment_hash hash = experiment_hash_start();
    for (unsigned i = 0; i < sizeof part / sizeof part[0]; i++)
        experiment_hash_add(&hash, part[i], strlen(part[i]) + 1);
    return experiment_hash_text(&hash, arena);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void bind_texts(sqlite3_stmt *statement, const char *const *text, int n) {
    for (int i = 0; i < n; i++)
        sqlite3_bind_text(statement, i + 1, text[i], -1, SQLITE_STATIC);
}

/* The only column of the only row; NULL: none. */
static const char *query_text(struct experiment_store *store, const char *query, const char *const *text, int n,
                              struct base_arena *arena) {
    sqlite3_stmt *statement;
    const char *found = NULL;
    if (sqlite3_prepare_v2(store->database, query, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    bind_texts(statement, text, n);
    if (sqlite3_step(statement) == SQLITE_ROW)
        found = base_arena_copy(arena, (const char *)sqlite3_column_text(statement, 0),
                                (size_t)sqlite3_column_bytes(statement, 0));
    sqlite3_finalize(statement);
    return found;
}

const char *experiment_store_find(struct experiment_store *store, const struct experiment_stored_run *run,
                                  struct base_arena *arena) {
    const char *key = experiment_store_key(run, arena);
    return query_text(store, "SELECT statistics FROM runs WHERE key = ?", &key, 1, arena);
}

double experiment_store_seconds(struct experiment_store *store, const struct experiment_stored_run *run) {
    static const char query[] =
        "SELECT coalesce((SELECT avg(seconds) FROM runs WHERE program = ?1 AND arguments = ?2 AND machine = ?3 AND "
        "scheduler = ?4 AND divergence = ?5), (SELECT avg(seconds) FROM runs WHERE program = ?1 AND arguments = ?2 AND "
        "machine = ?3), (SELECT avg(seconds) FROM runs WHERE program = ?1 AND arguments = ?2), (SELECT avg(seconds) "
        "FROM runs WHERE program = ?1), 0)";
    const char *const text[] = {run->program, run->arguments, run->machine, run->scheduler, run->divergence};
    sqlite3_stmt *statement;
    double seconds = 0;
    if (sqlite3_prepare_v2(store->database, query, -1, &statement, NULL) != SQLITE_OK)
        return 0;
    bind_texts(statement, text, sizeof text / sizeof text[0]);
    if (sqlite3_step(statement) == SQLITE_ROW)
        seconds = sqlite3_column_double(statement, 0);
    sqlite3_finalize(statement);
    return seconds;
}

bool experiment_store_add(struct experiment_store *store, const struct experiment_stored_run *run) {
    if (store->is_read_only)
        return true;
    struct base_arena arena = {0};
    const char *const text[] = {experiment_store_key(run, &arena),
                                run->version,
                                run->program,
                                run->input,
                                run->arguments,
                                run->size,
                                run->machine,
                                run->scheduler,
                                run->divergence,
                                run->configuration,
                                run->records,
                                run->statistics};
    sqlite3_stmt *statement = NULL;
    bool is_good = sqlite3_prepare_v2(store->database,
                                      "INSERT OR REPLACE INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
                                      "?11, ?13, datetime('now'), ?12)",
                                      -1, &statement, NULL) == SQLITE_OK;
    if (is_good) {
        bind_texts(statement, text, sizeof text / sizeof text[0]);
        sqlite3_bind_double(statement, 13, run->seconds);
        is_good = sqlite3_step(statement) == SQLITE_DONE;
    }
    if (!is_good)
        fail_store(store);
    sqlite3_finalize(statement);
    base_arena_free(&arena);
    return is_good;
}

/* An expression in parentheses cannot be anything else if its own are in pairs and nothing ends or hides the rest of
 * the statement. Returns the character that cannot be part of one, or NULL. */
static const char *outside_expression(const char *text) {
    unsigned depth = 0;
    for (const char *at = text; *at; at++) {
        char end = *at == '[' ? ']' : *at;
        if (strchr("'\"`[", *at)) {
            const char *close = strchr(at + 1, end);
            if (!close)
                return at;
            at = close;
        } else if (*at == ';' || (*at == ')' && depth == 0) || strncmp(at, "--", 2) == 0 || strncmp(at, "/*", 2) == 0) {
            return at;
        } else if (*at == '(' || *at == ')') {
            depth += *at == '(' ? 1u : -1u;
        }
    }
    return depth ? strrchr(text, '(') : NULL;
}

static int fail_where(const char *where, const char *why) {
    return command_fail(
        COMMAND_ERROR,
        "--where '%s': %s; expected is an expression over columns of the table runs (program, arguments, "
        "size, machine, scheduler, divergence, ended...), such as \"machine = 'gtx480' AND size = 'small'\"",
        where, why);
}

/* With max(), SQLite takes the other columns from the row that has it. Times are in seconds; within one the last row
 * counts. */
bool experiment_store_each(struct experiment_store *store, const char *where,
                           void (*take)(void *user, const struct experiment_stored_run *run), void *user) {
    struct base_arena arena = {0};
    const char *outside = where ? outside_expression(where) : NULL;
    if (outside) {
        fail_where(where, base_arena_printf(&arena, "'%.2s' ends or opens what is no expression", outside));
        base_arena_free(&arena);
        return false;
    }
    const char *query = base_arena_printf(
        &arena,
        "SELECT version, program, input, arguments, size, machine, scheduler, divergence, configuration, records, "
        "statistics, seconds, max(ended || printf(' %%019d', rowid)) FROM runs WHERE (%s\n) GROUP BY program, "
        "arguments, size, configuration "
        "ORDER BY program, machine, scheduler, divergence, arguments, configuration",
        where ? where : "1");
    sqlite3_stmt *statement = NULL;
    int step = sqlite3_prepare_v2(store->database, query, -1, &statement, NULL);
    if (step != SQLITE_OK && where)
        fail_where(where, sqlite3_errmsg(store->database));
    else if (step != SQLITE_OK)
        fail_store(store);
    while (statement && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text[11];
        for (int i = 0; i < 11; i++)
            text[i] = sqlite3_column_text(statement, i) ? (const char *)sqlite3_column_text(statement, i) : "";
        take(user, &(struct experiment_stored_run){.version = text[0],
                                                   .program = text[1],
                                                   .input = text[2],
                                                   .arguments = text[3],
                                                   .size = text[4],
                                                   .machine = text[5],
                                                   .scheduler = text[6],
                                                   .divergence = text[7],
                                                   .configuration = text[8],
                                                   .records = text[9],
                                                   .statistics = text[10],
                                                   .seconds = sqlite3_column_double(statement, 11)});
    }
    if (statement && step != SQLITE_DONE)
        fail_store(store);
    sqlite3_finalize(statement);
    base_arena_free(&arena);
    return step == SQLITE_DONE;
}

bool experiment_store_set_claim(struct experiment_store *store, const struct experiment_stored_claim *claim) {
    if (store->is_read_only)
        return true;
    const char *const text[] = {claim->experiment, claim->claim, claim->size, claim->state};
    sqlite3_stmt *statement = NULL;
    bool is_good =
        sqlite3_prepare_v2(store->database, "INSERT OR REPLACE INTO claims VALUES (?1, ?2, ?3, ?4, datetime('now'))",
                           -1, &statement, NULL) == SQLITE_OK;
    if (is_good) {
        bind_texts(statement, text, sizeof text / sizeof text[0]);
        is_good = sqlite3_step(statement) == SQLITE_DONE;
    }
    if (!is_good)
        fail_store(store);
    sqlite3_finalize(statement);
    return is_good;
}

const char *experiment_store_claim(struct experiment_store *store, const char *experiment, const char *claim,
                                   struct base_arena *arena) {
    const char *const text[] = {experiment, claim};
    return query_text(store, "SELECT state || ' at size ' || size FROM claims WHERE experiment = ? AND claim = ?", text,
                      2, arena);
}
