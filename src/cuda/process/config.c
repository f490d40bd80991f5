/* The configuration that the `heddle` command passes to the library in the environment: HEDDLE_CONFIG, a JSON object
 * with the keys of keys.def. Every key is optional. A key that is unknown, of the wrong type or out of range is an
 * error, never ignored. */
#include "cuda/internal.h"

#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "config/config.h"

enum option_type { OPTION_BOOLEAN, OPTION_U32, OPTION_U64, OPTION_SECONDS, OPTION_TEXT, OPTION_MACHINE };

struct option {
    const char *name;
    enum option_type type;
    void *value;
    uint64_t least, most;
};

static bool refuse(const struct option *option) {
    switch (option->type) {
    case OPTION_BOOLEAN:
        cuda_print("HEDDLE_CONFIG: \"%s\" must be true or false", option->name);
        break;
    case OPTION_TEXT:
    case OPTION_MACHINE:
        cuda_print("HEDDLE_CONFIG: \"%s\" must be a text", option->name);
        break;
    case OPTION_SECONDS:
        cuda_print("HEDDLE_CONFIG: \"%s\" must be a number of seconds, 0 for no limit", option->name);
        break;
    default:
        cuda_print("HEDDLE_CONFIG: \"%s\" must be a whole number from %llu to %llu", option->name,
                   (unsigned long long)option->least, (unsigned long long)option->most);
    }
    return false;
}

/* The machine as written by `heddle run --dump-config`: the shape of the device follows from it. */
static bool set_machine(struct gpu_config *config, const char *yaml) {
    char error[CONFIG_ERROR_BYTES];
    struct config_machine *machine = cuda_allocate(sizeof(*machine)); /* kept until the process ends */
    if (!config_load_text(machine, yaml, "HEDDLE_CONFIG", NULL, error, sizeof(error)) ||
        !config_check(machine, error, sizeof(error))) {
        cuda_print("%s", error);
        return false;
    }
    gpu_config_use(config, machine);
    return true;
}

static bool set_option(const struct option *option, const json_t *value) {
    if (option->type == OPTION_TEXT || option->type == OPTION_MACHINE) {
        const char *text = json_string_value(value);
        if (!text || (option->type == OPTION_TEXT && strlen(text) >= option->most))
            return refuse(option);
        if (option->type == OPTION_MACHINE)
            return set_machine(option->value, text);
        strcpy(option->value, text);
        return true;
    }
    if (option->type == OPTION_BOOLEAN) {
        if (!json_is_boolean(value))
            return refuse(option);
        *(bool *)option->value = json_is_true(value);
        return true;
    }
    if (option->type == OPTION_SECONDS) {
        if (!json_is_number(value) || json_number_value(value) < 0)
            return refuse(option);
        *(double *)option->value = json_number_value(value);
        return true;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return refuse(option);
    uint64_t number = (uint64_t)json_integer_value(value);
    if (number < option->least || number > option->most)
        return refuse(option);
    if (option->type == OPTION_U32)
        *(uint32_t *)option->value = (uint32_t)number;
    else
        *(uint64_t *)option->value = number;
    return true;
}

static bool read_object(json_t *object, const struct option *options, size_t n_options) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        struct base_nearest nearest = base_nearest_to(key);
        size_t i = 0;
        while (i < n_options && strcmp(options[i].name, key) != 0)
            base_nearest_offer(&nearest, options[i++].name);
        if (i == n_options) {
            cuda_print("HEDDLE_CONFIG: unknown key \"%s\"%s%s%s", key, nearest.best ? "; did you mean \"" : "",
                       nearest.best ? nearest.best : "", nearest.best ? "\"?" : "");
            return false;
        }
        if (!set_option(&options[i], value))
            return false;
    }
    return true;
}

bool cuda_read_config(const char *json, struct gpu_config *config, struct cuda_timed_launches *timed, bool *is_verbose,
                      bool *is_interruptible) {
#define CUDA_DRIVER_KEY(key, type, member, least, most) {key, OPTION_##type, &(member), least, most},
#define CUDA_KEY(key, type, member, least, most, value) CUDA_DRIVER_KEY(key, type, member, least, most)
#define CUDA_KEY_IF(key, type, member, least, most, value, is_given) CUDA_DRIVER_KEY(key, type, member, least, most)
    const struct option options[] = {
#include "cuda/process/keys.def"
    };
    json_error_t error;
    json_t *object = json_loads(json, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        cuda_print("HEDDLE_CONFIG: %s at column %d", error.text, error.column);
        return false;
    }
    bool is_good = json_is_object(object);
    if (!is_good)
        cuda_print("HEDDLE_CONFIG must be a JSON object");
    else
        is_good = read_object(object, options, sizeof(options) / sizeof(options[0]));
    json_decref(object);
    return is_good;
}
