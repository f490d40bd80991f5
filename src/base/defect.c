/* Handles failed assertions. The linker resolves the assertions of Heddle's own objects, in the command and in its
 * libraries, to this __assert_fail(). The function is hidden, so the assertions of a program or a plug-in in the same
 * process still call the C library's.
 *
 * A program that `heddle` started writes the failure to a file (base/defect.h). `heddle`, which knows the machine and
 * the command, prints the message. Any other process prints it itself. Both end with abort(), so that a debugger or a
 * core dump shows the place. Nothing here allocates memory or takes a lock, because either may be broken. */
#include "base/defect.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add(char *text, size_t size, const char *more) {
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s", more);
}

/* Adds a word of a command line, quoted for a shell. */
static void add_word(char *text, size_t size, const char *word) {
    bool is_plain = *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                "-_=./:,+%@")];
    if (is_plain) {
        add(text, size, word);
        return;
    }
    add(text, size, "'");
    for (; *word; word++)
        add(text, size, *word == '\'' ? "'\\''" : (char[]){*word, '\0'});
    add(text, size, "'");
}

/* Adds the command of this process, whose name loses its folder. */
static void add_command(char *text, size_t size) {
    char words[1024] = "";
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, words, sizeof words - 1) : 0;
    if (file >= 0)
        close(file);
    const char *slash = strrchr(words, '/');
    for (const char *word = words; word - words < length; word += strlen(word) + 1) {
        add(text, size, word == words ? "" : " ");
        add_word(text, size, word == words && slash ? slash + 1 : word);
    }
    if (length == (ssize_t)sizeof words - 1)
        add(text, size, " ...");
}

void base_defect_line(char *line, size_t size, const char *failure, const char *whose, const char *run,
                      const char *way_round) {
    snprintf(line, size,
             "a defect of Heddle%s: %s; please report it with this: heddle " HEDDLE_VERSION ", %scommand: ", whose,
             failure, run);
    add_command(line, size);
    if (*way_round) {
        add(line, size, "; ");
        add(line, size, way_round);
    }
}

/* Writes the failure to the file. Returns true if the command that started this process will tell the user. */
static bool leave(const char *failure) {
    const char *results = getenv("HEDDLE_RESULTS");
    char path[4096];
    if (!results || !*results || strlen(results) + sizeof BASE_DEFECT_ENDING > sizeof path)
        return false;
    snprintf(path, sizeof path, "%s" BASE_DEFECT_ENDING, results);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool is_left = write(file, failure, strlen(failure)) == (ssize_t)strlen(failure);
    return close(file) == 0 && is_left;
}

/* The C library's declaration, which no header contains when assertions are off. */
_Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function);

__attribute__((visibility("hidden"))) void __assert_fail(const char *assertion, const char *file, unsigned line,
                                                         const char *function) {
    static atomic_flag has_failed = ATOMIC_FLAG_INIT; /* only the first failure is reported */
    char failure[1024], text[BASE_DEFECT_BYTES];
    if (atomic_flag_test_and_set(&has_failed)) {
        sleep(1);
        abort();
    }
    const char *place = strstr(file, "/src/"); /* the compiler's path starts with the checkout's folder */
    snprintf(failure, sizeof failure, "%s:%u: %s: Assertion '%s' failed", place ? place + 1 : file, line, function,
             assertion);
    if (!leave(failure)) {
        base_defect_line(text, sizeof text, failure, "", "", "");
        dprintf(STDERR_FILENO, "heddle: %s\n", text);
    }
    abort();
}
