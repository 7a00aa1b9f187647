#include "scheduler/cores.hpp"

#include <sched.h>

#include <gtest/gtest.h>

namespace tessera {
namespace {

using Cores = std::vector<int>;

TEST(Cores, AQuotaIsTimeOverPeriod) {
  EXPECT_EQ(quotaOf("200000 100000"), 2.0);
  EXPECT_EQ(quotaOf("50000 100000"), 0.5);
  EXPECT_EQ(quotaOf("max 100000"), std::nullopt);
  EXPECT_EQ(quotaOf(""), std::nullopt);
  EXPECT_EQ(quotaOf("7 0"), std::nullopt);
}

TEST(Cores, RangesAreShort) {
  EXPECT_EQ(asText(Cores{0, 1, 2, 3, 6}), "0-3,6");
  EXPECT_EQ(asText(Cores{5}), "5");
  EXPECT_EQ(asText(Cores{}), "");
}

TEST(Cores, OnlyWhatThisThreadMayUseIsCounted) {
  const Cores before = allowedCores().cores;
  ASSERT_FALSE(before.empty());
  cpu_set_t all;
  cpu_set_t one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(before.back()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const Cores now = allowedCores().cores;
  sched_setaffinity(0, sizeof(all), &all);
  EXPECT_EQ(now, Cores{before.back()});
}

TEST(Cores, RanksOfAMachineShareItsCoresAndAreBoundWhereTheyFillThem) {
  const AllowedCores eight{{0, 1, 2, 3, 8, 9, 10, 11}};
  EXPECT_EQ(planWorkers(eight, 0, 1, 0, true).cores, eight.cores);
  const WorkerPlan second = planWorkers(eight, 1, 2, 0, true);
  EXPECT_EQ(second.threads, 4);
  EXPECT_EQ(second.cores, (Cores{8, 9, 10, 11}));
  EXPECT_EQ(planWorkers(eight, 1, 2, 0, false).cores, Cores{});
  // Cores are left over, or there are more workers than cores: the system places them.
  EXPECT_EQ(planWorkers(eight, 0, 1, 3, true).cores, Cores{});
  EXPECT_EQ(planWorkers(eight, 0, 3, 0, true).cores, Cores{});
  EXPECT_EQ(planWorkers(eight, 0, 16, 0, true).threads, 1);
  EXPECT_EQ(planWorkers(eight, 0, 16, 0, true).cores, Cores{});
}

TEST(Cores, RanksShareTheLastCachesAndKeepThoseOfACore) {
  AllowedCores two{{0, 1}};
  two.caches = {1 << 20, 32 << 20};
  EXPECT_EQ(planWorkers(two, 0, 1, 0, true).caches.shared, 32 << 20);
  EXPECT_EQ(planWorkers(two, 1, 2, 0, true).caches.shared, 16 << 20);
  EXPECT_EQ(planWorkers(two, 1, 2, 0, true).caches.core, 1 << 20);
}

TEST(Cores, ACoreHasNoMoreCacheThanAllOfThem) {
  const CacheSizes sizes = allowedCores().caches;
  EXPECT_GE(sizes.core, 0);
  EXPECT_LE(sizes.core, sizes.shared);
}

TEST(Cores, CachesThatNoProcessorHasAreNotBelieved) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  // A virtual machine of two cores that shows the last cache of its whole host, once a core.
  const CacheSizes virtualOnes = plausible({2 * kMiB, 2 * 508 * kMiB}, 2);
  EXPECT_EQ(virtualOnes.core, 2 * kMiB);
  EXPECT_EQ(virtualOnes.shared, 32 * kMiB);
  // The largest that are sold: 1152 MiB for 96 cores.
  EXPECT_EQ(plausible({kMiB, 1152 * kMiB}, 96).shared, 1152 * kMiB);
  EXPECT_EQ(plausible({0, 0}, 0).shared, 0);
}

TEST(Cores, AQuotaLimitsTheThreadsAndLeavesThemUnbound) {
  const AllowedCores limited{{0, 1, 2, 3}, 2.5};
  EXPECT_EQ(planWorkers(limited, 0, 1, 0, true).threads, 2);
  EXPECT_EQ(planWorkers(limited, 0, 1, 0, true).cores, Cores{});
  EXPECT_EQ(planWorkers({{0, 1}, 0.4}, 0, 1, 0, true).threads, 1);
  EXPECT_EQ(planWorkers(limited, 0, 1, 4, true).threads, 4);
}

}  // namespace
}  // namespace tessera
