#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/geometry/box.hpp"
#include "core/memory/element_type.hpp"

namespace tessera {

/// The number type of fields in a file for viewing.
enum class FieldPrecision : std::uint8_t { Float32, Float64 };

/// One field of a file. Cell fields appear as CellData, node fields as PointData; a face field appears as
/// CellData (the mean of a cell's two faces), with the face values themselves kept under /tessera.
struct OutputField {
  std::string name;  ///< 1 to 100 bytes of [A-Za-z0-9._ -], unique in the file
  std::string unit;  ///< free text, may be empty
  std::int32_t components = 1;
  Centering centering = Centering::Cell;
  friend bool operator==(const OutputField&, const OutputField&) = default;
};

/// One level: all patches of all ranks, in the order of patch ids.
struct OutputLevel {
  Real3 spacing;                   ///< size of a cell; equal to the coarser level's divided by the ratio
  Box domain;                      ///< all cells of the level, had it no holes
  std::vector<Box> patches;        ///< cell boxes, disjoint and inside `domain`
  std::vector<std::int64_t> mine;  ///< positions in `patches` that this rank writes; each one on one rank
};

/// One output step: the same on every rank, but for `OutputLevel::mine`.
/// One- and two-dimensional runs have axes of one cell.
struct FieldOutput {
  std::int64_t step = 0;
  double time = 0.0;
  double dt = 0.0;
  Real3 origin;                               ///< lower corner of cell (0, 0, 0) of level 0
  std::vector<std::int32_t> refinementRatio;  ///< one entry for each level above 0
  std::vector<OutputLevel> levels;
  std::vector<OutputField> fields;
  std::array<bool, kAxes> periodic{};  ///< whether an axis closes on itself
  std::string codeVersion;             ///< "tessera 0.1.0 (1a2b3c4)"
  std::string revision;                ///< the git commit of the program
  std::string deckSha256;              ///< of the deck's bytes, as sha256sum prints it
  std::string runId;                   ///< names what is computed; in provenance.json as well
  std::string lengthUnit = "length";   ///< of origin and spacing, for axes of pictures
  std::string timeUnit = "time";       ///< of time and dt
};

/// The indices of a patch's values: its cells, its nodes, or its faces along one axis.
Box valueBox(const Box& cells, Centering centering);

/// Fills `values` with field number `field` on patch number `patch` of `level`: one value for each index of
/// valueBox(...), x fastest, the components of one index together.
using FillPatch =
    std::function<void(std::size_t level, std::int64_t patch, std::size_t field, std::span<double> values)>;

}  // namespace tessera
