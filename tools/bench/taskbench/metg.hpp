#pragma once

#include <span>
#include <vector>

namespace tessera::bench {

/// One length of task, measured.
struct SweepPoint {
  double granularity = 0.0;  ///< seconds of a thread for each task, what the runtime needs included
  double rate = 0.0;         ///< work in a second, all threads together
};

/// The smallest granularity at which a system still does half of what is possible: METG(50 %).
struct Metg {
  enum class Bound {
    Exact,
    AtMost,    ///< even the smallest tasks measured do half
    MoreThan,  ///< not even the largest do
  };
  double granularity = 0.0;
  Bound bound = Bound::Exact;
};

/// Of one sweep, from long tasks to short ones and not empty: between the finest point that does half of
/// `peak` or more and the next finer one, where efficiency is taken to be linear in the logarithm of the
/// granularity. A coarser point that does less has been disturbed, and does not count.
Metg metgOf(std::span<const SweepPoint> sweep, double peak);

/// The middle, least and greatest of several. A bound is worth what it bounds.
struct MetgSpread {
  Metg median;
  Metg least;
  Metg greatest;
};
MetgSpread spreadOf(std::vector<Metg> sweeps);

}  // namespace tessera::bench
