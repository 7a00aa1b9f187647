#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "datawarehouse/archive/field_reader.hpp"

namespace tessera {

/// When two values count as equal: |a - b| <= abs + rel * max(|a|, |b|), or equal bit by bit when `exact`.
/// Without `exact`, two NaN are equal, and a NaN differs from any number.
struct CompareTolerance {
  double abs = 0.0;
  double rel = 0.0;
  bool exact = false;
};

/// One place where two results differ.
struct ValueDifference {
  std::int32_t level = 0;
  Index index;  ///< of the cell, node or face
  std::int32_t component = 0;
  double a = 0.0;
  double b = 0.0;
};

/// The comparison of one field over all levels.
struct FieldComparison {
  std::string field;
  std::int64_t compared = 0;             ///< values looked at
  std::int64_t differing = 0;            ///< values outside the tolerance
  double maxAbs = 0.0;                   ///< largest |a - b|; infinite where one is NaN
  double maxRel = 0.0;                   ///< largest |a - b| / max(|a|, |b|)
  std::optional<ValueDifference> first;  ///< first one outside, in the order level, z, y, x, component
};

/// The comparison of two results.
struct Comparison {
  bool equal = true;                  ///< nothing differs and nothing is missing on either side
  std::vector<std::string> problems;  ///< what makes them unlike beside values: missing fields, other extents
  std::vector<FieldComparison> fields;
  std::set<std::string> names;  ///< of the fields that either side has
};

/// Compares value by value through (level, index), so patch layouts and numbers of ranks may differ.
/// Time and step are compared too (time with the tolerance). Errors: InputError when a file cannot be read.
Comparison compareFields(const FieldReader& a, const FieldReader& b, const CompareTolerance& tolerance);

/// The same for checkpoints, over every block and the state; labels must have the same types.
Comparison compareCheckpoints(const CheckpointReader& a, const CheckpointReader& b,
                              const CompareTolerance& tolerance);

}  // namespace tessera
