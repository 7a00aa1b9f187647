#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/kernel.hpp"

namespace tessera {

/// Where the numbers of a table stand: at `first`, `first + step`, and so on.
struct UniformAxis {
  double first = 0.0;
  double step = 1.0;
};

/// A function of one number, told at equal distances.
struct SampledFunction {
  UniformAxis axis;
  std::vector<double> values;  ///< two at least
};

/// Reads a function from a text file: a line "x value" for each place, ascending, at equal distances; empty
/// lines and those that begin with '#' say nothing. Throws InputError naming file and line.
///
///   const SampledFunction kappa = readSampledFunction("opacity.txt");
///   axis_ = kappa.axis;
///   table_ = setup.labels.table("opacity", kappa.values);
SampledFunction readSampledFunction(const std::filesystem::path& file);

/// A sampled function in kernels: linear between its places, and beyond the ends the value there; NaN where
/// it is asked for NaN. `View` is what `task.table(label)` gives.
///
///   const LinearTable kappa(task.table(table_), axis_);
///   forEach(task.exec(), "absorb", task.interior(), [=] TESSERA_KERNEL(Index x) { ... kappa(T(x)) ... });
template <class View>
class LinearTable {
 public:
  LinearTable(const View& values, const UniformAxis& axis)
      : values_(values), first_(axis.first), perUnit_(1.0 / axis.step) {}

  TESSERA_KERNEL double operator()(double x) const {
    const double place = (x - first_) * perUnit_;
    const std::int64_t last = values_.size() - 1;
    if (place <= 0.0) return values_[0];
    if (place >= static_cast<double>(last)) return values_[last];
    if (!(place > 0.0)) return place;  // NaN
    const auto below = static_cast<std::int64_t>(place);
    const double part = place - static_cast<double>(below);
    return (1.0 - part) * values_[below] + part * values_[below + 1];
  }

 private:
  View values_;
  double first_;
  double perUnit_;
};

}  // namespace tessera
