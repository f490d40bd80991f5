#!/usr/bin/env bash
# kernels.sh RUNNER SHAKEN: runs kernels that fault, launch others, wait for each other or change the same memory, on several threads of
# the shaken build. Their results and messages must be the usual ones.
set -euo pipefail
runner=$1 shaken=$2
export LD_LIBRARY_PATH=$shaken/lib/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} HEDDLE_SHAKE=1
exec "$runner" --divergence stack --threads "$(($(nproc) + 3))" tests/kernels/{atomic,control_[bcdefg],device,fault,malloc}*.ptx
