#pragma once

#include <cstdint>

namespace tessera {

/// How the values of a variable come about at finer indices that no patch of their level covers, from the
/// coarser ones around them. A variable says it once (`LabelTable::setProlongation`), and every halo beyond
/// the border of a refined region means it.
enum class Prolongation : std::uint8_t {
  Constant,       ///< the value of the coarse index that the finer one lies in (cells) or starts from
  Linear,         ///< along cells a straight line, by central differences; along borders one between them
  LimitedLinear,  ///< likewise, but never beyond the least and the largest of the coarse values around
};

}  // namespace tessera
