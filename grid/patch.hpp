#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/geometry/box.hpp"
#include "core/memory/element_type.hpp"

namespace tessera {

/// A patch's number, dense over all levels of a hierarchy: level 0 first, in the order of the lattice.
using PatchId = std::int64_t;
/// A level's number; 0 is the coarsest.
using LevelId = int;
/// The number of a process of the job.
using Rank = int;

/// A box of cells of one level; the unit of decomposition, of tasks and of storage.
struct Patch {
  PatchId id = 0;
  LevelId level = 0;
  Box cells;
};

/// Whether `a` lies before `b`, patches of one level: by lower corner, z first. An order that a regrid
/// elsewhere does not change, other than that of ids.
constexpr bool beforeByPosition(const Box& a, const Box& b) {
  if (a.lo.k != b.lo.k) return a.lo.k < b.lo.k;
  if (a.lo.j != b.lo.j) return a.lo.j < b.lo.j;
  return a.lo.i < b.lo.i;
}

/// Puts patches of one level into the order of their places, each once.
void sortByPosition(std::vector<const Patch*>& patches);

/// "L1/P0042 [32,0,0]..[63,31,31]", the name of a patch in every message.
std::string asText(const Patch& patch);

}  // namespace tessera
