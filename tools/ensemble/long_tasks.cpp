#include "tools/ensemble/long_tasks.hpp"

#include <algorithm>

namespace tessera::ensemble {
namespace {

constexpr std::size_t kMostLines = 4;

}  // namespace

void LongTasks::tell(const StageOutcome& outcome, std::ostream& screen) {
  const std::int64_t ended = outcome.done + outcome.failed;
  const auto now = Clock::now();
  // Ages count from the first look at a task.
  std::vector<engine::RunningTask> tasks;
  for (engine::Engine* engine : team_.engines()) {
    const auto more = engine->running();
    tasks.insert(tasks.end(), more.begin(), more.end());
  }
  if (ended != ended_) {
    ended_ = ended;
    since_ = now;
    return;
  }
  if (now - since_ < patience_) return;
  since_ = now;
  std::sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  for (std::size_t n = 0; n < std::min(tasks.size(), kMostLines); ++n) {
    screen << "  task " << tasks[n].tag << " of kind " << tasks[n].kind << " has run for "
           << static_cast<std::int64_t>(tasks[n].seconds) << " s" << std::endl;
  }
}

}  // namespace tessera::ensemble
