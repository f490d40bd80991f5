#!/bin/sh
# @NAME@_test.sh [HEDDLE]: @NAME@ does nothing wrong on random programs, results stay right, and it can be chosen.
set -e
heddle=${1:-@BINARY@}
cd "$(dirname "$0")"
"$heddle" check ./@NAME@.so
"$heddle" run bfs @OPTION@ ./@NAME@.so --quiet
echo "@NAME@: all good"
