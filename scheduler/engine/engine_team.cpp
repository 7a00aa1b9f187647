#include "scheduler/engine/engine_team.hpp"

#include <algorithm>

#include "core/text/error.hpp"

namespace tessera::engine {
namespace {

/// Tasks that wait for each worker of the host, beside the one that it is at: enough to hide the caller's
/// next look.
constexpr std::int64_t kWaitingForEach = 3;

}  // namespace

EngineTeam::EngineTeam(std::vector<Engine*> engines)
    : engines_(std::move(engines)), inside_(engines_.size(), 0), ended_(engines_.size(), 0) {
  if (engines_.empty()) throw UsageError("a team of engines needs at least one engine");
  for (const Engine* engine : engines_) {
    if (&engine->program() != &engines_.front()->program()) {
      throw UsageError("the engines of a team have different programs (" + engines_.front()->program().name +
                       ", " + engine->program().name + "); make all of them with one");
    }
    if (engine->options().mode != EngineMode::Persistent)
      throw UsageError("the engines of a team stay; give EngineOptions::mode as Persistent");
    const std::int64_t capacity = engine->options().capacity;
    most_.push_back(engine->options().form == EngineForm::Cuda
                        ? capacity
                        : std::min<std::int64_t>(capacity, engine->workers() * (1 + kWaitingForEach)));
  }
}

std::int32_t EngineTeam::workers() const {
  std::int32_t sum = 0;
  for (const Engine* engine : engines_) sum += engine->workers();
  return sum;
}

std::int64_t EngineTeam::push(std::span<const Task> tasks, std::span<const std::uint64_t> tags) {
  if (tags.size() != tasks.size()) throw UsageError("push needs one tag for each task");
  std::size_t done = 0;
  for (std::size_t n = 0; n < engines_.size(); ++n) {
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(0, most_[n] - inside_[n]));
    const std::size_t part = std::min(room, tasks.size() - done);
    if (part == 0) continue;
    const std::int64_t taken = engines_[n]->push(tasks.subspan(done, part), tags.subspan(done, part));
    inside_[n] += taken;
    done += static_cast<std::size_t>(taken);
  }
  return static_cast<std::int64_t>(done);
}

std::int64_t EngineTeam::poll(std::span<Finished> finished) {
  std::size_t count = 0;
  for (std::size_t n = 0; n < engines_.size() && count < finished.size(); ++n) {
    const std::int64_t got = engines_[n]->poll(finished.subspan(count));
    inside_[n] -= got;
    ended_[n] += got;
    count += static_cast<std::size_t>(got);
  }
  return static_cast<std::int64_t>(count);
}

}  // namespace tessera::engine
