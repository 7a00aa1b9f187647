#pragma once

#include <cstdint>

#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera::bench {

/// Numbers that two cells near each other do not have in common.
struct WideInitial {
  Label<double, Cell> u;

  template <class Task>
  void operator()(const Task& task) const;
};

/// Leaves a level as it is.
struct WideKeep {
  Label<double, Cell> u;

  template <class Task>
  void operator()(const Task& task) const;
};

/// The mean of six cells `halo` away along each axis, and a corner of the halo.
struct WideMean {
  Label<double, Cell> from, to;
  std::int64_t halo = 0;

  template <class Task>
  void operator()(const Task& task) const;
};

/// Takes each cell from the other end of its level, of a bar (from y = `low` on, half as wide as the level)
/// that the level covers.
struct WideTurn {
  Label<double, Cell> from, to;
  std::int64_t cells = 0;  ///< of the level, along each axis
  std::int64_t low = 0;

  template <class Task>
  void operator()(const Task& task) const;
};

TaskBody bodyOf(const WideInitial& body);
TaskBody bodyOf(const WideKeep& body);
TaskBody bodyOf(const WideMean& body);
TaskBody bodyOf(const WideTurn& body);

}  // namespace tessera::bench
