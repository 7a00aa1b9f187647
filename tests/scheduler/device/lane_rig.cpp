#include "tests/scheduler/device/lane_rig.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

namespace tessera::test {

LaneRig::LaneRig(DeviceBackend& device, LanePlan plan)
    : device_(device),
      plan_(std::move(plan)),
      stream_(device.makeStream()),
      predecessors_(plan_.tasks.size()),
      digits_(device, plan_.tasks.size() * kDigits),
      lists_(device, plan_.edges.size() + 1),
      patches_(device, plan_.tasks.size()),
      flag_(device, 1, DeviceSpace::PinnedHost) {
  for (const auto& [first, then] : plan_.edges)
    predecessors_[static_cast<std::size_t>(then)].push_back(first);
  std::vector<std::int32_t> lists;
  std::vector<DigestPatch> patches;
  for (std::size_t n = 0; n < plan_.tasks.size(); ++n) {
    const std::vector<std::int32_t>& before = predecessors_[n];
    patches.push_back({digits_.data(), lists_.data() + lists.size(), static_cast<std::int32_t>(before.size()),
                       static_cast<std::int32_t>(n)});
    lists.insert(lists.end(), before.begin(), before.end());
  }
  lists.push_back(0);
  lists_.set(stream_, lists);
  patches_.set(stream_, patches);
  *flag_.data() = 0;
  clear();
}

void LaneRig::clear() { digits_.set(stream_, std::vector<std::uint64_t>(plan_.tasks.size() * kDigits, 0)); }

void LaneRig::letGo() { std::atomic_ref<int>(*flag_.data()).store(1); }

void LaneRig::launch(std::int32_t, std::span<const std::int32_t> tasks,
                     std::span<const DeviceStream> streams) {
  const auto parts = static_cast<std::int32_t>(streams.size());
  for (std::int32_t part = 0; part < parts; ++part) {
    const DeviceStream stream = streams[static_cast<std::size_t>(part)];
    if (part == heldPart_ || std::find(tasks.begin(), tasks.end(), heldTask_) != tasks.end()) {
      putSpin(device_, stream, flag_.data());
    }
    putDigest(device_, stream, patches_.data(), tasks, {part, parts});
  }
}

std::vector<std::int32_t> LaneRig::serveUntil(DeviceLane& lane, std::size_t count) {
  std::vector<std::int32_t> ended;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (ended.size() < count && std::chrono::steady_clock::now() < end) {
    lane.serve([&](std::int32_t task) { ended.push_back(task); });
  }
  return ended;
}

std::vector<std::uint64_t> LaneRig::rightDigests() const {
  std::vector<std::uint64_t> digits(plan_.tasks.size() * kDigits, 0);
  for (std::size_t n = 0; n < plan_.tasks.size(); ++n) {
    const DigestPatch patch{digits.data(), predecessors_[n].data(),
                            static_cast<std::int32_t>(predecessors_[n].size()), static_cast<std::int32_t>(n)};
    for (std::int64_t d = 0; d < kDigits; ++d) Digest{}(patch, Index{d, 0, 0});
  }
  return digits;
}

void LaneRig::expectRightDigests() {
  const std::vector<std::uint64_t> got = digits_.get(stream_);
  const std::vector<std::uint64_t> right = rightDigests();
  for (std::size_t n = 0; n < right.size(); ++n) {
    ASSERT_EQ(got[n], right[n]) << "digit " << n % kDigits << " of task " << n / kDigits;
  }
}

RandomLaneCase drawLaneCase(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int32_t>(random() % n); };
  RandomLaneCase drawn;
  drawn.options.streams = 1 + below(4);
  drawn.options.largestBatch = below(3) == 0 ? 1 : 1 + below(20);
  const std::int32_t kinds = 1 + below(4);
  std::vector<std::int32_t> parts;
  std::vector<bool> urgent;
  for (std::int32_t n = 0; n < kinds; ++n) {
    parts.push_back(1 + below(static_cast<std::uint32_t>(drawn.options.streams)));
    urgent.push_back(parts.back() == 1 && below(2) == 0);
  }
  const std::int32_t count = 20 + below(60);
  drawn.hostSuccessors.resize(static_cast<std::size_t>(count));
  drawn.hostPredecessors.resize(static_cast<std::size_t>(count));
  std::vector<std::int32_t> last;
  for (std::int32_t n = 0; n < count; ++n) {
    const std::int32_t kind = below(static_cast<std::uint32_t>(kinds));
    const auto k = static_cast<std::size_t>(kind);
    drawn.plan.tasks.push_back({kind, parts[k], true, urgent[k]});
    std::vector<std::int32_t> before;
    for (std::int32_t edges = n == 0 ? 0 : below(4); edges > 0; --edges) {
      before.push_back(std::max(0, n - 1 - below(8)));
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    // Where several wait for the same ones, a lane has them wait together.
    if (below(2) == 0 && !last.empty()) before = last;
    last = before;
    for (const std::int32_t first : before) {
      drawn.plan.edges.push_back({first, n});
      if (below(4) == 0) {
        drawn.hostSuccessors[static_cast<std::size_t>(first)].push_back(n);
        ++drawn.hostPredecessors[static_cast<std::size_t>(n)];
      }
    }
  }
  return drawn;
}

void runStep(DeviceLane& lane, const RandomLaneCase& drawn, int threads) {
  const std::size_t count = drawn.plan.tasks.size();
  std::vector<std::atomic<std::int32_t>> missing(count);
  std::atomic<std::size_t> ended{0};
  for (std::size_t n = 0; n < count; ++n) missing[n] = drawn.hostPredecessors[n];
  const auto serve = [&] {
    while (ended.load() < count) {
      lane.serve([&](std::int32_t task) {
        for (const std::int32_t next : drawn.hostSuccessors[static_cast<std::size_t>(task)]) {
          if (missing[static_cast<std::size_t>(next)].fetch_sub(1) == 1) lane.submit(next);
        }
        ++ended;
      });
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(serve);
  for (std::size_t n = 0; n < count; ++n) {
    if (drawn.hostPredecessors[n] == 0) lane.submit(static_cast<std::int32_t>(n));
  }
  serve();
  for (std::thread& other : others) other.join();
}

}  // namespace tessera::test
