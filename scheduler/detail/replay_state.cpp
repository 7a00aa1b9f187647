#include "scheduler/detail/replay_state.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "core/contracts.hpp"

namespace tessera::detail {
namespace {

/// The distinct urgencies, the largest first; the place of one is its lane. More than there are lanes share
/// the last.
std::vector<int> urgenciesOf(const std::vector<NodeTraits>& traits) {
  std::set<int, std::greater<>> distinct;
  for (const NodeTraits& t : traits) {
    if (t.used) distinct.insert(t.urgency);
  }
  return {distinct.begin(), distinct.end()};
}

std::uint16_t laneOf(const std::vector<int>& urgencies, int urgency) {
  const auto at = std::find(urgencies.begin(), urgencies.end(), urgency) - urgencies.begin();
  return static_cast<std::uint16_t>(std::min<std::ptrdiff_t>(at, ReadyLanes::kMaxLanes - 1));
}

}  // namespace

ReplayState::ReplayState(NodeSource& theSource, int workers)
    : source(theSource), armed(theSource.predecessorCounts()) {
  const auto count = static_cast<std::size_t>(source.nodeCount());
  TESSERA_EXPECT(workers >= 1 && workers <= 0xffff, "use 1 to 65535 workers");
  leftMemory_.reset(static_cast<std::int32_t*>(
      ::operator new[](std::max<std::size_t>(count, 1) * sizeof(std::int32_t), std::align_val_t{64})));
  left = {leftMemory_.get(), count};
  rearm();

  std::vector<NodeTraits> traits(count);
  for (std::size_t n = 0; n < count; ++n) traits[n] = source.traits(static_cast<std::int32_t>(n), workers);
  const std::vector<int> urgencies = urgenciesOf(traits);
  const std::size_t lanes = std::clamp<std::size_t>(urgencies.size(), 1, ReadyLanes::kMaxLanes);
  std::vector<std::vector<std::int64_t>> sizes(static_cast<std::size_t>(workers),
                                               std::vector<std::int64_t>(lanes, 0));
  std::vector<std::vector<std::int32_t>> first(static_cast<std::size_t>(workers));
  places.resize(count);
  for (std::size_t n = 0; n < count; ++n) {
    const NodeTraits& t = traits[n];
    if (!t.used) continue;
    TESSERA_EXPECT(t.home >= 0 && t.home < workers, "give every node a home among the workers");
    const auto home = static_cast<std::size_t>(t.home);
    places[n] = {static_cast<std::uint16_t>(t.home), laneOf(urgencies, t.urgency)};
    ++sizes[home][places[n].lane];
    ++total;
    if (t.waits) ++waiting;
    if (armed[n] == 0) first[home].push_back(static_cast<std::int32_t>(n));
  }
  for (std::size_t w = 0; w < sizes.size(); ++w) {
    std::reverse(first[w].begin(), first[w].end());
    shares.push_back({ReadyLanes(sizes[w]), std::move(first[w])});
  }
}

void ReplayState::rearm() {
  std::copy(armed.begin(), armed.end(), left.begin());
  for (Share& share : shares) share.lanes.clear();
}

}  // namespace tessera::detail
