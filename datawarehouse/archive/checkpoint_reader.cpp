#include "datawarehouse/archive/checkpoint_reader.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"
#include "datawarehouse/archive/detail/generations.hpp"

namespace tessera {
namespace {

using namespace detail;

auto keyOf(const BlockDescription& b) { return std::tie(b.label, b.level, b.patch); }

bool keyBefore(const BlockDescription& a, const BlockDescription& b) { return keyOf(a) < keyOf(b); }

// The sentence that tells a user where to go on when `damaged` cannot be used.
std::string adviceFor(const std::filesystem::path& damaged) {
  const std::filesystem::path folder = damaged.parent_path();
  for (const CheckpointListing& other : listCheckpoints(folder.empty() ? "." : folder)) {
    if (!other.valid || other.path.filename() == damaged.filename() || !isWhole(other.path)) continue;
    return "restart --from " + std::to_string(other.step) + ", the other checkpoint " +
           other.path.filename().string();
  }
  return "no other checkpoint is valid in " + folder.string() + "; run the deck again from its start";
}

// Does `work`; a failure becomes an InputError that ends in the way out.
template <class Work>
auto withAdvice(const std::filesystem::path& path, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error& problem) {
    throw InputError(problem.message() + "\n  fix       " + adviceFor(path));
  }
}

}  // namespace

struct CheckpointReader::Content {
  std::filesystem::path path;
  FileOps ops{"restart", nullptr};
  Folder folder;
  Manifest manifest;
  std::vector<IndexedBlock> indexed;  // parallel to `blocks`
  std::vector<std::int64_t> rankOf;   // parallel to `blocks`
  std::vector<BlockDescription> blocks;

  explicit Content(const std::filesystem::path& where)
      : path(where), folder(Folder::open(where, ops)), manifest(readManifest(folder, ops)) {
    const auto ranks = static_cast<std::int64_t>(manifest.files.size());
    std::vector<std::pair<IndexedBlock, std::int64_t>> all;
    for (std::int64_t r = 0; r < ranks; ++r) {
      const BlockFileIdentity identity{manifest.generation, manifest.step, r, ranks};
      for (IndexedBlock& b :
           readBlockIndex(folder, identity, manifest.files[static_cast<std::size_t>(r)], ops)) {
        all.emplace_back(std::move(b), r);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return keyBefore(a.first.block, b.first.block); });
    for (auto& [block, rank] : all) {
      if (!blocks.empty() && keyOf(blocks.back()) == keyOf(block.block)) {
        throw InputError("the checkpoint " + path.string() + " holds the block " + asText(block.block) +
                         " twice");
      }
      blocks.push_back(block.block);
      rankOf.push_back(rank);
      indexed.push_back(std::move(block));
    }
  }

  std::size_t positionOf(std::string_view label, std::int32_t level, std::int64_t patch) const {
    const BlockDescription wanted{std::string(label), {}, Centering::Cell, level, patch, {}};
    const auto at = std::lower_bound(blocks.begin(), blocks.end(), wanted, keyBefore);
    if (at == blocks.end() || keyOf(*at) != keyOf(wanted)) return blocks.size();
    return static_cast<std::size_t>(at - blocks.begin());
  }

  void readInto(std::size_t n, std::span<std::byte> out) const {
    const File file = folder.openForReading(rankFileName(rankOf[n]), ops);
    readBlockData(file, indexed[n], out);
  }
};

