#pragma once

#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera::test {

/// Two loops, the second of which reads what the first wrote on the other side of the patch.
struct SmoothTwice {
  Label<double, Cell> from, between, to;

  template <class Task>
  void operator()(const Task& task) const;
};

/// Patches of different numbers take different ways, and some have a loop more, and one none.
struct Branches {
  Label<double, Cell> from, to;

  template <class Task>
  void operator()(const Task& task) const;
};

/// All kinds of reductions, over the patch and over nothing, after a loop that they read.
struct Reductions {
  Label<double, Cell> from, to;

  template <class Task>
  void operator()(const Task& task) const;
};

TaskBody bodyOf(const SmoothTwice& body);
TaskBody bodyOf(const Branches& body);
TaskBody bodyOf(const Reductions& body);

}  // namespace tessera::test
