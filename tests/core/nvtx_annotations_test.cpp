#include "core/profile/nvtx_annotations.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gmock/gmock.h>

namespace tessera {
namespace {

// NVTX looks for a tool once a process and for good; ctest runs every case in a process of its own.

TEST(NvtxAnnotations, SayNothingWithoutATool) {
  ::unsetenv("NVTX_INJECTION64_PATH");
  const NvtxAnnotations ranges;

  EXPECT_FALSE(ranges.active());
  EXPECT_EQ(ranges.notice(), "");
  const NvtxScope nobodyListens(nullptr, nullptr, 0);
}

TEST(NvtxAnnotations, AToolThatCannotListenIsSaidInASentence) {
  ::setenv("NVTX_INJECTION64_PATH", "/nonexistent/tool.so", 1);
  const NvtxAnnotations ranges;

  EXPECT_FALSE(ranges.active());
  EXPECT_THAT(ranges.notice(), testing::StartsWith("NVTX_INJECTION64_PATH is set, but"));
}

#if defined(TESSERA_NVTX_TOOL)
TEST(NvtxAnnotations, AToolSeesNestedRangesOfAThreadAndOnesThatOverlap) {
  const std::string file = testing::TempDir() + "/nvtx_record";
  ::setenv("TESSERA_RECORD", file.c_str(), 1);
  ::setenv("NVTX_INJECTION64_PATH", TESSERA_NVTX_TOOL, 1);
  {
    NvtxAnnotations ranges;
    ASSERT_TRUE(ranges.active()) << ranges.notice();
    const NvtxAnnotations::Name step = ranges.name("step");
    const NvtxAnnotations::Name advance = ranges.name("Heat::advance");
    const NvtxAnnotations::Name message = ranges.name("to rank 1");
    const NvtxScope outer(&ranges, step, 7);
    const std::uint64_t first = ranges.start(message, 512);
    const std::uint64_t second = ranges.start(message, 1024);
    { const NvtxScope inner(&ranges, advance, 3); }
    ranges.end(first);
    ranges.end(second);
  }

  std::stringstream record;
  record << std::ifstream(file + "." + std::to_string(::getpid())).rdbuf();
  const std::string thread = std::to_string(::gettid());
  EXPECT_EQ(record.str(),
            "domain Tessera\n"
            "push " +
                thread +
                " step (7)\n"
                "start 1 to rank 1 (512)\n"
                "start 2 to rank 1 (1024)\n"
                "push " +
                thread +
                " Heat::advance (3)\n"
                "pop " +
                thread +
                "\n"
                "end 1\n"
                "end 2\n"
                "pop " +
                thread + "\n");
}
#endif

}  // namespace
}  // namespace tessera
