#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>

#include "scheduler/engine/engine_team.hpp"
#include "tools/ensemble/stage_run.hpp"

namespace tessera::ensemble {

/// Names the tasks of this rank that go on while nothing ends for long. One thread.
class LongTasks {
 public:
  /// `team` outlives the object.
  explicit LongTasks(const engine::EngineTeam& team,
                     std::chrono::duration<double> patience = std::chrono::seconds(10))
      : team_(team), patience_(patience) {}

  /// To be called about once a second. Where nothing has ended since `patience`, writes a line for each of
  /// the oldest running tasks, and again after as long.
  void tell(const StageOutcome& outcome, std::ostream& screen);

 private:
  using Clock = std::chrono::steady_clock;

  const engine::EngineTeam& team_;
  const std::chrono::duration<double> patience_;
  std::int64_t ended_ = -1;
  Clock::time_point since_{};
};

}  // namespace tessera::ensemble
