#include "tools/tessera/trace/trace_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <istream>
#include <memory>
#include <streambuf>

#include <nlohmann/json.hpp>
#include <zlib.h>

#include "core/text/error.hpp"
#include "tools/simulation/run_folder/run_trace.hpp"

namespace tessera {
namespace {

using TraceJson = nlohmann::json;

/// The text of a gzip file, or of a plain one.
class GzipText : public std::streambuf {
 public:
  explicit GzipText(const std::filesystem::path& path) : file_(gzopen(path.c_str(), "rb"), gzclose) {}
  bool isOpen() const { return file_ != nullptr; }

 protected:
  int_type underflow() override {
    const int size = gzread(file_.get(), block_.data(), static_cast<unsigned>(block_.size()));
    if (size <= 0) return traits_type::eof();
    bytes_ += size;
    const std::int64_t packed = gzoffset(file_.get());
    if (bytes_ > std::max(kAlwaysBytes, kMostExpansion * packed)) return traits_type::eof();
    setg(block_.data(), block_.data(), block_.data() + size);
    return traits_type::to_int_type(block_[0]);
  }

 private:
  /// A trace shrinks to a tenth; what shrinks to much less was made to fill memory.
  static constexpr std::int64_t kMostExpansion = 100;
  static constexpr std::int64_t kAlwaysBytes = std::int64_t{16} << 20;

  std::int64_t bytes_ = 0;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
  std::array<char, 1 << 16> block_{};
};

[[noreturn]] void notATrace(const std::string& name, const std::string& why) {
  throw InputError(Message("this is not a trace of Tessera")
                       .line("file ", name)
                       .line("why  ", why)
                       .line("fix  make one: tessera run DECK --trace")
                       .text());
}

/// The format counts microseconds.
std::int64_t nanosecondsOf(const TraceJson& value) { return std::llround(value.get<double>() * 1000.0); }

/// Sorts the events of a trace into a model, one at a time.
class TraceReader {
 public:
  void take(const TraceJson& event);
  TraceModel& model() { return model_; }
  /// Drops what cannot be used, such as a step that failed, and puts spans in order.
  void finish();

 private:
  void takeStep(const TraceJson& event, TracedRank& rank);
  void takeNode(const TraceJson& event, const std::string& category, TracedRank& rank);
  static void takeLaunch(const TraceJson& event, TracedRank& rank);

