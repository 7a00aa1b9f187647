#include "scheduler/device/loops/task_loops.hpp"

#include <cstring>

#include "core/text/contracts.hpp"

namespace tessera {

namespace {

constexpr const char* kOwner = "the loops of tasks";

}  // namespace

TaskLoops::TaskLoops(DeviceBackend& backend, DevicePool& device, DevicePool& pinned)
    : backend_(backend),
      device_(device),
      pinned_(pinned),
      runsOnHost_(backend.info().architecture.empty()),
      upload_(backend.makeStream()),
      uploaded_(backend.makeEvent()),
      recorder_(runsOnHost_),
      launcher_(backend),
      results_(pinned) {}

void TaskLoops::begin(std::int32_t parts) {
  partCount_ = parts;
  recorder_.begin(parts);
}

void TaskLoops::stage(std::span<detail::LoopBucket* const> buckets, std::int32_t part) {
  Part& memory = parts_[static_cast<std::size_t>(part)];
  memory.staging =
      static_cast<std::byte*>(pinned_.allocate(upload_, detail::loopPieceSize(extent_.bytes), kOwner));
  memory.table =
      static_cast<std::byte*>(device_.allocate(upload_, detail::loopPieceSize(extent_.bytes), kOwner));
  detail::writeStartWords(buckets, reinterpret_cast<std::int64_t*>(memory.staging));
  for (const detail::LoopBucket* bucket : buckets) {
    std::byte* to = memory.staging + bucket->entriesBegin;
    if (runsOnHost_ && part > 0) {
      copyClosures(*bucket, to);
    } else {
      std::memcpy(to, bucket->entries.data(),
                  static_cast<std::size_t>(bucket->stride * std::int64_t{bucket->count}));
    }
  }
}

void TaskLoops::upload() {
  for (const Part& part : parts_) {
    backend_.copy(upload_, CopyDirection::HostToDevice, part.table, part.staging, extent_.bytes);
    pinned_.free(upload_, part.staging);
  }
  backend_.record(uploaded_, upload_);
  for (const Part& part : parts_) backend_.wait(part.stream, uploaded_);
}

/// A run on the host ends the closures that it gets: each part needs its own.
void TaskLoops::copyClosures(const detail::LoopBucket& bucket, std::byte* to) {
  for (std::int64_t n = 0; n < bucket.count; ++n) {
    const std::byte* from = bucket.entries.data() + n * bucket.stride;
    std::memcpy(to + n * bucket.stride, from, sizeof(DeviceLoopHead));
    bucket.type->keep(to + n * bucket.stride + sizeof(DeviceLoopHead), from + sizeof(DeviceLoopHead));
  }
}

/// Brings the words of reductions back and notes whose they are.
void TaskLoops::fetchWords() {
  if (recorder_.reductions().empty()) return;
  const std::int64_t bytes = extent_.wordBytes();
  words_.clear();
  streams_.clear();
  for (const Part& part : parts_) {
    words_.push_back(
        static_cast<std::int64_t*>(pinned_.allocate(part.stream, detail::loopPieceSize(bytes), kOwner)));
    streams_.push_back(part.stream);
    backend_.copy(part.stream, CopyDirection::DeviceToHost, words_.back(), part.table, bytes);
  }
  results_.beginLaunch(words_, streams_);
  for (const detail::LoopRecorder::Reduction& reduction : recorder_.reductions()) {
    const detail::LoopBucket& bucket = recorder_.buckets()[reduction.place.bucket];
    const std::int32_t words = bucket.type->resultWords;
    results_.add(reduction.number,
                 {bucket.resultsBegin + std::int64_t{reduction.place.entry} * words, words});
  }
}

void TaskLoops::launch(std::span<const DeviceStream> streams) {
  TESSERA_EXPECT(streams.size() == static_cast<std::size_t>(partCount_),
                 "launch into one stream for each part that begin() was told of");
  const auto buckets = recorder_.buckets().inOrder();
  if (buckets.empty()) return;
  extent_ = detail::layOutLoops(buckets);
  parts_.clear();
  for (const DeviceStream stream : streams) parts_.push_back({stream, nullptr, nullptr});
  // The first part, last, gets the closures themselves.
  for (std::int32_t part = partCount_; part-- > 0;) stage(buckets, part);
  upload();
  places_.clear();
  for (const Part& part : parts_) {
    places_.push_back({part.stream, part.table, reinterpret_cast<std::int64_t*>(part.table)});
  }
  launcher_.put(buckets, places_, order_, false);
  order_ = opposite(order_);
  fetchWords();
  for (const Part& part : parts_) device_.free(part.stream, part.table);
}

DeviceLoops& TaskLoops::finished(std::int32_t number) {
  results_.take(number, finished_.words(), finished_.counts());
  finished_.begin();
  return finished_;
}

}  // namespace tessera
