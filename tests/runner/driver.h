/* The CUDA driver as the test runners use it: device 0, its primary context. */
#pragma once

#include <stddef.h>

#include <cuda.h>

enum { DRIVER_LOG = 1 << 14 };

/* "CUDA_ERROR_ILLEGAL_ADDRESS" */
const char *driver_error_name(CUresult result);

/* The device and its context, ready; ends the program with one line when that fails. */
void driver_start(void);
/* Loads PTX. log holds DRIVER_LOG bytes and gets the messages, or "". */
CUresult driver_load(const char *ptx, CUmodule *module, char *log);

/* Ends the program with one line unless the call went well. */
void driver_require(CUresult result, const char *what);
#define DRIVER_REQUIRE(call) driver_require(call, #call)
