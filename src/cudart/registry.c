/* Kernels, variables, and texture and surface references of the program, as compiler-generated code registers them
 * before main.
 *
 * A fat binary is passed to the driver when one of its kernels or variables is first used, so that a program that never
 * uses the device costs nothing. The handle that compilers keep for a fat binary is the address of struct binary. */
#include "cudart/internal.h"
#include "cudart/references.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct binary {
    void *image;       /* the wrapper that the compiler put around the fat binary */
    CUlibrary library; /* NULL: not loaded */
    CUresult failure;  /* of the attempt to load it, so that there is only one message */
};

/* A kernel, a variable or a reference. */
struct entity {
    const void *host; /* its function or variable in the program */
    const char *name; /* on the device */
    struct binary *binary;
    struct entity *next;
    void **managed;      /* where the program keeps the address of a managed variable; NULL: it is not managed */
    CUfunction kernel;   /* NULL: not loaded */
    bool is_refused;     /* as a kernel without PTX, which was said */
    CUdeviceptr address; /* 0: not loaded */
    size_t bytes;
    struct cudart_texture texture; /* NULL as its driver's reference: not loaded, or not a texture */
    CUsurfref surface;
};

enum { N_BUCKETS = 1024 };

struct table {
    struct entity *bucket[N_BUCKETS];
};

static struct {
    pthread_mutex_t lock;
    struct table kernels, variables, references;
    struct binary **binary;
    size_t n_binaries;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (!memory) {
        cudart_print("out of memory");
        exit(1);
    }
    return memory;
}

