#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/fault_point.hpp"
#include "datawarehouse/archive/field_writer.hpp"

namespace tessera::test {

/// Two levels over a plane of 8 x 4 x 1 cells: level 0 in patches of `patchCells` along x, level 1 (ratio 2
/// in x and y) over the cells [2, 6) x [1, 3) as two patches. Fields: density on cells, velocity (2
/// components) on cells, potential on nodes, flux on x faces.
struct FieldSample {
  std::int64_t patchCells = 2;

  /// The output with the patches of one rank: those whose number modulo `ranks` is `rank`.
  FieldOutput output(std::int64_t step, int rank = 0, int ranks = 1) const;
  /// What a field is at an index: a formula that tells every index, field and component apart; a float can
  /// hold it.
  static double value(std::size_t field, std::size_t level, Index x, std::int64_t component);
  FillPatch fill(const FieldOutput& output) const;

  FieldWriteResult write(const std::filesystem::path& folder, std::int64_t step, int ranks = 1,
                         FieldPrecision precision = FieldPrecision::Float64,
                         FaultPlan* faults = nullptr) const;
};

}  // namespace tessera::test
