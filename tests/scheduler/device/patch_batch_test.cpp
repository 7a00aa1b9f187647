#include "scheduler/device/loops/patch_batch.hpp"

#include <bit>
#include <numeric>
#include <random>

#include <gmock/gmock.h>

#include "datawarehouse/moves/aligned_layout.hpp"
#include "tests/scheduler/device/claim_kernels.hpp"
#include "tests/scheduler/device/device_rig.hpp"

namespace tessera {
namespace {

using test::OnDevice;
using test::StencilPatch;

/// Patches of a few shapes, each with a window one cell wider on all sides, one after the other in memory.
class StencilCase {
 public:
  explicit StencilCase(std::vector<Box> boxes) : boxes_(std::move(boxes)) {
    for (const Box& box : boxes_) {
      const AlignedLayout aligned = alignRows(Layout(grow(box, uniformHalo(1)), false, false), box);
      layouts_.push_back(aligned.layout);
      windows_.push_back(elements_);
      begins_.push_back(elements_ + static_cast<std::size_t>(aligned.lead));
      elements_ += static_cast<std::size_t>(aligned.elements);
    }
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> values(-3.0, 5.0);
    for (std::size_t n = 0; n < elements_; ++n) from_.push_back(values(random));
  }

  std::size_t elements() const { return elements_; }
  const std::vector<Box>& boxes() const { return boxes_; }
  const std::vector<double>& from() const { return from_; }
  std::vector<BatchPatch<StencilPatch>> patches(const double* from, double* to) const {
    std::vector<BatchPatch<StencilPatch>> patches;
    for (std::size_t n = 0; n < boxes_.size(); ++n) {
      const std::size_t end = n + 1 < boxes_.size() ? windows_[n + 1] : elements_;
      patches.push_back({boxes_[n],
                         {{from + begins_[n], layouts_[n]}, {to + begins_[n], layouts_[n]}},
                         {{from + windows_[n], static_cast<std::int64_t>((end - windows_[n]) * 8)}}});
    }
    return patches;
  }
  /// What the CPU's loop makes of these patches; -1 elsewhere.
  std::vector<double> onCpu(const std::vector<std::int32_t>& tasks) const {
    std::vector<double> to(elements_, -1.0);
    step(from_, to, tasks);
    return to;
  }
  void step(const std::vector<double>& from, std::vector<double>& to,
            const std::vector<std::int32_t>& tasks) const {
    const auto all = patches(from.data(), to.data());
    for (const std::int32_t task : tasks) {
      const auto& patch = all[static_cast<std::size_t>(task)];
      forEach(Cpu{}, "", patch.box, [&](Index x) { test::SevenPoint{}(patch.arguments, x); });
    }
  }

 private:
  std::vector<Box> boxes_;
  std::vector<Layout> layouts_;
  std::vector<std::size_t> windows_;
  std::vector<std::size_t> begins_;  ///< of the layouts, whose first rows may start inside the windows
  std::size_t elements_ = 0;
  std::vector<double> from_;
};

class PatchBatchClaims : public test::OnEachDevice {
 protected:
  /// The stencil over `tasks`, in `parts` launches.
  static std::vector<double> onDevice(const StencilCase& stencil, const std::vector<std::int32_t>& tasks,
                                      std::int32_t parts, PatchOrder order = PatchOrder::Rising) {
    const auto device = makeDevice();
    const DeviceStream stream = device->makeStream();
    OnDevice<double> from(*device, stencil.elements());
    OnDevice<double> to(*device, stencil.elements());
    OnDevice<BatchPatch<StencilPatch>> table(*device, stencil.boxes().size());
    from.set(stream, stencil.from());
    to.set(stream, std::vector<double>(stencil.elements(), -1.0));
    table.set(stream, stencil.patches(from.data(), to.data()));
    for (std::int32_t part = 0; part < parts; ++part) {
      test::putStencil(*device, stream, {table.data(), shapeBlocks(stencil.boxes(), parts)}, tasks,
                       {part, parts}, order);
    }
    return to.get(stream);
  }
  static void expectSameBits(const std::vector<double>& got, const std::vector<double>& right) {
    for (std::size_t n = 0; n < right.size(); ++n) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(got[n]), std::bit_cast<std::uint64_t>(right[n])) << n;
    }
  }
};

std::vector<Box> unevenBoxes() {
  return {{{0, 0, 0}, {32, 32, 32}},   {{-5, 3, 7}, {12, 20, 16}}, {{100, 0, 0}, {101, 1, 1}},
          {{0, 0, 0}, {65, 9, 3}},     {{0, 0, 0}, {31, 33, 17}},  {{0, 0, 0}, {1, 40, 2}},
          {{10, 10, 10}, {10, 12, 12}}};
}

