#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/transport/transport.hpp"
#include "datawarehouse/archive/checkpoint_content.hpp"
#include "grid/regrid/flag_lives.hpp"
#include "tools/simulation/regrid/mesh_following.hpp"
#include "tools/simulation/regrid/regrid_storm.hpp"

namespace tessera {

/// What regrids have come to since the start of a run, restarts included but for the seconds.
struct RegridCounts {
  std::int64_t regrids = 0;   ///< times that flags were looked at
  std::int64_t changes = 0;   ///< times that the mesh became another one
  double flaggedCells = 0.0;  ///< of the last one
  double seconds = 0.0;       ///< of this process
};

/// The state of a mesh that follows the solution, beside the mesh itself: which parts stay refined for how
/// long, and counts. One on each rank, with the same numbers but for the seconds.
class Regridding {
 public:
  Regridding(const MeshFollowing& following, Transport& transport);

  bool isDue(std::int64_t step) const { return step > 0 && step % following_.settings().interval == 0; }

  /// The mesh that the flags of all ranks ask for, after the flag plan has run; nothing where it is the
  /// present one. All ranks call it.
  std::shared_ptr<const Hierarchy> nextMesh(const Hierarchy& now, double flaggedCells);
  /// As if the last call had not been: the run does not go over to that mesh.
  void takeBack();
  /// Forgets what was flagged before, and the counts: the next flags are the first ones.
  void begin();

  const RegridCounts& counts() const { return counts_; }
  /// Of a regrid that has ended; returns what to warn of, or nothing.
  std::string addSeconds(double seconds);
  void countChange() { ++counts_.changes; }

  void save(CheckpointState& state) const;
  void restore(const CheckpointState& state);

 private:
  /// The flags of all ranks, whoever found which.
  std::vector<BlockSet> flagsOfAll();

  const MeshFollowing& following_;
  Transport& transport_;
  FlagLives lives_;
  FlagLives livesBefore_;
  RegridCounts counts_;
  RegridCounts countsBefore_;
  RegridStorm storm_;
  std::int64_t ofProcess_ = 0;  ///< regrids that this process has gone through
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace tessera
