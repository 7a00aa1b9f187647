#include "scheduler/nearest_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ::testing::ElementsAre;
using Deal = std::vector<std::vector<std::int32_t>>;

/// One package of a machine with two: cores 2n and 2n + 1, NUMA node n, and a GPU at 0000:n7:00.0.
std::string package(int n) {
  const std::string cpus = n == 0 ? "0x3" : "0xc";
  const std::string node = n == 0 ? "0x1" : "0x2";
  const std::string number = std::to_string(n);
  const auto sets = [](const std::string& cpuset, const std::string& nodeset) {
    return " cpuset=\"" + cpuset + "\" complete_cpuset=\"" + cpuset + "\" nodeset=\"" + nodeset +
           "\" complete_nodeset=\"" + nodeset + "\"";
  };
  std::string text = "<object type=\"Package\" os_index=\"" + number + "\"" + sets(cpus, node) +
                     " gp_index=\"" + std::to_string(10 + 20 * n) + "\">" +
                     "<object type=\"NUMANode\" os_index=\"" + number + "\"" + sets(cpus, node) +
                     " gp_index=\"" + std::to_string(11 + 20 * n) + "\" local_memory=\"1073741824\"/>";
  for (int core = 2 * n; core < 2 * n + 2; ++core) {
    const std::string cpu = "0x" + std::to_string(1 << core);
    const std::string at = std::to_string(core);
    text += "<object type=\"Core\" os_index=\"" + at + "\"" + sets(cpu, node) + " gp_index=\"" +
            std::to_string(100 + 2 * core) + "\"><object type=\"PU\" os_index=\"" + at + "\"" +
            sets(cpu, node) + " gp_index=\"" + std::to_string(101 + 2 * core) + "\"/></object>";
  }
  return text + "<object type=\"Bridge\" gp_index=\"" + std::to_string(200 + 2 * n) +
         "\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[" + number + "0-" + number +
         "f]\"><object type=\"PCIDev\" gp_index=\"" + std::to_string(201 + 2 * n) +
         "\" pci_busid=\"0000:" + number +
         "7:00.0\" pci_type=\"0302 [10de:2335] [10de:18be] a1\" pci_link_speed=\"0\"/></object>" +
         "</object>";
}

std::string twoPackages(const std::string& distances = "") {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\">"
         "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0xf\" "
         "complete_cpuset=\"0xf\" allowed_cpuset=\"0xf\" nodeset=\"0x3\" complete_nodeset=\"0x3\" "
         "allowed_nodeset=\"0x3\" gp_index=\"1\">" +
         package(0) + package(1) + "</object>" + distances + "</topology>";
}

const std::vector<std::string> kBoth{"0000:07:00.0", "0000:17:00.0"};

std::vector<int> distancesFrom(std::vector<int> cores, const std::string& xml) {
  std::vector<int> distances;
  for (const DeviceNearness& near : nearnessOf(kBoth, cores, xml)) distances.push_back(near.distance);
  return distances;
}

TEST(NearestDevices, AreThoseOfTheCoresOwnNode) {
  EXPECT_THAT(distancesFrom({0, 1}, twoPackages()), ElementsAre(10, 20));
  EXPECT_THAT(distancesFrom({3}, twoPackages()), ElementsAre(20, 10));
  EXPECT_THAT(distancesFrom({1, 2}, twoPackages()), ElementsAre(10, 10)) << "cores of both";

  const auto near = nearnessOf(kBoth, std::vector<int>{3}, twoPackages());
  EXPECT_EQ(near[0].numaNode, 0);
  EXPECT_EQ(near[1].numaNode, 1);
  EXPECT_THAT(orderByDistance(near), ElementsAre(1, 0));
}

TEST(NearestDevices, DistancesAreThoseThatTheMachineTells) {
  const std::string xml = twoPackages(
      "<distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" name=\"NUMALatency\" indexing=\"os\">"
      "<indexes length=\"4\">0 1 </indexes><u64values length=\"12\">10 32 32 10 </u64values></distances2>");

  EXPECT_THAT(distancesFrom({0}, xml), ElementsAre(10, 32));
}

TEST(NearestDevices, NothingIsKnownOfAnAddressThatTheMachineDoesNotHave) {
  const std::vector<std::string> strange{"0000:55:00.0", "no address"};
  for (const DeviceNearness& near : nearnessOf(strange, std::vector<int>{0}, twoPackages())) {
    EXPECT_EQ(near.numaNode, -1);
    EXPECT_EQ(near.distance, DeviceNearness::kUnknown);
  }
  EXPECT_EQ(nearnessOf(strange, {}).size(), 2U) << "of this machine";
  EXPECT_EQ(nearnessOf(kBoth, {}, "no topology")[0].distance, DeviceNearness::kUnknown);
}

TEST(NearestDevices, RanksThatAreAsNearTakeThemInTurns) {
  EXPECT_EQ(dealDevices({{10, 10}, {10, 10}, {10, 10}}), (Deal{{0}, {1}, {0}}));
  EXPECT_EQ(dealDevices({{10, 10, 10, 10}, {10, 10, 10, 10}}), (Deal{{0, 1}, {2, 3}}));
  EXPECT_EQ(dealDevices({{10, 10, 10}, {10, 10, 10}}), (Deal{{0, 1}, {2}}));
  EXPECT_EQ(dealDevices({{}, {}}), (Deal{{}, {}}));
}

TEST(NearestDevices, ARankGetsANearOneWhereTheDealStaysFair) {
  EXPECT_EQ(dealDevices({{20, 10}, {10, 20}}), (Deal{{1}, {0}}));
  EXPECT_EQ(dealDevices({{10, 20}, {10, 20}}), (Deal{{0}, {1}})) << "one has to go far";
  EXPECT_EQ(dealDevices({{20, 20, 10, 10}, {10, 10, 20, 20}}), (Deal{{2, 3}, {0, 1}}));
  EXPECT_EQ(dealDevices({{20, 10}, {20, 10}, {20, 10}, {10, 20}}), (Deal{{1}, {1}, {0}, {0}}));
}

}  // namespace
}  // namespace tessera
