#pragma once

#include "datawarehouse/task_context.hpp"
#include "taskgraph/device_body.hpp"

namespace tessera::test {

TESSERA_KERNEL inline bool areEqual(Index a, Index b) { return a.i == b.i && a.j == b.j && a.k == b.k; }

/// Copies one variable to another, and does one thing wrong on request.
struct Marker {
  Label<double, Cell> from, to;
  Index reads{0, 0, 0};          ///< so far away from the cell that is written
  Index writes{0, 0, 0};         ///< so far away from the cell of the loop
  Index at{-99, 0, 0};           ///< where what follows is done
  bool skips = false;            ///< nothing is written there
  double number = 1.0;           ///< that is written there
  bool announces = false;        ///< that the loop gives its output the final values
  std::int64_t onlyInStep = -1;  ///< the faults above happen in this step alone; -1: in all

  template <class Task>
  void operator()(const Task& task) const {
    const auto in = task.read(Old, from);
    const auto out = task.write(to);
    const bool now = onlyInStep < 0 || task.step() == onlyInStep;
    const Index away = now ? reads : Index{0, 0, 0};
    const Index aside = now ? writes : Index{0, 0, 0};
    const Index there = now ? at : Index{-99, 0, 0};
    const bool omits = skips;
    const double other = number;
    const auto exec = announces ? task.exec(to) : task.exec();
    forEach(exec, "Test::marker", task.interior(), [=] TESSERA_KERNEL(Index x) {
      const bool special = areEqual(x, there);
      if (special && omits) return;
      out(x + aside) = special ? other : in(x + away);
    });
  }
};

/// Reads what it is about to write.
struct ReadsUnset {
  Label<double, Cell> to;

  template <class Task>
  void operator()(const Task& task) const {
    const auto out = task.write(to);
    forEach(task.exec(), "Test::unset", task.interior(), [=] TESSERA_KERNEL(Index x) {
      const double before = out(x);
      out(x) = before + 1.0;
    });
  }
};

/// Writes float vectors, one component of which is given at one index.
struct MarksVector {
  Label<Vec<float, 2>, Node> to;
  Index at{-99, 0, 0};
  float number = 0.0F;

  template <class Task>
  void operator()(const Task& task) const {
    const auto out = task.write(to);
    const Index there = at;
    const float second = number;
    forEach(task.exec(), "Test::vector", task.interior(to), [=] TESSERA_KERNEL(Index x) {
      out(x) = {{1.0F, areEqual(x, there) ? second : 2.0F}};
    });
  }
};

/// Copies what was computed in the same step.
struct Follower {
  Label<double, Cell> from, to;

  template <class Task>
  void operator()(const Task& task) const {
    const auto in = task.read(New, from);
    const auto out = task.write(to);
    forEach(task.exec(), "Test::later", task.interior(), [=] TESSERA_KERNEL(Index x) { out(x) = in(x); });
  }
};

/// Reads one index of its own level, which it has declared to read whole.
struct ReadsOneCell {
  Label<double, Cell> values;
  Index at;

  template <class Task>
  void operator()(const Task& task) const {
    const auto in = task.readLevel(Old, values);
    const auto out = task.write(values);
    const Index there = at;
    forEach(task.exec(), "Test::level", task.interior(), [=] TESSERA_KERNEL(Index x) { out(x) = in(there); });
  }
};

/// Contributes nothing.
struct Silent {
  Label<double, Cell> from;

  template <class Task>
  void operator()(const Task& task) const {
    static_cast<void>(task.read(Old, from));
  }
};

}  // namespace tessera::test

namespace tessera {

extern template struct DeviceBody<test::Marker>;
extern template struct DeviceBody<test::ReadsUnset>;
extern template struct DeviceBody<test::MarksVector>;
extern template struct DeviceBody<test::Follower>;
extern template struct DeviceBody<test::ReadsOneCell>;
extern template struct DeviceBody<test::Silent>;

}  // namespace tessera
