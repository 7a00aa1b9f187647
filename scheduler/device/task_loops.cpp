#include "scheduler/device/task_loops.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/contracts.hpp"
#include "scheduler/device/detail/loop_buckets.hpp"
#include "scheduler/device/detail/loop_results.hpp"

namespace tessera {

namespace {

constexpr const char *kOwner = "the loops of tasks";
/// Where the entries of a bucket begin, a multiple of this many bytes.
constexpr std::int64_t kTableAlign = 128;

/// Few sizes, so that pools find a piece of the last launches that fits.
std::int64_t pieceSize(std::int64_t bytes) {
  constexpr std::uint64_t kLeast = 4096;
  return static_cast<std::int64_t>(std::bit_ceil(std::max(kLeast, static_cast<std::uint64_t>(bytes))));
}

/// The first call of a body.
class Recorder final : public DeviceLoops {
 public:
  /// A reduction among what was recorded.
  struct Reduction {
    std::int32_t number = 0;
    detail::LoopBuckets::Place place;
  };

  explicit Recorder(bool keepsClosures) : buckets_(keepsClosures) {}

  void begin(std::int32_t parts) {
    buckets_.begin(parts);
    reductions_.clear();
  }
  void instance(std::int32_t number) {
    number_ = number;
    buckets_.beginBody();
  }
  detail::LoopBuckets &buckets() { return buckets_; }
  const std::vector<Reduction> &reductions() const { return reductions_; }

  bool finished() const override { return false; }
  void willRead(const MemoryPiece &piece) override { buckets_.willRead(piece); }
  void forgetReads() override { buckets_.forgetReads(); }
  void willFinish(const FinalValues &values, const Box &declared) override {
    buckets_.willFinish(values, declared);
  }
  bool looksAt(const std::int64_t *words) const override { return buckets_.looksAt(words); }
  void loop(const char *name, const Box &box, const void *closure, const DeviceLoopType &type) override {
    buckets_.add(name, box, closure, type);
  }
  std::span<const std::int64_t> reduce(const char *name, const Box &box, const void *closure,
                                       const DeviceLoopType &type) override {
    // A word of a sum grows by less than 2^32 with each cell.
    constexpr std::int64_t kMostCells = std::int64_t{1} << 30;
    TESSERA_EXPECT(type.resultWords <= 1 || box.volume() <= kMostCells,
                   "cut the domain into smaller patches: a sum on a device is "
                   "over at most 2^30 cells a patch");
    reductions_.push_back({number_, buckets_.add(name, box, closure, type)});
    return {};
  }

 private:
  detail::LoopBuckets buckets_;
  std::vector<Reduction> reductions_;
  std::int32_t number_ = 0;
};

/// The second call.
class Finished final : public DeviceLoops {
 public:
  void begin(detail::LoopResults &results, std::int32_t number) {
    results.take(number, words_, counts_);
    next_ = begin_ = 0;
  }

  bool finished() const override { return true; }
  void willRead(const MemoryPiece &) override {}
  void forgetReads() override {}
  void willFinish(const FinalValues &, const Box &) override {}
  bool looksAt(const std::int64_t *) const override { return false; }
  void loop(const char *, const Box &, const void *, const DeviceLoopType &) override {}
  std::span<const std::int64_t> reduce(const char *, const Box &, const void *,
                                       const DeviceLoopType &) override {
    TESSERA_EXPECT(next_ < counts_.size(),
                   "let a task's body make the same reductions whatever values "
                   "they have: on a device it is "
                   "called once before these are known and once after");
    const auto count = static_cast<std::size_t>(counts_[next_++]);
    begin_ += count;
    return std::span(words_).subspan(begin_ - count, count);
  }

 private:
  std::vector<std::int64_t> words_;
  std::vector<std::int32_t> counts_;
  std::size_t next_ = 0;
  std::size_t begin_ = 0;
};

}  // namespace

class TaskLoops::State {
 public:
  State(DeviceBackend &backend, DevicePool &device, DevicePool &pinned)
      : runsOnHost(backend.info().architecture.empty()),
        backend_(backend),
        device_(device),
        pinned_(pinned),
        upload_(backend.makeStream()),
        uploaded_(backend.makeEvent()),
        recorder(runsOnHost),
        results(pinned) {}

