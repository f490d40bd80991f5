/* Reads the energy that a GPU has used since its driver was loaded, through NVML, which comes with the driver. Without
 * NVML, or on a GPU that does not count energy, readings are 0. */
#pragma once

#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

struct nvml {
    void *device;
    int (*read_energy)(void *device, unsigned long long *millijoules);
    int (*read_power)(void *device, unsigned *milliwatts);
    int (*read_clock)(void *device, int which, unsigned *megahertz);
};

static inline struct nvml nvml_open(void) {
    struct nvml nvml = {0};
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library)
        return nvml;
    int (*start)(void) = (int (*)(void))dlsym(library, "nvmlInit_v2");
    int (*find)(unsigned, void **) = (int (*)(unsigned, void **))dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    if (!start || !find || start() || find(0, &nvml.device))
        return (struct nvml){0};
    nvml.read_energy = (int (*)(void *, unsigned long long *))dlsym(library, "nvmlDeviceGetTotalEnergyConsumption");
    nvml.read_power = (int (*)(void *, unsigned *))dlsym(library, "nvmlDeviceGetPowerUsage");
    nvml.read_clock = (int (*)(void *, int, unsigned *))dlsym(library, "nvmlDeviceGetClockInfo");
    return nvml;
}

static inline double nvml_joules(const struct nvml *nvml) {
    unsigned long long millijoules = 0;
    if (!nvml->read_energy || nvml->read_energy(nvml->device, &millijoules))
        return 0;
    return (double)millijoules / 1000;
}

static inline double nvml_watts(const struct nvml *nvml) {
    unsigned milliwatts = 0;
    if (!nvml->read_power || nvml->read_power(nvml->device, &milliwatts))
        return 0;
    return milliwatts / 1000.0;
}

/* Of the SMs, in MHz. */
static inline unsigned nvml_clock(const struct nvml *nvml) {
    unsigned megahertz = 0;
    if (!nvml->read_clock || nvml->read_clock(nvml->device, 1, &megahertz))
        return 0;
    return megahertz;
}

static inline double nvml_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Waits until the counter has just changed, which it does every 20 to 100 ms. Returns the reading. */
static inline double nvml_next(const struct nvml *nvml, double *seconds) {
    double before = nvml_joules(nvml), now = before, start = nvml_seconds();
    while (now == before && nvml_seconds() < start + 0.3)
        now = nvml_joules(nvml);
    *seconds = nvml_seconds();
    return now;
}
