/* Folders heddle-run-XXXXXX in TMPDIR. The command that made a folder locks a file `lock` in it. The system releases
 * the lock however the command ends. A folder whose lock can be taken is therefore left over, and the next command
 * removes it. */
#define _GNU_SOURCE
#include "program/run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command/command.h"

static const char prefix[] = "heddle-run-", letters[] = "XXXXXX";

static const char *parent_folder(void) {
    const char *parent = getenv("TMPDIR");
    return parent && *parent ? parent : "/tmp";
}

static const char *lock_path(const char *folder, struct base_arena *arena) {
    return base_arena_printf(arena, "%s/lock", folder);
}

/* ---- Leftovers --------------------------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about, (void)kind, (void)place;
    remove(path);
    return 0;
}

static bool is_ours(const char *folder) {
    struct stat about;
    return lstat(folder, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
           (about.st_mode & 0077) == 0;
}

/* A folder without a lock is being made, or removed. */
static void remove_if_left(const char *folder, struct base_arena *arena) {
    enum { MOST_OPEN = 8 };
    if (!is_ours(folder))
        return;
    int lock = open(lock_path(folder, arena), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0)
        return;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0)
        nftw(folder, remove_entry, MOST_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    close(lock);
}

static void remove_leftovers(const char *parent, struct base_arena *arena) {
    DIR *entries = opendir(parent);
    if (!entries)
        return;
    for (struct dirent *entry; (entry = readdir(entries));)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            strlen(entry->d_name) == strlen(prefix) + strlen(letters))
            remove_if_left(base_arena_printf(arena, "%s/%s", parent, entry->d_name), arena);
    closedir(entries);
}

/* ---- This command's own ------------------------------------------------------------------------------------------ */

/* The lock gets its name only once it is held, so that no other command sees it earlier. */
static int make_lock(const char *folder, struct base_arena *arena) {
    const char *made = base_arena_printf(arena, "%s/new-lock", folder);
    int lock = open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock >= 0 && (flock(lock, LOCK_EX | LOCK_NB) != 0 || rename(made, lock_path(folder, arena)) != 0)) {
        close(lock); /* a file system without locks: the folder never counts as left over */
        unlink(made);
        return -1;
    }
    return lock;
}

bool program_run_folder_make(struct program_run_folder *folder, struct base_arena *arena) {
    const char *parent = parent_folder();
    remove_leftovers(parent, arena);
    char *path = base_arena_printf(arena, "%s/%s%s", parent, prefix, letters);
    if (!mkdtemp(path)) {
        command_fail(COMMAND_ERROR, "cannot make a folder in '%s': %s; TMPDIR can name another place", parent,
                     strerror(errno));
        return false;
    }
    folder->path = path;
    folder->lock = make_lock(path, arena);
    return true;
}

void program_run_folder_remove(struct program_run_folder *folder, struct base_arena *arena) {
    unlink(lock_path(folder->path, arena));
    rmdir(folder->path);
    if (folder->lock >= 0)
        close(folder->lock);
}