  void launch(std::span<const DeviceStream> streams);

  const bool runsOnHost;

 private:
  /// The memory of one part of a launch.
  struct Part {
    DeviceStream stream;
    std::byte *staging = nullptr;  ///< pinned: the words of reductions, then the
                                   ///< tables of all buckets
    std::byte *table = nullptr;    ///< the same on the device
  };

  void layOut(std::span<detail::LoopBucket *const> buckets);
  void stage(std::span<detail::LoopBucket *const> buckets, std::int32_t part);
  void upload();
  void copyClosures(const detail::LoopBucket &bucket, std::byte *to);
  void runBucket(const detail::LoopBucket &bucket, std::int32_t part);
  void waitForAllParts();
  void fetchWords();

  DeviceBackend &backend_;
  DevicePool &device_;
  DevicePool &pinned_;
  // Tables travel beside the work that is in the streams already, and not
  // behind it.
  DeviceStream upload_;
  DeviceEvent uploaded_;
  std::vector<Part> parts_;
  std::vector<DeviceEvent> events_;  ///< by part
  std::vector<std::int64_t *> words_;
  std::vector<DeviceStream> streams_;
  std::int64_t wordCount_ = 0;
  std::int64_t tableBytes_ = 0;

 public:
  Recorder recorder;
  detail::LoopResults results;
  Finished finished;
  std::int32_t partCount = 1;
};

/// Decides where the words and the tables lie.
void TaskLoops::State::layOut(std::span<detail::LoopBucket *const> buckets) {
  wordCount_ = 0;
  for (detail::LoopBucket *bucket : buckets) {
    bucket->resultsBegin = wordCount_;
    wordCount_ += std::int64_t{bucket->count} * bucket->type->resultWords;
  }
  const auto aligned = [](std::int64_t bytes) {
    return (bytes + kTableAlign - 1) / kTableAlign * kTableAlign;
  };
  tableBytes_ = aligned(wordCount_ * static_cast<std::int64_t>(sizeof(std::int64_t)));
  for (detail::LoopBucket *bucket : buckets) {
    bucket->entriesBegin = tableBytes_;
    tableBytes_ += aligned(std::int64_t{bucket->count} * bucket->stride);
  }
}

void TaskLoops::State::stage(std::span<detail::LoopBucket *const> buckets, std::int32_t part) {
  Part &memory = parts_[static_cast<std::size_t>(part)];
  memory.staging = static_cast<std::byte *>(pinned_.allocate(upload_, pieceSize(tableBytes_), kOwner));
  memory.table = static_cast<std::byte *>(device_.allocate(upload_, pieceSize(tableBytes_), kOwner));
  auto *words = reinterpret_cast<std::int64_t *>(memory.staging);
  for (const detail::LoopBucket *bucket : buckets) {
    std::fill_n(words + bucket->resultsBegin, std::int64_t{bucket->count} * bucket->type->resultWords,
                bucket->type->resultStart);
    std::byte *to = memory.staging + bucket->entriesBegin;
    if (runsOnHost && part > 0) {
      copyClosures(*bucket, to);
    } else {
      std::memcpy(to, bucket->entries.data(),
                  static_cast<std::size_t>(bucket->stride * std::int64_t{bucket->count}));
    }
  }
}

void TaskLoops::State::upload() {
  for (const Part &part : parts_) {
    backend_.copy(upload_, CopyDirection::HostToDevice, part.table, part.staging, tableBytes_);
    pinned_.free(upload_, part.staging);
  }
  backend_.record(uploaded_, upload_);
  for (const Part &part : parts_) backend_.wait(part.stream, uploaded_);
}

/// A run on the host ends the closures that it gets: each part needs its own.
void TaskLoops::State::copyClosures(const detail::LoopBucket &bucket, std::byte *to) {
  for (std::int64_t n = 0; n < bucket.count; ++n) {
    const std::byte *from = bucket.entries.data() + n * bucket.stride;
    std::memcpy(to + n * bucket.stride, from, sizeof(DeviceLoopHead));
    bucket.type->keep(to + n * bucket.stride + sizeof(DeviceLoopHead), from + sizeof(DeviceLoopHead));
  }
}

void TaskLoops::State::runBucket(const detail::LoopBucket &bucket, std::int32_t part) {
  const Part &memory = parts_[static_cast<std::size_t>(part)];
  DeviceLoopBatch batch;
  batch.shape = shapeBlocks(bucket.largest);
  batch.stride = bucket.stride;
  batch.part = {part, partCount};
  if (batch.shape.blocksEach == 0 && !runsOnHost) return;
  const std::int32_t most = std::numeric_limits<std::int32_t>::max() / std::max(1, batch.shape.blocksEach);
  for (std::int32_t first = 0; first < bucket.count; first += batch.count) {
    batch.count = std::min(most, bucket.count - first);
    batch.entries = memory.table + bucket.entriesBegin + std::int64_t{first} * bucket.stride;
    batch.results = reinterpret_cast<std::int64_t *>(memory.table) + bucket.resultsBegin +
                    std::int64_t{first} * bucket.type->resultWords;
    backend_.launch(memory.stream, {bucket.name, bucket.type->run, std::as_bytes(std::span(&batch, 1))});
  }
}

/// A later loop may read, inside its patch, what another part has written.
void TaskLoops::State::waitForAllParts() {
  while (events_.size() < parts_.size()) events_.push_back(backend_.makeEvent());
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    backend_.record(events_[part], parts_[part].stream);
  }
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    for (std::size_t other = 0; other < parts_.size(); ++other) {
      if (other != part) backend_.wait(parts_[part].stream, events_[other]);
    }
  }
}

