#include "scheduler/tracing/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <set>
#include <unistd.h>

#include <zlib.h>

#include "core/text/error.hpp"
#include "scheduler/tracing/trace_device_events.hpp"
#include "scheduler/tracing/trace_event.hpp"
#include "scheduler/tracing/trace_step_events.hpp"

namespace tessera {
namespace {

using detail::TraceEvent;
using detail::TraceLane;

[[noreturn]] void cannotWrite(const std::filesystem::path& path, const std::string& why) {
  throw OutputError(Message("the trace cannot be written")
                        .line("file ", path.string())
                        .line("why  ", why)
                        .line("fix  name another file: --trace=FILE")
                        .text());
}

/// A compressed file that is written from its start to its end.
class GzipFile {
 public:
  explicit GzipFile(std::filesystem::path path, const char* mode) : path_(std::move(path)) {
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) cannotWrite(path_, std::strerror(errno));
    file_ = gzdopen(descriptor, mode);
    if (file_ != nullptr) return;
    ::close(descriptor);
    cannotWrite(path_, "no memory for the compression");
  }
  ~GzipFile() {
    if (file_ != nullptr) gzclose(file_);
  }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const auto size = static_cast<unsigned>(std::min<std::size_t>(text.size(), std::size_t{1} << 30));
      const int written = gzwrite(file_, text.data(), size);
      if (written <= 0) fail();
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void close() {
    gzFile file = file_;
    file_ = nullptr;
    if (file != nullptr && gzclose(file) != Z_OK) cannotWrite(path_, std::strerror(errno));
  }

 private:
  [[noreturn]] void fail() {
    const int error = errno;
    int code = Z_OK;
    const std::string text = gzerror(file_, &code);
    cannotWrite(path_, code == Z_ERRNO ? std::strerror(error) : text);
  }

  std::filesystem::path path_;
  gzFile file_ = nullptr;
};

std::string laneName(std::int32_t lane) {
  const auto is = [&](TraceLane first) { return lane >= static_cast<std::int32_t>(first); };
  const auto number = [&](TraceLane first) {
    return std::to_string(lane - static_cast<std::int32_t>(first));
  };
  if (is(TraceLane::Devices)) return detail::deviceLaneName(lane);
  if (is(TraceLane::Messages)) return "messages " + number(TraceLane::Messages);
  if (is(TraceLane::Reductions)) return "reductions " + number(TraceLane::Reductions);
  if (is(TraceLane::FirstWorker)) return "worker " + number(TraceLane::FirstWorker);
  return "steps";
}

}  // namespace

struct TraceFile::State {
  GzipFile file;
  TraceFileOptions options;
  detail::DeviceEvents devices;
  std::set<std::int32_t> namedLanes{};
  std::map<std::int32_t, std::int64_t> freeFrom{};  ///< lanes of messages and reductions
  std::string text{};

  void flushText() {
    file.write(text);
    text.clear();
  }

  void appendSpan(const TraceSpan& span) {
    TraceEvent(text, 'X', options.rank, static_cast<std::int32_t>(TraceLane::FirstWorker))
        .name(span.name)
        .category("output")
        .at(span.begin)
        .lasts(span.end - span.begin)
        .end();
  }

  void nameLanes(const std::set<std::int32_t>& lanes) {
    for (const std::int32_t lane : lanes) {
      if (!namedLanes.insert(lane).second) continue;
      TraceEvent(text, 'M', options.rank, lane)
          .name("thread_name")
          .category("__metadata")
          .arg("name", laneName(lane))
          .end();
      TraceEvent(text, 'M', options.rank, lane)
          .name("thread_sort_index")
          .category("__metadata")
          .arg("sort_index", std::int64_t{lane})
          .end();
    }
  }
};

TraceFile::TraceFile(const std::filesystem::path& part, const TraceFileOptions& options)
    : state_(new State{GzipFile(part, "wb1"), options, detail::DeviceEvents(options.rank)}) {
  TraceEvent(state_->text, 'M', options.rank, 0)
      .name("process_name")
      .category("__metadata")
      .arg("name", "rank " + std::to_string(options.rank))
      .end();
  TraceEvent(state_->text, 'M', options.rank, 0)
      .name("process_sort_index")
      .category("__metadata")
      .arg("sort_index", std::int64_t{options.rank})
      .end();
}

TraceFile::~TraceFile() = default;

void TraceFile::write(const TraceRecords& records, const CompiledGraphs& graphs) {
  // A span comes before what lies inside it.
  std::vector<TraceSpan> spans = records.spans;
  std::stable_sort(spans.begin(), spans.end(), [](const TraceSpan& a, const TraceSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<std::unique_ptr<detail::StepEvents>> plans(graphs.plans.size());
  std::set<std::int32_t> lanes;
  auto span = spans.begin();
  for (const TracedStep& step : records.steps) {
    for (; span != spans.end() && span->begin <= step.begin; ++span) state_->appendSpan(*span);
    auto& events = plans[step.plan];
    if (!events) events = std::make_unique<detail::StepEvents>(graphs, step.plan, state_->options);
    events->append(step, state_->text, lanes, state_->freeFrom);
    state_->flushText();
  }
  for (; span != spans.end(); ++span) state_->appendSpan(*span);
  state_->devices.append(records.onDevices, state_->text, lanes);
  if (!spans.empty()) lanes.insert(static_cast<std::int32_t>(TraceLane::FirstWorker));
  state_->nameLanes(lanes);
  state_->flushText();
}

void TraceFile::close() {
  state_->flushText();
  state_->file.close();
}

void joinTraces(const std::vector<std::filesystem::path>& parts, const std::filesystem::path& file) {
  const std::filesystem::path whole = file.string() + ".new";
  std::filesystem::remove(whole);
  GzipFile out(whole, "wb3");
  out.write(
      "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"program\":\"tessera\",\"version\":1},\"traceEvents\":["
      "\n");
  for (const std::filesystem::path& part : parts) {
    gzFile in = gzopen(part.c_str(), "rb");
    if (in == nullptr) cannotWrite(file, "the part " + part.string() + " is gone: " + std::strerror(errno));
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> owner(in, gzclose);
    std::array<char, 1 << 16> block{};
    int size = 0;
    while ((size = gzread(in, block.data(), block.size())) > 0) {
      out.write({block.data(), static_cast<std::size_t>(size)});
    }
    if (size < 0) cannotWrite(file, "the part " + part.string() + " is damaged");
  }
  // Every event ends in a comma; this one does not.
  out.write(
      "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_labels\",\"cat\":\"__metadata\",\"args\":{"
      "\"labels\":\"tessera\"}}\n]}"
      "\n");
  out.close();
  std::error_code error;
  std::filesystem::rename(whole, file, error);
  if (error) cannotWrite(file, error.message());
  for (const std::filesystem::path& part : parts) std::filesystem::remove(part, error);
}

}  // namespace tessera
