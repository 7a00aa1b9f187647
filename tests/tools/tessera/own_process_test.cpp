#include "tools/tessera/job/own_process.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "tools/tessera/job/process_limits.hpp"

namespace tessera {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A file of this size in the folder for temporary ones.
std::filesystem::path fileOf(std::uintmax_t bytes) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tessera-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::filesystem::path file = folder / "tessera-own-process-test.hdf";
  std::ofstream(file).put('x');
  std::filesystem::resize_file(file, bytes);
  return file;
}

/// Reads as much memory as it is told, as a file that claims to hold it would make a library do.
int takeMemory(std::size_t bytes) {
  const std::vector<char> values(bytes, 'x');
  return values[bytes / 2] == 'x' ? 0 : 1;
}

std::string refusalOf(const std::function<int()>& work) {
  try {
    inOwnProcess({fileOf(1)}, work);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Input) << error.message();
    return error.message();
  }
  return "";
}

TEST(OwnProcess, GivesTheExitCodeAndTheErrorOfItsWork) {
  EXPECT_EQ(inOwnProcess({fileOf(1)}, [] { return 7; }), 7);
  EXPECT_THAT(refusalOf([]() -> int { throw InputError("it is damaged"); }), "it is damaged");
}

TEST(OwnProcess, ThatCrashesIsARefusalOfItsFiles) {
  EXPECT_THAT(refusalOf([] { return std::raise(SIGSEGV); }),
              AllOf(HasSubstr("Segmentation fault"), HasSubstr("tessera-own-process-test.hdf")));
}

TEST(OwnProcess, ThatTakesManyTimesMoreMemoryThanItsFilesHaveIsARefusal) {
  constexpr std::size_t kGigabyte = std::size_t{1} << 30;
  const std::string refusal = refusalOf([] { return takeMemory(2 * kGigabyte); });
  // A sanitizer reserves memory beyond any limit, so there is none then.
  const std::string expected = kIsSanitized ? "" : "many times more memory";
  EXPECT_THAT(refusal, HasSubstr(expected));
  EXPECT_EQ(refusal.empty(), kIsSanitized);
  EXPECT_EQ(inOwnProcess({fileOf(kGigabyte / 4)}, [] { return takeMemory(kGigabyte); }), 0)
      << "as large ones need";
}

}  // namespace
}  // namespace tessera