/// Brings the words of reductions back and notes whose they are.
void TaskLoops::State::fetchWords() {
  if (recorder.reductions().empty()) return;
  const std::int64_t bytes = wordCount_ * static_cast<std::int64_t>(sizeof(std::int64_t));
  words_.clear();
  streams_.clear();
  for (const Part &part : parts_) {
    words_.push_back(static_cast<std::int64_t *>(pinned_.allocate(part.stream, pieceSize(bytes), kOwner)));
    streams_.push_back(part.stream);
    backend_.copy(part.stream, CopyDirection::DeviceToHost, words_.back(), part.table, bytes);
  }
  results.beginLaunch(words_, streams_);
  for (const Recorder::Reduction &reduction : recorder.reductions()) {
    const detail::LoopBucket &bucket = recorder.buckets()[reduction.place.bucket];
    const std::int32_t words = bucket.type->resultWords;
    results.add(reduction.number, {bucket.resultsBegin + std::int64_t{reduction.place.entry} * words, words});
  }
}

void TaskLoops::State::launch(std::span<const DeviceStream> streams) {
  TESSERA_EXPECT(streams.size() == static_cast<std::size_t>(partCount),
                 "launch into one stream for each part that begin() was told of");
  const auto buckets = recorder.buckets().inOrder();
  if (buckets.empty()) return;
  layOut(buckets);
  parts_.clear();
  for (const DeviceStream stream : streams) parts_.push_back({stream, nullptr, nullptr});
  // The first part, last, gets the closures themselves.
  for (std::int32_t part = partCount; part-- > 0;) stage(buckets, part);
  upload();
  for (std::size_t n = 0; n < buckets.size(); ++n) {
    const bool laterPlace = n > 0 && buckets[n]->place != buckets[n - 1]->place;
    if (laterPlace && partCount > 1) waitForAllParts();
    for (std::int32_t part = 0; part < partCount; ++part) runBucket(*buckets[n], part);
  }
  fetchWords();
  for (const Part &part : parts_) device_.free(part.stream, part.table);
}

TaskLoops::TaskLoops(DeviceBackend &backend, DevicePool &device, DevicePool &pinned)
    : state_(std::make_unique<State>(backend, device, pinned)) {}

TaskLoops::~TaskLoops() = default;

void TaskLoops::begin(std::int32_t parts) {
  state_->partCount = parts;
  state_->recorder.begin(parts);
}

DeviceLoops &TaskLoops::instance(std::int32_t number) {
  state_->recorder.instance(number);
  return state_->recorder;
}

void TaskLoops::launch(std::span<const DeviceStream> streams) { state_->launch(streams); }

DeviceLoops &TaskLoops::finished(std::int32_t number) {
  state_->finished.begin(state_->results, number);
  return state_->finished;
}

}  // namespace tessera
