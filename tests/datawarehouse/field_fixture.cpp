#include "tests/datawarehouse/field_fixture.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "core/transport/loopback_transport.hpp"

namespace tessera::test {

FieldOutput FieldSample::output(std::int64_t step, int rank, int ranks) const {
  FieldOutput out;
  out.step = step;
  out.time = 0.25 * static_cast<double>(step);
  out.dt = 0.125;
  out.origin = {-1.0, 0.0, 2.0};
  out.refinementRatio = {2};
  OutputLevel coarse{{0.5, 0.25, 1.0}, {{0, 0, 0}, {8, 4, 1}}, {}, {}};
  for (std::int64_t at = 0; at < 8; at += patchCells) {
    coarse.patches.push_back({{at, 0, 0}, {std::min<std::int64_t>(at + patchCells, 8), 4, 1}});
  }
  OutputLevel fine{{0.25, 0.125, 1.0}, {{0, 0, 0}, {16, 8, 1}}, {}, {}};
  fine.patches = {{{4, 2, 0}, {9, 6, 1}}, {{9, 2, 0}, {12, 6, 1}}};
  out.levels = {coarse, fine};
  for (OutputLevel& level : out.levels) {
    for (std::int64_t p = 0; p < static_cast<std::int64_t>(level.patches.size()); ++p) {
      if (p % ranks == rank) level.mine.push_back(p);
    }
  }
  out.fields = {{"density", "kg/m^3", 1, Centering::Cell},
                {"velocity", "m/s", 2, Centering::Cell},
                {"potential", "", 1, Centering::Node},
                {"flux", "kg/m^2/s", 1, Centering::FaceX}};
  out.codeVersion = "0.1.0";
  out.periodic = {true, false, true};
  out.revision = "1a2b3c4";
  out.deckSha256 = "0123abcd";
  out.runId = "run";
  return out;
}

double FieldSample::value(std::size_t field, std::size_t level, Index x, std::int64_t component) {
  return static_cast<double>(field + 1) * 4096.0 + static_cast<double>(level) * 2048.0 +
         static_cast<double>(x.j) * 64.0 + static_cast<double>(x.k) * 32.0 + static_cast<double>(x.i) +
         0.25 * static_cast<double>(component);
}

FillPatch FieldSample::fill(const FieldOutput& output) const {
  return [&output](std::size_t level, std::int64_t patch, std::size_t field, std::span<double> values) {
    const OutputField& what = output.fields[field];
    const Box box = valueBox(output.levels[level].patches[static_cast<std::size_t>(patch)], what.centering);
    std::size_t n = 0;
    for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
      for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
        for (std::int64_t i = box.lo.i; i < box.hi.i; ++i) {
          for (std::int32_t c = 0; c < what.components; ++c) values[n++] = value(field, level, {i, j, k}, c);
        }
      }
    }
  };
}

FieldWriteResult FieldSample::write(const std::filesystem::path& folder, std::int64_t step, int ranks,
                                    FieldPrecision precision, FaultPlan* faults) const {
  std::vector<FieldWriteResult> results(static_cast<std::size_t>(ranks));
  LoopbackWorld world(ranks);
  runRanks(world, [&](Transport& transport) {
    FieldWriter writer(transport, {.folder = folder, .precision = precision, .faults = faults});
    const FieldOutput mine = output(step, transport.rank(), ranks);
    results[static_cast<std::size_t>(transport.rank())] = writer.write(mine, fill(mine));
  });
  for (const FieldWriteResult& result : results) {
    EXPECT_EQ(result.written, results.front().written);
    EXPECT_EQ(result.failure, results.front().failure);
    EXPECT_EQ(result.bytes, results.front().bytes);
  }
  return results.front();
}

}  // namespace tessera::test