static struct entity **bucket_of(struct table *table, const void *host) {
    return &table->bucket[(uintptr_t)host * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

static struct entity *find(struct table *table, const void *host) {
    struct entity *entity = *bucket_of(table, host);
    while (entity && entity->host != host)
        entity = entity->next;
    return entity;
}

static struct entity *add(struct table *table, void **binary, const void *host, const char *name) {
    struct entity *entity = allocate(sizeof(*entity)), **bucket = bucket_of(table, host);
    *entity = (struct entity){.host = host, .name = name, .binary = (struct binary *)(void *)binary, .next = *bucket};
    *bucket = entity;
    return entity;
}

static void remove_all_of(struct table *table, const struct binary *binary) {
    for (unsigned i = 0; i < N_BUCKETS; i++)
        for (struct entity **at = &table->bucket[i]; *at;) {
            struct entity *entity = *at;
            if (entity->binary != binary) {
                at = &entity->next;
                continue;
            }
            *at = entity->next;
            free(entity);
        }
}

/* ---- Registration ------------------------------------------------------------------------------------------------ */

void **__cudaRegisterFatBinary(void *wrapper) {
    struct binary *binary = allocate(sizeof(*binary));
    binary->image = wrapper;
    pthread_mutex_lock(&registry.lock);
    struct binary **larger = allocate((registry.n_binaries + 1) * sizeof(*larger));
    for (size_t i = 0; i < registry.n_binaries; i++)
        larger[i] = registry.binary[i];
    larger[registry.n_binaries++] = binary;
    free(registry.binary);
    registry.binary = larger;
    pthread_mutex_unlock(&registry.lock);
    return (void **)(void *)binary;
}

void __cudaRegisterFatBinaryEnd(void **binary) { (void)binary; }

void __cudaUnregisterFatBinary(void **handle) {
    struct binary *binary = (struct binary *)(void *)handle;
    pthread_mutex_lock(&registry.lock);
    size_t at = 0;
    while (at < registry.n_binaries && registry.binary[at] != binary)
        at++;
    if (at < registry.n_binaries) { /* an object that was opened later registers twice */
        registry.binary[at] = registry.binary[--registry.n_binaries];
        remove_all_of(&registry.kernels, binary);
        remove_all_of(&registry.variables, binary);
        remove_all_of(&registry.references, binary);
        if (binary->library)
            cuLibraryUnload(binary->library);
        free(binary);
    }
    pthread_mutex_unlock(&registry.lock);
}

/* The other arguments are for early devices. */
void __cudaRegisterFunction(void **binary, const char *host_function, char *device_function, const char *name,
                            int thread_limit, uint3 *thread, uint3 *block, dim3 *block_dim, dim3 *grid_dim,
                            int *warp_size) {
    (void)device_function, (void)thread_limit, (void)thread, (void)block, (void)block_dim, (void)grid_dim;
    (void)warp_size;
    pthread_mutex_lock(&registry.lock);
    add(&registry.kernels, binary, host_function, name);
    pthread_mutex_unlock(&registry.lock);
}

void __cudaRegisterVar(void **binary, char *host_variable, char *device_address, const char *name, int is_external,
                       size_t bytes, int is_constant, int is_global) {
    (void)device_address, (void)is_external, (void)is_constant, (void)is_global;
    pthread_mutex_lock(&registry.lock);
    add(&registry.variables, binary, host_variable, name)->bytes = bytes;
    pthread_mutex_unlock(&registry.lock);
}

void __cudaRegisterManagedVar(void **binary, void **host_pointer, char *device_address, const char *name,
                              int is_external, size_t bytes, int is_constant, int is_global) {
    (void)device_address, (void)is_external, (void)is_constant, (void)is_global;
    pthread_mutex_lock(&registry.lock);
    struct entity *entity = add(&registry.variables, binary, host_pointer, name);
    entity->bytes = bytes;
    entity->managed = host_pointer;
    pthread_mutex_unlock(&registry.lock);
}

void __cudaRegisterTexture(void **binary, const struct textureReference *host, const void **device_address,
                           const char *name, int dimension, int reads_fractions, int is_external) {
    (void)device_address, (void)dimension, (void)is_external;
    pthread_mutex_lock(&registry.lock);
    add(&registry.references, binary, host, name)->texture.reads_fractions = reads_fractions;
    pthread_mutex_unlock(&registry.lock);
}

void __cudaRegisterSurface(void **binary, const struct surfaceReference *host, const void **device_address,
                           const char *name, int dimension, int is_external) {
    (void)device_address, (void)dimension, (void)is_external;
    pthread_mutex_lock(&registry.lock);
    add(&registry.references, binary, host, name);
    pthread_mutex_unlock(&registry.lock);
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* Only in Heddle's libcuda.so.1: cuLibraryLoadData() whose message names what needs the image ("kernel", its name). */
CUresult cuHeddleLoadRegistered(CUlibrary *library, const void *image, const char *kind, const char *name);

static CUresult load(const struct entity *entity, const char *kind) {
    struct binary *binary = entity->binary;
    if (!binary->library && binary->failure == CUDA_SUCCESS)
        binary->failure = cuHeddleLoadRegistered(&binary->library, binary->image, kind, entity->name);
    return binary->failure;
}

/* Only in Heddle's libcuda.so.1: makes it an error of the run. */
void cuHeddleReportError(int result, const char *message);

/* It is in a file that was built without PTX and linked, as device code, with others. */
static cudaError_t refuse_kernel(struct entity *entity) {
    char message[512];
    snprintf(message, sizeof(message),
             "kernel '%s' has no PTX: build its file with -gencode arch=compute_80,code=compute_80", entity->name);
    if (!entity->is_refused) {
        cudart_print("%s", message);
        cuHeddleReportError(CUDA_ERROR_NO_BINARY_FOR_GPU, message);
    }
    entity->is_refused = true;
    return cudaErrorInvalidDeviceFunction;
}

static cudaError_t load_kernel(struct entity *entity) {
    CUkernel kernel;
    if (entity->kernel)
        return cudaSuccess;
    CUresult result = load(entity, "kernel");
    if (result == CUDA_SUCCESS)
        result = cuLibraryGetKernel(&kernel, entity->binary->library, entity->name);
    if (result == CUDA_SUCCESS)
        result = cuKernelGetFunction(&entity->kernel, kernel);
    return result == CUDA_ERROR_NOT_FOUND ? refuse_kernel(entity) : (cudaError_t)result;
}

static cudaError_t load_variable(struct entity *entity) {
    if (entity->address)
        return cudaSuccess;
    CUresult result = load(entity, "variable");
    if (result == CUDA_SUCCESS)
        result = cuLibraryGetGlobal(&entity->address, &entity->bytes, entity->binary->library, entity->name);
    if (result == CUDA_SUCCESS && entity->managed)
        *entity->managed = (void *)(uintptr_t)entity->address;
    return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : (cudaError_t)result;
}

static CUresult load_reference(struct entity *entity, bool is_texture) {
    CUmodule module;
    if (is_texture ? entity->texture.reference != NULL : entity->surface != NULL)
        return CUDA_SUCCESS;
    CUresult result = load(entity, is_texture ? "texture" : "surface");
    if (result == CUDA_SUCCESS)
        result = cuLibraryGetModule(&module, entity->binary->library);
    if (result != CUDA_SUCCESS)
        return result;
    return is_texture ? cuModuleGetTexRef(&entity->texture.reference, module, entity->name)
                      : cuModuleGetSurfRef(&entity->surface, module, entity->name);
}

/* Loads all managed variables, or those of one binary. Returns the variable with this address. */
static struct entity *load_managed(const struct binary *binary, const void *address) {
    struct entity *found = NULL;
    for (unsigned i = 0; i < N_BUCKETS; i++)
        for (struct entity *entity = registry.variables.bucket[i]; entity; entity = entity->next) {
            if (!entity->managed || (binary && entity->binary != binary))
                continue;
            if (load_variable(entity) == cudaSuccess && (uintptr_t)address == entity->address)
                found = entity;
        }
    return found;
}

/* Compiler-generated code calls it before the program uses a managed variable. Always returns 1. */
char __cudaInitModule(void **binary) {
    if (cudart_start() != CUDA_SUCCESS)
        return 1;
    pthread_mutex_lock(&registry.lock);
    load_managed((struct binary *)(void *)binary, NULL);
    pthread_mutex_unlock(&registry.lock);
    return 1;
}

cudaError_t cudart_find_kernel(const void *function, CUfunction *kernel) {
    pthread_mutex_lock(&registry.lock);
    struct entity *entity = find(&registry.kernels, function);
    cudaError_t error = entity ? load_kernel(entity) : cudaErrorInvalidDeviceFunction;
    if (error == cudaSuccess)
        *kernel = entity->kernel;
    pthread_mutex_unlock(&registry.lock);
    if (!entity && function && cuKernelGetFunction(kernel, (CUkernel)(uintptr_t)function) == CUDA_SUCCESS)
        return cudaSuccess;
    return error;
}

/* The program sees a managed variable as the memory itself, so the memory's address identifies it too. */
cudaError_t cudart_find_variable(const void *symbol, CUdeviceptr *address, size_t *bytes) {
    pthread_mutex_lock(&registry.lock);
    struct entity *entity = find(&registry.variables, symbol);
    if (!entity && symbol)
        entity = load_managed(NULL, symbol);
    cudaError_t error = entity ? load_variable(entity) : cudaErrorInvalidSymbol;
    if (error == cudaSuccess) {
        *address = entity->address;
        *bytes = entity->bytes;
    }
    pthread_mutex_unlock(&registry.lock);
    return error;
}

cudaError_t cudart_find_texture(const void *host, struct cudart_texture **texture) {
    pthread_mutex_lock(&registry.lock);
    struct entity *entity = find(&registry.references, host);
    CUresult result = entity ? load_reference(entity, true) : CUDA_ERROR_NOT_FOUND;
    if (result == CUDA_SUCCESS)
        *texture = &entity->texture;
    pthread_mutex_unlock(&registry.lock);
    return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidTexture : (cudaError_t)result;
}

cudaError_t cudart_find_surface(const void *host, CUsurfref *surface) {
    pthread_mutex_lock(&registry.lock);
    struct entity *entity = find(&registry.references, host);
    CUresult result = entity ? load_reference(entity, false) : CUDA_ERROR_NOT_FOUND;
    if (result == CUDA_SUCCESS)
        *surface = entity->surface;
    pthread_mutex_unlock(&registry.lock);
    return result == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSurface : (cudaError_t)result;
}

static void forget_addresses(struct table *table) {
    for (unsigned i = 0; i < N_BUCKETS; i++)
        for (struct entity *entity = table->bucket[i]; entity; entity = entity->next) {
            entity->kernel = NULL;
            entity->address = 0;
            entity->texture.reference = NULL;
            entity->surface = NULL;
        }
}

void cudart_unload_all(void) {
    pthread_mutex_lock(&registry.lock);
    forget_addresses(&registry.kernels);
    forget_addresses(&registry.variables);
    forget_addresses(&registry.references);
    for (size_t i = 0; i < registry.n_binaries; i++) {
        struct binary *binary = registry.binary[i];
        if (binary->library)
            cuLibraryUnload(binary->library);
        binary->library = NULL;
        binary->failure = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&registry.lock);
}
