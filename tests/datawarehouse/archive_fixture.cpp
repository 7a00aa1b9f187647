#include "tests/datawarehouse/archive_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "core/transport/loopback_transport.hpp"

namespace tessera::test {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tessera-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw OutputError("cannot make a folder for a test");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

FileSizeLimit::FileSizeLimit(std::int64_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  soft_ = limit.rlim_cur;
  limit.rlim_cur = static_cast<rlim_t>(bytes);
  handler_ = std::signal(SIGXFSZ, SIG_IGN);
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw OutputError("cannot limit the size of files for a test");
}

FileSizeLimit::~FileSizeLimit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = soft_;
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler_);
}

namespace {
constexpr std::int64_t kSmallDiskBytes = 1 << 20;
std::unique_ptr<FileSizeLimit>& limitInUse() {
  static std::unique_ptr<FileSizeLimit> limit;
  return limit;
}
}  // namespace

SmallDisk::SmallDisk() {
  mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=1m") == 0;
  if (!mounted_) limitInUse() = std::make_unique<FileSizeLimit>(kSmallDiskBytes);
}

SmallDisk::~SmallDisk() {
  if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  limitInUse().reset();
}

int runInChild(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      body();
      code = 0;
    } catch (const std::exception& problem) {
      std::fprintf(stderr, "child: %s\n", problem.what());
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<BlockDescription> Sample::blocks() const {
  std::vector<BlockDescription> all;
  for (std::int64_t p = 0; p < patches; ++p) {
    const Box cellBox{{p * cells, 0, 0}, {(p + 1) * cells, 2, 1}};
    const Box nodeBox{cellBox.lo, cellBox.hi + ex};
    all.push_back({"temperature", {Scalar::Float64, 1}, Centering::Cell, 0, p, cellBox});
    all.push_back({"velocity", {Scalar::Float32, 3}, Centering::FaceX, 0, p, nodeBox});
  }
  all.push_back({"temperature", {Scalar::Float64, 1}, Centering::Cell, 1, 0, {{2, 0, 0}, {4, 2, 1}}});
  return all;
}

CheckpointIdentity Sample::identity() const {
  return {"grid-" + std::to_string(patches) + "x" + std::to_string(cells),
          "[grid]\ncells = [4, 2, 1]\n",
          "tessera 0.1.0",
          {"heat", "wave"},
          {{"temperature", {Scalar::Float64, 1}, Centering::Cell},
           {"velocity", {Scalar::Float32, 3}, Centering::FaceX}}};
}

CheckpointState Sample::state(std::int64_t step) const {
  CheckpointState state;
  state.set("time", 0.1 * static_cast<double>(step));
  state.set("dt", 1.0 / 3.0);
  state.set("undefined", std::nan("42"));
  state.set("minus zero", -0.0);
  state.set("regrids", step * 1000000007);
  state.set("phase", std::string("flow \"quoted\"\n"));
  state.set("dt history", std::vector<double>{0.1, -INFINITY, 5e-324});
  return state;
}

std::vector<std::byte> Sample::values(const BlockDescription& block, std::int64_t step) const {
  std::vector<std::byte> bytes(static_cast<std::size_t>(block.bytes()));
  std::uint64_t x =
      static_cast<std::uint64_t>(step * 31 + block.patch * 7 + block.level * 3) + block.label.size();
  for (std::byte& b : bytes) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    b = static_cast<std::byte>(x >> 56);
  }
  return bytes;
}

CheckpointBlocks Sample::share(std::int64_t step, int rank, int ranks) const {
  CheckpointBlocks mine;
  for (const BlockDescription& b : blocks()) {
    if (b.patch % ranks == rank) mine.blocks.push_back(b);
  }
  auto buffer = std::make_shared<std::vector<std::byte>>();
  mine.bytesOf = [*this, step, buffer, described = mine.blocks](std::size_t n) -> std::span<const std::byte> {
    *buffer = values(described[n], step);
    return *buffer;
  };
  return mine;
}

CheckpointResult Sample::write(const std::filesystem::path& folder, std::int64_t step, int ranks,
                               FaultPlan* faults) const {
  std::vector<CheckpointResult> results(static_cast<std::size_t>(ranks));
  LoopbackWorld world(ranks);
  runRanks(world, [&](Transport& transport) {
    CheckpointWriter writer(transport, {.folder = folder, .faults = faults});
    results[static_cast<std::size_t>(transport.rank())] =
        writer.write(step, identity(), state(step), share(step, transport.rank(), ranks));
  });
  for (const CheckpointResult& result : results) {
    EXPECT_EQ(result.committed, results.front().committed);
    EXPECT_EQ(result.failure, results.front().failure);
    EXPECT_EQ(result.bytes, results.front().bytes);
    EXPECT_EQ(result.warnings, results.front().warnings);
  }
  return results.front();
}

void Sample::expectLoads(const std::filesystem::path& path, std::int64_t step) const {
  const CheckpointReader reader = CheckpointReader::open(path);
  EXPECT_EQ(reader.step(), step);
  EXPECT_TRUE(reader.state() == state(step));
  EXPECT_EQ(reader.blocks().size(), blocks().size());
  for (const BlockDescription& block : blocks()) {
    const BlockDescription* found = reader.find(block.label, block.level, block.patch);
    ASSERT_NE(found, nullptr) << asText(block);
    EXPECT_EQ(*found, block);
    std::vector<std::byte> bytes(static_cast<std::size_t>(block.bytes()));
    reader.readBlock(block.label, block.level, block.patch, bytes);
    EXPECT_EQ(bytes, values(block, step)) << asText(block);
  }
}

std::vector<std::string> validNames(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const CheckpointListing& entry : listCheckpoints(folder)) {
    if (entry.valid) names.push_back(entry.path.filename().string());
  }
  return names;
}

std::vector<std::string> namesIn(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string readText(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void writeText(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

std::string inputErrorOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.message();
  }
  return {};
}

}  // namespace tessera::test
