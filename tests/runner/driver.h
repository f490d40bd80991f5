/* Helpers for the test runners over the CUDA driver API, for device 0 and its primary context. */
#pragma once

#include <stddef.h>

#include <cuda.h>

enum { DRIVER_LOG = 1 << 14 };

/* "CUDA_ERROR_ILLEGAL_ADDRESS" */
const char *driver_error_name(CUresult result);

/* Initialises the device and its context; ends the program with one line when that fails. */
void driver_start(void);
/* Loads PTX. log has DRIVER_LOG bytes and receives the messages, or "". */
CUresult driver_load(const char *ptx, CUmodule *module, char *log);

/* Ends the program with one line unless the call succeeded. */
void driver_require(CUresult result, const char *what);
#define DRIVER_REQUIRE(call) driver_require(call, #call)
