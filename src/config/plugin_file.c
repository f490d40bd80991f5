/* Policies in shared objects: `--scheduler ./mine.so`.
 *
 * An object is loaded once and stays until the process ends. Divergence models call functions of Heddle, so the object
 * that contains this code must be visible to them even if the program loaded it with RTLD_LOCAL. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/plugin.h"

static const char *const kinds[] = {"nothing", "scheduler", "divergence model", "DRAM policy"};
enum { N_KINDS = sizeof kinds / sizeof kinds[0], LONGEST_PATH = 4096 };

__attribute__((format(printf, 3, 4))) static const void *refuse(char *error, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, size, format, arguments);
    va_end(arguments);
    return NULL;
}

size_t config_plugin_file_length(const char *text) {
    const char *options = strstr(text, ".so:");
    size_t length = options ? (size_t)(options - text) + 3 : strlen(text);
    return length > 3 && strncmp(text + length - 3, ".so", 3) == 0 ? length : 0;
}

static void make_visible(void) {
    Dl_info self;
    if (dladdr((void *)(uintptr_t)make_visible, &self))
        dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

const struct heddle_plugin *config_plugin_open(const char *path, char *error, size_t error_size) {
    char full[LONGEST_PATH];
    make_visible();
    /* Without a '/' the loader would search its own folders. */
    snprintf(full, sizeof full, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *object = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        const char *reason = dlerror();
        return refuse(error, error_size, "cannot load the plug-in: %s", reason ? reason : path);
    }
    const struct heddle_plugin *plugin = dlsym(object, "heddle_plugin");
    if (!plugin)
        return refuse(error, error_size, "%s is no plug-in: it does not define heddle_plugin (heddle/policy.h)", path);
    if (plugin->abi != HEDDLE_PLUGIN_ABI)
        return refuse(error, error_size, "%s was built for plug-in ABI %u, and this Heddle has ABI %u: build it again",
                      path, plugin->abi, HEDDLE_PLUGIN_ABI);
    if (!plugin->kind || plugin->kind >= N_KINDS || !plugin->table)
        return refuse(error, error_size, "%s is no plug-in: heddle_plugin has kind %u and %s table", path, plugin->kind,
                      plugin->table ? "a" : "no");
    return plugin;
}

const void *config_plugin_load(const char *text, enum heddle_plugin_kind kind, uint64_t layout, const char **rest,
                               char *error, size_t error_size) {
    char path[LONGEST_PATH];
    size_t length = config_plugin_file_length(text);
    if (length >= sizeof path)
        return refuse(error, error_size, "the name of the plug-in is too long");
    memcpy(path, text, length);
    path[length] = '\0';
    *rest = text + length;
    const struct heddle_plugin *plugin = config_plugin_open(path, error, error_size);
    if (!plugin)
        return NULL;
    if (plugin->kind != kind)
        return refuse(error, error_size, "%s is a %s, not a %s", path, kinds[plugin->kind], kinds[kind]);
    if (plugin->layout != layout)
        return refuse(error, error_size, "%s was built with other headers than this Heddle: build it again", path);
    return plugin->table;
}

bool config_plugin_parse_file(const char *rules, const char *kind, const struct config_plugin *plugin, const char *rest,
                              void **options, char *error, size_t error_size) {
    char text[1024];
    size_t which;
    if (snprintf(text, sizeof text, "%s%s", plugin->name, rest) >= (int)sizeof text)
        return refuse(error, error_size, "%s: the options are too long", plugin->name) != NULL;
    return config_plugin_parse_by(rules, kind, plugin, 1, text, &which, options, error, error_size);
}

void config_plugin_broken(const char *kind, const char *name, const char *what) {
    fflush(stdout);
    fprintf(stderr, "heddle: the %s '%s' is broken: %s\n", kind, name, what);
    exit(1);
}
