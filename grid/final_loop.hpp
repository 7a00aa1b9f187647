#pragma once

#include <string>

#include "grid/label.hpp"

namespace tessera {

/// The loop of a task's body that computes the values which the task leaves of a label: every index once, in
/// the iteration of that index, and nothing after the loop changes them. NaN and infinity are looked for by
/// that loop, while the values are in the nearest cache.
struct FinalLoop {
  LabelId label = -1;
  std::string loop;  ///< the name that forEach gets
};

}  // namespace tessera
