#pragma once

#include "grid/label.hpp"
#include "taskgraph/task_body.hpp"

namespace tessera::test {

/// Copies one variable to another, and does one thing wrong on request.
struct Marker {
  Label<double, Cell> from, to;
  Index reads{0, 0, 0};          ///< so far away from the cell that is written
  Index writes{0, 0, 0};         ///< so far away from the cell of the loop
  Index at{-99, 0, 0};           ///< where what follows is done
  bool skips = false;            ///< nothing is written there
  double number = 1.0;           ///< that is written there
  std::int64_t onlyInStep = -1;  ///< the faults above happen in this step alone; -1: in all

  template <class Task>
  void operator()(const Task& task) const;
};

/// Reads what it is about to write.
struct ReadsUnset {
  Label<double, Cell> to;

  template <class Task>
  void operator()(const Task& task) const;
};

/// Writes float vectors, one component of which is given at one index.
struct MarksVector {
  Label<Vec<float, 2>, Node> to;
  Index at{-99, 0, 0};
  float number = 0.0F;

  template <class Task>
  void operator()(const Task& task) const;
};

/// Copies what was computed in the same step.
struct Follower {
  Label<double, Cell> from, to;

  template <class Task>
  void operator()(const Task& task) const;
};

/// Reads one index of its own level, which it has declared to read whole.
struct ReadsOneCell {
  Label<double, Cell> values;
  Index at;

  template <class Task>
  void operator()(const Task& task) const;
};

/// Contributes nothing.
struct Silent {
  Label<double, Cell> from;

  template <class Task>
  void operator()(const Task& task) const;
};

TaskBody bodyOf(const Marker& body);
TaskBody bodyOf(const ReadsUnset& body);
TaskBody bodyOf(const MarksVector& body);
TaskBody bodyOf(const Follower& body);
TaskBody bodyOf(const ReadsOneCell& body);
TaskBody bodyOf(const Silent& body);

}  // namespace tessera::test
