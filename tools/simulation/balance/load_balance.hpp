#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/transport/transport.hpp"
#include "scheduler/step_runner.hpp"
#include "taskgraph/compiled_graph.hpp"
#include "taskgraph/owned_mesh.hpp"
#include "tools/simulation/deck/balance_table.hpp"

namespace tessera {

/// What a look at the balance has found, and what it led to.
struct BalanceLook {
  double imbalance = 1.0;      ///< largest share of a rank over the mean one, of the owners of the moment
  double nextImbalance = 1.0;  ///< of those that the patches could have
  double gain = 0.0;           ///< seconds until the next look that these would save
  double price = 0.0;          ///< seconds that it takes to go over to them
};

/// What balancing has come to in this process.
struct BalanceCounts {
  std::int64_t changes = 0;  ///< times that patches went to other ranks without another mesh
  double seconds = 0.0;      ///< spent on that
};

/// Seconds of a patch in the step before `step`, said by the caller, the same on all ranks: what is decided
/// then depends on no clock.
using GivenSeconds = std::function<double(PatchId patch, std::int64_t step)>;

/// Deals out the patches of a run to its ranks, by cells or by what patches have cost, and says when it pays
/// to do so again. One on each rank, with the same numbers: all decisions are pure functions of what the
/// ranks tell one another.
class LoadBalance {
 public:
  /// `stepsOfLevel`: in one step of level 0. `takeTurns`: levels are never computed at the same time.
  LoadBalance(const BalanceSettings& settings, std::vector<double> stepsOfLevel, bool takeTurns,
              Transport& transport, int threads);

  bool isDue(std::int64_t step) const {
    return settings_.every > 0 && transport_.size() > 1 && step > 0 && step % settings_.every == 0;
  }
  /// Empty: patches have cost what was measured.
  void takeSecondsFrom(GivenSeconds given) { given_ = std::move(given); }

  bool measures() const { return settings_.measures && transport_.size() > 1; }
  const BalanceSettings& settings() const { return settings_; }

  /// Takes what the own patches of `mesh` have cost since the run stands on it, `step` being the number of
  /// steps so far. All ranks call it, between steps.
  void measure(const OwnedMesh& mesh, const CompiledGraphs& graphs, const PatchCosts& costs,
               std::int64_t step);
  /// The run stands on another mesh since that step, or on the first one.
  void standsOn(const OwnedMesh& mesh, std::int64_t step);

  /// Who gets which patch of a mesh.
  RankMap ownersOf(const Hierarchy& hierarchy) const;
  /// Other owners of the same patches, where these are worth `price`, the seconds that it took to go over to
  /// a mesh last time. After `measure`.
  std::optional<RankMap> betterOwners(const OwnedMesh& mesh, double price);
  const BalanceLook& look() const { return look_; }

  const BalanceCounts& counts() const { return counts_; }
  void count(double seconds) {
    ++counts_.changes;
    counts_.seconds += seconds;
  }

 private:
  /// By patch of the mesh: seconds of one step of level 0 where they are known, else cells times steps.
  std::vector<double> costsOf(const Hierarchy& hierarchy) const;
  double secondsOfStep(const OwnedMesh& mesh, const RankMap& owners) const;

  const BalanceSettings settings_;
  const std::vector<double> stepsOfLevel_;
  const bool takeTurns_;
  Transport& transport_;
  const int threads_;
  GivenSeconds given_;
  std::shared_ptr<const Hierarchy> known_;  ///< the mesh of `costs_`
  std::vector<double> costs_;               ///< seconds of a step by patch, smoothed; empty: not known
  double secondsPerCost_ = 0.0;             ///< of costs by cells; 0: not known
  std::vector<double> before_;              ///< seconds by own patch at the last measurement
  std::int64_t stepBefore_ = 0;
  BalanceLook look_;
  BalanceCounts counts_;
};

}  // namespace tessera
