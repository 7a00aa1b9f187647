#include "scheduler/device/loops/task_loops.hpp"

#include <cstring>

#include "core/text/contracts.hpp"
#include "scheduler/device/loops/loop_recorder.hpp"
#include "scheduler/device/loops/loop_results.hpp"
#include "scheduler/device/loops/loop_tables.hpp"

namespace tessera {

namespace {

constexpr const char* kOwner = "the loops of tasks";

}  // namespace

class TaskLoops::State {
 public:
  State(DeviceBackend& backend, DevicePool& device, DevicePool& pinned)
      : runsOnHost(backend.info().architecture.empty()),
        backend_(backend),
        device_(device),
        pinned_(pinned),
        upload_(backend.makeStream()),
        uploaded_(backend.makeEvent()),
        launcher_(backend),
        recorder(runsOnHost),
        results(pinned) {}

  void launch(std::span<const DeviceStream> streams);

  const bool runsOnHost;

 private:
  /// The memory of one part of a launch.
  struct Part {
    DeviceStream stream;
    std::byte* staging = nullptr;  ///< pinned: the words of reductions, then the
                                   ///< tables of all buckets
    std::byte* table = nullptr;    ///< the same on the device
  };

  void stage(std::span<detail::LoopBucket* const> buckets, std::int32_t part);
  void upload();
  void copyClosures(const detail::LoopBucket& bucket, std::byte* to);
  void fetchWords();

  DeviceBackend& backend_;
  DevicePool& device_;
  DevicePool& pinned_;
  // Tables travel beside the work that is in the streams already, and not
  // behind it.
  DeviceStream upload_;
  DeviceEvent uploaded_;
  detail::LoopLauncher launcher_;
  std::vector<Part> parts_;
  std::vector<detail::LoopPart> places_;
  std::vector<std::int64_t*> words_;
  std::vector<DeviceStream> streams_;
  detail::LoopExtent extent_;
  PatchOrder order_ = PatchOrder::Rising;  ///< of the next launch

 public:
  detail::LoopRecorder recorder;
  detail::LoopResults results;
  detail::FinishedLoops finished;
  std::int32_t partCount = 1;
};

void TaskLoops::State::stage(std::span<detail::LoopBucket* const> buckets, std::int32_t part) {
  Part& memory = parts_[static_cast<std::size_t>(part)];
  memory.staging =
      static_cast<std::byte*>(pinned_.allocate(upload_, detail::loopPieceSize(extent_.bytes), kOwner));
  memory.table =
      static_cast<std::byte*>(device_.allocate(upload_, detail::loopPieceSize(extent_.bytes), kOwner));
  detail::writeStartWords(buckets, reinterpret_cast<std::int64_t*>(memory.staging));
  for (const detail::LoopBucket* bucket : buckets) {
    std::byte* to = memory.staging + bucket->entriesBegin;
    if (runsOnHost && part > 0) {
      copyClosures(*bucket, to);
    } else {
      std::memcpy(to, bucket->entries.data(),
                  static_cast<std::size_t>(bucket->stride * std::int64_t{bucket->count}));
    }
  }
}

void TaskLoops::State::upload() {
  for (const Part& part : parts_) {
    backend_.copy(upload_, CopyDirection::HostToDevice, part.table, part.staging, extent_.bytes);
    pinned_.free(upload_, part.staging);
  }
  backend_.record(uploaded_, upload_);
  for (const Part& part : parts_) backend_.wait(part.stream, uploaded_);
}

/// A run on the host ends the closures that it gets: each part needs its own.
void TaskLoops::State::copyClosures(const detail::LoopBucket& bucket, std::byte* to) {
  for (std::int64_t n = 0; n < bucket.count; ++n) {
    const std::byte* from = bucket.entries.data() + n * bucket.stride;
    std::memcpy(to + n * bucket.stride, from, sizeof(DeviceLoopHead));
    bucket.type->keep(to + n * bucket.stride + sizeof(DeviceLoopHead), from + sizeof(DeviceLoopHead));
  }
}

/// Brings the words of reductions back and notes whose they are.
void TaskLoops::State::fetchWords() {
  if (recorder.reductions().empty()) return;
  const std::int64_t bytes = extent_.wordBytes();
  words_.clear();
  streams_.clear();
  for (const Part& part : parts_) {
    words_.push_back(
        static_cast<std::int64_t*>(pinned_.allocate(part.stream, detail::loopPieceSize(bytes), kOwner)));
    streams_.push_back(part.stream);
    backend_.copy(part.stream, CopyDirection::DeviceToHost, words_.back(), part.table, bytes);
  }
  results.beginLaunch(words_, streams_);
  for (const detail::LoopRecorder::Reduction& reduction : recorder.reductions()) {
    const detail::LoopBucket& bucket = recorder.buckets()[reduction.place.bucket];
    const std::int32_t words = bucket.type->resultWords;
    results.add(reduction.number, {bucket.resultsBegin + std::int64_t{reduction.place.entry} * words, words});
  }
}

void TaskLoops::State::launch(std::span<const DeviceStream> streams) {
  TESSERA_EXPECT(streams.size() == static_cast<std::size_t>(partCount),
                 "launch into one stream for each part that begin() was told of");
  const auto buckets = recorder.buckets().inOrder();
  if (buckets.empty()) return;
  extent_ = detail::layOutLoops(buckets);
  parts_.clear();
  for (const DeviceStream stream : streams) parts_.push_back({stream, nullptr, nullptr});
  // The first part, last, gets the closures themselves.
  for (std::int32_t part = partCount; part-- > 0;) stage(buckets, part);
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

TaskLoops::TaskLoops(DeviceBackend& backend, DevicePool& device, DevicePool& pinned)
    : state_(std::make_unique<State>(backend, device, pinned)) {}

TaskLoops::~TaskLoops() = default;

void TaskLoops::begin(std::int32_t parts) {
  state_->partCount = parts;
  state_->recorder.begin(parts);
}

DeviceLoops& TaskLoops::instance(std::int32_t number) {
  state_->recorder.instance(number);
  return state_->recorder;
}

void TaskLoops::launch(std::span<const DeviceStream> streams) { state_->launch(streams); }

DeviceLoops& TaskLoops::finished(std::int32_t number) {
  state_->results.take(number, state_->finished.words(), state_->finished.counts());
  state_->finished.begin();
  return state_->finished;
}

}  // namespace tessera
