#include "scheduler/device/loops/loop_tables.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tessera::detail {

namespace {

/// Where the entries of a bucket begin, a multiple of this many bytes.
constexpr std::int64_t kTableAlign = 128;

std::int64_t aligned(std::int64_t bytes) { return (bytes + kTableAlign - 1) / kTableAlign * kTableAlign; }

}  // namespace

std::int64_t loopPieceSize(std::int64_t bytes) {
  constexpr std::uint64_t kLeast = 4096;
  return static_cast<std::int64_t>(std::bit_ceil(std::max(kLeast, static_cast<std::uint64_t>(bytes))));
}

LoopExtent layOutLoops(std::span<LoopBucket* const> buckets) {
  LoopExtent extent;
  for (LoopBucket* bucket : buckets) {
    bucket->resultsBegin = extent.words;
    extent.words += std::int64_t{bucket->count} * bucket->type->resultWords;
  }
  extent.bytes = aligned(extent.wordBytes());
  for (LoopBucket* bucket : buckets) {
    bucket->entriesBegin = extent.bytes;
    extent.bytes += aligned(std::int64_t{bucket->count} * bucket->stride);
  }
  return extent;
}

void writeStartWords(std::span<LoopBucket* const> buckets, std::int64_t* words) {
  for (const LoopBucket* bucket : buckets) {
    std::fill_n(words + bucket->resultsBegin, std::int64_t{bucket->count} * bucket->type->resultWords,
                bucket->type->resultStart);
  }
}

void LoopLauncher::put(std::span<LoopBucket* const> buckets, std::span<const LoopPart> parts,
                       PatchOrder order, bool keepsClosures) {
  for (std::size_t n = 0; n < buckets.size(); ++n) {
    const bool laterPlace = n > 0 && buckets[n]->place != buckets[n - 1]->place;
    if (laterPlace && parts.size() > 1) waitForAllParts(parts);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      putBucket(*buckets[n], parts, part, order, keepsClosures);
    }
  }
}

void LoopLauncher::putBucket(const LoopBucket& bucket, std::span<const LoopPart> parts, std::size_t part,
                             PatchOrder order, bool keepsClosures) {
  const LoopPart& memory = parts[part];
  DeviceLoopBatch batch;
  batch.shape = shapeBlocks(bucket.largest, bucket.type->walk);
  batch.stride = bucket.stride;
  batch.part = {static_cast<std::int32_t>(part), static_cast<std::int32_t>(parts.size())};
  batch.order = order;
  batch.keepsClosures = keepsClosures;
  if (batch.shape.blocksEach == 0 && !runsOnHost_) return;
  const std::int32_t most = std::numeric_limits<std::int32_t>::max() / std::max(1, batch.shape.blocksEach);
  for (std::int32_t first = 0; first < bucket.count; first += batch.count) {
    batch.count = std::min(most, bucket.count - first);
    batch.entries = memory.table + bucket.entriesBegin + std::int64_t{first} * bucket.stride;
    batch.results = memory.words + bucket.resultsBegin + std::int64_t{first} * bucket.type->resultWords;
    backend_.launch(memory.stream, {bucket.name, bucket.type->run, std::as_bytes(std::span(&batch, 1))});
  }
}

/// A later loop may read, inside its patch, what another part has written.
void LoopLauncher::waitForAllParts(std::span<const LoopPart> parts) {
  while (events_.size() < parts.size()) events_.push_back(backend_.makeEvent());
  for (std::size_t part = 0; part < parts.size(); ++part) {
    backend_.record(events_[part], parts[part].stream);
  }
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (std::size_t other = 0; other < parts.size(); ++other) {
      if (other != part) backend_.wait(parts[part].stream, events_[other]);
    }
  }
}

}  // namespace tessera::detail
