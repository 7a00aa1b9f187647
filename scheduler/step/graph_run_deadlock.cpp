#include "scheduler/step/graph_run.hpp"

namespace tessera::detail {

std::string GraphRun::detectDeadlock(std::chrono::duration<double> limit) {
  if (talk_ == nullptr) return {};
  std::vector<RankWait> mine;
  for (const std::int32_t node : begun()) {
    if (const int peer = waitsForRank(node); peer >= 0)
      mine.push_back({transport_.rank(), peer, describe(node)});
  }
  return talk_->tell(mine, limit);
}

}  // namespace tessera::detail
