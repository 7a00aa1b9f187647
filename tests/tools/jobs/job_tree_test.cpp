// An octree that jobs build has the bits of the one that a thread of the host builds.
#include "tools/jobs/cluster/job_tree.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "core/philox.hpp"
#include "scheduler/jobs/job_runner.hpp"
#include "tests/tools/jobs/job_folder.hpp"
#include "tools/jobs/cluster/octree.hpp"

namespace tessera::jobs {
namespace {

/// Points in a few clumps; some lie at one place.
std::vector<MassPoint> clumps(std::uint32_t count) {
  std::vector<MassPoint> points;
  for (std::uint32_t n = 0; n < count; ++n) {
    const PhiloxWords words = philox({n / (n % 7 == 0 ? 20 : 1), 0, 0, 0}, {11, 0});
    const double spread = n % 3 == 0 ? 1.0 : 0.01;
    points.push_back({{spread * unitReal(words.x), spread * unitReal(words.y), unitReal(words.z)},
                      0.5 + unitReal(words.w)});
  }
  return points;
}

TEST(JobTrees, TheyHaveTheBitsOfTheHostsTree) {
  for (const std::uint32_t count : {1U, 3U, 500U}) {
    const std::vector<MassPoint> points = clumps(count);
    for (const std::int32_t leaf : {2, 8}) {
      const Octree expected(points, leaf);
      for (const auto& [threads, emulated] : {std::pair{2, 0}, {1, 2}}) {
        SCOPED_TRACE(std::to_string(count) + " points, leaf " + std::to_string(leaf) + ", threads " +
                     std::to_string(threads) + ", emulated devices " + std::to_string(emulated));
        JobRunner runner(test::devicesOf(threads, emulated));
        JobTree tree(count, leaf, [&](Job& job) {
          const std::size_t number = runner.add(job);
          runner.run();
          runner.forget(number);
        });
        tree.build(points);
        ASSERT_EQ(tree.cellCount(), std::ssize(expected.cells()));
        for (std::int64_t n = 0; n < count; ++n)
          ASSERT_EQ(tree.pointAt(n), static_cast<std::size_t>(expected.order()[static_cast<std::size_t>(n)]));
        for (std::int32_t n = 0; n < tree.cellCount(); ++n) {
          const TreeCell& cell = tree.cells()({n, 0, 0});
          const TreeCell& right = expected.cells()[static_cast<std::size_t>(n)];
          ASSERT_EQ(std::memcmp(&cell.mean, &right.mean, sizeof(cell.mean)), 0) << "cell " << n;
          ASSERT_EQ(std::memcmp(cell.quadrupole.of, right.quadrupole.of, sizeof(cell.quadrupole.of)), 0);
          ASSERT_EQ(cell.middle, right.middle);
          ASSERT_EQ(cell.side, right.side);
          ASSERT_EQ(std::vector({cell.next, cell.first, cell.count}),
                    std::vector({right.next, right.first, right.count}));
        }
      }
    }
  }
}

TEST(JobTrees, AClusterMovesAsWithTheHostsTree) {
  const test::DeckResult direct("cluster_direct",
                                {"barnes_hut.tree='jobs'", "barnes_hut.stars=300", "job.expect=[]"});
  EXPECT_EQ(direct.code, 0) << direct.screen;
  const test::DeckResult host("cluster_direct", {"barnes_hut.stars=300", "job.expect=[]"});
  EXPECT_EQ(test::contentOf(direct.folder.at("out/forces.csv")),
            test::contentOf(host.folder.at("out/forces.csv")));
}

}  // namespace
}  // namespace tessera::jobs
