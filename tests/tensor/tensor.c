/* Copies through random tensor maps, compared with those of a GPU.
 *
 *     tensor --record FILE     makes every copy and writes the results
 *     tensor --check FILE      makes every copy and compares with the results in FILE
 *     tensor --show CASE       describes a case and prints the bytes that it writes
 *     tensor --ptx             prints the kernels
 *     options: --from N, --to N: only these cases; --data FILE: also appends the bytes that each case writes to FILE
 *
 * A line of the file is a case: its number, the result of encoding its map, the bytes that its load completed
 * (otherwise 0), and a hash of the memory that it wrote. Lines with an e have the result of encoding random arguments,
 * some of which are invalid. This is an ordinary program over the CUDA driver API: the build links it with Heddle's
 * libcuda, record.sh with a GPU's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "runner/driver.h"
#include "runner/text.h"

enum { N_CASES = 1200, N_ARGUMENTS = 1500, N_MEMORY = TENSOR_BYTES + 2 * TENSOR_MARGIN };

struct options {
    const char *mode, *file, *data;
    unsigned from, to;
};

struct device {
    CUmodule module;
    CUdeviceptr memory, buffer, map; /* the tensor and its margins, the contents of shared memory, the map */
};

struct answer {
    CUresult result;
    uint32_t bytes;
    uint64_t hash;
};

static uint64_t hash_of(const void *data, size_t bytes) {
    const unsigned char *at = data;
    uint64_t state = bytes;
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        state = (state ^ word) * 0x9e3779b97f4a7c15u;
        state ^= state >> 29;
    }
    return state;
}

static CUfunction function_named(const struct device *device, const char *name) {
    CUfunction function;
    driver_require(cuModuleGetFunction(&function, device->module, name), name);
    return function;
}