TEST_P(PatchBatchClaims, OneLaunchOverUnevenPatchesHasTheBitsOfTheCpu) {
  const StencilCase stencil(unevenBoxes());
  std::vector<std::int32_t> tasks(stencil.boxes().size());
  std::iota(tasks.begin(), tasks.end(), 0);

  expectSameBits(onDevice(stencil, tasks, 1), stencil.onCpu(tasks));
}

TEST_P(PatchBatchClaims, ABatchWithGapsTouchesItsOwnPatchesOnly) {
  const StencilCase stencil(unevenBoxes());
  const std::vector<std::int32_t> tasks{0, 3, 4};

  expectSameBits(onDevice(stencil, tasks, 1), stencil.onCpu(tasks));
}

TEST_P(PatchBatchClaims, AFallingOrderHasTheSameBits) {
  const StencilCase stencil(unevenBoxes());
  const std::vector<std::int32_t> all{0, 1, 2, 3, 4, 5, 6};
  const std::vector<std::int32_t> gaps{1, 4, 6};

  expectSameBits(onDevice(stencil, all, 1, PatchOrder::Falling), stencil.onCpu(all));
  expectSameBits(onDevice(stencil, gaps, 1, PatchOrder::Falling), stencil.onCpu(gaps));
}

// A launch may start while the one before it ends, and what it reads has been in the caches of an earlier
// launch with older values. The windows are small enough to stay there. Between the steps is a launch all of
// whose patches are empty, which has to wait like any other.
TEST_P(PatchBatchClaims, EachLaunchOfAChainReadsWhatTheLastOneWrote) {
  std::vector<Box> boxes(isCuda() ? 300 : 20, {{0, 0, 0}, {18, 11, 9}});
  boxes.push_back({{0, 0, 0}, {0, 0, 0}});
  const StencilCase stencil(boxes);
  const auto last = static_cast<std::int32_t>(boxes.size()) - 1;
  const std::vector<std::int32_t> empty{last};
  std::vector<std::int32_t> there(static_cast<std::size_t>(last));
  std::iota(there.begin(), there.end(), 0);

  const auto device = makeDevice();
  const DeviceStream stream = device->makeStream();
  OnDevice<double> a(*device, stencil.elements());
  OnDevice<double> b(*device, stencil.elements());
  OnDevice<BatchPatch<StencilPatch>> forth(*device, boxes.size());
  OnDevice<BatchPatch<StencilPatch>> back(*device, boxes.size());
  std::vector<double> right = stencil.from();
  std::vector<double> other = stencil.from();
  a.set(stream, right);
  b.set(stream, other);
  forth.set(stream, stencil.patches(a.data(), b.data()));
  back.set(stream, stencil.patches(b.data(), a.data()));
  const BlockShape shape = shapeBlocks(boxes);
  const int steps = isCuda() ? 400 : 6;
  for (int step = 0; step < steps; ++step) {
    const auto* table = step % 2 == 0 ? forth.data() : back.data();
    test::putStencil(*device, stream, {table, shape}, there, {},
                     step % 3 == 0 ? PatchOrder::Falling : PatchOrder::Rising);
    test::putStencil(*device, stream, {table, shape}, empty);
    stencil.step(right, other, there);
    std::swap(right, other);
  }

  expectSameBits(steps % 2 == 0 ? a.get(stream) : b.get(stream), right);
}

TEST_P(PatchBatchClaims, PartsTogetherAreTheWhole) {
  const StencilCase stencil(unevenBoxes());
  std::vector<std::int32_t> tasks(stencil.boxes().size());
  std::iota(tasks.begin(), tasks.end(), 0);

  expectSameBits(onDevice(stencil, tasks, 5), stencil.onCpu(tasks));
}

TEST_P(PatchBatchClaims, ALongListWithGapsIsCutIntoSeveralLaunches) {
  const StencilCase stencil(std::vector<Box>(3000, {{0, 0, 0}, {2, 2, 2}}));
  std::vector<std::int32_t> tasks;
  for (std::int32_t n = 0; n < 3000; n += 2) tasks.push_back(n);

  expectSameBits(onDevice(stencil, tasks, 1), stencil.onCpu(tasks));
}

TEST_P(PatchBatchClaims, LinesAndPlanesAreBoxesToo) {
  const StencilCase stencil({{{0, 0, 0}, {1000, 1, 1}}, {{0, 0, 0}, {17, 1, 1}}});

  expectSameBits(onDevice(stencil, {0, 1}, 1), stencil.onCpu({0, 1}));
}

INSTANTIATE_TEST_SUITE_P(Kinds, PatchBatchClaims, testing::ValuesIn(test::deviceKinds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tessera
