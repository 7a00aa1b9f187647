#include "tests/scheduler/device/body_rig.hpp"

#include <bit>
#include <random>

namespace tessera::test {

BodyRig::BodyRig(Extent cells, Extent pieces, std::vector<Use> uses, std::int32_t reductions)
    : hierarchy_(Hierarchy::uniform({{}, {1.0, 2.0, 0.5}, cells, {}}, {Division::By::Patches, pieces})),
      reductions_(reductions),
      usesEach_(uses.size()) {
  const Level& level = hierarchy_->level(0);
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> values(0.5, 3.0);
  std::size_t begin = 0;
  for (const Patch& patch : level.patches()) {
    for (const Use& use : uses) {
      const Box owned = level.closedBox(patch, use.centering);
      Window window{use, static_cast<std::int32_t>(patch.id), {}, {}, begin, {}, {}};
      window.plain = Layout(grow(owned, level.effectiveHalo(use.halo)), cells.j == 1, cells.k == 1);
      window.aligned = alignRows(window.plain, owned);
      window.start.resize(static_cast<std::size_t>(window.plain.elements()));
      for (double& value : window.start) value = values(random);
      begin += static_cast<std::size_t>(window.aligned.elements + 3) / 4 * 4;
      windows_.push_back(std::move(window));
    }
  }
}

void BodyRig::startOnCpu() {
  for (Window& window : windows_) window.cpu = window.start;
  contributions_.assign(static_cast<std::size_t>(patchCount() * reductions_), {});
  sums_.assign(contributions_.size(), {});
}

std::size_t BodyRig::deviceElements() const {
  return windows_.back().begin + static_cast<std::size_t>(windows_.back().aligned.elements);
}

std::vector<double> BodyRig::startOnDevice() const {
  std::vector<double> memory(deviceElements(), -7.0);
  for (const Window& window : windows_) {
    double* data = memory.data() + window.begin + window.aligned.lead;
    forEachInWindow(window,
                    [&](Index x) { data[window.aligned.layout.at(x)] = window.start[at(window.plain, x)]; });
  }
  return memory;
}

void BodyRig::frameFor(std::int32_t patch, Side side, double* memory) {
  accesses_.clear();
  for (Window& window : windows_) {
    if (window.patch != patch) continue;
    TaskAccess access;
    access.mode = window.use.mode;
    access.label = window.use.label;
    access.layout = side == cpu_ ? window.plain : window.aligned.layout;
    double* data = side == cpu_ ? window.cpu.data() : memory + window.begin + window.aligned.lead;
    access.data = reinterpret_cast<std::byte*>(data);
    accesses_.push_back(access);
  }
  frame_ = {};
  frame_.task = "Test::body";
  frame_.patch = &hierarchy_->patch(patch);
  frame_.level = &hierarchy_->level(0);
  frame_.hierarchy = hierarchy_.get();
  frame_.labels = &labels_;
  frame_.accesses = accesses_;
  frame_.contributions =
      std::span(contributions_)
          .subspan(static_cast<std::size_t>(patch * reductions_), static_cast<std::size_t>(reductions_));
  for (std::int32_t n = 0; n < reductions_; ++n) {
    ExactSum& sum = sums_[static_cast<std::size_t>(patch * reductions_ + n)];
    sum = {};
    frame_.contributions[static_cast<std::size_t>(n)] = {n, 0.0, &sum, false};
  }
  frame_.dt = 1e-3;
}

void BodyRig::compareWindows(const std::vector<double>& device) const {
  for (const Window& window : windows_) {
    const double* data = device.data() + window.begin + window.aligned.lead;
    bool same = true;
    forEachInWindow(window, [&](Index x) {
      const double got = data[window.aligned.layout.at(x)];
      const double right = window.cpu[at(window.plain, x)];
      if (same && std::bit_cast<std::uint64_t>(got) != std::bit_cast<std::uint64_t>(right)) {
        same = false;
        ADD_FAILURE() << "label " << window.use.label << " of patch " << window.patch << " at " << asText(x)
                      << ": " << got << ", on the CPU " << right;
      }
    });
  }
}

void BodyRig::compareContributions(const Contributions& right) const {
  ASSERT_EQ(contributions_.size(), right.each.size());
  for (std::size_t n = 0; n < right.each.size(); ++n) {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    EXPECT_TRUE(contributions_[n].given);
    EXPECT_EQ(bits(contributions_[n].value), bits(right.each[n].value))
        << "reduction " << n << ": " << contributions_[n].value << ", on the CPU " << right.each[n].value;
    EXPECT_EQ(bits(sums_[n].value()), bits(right.sums[n].value())) << "sum " << n;
  }
}

}  // namespace tessera::test