static void replace(const struct device *device, const char *field, int number, uint64_t value) {
    char name[64];
    CUdeviceptr map = device->map;
    void *arguments[] = {&map, &value};
    snprintf(name, sizeof name, number < 0 ? "replace_%s" : "replace_%s_%d", field, number);
    DRIVER_REQUIRE(cuLaunchKernel(function_named(device, name), 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
}

/* Turns the map in device memory into the wanted one, field by field. */
static void replace_all(const struct device *device, const struct map *map, CUdeviceptr address) {
    replace(device, "global_address", -1, address);
    replace(device, "elemtype", (int)map->type, 0);
    replace(device, "interleave_layout", (int)map->interleave, 0);
    replace(device, "swizzle_mode", (int)map->swizzle, 0);
    replace(device, "fill_mode", (int)map->fill, 0);
    replace(device, "rank", -1, map->rank - 1);
    for (unsigned i = 0; i < map->rank; i++) {
        replace(device, "global_dim", (int)i, map->dim[i]);
        replace(device, "box_dim", (int)i, map->box[i]);
        replace(device, "element_stride", (int)i, map->step[i]);
        if (i + 1 < map->rank)
            replace(device, "global_stride", (int)i, map->stride[i]);
    }
}

/* Makes the copy. *written points to the bytes that count. */
static struct answer run_case(const struct device *device, const struct tensor_case *c, const unsigned char **written,
                              size_t *n_written) {
    static uint32_t memory[N_MEMORY / 4], buffer[SHARED_BYTES / 4 + 4];
    struct answer answer = {.bytes = 0};
    CUtensorMap map;
    CUdeviceptr address = device->memory + TENSOR_MARGIN;
    const struct map *encoded = c->kind == REPLACE ? &c->from : &c->map;
    bool loads = c->kind == LOAD || c->kind == LOAD_COLUMN || c->kind == REPLACE;
    *n_written = 0;
    answer.result = map_encode(encoded, address, &map);
    if (answer.result != CUDA_SUCCESS)
        return answer;
    case_fill(c, false, memory, N_MEMORY / 4);
    if (loads)
        memset(buffer, 0xcd, sizeof buffer);
    else
        case_fill(c, true, buffer, SHARED_BYTES / 4);
    DRIVER_REQUIRE(cuMemcpyHtoD(device->memory, memory, sizeof memory));
    DRIVER_REQUIRE(cuMemcpyHtoD(device->buffer, buffer, sizeof buffer));
    DRIVER_REQUIRE(cuMemcpyHtoD(device->map, &map, sizeof map));
    if (c->kind == REPLACE)
        replace_all(device, &c->map, address);
    char name[32];
    const char *verb = loads                                           ? "load"
                       : c->kind == REDUCE || c->kind == REDUCE_COLUMN ? reduction_names[c->reduction]
                                                                       : "store";
    snprintf(name, sizeof name, "%s_%s_%u", verb, c->map.is_column ? "column" : "tile", c->map.rank);
    CUdeviceptr map_at = device->map, buffer_at = device->buffer;
    struct tensor_case parameters = *c;
    void *arguments[] = {&map_at,
                         &buffer_at,
                         &parameters.bytes,
                         &parameters.shared,
                         &parameters.at[0],
                         &parameters.at[1],
                         &parameters.at[2],
                         &parameters.at[3],
                         &parameters.at[4],
                         &parameters.offset[0],
                         &parameters.offset[1],
                         &parameters.offset[2]};
    DRIVER_REQUIRE(cuLaunchKernel(function_named(device, name), 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    answer.result = cuCtxSynchronize();
    if (answer.result != CUDA_SUCCESS)
        return answer;
    DRIVER_REQUIRE(cuMemcpyDtoH(memory, device->memory, sizeof memory));
    DRIVER_REQUIRE(cuMemcpyDtoH(buffer, device->buffer, sizeof buffer));
    answer.bytes = loads ? buffer[SHARED_BYTES / 4] : 0;
    *written = loads ? (unsigned char *)buffer : (unsigned char *)memory;
    *n_written = loads ? SHARED_BYTES : sizeof memory;
    answer.hash = hash_of(*written, *n_written);
    return answer;
}

/* Appends the number of the case and its bytes; those of global memory as differences from the initial ones. */
static void append(const char *path, unsigned number, const struct tensor_case *c, const unsigned char *bytes,
                   size_t n) {
    static uint32_t initial[N_MEMORY / 4];
    FILE *file = fopen(path, "ab");
    uint32_t head[2] = {number, (uint32_t)n};
    if (!file)
        return;
    memset(initial, 0, sizeof initial);
    if (n == sizeof initial)
        case_fill(c, false, initial, N_MEMORY / 4);
    fwrite(head, sizeof head, 1, file);
    for (size_t i = 0; i < n; i++)
        fputc(bytes[i] ^ ((const unsigned char *)initial)[i], file);
    fclose(file);
}

static CUresult encode_arguments(const struct device *device, unsigned number) {
    struct map map;
    unsigned offset;
    CUtensorMap encoded;
    case_make_arguments(number, &map, &offset);
    return map_encode(&map, device->memory + TENSOR_MARGIN + offset, &encoded);
}

static int record(const struct device *device, const struct options *options) {
    FILE *file = fopen(options->file, "a");
    if (!file) {
        perror(options->file);
        return 1;
    }
    for (unsigned i = options->from; options->from == 0 && i < N_ARGUMENTS; i++)
        fprintf(file, "e %u %d\n", i, (int)encode_arguments(device, i));
    for (unsigned i = options->from; i < options->to; i++) {
        struct tensor_case c;
        const unsigned char *written = NULL;
        size_t n;
        case_make(i, &c);
        struct answer answer = run_case(device, &c, &written, &n);
        fprintf(file, "%u %d %u %016" PRIx64 "\n", i, (int)answer.result, answer.bytes, answer.hash);
        fflush(file);
        if (options->data)
            append(options->data, i, &c, written, n);
        if (answer.result != CUDA_SUCCESS && answer.result != CUDA_ERROR_INVALID_VALUE) {
            fprintf(stderr, "case %u: %s\n", i, driver_error_name(answer.result));
            return 3; /* the context is lost */
        }
    }
    fclose(file);
    return 0;
}

/* Compares one line of the recording. Returns false if it differs. */
static bool check_line(const struct device *device, const struct options *options, const char *line) {
    unsigned number, bytes;
    int result;
    uint64_t hash;
    struct tensor_case c;
    const unsigned char *written;
    size_t n;
    if (sscanf(line, "e %u %d", &number, &result) == 2) {
        CUresult got = encode_arguments(device, number);
        if ((int)got == result)
            return true;
        printf("arguments %u: encoding returns %d, the GPU's driver %d\n", number, (int)got, result);
        return false;
    }
    if (sscanf(line, "%u %d %u %" SCNx64, &number, &result, &bytes, &hash) != 4)
        return false;
    if (number < options->from || number >= options->to)
        return true;
    case_make(number, &c);
    struct answer answer = run_case(device, &c, &written, &n);
    if ((int)answer.result == result && answer.bytes == bytes && answer.hash == hash)
        return true;
    printf("case %u: result %d, %u bytes, hash %016" PRIx64 "; the GPU's %d, %u, %016" PRIx64 "\n", number,
           (int)answer.result, answer.bytes, answer.hash, result, bytes, hash);
    case_print(&c);
    return false;
}

static int check(const struct device *device, const struct options *options) {
    char *data = text_read_file(options->file);
    unsigned n = 0, n_wrong = 0;
    if (!data) {
        perror(options->file);
        return 1;
    }
    const char *at = data, *line;
    size_t length;
    while (text_next_line(&at, &line, &length)) {
        n++;
        n_wrong += !check_line(device, options, line);
    }
    free(data);
    printf("%u of %u results are the GPU's\n", n - n_wrong, n);
    return n == 0 || n_wrong > 0;
}

static int show(const struct device *device, unsigned number) {
    struct tensor_case c;
    const unsigned char *written;
    size_t n;
    case_make(number, &c);
    case_print(&c);
    struct answer answer = run_case(device, &c, &written, &n);
    printf("result %d, %u bytes\n", (int)answer.result, answer.bytes);
    for (size_t i = 0; i < n; i += 2)
        printf("%02x%02x%s", written[i + 1], written[i], i % 32 == 30 ? "\n" : " ");
    return 0;
}

static int usage(void) {
    fprintf(stderr,
            "usage: tensor [--from N] [--to N] [--data FILE] --record FILE | --check FILE | --show N | --ptx\n");
    return 2;
}

int main(int argc, char **argv) {
    struct options options = {.to = N_CASES};
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--from") == 0 && has_value)
            options.from = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--to") == 0 && has_value)
            options.to = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--data") == 0 && has_value)
            options.data = argv[++i];
        else if (strcmp(argv[i], "--ptx") == 0)
            options.mode = "ptx";
        else if (strncmp(argv[i], "--", 2) == 0 && has_value) {
            options.mode = argv[i] + 2;
            options.file = argv[++i];
        } else
            return usage();
    }
    if (!options.mode)
        return usage();
    char *text = kernel_text();
    if (strcmp(options.mode, "ptx") == 0) {
        fputs(text, stdout);
        free(text);
        return 0;
    }
    struct device device;
    static char log[DRIVER_LOG];
    driver_start();
    CUresult loaded = driver_load(text, &device.module, log);
    if (loaded != CUDA_SUCCESS)
        fprintf(stderr, "%s\n", log);
    driver_require(loaded, "loading the kernels");
    free(text);
    DRIVER_REQUIRE(cuMemAlloc(&device.memory, N_MEMORY));
    DRIVER_REQUIRE(cuMemAlloc(&device.buffer, SHARED_BYTES + 16));
    DRIVER_REQUIRE(cuMemAlloc(&device.map, sizeof(CUtensorMap)));
    return strcmp(options.mode, "record") == 0  ? record(&device, &options)
           : strcmp(options.mode, "check") == 0 ? check(&device, &options)
           : strcmp(options.mode, "show") == 0  ? show(&device, (unsigned)strtoul(options.file, NULL, 10))
                                                : usage();
}
