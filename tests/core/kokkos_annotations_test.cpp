#include "core/profile/kokkos_annotations.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "core/build_info.hpp"

namespace tessera {
namespace {

// Kokkos loads a tool once a process and for good, so each case here is the only one that sets the variable;
// ctest runs every case in a process of its own. The case with a tool that listens is
// tests/tools/kokkos_tool.
TEST(KokkosAnnotations, CostNothingAndSayNothingWithoutATool) {
  ::unsetenv("KOKKOS_TOOLS_LIBS");
  KokkosAnnotations regions;

  EXPECT_FALSE(regions.active());
  EXPECT_EQ(regions.notice(), "");
  const NamedKernel named(regions, "Diffusion::advance", 0);
}

TEST(KokkosAnnotations, AToolThatCannotListenIsSaidInASentence) {
  ::setenv("KOKKOS_TOOLS_LIBS", "/nonexistent/tool.so", 1);
  KokkosAnnotations regions;

  EXPECT_FALSE(regions.active());
  EXPECT_THAT(regions.notice(), testing::StartsWith("KOKKOS_TOOLS_LIBS is set, but"));
}

bool builtWithKokkos() {
  for (const DependencyInfo& dependency : buildInfo().dependencies) {
    if (dependency.name == "kokkos") return !dependency.version.empty();
  }
  return false;
}

TEST(KokkosAnnotations, AToolSeesOverlappingTasksByTheirNamesAndWorkers) {
  const std::string recordFile = testing::TempDir() + "/kokkos_record.txt";
  ::setenv("TESSERA_RECORD", recordFile.c_str(), 1);
  ::setenv("KOKKOS_TOOLS_LIBS", TESSERA_BINARY_DIR "/tests/libtessera_recording_tool.so", 1);

  {
    KokkosAnnotations regions;
    if (!builtWithKokkos()) {
      EXPECT_THAT(regions.notice(), testing::HasSubstr("this build has no Kokkos"));
      return;
    }
    if (regions.notice().find("needs a GPU") != std::string::npos) {
      GTEST_SKIP() << "in a build with CUDA this case needs a GPU";
    }
    ASSERT_TRUE(regions.active()) << regions.notice();
    const std::uint64_t advance = regions.begin("Diffusion::advance", 0);
    const std::uint64_t stableDt = regions.begin("Diffusion::stableDt", 1);
    regions.end(advance);
    regions.end(stableDt);
  }

  std::stringstream record;
  record << std::ifstream(recordFile).rdbuf();
  EXPECT_EQ(record.str(),
            "begin 1 Diffusion::advance on 0\n"
            "begin 2 Diffusion::stableDt on 1\n"
            "end 1\n"
            "end 2\n");
}

}  // namespace
}  // namespace tessera
