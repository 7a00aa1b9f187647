#include "scheduler/device/loops/kept_loops.hpp"

#include <algorithm>
#include <cstring>

namespace tessera {

namespace {

constexpr const char* kKeptOwner = "the loops of a captured step";

}  // namespace

KeptLoops::KeptLoops(DeviceBackend& backend, DevicePool& device, DevicePool& pinned, DeviceStream stream,
                     std::int32_t parts)
    : backend_(backend),
      device_(device),
      pinned_(pinned),
      stream_(stream),
      parts_(parts),
      runsOnHost_(backend.info().architecture.empty()),
      recorder_(runsOnHost_),
      launcher_(backend) {}

KeptLoops::~KeptLoops() { giveMemory(); }

bool KeptLoops::fits() {
  const auto buckets = recorder_.buckets().inOrder();
  return std::equal(buckets.begin(), buckets.end(), shapes_.begin(), shapes_.end(),
                    [](const detail::LoopBucket* bucket, const Shape& shape) {
                      return bucket->type == shape.type && bucket->place == shape.place &&
                             bucket->count == shape.count && bucket->largest == shape.largest;
                    });
}

void KeptLoops::keep() {
  if (fits()) {
    dropClosures();
  } else {
    giveMemory();
  }
  const auto buckets = recorder_.buckets().inOrder();
  extent_ = detail::layOutLoops(buckets);
  shapes_.clear();
  for (const detail::LoopBucket* bucket : buckets) {
    shapes_.push_back(
        {bucket->type, bucket->place, bucket->count, bucket->largest, bucket->entriesBegin, bucket->stride});
  }
  noteReductions();
  if (buckets.empty()) return;
  if (staging_ == nullptr) takeMemory();
  detail::writeStartWords(buckets, reinterpret_cast<std::int64_t*>(staging_));
  for (const detail::LoopBucket* bucket : buckets) {
    std::memcpy(staging_ + bucket->entriesBegin, bucket->entries.data(),
                static_cast<std::size_t>(bucket->stride * std::int64_t{bucket->count}));
  }
}

void KeptLoops::takeMemory() {
  staging_ = static_cast<std::byte*>(pinned_.allocate(stream_, extent_.bytes, kKeptOwner));
  table_ = static_cast<std::byte*>(device_.allocate(stream_, extent_.bytes, kKeptOwner));
  if (extent_.words == 0) return;
  const std::int64_t bytes = parts_ * extent_.wordBytes();
  words_ = static_cast<std::int64_t*>(device_.allocate(stream_, bytes, kKeptOwner));
  found_ = static_cast<std::int64_t*>(pinned_.allocate(stream_, bytes, kKeptOwner));
}

void KeptLoops::giveMemory() {
  dropClosures();
  if (staging_ != nullptr) pinned_.free(stream_, staging_);
  if (table_ != nullptr) device_.free(stream_, table_);
  if (words_ != nullptr) device_.free(stream_, words_);
  if (found_ != nullptr) pinned_.free(stream_, found_);
  staging_ = table_ = nullptr;
  words_ = found_ = nullptr;
}

/// Runs on the host have left the closures as they were; what the device has is copies of their bytes.
void KeptLoops::dropClosures() {
  if (runsOnHost_ && staging_ != nullptr) {
    for (const Shape& shape : shapes_) {
      for (std::int64_t n = 0; n < shape.count; ++n) {
        shape.type->drop(staging_ + shape.entriesBegin + n * shape.stride + sizeof(DeviceLoopHead));
      }
    }
  }
  shapes_.clear();
}

void KeptLoops::noteReductions() {
  reductions_.clear();
  for (const detail::LoopRecorder::Reduction& reduction : recorder_.reductions()) {
    const detail::LoopBucket& bucket = recorder_.buckets()[reduction.place.bucket];
    const std::int32_t words = bucket.type->resultWords;
    reductions_.push_back(
        {reduction.number, bucket.resultsBegin + std::int64_t{reduction.place.entry} * words, words});
  }
}

void KeptLoops::upload(DeviceStream stream) {
  if (table_ == nullptr) return;
  backend_.copy(stream, CopyDirection::HostToDevice, table_, staging_, extent_.bytes);
}

void KeptLoops::put(std::span<const DeviceStream> streams, PatchOrder order) {
  const auto buckets = recorder_.buckets().inOrder();
  if (buckets.empty()) return;
  places_.clear();
  for (const DeviceStream stream : streams) {
    const std::int64_t begin = std::ssize(places_) * extent_.words;
    places_.push_back({stream, table_, words_ + begin});
    if (extent_.words > 0) {
      backend_.copy(stream, CopyDirection::WithinDevice, words_ + begin, table_, extent_.wordBytes());
    }
  }
  launcher_.put(buckets, places_, order, true);
  if (extent_.words == 0) return;
  for (const detail::LoopPart& part : places_) {
    backend_.copy(part.stream, CopyDirection::DeviceToHost, found_ + (part.words - words_), part.words,
                  extent_.wordBytes());
  }
}

DeviceLoops& KeptLoops::finished(std::int32_t number) {
  finished_.words().clear();
  finished_.counts().clear();
  auto reduction = std::lower_bound(reductions_.begin(), reductions_.end(), number,
                                    [](const WordsOf& words, std::int32_t n) { return words.number < n; });
  for (; reduction != reductions_.end() && reduction->number == number; ++reduction) {
    for (std::int32_t part = 0; part < parts_; ++part) {
      const std::int64_t* words = found_ + part * extent_.words + reduction->begin;
      finished_.words().insert(finished_.words().end(), words, words + reduction->count);
    }
    finished_.counts().push_back(reduction->count * parts_);
  }
  finished_.begin();
  return finished_;
}

}  // namespace tessera
