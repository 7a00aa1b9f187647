#include "scheduler/device/moves/region_table.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/text/contracts.hpp"
#include "datawarehouse/moves/aligned_layout.hpp"

namespace tessera {

using detail::PlacedRegion;
using detail::RegionBlock;
using detail::RegionLaunch;
using detail::RegionRun;

RegionCounts& RegionCounts::operator+=(const RegionCounts& other) {
  launches += other.launches;
  copied += other.copied;
  packed += other.packed;
  unpacked += other.unpacked;
  prolonged += other.prolonged;
  conditions += other.conditions;
  return *this;
}

RegionCounts operator-(const RegionCounts& a, const RegionCounts& b) {
  return {a.launches - b.launches, a.copied - b.copied,       a.packed - b.packed,
          a.unpacked - b.unpacked, a.prolonged - b.prolonged, a.conditions - b.conditions};
}

void RegionList::beginRow() {
  rowBlocks_.push_back(static_cast<std::int32_t>(blocks_.size()));
  rowCounts_.push_back(counts_);
  rowWords_ = 0;
}

void RegionList::add(const RegionOp& op, std::byte* to, const std::byte* from,
                     std::int64_t RegionCounts::*counted, const RegionValues& values) {
  if (op.words() == 0) return;
  PlacedRegion placed{op, to + op.toFirst, from + op.fromFirst};
  const auto isOdd = [](const std::byte* memory) {
    return reinterpret_cast<std::uintptr_t>(memory) % 8 != 0;
  };
  if (detail::isMoved(op.kind) && op.wordBytes == 8 && (isOdd(placed.to) || isOdd(placed.from))) {
    placed.op.wordBytes = 4;
    placed.op.elementWords *= 2;
    placed.op.rowWords *= 2;
  }
  placed.firstValue = values.first;
  placed.valueStep = values.count == RegionValues::Count::One ? 0 : 1;
  placed.valuesOfLaunch = values.of == RegionValues::Of::Launch;
  put(placed);
  counts_.*counted += op.bytes();
}

void RegionList::put(const PlacedRegion& placed) {
  TESSERA_EXPECT(!rowBlocks_.empty(), "begin a row first");
  const std::int64_t words = placed.op.words();
  if (words == 0) return;
  TESSERA_EXPECT(words + rowWords_ <= std::numeric_limits<std::uint32_t>::max(),
                 "cut the domain into smaller patches: a row of regions has at most 2^32 - 1 words");
  ops_.push_back(placed);
  begins_.push_back(rowWords_);
  addWords(static_cast<std::uint32_t>(words));
}

/// The last block of the row is filled up first.
void RegionList::addWords(std::uint32_t words) {
  const auto op = static_cast<std::int32_t>(ops_.size()) - 1;
  RegionBlock* last = rowWords_ > 0 ? &blocks_.back() : nullptr;
  if (last != nullptr && last->words < detail::kRegionWords && last->opCount < detail::kRegionOps) {
    const std::uint32_t more = std::min(words, detail::kRegionWords - last->words);
    last->words += more;
    ++last->opCount;
    rowWords_ += more;
    words -= more;
  }
  while (words > 0) {
    const std::uint32_t n = std::min(words, detail::kRegionWords);
    blocks_.push_back({op, 1, rowWords_, n});
    rowWords_ += n;
    words -= n;
  }
}

bool RegionList::copyRowEnds(std::byte* to, const Layout& toLayout, const RowEnds& begins,
                             const RowEnds& ends) {
  constexpr std::int64_t kBytes = 8;
  constexpr std::int64_t kHalf = kSectorElements / 2;
  const Box& left = begins.region;
  const Box& right = ends.region;
  const bool alike = left.lo.j == right.lo.j && left.hi.j == right.hi.j && left.lo.k == right.lo.k &&
                     left.hi.k == right.hi.k && left.lo.i == toLayout.window.lo.i &&
                     right.hi.i == toLayout.window.hi.i;
  if (!alike || left.empty() || right.empty() || left.extent().j < 2 || left.extent().i > kHalf ||
      right.extent().i > kHalf) {
    return false;
  }
  PlacedRegion placed{copyOp(toLayout, *ends.layout, right, ends.shift, kBytes)};
  placed.to = to + placed.op.toFirst;
  placed.from = ends.from + placed.op.fromFirst;
  const auto addressOf = [](const std::byte* memory) { return reinterpret_cast<std::uintptr_t>(memory); };
  const std::int64_t nextRow = toLayout.at(left.lo) + toLayout.strideJ + left.extent().i;
  if (nextRow != toLayout.at(right.lo) + kSectorElements || addressOf(placed.from) % kBytes != 0 ||
      addressOf(placed.to) % (kSectorElements * kBytes) != 0 || toLayout.strideJ % kSectorElements != 0 ||
      toLayout.strideK % kSectorElements != 0) {
    return false;
  }
  placed.op.wordBytes = kHalf * kBytes;
  placed.op.rowWords = 2;
  --placed.op.rows;
  placed.endElements = static_cast<std::uint8_t>(right.extent().i);
  placed.beginElements = static_cast<std::uint8_t>(left.extent().i);
  placed.begins = begins.from + begins.layout->at(left.lo + Index{0, 1, 0} - begins.shift) * kBytes;
  placed.beginsJ = begins.layout->strideJ * kBytes;
  placed.beginsK = begins.layout->strideK * kBytes;
  put(placed);
  counts_.copied += placed.op.words() / 2 * (left.extent().i + right.extent().i) * kBytes;
  Box first = left;
  first.hi.j = first.lo.j + 1;
  add(copyOp(toLayout, *begins.layout, first, begins.shift, kBytes), to, begins.from, &RegionCounts::copied);
  Box last = right;
  last.lo.j = last.hi.j - 1;
  add(copyOp(toLayout, *ends.layout, last, ends.shift, kBytes), to, ends.from, &RegionCounts::copied);
  return true;
}

std::int64_t RegionList::addValues(std::span<const double> values) {
  const auto first = static_cast<std::int64_t>(values_.size());
  values_.insert(values_.end(), values.begin(), values.end());
  return first;
}

RegionTable::RegionTable(DeviceBackend& device, DevicePool& memory, DevicePool& pinned, DeviceStream stream,
                         const RegionList& list, std::string_view owner)
    : device_(&device),
      pool_(&memory),
      uploadStream_(stream),
      rowBlocks_(list.rowBlocks_),
      rowCounts_(list.rowCounts_) {
  rowBlocks_.push_back(static_cast<std::int32_t>(list.blocks_.size()));
  rowCounts_.push_back(list.counts_);
  if (list.isEmpty()) return;
  std::int64_t offsets[4] = {};  // NOLINT: of the four arrays
  const auto roomFor = [&](int n, const auto& array) {
    constexpr std::int64_t kGrain = 16;
    offsets[n] = bytes_;
    bytes_ +=
        (std::ssize(array) * static_cast<std::int64_t>(sizeof(array[0])) + kGrain - 1) / kGrain * kGrain;
  };
  roomFor(0, list.ops_);
  roomFor(1, list.values_);
  roomFor(2, list.begins_);
  roomFor(3, list.blocks_);
  memory_ = static_cast<std::byte*>(memory.allocate(stream, bytes_, owner));
  auto* here = static_cast<std::byte*>(pinned.allocate(stream, bytes_, owner));
  const auto bring = [&]<class T>(int n, const std::vector<T>& array) {
    const auto bytes = std::as_bytes(std::span(array));
    std::copy(bytes.begin(), bytes.end(), here + offsets[n]);
    return reinterpret_cast<const T*>(memory_ + offsets[n]);
  };
  view_ = {bring(0, list.ops_), bring(2, list.begins_), bring(3, list.blocks_), bring(1, list.values_)};
  device.copy(stream, CopyDirection::HostToDevice, memory_, here, bytes_);
  pinned.free(stream, here);
  uploaded_ = device.makeEvent();
  device.record(uploaded_, stream);
}

RegionTable::~RegionTable() {
  if (memory_ != nullptr) pool_->free(uploadStream_, memory_);
}

RegionTable& RegionTable::operator=(RegionTable&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(pool_, other.pool_);
  std::swap(memory_, other.memory_);
  std::swap(view_, other.view_);
  std::swap(bytes_, other.bytes_);
  std::swap(uploadStream_, other.uploadStream_);
  std::swap(uploaded_, other.uploaded_);
  std::swap(isUploaded_, other.isUploaded_);
  rowBlocks_.swap(other.rowBlocks_);
  rowCounts_.swap(other.rowCounts_);
  runs_.swap(other.runs_);
  return *this;
}

void RegionTable::comeAfterUpload(DeviceStream stream) {
  if (isUploaded_ || stream == uploadStream_) return;
  isUploaded_ = device_->isDone(uploaded_);
  if (!isUploaded_) device_->wait(stream, uploaded_);
}

template <int Runs>
void RegionTable::put(DeviceStream stream, const char* name, std::span<const RegionRun> runs,
                      std::int32_t blocks, const detail::RegionLaunchValues& values) {
  RegionLaunch<Runs> launch{};
  launch.table = view_;
  launch.values = values;
  launch.blockCount = blocks;
  launch.runCount = static_cast<std::int32_t>(runs.size());
  std::copy(runs.begin(), runs.end(), launch.runs);
  detail::putRegions(*device_, stream, name, launch);
}

RegionCounts RegionTable::launch(DeviceStream stream, const char* name, std::span<const std::int32_t> rows,
                                 const detail::RegionLaunchValues& values) {
  RegionCounts counts;
  if (isEmpty()) return counts;
  comeAfterUpload(stream);
  std::int32_t blocks = 0;
  const auto flush = [&] {
    if (blocks > 0) ++counts.launches;
    if (blocks > 0 && runs_.size() == 1) put<1>(stream, name, runs_, blocks, values);
    if (blocks > 0 && runs_.size() > 1) put<detail::kMostRuns>(stream, name, runs_, blocks, values);
    runs_.clear();
    blocks = 0;
  };
  for (std::size_t n = 0; n < rows.size();) {
    std::size_t end = n + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    const auto first = static_cast<std::size_t>(rows[n]);
    const auto last = static_cast<std::size_t>(rows[end - 1]) + 1;
    counts += rowCounts_[last] - rowCounts_[first];
    if (rowBlocks_[last] > rowBlocks_[first]) {
      runs_.push_back({rowBlocks_[first], blocks});
      blocks += rowBlocks_[last] - rowBlocks_[first];
    }
    if (std::ssize(runs_) == detail::kMostRuns) flush();
    n = end;
  }
  flush();
  return counts;
}

}  // namespace tessera
