#pragma once

#include <cstdint>

#include "datawarehouse/task_context.hpp"
#include "taskgraph/device_body.hpp"

namespace tessera::bench {

/// Numbers that two cells near each other do not have in common.
struct WideInitial {
  Label<double, Cell> u;

  template <class Task>
  void operator()(const Task& task) const {
    const auto out = task.write(u);
    forEach(task.exec(), "Wide::initial", task.interior(), [=] TESSERA_KERNEL(Index x) {
      out(x) = static_cast<double>((7 * x.i + 13 * x.j + 29 * x.k) % 64) / 64.0;
    });
  }
};

/// Leaves a level as it is.
struct WideKeep {
  Label<double, Cell> u;

  template <class Task>
  void operator()(const Task& task) const {
    const auto old = task.read(Old, u);
    const auto out = task.write(u);
    forEach(task.exec(), "Wide::keep", task.interior(), [=] TESSERA_KERNEL(Index x) { out(x) = old(x); });
  }
};

/// The mean of six cells `halo` away along each axis, and a corner of the halo.
struct WideMean {
  Label<double, Cell> from, to;
  std::int64_t halo = 0;

  template <class Task>
  void operator()(const Task& task) const {
    const auto old = task.read(Old, from);
    const auto out = task.write(to);
    const std::int64_t h = halo;
    forEach(task.exec(), "Wide::mean", task.interior(), [=] TESSERA_KERNEL(Index x) {
      const double mean = ((old(x - Index{h, 0, 0}) + old(x + Index{h, 0, 0})) +
                           (old(x - Index{0, h, 0}) + old(x + Index{0, h, 0})) +
                           (old(x - Index{0, 0, h}) + old(x + Index{0, 0, h}))) /
                          6.0;
      out(x) = 0.75 * mean + 0.25 * old(x + Index{h, h, h});
    });
  }
};

/// Takes each cell from the other end of its level, of a bar (from y = `low` on, half as wide as the level)
/// that the level covers.
struct WideTurn {
  Label<double, Cell> from, to;
  std::int64_t cells = 0;  ///< of the level, along each axis
  std::int64_t low = 0;

  template <class Task>
  void operator()(const Task& task) const {
    const auto old = task.readLevel(Old, from);
    const auto out = task.write(to);
    const std::int64_t n = cells;
    const std::int64_t first = low;
    forEach(task.exec(), "Wide::turn", task.interior(), [=] TESSERA_KERNEL(Index x) {
      out(x) = old(Index{n - 1 - x.i, first + x.j % (n / 2), x.k});
    });
  }
};

}  // namespace tessera::bench

namespace tessera {

extern template struct DeviceBody<bench::WideInitial>;
extern template struct DeviceBody<bench::WideKeep>;
extern template struct DeviceBody<bench::WideMean>;
extern template struct DeviceBody<bench::WideTurn>;

}  // namespace tessera
