/* Divergence models: which threads execute together. This is the header for models outside the tree. They have the same
 * interface as Heddle's own and use the same parts (docs/models/README.md). Of Heddle's sources, only the headers that
 * this one includes are installed. */
#pragma once

#include "base/memory.h"
#include "divergence/divergence.h"
#include "divergence/parts/barrier.h"
#include "divergence/parts/control.h"
#include "divergence/parts/count.h"
#include "divergence/parts/packing.h"
#include "divergence/parts/pdom.h"
#include "divergence/parts/resolve.h"
#include "divergence/parts/sync.h"
#include "divergence/parts/threads.h"
