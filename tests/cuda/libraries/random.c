/* cuRAND: the sequences of NVIDIA's library, bit for bit, by their hashes; the host's generators and the device's write
 * the same numbers; the moments of every distribution. With an argument it prints hashes and numbers, to compare two
 * machines. */
#include "check.h"
#include "curand_declarations.h"

enum { N = 90000, EIGHT = 8 };

static uint64_t hash(const void *data, size_t bytes) { /* FNV-1a */
    uint64_t value = 0xcbf29ce484222325;
    for (size_t i = 0; i < bytes; i++)
        value = (value ^ ((const unsigned char *)data)[i]) * 0x100000001b3;
    return value;
}

static const struct sequence {
    const char *name;
    curandRngType_t type;
    unsigned long long seed, offset;
    unsigned dimensions;
    uint64_t bits, uniform, wide; /* hashes of integers, of floats and of doubles */
} sequences[] = {
    {"xorwow", CURAND_RNG_PSEUDO_XORWOW, 0, 0, 0, 0x9f1acec0b11a71df, 0xc93e356af24489f9, 0x7b786824ce33ae94},
    {"xorwow seeded", CURAND_RNG_PSEUDO_XORWOW, 12345678901, 1234567, 0, 0xceb23baacf643649, 0x35c46136db7e3ea2,
     0x250e8bf4c230076f},
    {"mrg32k3a", CURAND_RNG_PSEUDO_MRG32K3A, 0, 0, 0, 0xe6060fc06d00a8fd, 0x56fe808973a1935a, 0xe4bdc8adc5e5670c},
    {"mrg32k3a seeded", CURAND_RNG_PSEUDO_MRG32K3A, 12345678901, 1234567, 0, 0x027bc5f48539f7c6, 0x458d194a1d1ec80c,
     0x7fe757dc89ff09d9},
    {"philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, 0, 0, 0, 0x0102f67c9589c339, 0x76fba5a5bee6602f, 0x4264611ad4a618ab},
    {"philox seeded", CURAND_RNG_PSEUDO_PHILOX4_32_10, 12345678901, 1234567, 0, 0x6f9da043eb877a5e, 0x84bc7cef9727c890,
     0xabc79fb44fc3550d},
    {"sobol32", CURAND_RNG_QUASI_SOBOL32, 0, 0, 20, 0x0110722b8a3d2565, 0xf63c69ec7f819ed2, 0x91e8bdeca6f745f9},
    {"sobol32 later", CURAND_RNG_QUASI_SOBOL32, 0, 1234567, 3, 0x907113b1fbe9bd78, 0xcee95b252f4810b9,
     0x208044a7e2215de4},
    {"sobol64", CURAND_RNG_QUASI_SOBOL64, 0, 7, 20, 0xabf0806ad761f718, 0xe7f59711577902a9, 0x160f502f5b845a82},
};

static curandGenerator_t open_sequence(const struct sequence *s, int is_on_host) {
    curandGenerator_t generator;
    NEED((is_on_host ? curandCreateGeneratorHost : curandCreateGenerator)(&generator, s->type));
    if (s->seed)
        NEED(curandSetPseudoRandomGeneratorSeed(generator, s->seed));
    if (s->offset)
        NEED(curandSetGeneratorOffset(generator, s->offset));
    if (s->dimensions)
        NEED(curandSetQuasiRandomGeneratorDimensions(generator, s->dimensions));
    return generator;
}

static void *device; /* N numbers of eight bytes */
static char host[N * EIGHT], other[N * EIGHT];

/* ---- The sequences ------------------------------------------------------------------------------------------------
 */

/* Integers, then floats, then doubles, of a generator each, N in two calls. */
static uint64_t hash_of(const struct sequence *s, int kind, int is_on_host) {
    curandGenerator_t generator = open_sequence(s, is_on_host);
    size_t first = s->dimensions ? N : N / 3, bytes = 4;
    for (size_t at = 0; at < N; at += at ? N - first : first) {
        size_t n = at ? N - first : first;
        char *to = (char *)(is_on_host ? host : device);
        if (kind == 0 && s->type == CURAND_RNG_QUASI_SOBOL64) {
            bytes = 8;
            NEED(curandGenerateLongLong(generator, (unsigned long long *)to + at, n));
        } else if (kind == 0) {
            NEED(curandGenerate(generator, (unsigned *)to + at, n));
        } else if (kind == 1) {
            NEED(curandGenerateUniform(generator, (float *)to + at, n));
        } else {
            bytes = 8;
            NEED(curandGenerateUniformDouble(generator, (double *)to + at, n));
        }
    }
    if (!is_on_host)
        from_device(host, device, N * bytes);
    NEED(curandDestroyGenerator(generator));
    return hash(host, N * bytes);
}

static void test_sequence(const struct sequence *s, int prints) {
    for (int side = 0; side < 2; side++) {
        uint64_t bits = hash_of(s, 0, side), uniform = hash_of(s, 1, side), wide = hash_of(s, 2, side);
        if (prints)
            printf("%s %s 0x%016llx, 0x%016llx, 0x%016llx\n", s->name, side ? "host" : "device",
                   (unsigned long long)bits, (unsigned long long)uniform, (unsigned long long)wide);
        EXPECT(bits == s->bits);
        EXPECT(uniform == s->uniform);
        EXPECT(wide == s->wide);
    }
}

/* ---- Distributions ------------------------------------------------------------------------------------------------
 */

enum kind { NORMAL, NORMAL_DOUBLE, LOG_NORMAL, LOG_NORMAL_DOUBLE, POISSON, POISSON_LARGE, KINDS };
static const char *const kind_names[] = {"normal",    "normal double", "log-normal", "log-normal double",
                                         "Poisson 4", "Poisson 5000"};
/* of the parameters below */
static const double means[] = {2, 2, 1.6487212707, 1.6487212707, 4, 5000},
                    variances[] = {9, 9, 4.6707742704, 4.6707742704, 4, 5000};

static void generate(curandGenerator_t generator, enum kind kind, void *to) {
    switch (kind) {
    case NORMAL:
        NEED(curandGenerateNormal(generator, (float *)to, N, 2, 3));
        break;
    case NORMAL_DOUBLE:
        NEED(curandGenerateNormalDouble(generator, (double *)to, N, 2, 3));
        break;
    case LOG_NORMAL:
        NEED(curandGenerateLogNormal(generator, (float *)to, N, 0, 1));
        break;
    case LOG_NORMAL_DOUBLE:
        NEED(curandGenerateLogNormalDouble(generator, (double *)to, N, 0, 1));
        break;
    case POISSON:
        NEED(curandGeneratePoisson(generator, (unsigned *)to, N, 4));
        break;
    default:
        NEED(curandGeneratePoisson(generator, (unsigned *)to, N, 5000));
    }
}

static double number(const char *array, enum kind kind, int i) {
    if (kind == POISSON || kind == POISSON_LARGE)
        return ((const unsigned *)array)[i];
    return kind == NORMAL || kind == LOG_NORMAL ? ((const float *)array)[i] : ((const double *)array)[i];
}

static void test_distribution(const struct sequence *s, enum kind kind, int prints) {
    curandGenerator_t on_device = open_sequence(s, 0), on_host = open_sequence(s, 1);
    double sum = 0, squares = 0, worst = 0;
    generate(on_device, kind, device);
    generate(on_host, kind, other);
    from_device(host, device, sizeof(host));
    for (int i = 0; i < N; i++) {
        double x = number(host, kind, i), y = number(other, kind, i);
        double error = fabs(x - y) / (fabs(y) + 0.01);
        worst = error > worst ? error : worst;
        sum += x;
        squares += (x - means[kind]) * (x - means[kind]);
    }
    /* On a GPU the fast sine of a normal number is good for 2^-21 of the largest, and a large Poisson number is a
     * rounded normal one. */
    double bound = kind == NORMAL || kind == LOG_NORMAL || kind == POISSON_LARGE ? 1e-3 : 1e-10;
    EXPECT(worst <= bound);
    EXPECT(fabs(sum / N - means[kind]) < 5 * sqrt(variances[kind] / N));
    EXPECT(fabs(squares / N / variances[kind] - 1) < (kind == LOG_NORMAL || kind == LOG_NORMAL_DOUBLE ? 0.2 : 0.03));
    if (prints)
        printf("%s %s: mean %.6g, variance %.6g, host and device differ by %.2g; %.9g %.9g %.9g\n", s->name,
               kind_names[kind], sum / N, squares / N, worst, number(host, kind, 0), number(host, kind, 1),
               number(host, kind, 5000));
    NEED(curandDestroyGenerator(on_device));
    NEED(curandDestroyGenerator(on_host));
}

/* ---- Errors -------------------------------------------------------------------------------------------------------
 */

static void test_errors(void) {
    curandGenerator_t pseudo, quasi;
    NEED(curandCreateGenerator(&pseudo, CURAND_RNG_PSEUDO_DEFAULT));
    NEED(curandCreateGenerator(&quasi, CURAND_RNG_QUASI_DEFAULT));
    EXPECT(curandGenerateNormal(pseudo, (float *)device, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    EXPECT(curandGenerateLongLong(pseudo, (unsigned long long *)device, 3) == CURAND_STATUS_TYPE_ERROR);
    EXPECT(curandSetQuasiRandomGeneratorDimensions(pseudo, 3) == CURAND_STATUS_TYPE_ERROR);
    EXPECT(curandSetPseudoRandomGeneratorSeed(quasi, 3) == CURAND_STATUS_TYPE_ERROR);
    EXPECT(curandSetQuasiRandomGeneratorDimensions(quasi, 20001) == CURAND_STATUS_OUT_OF_RANGE);
    NEED(curandSetQuasiRandomGeneratorDimensions(quasi, 3));
    EXPECT(curandGenerate(quasi, (unsigned *)device, 5) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    EXPECT(curandCreateGenerator(&pseudo, (curandRngType_t)7) == CURAND_STATUS_TYPE_ERROR);
    NEED(curandDestroyGenerator(pseudo));
    NEED(curandDestroyGenerator(quasi));
}

int main(int argc, char **argv) {
    (void)argv;
    NEED(cudaMalloc(&device, N * EIGHT));
    for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
        test_sequence(&sequences[i], argc > 1);
    for (size_t i = 1; i < sizeof(sequences) / sizeof(sequences[0]); i += 2)
        for (int kind = 0; kind < KINDS; kind++)
            test_distribution(&sequences[i], (enum kind)kind, argc > 1);
    test_errors();
    NEED(cudaFree(device));
    return finish("random");
}
