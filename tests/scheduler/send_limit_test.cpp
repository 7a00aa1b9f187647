#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

#include "tests/scheduler/runtime_rig.hpp"

namespace tessera {
namespace {

using test::RunShape;
using Bits = std::vector<double>;

/// A mesh and two variables with halos that a seed gives; each step mixes them with their neighbours.
class RandomMixture {
 public:
  explicit RandomMixture(std::uint64_t seed) {
    SeededNumbers numbers(seed);
    const auto draw = [&](std::int64_t from, std::int64_t to) {
      return from + static_cast<std::int64_t>(numbers.below(static_cast<std::size_t>(to - from + 1)));
    };
    Geometry geometry;
    geometry.cells = {draw(4, 12), draw(4, 12), draw(1, 3)};
    geometry.periodic = {numbers.below(2) == 0, numbers.below(2) == 0, true};
    hierarchy_ = Hierarchy::uniform(
        geometry, {Division::By::PatchSize, {draw(1, 4), draw(2, 4), draw(1, geometry.cells.k)}});
    u_ = labels_.variable<double, Cell>("u");
    v_ = labels_.variable<double, Cell>("v");
    for (const auto label : {u_, v_})
      labels_.setBoundary(label, BoundaryConditions::everywhere(BoundaryKind::Outflow));
    declareInitial();
    declareStep(static_cast<int>(draw(1, 3)), static_cast<int>(draw(1, 2)));
  }

  /// The values of all patches after three steps, and of the last reduction.
  Bits after(const RunShape& shape, std::int64_t* mostSends = nullptr) const {
    std::mutex mutex;
    std::map<PatchId, Bits> values;
    Bits total(1);
    const std::int64_t most = test::runOnRanks(shape, hierarchy_, labels_, {&initial_, &step_},
                                               [&](StepRunner& runner, DataWarehouse& data, Transport&) {
                                                 runner.run(0, {});
                                                 StepResult result;
                                                 for (std::int64_t s = 1; s <= 3; ++s)
                                                   result = runner.run(1, {0.0, 0.1, s, {}});
                                                 const std::lock_guard lock(mutex);
                                                 total[0] =
                                                     result.reductions[static_cast<std::size_t>(total_.id)];
                                                 for (const auto label : {u_, v_})
                                                   take(data, label.id, values);
                                               });
    if (mostSends != nullptr) *mostSends = most;
    for (const auto& [patch, bits] : values) total.insert(total.end(), bits.begin(), bits.end());
    return total;
  }

 private:
  static void take(const DataWarehouse& data, LabelId label, std::map<PatchId, Bits>& values) {
    for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
      Bits packed(static_cast<std::size_t>(data.ownedBox(label, local).volume()));
      data.packOwned(label, local, std::as_writable_bytes(std::span(packed)));
      Bits& all = values[data.ownPatches()[local]];
      all.insert(all.end(), packed.begin(), packed.end());
    }
  }

  void declareInitial() {
    initial_.task("Mix::initial").writes(u_).writes(v_).runs<Cpu>([u = u_, v = v_](const auto& task) {
      const auto outU = task.write(u);
      const auto outV = task.write(v);
      forEach(task.exec(), "initial", task.interior(), [=](Index x) {
        outU(x) = 1.0 / static_cast<double>(1 + x.i + 13 * x.j + 7 * x.k);
        outV(x) = 0.5 * outU(x);
      });
    });
  }

  void declareStep(int haloOfOld, int haloOfNew) {
    step_.task("Mix::u")
        .reads(Old, u_, halo(haloOfOld))
        .reads(Old, v_)
        .writes(u_)
        .runs<Cpu>([u = u_, v = v_, h = haloOfOld](const auto& task) {
          const auto in = task.read(Old, u);
          const auto other = task.read(Old, v);
          const auto out = task.write(u);
          const double dt = task.dt();
          forEach(task.exec(), "u", task.interior(), [=](Index x) {
            out(x) =
                in(x) + dt * (in({x.i - h, x.j, x.k}) + in({x.i, x.j + h, x.k}) - 2.0 * in(x) + other(x));
          });
        });
    step_.task("Mix::v")
        .reads(New, u_, halo(haloOfNew))
        .reads(Old, v_)
        .writes(v_)
        .contributes(total_, Sum)
        .runs<Cpu>([u = u_, v = v_, total = total_, h = haloOfNew](const auto& task) {
          const auto in = task.read(New, u);
          const auto old = task.read(Old, v);
          const auto out = task.write(v);
          forEach(task.exec(), "v", task.interior(), [=](Index x) {
            out(x) = 0.25 * old(x) + in({x.i + h, x.j, x.k}) - 0.3 * in({x.i, x.j - h, x.k});
          });
          task.contribute(total,
                          reduce(task.exec(), "t", task.interior(), Sum, [=](Index x) { return in(x); }));
        });
  }

  std::shared_ptr<const Hierarchy> hierarchy_;
  LabelTable labels_;
  Label<double, Cell> u_;
  Label<double, Cell> v_;
  ReductionLabel total_ = labels_.reduction("total");
  StepPlan initial_{"initial"};
  StepPlan step_{"step"};
};

TEST(SendLimit, RandomGraphsGiveTheSameBitsUnderAnyLimitOnEveryExecutor) {
  std::int64_t mostWithoutLimit = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const RandomMixture mixture(seed);
    const Bits expected = mixture.after({});
    for (const SendLimit limit : {SendLimit{1}, SendLimit{2}, SendLimit{64, 1}, SendLimit{}}) {
      RunShape shapes[] = {{.ranks = 5}, {.ranks = 3, .threads = 2, .delaySeed = seed}, {.ranks = 4}};
      shapes[2].schedule = seed;
      for (RunShape& shape : shapes) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(shape.ranks) + " ranks, " +
                     std::to_string(limit.messages) + " messages, " + std::to_string(limit.bytes) + " bytes");
        shape.sends = limit;
        shape.proves = limit.messages == 1;  // a limit changes no graph
        std::int64_t most = 0;
        const Bits got = mixture.after(shape, &most);
        ASSERT_EQ(got.size(), expected.size());
        ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(double)), 0);
        if (limit.bytes == 1) {
          ASSERT_LE(most, 1) << "the bytes of two messages are more than one";
        } else {
          ASSERT_LE(most, limit.messages);
        }
        if (limit.messages == 64) mostWithoutLimit = std::max(mostWithoutLimit, most);
      }
    }
  }
  EXPECT_GT(mostWithoutLimit, 2) << "the limits had nothing to hold back";
}

}  // namespace
}  // namespace tessera
