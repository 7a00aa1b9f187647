#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/engine/engine.hpp"

namespace tessera::engine {

/// One stream of tasks for several engines of one program: threads of the host beside a GPU, or several GPUs.
/// Each engine gets more when it has ended some, so all are busy until the stream is at its end; a task's
/// result does not depend on who ran it. Used by one thread.
///
///   EngineTeam team({&threads, &gpu});
///   team.push(tasks, tags);
///   team.poll(finished);
///
/// Only for tasks without addresses in their arguments: engines do not see each other's memory.
class EngineTeam {
 public:
  /// The engines outlive the team, and nobody else polls them. Throws UsageError where there is none, where
  /// they have different programs, or where one does not stay (mode Persistent).
  explicit EngineTeam(std::vector<Engine*> engines);

  /// As Engine::push: the first engines of the list are served first, each up to a few tasks a worker on the
  /// host and up to its capacity on a GPU.
  std::int64_t push(std::span<const Task> tasks, std::span<const std::uint64_t> tags);
  /// As Engine::poll.
  std::int64_t poll(std::span<Finished> finished);

  const std::vector<Engine*>& engines() const { return engines_; }
  /// Tasks that each engine has ended, by engine.
  const std::vector<std::int64_t>& endedBy() const { return ended_; }
  std::int32_t workers() const;

 private:
  std::vector<Engine*> engines_;
  std::vector<std::int64_t> inside_;  ///< by engine
  std::vector<std::int64_t> most_;    ///< inside an engine at a time
  std::vector<std::int64_t> ended_;
};

}  // namespace tessera::engine
