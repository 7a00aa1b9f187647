#include "datawarehouse/archive/checkpoint_writer.hpp"

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <sys/random.h>
#include <utility>

#include "core/text/contracts.hpp"
#include "datawarehouse/archive/detail/agreement.hpp"
#include "datawarehouse/archive/detail/generations.hpp"

namespace tessera {
namespace {

using namespace detail;

std::string drawGenerationId() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw IoError(errno, "cannot draw the id of a checkpoint: the system provides no random numbers");
  }
  std::string id;
  for (const unsigned char b : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", b);
    id += two;
  }
  return id;
}

std::string asWords(const BlockFileSummary& summary) {
  return std::to_string(summary.bytes) + " " + std::to_string(summary.blocks) + " " +
         std::to_string(summary.tailCrc);
}

BlockFileSummary fromWords(const std::string& words) {
  BlockFileSummary summary;
  std::istringstream(words) >> summary.bytes >> summary.blocks >> summary.tailCrc;
  return summary;
}

// One attempt at one checkpoint; the steps that touch the file system.
class Attempt {
 public:
  Attempt(const CheckpointWriter::Options& options, std::int64_t step)
      : options_(options), ops_("checkpoint", options.faults), name_(checkpointName(step)) {}

  std::string unfinished() const { return name_ + std::string(kUnfinished); }
  const std::string& name() const { return name_; }

  // Rank 0: a clean, empty temporary folder. Gives the generation id.
  std::string begin() {
    if (options_.parent < 0) {
      std::error_code error;
      std::filesystem::create_directories(options_.folder, error);
      if (error)
        throw IoError(error.value(),
                      "cannot make the folder " + options_.folder.string() + ": " + error.message());
    }
    const Folder root = Folder::openIn(options_.parent, options_.folder, ops_);
    clearLeftovers(root, ops_);
    root.makeFolder(unfinished(), ops_);
    return drawGenerationId();
  }

  // Every rank: its own file.
  std::string writeMine(const BlockFileIdentity& identity, const CheckpointBlocks& mine) {
    const Folder folder =
        Folder::openIn(options_.parent, options_.folder, ops_).openFolder(unfinished(), ops_);
    return asWords(writeBlockFile(folder, identity, mine, ops_));
  }

  // Rank 0: the manifest and the commit. Gives the size of all files, then one line for each warning.
  std::string commit(Manifest manifest, const std::vector<std::string>& files) {
    const Folder root = Folder::openIn(options_.parent, options_.folder, ops_);
    std::int64_t bytes = 0;
    for (const std::string& words : files) {
      manifest.files.push_back(fromWords(words));
      bytes += manifest.files.back().bytes;
    }
    const std::vector<Generation> earlier = committedGenerations(root, ops_);
    manifest.sequence = earlier.empty() ? 1 : earlier.front().sequence + 1;
    writeManifest(root.openFolder(unfinished(), ops_), encodeManifest(manifest));
    std::string report = std::to_string(bytes);
    for (const std::string& warning : commitGeneration(root, name_, ops_)) report += "\n" + warning;
    for (const std::string& warning : deleteOldGenerations(root, options_.keep, ops_))
      report += "\n" + warning;
    return report;
  }

  // Rank 0: nothing of a failed attempt stays.
  void undo() {
    const Folder root = Folder::openIn(options_.parent, options_.folder, ops_);
    if (root.has(unfinished())) removeGeneration(root, unfinished(), ops_);
  }

 private:
  void writeManifest(const Folder& folder, const std::string& text) {
    File file = folder.createFile(kManifestName, ops_);
    file.allocate(ops_, static_cast<std::int64_t>(text.size()));
    file.writeAt(ops_, asBytes(text), 0);
    file.sync(ops_);
    file.close(ops_);
    folder.sync(ops_);
  }

  const CheckpointWriter::Options& options_;
  FileOps ops_;
  std::string name_;
};

CheckpointResult failed(const std::string& name, const std::string& why) {
  CheckpointResult result;
  result.failure = "checkpoint " + name + " was not written, older ones are unchanged: " + why;
  return result;
}

}  // namespace

CheckpointWriter::CheckpointWriter(Transport& transport, Options options)
    : transport_(transport), options_(std::move(options)) {
  TESSERA_EXPECT(options_.keep >= 2,
                 "keep at least two checkpoints, so that a damaged one has a predecessor");
  TESSERA_EXPECT(!options_.folder.empty(), "name the folder that the checkpoints go into");
}

CheckpointResult CheckpointWriter::write(std::int64_t step, const CheckpointIdentity& identity,
                                         const CheckpointState& state, const CheckpointBlocks& mine) {
  TESSERA_EXPECT(step >= 0, "steps are counted from 0");
  Attempt attemptNow(options_, step);
  const Outcome begun = attemptOnRoot(transport_, [&] { return attemptNow.begin(); });
  if (!begun.ok) return failed(attemptNow.name(), "rank 0: " + begun.text);

  const BlockFileIdentity file{begun.text, step, transport_.rank(), transport_.size()};
  const Outcome wrote = attempt([&] { return attemptNow.writeMine(file, mine); });
  const auto commit = [&](const std::vector<std::string>& files) {
    return attemptNow.commit({step, 0, begun.text, {}, identity, state}, files);
  };
  const Outcome done = agree(transport_, wrote, commit, [&] { attemptNow.undo(); });
  if (!done.ok) return failed(attemptNow.name(), done.text);

  CheckpointResult result;
  result.committed = true;
  result.path = options_.folder / attemptNow.name();
  std::istringstream report(done.text);
  std::string line;
  std::getline(report, line);
  result.bytes = std::stoll(line);
  while (std::getline(report, line)) result.warnings.push_back(line);
  return result;
}

}  // namespace tessera
