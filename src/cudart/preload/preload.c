/* The library that `heddle run` preloads, for programs that nvcc linked statically with the runtime, as it does by
 * default.
 *
 * Such a program contains the CUDA runtime, so no loader path can replace it. But its symbol table names the runtime's
 * functions: before any code of the program runs, each of them gets a jump to the function of the same name in Heddle's
 * libcudart. The same is done for shared objects that contain the runtime or are one, and for functions of libraries
 * that Heddle has too (cuBLAS, cuRAND and others). A program that contains kernels and has no symbol table cannot run;
 * it ends with a one-line message. A shared object of this kind, such as NVIDIA's libraries, stays as it is: many
 * programs link to one and never call it. When the runtime inside it starts, the driver refuses it and names the object
 * (cuGetExportTable).
 *
 * An object that the program opens later, by a path, has run its constructors before dlopen() returns. They have
 * registered its kernels with the runtime inside it, which does nothing with them yet. The functions that registered
 * them are called again once the jumps are in place. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart/preload/preload.h"

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    _exit(1);
}

/* ---- Heddle's runtime -------------------------------------------------------------------------------------------- */

/* Functions that were added and removed identify the version: texture references ended with 11, and only 12 has a
 * second cudaGetDeviceProperties. */
struct features {
    unsigned n_functions;
    bool has_register, has_texture_references, has_second_properties;
};

static void note_feature(void *context, const struct elf_function *function) {
    struct features *features = context;
    features->n_functions++;
    features->has_register |= strcmp(function->name, "__cudaRegisterFatBinary") == 0;
    features->has_texture_references |= strcmp(function->name, "cudaBindTexture") == 0;
    features->has_second_properties |= strcmp(function->name, "cudaGetDeviceProperties_v2") == 0;
}

static struct features features_of(const struct elf_file *file) {
    struct features features = {0};
    elf_each_function(file, "cuda", note_feature, &features);
    elf_each_function(file, "__cuda", note_feature, &features);
    return features;
}

/* The folder of this library and of all of Heddle's, ending in '/'. */
static const char *own_folder(int *length) {
    Dl_info self;
    if (!dladdr((void *)(uintptr_t)own_folder, &self))
        fail("cannot find the place of the preloaded library");
    const char *slash = strrchr(self.dli_fname, '/');
    *length = slash ? (int)(slash - self.dli_fname) + 1 : 0;
    return self.dli_fname;
}

static void *open_own(const char *name) {
    char path[PATH_MAX];
    int length;
    const char *folder = own_folder(&length);
    snprintf(path, sizeof(path), "%.*s%s", length, folder, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail("cannot load %s: %s", name, dlerror());
    return library;
}

static void *open_runtime(const struct features *features) {
    return open_own(features->has_second_properties    ? "libcudart.so.12"
                    : features->has_texture_references ? "libcudart.so.11.0"
                                                       : "libcudart.so.13");
}

/* ---- One object -------------------------------------------------------------------------------------------------- */

struct object {
    const char *path, *name; /* the file, and its name in messages */
    char *copy;              /* of the name that the loader has */
    uintptr_t base;          /* added to the addresses in its file */
    uintptr_t begin, end;    /* of its mapping */
    bool is_program;
    void *runtime;
    struct jump_table jumps;
    unsigned n_jumps;
};

static bool is_jump(uintptr_t at) {
    static const unsigned char endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};
    const unsigned char *code = (const unsigned char *)at;
    return *code == 0xe9 || (memcmp(code, endbr64, sizeof(endbr64)) == 0 && code[4] == 0xe9);
}

static void lead_to_ours(void *context, const struct elf_function *function) {
    struct object *object = context;
    void *ours = dlsym(object->runtime, function->name);
    uintptr_t at = object->base + function->address;
    if (!ours || is_jump(at)) /* not a function of the API, or already done */
        return;
    object->n_jumps++;
    if (!jump_write(&object->jumps, at, function->size, ours))
        fail("%s: cannot replace %s; link the program with -cudart shared", object->name, function->name);
}

