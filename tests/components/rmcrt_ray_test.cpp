// What a ray takes on its way, and how rays are summed.
#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "components/rmcrt/ray_batch.hpp"

namespace tessera::test {
namespace {

/// In a cell of which the first face is 0.2 ahead.
RayWalk walkInCell() { return {0.3, 1.0, 2.0, 1.0, 1.0, 1.0, 5.0, 0.1, 0.7, 0.125, 0.0}; }

TEST(Ray, TakesWhatACellSendsMoreThanItsStartWithAllBits) {
  RayWalk walk = walkInCell();
  walk.pass(0.9, 1.1, 0.2);

  const double through = std::exp(-0.9 * 0.2);
  EXPECT_NEAR(walk.sum, 0.125 + 0.9 * 0.7 * (1.0 - through), 4e-16);
  EXPECT_NEAR(walk.transmitted, 0.7 * through, 2e-16);
  EXPECT_DOUBLE_EQ(walk.at, 0.3);
}

TEST(Ray, IsScatteredAtItsOpticalDepth) {
  RayWalk walk = walkInCell();
  walk.toScatter = 0.05;
  walk.pass(0.9, 1.1, 0.5, 0.2);

  EXPECT_NEAR(walk.at, 0.1 + 0.05 / 0.5, 1e-16);
  EXPECT_EQ(walk.toScatter, 0.0);
  EXPECT_NEAR(walk.sum, 0.125 + 0.9 * 0.7 * (1.0 - std::exp(-0.9 * 0.1)), 4e-16);
}

TEST(RayParts, HoldEachRayOnce) {
  for (const std::uint32_t rays : {1U, 15U, 16U, 37U, 1U << 30}) {
    EXPECT_EQ(RayParts::begin(0, rays), 0U);
    EXPECT_EQ(RayParts::begin(RayParts::kCount, rays), rays);
    for (int part = 0; part < RayParts::kCount; ++part) {
      const std::uint32_t of = RayParts::begin(part + 1, rays) - RayParts::begin(part, rays);
      EXPECT_LE(of, rays / RayParts::kCount + 1U);
      EXPECT_GE(of, rays / RayParts::kCount);
    }
  }
}

/// A third of each number, which no double is.
double numberOf(std::uint32_t ray) { return (ray + 1.0) / 3.0; }

double sumOf(std::uint32_t rays, RayParts parts) {
  RaySums sums(rays, parts);
  for (std::uint32_t n = RayParts::begin(parts.first, rays); n < RayParts::begin(parts.last, rays); ++n)
    if (sums.add(numberOf(n))) return sums.take();
  return 0.0;
}

TEST(RaySums, ArePartsInTheirOrder) {
  for (const std::uint32_t rays : {3U, 16U, 100U}) {
    double sum = 0.0;
    double parts = 0.0;
    for (int part = 0; part < RayParts::kCount; ++part) {
      double ofPart = 0.0;
      for (std::uint32_t n = RayParts::begin(part, rays); n < RayParts::begin(part + 1, rays); ++n)
        ofPart += numberOf(n);
      sum += ofPart;
      parts += sumOf(rays, {part, part + 1});
    }
    EXPECT_EQ(sumOf(rays, {}), sum / rays) << rays;
    EXPECT_EQ(parts, sum) << rays;
  }
}

}  // namespace
}  // namespace tessera::test
