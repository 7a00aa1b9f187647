#include "tests/scheduler/device/peer_lanes_rig.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace tessera::test {

PeerLanesRig::PeerLanesRig(std::span<DeviceBackend* const> devices, RandomLaneCase drawn,
                           std::vector<std::int32_t> laneOf)
    : drawn_(std::move(drawn)),
      laneOf_(std::move(laneOf)),
      predecessors_(drawn_.plan.tasks.size()),
      digits_(*devices[0], drawn_.plan.tasks.size() * kDigits, DeviceSpace::PinnedHost),
      lists_(*devices[0], drawn_.plan.edges.size() + 1, DeviceSpace::PinnedHost),
      patches_(*devices[0], drawn_.plan.tasks.size(), DeviceSpace::PinnedHost),
      flag_(*devices[0], 1, DeviceSpace::PinnedHost),
      missing_(drawn_.plan.tasks.size()) {
  for (const auto& [first, then] : drawn_.plan.edges)
    predecessors_[static_cast<std::size_t>(then)].push_back(first);
  fillTables();
  *flag_.data() = 0;
  for (DeviceBackend* device : devices)
    sides_.push_back(std::make_unique<Side>(*this, *device, drawn_.options));
  dealOut();
}

void PeerLanesRig::fillTables() {
  std::int32_t* list = lists_.data();
  for (std::size_t n = 0; n < predecessors_.size(); ++n) {
    const std::vector<std::int32_t>& before = predecessors_[n];
    patches_.data()[n] = {digits_.data(), list, static_cast<std::int32_t>(before.size()),
                          static_cast<std::int32_t>(n)};
    list = std::copy(before.begin(), before.end(), list);
  }
}

void PeerLanesRig::dealOut() {
  for (std::size_t n = 0; n < laneOf_.size(); ++n) {
    Side& side = *sides_[static_cast<std::size_t>(laneOf_[n])];
    numberOf_.push_back(static_cast<std::int32_t>(side.tasks.size()));
    side.tasks.push_back(static_cast<std::int32_t>(n));
    side.plan.tasks.push_back(drawn_.plan.tasks[n]);
  }
  for (auto& side : sides_) side->plan.peerPredecessors.resize(side->tasks.size());
  for (const auto& [first, then] : drawn_.plan.edges) {
    const auto a = static_cast<std::size_t>(first);
    const auto b = static_cast<std::size_t>(then);
    LanePlan& plan = sides_[static_cast<std::size_t>(laneOf_[a])]->plan;
    if (laneOf_[a] == laneOf_[b]) {
      plan.edges.emplace_back(numberOf_[a], numberOf_[b]);
      continue;
    }
    plan.peerEdges.push_back({numberOf_[a], laneOf_[b], numberOf_[b]});
    LanePlan& other = sides_[static_cast<std::size_t>(laneOf_[b])]->plan;
    ++other.peerPredecessors[static_cast<std::size_t>(numberOf_[b])];
  }
  std::vector<DeviceLane*> lanes;
  std::vector<LaneWork*> works;
  for (auto& side : sides_) {
    side->work = side->lane.prepare(side->plan);
    lanes.push_back(&side->lane);
    works.push_back(side->work.get());
  }
  DeviceLane::connect(lanes);
  LaneWork::join(works);
}

void PeerLanesRig::letGo() { std::atomic_ref<int>(*flag_.data()).store(1); }

void PeerLanesRig::Side::launch(std::int32_t, std::span<const std::int32_t> numbers,
                                std::span<const DeviceStream> streams) {
  std::vector<std::int32_t> ofCase;
  for (const std::int32_t n : numbers) ofCase.push_back(tasks[static_cast<std::size_t>(n)]);
  const auto parts = static_cast<std::int32_t>(streams.size());
  for (std::int32_t part = 0; part < parts; ++part) {
    const DeviceStream stream = streams[static_cast<std::size_t>(part)];
    if (std::find(ofCase.begin(), ofCase.end(), rig.heldTask_) != ofCase.end())
      putSpin(device, stream, rig.flag_.data());
    putDigest(device, stream, rig.patches_.data(), ofCase, {part, parts});
  }
}

void PeerLanesRig::begin() {
  arm();
  for (std::size_t n = 0; n < laneCount(); ++n) begin(n);
}

void PeerLanesRig::begin(std::size_t n) { sides_[n]->lane.begin(*sides_[n]->work, *sides_[n]); }

void PeerLanesRig::arm() {
  std::vector<DeviceLane*> lanes;
  for (auto& side : sides_) lanes.push_back(&side->lane);
  DeviceLane::crossDeviceBarrier(lanes);
  ended_ = 0;
  for (std::size_t n = 0; n < missing_.size(); ++n) missing_[n] = drawn_.hostPredecessors[n];
}

void PeerLanesRig::submit(std::int32_t task) {
  const auto n = static_cast<std::size_t>(task);
  lane(static_cast<std::size_t>(laneOf_[n])).submit(numberOf_[n]);
}

void PeerLanesRig::ended(std::int32_t task) {
  for (const std::int32_t next : drawn_.hostSuccessors[static_cast<std::size_t>(task)]) {
    if (missing_[static_cast<std::size_t>(next)].fetch_sub(1) == 1) submit(next);
  }
  ++ended_;
}

std::size_t PeerLanesRig::serve(std::size_t n) {
  std::size_t count = 0;
  Side& side = *sides_[n];
  side.lane.serve([&](std::int32_t task) {
    ended(side.tasks[static_cast<std::size_t>(task)]);
    ++count;
  });
  return count;
}

void PeerLanesRig::runStep(int threads) {
  begin();
  const std::size_t count = laneOf_.size();
  const auto serveAll = [&](std::size_t first) {
    for (std::size_t n = first; ended_.load() < count; ++n) serve(n % laneCount());
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread)
    others.emplace_back(serveAll, static_cast<std::size_t>(thread));
  for (std::size_t n = 0; n < count; ++n) {
    if (drawn_.hostPredecessors[n] == 0) submit(static_cast<std::int32_t>(n));
  }
  serveAll(0);
  for (std::thread& other : others) other.join();
}

void PeerLanesRig::expectRightDigests() {
  for (auto& side : sides_) side->lane.synchronize();
  std::vector<std::uint64_t> right(laneOf_.size() * kDigits, 0);
  for (std::size_t n = 0; n < laneOf_.size(); ++n) {
    const DigestPatch patch{right.data(), predecessors_[n].data(),
                            static_cast<std::int32_t>(predecessors_[n].size()), static_cast<std::int32_t>(n)};
    for (std::int64_t d = 0; d < kDigits; ++d) Digest{}(patch, Index{d, 0, 0});
  }
  for (std::size_t n = 0; n < right.size(); ++n) {
    ASSERT_EQ(digits_.data()[n], right[n]) << "digit " << n % kDigits << " of task " << n / kDigits;
  }
  std::fill_n(digits_.data(), right.size(), 0);
}

}  // namespace tessera::test