static void replace_runtime(struct object *object, const struct elf_file *file, const struct features *features) {
    object->runtime = open_runtime(features);
    if (!jump_table_make(&object->jumps, object->begin, object->end, features->n_functions))
        fail("%s: no room near the program; link it with -cudart shared", object->name);
    elf_each_function(file, "cuda", lead_to_ours, object);
    elf_each_function(file, "__cuda", lead_to_ours, object);
    if (!jump_table_close(&object->jumps))
        fail("%s: memory cannot be made executable; link the program with -cudart shared", object->name);
}

/* ---- Libraries of NVIDIA that Heddle has too ----------------------------------------------------------------------
 */

/* The loader finds ours first. An object may still contain NVIDIA's, as a static library or because the program names
 * its path; then its functions lead to ours as well. A function that every version has shows that it does. */
static const struct {
    const char *prefix, *shown_by, *name;
} libraries[] = {
    {"cublasLt", "cublasLtCreate", "libcublasLt.so.13"},    {"cublas", "cublasCreate_v2", "libcublas.so.13"},
    {"curand", "curandCreateGenerator", "libcurand.so.10"}, {"cufft", "cufftPlan1d", "libcufft.so.12"},
    {"cusparse", "cusparseCreate", "libcusparse.so.12"},
};

struct presence {
    const char *shown_by;
    unsigned n_functions;
    bool is_there;
};

static void note_presence(void *context, const struct elf_function *function) {
    struct presence *presence = context;
    presence->n_functions++;
    presence->is_there |= strcmp(function->name, presence->shown_by) == 0;
}

static void lead_library_to_ours(void *context, const struct elf_function *function) {
    struct object *object = context;
    void *ours = dlsym(object->runtime, function->name);
    uintptr_t at = object->base + function->address;
    if (ours && !is_jump(at))
        jump_write(&object->jumps, at, function->size, ours); /* a function too short for a jump returns a constant */
}

static void replace_libraries(const struct object *object, const struct elf_file *file) {
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        struct presence presence = {.shown_by = libraries[i].shown_by};
        elf_each_function(file, libraries[i].prefix, note_presence, &presence);
        if (!presence.is_there)
            continue;
        struct object copy = *object;
        copy.runtime = open_own(libraries[i].name);
        if (!jump_table_make(&copy.jumps, object->begin, object->end, presence.n_functions))
            fail("%s: no room near the library; link it as a shared library", object->name);
        elf_each_function(file, libraries[i].prefix, lead_library_to_ours, &copy);
        if (!jump_table_close(&copy.jumps))
            fail("%s: memory cannot be made executable; link %s as a shared library", object->name, libraries[i].name);
    }
}

/* ---- One object again ---------------------------------------------------------------------------------------------
 */

static bool is_ours(const struct object *object) {
    int length;
    const char *folder = own_folder(&length);
    return length && strncmp(object->path, folder, (size_t)length) == 0;
}

/* It has kernels, in this section, and nothing tells where the runtime is that they need. */
static bool is_closed(const struct elf_file *file, const struct features *features, const char *section) {
    return !features->has_register && elf_has_section(file, section) && !elf_imports(file, "__cudaRegisterFatBinary");
}

static void look_at(struct object *object) {
    struct elf_file file;
    if (is_ours(object) || !elf_open(&file, object->path))
        return;
    struct features features = features_of(&file);
    if (features.has_register)
        replace_runtime(object, &file, &features);
    else if (object->is_program && is_closed(&file, &features, ".nvFatBinSegment"))
        fail("%s has kernels and is stripped: link it with 'nvcc -cudart shared', or do not strip it", object->name);
    replace_libraries(object, &file);
    elf_close(&file);
}

/* For the driver. Some libraries load their kernels by themselves, and have no table of them. */
__attribute__((visibility("default"))) bool heddle_is_closed(const void *address);

bool heddle_is_closed(const void *address) {
    Dl_info object;
    struct elf_file file;
    if (!dladdr(address, &object) || !elf_open(&file, object.dli_fname))
        return false;
    struct features features = features_of(&file);
    bool result = is_closed(&file, &features, ".nv_fatbin");
    elf_close(&file);
    return result;
}