  TraceModel model_;
};

void TraceReader::take(const TraceJson& event) {
  if (event.at("ph") != "X") return;
  TracedRank& rank = model_.ranks[event.at("pid").get<int>()];
  const std::string category = event.value("cat", "");
  if (category == "step") {
    takeStep(event, rank);
  } else if (category == "output") {
    const std::int64_t begin = nanosecondsOf(event.at("ts"));
    rank.spans.push_back({event.at("name"), begin, begin + nanosecondsOf(event.at("dur"))});
  } else if (category == "device") {
    takeLaunch(event, rank);
  } else {
    takeNode(event, category, rank);
  }
}

void TraceReader::finish() {
  for (auto& [number, rank] : model_.ranks) {
    std::erase_if(rank.runs, [](const auto& run) { return run.second.plan.empty(); });
    std::stable_sort(rank.spans.begin(), rank.spans.end(),
                     [](const TracedSpan& a, const TracedSpan& b) { return a.begin < b.begin; });
  }
  std::erase_if(model_.ranks, [](const auto& rank) { return rank.second.runs.empty(); });
}

void TraceReader::takeStep(const TraceJson& event, TracedRank& rank) {
  const TraceJson& args = event.at("args");
  TracedRun& run = rank.runs[args.at("run").get<std::int64_t>()];
  run.plan = args.at("plan");
  run.step = args.at("step");
  run.workers = std::clamp(args.at("workers").get<int>(), 1, 1 << 16);
  run.begin = nanosecondsOf(event.at("ts"));
  run.end = run.begin + nanosecondsOf(event.at("dur"));
  run.executed = nanosecondsOf(args.at("executed"));
}

void TraceReader::takeLaunch(const TraceJson& event, TracedRank& rank) {
  const TraceJson& args = event.at("args");
  TracedLaunch& launch = rank.launches.emplace_back();
  launch.name = event.at("name");
  launch.kind = args.at("kind");
  launch.device = args.at("device");
  launch.run = args.at("run");
  launch.part = args.value("part", launch.part);
  launch.tasks = args.at("tasks");
  launch.bytes = args.value("bytes", launch.bytes);
  launch.begin = nanosecondsOf(event.at("ts"));
  launch.end = launch.begin + nanosecondsOf(event.at("dur"));
}

void TraceReader::takeNode(const TraceJson& event, const std::string& category, TracedRank& rank) {
  static const std::map<std::string, TraceKind> kinds{
      {"task", TraceKind::Task},      {"fill", TraceKind::Fill},   {"pack", TraceKind::Send},
      {"send", TraceKind::Send},      {"join", TraceKind::Reduce}, {"reduction", TraceKind::Reduce},
      {"receive", TraceKind::Receive}};
  const auto kind = kinds.find(category);
  if (kind == kinds.end()) return;
  const TraceJson& args = event.at("args");
  const std::int64_t begin = nanosecondsOf(event.at("ts"));
  const std::int64_t end = begin + nanosecondsOf(event.at("dur"));
  TracedNode& node = rank.runs[args.at("run").get<std::int64_t>()].nodes[args.at("node").get<std::int32_t>()];
  node.kind = kind->second;
  node.peer = args.value("peer", node.peer);
  node.tag = args.value("tag", node.tag);
  node.item = args.value("reduction", node.item);
  if (args.contains("ready")) node.ready = nanosecondsOf(args.at("ready"));
  node.after = args.value("after", node.after);
  // What goes on without a worker has a second slice, or this one alone.
  const bool onWorker = category != "send" && category != "receive" && category != "reduction";
  if (onWorker) {
    node.name = event.at("name");
    node.worker = event.at("tid").get<int>() - 1;
    node.begin = begin;
    node.end = end;
    node.done = std::max(node.done, end);
    node.onDevice = args.contains("done");
    if (node.onDevice) node.done = std::max(node.done, nanosecondsOf(args.at("done")));
  } else {
    if (node.name.empty()) node.name = event.at("name");
    if (node.begin < 0) node.begin = node.end = begin;
    node.done = end;
  }
}

}  // namespace

TraceModel readTrace(std::istream& in, const std::string& name) {
  TraceReader reader;
  bool found = false;
  try {
    // Events are used up one by one: a trace may be larger than memory.
    const auto take = [&](int depth, TraceJson::parse_event_t what, TraceJson& parsed) {
      // Whatever else is in the file is not kept.
      if (depth == 1 && what == TraceJson::parse_event_t::key) return found = parsed == "traceEvents";
      if (depth != 2 || what == TraceJson::parse_event_t::object_start) return true;
      if (found && what == TraceJson::parse_event_t::object_end) reader.take(parsed);
      return false;
    };
    [[maybe_unused]] const TraceJson rest = TraceJson::parse(in, take);
  } catch (const TraceJson::exception& error) {
    notATrace(name, error.what());
  }
  reader.finish();
  if (reader.model().ranks.empty()) notATrace(name, "it has no steps");
  return std::move(reader.model());
}

TraceModel readTrace(const std::filesystem::path& fileOrRun) {
  const bool isRun = std::filesystem::is_directory(fileOrRun);
  const std::filesystem::path file = isRun ? newestTrace(fileOrRun) : fileOrRun;
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file))
    notATrace(file.string(), "it is not a regular file");
  GzipText text(file);
  if (!text.isOpen()) notATrace(file.string(), isRun ? "the run has no trace" : "it cannot be read");
  std::istream in(&text);
  return readTrace(in, file.string());
}

void keepStep(TraceModel& model, std::int64_t step) {
  for (auto& [number, rank] : model.ranks) {
    std::erase_if(rank.runs, [&](const auto& run) { return run.second.step != step; });
    const auto& runs = rank.runs;
    std::erase_if(rank.launches, [&](const TracedLaunch& launch) { return !runs.contains(launch.run); });
  }
  std::erase_if(model.ranks, [](const auto& rank) { return rank.second.runs.empty(); });
  if (model.ranks.empty()) {
    throw UsageError("step " + std::to_string(step) + " is not in the trace; leave out --step to see all");
  }
}

}  // namespace tessera
