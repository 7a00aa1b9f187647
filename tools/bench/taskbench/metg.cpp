#include "tools/bench/taskbench/metg.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::bench {

Metg metgOf(std::span<const SweepPoint> sweep, double peak) {
  const auto efficiency = [&](const SweepPoint& p) { return p.rate / peak; };
  const auto finest =
      std::find_if(sweep.rbegin(), sweep.rend(), [&](const SweepPoint& p) { return efficiency(p) >= 0.5; });
  if (finest == sweep.rbegin()) return {sweep.back().granularity, Metg::Bound::AtMost};
  if (finest == sweep.rend()) return {sweep.front().granularity, Metg::Bound::MoreThan};
  const SweepPoint& above = *finest;
  const SweepPoint& below = *(finest - 1);
  // A finer point that was disturbed may look coarser than this one.
  if (below.granularity >= above.granularity) return {above.granularity, Metg::Bound::Exact};
  const double part = (efficiency(above) - 0.5) / (efficiency(above) - efficiency(below));
  const double coarse = std::log(above.granularity);
  return {std::exp(coarse + part * (std::log(below.granularity) - coarse)), Metg::Bound::Exact};
}

MetgSpread spreadOf(std::vector<Metg> sweeps) {
  std::sort(sweeps.begin(), sweeps.end(),
            [](const Metg& a, const Metg& b) { return a.granularity < b.granularity; });
  return {sweeps[sweeps.size() / 2], sweeps.front(), sweeps.back()};
}

}  // namespace tessera::bench