bool isWhole(const std::filesystem::path& checkpoint) {
  try {
    const CheckpointReader::Content content(checkpoint);
    std::vector<std::byte> buffer;
    for (std::size_t n = 0; n < content.blocks.size(); ++n) {
      buffer.resize(static_cast<std::size_t>(content.blocks[n].bytes()));
      content.readInto(n, buffer);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

CheckpointReader::CheckpointReader(std::unique_ptr<Content> content) : content_(std::move(content)) {}
CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;

CheckpointReader CheckpointReader::open(const std::filesystem::path& checkpoint) {
  return withAdvice(checkpoint, [&] { return CheckpointReader(std::make_unique<Content>(checkpoint)); });
}

std::int64_t CheckpointReader::step() const { return content_->manifest.step; }
const std::filesystem::path& CheckpointReader::path() const { return content_->path; }
const CheckpointIdentity& CheckpointReader::identity() const { return content_->manifest.identity; }
const CheckpointState& CheckpointReader::state() const { return content_->manifest.state; }
std::int64_t CheckpointReader::writingRanks() const {
  return static_cast<std::int64_t>(content_->manifest.files.size());
}
const std::vector<BlockDescription>& CheckpointReader::blocks() const { return content_->blocks; }

const BlockDescription* CheckpointReader::find(std::string_view label, std::int32_t level,
                                               std::int64_t patch) const {
  const std::size_t n = content_->positionOf(label, level, patch);
  return n < content_->blocks.size() ? &content_->blocks[n] : nullptr;
}

void CheckpointReader::readBlock(std::string_view label, std::int32_t level, std::int64_t patch,
                                 std::span<std::byte> out) const {
  withAdvice(content_->path, [&] {
    const std::size_t n = content_->positionOf(label, level, patch);
    if (n == content_->blocks.size()) {
      throw InputError(
          Message("the checkpoint has no such block")
              .line("file      ", content_->path.string())
              .line("block     ", asText(BlockDescription{std::string(label), {}, {}, level, patch, {}}))
              .text());
    }
    TESSERA_EXPECT(static_cast<std::int64_t>(out.size()) == content_->blocks[n].bytes(),
                   "the buffer must have exactly the size of the block's description");
    content_->readInto(n, out);
  });
}

void CheckpointReader::verifyAll() const {
  withAdvice(content_->path, [&] {
    std::vector<std::byte> buffer;
    for (std::size_t n = 0; n < content_->blocks.size(); ++n) {
      buffer.resize(static_cast<std::size_t>(content_->blocks[n].bytes()));
      content_->readInto(n, buffer);
    }
  });
}

namespace {

std::string asList(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

std::vector<std::string> sortedTexts(const std::vector<CheckpointLabel>& labels) {
  std::vector<std::string> texts;
  for (const CheckpointLabel& l : labels)
    texts.push_back(l.name + " (" + asText(l.type) + ", " + asText(l.centering) + ")");
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<std::string> without(const std::vector<std::string>& all, const std::vector<std::string>& some) {
  std::vector<std::string> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest;
}

void requireEqual(const std::filesystem::path& path, std::string_view what,
                  const std::vector<std::string>& here, const std::vector<std::string>& stored,
                  std::string_view fix) {
  if (here == stored) return;
  throw InputError(Message("the checkpoint was written with other " + std::string(what))
                       .line("file             ", path.string())
                       .line("this run has     ", asList(without(here, stored)))
                       .line("checkpoint has   ", asList(without(stored, here)))
                       .line("fix              ", fix)
                       .text());
}

}  // namespace

void CheckpointReader::requireSame(const CheckpointIdentity& ours) const {
  const CheckpointIdentity& stored = identity();
  const auto sorted = [](std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
  };
  requireEqual(path(), "components", sorted(ours.components), sorted(stored.components),
               "name the same [simulation] components in the deck");
  requireEqual(path(), "variables", sortedTexts(ours.labels), sortedTexts(stored.labels),
               "restart with the settings and the program version of the run (" + stored.codeVersion + ")");
  requireEqual(path(), "grid", {ours.gridHash}, {stored.gridHash},
               "restart with the [grid] of the checkpoint's deck, or start a new run");
}

namespace {

/// Of a checkpoint whose blocks are damaged; -1 where its manifest is as well.
std::int64_t sequenceOf(const std::filesystem::path& checkpoint, const FileOps& ops) {
  try {
    return readManifest(Folder::open(checkpoint, ops), ops).sequence;
  } catch (const Error&) {
    return -1;
  }
}

}  // namespace

std::vector<CheckpointListing> listCheckpoints(const std::filesystem::path& folder) {
  std::vector<CheckpointListing> found;
  const FileOps ops("restart", nullptr);
  if (!std::filesystem::is_directory(folder)) return found;
  const Folder root = Folder::open(folder, ops);
  for (const std::string& name : root.names()) {
    std::string stem = name;
    if (stem.ends_with(kReplaced)) stem.resize(stem.size() - kReplaced.size());
    // A replaced one counts only while its successor is not there: a crash came between the two renames.
    if (stepOfName(stem) < 0 || (stem != name && root.has(stem))) continue;
    CheckpointListing entry;
    entry.path = folder / name;
    entry.step = stepOfName(stem);
    std::error_code unknown;
    entry.written = std::filesystem::last_write_time(entry.path, unknown);
    try {
      const CheckpointReader reader(std::make_unique<CheckpointReader::Content>(entry.path));
      entry.step = reader.step();
      entry.sequence = reader.content_->manifest.sequence;
      if (reader.state().has("time")) entry.time = reader.state().real("time");
      entry.valid = true;
    } catch (const Error& problem) {
      entry.problem = problem.message();
      entry.sequence = sequenceOf(entry.path, ops);
    }
    found.push_back(std::move(entry));
  }
  std::stable_sort(found.begin(), found.end(), [](const CheckpointListing& a, const CheckpointListing& b) {
    return std::tuple(a.valid, a.sequence, a.step) > std::tuple(b.valid, b.sequence, b.step);
  });
  return found;
}

}  // namespace tessera
