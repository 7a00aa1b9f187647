#include "core/build_info.hpp"

#include <gmock/gmock.h>

namespace tessera {
namespace {

TEST(BuildInfo, NamesTheVersionOfEveryLibraryThatIsAlwaysThere) {
  const BuildInfo info = buildInfo();

  for (const DependencyInfo& dependency : info.dependencies) {
    if (dependency.name == "kokkos") continue;
    EXPECT_FALSE(dependency.version.empty()) << dependency.name;
    EXPECT_EQ(dependency.origin, "system") << dependency.name;
  }
}

TEST(BuildInfo, SaysWhichOfTheOptionalLibrariesIsMissing) {
  BuildInfo info;
  info.version = "1.2.3";
  info.revision = "abc-dirty";
  info.compiler = "GNU 12.2.0";
  info.buildType = "Debug";
  info.flags = "-O1 -g";
  info.checkedByDefault = true;
  info.dependencies = {{"mpich", "4.0.2", "system"}, {"kokkos", "", "not in this build"}};

  EXPECT_EQ(asText(info),
            "tessera 1.2.3 (abc-dirty)\n"
            "  compiler  GNU 12.2.0, Debug, -O1 -g, checked mode by default\n"
            "  mpich 4.0.2 (system)\n"
            "  kokkos not in this build\n");
}

}  // namespace
}  // namespace tessera
