#pragma once

#include <limits>
#include <vector>

namespace tessera::detail {

/// What steps cost while the host had a part of the cells; a mean, or the best of several.
struct ShareTrial {
  double part = 0.0;         ///< of the cells, as whole patches allow: 0 all on devices, 1 all on the host
  double stepSeconds = 0.0;  ///< wall time
  double hostSeconds = 0.0;  ///< of host workers in tasks and halos, all together
};

/// Finds the part of the cells that the host should take so that steps are shortest, from measured steps: at
/// most four trials, and one that promises nothing is not made. Devices alone come first, and stay unless
/// another part is shorter by more than `kGain`, so noise does not move work about.
///
/// The second trial gives the host a sixteenth (or one patch). From then on its speed is known, and what a
/// split costs beside the work itself: copies, and waiting for them. That is added to what the longer side
/// needs, for the part at which both end together; where this promises a gain it is tried. All on the host is
/// tried where its speed promises that: meshes so small that a launch takes longer than the work.
///
///   HostFractionSearch search(threads, smallestPart);
///   while (!search.settled()) search.take(measure(search.part()));
class HostFractionSearch {
 public:
  static constexpr double kGain = 0.05;

  /// `threads` of the host; no part but 0 is below `smallestPart`, one patch.
  HostFractionSearch(int threads, double smallestPart);

  /// To be measured next or, once settled, to be used.
  double part() const { return part_; }
  bool settled() const { return stage_ == Stage::Settled; }
  /// What was measured for `part()`.
  void take(const ShareTrial& trial);
  /// Of devices alone; infinity before that is known.
  double devicesSeconds() const { return devices_; }
  const std::vector<ShareTrial>& trials() const { return trials_; }

 private:
  enum class Stage { Devices, Probe, Split, Host, Settled };

  void trySplit(const ShareTrial& probe);
  void tryHost();
  void settle();
  double best() const;

  const int threads_;
  const double smallestPart_;
  Stage stage_ = Stage::Devices;
  double part_ = 0.0;
  double devices_ = std::numeric_limits<double>::infinity();
  double hostAlone_ = std::numeric_limits<double>::infinity();  ///< seconds of a step, foreseen
  std::vector<ShareTrial> trials_;
  std::vector<double> asked_;  ///< by trial: the part that gave it, whatever whole patches made of that
};

}  // namespace tessera::detail
