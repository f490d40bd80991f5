/* cuRAND's host interface: generators that fill memory of the host or of the device.
 *
 * Both kinds run the code of kernels/random.h, so a generator on the host and one on the device with the same seed
 * write the same numbers, up to the rounding of log, sin and cos. */
#include "curand/internal.h"

#include <stdlib.h>
#include <string.h>

#include "library/library.h"

enum { MAGIC = 0x72616e64, SEQUENCES = 4096, MRG_SEQUENCES = 81920, VERSION = 10400, THREADS = 128, MOST_BLOCKS = 640 };

struct curandGenerator_st {
    unsigned magic;
    curandRngType_t type;
    bool is_on_host, is_seeded;
    uint64_t seed, offset;
    unsigned n_dimensions;
    CUstream stream;
    uint32_t n_sequences; /* XORWOW, MRG32k3a */
    uint32_t first;       /* XORWOW, MRG32k3a: the next sequence */
    uint64_t counter;     /* Philox: before the offset */
    uint64_t position;    /* Philox, Sobol: elements or points already written */
    uint32_t *states;     /* on the host or the device, as the output is; so are these: */
    uint64_t *directions;
    double *sums; /* Poisson, for lambda */
    double lambda;
    uint32_t n_sums, least;
};

extern const char curand_ptx_random[];
static struct library_module module = {.ptx = curand_ptx_random};

#define CURAND_ENTER(generator)                                                                                        \
    if (!(generator) || (generator)->magic != MAGIC)                                                                   \
    return CURAND_STATUS_NOT_INITIALIZED

static bool is_quasi(const struct curandGenerator_st *g) { return g->type >= CURAND_RNG_QUASI_DEFAULT; }
/* Sequences that take turns in writing one element. */
static bool takes_turns(const struct curandGenerator_st *g) {
    return g->type == CURAND_RNG_PSEUDO_XORWOW || g->type == CURAND_RNG_PSEUDO_MRG32K3A;
}

/* ---- Tables on the side where numbers are written ---------------------------------------------------------------- */

/* Takes a table from the host and frees it there unless it stays. Returns NULL if there is no memory. */
static void *place(const struct curandGenerator_st *g, void *table, size_t bytes) {
    if (g->is_on_host || !table)
        return table;
    CUdeviceptr memory = 0;
    if (cuMemAlloc(&memory, bytes) == CUDA_SUCCESS && cuMemcpyHtoD(memory, table, bytes) != CUDA_SUCCESS) {
        cuMemFree(memory);
        memory = 0;
    }
    free(table);
    return (void *)(uintptr_t)memory;
}

static void discard(const struct curandGenerator_st *g, void *table) {
    if (g->is_on_host)
        free(table);
    else if (table)
        cuMemFree((CUdeviceptr)(uintptr_t)table);
}

static void forget_seed(struct curandGenerator_st *g) {
    discard(g, g->states);
    discard(g, g->directions);
    g->states = NULL;
    g->directions = NULL;
    g->is_seeded = false;
}

static curandStatus_t seed(struct curandGenerator_st *g) {
    if (g->is_seeded)
        return CURAND_STATUS_SUCCESS;
    forget_seed(g);
    if (!g->is_on_host && library_start() != CUDA_SUCCESS)
        return CURAND_STATUS_INITIALIZATION_FAILED;
    if (takes_turns(g)) {
        size_t bytes = RANDOM_WORDS * g->n_sequences * sizeof(uint32_t);
        uint32_t *states = malloc(bytes);
        if (states)
            (g->type == CURAND_RNG_PSEUDO_XORWOW ? curand_seed_xorwow : curand_seed_mrg)(states, g->n_sequences,
                                                                                         g->seed, g->offset);
        g->states = place(g, states, bytes);
        g->first = (uint32_t)(g->offset % g->n_sequences);
    } else if (!is_quasi(g)) {
        uint64_t quads = g->offset / 4;
        size_t bytes = RANDOM_PHILOX_SEQUENCES * sizeof(uint32_t);
        uint32_t *states = malloc(bytes);
        for (uint32_t s = 0; states && s < RANDOM_PHILOX_SEQUENCES; s++)
            states[s] = s < quads % RANDOM_PHILOX_SEQUENCES;
        g->states = place(g, states, bytes);
        g->counter = quads / RANDOM_PHILOX_SEQUENCES;
    } else {
        size_t bytes = g->n_dimensions * 64 * sizeof(uint64_t);
        uint64_t *directions = malloc(bytes);
        if (directions)
            curand_directions(directions, g->n_dimensions);
        g->directions = place(g, directions, bytes);
    }
    g->position = g->offset;
    g->is_seeded = g->states || g->directions;
    return g->is_seeded ? CURAND_STATUS_SUCCESS : CURAND_STATUS_ALLOCATION_FAILED;
}

