/* Finds the machines beside the library, wherever it is installed, and applies a program's settings to one of them. */
#define _GNU_SOURCE /* dladdr */
#include "api/machine.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes the folder of machines: $HEDDLE_MACHINES, or share/heddle/machines (installed) or machines (built) beside the
 * library, which is in BUILD/lib, PREFIX/lib or PREFIX/lib/TRIPLET. Returns false if there is none. */
static bool find_folder(char folder[PATH_MAX]) {
    static const char *const names[] = {"share/heddle/machines", "machines"};
    const char *given = getenv("HEDDLE_MACHINES");
    char place[PATH_MAX];
    Dl_info library;
    if (given && *given)
        return snprintf(folder, PATH_MAX, "%s", given) < PATH_MAX;
    if (!dladdr((const void *)heddle_version, &library) || !realpath(library.dli_fname, place))
        return false;
    for (int level = 0; level < 3; level++) {
        char *slash = strrchr(place, '/');
        if (!slash)
            return false;
        *slash = '\0';
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
            if (snprintf(folder, PATH_MAX, "%s/%s", place, names[i]) < PATH_MAX && access(folder, R_OK) == 0)
                return true;
    }
    return false;
}

bool api_is_timed(const struct heddle_settings *settings) {
    return settings->machine || settings->scheduler || settings->divergence || (settings->set && *settings->set);
}

static bool set_policy(struct config_machine *machine, const char *option, const char *policy, char *error,
                       size_t size) {
    char text[CONFIG_ERROR_BYTES];
    if (!policy)
        return true;
    if (snprintf(text, sizeof text, "%s=%s", option, policy) < (int)sizeof text)
        return config_set(machine, text, error, size);
    snprintf(error, size, "the name of the %s is too long", option);
    return false;
}

bool api_load_machine(struct config_machine *machine, const struct heddle_settings *settings, char *error,
                      size_t size) {
    char folder[PATH_MAX] = "";
    const char *name = settings->machine ? settings->machine : CONFIG_DEFAULT_MACHINE;
    if (!find_folder(folder) && !config_is_path(name)) {
        snprintf(error, size, "no folder of machines beside libheddle; the variable HEDDLE_MACHINES can name it");
        return false;
    }
    if (!config_load(machine, name, folder, error, size))
        return false;
    for (const char *const *option = settings->set; option && *option; option++)
        if (!config_set(machine, *option, error, size))
            return false;
    return set_policy(machine, "scheduler", settings->scheduler, error, size) &&
           set_policy(machine, "divergence", settings->divergence, error, size) && config_check(machine, error, size);
}
