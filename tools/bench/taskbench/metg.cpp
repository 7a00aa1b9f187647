#include "tools/bench/taskbench/metg.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::bench {

Metg metgOf(std::span<const SweepPoint> sweep, double peak) {
  std::vector<SweepPoint> points(sweep.begin(), sweep.end());
  std::sort(points.begin(), points.end(),
            [](const SweepPoint& a, const SweepPoint& b) { return a.granularity < b.granularity; });
  const auto efficiency = [&](const SweepPoint& p) { return p.rate / peak; };
  const auto finest =
      std::find_if(points.begin(), points.end(), [&](const SweepPoint& p) { return efficiency(p) >= 0.5; });
  if (finest == points.begin()) return {points.front().granularity, Metg::Bound::AtMost};
  if (finest == points.end()) return {points.back().granularity, Metg::Bound::MoreThan};
  const SweepPoint& above = *finest;
  const SweepPoint* below = &*(finest - 1);
  const double part = (efficiency(above) - 0.5) / (efficiency(above) - efficiency(*below));
  const double coarse = std::log(above.granularity);
  return {std::exp(coarse + part * (std::log(below->granularity) - coarse)), Metg::Bound::Exact};
}

MetgSpread spreadOf(std::vector<Metg> sweeps) {
  std::sort(sweeps.begin(), sweeps.end(),
            [](const Metg& a, const Metg& b) { return a.granularity < b.granularity; });
  return {sweeps[sweeps.size() / 2], sweeps.front(), sweeps.back()};
}

}  // namespace tessera::bench