static bool set_lambda(struct curandGenerator_st *g, double lambda) {
    if (g->sums && g->lambda == lambda)
        return true;
    discard(g, g->sums);
    double *sums = curand_poisson_sums(lambda, &g->n_sums, &g->least);
    g->sums = place(g, sums, g->n_sums * sizeof(*sums));
    g->lambda = lambda;
    return g->sums;
}

/* ---- Numbers ------------------------------------------------------------------------------------------------------
 */

static void fill_on_host(const struct curandGenerator_st *g, const struct random_job *job) {
    if (takes_turns(g))
        for (uint32_t s = 0; s < g->n_sequences; s++)
            random_fill_sequence(g->type == CURAND_RNG_PSEUDO_MRG32K3A, job, s);
    else if (is_quasi(g))
        for (uint64_t at = 0; at < job->n; at++)
            random_fill_point(g->type == CURAND_RNG_QUASI_SOBOL64, job, at);
    else
        for (uint64_t quad = job->position / 4; 4 * quad < job->position + job->n; quad++)
            random_fill_quad(job, quad);
}

static curandStatus_t fill_on_device(const struct curandGenerator_st *g, const struct random_job *job) {
    const char *name = g->type == CURAND_RNG_PSEUDO_XORWOW     ? "random_xorwow"
                       : g->type == CURAND_RNG_PSEUDO_MRG32K3A ? "random_mrg32k3a"
                       : g->type == CURAND_RNG_QUASI_SOBOL32   ? "random_sobol32"
                       : g->type == CURAND_RNG_QUASI_SOBOL64   ? "random_sobol64"
                                                               : "random_philox4_32_10";
    uint64_t n_threads = takes_turns(g) ? g->n_sequences : is_quasi(g) ? job->n : job->n / 4 + 2;
    uint64_t blocks = (n_threads + THREADS - 1) / THREADS;
    if (g->type == CURAND_RNG_PSEUDO_PHILOX4_32_10) /* a thread meets the same sequence again and again, no other */
        while (blocks & (blocks - 1) || RANDOM_PHILOX_SEQUENCES % (blocks * THREADS))
            blocks = blocks * THREADS < RANDOM_PHILOX_SEQUENCES ? blocks + 1 : RANDOM_PHILOX_SEQUENCES / THREADS;
    unsigned grid[3] = {(unsigned)(blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks), 1, 1};
    CUresult result = library_launch(&module, name, grid, THREADS, g->stream, job);
    return result == CUDA_SUCCESS ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

static curandStatus_t generate(curandGenerator_t g, struct random_job job) {
    CURAND_ENTER(g);
    bool is_normal = job.kind == RANDOM_NORMAL || job.kind == RANDOM_NORMAL_DOUBLE;
    bool is_wide = g->type == CURAND_RNG_QUASI_SOBOL64;
    if ((job.kind == RANDOM_BITS64 && !is_wide) || (job.kind == RANDOM_BITS && is_wide))
        return CURAND_STATUS_TYPE_ERROR;
    if ((takes_turns(g) && is_normal && job.n % 2) || (is_quasi(g) && job.n % g->n_dimensions))
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    curandStatus_t status = seed(g);
    if (status != CURAND_STATUS_SUCCESS || !job.n)
        return status;
    job.states = g->states;
    job.n_sequences = g->n_sequences;
    job.first = g->first;
    job.seed = g->seed;
    job.position = g->position;
    job.counter = g->counter;
    job.directions = g->directions;
    job.n_points = job.n / (is_quasi(g) ? g->n_dimensions : 1);
    job.sums = g->sums;
    job.n_sums = g->n_sums;
    job.least = g->least;
    if (g->is_on_host)
        fill_on_host(g, &job);
    else
        status = fill_on_device(g, &job);
    if (takes_turns(g))
        g->first = (uint32_t)((g->first + (is_normal ? job.n / 2 : job.n)) % g->n_sequences);
    g->position += job.n_points;
    return status;
}

CURAND_API(curandGenerate, curandGenerator_t generator, unsigned *to, size_t n) {
    return generate(generator, (struct random_job){.kind = RANDOM_BITS, .to = to, .n = n});
}
CURAND_API(curandGenerateLongLong, curandGenerator_t generator, unsigned long long *to, size_t n) {
    return generate(generator, (struct random_job){.kind = RANDOM_BITS64, .to = to, .n = n});
}
CURAND_API(curandGenerateUniform, curandGenerator_t generator, float *to, size_t n) {
    return generate(generator, (struct random_job){.kind = RANDOM_UNIFORM, .to = to, .n = n});
}
CURAND_API(curandGenerateUniformDouble, curandGenerator_t generator, double *to, size_t n) {
    return generate(generator, (struct random_job){.kind = RANDOM_UNIFORM_DOUBLE, .to = to, .n = n});
}

#define NORMAL(name, T, random_kind, logarithmic)                                                                      \
    CURAND_API(name, curandGenerator_t generator, T *to, size_t n, T mean, T deviation) {                              \
        return generate(generator, (struct random_job){.kind = random_kind,                                            \
                                                       .is_logarithmic = logarithmic,                                  \
                                                       .to = to,                                                       \
                                                       .n = n,                                                         \
                                                       .mean = (double)mean,                                           \
                                                       .deviation = (double)deviation});                               \
    }
NORMAL(curandGenerateNormal, float, RANDOM_NORMAL, 0)
NORMAL(curandGenerateNormalDouble, double, RANDOM_NORMAL_DOUBLE, 0)
NORMAL(curandGenerateLogNormal, float, RANDOM_NORMAL, 1)
NORMAL(curandGenerateLogNormalDouble, double, RANDOM_NORMAL_DOUBLE, 1)

CURAND_API(curandGeneratePoisson, curandGenerator_t generator, unsigned *to, size_t n, double lambda) {
    CURAND_ENTER(generator);
    if (!(lambda > 0) || lambda > 400000) /* the manual's limit */
        return CURAND_STATUS_OUT_OF_RANGE;
    curandStatus_t status = seed(generator);
    if (status != CURAND_STATUS_SUCCESS)
        return status;
    if (!set_lambda(generator, lambda))
        return CURAND_STATUS_ALLOCATION_FAILED;
    return generate(generator, (struct random_job){.kind = RANDOM_POISSON, .to = to, .n = n});
}

/* ---- Generators -------------------------------------------------------------------------------------------------- */

static curandStatus_t create(const char *name, curandGenerator_t *generator, curandRngType_t type, bool is_on_host) {
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (type == CURAND_RNG_PSEUDO_DEFAULT)
        type = CURAND_RNG_PSEUDO_XORWOW;
    if (type == CURAND_RNG_QUASI_DEFAULT)
        type = CURAND_RNG_QUASI_SOBOL32;
    switch (type) {
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64:
        break;
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
        library_refuse_case(name, "generator %d (a Mersenne twister or a scrambled sequence) is not supported", type);
        return CURAND_STATUS_TYPE_ERROR;
    default:
        return CURAND_STATUS_TYPE_ERROR;
    }
    if (!is_on_host && library_start() != CUDA_SUCCESS)
        return CURAND_STATUS_INITIALIZATION_FAILED;
    struct curandGenerator_st *g = calloc(1, sizeof(*g));
    if (!g)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *g = (struct curandGenerator_st){.magic = MAGIC, .type = type, .is_on_host = is_on_host, .n_dimensions = 1};
    g->n_sequences = type == CURAND_RNG_PSEUDO_MRG32K3A ? MRG_SEQUENCES : SEQUENCES;
    *generator = g;
    return CURAND_STATUS_SUCCESS;
}

CURAND_API(curandCreateGenerator, curandGenerator_t *generator, curandRngType_t type) {
    return create(__func__, generator, type, false);
}
CURAND_API(curandCreateGeneratorHost, curandGenerator_t *generator, curandRngType_t type) {
    return create(__func__, generator, type, true);
}

CURAND_API(curandDestroyGenerator, curandGenerator_t generator) {
    CURAND_ENTER(generator);
    forget_seed(generator);
    discard(generator, generator->sums);
    generator->magic = 0;
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

CURAND_API(curandSetStream, curandGenerator_t generator, cudaStream_t stream) {
    CURAND_ENTER(generator);
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

CURAND_API(curandSetPseudoRandomGeneratorSeed, curandGenerator_t generator, unsigned long long number) {
    CURAND_ENTER(generator);
    if (is_quasi(generator))
        return CURAND_STATUS_TYPE_ERROR;
    generator->seed = number;
    generator->is_seeded = false;
    return CURAND_STATUS_SUCCESS;
}

CURAND_API(curandSetGeneratorOffset, curandGenerator_t generator, unsigned long long offset) {
    CURAND_ENTER(generator);
    generator->offset = offset;
    generator->is_seeded = false;
    return CURAND_STATUS_SUCCESS;
}

CURAND_API(curandSetGeneratorOrdering, curandGenerator_t generator, curandOrdering_t order) {
    CURAND_ENTER(generator);
    if (is_quasi(generator))
        return order == CURAND_ORDERING_QUASI_DEFAULT ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
    if (order == CURAND_ORDERING_PSEUDO_SEEDED && generator->type == CURAND_RNG_PSEUDO_XORWOW)
        library_refuse_case(__func__, "CURAND_ORDERING_PSEUDO_SEEDED is not supported");
    bool is_large = generator->type == CURAND_RNG_PSEUDO_MRG32K3A && order != CURAND_ORDERING_PSEUDO_LEGACY;
    generator->n_sequences = is_large ? MRG_SEQUENCES : SEQUENCES;
    generator->is_seeded = false;
    bool is_dynamic = order == CURAND_ORDERING_PSEUDO_DYNAMIC && !generator->is_on_host; /* here the same */
    return is_dynamic || order == CURAND_ORDERING_PSEUDO_BEST || order == CURAND_ORDERING_PSEUDO_DEFAULT ||
                   order == CURAND_ORDERING_PSEUDO_LEGACY
               ? CURAND_STATUS_SUCCESS
               : CURAND_STATUS_OUT_OF_RANGE;
}

CURAND_API(curandSetQuasiRandomGeneratorDimensions, curandGenerator_t generator, unsigned n_dimensions) {
    CURAND_ENTER(generator);
    if (!is_quasi(generator))
        return CURAND_STATUS_TYPE_ERROR;
    if (n_dimensions < 1 || n_dimensions > 20000)
        return CURAND_STATUS_OUT_OF_RANGE;
    if (n_dimensions > CURAND_DIMENSIONS) {
        library_refuse_case(__func__, "%u dimensions are not supported, only %d", n_dimensions, CURAND_DIMENSIONS);
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    generator->n_dimensions = n_dimensions;
    generator->is_seeded = false;
    return CURAND_STATUS_SUCCESS;
}

CURAND_API(curandGenerateSeeds, curandGenerator_t generator) {
    CURAND_ENTER(generator);
    return seed(generator);
}

CURAND_API(curandGetVersion, int *version) {
    if (!version)
        return CURAND_STATUS_OUT_OF_RANGE;
    *version = VERSION;
    return CURAND_STATUS_SUCCESS;
}

CURAND_API(curandGetProperty, libraryPropertyType type, int *value) {
    const int versions[3] = {
        [MAJOR_VERSION] = VERSION / 1000, [MINOR_VERSION] = VERSION / 100 % 10, [PATCH_LEVEL] = VERSION % 100};
    if (!value || (unsigned)type > PATCH_LEVEL)
        return CURAND_STATUS_OUT_OF_RANGE;
    *value = versions[type];
    return CURAND_STATUS_SUCCESS;
}