/* ---- Objects that are opened later ------------------------------------------------------------------------------- */

static void refuse_linked(void *context, const struct elf_function *function) {
    const struct object *object = context;
    (void)function; /* it counts its calls, and must not be called again */
    fail("%s was built with -rdc=true and opened with dlopen: link it with 'nvcc -cudart shared'", object->name);
}

static void call_again(void *context, const struct elf_function *function) {
    const struct object *object = context;
    ((void (*)(void))(object->base + function->address))();
}

/* Calls the functions that the constructors of each translation unit call. */
static void register_again(struct object *object) {
    struct elf_file file;
    if (!elf_open(&file, object->path))
        return;
    elf_each_function(&file, "__cudaRegisterLinkedBinary_", refuse_linked, object);
    elf_each_function(&file, "_ZL24__sti____cudaRegisterAllv", call_again, object);
    elf_close(&file);
}

/* ---- All objects ------------------------------------------------------------------------------------------------- */

/* Loading our libraries changes the list of objects, so it is copied first. */
struct objects {
    struct object *object;
    size_t count;
};

static const char *program_name(void) {
    static char name[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", name, sizeof(name) - 1);
    return length > 0 ? name : "the program";
}

static int collect(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    struct objects *objects = context;
    size_t bytes = strlen(info->dlpi_name) + 1;
    struct object object = {.copy = malloc(bytes), .base = info->dlpi_addr, .begin = UINTPTR_MAX};
    if (!object.copy)
        fail("out of memory");
    memcpy(object.copy, info->dlpi_name, bytes); /* not strdup(): sanitizers have their own, which is not ready yet */
    object.path = object.name = object.copy;
    if (!objects->count) { /* the program comes first, without a name */
        object.path = "/proc/self/exe";
        object.name = program_name();
        object.is_program = true;
    }
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr, end = begin + header->p_memsz;
        if (header->p_type != PT_LOAD)
            continue;
        object.begin = begin < object.begin ? begin : object.begin;
        object.end = end > object.end ? end : object.end;
    }
    struct object *larger = realloc(objects->object, (objects->count + 1) * sizeof(*larger));
    if (!larger)
        fail("out of memory");
    objects->object = larger;
    objects->object[objects->count++] = object;
    return 0;
}

static void free_objects(struct objects *objects) {
    for (size_t i = 0; i < objects->count; i++)
        free(objects->object[i].copy);
    free(objects->object);
}

static bool has_object(const struct objects *objects, const struct object *wanted) {
    for (size_t i = 0; i < objects->count; i++)
        if (objects->object[i].base == wanted->base)
            return true;
    return false;
}

/* The name shadows the C library's. Without a '/' the loader searches the paths of the calling object, so that call
 * must remain a jump. */
__attribute__((visibility("default"))) void *dlopen(const char *path, int flags) {
    static _Thread_local bool is_inside;
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    if (!path || !strchr(path, '/') || (flags & RTLD_NOLOAD) || is_inside)
        return next(path, flags);
    is_inside = true;
    struct objects before = {0}, after = {0};
    dl_iterate_phdr(collect, &before);
    void *handle = next(path, flags);
    dl_iterate_phdr(collect, &after);
    for (size_t i = 0; i < after.count; i++) {
        struct object *object = &after.object[i];
        if (has_object(&before, object))
            continue;
        look_at(object);
        if (object->n_jumps)
            register_again(object);
    }
    free_objects(&before);
    free_objects(&after);
    is_inside = false;
    return handle;
}

/* This library is initialised first, before the C library. dlopen() initialises that one on the way, from `environ`,
 * which must therefore be set to the program's. */
__attribute__((constructor)) static void replace_all(int argc, char **argv, char **environment) {
    (void)argc;
    (void)argv;
    if (!environ)
        environ = environment;
    struct objects objects = {0};
    dl_iterate_phdr(collect, &objects);
    for (size_t i = 0; i < objects.count; i++)
        look_at(&objects.object[i]);
    free_objects(&objects);
}
